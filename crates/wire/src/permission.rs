//! Permissions, answers and receipts as clients see them.

use metier_store::{Approval, Receipt, ReceiptPart};
use serde::Serialize;

/// A permission of a skill, in `info --json` and `permissions NAME --json`.
#[derive(Clone, Debug, Serialize)]
pub struct PermissionRow {
    /// With its scope.
    pub permission: String,
    /// `allowed`, `ask` or `denied`.
    pub state: &'static str,
    /// In plain words.
    pub means: String,
}

/// `permissions NAME --json`.
#[derive(Serialize)]
pub struct SkillPermissions<'a> {
    /// The skill.
    pub name: &'a str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its exact bytes.
    pub digest: String,
    /// What it asks for and what it was given.
    pub permissions: Vec<PermissionRow>,
}

/// `permissions --json`.
#[derive(Serialize)]
pub struct AnswersDocument {
    /// Every answer that is remembered.
    pub approvals: Vec<AnswerRow>,
}

/// An answer.
#[derive(Serialize)]
pub struct AnswerRow {
    /// The skill.
    pub skill: String,
    /// Where it comes from.
    pub source: String,
    /// With its scope.
    pub permission: String,
    /// `allowed` or `denied`.
    pub state: &'static str,
    /// For these bytes.
    pub digest: String,
    /// When.
    pub at: String,
    /// Who answered.
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
pub struct LogDocument {
    /// The newest first.
    pub receipts: Vec<ReceiptRow>,
    /// Whether the chain of all receipts is whole; `null` if nobody asked.
    pub whole: Option<bool>,
}

/// A receipt.
#[derive(Clone, Debug, Serialize)]
pub struct ReceiptRow {
    /// Its number and the beginning of its hash.
    pub id: String,
    /// When.
    pub at: String,
    /// Which skill.
    pub skill: String,
    /// In which bytes.
    pub digest: String,
    /// The permission.
    pub act: String,
    /// What it was about.
    pub detail: String,
    /// `allowed` or `refused`.
    pub decision: &'static str,
    /// Why it was refused or failed.
    pub reason: Option<String>,
    /// `ok`, `error` or `timeout`; `begun` while the act is not over.
    pub outcome: Option<&'static str>,
    /// How long it took.
    pub ms: u64,
    /// What it was confined by.
    pub sandbox: Option<String>,
    /// What was known only at its end, such as how many bytes went over a connection.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// How many refusals it stands for, if they came as a flood.
    #[serde(skip_serializing_if = "is_one")]
    pub count: u64,
}

/// Whether a receipt is about one thing, as all are but floods.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
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
                _ => entry.outcome.map(metier_store::Outcome::as_str),
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
pub struct ExecDocument<'a> {
    /// The skill.
    pub name: &'a str,
    /// The script.
    pub script: &'a str,
    /// Its exit code; `null` if it did not end by itself.
    pub exit: Option<i32>,
    /// How it ended, in words.
    pub ended: String,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// Whether it printed more than was kept.
    pub truncated: bool,
    /// How long it took.
    pub ms: u64,
    /// What was written down: the newest, if it was much.
    pub receipts: Vec<ReceiptRow>,
    /// How many receipts there are besides.
    #[serde(skip_serializing_if = "is_none_left_out")]
    pub receipts_left_out: u64,
}

/// Whether all receipts are shown, as they mostly are.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
pub(crate) fn is_none_left_out(count: &u64) -> bool {
    *count == 0
}

/// `deps --json`.
#[derive(Serialize)]
pub struct DepsDocument<'a> {
    /// The skill.
    pub name: &'a str,
    /// Programs that are not there.
    pub missing: &'a [String],
    /// Ways to get them.
    pub installers: Vec<InstallerRow>,
}

/// A way to install a program.
#[derive(Serialize)]
pub struct InstallerRow {
    /// Its id within the manifest.
    pub id: String,
    /// What would be run.
    pub command: String,
    /// The programs it brings.
    pub brings: Vec<String>,
}

/// A command that ran while a skill was rendered, in `show --json`.
#[derive(Serialize)]
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
