//! Starts one child, waits for it with a time limit, and returns its output.
//!
//! The child writes to files instead of pipes. A pipe needs a reader thread, fills up, and stays open as long as
//! any grandchild lives; a file has none of these problems, and the program can't tell (neither is a terminal).

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Why there is no output of a child.
#[derive(Debug)]
pub enum RunError {
    /// It could not be started or waited for.
    Io(io::Error),
    /// It ran too long and was killed, together with its process group; the fields contain its output until then.
    Timeout {
        /// The limit that it exceeded.
        limit: Duration,
        /// Its standard output so far.
        stdout: String,
        /// Its standard error so far.
        stderr: String,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "could not run the program: {error}"),
            Self::Timeout {
                limit,
                stdout,
                stderr,
            } => write!(
                f,
                "killed after {} s\n--- stdout so far\n{stdout}--- stderr so far\n{stderr}",
                limit.as_secs_f32()
            ),
        }
    }
}

impl std::error::Error for RunError {}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The output of a child, and its exit code (128 + signal if a signal ended it, as in shells).
pub(crate) struct FinishedProcess {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

/// Runs `command` to its end. `logs` is an existing folder for its standard streams.
pub(crate) fn run(
    mut command: Command,
    stdin: Option<&[u8]>,
    logs: &Path,
    limit: Duration,
) -> Result<FinishedProcess, RunError> {
    // Each run has its own folder, so that threads may share one context.
    let logs = tempfile::tempdir_in(logs)?;
    let (stdout, stderr) = (logs.path().join("stdout"), logs.path().join("stderr"));
    command
        .stdin(input(stdin, &logs.path().join("stdin"))?)
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .process_group(0);
    let mut child = command.spawn()?;
    let status = wait(&mut child, limit)?;
    let (stdout, stderr) = (lossy(&stdout)?, lossy(&stderr)?);
    match status {
        Some(status) => Ok(FinishedProcess {
            stdout,
            stderr,
            code: code(status),
        }),
        None => Err(RunError::Timeout {
            limit,
            stdout,
            stderr,
        }),
    }
}

/// Makes a file executable that this process has written. A child that another thread started meanwhile holds it open for writing
/// until its own `exec`, and running the file would fail with "text file busy": so another process replaces it by a copy.
///
/// # Panics
/// If there is no such file, or it can't be replaced.
#[track_caller]
pub fn make_executable(file: &Path) {
    const COPY: &str = r#"cp "$1" "$1.copy" && chmod 755 "$1.copy" && mv "$1.copy" "$1""#;
    let copied = Command::new("/bin/sh")
        .args(["-c", COPY, "sh"])
        .arg(file)
        .status();
    let is_done = copied.is_ok_and(|status| status.success());
    assert!(is_done, "{} can't be made executable", file.display());
}

fn input(content: Option<&[u8]>, path: &Path) -> io::Result<Stdio> {
    let Some(content) = content else {
        return Ok(Stdio::null());
    };
    fs::write(path, content)?;
    Ok(File::open(path)?.into())
}

/// `None` if the limit was exceeded and the child had to be killed.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            kill_group(child)?;
            child.wait()?;
            return Ok(None);
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// Safe against a reused process id: the child has not been waited for yet, so its id is still its own.
fn kill_group(child: &mut Child) -> io::Result<()> {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    match group.map(|group| kill_process_group(group, Signal::KILL)) {
        Some(Ok(())) => Ok(()),
        _ => child.kill(),
    }
}

fn code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

fn lossy(path: &Path) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}
