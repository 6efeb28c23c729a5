//! The memory that all instances and all machine code of this process may use together.
//!
//! WebAssembly runs in metier's own process, so a limit for each instance is not enough: skills run at the same time and
//! invoke each other. Whatever a skill can make larger takes its bytes from one budget, and gives them back when it is dropped.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::WasmLimits;

/// The bytes that are taken now.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// A part of the budget.
#[derive(Debug, Default)]
pub(crate) struct MemoryShare(usize);

impl MemoryShare {
    /// A share of this size, if that much is left.
    pub(crate) fn of(bytes: usize) -> Option<Self> {
        let mut share = Self::default();
        share.grow(bytes).then_some(share)
    }

    /// Makes it larger, if that much is left.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let more = |taken: usize| {
            let wanted = taken.checked_add(bytes)?;
            (wanted <= WasmLimits::PROCESS).then_some(wanted)
        };
        let done = TAKEN.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        if done.is_ok() {
            self.0 += bytes;
        }
        done.is_ok()
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.0
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.0, Ordering::AcqRel);
    }
}

/// Held by a test that needs the budget for itself.
#[cfg(test)]
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    // case 234
    #[test]
    fn what_is_taken_is_not_there_for_others_until_it_is_dropped() {
        let _alone = alone();
        let half = WasmLimits::PROCESS / 2 + 1;
        let mut one = MemoryShare::of(half).unwrap();
        assert!(MemoryShare::of(half).is_none());
        assert!(!one.grow(half) && !one.grow(usize::MAX));
        assert_eq!(one.bytes(), half);
        drop(one);
        assert_eq!(MemoryShare::of(half).unwrap().bytes(), half);
    }
}
