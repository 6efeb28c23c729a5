//! The places that a grant opens for a child, and a folder for its temporary files.

use std::{
    collections::{BTreeMap, HashMap},
    fs, io,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use metier_model::{
    Permission, Scope, Want,
    scope::{Anchor, PathPattern, Reach},
    text::{shell_word, visible},
};

use rustix::fs::{FlockOperation, flock};

use crate::{
    child::{ChildError, watch::remove_tree},
    execution::{ActExecutor, ExecutionError, LIMITS},
    sandbox::{
        DeniedPlaces, Guard, KERNEL, NetworkAccess, PlaceIdentity, Protection, SandboxProfile,
        StandIn, Trails, credential_places, machine_keys,
        place_state::{exactly, identity},
        shown, system_read,
    },
};

/// The folder of devices, and the one in it whose files are kept in memory.
const DEVICES: &str = "/dev";
const IN_MEMORY: &str = "/dev/shm";

/// The kind of program that is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramKind<'a> {
    /// Git, with a command from our own list, in this folder.
    Git(&'a Path),
    /// Any other program.
    Program,
}

/// How many files a pattern is matched against before the match is abandoned.
const MAX_MATCHED: usize = 20_000;
/// How many files are compared with the pattern of a denial, and how many it may name.
const MAX_COMPARED: usize = 100_000;
const MAX_NAMED: usize = 1_000;
/// The folder, below the temporary files, of folders that children only read.
const KEPT: &str = "kept";

/// The folder, below the temporary files, of the lists of places to check after a child.
pub(super) const WATCHED: &str = "watched";
/// Prefix of folders that belong to one activation.
const ROOM: &str = "run-";

/// A folder that is deleted when this value is dropped. Its lock shows that it is still in use.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
    _lock: fs::File,
}

impl ScratchFolder {
    /// A new private folder below this one.
    ///
    /// # Errors
    /// When it can't be created.
    pub fn new(below: &Path) -> Result<Self, ExecutionError> {
        let make = || {
            fs::create_dir_all(below)?;
            // Abandoned folders are removed under the exclusive form of this lock.
            let all = fs::File::open(below)?;
            flock(&all, FlockOperation::LockShared)?;
            let folder = tempfile::Builder::new().prefix(ROOM).tempdir_in(below)?;
            let lock = fs::File::open(folder.path())?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            Ok((folder.keep(), lock))
        };
        let made = make().map_err(|source: io::Error| ExecutionError::File {
            path: below.to_owned(),
            source,
        });
        made.map(|(path, _lock)| Self { path, _lock })
    }

    /// A new private folder for files that children are started with: no child writes there, whatever was granted to it.
    ///
    /// # Errors
    /// When it can't be created.
    pub fn kept(below: &Path) -> Result<Self, ExecutionError> {
        Self::new(&below.join(KEPT))
    }

    /// Path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // A folder that can't be removed now is removed by a later run.
        let _stays = remove(&self.path);
    }
}

/// Removes a folder with its content, whatever a child did to it.
fn remove(folder: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Ok(());
    };
    remove_tree(fs::File::open(parent)?.as_fd(), name)
}

/// Removes the folders of activations that have ended: a killed run removes nothing.
pub(super) fn remove_abandoned(temporary: &Path) {
    for below in [temporary.to_owned(), temporary.join(KEPT)] {
        let Ok(all) = fs::File::open(&below) else {
            continue;
        };
        let entries = fs::read_dir(&below).into_iter().flatten().flatten();
        let is_room = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            name.as_encoded_bytes().starts_with(ROOM.as_bytes())
        };
        let mut rooms = entries.filter(is_room).peekable();
        let is_alone = flock(&all, FlockOperation::NonBlockingLockExclusive).is_ok();
        if rooms.peek().is_none() || !is_alone {
            continue;
        }
        for room in rooms.map(|entry| entry.path()) {
            let lock = fs::File::open(&room);
            let lock = lock.and_then(|lock| {
                flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
                Ok(lock)
            });
            if lock.is_ok() {
                let _tried_again_by_the_next = remove(&room);
            }
        }
    }
}

impl ActExecutor {
    /// The sandbox profile of the grant.
    pub(super) fn profile(&self, runs: ProgramKind<'_>) -> Result<SandboxProfile, ExecutionError> {
        self.check_denials()?;
        let mut read = system_read(&self.path_folders(), self.host.home.as_deref());
        read.extend(self.skill.folder.as_deref().map(Path::to_owned));
        read.extend(self.tool_roots().into_iter().map(|(root, _)| root));
        let mut write = Vec::new();
        let mut identities = BTreeMap::new();
        let mut repositories = Vec::new();
        for want in self.grant.fence() {
            let Scope::Paths(pattern) = want.reach() else {
                continue;
            };
            match want.permission {
                Permission::FileRead => {
                    let places = self.places(&pattern, false)?;
                    read.extend(self.found(&pattern, places, false, &mut identities)?);
                }
                Permission::FileWrite => {
                    let places = self.places(&pattern, true)?;
                    write.extend(self.found(&pattern, places, true, &mut identities)?);
                }
                Permission::GitRead => {
                    let place = self.straight(&pattern)?.into_iter().collect();
                    read.extend(self.found(&pattern, place, false, &mut identities)?);
                }
                Permission::GitWrite => {
                    let place = self.straight(&pattern)?.into_iter().collect();
                    write.extend(self.found(&pattern, place, true, &mut identities)?);
                    repositories.extend(self.repositories(&pattern, runs));
                }
                _ => {}
            }
        }
        // Whether each is a folder was decided earlier: another object may have replaced it.
        let is_folder =
            |path: &&PathBuf| identities.get(*path).is_some_and(|known| known.is_folder);
        let (roots, files) = write.iter().partition::<Vec<_>, _>(is_folder);
        let roots = roots.into_iter().cloned().collect();
        let files = files.into_iter().cloned().collect();
        let (guard, mut protect) = self.guard(roots, files, &repositories, runs);
        protect.extend(self.host.own.to_vec());
        protect.extend(self.refused(Permission::FileWrite));
        write.push(self.scratch.path().to_owned());
        Ok(SandboxProfile {
            read,
            write,
            deny: self.hidden(),
            protect,
            guard: Some(guard),
            rooms: self.rooms(),
            stand_in: self.stand_in()?,
            identities,
            network: if self.reaches_out() {
                NetworkAccess::Proxy
            } else {
                NetworkAccess::None
            },
            limits: LIMITS,
            programs: None,
        })
    }

    /// The repositories that a pattern of `git:write` opens: the one at its fixed part, those below that if the pattern covers
    /// everything there, and the one in which git itself was started.
    fn repositories(&self, pattern: &PathPattern, runs: ProgramKind<'_>) -> Vec<PathBuf> {
        let Some(root) = self.anchored(pattern) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        if pattern.fixed().1 == Reach::Everything {
            found.extend(repositories_below(&root));
            if let ProgramKind::Git(folder) = runs
                && folder.starts_with(&root)
            {
                let is_top = |above: &&Path| above.join(".git").symlink_metadata().is_ok();
                let top = folder.ancestors().find(is_top).unwrap_or(folder);
                found.push(top.to_owned());
            }
        }
        found.push(root);
        found
    }

    /// The rules for protected places in writable folders, and those that are known by name. A repository can be changed if
    /// `git:write` names it, and only by git itself, which we start with a fixed list of commands.
    fn guard(
        &self,
        roots: Vec<PathBuf>,
        files: Vec<PathBuf>,
        repositories: &[PathBuf],
        runs: ProgramKind<'_>,
    ) -> (Guard, Vec<PathBuf>) {
        let folders = repositories.iter().map(|root| root.join(".git"));
        let is_folder = |git: &PathBuf| git.symlink_metadata().is_ok_and(|found| found.is_dir());
        let (open, missing): (Vec<PathBuf>, Vec<PathBuf>) = folders.partition(is_folder);
        let runs_git = matches!(runs, ProgramKind::Git(_));
        let is_new = |git: &PathBuf| runs_git && git.symlink_metadata().is_err();
        let new: Vec<PathBuf> = missing.into_iter().filter(is_new).collect();
        let mut protect = self.protection().around(&roots, &open);
        protect.retain(|place| !new.contains(place));
        let guard = Guard {
            protection: self.protection().clone(),
            roots,
            files,
            open,
            closed: new.into_iter().chain(self.rooms()).collect(),
        };
        (guard, protect)
    }

    /// The protected places for this skill.
    pub(super) fn protection(&self) -> &Protection {
        self.protection.get_or_init(|| {
            let terms = self.grant.terms();
            let mut obeyed = self.host.obeyed.to_vec();
            let path = self.host.path.as_deref().unwrap_or_default();
            obeyed.extend(std::env::split_paths(path).map(|folder| self.host.work.join(folder)));
            Protection::new(
                self.host.home.as_deref(),
                &self.host.work,
                &terms.project,
                &obeyed,
            )
        })
    }

    /// The folder that children see in place of the skill's folder.
    fn stand_in(&self) -> Result<Option<StandIn>, ExecutionError> {
        let (skill, copy) = (self.skill.folder.as_deref(), self.copy()?);
        Ok(skill.zip(copy).map(|(skill, copy)| StandIn {
            at: skill.to_owned(),
            copy: copy.to_owned(),
        }))
    }

    /// The skill's scanned files, copied once; `None` for a built-in skill. Without them no child is started: the folder itself may
    /// have changed by now.
    pub(super) fn copy(&self) -> Result<Option<&Path>, ExecutionError> {
        if self.skill.folder.is_none() {
            return Ok(None);
        }
        if let Some(copy) = self.copy.get() {
            return Ok(Some(copy.path()));
        }
        let copy = ScratchFolder::kept(&self.host.temporary)?;
        let folder = fs::File::open(copy.path()).map_err(|source| ExecutionError::File {
            path: copy.path().to_owned(),
            source,
        })?;
        (self.skill.write_files)(folder.as_fd())?;
        Ok(Some(self.copy.get_or_init(|| copy).path()))
    }

    /// Git's files at the top of the skill's folder. They are in no digest, so the skill can't open them in any way.
    pub(super) fn unjudged(&self) -> Option<PathBuf> {
        self.skill.folder.as_deref().map(|skill| skill.join(".git"))
    }

    /// The places that no permission makes readable.
    pub(super) fn denied(&self) -> Vec<PathBuf> {
        let kernel = self.kernel_places();
        let secret = self.secret().into_iter().chain(self.rooms()).chain(kernel);
        self.protection()
            .mounts()
            .with_other_names(secret.collect())
    }

    /// [`Self::denied`], to compare paths with.
    pub(super) fn never_read(&self) -> DeniedPlaces {
        DeniedPlaces::new(self.denied())
    }

    /// [`Self::denied`] for a child, which has its own temporary folder and sees its own processes.
    pub(super) fn hidden(&self) -> Vec<PathBuf> {
        let is_elsewhere = |place: &PathBuf| !KERNEL.iter().any(|known| place.starts_with(known));
        let kernel = self.kernel_places().into_iter().filter(is_elsewhere);
        let mounts = self.protection().mounts();
        let rooms = self.rooms().into_iter();
        let rooms = rooms.flat_map(|rooms| mounts.other_names(&rooms));
        let secret = self.secret().into_iter().chain(kernel).chain(rooms);
        mounts.with_other_names(secret.collect())
    }

    /// The file systems in which the kernel shows processes, memory and devices. Where the project, the home or the temporary files are
    /// in memory, these are all entries of `/dev` but that one.
    fn kernel_places(&self) -> Vec<PathBuf> {
        let terms = self.grant.terms();
        let mut places = self.protection().mounts().kernel_places();
        let in_memory = |path: &Path| path.starts_with(IN_MEMORY);
        let home = terms.home.as_deref().is_some_and(in_memory);
        let is_used = home || in_memory(&terms.project) || in_memory(&self.host.temporary);
        // If it can't be listed, all of it stays closed.
        if let Some(listed) = fs::read_dir(DEVICES).ok().filter(|_| is_used) {
            places.retain(|place| place != Path::new(DEVICES));
            let entries = listed.flatten().map(|entry| entry.path());
            places.extend(entries.filter(|path| path != Path::new(IN_MEMORY)));
        }
        places
    }

    /// The folder of all temporary files: each entry belongs to one activation, and is hidden from the others.
    pub(super) fn rooms(&self) -> Option<PathBuf> {
        self.host.temporary.canonicalize().ok()
    }

    /// Keys, our own state, files in no digest, and places that the user denied; by name, and by the targets of those names.
    fn secret(&self) -> Vec<PathBuf> {
        let keys = self
            .host
            .home
            .as_deref()
            .map(credential_places)
            .unwrap_or_default();
        let mut places: Vec<PathBuf> = keys
            .into_iter()
            .chain(machine_keys())
            .chain(self.host.own.to_vec())
            .chain(self.unjudged())
            .chain(self.refused(Permission::FileRead))
            .collect();
        let mut trails = Trails::default();
        let end = |place: &PathBuf| Some(trails.of(place).end).filter(|end| end != place);
        let ends: Vec<PathBuf> = places.iter().filter_map(end).collect();
        places.extend(ends);
        places
    }

    /// Places that the user denied within allowed ones. A denied file can't be read if it exists now, so a pattern becomes the files that
    /// it names. Nor can it be made, so for writing a pattern becomes its whole folder.
    pub(super) fn refused(&self, permission: Permission) -> Vec<PathBuf> {
        let denied = self.grant.denied().iter();
        let denied = denied.filter(|want| want.permission == permission);
        let places = denied.filter_map(|want: &Want| match want.reach() {
            Scope::Paths(pattern) => {
                let folder = self.anchored(&pattern)?;
                let names_files = permission == Permission::FileRead && is_selective(&pattern);
                let named = names_files.then(|| named_by(&pattern, &folder)).flatten();
                Some(named.unwrap_or_else(|| vec![folder]))
            }
            _ => None,
        });
        places.flatten().collect()
    }

    /// Refuses a denial by a pattern that can't be enforced for a child.
    fn check_denials(&self) -> Result<(), ExecutionError> {
        let is_written = |folder: &Path| {
            self.grant.fence().any(|want| match want.reach() {
                Scope::Paths(pattern) if want.permission == Permission::FileWrite => self
                    .anchored(&pattern)
                    .is_some_and(|place| place.starts_with(folder)),
                _ => false,
            })
        };
        for want in self.grant.denied() {
            let Scope::Paths(pattern) = want.reach() else {
                continue;
            };
            let Some(folder) = self.anchored(&pattern).filter(|_| is_selective(&pattern)) else {
                continue;
            };
            let why = match want.permission {
                Permission::FileRead if named_by(&pattern, &folder).is_none() => {
                    "too many files would have to be compared with it"
                }
                Permission::FileWrite if is_written(&folder) => {
                    "it can name new files in a folder that the program may write"
                }
                _ => continue,
            };
            let denial = want.to_string();
            return Err(ExecutionError::Denial {
                lift: format!(
                    "metier permissions {} --revoke {}",
                    shell_word(&self.grant.identity().skill),
                    shell_word(&visible(&denial)),
                ),
                denial: visible(&denial).into_owned(),
                why,
            });
        }
        Ok(())
    }

    /// Whether it is the project, the home, or below one of them.
    fn is_users(&self, path: &Path) -> bool {
        let terms = self.grant.terms();
        let home = terms.home.as_ref();
        path.starts_with(&terms.project) || home.is_some_and(|home| path.starts_with(home))
    }

    /// The fixed part of a pattern, if it contains no link: the user approved the name, and a skill or a project could
    /// make a link point anywhere. Links above the project and the home are the user's own; no child creates one in `/` itself.
    pub(super) fn straight(
        &self,
        pattern: &PathPattern,
    ) -> Result<Option<PathBuf>, ExecutionError> {
        let Some(path) = self.anchored(pattern) else {
            return Ok(None);
        };
        let is_link = |step: &&Path| self.is_step(pattern, &path, step) && step.is_symlink();
        match path.ancestors().find(is_link) {
            Some(link) => Err(ExecutionError::Link(link.to_owned())),
            None => Ok(Some(path)),
        }
    }

    /// Whether the user was asked about this part of a path, so that it must not be a link.
    fn is_step(&self, pattern: &PathPattern, path: &Path, step: &Path) -> bool {
        let names_all = pattern.anchor() == Anchor::Root && !self.is_users(path);
        let is_in_root = step.parent().is_some_and(|above| above.parent().is_none());
        self.is_users(step) || (names_all && !is_in_root)
    }

    /// The places of a pattern, without links, and their identities. All later steps use this one result: a
    /// link that appears later, or another folder under the same name, is refused. A missing place can't be written, and is not read.
    pub(super) fn found(
        &self,
        pattern: &PathPattern,
        places: Vec<PathBuf>,
        to_write: bool,
        identities: &mut BTreeMap<PathBuf, PlaceIdentity>,
    ) -> Result<Vec<PathBuf>, ExecutionError> {
        let mut found = Vec::with_capacity(places.len());
        let mut roots = HashMap::new();
        for place in places {
            let look = self.real(pattern, &place, &mut roots).and_then(|path| {
                let known = identity(exactly(&path)?)?;
                Ok((path, known))
            });
            match look {
                Ok((path, known)) => {
                    identities.insert(path.clone(), known);
                    found.push(path);
                }
                Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                    return Err(ChildError::Replaced(shown(&place)).into());
                }
                Err(source) if to_write => {
                    return Err(ExecutionError::File {
                        path: place,
                        source,
                    });
                }
                Err(_missing) => {}
            }
        }
        Ok(found)
    }

    /// A place with the user's own links above it resolved. `roots` contains the links that were met before.
    fn real(
        &self,
        pattern: &PathPattern,
        place: &Path,
        roots: &mut HashMap<PathBuf, PathBuf>,
    ) -> io::Result<PathBuf> {
        let mut above = place.ancestors();
        let above = above.find(|step| !self.is_step(pattern, place, step));
        let Some(above) = above else {
            return Ok(place.to_owned());
        };
        let real = match roots.get(above) {
            Some(real) => real.clone(),
            None => above.canonicalize()?,
        };
        roots.insert(above.to_owned(), real.clone());
        let inner = place.strip_prefix(above).unwrap_or(Path::new(""));
        Ok(real.iter().chain(inner).collect())
    }

    /// The fixed part of a pattern on this machine.
    pub(super) fn anchored(&self, pattern: &PathPattern) -> Option<PathBuf> {
        let terms = self.grant.terms();
        let anchor = match pattern.anchor() {
            Anchor::Project => terms.project.as_path(),
            Anchor::Home => terms.home.as_deref()?,
            Anchor::Root => Path::new("/"),
        };
        let (names, _) = pattern.fixed();
        let mut path = anchor.to_owned();
        path.extend(names);
        Some(path)
    }

    /// The files and folders that a pattern opens for a child. A missing folder that the child may write is created; a pattern with
    /// wildcards opens the files that match now.
    pub(super) fn places(
        &self,
        pattern: &PathPattern,
        to_write: bool,
    ) -> Result<Vec<PathBuf>, ExecutionError> {
        let Some(base) = self.anchored(pattern) else {
            return Ok(Vec::new());
        };
        let never = || ExecutionError::Never {
            path: base.clone(),
            what: if to_write { "written" } else { "read" },
        };
        let closed = self.rooms().into_iter().chain(self.kernel_places());
        let mounts = self.protection().mounts();
        let closed = mounts.with_other_names(closed.collect());
        let is_kernel = KERNEL.iter().any(|place| base == Path::new(place));
        if is_kernel || closed.iter().any(|place| base.starts_with(place)) {
            return Err(never());
        }
        self.straight(pattern)?;
        // Missing folders are created below.
        let is_closed = |base: &Path| match base.exists() {
            true => Ok(self.is_protected(base)),
            false => self.is_untouchable(base),
        };
        if to_write && is_closed(&base)? {
            return Err(never());
        }
        let failed = |source: io::Error| ExecutionError::File {
            path: base.clone(),
            source,
        };
        let (names, reach) = pattern.fixed();
        match reach {
            Reach::Everything => {
                if to_write && !base.exists() {
                    fs::create_dir_all(&base).map_err(failed)?;
                }
                without_kernel(base)
            }
            Reach::Exactly if base.is_file() || (!to_write && base.is_dir()) => Ok(vec![base]),
            Reach::Exactly if to_write && !base.exists() => {
                fs::File::create_new(&base).map_err(failed)?;
                Ok(vec![base])
            }
            Reach::Exactly => Ok(Vec::new()),
            Reach::Some => {
                let mut found = Vec::new();
                let mut left = MAX_MATCHED;
                let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
                let never = self.never_read();
                collect(&base, &names, pattern, &never, &mut left, &mut found);
                if to_write {
                    found.retain(|path| self.protection().covering(path).is_none());
                }
                Ok(found)
            }
        }
    }
}

/// The root of the machine is opened without the file systems that the kernel shows there.
fn without_kernel(base: PathBuf) -> Result<Vec<PathBuf>, ExecutionError> {
    if base.parent().is_some() {
        return Ok(vec![base]);
    }
    let failed = |source| ExecutionError::File {
        path: base.clone(),
        source,
    };
    let entries = fs::read_dir(&base).map_err(failed)?.flatten();
    // The target of a link is opened by its own name.
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    let entries = entries.map(|entry| entry.path());
    Ok(entries
        .filter(|path| !KERNEL.iter().any(|place| path == Path::new(place)))
        .collect())
}

/// Repositories inside a folder. The search skips folders that rarely contain any, and stops after a number of entries.
fn repositories_below(root: &Path) -> Vec<PathBuf> {
    const DEEPEST: usize = 4;
    const MOST_ENTRIES: usize = 5_000;
    const MOST: usize = 32;
    let mut found = Vec::new();
    let mut left = MOST_ENTRIES;
    let mut open = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if left == 0 || found.len() == MOST {
                return found;
            }
            left -= 1;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name();
            if name == ".git" {
                found.push(folder.clone());
            } else if is_folder && depth < DEEPEST && name != "node_modules" && name != "target" {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    found
}

/// Whether a pattern names some of the files in its folder.
fn is_selective(pattern: &PathPattern) -> bool {
    pattern.fixed().1 == Reach::Some
}

/// The existing files and folders that the pattern of a denial names. `None` if there are too many to compare.
fn named_by(pattern: &PathPattern, folder: &Path) -> Option<Vec<PathBuf>> {
    let text = pattern.to_string();
    let deepest = match text.contains("**") {
        true => usize::MAX,
        false => text.matches('/').count(),
    };
    let names = pattern.fixed().0.into_iter().map(str::to_owned);
    let mut open = vec![(folder.to_owned(), names.collect::<Vec<String>>())];
    let (mut named, mut left) = (Vec::new(), MAX_COMPARED);
    while let Some((folder, mut names)) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                // A child could make a folder readable that we can't read.
                let is_folder = error.kind() == io::ErrorKind::PermissionDenied;
                named.extend(is_folder.then_some(folder));
                continue;
            }
        };
        for entry in entries.flatten() {
            left = left.checked_sub(1)?;
            names.push(entry.file_name().to_string_lossy().into_owned());
            let all: Vec<&str> = names.iter().map(String::as_str).collect();
            if pattern.matches(&all) {
                named.push(entry.path());
            } else if names.len() < deepest && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push((entry.path(), names.clone()));
            }
            names.pop();
        }
    }
    (named.len() <= MAX_NAMED).then_some(named)
}

/// All files below a folder whose names match, without following links.
fn collect(
    folder: &Path,
    names: &[String],
    pattern: &PathPattern,
    never: &DeniedPlaces,
    left: &mut usize,
    found: &mut Vec<PathBuf>,
) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
            continue;
        };
        let mut names = names.to_vec();
        names.push(name);
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        if kind.is_file() && pattern.matches(&all) {
            found.push(entry.path());
        } else if kind.is_dir() && !never.cover(&entry.path()) {
            collect(&entry.path(), &names, pattern, never, left, found);
        }
    }
}
