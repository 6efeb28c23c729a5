//! The current skills: every request gets them from here.

use std::sync::{Arc, Mutex, PoisonError};

use metier::{CurrentSkills, Error, LiveSkills, Notices, Settings, Workspace};

/// Where the skills come from. A configuration that can't be read is an error of each request, until it can.
pub(crate) struct SkillSource {
    settings: Option<Settings>,
    live: Mutex<Option<LiveSkills>>,
}

impl SkillSource {
    /// The skills that a program watches already.
    pub(crate) fn watched(live: LiveSkills) -> Self {
        Self {
            settings: None,
            live: Mutex::new(Some(live)),
        }
    }

    /// The skills of these settings. Nothing is opened yet.
    pub(crate) fn of(settings: Settings) -> Self {
        Self {
            settings: Some(settings),
            live: Mutex::default(),
        }
    }

    pub(crate) fn live(&self) -> Result<LiveSkills, Error> {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = &*live {
            return Ok(live.clone());
        }
        let settings = self
            .settings
            .as_ref()
            .ok_or_else(|| Error::broken("bug", "there are no settings"))?;
        let opened = Workspace::open_anyway(settings.renewed())?.live()?;
        Ok(live.insert(opened).clone())
    }

    /// Writes the verdicts of this run to the cache, before the server ends.
    pub(crate) fn save_verdicts(&self) {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = &*live {
            live.save_verdicts();
        }
    }

    /// The skills as they are now.
    ///
    /// # Errors
    /// When the configuration is wrong, or the skills can't be listed.
    pub(crate) fn now(&self) -> Result<Arc<CurrentSkills>, Error> {
        self.live()?.current()
    }

    /// The skills as they are now, for a request that names a skill.
    ///
    /// # Errors
    /// As for [`SkillSource::now`].
    pub(crate) fn now_for(&self, name: &str) -> Result<Arc<CurrentSkills>, Error> {
        self.live()?.current_for(name)
    }

    /// Where messages go that are not for a client.
    pub(crate) fn notices(&self) -> Arc<dyn Notices> {
        let settings = self.settings.as_ref();
        settings.map_or_else(
            || Arc::new(metier::Logged) as _,
            |settings| Arc::clone(&settings.notices),
        )
    }
}
