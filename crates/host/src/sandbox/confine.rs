//! A process that sandboxes itself: for our own interpreters.
//!
//! **Problem.** Starlark and JavaScript are run by our own code, which can have a vulnerability. Scripts need no file, no network
//! and no other process, only memory, time and three pipes.
//!
//! **Decision.** A child with its own program is sandboxed by the launcher and can make any call that is not denied. A worker
//! instead allows itself a few calls and is killed by any other. It does so first, before it reads a byte of the skill:
//! with one thread, and no open descriptors but its pipes.

use super::Mechanism;

/// The limits of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Address space beyond its size when it sandboxes itself, in bytes. Memory that its allocator has reserved by then is added.
    pub memory: u64,
    /// Total processor time, in seconds.
    pub cpu_seconds: u64,
    /// Whether it ends with the *thread* that started it, at any time: `backend::WorkerCommand` starts it on a thread that lives as long as
    /// the process. Otherwise it ends at its next read.
    pub die_with_parent: bool,
    /// Whether it continues on a machine that can't sandbox it, because the user allowed that.
    pub unsandboxed: bool,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self {
            memory: 512 << 20,
            cpu_seconds: 600,
            die_with_parent: true,
            unsandboxed: false,
        }
    }
}

/// Why a process could not sandbox itself.
#[derive(Debug, thiserror::Error)]
#[error("this process can't be confined: {step}: {source}")]
pub struct ConfineError {
    /// The step that failed.
    pub step: &'static str,
    /// The error of the system.
    pub source: std::io::Error,
}

/// Sandboxes this process permanently. It must have one thread and own no descriptor but 0, 1 and 2: others are closed.
///
/// The answer is [`Mechanism::Landlock`], which means Landlock and seccomp, or [`Mechanism::None`] if the user disabled it and the
/// machine has none.
///
/// # Errors
/// When the machine can't do it. The steps until then are not undone; the process should end.
#[cfg(target_os = "linux")]
pub fn confine(limits: &WorkerLimits) -> Result<Mechanism, ConfineError> {
    linux::confine(limits)
}

/// Refuses, unless the user disabled the sandbox.
///
/// # Errors
/// This system has no sandbox.
#[cfg(not(target_os = "linux"))]
pub fn confine(limits: &WorkerLimits) -> Result<Mechanism, ConfineError> {
    if limits.unsandboxed {
        return Ok(Mechanism::None);
    }
    Err(ConfineError {
        step: "sandbox",
        source: std::io::Error::other("only supported on Linux"),
    })
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io;

    use rustix::process::{
        DumpableBehavior, Resource, Rlimit, Signal, getppid, getrlimit, set_dumpable_behavior,
        set_parent_process_death_signal, setrlimit,
    };
    use rustix::thread::set_no_new_privs;

    use super::{ConfineError, Mechanism, WorkerLimits};
    use crate::sandbox::{filter, landlock, sys};

    pub(super) fn confine(limits: &WorkerLimits) -> Result<Mechanism, ConfineError> {
        let failed = |step: &'static str| move |source: io::Error| ConfineError { step, source };
        // Filters and rules apply to one thread, and another thread would stay outside.
        alone().map_err(failed("threads"))?;
        sys::close_from(3).map_err(failed("descriptors"))?;
        if limits.die_with_parent {
            follow_parent().map_err(failed("parent"))?;
        }
        let mapped = mapped().map_err(failed("memory"))?;
        set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(|error| failed("core dumps")(error.into()))?;
        set_no_new_privs(true).map_err(|error| failed("no new privileges")(error.into()))?;
        let filters = filter::worker(std::process::id())
            .map_err(|error| failed("seccomp")(io::Error::other(error.to_string())));
        let shut = |step: Result<(), ConfineError>| match step {
            Err(error) if !limits.unsandboxed => Err(error),
            step => Ok(step.is_ok()),
        };
        let restricted = landlock::restrict_to_nothing();
        let files = restricted.map_err(|trouble| failed("Landlock")(trouble.error));
        let files = shut(files)?;
        // From here on no file can be opened, and no memory allocated beyond the limit.
        limit(limits, mapped).map_err(failed("limits"))?;
        let calls = filters.and_then(|filters| {
            filters.iter().try_for_each(|filter| {
                seccompiler::apply_filter(filter)
                    .map_err(|error| failed("seccomp")(io::Error::other(error.to_string())))
            })
        });
        let calls = shut(calls)?;
        Ok(match files && calls {
            true => Mechanism::Landlock,
            false => Mechanism::None,
        })
    }

    fn alone() -> io::Result<()> {
        match fs::read_dir("/proc/self/task")?.count() {
            1 => Ok(()),
            threads => Err(io::Error::other(format!("there are {threads}"))),
        }
    }

    fn follow_parent() -> io::Result<()> {
        let parent = getppid();
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have ended just before, and is then not reported.
        if getppid() == parent {
            Ok(())
        } else {
            Err(io::Error::other("it has ended"))
        }
    }

    /// The address space that this process has.
    fn mapped() -> io::Result<u64> {
        let text = fs::read_to_string("/proc/self/statm")?;
        let pages = text.split_ascii_whitespace().next();
        let pages: Option<u64> = pages.and_then(|pages| pages.parse().ok());
        let size = rustix::param::page_size() as u64;
        pages
            .map(|pages| pages.saturating_mul(size))
            .ok_or_else(|| io::Error::other("its size is unknown"))
    }

    fn limit(limits: &WorkerLimits, mapped: u64) -> io::Result<()> {
        for (resource, value) in [
            (Resource::Core, 0),
            (Resource::Fsize, 0),
            (Resource::Nproc, 0),
            (Resource::Nofile, 3),
            (Resource::Cpu, limits.cpu_seconds),
            (Resource::As, mapped.saturating_add(limits.memory)),
        ] {
            // The user's own limit is never exceeded.
            let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let value = Some(value.min(most));
            let both = Rlimit {
                current: value,
                maximum: value,
            };
            setrlimit(resource, both)?;
        }
        Ok(())
    }
}
