//! Documents for programs that have no command: pages of skills and tools, searches, executed skills, skills for hosts.

#[cfg(feature = "run")]
use metier::{Called, ExecutionMode, RenderedSkill};
use metier::{RankedSkill, Skill, SkillResource, StatusCounts};
use metier_runtime::WITHHELD;
use serde::Serialize;
use serde_json::{Value, json};

use crate::list::{DiagnosticRow, ListCounts, SkillRow};
#[cfg(feature = "run")]
use crate::{
    permission::{CommandRow, ReceiptRow},
    served::ExecutedDocument,
};

/// A part of the skills, as in `list --json`, with the means to get the rest.
#[derive(Serialize)]
pub struct ModelSkillsPage {
    /// The rows of `list --json`.
    pub skills: Vec<Value>,
    /// Problems with these skills.
    pub diagnostics: Vec<Value>,
    /// How many skills have each status, on all pages.
    pub counts: Value,
    /// How many skills there are on all pages.
    pub total: usize,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl ModelSkillsPage {
    /// An empty page.
    #[must_use]
    pub fn new(counts: StatusCounts, total: usize) -> Self {
        Self {
            skills: Vec::new(),
            diagnostics: Vec::new(),
            counts: value(&ListCounts::from(counts)),
            total,
            next_cursor: None,
        }
    }

    /// The row of a skill, for a model: without the description of a skill that the scanner blocks.
    #[must_use]
    pub fn row(skill: Skill<'_>) -> Value {
        let mut row = Vec::new();
        SkillRow::new(skill.inventory(), skill.judged()).write(&mut row);
        let mut row: Value = serde_json::from_slice(&row).unwrap_or_default();
        if skill.judged().is_blocked_by_scan() {
            row["description"] = WITHHELD.into();
        }
        row
    }

    /// Problems with the files of a skill.
    #[must_use]
    pub fn diagnostics_of(skill: Skill<'_>) -> Vec<Value> {
        let entry = skill.entry();
        let rows = entry.diagnostics.iter();
        rows.map(|one| value(&DiagnosticRow::of(entry, one)))
            .collect()
    }
}

/// Skills that a search found, the best first.
#[derive(Serialize)]
pub struct FoundSkillsPage {
    /// The skills of this page.
    pub skills: Vec<FoundSkillRow>,
    /// The number of skills that were found.
    pub total: usize,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A skill that a search found.
#[derive(Serialize)]
pub struct FoundSkillRow {
    /// Name of the skill.
    pub name: String,
    /// Description of the skill.
    pub description: String,
    /// Where it comes from: `user`, `project` and so on.
    pub source: &'static str,
    /// How well it fits, between 0 and 1.
    pub score: f64,
    /// Why it fits, one sentence for each reason.
    pub why: Vec<String>,
}

impl From<RankedSkill<'_>> for FoundSkillRow {
    fn from(found: RankedSkill<'_>) -> Self {
        Self {
            name: found.skill.name().into_owned(),
            description: found.skill.description().to_owned(),
            source: found.skill.source().as_str(),
            // Two digits are enough, and they are the same on every machine.
            score: (found.score * 100.0).round() / 100.0,
            why: found.why,
        }
    }
}

#[cfg(feature = "run")]
impl ExecutedDocument {
    /// The text of a skill.
    #[must_use]
    pub fn inline(shown: RenderedSkill) -> Self {
        Self {
            content: shown.content,
            commands: shown.commands.iter().map(CommandRow::from).collect(),
            ..Self::empty(shown.name, ExecutionMode::Inline)
        }
    }

    /// The answer of an agent.
    #[must_use]
    pub fn fork(name: String, answer: String) -> Self {
        Self {
            content: answer,
            ..Self::empty(name, ExecutionMode::Fork)
        }
    }

    /// The output of a workflow.
    #[must_use]
    pub fn workflow(name: String, called: &Called) -> Self {
        Self {
            content: text_of(&called.output),
            is_error: called.is_error,
            output: Some(called.output.clone()),
            receipts: called.receipts.iter().map(ReceiptRow::from).collect(),
            ..Self::empty(name, ExecutionMode::Workflow)
        }
    }

    fn empty(name: String, mode: ExecutionMode) -> Self {
        Self {
            name,
            mode: mode.as_str(),
            content: String::new(),
            output: None,
            is_error: false,
            commands: Vec::new(),
            receipts: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// The output of a tool or a workflow: a string unchanged, any other value as JSON.
#[must_use]
pub fn text_of(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The entry of a skill for a host that reads and verifies the skill's files itself.
#[must_use]
pub fn skill_entry(skill: &SkillResource) -> Value {
    let files = skill
        .files
        .iter()
        .map(|file| json!({ "uri": file.uri, "digest": file.digest, "size": file.size }));
    json!({
        "uri": skill.uri,
        "frontmatter": skill.frontmatter,
        "resources": files.collect::<Vec<_>>(),
    })
}

/// No document fails to serialise: the keys are strings, and all numbers can be represented in JSON.
fn value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}
