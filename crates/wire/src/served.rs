//! Documents that only the daemon returns: pages of a list, results of executing a skill, questions, sessions, changes.

use metier::{
    ApprovalQuestion, ApprovalSubject, CurrentSkills, PendingApproval, SkillChanges, WatchState,
    WatchedSkill, approval_text,
};
use metier_policy::{ApprovalOffer, Danger};
use metier_runtime::{Inventory, Status};
use serde::Serialize;
use serde_json::Value;

use crate::{
    json::{self, JsonObject, key},
    list::{DiagnosticRow, ListCounts, SkillRow},
    permission::{CommandRow, ReceiptRow},
};

/// A part of the list of skills.
///
/// Like [`ListDocument`](crate::ListDocument), with `next_cursor` and `total` added.
pub struct SkillsPage<'a> {
    /// All skills.
    pub inventory: &'a Inventory,
    /// The skills of this page, as positions in the inventory.
    pub rows: &'a [usize],
    /// How many skills match, on all pages.
    pub total: usize,
    /// Where the next page begins.
    pub next_cursor: Option<String>,
    /// Whether this is the first page, which includes the problems of folders.
    pub is_first: bool,
}

impl SkillsPage<'_> {
    /// The page as JSON, on one line.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let inventory = self.inventory;
        let rows = || {
            self.rows
                .iter()
                .filter_map(|row| inventory.skills.get(*row))
        };
        let mut out = Vec::with_capacity(self.rows.len() * 512 + 512);
        let mut object = JsonObject::begin(&mut out);
        object.list(key!("skills"), rows(), |out, skill| {
            let mut row = JsonObject::begin(out);
            SkillRow::new(inventory, skill).fields(&mut row);
            row.end();
        });
        let of_skills = rows().flat_map(|skill| {
            let entry = inventory.entry(skill);
            let diagnostics = entry.diagnostics.iter();
            diagnostics.map(move |diagnostic| DiagnosticRow::of(entry, diagnostic))
        });
        let others = inventory.diagnostics.iter().filter(|_| self.is_first);
        let diagnostics = of_skills.chain(others.map(DiagnosticRow::new));
        object.list(key!("diagnostics"), diagnostics, |out, row| {
            json::value(out, &row);
        });
        let counts = ListCounts::from(inventory.counts());
        json::value(object.key(key!("counts")), &counts);
        object.number(key!("total"), self.total);
        object.optional(key!("next_cursor"), self.next_cursor.as_deref());
        object.end();
        out
    }
}

/// The fields that [`SkillsPage`] writes.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "it describes what is written field by field")]
pub(crate) struct SkillsPageShape {
    #[serde(flatten)]
    list: crate::list::ListShape,
    /// How many skills match, on all pages.
    total: usize,
    /// Where the next page begins.
    next_cursor: Option<String>,
}

/// The result of executing a skill.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecutedDocument {
    /// Name of the skill.
    pub name: String,
    /// `inline`, `fork` or `workflow`.
    pub mode: &'static str,
    /// The rendered text, the answer of the sub-agent, or the output of the workflow as text.
    pub content: String,
    /// The output of a workflow as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Whether the workflow reported an error.
    pub is_error: bool,
    /// The commands that ran.
    pub commands: Vec<CommandRow>,
    /// The receipts of its acts; only the newest if there are many.
    pub receipts: Vec<ReceiptRow>,
    /// Notices for the user, for example that the last good version of a broken skill was used.
    pub warnings: Vec<String>,
}

/// Questions that wait for an answer.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalsDocument {
    /// The questions, the oldest first.
    pub approvals: Vec<ApprovalRow>,
}

/// A question that waits for an answer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalRow {
    /// The id to answer to.
    pub id: String,
    /// The session that asks.
    pub session: String,
    /// Name of the skill.
    pub skill: String,
    /// Where it comes from.
    pub source: &'static str,
    /// Digest of the skill's files.
    pub digest: String,
    /// Path of the skill's folder.
    pub path: String,
    /// `permissions` for a skill that starts, or `act` for one act that is about to happen.
    pub kind: &'static str,
    /// The danger, in one word.
    pub danger: &'static str,
    /// The requested permissions, or the act.
    pub wants: Vec<String>,
    /// The question as it is printed at a terminal, without keys and colours.
    pub text: String,
    /// The answers that allow it; `no` is always possible.
    pub answers: Vec<OfferRow>,
}

/// An answer to a question.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfferRow {
    /// `once`, `session` or `always`.
    pub answer: &'static str,
    /// The permissions that it covers; empty for `once`.
    pub covers: Vec<String>,
}

impl ApprovalRow {
    /// The row of a question of a session.
    #[must_use]
    pub fn new(id: String, session: &str, pending: &PendingApproval) -> Self {
        let question: &ApprovalQuestion = &pending.question;
        let identity = &question.identity;
        Self {
            id,
            session: session.to_owned(),
            skill: identity.skill.to_string(),
            source: identity.source.as_str(),
            digest: identity.digest.to_string(),
            path: question.place.clone(),
            kind: match &question.subject {
                ApprovalSubject::Permissions { .. } => "permissions",
                ApprovalSubject::Act(_) => "act",
            },
            danger: danger(question.danger),
            wants: pending.wants(),
            text: approval_text::card(question),
            answers: question.offers.iter().map(OfferRow::from).collect(),
        }
    }
}

impl From<&ApprovalOffer> for OfferRow {
    fn from(offer: &ApprovalOffer) -> Self {
        let (answer, covers) = match offer {
            ApprovalOffer::Once => ("once", Vec::new()),
            ApprovalOffer::Session(want) => ("session", vec![want.to_string()]),
            ApprovalOffer::Always(wants) => {
                let wants = wants.iter().map(ToString::to_string);
                ("always", wants.collect())
            }
        };
        Self { answer, covers }
    }
}

const fn danger(danger: Danger) -> &'static str {
    match danger {
        Danger::RunAnything => "run_anything",
        Danger::WriteElsewhere => "write_elsewhere",
        Danger::ReadElsewhere => "read_elsewhere",
        Danger::Secret => "secret",
        Danger::AnyHost => "any_host",
        Danger::Run => "run",
        Danger::Write => "write",
        Danger::Variables => "variables",
        Danger::Reach => "reach",
        Danger::Read => "read",
    }
}

/// `skills_changed`: the changes since the last message.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkillsChangedDocument {
    /// `skills_changed`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The number of the listing.
    pub generation: u64,
    /// Names of skills that are new.
    pub added: Vec<String>,
    /// Names of skills whose files or status changed.
    pub changed: Vec<String>,
    /// Names of skills that were removed.
    pub removed: Vec<String>,
    /// New or changed skills that can't be read, with the reasons.
    pub broken: Vec<BrokenSkillRow>,
}

/// A skill that can't be read.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BrokenSkillRow {
    /// Name of the skill.
    pub name: String,
    /// Path of the skill's folder.
    pub path: String,
    /// The problems, one sentence each.
    pub problems: Vec<String>,
    /// Whether its last good version is used meanwhile.
    pub last_good: bool,
}

impl SkillsChangedDocument {
    /// The message about changes, with the current state of the skills.
    #[must_use]
    pub fn new(changes: &SkillChanges, now: &CurrentSkills) -> Self {
        let names = |skills: &[WatchedSkill]| -> Vec<String> {
            skills.iter().map(|skill| skill.name.clone()).collect()
        };
        let all = changes.added.iter().chain(&changes.changed);
        let broken = all.filter(|skill| skill.status == Status::Invalid);
        Self {
            kind: "skills_changed",
            generation: now.generation,
            added: names(&changes.added),
            changed: names(&changes.changed),
            removed: names(&changes.removed),
            broken: broken.map(|skill| broken_skill_row(skill, now)).collect(),
        }
    }
}

fn broken_skill_row(skill: &WatchedSkill, now: &CurrentSkills) -> BrokenSkillRow {
    let found = now.skills.all().find(|found| found.path() == skill.path);
    let diagnostics = found.map(|found| &found.entry().diagnostics[..]);
    let problems = diagnostics.unwrap_or_default().iter().map(|diagnostic| {
        let place = diagnostic.position.map_or_else(String::new, |position| {
            format!(":{}:{}", position.line, position.column)
        });
        format!("{}{place}: {}", diagnostic.file, diagnostic.message)
    });
    let mut usable = now.usable().all();
    let usable = usable.find(|found| found.path() == skill.path);
    BrokenSkillRow {
        name: skill.name.clone(),
        path: skill.path.to_string_lossy().into_owned(),
        problems: problems.collect(),
        last_good: usable.is_some_and(|found| found.status() != Status::Invalid),
    }
}

/// Sessions of agents.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionsDocument {
    /// One row for each session, the newest first.
    pub sessions: Vec<SessionRow>,
}

/// A session of an agent.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionRow {
    /// Its id, valid until the daemon ends.
    pub id: String,
    /// The id of the conversation: `metier chat --resume ID` continues it once the session has ended.
    pub conversation: String,
    /// The first words of the task.
    pub title: String,
    /// Time in UTC.
    pub started: String,
    /// `running`, `idle` or `ended`.
    pub state: &'static str,
    /// Number of turns so far.
    pub turns: u64,
    /// The last answer, if the last turn had one.
    pub text: Option<String>,
    /// Why the last turn failed.
    pub error: Option<String>,
}

/// The state of the daemon.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusDocument {
    /// Version of the program.
    pub version: &'static str,
    /// Time at which it was started, in UTC.
    pub started: String,
    /// The project that it works in.
    pub project: String,
    /// The number of the listing.
    pub generation: u64,
    /// How many skills have each status.
    pub counts: ListCounts,
    /// How many skills each source has.
    pub sources: Vec<SourceRow>,
    /// How many skills are in the folders of each agent.
    pub agents: Vec<AgentSkillsRow>,
    /// How changes are noticed.
    pub watch: WatchRow,
    /// Number of sessions of agents.
    pub sessions: usize,
    /// Number of questions that wait for an answer.
    pub approvals: usize,
}

/// The skills of one source.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceRow {
    /// Name of the source.
    pub source: &'static str,
    /// Number of its skills.
    pub skills: usize,
    /// How many of them can be used.
    pub ready: usize,
    /// How many of them can't be read.
    pub invalid: usize,
}

/// The skills in the folders of one agent.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentSkillsRow {
    /// Name of the agent.
    pub agent: &'static str,
    /// Number of skills in its folders.
    pub skills: usize,
    /// How many of them can be used.
    pub ready: usize,
    /// How many of them can't be read.
    pub invalid: usize,
}

/// A link for a browser.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkDocument {
    /// The path and query after the daemon's address; it works once, within ten minutes.
    pub path: String,
}

/// How changes of skills are noticed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchRow {
    /// `starting`, `watched`, `polled` or `off`.
    pub state: &'static str,
    /// Number of watched folders.
    pub folders: usize,
    /// Why not everything is watched.
    pub reason: Option<String>,
}

impl From<WatchState> for WatchRow {
    fn from(state: WatchState) -> Self {
        let word = state.as_str();
        let (folders, reason) = match state {
            WatchState::Watched(folders) => (folders, None),
            WatchState::Polled(why) => (0, Some(why)),
            WatchState::Starting | WatchState::Off => (0, None),
        };
        Self {
            state: word,
            folders,
            reason,
        }
    }
}

impl SourceRow {
    /// One row for each source that has skills.
    #[must_use]
    pub fn all(inventory: &Inventory) -> Vec<Self> {
        let mut rows: Vec<Self> = Vec::new();
        for skill in &inventory.skills {
            let source = inventory.entry(skill).source.as_str();
            let position = rows.iter().position(|row| row.source == source);
            let position = position.unwrap_or_else(|| {
                rows.push(Self {
                    source,
                    skills: 0,
                    ready: 0,
                    invalid: 0,
                });
                rows.len() - 1
            });
            let row = &mut rows[position];
            row.skills += 1;
            row.ready += usize::from(skill.status == Status::Ready);
            row.invalid += usize::from(skill.status == Status::Invalid);
        }
        rows
    }
}

impl AgentSkillsRow {
    /// One row for each agent that has skills.
    #[must_use]
    pub fn all(inventory: &Inventory) -> Vec<Self> {
        let roots = &inventory.catalog.roots;
        let mut rows: Vec<Self> = Vec::new();
        for skill in &inventory.skills {
            let root = inventory.entry(skill).root.map(usize::from);
            let agent = root.and_then(|root| roots.get(root)?.agent);
            let Some(agent) = agent else {
                continue;
            };
            let position = rows.iter().position(|row| row.agent == agent);
            let position = position.unwrap_or_else(|| {
                rows.push(Self {
                    agent,
                    skills: 0,
                    ready: 0,
                    invalid: 0,
                });
                rows.len() - 1
            });
            let row = &mut rows[position];
            row.skills += 1;
            row.ready += usize::from(skill.status == Status::Ready);
            row.invalid += usize::from(skill.status == Status::Invalid);
        }
        rows
    }
}

/// `refresh`: the skills were listed again.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefreshDocument {
    /// The number of the listing.
    pub generation: u64,
    /// How many skills have each status.
    pub counts: ListCounts,
}
