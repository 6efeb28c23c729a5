//! Patterns of users and of `security-rule` skills.
//!
//! A pattern adds; it can't take away or change what the built-in rules find. It is one regular expression of a linear engine, with
//! bounded size, so that no text and no author can make it slow.

use regex::{Regex, RegexBuilder};

use crate::report::Severity;

/// A pattern that somebody brought.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its id.
    pub id: String,
    /// How bad a match is.
    pub severity: Severity,
    /// What is said.
    pub message: String,
    /// What helps.
    pub fix: Option<String>,
    /// Only files whose path ends with one of these; all if there are none.
    pub files: Vec<String>,
    /// Only files whose path ends with one of these, the endings of the rule's languages; all if there are none.
    pub languages: Vec<String>,
    regex: Regex,
}

/// Why a pattern can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// It is not a regular expression, or one that grows too large.
    #[error("rule `{id}`: {error}")]
    Regex {
        /// Which one.
        id: String,
        /// What the engine said.
        error: Box<regex::Error>,
    },
    /// The severity is none.
    #[error("rule `{id}`: `{severity}` is not a severity (info, warning, critical)")]
    Severity {
        /// Which one.
        id: String,
        /// What it said.
        severity: String,
    },
}

/// How large a compiled pattern may be, and how many matches of it are kept in one file.
const LARGEST: usize = 1024 * 1024;
const MOST_MATCHES: usize = 20;

impl Pattern {
    /// Makes a pattern of its parts.
    ///
    /// # Errors
    /// When the expression or the severity is none.
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

    /// Where it matches in a file.
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

    /// Whether it matches a text.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// What identifies it in a cache: everything that changes what it finds.
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
