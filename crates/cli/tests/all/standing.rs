//! Answers that hold only while the store has them, and questions that are open while the user changes answers elsewhere.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use metier_catalog::Snapshot;
use metier_host::execution::HostEnvironment;
use metier_model::{Digest, Source, shell};
use metier_policy::{
    Act, ApprovalQuestion, Approver, CommandLine, Identity, PermissionRequest, Reply,
    RequestReason, RequestedPermission,
};
use metier_runtime::{
    Redactor,
    approvals::{Approvals, GrantRefused, RequestingSkill, RevocableGrant},
    granted_skill::{ActError, GrantedSkill},
};
use metier_store::{Approval, ApprovalDecision, ReceiptFilter, Store};
use metier_testkit::TestContext;

use crate::session_parts::{approvals, host_environment, terms, without_files, without_folder};

/// Answers in order, then no, and does something else while each question is open.
pub(crate) struct Answering {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<usize>,
    meanwhile: Box<dyn Fn() + Send + Sync>,
}

impl Answering {
    pub(crate) fn new(
        replies: &[Reply],
        meanwhile: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            replies: Mutex::new(replies.iter().copied().collect()),
            asked: Mutex::default(),
            meanwhile: Box::new(meanwhile),
        })
    }

    pub(crate) fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }
}

impl Approver for Answering {
    fn ask(&self, _: &ApprovalQuestion) -> Reply {
        *self.asked.lock().unwrap() += 1;
        (self.meanwhile)();
        let next = self.replies.lock().unwrap().pop_front();
        next.unwrap_or(Reply::Deny)
    }
}

/// A machine on which one skill requests permissions.
struct AnswerFixture {
    context: TestContext,
    identity: Identity,
    held: Snapshot,
}

impl AnswerFixture {
    fn new(skill: &str, source: Source) -> Self {
        let digest = Digest([1; 32]);
        Self {
            context: TestContext::new(env!("CARGO_BIN_EXE_metier")),
            identity: Identity {
                skill: skill.into(),
                source,
                digest,
            },
            held: Snapshot {
                files: Vec::new(),
                digest,
                fingerprint: None,
            },
        }
    }

    fn database(&self) -> PathBuf {
        self.context.home().canonicalize().unwrap().join("acts.db")
    }

    /// The store as another process sees it.
    fn elsewhere(&self) -> Store {
        Store::open(&self.database()).unwrap()
    }

    fn answer(&self, permission: &str, decision: ApprovalDecision) -> Approval {
        Approval {
            skill: self.identity.skill.to_string(),
            source: self.identity.source.as_str().to_owned(),
            permission: permission.to_owned(),
            digest: self.identity.digest.to_string(),
            decision,
            at: "2026-01-31T09:00:00Z".to_owned(),
            by: "test".to_owned(),
        }
    }

    fn allow(&self, permission: &str) {
        let answer = self.answer(permission, ApprovalDecision::Allowed);
        self.elsewhere().approve(&[answer]).unwrap();
    }

    fn approvals(&self, approver: &Arc<Answering>) -> Arc<Approvals> {
        let project = self.context.work().canonicalize().unwrap();
        let home = self.context.home().canonicalize().unwrap();
        let store = Store::open(&self.database()).unwrap();
        Arc::new(Approvals {
            approver: Arc::clone(approver) as Arc<dyn Approver>,
            ..approvals(store, &[], terms(100, &project, Some(&home)))
        })
    }

    fn grant(&self, approvals: &Approvals, wants: &[&str]) -> Result<RevocableGrant, GrantRefused> {
        let subject = RequestingSkill {
            identity: &self.identity,
            place: "/",
            held: &self.held,
        };
        let asked = wants.iter().map(|want| RequestedPermission {
            want: want.parse().unwrap(),
            why: RequestReason::Declared,
        });
        approvals.grant(&subject, &PermissionRequest::new(asked))
    }

    fn worker(&self, approvals: &Arc<Approvals>, wants: &[&str]) -> GrantedSkill {
        let project = self.context.work().canonicalize().unwrap();
        let home = self.context.home().canonicalize().unwrap();
        let host = HostEnvironment {
            home: Some(home.clone()),
            ..host_environment(Path::new(env!("CARGO_BIN_EXE_metier")), &project, &home)
        };
        GrantedSkill::new(
            Arc::clone(approvals),
            self.grant(approvals, wants).unwrap(),
            Arc::new(host),
            without_folder(&[]),
            Redactor::default(),
            without_files(),
            Box::new(|| true),
        )
        .unwrap()
    }

    /// The receipts of refusals, as act, detail and reason.
    fn refusals(&self) -> Vec<String> {
        let receipts = self.elsewhere().receipts(ReceiptFilter::default()).unwrap();
        let refused = receipts.iter().filter(|one| one.entry.outcome.is_none());
        let line = |one: &metier_store::Receipt| {
            let reason = one.entry.reason.as_deref().unwrap_or_default();
            format!("{}: {reason}", one.entry.detail)
        };
        refused.map(line).collect()
    }
}

fn line(text: &str) -> Act {
    let understood = shell::parse(text).ok();
    Act::Line(CommandLine::new(text, understood.as_ref(), text, Vec::new()).in_project())
}

/// `ok`, or the code of the refusal.
fn permit(worker: &GrantedSkill, text: &str) -> &'static str {
    match worker.permit(&line(text)) {
        Ok(_) => "ok",
        Err(ActError::Refused(refusal)) => refusal.code,
        Err(error) => panic!("{error}"),
    }
}

const TOOLS: &[&str] = &["shell:exec", "file:read", "file:write"];

// case 223
#[test]
fn an_always_ends_in_this_session_too_when_it_is_revoked() {
    for acts_between in [0, 1] {
        let fixture = AnswerFixture::new("core-tools", Source::Builtin);
        let user = Answering::new(&[Reply::Always], || ());
        let approvals = fixture.approvals(&user);
        let (worker, other) = (
            fixture.worker(&approvals, TOOLS),
            fixture.worker(&approvals, TOOLS),
        );
        assert_eq!(permit(&worker, "git log"), "ok");
        for _ in 0..acts_between {
            assert_eq!(permit(&worker, "git status"), "ok");
            // A sub-agent has the same answers.
            assert_eq!(permit(&other, "git status"), "ok");
        }
        assert_eq!(user.asked(), 1);
        let revoked = fixture
            .elsewhere()
            .revoke_approvals("core-tools", None, None);
        assert_eq!(revoked.unwrap(), 1);
        assert_eq!(permit(&worker, "git push -f"), "revoked");
        let expected = if acts_between == 0 {
            "denied"
        } else {
            "revoked"
        };
        assert_eq!(permit(&other, "git push -f"), expected);
        // Started again, it asks.
        let again = fixture.worker(&approvals, TOOLS);
        let asked = user.asked();
        assert_eq!(permit(&again, "git push -f"), "denied");
        assert_eq!(user.asked(), asked + 1);
    }
}

// case 215, 223
#[test]
fn an_answer_that_is_added_elsewhere_holds_and_ends() {
    let fixture = AnswerFixture::new("core-tools", Source::Builtin);
    let user = Answering::new(&[], || ());
    let worker = fixture.worker(&fixture.approvals(&user), TOOLS);
    fixture.allow("shell:exec(git *)");
    assert_eq!(permit(&worker, "git log"), "ok");
    assert_eq!(user.asked(), 0);
    fixture
        .elsewhere()
        .revoke_approvals("core-tools", None, None)
        .unwrap();
    assert_eq!(permit(&worker, "git log"), "revoked");
}

// case 215
#[test]
fn what_is_revoked_while_a_question_about_an_act_is_open_counts() {
    let fixture = AnswerFixture::new("core-tools", Source::Builtin);
    fixture.allow("shell:exec(ls *)");
    let database = fixture.database();
    let user = Answering::new(&[Reply::Once, Reply::Once], move || {
        let store = Store::open(&database).unwrap();
        store.revoke_approvals("core-tools", None, None).unwrap();
    });
    let worker = fixture.worker(&fixture.approvals(&user), TOOLS);
    assert_eq!(permit(&worker, "git log"), "revoked");
    let refusals = fixture.refusals();
    assert!(
        refusals[0].starts_with("git log: a permission of skill `core-tools` was revoked"),
        "{refusals:?}"
    );
}

// case 226
#[test]
fn what_changes_while_a_question_about_permissions_is_open_leaves_a_receipt() {
    for is_denied in [false, true] {
        let fixture = AnswerFixture::new("a", Source::User);
        fixture.allow("file:read(./a)");
        let (database, denial) = (
            fixture.database(),
            fixture.answer("file:read(./a)", ApprovalDecision::Denied),
        );
        let user = Answering::new(&[Reply::Always, Reply::Always], move || {
            let store = Store::open(&database).unwrap();
            match is_denied {
                true => store.approve(std::slice::from_ref(&denial)).unwrap(),
                false => drop(
                    store
                        .revoke_approvals("a", None, Some("file:read(./a)"))
                        .unwrap(),
                ),
            }
        });
        let approvals = fixture.approvals(&user);
        let refused = fixture.grant(&approvals, &["file:read(./a)", "file:read(./b)"]);
        let refused = refused.unwrap_err();
        let expected = match is_denied {
            true => "file:read(./a): denied earlier; see `metier permissions`",
            false => "file:read(./a): revoked while a question was open",
        };
        assert_eq!(fixture.refusals(), [expected]);
        assert_eq!(
            matches!(refused, GrantRefused::RevokedMeanwhile(_)),
            !is_denied
        );
        assert_eq!(matches!(refused, GrantRefused::Denied(_)), is_denied);
    }
}
