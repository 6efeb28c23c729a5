//! A hook that several handlers get in turn: each gets the event as the previous handler left it.
//!
//! A handler that fails is reported, and the others continue; the hook fails only if no handler answered.

use std::time::{Duration, Instant};

use metier_sdk::{
    HookPhase,
    wire::{HookAnswer, HookHandle},
};
use serde_json::Value;

use super::{ProcessEvent, SkillProcessError, far};

/// The state of one hook.
#[derive(Debug)]
pub struct HookChain {
    /// The phase.
    pub phase: HookPhase,
    /// The event, as the last handler left it.
    pub event: Value,
    changed: bool,
    until: Instant,
    answered: bool,
    failed: Option<SkillProcessError>,
}

impl HookChain {
    /// Starts with the event; the time limit is for all handlers together.
    #[must_use]
    pub fn new(HookHandle { phase, event }: HookHandle, timeout: Duration) -> Self {
        Self {
            phase,
            event,
            changed: false,
            until: far(timeout),
            answered: false,
            failed: None,
        }
    }

    /// The time left for the other handlers.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Notes that a handler answered.
    pub fn answered(&mut self) {
        self.answered = true;
    }

    /// Replaces the event.
    pub fn change(&mut self, event: Value) {
        (self.event, self.changed) = (event, true);
    }

    /// Notes that a handler failed.
    pub fn failed(&mut self, error: SkillProcessError, events: &mut Vec<ProcessEvent>) {
        if let Some(earlier) = self.failed.replace(error) {
            events.push(told(self.phase, &earlier));
        }
    }

    /// The answer to the hook.
    ///
    /// # Errors
    /// No handler answered, and at least one failed: the last failure.
    pub fn end(self, events: &mut Vec<ProcessEvent>) -> Result<HookAnswer, SkillProcessError> {
        match self.failed {
            Some(error) if !self.answered => return Err(error),
            Some(error) => events.push(told(self.phase, &error)),
            None => {}
        }
        Ok(match self.changed {
            true => HookAnswer::changed(self.event),
            false => HookAnswer::unchanged(),
        })
    }
}

fn told(phase: HookPhase, error: &SkillProcessError) -> ProcessEvent {
    let reason = error.to_string();
    ProcessEvent::HookFailed { phase, reason }
}
