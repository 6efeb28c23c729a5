//! Permissions, answers and receipts as clients see them.

use metier_runtime::render::RanCommand;
use metier_store::{Approval, Receipt, ReceiptPart};
use serde::Serialize;

/// A permission of a skill, in `info --json` and `permissions NAME --json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PermissionRow {
    /// The permission with its scope.
    pub permission: String,
    /// `allowed`, `ask` or `denied`.
    pub state: &'static str,
    /// A description, in plain words.
    pub means: String,
}

/// `permissions NAME --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkillPermissions<'a> {
    /// Name of the skill.
    pub name: &'a str,
    /// Where it comes from.
    pub source: &'static str,
    /// Digest of the skill's files.
    pub digest: String,
    /// Its permissions and the answers to them.
    pub permissions: Vec<PermissionRow>,
}

/// `permissions --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswersDocument {
    /// All remembered answers.
    pub approvals: Vec<AnswerRow>,
}

/// A decision of the user about one permission.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerRow {
    /// Name of the skill.
    pub skill: String,
    /// Where it comes from.
    pub source: String,
    /// The permission with its scope.
    pub permission: String,
    /// `allowed` or `denied`.
    pub state: &'static str,
    /// Digest of the skill's files.
    pub digest: String,
    /// Time in UTC.
    pub at: String,
    /// Who decided.
    pub by: String,
}

impl From<Approval> for AnswerRow {
    fn from(approval: Approval) -> Self {
        Self {
            skill: approval.skill,
            source: approval.source,
            permission: approval.permission,
            state: approval.decision.as_str(),
            digest: approval.digest,
            at: approval.at,
            by: approval.by,
        }
    }
}

/// `log --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogDocument {
    /// The receipts, newest first.
    pub receipts: Vec<ReceiptRow>,
    /// Whether the chain of all receipts is intact; `null` if it was not checked.
    pub whole: Option<bool>,
}

/// A record of one act.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReceiptRow {
    /// Its number and the beginning of its hash.
    pub id: String,
    /// Time in UTC.
    pub at: String,
    /// Name of the skill.
    pub skill: String,
    /// Digest of the skill's files.
    pub digest: String,
    /// The permission that the act needed.
    pub act: String,
    /// The subject of the act.
    pub detail: String,
    /// `allowed` or `refused`.
    pub decision: &'static str,
    /// Why the act was refused or failed.
    pub reason: Option<String>,
    /// `ok`, `error` or `timeout`; `begun` until the act is over.
    pub outcome: Option<&'static str>,
    /// How long it took.
    pub ms: u64,
    /// The sandbox that it ran in.
    pub sandbox: Option<String>,
    /// Details that are known only at the end of the act, such as the bytes sent over a connection.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// How many refusals it represents, if there were too many for one receipt each.
    #[serde(skip_serializing_if = "is_one")]
    pub count: u64,
}

/// Whether a receipt describes a single act, as all do except those of floods.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_one(count: &u64) -> bool {
    *count == 1
}

impl From<&Receipt> for ReceiptRow {
    fn from(receipt: &Receipt) -> Self {
        let entry = &receipt.entry;
        Self {
            id: receipt.text_id(),
            at: entry.at.clone(),
            skill: entry.skill.clone(),
            digest: entry.digest.clone(),
            act: entry.act.clone(),
            detail: entry.detail.clone(),
            decision: entry.decision.as_str(),
            reason: entry.reason.clone(),
            outcome: match receipt.part {
                ReceiptPart::Begun => Some("begun"),
                _ => entry.outcome.map(metier_store::ReceiptOutcome::as_str),
            },
            ms: entry.ms,
            sandbox: entry.sandbox.clone(),
            note: receipt.note.clone(),
            count: entry.count,
        }
    }
}

/// `exec --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExecDocument<'a> {
    /// Name of the skill.
    pub name: &'a str,
    /// Path of the script below the skill's folder.
    pub script: &'a str,
    /// Its exit code; `null` if it did not end by itself.
    pub exit: Option<i32>,
    /// How it ended, for display.
    pub ended: String,
    /// Standard output of the script.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// Whether it printed more than was kept.
    pub truncated: bool,
    /// How long it took.
    pub ms: u64,
    /// Its receipts; only the newest if there are many.
    pub receipts: Vec<ReceiptRow>,
    /// The number of receipts that are not shown.
    #[serde(skip_serializing_if = "is_none_left_out")]
    pub receipts_left_out: u64,
}

/// Whether all receipts are shown, as they usually are.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(crate) fn is_none_left_out(count: &u64) -> bool {
    *count == 0
}

/// `deps --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DepsDocument<'a> {
    /// Name of the skill.
    pub name: &'a str,
    /// Missing programs.
    pub missing: &'a [String],
    /// Ways to get them.
    pub installers: Vec<InstallerRow>,
}

/// A way to install a program.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstallerRow {
    /// Its id within the manifest.
    pub id: String,
    /// The command that would run.
    pub command: String,
    /// The programs that it installs.
    pub brings: Vec<String>,
}

/// A command that ran while a skill was rendered, in `show --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandRow {
    /// As its author wrote it.
    pub command: String,
    /// Its exit code; `null` if it did not end by itself.
    pub exit: Option<i32>,
    /// How long it took.
    pub ms: u64,
    /// Whether it printed more than was kept.
    pub truncated: bool,
}

impl From<&RanCommand> for CommandRow {
    fn from(ran: &RanCommand) -> Self {
        Self {
            command: ran.command.clone(),
            exit: ran.exit,
            ms: ran.ms,
            truncated: ran.truncated,
        }
    }
}
