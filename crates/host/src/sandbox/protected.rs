//! The protected paths, for everything that writes: one query, [`Protection::covering`], and the rules for a child that follow from it.
//!
//! **Problem.** A skill that may write `./**` must not write files that make other programs run its code later, outside the sandbox: hooks,
//! start-up files, instructions of agents. Host functions know each path before it is written. A child does not ask, so the same answer has
//! to become mounts and rules before it starts, and a second check after it ended.
//!
//! **Decision.** A row of the table (`protected_files.rs`) is a sequence of names that counts in any folder, at the top of a repository, or
//! in the home. A host function checks one path. For a child, [`Protection::named_in`] lists the rows for the relevant folders and
//! [`Guard`](super::Guard) walks its writable folders, before and after.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use super::{
    mounted::MountTable,
    names::{NameSet, NamesAbove, alike},
    places::credential_places,
    protected_files::{
        AT_TOP, BARE_REPOSITORY, BESIDE_HEAD, IN_ANY_FOLDER, IN_GIT_FOLDER, REPOSITORIES, Where,
    },
    protected_home::{AT_HOME, ON_MACHINE},
    trail::Trails,
};

/// The protected places of this machine: the table, for one home, one working directory and the places that metier itself obeys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    homes: Vec<PathBuf>,
    tops: Vec<PathBuf>,
    places: Vec<PathBuf>,
    mounts: MountTable,
}

/// The rows of the table by their last name, in lower case.
fn rows() -> &'static HashMap<String, Vec<(&'static str, Where)>> {
    static ROWS: OnceLock<HashMap<String, Vec<(&'static str, Where)>>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut rows: HashMap<_, Vec<_>> = HashMap::new();
        for (row, place) in tables() {
            let last = row.rsplit('/').next().unwrap_or(row);
            rows.entry(last.to_ascii_lowercase())
                .or_default()
                .push((row, place));
        }
        rows
    })
}

/// The names before the last one in a row, in lower case.
fn ways() -> &'static HashSet<String> {
    static WAYS: OnceLock<HashSet<String>> = OnceLock::new();
    WAYS.get_or_init(|| {
        let folders = tables().filter_map(|(row, _)| row.rsplit_once('/'));
        let names = folders.flat_map(|(folders, _)| folders.split('/'));
        names.map(str::to_ascii_lowercase).collect()
    })
}

fn tables() -> impl Iterator<Item = (&'static str, Where)> {
    [
        (IN_ANY_FOLDER, Where::AnyFolder),
        (AT_TOP, Where::Top),
        (AT_HOME, Where::Home),
        (IN_GIT_FOLDER, Where::GitFolder),
    ]
    .into_iter()
    .flat_map(|(table, place)| table.iter().map(move |row| (*row, place)))
}

impl Protection {
    /// The protection for a user. `work` is below `project` or equal to it; `obeyed` are places that metier reads skills and settings from.
    #[must_use]
    pub fn new(home: Option<&Path>, work: &Path, project: &Path, obeyed: &[PathBuf]) -> Self {
        let mut trails = Trails::default();
        let mut with_real = |path: &Path| with_real(path, &mut trails);
        let homes: Vec<PathBuf> = home.into_iter().flat_map(&mut with_real).collect();
        let work: Vec<PathBuf> = with_real(work).collect();
        let project: Vec<PathBuf> = with_real(project).collect();
        let above = work.iter().flat_map(|work| work.ancestors());
        let within = |folder: &&Path| project.iter().any(|project| folder.starts_with(project));
        let tops = above.filter(within).map(Path::to_owned).collect();
        let machine = ON_MACHINE.iter().map(PathBuf::from);
        let keys = homes.iter().flat_map(|home| credential_places(home));
        // A root of skills around the working directory would protect everything in it.
        let around = |place: &PathBuf| work.iter().any(|work| work.starts_with(place));
        let given = obeyed.iter().filter(|place| !around(place));
        let given = given.flat_map(|place| with_real(place));
        Self {
            tops,
            places: machine.chain(keys).chain(given).collect(),
            homes,
            mounts: MountTable::read(),
        }
    }

    /// The home, under each of its names.
    pub(super) fn homes(&self) -> &[PathBuf] {
        &self.homes
    }

    /// The folders from the working directory up to the root of the project.
    pub(super) fn tops(&self) -> &[PathBuf] {
        &self.tops
    }

    /// The mounts.
    pub(crate) fn mounts(&self) -> &MountTable {
        &self.mounts
    }

    /// Its parts, to be recorded.
    pub(crate) fn parts(&self) -> [&Vec<PathBuf>; 3] {
        [&self.homes, &self.tops, &self.places]
    }

    /// A protection from its recorded parts.
    pub(crate) fn from_parts([homes, tops, places]: [Vec<PathBuf>; 3]) -> Self {
        Self {
            homes,
            tops,
            places,
            mounts: MountTable::default(),
        }
    }

    /// The protected place that a path is or is in, or that writing the path would create. The path contains no links.
    #[must_use]
    pub fn covering(&self, path: &Path) -> Option<PathBuf> {
        let names = NamesAbove::new();
        let is_place = |above: &&Path| self.is_place(above, &names);
        let covered = path.ancestors().filter(is_place).last();
        covered
            .or_else(|| {
                path.ancestors()
                    .skip(1)
                    .find(|above| completes_repository(above, path))
            })
            .map(Path::to_owned)
    }

    /// Whether a path is itself a protected place.
    fn is_place(&self, path: &Path, names: &NamesAbove) -> bool {
        let names = || names.of(path.parent().unwrap_or(path));
        self.is_named(path, names, |base| self.is_top(base))
            || is_bare_repository(path)
            || is_beside_head(path)
    }

    /// The names of places that are known by their whole path.
    pub(super) fn place_names(&self) -> impl Iterator<Item = &OsStr> {
        self.places.iter().filter_map(|place| place.file_name())
    }

    /// Whether a path is a protected place by its name alone. `names` is how the folder of the path compares names, and `is_top` whether a
    /// folder is the top of a repository.
    pub(super) fn is_named(
        &self,
        path: &Path,
        names: impl Fn() -> NameSet,
        is_top: impl Fn(&Path) -> bool,
    ) -> bool {
        // By bytes: comparing paths component by component is slow.
        let mut places = self.places.iter().map(|place| place.as_os_str());
        if places.any(|place| place == path.as_os_str()) {
            return true;
        }
        let name = path.file_name().and_then(OsStr::to_str);
        let rows = name.and_then(|name| rows().get(&name.to_ascii_lowercase()));
        rows.into_iter().flatten().any(|(row, place)| {
            let base = base(path, row.split('/').rev(), &names);
            base.is_some_and(|base| self.counts(*place, base, &is_top))
        })
    }

    /// Whether rows of this kind apply to a folder.
    fn counts(&self, place: Where, folder: &Path, is_top: impl Fn(&Path) -> bool) -> bool {
        match place {
            Where::AnyFolder => true,
            Where::Top => is_top(folder),
            Where::Home => self.is_home(folder),
            Where::GitFolder => folder.file_name().is_some_and(|name| name == ".git"),
        }
    }

    /// The protected places that start with a link: for `.cargo`, all rows `.cargo/…`. A walk does not see the entries behind it.
    /// `folder` is how the link's folder compares names.
    pub(super) fn behind(
        &self,
        link: &Path,
        folder: impl Fn() -> NameSet,
        is_top: impl Fn(&Path) -> bool,
    ) -> Vec<PathBuf> {
        let mut places = Vec::new();
        let name = link.file_name().and_then(OsStr::to_str);
        if !name.is_some_and(|name| ways().contains(&name.to_ascii_lowercase())) {
            return places; // nearly always, and a folder may be full of links
        }
        for (row, place) in tables() {
            let names: Vec<&str> = row.split('/').collect();
            for count in 1..names.len() {
                let (first, rest) = names.split_at(count);
                let base = base(link, first.iter().rev().copied(), &folder);
                if base.is_some_and(|base| self.counts(place, base, &is_top)) {
                    places.push(rest.iter().fold(link.to_owned(), |at, name| at.join(name)));
                }
            }
        }
        places
    }

    fn is_home(&self, folder: &Path) -> bool {
        self.homes.iter().any(|home| home == folder)
    }

    /// Whether metier and others read settings for a whole project in this folder.
    pub(super) fn is_top(&self, folder: &Path) -> bool {
        let is_repository = || REPOSITORIES.iter().any(|name| is_there(&folder.join(name)));
        self.is_known_top(folder) || is_repository()
    }

    /// [`Self::is_top`] without reading the folder.
    pub(super) fn is_known_top(&self, folder: &Path) -> bool {
        self.is_home(folder) || self.tops.iter().any(|top| top == folder)
    }

    /// The protected places of a folder by their names. They need not exist. `open` contains `.git` folders that are protected in part,
    /// as a writable repository under any other name is.
    #[must_use]
    pub fn named_in(&self, folder: &Path, open: &[PathBuf]) -> Vec<PathBuf> {
        let (is_home, is_top) = (self.is_home(folder), self.is_top(folder));
        let is_git = open.iter().any(|open| open == folder) || is_bare_repository(folder);
        let counts = |place: Where| match place {
            Where::AnyFolder => true,
            Where::Top => is_top,
            Where::Home => is_home,
            Where::GitFolder => is_git,
        };
        let rows = tables().filter(|(_, place)| counts(*place));
        rows.map(|(row, _)| folder.join(row))
            .filter(|place| !open.contains(place))
            .collect()
    }

    /// Every protected place that is relevant to a child that may write these folders: by name, in each folder, above it, in the
    /// home and at the tops. `steps` finds their targets.
    #[must_use]
    pub fn around(&self, roots: &[PathBuf], open: &[PathBuf]) -> Vec<PathBuf> {
        let meets = |place: &PathBuf| {
            let mut roots = roots.iter();
            roots.any(|root| place.starts_with(root) || root.starts_with(place))
        };
        let whole = roots.iter().chain(&self.homes).chain(&self.tops);
        let whole: BTreeSet<&Path> = whole.chain(open).map(PathBuf::as_path).collect();
        let above = roots.iter().flat_map(|root| root.ancestors().skip(1));
        let above: BTreeSet<&Path> = above.filter(|above| !whole.contains(above)).collect();
        let mut places = self.places.clone();
        for folder in whole {
            places.extend(self.named_in(folder, open));
        }
        for folder in above {
            places.extend(self.named_in(folder, open).into_iter().filter(meets));
        }
        places
    }

    /// The protected places that are known by name: of the machine, the home and the tops.
    pub(crate) fn known(&self) -> Vec<PathBuf> {
        let folders = self.homes.iter().chain(&self.tops);
        let named = folders.flat_map(|folder| self.named_in(folder, &[]));
        named.chain(self.places.iter().cloned()).collect()
    }

    /// Every step from these places to their targets, under all of its names: the user's `~/.bashrc` can be kept elsewhere.
    pub(crate) fn steps(&self, places: &[PathBuf], trails: &mut Trails) -> Vec<PathBuf> {
        self.mounts.with_other_names(trails.steps(places))
    }
}

/// A path, and its form without links if that differs.
fn with_real(path: &Path, trails: &mut Trails) -> impl Iterator<Item = PathBuf> + use<> {
    let real = match path.is_absolute() {
        true => trails.of(path).real(),
        false => path.canonicalize().ok(),
    };
    let real = real.filter(|real| real != path);
    std::iter::once(path.to_owned()).chain(real)
}

/// The folder in which a path ends with these names, the last of which comes first. Where only upper and lower case differ, the
/// folder of the path decides.
fn base<'p, 'n>(
    path: &'p Path,
    names: impl Iterator<Item = &'n str>,
    folder: impl Fn() -> NameSet,
) -> Option<&'p Path> {
    let mut base = path;
    let mut is_same = true;
    for name in names {
        let last = base.file_name()?;
        if !alike(last, OsStr::new(name)) {
            return None;
        }
        is_same &= last == name;
        base = base.parent()?;
    }
    (is_same || folder() == NameSet::Folded).then_some(base)
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Longer than each name in the tables.
const LONGEST_NAME: usize = 128;

/// Whether an entry with this name, in any folder, can be a protected place, a part of one or on the path to one. A name that differs in
/// upper and lower case can be one if the folder folds names.
pub(super) fn is_row_or_part(name: &OsStr, folds: impl FnOnce() -> bool) -> bool {
    let mut buffer = [0; LONGEST_NAME];
    let Some(folded) = buffer.get_mut(..name.len()) else {
        return false;
    };
    folded.copy_from_slice(name.as_encoded_bytes());
    folded.make_ascii_lowercase();
    let is_row = |name: &str| rows().contains_key(name) || ways().contains(name);
    let is_part = |part: &&str| alike(name, OsStr::new(part));
    let is_alike = std::str::from_utf8(folded).is_ok_and(is_row)
        || BARE_REPOSITORY.iter().chain(&BESIDE_HEAD).any(is_part);
    is_alike && (is_in_tables(name) || folds())
}

/// Whether the tables contain exactly this name.
fn is_in_tables(name: &OsStr) -> bool {
    static NAMES: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let rows = tables().flat_map(|(row, _)| row.split('/'));
        rows.chain(BARE_REPOSITORY).chain(BESIDE_HEAD).collect()
    });
    name.to_str().is_some_and(|name| names.contains(name))
}

/// Whether git would treat a folder as a repository, under any name. A repository that takes its settings from another folder is protected
/// by [`is_beside_head`].
fn is_bare_repository(folder: &Path) -> bool {
    let is_git = folder.file_name().is_some_and(|name| name == ".git");
    let is_part_there = |part: &&str| is_there(&folder.join(part));
    !is_git && BARE_REPOSITORY.iter().all(is_part_there)
}

/// Whether a path is a file next to a `HEAD` that names the folder of a repository's settings.
fn is_beside_head(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    let is_listed = name.is_some_and(|name| BESIDE_HEAD.contains(&name));
    is_listed && is_there(&path.with_file_name("HEAD"))
}

/// Whether a folder would become a repository by writing this path.
fn completes_repository(folder: &Path, path: &Path) -> bool {
    let below = path.strip_prefix(folder).ok();
    let first = below.and_then(|below| below.iter().next()?.to_str());
    let is_part_there = |part: &&str| is_there(&folder.join(part));
    let is_completed = |first: &str| {
        let mut others = BARE_REPOSITORY.iter().filter(|part| **part != first);
        BARE_REPOSITORY.contains(&first) && others.all(is_part_there)
            || first == "HEAD" && BESIDE_HEAD.iter().any(is_part_there)
    };
    first.is_some_and(is_completed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn protection(home: &Path, project: &Path) -> Protection {
        Protection::new(Some(home), &project.join("src"), project, &[])
    }

    fn check(folder: &Path, path: &str, expected: Option<&str>) {
        let protection = protection(&folder.join("home"), &folder.join("project"));
        let covering = protection.covering(&folder.join(path));
        assert_eq!(covering, expected.map(|place| folder.join(place)), "{path}");
    }

    #[test]
    fn a_path_is_judged_by_its_names_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        for place in ["repository/.git", "project/src", "home", "plain"] {
            fs::create_dir_all(folder.join(place)).unwrap();
        }
        for (path, expected) in [
            ("plain/a.txt", None),
            ("plain/.git/hooks/pre-commit", Some("plain/.git")),
            ("plain/a/b/.vscode/tasks.json", Some("plain/a/b/.vscode")),
            (
                "plain/.claude/settings.json",
                Some("plain/.claude/settings.json"),
            ),
            ("plain/.claude/notes.txt", None),
            ("plain/x/CLAUDE.md", Some("plain/x/CLAUDE.md")),
            ("plain/.hg/hgrc", Some("plain/.hg")),
            ("plain/.jj/repo/config.toml", Some("plain/.jj")),
            // plain names apply where they are searched
            ("plain/skills/a/SKILL.md", None),
            ("repository/skills/a/SKILL.md", Some("repository/skills")),
            ("repository/src/skills/fire.rs", None),
            ("repository/SOUL.md", Some("repository/SOUL.md")),
            ("repository/docs/TOOLS.md", None),
            ("project/skills/a/SKILL.md", Some("project/skills")),
            (
                "project/src/.skills/a/SKILL.md",
                Some("project/src/.skills"),
            ),
            ("project/src/deep/skills/a.rs", None),
            ("home/skills/a/SKILL.md", Some("home/skills")),
            ("home/bin/ls", Some("home/bin")),
            ("plain/bin/ls", None),
            (
                "home/.config/autostart/x.desktop",
                Some("home/.config/autostart"),
            ),
            ("home/.aws/config", Some("home/.aws")),
        ] {
            check(&folder, path, expected);
        }
    }

    #[test]
    fn a_repository_by_any_name_is_protected_and_not_completed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        for place in [
            "bare/objects",
            "bare/refs",
            "half/objects",
            "half/refs",
            "linked",
            "home",
            "project",
        ] {
            fs::create_dir_all(folder.join(place)).unwrap();
        }
        check(&folder, "bare/HEAD", Some("bare"));
        fs::write(folder.join("bare/HEAD"), "").unwrap();
        check(&folder, "bare/config", Some("bare"));
        check(&folder, "bare/hooks/post-update", Some("bare"));
        check(&folder, "half/config", None);
        check(&folder, "half/HEAD", Some("half"));
        check(&folder, "linked/commondir", None);
        fs::write(folder.join("linked/HEAD"), "").unwrap();
        for name in ["commondir", "config.worktree", "gitdir"] {
            let path = format!("linked/{name}");
            check(&folder, &path, Some(&path));
        }
        fs::rename(folder.join("linked/HEAD"), folder.join("linked/commondir")).unwrap();
        check(&folder, "linked/HEAD", Some("linked"));
    }

    #[test]
    fn where_a_link_leads_that_others_obey_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        for place in ["home/dotfiles", "project"] {
            fs::create_dir_all(folder.join(place)).unwrap();
        }
        let target = folder.join("home/dotfiles/bashrc");
        fs::write(&target, "").unwrap();
        std::os::unix::fs::symlink("dotfiles/bashrc", folder.join("home/.bashrc")).unwrap();
        let protection = protection(&folder.join("home"), &folder.join("project"));
        let steps = protection.steps(&protection.known(), &mut Trails::default());
        assert!(steps.contains(&target));
        assert!(steps.contains(&folder.join("home/.bashrc")));
        assert!(!steps.contains(&folder.join("home/dotfiles/notes")));
    }

    #[test]
    fn names_that_differ_in_case_are_one_where_the_folder_ignores_case() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let folds = NameSet::of(&folder) == NameSet::Folded;
        let protection = protection(&folder.join("home"), &folder.join("project"));
        for path in ["claude.md", ".GIT/config", "sub/.Cargo/CONFIG.toml"] {
            let covering = protection.covering(&folder.join(path));
            assert_eq!(covering.is_some(), folds, "{path}");
        }
    }
}
