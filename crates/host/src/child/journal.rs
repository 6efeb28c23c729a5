//! The list of watched places on disk: if a run is killed, the next run reads it.
//!
//! **Problem.** This program removes what a child creates in a missing protected place, after the child has ended. A program that is
//! killed, or that a skill makes crash, removes nothing.
//!
//! **Decision.** Before the child starts, the list is written into its own file, in a folder that no child sees. This program and
//! the launcher hold a lock on it. The file is deleted when its places were restored; a file without a lock was left by a killed
//! run, and the next start restores its places. The launcher writes the end of the child into it, so that the next start does not
//! touch what the user has created since.
//!
//! The lists of active runs contain what their children may have created. A run that starts meanwhile does not treat these files as
//! files that existed before ([`OtherRuns`]).

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock, fstat};

use super::job::{PipeReader, PipeWriter};
use super::watch::{Watch, WatchedRoot};
use crate::sandbox::object::{Moment, ObjectMark};
use crate::sandbox::{Guard, Protection, Survey, UndonePlace};

/// The first line of a file; it changes when the format changes.
const FORMAT: &str = "metier watched places 4";
/// Prefixes of file names: of complete files, and of files that are being written.
const COMPLETE: &str = "watch-";
const UNFINISHED: &str = ".new-";
/// The largest file that is read.
const MAX_SIZE: u64 = 64 << 20;
/// The line after the owner: places that have to be checked, or places that were restored already.
const PENDING: u64 = 0;
const DONE: u64 = 1;
/// The last number, written once the child and all its descendants are gone.
const ENDED: u64 = 1;
/// An id that changes at each boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Records in a list that the child has ended. For the launcher, which keeps the list open.
pub(super) fn note_end(list: BorrowedFd<'_>) {
    // Without it, the next start treats everything that appeared since as created by the child.
    let _unknown = rustix::io::write(list, &ENDED.to_le_bytes());
}

/// The lists of all other active runs, and a lock: no other run starts before this run has written its own list.
#[derive(Debug, Default)]
pub(crate) struct OtherRuns {
    lists: Vec<Watch>,
    _lock: Option<File>,
}

impl OtherRuns {
    /// Waits until no other run is beginning, and reads the lists.
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        create(folder)?;
        let lock = File::open(folder)?;
        flock(&lock, FlockOperation::LockExclusive)?;
        let lists = journals(folder).filter_map(|path| {
            let content = read(&File::open(path).ok()?)?;
            match decode(&content)?.list {
                JournalList::Pending(watch) => Some(*watch),
                JournalList::Done(_) => None,
            }
        });
        Ok(Self {
            lists: lists.collect(),
            _lock: Some(lock),
        })
    }

    /// Whether another run may have created the file at a protected place: it can write there, and the place was missing when it started. A
    /// file that was replaced while the sandbox of that run held it does not belong to its child.
    pub(crate) fn made(&self, place: &Path, mark: &ObjectMark) -> bool {
        self.lists.iter().any(|watch| {
            let Some((guard, before)) = &watch.guard else {
                return false;
            };
            let in_any = |folders: &[PathBuf]| folders.iter().any(|one| place.starts_with(one));
            let unreadable = before.unreadable.iter();
            let mut unseen = unreadable.map(|(folder, _)| folder).chain(&guard.closed);
            in_any(&guard.roots)
                && !unseen.any(|folder| place.starts_with(folder))
                && !before.knows(place, mark)
        })
    }

    /// Whether another run has searched a place by its name and not found it.
    pub(crate) fn miss(&self, place: &Path) -> bool {
        let mut roots = self.lists.iter().flat_map(|watch| &watch.roots);
        roots.any(|root| {
            let name = place.strip_prefix(&root.path);
            name.is_ok_and(|name| root.missing.iter().any(|missing| missing == name))
        })
    }
}

fn read(file: &File) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    file.take(MAX_SIZE).read_to_end(&mut content).ok()?;
    Some(content)
}

fn create(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// The complete lists in a folder.
fn journals(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().map(OsStrExt::as_bytes);
        name.is_some_and(|name| name.starts_with(COMPLETE.as_bytes()))
    })
}

/// A list with its lock. While this value exists, no other process restores these places.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    owner: String,
    stays: bool,
}

impl Journal {
    /// Writes a list. It gets its final name, by which other runs find it, once it is complete and locked.
    pub(super) fn begin(folder: &Path, owner: &str, watch: &Watch) -> io::Result<Self> {
        let mut out = head(owner);
        out.number(PENDING);
        pending(watch, &mut out);
        Self::write(folder, owner, &out.0)
    }

    fn write(folder: &Path, owner: &str, content: &[u8]) -> io::Result<Self> {
        if content.len() as u64 >= MAX_SIZE {
            // The next start could not read it.
            return Err(io::Error::other(
                "there are too many protected files to list",
            ));
        }
        create(folder)?;
        let unfinished = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(folder)?;
        let (mut file, unfinished) = unfinished.into_parts();
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(content)?;
        let name = unfinished.file_name().unwrap_or_default().to_string_lossy();
        let path = folder.join(name.replacen(UNFINISHED, COMPLETE, 1));
        unfinished
            .persist_noclobber(&path)
            .map_err(|error| error.error)?;
        Ok(Self {
            file,
            path,
            owner: owner.to_owned(),
            stays: false,
        })
    }

    pub(super) fn lock(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Leaves the list to the next start.
    pub(super) fn keep(mut self) {
        self.stays = true;
    }

    /// The places were restored, but no caller took the result: the next start reports them.
    pub(super) fn end_with(mut self, undone: &[UndonePlace]) {
        if let ([_, ..], Some(folder)) = (undone, self.path.parent()) {
            let mut out = head(&self.owner);
            out.number(DONE);
            out.list(bytes(undone.iter().map(|place| &place.path)).into_iter());
            let names = undone.iter().map(|place| place.renamed_to.as_deref());
            let names: Vec<&[u8]> = names
                .map(|name| name.map_or(&[][..], OsStrExt::as_bytes))
                .collect();
            out.list(names.into_iter());
            let more: usize = undone.iter().map(|place| place.more).sum();
            out.number(more as u64);
            let written = Self::write(folder, &self.owner, &out.0).map(Self::keep);
            self.stays = written.is_err();
        }
    }
}

/// Dropping it means that the places were restored.
impl Drop for Journal {
    fn drop(&mut self) {
        if !self.stays {
            // If the file can't be removed, the next start finds nothing to do.
            let _stays = fs::remove_file(&self.path);
        }
    }
}

/// Files that a killed run has left behind.
#[derive(Debug)]
pub struct Leftover {
    /// The owner of the child, as the run named it.
    pub owner: String,
    /// Protected places that the child had created. They were renamed.
    pub undone: Vec<UndonePlace>,
    /// Places that could not be restored. The next start retries them.
    pub failed: Vec<(PathBuf, io::Error)>,
    journal: PathBuf,
    /// Locked: other processes ignore it.
    _file: File,
}

impl Leftover {
    /// Deletes the list, once its result is stored elsewhere.
    pub fn forget(self) {
        if self.failed.is_empty() {
            let _stays = fs::remove_file(&self.journal);
        }
    }
}

/// Processes the lists of killed runs. If there are none, it costs one listing of a folder.
#[must_use]
pub fn work_off(folder: &Path) -> Vec<Leftover> {
    journals(folder).filter_map(take_over).collect()
}

fn take_over(path: PathBuf) -> Option<Leftover> {
    let file = File::open(&path).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    let content = read(&file)?;
    let Some(Decoded {
        owner,
        boot,
        list,
        has_ended,
    }) = decode(&content)
    else {
        // Written by another version, or truncated: it contains no usable information.
        let _stays = fs::remove_file(&path);
        return None;
    };
    let (undone, failed) = match list {
        JournalList::Done(undone) => (undone, Vec::new()),
        JournalList::Pending(mut watch) => {
            let ended = match has_ended {
                true => fstat(&file).ok().map(written),
                false => booted().filter(|_| boot != boot_id()),
            };
            let look = watch.put_back(ended);
            (look.undone, look.failed)
        }
    };
    let leftover = Leftover {
        owner,
        undone,
        failed,
        journal: path,
        _file: file,
    };
    if leftover.undone.is_empty() && leftover.failed.is_empty() {
        leftover.forget();
        return None;
    }
    Some(leftover)
}

/// When a list was last written: the end of the child.
fn written(found: rustix::fs::Stat) -> Moment {
    let nanoseconds = u32::try_from(found.st_mtime_nsec).unwrap_or(u32::MAX);
    (found.st_mtime, nanoseconds)
}

/// The boot time of the machine: a child of an earlier boot had ended by then.
fn booted() -> Option<Moment> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let mut lines = text.lines();
    let seconds = lines.find_map(|line| line.strip_prefix("btime "))?;
    // One second later, since it is rounded.
    Some((seconds.parse::<i64>().ok()? + 1, 0))
}

fn boot_id() -> Vec<u8> {
    fs::read(BOOT_ID).unwrap_or_default()
}

struct Decoded {
    owner: String,
    boot: Vec<u8>,
    list: JournalList,
    has_ended: bool,
}

enum JournalList {
    Pending(Box<Watch>),
    Done(Vec<UndonePlace>),
}

fn head(owner: &str) -> PipeWriter {
    let mut out = PipeWriter(Vec::new());
    out.bytes(FORMAT.as_bytes());
    out.bytes(owner.as_bytes());
    out.bytes(&boot_id());
    out
}

fn bytes<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Vec<&'p [u8]> {
    let paths = paths.into_iter();
    paths.map(|path| path.as_os_str().as_bytes()).collect()
}

fn pending(watch: &Watch, out: &mut PipeWriter) {
    out.number(watch.roots.len() as u64);
    for root in &watch.roots {
        out.bytes(root.path.as_os_str().as_bytes());
        out.list(bytes(&root.missing).into_iter());
        out.list(bytes(root.links.iter().map(|(name, _)| name)).into_iter());
        let targets: Vec<&[u8]> = root.links.iter().map(|(_, to)| to.as_bytes()).collect();
        out.list(targets.into_iter());
    }
    out.number(u64::from(watch.guard.is_some()));
    if let Some((guard, before)) = &watch.guard {
        for paths in guard.protection.parts() {
            out.list(bytes(paths).into_iter());
        }
        for paths in [&guard.roots, &guard.open, &guard.closed] {
            out.list(bytes(paths).into_iter());
        }
        for places in [&before.places, &before.links, &before.unreadable] {
            out.number(places.len() as u64);
            for (place, mark) in places {
                out.bytes(place.as_os_str().as_bytes());
                write_mark(mark, out);
            }
        }
    }
}

fn write_mark(mark: &ObjectMark, out: &mut PipeWriter) {
    match mark {
        ObjectMark::Link(target) => {
            out.number(0);
            out.bytes(target.as_bytes());
        }
        ObjectMark::Object {
            device: (major, minor),
            inode,
            born,
            is_file,
        } => {
            out.number(1);
            out.number((*major).into());
            out.number((*minor).into());
            out.number(*inode);
            out.number(born.is_some().into());
            let (seconds, nanoseconds) = born.unwrap_or_default();
            out.number(seconds.cast_unsigned());
            out.number(nanoseconds.into());
            out.number((*is_file).into());
        }
    }
}

fn read_mark(input: &mut PipeReader<'_>) -> Option<ObjectMark> {
    if input.number()? == 0 {
        return Some(ObjectMark::Link(input.text()?));
    }
    let mut half = || u32::try_from(input.number()?).ok();
    let device = (half()?, half()?);
    let inode = input.number()?;
    let is_known = input.number()? == 1;
    let seconds = input.number()?.cast_signed();
    let born = (seconds, u32::try_from(input.number()?).ok()?);
    Some(ObjectMark::Object {
        device,
        inode,
        born: is_known.then_some(born),
        is_file: input.number()? == 1,
    })
}

fn read_places(input: &mut PipeReader<'_>) -> Option<Vec<(PathBuf, ObjectMark)>> {
    let count = input.number()?;
    let place = |_| Some((PathBuf::from(input.text()?), read_mark(input)?));
    (0..count).map(place).collect()
}

fn decode(content: &[u8]) -> Option<Decoded> {
    let mut input = PipeReader(content);
    if input.text()? != FORMAT {
        return None;
    }
    let owner = input.text()?.to_string_lossy().into_owned();
    let boot = input.text()?.into_encoded_bytes();
    let list = match input.number()? {
        DONE => {
            let (paths, names) = (input.paths()?, input.list()?);
            let both = paths.into_iter().zip(names);
            let undone = both.map(|(path, name)| UndonePlace {
                path,
                renamed_to: Some(name).filter(|name| !name.is_empty()),
                more: 0,
            });
            let mut undone: Vec<UndonePlace> = undone.collect();
            let more = usize::try_from(input.number()?).ok()?;
            if let Some(first) = undone.first_mut() {
                first.more = more;
            }
            JournalList::Done(undone)
        }
        PENDING => JournalList::Pending(Box::new(watch(&mut input)?)),
        _ => return None,
    };
    let has_ended = input.number() == Some(ENDED);
    input.0.is_empty().then_some(Decoded {
        owner,
        boot,
        list,
        has_ended,
    })
}

fn watch(input: &mut PipeReader<'_>) -> Option<Watch> {
    let mut watch = Watch::default();
    for _ in 0..input.number()? {
        let path = PathBuf::from(input.text()?);
        let missing = input.paths()?;
        let names = input.paths()?;
        let targets: Vec<OsString> = input.list()?;
        // A missing folder contains no lists.
        if let Ok(mut root) = WatchedRoot::open(&path) {
            root.missing = missing;
            root.links = names.into_iter().zip(targets).collect();
            watch.roots.push(root);
        }
    }
    if input.number()? == 0 {
        return Some(watch);
    }
    let protection = Protection::from_parts([input.paths()?, input.paths()?, input.paths()?]);
    let guard = Guard {
        protection,
        roots: input.paths()?,
        open: input.paths()?,
        closed: input.paths()?,
        ..Guard::default()
    };
    let mut before = Survey {
        places: read_places(input)?,
        links: read_places(input)?,
        unreadable: read_places(input)?,
        is_fenced: true,
        ..Survey::default()
    };
    before.sort();
    watch.guard = Some((guard, before));
    Some(watch)
}

#[cfg(test)]
mod tests {
    use metier_testkit::patience::grows_linearly;

    use super::*;

    // case 206
    #[test]
    fn known_places_of_another_run_are_found_in_linear_time() {
        let run = |times: usize| {
            let mark = |inode| ObjectMark::Object {
                device: (1, 1),
                inode,
                born: None,
                is_file: true,
            };
            let places = (0..500 * times as u64)
                .map(|inode| (PathBuf::from(format!("/p/{inode}/CLAUDE.md")), mark(inode)))
                .rev();
            let before = Survey {
                places: places.collect(),
                ..Survey::default()
            };
            let guard = Guard {
                roots: vec![PathBuf::from("/p")],
                ..Guard::default()
            };
            let mut watch = Watch::default();
            watch.guard = Some((guard, before.clone()));
            let folder = tempfile::tempdir().unwrap();
            let journal = Journal::begin(folder.path(), "owner", &watch).unwrap();
            (before, OtherRuns::read(folder.path()).unwrap(), journal)
        };
        let find = |(before, others, _): &(Survey, OtherRuns, Journal)| {
            let mut places = before.places.iter();
            assert!(!places.any(|(place, mark)| others.made(place, mark)));
            assert!(others.made(Path::new("/p/x/CLAUDE.md"), &ObjectMark::UNSEEN));
        };
        grows_linearly("known places", 8, run, find);
    }

    // case 205
    #[test]
    fn the_next_start_knows_how_many_places_were_restored() {
        let folder = tempfile::tempdir().unwrap();
        let place = |more| UndonePlace {
            path: PathBuf::from("/project/CLAUDE.md"),
            renamed_to: Some("CLAUDE.md.undone-1".into()),
            more,
        };
        let journal = Journal::begin(folder.path(), "owner", &Watch::default()).unwrap();
        journal.end_with(&[place(0), place(7)]);
        let [leftover] = &work_off(folder.path())[..] else {
            panic!("there is one list");
        };
        assert_eq!(leftover.undone, [place(7), place(0)]);
    }
}
