//! A problem in a layer, with its position.

use std::fmt;
use std::path::Path;

use crate::Origin;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemSeverity {
    /// The value applies; its spelling should be changed.
    Warning,
    /// The value does not apply.
    Error,
}

/// One problem in a layer. It never contains a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// Whether the value applies.
    pub severity: ProblemSeverity,
    /// The problem in one sentence without a full stop.
    pub message: String,
    /// The layer it is in.
    pub origin: Origin,
    /// Line in the file, from 1.
    pub line: Option<usize>,
    /// Column in the line, in characters from 1.
    pub column: Option<usize>,
    /// How the user can fix it.
    pub hint: Option<String>,
}

impl ConfigProblem {
    /// The file that contains it, if any.
    pub fn path(&self) -> Option<&Path> {
        self.origin.path()
    }

    /// Whether a value does not apply because of it.
    pub fn is_error(&self) -> bool {
        self.severity == ProblemSeverity::Error
    }
}

impl fmt::Display for ConfigProblem {
    /// `file:line:column: message`, without the parts that are unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A position in a text, from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextPosition {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The starts of all lines, so that finding the line of each key takes logarithmic time.
pub(crate) struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let newlines = text.match_indices('\n').map(|(offset, _)| offset + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(newlines).collect(),
        }
    }

    pub(crate) fn place(&self, offset: usize) -> TextPosition {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self
            .starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(0);
        let before = self.text[start..offset].trim_start_matches('\u{feff}');
        TextPosition {
            line,
            column: before.chars().count() + 1,
        }
    }
}
