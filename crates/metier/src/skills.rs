//! The skills of a workspace at one moment.

use std::{borrow::Cow, path::PathBuf, sync::Arc};

use metier_catalog::CatalogEntry;
use metier_model::Source;
use metier_runtime::{Inventory, Status};

use crate::{Error, Workspace, explain};

/// Every skill that was found, usable or not.
///
/// ```no_run
/// # fn main() -> Result<(), metier::Error> {
/// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
/// let skills = workspace.skills()?;
/// for skill in skills.all() {
///     println!("{} {:?} {}", skill.name(), skill.status(), skill.reasons().join("; "));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Skills {
    pub(crate) inventory: Arc<Inventory>,
}

/// One of the [`Skills`].
///
/// ```no_run
/// # fn main() -> Result<(), metier::Error> {
/// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
/// for skill in workspace.skills()?.all() {
///     println!("{} ({}) in {}", skill.name(), skill.source(), skill.path().display());
///     println!("  {}", skill.description());
///     if let Some(agent) = skill.agent() {
///         println!("  in the folder of {agent}");
///     }
///     for reason in skill.reasons() {
///         println!("  can't be used: {reason}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Skill<'a> {
    pub(crate) inventory: &'a Inventory,
    pub(crate) skill: &'a metier_runtime::InventorySkill,
}

impl Skills {
    /// Everything that is known about them, the catalog and the judgements.
    ///
    /// An example is at [`skill`](crate::skill); that of [`Workspace::select`] reads an entry of it.
    #[must_use]
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// Keeps only the skills for which `keep` returns `true`. Clones of these skills stay as they are.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let mut skills = workspace.skills()?;
    /// skills.retain(|skill| skill.source() == metier::Source::Project);
    /// println!("{} skills of the project", skills.all().count());
    /// # Ok(())
    /// # }
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(Skill<'_>) -> bool) {
        let mut is_kept = Vec::with_capacity(self.inventory.skills.len());
        is_kept.extend(self.all().map(&mut keep));
        let mut is_kept = is_kept.into_iter();
        let inventory = Arc::make_mut(&mut self.inventory);
        inventory.skills.retain(|_| is_kept.next().unwrap_or(true));
    }

    /// All of them, including those that can't be used.
    ///
    /// An example is at [`Skills`].
    pub fn all(&self) -> impl Iterator<Item = Skill<'_>> {
        let inventory = &*self.inventory;
        let skills = inventory.skills.iter();
        skills.map(move |skill| Skill { inventory, skill })
    }

    /// Those that can be used now: trusted, enabled, not blocked, and with everything that they require.
    ///
    /// The example of [`Skill::is_user_invocable`] lists them.
    pub fn ready(&self) -> impl Iterator<Item = Skill<'_>> {
        self.all().filter(|skill| skill.status() == Status::Ready)
    }
}

impl<'a> Skill<'a> {
    /// The name in its manifest, or of its folder if it can't be read.
    ///
    /// An example is at [`Skill`].
    #[must_use]
    pub fn name(&self) -> Cow<'a, str> {
        self.inventory.entry(self.skill).name()
    }

    /// The description by its author: when to use it. Empty if it can't be read. A model gets it through
    /// [`for_model`](crate::model_text::for_model).
    ///
    /// An example is at [`Skill`].
    #[must_use]
    pub fn description(&self) -> &'a str {
        let card = self.inventory.entry(self.skill).card.as_ref();
        card.map_or("", |card| &card.description)
    }

    /// Its source: built in, the user's, a project's, or named on the command line.
    ///
    /// An example is at [`Skill`].
    #[must_use]
    pub fn source(&self) -> Source {
        self.inventory.entry(self.skill).source
    }

    /// Whether it can be used: `Ready` is the only status of a skill that works here and now.
    ///
    /// An example is at [`Skills`].
    #[must_use]
    pub fn status(&self) -> Status {
        self.skill.status
    }

    /// The reasons why it can't be used, a sentence each; empty if it is ready.
    ///
    /// An example is at [`Skill`].
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let reasons = self.skill.reasons.iter();
        reasons.map(|reason| reason.message.to_string()).collect()
    }

    /// The agent in whose folder it is, such as `claude-code`; none elsewhere.
    ///
    /// An example is at [`Skill`].
    #[must_use]
    pub fn agent(&self) -> Option<&'static str> {
        let root = self.inventory.entry(self.skill).root?;
        let root = self.inventory.catalog.roots.get(usize::from(root))?;
        root.agent
    }

    /// The inventory that this skill is in, with all other skills.
    ///
    /// The example of [`Workspace::select`] reads such an inventory.
    #[must_use]
    pub fn inventory(&self) -> &'a Inventory {
        self.inventory
    }

    /// Its entry in the catalog: its folder, its card, and the problems of its files.
    ///
    /// The example of [`Workspace::last_failure`] passes it on.
    #[must_use]
    pub fn entry(&self) -> &'a CatalogEntry {
        self.inventory.entry(self.skill)
    }

    /// The judgement about it: its status, the reasons, the verdict of the scanner.
    ///
    /// The example of [`Skill`] prints the reasons in it.
    #[must_use]
    pub fn judged(&self) -> &'a metier_runtime::InventorySkill {
        self.skill
    }

    /// Its folder, or `builtin:NAME`, or `mcp:SERVER/NAME`.
    ///
    /// An example is at [`Skill`].
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.inventory.entry(self.skill).place.path().into_owned()
    }
}

impl Skills {
    /// Skills that this workspace judged. Not public: a caller could make them of an inventory that was only a preview of trust.
    pub(crate) fn of(inventory: Arc<Inventory>) -> Self {
        Self { inventory }
    }
}

impl Workspace {
    /// The skills of this workspace, judged: trusted or not, ready or not. Nothing is scanned; the verdicts of earlier scans count.
    ///
    /// An example is at [`Skills`].
    ///
    /// # Errors
    /// When the trusted folders can't be read from the database.
    pub fn skills(&self) -> Result<Skills, Error> {
        let inventory = match self.known_inventory() {
            Some(known) => Arc::clone(known),
            None => Arc::new(self.inventory()?),
        };
        Ok(Skills { inventory })
    }

    /// [`Workspace::skills`], with every skill scanned first that could be used, unless the verdict on its exact bytes is known.
    ///
    /// An example is at [`Skills`].
    ///
    /// # Errors
    /// When the trusted folders can't be read from the database, or when a rule of the user's own for the scanner is wrong.
    pub fn scanned_skills(&self) -> Result<Skills, Error> {
        let mut inventory = self.inventory()?;
        let scan_gate = self.screening(&inventory.catalog);
        scan_gate.check_rules()?;
        scan_gate.look_at_all(&mut inventory);
        Ok(Skills {
            inventory: Arc::new(inventory),
        })
    }

    /// The skill with a given name, `source:name` or path, whatever its status. [`Workspace::find`] has an example.
    ///
    /// # Errors
    /// When there is none, with the nearest names.
    pub fn lookup<'s>(&self, skills: &'s Skills, name: &str) -> Result<Skill<'s>, Error> {
        let inventory = &*skills.inventory;
        let skill = explain::find(self, inventory, name)?;
        Ok(Skill { inventory, skill })
    }

    /// The skill with a given name, `source:name` or path, if its content may be shown once it was scanned.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// match workspace.find(&skills, "review-pr") {
    ///     Ok(skill) => println!("{}", skill.description()),
    ///     Err(error) => eprintln!("{}", error.in_full()),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is none, with the nearest names; when it is invalid, disabled or not trusted, with the reasons.
    pub fn find<'s>(&self, skills: &'s Skills, name: &str) -> Result<Skill<'s>, Error> {
        let inventory = &*skills.inventory;
        let skill = explain::find_usable(self, inventory, name)?;
        Ok(Skill { inventory, skill })
    }

    /// [`Workspace::find`] for a skill that is to be used: one that is not ready is refused, with what it is missing.
    ///
    /// An example is at [`Workspace::find`].
    ///
    /// # Errors
    /// As for [`Workspace::find`]; when the skill is not ready.
    pub fn find_ready<'s>(&self, skills: &'s Skills, name: &str) -> Result<Skill<'s>, Error> {
        let skill = self.find(skills, name)?;
        match skill.status() {
            Status::NotReady => Err(explain::not_ready(skill.judged(), &skill.name())),
            _ => Ok(skill),
        }
    }
}
