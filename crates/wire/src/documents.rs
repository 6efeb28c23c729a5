//! The smaller documents, one for each command.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::{
    list::{DiagnosticRow, ListCounts},
    permission::CommandRow,
};

/// `validate --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValidateDocument<'a> {
    /// One row for each skill.
    pub skills: Vec<Validated<'a>>,
    /// Problems with folders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticRow<'a>>,
}

/// The result for one skill.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Validated<'a> {
    /// Path of the skill's folder.
    pub path: String,
    /// Name of the skill.
    pub name: String,
    /// Whether it loads; in strict mode, whether it conforms.
    pub valid: bool,
    /// All problems with the skill.
    pub diagnostics: Vec<DiagnosticRow<'a>>,
}

/// `prompt --format json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptDocument<'a> {
    /// The skills that fit.
    pub skills: Vec<PromptSkill<'a>>,
    /// Skills that are only named, because of the budget.
    pub names: &'a [String],
    /// How many are left out.
    pub omitted: usize,
    /// How many descriptions were cut.
    pub shortened: usize,
    /// An estimate of the tokens.
    pub tokens: usize,
    /// The rendered text, if it contains more than the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
}

/// A skill as a model sees it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptSkill<'a> {
    /// Name of the skill.
    pub name: &'a str,
    /// Description of the skill.
    pub description: &'a str,
    /// Where its SKILL.md is; `null` for a skill that was not scanned.
    pub location: Option<&'a str>,
}

/// `show --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShowDocument {
    /// Name of the skill.
    pub name: String,
    /// Digest of the skill's files.
    pub digest: String,
    /// The rendered text of the skill.
    pub content: String,
    /// Path of the skill's folder.
    pub directory: String,
    /// The files next to its SKILL.md.
    pub resources: Vec<String>,
    /// The commands that ran.
    pub commands: Vec<CommandRow>,
}

/// `read --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadDocument<'a> {
    /// Name of the skill.
    pub name: String,
    /// Path of the file below the skill's folder.
    pub path: &'a str,
    /// Its text, if it is text.
    pub text: Option<&'a str>,
    /// Size of the file in bytes.
    pub size: usize,
    /// Whether it is something other than text.
    pub binary: bool,
}

/// `doctor --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doctor {
    /// All checks, in order.
    pub checks: Vec<Check>,
}

/// The result of one check.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// The subject of the check.
    pub name: String,
    /// `ok`, `warn` or `fail`.
    pub status: &'static str,
    /// The result of the check.
    pub message: String,
    /// The command that fixes it.
    pub fix: Option<String>,
}

/// `metier --json`: the roots of skills.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RootRow {
    /// The source of its skills.
    pub source: &'static str,
    /// Path of the folder.
    pub path: String,
    /// Whether its skills can be used.
    pub trusted: bool,
    /// How many skills are in it.
    pub skills: usize,
    /// How many of them are ready.
    pub ready: usize,
}

/// `metier --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverviewDocument<'a> {
    /// The roots of skills.
    pub roots: Vec<RootRow>,
    /// How many skills have each status.
    pub counts: ListCounts,
    /// Commands to type next.
    pub next: Vec<NextRow<'a>>,
}

/// Something to type next.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextRow<'a> {
    /// The command.
    pub command: String,
    /// The reason for it.
    pub why: &'a str,
}

/// `new --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewDocument<'a> {
    /// Name of the skill.
    pub name: &'a str,
    /// Path of its folder.
    pub path: String,
    /// Its contributions.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// The backend that runs its code.
    pub backend: Option<&'a str>,
    /// The language of the code.
    pub language: Option<&'a str>,
    /// The files that were written.
    pub files: Vec<&'a str>,
}

/// `schema --json`: the names of all schemas.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchemasDocument {
    /// One row for each schema.
    pub schemas: Vec<SchemaRow>,
}

/// A schema that can be printed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchemaRow {
    /// Its name: the NAME of `metier schema NAME`.
    pub name: &'static str,
    /// The file or output that has this form.
    pub about: &'static str,
}

/// `trust --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrustDocument {
    /// The result: `trusted`, `revoked`, `unchanged`, `listed`.
    pub action: &'static str,
    /// The folder that was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// All folders that the user trusts.
    pub trusted: Vec<TrustRow>,
}

/// A folder that the user trusts.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrustRow {
    /// Path of the folder.
    pub folder: String,
    /// Time of the decision.
    pub at: String,
}

/// `config --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigDocument {
    /// The values of the configuration.
    pub values: Vec<ConfigValue>,
    /// Problems with the files.
    pub problems: Vec<Value>,
}

/// One value of the configuration.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigValue {
    /// Key of the value.
    pub key: String,
    /// The value as TOML.
    pub value: Option<String>,
    /// Where it comes from.
    pub origin: String,
    /// The line in that file.
    pub line: Option<usize>,
    /// Whether it is a default.
    pub is_default: bool,
    /// Description of the setting.
    pub doc: &'static str,
}

/// `config KEY VALUE --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigChangeDocument {
    /// Key that was changed.
    pub key: String,
    /// The value before, as TOML.
    pub old: Option<String>,
    /// Path of the file that was written.
    pub path: String,
}

/// An error, for every command.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorDocument<'a> {
    /// The error, with its hint.
    pub error: ErrorBody<'a>,
}

/// The error, and what to type next.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorBody<'a> {
    /// A stable code.
    pub code: &'a str,
    /// The error as a sentence.
    pub message: Cow<'a, str>,
    /// How to fix it.
    pub hint: Option<&'a str>,
    /// Name of the skill that it concerns.
    pub skill: Option<&'a str>,
    /// Path of the file that it concerns.
    pub path: Option<&'a str>,
    /// Line in that file.
    pub line: Option<u32>,
    /// Suggestions; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<ErrorChoice<'a>>,
}

/// A suggestion.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorChoice<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: &'a str,
}
