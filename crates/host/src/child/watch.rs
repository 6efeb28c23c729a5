//! Protected places that did not exist: looked at again when the child is gone.

use std::path::PathBuf;

use crate::sandbox::Profile;

/// What is watched.
#[derive(Debug)]
pub(super) struct Watch {
    missing: Vec<PathBuf>,
}

impl Watch {
    pub(super) fn new(_profile: Option<&Profile>) -> Self {
        Self {
            missing: Vec::new(),
        }
    }

    pub(super) fn undo(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.missing)
    }
}
