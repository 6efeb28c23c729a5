//! Visits every file in a skill's folder once, within limits.
//!
//! All work on the files of a skill starts here: listing, hashing, reading into a snapshot, and the
//! fingerprint that proves that a digest is still valid. So they agree on what the files of a skill are. Handles of
//! the folders on the current path stay open, so that a folder costs one system call however deep it is. A file that
//! exceeds the limits is an error and never skipped: a file that is not in the digest must not be in the skill.

use std::{
    ffi::{CStr, CString},
    os::unix::ffi::OsStrExt,
    path::Path,
    vec,
};

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, openat, statat},
    io::Errno,
};
use sha2::{Digest as _, Sha256};

use crate::{folder::ReadError, index::FileStamp, path_bytes::PathBytes};

/// The maximum number of files and folders of a skill.
pub(crate) const MAX_FILES: usize = 100_000;
/// The maximum number of folders on the path to a file.
pub(crate) const MAX_DEPTH: usize = 64;
/// The maximum length of a path below the skill's folder, in bytes. The folder's path and this one fit into one
/// system call, which accepts 4,096 bytes: a child process can open every scanned file by its name.
pub(crate) const MAX_PATH: usize = 2048;
/// Git's folder at the top of a skill's folder: the only name that is not part of the skill.
pub(crate) const GIT: &[u8] = b".git";

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// A file on the way through a skill's folder.
pub(crate) struct Visited<'v> {
    pub(crate) folder: &'v OwnedFd,
    pub(crate) name: &'v CStr,
    pub(crate) path: &'v [u8],
    pub(crate) kind: FileType,
    pub(crate) size: u64,
    /// Whether it has more than one hard link.
    pub(crate) shared: bool,
    /// Whether it is executable.
    pub(crate) executable: bool,
    /// The key of its state.
    pub(crate) key: FileStamp,
}

impl<'v> Visited<'v> {
    fn new(folder: &'v OwnedFd, name: &'v CStr, path: &'v [u8], stat: &Stat) -> Self {
        Self {
            folder,
            name,
            path,
            kind: FileType::from_raw_mode(stat.st_mode),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            shared: stat.st_nlink > 1,
            executable: stat.st_mode & 0o111 != 0,
            key: FileStamp::of(stat),
        }
    }

    /// Its path for display.
    pub(crate) fn shown(&self) -> String {
        shown(self.path)
    }
}

/// A path for display; a long one is truncated.
pub(crate) fn shown(path: &[u8]) -> String {
    const LONGEST: usize = 120;
    let whole = PathBytes::from(path).to_string();
    let mut short: String = whole.chars().take(LONGEST).collect();
    if short.len() < whole.len() {
        short.push('…');
    }
    short
}

/// A folder that is being visited.
struct FolderLevel {
    handle: OwnedFd,
    names: vec::IntoIter<CString>,
    /// The length of the folder's part of the path.
    prefix: usize,
}

/// Calls `each` for everything in a folder that is not a folder, folder by folder and sorted by name. Links are not
/// followed. A `.git` at the top is skipped, whether it is a file or a folder. Returns the number of folders.
pub(crate) fn visit(
    root: &Path,
    max_files: usize,
    each: impl FnMut(&Visited<'_>) -> Result<(), ReadError>,
) -> Result<usize, ReadError> {
    visit_counted(root, max_files, &mut 0, each)
}

/// The same; `listed` counts the files and folders that were found, also if this ends with an error.
pub(crate) fn visit_counted(
    root: &Path,
    max_files: usize,
    listed: &mut usize,
    mut each: impl FnMut(&Visited<'_>) -> Result<(), ReadError>,
) -> Result<usize, ReadError> {
    let max_files = max_files.min(MAX_FILES);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(root, flags, Mode::empty())
        .map_err(|error| os(root.as_os_str().as_bytes(), error))?;
    let mut path: Vec<u8> = Vec::new();
    let mut open = vec![FolderLevel::new(handle, &path, listed, max_files)?];
    let mut folders = 0;
    loop {
        let depth = open.len();
        let Some(level) = open.last_mut() else {
            return Ok(folders);
        };
        let Some(name) = level.names.next() else {
            open.pop();
            continue;
        };
        path.truncate(level.prefix);
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name.to_bytes());
        if path.len() > MAX_PATH {
            let path = shown(&path);
            return Err(ReadError::PathTooLong { path });
        }
        let stat = statat(&level.handle, &name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| os(&path, error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            each(&Visited::new(&level.handle, &name, &path, &stat))?;
            continue;
        }
        if depth > MAX_DEPTH {
            let path = shown(&path);
            return Err(ReadError::TooDeep { path });
        }
        let inner = openat(&level.handle, &name, FOLDER, Mode::empty());
        let inner = inner.map_err(|error| os(&path, error))?;
        open.push(FolderLevel::new(inner, &path, listed, max_files)?);
        folders += 1;
    }
}

impl FolderLevel {
    /// Lists a folder, and counts what is in it.
    fn new(
        handle: OwnedFd,
        path: &[u8],
        listed: &mut usize,
        max_files: usize,
    ) -> Result<Self, ReadError> {
        let fail = |error| os(path, error);
        let mut names = Vec::new();
        for entry in Dir::read_from(&handle).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name();
            let is_none = matches!(name.to_bytes(), b"." | b"..");
            if is_none || (path.is_empty() && name.to_bytes() == GIT) {
                continue;
            }
            if *listed >= max_files {
                return Err(ReadError::TooManyFiles { limit: max_files });
            }
            *listed += 1;
            names.push(name.to_owned());
        }
        names.sort_unstable();
        Ok(Self {
            handle,
            names: names.into_iter(),
            prefix: path.len(),
        })
    }
}

fn os(path: &[u8], error: Errno) -> ReadError {
    let path = shown(path);
    ReadError::Os { path, error }
}

/// The state of all files of a skill: their paths, sizes, times and inodes. A digest that was computed together with
/// a fingerprint is valid as long as the fingerprint is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    pub(crate) hash: [u8; 16],
    /// Whether the skill consists only of manifest files at the top, whose states every list compares anyway.
    pub(crate) plain: bool,
    /// The time of the last change, in nanoseconds.
    pub(crate) changed: i64,
}

impl Fingerprint {
    /// The maximum number of files to check before a digest is trusted: a list must not be slow because a skill is
    /// large.
    pub(crate) const MAX_FILES: usize = 10_000;

    /// The state of the files in a folder.
    ///
    /// # Errors
    /// If the folder can't be read, or contains more files than the limit.
    pub(crate) fn of(root: &Path) -> Result<Self, ReadError> {
        let mut states = States::default();
        let folders = visit(root, Self::MAX_FILES, |file| {
            states.add(file.path, &file.key);
            Ok(())
        })?;
        Ok(states.fingerprint(folders))
    }

    /// Whether something was changed so recently that it might still be changing.
    pub(crate) fn is_fresh(&self, now: std::time::SystemTime) -> bool {
        crate::index::is_fresh(self.changed, now)
    }

    /// Whether something was changed since then.
    #[must_use]
    pub fn changed_since(&self, then: std::time::SystemTime) -> bool {
        let then = then.duration_since(std::time::UNIX_EPOCH);
        let then = then.map_or(0, |then| i64::try_from(then.as_nanos()).unwrap_or(i64::MAX));
        self.changed >= then
    }
}

/// A fingerprint under construction.
pub(crate) struct States {
    hash: Sha256,
    plain: bool,
    changed: i64,
}

impl Default for States {
    fn default() -> Self {
        Self {
            hash: Sha256::new(),
            plain: true,
            changed: 0,
        }
    }
}

impl States {
    /// Adds a file, in the order of [`visit`].
    pub(crate) fn add(&mut self, path: &[u8], key: &FileStamp) {
        self.hash.update((path.len() as u64).to_le_bytes());
        self.hash.update(path);
        for number in [key.inode, key.size] {
            self.hash.update(number.to_le_bytes());
        }
        for time in [key.modified, key.changed] {
            self.hash.update(time.to_le_bytes());
        }
        self.plain &= matches!(path, b"SKILL.md" | b"SKILL.yaml");
        self.changed = self.changed.max(key.changed);
    }

    /// The fingerprint of all added files, which are in this many folders below the top.
    pub(crate) fn fingerprint(self, folders: usize) -> Fingerprint {
        let whole: [u8; 32] = self.hash.finalize().into();
        let mut hash = [0; 16];
        hash.copy_from_slice(&whole[..16]);
        Fingerprint {
            hash,
            // A new file in a folder below does not change the times of the top.
            plain: self.plain && folders == 0,
            changed: self.changed,
        }
    }
}
