//! Verdicts and digests that a long-running program found out and did not write yet.
//!
//! **Problem.** The files of the cache are written as a whole. With ten thousand skills that takes longer than the scan of the skill that is activated.
//! **Decision.** What is learned is used at once and written later, in one go: before the skills are listed again, and when the program ends.

use std::{
    collections::HashMap,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use metier_catalog::{Fingerprint, NotedVerdict, VerdictKey};
use metier_model::Digest;
use rustix::io::write;

/// What was learned since the last list.
pub(crate) struct LearnedVerdicts {
    kept: Mutex<UnwrittenVerdicts>,
    /// Wakes the thread that writes it.
    wake: Arc<OwnedFd>,
}

/// Verdicts on bytes, and digests of folders.
#[derive(Default)]
pub(crate) struct UnwrittenVerdicts {
    pub(crate) verdicts: HashMap<VerdictKey, NotedVerdict>,
    pub(crate) digests: Vec<(PathBuf, Digest, Fingerprint)>,
}

impl LearnedVerdicts {
    pub(crate) fn new(wake: Arc<OwnedFd>) -> Self {
        Self {
            kept: Mutex::default(),
            wake,
        }
    }

    /// Adds what a scan found out.
    pub(crate) fn add(
        &self,
        verdicts: Vec<(VerdictKey, NotedVerdict)>,
        digests: Vec<(PathBuf, Digest, Fingerprint)>,
    ) {
        if verdicts.is_empty() && digests.is_empty() {
            return;
        }
        let mut kept = self.kept();
        kept.verdicts.extend(verdicts);
        kept.digests.extend(digests);
        drop(kept);
        write(&self.wake, &1_u64.to_ne_bytes()).ok();
    }

    /// The verdict about these bytes under this name.
    pub(crate) fn find(&self, key: VerdictKey, name: &str) -> Option<NotedVerdict> {
        let kept = self.kept();
        let noted = kept.verdicts.get(&key);
        noted.filter(|noted| *noted.name == *name).cloned()
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        let kept = self.kept();
        kept.verdicts.is_empty() && kept.digests.is_empty()
    }

    /// Everything, to be written.
    pub(crate) fn take(&self) -> UnwrittenVerdicts {
        std::mem::take(&mut *self.kept())
    }

    fn kept(&self) -> MutexGuard<'_, UnwrittenVerdicts> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
