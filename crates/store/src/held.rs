//! Which databases this process holds open.
//!
//! Whoever closes a file takes away all locks that the process has on it, its own and SQLite's: that is how POSIX wants
//! it. We look at a file's first bytes before SQLite does; closing it again would leave another [`Store`](crate::Store)
//! of this process without its locks, and while a database is made, another process would then write into the middle of
//! that. So a file is looked at only while no `Store` of this process holds it; the first one to hold it has looked.
//!
//! The list belongs to the process and not to a value, because the locks do.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::StoreError;

/// A file, whatever its path: its device and its number there.
type FileId = (u64, u64);

/// How many hold each.
static HELD: Mutex<BTreeMap<FileId, usize>> = Mutex::new(BTreeMap::new());

/// A database that is held until this goes. It must outlive the connection.
#[derive(Debug)]
pub(crate) struct Held(Option<FileId>);

impl Held {
    /// Holds a database. If nobody here does yet, `look` may open and close the file, or create it.
    pub(crate) fn take(
        path: &Path,
        look: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        let mut held = held();
        let is_held = |file: &FileId| held.contains_key(file);
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
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(file) = self.0 else { return };
        let mut held = held();
        match held.get_mut(&file) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(held.remove(&file)),
        }
    }
}

fn held() -> MutexGuard<'static, BTreeMap<FileId, usize>> {
    // A number was changed or it wasn't: there is nothing in between.
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Option<FileId>> {
    use std::os::unix::fs::MetadataExt;

    let found = std::fs::metadata(path)?;
    Ok(Some((found.dev(), found.ino())))
}

/// Elsewhere, closing a file takes away no locks but its own.
#[cfg(not(unix))]
fn identity(_path: &Path) -> io::Result<Option<FileId>> {
    Ok(None)
}
