//! One open database that several parts of a session share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Store;

/// A [`Store`] that can be cloned and sent to other threads. Clones are the same connection, used by one caller at a time.
#[derive(Clone, Debug)]
pub struct SharedStore(Arc<Mutex<Store>>);

impl SharedStore {
    /// The store, for one call. Waits while another thread uses it.
    pub fn lock(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Store> for SharedStore {
    fn from(store: Store) -> Self {
        Self(Arc::new(Mutex::new(store)))
    }
}
