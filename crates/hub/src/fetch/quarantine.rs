//! The folder of fetched repositories, until they have been read. Each fetch has its own folder in it.
//!
//! A folder is locked as long as its fetch runs, and removed with it. The next process that opens the quarantine removes the files of
//! killed ones.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rustix::fs::{FlockOperation, flock};

use super::error::FetchError;

/// The prefix of the folder names.
const ROOM: &str = "fetch-";

/// A folder of one fetch. Dropping it removes it.
#[derive(Debug)]
pub struct QuarantineRoom {
    path: PathBuf,
    _lock: File,
}

impl QuarantineRoom {
    /// Creates a folder below `quarantine`, and removes what killed processes left there.
    ///
    /// # Errors
    /// If it can't be created.
    pub fn new(quarantine: &Path) -> Result<Self, FetchError> {
        let create = || {
            fs::create_dir_all(quarantine)?;
            // Two processes must not treat each other's new folder as abandoned.
            let all = File::open(quarantine)?;
            flock(&all, FlockOperation::LockExclusive)?;
            remove_abandoned(quarantine);
            let made = tempfile::Builder::new()
                .prefix(ROOM)
                .tempdir_in(quarantine)?;
            let path = made.path().canonicalize()?;
            let lock = File::open(&path)?;
            flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            let _kept = made.keep();
            Ok(Self { path, _lock: lock })
        };
        create().map_err(|error: io::Error| FetchError::disk(quarantine, error))
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for QuarantineRoom {
    fn drop(&mut self) {
        // A folder that can't be removed now is removed by a later run.
        let _stays = fs::remove_dir_all(&self.path);
    }
}

fn remove_abandoned(quarantine: &Path) {
    let entries = fs::read_dir(quarantine).into_iter().flatten().flatten();
    for entry in entries {
        if !entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(ROOM.as_bytes())
        {
            continue;
        }
        let Ok(folder) = File::open(entry.path()) else {
            continue;
        };
        if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _tried_again_by_the_next = fs::remove_dir_all(entry.path());
        }
    }
}
