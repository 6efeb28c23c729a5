//! The databases that this process has open.
//!
//! On POSIX, closing a file releases all locks that the process has on it, including SQLite's. We read a file's first
//! bytes before SQLite does; closing it again would take the locks from another [`Store`](crate::Store) of this
//! process, and while a database is created, another process would then write into the middle of that. So the header
//! is read only while no `Store` of this process has the file open; the first one to open it has read it.
//!
//! The list is global because the locks belong to the process.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::StoreError;

/// A file, whatever its path: its device and inode number.
type DatabaseFileId = (u64, u64);

/// The number of stores that have each file open.
static HELD: Mutex<BTreeMap<DatabaseFileId, usize>> = Mutex::new(BTreeMap::new());

/// An open database, until this is dropped. It must outlive the connection.
#[derive(Debug)]
pub(crate) struct OpenDatabase(Option<DatabaseFileId>);

impl OpenDatabase {
    /// Registers a database. If this process has not opened it yet, `look` may open and close the file, or create it.
    pub(crate) fn take(
        path: &Path,
        look: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let mut held = held();
        let is_held = |file: &DatabaseFileId| held.contains_key(file);
        if !identity(path).ok().flatten().as_ref().is_some_and(is_held) {
            look()?;
        }
        let file = identity(path).map_err(|source| StoreError::Unreachable {
            path: path.to_owned(),
            source,
        })?;
        if let Some(file) = file {
            *held.entry(file).or_default() += 1;
        }
        Ok(Self(file))
    }

    /// Whether the file at a path is this one. Always true on systems without identities of files.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        identity(path).is_ok_and(|found| found == self.0)
    }
}

impl Drop for OpenDatabase {
    fn drop(&mut self) {
        let Some(file) = self.0 else { return };
        let mut held = held();
        match held.get_mut(&file) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(held.remove(&file)),
        }
    }
}

fn held() -> MutexGuard<'static, BTreeMap<DatabaseFileId, usize>> {
    // The counter was either changed or not: a poisoned lock leaves no state in between.
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Option<DatabaseFileId>> {
    use std::os::unix::fs::MetadataExt;

    let found = std::fs::metadata(path)?;
    Ok(Some((found.dev(), found.ino())))
}

/// On other systems, closing a file releases only its own locks.
#[cfg(not(unix))]
fn identity(_path: &Path) -> io::Result<Option<DatabaseFileId>> {
    Ok(None)
}
