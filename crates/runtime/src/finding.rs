//! Finds skills of an inventory by the words of a task.
//!
//! Names and descriptions of all skills that are ready or have missing requirements are searched, and the bodies of those whose exact bytes
//! were scanned and admitted: a body is indexed only from an [`AdmittedSnapshot`]. A skill is found by the digest of its bytes, so a
//! changed skill is searched by its name and description until it was scanned again.

use std::{collections::HashMap, panic::resume_unwind, thread};

use metier_catalog::{CatalogEntry, IndexBytes, SkillLocation, TextIndex};
use metier_model::{Digest, SkillManifest};
use metier_select::{
    Signal, TriggerMatch,
    search::{
        DamagedIndex, SearchHit, SearchHits, SearchableSkill, Segment, SegmentBuilder, SkillIndex,
        SkillKey, TaskWords,
    },
};

use crate::{
    AdmittedSnapshot,
    inventory::{Inventory, InventorySkill, Status},
    prompt,
    selecting::ManifestReading,
};

/// The manifest has triggers, or words for the rules about domains.
const HAS_TRIGGERS: u8 = 1;
/// How many skills' texts are in memory at the same time, for each thread.
const CHUNK: usize = 2_048;
/// With more new skills than this, the parts of an index are kept in files until they are merged.
const MANY: usize = 4 * CHUNK;

/// The skills of an inventory, ready to be searched.
pub struct SkillFinder {
    index: SkillIndex<IndexBytes>,
    /// The positions of skills in the inventory.
    positions: HashMap<SkillKey, Vec<usize>>,
    /// By position: whether the manifest is known to have no triggers.
    plain: Vec<bool>,
    /// By position: whether the skill is ready.
    ready: Vec<bool>,
    /// How many skills are searched by their name and description only.
    without_body: usize,
}

/// The results for a task.
#[derive(Clone, Debug, Default)]
pub struct FoundSkills {
    /// Best first.
    pub skills: Vec<FoundSkill>,
    /// The words of the task, and their weights.
    pub words: TaskWords,
}

/// A skill that contains words of a task.
#[derive(Clone, Debug)]
pub struct FoundSkill {
    /// Its position in the inventory.
    pub position: usize,
    /// How well it fits, and why.
    pub hit: SearchHit,
}

/// Returns the bytes of a skill, if they were scanned and are admitted.
pub type SnapshotAdmission<'a> = &'a (dyn Fn(&CatalogEntry) -> Option<AdmittedSnapshot> + Sync);

impl SkillFinder {
    /// Searches names and descriptions only.
    #[must_use]
    pub fn of_cards(inventory: &Inventory) -> Self {
        Self::new(inventory, None, &|_| None, None)
    }

    /// Searches bodies too. Those that are not in the files are read and added.
    #[must_use]
    pub fn with_bodies(
        inventory: &Inventory,
        files: Option<&TextIndex>,
        admit: SnapshotAdmission<'_>,
        reading: ManifestReading,
    ) -> Self {
        Self::new(inventory, files, admit, Some(reading))
    }

    fn new(
        inventory: &Inventory,
        files: Option<&TextIndex>,
        admit: SnapshotAdmission<'_>,
        reading: Option<ManifestReading>,
    ) -> Self {
        let mut keys: HashMap<SkillKey, Vec<usize>> = HashMap::new();
        let mut rest = Vec::new();
        for (position, skill) in inventory.skills.iter().enumerate() {
            let digest = reading.and(inventory.entry(skill).digest);
            if !is_searched(skill) {
                continue;
            }
            match digest.filter(|_| !inventory.is_unscanned(skill)) {
                Some(digest) => keys.entry(key(digest)).or_default().push(position),
                None => rest.push(position),
            }
        }
        let mut segments = files.map(TextIndex::open).unwrap_or_default();
        let is_there = |key: &SkillKey| {
            let mut all = segments.iter();
            all.any(|segment| segment.keys().binary_search(key).is_ok())
        };
        let missing = keys.iter().filter(|(key, _)| !is_there(key));
        let missing = missing.filter_map(|(key, positions)| Some((*key, *positions.first()?)));
        let mut missing: Vec<(SkillKey, usize)> = missing.collect();
        missing.sort_unstable();
        if let Some(reading) = reading {
            let new = read_all(inventory, &missing, admit, reading, files);
            let lives = |key: &SkillKey| keys.contains_key(key);
            let files = files.filter(|_| !new.is_empty());
            match files.map(|files| (files.add(&new, lives), files)) {
                // The files contain the new parts, which therefore need not stay in memory.
                Some((Ok(()), files)) => segments = files.open(),
                // A cache that can't be written only costs time.
                _ => segments.extend(new),
            }
        }
        let marked = segments.iter().flat_map(Segment::marked);
        let mut plain = vec![false; inventory.skills.len()];
        let mut found = std::collections::HashSet::new();
        for (key, marks) in marked {
            found.insert(*key);
            for position in keys.get(key).into_iter().flatten() {
                if let Some(plain) = plain.get_mut(*position) {
                    *plain = marks & HAS_TRIGGERS == 0;
                }
            }
        }
        // A skill that could not be read is searched like an unscanned one.
        let unread = missing.iter().filter(|(key, _)| !found.contains(key));
        rest.extend(unread.map(|(_, position)| *position));
        let without_body = rest.len();
        segments.extend(cards(inventory, &rest, &mut keys, reading));
        let ready = inventory.skills.iter();
        let ready: Vec<bool> = ready.map(|skill| skill.status == Status::Ready).collect();
        let is_ready = |position: &usize| ready.get(*position) == Some(&true);
        let is_hidden = |key: &SkillKey| {
            let positions = keys.get(key);
            positions.is_some_and(|positions| !positions.iter().any(is_ready))
        };
        let index = SkillIndex::new(segments, |key| keys.contains_key(key)).hiding(is_hidden);
        Self {
            index,
            positions: keys,
            plain,
            ready,
            without_body,
        }
    }

    /// The ready skills that fit a task best.
    ///
    /// # Errors
    /// When a file of the index is damaged.
    pub fn find(&self, task: &str, limit: usize) -> Result<FoundSkills, DamagedIndex> {
        let mut found = self.placed(self.index.search(task, limit)?);
        let is_ready = |found: &FoundSkill| self.ready.get(found.position) == Some(&true);
        found.skills.retain(is_ready);
        Ok(found)
    }

    /// The skills that fit a task best, including those that are not ready.
    ///
    /// # Errors
    /// When a file of the index is damaged.
    pub fn find_any(&self, task: &str, limit: usize) -> Result<FoundSkills, DamagedIndex> {
        Ok(self.placed(self.index.search_all(task, limit)?))
    }

    fn placed(&self, found: SearchHits) -> FoundSkills {
        let places = found.hits.into_iter().flat_map(|hit| {
            let positions = self.positions.get(&hit.key).into_iter().flatten();
            let found = positions.map(move |position| (*position, hit.clone()));
            found.map(|(position, hit)| FoundSkill { position, hit })
        });
        FoundSkills {
            skills: places.collect(),
            words: found.words,
        }
    }

    /// Whether a manifest is known to have no triggers, so that it needn't be read.
    #[must_use]
    pub fn is_plain(&self, position: usize) -> bool {
        self.plain.get(position).copied().unwrap_or(false)
    }

    /// How many skills are searched, and how many of them by their name and description only.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.index.len(), self.without_body)
    }
}

impl FoundSkill {
    /// The weight of the best possible text: that of a keyword, which the author declares while this is a guess.
    const WEIGHT: f64 = 0.4;
    /// A skill with less of the task than this is a weak match. It is still listed: short descriptions contain few words of any task.
    const WEAK: f32 = 1.0 / 3.0;

    /// Whether the skill contains little of the task.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.hit.covered < Self::WEAK
    }

    /// The match as a signal.
    #[must_use]
    pub fn signal(&self) -> TriggerMatch {
        let words = self.hit.shares.first().map(|share| share.words.clone());
        let weight = Self::WEIGHT * f64::from(self.hit.fit);
        TriggerMatch {
            signal: Signal::Text,
            subject: words.unwrap_or_default(),
            detail: match self.is_weak() {
                true => format!("a weak match: {}", self.hit.told()),
                false => self.hit.told(),
            },
            weight: (weight * 10_000.0).round() / 10_000.0,
        }
    }
}

/// A skill that lacks a program today may be found tomorrow, and counts for the rarity of words on every machine.
fn is_searched(skill: &InventorySkill) -> bool {
    matches!(skill.status, Status::Ready | Status::NotReady)
}

fn key(digest: Digest) -> SkillKey {
    let (key, _) = digest.0.split_at(16);
    key.try_into().unwrap_or_default()
}

/// Skills that are searched by name and description, as a segment in memory. Built-in skills have their bodies too: their bytes are
/// those of the program.
fn cards(
    inventory: &Inventory,
    positions: &[usize],
    keys: &mut HashMap<SkillKey, Vec<usize>>,
    reading: Option<ManifestReading>,
) -> Option<Segment<IndexBytes>> {
    let mut builder = SegmentBuilder::default();
    for position in positions {
        let entry = inventory.entry(inventory.skills.get(*position)?);
        let Some(card) = &entry.card else { continue };
        // No digest starts like this, except by an accident that has no effect.
        let mut key = [0xff; 16];
        for (to, from) in key.iter_mut().rev().zip(position.to_le_bytes()) {
            *to = from;
        }
        let is_builtin = matches!(entry.place, SkillLocation::Builtin(_));
        let reading = reading.filter(|_| is_builtin);
        let loaded = reading.and_then(|reading| entry.load(reading.mode, reading.max_bytes).ok());
        builder.add(&SearchableSkill {
            key,
            name: card.name.as_str(),
            description: &prompt::describe(card),
            body: loaded.as_ref().map_or("", |(_, body)| body),
            marks: HAS_TRIGGERS,
        });
        keys.insert(key, vec![*position]);
    }
    Segment::open(IndexBytes::Memory(builder.finish()))
}

/// Reads skills whose bytes are admitted, on several threads.
fn read_all(
    inventory: &Inventory,
    missing: &[(SkillKey, usize)],
    admit: SnapshotAdmission<'_>,
    reading: ManifestReading,
    files: Option<&TextIndex>,
) -> Vec<Segment<IndexBytes>> {
    let per_thread = missing
        .len()
        .div_ceil(reading.threads.max(1))
        .clamp(64, CHUNK);
    let mut segments = Vec::new();
    let chunks: Vec<&[(SkillKey, usize)]> = missing.chunks(per_thread).collect();
    for chunks in chunks.chunks(reading.threads.max(1)) {
        let read = |chunk: &[(SkillKey, usize)]| {
            let mut builder = SegmentBuilder::default();
            for (key, position) in chunk {
                if let Some(skill) = inventory.skills.get(*position) {
                    read_one(inventory, skill, *key, admit, reading, &mut builder);
                }
            }
            (!builder.is_empty()).then(|| builder.finish())
        };
        let made: Vec<Option<Vec<u8>>> = thread::scope(|scope| {
            let running: Vec<_> = chunks
                .iter()
                .map(|chunk| scope.spawn(move || read(chunk)))
                .collect();
            let joined = running.into_iter().map(thread::ScopedJoinHandle::join);
            joined
                .map(|made| made.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        });
        let made = made.into_iter().flatten().map(|part| match files {
            Some(files) if missing.len() > MANY => files.wait(part),
            _ => IndexBytes::Memory(part),
        });
        segments.extend(made.filter_map(Segment::open));
    }
    segments
}

fn read_one(
    inventory: &Inventory,
    skill: &InventorySkill,
    wanted: SkillKey,
    admit: SnapshotAdmission<'_>,
    reading: ManifestReading,
    builder: &mut SegmentBuilder,
) {
    let entry = inventory.entry(skill);
    let Some(snapshot) = admit(entry).map(AdmittedSnapshot::into_snapshot) else {
        return;
    };
    if key(snapshot.digest) != wanted {
        return;
    }
    let Ok((parsed, body)) = entry.load_held(&snapshot, reading.mode, reading.max_bytes) else {
        return;
    };
    let Some(manifest) = parsed.manifest else {
        return;
    };
    builder.add(&SearchableSkill {
        key: wanted,
        name: manifest.card.name.as_str(),
        description: &prompt::describe(&manifest.card),
        body: &body,
        marks: u8::from(has_triggers(&manifest)) * HAS_TRIGGERS,
    });
}

fn has_triggers(manifest: &SkillManifest) -> bool {
    let triggers = &manifest.triggers;
    let lists = [
        &triggers.files,
        &triggers.keywords,
        &triggers.languages,
        &triggers.modes,
        &manifest.invocation.paths,
    ];
    let about = &manifest.about;
    lists.iter().any(|list| !list.is_empty())
        || about.category.is_some()
        || !about.tags.is_empty()
        || manifest.metadata.get("domain").is_some()
}
