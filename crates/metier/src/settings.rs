//! The settings that a workspace is opened with.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use metier_model::Source;
use metier_policy::{Approver, Headless};

use crate::{
    Error,
    machine::Machine,
    notices::{Logged, Notices},
};

/// Where skills are looked for, and what the caller decided for this run. Everything else is in the user's configuration.
#[derive(Clone)]
pub struct Settings {
    /// The machine as the caller sees it.
    pub machine: Arc<Machine>,
    /// Look here and nowhere else; empty for the usual places.
    pub roots: Vec<NamedRoot>,
    /// Skills, or folders of skills, that shadow all others.
    pub skill_dirs: Vec<PathBuf>,
    /// Skills that were asked for by name.
    pub skills: Vec<String>,
    /// Skills whose requests are approved for this run.
    pub approve_skills: Vec<String>,
    /// Whether programs of skills run without a sandbox. The receipts record it.
    pub unsandboxed: bool,
    /// Whether every skill is read again instead of trusting the index.
    pub no_index: bool,
    /// Whether the caller named the file of the configuration: then it must be there.
    pub is_config_named: bool,
    /// Whether opening the workspace leaves what killed runs left behind: then opening changes nothing on the disk.
    pub keep_leftovers: bool,
    /// Who is asked for permission.
    pub approver: Arc<dyn Approver>,
    /// Receives warnings and progress.
    pub notices: Arc<dyn Notices>,
    /// Set it to stop fetching and waiting: nothing is installed then.
    pub stop: Arc<AtomicBool>,
}

/// A folder of skills, and the source that they get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRoot {
    /// The source of its skills: `user`, `project` and so on.
    pub source: Source,
    /// The folder to search.
    pub path: PathBuf,
}

impl Settings {
    /// The current user and folder, as the command line sees them: `HOME`, `METIER_HOME`, XDG folders, `PATH`. What needs a
    /// permission that was not approved before is refused, and notices go to the log.
    ///
    /// # Errors
    /// When the current folder can't be used.
    pub fn from_env() -> Result<Self, Error> {
        Ok(Self::of(Arc::new(Machine::look(None, None)?)))
    }

    /// Settings for a machine that the caller describes, without reading the environment.
    #[must_use]
    pub fn of(machine: Arc<Machine>) -> Self {
        Self {
            machine,
            roots: Vec::new(),
            skill_dirs: Vec::new(),
            skills: Vec::new(),
            approve_skills: Vec::new(),
            unsandboxed: false,
            no_index: false,
            is_config_named: false,
            keep_leftovers: false,
            approver: Arc::new(Headless),
            notices: Arc::new(Logged),
            stop: Arc::default(),
        }
    }
}
