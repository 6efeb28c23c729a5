//! The paths of installed skills, their locks, and replaced content.

use std::path::{Path, PathBuf};

use metier_model::Source;

use crate::{Error, Workspace};

/// The folder of installed skills below a home directory and below a project.
const SKILLS: &str = ".agents/skills";

/// The name of the file that states what is installed.
pub(crate) const LOCK_FILE: &str = "metier.lock";

/// The folder in which changes are written down, below the data folder.
pub(crate) const CHANGES: &str = "changes";

/// The scope of an installation: the user, or one project.
///
/// ```
/// use metier::distribution::InstallScope;
///
/// let scope = InstallScope::of_project(true);
/// assert_eq!(scope, InstallScope::Project);
/// assert_eq!(scope.as_str(), "project");
/// assert_eq!(scope.command("update"), "metier update --project");
/// assert_eq!(scope.verb(), "add");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstallScope {
    /// For the user, in every project.
    #[default]
    User,
    /// For everyone who works on the project.
    Project,
}

impl InstallScope {
    /// Both scopes, the user's first. [`InstallScope`] has an example of one.
    pub const ALL: [Self; 2] = [Self::User, Self::Project];

    /// The project if `is_project`, otherwise the user: for a flag of a command.
    ///
    /// An example is at [`InstallScope`].
    #[must_use]
    pub const fn of_project(is_project: bool) -> Self {
        match is_project {
            true => Self::Project,
            false => Self::User,
        }
    }

    /// A command as it is typed for the skills of this scope: `metier update`, or `metier update --project`.
    ///
    /// An example is at [`InstallScope`].
    #[must_use]
    pub fn command(self, verb: &str) -> String {
        match self {
            Self::User => format!("metier {verb}"),
            Self::Project => format!("metier {verb} --project"),
        }
    }

    /// The word in JSON.
    ///
    /// An example is at [`InstallScope`].
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }

    /// The source that a skill of this scope has in lists. Approvals belong to it.
    ///
    /// An example of a scope is at [`InstallScope`].
    #[must_use]
    pub const fn source(self) -> Source {
        match self {
            Self::User => Source::User,
            Self::Project => Source::Project,
        }
    }

    /// The command that installs into it: `install` or `add`.
    ///
    /// An example is at [`InstallScope`].
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::User => "install",
            Self::Project => "add",
        }
    }
}

/// The paths of one scope: the folder of its skills, and its lock.
///
/// [`Workspace::scope_places`] returns them and has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopePlaces {
    /// The scope that these places belong to.
    pub scope: InstallScope,
    /// The folder that contains one folder for each skill.
    pub skills: PathBuf,
    /// The lock file.
    pub lock: PathBuf,
}

impl ScopePlaces {
    /// The folder of one skill, whether it exists or not. The name is that of the lock.
    ///
    /// The example of [`Workspace::scope_places`] prints the folder above it.
    #[must_use]
    pub fn skill(&self, name: &str) -> PathBuf {
        self.skills.join(name)
    }
}

impl Workspace {
    /// Where the skills of a scope and its lock are, whether they exist or not.
    ///
    /// ```no_run
    /// use metier::distribution::InstallScope;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// println!("{}", workspace.scope_places(InstallScope::User)?.skills.display());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no home directory.
    pub fn scope_places(&self, scope: InstallScope) -> Result<ScopePlaces, Error> {
        let (base, lock) = match scope {
            InstallScope::User => {
                let home = self.machine.home.as_deref();
                let home = home.ok_or_else(|| nowhere("installed skills"))?;
                (home, self.data_folder()?.join(LOCK_FILE))
            }
            InstallScope::Project => {
                let project = &*self.machine.project;
                (project, project.join(LOCK_FILE))
            }
        };
        Ok(ScopePlaces {
            scope,
            skills: base.join(SKILLS),
            lock,
        })
    }

    /// The folder of the database, the user's lock and everything that was replaced.
    pub(crate) fn data_folder(&self) -> Result<&Path, Error> {
        let database = self.machine.database.as_deref();
        let folder = database.and_then(Path::parent);
        folder.ok_or_else(|| nowhere("what is installed"))
    }

    /// The folder of recorded changes, with the content that they replaced.
    pub(crate) fn changes_folder(&self) -> Result<PathBuf, Error> {
        Ok(self.data_folder()?.join(CHANGES))
    }

    /// The folder of the bytes of installed skills, by digest.
    pub(crate) fn objects_folder(&self) -> Result<PathBuf, Error> {
        Ok(self.data_folder()?.join("objects"))
    }

    /// The folder of fetched skills until they are scanned.
    pub(crate) fn quarantine_folder(&self) -> Result<PathBuf, Error> {
        let cache = self.machine.cache.as_ref();
        let cache = cache.ok_or_else(|| nowhere("fetched skills"))?;
        Ok(cache.join("quarantine"))
    }
}

fn nowhere(what: &str) -> Error {
    Error::broken("store", format!("there is no folder for {what}"))
        .hint("set HOME, and METIER_HOME if data belongs elsewhere")
}
