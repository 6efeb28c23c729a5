//! Children of a skill: how each is started, whether the caller waits for it or communicates with it.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    os::fd::AsFd,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use metier_policy::{Act, Permit};

use crate::{
    backend::{ChildEnd, ChildEndCause, LiveChild, StartedChild},
    child::{
        self, Child, ChildError, ChildPipes, ChildSpec, Confinement, Exit, JournalPlace, Relay,
        Stdin,
    },
    execution::{
        ActExecutor, ActResult, ExecutionError, RecordedAct,
        child_profile::{ProgramKind, WATCHED},
        confinement, leftovers,
        network::ChildNetwork,
    },
    sandbox::{Mechanism, NetworkAccess, SandboxProfile},
};

/// The argument that makes our own binary the host of a library.
const NATIVE_HOST: &str = "__native-host";

/// A running file of the skill that exchanges messages. Dropping it ends it, all its descendants, and its network access.
pub struct RunningScript {
    pipes: ChildPipes,
    child: Child,
    door: Option<ChildNetwork>,
}

impl RunningScript {
    /// The mechanism that sandboxes it.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        self.child.mechanism()
    }
}

impl From<RunningScript> for StartedChild {
    fn from(running: RunningScript) -> Self {
        let RunningScript { pipes, child, door } = running;
        Self {
            stdin: pipes.stdin,
            stdout: pipes.stdout,
            stderr: pipes.stderr,
            confinement: confinement(child.mechanism()),
            child: Box::new(LaunchPaths { child, _door: door }),
        }
    }
}

/// A child with its network access, after its pipes were taken.
struct LaunchPaths {
    child: Child,
    /// Open as long as the child lives.
    _door: Option<ChildNetwork>,
}

impl LiveChild for LaunchPaths {
    fn end(self: Box<Self>, patience: Duration) -> ChildEnd {
        match self.child.finish(patience, Duration::ZERO) {
            Ok(outcome) => ChildEnd {
                by_itself: outcome.exit != Exit::TimedOut,
                how: ChildEndCause::Exit(outcome.exit),
                undone: outcome.undone,
                replaced: outcome.replaced,
            },
            Err(error) => ChildEnd {
                by_itself: false,
                how: ChildEndCause::Unobserved(error.to_string()),
                undone: Vec::new(),
                replaced: Vec::new(),
            },
        }
    }
}

/// The settings that a child is started with.
pub(super) struct Prepared<'a> {
    shim: &'a Path,
    program: &'a OsStr,
    arguments: &'a [OsString],
    folder: File,
    stdin: Stdin<'a>,
    pub(super) env: Vec<(OsString, OsString)>,
    /// `None` if the user disabled the sandbox.
    pub(super) profile: Option<SandboxProfile>,
    watched: PathBuf,
    owner: String,
    door: Option<ChildNetwork>,
    stop: Option<&'a AtomicBool>,
    pub(super) relay: Option<&'a dyn Relay>,
}

impl Prepared<'_> {
    /// Starts it in either way.
    fn with<T>(
        &self,
        start: impl FnOnce(ChildSpec<'_>) -> Result<T, ChildError>,
    ) -> Result<T, ChildError> {
        let fence = self.profile.as_ref();
        let fence = fence.map_or(Confinement::Unsandboxed, Confinement::Profile);
        let mut spec = ChildSpec::new(self.shim, self.program, self.folder.as_fd(), fence);
        spec.args = self.arguments;
        spec.env = &self.env;
        spec.stdin = self.stdin;
        spec.stop = self.stop;
        spec.relay = self.relay;
        spec.journal = Some(JournalPlace {
            folder: &self.watched,
            owner: &self.owner,
        });
        let Some(door) = &self.door else {
            return start(spec);
        };
        let url = door.url();
        let serve = |listener| door.open(listener);
        spec.proxy = Some(child::ProxyListener {
            url: &url,
            serve: &serve,
        });
        start(spec)
    }
}

impl ActExecutor {
    /// Starts a file of the skill in the user's working directory, with pipes for messages.
    ///
    /// # Errors
    /// When the permit is for something else, or the file can't be started or sandboxed.
    pub fn start<R>(
        &self,
        begun: &RecordedAct<'_, Permit, R>,
    ) -> Result<RunningScript, ExecutionError> {
        let permit = begun.act();
        let Act::Script { path, arguments } = permit.act() else {
            return Err(ExecutionError::Elsewhere(
                permit.act().permission().as_str(),
            ));
        };
        let (program, arguments) = self.runner(path, arguments)?;
        let work = &self.host.work;
        self.talk(self.prepare(ProgramKind::Program, &program, &arguments, work)?)
    }

    /// Starts our own binary as the host of a library of the skill, in the same sandbox: the library can do whatever a program of the
    /// skill could do, so it needs the permit for one.
    ///
    /// # Errors
    /// When the permit is for something else, or the host can't be started or sandboxed.
    pub fn start_library<R>(
        &self,
        begun: &RecordedAct<'_, Permit, R>,
    ) -> Result<RunningScript, ExecutionError> {
        let permit = begun.act();
        let Act::Script { path, .. } = permit.act() else {
            return Err(ExecutionError::Elsewhere(
                permit.act().permission().as_str(),
            ));
        };
        let Some(folder) = self.skill.folder.as_deref() else {
            return Err(ExecutionError::Elsewhere(
                "a library of a skill without a folder",
            ));
        };
        let shim = &self.host.shim;
        let arguments = [NATIVE_HOST.into(), folder.join(&**path).into()];
        let (program, work) = (shim.as_os_str(), &self.host.work);
        self.talk(self.prepare(ProgramKind::Program, program, &arguments, work)?)
    }

    /// Starts the prepared child, with pipes for messages.
    pub(super) fn talk(&self, mut prepared: Prepared<'_>) -> Result<RunningScript, ExecutionError> {
        prepared.stdin = Stdin::Piped;
        let mut child = prepared.with(|spec| child::spawn(&spec))?;
        if let Some(door) = &prepared.door {
            door.check()?;
        }
        let pipes = child
            .pipes()
            .ok_or_else(|| ChildError::System(std::io::Error::other("a child without pipes")))?;
        Ok(RunningScript {
            pipes,
            child,
            door: prepared.door,
        })
    }

    /// Starts a program and waits for it.
    pub(super) fn child(
        &self,
        runs: ProgramKind<'_>,
        program: &OsStr,
        arguments: &[OsString],
        folder: &Path,
        timeout: Duration,
        stdin: &[u8],
    ) -> Result<ActResult, ExecutionError> {
        let mut prepared = self.prepare(runs, program, arguments, folder)?;
        if !stdin.is_empty() {
            prepared.stdin = Stdin::Bytes(stdin);
        }
        self.wait_for(prepared, timeout)
    }

    /// Starts the prepared child and waits for it.
    pub(super) fn wait_for(
        &self,
        prepared: Prepared<'_>,
        timeout: Duration,
    ) -> Result<ActResult, ExecutionError> {
        let outcome = prepared.with(|mut spec| {
            spec.timeout = timeout;
            child::run(&spec)
        })?;
        let seen = prepared
            .door
            .map_or_else(|| Ok(Vec::new()), ChildNetwork::close)?;
        Ok(ActResult::Child(outcome, seen))
    }

    pub(super) fn prepare<'a>(
        &'a self,
        runs: ProgramKind<'_>,
        program: &'a OsStr,
        arguments: &'a [OsString],
        folder: &Path,
    ) -> Result<Prepared<'a>, ExecutionError> {
        let failed = |source| ExecutionError::File {
            path: folder.to_owned(),
            source,
        };
        let handle = File::open(folder).map_err(failed)?;
        let mut profile = self.profile(runs)?;
        if program == self.host.shim.as_os_str() {
            // Our own binary can be in any folder.
            profile.read.push(self.host.shim.clone());
        }
        let unjudged = self.unjudged().filter(|_| self.host.unsandboxed);
        if let Some(place) = unjudged.filter(|place| place.symlink_metadata().is_ok()) {
            return Err(ExecutionError::Unjudged(place));
        }
        let reaches_out = profile.network == NetworkAccess::Proxy && !self.host.unsandboxed;
        Ok(Prepared {
            shim: &self.host.shim,
            program,
            arguments,
            folder: handle,
            stdin: Stdin::Null,
            stop: self.host.stop.as_deref(),
            relay: None,
            env: self.environment(),
            profile: Some(profile).filter(|_| !self.host.unsandboxed),
            watched: self.host.temporary.join(WATCHED),
            owner: leftovers::owner(self.grant.identity()),
            door: match reaches_out {
                true => {
                    let log = Arc::clone(&self.connections);
                    Some(ChildNetwork::new(self.hosts()?, log)?)
                }
                false => None,
            },
        })
    }
}
