//! Other systems than Linux: nothing is started, and the reason is said.

use std::path::Path;
use std::time::Duration;

use super::{ChildError, Outcome, Pipes, Spec};
use crate::sandbox::{Mechanism, Support};

const WHY: &str = "children are only started on Linux so far";

/// Never there.
#[derive(Debug)]
pub enum Child {}

impl Child {
    /// Never called.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        match *self {}
    }

    /// Never called.
    pub fn pipes(&mut self) -> Option<Pipes> {
        match *self {}
    }

    /// Never called.
    #[must_use]
    pub fn is_running(&mut self) -> bool {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn kill_all(self) -> Result<Outcome, ChildError> {
        match self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn finish(self, _timeout: Duration, _grace: Duration) -> Result<Outcome, ChildError> {
        match self {}
    }
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn run(spec: &Spec<'_>) -> Result<Outcome, ChildError> {
    match spawn(spec)? {}
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn spawn(_spec: &Spec<'_>) -> Result<Child, ChildError> {
    let reasons = vec![WHY.to_owned()];
    Err(ChildError::NoSandbox { reasons })
}

/// Nothing is offered.
#[must_use]
pub fn detect(_shim: &Path) -> Support {
    Support {
        mechanism: Mechanism::None,
        landlock: None,
        missing: vec![WHY.to_owned()],
    }
}
