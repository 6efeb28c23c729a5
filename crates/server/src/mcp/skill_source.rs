//! The skills of the moment: every request gets them from here.

use std::sync::Arc;

use metier::{Error, Settings, Skills, Workspace};

/// The skills of one moment, with the workspace that found them.
pub(crate) struct SkillsAtHand {
    pub(crate) workspace: Workspace,
    pub(crate) skills: Skills,
}

/// Where the skills come from.
pub(crate) struct SkillSource {
    settings: Settings,
}

impl SkillSource {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// The skills as they are now.
    ///
    /// # Errors
    /// When the configuration is wrong, or the skills can't be listed.
    pub(crate) fn now(&self) -> Result<Arc<SkillsAtHand>, Error> {
        let workspace = Workspace::open(self.settings.renewed())?;
        let skills = workspace.skills()?;
        Ok(Arc::new(SkillsAtHand { workspace, skills }))
    }
}
