//! What a write would change in a file, short enough for a question.
//!
//! The lines of both contents are compared from both ends; what is left between is compared line by line if it is small, and is otherwise
//! replaced as a whole. The result is a value without borrows and without anything that a terminal obeys: whoever shows it prints it.

use metier_model::text::visible;

/// As many lines as a question shows.
const MAX_LINES: usize = 20;
/// As many characters of a line.
const MAX_COLUMNS: usize = 160;
/// Lines that stay, before and after those that change.
const CONTEXT: usize = 2;
/// The work of one comparison.
const MAX_CELLS: usize = 1_000_000;

/// The content of a file before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentBefore<'c> {
    /// There is no such file.
    Absent,
    /// It has this content.
    Known(&'c [u8]),
    /// There is something that can't be read.
    Unknown,
}

/// What a write would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangePreview {
    /// What kind of write it is.
    pub kind: ChangeKind,
    /// The first lines of what changes.
    pub lines: Vec<PreviewLine>,
    /// How many lines are not shown.
    pub more: usize,
}

/// What kind of write it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A file that is not there yet.
    New,
    /// Another content, with so many lines added and removed.
    Changed {
        /// Lines that are new.
        added: usize,
        /// Lines that are gone.
        removed: usize,
    },
    /// Another content for a file that can't be shown: it is no text, or can't be read.
    Replaced,
}

/// One line of a preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewLine {
    /// What happens to it.
    pub change: LineChange,
    /// The line, with everything that a terminal would obey spelled out.
    pub text: String,
}

/// What happens to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineChange {
    /// Where the lines that follow are, as unified diffs say it.
    Place,
    /// It stays.
    Kept,
    /// It is new.
    Added,
    /// It is gone.
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
    /// What changes when a file gets this content. `hide` takes secrets out of the text.
    #[must_use]
    pub fn new(before: ContentBefore<'_>, after: &[u8], hide: &dyn Fn(&str) -> String) -> Self {
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
        let shown = changes.iter().take(MAX_LINES);
        let rest = changes.iter().skip(MAX_LINES);
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

/// All lines of both contents, each with what happens to it.
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

/// The middle, where the contents differ: by the longest sequence of lines that both have.
fn between<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(LineChange, &'t str)> {
    let removed = |line: &&'t str| (LineChange::Removed, *line);
    let added = |line: &&'t str| (LineChange::Added, *line);
    let width = new.len() + 1;
    if (old.len() + 1).saturating_mul(width) > MAX_CELLS {
        let all = old.iter().map(removed);
        return all.chain(new.iter().map(added)).collect();
    }
    // At `x * width + y`: how many lines `old[x..]` and `new[y..]` have in common.
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

/// The lines that change, with a few around them and the place of each group.
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
            // An end of Windows stays: it is a difference that has to be seen.
            let line = line.strip_suffix('\n').unwrap_or(line);
            shown.push((*change, line.to_owned()));
        }
        old += usize::from(*change != LineChange::Added);
        new += usize::from(*change != LineChange::Removed);
    }
    shown
}

/// A line for people: tabs as blanks, what a terminal would obey spelled out, cut where it gets long.
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
    fn what_is_no_text_is_not_shown() {
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
        /// The lines that stay and those that are gone are the old content, those that stay and those that are new the new one.
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
