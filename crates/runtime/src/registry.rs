//! The registry of skills, for programs that embed metier: what is there, and what goes together.
//!
//! The verbs are those of an agent that injects skills into others: register, look up, validate and compose a set, choose a version. A set
//! is judged by [`compose`](metier_policy::compose), whoever asks; an override lasts as long as the registry does, and
//! `skills.entries.<name>.version` is what makes it last longer.

use std::path::Path;

use metier_catalog::{Catalog, Options, Root, discover};
use metier_config::Config;
use metier_model::{Diagnostic, Manifest, Source};
use metier_policy::{Composition, Facts, Member, Options as Rules, compose};

use crate::{
    Inventory, NotFound, Skill, Status, composing::rules, inventory::survey, scanning::Screen,
};

/// Skills that can be looked up, put together and added to.
pub struct Registry<'a> {
    config: Config,
    facts: &'a dyn Facts,
    screen: &'a dyn Screen,
    options: Options<'a>,
    /// What was wrong with roots and folders when they were looked into.
    found: Vec<Diagnostic>,
    inventory: Inventory,
}

/// Why the registry stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// There is none of that name.
    #[error("there is no skill `{0}`")]
    NotFound(String),
    /// There is no skill in that folder, or it can't be read.
    #[error("{0}")]
    NoSkill(String),
    /// The skill exists, and not in that version.
    #[error("there is no version {wanted} of skill `{name}`; there are {}", there.join(", "))]
    NoVersion {
        /// The skill.
        name: String,
        /// What was asked for.
        wanted: String,
        /// What there is, the winning one first.
        there: Vec<String>,
    },
}

impl<'a> Registry<'a> {
    /// With the skills of a catalog.
    #[must_use]
    pub fn new(
        catalog: Catalog,
        config: Config,
        facts: &'a dyn Facts,
        screen: &'a dyn Screen,
        options: Options<'a>,
    ) -> Self {
        let found = catalog.diagnostics.clone();
        let inventory = survey(catalog, &config, facts, options.mode, &[], screen);
        Self {
            config,
            facts,
            screen,
            options,
            found,
            inventory,
        }
    }

    /// Everything that is registered.
    #[must_use]
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// Adds the skill in a folder, as one that was named for this run. It takes its name from any other.
    ///
    /// # Errors
    /// When there is none, or when it can't be read; then nothing changes.
    pub fn register_skill(&mut self, folder: &Path) -> Result<&Skill, RegistryError> {
        let options = Options {
            builtins: false,
            index: None,
            ..self.options
        };
        let found = discover(
            vec![Root::explicit(Source::Inline, folder.to_owned())],
            &options,
        );
        let Some(entry) = found.entries.into_iter().find(|entry| entry.card.is_some()) else {
            let problem = found.diagnostics.first();
            let place = folder.display();
            return Err(RegistryError::NoSkill(problem.map_or_else(
                || format!("there is no skill in {place} that can be read"),
                |problem| problem.message.to_string(),
            )));
        };
        let place = entry.place.path().into_owned();
        let mut catalog = self.take();
        let root = u16::try_from(catalog.roots.len()).unwrap_or(u16::MAX);
        catalog.roots.extend(found.roots);
        catalog.entries.push(metier_catalog::Entry {
            root: Some(root),
            ..entry
        });
        self.survey(catalog);
        let wanted = place.to_string_lossy();
        self.inventory
            .find(&wanted)
            .map_err(|missing| RegistryError::NotFound(missing.name))
    }

    /// The skill of a name, `source:name` or path, whether it can be used or not.
    ///
    /// # Errors
    /// When there is none; with the nearest names.
    pub fn get_skill(&self, name: &str) -> Result<&Skill, NotFound> {
        self.inventory.find(name)
    }

    /// The skills that can be used now.
    pub fn list_available_skills(&self) -> impl Iterator<Item = &Skill> {
        let skills = self.inventory.skills.iter();
        skills.filter(|skill| skill.status == Status::Ready)
    }

    /// Whether skills go together, with everything that is wrong at once.
    #[must_use]
    pub fn validate_skill_set(&self, names: &[String], coding: bool) -> Composition {
        let mode = self.options.mode;
        self.inventory.compose(names, &self.config, mode, coding)
    }

    /// Skills as one: which tools, in which order.
    ///
    /// # Errors
    /// When they don't go together; what is wrong is in it.
    pub fn compose_skills(
        &self,
        names: &[String],
        coding: bool,
    ) -> Result<Composition, Box<Composition>> {
        let composed = self.validate_skill_set(names, coding);
        if composed.valid {
            Ok(composed)
        } else {
            Err(Box::new(composed))
        }
    }

    /// The same for manifests that are in no folder.
    #[must_use]
    pub fn compose_ad_hoc(&self, manifests: &[Manifest], coding: bool) -> Composition {
        let members: Vec<Member<'_>> = manifests
            .iter()
            .map(|manifest| Member::Known {
                manifest,
                place: "ad hoc",
            })
            .collect();
        let options: Rules = rules(&self.config, coding);
        compose(&members, options)
    }

    /// Makes a certain version win its name, among those that are there.
    ///
    /// # Errors
    /// When there is no such skill or no such version; then nothing changes.
    pub fn override_skill_version(
        &mut self,
        name: &str,
        version: &str,
    ) -> Result<(), RegistryError> {
        let entries = self
            .inventory
            .skills
            .iter()
            .map(|skill| self.inventory.entry(skill));
        let cards = entries.filter_map(|entry| entry.card.as_ref());
        let same: Vec<String> = cards
            .filter(|card| *card.name == *name)
            .map(|card| {
                let version = card.version.as_ref().map(|version| version.as_str());
                version.unwrap_or("none").to_owned()
            })
            .collect();
        if same.is_empty() {
            return Err(RegistryError::NotFound(name.to_owned()));
        }
        if !same.iter().any(|there| there == version) {
            return Err(RegistryError::NoVersion {
                name: name.to_owned(),
                wanted: version.to_owned(),
                there: same,
            });
        }
        self.config.pin_version(name, version);
        let catalog = self.take();
        self.survey(catalog);
        Ok(())
    }

    fn take(&mut self) -> Catalog {
        let catalog = std::mem::take(&mut self.inventory.catalog);
        Catalog {
            diagnostics: self.found.clone(),
            ..catalog
        }
    }

    fn survey(&mut self, catalog: Catalog) {
        let (facts, screen) = (self.facts, self.screen);
        let mode = self.options.mode;
        self.inventory = survey(catalog, &self.config, facts, mode, &[], screen);
    }
}
