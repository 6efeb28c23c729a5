//! The names of the files of a project, except those that its ignore files exclude.
//!
//! The project is not trusted at this point, so no link is followed, an ignore file that is a FIFO or a gigabyte is
//! not read, and the number is limited. Folders close to the root are listed first, so that a limit cuts off the
//! deepest ones. `.gitignore` and `.ignore` apply with and without a git folder; those above the project, the user's
//! own and `.git/info/exclude` don't: the result depends only on the project.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use rustix::fs::fstat;

use crate::manifest_file::{OPEN, check, read_all};

/// Limits of listing a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectLimits {
    /// The maximum number of files in the list.
    pub files: usize,
    /// The maximum number of files and folders that are visited, including ignored ones.
    pub entries: usize,
}

impl Default for ProjectLimits {
    fn default() -> Self {
        Self {
            files: 50_000,
            entries: 200_000,
        }
    }
}

/// The files of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    /// Relative to the project, with forward slashes, sorted. Includes hidden files and links.
    pub files: Vec<String>,
    /// Whether a limit was reached, so that there are more.
    pub truncated: bool,
    /// The number of folders that could not be read.
    pub unreadable: usize,
}

/// The maximum size of an ignore file that is read.
const MAX_IGNORE_FILE: u64 = 1 << 20;

/// Folders that never contain files of the project, ignored or not.
const NEVER: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "node_modules",
    "bower_components",
    "target",
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".terraform",
    ".next",
    ".nuxt",
];

/// Ignore files, the one with precedence first.
const IGNORE_FILES: [&str; 2] = [".ignore", ".gitignore"];

/// Lists the files of a project.
#[must_use]
pub fn project_files(root: &Path, limits: ProjectLimits) -> ProjectFiles {
    let mut found = ProjectFiles::default();
    let mut seen = 0;
    let mut folders = VecDeque::from([(PathBuf::new(), None)]);
    while let Some((folder, above)) = folders.pop_front() {
        let Ok(listed) = fs::read_dir(root.join(&folder)) else {
            found.unreadable += 1;
            continue;
        };
        // The files that a limit cuts off must not depend on the order of the file system.
        let mut entries: Vec<fs::DirEntry> = listed
            .filter_map(Result::ok)
            .take(limits.entries.saturating_sub(seen) + 1)
            .collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        let rules = IgnoreStack::below(root, &folder, above);
        for entry in entries {
            seen += 1;
            if seen > limits.entries || found.files.len() >= limits.files {
                found.truncated = true;
                break;
            }
            let path = folder.join(entry.file_name());
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if is_ignored(rules.as_ref(), &path, kind.is_dir()) {
                continue;
            }
            if kind.is_dir() {
                let never = NEVER.iter().any(|name| entry.file_name() == *name);
                if !never {
                    folders.push_back((path, rules.clone()));
                }
            } else if kind.is_file() || kind.is_symlink() {
                found.files.push(path.to_string_lossy().into_owned());
            }
        }
        if found.truncated {
            break;
        }
    }
    found.files.sort_unstable();
    found
}

/// The ignore files of a folder and of the folders above it.
struct IgnoreStack {
    own: Vec<Gitignore>,
    above: Option<Rc<IgnoreStack>>,
}

impl IgnoreStack {
    /// The rules in a folder: those above it, if it has none.
    fn below(root: &Path, folder: &Path, above: Option<Rc<Self>>) -> Option<Rc<Self>> {
        let own: Vec<Gitignore> = IGNORE_FILES
            .iter()
            .filter_map(|name| read(root, folder, name))
            .collect();
        if own.is_empty() {
            above
        } else {
            Some(Rc::new(Self { own, above }))
        }
    }
}

/// Reads an ignore file. An invalid line is skipped, as in git.
fn read(root: &Path, folder: &Path, name: &str) -> Option<Gitignore> {
    let file = root.join(folder).join(name);
    let file = rustix::fs::open(&file, OPEN, rustix::fs::Mode::empty()).ok()?;
    check(&fstat(&file).ok()?, MAX_IGNORE_FILE).ok()?;
    let content = read_all(&file, MAX_IGNORE_FILE).ok()?;
    let text = String::from_utf8_lossy(&content);
    // Paths are compared relative to the project, so that no folder above it can match.
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{feff}').lines() {
        builder.add_line(None, line).ok();
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// The nearest rule decides; in one folder `.ignore` comes before `.gitignore`.
fn is_ignored(rules: Option<&Rc<IgnoreStack>>, path: &Path, is_folder: bool) -> bool {
    let mut rules = rules;
    while let Some(level) = rules {
        for own in &level.own {
            match own.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        rules = level.above.as_ref();
    }
    false
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, process::Command};

    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn listed(root: &tempfile::TempDir) -> Vec<String> {
        project_files(root.path(), ProjectLimits::default()).files
    }

    #[test]
    fn ignore_files_are_respected_without_a_git_folder() {
        let root = project(&[
            (".gitignore", "*.log\n/dist/\n!keep.log\nsecret\n[z-a]\n"),
            ("a.log", ""),
            ("keep.log", ""),
            ("dist/x.js", ""),
            ("src/dist/x.js", ""),
            ("src/.gitignore", "*.tmp\n!*.log\n/only-here\n"),
            ("src/a.log", ""),
            ("src/a.tmp", ""),
            ("src/only-here", ""),
            ("src/deep/only-here", ""),
            ("src/deep/secret", ""),
            ("b/.ignore", "*.md\n"),
            ("b/.gitignore", "!x.md\n*.txt\n"),
            ("b/x.md", ""),
            ("b/x.txt", ""),
            ("b/x.rs", ""),
        ]);
        assert_eq!(
            listed(&root),
            [
                ".gitignore",
                "b/.gitignore",
                "b/.ignore",
                "b/x.rs",
                "keep.log",
                "src/.gitignore",
                "src/a.log",
                "src/deep/only-here",
                "src/dist/x.js",
            ]
        );
    }

    #[test]
    fn what_is_hidden_counts_and_what_others_made_does_not() {
        let root = project(&[
            (".github/workflows/ci.yml", ""),
            (".git/config", ""),
            ("node_modules/x/index.js", ""),
            ("web/node_modules/x/index.js", ""),
            ("target/debug/x", ""),
            ("docs/target", "a file"),
        ]);
        assert_eq!(listed(&root), [".github/workflows/ci.yml", "docs/target"]);
    }

    #[test]
    fn an_ignored_folder_stays_ignored_whatever_is_in_it() {
        let root = project(&[(".gitignore", "out/\n!out/x\n"), ("out/x", ""), ("y", "")]);
        assert_eq!(listed(&root), [".gitignore", "y"]);
    }

    // case 16
    #[test]
    fn no_link_is_followed_and_no_fifo_waited_for() {
        let root = project(&[("real/a.rs", "")]);
        let outside = project(&[("secret.rs", ""), ("rules", "*.rs\n")]);
        symlink(outside.path(), root.path().join("linked")).unwrap();
        symlink(root.path(), root.path().join("real/loop")).unwrap();
        symlink(
            outside.path().join("rules"),
            root.path().join("real/.gitignore"),
        )
        .unwrap();
        let fifo = root.path().join(".gitignore");
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(
            listed(&root),
            ["linked", "real/.gitignore", "real/a.rs", "real/loop"]
        );
    }

    #[test]
    fn a_cap_is_reported_and_omits_the_deepest_entries() {
        let root = project(&[("a/deep/1", ""), ("a/2", ""), ("z", ""), ("y", "")]);
        let limited = |files, entries| {
            let found = project_files(root.path(), ProjectLimits { files, entries });
            (found.files.join(" "), found.truncated)
        };
        assert_eq!(limited(2, 100), ("y z".into(), true));
        assert_eq!(limited(3, 100), ("a/2 y z".into(), true));
        assert_eq!(limited(4, 100), ("a/2 a/deep/1 y z".into(), false));
        assert_eq!(limited(100, 3), ("y z".into(), true));
        assert_eq!(limited(100, 6), ("a/2 a/deep/1 y z".into(), false));
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_files() {
        let found = project_files(Path::new("/nowhere/at/all"), ProjectLimits::default());
        assert_eq!((found.files.len(), found.unreadable), (0, 1));
    }
}
