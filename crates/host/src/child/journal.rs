//! Watched places, written down: what a run that was killed leaves to the next one.
//!
//! **Problem.** What a child makes in a missing protected place is removed after it ended, by this program. A program that is
//! killed, or that a skill makes crash, removes nothing.
//!
//! **Decision.** Before the child starts, the list is written into a file of its own, in a folder that no child sees. This program and
//! the shim hold a lock on it. The file is deleted when its places were put back; a file without a lock was left by a
//! run that is gone, and the next start puts its places back.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::job::{Reader, Writer};
use super::watch::{Root, Watch};
use crate::sandbox::{Guard, Protection, Survey};

/// The first word of a file, which changes with its format.
const FORMAT: &str = "metier watched places 1";
/// How the names begin: of complete files, and of those that are being written.
const COMPLETE: &str = "watch-";
const UNFINISHED: &str = ".new-";
/// The largest file that is read.
const MAX_SIZE: u64 = 64 << 20;
/// What follows the owner: places that have to be looked at, or places that were put back already.
const PENDING: u64 = 0;
const DONE: u64 = 1;

/// A list with its lock. While this value exists, no other process puts these places back.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    owner: String,
    stays: bool,
}

impl Journal {
    /// Writes a list. It has its name, and so is found by others, once it is complete and locked.
    pub(super) fn begin(folder: &Path, owner: &str, watch: &Watch) -> io::Result<Self> {
        let mut out = head(owner);
        out.number(PENDING);
        pending(watch, &mut out);
        Self::write(folder, owner, &out.0)
    }

    fn write(folder: &Path, owner: &str, content: &[u8]) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
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

    /// The places were put back, but no caller took the result: the next start reports them.
    pub(super) fn end_with(mut self, undone: &[PathBuf]) {
        if let ([_, ..], Some(folder)) = (undone, self.path.parent()) {
            let mut out = head(&self.owner);
            out.number(DONE);
            out.list(bytes(undone).into_iter());
            let written = Self::write(folder, &self.owner, &out.0).map(Self::keep);
            self.stays = written.is_err();
        }
    }
}

/// Dropping it means that the places were put back.
impl Drop for Journal {
    fn drop(&mut self) {
        if !self.stays {
            // If the file can't be removed, the next start finds nothing to do.
            let _stays = fs::remove_file(&self.path);
        }
    }
}

/// What a run that was killed had left behind.
#[derive(Debug)]
pub struct Leftover {
    /// Whose child it was, as the run called it.
    pub owner: String,
    /// Protected places that the child had made. They were renamed.
    pub undone: Vec<PathBuf>,
    /// The first place that could not be put back. It is tried again at the next start.
    pub failed: Option<(PathBuf, io::Error)>,
    journal: PathBuf,
    /// Locked: others leave it alone.
    _file: File,
}

impl Leftover {
    /// Forgets it, once it was written down elsewhere.
    pub fn forget(self) {
        if self.failed.is_none() {
            let _stays = fs::remove_file(&self.journal);
        }
    }
}

/// Works off the lists of runs that are gone. Costs one look at a folder if there are none.
#[must_use]
pub fn work_off(folder: &Path) -> Vec<Leftover> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let is_complete = |path: &PathBuf| {
        let name = path.file_name().map(OsStrExt::as_bytes);
        name.is_some_and(|name| name.starts_with(COMPLETE.as_bytes()))
    };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(is_complete).filter_map(take_over).collect()
}

fn take_over(path: PathBuf) -> Option<Leftover> {
    let mut file = File::open(&path).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    let mut content = Vec::new();
    (&mut file).take(MAX_SIZE).read_to_end(&mut content).ok()?;
    let Some((owner, list)) = decode(&content) else {
        // Of another version, or cut short: nothing can be known from it.
        let _stays = fs::remove_file(&path);
        return None;
    };
    let (undone, failed) = match list {
        List::Done(undone) => (undone, None),
        List::Pending(mut watch) => watch.put_back(),
    };
    let leftover = Leftover {
        owner,
        undone,
        failed,
        journal: path,
        _file: file,
    };
    if leftover.undone.is_empty() && leftover.failed.is_none() {
        leftover.forget();
        return None;
    }
    Some(leftover)
}

enum List {
    Pending(Box<Watch>),
    Done(Vec<PathBuf>),
}

fn head(owner: &str) -> Writer {
    let mut out = Writer(Vec::new());
    out.bytes(FORMAT.as_bytes());
    out.bytes(owner.as_bytes());
    out
}

fn bytes<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Vec<&'p [u8]> {
    let paths = paths.into_iter();
    paths.map(|path| path.as_os_str().as_bytes()).collect()
}

fn pending(watch: &Watch, out: &mut Writer) {
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
        for paths in [&guard.roots, &guard.open, &guard.closed, &before.places] {
            out.list(bytes(paths).into_iter());
        }
        out.list(bytes(&before.skipped).into_iter());
    }
}

fn decode(content: &[u8]) -> Option<(String, List)> {
    let mut input = Reader(content);
    if input.text()? != FORMAT {
        return None;
    }
    let owner = input.text()?.to_string_lossy().into_owned();
    let list = match input.number()? {
        DONE => List::Done(input.paths()?),
        PENDING => List::Pending(Box::new(watch(&mut input)?)),
        _ => return None,
    };
    input.0.is_empty().then_some((owner, list))
}

fn watch(input: &mut Reader<'_>) -> Option<Watch> {
    let mut watch = Watch::default();
    for _ in 0..input.number()? {
        let path = PathBuf::from(input.text()?);
        let missing = input.paths()?;
        let names = input.paths()?;
        let targets: Vec<OsString> = input.list()?;
        // A folder that is gone has nothing in it.
        if let Ok(mut root) = Root::open(&path) {
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
    };
    let before = Survey {
        places: input.paths()?,
        skipped: input.paths()?.into_iter().collect(),
    };
    watch.guard = Some((guard, before));
    Some(watch)
}
