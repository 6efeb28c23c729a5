//! The files of a project that changed between two moments, according to the file system, whichever program changed them.
//!
//! A file counts as changed if it exists at only one of the moments, or if its inode, size or time of change differs.
//! The time of change (`ctime`) is set by the kernel: no program can set it back, unlike the time of modification.
//! Contents are not read, so a file that was changed and changed back counts as changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
};

use crate::project::{ProjectLimits, project_files};

/// The files of a project at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectState {
    files: BTreeMap<String, ProjectMark>,
    is_whole: bool,
}

/// The metadata that differs after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProjectMark {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl ProjectState {
    /// Reads the metadata of all files that [`project_files`] lists.
    #[must_use]
    pub fn now(root: &Path, limits: ProjectLimits) -> Self {
        let listed = project_files(root, limits);
        let mark = |path: String| {
            let found = fs::symlink_metadata(root.join(&path)).ok()?;
            let mark = ProjectMark {
                inode: found.ino(),
                size: found.size(),
                changed: (found.ctime(), found.ctime_nsec()),
            };
            Some((path, mark))
        };
        Self {
            is_whole: !listed.truncated && listed.unreadable == 0,
            files: listed.files.into_iter().filter_map(mark).collect(),
        }
    }

    /// The files that differ from an earlier moment; `None` if one of the two lists is incomplete.
    #[must_use]
    pub fn changed_since(&self, earlier: &Self) -> Option<BTreeSet<String>> {
        if !self.is_whole || !earlier.is_whole {
            return None;
        }
        let all = self.files.keys().chain(earlier.files.keys());
        let differs = |path: &&String| self.files.get(*path) != earlier.files.get(*path);
        Some(all.filter(differs).cloned().collect())
    }

    /// Whether a file existed.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn what_is_new_gone_or_written_to_has_changed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| fs::write(root.path().join(path), text).unwrap();
        let now = || ProjectState::now(root.path(), ProjectLimits::default());
        write(".gitignore", "*.log\n");
        write("same", "1");
        write("written", "1");
        write("gone", "1");
        let before = now();
        assert_eq!(now().changed_since(&before), Some(BTreeSet::new()));
        std::thread::sleep(Duration::from_millis(20));
        write("written", "2");
        write("new", "1");
        write("x.log", "1");
        fs::remove_file(root.path().join("gone")).unwrap();
        // A writer can reset the modification time.
        let file = fs::File::options()
            .write(true)
            .open(root.path().join("written"));
        file.unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let after = now();
        let changed: Vec<String> = after.changed_since(&before).unwrap().into_iter().collect();
        assert_eq!(changed, ["gone", "new", "written"]);
        assert!(after.holds("new") && !after.holds("gone"));
    }

    #[test]
    fn nothing_is_reported_about_a_part() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(root.path().join(name), "").unwrap();
        }
        let limits = ProjectLimits {
            files: 2,
            entries: 100,
            ..ProjectLimits::default()
        };
        let part = ProjectState::now(root.path(), limits);
        let whole = ProjectState::now(root.path(), ProjectLimits::default());
        assert_eq!(whole.changed_since(&part), None);
        assert_eq!(part.changed_since(&whole), None);
    }
}
