//! Other systems than Linux: nothing is started, and the reason is reported.

use std::path::Path;
use std::time::Duration;

use super::{ChildError, ChildOutcome, ChildPipes, ChildSpec};
use crate::sandbox::{Mechanism, Support};

const WHY: &str = "processes of skills are only supported on Linux";

/// A child of a system without sandbox support; never constructed.
#[derive(Debug)]
pub enum Child {}

impl Child {
    /// Unreachable, because no child is ever started.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        match *self {}
    }

    /// Unreachable, because no child is ever started.
    pub fn pipes(&mut self) -> Option<ChildPipes> {
        match *self {}
    }

    /// Unreachable, because no child is ever started.
    #[must_use]
    pub fn is_running(&mut self) -> bool {
        match *self {}
    }

    /// Unreachable, because no child is ever started.
    ///
    /// # Errors
    /// Never returns an error.
    pub fn kill_all(self) -> Result<ChildOutcome, ChildError> {
        match self {}
    }

    /// Unreachable, because no child is ever started.
    ///
    /// # Errors
    /// Never returns an error.
    pub fn finish(self, _timeout: Duration, _grace: Duration) -> Result<ChildOutcome, ChildError> {
        match self {}
    }
}

/// Refuses to start a child on this system.
///
/// # Errors
/// Always, because there is no sandbox.
pub fn run(spec: &ChildSpec<'_>) -> Result<ChildOutcome, ChildError> {
    match spawn(spec)? {}
}

/// Refuses to start a child on this system.
///
/// # Errors
/// Always, because there is no sandbox.
pub fn spawn(_spec: &ChildSpec<'_>) -> Result<Child, ChildError> {
    let reasons = vec![WHY.to_owned()];
    Err(ChildError::NoSandbox { reasons })
}

/// Refuses to start a launcher on this system.
///
/// # Errors
/// Always, because there is no sandbox.
pub fn try_launcher(_shim: &Path) -> Result<(), ChildError> {
    let reasons = vec![WHY.to_owned()];
    Err(ChildError::NoSandbox { reasons })
}

/// Reports that this system has no sandbox.
#[must_use]
pub fn detect(_shim: &Path) -> Support {
    Support {
        mechanism: Mechanism::None,
        landlock: None,
        missing: vec![WHY.to_owned()],
    }
}
