//! The settings that a workspace is opened with.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use metier_model::Source;
use metier_policy::{Approver, Headless};

use crate::{
    Error, Workspace,
    machine::Machine,
    notices::{Logged, Notices},
};

/// Where skills are searched, and the caller's decisions for this run. Everything else is in the user's configuration.
///
/// ```no_run
/// use metier::{NamedRoot, Settings, Source, Workspace};
///
/// # fn main() -> Result<(), metier::Error> {
/// let settings = Settings {
///     roots: vec![NamedRoot { source: Source::Project, path: "skills".into() }],
///     ..Settings::from_env()?
/// };
/// let workspace = Workspace::open(settings)?;
/// # let _ = workspace;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Settings {
    /// The machine as the caller sees it.
    pub machine: Arc<Machine>,
    /// The only folders to search; empty for the usual places.
    pub roots: Vec<NamedRoot>,
    /// Skills, or folders of skills, that shadow all others.
    pub skill_dirs: Vec<PathBuf>,
    /// Skills that are selected by name.
    pub skills: Vec<String>,
    /// Skills whose requests are approved for this run.
    pub approve_skills: Vec<String>,
    /// Whether programs of skills run without a sandbox. The receipts record it.
    pub unsandboxed: bool,
    /// Whether every skill is read again instead of trusting the index.
    pub no_index: bool,
    /// Whether the caller named the file of the configuration: then it must exist.
    pub is_config_named: bool,
    /// Whether opening the workspace leaves what killed runs left behind: then opening changes nothing on the disk.
    pub keep_leftovers: bool,
    /// Answers requests for permission.
    pub approver: Arc<dyn Approver>,
    /// Receives warnings and progress.
    pub notices: Arc<dyn Notices>,
    /// Set it to stop fetching and waiting: nothing is installed then.
    pub stop: Arc<AtomicBool>,
    /// The program that is started to run code of skills: a `metier` binary of this version. `None` for this program, which then calls
    /// [`run_if_worker`](crate::worker::run_if_worker) first in its `main`.
    pub worker: Option<PathBuf>,
}

/// A folder of skills, and the source that they get.
///
/// An example is at [`Settings`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRoot {
    /// The source of its skills: `user`, `project` and so on.
    pub source: Source,
    /// The folder to search.
    pub path: PathBuf,
}

impl Workspace {
    /// This workspace with another approver, for one request.
    ///
    /// ```no_run
    /// use metier::ApprovalQueue;
    /// use std::{sync::Arc, time::Duration};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let queue = ApprovalQueue::new(Duration::from_secs(60));
    /// let asking = workspace.with_approver(Arc::new(queue));
    /// # let _ = asking;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_approver(&self, approver: Arc<dyn Approver>) -> Self {
        let settings = Settings {
            approver,
            ..Settings::clone(&self.settings)
        };
        let mut workspace = self.clone();
        workspace.settings = Arc::new(settings);
        workspace
    }
}

impl Settings {
    /// The current user and folder, as the command line sees them: `HOME`, `METIER_HOME`, XDG folders, `PATH`. What needs a
    /// permission that was not approved before is refused, and notices go to the log.
    ///
    /// An example is at [`Settings`].
    ///
    /// # Errors
    /// When the current folder can't be used.
    pub fn from_env() -> Result<Self, Error> {
        Ok(Self::of(Arc::new(Machine::from_env(None, None)?)))
    }

    /// Settings for a machine that the caller describes, without reading the environment.
    ///
    /// ```no_run
    /// use metier::{Machine, Settings, Workspace};
    /// # use std::{collections::BTreeSet, sync::Arc, time::SystemTime};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// let machine = Machine {
    ///     home: None, work: "/srv/app".into(), project: "/srv/app".into(), config_file: None, own_skills: None,
    ///     database: Some("/srv/data/metier.db".into()), cache: Some("/srv/cache".into()), path: None,
    ///     variables: BTreeSet::new(), settings: Vec::new(), now: SystemTime::now(), stamp: 1,
    /// };
    /// let workspace = Workspace::open(Settings::of(Arc::new(machine)))?;
    /// # let _ = workspace;
    /// # Ok(())
    /// # }
    /// ```
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
            worker: None,
        }
    }
}
