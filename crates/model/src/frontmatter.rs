//! Finds the frontmatter of a SKILL.md.
//!
//! Only a line that is exactly `---` opens it (trailing spaces are tolerated), and the first line that starts with
//! `---` closes it: a `---` inside a value, in a block scalar or later in the body never counts. Other readers split
//! the text at the characters `---`, and lose a part of a description that contains them. A closing line with more text
//! on it (`---# Heading`), or an indented one if there is no other, is accepted with a warning, and the text after
//! the hyphens is body.

use std::sync::LazyLock;

use memchr::memmem;

use crate::{
    diagnostic::DiagnosticCode,
    report::{DiagnosticCollector, Say},
};

/// The maximum size of a frontmatter in bytes.
pub const MAX_FRONTMATTER: usize = 256 * 1024;

/// The two parts of a SKILL.md, as byte ranges of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) yaml: std::ops::Range<usize>,
    pub(crate) body: usize,
}

/// How much of a file the frontmatter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// It ends at this offset; the rest is body.
    Until(usize),
    /// It does not end within the text: read more, if there is more.
    Open,
    /// There is no frontmatter.
    None,
}

/// Determines from the start of a file whether it contains the whole frontmatter.
#[must_use]
pub fn extent(head: &[u8]) -> Extent {
    // A line that was cut off by the read can continue.
    let whole = |line: &Delimiter| line.end < head.len() || matches!(head.last(), Some(b'\n'));
    match opening(head) {
        Some(open) => dashed_line(head, open.end)
            .filter(whole)
            .map_or(Extent::Open, |close| Extent::Until(close.end)),
        None if may_still_open(head) => Extent::Open,
        None => Extent::None,
    }
}

/// Finds the frontmatter, and reports what is wrong if there is none.
pub(crate) fn split(text: &str, report: &mut DiagnosticCollector<'_>) -> Option<Split> {
    let bytes = text.as_bytes();
    let Some(open) = opening(bytes) else {
        missing(text, report);
        return None;
    };
    notice_oddities(text, &open, report);
    let Some(close) = closing(bytes, open.end) else {
        report.add(DiagnosticCode::FrontmatterUnclosed, 0, || {
            Say::new("the frontmatter is not closed").hint("add a line `---` after the last field")
        });
        return None;
    };
    if !is_delimiter(&bytes[close.start..line_end(bytes, close.start)]) {
        report.add(DiagnosticCode::DelimiterText, offset(close.start), || {
            Say::new("the line that closes the frontmatter is not exactly `---`")
                .hint("put `---` on its own line, in the first column")
        });
    }
    if close.start - open.end > MAX_FRONTMATTER {
        let kib = MAX_FRONTMATTER / 1024;
        report.add(
            DiagnosticCode::FrontmatterTooLarge,
            offset(open.end),
            || Say::new(format!("the frontmatter is larger than {kib} KiB")),
        );
        return None;
    }
    Some(Split {
        yaml: open.end..close.start,
        body: close.end,
    })
}

/// A delimiter line: where its `---` starts and where the next line starts.
struct Delimiter {
    start: usize,
    end: usize,
}

fn opening(bytes: &[u8]) -> Option<Delimiter> {
    let mut start = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    loop {
        let end = line_end(bytes, start);
        let line = &bytes[start..end];
        if is_delimiter(line) {
            return Some(Delimiter { start, end });
        }
        if end == start || !line.trim_ascii().is_empty() {
            return None;
        }
        start = end;
    }
}

/// The line that closes the frontmatter; if there is text after its hyphens, it ends there.
fn closing(bytes: &[u8], from: usize) -> Option<Delimiter> {
    let line = dashed_line(bytes, from).or_else(|| indented_line(bytes, from))?;
    if is_delimiter(bytes[line.start..line.end].trim_ascii()) {
        return Some(line);
    }
    let dashes = bytes[line.start..].iter().take_while(|byte| **byte == b'-');
    Some(Delimiter {
        start: line.start,
        end: line.start + dashes.count(),
    })
}

/// An indented line of three hyphens, if no heading comes before it: after a heading it is part of the body.
fn indented_line(bytes: &[u8], from: usize) -> Option<Delimiter> {
    let mut start = from;
    while start < bytes.len() && bytes[start] != b'#' {
        let end = line_end(bytes, start);
        if bytes[start..end].trim_ascii() == b"---" {
            return Some(Delimiter { start, end });
        }
        start = end;
    }
    None
}

/// Built once: for text as short as most frontmatters, building it takes longer than searching.
static DASHES: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("---"));

/// The first line that starts with `---`: the text after it was not meant to be fields.
fn dashed_line(bytes: &[u8], from: usize) -> Option<Delimiter> {
    let starts_line = |start: usize| start == from || matches!(bytes[start - 1], b'\n' | b'\r');
    let start = DASHES
        .find_iter(&bytes[from..])
        .map(|index| from + index)
        .find(|start| starts_line(*start))?;
    Some(Delimiter {
        start,
        end: line_end(bytes, start),
    })
}

/// The offset after the line that starts at `start`; a line can end with CR alone.
fn line_end(bytes: &[u8], start: usize) -> usize {
    match memchr::memchr2(b'\n', b'\r', &bytes[start..]).map(|index| start + index) {
        None => bytes.len(),
        Some(end) if bytes[end..].starts_with(b"\r\n") => end + 2,
        Some(end) => end + 1,
    }
}

fn is_delimiter(line: &[u8]) -> bool {
    line.strip_prefix(b"---")
        .is_some_and(|rest| rest.trim_ascii().is_empty())
}

fn may_still_open(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    text.trim_ascii().is_empty() || b"---".starts_with(text.trim_ascii_start())
}

fn offset(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn notice_oddities(text: &str, open: &Delimiter, report: &mut DiagnosticCollector<'_>) {
    let bom = usize::from(text.starts_with('\u{feff}')) * 3;
    if bom > 0 {
        report.add(DiagnosticCode::ByteOrderMark, 0, || {
            Say::new("the file starts with a byte order mark").hint("save it as UTF-8 without BOM")
        });
    }
    if open.start > bom {
        report.add(DiagnosticCode::LeadingBlankLines, 0, || {
            Say::new("there are blank lines before the first `---`")
                .hint("make `---` the first line of the file")
        });
    }
    if text[open.start..open.end]
        .trim_end_matches(['\n', '\r'])
        .len()
        > 3
    {
        report.add(DiagnosticCode::DelimiterSpace, offset(open.start), || {
            Say::new("there are spaces after the opening `---`")
        });
    }
}

fn missing(text: &str, report: &mut DiagnosticCollector<'_>) {
    let head = text.trim_start_matches('\u{feff}').trim_start();
    let fenced = head.starts_with("```") || head.starts_with("~~~");
    report.add(DiagnosticCode::FrontmatterMissing, 0, || {
        if head.is_empty() {
            Say::new("the file is empty")
                .hint("start it with `---`, `name: …`, `description: …`, `---`")
        } else if fenced {
            Say::new("the file starts with a code fence, not with frontmatter")
                .hint("remove the fence around the file: `---` must be the first line")
        } else {
            Say::new("the file has no frontmatter")
                .hint("start it with `---`, `name: …`, `description: …`, `---`")
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Strictness;

    fn check(text: &str) -> (Option<(&str, &str)>, Vec<&'static str>) {
        let mut report = DiagnosticCollector::new(Strictness::Lenient, "SKILL.md", text);
        let split = split(text, &mut report).map(|split| (&text[split.yaml], &text[split.body..]));
        (
            split,
            report
                .list
                .iter()
                .map(|diagnostic| diagnostic.code.as_str())
                .collect(),
        )
    }

    #[test]
    fn only_whole_lines_delimit() {
        assert_eq!(
            check("---\na: x --- y\n---\nbody\n---\nmore"),
            (Some(("a: x --- y\n", "body\n---\nmore")), vec![])
        );
        assert_eq!(
            check("---\na: |\n  ---\n---\n"),
            (Some(("a: |\n  ---\n", "")), vec![])
        );
        assert_eq!(
            check("---\r\na: b\r\n---\r\nbody"),
            (Some(("a: b\r\n", "body")), vec![])
        );
        assert_eq!(
            check("---\ra: b\r---\rbody"),
            (Some(("a: b\r", "body")), vec![])
        );
        assert_eq!(check("---\n---"), (Some(("", "")), vec![]));
    }

    #[test]
    fn oddities_are_forgiven_aloud() {
        assert_eq!(check("\u{feff}---\na: b\n---\n").1, ["byte-order-mark"]);
        assert_eq!(check("\n\n---\na: b\n---\n").1, ["leading-blank-lines"]);
        assert_eq!(check("---  \na: b\n---\t\n").1, ["delimiter-space"]);
    }

    #[test]
    fn a_closing_line_with_more_on_it_closes_aloud() {
        for (text, body) in [
            ("---\na: b\n---# Heading\n", "# Heading\n"),
            ("---\na: b\n---# Heading\n---\n", "# Heading\n---\n"),
            ("---\na: b\n---text", "text"),
            ("---\na: b\n--- text\n", " text\n"),
            ("---\na: b\n-----\nbody\n---\n", "\nbody\n---\n"),
            ("---\na: b\n  ---\nbody", "body"),
        ] {
            let expected = (Some(("a: b\n", body)), vec!["delimiter-text"]);
            assert_eq!(check(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        for text in [
            "",
            "\u{feff}",
            "# Title\n---\na: b\n---\n",
            "```skill\n---\na: b\n---\n",
            "----\na: b\n---\n",
        ] {
            assert_eq!(check(text), (None, vec!["frontmatter-missing"]), "{text:?}");
        }
        for text in [
            "---",
            "---\n",
            "---\nname: x\n",
            "---\na: b\n# Heading\n ---\n",
        ] {
            assert_eq!(
                check(text),
                (None, vec!["frontmatter-unclosed"]),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_reader_knows_when_it_has_enough() {
        for text in ["", "--", "---\na: b\n", "\n\n", "\u{feff}"] {
            assert_eq!(extent(text.as_bytes()), Extent::Open, "{text:?}");
        }
        assert_eq!(extent(b"---\na: b\n---\nbody"), Extent::Until(13));
        assert_eq!(extent(b"---\na: b\n---# Head\n"), Extent::Until(19));
        assert_eq!(extent(b"---\na: b\n---"), Extent::Open);
        assert_eq!(extent(b"---\na: b\n ---\n"), Extent::Open);
        assert_eq!(extent(b"# No\n"), Extent::None);
        assert_eq!(extent(b"\n# No"), Extent::None);
    }
}
