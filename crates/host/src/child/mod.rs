//! Children: programs of skills, started in a sandbox and supervised until they end.
//!
//! **Problem.** A command of a skill can print without limit, never return, leave daemons behind, or search for secrets.
//! The caller must get an answer in time, of a bounded size, with nothing left running.
//!
//! **Decision.** A child is never a direct child of this program. It is started by the launcher ([`shim`]), our own binary run again, which
//! gets its job over a socket. [`run`] waits for the result; [`spawn`] returns a [`Child`] to talk to. Nothing is inherited: the
//! environment is exactly [`ChildSpec::env`], the descriptors are 0, 1 and 2, and the child has no terminal. All clocks are monotonic.
//!
//! ```no_run
//! # use std::{fs::File, os::fd::AsFd, path::Path};
//! # use metier_host::{child::{self, ChildSpec, Confinement}, sandbox::{SandboxProfile, system_read}};
//! let profile = SandboxProfile { read: system_read(&[], None), ..SandboxProfile::default() };
//! let folder = File::open("skills/hello")?;
//! let confinement = Confinement::Profile(&profile);
//! let mut spec = ChildSpec::new(Path::new("metier"), "/bin/sh", folder.as_fd(), confinement);
//! let args = ["-c".into(), "echo hello".into()];
//! spec.args = &args;
//! let outcome = child::run(&spec)?;
//! assert_eq!(outcome.stdout, b"hello\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ffi::{OsStr, OsString};
use std::net::TcpListener;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::sandbox::{Contradiction, Mechanism, SandboxProfile, SurveyError, UndonePlace, shown};

pub mod shim;

#[cfg(target_os = "linux")]
mod control;
mod environment;
#[cfg(target_os = "linux")]
mod job;
#[cfg(target_os = "linux")]
pub(crate) mod journal;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod supervise;
#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(target_os = "linux")]
pub(crate) mod watch;

pub use environment::is_hazardous;
pub(crate) use environment::{is_hazardous_value, is_name};
#[cfg(target_os = "linux")]
pub use journal::{Leftover, work_off};
#[cfg(target_os = "linux")]
pub use process::{Child, detect, run, spawn, try_launcher};
#[cfg(not(target_os = "linux"))]
pub use unsupported::{Child, detect, run, spawn, try_launcher};

/// Tells the allocator of our own program, started again, not to use huge pages: clearing one takes a quarter of a millisecond, and
/// small programs touch only a few small pages.
pub const SMALL_PAGES: (&str, &str) = ("MIMALLOC_ALLOW_THP", "0");

/// How much of each stream is kept by default.
pub const MAX_OUTPUT: usize = 64 * 1024;

/// The program to start, and its settings.
#[derive(Clone)]
pub struct ChildSpec<'a> {
    /// Our own binary, which contains the launcher ([`shim`]).
    pub shim: &'a Path,
    /// A path, or a name that is looked up in the `PATH` of [`ChildSpec::env`].
    pub program: &'a OsStr,
    /// Its arguments, without its name.
    pub args: &'a [OsString],
    /// Its environment: this and nothing else.
    pub env: &'a [(OsString, OsString)],
    /// The working directory. A handle, so that it can't be replaced.
    pub cwd: BorrowedFd<'a>,
    /// The standard input of the child.
    pub stdin: Stdin<'a>,
    /// The sandbox of the child.
    pub fence: Confinement<'a>,
    /// The required mechanism; `None` selects the strongest available one.
    pub mechanism: Option<Mechanism>,
    /// Serves the proxy of [`NetworkAccess`](crate::sandbox::NetworkAccess).
    pub proxy: Option<ProxyListener<'a>>,
    /// After this time the child is asked to end. [`spawn`] ignores it: its callers have their own deadlines.
    pub timeout: Duration,
    /// How long the child then has until it is killed. At most 700 ms count, so that a result comes within `timeout` + 1 s.
    pub grace: Duration,
    /// How many bytes of each output stream are kept.
    pub max_output: usize,
    /// Where the watched places are recorded before the child starts.
    pub journal: Option<JournalPlace<'a>>,
    /// Set by the caller to stop waiting: the child is then ended as after a timeout. [`spawn`] ignores it too.
    pub stop: Option<&'a AtomicBool>,
    /// Gets the output while the child runs, and can provide its input. [`spawn`] ignores it.
    pub relay: Option<&'a dyn Relay>,
}

/// The stream that a child wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputStream {
    /// Data of standard output.
    Output,
    /// Data of standard error.
    Error,
}

/// A caller that gets all output of a child immediately, and provides its input.
pub trait Relay {
    /// The child's input. It is copied into a pipe, because a child gets no descriptor of the user's.
    fn input(&self) -> Option<OwnedFd>;
    /// Receives output of the child. If its reader was dropped, the child is ended as by [`ChildSpec::stop`].
    ///
    /// # Errors
    /// When it can't be passed on.
    fn output(&self, stream: OutputStream, bytes: &[u8]) -> std::io::Result<()>;
}

impl<'a> ChildSpec<'a> {
    /// No arguments, no environment, no input; 30 seconds.
    pub fn new<P: AsRef<OsStr> + ?Sized>(
        shim: &'a Path,
        program: &'a P,
        cwd: BorrowedFd<'a>,
        fence: Confinement<'a>,
    ) -> Self {
        Self {
            shim,
            program: program.as_ref(),
            args: &[],
            env: &[],
            cwd,
            stdin: Stdin::Null,
            fence,
            mechanism: None,
            proxy: None,
            timeout: Duration::from_secs(30),
            grace: Duration::from_millis(500),
            max_output: MAX_OUTPUT,
            stop: None,
            relay: None,
            journal: None,
        }
    }
}

/// Where watched places are recorded, in case this run is killed.
#[derive(Clone, Copy, Debug)]
pub struct JournalPlace<'a> {
    /// A folder that no child sees.
    pub folder: &'a Path,
    /// The owner of the child, in a form that the next run understands.
    pub owner: &'a str,
}

/// The pipes to a running child.
#[derive(Debug)]
pub struct ChildPipes {
    /// The writing end of its standard input.
    pub stdin: OwnedFd,
    /// The reading end of its standard output.
    pub stdout: OwnedFd,
    /// The reading end of its standard error.
    pub stderr: OwnedFd,
}

/// The standard input of a child.
#[derive(Debug, Clone, Copy)]
pub enum Stdin<'a> {
    /// An empty standard input.
    Null,
    /// These bytes, then the end.
    Bytes(&'a [u8]),
    /// The data written to [`Child::stdin`]; for [`run`] the same as [`Stdin::Null`].
    Piped,
}

/// Whether and how a child is sandboxed.
#[derive(Debug, Clone, Copy)]
pub enum Confinement<'a> {
    /// Enforces this profile; if that is not possible, nothing is started.
    Profile(&'a SandboxProfile),
    /// No sandbox: the child has the user's rights. Only at the user's explicit request, and recorded.
    Unsandboxed,
}

/// A placeholder in the arguments of a child; it is replaced by the port of the child's proxy.
pub const PROXY_PORT: &str = "{metier-proxy-port}";

/// The proxy of a child that has no other access to the network.
#[derive(Clone, Copy)]
pub struct ProxyListener<'a> {
    /// The value of the proxy variables; `{port}` is replaced by the port.
    pub url: &'a str,
    /// Takes the listener, which is in the child's network, before the child runs. Must not block.
    pub serve: &'a dyn Fn(TcpListener),
}

/// The result of a child that has ended.
#[derive(Clone, PartialEq, Eq)]
pub struct ChildOutcome {
    /// How the child ended.
    pub exit: Exit,
    /// The mechanism that sandboxed it.
    pub mechanism: Mechanism,
    /// The beginning of its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: Vec<u8>,
    /// Whether there was more than was kept.
    pub truncated: bool,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// Whether it left processes running, which were then ended.
    pub survivors_killed: bool,
    /// Protected places that it created or changed, and that were restored.
    pub undone: Vec<UndonePlace>,
    /// Protected files that another program replaced while the child ran, so that the child could have changed them. They stay in place.
    pub replaced: Vec<PathBuf>,
}

impl std::fmt::Debug for ChildOutcome {
    /// With the start of the output as text: 64 KiB of numbers are not readable.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text =
            |bytes: &[u8]| -> String { String::from_utf8_lossy(bytes).chars().take(500).collect() };
        out.debug_struct("Outcome")
            .field("exit", &self.exit)
            .field("mechanism", &self.mechanism)
            .field("stdout", &text(&self.stdout))
            .field("stderr", &text(&self.stderr))
            .field("truncated", &self.truncated)
            .field("ms", &self.ms)
            .field("survivors_killed", &self.survivors_killed)
            .field("undone", &self.undone)
            .field("replaced", &self.replaced)
            .finish()
    }
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Exit {
    /// It exited with this code.
    #[error("exit code {_0}{}", meaning(*_0))]
    Code(i32),
    /// It was ended by a signal; some signals are caused by a limit.
    #[error("ended by signal {_0}{}", signal_meaning(*_0))]
    Signal(i32),
    /// It took too long.
    #[error("took too long and was killed")]
    TimedOut,
    /// The caller stopped it.
    #[error("was stopped on request")]
    Stopped,
    /// It exceeded the output limit by far.
    #[error("exceeded the output limit and was killed")]
    Flooded,
    /// It exceeded the process limit.
    #[error("started too many processes and was killed")]
    Swarmed,
    /// It could not be started.
    #[error(transparent)]
    NotStarted(#[from] NotStarted),
}

fn meaning(code: i32) -> &'static str {
    match code {
        126 => " (a command is not executable)",
        127 => " (a command was not found)",
        _ => "",
    }
}

fn signal_meaning(signal: i32) -> &'static str {
    match signal {
        6 => " (aborted)",
        9 => " (killed)",
        11 => " (it crashed)",
        24 => " (CPU time limit exceeded)",
        25 => " (file size limit exceeded)",
        31 => " (forbidden system call)",
        _ => "",
    }
}

/// Why a program never ran.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotStarted {
    /// The file does not exist, or is not visible.
    #[error("`{0}` was not found or can't be read")]
    NotFound(String),
    /// It is not a program, or not executable.
    #[error("`{0}` can't be run: is it executable, and in a readable folder?")]
    NotExecutable(String),
    /// The interpreter that it names is missing.
    #[error("the interpreter of `{0}` was not found: check its first line")]
    NoInterpreter(String),
    /// Its first line ends with a carriage return, as on Windows, and so names an interpreter that doesn't exist.
    #[error("the first line of `{0}` ends with a carriage return: save it with Unix line endings")]
    CarriageReturn(String),
    /// Neither a program for this machine nor a script that names its interpreter.
    #[error("`{0}` is neither a program for this machine nor begins with `#!`")]
    BadFormat(String),
    /// The working directory no longer exists.
    #[error("can't start in {0}")]
    Folder(String),
    /// A folder that the sandbox shows or opens was replaced by another one.
    #[error("`{0}` was replaced while the sandbox was prepared; run it again")]
    Replaced(String),
    /// The last step of the sandbox failed.
    #[error("the sandbox could not be completed: {0}")]
    Fence(String),
    /// Any other error of the system.
    #[error("can't be run: {0}")]
    Other(String),
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// No mechanism on this system can enforce a profile.
    #[error("no sandbox on this machine: {}; it needs Linux 5.13 or newer, with Landlock enabled", reasons.join("; "))]
    NoSandbox {
        /// The mechanisms that were tried, and why each failed.
        reasons: Vec<String>,
    },
    /// The profile can't be enforced on the existing files.
    #[error("the sandbox can't be set up: {0}")]
    Unfit(String),
    /// A path of the profile points to a file or folder other than the one that was checked, or became a link.
    #[error("`{0}` was replaced while the sandbox was prepared; run it again")]
    Replaced(String),
    /// The profile allows and forbids the same place.
    #[error("the sandbox can't be set up: {0}")]
    Contradiction(#[from] Contradiction),
    /// A variable that makes other programs run code, or that has an invalid name.
    #[error(
        "the variable `{0}` can't be given to a child: it makes programs load code, or is not a valid name"
    )]
    Variable(String),
    /// A program, argument or variable with a NUL byte in it.
    #[error("`{0}` contains a NUL byte")]
    Nul(String),
    /// The launcher did not start or answer.
    #[error("`{} __exec` failed: {source}", shim.display())]
    Shim {
        /// Path of the launcher.
        shim: PathBuf,
        /// The error of the launcher.
        source: std::io::Error,
    },
    /// The writable folders of the child can't be scanned.
    #[error(transparent)]
    Survey(#[from] SurveyError),
    /// After a child had ended, protected places could not be checked or restored.
    #[error(
        "after the process ended, protected files could not be checked or restored: {}; check them before you continue{}",
        failures(failed),
        renamed(undone)
    )]
    NotUndone {
        /// The paths, each with its error.
        failed: Vec<(PathBuf, std::io::Error)>,
        /// The restored places.
        undone: Vec<UndonePlace>,
    },
    /// The system denied something to this process.
    #[error("can't start a child: {0}")]
    System(#[from] std::io::Error),
}

/// How many places are listed in a message.
const MOST_LISTED: usize = 20;

/// Places that could not be restored, for display.
#[must_use]
pub fn failures(failed: &[(PathBuf, std::io::Error)]) -> String {
    let one = |(path, error): &(PathBuf, std::io::Error)| format!("{}: {error}", shown(path));
    listed(failed.iter().map(one), 0)
}

/// Places that were restored, for display.
#[must_use]
pub fn undone(places: &[UndonePlace]) -> String {
    let more = places.iter().map(|place| place.more).sum();
    listed(places.iter().map(ToString::to_string), more)
}

fn renamed(places: &[UndonePlace]) -> String {
    match places {
        [] => String::new(),
        places => format!(
            "; it created other protected files, which were renamed: {}",
            undone(places)
        ),
    }
}

/// The first strings, and the number of the others. `more` is the number of those that are not in `texts`.
fn listed(texts: impl ExactSizeIterator<Item = String>, more: usize) -> String {
    let more = texts.len().saturating_sub(MOST_LISTED) + more;
    let mut texts: Vec<String> = texts.take(MOST_LISTED).collect();
    if more > 0 {
        texts.push(format!("and {more} more"));
    }
    texts.join(", ")
}

#[cfg(target_os = "linux")]
impl NotStarted {
    /// The error as the launcher sends it to the parent.
    fn parts(&self) -> (u8, &str) {
        match self {
            Self::NotFound(detail) => (b'n', detail),
            Self::NotExecutable(detail) => (b'x', detail),
            Self::NoInterpreter(detail) => (b'i', detail),
            Self::CarriageReturn(detail) => (b'r', detail),
            Self::BadFormat(detail) => (b'b', detail),
            Self::Folder(detail) => (b'd', detail),
            Self::Replaced(detail) => (b'p', detail),
            Self::Fence(detail) => (b'f', detail),
            Self::Other(detail) => (b'o', detail),
        }
    }

    fn from_parts(tag: u8, detail: String) -> Option<Self> {
        Some(match tag {
            b'n' => Self::NotFound(detail),
            b'x' => Self::NotExecutable(detail),
            b'i' => Self::NoInterpreter(detail),
            b'r' => Self::CarriageReturn(detail),
            b'b' => Self::BadFormat(detail),
            b'd' => Self::Folder(detail),
            b'p' => Self::Replaced(detail),
            b'f' => Self::Fence(detail),
            b'o' => Self::Other(detail),
            _ => return None,
        })
    }
}
