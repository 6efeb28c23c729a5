//! The whole matrix of authority as text: who may do what, after which answer, with and without a terminal.
//!
//! Every cell is computed by the real functions, with a real store and a user who always denies. Rows with the same outcome are merged. A
//! changed rule shows up as a change of `authority.txt`; with `METIER_BLESS=1` it is rewritten, and the diff is the thing to review.

use std::{
    cell::Cell,
    collections::BTreeSet,
    env, fs,
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, SystemTime},
};

use metier_catalog::Snapshot;
use metier_config::ApprovedPermission;
use metier_model::{
    Digest, FileText, Files, Os, Permission, SkillManifest, Source, Strictness, Want, parse,
};
use metier_policy::{
    Act, ActMeter, Admission, ApprovalQuestion, ApprovalSubject, Approver, CommandLine, Facts,
    FetchAct, GitAct, Grant, GrantTerms, Headless, Identity, PermissionRequest, Reply,
    RequestReason, RequestedPermission, UserDecisions, admit,
};
use metier_runtime::approvals::{Approvals, GrantRefused, RequestingSkill};
use metier_store::{ApprovalDecision, SharedStore, Store};
use metier_testkit::TestContext;

use crate::session_parts;

/// The requested permissions, one of each kind, each with a permission that covers it and one that does not.
const WANTS: [(&str, &str, &str); 10] = [
    ("file:read(./docs/**)", "file:read", "file:read(./docs/a)"),
    ("file:write(./out/**)", "file:write", "file:write(./out/a)"),
    ("shell:exec(git *)", "shell:exec", "shell:exec(git log)"),
    ("net:fetch(*.a.io)", "net:fetch", "net:fetch(x.a.io)"),
    ("llm:call(small)", "llm:call", "llm:call(smaller)"),
    ("git:read(./**)", "git:read", "git:read(./sub)"),
    ("git:write(./**)", "git:write", "git:write(./sub)"),
    ("env:read(MODE)", "env:read", "env:read(MOD)"),
    ("env:write(MODE)", "env:write", "env:write(MOD)"),
    ("skill:invoke(b)", "skill:invoke", "skill:invoke(bb)"),
];

/// Earlier answers, configuration and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    Always,
    Denied,
    OnceEarlier,
    OtherDigest,
    OtherSource,
    OtherSkill,
    Wider,
    Narrower,
    ConfigName,
    ConfigSourceAndName,
    ConfigOtherSource,
    ConfigDigest,
    ConfigOtherDigest,
    Flag,
    FlagOtherSkill,
    DeniedAndFlag,
    DeniedAndConfig,
    DeniedWiderAndAlways,
}

const BEFORE: [(Before, &str); 19] = [
    (Before::Nothing, "nothing"),
    (Before::Always, "always"),
    (Before::Denied, "denied"),
    (Before::OnceEarlier, "once, in an earlier run"),
    (Before::OtherDigest, "always, other bytes"),
    (Before::OtherSource, "always, other source"),
    (Before::OtherSkill, "always, other skill"),
    (Before::Wider, "always, wider scope"),
    (Before::Narrower, "always, narrower scope"),
    (Before::ConfigName, "config: name"),
    (Before::ConfigSourceAndName, "config: source:name"),
    (Before::ConfigOtherSource, "config: other:name"),
    (Before::ConfigDigest, "config: name@digest"),
    (Before::ConfigOtherDigest, "config: name@other digest"),
    (Before::Flag, "--approve-skills"),
    (Before::FlagOtherSkill, "--approve-skills other"),
    (Before::DeniedAndFlag, "denied, --approve-skills"),
    (Before::DeniedAndConfig, "denied, config: name"),
    (
        Before::DeniedWiderAndAlways,
        "denied wider scope, then always",
    ),
];

const DIMENSIONS: [&str; 5] = ["before", "folder", "mode", "source", "permission"];

/// One cell, or many with the same outcome: for each dimension, the values that it applies to.
#[derive(Clone, PartialEq, Eq)]
struct Row {
    values: [BTreeSet<usize>; 5],
    outcome: String,
}

#[test]
fn the_matrix_is_as_it_was_reviewed() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    let stores = Source::ALL.map(|source| context.home().join(source.as_str()));
    // Each source has its own store, so that they can be written at the same time.
    let rows: Vec<Row> = thread::scope(|scope| {
        let columns: Vec<_> = (0..stores.len())
            .map(|at| {
                let file = &stores[at];
                scope.spawn(move || column(at, Store::open(file).unwrap()))
            })
            .collect();
        let columns = columns.into_iter().map(|column| column.join().unwrap());
        columns.flatten().collect()
    });
    assert_eq!(rows.len(), 2 * 5 * BEFORE.len() * 2 * 10);
    let text = format!(
        "{}\n{}\n{}",
        "# Who may do what. Made by tests/all/authority.rs; METIER_BLESS=1 rewrites it.\n",
        draw(&collapse(rows)),
        replies(&Room::new(Store::open(&stores[0]).unwrap()))
    );
    compare("authority.txt", &text);
}

/// The table of one source.
fn column(source: usize, store: Store) -> Vec<Row> {
    let room = Room::new(store);
    let mut rows = Vec::new();
    for (before, (answered, _)) in BEFORE.iter().enumerate() {
        let identity = room.prepare(Source::ALL[source], *answered);
        for (trust, trusted) in [true, false].into_iter().enumerate() {
            for (mode, terminal) in [true, false].into_iter().enumerate() {
                for (permission, (want, ..)) in WANTS.iter().enumerate() {
                    let outcome = room.outcome(&identity, *answered, (want, trusted, terminal));
                    let values = [before, trust, mode, source, permission];
                    rows.push(Row {
                        values: values.map(|value| BTreeSet::from([value])),
                        outcome,
                    });
                }
            }
        }
    }
    rows
}

/// Compares it with the file next to this one, or writes the file.
pub(crate) fn compare(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/all")
        .join(name);
    if env::var_os("METIER_BLESS").is_some() {
        fs::write(&file, text).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    let change = kept.lines().zip(text.lines()).find(|(old, new)| old != new);
    assert!(
        kept == text,
        "the matrix changed, first here: {change:#?}\nMETIER_BLESS=1 rewrites {name}: review the diff"
    );
}

/// The effect of each reply, now and the next time.
fn replies(room: &Room) -> String {
    let mut text = String::from("at the terminal  now                          next time\n");
    for (name, reply) in [
        ("once", Reply::Once),
        ("always", Reply::Always),
        ("deny", Reply::Deny),
        ("unavailable", Reply::Unavailable),
    ] {
        let identity = room.identity(Source::User, "a");
        let request = request(WANTS[2].0);
        let first = Scripted::new(reply);
        let now = room
            .approvals(first.clone(), &[], Vec::new())
            .grant(&room.subject(&identity), &request);
        let second = Scripted::new(Reply::Deny);
        let then = room
            .approvals(second.clone(), &[], Vec::new())
            .grant(&room.subject(&identity), &request);
        let line = format!(
            "{name:<16} {:<28} {}",
            word(now.as_ref(), &first),
            word(then.as_ref(), &second)
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn word<T>(result: Result<&T, &GrantRefused>, asked: &Scripted) -> String {
    let first = if asked.was_asked() { "asked, " } else { "" };
    let then = match result {
        Ok(_) => "allowed",
        Err(GrantRefused::Denied(_) | GrantRefused::DeniedNow(_)) => "refused: denied",
        Err(GrantRefused::NotApproved { .. }) => "refused: not approved",
        Err(GrantRefused::RevokedMeanwhile(_)) => "refused: revoked",
        Err(GrantRefused::Store(_)) => "refused: store",
    };
    format!("{first}{then}")
}

/// A store with its environment, and names that were never used before.
struct Room {
    store: SharedStore,
    held: Snapshot,
    used: Cell<u8>,
    round: Cell<u8>,
    manifest: SkillManifest,
}

impl Room {
    fn new(store: Store) -> Self {
        let text = "---\nname: a\ndescription: b\n---\n";
        let files = Files {
            skill_md: Some(FileText {
                name: "SKILL.md",
                text,
            }),
            ..Files::default()
        };
        Self {
            store: store.into(),
            held: Snapshot {
                files: Vec::new(),
                digest: Digest([0; 32]),
                fingerprint: None,
            },
            used: Cell::new(0),
            round: Cell::new(0),
            manifest: parse(&files, Strictness::Lenient).manifest.unwrap(),
        }
    }

    /// Bytes that the user has not been asked about yet.
    fn identity(&self, source: Source, skill: &str) -> Identity {
        let (used, overflow) = self.used.get().overflowing_add(1);
        self.used.set(used);
        self.round.set(self.round.get() + u8::from(overflow));
        let mut digest = [7; 32];
        (digest[0], digest[1]) = (used, self.round.get());
        Identity {
            skill: skill.into(),
            source,
            digest: Digest(digest),
        }
    }

    fn subject<'s>(&'s self, identity: &'s Identity) -> RequestingSkill<'s> {
        RequestingSkill {
            identity,
            place: "/somewhere",
            held: &self.held,
        }
    }

    fn approvals(
        &self,
        approver: Arc<dyn Approver>,
        now: &[&str],
        approved: Vec<ApprovedPermission>,
    ) -> Approvals {
        Approvals {
            approver,
            approved,
            clock: Arc::new(clock),
            session: format!("{}-{}", self.round.get(), self.used.get()),
            ..session_parts::approvals(self.store.clone(), now, terms())
        }
    }

    /// A skill about which all of this was answered before.
    fn prepare(&self, source: Source, before: Before) -> Identity {
        // A denial applies to every version of a skill.
        self.store.lock().revoke_approvals("a", None, None).unwrap();
        let identity = self.identity(source, "a");
        let asked = |which: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
            let wants = WANTS.iter().map(|row| RequestedPermission {
                want: which(row).parse().unwrap(),
                why: RequestReason::Declared,
            });
            wants.collect::<Vec<_>>()
        };
        let (exact, wider, narrower) = (asked(|row| row.0), asked(|row| row.1), asked(|row| row.2));
        let keep = |identity: &Identity, asked: &[RequestedPermission], answer| {
            let approvals = self.approvals(Arc::new(Headless), &[], Vec::new());
            approvals
                .remember(&self.subject(identity), asked, answer, "test")
                .unwrap();
        };
        match before {
            Before::Always => keep(&identity, &exact, ApprovalDecision::Allowed),
            Before::Denied | Before::DeniedAndFlag | Before::DeniedAndConfig => {
                keep(&identity, &exact, ApprovalDecision::Denied);
            }
            Before::OnceEarlier => {
                let once = Scripted::new(Reply::Once);
                let request = PermissionRequest::new(exact);
                let approvals = self.approvals(once, &[], Vec::new());
                approvals.grant(&self.subject(&identity), &request).unwrap();
            }
            Before::OtherDigest => {
                keep(
                    &self.identity(source, "a"),
                    &exact,
                    ApprovalDecision::Allowed,
                );
            }
            Before::OtherSource => {
                let other = Identity {
                    source: other(source),
                    ..identity.clone()
                };
                keep(&other, &exact, ApprovalDecision::Allowed);
            }
            Before::OtherSkill => {
                let other = Identity {
                    skill: "b".into(),
                    source,
                    digest: identity.digest,
                };
                keep(&other, &exact, ApprovalDecision::Allowed);
            }
            Before::Wider => keep(&identity, &wider, ApprovalDecision::Allowed),
            Before::Narrower => keep(&identity, &narrower, ApprovalDecision::Allowed),
            Before::DeniedWiderAndAlways => {
                keep(&identity, &wider, ApprovalDecision::Denied);
                keep(&identity, &exact, ApprovalDecision::Allowed);
            }
            _ => {}
        }
        identity
    }

    /// The outcome for one permission.
    fn outcome(
        &self,
        identity: &Identity,
        before: Before,
        (want, trusted, terminal): (&str, bool, bool),
    ) -> String {
        let standing = UserDecisions {
            trusted,
            ..UserDecisions::fine(identity.source)
        };
        if let Admission::Refused(reasons) = admit(&self.manifest.card, &standing, &Machine) {
            let kinds: Vec<&str> = reasons.iter().map(|reason| reason.kind.as_str()).collect();
            return format!("blocked: {}", kinds.join(", "));
        }
        let flag = match before {
            Before::Flag | Before::DeniedAndFlag => vec!["a"],
            Before::FlagOtherSkill => vec!["b"],
            _ => Vec::new(),
        };
        let config =
            |name: String, digest: Option<String>| vec![ApprovedPermission { name, digest }];
        let own = identity.digest.to_string();
        let approved = match before {
            Before::ConfigName | Before::DeniedAndConfig => config("a".into(), None),
            Before::ConfigSourceAndName => config(format!("{}:a", identity.source.as_str()), None),
            Before::ConfigOtherSource => {
                config(format!("{}:a", other(identity.source).as_str()), None)
            }
            Before::ConfigDigest => config("a".into(), Some(own)),
            Before::ConfigOtherDigest => config("a".into(), Some(Digest([9; 32]).to_string())),
            _ => Vec::new(),
        };
        let person = Scripted::new(Reply::Deny);
        let approver: Arc<dyn Approver> = match terminal {
            true => person.clone(),
            false => Arc::new(Headless),
        };
        let approvals = self.approvals(approver, &flag, approved);
        match approvals.grant(&self.subject(identity), &request(want)) {
            Ok(grant) => {
                assert!(!person.was_asked(), "a no became a yes");
                only(grant.grant(), want.parse::<Want>().unwrap().permission)
            }
            Err(_) if person.was_asked() => "asked".to_owned(),
            Err(GrantRefused::Denied(_) | GrantRefused::DeniedNow(_)) => {
                "refused: denied".to_owned()
            }
            Err(GrantRefused::NotApproved { .. }) => "refused: not approved".to_owned(),
            Err(GrantRefused::RevokedMeanwhile(_)) => "refused: revoked".to_owned(),
            Err(GrantRefused::Store(error)) => panic!("{error}"),
        }
    }
}

/// A grant for one permission must permit that act; everything else that it permits is part of the result.
fn only(grant: &Grant, permission: Permission) -> String {
    let meter = ActMeter::default();
    let mut permitted = Vec::new();
    for act in acts() {
        let needs = act.permission();
        if grant.permit(act, &meter).is_ok() {
            permitted.push(needs);
        }
    }
    match permitted.as_slice() {
        [one] if *one == permission => "allowed".to_owned(),
        // Other answers about the same bytes are the user's own, and are effective.
        several if several.contains(&permission) && several.len() == WANTS.len() => {
            "allowed, with what else was answered".to_owned()
        }
        others => format!("allowed, but permits {others:?}"),
    }
}

/// One act inside each of [`WANTS`].
fn acts() -> Vec<Act> {
    let git = || GitAct {
        repository: "/project".into(),
        arguments: vec!["status".into()],
    };
    vec![
        Act::ReadFile("/project/docs/x".into()),
        Act::WriteFile {
            path: "/project/out/x".into(),
            content: Vec::new(),
        },
        Act::Line(CommandLine {
            text: "git status".into(),
            commands: Some(vec![vec![Some("git".into()), Some("status".into())]]),
            could_run: metier_model::shell::parse("git status")
                .ok()
                .map(|line| line.could_run()),
            exact: None,
            writes: Vec::new(),
            is_plain: false,
            script: "git status".into(),
            parameters: Vec::new(),
            within: metier_policy::LineContext::Skill,
            stdin: Vec::new(),
            timeout: None,
        }),
        Act::Fetch(FetchAct {
            method: "GET".into(),
            url: "https://y.a.io/".into(),
            host: "y.a.io".into(),
            port: 443,
            headers: Vec::new(),
            body: Vec::new(),
        }),
        Act::CallModel("small".into()),
        Act::ReadRepository(git()),
        Act::WriteRepository(git()),
        Act::ReadVariable("MODE".into()),
        Act::SetVariable {
            name: "MODE".into(),
            value: "x".into(),
        },
        Act::InvokeSkill("b".into()),
    ]
}

fn request(want: &str) -> PermissionRequest {
    PermissionRequest::new([RequestedPermission {
        want: want.parse().unwrap(),
        why: RequestReason::Declared,
    }])
}

fn other(source: Source) -> Source {
    match source {
        Source::User => Source::Project,
        _ => Source::User,
    }
}

fn terms() -> GrantTerms {
    let home = Path::new("/home/ada");
    session_parts::terms(100, Path::new("/project"), Some(home))
}

fn clock() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_323_045)
}

/// An approver that always gives the same reply, and records the questions.
struct Scripted {
    reply: Reply,
    questions: Mutex<Vec<String>>,
}

impl Scripted {
    fn new(reply: Reply) -> Arc<Self> {
        Arc::new(Self {
            reply,
            questions: Mutex::default(),
        })
    }

    fn was_asked(&self) -> bool {
        !self.questions.lock().unwrap().is_empty()
    }
}

impl Approver for Scripted {
    fn ask(&self, question: &ApprovalQuestion) -> Reply {
        if let ApprovalSubject::Permissions { asked, .. } = &question.subject {
            let asked = asked.iter().map(|asked| asked.want.to_string());
            self.questions.lock().unwrap().extend(asked);
        }
        self.reply
    }
}

/// A machine with everything that a skill can require.
struct Machine;

impl Facts for Machine {
    fn os(&self) -> Option<Os> {
        None
    }
    fn has_program(&self, _name: &str) -> bool {
        true
    }
    fn has_variable(&self, _name: &str) -> bool {
        true
    }
    fn has_setting(&self, _path: &str) -> bool {
        true
    }
    fn tools(&self) -> Option<&[String]> {
        None
    }
}

/// The names of a dimension's values.
fn names(dimension: usize) -> Vec<String> {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match dimension {
        0 => own(&BEFORE.map(|(_, name)| name)),
        1 => own(&["trusted", "untrusted"]),
        2 => own(&["terminal", "headless"]),
        3 => own(&Source::ALL.map(Source::as_str)),
        _ => own(&Permission::ALL.map(Permission::as_str)),
    }
}

/// Merges rows that differ in only one dimension and have the same outcome, the innermost dimension first. Earlier answers are not merged:
/// each answer is a line to review.
fn collapse(mut rows: Vec<Row>) -> Vec<Row> {
    for dimension in (1..DIMENSIONS.len()).rev() {
        let mut kept: Vec<Row> = Vec::new();
        for row in rows {
            let same = |other: &&mut Row| {
                let alike = |at: usize| at == dimension || other.values[at] == row.values[at];
                other.outcome == row.outcome && (0..DIMENSIONS.len()).all(alike)
            };
            match kept.iter_mut().find(same) {
                Some(other) => other.values[dimension].extend(&row.values[dimension]),
                None => kept.push(row),
            }
        }
        rows = kept;
    }
    // Unless the answer makes no difference anywhere.
    let unmoved = |row: &Row| {
        let alike =
            |other: &&Row| other.outcome == row.outcome && other.values[1..] == row.values[1..];
        rows.iter().filter(alike).count() == BEFORE.len()
    };
    let mut kept: Vec<Row> = rows.iter().filter(|row| !unmoved(row)).cloned().collect();
    for row in rows.iter().filter(|row| unmoved(row)) {
        let mut row = row.clone();
        row.values[0] = (0..BEFORE.len()).collect();
        if !kept.contains(&row) {
            kept.push(row);
        }
    }
    kept.sort_by(|one, other| one.values.cmp(&other.values));
    kept
}

/// A table; `any` stands for all values of a dimension.
fn draw(rows: &[Row]) -> String {
    let mut table = vec![DIMENSIONS.map(str::to_owned).to_vec()];
    table[0].push("→".to_owned());
    for row in rows {
        let mut line: Vec<String> = (0..DIMENSIONS.len())
            .map(|dimension| {
                let (all, held) = (names(dimension), &row.values[dimension]);
                if held.len() == all.len() {
                    return "any".to_owned();
                }
                let missing = (0..all.len()).filter(|value| !held.contains(value));
                let (but, values): (&str, Vec<usize>) = if held.len() * 2 > all.len() {
                    ("all but ", missing.collect())
                } else {
                    ("", held.iter().copied().collect())
                };
                let values: Vec<&str> = values.iter().map(|value| all[*value].as_str()).collect();
                format!("{but}{}", values.join(" | "))
            })
            .collect();
        line.push(row.outcome.clone());
        table.push(line);
    }
    let width = |column: usize| {
        let cells = table.iter().map(|line| line[column].chars().count());
        cells.filter(|width| *width < 60).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..=DIMENSIONS.len()).map(width).collect();
    let mut out = String::new();
    for line in &table {
        let cells = line.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}
