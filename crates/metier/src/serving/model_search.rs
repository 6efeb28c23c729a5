//! The information that a model gets before it knows the name of a skill: the catalog in its instructions, lists and searches.
//!
//! **Problem.** Ten thousand skills don't fit into instructions, and a list of them fits into no answer. **Decision.** The instructions name the skills
//! that are nearest to the project within a budget of tokens, and say how many a search finds besides. [`Workspace::search_for_model`] is the only place
//! that ranks skills for such a model.

use std::{collections::HashMap, time::Duration};

use metier_model::Source;
use metier_runtime::{Status, StatusCounts, prompt};

use crate::{Skill, Skills, Workspace, selection::Task};

/// The size of the catalog by default, in tokens.
const BUDGET: usize = 2_000;

/// How many skills a search for a model returns at most by their texts.
const FOUND: usize = 200;
/// How long a search waits for scans of skills that were never scanned.
const SCAN_TIME: Duration = Duration::from_secs(2);

/// Which skills a list contains. By default those that a model can use or could use if something was fixed.
///
/// An example is at [`Workspace::list_for_model`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFilter {
    /// Only skills from this source.
    pub source: Option<Source>,
    /// Only skills with this status.
    pub status: Option<Status>,
    /// Only skills with this text in their name or description, ignoring case.
    pub query: Option<String>,
    /// Also skills that a model can't use: shadowed, disabled, invalid, or reserved for users.
    pub all: bool,
}

/// A skill that a search found.
///
/// An example is at [`Workspace::search_for_model`].
#[derive(Clone)]
pub struct RankedSkill<'s> {
    /// The skill.
    pub skill: Skill<'s>,
    /// How well it fits, between 0 and 1.
    pub score: f64,
    /// Why it fits, a sentence each.
    pub why: Vec<String>,
}

impl Workspace {
    /// The skills that a model can choose from, as text for its instructions, within a budget that leaves room for the conversation; those of the
    /// project come first. Nothing is scanned for it; `None` if there are no skills.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// print!("{}", workspace.catalog_for_model(&skills).unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn catalog_for_model(&self, skills: &Skills) -> Option<String> {
        let configured = |value: Option<u64>| value.and_then(|value| usize::try_from(value).ok());
        let wanted = &self.config.prompt;
        let most = configured(wanted.max_skills).unwrap_or(0);
        let options = prompt::ListingOptions {
            max_skills: most,
            budget: Some(configured(wanted.budget).unwrap_or(BUDGET)),
            bare: true,
            unscanned_locations: false,
            finder: Some("search_skills"),
            ..prompt::ListingOptions::default()
        };
        let inventory = skills.inventory();
        let mut listing = prompt::listing(inventory, &options);
        if listing.is_cut() {
            let ordered = self.project_fit().ordered(inventory, false);
            listing = prompt::listing_of(inventory, ordered, &options);
        }
        let text = prompt::write(&listing, &options);
        (!text.is_empty()).then_some(text)
    }

    /// The skills that a filter selects, by name, and how many of its source there are of each status.
    ///
    /// ```no_run
    /// use metier::SkillFilter;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// let filter = SkillFilter { query: Some("pdf".into()), ..SkillFilter::default() };
    /// let (found, counts) = workspace.list_for_model(&skills, &filter);
    /// println!("{} of {} that are ready", found.len(), counts.ready);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn list_for_model<'s>(
        &self,
        skills: &'s Skills,
        filter: &SkillFilter,
    ) -> (Vec<Skill<'s>>, StatusCounts) {
        let query = filter.query.as_deref().map(str::to_lowercase);
        let mut counts = StatusCounts::default();
        let mut found = Vec::new();
        for skill in skills.all() {
            if filter.source.is_some_and(|source| skill.source() != source) {
                continue;
            }
            counts.add(skill.status());
            let could_be_used = matches!(
                skill.status(),
                Status::Ready | Status::NotReady | Status::Blocked
            ) && skill.is_model_invocable();
            let matches = query.as_ref().is_none_or(|query| {
                let is_withheld = skill.judged().is_blocked_by_scan();
                skill.name().to_lowercase().contains(query)
                    || !is_withheld && skill.description().to_lowercase().contains(query)
            });
            let has_status = filter.status.is_none_or(|status| skill.status() == status);
            if (filter.all || could_be_used) && matches && has_status {
                found.push(skill);
            }
        }
        found.sort_by(|a, b| {
            let by_name = a.name().cmp(&b.name());
            by_name.then_with(|| a.path().as_os_str().cmp(b.path().as_os_str()))
        });
        (found, counts)
    }

    /// The skills that a model may use and that fit the words of a search, the best first.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// for found in workspace.search_for_model(&skills, "fill in a PDF form") {
    ///     println!("{:.2} {}: {}", found.score, found.skill.name(), found.why.join("; "));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn search_for_model<'s>(&self, skills: &'s Skills, query: &str) -> Vec<RankedSkill<'s>> {
        let task = Task {
            coding: Some(false),
            top: Some(FOUND),
            scan_time: SCAN_TIME,
            ..Task::new(query)
        };
        let matches = self.select(skills, task);
        let mut by_entry: HashMap<usize, Skill<'s>> = skills
            .all()
            .map(|skill| (skill.judged().entry, skill))
            .collect();
        let picks = matches.selection().picks.into_iter();
        let mut found: Vec<RankedSkill<'s>> = picks
            .filter_map(|pick| {
                Some(RankedSkill {
                    skill: by_entry.remove(&pick.skill.entry)?,
                    score: pick.score,
                    why: pick.why.into_iter().map(|one| one.detail).collect(),
                })
            })
            .collect();
        found.retain(|one| one.skill.is_model_invocable());
        found
    }
}
