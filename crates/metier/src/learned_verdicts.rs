//! Verdicts and digests that a long-running program learned since its last list.
//!
//! **Problem.** The files of the cache are written as a whole. With ten thousand skills that takes longer than the scan of the skill that is activated.
//! **Decision.** What is learned is used immediately and written later, in one go: before the skills are listed again, and when the
//! program ends. A list reads the file once, so what was written after it is used from here until the next one.

use std::{
    collections::HashMap,
    os::fd::OwnedFd,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use metier_catalog::{Fingerprint, NotedVerdict, VerdictKey};
use metier_model::Digest;
use rustix::io::write;

/// Verdicts and digests that the current list does not contain.
pub(crate) struct LearnedVerdicts {
    kept: Mutex<UnwrittenVerdicts>,
    /// The verdicts in the file that are not yet in a list.
    written: Mutex<HashMap<VerdictKey, NotedVerdict>>,
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
            written: Mutex::default(),
            wake,
        }
    }

    /// Adds the results of a scan.
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
        let of_this_name = |noted: &&NotedVerdict| *noted.name == *name;
        let new = self.kept().verdicts.get(&key).filter(of_this_name).cloned();
        new.or_else(|| lock(&self.written).get(&key).filter(of_this_name).cloned())
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        let kept = self.kept();
        kept.verdicts.is_empty() && kept.digests.is_empty()
    }

    /// Takes everything that is not written yet.
    pub(crate) fn take(&self) -> UnwrittenVerdicts {
        let mut kept = self.kept();
        // Both are locked, so that a verdict is always in one of them.
        let new = kept.verdicts.iter();
        let new = new.map(|(key, noted)| (*key, noted.clone()));
        lock(&self.written).extend(new);
        std::mem::take(&mut *kept)
    }

    /// Forgets what was written, for a list that is about to read the file.
    pub(crate) fn forget_written(&self) {
        lock(&self.written).clear();
    }

    fn kept(&self) -> MutexGuard<'_, UnwrittenVerdicts> {
        lock(&self.kept)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use rustix::event::{EventfdFlags, eventfd};

    use super::*;

    /// A list does not read what is written after it: without this, each use of a skill until the next list would scan it again.
    #[test]
    fn a_verdict_is_known_until_a_list_can_read_it() {
        let wake = Arc::new(eventfd(0, EventfdFlags::NONBLOCK).unwrap());
        let learned = LearnedVerdicts::new(wake);
        let key = VerdictKey {
            digest: [7; 32],
            rules: 1,
        };
        let noted = NotedVerdict {
            name: "pdf".into(),
            verdict: "clean".into(),
            rule: "".into(),
            file: "".into(),
            line: 0,
            message: "".into(),
        };
        learned.add(vec![(key, noted.clone())], Vec::new());
        assert_eq!(learned.find(key, "pdf"), Some(noted.clone()));
        assert_eq!(learned.find(key, "another"), None);

        assert_eq!(
            learned.take().verdicts,
            HashMap::from([(key, noted.clone())])
        );
        assert!(learned.is_empty());
        assert_eq!(learned.find(key, "pdf"), Some(noted));

        learned.forget_written();
        assert_eq!(learned.find(key, "pdf"), None);
    }
}
