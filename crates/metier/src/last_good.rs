//! The last good version of each skill that was used, for a long-running program.
//!
//! A skill that is being edited is broken for a while. A client that uses it meanwhile gets the bytes that worked before. They are checked like any others:
//! the verdict, the pin and the approvals belong to these bytes. Skills that were removed, disabled or blocked have no last good version.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use metier_catalog::{Catalog, CatalogEntry, Snapshot, SnapshotContent};
use metier_model::Digest;

/// The maximum number of skills, of bytes of one of them, and of bytes of all.
const MAX_SKILLS: usize = 256;
const MAX_BYTES: usize = 4 << 20;
const MAX_TOTAL_BYTES: usize = 32 << 20;

/// The last good versions that are used instead of broken skills, by path.
pub(crate) type SubstitutedSkills = BTreeMap<PathBuf, Arc<Snapshot>>;

/// The skills that were used, in the version that was used last.
#[derive(Default)]
pub(crate) struct LastGood {
    kept: Mutex<KeptVersions>,
}

#[derive(Default)]
struct KeptVersions {
    skills: BTreeMap<PathBuf, KeptVersion>,
    uses: u64,
    bytes: usize,
}

struct KeptVersion {
    entry: CatalogEntry,
    snapshot: Arc<Snapshot>,
    bytes: usize,
    last_use: u64,
}

impl LastGood {
    /// Whether these bytes of a skill are kept. Counts as a use of the skill.
    pub(crate) fn has(&self, path: &Path, digest: Digest) -> bool {
        let mut kept = self.kept();
        kept.uses += 1;
        let uses = kept.uses;
        let found = kept.skills.get_mut(path);
        found.is_some_and(|found| {
            found.last_use = uses;
            found.snapshot.digest == digest
        })
    }

    /// Keeps a version of a skill that may be used. The skills that were used longest ago make room for it.
    pub(crate) fn keep(&self, entry: &CatalogEntry, snapshot: Snapshot) {
        let bytes = size(&snapshot);
        if bytes > MAX_BYTES || entry.card.is_none() {
            return;
        }
        let mut kept = self.kept();
        let path = entry.place.path().into_owned();
        kept.forget(&path);
        while kept.skills.len() >= MAX_SKILLS || kept.bytes + bytes > MAX_TOTAL_BYTES {
            let oldest = kept.skills.iter().min_by_key(|(_, one)| one.last_use);
            let Some(oldest) = oldest.map(|(path, _)| path.clone()) else {
                break;
            };
            kept.forget(&oldest);
        }
        kept.uses += 1;
        kept.bytes += bytes;
        let version = KeptVersion {
            entry: entry.clone(),
            snapshot: Arc::new(snapshot),
            bytes,
            last_use: kept.uses,
        };
        kept.skills.insert(path, version);
    }

    /// The catalog with the last good versions of skills that can't be read, if there are any. Where another skill has the name, that one is used.
    pub(crate) fn substitute(&self, catalog: &Catalog) -> Option<(Catalog, SubstitutedSkills)> {
        let broken = |entry: &&CatalogEntry| entry.card.is_none();
        if !catalog.entries.iter().any(|entry| broken(&entry)) {
            return None;
        }
        let kept = self.kept();
        let names: BTreeSet<&str> = catalog
            .entries
            .iter()
            .filter_map(|entry| Some(&*entry.card.as_ref()?.name))
            .collect();
        let mut found = Vec::new();
        for (position, entry) in catalog.entries.iter().enumerate() {
            let version = kept.skills.get(&*entry.place.path());
            let version = version.filter(|_| broken(&entry));
            let card = version.and_then(|version| version.entry.card.as_ref());
            if let (Some(version), Some(card)) = (version, card)
                && !names.contains(&*card.name)
            {
                found.push((position, version));
            }
        }
        if found.is_empty() {
            return None;
        }
        let mut substituted = catalog.clone();
        let mut skills = SubstitutedSkills::new();
        for (position, version) in found {
            let entry = &mut substituted.entries[position];
            entry.card.clone_from(&version.entry.card);
            entry.files.clone_from(&version.entry.files);
            entry.diagnostics.clone_from(&version.entry.diagnostics);
            entry.digest = Some(version.snapshot.digest);
            let path = entry.place.path().into_owned();
            skills.insert(path, Arc::clone(&version.snapshot));
        }
        Some((substituted, skills))
    }

    fn kept(&self) -> MutexGuard<'_, KeptVersions> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptVersions {
    fn forget(&mut self, path: &Path) {
        if let Some(version) = self.skills.remove(path) {
            self.bytes -= version.bytes;
        }
    }
}

fn size(snapshot: &Snapshot) -> usize {
    let files = snapshot.files.iter();
    files
        .map(|file| match &file.content {
            SnapshotContent::Bytes(bytes) => bytes.len() + 128,
            _ => 128,
        })
        .sum()
}
