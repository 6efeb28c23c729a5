//! The system prompt about skills: a catalog with the texts of active skills, or whole bodies.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use metier_catalog::{ProjectLimits, project_files};
use metier_model::{Strictness, hooks::may_hook};
use metier_runtime::{
    AdmittedSnapshot, Inventory,
    project_fit::ProjectFit,
    prompt::{self, FullOptions, PromptListing},
    render::Arguments,
};
use metier_select::languages::detect;

pub use metier_runtime::prompt::PromptFormat;

use crate::{
    Error, NoticeLevel, ShowOptions, Skills, Workspace, explain, selection::Task, text::one_line,
};

/// How many skills a task puts in order.
const RANKED: usize = 200;

/// How long skills are scanned before they are named.
const SCAN_TIME: Duration = Duration::from_secs(2);

/// Options of [`Workspace::prompt`] and [`Workspace::full_prompt`].
///
/// An example is at [`Workspace::prompt`].
#[derive(Clone, Debug, Default)]
pub struct PromptOptions {
    /// Text before it.
    pub base: String,
    /// How the catalog is written.
    pub format: PromptFormat,
    /// At most this many skills, 0 for no limit; by default the configuration's, or 20 whole bodies.
    pub max_skills: Option<usize>,
    /// At most this many tokens (estimated) in the catalog; by default the configuration's. Descriptions are shortened before skills are left out.
    pub budget: Option<usize>,
    /// The skills that fit this task come first, and keep their descriptions.
    pub task: Option<String>,
    /// Also name skills that are not ready.
    pub include_not_ready: bool,
    /// Write the frame of the catalog even when it is empty.
    pub keep_empty: bool,
    /// Leave the instruction of the catalog out.
    pub bare: bool,
}

/// The result of [`Workspace::prompt`] and [`Workspace::full_prompt`]: the text, and the skills in it.
///
/// An example is at [`Workspace::prompt`].
#[derive(Clone, Debug, Default)]
pub struct SkillPrompt {
    /// The whole text.
    pub text: String,
    /// The skills that it describes.
    pub skills: Vec<PromptedSkill>,
    /// The skills that it only names.
    pub names: Vec<String>,
    /// How many skills the catalog leaves out.
    pub omitted: usize,
    /// How many bodies a full prompt leaves out because of its limit.
    pub bodies_left_out: usize,
    /// How many descriptions were shortened.
    pub shortened: usize,
    /// An estimate of the tokens of the catalog, or of whole bodies.
    pub tokens: usize,
    /// How many skills could not be scanned in time, and so are named without a location.
    pub unscanned: usize,
    /// Whether the text is more than the catalog: it starts with a base text or contains texts of skills.
    pub has_more: bool,
}

/// A skill in a prompt.
///
/// An example is at [`Workspace::prompt`].
#[derive(Clone, Debug)]
pub struct PromptedSkill {
    /// Its name.
    pub name: String,
    /// Its description, shortened to the budget.
    pub description: String,
    /// Where its SKILL.md is; none if it must not be read as a file.
    pub location: Option<String>,
}

impl SkillPrompt {
    /// How long [`Workspace::prompt`], which has an example, scans unscanned skills; [`SkillPrompt::unscanned`] counts the rest.
    pub const SCAN_TIME: Duration = SCAN_TIME;
    /// How many bodies [`Workspace::full_prompt`] contains by default; its example contains fewer.
    pub const FULL_SKILLS: usize = 20;

    fn listed(listing: &PromptListing<'_>) -> Self {
        let skill = |line: &prompt::PromptEntry<'_>| PromptedSkill {
            name: line.name.to_owned(),
            description: line.description.clone().into_owned(),
            location: Some(line.location.clone()).filter(|location| !location.is_empty()),
        };
        Self {
            skills: listing.lines.iter().map(skill).collect(),
            names: listing
                .names
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            omitted: listing.omitted,
            shortened: listing.shortened,
            tokens: listing.tokens,
            ..Self::default()
        }
    }
}

impl Workspace {
    /// The catalog of the skills that are ready, for a model: name, description and location of each. What was never scanned is scanned
    /// first, for a moment; nothing is given a location before. The texts of the skills in
    /// [`Settings::skills`](crate::Settings::skills) follow, and what their hooks add.
    ///
    /// Each call lists the skills of the machine, except on [`CurrentSkills::workspace`](crate::CurrentSkills::workspace).
    ///
    /// ```no_run
    /// use metier::prompts::PromptOptions;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let prompt = workspace.prompt(&PromptOptions { budget: Some(2_000), ..PromptOptions::default() })?;
    /// println!("{} skills in about {} tokens", prompt.skills.len(), prompt.tokens);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a skill of the settings can't be used, or when a rule of the user's own for the scanner is wrong.
    pub fn prompt(&self, options: &PromptOptions) -> Result<SkillPrompt, Error> {
        let mut inventory = self.inventory()?;
        let unscanned = self.scan_offered(options, &mut inventory)?;
        let skills = Skills {
            inventory: Arc::new(inventory),
        };
        let how = self.catalog_options(options);
        let listing = self.listed(&skills, options, &how);
        let active = self.active_texts(&skills.inventory)?;
        let mut text = options.base.clone();
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&prompt::write(&listing, &how));
        for body in &active {
            text.push('\n');
            text.push_str(body);
        }
        Ok(SkillPrompt {
            text,
            unscanned,
            has_more: !options.base.is_empty() || !active.is_empty(),
            ..SkillPrompt::listed(&listing)
        })
    }

    /// Whole bodies of skills, one after the other, with `separator` between them. A skill that is blocked or can't be read is left out
    /// with a notice.
    ///
    /// ```no_run
    /// use metier::prompts::PromptOptions;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let options = PromptOptions { max_skills: Some(3), ..PromptOptions::default() };
    /// let prompt = workspace.full_prompt(&options, "\n\n")?;
    /// println!("{} tokens, {} bodies left out", prompt.tokens, prompt.bodies_left_out);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a rule of the user's own for the scanner is wrong.
    pub fn full_prompt(
        &self,
        options: &PromptOptions,
        separator: &str,
    ) -> Result<SkillPrompt, Error> {
        let inventory = self.inventory()?;
        let how = FullOptions {
            base: &options.base,
            max_skills: options.max_skills.unwrap_or(SkillPrompt::FULL_SKILLS),
            separator,
            include_disabled: options.include_not_ready,
            mode: self.mode(),
            max_skill_bytes: self.config.limits.max_skill_bytes,
        };
        let scan_gate = self.screening(&inventory.catalog);
        scan_gate.check_rules()?;
        let (text, failed, omitted) = prompt::full(&inventory, &how, |entry| {
            let admitted = scan_gate.admit(&inventory.catalog, entry);
            admitted.map(AdmittedSnapshot::into_snapshot)
        });
        let mut left_out = BTreeSet::new();
        for (name, error) in failed {
            let line = format!(
                "skill `{}` was left out: {}",
                one_line(&name),
                one_line(&error.to_string())
            );
            self.notices.notice(NoticeLevel::Warning, &line);
            left_out.insert(name);
        }
        let catalog = prompt::ListingOptions {
            max_skills: how.max_skills,
            include_disabled: options.include_not_ready,
            ..prompt::ListingOptions::default()
        };
        let mut listing = prompt::listing(&inventory, &catalog);
        listing.lines.retain(|line| !left_out.contains(line.name));
        Ok(SkillPrompt {
            tokens: metier_runtime::count_tokens(&text),
            text,
            bodies_left_out: omitted,
            has_more: true,
            ..SkillPrompt::listed(&listing)
        })
    }

    /// The catalog in the order of the task; without one, by the project if not everything fits.
    fn listed<'s>(
        &self,
        skills: &'s Skills,
        options: &PromptOptions,
        how: &prompt::ListingOptions,
    ) -> PromptListing<'s> {
        let inventory = &*skills.inventory;
        let by_project = || {
            let fit = self.project_fit();
            fit.ordered(inventory, options.include_not_ready)
        };
        let Some(task) = &options.task else {
            let listing = prompt::listing(inventory, how);
            return match listing.is_cut() {
                true => prompt::listing_of(inventory, by_project(), how),
                false => listing,
            };
        };
        let task = Task {
            top: Some(RANKED),
            scan_time: Duration::ZERO,
            coding: Some(false),
            ..Task::new(task.as_str())
        };
        let matches = self.select(skills, task);
        let mut ranks: BTreeMap<usize, usize> = BTreeMap::new();
        for (rank, pick) in matches.selection().picks.iter().enumerate() {
            ranks.insert(pick.skill.entry, rank);
        }
        let mut ordered = by_project();
        ordered.sort_by_key(|skill| ranks.get(&skill.entry).copied().unwrap_or(usize::MAX));
        prompt::listing_of(inventory, ordered, how)
    }

    /// Facts about the project, for the order of a catalog.
    pub(crate) fn project_fit(&self) -> ProjectFit {
        let files = project_files(&self.machine.project, ProjectLimits::default());
        let detected = detect(files.files.iter().map(String::as_str));
        ProjectFit::new(&detected).with_use(self.recent_use())
    }

    fn catalog_options(&self, options: &PromptOptions) -> prompt::ListingOptions {
        let configured = |value: Option<u64>| value.and_then(|value| usize::try_from(value).ok());
        let wanted = &self.config.prompt;
        let max_skills = options.max_skills.or(configured(wanted.max_skills));
        prompt::ListingOptions {
            format: options.format,
            max_skills: max_skills.unwrap_or(0),
            budget: options.budget.or(configured(wanted.budget)),
            include_disabled: options.include_not_ready,
            keep_empty: options.keep_empty,
            bare: options.bare,
            unscanned_locations: !self.config.security.scan_on_load,
            by_task: options.task.is_some(),
            finder: (!options.bare).then_some("`metier select TASK`"),
        }
    }

    /// Scans the skills that the catalog would name and that were never scanned, for a moment; returns how many are left.
    fn scan_offered(
        &self,
        options: &PromptOptions,
        inventory: &mut Inventory,
    ) -> Result<usize, Error> {
        let wanted = prompt::unscanned(inventory, options.include_not_ready);
        if wanted.is_empty() || !self.config.security.scan_on_load {
            return Ok(0);
        }
        let scan_gate = self.screening(&inventory.catalog);
        scan_gate.check_rules()?;
        Ok(scan_gate.look_at(inventory, wanted, Some(SCAN_TIME)))
    }

    /// The texts of the skills that the settings name, then what their hooks add.
    fn active_texts(&self, inventory: &Arc<Inventory>) -> Result<Vec<String>, Error> {
        let mut texts = Vec::new();
        for name in &self.settings.skills {
            let entry = inventory.entry(explain::find_usable(self, inventory, name)?);
            let how = ShowOptions::default();
            let shown = self.show(inventory, entry, &Arguments::default(), how)?;
            texts.push(shown.content);
        }
        texts.extend(self.injected(inventory)?);
        Ok(texts)
    }

    /// The additions of the active skills' hooks, besides their texts. Skills without hooks are not started for it.
    fn injected(&self, inventory: &Arc<Inventory>) -> Result<Option<String>, Error> {
        let limit = self.config.limits.max_skill_bytes;
        let mut adds = false;
        for name in &self.settings.skills {
            let entry = inventory.entry(explain::find_usable(self, inventory, name)?);
            let files = entry.place.files().unwrap_or_default();
            adds |= files
                .iter()
                .any(|file| file.path.as_str().is_some_and(may_hook));
            adds |= inventory.plugin_of(entry).is_some();
            let loaded = entry.load(Strictness::Lenient, limit).ok();
            adds |= loaded
                .and_then(|(parsed, _)| parsed.manifest)
                .is_some_and(|manifest| {
                    manifest.card.backend.is_some() || manifest.invocation.hooks.is_some()
                });
        }
        if !adds {
            return Ok(None);
        }
        let text = self.added_by_hooks(inventory)?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    #[cfg(feature = "run")]
    fn added_by_hooks(&self, inventory: &Arc<Inventory>) -> Result<String, Error> {
        use crate::session_setup;
        session_setup::with(self, inventory, &[], |runtime| {
            let names = runtime.names();
            names.iter().for_each(|name| runtime.note_instructed(name));
            runtime.build_prompt("").map_err(session_setup::no_prompt)
        })
    }

    #[cfg(not(feature = "run"))]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "with the feature `run` it can fail"
    )]
    fn added_by_hooks(&self, _: &Arc<Inventory>) -> Result<String, Error> {
        let message = "hooks do not run: this build is without the feature `run`";
        self.notices.notice(NoticeLevel::Warning, message);
        Ok(String::new())
    }
}
