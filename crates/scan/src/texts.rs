//! Texts of a skill and positions in them.
//!
//! Everything that is looked at is a text: a file, a member of an archive, the result of decoding a piece of another text. A position
//! in any of them leads back to a line of a file that the user can open.

use std::{collections::BTreeMap, rc::Rc};

use memchr::memchr_iter;

use crate::{prose::Role, report::Place};

/// A text and where it comes from.
#[derive(Debug)]
pub(crate) struct Text {
    /// The file, as findings name it.
    pub(crate) file: String,
    /// What it says; shared, since whoever looks at it also adds to the report that holds it.
    pub(crate) content: Rc<str>,
    /// Where in another text it was found, if it isn't a file's own.
    pub(crate) within: Option<(usize, usize)>,
    /// The text that this is without its invisible and lying characters.
    pub(crate) plain_form_of: Option<PlainForm>,
    /// Whether it is a script within a page or picture.
    pub(crate) embedded: bool,
    /// How it was encoded there.
    pub(crate) encoded: Option<String>,
    lines: Vec<u32>,
}

impl Text {
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

/// Where a text without its invisible and lying characters comes from.
#[derive(Debug)]
pub(crate) struct PlainForm {
    /// The text as it stands.
    pub(crate) of: usize,
    /// Where its sentences begin, here and there.
    pub(crate) starts: BTreeMap<usize, usize>,
}

/// All texts of a skill.
#[derive(Debug, Default)]
pub(crate) struct Texts(pub(crate) Vec<Text>);

impl Texts {
    pub(crate) fn add(&mut self, text: Text) -> usize {
        self.0.push(text);
        self.0.len() - 1
    }

    /// Where an offset of a text is, for the user.
    pub(crate) fn place(&self, text: usize, at: usize) -> Place {
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
            return Place {
                file: String::new(),
                line: 0,
                column: 0,
            };
        };
        let (line, column) = text.position(current.1.min(text.content.len()));
        Place {
            file: text.file.clone(),
            line,
            column,
        }
    }
}

/// Where a program stands: its text, the offset of its start there, and what it is there for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) text: usize,
    pub(crate) start: usize,
    pub(crate) role: Role,
    /// Whether it is a file of its own, and not a sample within a document.
    pub(crate) is_file: bool,
    /// Whether it is a span within a sentence.
    pub(crate) inline: bool,
}
