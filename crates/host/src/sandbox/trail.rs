//! The target of a name, step by step.
//!
//! **Problem.** `CLAUDE.md` can be a link to `links/a.md`, which is a link to `docs/b.md`, through a folder that is a link itself,
//! to a missing file. Replacing one of these steps changes what others read under the name.
//!
//! **Decision.** A [`Trail`] contains every link on the path, and the end, which can be missing. All of them are places whose folders
//! have no links above them, so that no later step has to follow one.

use std::{
    collections::{HashMap, HashSet},
    ffi::{OsStr, OsString},
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

use rustix::fs::{Mode, major, minor, open};

use super::{
    names::all_names,
    object::{FOLDER, FileId},
};

/// As many links as the kernel follows for one path (path_resolution(7)).
const MOST_LINKS: usize = 40;
/// How many bytes of trails are kept, and how many each path needs besides its length.
const MOST_KEPT: usize = 32 << 20;
const PATH_SIZE: usize = 64;
/// How many names are looked up in a folder before it is listed.
const FEW_NAMES: usize = 16;

/// The links and the target that a name points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trail {
    /// The links on the path, each by a path without links above it.
    pub(crate) links: Vec<PathBuf>,
    /// The target of the last link, without links. It need not exist.
    pub(crate) end: PathBuf,
    /// Whether the end exists.
    is_there: bool,
}

impl Trail {
    fn root() -> Self {
        Self {
            links: Vec::new(),
            end: PathBuf::from("/"),
            is_there: true,
        }
    }

    /// The end, if it exists.
    pub(crate) fn real(self) -> Option<PathBuf> {
        self.is_there.then_some(self.end)
    }
}

/// Follows many names, and reads each folder once, unless there are very many. It is made for one scan: a known folder is not read again.
#[derive(Debug, Default)]
pub(crate) struct Trails {
    known: HashMap<PathBuf, Trail>,
    folders: HashMap<PathBuf, Entries>,
    shared: HashSet<FileId>,
    /// The approximate size of the known trails, in bytes.
    kept: usize,
}

/// The known entries of a folder.
#[derive(Debug)]
enum Entries {
    /// None; this many names were looked up.
    Unread(usize),
    /// All of their names.
    Listed(HashSet<OsString>),
    /// A listing would not contain everything that can be found there.
    Unlisted,
}

impl Trails {
    /// Follows an absolute path.
    pub(crate) fn of(&mut self, path: &Path) -> Trail {
        self.follow(path, 0)
    }

    /// The links on the paths, and their ends.
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
    pub(crate) fn shared(&self) -> &HashSet<FileId> {
        &self.shared
    }

    /// Takes one step after the other. Only a link causes a recursive call: a path can have more names than the stack has room for.
    fn follow(&mut self, path: &Path, links: usize) -> Trail {
        let mut trail = Trail::root();
        let mut steps = Vec::new();
        for above in path.ancestors() {
            if let Some(known) = self.known.get(above) {
                trail = known.clone();
                break;
            }
            steps.push(above);
        }
        for step in steps.into_iter().rev() {
            trail = match (step.parent(), step.components().next_back()) {
                (Some(_), Some(Component::Normal(name))) => self.step(trail, name, links),
                (Some(_), Some(Component::ParentDir)) => {
                    trail.end.pop();
                    trail
                }
                _ => Trail::root(),
            };
            // Deeper down, the number of remaining links matters too.
            if links == 0 {
                self.keep(step, &trail);
            }
        }
        trail
    }

    /// Keeps the target of a path. If there are too many, it starts again: the rest is read again.
    fn keep(&mut self, path: &Path, trail: &Trail) {
        let paths = trail.links.iter().chain([&trail.end]);
        let sizes = paths.map(|path| path.as_os_str().len() + PATH_SIZE);
        let size = path.as_os_str().len() + PATH_SIZE + sizes.sum::<usize>();
        if self.kept + size > MOST_KEPT {
            self.known.clear();
            self.folders.clear();
            self.kept = 0;
        }
        self.kept += size;
        self.known.insert(path.to_owned(), trail.clone());
    }

    /// Whether a folder is known to have no such entry. The folder has no links above it.
    fn lacks(&mut self, folder: &Path, name: &OsStr) -> bool {
        let entries = match self.folders.get_mut(folder) {
            Some(entries) => entries,
            None => self
                .folders
                .entry(folder.to_owned())
                .or_insert(Entries::Unread(0)),
        };
        if let Entries::Unread(names) = entries {
            *names += 1;
            if *names <= FEW_NAMES {
                return false;
            }
            let handle = open(folder, FOLDER, Mode::empty()).ok();
            let names = handle.and_then(all_names);
            let sizes = names.iter().flatten().map(|name| name.len() + PATH_SIZE);
            self.kept += sizes.sum::<usize>();
            *entries = names.map_or(Entries::Unlisted, Entries::Listed);
        }
        matches!(entries, Entries::Listed(names) if !names.contains(name))
    }

    fn step(&mut self, above: Trail, name: &OsStr, links: usize) -> Trail {
        let is_missing = !above.is_there || self.lacks(&above.end, name);
        let mut trail = Trail {
            end: above.end.join(name),
            is_there: !is_missing,
            ..above
        };
        if is_missing {
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
        let onward = self.follow(&target, links + trail.links.len());
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

    /// Follows a name below a folder, and compares the links that it meets.
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
    fn a_folder_that_was_listed_has_the_same_trails() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("there")).unwrap();
        symlink("there", root.join("link")).unwrap();
        let mut trails = Trails::default();
        for number in 0..2 * FEW_NAMES {
            let name = format!("missing-{number}/inner");
            assert_eq!(trails.of(&root.join(name)).real(), None);
        }
        let is_listed = matches!(trails.folders.get(&root), Some(Entries::Listed(_)));
        let names = all_names(fs::File::open(&root).unwrap());
        assert_eq!(is_listed, names.is_some());
        assert_eq!(
            trails.of(&root.join("there")).real(),
            Some(root.join("there"))
        );
        let trail = trails.of(&root.join("link/inner"));
        assert_eq!(trail.links, [root.join("link")]);
        assert_eq!(trail.end, root.join("there/inner"));
    }

    // case 205
    #[test]
    fn links_with_many_names_need_no_stack() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for number in 0..MOST_LINKS {
            let target = format!("l{}{}", number + 1, "/a".repeat(1_000));
            symlink(target, root.join(format!("l{number}"))).unwrap();
        }
        let follow = move || Trails::default().of(&root.join("l0"));
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let trail = small.spawn(follow).unwrap().join().unwrap();
        assert_eq!(trail.links.len(), MOST_LINKS);
        assert_eq!(trail.real(), None);
    }

    // case 205
    #[test]
    fn trails_of_many_long_paths_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let mut trails = Trails::default();
        for number in 0..12 {
            let path = format!("{number}{}", "/a".repeat(1_900));
            assert_eq!(trails.of(&root.join(path)).real(), None);
        }
        let ends = trails
            .known
            .values()
            .map(|trail| trail.end.as_os_str().len());
        let kept: usize = ends.sum();
        assert!(kept < MOST_KEPT, "{kept} bytes");
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
