//! Reads a file that is not valid TOML.
//!
//! The parser stops at the first mistake. Ignoring the whole file for one missing quote would drop the user's
//! settings, so the offending line is replaced by spaces and the file is parsed again; if that does not help (a header, a value
//! over several lines), the section around it is replaced too. All offsets are kept. Each round is an error that the
//! caller reports: nothing is skipped silently.

use std::ops::Range;

use toml_edit::{Document, Table};

/// A file with more mistakes than this is not a config file.
const ROUNDS: usize = 16;

pub(crate) struct BrokenLayer {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

/// The parsed file, and each position where parsing failed.
pub(crate) fn parse(text: &str) -> (Table, Vec<BrokenLayer>) {
    let mut text = text.to_owned();
    let mut broken = Vec::new();
    for _ in 0..ROUNDS {
        let error = match Document::parse(text.clone()) {
            Ok(document) => return (document.into_table(), broken),
            Err(error) => error,
        };
        let offset = error.span().map_or(0, |span| span.start);
        broken.push(BrokenLayer {
            offset,
            message: one_line(error.message()),
        });
        text = without_mistake(&text, offset);
    }
    let table = Document::parse(text).map_or_else(|_| Table::new(), Document::into_table);
    (table, broken)
}

fn one_line(message: &str) -> String {
    message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

fn without_mistake(text: &str, offset: usize) -> String {
    let line = line_at(text, offset);
    if !text[line.clone()].starts_with('[') {
        let attempt = blanked(text, line.clone());
        let next = Document::parse(attempt.as_str())
            .err()
            .map(|error| error.span().map_or(0, |span| span.start));
        if next.is_none_or(|next| next >= line.end && next > offset) {
            return attempt;
        }
    }
    blanked(text, section_at(text, &line))
}

fn line_at(text: &str, offset: usize) -> Range<usize> {
    let offset = text.floor_char_boundary(offset);
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[offset..]
        .find('\n')
        .map_or(text.len(), |newline| offset + newline);
    start..end
}

/// The range from the header at or above a line to the next header.
fn section_at(text: &str, line: &Range<usize>) -> Range<usize> {
    let is_header = text[line.clone()].starts_with('[');
    let above = text[..line.start]
        .rfind("\n[")
        .map_or(0, |newline| newline + 1);
    let start = if is_header { line.start } else { above };
    let end = text[line.end..]
        .find("\n[")
        .map_or(text.len(), |newline| line.end + newline);
    start..end
}

fn blanked(text: &str, range: Range<usize>) -> String {
    let blank = text[range.clone()]
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' });
    let mut result = String::with_capacity(text.len());
    result.push_str(&text[..range.start]);
    result.extend(blank);
    result.push_str(&text[range.end..]);
    result
}
