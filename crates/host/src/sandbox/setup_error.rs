//! Why the sandbox could not be set up: the launcher finds the error, the parent reports it.

use std::io;
use std::path::{Path, PathBuf};

use super::shown;

/// The part that is at fault: the machine, the profile, or a change of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetupErrorKind {
    /// The machine doesn't support it; a weaker mechanism can work.
    Machine,
    /// The profile can't be enforced on the existing files.
    Profile,
    /// A place of the profile is now another object.
    Replaced,
}

/// One step that failed.
#[derive(Debug)]
pub(crate) struct SetupError {
    pub(crate) kind: SetupErrorKind,
    pub(crate) step: &'static str,
    pub(crate) path: Option<PathBuf>,
    pub(crate) error: io::Error,
}

impl SetupError {
    pub(crate) fn machine(step: &'static str, error: impl Into<io::Error>) -> Self {
        Self {
            kind: SetupErrorKind::Machine,
            step,
            path: None,
            error: error.into(),
        }
    }

    pub(crate) fn profile(
        step: &'static str,
        path: impl AsRef<Path>,
        error: impl Into<io::Error>,
    ) -> Self {
        Self {
            kind: SetupErrorKind::Profile,
            step,
            path: Some(path.as_ref().to_owned()),
            error: error.into(),
        }
    }

    /// The place that is now another object, as text.
    pub(crate) fn replaced_place(&self) -> Option<String> {
        let path = self.path.as_deref();
        path.filter(|_| self.kind == SetupErrorKind::Replaced)
            .map(shown)
    }

    pub(crate) fn replaced(path: &Path) -> Self {
        Self {
            kind: SetupErrorKind::Replaced,
            ..Self::profile("open", path, io::Error::other("it was replaced"))
        }
    }
}

impl std::fmt::Display for SetupError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            step, path, error, ..
        } = self;
        match path {
            Some(path) => write!(out, "{step} `{}`: {error}", path.display()),
            None => write!(out, "{step}: {error}"),
        }
    }
}
