//! The result of a call, as hooks left it and as the skill returned it.
//!
//! A hook can change the result of a tool, and the caller gets the changed one. A result that a skill's contract requires must come from
//! the skill itself, so the original is kept as well.

use std::fmt;

use metier_sdk::wire::ToolOutput;
use metier_store::Receipt;
use serde_json::{Map, Value};

/// The result of a call.
#[derive(Clone, Debug)]
pub struct Called {
    /// The output of the tool or workflow.
    pub output: Value,
    /// Whether the call failed.
    pub is_error: bool,
    /// The receipts of its acts and refusals; only the newest if there are many.
    pub receipts: Vec<Receipt>,
    /// How many older receipts there are.
    pub receipts_left_out: u64,
    /// Lines that skills logged during the call.
    pub said: Vec<SkillLine>,
    /// Its result before a hook changed it.
    pub(super) before_hooks: Option<ToolOutput>,
}

/// A line in the log of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillLine {
    /// Name of the skill.
    pub skill: String,
    /// Whether metier reports a problem with the skill. A line that the skill wrote itself is never a warning, whatever it contains.
    pub is_warning: bool,
    /// The line, without a prefix.
    pub text: String,
}

impl fmt::Display for SkillLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warning = if self.is_warning { "warning: " } else { "" };
        write!(f, "{}: {warning}{}", self.skill, self.text)
    }
}

impl Called {
    /// The skill's own output, before hooks changed it; none if that was an error.
    #[must_use]
    pub fn made(&self) -> Option<&Value> {
        let (output, is_error) = match &self.before_hooks {
            Some(before) => (&before.output, before.is_error),
            None => (&self.output, self.is_error),
        };
        (!is_error).then_some(output)
    }
}

/// An answer as hooks left it, and as it was.
pub(super) struct CompletedCall {
    pub(super) left: ToolOutput,
    pub(super) before_hooks: Option<ToolOutput>,
}

impl From<ToolOutput> for CompletedCall {
    fn from(left: ToolOutput) -> Self {
        Self {
            left,
            before_hooks: None,
        }
    }
}

/// Whether a caller may call a tool with an input changed by a hook; otherwise the reason.
pub type InputCheck<'a> = &'a dyn Fn(&Value) -> Result<(), String>;

/// The input of a workflow that is run by name: the words, the text as typed, and, if that is a JSON object, its fields.
#[must_use]
pub fn workflow_input(words: &[String], text: &str) -> Value {
    let mut input = Map::new();
    input.insert("arguments".to_owned(), words.into());
    input.insert("text".to_owned(), text.into());
    if let Ok(Value::Object(fields)) = serde_json::from_str(text) {
        input.extend(fields);
    }
    Value::Object(input)
}
