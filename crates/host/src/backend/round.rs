//! A hook on its way through several that asked for it: each sees the event as the one before left it.
//!
//! One that fails is told of, and the others go on; only when nobody answered it is a failure.

use std::time::{Duration, Instant};

use metier_sdk::{
    HookPhase,
    wire::{HookAnswer, HookHandle},
};
use serde_json::Value;

use super::{Event, SessionError, far};

/// One hook, as far as it has come.
#[derive(Debug)]
pub struct Round {
    /// The phase.
    pub phase: HookPhase,
    /// What is happening, as the last one left it.
    pub event: Value,
    changed: bool,
    until: Instant,
    answered: bool,
    failed: Option<SessionError>,
}

impl Round {
    /// Begins with what is happening; all of them together have this long.
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

    /// How long the rest has.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// One answered.
    pub fn answered(&mut self) {
        self.answered = true;
    }

    /// It goes on like this.
    pub fn change(&mut self, event: Value) {
        (self.event, self.changed) = (event, true);
    }

    /// One failed.
    pub fn failed(&mut self, error: SessionError, events: &mut Vec<Event>) {
        if let Some(earlier) = self.failed.replace(error) {
            events.push(told(self.phase, &earlier));
        }
    }

    /// What came of it.
    ///
    /// # Errors
    /// When somebody failed and nobody answered: the last failure.
    pub fn end(self, events: &mut Vec<Event>) -> Result<HookAnswer, SessionError> {
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

fn told(phase: HookPhase, error: &SessionError) -> Event {
    let reason = error.to_string();
    Event::HookFailed { phase, reason }
}
