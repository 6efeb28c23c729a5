//! A skill's contribution to a model: its text, and the tools it excludes.

use metier_catalog::CatalogEntry;
use metier_model::{Digest, Source};
use metier_policy::Identity;
use metier_store::{SharedStore, StoreError};

use super::{ActivateError, LifecycleState, Runtime};
use crate::{
    Redactor,
    approvals::ActRecord,
    body_commands::{self, BodyCommandError, RenderedBody},
    render::{Arguments, LoadedSkill},
    skill_environment::{SkillEnvironment, identity},
};

/// The name in receipts that belong to no skill.
const PROGRAM: &str = "metier";

impl Runtime {
    /// The environment of skills, and the approver.
    #[must_use]
    pub fn environment(&self) -> &SkillEnvironment {
        &self.environment
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &SharedStore {
        &self.environment.approvals.store
    }

    /// Reads a usable skill from the scanned bytes, which are used for the whole session.
    ///
    /// # Errors
    /// When it can't be used, or changed.
    pub fn load(&self, name: &str) -> Result<LoadedSkill, ActivateError> {
        let skill = self.find(name)?;
        self.loaded(self.inventory.entry(skill))
    }

    pub(super) fn loaded(&self, entry: &CatalogEntry) -> Result<LoadedSkill, ActivateError> {
        self.usable(entry)?;
        let admitted = (self.judge)(entry).map_err(ActivateError::Unusable)?;
        let held = admitted.into_snapshot();
        if !self.ledger.lock().pin(&entry.name(), held.digest) {
            return Err(ActivateError::Changed);
        }
        let limit = self.environment.config.limits.max_skill_bytes;
        Ok(LoadedSkill::new(entry, held, limit)?)
    }

    /// The text of a skill with arguments filled in, its permitted commands run, and its prompt files.
    ///
    /// # Errors
    /// When a permission is missing.
    pub fn instruct(
        &self,
        skill: &LoadedSkill,
        arguments: &Arguments,
    ) -> Result<RenderedBody, BodyCommandError> {
        let project = self.environment.approvals.terms.project.to_string_lossy();
        let done = body_commands::activate(skill, arguments, &project, &self.environment)?;
        self.note_instructed(&skill.entry.name());
        Ok(done)
    }

    /// Whether a command that must succeed before or after a skill works does so; otherwise why not.
    ///
    /// # Errors
    /// When the skill has no permission to run it.
    pub fn check_command(
        &self,
        skill: &LoadedSkill,
        command: &str,
    ) -> Result<Result<(), String>, BodyCommandError> {
        body_commands::check_command(skill, command, &self.environment)
    }

    /// Records that a tool was not called: for its skill, or for the program.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn refuse(&self, skill: Option<&str>, tool: &str, reason: &str) -> Result<(), StoreError> {
        let went = ActRecord::refused(reason.to_owned());
        if let Some(skill) = skill.filter(|skill| self.state(skill) == LifecycleState::Active)
            && let Ok(active) = self.get(skill)
        {
            return active.worker.record("tool:call", tool, &went);
        }
        let who = skill
            .and_then(|skill| self.load(skill).ok())
            .map_or_else(program, |loaded| identity(&loaded));
        let nothing = Redactor::new([]);
        let approvals = &self.environment.approvals;
        approvals
            .record(&who, "tool:call", tool, &went, &nothing)
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
