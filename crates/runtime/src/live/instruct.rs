//! What a model gets from a skill: its text, and the tools it excludes.

use metier_catalog::Entry;
use metier_model::{Digest, Source};
use metier_policy::Identity;
use metier_store::{SharedStore, StoreError};

use super::{ActivateError, Runtime, State};
use crate::{
    Redactor,
    activate::{self, Activation, ActivationError},
    desk::Went,
    premises::{Premises, identity},
    render::{Arguments, Loaded},
};

/// Whose a receipt is that belongs to no skill.
const PROGRAM: &str = "metier";

impl Runtime {
    /// What is at hand, and who decides.
    #[must_use]
    pub fn premises(&self) -> &Premises {
        &self.premises
    }

    /// Where it is remembered.
    #[must_use]
    pub fn store(&self) -> &SharedStore {
        &self.premises.desk.store
    }

    /// Reads a usable skill from the scanned bytes, which are used for the whole session.
    ///
    /// # Errors
    /// When it can't be used, or changed.
    pub fn load(&self, name: &str) -> Result<Loaded, ActivateError> {
        let skill = self.find(name)?;
        self.loaded(self.inventory.entry(skill))
    }

    pub(super) fn loaded(&self, entry: &Entry) -> Result<Loaded, ActivateError> {
        self.usable(entry)?;
        let held = (self.judge)(entry).map_err(ActivateError::Unusable)?;
        if !self.ledger.lock().pin(&entry.name(), held.digest) {
            return Err(ActivateError::Changed);
        }
        let limit = self.premises.config.limits.max_skill_bytes;
        Ok(Loaded::new(entry, held, limit)?)
    }

    /// The text of a skill with arguments filled in, its permitted commands run, and its prompt files.
    ///
    /// # Errors
    /// When a permission is missing.
    pub fn instruct(
        &self,
        skill: &Loaded,
        arguments: &Arguments,
    ) -> Result<Activation, ActivationError> {
        let project = self.premises.desk.terms.project.to_string_lossy();
        let done = activate::activate(skill, arguments, &project, &self.premises)?;
        self.note_instructed(&skill.entry.name());
        Ok(done)
    }

    /// Whether a command that must succeed before or after a skill works does so; else why not.
    ///
    /// # Errors
    /// When the skill has no permission to run it.
    pub fn check_command(
        &self,
        skill: &Loaded,
        command: &str,
    ) -> Result<Result<(), String>, ActivationError> {
        activate::check_command(skill, command, &self.premises)
    }

    /// Writes down that a tool was not called: for the skill whose it is, or for the program.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn refuse(&self, skill: Option<&str>, tool: &str, reason: &str) -> Result<(), StoreError> {
        let went = Went::refused(reason.to_owned());
        if let Some(skill) = skill.filter(|skill| self.state(skill) == State::Active)
            && let Ok(active) = self.get(skill)
        {
            return active.worker.record("tool:call", tool, &went);
        }
        let who = skill
            .and_then(|skill| self.load(skill).ok())
            .map_or_else(program, |loaded| identity(&loaded));
        let nothing = Redactor::new([]);
        let desk = &self.premises.desk;
        desk.record(&who, "tool:call", tool, &went, &nothing)
            .map(drop)
    }
}

fn program() -> Identity {
    Identity {
        skill: PROGRAM.into(),
        source: Source::Builtin,
        digest: Digest([0; 32]),
    }
}
