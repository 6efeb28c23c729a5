//! Plans of the daemon: skills that were fetched and scanned, and wait for a decision. The requests about them, and the replies.

use metier::{
    NoticeLevel, TaskProgress,
    distribution::{
        InstallCard, InstallDecision, InstallPlan, InstallScope, LocalEdits, OfferKind, SkillOffer,
        SourceRequest, UpdateDecision, UpdateOptions, UpdatePlan, card_text,
    },
};
use serde::{Deserialize, Serialize};

use crate::{install::InstallRow, upkeep::UpdateRow};

/// The scope of skills.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ScopeField {
    /// The user's own skills, for every project.
    #[default]
    User,
    /// The skills of the project that the daemon works in.
    Project,
}

impl From<ScopeField> for InstallScope {
    fn from(scope: ScopeField) -> Self {
        match scope {
            ScopeField::User => Self::User,
            ScopeField::Project => Self::Project,
        }
    }
}

/// `POST /offers`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OffersRequest {
    /// A folder, an archive, `owner/repo` or a URL.
    pub source: String,
    /// An identifier chosen by the client, which the events about this work repeat.
    pub progress: Option<String>,
}

/// `POST /installs`: fetches and scans skills, and installs nothing yet.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanInstallRequest {
    /// A folder, an archive, `owner/repo`, a URL, or the name of a skill in a registry.
    pub source: String,
    /// The names of skills in it; may be empty if it contains only one.
    #[serde(default)]
    pub names: Vec<String>,
    /// Every skill in it.
    #[serde(default)]
    pub all: bool,
    /// The scope.
    #[serde(default)]
    pub scope: ScopeField,
    /// Agents whose folders get the skills too, as `install --to` does.
    #[serde(default)]
    pub agents: Vec<String>,
    /// An identifier chosen by the client, which the events about this work repeat.
    pub progress: Option<String>,
}

impl From<&PlanInstallRequest> for SourceRequest {
    fn from(request: &PlanInstallRequest) -> Self {
        Self {
            source: request.source.clone(),
            names: request.names.clone(),
            all: request.all,
        }
    }
}

/// `POST /installs/{plan}`: the decisions about a plan. A skill without a decision is left out.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApplyInstallRequest {
    /// One for each skill that is installed.
    pub skills: Vec<InstallChoice>,
}

/// A skill of a plan that is installed.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InstallChoice {
    /// Its name.
    pub name: String,
    /// The digest of the card that was approved.
    pub digest: String,
    /// The permissions that are approved for exactly these bytes; the others are requested at first use.
    #[serde(default)]
    pub approve: Vec<String>,
    /// Whether an existing skill or file with this name is replaced.
    #[serde(default)]
    pub replace: bool,
}

impl From<&InstallChoice> for InstallDecision {
    fn from(choice: &InstallChoice) -> Self {
        Self {
            name: choice.name.clone(),
            approve: choice.approve.clone(),
            replace: choice.replace,
        }
    }
}

/// `POST /updates`: compares installed skills with their sources, and changes nothing yet.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PlanUpdateRequest {
    /// The skills; if empty, all that are installed in the scope.
    pub names: Vec<String>,
    /// The scope.
    pub scope: ScopeField,
    /// How edited files are treated.
    pub edits: EditsField,
    /// An identifier chosen by the client, which the events about this work repeat.
    pub progress: Option<String>,
}

/// How edited files are treated.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EditsField {
    /// They stop the update of the skill.
    #[default]
    Refuse,
    /// They are kept, and the other files are updated.
    Keep,
    /// They are replaced.
    Discard,
}

impl From<&PlanUpdateRequest> for UpdateOptions {
    fn from(request: &PlanUpdateRequest) -> Self {
        Self {
            scope: request.scope.into(),
            names: request.names.clone(),
            edits: match request.edits {
                EditsField::Refuse => LocalEdits::Refuse,
                EditsField::Keep => LocalEdits::Keep,
                EditsField::Discard => LocalEdits::Discard,
            },
        }
    }
}

/// `POST /updates/{plan}`: the decisions about a plan. A skill without a decision does not change.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ApplyUpdateRequest {
    /// One for each skill that is updated.
    pub skills: Vec<UpdateChoice>,
}

/// A skill of a plan that is updated.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UpdateChoice {
    /// Its name.
    pub name: String,
    /// The digest of the card that was approved.
    pub digest: String,
    /// The new permissions that are approved for exactly these bytes. Each of them needs an answer.
    #[serde(default)]
    pub approve: Vec<String>,
    /// Whether a signature by a new signer is accepted.
    #[serde(default)]
    pub accept_signer: bool,
}

impl From<&UpdateChoice> for UpdateDecision {
    fn from(choice: &UpdateChoice) -> Self {
        Self {
            name: choice.name.clone(),
            approve: choice.approve.clone(),
            accept_signer: choice.accept_signer,
        }
    }
}

/// `POST /remove`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RemoveRequest {
    /// The skills.
    pub names: Vec<String>,
    /// Only the skills of this scope; if absent, the project's skills come first.
    pub scope: Option<ScopeField>,
    /// Show what would be removed, and change nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// `POST /restore`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RestoreRequest {
    /// A skill that was removed.
    pub name: String,
    /// Only a skill of this scope.
    pub scope: Option<ScopeField>,
}

/// `POST /undo`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UndoRequest {
    /// The number of the change, which has to be the last one.
    pub change: String,
}

/// The skills that a source offers.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffersDocument {
    /// The source.
    pub source: String,
    /// The skills in it, sorted by folder.
    pub offers: Vec<SourceOfferRow>,
}

/// A skill of a source.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceOfferRow {
    /// Its name.
    pub name: String,
    /// Its author's description.
    pub description: String,
    /// The version that its manifest states.
    pub version: Option<String>,
    /// Its folder in the source.
    pub folder: String,
    /// `skill` or `plugin`.
    pub kind: &'static str,
    /// The Claude plugin that it belongs to.
    pub plugin: Option<String>,
    /// Why it can't be used.
    pub problem: Option<String>,
}

impl From<&SkillOffer> for SourceOfferRow {
    fn from(offer: &SkillOffer) -> Self {
        Self {
            name: offer.name.clone(),
            description: offer.description.clone(),
            version: offer.version.as_ref().map(ToString::to_string),
            folder: offer.folder.clone(),
            kind: match offer.kind {
                OfferKind::Skill => "skill",
                OfferKind::Plugin => "plugin",
            },
            plugin: offer.plugin.clone(),
            problem: offer.problem.clone(),
        }
    }
}

/// A plan to install skills, which waits for a decision.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstallPlanDocument {
    /// Its id, which can be used once.
    pub plan: String,
    /// The number of seconds that it is kept.
    pub expires_in: u64,
    /// `user` or `project`.
    pub scope: &'static str,
    /// One card for each skill.
    pub skills: Vec<PlannedRow>,
    /// Skipped parts of the source, with the reasons.
    pub left_out: Vec<String>,
    /// Whether a requested skill is among the skipped parts.
    pub partial: bool,
    /// Problems on the way, such as a registry that can't be reached.
    pub notices: Vec<String>,
}

/// A skill that waits for a decision.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedRow {
    /// The card.
    #[serde(flatten)]
    pub card: InstallRow,
    /// Whether no decision can install it, such as one with a critical finding.
    pub refused: bool,
    /// The permissions without an answer.
    pub open: Vec<String>,
    /// The card as it is printed at a terminal.
    pub text: String,
}

impl From<&InstallCard> for PlannedRow {
    fn from(card: &InstallCard) -> Self {
        let open = card.open_with(&[]);
        Self {
            refused: card.is_refused(),
            open: open.map(|one| one.permission.clone()).collect(),
            text: card_text(card, &|text, _| text.to_owned()),
            card: card.into(),
        }
    }
}

impl InstallPlanDocument {
    /// The document about a plan that is kept under this id.
    #[must_use]
    pub fn new(
        plan: String,
        expires_in: u64,
        scope: InstallScope,
        planned: &InstallPlan,
        notices: Vec<String>,
    ) -> Self {
        let cards = planned.skills().iter().map(|skill| &skill.card);
        Self {
            plan,
            expires_in,
            scope: scope.as_str(),
            skills: cards.map(PlannedRow::from).collect(),
            left_out: planned.left_out().to_vec(),
            partial: planned.is_partial(),
            notices,
        }
    }
}

/// A plan to update skills, which waits for a decision.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UpdatePlanDocument {
    /// Its id, which can be used once.
    pub plan: String,
    /// The number of seconds that it is kept.
    pub expires_in: u64,
    /// `user` or `project`.
    pub scope: &'static str,
    /// Every skill that was compared.
    pub skills: Vec<PlannedUpdateRow>,
    /// Problems on the way, such as a registry that can't be reached.
    pub notices: Vec<String>,
}

/// A skill that was compared with its source.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedUpdateRow {
    /// The differences: text, permissions and hosts.
    #[serde(flatten)]
    pub update: UpdateRow,
    /// The new permissions that need an answer.
    pub needs_approval: Vec<String>,
    /// The card of the new version, if there is one.
    pub card: Option<PlannedRow>,
}

impl UpdatePlanDocument {
    /// The document about a plan that is kept under this id.
    #[must_use]
    pub fn new(
        plan: String,
        expires_in: u64,
        scope: InstallScope,
        planned: &UpdatePlan,
        notices: Vec<String>,
    ) -> Self {
        let rows = UpdateRow::all(planned)
            .into_iter()
            .zip(planned.updates())
            .map(|(row, update)| {
                let skill = planned.planned(&update.name);
                let open = skill.and_then(|skill| update.unapproved(skill, &[]).ok());
                PlannedUpdateRow {
                    update: row,
                    needs_approval: open.unwrap_or_default(),
                    card: skill.map(|skill| PlannedRow::from(&skill.card)),
                }
            });
        Self {
            plan,
            expires_in,
            scope: scope.as_str(),
            skills: rows.collect(),
            notices,
        }
    }
}

/// `progress`: the progress of long work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgressDocument {
    /// `progress`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The identifier that the client chose for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// `list`, `fetch` or `scan`.
    pub work: &'static str,
    /// What is done, for display.
    pub what: String,
    /// How many skills are done.
    pub done: usize,
    /// The total number, if it is known.
    pub total: Option<usize>,
    /// The number of bytes that were received.
    pub bytes: u64,
    /// The total number, if it is known.
    pub total_bytes: Option<u64>,
    /// Whether this work has ended.
    pub ended: bool,
}

impl ProgressDocument {
    /// The current progress.
    #[must_use]
    pub fn new(work: &TaskProgress, progress: Option<String>, ended: bool) -> Self {
        let far = work.so_far();
        Self {
            kind: "progress",
            progress,
            work: work.kind.as_str(),
            what: work.label.clone(),
            done: far.done,
            total: far.total,
            bytes: far.bytes,
            total_bytes: far.total_bytes,
            ended,
        }
    }
}

/// `notice`: a message that is not an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoticeDocument<'a> {
    /// `notice`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `alert`, `warning` or `note`.
    pub level: &'static str,
    /// The message, for display.
    pub message: &'a str,
}

impl<'a> NoticeDocument<'a> {
    /// The document of a notice.
    #[must_use]
    pub const fn new(level: NoticeLevel, message: &'a str) -> Self {
        Self {
            kind: "notice",
            level: match level {
                NoticeLevel::Alert => "alert",
                NoticeLevel::Warning => "warning",
                NoticeLevel::Note => "note",
            },
            message,
        }
    }
}
