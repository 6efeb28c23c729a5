//! Texts of a skill and positions in them.
//!
//! Every scanned string is a text: a file, a member of an archive, the decoded form of a part of another text. A position
//! in any of them maps to a line of a file that the user can open.

use std::{collections::BTreeMap, rc::Rc};

use memchr::memchr_iter;

use crate::{prose::SentenceRole, report::FindingLocation};

/// A text and its origin.
#[derive(Debug)]
pub(crate) struct ScannedText {
    /// The file name in findings.
    pub(crate) file: String,
    /// The content; shared, because the scanner is changed while it is read.
    pub(crate) content: Rc<str>,
    /// The other text and the offset in it, if this is not a whole file.
    pub(crate) within: Option<(usize, usize)>,
    /// The original, if this is a text without its hidden and confusable characters.
    pub(crate) plain_form_of: Option<PlainForm>,
    /// Whether it is a script in a page or picture.
    pub(crate) embedded: bool,
    /// How the text was encoded, if it was.
    pub(crate) encoded: Option<String>,
    lines: Vec<u32>,
}

impl ScannedText {
    pub(crate) fn new(file: String, content: String) -> Self {
        let lines = memchr_iter(b'\n', content.as_bytes())
            .map(|at| u32::try_from(at + 1).unwrap_or(u32::MAX))
            .collect();
        Self {
            file,
            content: content.into(),
            within: None,
            plain_form_of: None,
            embedded: false,
            encoded: None,
            lines,
        }
    }

    /// Line and column of an offset, from 1.
    fn position(&self, at: usize) -> (u32, u32) {
        let line = self.lines.partition_point(|start| *start as usize <= at);
        let start = line
            .checked_sub(1)
            .map_or(0, |line| self.lines[line] as usize);
        let column = self
            .content
            .get(start..at)
            .map_or(1, |before| before.chars().count() + 1);
        (
            u32::try_from(line + 1).unwrap_or(u32::MAX),
            u32::try_from(column).unwrap_or(u32::MAX),
        )
    }

    /// The line that an offset is in, without its end.
    pub(crate) fn line_at(&self, at: usize) -> &str {
        let at = at.min(self.content.len());
        let line = self.lines.partition_point(|start| *start as usize <= at);
        let start = line
            .checked_sub(1)
            .map_or(0, |line| self.lines[line] as usize);
        let end = self
            .lines
            .get(line)
            .map_or(self.content.len(), |end| *end as usize);
        self.content.get(start..end).unwrap_or_default().trim_end()
    }
}

/// The original of a text without its hidden and confusable characters.
#[derive(Debug)]
pub(crate) struct PlainForm {
    /// The index of the original text.
    pub(crate) of: usize,
    /// The starts of its sentences: the offset here and the offset in the original.
    pub(crate) starts: BTreeMap<usize, usize>,
}

/// All texts of a skill.
#[derive(Debug, Default)]
pub(crate) struct Texts(pub(crate) Vec<ScannedText>);

impl Texts {
    pub(crate) fn add(&mut self, text: ScannedText) -> usize {
        self.0.push(text);
        self.0.len() - 1
    }

    /// The position of an offset of a text, for the user.
    pub(crate) fn place(&self, text: usize, at: usize) -> FindingLocation {
        let mut current = (text, at);
        for _ in 0..8 {
            let Some(text) = self.0.get(current.0) else {
                break;
            };
            let form = text.plain_form_of.as_ref();
            let source =
                form.map(|form| (form.of, form.starts.get(&current.1).copied().unwrap_or(0)));
            match text.within.or(source) {
                Some(outer) => current = outer,
                None => break,
            }
        }
        let Some(text) = self.0.get(current.0) else {
            return FindingLocation {
                file: String::new(),
                line: 0,
                column: 0,
            };
        };
        let (line, column) = text.position(current.1.min(text.content.len()));
        FindingLocation {
            file: text.file.clone(),
            line,
            column,
        }
    }
}

/// The origin of a program: its text, its offset there, and its role.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextOrigin {
    pub(crate) text: usize,
    pub(crate) start: usize,
    pub(crate) role: SentenceRole,
    /// Whether the program is a whole file, not sample code in a document.
    pub(crate) is_file: bool,
    /// Whether it is an inline code span.
    pub(crate) inline: bool,
}
