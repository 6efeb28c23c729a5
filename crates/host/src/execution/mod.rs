//! The executor of acts: the only place where permitted acts of a skill are done.
//!
//! Only policy can create a [`Permit`], and [`ActExecutor::act`] accepts nothing else, so a skill can't reach a file, a program or a host
//! around the check; and it accepts the permit only as a [`RecordedAct`], once there is a receipt for the start of the act. A grant becomes
//! a [`SandboxProfile`](crate::sandbox::SandboxProfile) for every child; places that a grant can't allow (keys, start-up files, our own
//! state) are denied here again.

mod child_profile;
mod deno;
mod environment;
mod files;
mod git;
mod ignored;
mod launch;
mod leftovers;
mod network;
mod recorded_act;
mod search;
#[cfg(feature = "wasm")]
mod wasi;
mod write_protection;

use std::{
    collections::{BTreeMap, HashSet},
    ffi::{OsStr, OsString},
    io,
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, atomic::AtomicBool},
    time::{Duration, Instant},
};

use metier_policy::{Act, CommandLine, Grant, LineContext, Permit};

use crate::{
    child::{ChildError, ChildOutcome, Relay},
    net::{ConnectionLog, FetchResponse, NetError, ProxyConnection, ScopeError},
    sandbox::{Mechanism, Protection, SurveyError},
};

use child_profile::ProgramKind;
pub use child_profile::ScratchFolder;
pub use deno::{Deno, Openings, flags as deno_flags};
pub(crate) use files::open_regular;
pub use git::{git_commands, git_programs, only_reads};
pub use launch::RunningScript;
pub use leftovers::{Leftovers, restore_protected_places};
pub use recorded_act::RecordedAct;
pub use search::SearchMatch;
#[cfg(feature = "wasm")]
pub use wasi::Wasi;

/// Writes the skill's scanned files below the handle of an empty folder.
pub type WriteFiles = Arc<dyn Fn(BorrowedFd<'_>) -> Result<(), ExecutionError> + Send + Sync>;

/// The environment of every skill on this machine. It contains values only, and reads nothing from the system itself.
#[derive(Clone, Debug)]
pub struct HostEnvironment {
    /// Our own binary, which contains the launcher.
    pub shim: PathBuf,
    /// The working directory of scripts.
    pub work: PathBuf,
    /// The home folder of the user.
    pub home: Option<PathBuf>,
    /// `PATH`.
    pub path: Option<OsString>,
    /// Variables of this process that any child may see, such as `LANG`.
    pub common: Vec<(OsString, OsString)>,
    /// Our own state and configuration: no skill reads or writes it.
    pub own: Vec<PathBuf>,
    /// Where metier itself reads skills and settings: no skill writes there.
    pub obeyed: Vec<PathBuf>,
    /// The parent of folders for temporary files.
    pub temporary: PathBuf,
    /// Whether children run without a sandbox, because the user disabled it.
    pub unsandboxed: bool,
    /// Set when the results of skills are no longer needed: their children are ended then.
    pub stop: Option<Arc<AtomicBool>>,
}

/// The skill that a world is for.
#[derive(Clone)]
pub struct ExecutingSkill {
    /// Its folder; `None` for a skill that is built in or elsewhere.
    pub folder: Option<PathBuf>,
    /// Writes its scanned files into an empty folder.
    pub write_files: WriteFiles,
    /// Variables that a child sees if `env:read` names them: those of this process, and the user's secrets for the skill.
    pub named: Vec<(String, OsString)>,
}

/// The result of an act.
#[derive(Debug)]
pub enum ActResult {
    /// A child ended, after contacting these hosts.
    Child(ChildOutcome, Vec<ProxyConnection>),
    /// The response of a host.
    Response(FetchResponse),
    /// A file was read.
    Bytes(Vec<u8>),
    /// Files were found by their names.
    Found {
        /// Absolute paths, sorted.
        paths: Vec<PathBuf>,
        /// Whether the list is incomplete.
        truncated: bool,
        /// Ignore files that exist and are not used.
        unused: Vec<PathBuf>,
    },
    /// Lines were found in files.
    Matches {
        /// By file, in order.
        matches: Vec<SearchMatch>,
        /// Whether the list is incomplete.
        truncated: bool,
        /// Ignore files that exist and are not used.
        unused: Vec<PathBuf>,
    },
    /// A variable was read; `None` if it isn't set.
    Value(Option<OsString>),
    /// It was done, without a result.
    Nothing,
}

/// Why a permitted act did not happen.
#[derive(Debug, thiserror::Error)]
pub enum ExecutionError {
    /// A child did not start.
    #[error(transparent)]
    Child(#[from] ChildError),
    /// No permission opens this place.
    #[error("{} is never {what} for a skill", path.display())]
    Never {
        /// Path of the file.
        path: PathBuf,
        /// `read` or `written`.
        what: &'static str,
    },
    /// The approved name is a link that points elsewhere.
    #[error("{} is a symbolic link: approve its target", .0.display())]
    Link(PathBuf),
    /// A denial by a pattern that can't be enforced for a child.
    #[error("the denial `{denial}` can't be enforced for a program: {why}; to lift it: {lift}")]
    Denial {
        /// The denied permission.
        denial: String,
        /// Why its pattern can't be enforced.
        why: &'static str,
        /// The command that lifts it.
        lift: String,
    },
    /// Metier itself failed.
    #[error("metier failed, which is a bug in metier")]
    Panicked,
    /// The receipt for the start of the act can't be written.
    #[error("{0}")]
    NotWritten(String),
    /// The skill is no longer the approved one.
    #[error("its files changed after they were scanned; try again")]
    Changed,
    /// The skill's scanned files can't be copied, so no child can get them.
    #[error("its scanned files can't be copied: {0}")]
    NoCopy(String),
    /// Git's files in the skill's folder are in no digest, and could not be hidden from a child.
    #[error(
        "{} was not scanned, and without a sandbox the skill could use it", .0.display()
    )]
    Unjudged(PathBuf),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is larger than the limit.
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// The maximum size.
        limit: u64,
    },
    /// A host was not reached.
    #[error(transparent)]
    Net(#[from] NetError),
    /// An approved host can't be understood.
    #[error(transparent)]
    Hosts(#[from] ScopeError),
    /// The network access of a child can't be opened.
    #[error("the network proxy can't be started: {0}")]
    Proxy(io::Error),
    /// A git command that is not on the list.
    #[error("`git {0}` is not allowed by {1}")]
    Git(String, &'static str),
    /// An option that is not on the list of its command.
    #[error(
        "`git {command}` does not take `{option}` with {permission}: only options that start no program are allowed, spelled in full"
    )]
    GitOption {
        /// The command of git.
        command: &'static str,
        /// The option as it was given.
        option: String,
        /// The permission that would have to allow it.
        permission: &'static str,
    },
    /// The search pattern can't be parsed.
    #[error("can't search for `{pattern}`: {why}")]
    Pattern {
        /// The pattern that was given.
        pattern: String,
        /// The problem of the pattern.
        why: String,
    },
    /// More variables were set than a program can be started with.
    #[error("`{0}` can't be set: at most 64 variables, of 32 KiB each, are set for children")]
    TooManyVariables(String),
    /// The act is done elsewhere: models and skills belong to the runtime.
    #[error("`{0}` is not supported here")]
    Elsewhere(&'static str),
}

impl ExecutionError {
    /// Whether this is a denial, and not a failure.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Never { .. }
                | Self::Link(_)
                | Self::Denial { .. }
                | Self::Git(..)
                | Self::GitOption { .. }
                | Self::Changed
                | Self::NoCopy(_)
                | Self::Unjudged(_)
                | Self::Child(
                    ChildError::Replaced(_) | ChildError::Survey(SurveyError::Replaced(_))
                )
        )
    }
}

/// How much memory and other resources a child may use.
const LIMITS: crate::sandbox::SandboxLimits = crate::sandbox::SandboxLimits {
    memory: Some(4 << 30),
    address_space: None,
    file_size: Some(1 << 30),
    open_files: Some(1024),
    processes: Some(256),
    cpu_seconds: Some(600),
};

/// The largest file that is read or written.
const MAX_FILE: u64 = 10 << 20;

/// The world of one activation.
pub struct ActExecutor {
    grant: Arc<Grant>,
    host: Arc<HostEnvironment>,
    skill: ExecutingSkill,
    scratch: ScratchFolder,
    /// The skill's scanned files, once a child has needed them.
    copy: OnceLock<ScratchFolder>,
    protection: OnceLock<Protection>,
    /// The targets of protected names, and the time of that lookup.
    leads: Mutex<Option<(Instant, HashSet<PathBuf>)>>,
    /// Variables that the skill set for its later children.
    set: Mutex<BTreeMap<String, OsString>>,
    /// Records the connections of children.
    connections: Arc<dyn ConnectionLog>,
}

impl ActExecutor {
    /// The world that this grant opens for a skill. Its children's connections are reported to `connections`.
    ///
    /// # Errors
    /// When temporary folders can't be created.
    pub fn new(
        grant: Arc<Grant>,
        host: Arc<HostEnvironment>,
        skill: ExecutingSkill,
        connections: Arc<dyn ConnectionLog>,
    ) -> Result<Self, ExecutionError> {
        let scratch = ScratchFolder::new(&host.temporary)?;
        Ok(Self {
            grant,
            host,
            skill,
            scratch,
            copy: OnceLock::new(),
            protection: OnceLock::new(),
            leads: Mutex::default(),
            set: Mutex::default(),
            connections,
        })
    }

    /// The content of a file that a skill requests to write, for the user's decision: `None` if there is no such file.
    /// The skill does not get it.
    ///
    /// # Errors
    /// When the place can't be read, or must never be read.
    pub fn content_for_question(&self, path: &Path) -> Result<Option<Vec<u8>>, ExecutionError> {
        match files::read(path, &self.never_read()) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(ExecutionError::File { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Does a permitted and recorded act.
    ///
    /// # Errors
    /// When it can't be done, or no permission allows it.
    pub fn act<R>(&self, begun: &RecordedAct<'_, Permit, R>) -> Result<ActResult, ExecutionError> {
        self.act_relayed(begun, None)
    }

    /// [`Self::act`]; `relay` gets the output of a script immediately, and provides its input.
    ///
    /// # Errors
    /// When it can't be done, or no permission allows it.
    pub fn act_relayed<R>(
        &self,
        begun: &RecordedAct<'_, Permit, R>,
        relay: Option<&dyn Relay>,
    ) -> Result<ActResult, ExecutionError> {
        let permit = begun.act();
        let timeout = permit.timeout().unwrap_or(Duration::from_secs(30));
        match permit.act() {
            Act::ReadFile(path) => files::read(path, &self.never_read()).map(ActResult::Bytes),
            Act::WriteFile { path, content } => {
                if self.is_untouchable(path)? {
                    return Err(ExecutionError::Never {
                        path: path.clone(),
                        what: "written",
                    });
                }
                files::write(path, content).map(|()| ActResult::Nothing)
            }
            Act::Line(line) => self.line(line, timeout),
            Act::Script { path, arguments } => self.script(path, arguments, timeout, relay),
            Act::ReadRepository(git) => self.git(git, false, timeout),
            Act::WriteRepository(git) => self.git(git, true, timeout),
            Act::Fetch(fetch) => self.fetch(fetch, timeout).map(ActResult::Response),
            Act::ReadVariable(name) => Ok(ActResult::Value(self.variable(name))),
            Act::FindFiles { folder, pattern } => self.find(folder, pattern, timeout),
            Act::SearchFiles {
                folder,
                pattern,
                glob,
            } => self.search(folder, pattern, glob.as_deref(), timeout),
            Act::SetVariable { name, value } => {
                self.set_variable(name, value).map(|()| ActResult::Nothing)
            }
            Act::CallModel(_) | Act::InvokeSkill(_) | Act::CallTool { .. } => Err(
                ExecutionError::Elsewhere(permit.act().permission().as_str()),
            ),
        }
    }

    /// The mechanism that sandboxes children, for a receipt.
    #[must_use]
    pub fn confinement(outcome: &ChildOutcome) -> &'static str {
        confinement(outcome.mechanism)
    }

    /// A shell command line, with the values as parameters.
    fn line(&self, line: &CommandLine, timeout: Duration) -> Result<ActResult, ExecutionError> {
        let mut arguments: Vec<OsString> =
            vec!["-c".into(), (&*line.script).into(), "metier".into()];
        arguments.extend(line.parameters.iter().map(OsString::from));
        let folder = match line.within {
            LineContext::Skill => self
                .skill
                .folder
                .as_deref()
                .unwrap_or_else(|| self.scratch.path()),
            LineContext::Project => &self.grant.terms().project,
        };
        let timeout = line.timeout.map_or(timeout, |own| own.min(timeout));
        let shell = OsStr::new(shell());
        self.child(
            ProgramKind::Program,
            shell,
            &arguments,
            folder,
            timeout,
            &line.stdin,
        )
    }

    /// A file of the skill runs in the user's working directory, so that file names in the arguments are relative to it.
    fn script(
        &self,
        path: &str,
        arguments: &[String],
        timeout: Duration,
        relay: Option<&dyn Relay>,
    ) -> Result<ActResult, ExecutionError> {
        let (program, arguments) = self.runner(path, arguments)?;
        let work = &self.host.work;
        let mut prepared = self.prepare(ProgramKind::Program, &program, &arguments, work)?;
        prepared.relay = relay;
        self.wait_for(prepared, timeout)
    }

    /// The interpreter of a file of the skill, and its arguments.
    fn runner(
        &self,
        path: &str,
        arguments: &[String],
    ) -> Result<(OsString, Vec<OsString>), ExecutionError> {
        let Some(folder) = self.skill.folder.as_deref() else {
            return Err(ExecutionError::Elsewhere(
                "a script of a skill without a folder",
            ));
        };
        // The inspected program is the one that runs.
        let looked_at = self.copy()?.unwrap_or(folder).join(path);
        let file = folder.join(path);
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        if file.extension().is_some_and(|ending| ending == "wasm") {
            return self.wasm_script(file, arguments);
        }
        files::runner(&file, &looked_at, arguments)
    }

    #[cfg(not(feature = "wasm"))]
    fn wasm_script(
        &self,
        _: PathBuf,
        _: Vec<OsString>,
    ) -> Result<(OsString, Vec<OsString>), ExecutionError> {
        Err(ExecutionError::Elsewhere(
            "a WebAssembly script (this build of metier is without the feature `wasm`)",
        ))
    }
}

fn confinement(mechanism: Mechanism) -> &'static str {
    match mechanism {
        Mechanism::Namespaces => "namespaces",
        Mechanism::Landlock => "landlock",
        Mechanism::None => "unsandboxed",
    }
}

/// Commands are written for bash, often without their author's knowledge; if it is missing, sh runs them.
fn shell() -> &'static str {
    const BASH: &str = "/bin/bash";
    if Path::new(BASH).exists() {
        BASH
    } else {
        "/bin/sh"
    }
}
