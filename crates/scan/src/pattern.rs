//! Patterns of users and of `security-rule` skills.
//!
//! A pattern adds findings; it cannot remove or change those of the built-in rules. It is one regular expression of bounded size in a
//! linear-time engine, so that neither a file nor an author can make it slow.

use regex::{Regex, RegexBuilder};

use crate::report::FindingSeverity;

/// A pattern of the user or of a `security-rule` skill.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The id that findings carry.
    pub id: String,
    /// The severity of a match.
    pub severity: FindingSeverity,
    /// The message of a finding.
    pub message: String,
    /// How to fix the skill.
    pub fix: Option<String>,
    /// Only files whose path ends with one of these; all if there are none.
    pub files: Vec<String>,
    /// Only files whose path ends with one of these extensions of the rule's languages; all if there are none.
    pub languages: Vec<String>,
    regex: Regex,
}

/// Why a pattern is rejected.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// The expression is invalid, or too large when compiled.
    #[error("rule `{id}`: {error}")]
    Regex {
        /// The pattern's id.
        id: String,
        /// The regex engine's error.
        error: Box<regex::Error>,
    },
    /// The severity is unknown.
    #[error("rule `{id}`: `{severity}` is not a severity (info, warning, critical)")]
    Severity {
        /// The pattern's id.
        id: String,
        /// The given severity.
        severity: String,
    },
}

/// The maximum size of a compiled pattern, and of matches that are kept per file.
const LARGEST: usize = 1024 * 1024;
const MOST_MATCHES: usize = 20;

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// If the expression does not compile or the severity is unknown.
    pub fn new(
        id: &str,
        expression: &str,
        severity: &str,
        message: &str,
    ) -> Result<Self, PatternError> {
        let severity = severity.parse().map_err(|()| PatternError::Severity {
            id: id.to_owned(),
            severity: severity.to_owned(),
        })?;
        let regex = RegexBuilder::new(expression)
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST)
            .multi_line(true)
            .build()
            .map_err(|error| PatternError::Regex {
                id: id.to_owned(),
                error: Box::new(error),
            })?;
        Ok(Self {
            id: id.to_owned(),
            severity,
            message: message.to_owned(),
            fix: None,
            files: Vec::new(),
            languages: Vec::new(),
            regex,
        })
    }

    /// The offsets of its matches in a file.
    pub(crate) fn find<'t>(
        &'t self,
        path: &str,
        content: &'t str,
    ) -> impl Iterator<Item = usize> + 't {
        let ends = |ends: &[String]| {
            ends.is_empty()
                || ends
                    .iter()
                    .any(|end| path.ends_with(end.trim_start_matches('*')))
        };
        let wanted = ends(&self.files) && ends(&self.languages);
        self.regex
            .find_iter(content)
            .take(if wanted { MOST_MATCHES } else { 0 })
            .map(|found| found.start())
    }

    /// Whether it matches a string.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// A cache key of everything that changes its findings.
    #[must_use]
    pub fn identity(&self) -> String {
        format!(
            "{}\0{}\0{}\0{}\0{}\0{}",
            self.id,
            self.severity,
            self.message,
            self.regex.as_str(),
            self.files.join(","),
            self.languages.join(",")
        )
    }
}
