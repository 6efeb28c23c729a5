//! The desk: asks the approver, stores the answer for exact bytes, and records every act.
//!
//! Every interface calls it before a skill does anything. Stored answers, approvals from flags or the configuration, and the
//! user's answers become a [`Grant`], or a [`GrantRefused`] with a hint.

mod on_use;

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use metier_catalog::Snapshot;
use metier_config::ApprovedPermission;
use metier_model::{Source, text::shell_word};
use metier_policy::{
    Act, ActMeter, ApprovalOffer, ApprovalQuestion, Approver, Changes, GrantTerms, Identity,
    PendingAct, PermissionAnswer, PermissionRequest, PermitRefusal, Reply, RequestedPermission,
    Ruling, SessionAnswers, rule,
};
use metier_store::{
    Approval, ApprovalDecision, BegunReceipt, Completion, NewReceipt, Receipt, ReceiptOutcome,
    SharedStore, SkillState, StoreError,
};

pub use crate::standing_answers::{RevocableGrant, files, is_approved_elsewhere, standing};
use crate::{
    guarded::Guarded,
    redact::Redactor,
    standing_answers::{AnswersBehind, allow, answers, is_approved},
};

/// Returns the current time.
pub type WallClock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The approver and the records of one run.
pub struct Approvals {
    /// The store of answers and receipts.
    pub store: SharedStore,
    /// Answers questions about permissions.
    pub approver: Arc<dyn Approver>,
    /// Skills whose requests are approved for this run (`--approve-skills`).
    pub approved_now: Vec<String>,
    /// Skills whose requests the user's configuration approves.
    pub approved: Vec<ApprovedPermission>,
    /// The terms of every grant.
    pub terms: GrantTerms,
    /// The current time.
    pub clock: WallClock,
    /// Shows the user a line immediately, before the end of the command.
    pub warn: Arc<dyn Fn(&str) + Send + Sync>,
    /// Counts the acts of this turn.
    pub meter: ActMeter,
    /// The session that receipts belong to.
    pub session: String,
    /// The questions of this run.
    pub asking: AskedQuestions,
}

/// The questions of a run, and the answers that are kept until it ends.
#[derive(Debug, Default)]
pub struct AskedQuestions {
    /// Numbers the single-use approvals.
    once: Guarded<u64>,
    /// How long questions about acts were open. A tool that waits for an answer is not late.
    waited: Guarded<Duration>,
    /// The answers about acts, shared with sub-agents.
    answers: Arc<SessionAnswers>,
}

impl AskedQuestions {
    /// With the answers of a session that has begun.
    #[must_use]
    pub fn sharing(answers: Arc<SessionAnswers>) -> Self {
        Self {
            answers,
            ..Self::default()
        }
    }

    /// A number that no other single-use approval of this run has.
    fn next_number(&self) -> u64 {
        let mut once = self.once.lock();
        *once += 1;
        *once
    }
}

/// The skill that requests something.
pub struct RequestingSkill<'a> {
    /// Its name, source and digest.
    pub identity: &'a Identity,
    /// Path of the skill, for display.
    pub place: &'a str,
    /// The files of the skill.
    pub held: &'a Snapshot,
}

/// Why no grant was given.
#[derive(Debug, thiserror::Error)]
pub enum GrantRefused {
    /// The user denied it earlier, and the answer was stored.
    #[error("{} denied", list(.0))]
    Denied(Vec<RequestedPermission>),
    /// The user denied it just now. Nothing is stored.
    #[error("{} denied", list(.0))]
    DeniedNow(Vec<RequestedPermission>),
    /// The user revoked it while another question about this skill was open. The next start asks again.
    #[error("{} revoked while a question was open", list(.0))]
    RevokedMeanwhile(Vec<RequestedPermission>),
    /// No one can be asked.
    #[error("{} not approved", list(.asked))]
    NotApproved {
        /// The requested permissions.
        asked: Vec<RequestedPermission>,
        /// The differences from the approved bytes, if any were approved.
        changes: Option<Box<Changes>>,
        /// Whether `skills.approved` has its name, which does not mean a skill of this source.
        other_source: bool,
    },
    /// The answers can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn list(asked: &[RequestedPermission]) -> String {
    let names: Vec<String> = asked
        .iter()
        .map(|asked| format!("`{}`", asked.want))
        .collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", names.join(", "))
}

/// A question that was not answered with yes.
enum No {
    Denied,
    Unavailable,
}

impl No {
    /// The refusal of a pending act, for the skill and its model.
    fn to(&self, identity: &Identity, pending: &PendingAct) -> PermitRefusal {
        let shown = metier_model::text::visible(pending.shown());
        let skill = shell_word(&identity.skill);
        let needed = pending.needed();
        let (code, message) = match self {
            Self::Denied => (
                "denied",
                format!("the user denied `{shown}`; nothing was done"),
            ),
            Self::Unavailable => (
                "not-approved",
                format!(
                    "`{shown}` needs the user's approval, and there is no terminal to ask on (allow it with: {}, or everything for one \
                     run with --approve-skills {skill}); nothing was done",
                    permanently(pending.act(), &skill, &needed)
                ),
            ),
        };
        PermitRefusal {
            code,
            message,
            needed: Some(needed),
        }
    }
}

/// The command that allows an act from now on.
fn permanently(act: &Act, skill: &str, needed: &str) -> String {
    match act {
        Act::CallTool { tool, .. } => {
            let (server, tool) = tool.split_once("__").unwrap_or(("", tool));
            format!("metier config agent.mcp.{server}.allow {tool}")
        }
        _ => format!(
            "metier permissions {skill} --approve {}",
            shell_word(needed)
        ),
    }
}

/// The result of an act.
#[derive(Clone, Debug)]
pub struct ActRecord {
    /// How it ended; `None` if it was refused.
    pub outcome: Option<ReceiptOutcome>,
    /// Why it was refused or failed.
    pub reason: Option<String>,
    /// How long it took.
    pub ms: u64,
    /// The sandbox that it ran in.
    pub sandbox: Option<String>,
}

impl ActRecord {
    /// The act succeeded.
    #[must_use]
    pub const fn well(ms: u64) -> Self {
        Self {
            outcome: Some(ReceiptOutcome::Ok),
            reason: None,
            ms,
            sandbox: None,
        }
    }

    /// The act failed.
    #[must_use]
    pub const fn badly(outcome: ReceiptOutcome, reason: String, ms: u64) -> Self {
        Self {
            outcome: Some(outcome),
            reason: Some(reason),
            ms,
            sandbox: None,
        }
    }

    /// The act was refused.
    #[must_use]
    pub const fn refused(reason: String) -> Self {
        Self {
            outcome: None,
            reason: Some(reason),
            ms: 0,
            sandbox: None,
        }
    }

    fn clean(&self, redactor: &Redactor) -> Self {
        Self {
            reason: self.reason.as_deref().map(|reason| redactor.clean(reason)),
            ..self.clone()
        }
    }

    const fn decision(&self) -> metier_store::ReceiptDecision {
        match self.outcome {
            Some(_) => metier_store::ReceiptDecision::Allowed,
            None => metier_store::ReceiptDecision::Refused,
        }
    }
}

/// The fields that all receipts of an activation share.
#[derive(Clone, Debug)]
pub(crate) struct Whose {
    pub(crate) skill: String,
    pub(crate) source: String,
    pub(crate) digest: String,
    pub(crate) session: String,
}

/// The receipt of an event that has one entry.
pub(crate) fn draft(
    whose: &Whose,
    at: String,
    act: &str,
    detail: String,
    went: ActRecord,
) -> NewReceipt {
    let whose = whose.clone();
    NewReceipt {
        at,
        skill: whose.skill,
        source: whose.source,
        digest: whose.digest,
        act: act.to_owned(),
        detail,
        decision: went.decision(),
        reason: went.reason,
        outcome: went.outcome,
        ms: went.ms,
        sandbox: went.sandbox,
        session: Some(whose.session),
        count: 1,
    }
}

/// The receipt of the end of an act.
pub(crate) fn completion(at: String, went: ActRecord) -> Completion {
    Completion {
        at,
        decision: went.decision(),
        outcome: went.outcome,
        reason: went.reason,
        ms: went.ms,
        sandbox: went.sandbox,
        note: String::new(),
    }
}

impl Approvals {
    /// The approvals of another session of this run: it shares the answers and has its own rate limits.
    pub(crate) fn beside(&self, session: &str) -> Self {
        Self {
            store: self.store.clone(),
            approver: Arc::clone(&self.approver),
            approved_now: self.approved_now.clone(),
            approved: self.approved.clone(),
            terms: self.terms.clone(),
            clock: Arc::clone(&self.clock),
            warn: Arc::clone(&self.warn),
            meter: ActMeter::default(),
            session: session.to_owned(),
            asking: AskedQuestions::sharing(Arc::clone(&self.asking.answers)),
        }
    }

    /// The permissions of this skill, after asking if necessary. Every refusal leaves a receipt.
    ///
    /// # Errors
    /// When the user denies it, when no one can be asked, or when the answers can't be stored.
    pub fn grant(
        &self,
        subject: &RequestingSkill<'_>,
        request: &PermissionRequest,
    ) -> Result<RevocableGrant, GrantRefused> {
        let request = &request.clone().as_asked_of(subject.identity, &self.terms);
        let (ruling, behind) = self.rule(subject.identity, request, &[])?;
        let open = match ruling {
            Ruling::Granted(grant) => {
                return Ok(RevocableGrant {
                    grant: *grant,
                    behind,
                });
            }
            Ruling::Denied(denied) => return self.denied(subject.identity, denied),
            Ruling::Ask(open) => open,
        };
        let (optional, required): (Vec<RequestedPermission>, Vec<RequestedPermission>) =
            open.into_iter().partition(|asked| asked.why.is_optional());
        let mut now = Vec::new();
        if !required.is_empty() {
            self.ask(subject, request, &required)?;
            now.extend(required.iter().map(|asked| allow(&asked.want)));
        }
        // Asked separately, so that it can be denied separately. A denied optional permission does not affect what else the user
        // allowed.
        let mut given = request.clone();
        if !optional.is_empty() {
            match self.ask(subject, request, &optional) {
                Ok(()) => now.extend(optional.iter().map(|asked| allow(&asked.want))),
                Err(GrantRefused::Store(error)) => return Err(error.into()),
                Err(_) => {
                    let left = request.iter().filter(|asked| !optional.contains(asked));
                    given = PermissionRequest::new(left.cloned());
                }
            }
        }
        // The questions may have been open for minutes: revocations and denials in the meantime count.
        match self.rule(subject.identity, &given, &now)? {
            (Ruling::Granted(grant), behind) => Ok(RevocableGrant {
                grant: *grant,
                behind,
            }),
            (Ruling::Denied(denied), _) => self.denied(subject.identity, denied),
            (Ruling::Ask(left), _) => {
                self.refuse(subject.identity, &left, "revoked while a question was open")?;
                Err(GrantRefused::RevokedMeanwhile(left))
            }
        }
    }

    /// The refusal of what is denied in the store.
    fn denied(
        &self,
        identity: &Identity,
        denied: Vec<RequestedPermission>,
    ) -> Result<RevocableGrant, GrantRefused> {
        let reason = "denied earlier; see `metier permissions`";
        self.refuse(identity, &denied, reason)?;
        Err(GrantRefused::Denied(denied))
    }

    /// The ruling on a request with the answers that are stored now, those by name, and those that were given `now`.
    pub(crate) fn rule(
        &self,
        identity: &Identity,
        request: &PermissionRequest,
        now: &[PermissionAnswer],
    ) -> Result<(Ruling, AnswersBehind), StoreError> {
        let behind = AnswersBehind::read(&self.store.lock(), identity)?;
        let mut answers: Vec<PermissionAnswer> = behind.all().chain(now).cloned().collect();
        if self.is_approved(identity) {
            answers.extend(request.iter().map(|asked| allow(&asked.want)));
        }
        let ruling = rule(identity.clone(), request, &answers, self.terms.clone());
        Ok((ruling, behind))
    }

    /// The previously allowed part of a request. No question is asked, and nothing is recorded.
    ///
    /// # Errors
    /// When the answers can't be read.
    pub fn allowed_before(
        &self,
        identity: &Identity,
        request: &PermissionRequest,
    ) -> Result<PermissionRequest, StoreError> {
        if self.is_approved(identity) {
            return Ok(request.clone());
        }
        let answers = self.answers(identity)?;
        let mut left = request.clone();
        loop {
            let ruling = rule(identity.clone(), &left, &answers, self.terms.clone());
            let (Ruling::Ask(open) | Ruling::Denied(open)) = ruling else {
                return Ok(left);
            };
            let rest = left.iter().filter(|asked| !open.contains(asked));
            left = PermissionRequest::new(rest.cloned());
        }
    }

    /// Asks the approver about permissions without an answer.
    fn ask(
        &self,
        subject: &RequestingSkill<'_>,
        request: &PermissionRequest,
        open: &[RequestedPermission],
    ) -> Result<(), GrantRefused> {
        let changes = self.changes(subject, request)?;
        let question = ApprovalQuestion::about_permissions(
            subject.identity.clone(),
            subject.place.to_owned(),
            self.session.clone(),
            open.to_vec(),
            changes.clone(),
        );
        match self.put(&question) {
            Ok(ApprovalOffer::Always(_)) => {
                self.remember(subject, open, ApprovalDecision::Allowed, "terminal")?;
            }
            Ok(_) => self.use_once(subject.identity, open)?,
            Err(No::Denied) => {
                self.refuse(subject.identity, open, "denied just now")?;
                return Err(GrantRefused::DeniedNow(open.to_vec()));
            }
            Err(No::Unavailable) => {
                self.refuse(
                    subject.identity,
                    open,
                    "not approved, and there is no terminal to ask on",
                )?;
                return Err(GrantRefused::NotApproved {
                    asked: open.to_vec(),
                    changes: changes.map(Box::new),
                    other_source: is_approved_elsewhere(subject.identity, &self.approved),
                });
            }
        }
        Ok(())
    }

    /// Asks a question, and accepts only an offered answer.
    fn put<'q>(&self, question: &'q ApprovalQuestion) -> Result<&'q ApprovalOffer, No> {
        let start = Instant::now();
        let reply = self.approver.ask(question);
        {
            let mut waited = self.asking.waited.lock();
            *waited = waited.saturating_add(start.elapsed());
        }
        match question.taken(reply) {
            Some(offer) => Ok(offer),
            None if reply == Reply::Unavailable => Err(No::Unavailable),
            None => Err(No::Denied),
        }
    }

    /// How long this run has waited for answers.
    pub(crate) fn waited(&self) -> Duration {
        self.asking.waited.get()
    }

    /// The answers about a skill that are stored now.
    pub(crate) fn answers(&self, identity: &Identity) -> Result<Vec<PermissionAnswer>, StoreError> {
        answers(&self.store.lock(), identity)
    }

    fn is_approved(&self, identity: &Identity) -> bool {
        is_approved(identity, &self.approved_now, &self.approved)
    }

    /// Stores an answer, and the current files of the skill.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn remember(
        &self,
        subject: &RequestingSkill<'_>,
        asked: &[RequestedPermission],
        answer: ApprovalDecision,
        by: &str,
    ) -> Result<(), StoreError> {
        let identity = subject.identity;
        let approvals: Vec<Approval> = asked
            .iter()
            .map(|asked| Approval {
                skill: identity.skill.to_string(),
                source: identity.source.as_str().to_owned(),
                permission: asked.want.to_string(),
                digest: identity.digest.to_string(),
                decision: answer,
                at: self.time(),
                by: by.to_owned(),
            })
            .collect();
        let files = files(subject.held);
        self.store.lock().approve_with_files(&approvals, &files)
    }

    /// Allow once: a record that is written and immediately used up, so that nothing can use it again.
    fn use_once(
        &self,
        identity: &Identity,
        asked: &[RequestedPermission],
    ) -> Result<(), StoreError> {
        let now = (self.clock)()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |time| i64::try_from(time.as_secs()).unwrap_or(i64::MAX));
        for asked in asked {
            let number = self.asking.next_number();
            let nonce = format!("{}-{number}", self.session);
            self.store.lock().grant_once(
                &metier_store::SingleUse {
                    skill: identity.skill.to_string(),
                    source: identity.source.as_str().to_owned(),
                    permission: asked.want.to_string(),
                    digest: identity.digest.to_string(),
                },
                &nonce,
                now.saturating_add(60),
            )?;
            if !self.store.lock().consume_once(&nonce, now)? {
                return Err(StoreError::NonceUsed);
            }
        }
        Ok(())
    }

    /// The differences from the bytes that were approved last.
    fn changes(
        &self,
        subject: &RequestingSkill<'_>,
        request: &PermissionRequest,
    ) -> Result<Option<Changes>, StoreError> {
        let identity = subject.identity;
        let earlier = self.store.lock().earlier_approval(
            &identity.skill,
            identity.source.as_str(),
            &identity.digest.to_string(),
        )?;
        Ok(earlier.map(|earlier| {
            let before: Vec<&str> = earlier
                .approvals
                .iter()
                .map(|kept| kept.permission.as_str())
                .collect();
            let now: Vec<String> = request.iter().map(|asked| asked.want.to_string()).collect();
            let files = files(subject.held);
            let old = |path: &str| earlier.files.iter().find(|file| file.path == path);
            Changes {
                since: earlier
                    .approvals
                    .first()
                    .map(|kept| kept.at.clone())
                    .unwrap_or_default(),
                new_permissions: now
                    .iter()
                    .filter(|want| !before.contains(&want.as_str()))
                    .cloned()
                    .collect(),
                gone_permissions: before
                    .iter()
                    .filter(|want| !now.iter().any(|now| now == **want))
                    .map(|want| (*want).to_owned())
                    .collect(),
                added: files
                    .iter()
                    .filter(|file| old(&file.path).is_none())
                    .map(|file| file.path.clone())
                    .collect(),
                removed: earlier
                    .files
                    .iter()
                    .filter(|file| !files.iter().any(|now| now.path == file.path))
                    .map(|file| file.path.clone())
                    .collect(),
                changed: files
                    .iter()
                    .filter(|file| old(&file.path).is_some_and(|old| old.digest != file.digest))
                    .map(|file| file.path.clone())
                    .collect(),
            }
        }))
    }

    fn refuse(
        &self,
        identity: &Identity,
        asked: &[RequestedPermission],
        reason: &str,
    ) -> Result<(), StoreError> {
        let receipts: Vec<NewReceipt> = asked
            .iter()
            .map(|asked| {
                self.receipt(
                    identity,
                    asked.want.permission.as_str(),
                    &asked.want.to_string(),
                    &ActRecord::refused(reason.to_owned()),
                )
            })
            .collect();
        self.store.lock().append(&receipts).map(drop)
    }

    /// Writes the receipt for the start of an act, without secrets. The act is done only afterwards.
    ///
    /// # Errors
    /// When it can't be written.
    pub(crate) fn begin(
        &self,
        identity: &Identity,
        (act, detail): (&str, &str),
        redactor: &Redactor,
    ) -> Result<BegunReceipt, StoreError> {
        let went = ActRecord::well(0);
        let draft = self.receipt(identity, act, &redactor.clean(detail), &went);
        self.store.lock().begin(&draft)
    }

    /// Records the end of an act.
    ///
    /// # Errors
    /// When it can't be written.
    pub(crate) fn complete(
        &self,
        begun: BegunReceipt,
        went: &ActRecord,
        redactor: &Redactor,
    ) -> Result<Receipt, StoreError> {
        let completion = completion(self.time(), went.clean(redactor));
        self.store.lock().complete(begun, &completion)
    }

    /// The fields of every receipt of a skill.
    pub(crate) fn whose(&self, identity: &Identity) -> Whose {
        Whose {
            skill: identity.skill.to_string(),
            source: identity.source.as_str().to_owned(),
            digest: identity.digest.to_string(),
            session: self.session.clone(),
        }
    }

    /// Writes a receipt for something that is not an act of a skill: an activation, a call, a hook.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn record(
        &self,
        identity: &Identity,
        act: &str,
        detail: &str,
        went: &ActRecord,
        redactor: &Redactor,
    ) -> Result<Option<Receipt>, StoreError> {
        let draft = self.draft(identity, act, detail, went, redactor);
        Ok(self.write(&[draft])?.pop())
    }

    /// The receipt, without secrets.
    pub(crate) fn draft(
        &self,
        identity: &Identity,
        act: &str,
        detail: &str,
        went: &ActRecord,
        redactor: &Redactor,
    ) -> NewReceipt {
        let went = went.clean(redactor);
        self.receipt(identity, act, &redactor.clean(detail), &went)
    }

    /// Records several receipts in one transaction: it waits for the disk only once.
    pub(crate) fn write(&self, drafts: &[NewReceipt]) -> Result<Vec<Receipt>, StoreError> {
        self.store.lock().append(drafts)
    }

    /// Stores the state that a skill was left in.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn keep_state(
        &self,
        skill: &str,
        source: Source,
        state: &str,
        detail: &str,
    ) -> Result<(), StoreError> {
        let state = SkillState {
            skill: skill.to_owned(),
            source: source.as_str().to_owned(),
            state: state.to_owned(),
            since: self.time(),
            detail: Some(detail.to_owned()),
        };
        self.store.lock().set_state(&state)
    }

    fn receipt(
        &self,
        identity: &Identity,
        act: &str,
        detail: &str,
        went: &ActRecord,
    ) -> NewReceipt {
        let (whose, detail) = (self.whose(identity), detail.to_owned());
        draft(&whose, self.time(), act, detail, went.clone())
    }

    fn time(&self) -> String {
        humantime::format_rfc3339_millis((self.clock)()).to_string()
    }
}
