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

/// The maximum number of watched folders: each one takes a kilobyte of the kernel's memory.
const MAX_FOLDERS: usize = 200_000;

/// The maximum depth below a place.
const MAX_DEPTH: usize = 24;

/// The maximum depth of a folder that belongs to no skill: the deepest one that a list reads by default, and some more.
const MAX_DEPTH_OF_SKILLS: usize = 8;

/// The number of changes that are kept one by one.
const MAX_TOUCHED: usize = 4_096;

/// Folders that are not watched: they hold no skills, or many files that are never listed.
const SKIPPED_FOLDERS: [&str; 2] = [".git", "node_modules"];

/// What happens to a file of records that is written or replaced. SQLite opens its files for writing, and as root sets their owner, when it only
/// reads: those events would make us read the records, and cause the same events again.
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
    round: u64,
}

struct WatchedFolder {
    path: PathBuf,
    /// The entries that matter; `None` for all of them, and for what is below.
    names: Option<BTreeMap<OsString, EntryKind>>,
    /// Whether it is one of the requested places: if it disappears, another folder has to be watched.
    is_place: bool,
    level: FolderLevel,
    /// The last update in which it was requested.
    round: u64,
}

/// The depth of a folder below its watched place.
#[derive(Clone, Copy)]
struct FolderLevel {
    depth: usize,
    /// Whether it belongs to a skill: links in there are not followed.
    in_skill: bool,
}

impl FolderLevel {
    const TOP: Self = Self {
        depth: 0,
        in_skill: false,
    };
    const LAST: Self = Self {
        depth: MAX_DEPTH,
        in_skill: true,
    };

    fn is_last(self) -> bool {
        match self.in_skill {
            true => self.depth >= MAX_DEPTH,
            false => self.depth >= MAX_DEPTH_OF_SKILLS,
        }
    }

    fn below(self, in_skill: bool) -> Self {
        Self {
            depth: self.depth + 1,
            in_skill: self.in_skill || in_skill,
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
        self.folders.retain(|id, folder| {
            let stays = folder.round == round;
            if !stays {
                // It may be gone already.
                inotify::remove_watch(queue.as_fd(), *id).ok();
            }
            stays
        });
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
            false => self.add(real, None, true, FolderLevel::LAST),
        }
    }

    /// Watches the nearest folder above a path for the entry that leads to it.
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
            self.add(folder.clone(), None, is_place, level)?;
            let Some(entries) = fs::read_dir(&folder).ok().filter(|_| !level.is_last()) else {
                continue;
            };
            let entries: Vec<fs::DirEntry> = entries.filter_map(Result::ok).collect();
            let below = level.below(entries.iter().any(is_manifest));
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
    ) -> Result<(), Unwatched> {
        if self.folders.len() >= MAX_FOLDERS {
            return Err(Unwatched::NoMoreWatches);
        }
        let flags = WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MODIFY
            | WatchFlags::MOVE_SELF
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::EXCL_UNLINK
            | WatchFlags::ONLYDIR;
        let id = match inotify::add_watch(&*self.queue, &path, flags) {
            Ok(id) => id,
            Err(Errno::NOSPC) => return Err(Unwatched::NoMoreWatches),
            // It is gone again, or no list can read it either: the folder above it reports when that changes.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return Ok(()),
            Err(error) => {
                let folder = one_line(&path.to_string_lossy());
                return Err(Unwatched::Unreadable(folder, error));
            }
        };
        let round = self.round;
        let folder = self.folders.entry(id).or_insert_with(|| WatchedFolder {
            path: path.clone(),
            names: Some(BTreeMap::new()),
            is_place: false,
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
        Ok(())
    }

    /// The changes since the last call. Folders that appeared are watched when it returns.
    pub(crate) fn look(&mut self) -> (WatchedChanges, Result<(), Unwatched>) {
        let mut changes = WatchedChanges::none();
        let (mut is_moved, mut appeared) = (false, Vec::new());
        let queue = Arc::clone(&self.queue);
        for_each_waiting(queue.as_fd(), |event| {
            let flags = event.events();
            if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                changes = WatchedChanges::anywhere();
                is_moved = true;
                return;
            }
            if flags.contains(ReadFlags::IGNORED) {
                let gone = self.folders.remove(&event.wd());
                is_moved |= gone.is_some_and(|folder| folder.is_place);
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
                    if is_new && !folder.level.is_last() {
                        appeared.push((path.clone(), folder.level.below(false)));
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
        let watched = self.catch_up(is_moved, appeared);
        (changes, watched)
    }

    /// Watches the folders that appeared; all places again if one of them is another folder now.
    fn catch_up(
        &mut self,
        is_moved: bool,
        appeared: Vec<(PathBuf, FolderLevel)>,
    ) -> Result<(), Unwatched> {
        if is_moved {
            return self.follow(self.places.clone());
        }
        let mut seen = HashSet::new();
        for (path, level) in appeared {
            let is_link = path.is_symlink();
            let is_passed_over = SKIPPED_FOLDERS.iter().any(|name| path.ends_with(name));
            if is_passed_over || is_link && level.in_skill {
                continue;
            }
            let real = match is_link {
                true => path.canonicalize().ok(),
                false => Some(path),
            };
            if let Some(real) = real.filter(|real| real.is_dir()) {
                self.walk(real, level, false, &mut seen)?;
            }
        }
        Ok(())
    }
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

/// The folder that an entry is, or leads to.
fn folder_at(entry: &fs::DirEntry, level: FolderLevel) -> Option<PathBuf> {
    let kind = entry.file_type().ok()?;
    if SKIPPED_FOLDERS
        .iter()
        .any(|name| entry.file_name() == *name)
    {
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

/// Whether a folder with this entry is a skill.
fn is_manifest(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let manifests = ["SKILL.md", "SKILL.yaml", "SKILL.yml"];
    manifests.iter().any(|one| name.eq_ignore_ascii_case(one))
}

#[cfg(test)]
mod tests {
    use metier_store::{ReceiptFilter, Store};

    use super::*;

    /// A daemon reads the records whenever they change: if reading were a change, it would never rest.
    #[test]
    fn reading_the_records_is_not_a_change_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("metier.db");
        let kept = Store::open(&path).unwrap();
        kept.trust(folder.path(), "2026-01-01T00:00:00Z").unwrap();
        let mut watched = WatchedFolders::new().unwrap();
        let log = path.with_extension("db-wal");
        let places = WatchedPlaces {
            records: [path.clone(), log.clone()].into(),
            ..WatchedPlaces::default()
        };
        watched.follow(places).unwrap();
        // The calls that SQLite makes to read.
        let file = fs::File::options().write(true).open(&log).unwrap();
        std::os::unix::fs::fchown(&file, None, None).unwrap();
        drop(file);
        let again = Store::open(&path).unwrap();
        again.receipts(ReceiptFilter::default()).unwrap();
        drop(again);
        assert_eq!(watched.look().0, WatchedChanges::none());
        kept.trust(&path, "2026-01-01T00:00:00Z").unwrap();
        assert!(watched.look().0.records);
    }

    /// Where each event that is read causes another one, reading ends nevertheless, and the rest is there the next time.
    #[test]
    fn a_program_that_never_stops_writing_does_not_hold_the_reader() {
        let folder = tempfile::tempdir().unwrap();
        let file = |number: usize| folder.path().join(number.to_string());
        let queue = inotify::init(CreateFlags::NONBLOCK).unwrap();
        inotify::add_watch(&queue, folder.path(), WatchFlags::CREATE).unwrap();
        let mut written = 0;
        let mut write = || {
            fs::write(file(written), "").unwrap();
            written += 1;
        };
        (0..100).for_each(|_| write());
        let mut read = 0;
        for_each_waiting(queue.as_fd(), |_| {
            read += 1;
            assert!(read < 10_000, "it reads for as long as there are events");
            write();
        });
        assert!(read >= 100, "{read}");
        for_each_waiting(queue.as_fd(), |_| read += 1);
        assert_eq!(read, written);
    }
}
