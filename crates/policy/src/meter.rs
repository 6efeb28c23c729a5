//! How often a skill did something in this turn.
//!
//! Counted by the bytes of the skill and not by its activation, so that activating it again does not start anew.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use metier_model::{Digest, Permission};

/// How often something may be done in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Commands.
    pub shell_exec: u64,
    /// Requests to the network.
    pub net_fetch: u64,
    /// Calls of a model.
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

/// What all skills did in this turn.
#[derive(Debug, Default)]
pub struct Meter {
    counts: Mutex<BTreeMap<(Digest, Permission), u64>>,
}

impl Meter {
    /// Counts one act, unless that would be one too many.
    pub(crate) fn take(&self, digest: Digest, permission: Permission, limit: u64) -> bool {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry((digest, permission)).or_default();
        let fits = *count < limit;
        *count += u64::from(fits);
        fits
    }

    /// A new turn begins: everything counts from zero again.
    pub fn next_turn(&self) {
        self.counts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}
