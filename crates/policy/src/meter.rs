//! Counts how often a skill acted in this turn.
//!
//! Counted by the skill's digest and not by activation, so that activating it again does not reset the count.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use metier_model::{Digest, Permission};

/// The maximum number of acts in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// The maximum number of commands.
    pub shell_exec: u64,
    /// The maximum number of network requests.
    pub net_fetch: u64,
    /// The maximum number of model calls.
    pub llm_call: u64,
}

impl Rates {
    /// The limit of one permission, if it has one.
    #[must_use]
    pub const fn of(&self, permission: Permission) -> Option<u64> {
        match permission {
            Permission::ShellExec => Some(self.shell_exec),
            Permission::NetFetch => Some(self.net_fetch),
            Permission::LlmCall => Some(self.llm_call),
            _ => None,
        }
    }
}

/// The counts of all skills in this turn.
#[derive(Debug, Default)]
pub struct ActMeter {
    counts: Mutex<BTreeMap<(Digest, Permission), u64>>,
}

impl ActMeter {
    /// Counts one act; fails if the limit is reached.
    pub(crate) fn take(&self, digest: Digest, permission: Permission, limit: u64) -> bool {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry((digest, permission)).or_default();
        let fits = *count < limit;
        *count += u64::from(fits);
        fits
    }

    /// Starts a new turn: all counts are zero again.
    pub fn next_turn(&self) {
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}
