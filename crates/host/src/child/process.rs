//! Starting a child and communicating with it: the parent's side.

use std::fs::File;
use std::io::{self, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::control::{self, ChildEnded, LauncherOrder, News};
use super::job::ChildJob;
use super::journal::OtherRuns;
use super::output::CapturedStream;
use super::watch::{self, Watch};
use super::{
    ChildError, ChildOutcome, ChildPipes, ChildSpec, Confinement, Exit, JournalPlace, NotStarted,
    Relay, SMALL_PAGES, Stdin,
};
use super::{is_hazardous_value, is_name};
use crate::sandbox::place_state::PlaceStates;
use crate::sandbox::setup_error::SetupError;
use crate::sandbox::{Mechanism, SandboxProfile, SecondLook, Support, Trails, sys};

/// How long the launcher has to set up the sandbox. It takes milliseconds; this is for an overloaded machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest grace that [`ChildSpec::grace`] can ask for.
const MAX_GRACE: Duration = Duration::from_millis(700);
/// How long after the order to kill the supervisor itself is killed, which ends its PID namespace.
const AFTER_KILL: Duration = Duration::from_millis(200);
/// [`AFTER_KILL`] without a namespace. No other process can then find what is still running, so the supervisor gets more time.
const AFTER_KILL_ALONE: Duration = Duration::from_secs(6);
/// Maximum time between two checks for cancellation.
const GLANCE: Duration = Duration::from_millis(20);
/// How long output is read after everything that could write it has ended.
const DRAIN: Duration = Duration::from_millis(200);

/// Starts a child, waits for it, and returns its outcome.
///
/// # Errors
/// If the child could not be sandboxed, or the launcher could not be started. A program that doesn't exist is an [`ChildOutcome`].
pub fn run(spec: &ChildSpec<'_>) -> Result<ChildOutcome, ChildError> {
    let mut spec = spec.clone();
    if matches!(spec.stdin, Stdin::Piped) {
        spec.stdin = Stdin::Null;
    }
    let input = spec.relay.and_then(Relay::input);
    if input.is_some() {
        spec.stdin = Stdin::Piped;
    }
    let mut child = spawn(&spec)?;
    if let (Some(from), Some(to)) = (input, child.stdin.take()) {
        feed(from, to);
    }
    child.finish_unless(spec.stop, spec.relay, spec.timeout, spec.grace)
}

/// Copies input to a child until either side ends. The thread is not joined: a read that never returns ends with the process.
fn feed(from: OwnedFd, mut to: File) {
    std::thread::spawn(move || {
        // A child that has ended reads no more, which is not an error.
        io::copy(&mut File::from(from), &mut to).ok();
    });
}

/// Starts a child to talk to. Dropping it ends it, and all that it started.
///
/// # Errors
/// If the child could not be sandboxed, or the launcher could not be started.
pub fn spawn(spec: &ChildSpec<'_>) -> Result<Child, ChildError> {
    if spec.program.is_empty() {
        return Err(ChildError::Unfit(
            "no program to start was given".to_owned(),
        ));
    }
    enclose(spec)
}

/// Starts a child with the strongest available mechanism; without a program, only the sandbox.
fn enclose(spec: &ChildSpec<'_>) -> Result<Child, ChildError> {
    check(spec)?;
    let candidates: &[Mechanism] = match (spec.fence, spec.mechanism) {
        (Confinement::Unsandboxed, _) => &[Mechanism::None],
        (Confinement::Profile(_), None) => &[Mechanism::Namespaces, Mechanism::Landlock],
        (Confinement::Profile(_), Some(Mechanism::Namespaces)) => &[Mechanism::Namespaces],
        (Confinement::Profile(_), Some(Mechanism::Landlock)) => &[Mechanism::Landlock],
        (Confinement::Profile(_), Some(Mechanism::None)) => {
            let reasons = vec!["sandboxing was disabled by the caller".to_owned()];
            return Err(ChildError::NoSandbox { reasons });
        }
    };
    // The launcher takes as long to start as the scan of the folders takes, and needs its job only afterwards. So both run in parallel.
    let mut waiting = Some(Child::without_job(spec)?);
    let (profile, mut watch) = fenced(spec)?;
    let mut reasons = Vec::new();
    for mechanism in candidates {
        let child = waiting
            .take()
            .map_or_else(|| Child::without_job(spec), Ok)?;
        match give_job(child, spec, profile.as_ref(), *mechanism, watch.lock())? {
            Started::Yes(mut child) => {
                tracing::debug!(program = ?spec.program, ?mechanism, "child started");
                std::mem::swap(&mut child.watch, &mut watch);
                return Ok(*child);
            }
            Started::Unavailable(why) => reasons.push(why),
        }
    }
    Err(ChildError::NoSandbox { reasons })
}

/// The launcher's job, and the places to check afterwards. These are recorded before any code of the child runs.
fn fenced(spec: &ChildSpec<'_>) -> Result<(Option<SandboxProfile>, Watch), ChildError> {
    let Confinement::Profile(profile) = spec.fence else {
        return Ok((None, Watch::default()));
    };
    let others = spec.journal.map(|place| OtherRuns::read(place.folder));
    let others = others.transpose()?.unwrap_or_default();
    let (profile, mut watch) = settle(profile, &others)?;
    if let Some(JournalPlace { folder, owner }) = spec.journal {
        watch.write_down(folder, owner)?;
    }
    Ok((Some(profile), watch))
}

/// Starts a program as the launcher, with a job that does nothing: only a metier of this version accepts it.
///
/// # Errors
/// If the program does not start, or is not the launcher.
pub fn try_launcher(shim: &Path) -> Result<(), ChildError> {
    let root = File::open("/")?;
    let spec = ChildSpec::new(shim, "", root.as_fd(), Confinement::Unsandboxed);
    enclose(&spec)?.finish(PATIENCE, MAX_GRACE).map(drop)
}

/// The mechanisms of this machine, found by trying them: version numbers don't show the restrictions of a container.
#[must_use]
pub fn detect(shim: &Path) -> Support {
    let mut missing = Vec::new();
    let landlock = sys::landlock_version();
    if let Err(error) = &landlock {
        missing.push(format!("Landlock: {error}"));
    }
    let profile = SandboxProfile::default();
    let mut mechanism = Mechanism::None;
    for candidate in [Mechanism::Namespaces, Mechanism::Landlock] {
        let tried = File::open("/").map_err(ChildError::from).and_then(|root| {
            let mut spec = ChildSpec::new(shim, "", root.as_fd(), Confinement::Profile(&profile));
            spec.mechanism = Some(candidate);
            enclose(&spec)?.finish(PATIENCE, MAX_GRACE)
        });
        match tried.map(|outcome| outcome.exit) {
            Ok(Exit::Code(0)) => {
                mechanism = candidate;
                break;
            }
            Ok(other) => missing.push(other.to_string()),
            Err(ChildError::NoSandbox { reasons }) => missing.extend(reasons),
            Err(error) => missing.push(error.to_string()),
        }
    }
    Support {
        mechanism,
        landlock: landlock.ok(),
        missing,
    }
}

/// A child process that is running.
#[derive(Debug)]
pub struct Child {
    /// The writer of its standard input, if the spec requested [`Stdin::Piped`].
    pub stdin: Option<File>,
    /// Its standard output, for callers that take it before [`Child::finish`].
    pub stdout: Option<ChildStdout>,
    /// Its standard error, likewise.
    pub stderr: Option<ChildStderr>,
    mechanism: Mechanism,
    max_output: usize,
    started: Instant,
    shim: std::process::Child,
    handle: OwnedFd,
    line: OwnedFd,
    watch: Watch,
}

impl Child {
    /// A launcher that waits for its job. Until then it reads only from the socket, and it ends when the socket is closed.
    fn without_job(spec: &ChildSpec<'_>) -> Result<Self, ChildError> {
        let (line, theirs) = control::pair()?;
        let mut shim = Command::new(spec.shim)
            .arg("__exec")
            .env_clear()
            .env(SMALL_PAGES.0, SMALL_PAGES.1)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| ChildError::Shim {
                shim: spec.shim.to_owned(),
                source,
            })?;
        let pid = i32::try_from(shim.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("a process without a number"))?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from)?;
        Ok(Self {
            stdin: None,
            stdout: shim.stdout.take(),
            stderr: shim.stderr.take(),
            mechanism: Mechanism::None,
            max_output: spec.max_output,
            started: Instant::now(),
            shim,
            handle,
            line,
            watch: Watch::default(),
        })
    }

    /// The mechanism that sandboxes it.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// Whether it still runs.
    #[must_use]
    pub fn is_running(&mut self) -> bool {
        matches!(self.shim.try_wait(), Ok(None))
    }

    /// Takes the pipes to it; none unless the spec requested [`Stdin::Piped`].
    pub fn pipes(&mut self) -> Option<ChildPipes> {
        Some(ChildPipes {
            stdin: self.stdin.take()?.into(),
            stdout: self.stdout.take()?.into(),
            stderr: self.stderr.take()?.into(),
        })
    }

    /// Ends it and all its descendants, immediately.
    ///
    /// # Errors
    /// If the system fails; all processes were killed anyway.
    pub fn kill_all(mut self) -> Result<ChildOutcome, ChildError> {
        // Stays open until then: the end of its input would sometimes make it exit by itself.
        let _stdin = self.stdin.take();
        let mut outcome = self.finish(Duration::ZERO, Duration::ZERO)?;
        if outcome.exit == Exit::TimedOut {
            outcome.exit = Exit::Stopped;
        }
        Ok(outcome)
    }

    /// Reads its output until it ends, or ends it: asks it after `timeout`, kills it after `grace` more.
    ///
    /// # Errors
    /// If the system fails; all processes were killed anyway.
    pub fn finish(self, timeout: Duration, grace: Duration) -> Result<ChildOutcome, ChildError> {
        self.finish_unless(None, None, timeout, grace)
    }

    /// [`Self::finish`], but stopped as soon as the flag is set.
    fn finish_unless(
        mut self,
        stop: Option<&AtomicBool>,
        relay: Option<&dyn Relay>,
        timeout: Duration,
        grace: Duration,
    ) -> Result<ChildOutcome, ChildError> {
        self.stdin = None;
        let mut stdout = CapturedStream::new(self.stdout.take(), self.max_output)?;
        let mut stderr = CapturedStream::new(self.stderr.take(), self.max_output)?;
        let mut end = End::new(timeout, grace, after_kill(self.mechanism));
        let mut buffer = Vec::new();
        let mut line_open = true;
        let mut unread = false;
        while !end.is_over(stdout.source().is_none() && stderr.source().is_none()) {
            if unread || stop.is_some_and(|stop| stop.load(Ordering::Acquire)) {
                end.stop(&self.line);
            }
            let longest = stop.map_or(PATIENCE, |_| GLANCE);
            let ready = self.wait(&end, longest, line_open, [stdout.source(), stderr.source()])?;
            if ready.stdout {
                let pass =
                    |bytes: &[u8]| unread |= is_unread(relay, super::OutputStream::Output, bytes);
                stdout.read(&mut buffer, pass);
            }
            if ready.stderr {
                let pass =
                    |bytes: &[u8]| unread |= is_unread(relay, super::OutputStream::Error, bytes);
                stderr.read(&mut buffer, pass);
            }
            if ready.line {
                line_open = end.listen(&self.line);
            }
            if ready.gone {
                end.gone();
            }
            // Output that is passed on to the user is not limited: the user can stop it.
            if relay.is_none() && (stdout.is_flood() || stderr.is_flood()) {
                end.flood(&self.line);
            }
            if end.advance(&self.line) {
                self.shim.kill()?;
            }
        }
        while line_open {
            line_open = end.listen(&self.line);
        }
        self.shim.wait()?;
        let ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let SecondLook { undone, failed } = self.watch.undo();
        if !failed.is_empty() {
            return Err(ChildError::NotUndone { failed, undone });
        }
        let replaced = self.watch.replaced();
        Ok(ChildOutcome {
            mechanism: self.mechanism,
            truncated: stdout.truncated() || stderr.truncated(),
            stdout: std::mem::take(&mut stdout.kept),
            stderr: std::mem::take(&mut stderr.kept),
            ms,
            survivors_killed: end.ended.is_some_and(|ended| ended.survivors),
            exit: end.exit(),
            undone,
            replaced,
        })
    }

    fn wait(
        &self,
        end: &End,
        longest: Duration,
        line_open: bool,
        [stdout, stderr]: [Option<BorrowedFd<'_>>; 2],
    ) -> io::Result<ReadySignal> {
        let line = line_open.then_some(self.line.as_fd());
        let handle = (!end.is_gone()).then_some(self.handle.as_fd());
        let all = [stdout, stderr, line, handle];
        let watched = all.iter().flatten();
        let mut polled: Vec<PollFd<'_>> = watched
            .map(|source| PollFd::from_borrowed_fd(*source, PollFlags::IN))
            .collect();
        let left = end.next().saturating_duration_since(Instant::now());
        let timeout = timespec(left.min(longest));
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut answers = polled.iter().map(|source| !source.revents().is_empty());
        let mut ready = |source: &Option<_>| source.is_some() && answers.next().unwrap_or(false);
        Ok(ReadySignal {
            stdout: ready(&stdout),
            stderr: ready(&stderr),
            line: ready(&line),
            gone: ready(&handle),
        })
    }
}

/// Passes output on; returns whether its reader was dropped.
fn is_unread(relay: Option<&dyn Relay>, stream: super::OutputStream, bytes: &[u8]) -> bool {
    relay.is_some_and(|relay| relay.output(stream, bytes).is_err())
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Ok(None) = self.shim.try_wait() {
            control::order(&self.line, LauncherOrder::Kill);
            let waited = timespec(after_kill(self.mechanism));
            let mut handle = [PollFd::new(&self.handle, PollFlags::IN)];
            if !poll(&mut handle, Some(&waited)).is_ok_and(|ready| ready > 0) {
                let _already_gone = self.shim.kill();
            }
            let _status = self.shim.wait();
        }
        self.watch.undo_unasked();
    }
}

/// The descriptors that are ready after a wait.
struct ReadySignal {
    stdout: bool,
    stderr: bool,
    line: bool,
    gone: bool,
}

/// The state of the child's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndStage {
    /// It runs, and its time is not over.
    Running,
    /// It was asked to end.
    Asked,
    /// It was ordered to end.
    Told,
    /// It was killed together with its supervisor.
    Killed,
    /// It has ended; only the pipes may still contain output.
    Gone,
}

/// The end of a child, step by step.
struct End {
    stage: EndStage,
    until: Instant,
    grace: Duration,
    after_kill: Duration,
    timed_out: bool,
    stopped: bool,
    flooded: bool,
    ended: Option<ChildEnded>,
    not_started: Option<NotStarted>,
}

impl End {
    fn new(timeout: Duration, grace: Duration, after_kill: Duration) -> Self {
        Self {
            stage: EndStage::Running,
            until: far(timeout),
            grace: grace.min(MAX_GRACE),
            after_kill,
            timed_out: false,
            stopped: false,
            flooded: false,
            ended: None,
            not_started: None,
        }
    }

    fn next(&self) -> Instant {
        self.until
    }

    fn is_gone(&self) -> bool {
        self.stage == EndStage::Gone
    }

    fn is_over(&self, silent: bool) -> bool {
        self.is_gone() && (silent || Instant::now() >= self.until)
    }

    /// Reads the messages of the supervisor; returns whether more can arrive.
    fn listen(&mut self, line: &OwnedFd) -> bool {
        match control::hear(line, false) {
            Ok(Some((News::Ended(ended), _))) => self.ended = Some(ended),
            Ok(Some((News::NotStarted(why), _))) => self.not_started = Some(why),
            Ok(Some(_)) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return !self.is_gone(),
            Ok(None) | Err(_) => return false,
        }
        true
    }

    fn gone(&mut self) {
        self.stage = EndStage::Gone;
        self.until = far(DRAIN);
    }

    /// The caller stopped waiting: asks the child to end.
    fn stop(&mut self, line: &OwnedFd) {
        if self.stage == EndStage::Running {
            self.stopped = true;
            self.ask(line);
        }
    }

    fn ask(&mut self, line: &OwnedFd) {
        control::order(line, LauncherOrder::Terminate);
        self.stage = EndStage::Asked;
        self.until = far(self.grace);
    }

    fn flood(&mut self, line: &OwnedFd) {
        if matches!(self.stage, EndStage::Running | EndStage::Asked) {
            self.flooded = true;
            self.tell(line);
        }
    }

    fn tell(&mut self, line: &OwnedFd) {
        control::order(line, LauncherOrder::Kill);
        self.stage = EndStage::Told;
        self.until = far(self.after_kill);
    }

    /// Takes the next step if its time has come; returns whether that step is to kill the supervisor.
    fn advance(&mut self, line: &OwnedFd) -> bool {
        if Instant::now() < self.until {
            return false;
        }
        match self.stage {
            EndStage::Running => {
                self.timed_out = true;
                self.ask(line);
                false
            }
            EndStage::Asked => {
                self.tell(line);
                false
            }
            EndStage::Told => {
                self.stage = EndStage::Killed;
                self.until = far(PATIENCE);
                true
            }
            EndStage::Killed | EndStage::Gone => {
                self.stage = EndStage::Gone;
                false
            }
        }
    }

    fn exit(self) -> Exit {
        if self.ended.is_some_and(|ended| ended.swarm) {
            return Exit::Swarmed;
        }
        if self.stopped {
            return Exit::Stopped;
        }
        if self.timed_out {
            return Exit::TimedOut;
        }
        if self.flooded {
            return Exit::Flooded;
        }
        if let Some(why) = self.not_started {
            return Exit::NotStarted(why);
        }
        match self.ended {
            Some(ended) => {
                let status =
                    <std::process::ExitStatus as std::os::unix::process::ExitStatusExt>::from_raw(
                        ended.status,
                    );
                let signal = std::os::unix::process::ExitStatusExt::signal(&status);
                signal.map_or_else(|| Exit::Code(status.code().unwrap_or(-1)), Exit::Signal)
            }
            None => Exit::NotStarted(NotStarted::Other(
                "its supervisor process was killed".to_owned(),
            )),
        }
    }
}

fn after_kill(mechanism: Mechanism) -> Duration {
    match mechanism {
        Mechanism::Namespaces => AFTER_KILL,
        Mechanism::Landlock | Mechanism::None => AFTER_KILL_ALONE,
    }
}

/// An instant in the future; if it can't be represented, a year from now.
fn far(after: Duration) -> Instant {
    let now = Instant::now();
    let year = Duration::from_secs(365 * 24 * 3600);
    now.checked_add(after).unwrap_or(now + year)
}

fn timespec(duration: Duration) -> Timespec {
    // Rounded up: a wait that is too short would turn the loop into busy waiting.
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos())
            .saturating_add(1_000)
            .min(999_999_999),
    }
}

fn check(spec: &ChildSpec<'_>) -> Result<(), ChildError> {
    for (name, value) in spec.env {
        let unfit = !is_name(name)
            || matches!(spec.fence, Confinement::Profile(_)) && is_hazardous_value(name, value);
        if unfit {
            return Err(ChildError::Variable(name.to_string_lossy().into_owned()));
        }
    }
    let values = spec.env.iter().map(|(_, value)| value.as_os_str());
    let texts = spec.args.iter().map(|arg| arg.as_os_str()).chain(values);
    for text in texts.chain([spec.program]) {
        if text.as_bytes().contains(&0) {
            return Err(ChildError::Nul(text.to_string_lossy().into_owned()));
        }
    }
    Ok(())
}

/// Splits the profile into what the launcher can enforce and what has to be checked after the child.
fn settle(
    profile: &SandboxProfile,
    others: &OtherRuns,
) -> Result<(SandboxProfile, Watch), ChildError> {
    let unfit = |trouble: SetupError| match trouble.replaced_place() {
        Some(place) => ChildError::Replaced(place),
        None => ChildError::Unfit(trouble.to_string()),
    };
    let mut look = PlaceStates::default();
    let mut whole = profile.clone();
    let mut trails = Trails::default();
    let survey = watch::survey(&mut whole, others, &mut trails)?;
    let mut settled = whole.settled(&mut trails).map_err(unfit)?;
    settled.check()?;
    let watch = Watch::new(&mut settled, survey, others, &mut look)?;
    Ok((settled, watch))
}

enum Started {
    Yes(Box<Child>),
    Unavailable(String),
}

/// Sends the launcher its job, and waits until the sandbox is complete.
fn give_job(
    mut child: Child,
    spec: &ChildSpec<'_>,
    profile: Option<&SandboxProfile>,
    mechanism: Mechanism,
    lock: Option<BorrowedFd<'_>>,
) -> Result<Started, ChildError> {
    let broken = |source| ChildError::Shim {
        shim: spec.shim.to_owned(),
        source,
    };
    let job = ChildJob {
        program: spec.program.to_owned(),
        args: spec.args.to_vec(),
        env: spec.env.to_vec(),
        proxy_url: spec.proxy.map(|proxy| proxy.url.into()).unwrap_or_default(),
        mechanism,
        profile: profile.cloned(),
    };
    let job = in_memory(&job.encode())?;
    let (stdin, theirs_to_read) = match spec.stdin {
        Stdin::Null => (None, None),
        Stdin::Bytes(bytes) => (None, Some(in_memory(bytes)?)),
        Stdin::Piped => {
            let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
                .map_err(io::Error::from)?;
            (Some(File::from(write)), Some(read))
        }
    };
    child.stdin = stdin;
    child.mechanism = mechanism;
    child.started = Instant::now();
    let mut along = vec![job.as_fd(), spec.cwd];
    along.extend(theirs_to_read.as_ref().map(AsFd::as_fd));
    along.extend(lock);
    let shape = [b'J', theirs_to_read.is_some().into(), lock.is_some().into()];
    control::send(&child.line, &shape, &along).map_err(broken)?;
    match welcome(&mut child, spec) {
        Ok(None) => Ok(Started::Yes(Box::new(child))),
        Ok(Some(why)) => Ok(Started::Unavailable(why)),
        Err(Failure::Unfit(why)) => Err(ChildError::Unfit(why)),
        Err(Failure::Replaced(place)) => Err(ChildError::Replaced(place)),
        Err(Failure::Shim(error)) => Err(broken(error)),
    }
}

enum Failure {
    Unfit(String),
    Replaced(String),
    Shim(io::Error),
}

/// Waits until the sandbox is complete. `Some` contains why this mechanism is not available.
fn welcome(child: &mut Child, spec: &ChildSpec<'_>) -> Result<Option<String>, Failure> {
    let until = far(PATIENCE);
    loop {
        let timeout = timespec(until.saturating_duration_since(Instant::now()));
        let mut line = [PollFd::new(&child.line, PollFlags::IN)];
        match poll(&mut line, Some(&timeout)) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(Failure::Shim(error.into())),
            Ok(0) => return Err(Failure::Shim(io::ErrorKind::TimedOut.into())),
            Ok(_) => {}
        }
        match control::hear(&child.line, false).map_err(Failure::Shim)? {
            Some((News::Ready, _)) => return Ok(None),
            Some((News::Unavailable(why), _)) => return Ok(Some(why)),
            Some((News::Unfit(why), _)) => return Err(Failure::Unfit(why)),
            Some((News::Replaced(place), _)) => return Err(Failure::Replaced(place)),
            Some((News::Listener, along)) => {
                if let (Some(proxy), Some(listener)) = (spec.proxy, along.into_iter().next()) {
                    (proxy.serve)(TcpListener::from(listener));
                }
            }
            Some(_) | None => {
                return Err(Failure::Shim(io::Error::other(
                    "it exited without a message; if metier was updated meanwhile, restart the program that uses it",
                )));
            }
        }
    }
}

/// The content of a file without a name, which disappears with its last reader.
fn in_memory(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(memfd_create("metier", flags)?);
    file.write_all(bytes)?;
    io::Seek::rewind(&mut file)?;
    // Otherwise a child that reads it could write to it, and use memory that no limit counts.
    let fixed = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, fixed)?;
    Ok(file.into())
}
