//! Skills for a model behind a protocol: it gets what the command line prints, except what authors reserve for people.

use metier_model::{Source, text::shell_word};
use metier_runtime::{Inventory, Status, StatusCounts, prompt, render::Arguments};

use crate::{
    Error, Settings, ShowOptions, Shown, Skill, SkillFile, Skills, Workspace, text::count,
};

/// The size of the catalog by default, in tokens and in skills.
const BUDGET: usize = 2_000;
const MAX_SKILLS: usize = 100;

/// With more folders than this there is no catalog.
const TOO_MANY: usize = 1_000;
const CROWDED: &str = "There are more skills than can be named here: call list_skills.\n";

impl Workspace {
    /// The skills that a model can choose from, as text for its instructions, within a budget that leaves room for the conversation. Nothing is
    /// scanned for it; `None` if there are no skills.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// print!("{}", workspace.catalog_for_model()?.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skills can't be listed.
    pub fn catalog_for_model(&self) -> Result<Option<String>, Error> {
        // A catalog of so many would name next to none of them, and the client waits for it.
        if self.is_crowded(TOO_MANY)? {
            return Ok(Some(CROWDED.to_owned()));
        }
        let configured = |value: Option<u64>| value.and_then(|value| usize::try_from(value).ok());
        let wanted = &self.config.prompt;
        let options = prompt::ListingOptions {
            max_skills: configured(wanted.max_skills).unwrap_or(MAX_SKILLS),
            budget: Some(configured(wanted.budget).unwrap_or(BUDGET)),
            bare: true,
            unscanned_locations: false,
            ..prompt::ListingOptions::default()
        };
        let inventory = self.inventory()?;
        let listing = prompt::listing(&inventory, &options);
        let mut text = prompt::write(&listing.lines, &options);
        if listing.omitted > 0 {
            let more = count(listing.omitted, "more skill");
            text.push_str(&format!("There are {more}: call list_skills.\n"));
        }
        Ok((!text.is_empty()).then_some(text))
    }

    /// The skills that a model can use, with `all` also the others; and how many there are of each status. Descriptions of skills that the scanner
    /// blocks are withheld.
    ///
    /// An example is at [`Workspace::catalog_for_model`].
    ///
    /// # Errors
    /// When the skills can't be listed.
    pub fn skills_for_model(
        &self,
        source: Option<Source>,
        all: bool,
    ) -> Result<(Skills, StatusCounts), Error> {
        let mut inventory = self.inventory()?;
        inventory.withhold_blocked_words();
        let Inventory {
            catalog, skills, ..
        } = &mut inventory;
        skills.retain(|skill| {
            source.is_none_or(|source| catalog.entries[skill.entry].source == source)
        });
        let counts = inventory.counts();
        let Inventory {
            catalog, skills, ..
        } = &mut inventory;
        skills.retain(|skill| {
            let card = catalog.entries[skill.entry].card.as_ref();
            let is_usable = matches!(
                skill.status,
                Status::Ready | Status::NotReady | Status::Blocked
            );
            all || is_usable && card.is_some_and(|card| card.model_invocable)
        });
        Ok((std::sync::Arc::new(inventory).into(), counts))
    }

    /// [`Workspace::render`] for a model that asks by itself, with the arguments in one text. Skills that are not ready or reserved for people are
    /// refused.
    ///
    /// # Errors
    /// As for [`Workspace::render`].
    pub fn render_for_model(&self, name: &str, arguments: &str) -> Result<Shown, Error> {
        let skills = self.skills()?;
        let skill = self.for_model(&skills, name)?;
        let arguments = Arguments::from_text(arguments);
        let how = ShowOptions::default();
        self.show(skills.inventory(), skill.entry(), &arguments, how)
    }

    /// [`Workspace::read`] for a model that asks by itself; with the absolute path of the file. Skills that are not ready or reserved for people
    /// are refused.
    ///
    /// # Errors
    /// As for [`Workspace::read`].
    pub fn read_for_model(&self, name: &str, path: &str) -> Result<(SkillFile, String), Error> {
        let skills = self.skills()?;
        let skill = self.for_model(&skills, name)?;
        let file = SkillFile {
            skill: skill.name().into_owned(),
            content: self.resource(skills.inventory(), skill.entry(), path)?,
        };
        Ok((file, skill.path().join(path).to_string_lossy().into_owned()))
    }

    /// The same workspace now: the configuration and the time are read again.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let workspace = workspace.reopen()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Workspace::open`].
    pub fn reopen(&self) -> Result<Self, Error> {
        Self::open(self.settings.renewed())
    }

    fn for_model<'s>(&self, skills: &'s Skills, name: &str) -> Result<Skill<'s>, Error> {
        let skill = self.find_ready(skills, name)?;
        let card = skill.entry().card.as_ref();
        if card.is_some_and(|card| card.model_invocable) {
            return Ok(skill);
        }
        let name = skill.name();
        let message =
            format!("skill `{name}` can only be invoked by the user (`disable-model-invocation`)");
        Err(Error::unmet("not-for-models", message)
            .skill(&*name)
            .hint(format!(
                "the user sees it with: metier show {}",
                shell_word(&name)
            )))
    }
}

impl Settings {
    /// The same settings at this moment, for a program that opens its workspace again.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self {
            machine: std::sync::Arc::new(self.machine.now()),
            // That was done when the workspace was opened first; since then, runs of this program are under way.
            keep_leftovers: true,
            ..self.clone()
        }
    }
}
