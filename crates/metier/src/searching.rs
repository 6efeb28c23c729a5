//! Finds skills by the words of a query, in names, descriptions and bodies.
//!
//! The index is brought up to date first: what was never scanned is scanned, because only admitted bytes are searched; what
//! changed is read again; the rest comes from the cache.

use std::{sync::Arc, time::Duration};

use metier_catalog::TextIndex;
use metier_runtime::{
    finding::{FoundSkill, SkillFinder},
    prompt,
    selecting::ManifestReading,
};

use crate::{NoticeLevel, Skills, Workspace, selection::Task};

/// How many skills a search returns for a selection.
const SEARCHED: usize = 50;
/// Without a wanted number, at most this many are named because of their words.
const NAMED: usize = 10;

/// A skill that a search found.
///
/// An example is at [`Workspace::search_skills`].
#[derive(Clone, Debug)]
pub struct SkillResult {
    /// Its name.
    pub name: String,
    /// Its source: `user`, `project` …
    pub source: &'static str,
    /// Its description.
    pub description: String,
    /// How well it fits, between 0 and 1.
    pub score: f64,
    /// The words of the query, and where they are.
    pub why: String,
}

impl Workspace {
    /// The skills that a model can choose and that fit a query best, at most `limit`. Skills that were never scanned are scanned for at
    /// most `patience`; what is left is searched by name and description.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// for found in workspace.search_skills(&skills, "merge two PDF files", 10, None) {
    ///     println!("{:.2} {}: {}", found.score, found.name, found.why);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn search_skills(
        &self,
        skills: &Skills,
        query: &str,
        limit: usize,
        patience: Option<Duration>,
    ) -> Vec<SkillResult> {
        let skills = self.scanned(skills, patience);
        let reading = self.search_reading();
        let finder = self.finder(&skills, reading);
        let inventory = &skills.inventory;
        let found = self.hits(&skills, finder, reading, query, limit.saturating_mul(2));
        let results = found.into_iter().filter_map(|found| {
            let entry = inventory.entry(inventory.skills.get(found.position)?);
            let card = entry.card.as_ref().filter(|card| card.model_invocable)?;
            let signal = found.signal();
            Some(SkillResult {
                name: card.name.as_str().to_owned(),
                source: entry.source.as_str(),
                description: prompt::describe(card).into_owned(),
                score: signal.weight,
                why: signal.detail,
            })
        });
        results.take(limit).collect()
    }

    /// The skills with verdicts on those that were never scanned. Without a limit all of them are scanned, once.
    pub(crate) fn scanned(&self, skills: &Skills, patience: Option<Duration>) -> Skills {
        let wanted = prompt::unscanned(&skills.inventory, false);
        if wanted.is_empty() || !self.config.security.scan_on_load {
            return skills.clone();
        }
        let mut inventory = (*skills.inventory).clone();
        let gate = self.screening(&inventory.catalog);
        if let Err(error) = gate.check_rules() {
            // Names and descriptions are searched; `metier scan` reports the rule.
            self.notices
                .notice(NoticeLevel::Warning, &error.to_string());
            return skills.clone();
        }
        gate.look_at(&mut inventory, wanted, patience);
        Skills {
            inventory: Arc::new(inventory),
        }
    }

    fn search_files(&self, skills: &Skills) -> Option<TextIndex> {
        let home = self.index()?;
        Some(TextIndex::new(
            &home,
            &skills.inventory.catalog.roots,
            self.mode(),
        ))
    }

    pub(crate) fn finder(&self, skills: &Skills, reading: ManifestReading) -> SkillFinder {
        let files = self.search_files(skills);
        let gate = self.screening(&skills.inventory.catalog);
        let admit = |entry: &metier_catalog::CatalogEntry| gate.admitted_before(entry);
        SkillFinder::with_bodies(&skills.inventory, files.as_ref(), &admit, reading)
    }

    /// What a task finds; with a damaged index, after it was made again.
    fn hits(
        &self,
        skills: &Skills,
        finder: SkillFinder,
        reading: ManifestReading,
        task: &str,
        limit: usize,
    ) -> Vec<FoundSkill> {
        if let Ok(found) = finder.find(task, limit) {
            return found;
        }
        drop(finder);
        if let Some(files) = self.search_files(skills) {
            // If they can't be removed, names and descriptions are searched below.
            files.clear().ok();
        }
        let again = self.finder(skills, reading).find(task, limit);
        let cards = || SkillFinder::of_cards(&skills.inventory).find(task, limit);
        again.or_else(|_| cards()).unwrap_or_default()
    }

    /// What a task finds for a selection: everything that matches if one skill is explained, else the best.
    pub(crate) fn found(
        &self,
        skills: &Skills,
        finder: SkillFinder,
        reading: ManifestReading,
        task: &Task,
        everything: bool,
    ) -> Vec<FoundSkill> {
        let limit = match everything {
            true => skills.inventory.skills.len(),
            false => task.top.unwrap_or(0).max(SEARCHED),
        };
        self.hits(skills, finder, reading, &task.text, limit)
    }

    fn search_reading(&self) -> ManifestReading {
        ManifestReading {
            mode: self.mode(),
            max_bytes: self.config.limits.max_skill_bytes,
            threads: std::thread::available_parallelism()
                .map_or(1, usize::from)
                .min(8),
            everything: false,
            powers: false,
        }
    }
}

/// The skills that a search picks: as many as are wanted, or those that fit at least half as well as the best.
pub(crate) fn picked(found: &[FoundSkill], top: Option<usize>) -> &[FoundSkill] {
    let best = found.first().map_or(0.0, |best| best.hit.points);
    let good = found.partition_point(|found| found.hit.points * 2.0 >= best);
    let count = top.map_or(good.min(NAMED), |top| top.max(SEARCHED));
    found.get(..count).unwrap_or(found)
}
