//! The entries of a folder that are protected places, for a walk that has read their names.

use std::{
    borrow::Cow,
    collections::HashSet,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::{
    names::{NameSet, alike},
    object::PATH_MAX,
    protected::is_row_or_part,
    protected_files::{BARE_REPOSITORY, BESIDE_HEAD, REPOSITORIES},
    survey::Guard,
    walk::{RelevantEntry, VisitedFolder},
};

/// More than the number of names in any row of the tables.
const MOST_NAMES: usize = 8;

/// Decides which entries of a folder are protected places.
pub(super) struct EntryClassifier<'g> {
    guard: &'g Guard,
    /// Relevant names, besides those of the table.
    names: HashSet<&'g OsStr>,
    levels: Vec<FolderKind>,
}

#[derive(Clone, Copy)]
struct FolderKind {
    is_top: bool,
    is_in_git: bool,
}

/// The protected places of a folder.
pub(super) struct Spots {
    /// The entries of the folder.
    pub(super) entries: Vec<RelevantEntry>,
    /// Links in it, and the protected places that start with them.
    pub(super) links: Vec<(OsString, Vec<PathBuf>)>,
    /// Other folders in it.
    pub(super) inner: Vec<OsString>,
    /// Whether git treats the folder itself as a repository.
    pub(super) is_repository: bool,
}

impl<'g> EntryClassifier<'g> {
    pub(super) fn new(guard: &'g Guard) -> Self {
        let paths = guard.open.iter().chain(&guard.closed);
        let names = paths.filter_map(|path| path.file_name());
        Self {
            guard,
            names: names.chain(guard.protection.place_names()).collect(),
            levels: Vec::new(),
        }
    }

    /// Whether an entry can be a protected place. However many entries a folder has, no more of them can match than the tables have names.
    pub(super) fn wants(&self, folder: &VisitedFolder<'_>, name: &OsStr) -> bool {
        is_row_or_part(name, || folder.names() == NameSet::Folded) || self.names.contains(name)
    }

    /// Classifies the relevant entries. Folders that are neither protected nor closed are entered like the others.
    pub(super) fn spots(
        &mut self,
        folder: &VisitedFolder<'_>,
        wanted: Vec<RelevantEntry>,
    ) -> Spots {
        let names = || folder.names();
        let is = |entry: &RelevantEntry, name: &str| {
            entry.name == name || alike(&entry.name, OsStr::new(name)) && names() == NameSet::Folded
        };
        let has = |name: &str| wanted.iter().any(|entry| is(entry, name));
        let is_git = self.is_open(folder.path);
        self.levels.truncate(folder.depth);
        let is_inside = self.levels.last().is_some_and(|level| level.is_in_git);
        self.levels.push(FolderKind {
            is_top: REPOSITORIES.iter().any(|name| has(name)),
            is_in_git: is_git || is_inside,
        });
        let has_head = has("HEAD") && !is_git;
        let is_repository = has_head && BARE_REPOSITORY.iter().all(|part| has(part));
        let (mut entries, mut links, mut inner) = (Vec::new(), Vec::new(), Vec::new());
        let judged = judged(folder);
        for entry in wanted {
            let path = judged.join(&entry.name);
            if self.guard.closed.contains(&path) {
                continue;
            }
            let is_beside = || has_head && BESIDE_HEAD.iter().any(|part| is(&entry, part));
            // Below `.git` only git reads.
            let is_place = || !is_inside && self.is_named(&path, names, folder.depth);
            if is_beside() || is_place() {
                entries.push(entry);
            } else if entry.is_link && !is_inside {
                let behind = self.behind(&path, names, folder.depth);
                links.extend((!behind.is_empty()).then_some((entry.name, behind)));
            } else if entry.is_folder {
                inner.push(entry.name);
            }
        }
        Spots {
            entries,
            links,
            inner,
            is_repository,
        }
    }

    fn is_open(&self, path: &Path) -> bool {
        let mut open = self.guard.open.iter();
        open.any(|open| open.as_os_str() == path.as_os_str())
    }

    fn is_named(&self, path: &Path, names: impl Fn() -> NameSet, depth: usize) -> bool {
        if self.is_open(path) {
            return false;
        }
        let protection = &self.guard.protection;
        protection.is_named(path, names, self.is_top(path, depth))
    }

    /// The protected places that start with a link.
    fn behind(&self, link: &Path, names: impl Fn() -> NameSet, depth: usize) -> Vec<PathBuf> {
        let protection = &self.guard.protection;
        protection.behind(link, names, self.is_top(link, depth))
    }

    /// Whether a folder above this path is the top of a repository. The folder of the path is at `depth`.
    fn is_top(&self, path: &Path, depth: usize) -> impl Fn(&Path) -> bool {
        let protection = &self.guard.protection;
        let length = path.components().count();
        move |base| {
            // The folder of this entry is at `depth`, and is one name shorter.
            let above = length - 1 - base.components().count();
            let level = depth.checked_sub(above).and_then(|at| self.levels.get(at));
            protection.is_known_top(base)
                || level.map_or_else(|| protection.is_top(base), |level| level.is_top)
        }
    }
}

/// The path by which the entries of a folder are classified. Of a long one in a deep tree only the last names count: no place is known
/// by such a path, and no row of the tables has more names. So an entry costs the same, however deep it is.
fn judged<'w>(folder: &VisitedFolder<'w>) -> Cow<'w, Path> {
    if folder.path.as_os_str().len() < PATH_MAX || folder.depth <= MOST_NAMES {
        return Cow::Borrowed(folder.path);
    }
    // No folder has this name, so the rest is not a place that is known by its path.
    let mut judged = PathBuf::from("/\0");
    let names: Vec<&OsStr> = folder.path.iter().rev().take(MOST_NAMES).collect();
    judged.extend(names.into_iter().rev());
    Cow::Owned(judged)
}
