//! The smaller documents, one for each command.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::{list::DiagnosticRow, permission::CommandRow};

/// `validate --json`.
#[derive(Serialize)]
pub struct ValidateDocument<'a> {
    /// One row for each skill.
    pub skills: Vec<Validated<'a>>,
    /// What is wrong with folders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticRow<'a>>,
}

/// One validated skill.
#[derive(Serialize)]
pub struct Validated<'a> {
    /// Its folder.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Whether it loads; in strict mode, whether it conforms.
    pub valid: bool,
    /// Everything that is wrong.
    pub diagnostics: Vec<DiagnosticRow<'a>>,
}

/// `prompt --format json`.
#[derive(Serialize)]
pub struct PromptDocument<'a> {
    /// The skills that fit.
    pub skills: Vec<PromptSkill<'a>>,
    /// How many did not.
    pub omitted: usize,
    /// How many descriptions were cut.
    pub shortened: usize,
    /// An estimate of the tokens.
    pub tokens: usize,
    /// The text itself, where it is more than the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
}

/// A skill as a model sees it.
#[derive(Serialize)]
pub struct PromptSkill<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it does.
    pub description: &'a str,
    /// Where its SKILL.md is; `null` for a skill that was not scanned.
    pub location: Option<&'a str>,
}

/// `show --json`.
#[derive(Serialize)]
pub struct ShowDocument {
    /// The skill.
    pub name: String,
    /// Its exact bytes.
    pub digest: String,
    /// The rendered activation.
    pub content: String,
    /// Its folder.
    pub directory: String,
    /// The files beside its SKILL.md.
    pub resources: Vec<String>,
    /// The commands that ran.
    pub commands: Vec<CommandRow>,
}

/// `read --json`.
#[derive(Serialize)]
pub struct ReadDocument<'a> {
    /// The skill.
    pub name: String,
    /// The file.
    pub path: &'a str,
    /// Its text, if it is text.
    pub text: Option<&'a str>,
    /// Its size.
    pub size: usize,
    /// Whether it is something else than text.
    pub binary: bool,
}

/// `doctor --json`.
#[derive(Serialize)]
pub struct Doctor {
    /// The checks.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// `ok`, `warn` or `fail`.
    pub status: &'static str,
    /// What was found.
    pub message: String,
    /// What to type.
    pub fix: Option<String>,
}

/// `metier --json`: where skills were looked for.
#[derive(Serialize)]
pub struct RootRow {
    /// What its skills count for.
    pub source: &'static str,
    /// The folder.
    pub path: String,
    /// Whether its skills may be used.
    pub trusted: bool,
    /// How many skills are in it.
    pub skills: usize,
    /// How many of them are ready.
    pub ready: usize,
}

/// `trust --json`.
#[derive(Serialize)]
pub struct TrustDocument {
    /// What happened: `trusted`, `revoked`, `unchanged`, `listed`.
    pub action: &'static str,
    /// The folder it happened to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// All trusted folders.
    pub trusted: Vec<TrustRow>,
}

/// A trusted folder.
#[derive(Serialize)]
pub struct TrustRow {
    /// The folder.
    pub folder: String,
    /// Since when.
    pub at: String,
}

/// `config --json`.
#[derive(Serialize)]
pub struct ConfigDocument {
    /// The values.
    pub values: Vec<ConfigValue>,
    /// What is wrong with the files.
    pub problems: Vec<Value>,
}

/// One value.
#[derive(Serialize)]
pub struct ConfigValue {
    /// Its key.
    pub key: String,
    /// As TOML.
    pub value: Option<String>,
    /// Where it comes from.
    pub origin: String,
    /// The line in that file.
    pub line: Option<usize>,
    /// Whether nobody has set it.
    pub is_default: bool,
    /// What it does.
    pub doc: &'static str,
    /// Whether anything in this version acts on it.
    pub has_effect: bool,
}

/// An error, for every command.
#[derive(Serialize)]
pub struct ErrorDocument<'a> {
    /// The error.
    pub error: ErrorBody<'a>,
}

/// What happened, and what to type next.
#[derive(Serialize)]
pub struct ErrorBody<'a> {
    /// A stable word.
    pub code: &'a str,
    /// What happened.
    pub message: Cow<'a, str>,
    /// What to type.
    pub hint: Option<&'a str>,
    /// Which skill.
    pub skill: Option<&'a str>,
    /// Which file.
    pub path: Option<&'a str>,
    /// Which line.
    pub line: Option<u32>,
}
