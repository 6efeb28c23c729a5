//! The changes of a write to a file, short enough for a question.
//!
//! Common lines at both ends are skipped; the rest is compared line by line if it is small, and otherwise replaced as
//! a whole. The result is an owned value without control characters: it can be printed as it is.

use metier_model::text::visible;

/// The maximum number of lines in a question.
const MAX_LINES: usize = 20;
/// The maximum number of characters of a line.
const MAX_COLUMNS: usize = 160;
/// The number of unchanged lines before and after a change.
const CONTEXT: usize = 2;
/// The maximum work of one comparison.
const MAX_CELLS: usize = 1_000_000;

/// The content of a file before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentBefore<'c> {
    /// The file does not exist.
    Absent,
    /// The file has this content.
    Known(&'c [u8]),
    /// The file exists and can't be read.
    Unknown,
}

/// The changes of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangePreview {
    /// The kind of write.
    pub kind: ChangeKind,
    /// The first changed lines.
    pub lines: Vec<PreviewLine>,
    /// The number of lines that are not shown.
    pub more: usize,
}

/// The kind of write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A new file.
    New,
    /// New content, with the number of lines added and removed.
    Changed {
        /// The number of added lines.
        added: usize,
        /// The number of removed lines.
        removed: usize,
    },
    /// New content for a file that can't be shown: it is not text, or can't be read.
    Replaced,
}

/// One line of a preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewLine {
    /// How the line changes.
    pub change: LineChange,
    /// The line, with control characters escaped.
    pub text: String,
}

/// How a line changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineChange {
    /// The position of the lines that follow, as in a unified diff.
    Place,
    /// The line is in both contents.
    Kept,
    /// The line is only in the new content.
    Added,
    /// The line is only in the old content.
    Removed,
}

impl LineChange {
    /// The sign before the line.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Place => "",
            Self::Kept => " ",
            Self::Added => "+",
            Self::Removed => "-",
        }
    }
}

impl ChangePreview {
    /// The changes when a file gets this content. `hide` removes secrets from the text.
    #[must_use]
    pub fn new(before: ContentBefore<'_>, after: &[u8], hide: &dyn Fn(&str) -> String) -> Self {
        Self::within(MAX_LINES, before, after, hide)
    }

    /// [`Self::new`] with another limit for the number of lines.
    #[must_use]
    pub fn within(
        max_lines: usize,
        before: ContentBefore<'_>,
        after: &[u8],
        hide: &dyn Fn(&str) -> String,
    ) -> Self {
        let Ok(after) = std::str::from_utf8(after) else {
            return Self::replaced();
        };
        let (kind, changes) = match before {
            ContentBefore::Absent => (ChangeKind::New, in_full(after)),
            ContentBefore::Known(before) => match std::str::from_utf8(before) {
                Ok(before) => {
                    let changes = compared(before, after);
                    let count = |change| changes.iter().filter(|line| line.0 == change).count();
                    let (added, removed) = (count(LineChange::Added), count(LineChange::Removed));
                    (ChangeKind::Changed { added, removed }, hunks(&changes))
                }
                Err(_) => return Self::replaced(),
            },
            ContentBefore::Unknown => (ChangeKind::Replaced, in_full(after)),
        };
        let is_place = |line: &(LineChange, String)| line.0 == LineChange::Place;
        let shown = changes.iter().take(max_lines);
        let rest = changes.iter().skip(max_lines);
        Self {
            kind,
            lines: shown
                .map(|(change, text)| PreviewLine {
                    change: *change,
                    text: printed(&hide(text)),
                })
                .collect(),
            more: rest.filter(|line| !is_place(line)).count(),
        }
    }

    const fn replaced() -> Self {
        Self {
            kind: ChangeKind::Replaced,
            lines: Vec::new(),
            more: 0,
        }
    }
}

fn in_full(text: &str) -> Vec<(LineChange, String)> {
    let lines = text.lines();
    lines
        .map(|line| (LineChange::Added, line.to_owned()))
        .collect()
}

/// All lines of both contents, each with its change.
fn compared<'t>(before: &'t str, after: &'t str) -> Vec<(LineChange, &'t str)> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let both = old.iter().zip(&new);
    let start = both.take_while(|(old, new)| old == new).count();
    let both = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = both.take_while(|(old, new)| old == new).count();
    let (old_middle, new_middle) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let kept = |line: &&'t str| (LineChange::Kept, *line);
    let mut changes: Vec<(LineChange, &str)> = old[..start].iter().map(kept).collect();
    changes.extend(between(old_middle, new_middle));
    changes.extend(old[old.len() - end..].iter().map(kept));
    changes
}

/// The middle, where the contents differ: by the longest common subsequence of lines.
fn between<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(LineChange, &'t str)> {
    let removed = |line: &&'t str| (LineChange::Removed, *line);
    let added = |line: &&'t str| (LineChange::Added, *line);
    let width = new.len() + 1;
    if (old.len() + 1).saturating_mul(width) > MAX_CELLS {
        let all = old.iter().map(removed);
        return all.chain(new.iter().map(added)).collect();
    }
    // At `x * width + y`: the length of the longest common subsequence of `old[x..]` and `new[y..]`.
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for x in (0..old.len()).rev() {
        for y in (0..new.len()).rev() {
            common[x * width + y] = if old[x] == new[y] {
                common[(x + 1) * width + y + 1] + 1
            } else {
                common[(x + 1) * width + y].max(common[x * width + y + 1])
            };
        }
    }
    let (mut x, mut y) = (0, 0);
    let mut changes = Vec::new();
    while x < old.len() && y < new.len() {
        if old[x] == new[y] {
            changes.push((LineChange::Kept, old[x]));
            (x, y) = (x + 1, y + 1);
        } else if common[(x + 1) * width + y] >= common[x * width + y + 1] {
            changes.push(removed(&old[x]));
            x += 1;
        } else {
            changes.push(added(&new[y]));
            y += 1;
        }
    }
    changes.extend(old[x..].iter().map(removed));
    changes.extend(new[y..].iter().map(added));
    changes
}

/// The changed lines with context and the position of each group.
fn hunks(changes: &[(LineChange, &str)]) -> Vec<(LineChange, String)> {
    let is_near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        let to = (at + CONTEXT + 1).min(changes.len());
        changes[from..to]
            .iter()
            .any(|(change, _)| *change != LineChange::Kept)
    };
    let mut shown = Vec::new();
    let (mut old, mut new) = (1, 1);
    let mut is_inside = false;
    for (at, (change, line)) in changes.iter().enumerate() {
        let is_shown = is_near(at);
        if is_shown && !is_inside {
            shown.push((LineChange::Place, format!("@@ -{old} +{new} @@")));
        }
        is_inside = is_shown;
        if is_shown {
            // A Windows line ending is kept: the difference has to be visible.
            let line = line.strip_suffix('\n').unwrap_or(line);
            shown.push((*change, line.to_owned()));
        }
        old += usize::from(*change != LineChange::Added);
        new += usize::from(*change != LineChange::Removed);
    }
    shown
}

/// A line for display: tabs as spaces, control characters escaped, long lines cut.
fn printed(line: &str) -> String {
    let text = line.replace('\t', "    ").replace('\r', "\\r");
    let text = visible(&text);
    let letters = text.chars().count();
    if letters <= MAX_COLUMNS {
        return text.into_owned();
    }
    let cut: String = text.chars().take(MAX_COLUMNS).collect();
    format!("{cut}… {} more characters", letters - MAX_COLUMNS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn preview(before: ContentBefore<'_>, after: &[u8]) -> ChangePreview {
        ChangePreview::new(before, after, &str::to_owned)
    }

    /// The preview as a unified diff.
    #[track_caller]
    fn check(before: &str, after: &str, expected: &str) {
        let preview = preview(ContentBefore::Known(before.as_bytes()), after.as_bytes());
        let lines = preview.lines.iter();
        let lines = lines.map(|line| format!("{}{}\n", line.change.sign(), line.text));
        assert_eq!(lines.collect::<String>(), expected);
    }

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        check("a\n", "a\n", "");
        check(
            "1\n2\n3\n4\n5\n6\n7\n",
            "1\n2\n3\nfour\n5\n6\n7\n",
            "@@ -2 +2 @@\n 2\n 3\n-4\n+four\n 5\n 6\n",
        );
        check(
            "a\n1\n2\n3\n4\n5\n6\n7\nb\n",
            "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
            "@@ -1 +1 @@\n-a\n+A\n 1\n 2\n@@ -7 +7 @@\n 6\n 7\n-b\n+B\n",
        );
        check("a\nb\nc\n", "a\nx\nb\nc\n", "@@ -1 +1 @@\n a\n+x\n b\n c\n");
        check("a\r\n", "a\n", "@@ -1 +1 @@\n-a\\r\n+a\n");
    }

    #[test]
    fn a_new_file_shows_its_first_lines() {
        let text: String = (1..=60).map(|number| format!("line {number}\n")).collect();
        let preview = preview(ContentBefore::Absent, text.as_bytes());
        assert_eq!(preview.kind, ChangeKind::New);
        assert_eq!(preview.lines.len(), MAX_LINES);
        assert_eq!(preview.lines[0].text, "line 1");
        assert_eq!(preview.more, 40);
    }

    #[test]
    fn binary_content_is_not_shown() {
        for (before, after) in [
            (ContentBefore::Known(b"\xff"), b"text".as_slice()),
            (ContentBefore::Known(b"text"), b"\xff"),
            (ContentBefore::Absent, b"\xff"),
        ] {
            let preview = preview(before, after);
            assert_eq!(
                (preview.kind, preview.lines.len()),
                (ChangeKind::Replaced, 0)
            );
        }
        let unknown = preview(ContentBefore::Unknown, b"text\n");
        assert_eq!(
            (unknown.kind, unknown.lines.len()),
            (ChangeKind::Replaced, 1)
        );
    }

    #[test]
    fn nothing_in_it_acts_or_hides_and_secrets_are_taken_out() {
        let text = "a\u{1b}[2J\u{202e}b\tc\rd\nkey = hunter22\n";
        let hide = |line: &str| line.replace("hunter22", "[redacted KEY]");
        let preview = ChangePreview::new(ContentBefore::Absent, text.as_bytes(), &hide);
        assert_eq!(preview.lines[0].text, "a\\u{1b}[2J\\u{202e}b    c\\rd");
        assert_eq!(preview.lines[1].text, "key = [redacted KEY]");
        let long = "x".repeat(500);
        let preview = ChangePreview::new(ContentBefore::Absent, long.as_bytes(), &hide);
        assert!(preview.lines[0].text.ends_with("x… 340 more characters"));
    }

    proptest! {
        /// Kept and removed lines are the old content, kept and added lines the new one.
        #[test]
        fn a_comparison_is_complete(old in "[ab\n]{0,40}", new in "[ab\n]{0,40}") {
            let changes = compared(&old, &new);
            let side = |other: LineChange| -> String {
                let lines = changes.iter().filter(|line| line.0 != other);
                lines.map(|line| line.1).collect()
            };
            prop_assert_eq!(side(LineChange::Added), old.as_str());
            prop_assert_eq!(side(LineChange::Removed), new.as_str());
        }
    }
}
