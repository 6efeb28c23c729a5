//! Something wrong with a layer, and where.

use std::fmt;
use std::path::Path;

use crate::Origin;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The value was understood; the spelling should change.
    Warning,
    /// The value was not taken.
    Error,
}

/// One thing that is wrong with a layer. It never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The layer it is in.
    pub origin: Origin,
    /// Line in the file, from 1.
    pub line: Option<usize>,
    /// Column in the line, in characters from 1.
    pub column: Option<usize>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// The file it is in, if it is in one.
    pub fn path(&self) -> Option<&Path> {
        self.origin.path()
    }

    /// Whether a value was not taken because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Problem {
    /// `file:line:column: message`, as far as there are such things.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A place in a text, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Where the lines of a text begin, so that a file with very many keys is still read in one breath.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let newlines = text.match_indices('\n').map(|(offset, _)| offset + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(newlines).collect(),
        }
    }

    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self
            .starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(0);
        let before = self.text[start..offset].trim_start_matches('\u{feff}');
        Place {
            line,
            column: before.chars().count() + 1,
        }
    }
}
