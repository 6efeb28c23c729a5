//! The folder in which fetched repositories are until they were read. Each fetch has one of its own in it.
//!
//! A folder is locked as long as its fetch runs, and removed with it. What a killed process left is removed by the next one that opens the quarantine.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rustix::fs::{FlockOperation, flock};

use super::error::FetchError;

/// How the names of the folders begin.
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
            // Two processes must not take each other's new folder for an abandoned one.
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
        // What can't be removed now is removed by a later run.
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
