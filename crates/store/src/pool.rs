//! Connections to one database that are kept for the next caller.
//!
//! Opening a database takes a dozen system calls and reads its schema; a daemon would do that for each request. A pool opens as many
//! connections as there are callers at a time, and keeps a few of them.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Store, StoreError};

/// How many connections wait for a caller; further ones are closed.
pub(crate) const MAX_IDLE: usize = 4;

/// Connections to one database. Clones are the same pool.
///
/// ```
/// # fn main() -> Result<(), metier_store::StoreError> {
/// # let home = tempfile::tempdir().expect("a temporary folder");
/// let pool = metier_store::StorePool::new(home.path().join("metier.db"));
/// assert!(pool.existing()?.is_none());
/// pool.store()?.append(&[])?;
/// assert!(pool.existing()?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct StorePool(Arc<PoolInner>);

#[derive(Debug)]
struct PoolInner {
    database: PathBuf,
    idle: Mutex<Vec<Store>>,
}

/// A [`Store`] of a pool, for one caller. It returns to the pool when it is dropped.
#[derive(Debug)]
pub struct PooledStore {
    /// Taken only by `drop`.
    store: Option<Store>,
    pool: StorePool,
}

impl StorePool {
    /// A pool for the database at a path. Nothing is opened or created yet.
    #[must_use]
    pub fn new(database: PathBuf) -> Self {
        let idle = Mutex::default();
        Self(Arc::new(PoolInner { database, idle }))
    }

    /// The path of the database.
    #[must_use]
    pub fn database(&self) -> &Path {
        &self.0.database
    }

    /// A connection; the database is created if it is missing, as by [`Store::open`].
    ///
    /// # Errors
    /// When the database can't be opened.
    pub fn store(&self) -> Result<PooledStore, StoreError> {
        let store = match self.take_idle() {
            Some(store) => store,
            None => Store::open(&self.0.database)?,
        };
        Ok(self.lend(store))
    }

    /// A connection if the database exists, as by [`Store::open_existing`].
    ///
    /// # Errors
    /// When the database exists and can't be opened.
    pub fn existing(&self) -> Result<Option<PooledStore>, StoreError> {
        let store = match self.take_idle() {
            Some(store) => Some(store),
            None => Store::open_existing(&self.0.database)?,
        };
        Ok(store.map(|store| self.lend(store)))
    }

    fn lend(&self, store: Store) -> PooledStore {
        let pool = self.clone();
        let store = Some(store);
        PooledStore { store, pool }
    }

    /// A connection to the file that is at the path now: one to a file that was removed or replaced is closed.
    fn take_idle(&self) -> Option<Store> {
        let mut idle = self.idle();
        idle.retain(Store::is_current);
        idle.pop()
    }

    /// How many connections wait for a caller.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.idle().len()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Store>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for PooledStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        let Some(store) = &self.store else {
            unreachable!("a pooled store is taken only when it is dropped")
        };
        store
    }
}

impl Drop for PooledStore {
    fn drop(&mut self) {
        // A store that began an act vouches for it while it is open, so it ends with its caller.
        let Some(store) = self.store.take().filter(|store| !store.has_begun()) else {
            return;
        };
        let mut idle = self.pool.idle();
        if idle.len() < MAX_IDLE {
            idle.push(store);
        }
    }
}
