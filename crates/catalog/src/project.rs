//! The names of the files of a project, except those that its ignore files exclude.
//!
//! The project is not trusted at this point, so no link is followed, the number of files, the length of their names and the time
//! are limited, and ignore files have the limits of [`IgnoreReader`]. Folders close to the root are listed first, so that a limit
//! cuts off the deepest ones. `.gitignore` and `.ignore` apply with and without a git folder; those above the project, the user's
//! own and `.git/info/exclude` don't: the result depends only on the project.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
    time::{Duration, Instant},
};

use metier_model::{IgnoreFile, IgnoreReader, IgnoreRules, MAX_IGNORE_FILE};
use rustix::{fs::fstat, io::Errno};

use crate::manifest_file::{OPEN, check, read_all};

/// Limits of listing a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectLimits {
    /// The maximum number of files in the list.
    pub files: usize,
    /// The maximum number of files and folders that are visited, including ignored ones.
    pub entries: usize,
    /// The maximum number of bytes in the paths of listed files and of folders that are still to be visited.
    pub path_bytes: usize,
    /// The maximum time.
    pub time: Duration,
}

impl Default for ProjectLimits {
    fn default() -> Self {
        Self {
            files: 50_000,
            entries: 200_000,
            path_bytes: 16 << 20,
            time: Duration::from_secs(30),
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
    /// The first ignore files that exist and are not used, relative to the project.
    pub unused: Vec<PathBuf>,
}

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
    let mut bytes = 0;
    let started = Instant::now();
    let mut ignore = IgnoreReader::new(&IGNORE_FILES);
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
        // Paths are compared relative to the project, so that no folder above it can match.
        let rules = ignore.below(&folder, false, above, |path| ignore_file(&root.join(path)));
        for entry in entries {
            seen += 1;
            let is_late = started.elapsed() > limits.time;
            if seen > limits.entries || found.files.len() >= limits.files || is_late {
                found.truncated = true;
                break;
            }
            let path = folder.join(entry.file_name());
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let is_ignored = |rules: &Rc<IgnoreRules>| rules.exclude(&path, kind.is_dir());
            let is_known = kind.is_dir() || kind.is_file() || kind.is_symlink();
            if !is_known || rules.as_ref().is_some_and(is_ignored) {
                continue;
            }
            if kind.is_dir() && NEVER.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            bytes += path.as_os_str().len();
            if bytes > limits.path_bytes {
                found.truncated = true;
                break;
            }
            if kind.is_dir() {
                folders.push_back((path, rules.clone()));
            } else {
                found.files.push(path.to_string_lossy().into_owned());
            }
        }
        if found.truncated {
            break;
        }
    }
    found.files.sort_unstable();
    found.unused = ignore.into_unused();
    found
}

/// Opens an ignore file without following a link or waiting for a FIFO.
fn ignore_file(path: &Path) -> IgnoreFile {
    let file = match rustix::fs::open(path, OPEN, rustix::fs::Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR) => return IgnoreFile::Absent,
        Err(_) => return IgnoreFile::Unread,
    };
    let regular = fstat(&file).is_ok_and(|stat| check(&stat, MAX_IGNORE_FILE).is_ok());
    match regular.then(|| read_all(&file, MAX_IGNORE_FILE)) {
        Some(Ok(content)) => IgnoreFile::Read(content),
        _ => IgnoreFile::Unread,
    }
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
            let limits = ProjectLimits {
                files,
                entries,
                ..ProjectLimits::default()
            };
            let found = project_files(root.path(), limits);
            (found.files.join(" "), found.truncated)
        };
        assert_eq!(limited(2, 100), ("y z".into(), true));
        assert_eq!(limited(3, 100), ("a/2 y z".into(), true));
        assert_eq!(limited(4, 100), ("a/2 a/deep/1 y z".into(), false));
        assert_eq!(limited(100, 3), ("y z".into(), true));
        assert_eq!(limited(100, 6), ("a/2 a/deep/1 y z".into(), false));
    }

    #[test]
    fn long_paths_and_a_late_end_are_reported_like_a_cap() {
        let root = project(&[("a/2", ""), ("a/3", ""), ("z", "")]);
        let limited = |path_bytes, time| {
            let limits = ProjectLimits {
                path_bytes,
                time,
                ..ProjectLimits::default()
            };
            let found = project_files(root.path(), limits);
            (found.files.join(" "), found.truncated)
        };
        let ample = Duration::from_secs(1_000);
        assert_eq!(limited(8, ample), ("a/2 a/3 z".into(), false));
        assert_eq!(limited(7, ample), ("a/2 z".into(), true));
        assert_eq!(limited(1_000, Duration::ZERO), (String::new(), true));
    }

    // case 230, 16
    #[test]
    fn an_ignore_file_beyond_a_limit_ignores_nothing_and_is_named() {
        let many = "?\n".repeat(524_288);
        let root = project(&[
            (".gitignore", &many),
            ("x", ""),
            ("a/.gitignore", "x\n"),
            ("a/x", ""),
        ]);
        let found = project_files(root.path(), ProjectLimits::default());
        assert_eq!(found.files, [".gitignore", "a/.gitignore", "x"]);
        assert_eq!(found.unused, [Path::new(".gitignore")]);
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_files() {
        let found = project_files(Path::new("/nowhere/at/all"), ProjectLimits::default());
        assert_eq!((found.files.len(), found.unreadable), (0, 1));
    }
}
