//! The folders whose changes the system reports to metier.
//!
//! **Problem.** A list that is kept has to be dropped the moment a file below it changes, and asking must cost next to nothing. A library that
//! reports events from its own thread is late by a moment, and one that also reports *opened* files reports our own listing: ten thousand
//! skills overflow the kernel's queue with it. **Decision.** The queue of inotify is read at the call, which is one system call, with a mask that
//! leaves reading out. An event does not show what changed; it only means that the skills have to be listed again.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ffi::{OsStr, OsString},
    fs,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{ffi::OsStrExt, fs::MetadataExt},
    },
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::inotify::{self, CreateFlags, Event, ReadFlags, WatchFlags},
    io::{Errno, ioctl_fionread},
};

use crate::text::one_line;

/// The maximum number of watched folders and files: each one takes a kilobyte of the kernel's memory, and the programs of one user share as
/// few as one per hundred kilobytes of the machine's memory.
const MAX_WATCHES: usize = 65_536;

/// The maximum depth below the folder of a skill: a deeper folder is an error of the digest (`skill_files.rs` of the catalog).
const MAX_DEPTH: usize = 64;

/// The maximum depth of a folder that belongs to no skill: the deepest one that a list reads by default, and some more.
const MAX_DEPTH_OF_SKILLS: usize = 8;

/// The number of changes that are kept one by one.
const MAX_TOUCHED: usize = 4_096;

/// Folders outside skills that are not watched: they hold no skills, or many files that are never listed. In a skill only a `.git` at the top
/// is left out: the digest covers everything else.
const SKIPPED_FOLDERS: [&str; 2] = [GIT, "node_modules"];
const GIT: &str = ".git";

/// The events of a file of records that is written or replaced. SQLite opens its files for writing, and as root sets their owner, when it
/// only reads: those events would make us read the records, and cause the same events again.
const WRITTEN: ReadFlags = ReadFlags::MODIFY
    .union(ReadFlags::CREATE)
    .union(ReadFlags::DELETE)
    .union(ReadFlags::MOVED_FROM)
    .union(ReadFlags::MOVED_TO);

/// Files and folders whose changes matter, whether they exist or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WatchedPlaces {
    /// Folders, with everything below them, and files.
    pub(crate) whole: BTreeSet<PathBuf>,
    /// Folders of which only the entries matter.
    pub(crate) flat: BTreeSet<PathBuf>,
    /// Files of records: other processes and we ourselves write to them for many reasons.
    pub(crate) records: BTreeSet<PathBuf>,
}

/// The changes since the last call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WatchedChanges {
    /// Whether something changed that a list depends on.
    pub(crate) any: bool,
    /// Whether a file of records was written.
    pub(crate) records: bool,
    /// The files and folders that changed, without links; `None` if they are not known.
    pub(crate) touched: Option<BTreeSet<PathBuf>>,
}

impl WatchedChanges {
    /// Changes anywhere.
    pub(crate) fn anywhere() -> Self {
        Self {
            any: true,
            records: true,
            touched: None,
        }
    }

    /// Adds later ones.
    pub(crate) fn add(&mut self, later: Self) {
        self.any |= later.any;
        self.records |= later.records;
        self.touched = match (self.touched.take(), later.touched) {
            (Some(mut all), Some(more)) if all.len() + more.len() <= MAX_TOUCHED => {
                all.extend(more);
                Some(all)
            }
            _ => None,
        };
    }

    /// No changes.
    pub(crate) fn none() -> Self {
        Self {
            touched: Some(BTreeSet::new()),
            ..Self::default()
        }
    }

    /// Whether something changed at a path or below it.
    pub(crate) fn touches(&self, path: &Path) -> bool {
        let Some(touched) = &self.touched else {
            return true;
        };
        let mut from_here = touched.range(path.to_owned()..);
        from_here.next().is_some_and(|one| one.starts_with(path))
    }

    fn touch(&mut self, path: PathBuf) {
        self.any = true;
        self.touched.take_if(|all| all.len() >= MAX_TOUCHED);
        if let Some(all) = &mut self.touched {
            all.insert(path);
        }
    }
}

/// Why changes of some folders are not reported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unwatched {
    /// The user has used up the watches of the system.
    #[error("out of inotify watches (`fs.inotify.max_user_watches`)")]
    NoMoreWatches,
    /// The skills would take too many of them.
    #[error("the skills contain more than {MAX_WATCHES} folders and files")]
    TooMany,
    /// The user has used up the queues of the system.
    #[error("the system has no more queues for watches (`fs.inotify.max_user_instances`)")]
    NoMoreQueues,
    /// A folder can't be watched.
    #[error("`{0}` can't be watched: {1}")]
    Unreadable(String, Errno),
}

/// The watched folders. Dropping it ends the watch.
pub(crate) struct WatchedFolders {
    queue: Arc<OwnedFd>,
    places: WatchedPlaces,
    folders: HashMap<i32, WatchedFolder>,
    files: HashMap<i32, WatchedFile>,
    max_watches: usize,
    round: u64,
}

/// A file of a skill. Its folder reports what happens to it by its own name; it may have other names, or get them at any time.
struct WatchedFile {
    path: PathBuf,
    /// Whether it has other names, perhaps in other skills.
    is_shared: bool,
    round: u64,
}

struct WatchedFolder {
    path: PathBuf,
    /// The entries that matter; `None` for all of them, and for what is below.
    names: Option<BTreeMap<OsString, EntryKind>>,
    /// Whether it is one of the requested places: if it disappears, another folder has to be watched.
    is_place: bool,
    /// Whether it contains a manifest.
    is_skill: bool,
    level: FolderLevel,
    /// The last update in which it was requested.
    round: u64,
}

/// The position of a folder: below its place, or below the folder of its skill.
#[derive(Clone, Copy)]
struct FolderLevel {
    depth: usize,
    /// Whether it belongs to a skill: links in there are not followed.
    in_skill: bool,
    /// Whether the folder above it is that of a skill, and is in no other skill.
    is_top_of_skill: bool,
}

impl FolderLevel {
    const TOP: Self = Self {
        depth: 0,
        in_skill: false,
        is_top_of_skill: false,
    };
    const LAST: Self = Self {
        depth: MAX_DEPTH,
        in_skill: true,
        is_top_of_skill: false,
    };

    fn is_last(self) -> bool {
        match self.in_skill {
            true => self.depth >= MAX_DEPTH,
            false => self.depth >= MAX_DEPTH_OF_SKILLS,
        }
    }

    /// The level of the folders in a folder, which is that of a skill or not.
    fn below(self, is_skill: bool) -> Self {
        Self {
            depth: if is_skill { 1 } else { self.depth + 1 },
            in_skill: self.in_skill || is_skill,
            is_top_of_skill: is_skill && !self.in_skill,
        }
    }

    /// Whether a folder of this level and name is not watched.
    fn skips(self, name: &OsStr) -> bool {
        match self.in_skill {
            true => self.is_top_of_skill && name == GIT,
            false => SKIPPED_FOLDERS.iter().any(|skipped| name == *skipped),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    /// A place, or a folder above one that does not exist.
    Place,
    /// A file of records.
    Record,
}

impl WatchedFolders {
    /// Opens a queue of events of the system. No folder is watched yet.
    pub(crate) fn new() -> Result<Self, Unwatched> {
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        let queue = inotify::init(flags).map_err(|_| Unwatched::NoMoreQueues)?;
        Ok(Self {
            queue: Arc::new(queue),
            places: WatchedPlaces::default(),
            folders: HashMap::new(),
            files: HashMap::new(),
            max_watches: MAX_WATCHES,
            round: 0,
        })
    }

    /// The queue of events, which becomes readable when there are changes.
    pub(crate) fn queue(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.queue)
    }

    /// The number of watched folders.
    pub(crate) fn count(&self) -> usize {
        self.folders.len()
    }

    /// Whether these are the places that are watched.
    pub(crate) fn has(&self, places: &WatchedPlaces) -> bool {
        self.places == *places
    }

    /// Watches these places and nothing else. For one that does not exist, the nearest folder above it that does is watched.
    pub(crate) fn follow(&mut self, places: WatchedPlaces) -> Result<(), Unwatched> {
        self.places = places;
        self.round += 1;
        let mut seen = HashSet::new();
        let places = self.places.clone();
        let mut done = Ok(());
        for place in &places.whole {
            done = done.and(self.follow_place(place, true, &mut seen));
        }
        for place in &places.flat {
            done = done.and(self.follow_place(place, false, &mut seen));
        }
        for file in &places.records {
            done = done.and(self.follow_entry(file, EntryKind::Record));
        }
        let round = self.round;
        let queue = Arc::clone(&self.queue);
        let stays = |id: &i32, last: u64| {
            if last != round {
                unwatch(&queue, *id);
            }
            last == round
        };
        self.folders.retain(|id, folder| stays(id, folder.round));
        self.files.retain(|id, file| stays(id, file.round));
        done
    }

    fn follow_place(
        &mut self,
        place: &Path,
        is_whole: bool,
        seen: &mut HashSet<(u64, u64)>,
    ) -> Result<(), Unwatched> {
        let is_folder = place.is_dir();
        if !is_folder || place.is_symlink() {
            // The file, the link, or the missing name, is an entry of a folder above it.
            self.follow_entry(place, EntryKind::Place)?;
        }
        let Some(real) = place.canonicalize().ok().filter(|_| is_folder) else {
            return Ok(());
        };
        match is_whole {
            true => self.walk(real, FolderLevel::TOP, true, seen),
            false => self.add(real, None, true, FolderLevel::LAST).map(drop),
        }
    }

    /// Watches the nearest folder above a path for the entry that belongs to it.
    fn follow_entry(&mut self, path: &Path, kind: EntryKind) -> Result<(), Unwatched> {
        let mut upwards = path.ancestors().skip(1);
        let Some(there) = upwards.find(|folder| folder.is_dir()) else {
            return Ok(());
        };
        // If a folder above it appears, it has to be watched then, whatever its purpose.
        let kind = match path.parent() == Some(there) {
            true => kind,
            false => EntryKind::Place,
        };
        let below = path.strip_prefix(there).ok();
        let name = below.and_then(|below| below.components().next());
        let (Some(name), Ok(real)) = (name, there.canonicalize()) else {
            return Ok(());
        };
        self.add(
            real,
            Some((name.as_os_str(), kind)),
            false,
            FolderLevel::LAST,
        )
        .map(drop)
    }

    /// Watches a folder and everything below it, each folder once. Links are followed as lists follow them: not in a skill.
    fn walk(
        &mut self,
        top: PathBuf,
        level: FolderLevel,
        is_place: bool,
        seen: &mut HashSet<(u64, u64)>,
    ) -> Result<(), Unwatched> {
        let mut left = vec![(top, level, is_place)];
        while let Some((folder, level, is_place)) = left.pop() {
            let Ok(state) = fs::metadata(&folder) else {
                continue;
            };
            if !seen.insert((state.dev(), state.ino())) {
                continue;
            }
            // First the watch, then the list: an entry that appears in between is reported.
            let id = self.add(folder.clone(), None, is_place, level)?;
            let Some(entries) = fs::read_dir(&folder).ok().filter(|_| !level.is_last()) else {
                continue;
            };
            let entries: Vec<fs::DirEntry> = entries.filter_map(Result::ok).collect();
            let is_skill = entries.iter().any(|entry| is_manifest(&entry.file_name()));
            let below = level.below(is_skill);
            if let Some(watched) = id.and_then(|id| self.folders.get_mut(&id)) {
                watched.is_skill = is_skill;
            }
            for entry in entries.iter().filter(|_| below.in_skill) {
                if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                    self.add_file(entry.path())?;
                }
            }
            let inner = entries.iter().filter_map(|entry| folder_at(entry, below));
            left.extend(inner.map(|inner| (inner, below, false)));
        }
        Ok(())
    }

    fn add(
        &mut self,
        path: PathBuf,
        entry: Option<(&OsStr, EntryKind)>,
        is_place: bool,
        level: FolderLevel,
    ) -> Result<Option<i32>, Unwatched> {
        let Some(id) = watch(&self.queue, &path, IN_FOLDER)? else {
            return Ok(None);
        };
        let round = self.round;
        let folder = self.folders.entry(id).or_insert_with(|| WatchedFolder {
            path: path.clone(),
            names: Some(BTreeMap::new()),
            is_place: false,
            is_skill: false,
            level,
            round: 0,
        });
        if folder.round != round {
            folder.names = Some(BTreeMap::new());
            folder.is_place = false;
        }
        folder.path = path;
        folder.round = round;
        folder.is_place |= is_place;
        match (entry, &mut folder.names) {
            (None, names) => {
                *names = None;
                folder.level = level;
            }
            (Some((name, kind)), Some(names)) => {
                names.insert(name.to_owned(), kind);
            }
            // Every entry matters already.
            (Some(_), None) => {}
        }
        self.check_number()?;
        Ok(Some(id))
    }

    fn check_number(&self) -> Result<(), Unwatched> {
        let is_within = self.folders.len() + self.files.len() <= self.max_watches;
        is_within.then_some(()).ok_or(Unwatched::TooMany)
    }

    /// Watches a file of a skill by itself: written under another name, it causes no event in its folder.
    fn add_file(&mut self, path: PathBuf) -> Result<Option<i32>, Unwatched> {
        let Ok(state) = path.symlink_metadata() else {
            return Ok(None);
        };
        if !state.is_file() {
            return Ok(None);
        }
        let id = watch(&self.queue, &path, IN_FILE)?;
        if let Some(id) = id {
            let file = WatchedFile {
                path,
                is_shared: state.nlink() > 1,
                round: self.round,
            };
            self.files.insert(id, file);
            self.check_number()?;
        }
        Ok(id)
    }

    /// The changes since the last call. Folders that appeared are watched when it returns.
    pub(crate) fn look(&mut self) -> (WatchedChanges, Result<(), Unwatched>) {
        let mut changes = WatchedChanges::none();
        let (mut is_moved, mut appeared, mut renamed) = (false, Vec::new(), BTreeSet::new());
        let queue = Arc::clone(&self.queue);
        for_each_waiting(queue.as_fd(), |event| {
            let flags = event.events();
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                changes = WatchedChanges::anywhere();
                is_moved = true;
                return;
            }
            if flags.contains(ReadFlags::IGNORED) {
                self.files.remove(&event.wd());
                let gone = self.folders.remove(&event.wd());
                is_moved |= gone.is_some_and(|folder| folder.is_place);
                return;
            }
            if let Some(file) = self.files.get(&event.wd()) {
                changes.touch(file.path.clone());
                if file.is_shared {
                    // Its other names can be in other skills.
                    changes.touched = None;
                }
                if flags.intersects(ReadFlags::ATTRIB | ReadFlags::MOVE_SELF) {
                    renamed.insert(event.wd());
                }
                return;
            }
            let Some(folder) = self.folders.get(&event.wd()) else {
                return;
            };
            let name = event
                .file_name()
                .map(|name| OsStr::from_bytes(name.to_bytes()));
            let is_new = flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
            match (&folder.names, name) {
                (Some(names), Some(name)) => match names.get(name) {
                    Some(EntryKind::Place) => {
                        changes.touch(folder.path.join(name));
                        is_moved = true;
                    }
                    Some(EntryKind::Record) => changes.records |= flags.intersects(WRITTEN),
                    None => {}
                },
                (None, Some(name)) => {
                    let path = folder.path.join(name);
                    let came_or_went = flags.intersects(
                        ReadFlags::CREATE
                            | ReadFlags::DELETE
                            | ReadFlags::MOVED_FROM
                            | ReadFlags::MOVED_TO,
                    );
                    if came_or_went && is_manifest(name) && !folder.level.in_skill {
                        // The folder became that of a skill, or no longer is: other folders in it matter now.
                        appeared.push((folder.path.clone(), folder.level));
                    } else if is_new && !folder.level.is_last() {
                        appeared.push((path.clone(), folder.level.below(folder.is_skill)));
                    }
                    changes.touch(path);
                }
                (_, None) => {
                    let is_gone = flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF);
                    is_moved |= is_gone && folder.is_place;
                    if folder.names.is_none() {
                        changes.touch(folder.path.clone());
                    }
                }
            }
        });
        let watched = self.catch_up(is_moved, appeared, &renamed);
        (changes, watched)
    }

    /// Watches the folders and files that appeared; all places again if one of them is another folder now. Looks again at files that got or
    /// lost a name.
    fn catch_up(
        &mut self,
        is_moved: bool,
        appeared: Vec<(PathBuf, FolderLevel)>,
        renamed: &BTreeSet<i32>,
    ) -> Result<(), Unwatched> {
        if is_moved {
            return self.follow(self.places.clone());
        }
        let mut seen = HashSet::new();
        for (path, level) in appeared {
            let is_link = path.is_symlink();
            let is_passed_over = path.file_name().is_some_and(|name| level.skips(name));
            if is_passed_over || is_link && level.in_skill {
                continue;
            }
            let real = match is_link {
                true => path.canonicalize().ok(),
                false => Some(path),
            };
            let Some(real) = real else { continue };
            if real.is_dir() {
                self.walk(real, level, false, &mut seen)?;
            } else if level.in_skill {
                self.add_file(real)?;
            }
        }
        for id in renamed {
            let Some(WatchedFile {
                path, is_shared, ..
            }) = self.files.get(id)
            else {
                continue;
            };
            let (path, was_shared) = (path.clone(), *is_shared);
            // The watch of a shared file stays: its other names may be in skills.
            if self.add_file(path)? != Some(*id) && !was_shared {
                self.files.remove(id);
                unwatch(&self.queue, *id);
            }
        }
        Ok(())
    }
}

/// Changes of a folder and of what is in it.
const IN_FOLDER: WatchFlags = IN_FILE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::EXCL_UNLINK)
    .union(WatchFlags::ONLYDIR);

/// Changes of one file.
const IN_FILE: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::DONT_FOLLOW);

/// Watches a path. `None` if it is gone again, or if no list can read it either: the folder above it reports when that changes.
fn watch(queue: &OwnedFd, path: &Path, flags: WatchFlags) -> Result<Option<i32>, Unwatched> {
    match inotify::add_watch(queue, path, flags) {
        Ok(id) => Ok(Some(id)),
        Err(Errno::NOSPC) => Err(Unwatched::NoMoreWatches),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => Ok(None),
        Err(error) => {
            let path = one_line(&path.to_string_lossy());
            Err(Unwatched::Unreadable(path, error))
        }
    }
}

/// Ends a watch, which may have ended already.
fn unwatch(queue: &OwnedFd, id: i32) {
    inotify::remove_watch(queue.as_fd(), id).ok();
}

/// The size of the smallest event in the queue.
const SMALLEST_EVENT: u64 = 16;

/// Calls a function with each event that is in the queue now. Later ones may wait: a program that writes as fast as events are read
/// would otherwise hold the list for as long as it likes.
fn for_each_waiting(queue: BorrowedFd<'_>, mut call: impl FnMut(&Event<'_>)) {
    let Ok(waiting) = ioctl_fionread(queue) else {
        return;
    };
    let mut left = waiting / SMALLEST_EVENT;
    let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
    let mut reader = inotify::Reader::new(queue, &mut buffer);
    // Data that was read into the buffer is no longer in the queue.
    while left > 0 || !reader.is_buffer_empty() {
        let Ok(event) = reader.next() else {
            break;
        };
        left = left.saturating_sub(1);
        call(&event);
    }
}

/// The folder that an entry is, or points to.
fn folder_at(entry: &fs::DirEntry, level: FolderLevel) -> Option<PathBuf> {
    let kind = entry.file_type().ok()?;
    if level.skips(&entry.file_name()) {
        return None;
    }
    match kind.is_symlink() {
        false => kind.is_dir().then(|| entry.path()),
        true if level.in_skill => None,
        true => {
            let real = entry.path().canonicalize().ok()?;
            real.is_dir().then_some(real)
        }
    }
}

/// Whether a folder with an entry with this name is a skill.
fn is_manifest(name: &OsStr) -> bool {
    let manifests = ["SKILL.md", "SKILL.yaml", "SKILL.yml"];
    manifests.iter().any(|one| name.eq_ignore_ascii_case(one))
}

#[cfg(test)]
#[path = "watched_folders_tests.rs"]
mod tests;
