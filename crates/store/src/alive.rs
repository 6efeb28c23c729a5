//! The file that shows other processes that this one is alive; it is also the reserve for a full disk.
//!
//! An act is over when its end is recorded. A killed process records no end, so other processes must be able to
//! detect that it has ended. Process ids are reused; a lock on a file is not, and the system releases it when the
//! process ends, however it ended. So each [`Store`](crate::Store) that begins an act has one such file, named after
//! its owner's number and locked as long as the owner lives.
//!
//! The file has content for a second reason. A skill can fill the disk while it acts, and then the end of the act
//! could not be recorded. The space for it is reserved here: the file is shortened so that the database can grow.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The space reserved for the ends of acts: about a dozen, each a few pages of the database.
pub(crate) const RESERVE: u64 = 256 * 1024;
/// The bytes released at a time.
const STEP: u64 = 64 * 1024;

const PREFIX: &str = "live-";
const ATTEMPTS: u32 = 8;

/// The locked file of one owner. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct LiveFile {
    owner: i64,
    file: File,
    path: PathBuf,
    reserved: Cell<u64>,
}

impl LiveFile {
    /// Creates the file of a new owner, still without a reserve.
    pub(crate) fn make(folder: &Path) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let owner = RandomState::new().build_hasher().finish().cast_signed();
            let path = path(folder, owner);
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = match options.open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            // Between these two lines another process can take it for an abandoned file and remove it.
            if file.try_lock().is_ok() && is_same(&file, &path) {
                let reserved = Cell::new(0);
                return Ok(Self {
                    owner,
                    file,
                    path,
                    reserved,
                });
            }
            fs::remove_file(&path).ok(); // or another process removed it
        }
        Err(io::Error::other("no file could be locked"))
    }

    pub(crate) fn owner(&self) -> i64 {
        self.owner
    }

    /// Refills the reserve. No act may begin without the whole reserve.
    pub(crate) fn fill(&self) -> io::Result<()> {
        let mut at = self.reserved.get();
        let mut file = &self.file;
        if at < RESERVE {
            file.seek(SeekFrom::Start(at))?;
        }
        while at < RESERVE {
            let block = noise(at);
            file.write_all(&block)?;
            at += block.len() as u64;
            self.reserved.set(at);
        }
        Ok(())
    }

    /// Releases part of the reserve to the disk; `false` if nothing is left.
    pub(crate) fn release(&self) -> bool {
        let left = self.reserved.get();
        if left == 0 {
            return false;
        }
        let left = left.saturating_sub(STEP);
        self.reserved.set(left);
        self.file.set_len(left).is_ok()
    }
}

impl Drop for LiveFile {
    fn drop(&mut self) {
        // A file that stays behind is removed at the next start, since its lock is free.
        fs::remove_file(&self.path).ok();
    }
}

/// Whether an owner is alive. If its file can't be inspected, it counts as alive: its acts stay open.
pub(crate) fn is_alive(folder: &Path, owner: i64) -> bool {
    match File::open(path(folder, owner)) {
        Ok(file) => file.try_lock().is_err(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Removes the files of owners that have ended.
pub(crate) fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let path = entry.path();
        if let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            fs::remove_file(&path).ok(); // another process does the same
        }
    }
}

fn path(folder: &Path, owner: i64) -> PathBuf {
    folder.join(format!("{PREFIX}{:016x}", owner.cast_unsigned()))
}

/// Bytes that no file system can compress.
fn noise(seed: u64) -> Vec<u8> {
    let mut state = seed | 0x9e37_79b9_7f4a_7c15;
    let mut block = Vec::with_capacity(64 * 1024);
    while block.len() < 64 * 1024 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        block.extend_from_slice(&state.to_le_bytes());
    }
    block
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let (Ok(own), Ok(there)) = (file.metadata(), fs::metadata(path)) else {
        return false;
    };
    (own.dev(), own.ino()) == (there.dev(), there.ino())
}

/// On other systems an open file can't be removed.
#[cfg(not(unix))]
fn is_same(_file: &File, _path: &Path) -> bool {
    true
}
