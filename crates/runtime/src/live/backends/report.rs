//! Hooks that don't work are reported when their skill is activated: a missing guard must not look like a working one.

use metier_host::backend::SkillProcessError;
use metier_model::{HookPhase, SkillType, text::shell_word};
use metier_policy::{PermissionRequest, RequestedPermission};
use metier_store::ReceiptOutcome;

use super::BackendOpening;
use crate::{
    approvals::ActRecord,
    granted_skill::ActError,
    live::{ActivateError, Active},
};

/// The session of the hooks in these files. If they can't be loaded, that is reported with a receipt for each file, and the skill
/// continues without them; a skill of the type `security-rule` is not activated without its checks.
pub(super) fn unloaded<T>(
    opening: &BackendOpening<'_>,
    files: &[String],
    opened: Result<T, ActivateError>,
) -> Result<Option<T>, ActivateError> {
    let error = match opened {
        Ok(opened) => return Ok(Some(opened)),
        Err(error) => error,
    };
    let is_ours = matches!(
        error,
        ActivateError::Failed(ActError::Store(_))
            | ActivateError::Session(SkillProcessError::Stopped)
    );
    if is_ours || opening.active.is(SkillType::SecurityRule) {
        return Err(error);
    }
    let reason = match &error {
        // Without the part about the whole skill.
        ActivateError::Session(error) => error.to_string(),
        ActivateError::NoDeno(error) => format!(
            "it requires Deno, but {error}; install Deno, or: metier config skills.hooks.engine auto"
        ),
        error => error.to_string(),
    };
    for file in files {
        let went = ActRecord::badly(ReceiptOutcome::Error, reason.clone(), 0);
        let worker = &opening.active.worker;
        worker
            .record("hook:load", file, &went)
            .map_err(ActError::from)?;
        opening
            .active
            .warn(format!("its hook {file} can't be loaded: {reason}"));
    }
    Ok(None)
}

impl Active {
    /// Reports permissions that hooks need and did not get: a guard that can't see its subject must not look like one that can.
    pub(in crate::live) fn report_ungranted(&self, request: &PermissionRequest) {
        let granted = self.worker.grant().allowed();
        let is_missing = |asked: &&RequestedPermission| {
            !granted.iter().any(|granted| granted.covers(&asked.want))
        };
        let optional = request.iter().filter(|asked| asked.why.is_optional());
        let missing: Vec<String> = optional
            .filter(is_missing)
            .map(|asked| format!("`{}`", asked.want))
            .collect();
        if missing.is_empty() {
            return;
        }
        let sees = match self.hooks.commands.is_empty() {
            true => "its hooks run without the permissions that they use",
            false => "its hooks can't see the project",
        };
        let name = shell_word(self.name());
        let verb = if missing.len() == 1 { "is" } else { "are" };
        self.warn(format!(
            "{sees}: {} {verb} not approved; allow it with: metier permissions {name} --approve",
            missing.join(", ")
        ));
    }

    /// Reports a check that failed without a decision.
    pub(in crate::live) fn report_failed(&self, phase: HookPhase, reason: &str) {
        let what = match phase {
            HookPhase::BeforeToolCall => "and the call continues",
            HookPhase::BeforePromptBuild => "and the turn continues",
            _ => return,
        };
        let line = format!("its hook of `{phase}` failed, {what}: {reason}");
        self.log(true, self.worker.clean(line.as_bytes()));
    }

    /// Reports a problem with one of its hooks, now and wherever the skill is shown later.
    pub(in crate::live) fn warn(&self, line: String) {
        self.log(true, line.clone());
        self.broken_hooks.lock().push(line);
    }
}
