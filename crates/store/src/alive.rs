//! The file that shows other processes that this one is alive, which is also its reserve for a full disk.
//!
//! An act that has begun is over when its end is written. A process that is killed writes no end, so others must be able
//! to see that it is gone. A number of a process is given out again; a lock on a file is not, and it goes with the process
//! that holds it, however that ended. So each [`Store`](crate::Store) that begins an act has one such file, named by its
//! owner's number and locked as long as the owner lives.
//!
//! The file has content for a second reason. A skill can fill the disk while it acts. Then the end of the act could not be
//! written, so space for it is kept here: the file gets shorter, and the database longer.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How much is kept for the ends of acts: about a dozen of them, each a few pages of the database.
pub(crate) const RESERVE: u64 = 256 * 1024;
/// How much is released at a time.
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
    /// Makes the file of a new owner, still without a reserve.
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
            // Between the two lines another process may take it for the file of one that is gone, and remove it.
            if file.try_lock().is_ok() && is_same(&file, &path) {
                let reserved = Cell::new(0);
                return Ok(Self {
                    owner,
                    file,
                    path,
                    reserved,
                });
            }
            fs::remove_file(&path).ok(); // or another process did
        }
        Err(io::Error::other("no file could be locked"))
    }

    pub(crate) fn owner(&self) -> i64 {
        self.owner
    }

    /// Takes back what was released. Without the whole reserve nothing may begin.
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

    /// Gives some of the reserve to the disk; `false` if nothing was left.
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
        // What stays behind is removed at the next start, since its lock is free.
        fs::remove_file(&self.path).ok();
    }
}

/// Whether an owner lives. One whose file can't be looked at is taken to live: its acts are not over.
pub(crate) fn is_alive(folder: &Path, owner: i64) -> bool {
    match File::open(path(folder, owner)) {
        Ok(file) => file.try_lock().is_err(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Removes the files of owners that are gone.
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

/// Bytes that no file system can store in less space.
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

/// Elsewhere a file that is open can't be removed.
#[cfg(not(unix))]
fn is_same(_file: &File, _path: &Path) -> bool {
    true
}
