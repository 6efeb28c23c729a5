//! Ending a call from outside.
//!
//! Only a flag: a signal handler may do no more than store to it. Waiting code checks it so often ([`Cancel::GLANCE`])
//! that a person does not notice the difference.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A flag that many may hold and any of them may set.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Maximum time between two checks of the flag.
    pub const GLANCE: Duration = Duration::from_millis(20);

    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends every wait with this flag. Safe to call in a signal handler, and more than once.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the work was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Clears the flag for the next call.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Release);
    }

    /// The flag itself, for code that waits in another crate.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Sleeps, unless it is cancelled; returns whether it slept to the end.
    pub(crate) fn sleep(&self, pause: Duration) -> bool {
        let end = Instant::now() + pause;
        while !self.is_cancelled() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(Self::GLANCE));
        }
        false
    }
}

/// A flag that other code sets, such as a signal handler.
impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }
}
