//! Where a name leads, step by step.
//!
//! **Problem.** `CLAUDE.md` may be a link to `links/a.md`, which is a link to `docs/b.md`, through a folder that is a link itself, to a file
//! that is not there yet. Who can replace one of these steps decides what others read under the name.
//!
//! **Decision.** A [`Trail`] has every link that is met on the way, and the end, which may be missing. All of them are places
//! whose folders have no links above them, so that nothing further down has to follow one.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

use rustix::fs::{major, minor};

use super::object::FileId;

/// As many links as the kernel follows for one path (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// What decides where a name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trail {
    /// The links on the way, each by a path without links above it.
    pub(crate) links: Vec<PathBuf>,
    /// Where the last one leads, without links. It need not exist.
    pub(crate) end: PathBuf,
    /// Whether the end exists.
    is_there: bool,
}

/// Follows many names, and looks at each folder once.
#[derive(Debug, Default)]
pub(crate) struct Trails {
    folders: HashMap<PathBuf, Trail>,
    shared: HashSet<FileId>,
}

impl Trails {
    /// Follows an absolute path.
    pub(crate) fn of(&mut self, path: &Path) -> Trail {
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => {
                let above = self.folder(folder, 0);
                self.step(above, name, 0)
            }
            _ => self.folder(path, 0),
        }
    }

    /// The links on the way from these paths, and their ends.
    pub(crate) fn steps(&mut self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let mut steps = Vec::with_capacity(paths.len());
        for path in paths {
            let Trail { links, end, .. } = self.of(path);
            steps.extend(links);
            steps.push(end);
        }
        steps
    }

    /// The files among the ends so far that have other names, on the same file system (hard links).
    pub(crate) fn into_shared(self) -> HashSet<FileId> {
        self.shared
    }

    fn folder(&mut self, path: &Path, links: usize) -> Trail {
        if let Some(known) = self.folders.get(path) {
            return known.clone();
        }
        let trail = match (path.parent(), path.components().next_back()) {
            (Some(above), Some(Component::Normal(name))) => {
                let above = self.folder(above, links);
                self.step(above, name, links)
            }
            (Some(above), Some(Component::ParentDir)) => {
                let mut trail = self.folder(above, links);
                trail.end.pop();
                trail
            }
            _ => Trail {
                links: Vec::new(),
                end: PathBuf::from("/"),
                is_there: true,
            },
        };
        // Further in, the number of links that are left decides too.
        if links == 0 {
            self.folders.insert(path.to_owned(), trail.clone());
        }
        trail
    }

    fn step(&mut self, above: Trail, name: &OsStr, links: usize) -> Trail {
        let end = above.end.join(name);
        let mut trail = Trail { end, ..above };
        if !trail.is_there {
            return trail;
        }
        let is_link = match trail.end.symlink_metadata() {
            Ok(found) => {
                if found.is_file() && found.nlink() > 1 {
                    let device = (major(found.dev()), minor(found.dev()));
                    self.shared.insert((device, found.ino()));
                }
                found.is_symlink()
            }
            Err(_) => {
                trail.is_there = false;
                return trail;
            }
        };
        if !is_link {
            return trail;
        }
        let target = trail.end.read_link().unwrap_or_default();
        let target = match trail.end.parent() {
            Some(folder) => folder.join(target),
            None => target,
        };
        trail.links.push(trail.end.clone());
        if links + trail.links.len() >= MOST_LINKS {
            trail.is_there = false;
            return trail;
        }
        let onward = self.folder(&target, links + trail.links.len());
        trail.links.extend(onward.links);
        trail.end = onward.end;
        trail.is_there = onward.is_there;
        trail
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    /// Follows a name below a folder, and compares what is met.
    fn check(root: &Path, name: &str, links: &[&str], end: &str) {
        let trail = Trails::default().of(&root.join(name));
        let links: Vec<PathBuf> = links.iter().map(|link| root.join(link)).collect();
        assert_eq!(trail.links, links, "{name}");
        assert_eq!(trail.end, root.join(end), "{name}");
    }

    #[test]
    fn every_link_and_the_end_are_met() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("docs/inner")).unwrap();
        fs::write(root.join("docs/b.md"), "").unwrap();
        for (target, name) in [
            ("docs/b.md", "one"),
            ("one", "two"),
            ("docs", "folder"),
            ("folder/inner/../b.md", "through"),
            ("gone/x", "dangling"),
        ] {
            symlink(target, root.join(name)).unwrap();
        }
        symlink(root.join("folder"), root.join("docs/absolute")).unwrap();
        check(&root, "docs/b.md", &[], "docs/b.md");
        check(&root, "none/at/all", &[], "none/at/all");
        check(&root, "two", &["two", "one"], "docs/b.md");
        check(&root, "folder/b.md", &["folder"], "docs/b.md");
        check(&root, "through", &["through", "folder"], "docs/b.md");
        check(&root, "dangling", &["dangling"], "gone/x");
        let absolute = ["docs/absolute", "folder"];
        check(&root, "docs/absolute/new/x", &absolute, "docs/new/x");
    }

    #[test]
    fn links_in_a_circle_come_to_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        symlink("round/round/x", root.join("round")).unwrap();
        symlink(".", root.join("l0")).unwrap();
        for number in 1..30 {
            let before = number - 1;
            let target = format!("l{before}/l{before}");
            symlink(target, root.join(format!("l{number}"))).unwrap();
        }
        for name in ["round", "l29"] {
            let trail = Trails::default().of(&root.join(name));
            assert!(trail.links.len() <= 2 * MOST_LINKS, "{}", trail.links.len());
        }
    }
}
