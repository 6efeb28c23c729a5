//! The port: what a door asks of the program, whatever protocol the question came in.

use std::borrow::Cow;

use metier_model::model_text::{for_model, for_model_framed};
use metier_wire::{ErrorBody, ErrorDocument};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The skills of this machine, read anew for each question: a skill that is added while the door is open can be used at once.
///
/// Calls may come from several threads at the same time and may take as long as a scan does.
pub trait Skills: Send + Sync + 'static {
    /// What a model is told before it asks anything: the skills that it may choose, as far as there is room.
    fn catalog(&self) -> Option<String>;

    /// The skills, as `list --json` shows them.
    ///
    /// # Errors
    /// When they can't be looked for.
    fn list(&self, wanted: &Wanted) -> Answer;

    /// A skill as a model gets it, as `show --json` shows it.
    ///
    /// # Errors
    /// When there is none, or when it may not be used, or not by a model.
    fn activate(&self, name: &str, arguments: &str) -> Answer;

    /// A file of a skill, as `read --json` shows it.
    ///
    /// # Errors
    /// When there is none, or when it may not be given out.
    fn read(&self, name: &str, path: &str) -> Answer;

    /// What is dangerous in a skill, as `scan --json` shows it.
    ///
    /// # Errors
    /// When there is no such skill.
    fn scan(&self, name: &str) -> Answer;
}

/// Which skills are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Only those from this source.
    pub source: Option<String>,
    /// Also those that a model can't use.
    #[serde(default)]
    pub all: bool,
}

/// What came of a question.
pub type Answer = Result<Reply, Refusal>;

/// An answer: the document for programs, and text for models.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    pub(crate) document: Value,
    pub(crate) text: String,
}

impl Reply {
    /// A document of `metier-wire`, and the same in words. A model reads both.
    #[must_use]
    pub fn new(document: &impl Serialize, text: &str) -> Self {
        Self {
            document: neutral(value(document), for_model),
            text: for_model(text).into_owned(),
        }
    }

    /// The same for a skill in its frame, which stays.
    #[must_use]
    pub fn framed(document: &impl Serialize, text: &str) -> Self {
        Self {
            document: neutral(value(document), for_model_framed),
            text: for_model_framed(text).into_owned(),
        }
    }

    /// The same for a document that wrote itself, as JSON.
    #[must_use]
    pub fn written(document: &[u8], text: &str) -> Self {
        let document: Value = serde_json::from_slice(document).unwrap_or_default();
        Self::new(&document, text)
    }
}

/// Why there is no answer: `{"error": …}`, and the same in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub(crate) document: Value,
    pub(crate) text: String,
}

impl Refusal {
    /// An error, and the same in words.
    #[must_use]
    pub fn new(error: &ErrorDocument<'_>, text: &str) -> Self {
        Self {
            document: neutral(value(error), for_model),
            text: for_model(text).into_owned(),
        }
    }

    /// One of the door's own.
    pub(crate) fn own(code: &str, message: String, hint: Option<&str>) -> Self {
        let text = match hint {
            Some(hint) => format!("error: {message}\nhint: {hint}\n"),
            None => format!("error: {message}\n"),
        };
        let error = ErrorBody {
            code,
            message: Cow::Owned(message),
            hint,
            skill: None,
            path: None,
            line: None,
        };
        Self::new(&ErrorDocument { error }, &text)
    }
}

/// A document in whose texts, names included, no turn begins.
fn neutral(mut document: Value, neutral: fn(&str) -> Cow<'_, str>) -> Value {
    let mut left = vec![&mut document];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                if let Cow::Owned(broken) = neutral(text) {
                    *text = broken;
                }
            }
            Value::Array(items) => left.extend(items),
            Value::Object(members) => {
                if members
                    .keys()
                    .any(|name| matches!(neutral(name), Cow::Owned(_)))
                {
                    *members = std::mem::take(members)
                        .into_iter()
                        .map(|(name, value)| (neutral(&name).into_owned(), value))
                        .collect();
                }
                left.extend(members.values_mut());
            }
            _ => {}
        }
    }
    document
}

/// No document refuses to be written: their keys are strings, and they hold no numbers that JSON lacks.
fn value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}
