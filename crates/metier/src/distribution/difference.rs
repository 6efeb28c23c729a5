//! How two states of a skill differ: the text of files, permissions, hosts.

use std::collections::{BTreeMap, BTreeSet};

use metier_package::PackageTree;
use metier_policy::{ChangeKind, ChangePreview, ContentBefore, PreviewLine};

/// Lines that are shown of one file.
const MAX_LINES: usize = 60;

/// A file that differs between two states of a skill.
///
/// An example is at [`FileDiff::text`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// The path in the skill.
    pub path: String,
    /// How it differs.
    pub change: FileChange,
    /// The first changed lines, with context.
    pub lines: Vec<PreviewLine>,
    /// The number of lines that are not shown.
    pub more: usize,
}

/// How a file differs.
///
/// An example is at [`FileChange::as_str`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Only the new state has it.
    Added,
    /// Only the old state has it.
    Removed,
    /// The two have other text.
    Changed {
        /// The number of added lines.
        added: usize,
        /// The number of removed lines.
        removed: usize,
    },
    /// The two have other bytes, which are not text.
    Binary,
}

impl FileChange {
    /// The word in JSON.
    ///
    /// ```
    /// use metier::distribution::FileChange;
    ///
    /// assert_eq!(FileChange::Changed { added: 1, removed: 2 }.as_str(), "changed");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed { .. } => "changed",
            Self::Binary => "binary",
        }
    }
}

/// The members that only one of two sets contains, sorted.
///
/// An example is at [`SetDifference::is_empty`]; that of [`Workspace::prepare_update`](crate::Workspace::prepare_update) counts new
/// permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetDifference {
    /// Only in the new one.
    pub added: Vec<String>,
    /// Only in the old one.
    pub removed: Vec<String>,
}

impl SetDifference {
    pub(crate) fn between(old: &[String], new: &[String]) -> Self {
        let without = |these: &[String], those: &[String]| -> Vec<String> {
            let only: BTreeSet<&String> = these.iter().filter(|one| !those.contains(one)).collect();
            only.into_iter().cloned().collect()
        };
        Self {
            added: without(new, old),
            removed: without(old, new),
        }
    }

    /// Whether the two are the same.
    ///
    /// ```
    /// use metier::distribution::SetDifference;
    ///
    /// let permissions = SetDifference { added: vec!["shell:exec(git *)".to_owned()], ..SetDifference::default() };
    /// assert!(!permissions.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// The files that differ, sorted by path.
pub(crate) fn file_diffs(old: &PackageTree, new: &PackageTree) -> Vec<FileDiff> {
    let mut paths = BTreeMap::new();
    for (tree, is_new) in [(old, false), (new, true)] {
        for file in tree.files() {
            let both: &mut [Option<&[u8]>; 2] = paths.entry(file.path.as_str()).or_default();
            both[usize::from(is_new)] = Some(&file.bytes);
        }
    }
    let changed = paths.into_iter().filter(|(_, [old, new])| old != new);
    changed
        .map(|(path, [old, new])| file_diff(path, old, new))
        .collect()
}

fn file_diff(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> FileDiff {
    let before = old.map_or(ContentBefore::Absent, ContentBefore::Known);
    let preview = ChangePreview::within(MAX_LINES, before, new.unwrap_or_default(), &str::to_owned);
    let is_text = preview.kind != ChangeKind::Replaced;
    let change = match (old, new, preview.kind) {
        (None, ..) => FileChange::Added,
        (_, None, _) => FileChange::Removed,
        (_, _, ChangeKind::Changed { added, removed }) => FileChange::Changed { added, removed },
        _ => FileChange::Binary,
    };
    FileDiff {
        path: path.to_owned(),
        change,
        lines: if is_text { preview.lines } else { Vec::new() },
        more: preview.more,
    }
}

impl FileDiff {
    /// The shown lines, as a unified diff. They were written by the author of the skill: an interface escapes them.
    ///
    /// ```
    /// # fn f(update: &metier::distribution::SkillUpdate) {
    /// for file in &update.files {
    ///     println!("{} {}", file.change.as_str(), file.path);
    ///     print!("{}", file.text());
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn text(&self) -> String {
        let lines = self.lines.iter();
        lines
            .map(|line| format!("{}{}\n", line.change.sign(), line.text))
            .collect()
    }
}

/// The hosts in the addresses that the files of a skill contain, sorted.
pub(crate) fn hosts(tree: &PackageTree) -> Vec<String> {
    let mut found = BTreeSet::new();
    for file in tree.files() {
        let text = String::from_utf8_lossy(&file.bytes);
        for (at, mark) in text.match_indices("://") {
            let rest = &text[at + mark.len()..];
            let authority: &str = rest
                .split(|c: char| !(c.is_ascii_alphanumeric() || "-._~@:%[]".contains(c)))
                .next()
                .unwrap_or_default();
            let host = authority.rsplit('@').next().unwrap_or_default();
            let host = host.split(':').next().unwrap_or_default();
            let host = host.trim_matches(['.', '[', ']']).to_ascii_lowercase();
            if host.contains('.') || host == "localhost" {
                found.insert(host);
            }
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use metier_package::{PackageFile, PackagePath};

    use super::*;

    fn tree(files: &[(&str, &[u8])]) -> PackageTree {
        let file = |(path, bytes): &(&str, &[u8])| PackageFile {
            path: PackagePath::new(path.as_bytes()).unwrap(),
            bytes: bytes.to_vec(),
        };
        PackageTree::new(files.iter().map(file).collect()).unwrap()
    }

    #[test]
    fn files_differ_by_text_or_by_bytes() {
        let old = tree(&[
            ("a.md", b"1\n2\n"),
            ("same.md", b"x"),
            ("b.bin", b"\xff"),
            ("gone.md", b"g\n"),
        ]);
        let new = tree(&[
            ("a.md", b"1\n3\n"),
            ("same.md", b"x"),
            ("b.bin", b"\xfe"),
            ("new.md", b"n\n"),
        ]);
        let found = file_diffs(&old, &new);
        let shown: Vec<(&str, FileChange)> = found
            .iter()
            .map(|file| (file.path.as_str(), file.change))
            .collect();
        let changed = FileChange::Changed {
            added: 1,
            removed: 1,
        };
        assert_eq!(
            shown,
            [
                ("a.md", changed),
                ("b.bin", FileChange::Binary),
                ("gone.md", FileChange::Removed),
                ("new.md", FileChange::Added),
            ]
        );
        assert_eq!(found[0].text(), "@@ -1 +1 @@\n 1\n-2\n+3\n");
    }

    #[test]
    fn a_long_difference_is_cut() {
        let long: String = (0..500).map(|number| format!("{number}\n")).collect();
        let found = file_diffs(&tree(&[]), &tree(&[("a.md", long.as_bytes())]));
        assert_eq!(
            (found[0].lines.len(), found[0].more),
            (MAX_LINES, 500 - MAX_LINES)
        );
    }

    #[test]
    fn hosts_are_found_in_any_file() {
        let text = b"see https://Docs.example/x, `http://u:p@api.example:8080/`, ftp://a.example. git://localhost/x https://[::1]/ ://x";
        let found = hosts(&tree(&[("a.md", text)]));
        assert_eq!(
            found,
            ["a.example", "api.example", "docs.example", "localhost"]
        );
    }
}
