//! The scanned copy: the files of a snapshot, written into an empty folder for the processes of the skill.
//!
//! Everything is created below the handle of that folder, under names that must not exist yet: `O_EXCL` and
//! `O_NOFOLLOW` for files, `mkdirat` for folders. So nothing is ever written through a copied link, and two files
//! with the same path (on a file system that does not distinguish their names) are an error. Files are ordered by
//! their bytes, so those of one folder follow each other; a folder that has to be created a second time is such a
//! collision.

use std::io;

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{Mode, OFlags, mkdirat, openat, symlinkat},
    io::Errno,
};
use sha2::{Digest as _, Sha256};

use crate::{
    entry::SkillLocation,
    manifest_file,
    path_bytes::PathBytes,
    skill_files::shown,
    snapshot::{Snapshot, SnapshotContent, SnapshotFile},
};

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
const NEW: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Why there is no copy of a skill.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A built-in skill has no folder.
    #[error("a built-in skill has no folder")]
    Builtin,
    /// The file in the folder is no longer the one that was scanned.
    #[error("`{file}` changed after it was scanned")]
    Changed {
        /// The path of the changed file.
        file: String,
    },
    /// It is a FIFO, a socket or a device.
    #[error("`{file}` is a FIFO, a socket or a device, which can't be copied")]
    Special {
        /// The path of the special file.
        file: String,
    },
    /// Two names of the skill are the same name on the file system of the copy.
    #[error(
        "`{file}` has the same name as another file or folder of the skill on the file system of the copy"
    )]
    Twice {
        /// The path of the second file.
        file: String,
    },
    /// A file can't be read or written.
    #[error("`{file}` can't be copied: {source}")]
    Os {
        /// The path of the file.
        file: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Snapshot {
    /// Writes the files, as they were scanned, into an empty folder. A file that is not in memory is read again, and
    /// its hash must be unchanged.
    ///
    /// # Errors
    /// If a file can't be written as it was scanned. The partial copy must not be used.
    pub fn copy_into(
        &self,
        place: &SkillLocation,
        folder: BorrowedFd<'_>,
    ) -> Result<(), CopyError> {
        if let SkillLocation::Builtin(_) = place {
            return Err(CopyError::Builtin);
        }
        let mut open: Vec<(&[u8], OwnedFd)> = Vec::new();
        for held in &self.files {
            let names: Vec<&[u8]> = held.path.names().collect();
            let Some((name, above)) = names.split_last() else {
                continue;
            };
            let is_same = |(open, wanted): &(&(&[u8], OwnedFd), &&[u8])| open.0 == **wanted;
            let common = open.iter().zip(above).take_while(is_same).count();
            open.truncate(common);
            for inner in &above[common..] {
                let from = open.last().map_or(folder, |(_, handle)| handle.as_fd());
                let handle = make_folder(from, inner).map_err(|error| held.failed(error))?;
                open.push((inner, handle));
            }
            let from = open.last().map_or(folder, |(_, handle)| handle.as_fd());
            held.copy_to(place, from, name)?;
        }
        Ok(())
    }
}

/// Creates a folder that does not exist yet, and opens it.
fn make_folder(below: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    mkdirat(below, name, Mode::from_raw_mode(0o755))?;
    openat(below, name, FOLDER, Mode::empty())
}

impl SnapshotFile {
    fn copy_to(
        &self,
        place: &SkillLocation,
        folder: BorrowedFd<'_>,
        name: &[u8],
    ) -> Result<(), CopyError> {
        let file = || shown(self.path.as_bytes());
        let failed = |error| self.failed(error);
        let create = || {
            let mode = if self.executable { 0o755 } else { 0o644 };
            openat(folder, name, NEW, Mode::from_raw_mode(mode)).map_err(failed)
        };
        match &self.content {
            SnapshotContent::Bytes(bytes) if bytes.len() as u64 == self.size => {
                write_all(&create()?, bytes).map_err(failed)
            }
            SnapshotContent::Link(target) => {
                symlinkat(target.as_bytes(), folder, name).map_err(failed)
            }
            SnapshotContent::Special => Err(CopyError::Special { file: file() }),
            SnapshotContent::Bytes(_) | SnapshotContent::Left => {
                let from = open_live(place, &self.path).map_err(failed)?;
                let hash = stream(&from, &create()?, self.size).map_err(failed)?;
                if hash == self.hash {
                    return Ok(());
                }
                Err(CopyError::Changed { file: file() })
            }
        }
    }

    fn failed(&self, error: Errno) -> CopyError {
        let file = shown(self.path.as_bytes());
        match error {
            Errno::EXIST => CopyError::Twice { file },
            error => CopyError::Os {
                file,
                source: error.into(),
            },
        }
    }
}

/// Opens a file of the skill as it is now, one name at a time and never through a link.
fn open_live(place: &SkillLocation, path: &PathBytes) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut handle = rustix::fs::open(&*place.path(), flags, Mode::empty())?;
    let names: Vec<&[u8]> = path.names().collect();
    let Some((name, above)) = names.split_last() else {
        return Err(Errno::NOENT);
    };
    for folder in above {
        handle = openat(&handle, *folder, FOLDER, Mode::empty())?;
    }
    openat(&handle, *name, manifest_file::OPEN, Mode::empty())
}

/// Copies a file and hashes the copied bytes. A file that grew is not read to its end.
fn stream(from: &OwnedFd, to: &OwnedFd, size: u64) -> Result<[u8; 32], Errno> {
    let (mut hash, mut copied, mut buffer) = (Sha256::new(), 0_u64, vec![0u8; 64 * 1024]);
    loop {
        let length = match rustix::io::read(from, &mut buffer[..]) {
            Ok(0) => break,
            Ok(length) => length,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error),
        };
        hash.update(&buffer[..length]);
        copied += length as u64;
        if copied > size {
            break;
        }
        write_all(to, &buffer[..length])?;
    }
    Ok(hash.finalize().into())
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(0) => return Err(Errno::IO),
            Ok(length) => bytes = &bytes[length..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
