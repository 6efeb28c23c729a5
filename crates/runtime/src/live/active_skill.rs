//! One active skill.

use std::{path::PathBuf, sync::Arc};

use metier_host::backend::SkillProcess;
use metier_model::{Backend, SkillType, Types, hooks::SkillHooks};
use metier_policy::{Identity, PermissionAnswer};
use metier_schema::BoundedSchema;
use metier_sdk::{
    HookPhase,
    wire::{self, Contributions},
};
use metier_store::StoreError;

use super::{CallError, SkillLine, Tool};
use crate::{granted_skill::GrantedSkill, guarded::Guarded, render::LoadedSkill};

/// A skill that is active, and all that it contributes.
pub(crate) struct Active {
    pub(super) identity: Identity,
    pub(super) types: Types,
    pub(super) loaded: LoadedSkill,
    /// Its hooks that were written for other programs.
    pub(super) hooks: SkillHooks,
    /// The skill's own path to its files.
    pub(super) folder: PathBuf,
    pub(super) worker: Arc<GrantedSkill>,
    /// Its code, if it has any. Taken while it works.
    pub(super) session: Guarded<Option<Box<dyn SkillProcess>>>,
    /// Whether its code handles a call.
    pub(super) is_busy: Guarded<bool>,
    /// The sandbox of its code, once it was started.
    pub(super) confinement: Guarded<Option<&'static str>>,
    pub(super) contributions: Contributions,
    pub(super) tools: Vec<Tool>,
    /// Checks inputs, one per tool; built at the first call.
    pub(super) schemas: Vec<BoundedSchema>,
    /// Whether one of its hooks changed or cancelled something when it was last called.
    pub(super) changes: Guarded<bool>,
    /// The chain of skills that invoked it, outermost first.
    pub(super) callers: Vec<String>,
    pub(super) said: Guarded<Vec<SkillLine>>,
    /// The stored answers when it was last started again, which failed. With the same answers it would fail again, and ask again.
    pub(super) tried_with: Guarded<Option<Vec<PermissionAnswer>>>,
    /// Problems with its hooks; the skill is active anyway.
    pub(super) broken_hooks: Guarded<Vec<String>>,
}

impl Active {
    pub(super) fn name(&self) -> &str {
        &self.identity.skill
    }

    pub(super) fn is(&self, kind: SkillType) -> bool {
        self.types.contains(kind)
    }

    /// Whether its code can do nothing but answer.
    pub(super) fn only_answers(&self) -> bool {
        self.hooks.is_empty()
            && self.loaded.manifest.card.backend == Some(Backend::Starlark)
            && self.worker.grant().is_empty()
    }

    pub(super) fn hook(&self, phase: HookPhase) -> Option<wire::HookSpec> {
        let mut hooks = self.contributions.hooks.iter();
        hooks.find(|hook| hook.phase() == phase).copied()
    }

    /// Whether a permission was withdrawn since it was started. A skill that handles a call further up the stack can't be ended now; it is
    /// permitted nothing more.
    pub(super) fn can_start_again(&self) -> Result<bool, StoreError> {
        Ok(!self.is_busy.get() && self.worker.is_withdrawn()?)
    }

    pub(super) fn unknown(&self, kind: &'static str, name: &str, there: Vec<String>) -> CallError {
        CallError::Unknown {
            skill: self.name().to_owned(),
            kind,
            name: name.to_owned(),
            there,
        }
    }
}
