//! A value behind a lock.
//!
//! A session can move to another thread, so its shared parts are behind locks. No lock is held while a skill or a hook is called,
//! or another lock is taken, except that of the store: it is taken first (`approvals/on_use.rs`). Long work takes the value out and puts it back.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value that one caller uses at a time. A panic of a caller leaves it unchanged.
#[derive(Debug, Default)]
pub(crate) struct Guarded<T>(Mutex<T>);

impl<T> Guarded<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, value: T) {
        *self.lock() = value;
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Copy> Guarded<T> {
    pub(crate) fn get(&self) -> T {
        *self.lock()
    }
}

impl<T: Default> Guarded<T> {
    pub(crate) fn take(&self) -> T {
        std::mem::take(&mut *self.lock())
    }
}

impl<T> From<T> for Guarded<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
