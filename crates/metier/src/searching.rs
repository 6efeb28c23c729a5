//! Finds skills by the words of a query, in names, descriptions and bodies.
//!
//! The index is brought up to date first: what was never scanned is scanned, because only admitted bytes are searched; what
//! changed is read again; the rest comes from the cache.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use metier_catalog::TextIndex;
use metier_runtime::{
    finding::{FoundSkill, FoundSkills, SkillFinder},
    prompt,
    selecting::{Candidates, ManifestReading},
};
use metier_select::{Situation, UsageMode, search::DamagedIndex};

use crate::{NoticeLevel, Skills, Workspace};

/// How many skills a search returns for a selection.
pub(crate) const SEARCHED: usize = 50;
/// How many skills a search returns where ranks are compared.
const ROUTED: usize = 50;
/// Without a requested number, at most this many are named because of their words.
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
        let (skills, _) = self.scanned(skills, patience);
        let reading = self.search_reading();
        let finder = self.finder(&skills, reading);
        let inventory = &skills.inventory;
        let wanted = SearchScope::Ready(limit.saturating_mul(2));
        let (found, _) = self.hits(&skills, finder, reading, query, wanted);
        let results = found.skills.into_iter().filter_map(|found| {
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

    /// The skills with verdicts on those that were never scanned, and how many are left without one. Without a limit all of them are
    /// scanned, once.
    pub(crate) fn scanned(&self, skills: &Skills, patience: Option<Duration>) -> (Skills, usize) {
        let wanted = prompt::unscanned(&skills.inventory, true);
        if wanted.is_empty() || !self.config.security.scan_on_load {
            return (skills.clone(), 0);
        }
        let mut inventory = (*skills.inventory).clone();
        let gate = self.screening(&inventory.catalog);
        if let Err(error) = gate.check_rules() {
            // Names and descriptions are searched; `metier scan` reports the rule.
            self.notices
                .notice(NoticeLevel::Warning, &error.to_string());
            return (skills.clone(), wanted.len());
        }
        let left = gate.look_at(&mut inventory, wanted, patience);
        let inventory = Arc::new(inventory);
        (Skills { inventory }, left)
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
        // The rules of the scanner are read only if a body is not in the index yet.
        let gate = OnceLock::new();
        let admit = |entry: &metier_catalog::CatalogEntry| {
            let gate = gate.get_or_init(|| self.screening(&skills.inventory.catalog));
            gate.admitted_before(entry)
        };
        SkillFinder::with_bodies(&skills.inventory, files.as_ref(), &admit, reading)
    }

    /// The results for a task; with a damaged index, after it was rebuilt. Returns the finder for further tasks.
    pub(crate) fn hits(
        &self,
        skills: &Skills,
        finder: SkillFinder,
        reading: ManifestReading,
        task: &str,
        scope: SearchScope,
    ) -> (FoundSkills, SkillFinder) {
        if let Ok(found) = scope.find(&finder, task) {
            return (found, finder);
        }
        drop(finder);
        if let Some(files) = self.search_files(skills) {
            // If they can't be removed, names and descriptions are searched below.
            files.clear().ok();
        }
        let again = self.finder(skills, reading);
        match scope.find(&again, task) {
            Ok(found) => (found, again),
            Err(_) => {
                let cards = SkillFinder::of_cards(&skills.inventory);
                (scope.find(&cards, task).unwrap_or_default(), cards)
            }
        }
    }

    /// Many tasks against the same skills. What was never scanned is scanned first, all of it.
    pub(crate) fn router(&self, skills: &Skills) -> TaskRouter {
        let (skills, _) = self.scanned(skills, None);
        let reading = ManifestReading {
            everything: true,
            ..self.search_reading()
        };
        let finder = self.finder(&skills, reading);
        // A damaged index is rebuilt now.
        let scope = SearchScope::Any(1);
        let (_, finder) = self.hits(&skills, finder, reading, "", scope);
        TaskRouter {
            candidates: Candidates::read_beside(&skills.inventory, reading, Some(&finder)),
            skills,
            finder,
        }
    }

    pub(crate) fn search_reading(&self) -> ManifestReading {
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

/// Which skills a search returns, and how many.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SearchScope {
    /// Only skills that are ready.
    Ready(usize),
    /// Also those that are not.
    Any(usize),
}

impl SearchScope {
    fn find(self, finder: &SkillFinder, task: &str) -> Result<FoundSkills, DamagedIndex> {
        match self {
            Self::Ready(limit) => finder.find(task, limit),
            Self::Any(limit) => finder.find_any(task, limit),
        }
    }
}

/// Skills that are ready for many tasks.
pub(crate) struct TaskRouter {
    pub(crate) skills: Skills,
    finder: SkillFinder,
    candidates: Candidates,
}

/// The skills that a task finds, by their words and triggers; the project, rules and gates don't count.
pub(crate) struct RoutedTask {
    /// Positions in the inventory with their scores, best first.
    pub(crate) ranked: Vec<(usize, f64)>,
    pub(crate) found: FoundSkills,
}

impl TaskRouter {
    /// The skills that fit a task best.
    pub(crate) fn route(&self, task: &str) -> RoutedTask {
        self.route_some(task, ROUTED)
    }

    /// All skills that have a word of a task.
    pub(crate) fn route_all(&self, task: &str) -> RoutedTask {
        self.route_some(task, self.skills.inventory.skills.len())
    }

    fn route_some(&self, task: &str, limit: usize) -> RoutedTask {
        let found = self.finder.find_any(task, limit).unwrap_or_default();
        let situation = Situation {
            task,
            files: &[],
            languages: &[],
            mode: UsageMode::Interactive,
            explicit: &[],
        };
        RoutedTask {
            ranked: self.candidates.ranked(&situation, &found),
            found,
        }
    }

    /// The name of a skill.
    pub(crate) fn name(&self, position: usize) -> String {
        let inventory = &self.skills.inventory;
        let skill = inventory.skills.get(position);
        skill.map_or_else(String::new, |skill| {
            inventory.entry(skill).name().into_owned()
        })
    }
}

/// The points from which on a search picks: the requested number of skills, or those that match at least half as well as the best.
pub(crate) fn enough<'f>(found: impl Iterator<Item = &'f FoundSkill>, top: Option<usize>) -> f32 {
    let points: Vec<f32> = found.map(|found| found.hit.points).collect();
    let best = points.first().copied().unwrap_or(f32::INFINITY);
    let good = points.partition_point(|points| points * 2.0 >= best);
    let count = top.map_or(good.min(NAMED), |top| top.max(SEARCHED));
    let last = count.min(points.len()).checked_sub(1);
    last.and_then(|last| points.get(last))
        .copied()
        .unwrap_or(f32::INFINITY)
}
