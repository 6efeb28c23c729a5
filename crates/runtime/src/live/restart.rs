//! Skills that are started again because a permission of theirs was revoked or denied.

use std::sync::Arc;

use super::{Active, CallError, Runtime};

impl Runtime {
    /// An active skill that will be called next. If a permission of it was revoked or denied since it was started, it is started again,
    /// with its current permissions. Until that succeeds it stays in the list: its hooks fail, and a check that fails refuses.
    pub(super) fn current(&self, skill: &str) -> Result<Arc<Active>, CallError> {
        let active = self.get(skill)?;
        if !active.can_start_again()? {
            return Ok(active);
        }
        self.restarted.set(true);
        let answers = self.environment.approvals.answers(&active.identity)?;
        active.tried_with.set(Some(answers));
        let place = active.loaded.entry.place.path();
        let not_started = |error| CallError::NotStartedAgain {
            skill: skill.to_owned(),
            error: Box::new(error),
        };
        self.activate(&place.to_string_lossy())
            .map_err(not_started)?;
        self.get(skill)
    }

    /// [`Self::current`] for an event: it does not start a skill again, with the same question, while the answers are the same.
    pub(super) fn current_for_event(&self, active: &Arc<Active>) -> Result<Arc<Active>, CallError> {
        if !active.can_start_again()? {
            return Ok(Arc::clone(active));
        }
        let answers = self.environment.approvals.answers(&active.identity)?;
        if active.tried_with.lock().as_ref() == Some(&answers) {
            return Err(CallError::Withdrawn(active.name().to_owned()));
        }
        self.current(active.name())
    }

    /// Whether any skill was started again since the last call of this function: its tools may be other ones.
    pub fn take_restarted(&self) -> bool {
        self.restarted.take()
    }
}
