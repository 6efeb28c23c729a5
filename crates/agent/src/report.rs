//! Why something could not be done, for users and for models.

use std::fmt;

use crate::ModelError;

use metier_model::text::shell_word;
use metier_runtime::live::PromptError;
use metier_store::StoreError;

/// An error: what happened to which skill, and what to type next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReport {
    /// A stable code for programs.
    pub code: &'static str,
    /// The error as a sentence.
    pub message: String,
    /// The skill that the report is about.
    pub skill: Option<String>,
    /// How to fix it.
    pub hint: Option<String>,
    /// Whether the cause is the machine, and not the request.
    pub is_broken: bool,
}

impl ErrorReport {
    /// The request can't be met.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            skill: None,
            hint: None,
            is_broken: false,
        }
    }

    /// A failure of the program or the machine.
    #[must_use]
    pub fn broken(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            is_broken: true,
            ..Self::new(code, message)
        }
    }

    /// This report, about a skill.
    #[must_use]
    pub fn skill(self, skill: impl Into<String>) -> Self {
        Self {
            skill: Some(skill.into()),
            ..self
        }
    }

    /// This report with a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl fmt::Display for ErrorReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ErrorReport {}

impl From<StoreError> for ErrorReport {
    fn from(error: StoreError) -> Self {
        let report = match error {
            // Nothing is broken: another process was faster.
            StoreError::WentOn { .. } => Self::new("went-on", error.to_string()),
            _ => Self::broken("store", error.to_string()),
        };
        report.hint(error.hint())
    }
}

impl From<PromptError> for ErrorReport {
    fn from(error: PromptError) -> Self {
        match error {
            PromptError::Store(error) => error.into(),
            PromptError::Blocked { ref by, .. } => Self::new("blocked", error.to_string())
                .skill(by.as_str())
                .hint(format!(
                    "metier log {} shows what it blocked",
                    shell_word(by)
                )),
        }
    }
}

impl From<&ModelError> for ErrorReport {
    fn from(error: &ModelError) -> Self {
        let code = match error {
            ModelError::Cancelled => "cancelled",
            ModelError::NoKey { .. } | ModelError::BadKey { .. } => "no-key",
            ModelError::NoProvider { .. } | ModelError::BadUrl { .. } => "no-model",
            _ => "model",
        };
        let report = Self::new(code, error.to_string());
        match error.hint() {
            Some(hint) => report.hint(hint),
            None => report,
        }
    }
}
