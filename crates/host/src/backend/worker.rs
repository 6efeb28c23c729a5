//! Workers: our own binary, started again as an interpreter.
//!
//! A skill in a language that metier interprets needs no program, no file and no network: all its acts are requests over
//! the connection. So its sandbox is smaller than that of a child that is a program, and quicker to set up: no
//! namespaces, no mounts. The worker starts with three pipes only, and sandboxes itself with
//! [`confine`](crate::sandbox::confine()) before it reads a single byte of the skill.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::process::{ChildEnd, ChildEndCause, ChildStarter, LiveChild, StartedChild};
use super::starting;
use crate::child::{ChildError, Exit};
use crate::execution::ExecutionError;

/// How often the exit of a worker is checked.
const LOOK: Duration = Duration::from_micros(200);

/// How to start a worker.
#[derive(Clone, Debug)]
pub struct WorkerCommand {
    /// Our own binary.
    pub binary: PathBuf,
    /// The argument for its role, such as `__starlark`.
    pub arguments: Vec<String>,
    /// Its whole environment; only for settings of our allocator.
    pub variables: Vec<(String, String)>,
    /// The mechanism of its sandbox, for a receipt. It sandboxes itself, and exits if it can't.
    pub confinement: &'static str,
}

impl ChildStarter for WorkerCommand {
    fn start(&self) -> Result<StartedChild, ExecutionError> {
        self.spawn().map_err(|source| {
            ExecutionError::Child(ChildError::Shim {
                shim: self.binary.clone(),
                source,
            })
        })
    }
}

impl WorkerCommand {
    fn spawn(&self) -> io::Result<StartedChild> {
        let mut command = Command::new(&self.binary);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = starting::spawn(command)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let child = Box::new(Direct(Some(child)));
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        Ok(StartedChild {
            stdin: OwnedFd::from(stdin),
            stdout: OwnedFd::from(stdout),
            stderr: OwnedFd::from(stderr),
            confinement: self.confinement,
            child,
        })
    }
}

/// A child of this process, and its process group.
struct Direct(Option<Child>);

impl Direct {
    /// Kills the group and waits for its leader.
    fn kill(&mut self) -> Option<ExitStatus> {
        let mut child = self.0.take()?;
        // Before the wait: until the leader is reaped, no other process can have its id.
        if let Some(group) = pid(&child) {
            let _already_gone = kill_process_group(group, Signal::KILL);
        }
        child.wait().ok()
    }

    fn has_ended(&self) -> bool {
        let Some(pid) = self.0.as_ref().and_then(pid) else {
            return true;
        };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(pid), look), Ok(None))
    }
}

impl LiveChild for Direct {
    fn end(mut self: Box<Self>, patience: Duration) -> ChildEnd {
        let began = Instant::now();
        let mut by_itself = self.has_ended();
        while !by_itself && began.elapsed() < patience {
            std::thread::sleep(LOOK);
            by_itself = self.has_ended();
        }
        let how = self.kill().map(|status| match status.signal() {
            Some(signal) => Exit::Signal(signal),
            None => Exit::Code(status.code().unwrap_or(-1)),
        });
        ChildEnd {
            by_itself,
            how: how.map_or_else(
                || ChildEndCause::Unobserved("it is gone".to_owned()),
                ChildEndCause::Exit,
            ),
            // It can't create files.
            undone: Vec::new(),
            replaced: Vec::new(),
        }
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        self.kill();
    }
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}
