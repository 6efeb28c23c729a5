//! The process that supervises a program until the program and all its descendants are gone.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

use super::control::{self, ChildEnded, LauncherOrder, News};
use crate::sandbox::sys;

/// How often processes are counted where the kernel doesn't.
const COUNT_EVERY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
/// How long survivors are killed repeatedly; a process that is left after that hangs in the kernel.
const SWEEP_AT_MOST: Duration = Duration::from_secs(5);
const BETWEEN_SWEEPS: Duration = Duration::from_millis(1);

/// The processes that belong to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Realm {
    /// Everything in the PID namespace whose first process this is.
    Namespace,
    /// All descendants: a process that loses its parent becomes a child of this process.
    Descendants,
}

impl Realm {
    fn signal(self, signal: Signal) {
        match self {
            Self::Namespace => sys::signal_namespace(signal.as_raw()),
            Self::Descendants => {
                for pid in descendants() {
                    let _ended_meanwhile = kill_process(pid, signal);
                }
            }
        }
    }

    fn count(self) -> usize {
        match self {
            Self::Namespace => processes().count().saturating_sub(1),
            Self::Descendants => descendants().len(),
        }
    }

    /// Leaves no process running. In a namespace the kernel kills them when this process ends.
    ///
    /// A process without children has no descendants: an orphan immediately becomes a child. So this continues until there are none.
    /// Usually only children are listed, which is fast: processes that run away from their parents (each starts the next and exits)
    /// can't be caught by reading all of `/proc`.
    ///
    /// Returns whether no process is left.
    fn clear(self) -> bool {
        if self == Self::Namespace {
            return true;
        }
        let started = Instant::now();
        let mut round = 0u32;
        while started.elapsed() < SWEEP_AT_MOST {
            let found = match children() {
                Some(found) if round % 8 != 7 => found,
                _ => descendants(),
            };
            for pid in found {
                let _ended_meanwhile = kill_process(pid, Signal::KILL);
            }
            loop {
                match wait(WaitOptions::NOHANG) {
                    Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                    Ok(None) => break,
                    Err(_) => return true,
                }
            }
            round += 1;
            if round > 64 {
                std::thread::sleep(BETWEEN_SWEEPS);
            }
        }
        false
    }
}

/// Waits until `main` has ended, then ends the others; returns whether none is left.
pub(crate) fn supervise(
    line: &OwnedFd,
    signals: &OwnedFd,
    main: Pid,
    realm: Realm,
    limit: Option<u64>,
) -> bool {
    let mut cut = false;
    let mut swarm = false;
    loop {
        let mut watched = vec![PollFd::new(signals, PollFlags::IN)];
        if !cut {
            watched.push(PollFd::from_borrowed_fd(line.as_fd(), PollFlags::IN));
        }
        let _interrupted = poll(&mut watched, limit.map(|_| &COUNT_EVERY));
        let ordered = watched
            .get(1)
            .is_some_and(|line| !line.revents().is_empty());
        drain(signals);
        if let Some((status, survivors)) = reap(main) {
            let ended = ChildEnded {
                status,
                survivors,
                swarm,
            };
            // A process without children has no descendants, since orphans become its children.
            let is_over = !survivors || realm.clear();
            control::tell(line, &News::Ended(ended));
            return is_over;
        }
        if ordered {
            match control::obey(line) {
                None => {}
                Some(LauncherOrder::Terminate) => realm.signal(Signal::TERM),
                Some(LauncherOrder::Kill) => {
                    // The socket can be closed, and would then wake us forever.
                    cut = true;
                    realm.signal(Signal::KILL);
                }
            }
        }
        if limit.is_some_and(|limit| realm.count() as u64 > limit) {
            swarm = true;
            realm.signal(Signal::KILL);
        }
    }
}

fn drain(signals: &OwnedFd) {
    let mut buffer = [0u8; 1024];
    while rustix::io::read(signals, &mut buffer).is_ok_and(|length| length > 0) {}
}

/// Reaps all processes that ended. If `main` is among them: how it ended, and whether others still run.
fn reap(main: Pid) -> Option<(i32, bool)> {
    let mut status = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, how))) if pid == main => status = Some(how.as_raw()),
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return Some((status?, true)),
            Err(_) => return Some((status?, false)),
        }
    }
}

/// The ids of all visible processes.
fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The children of this process, if the kernel keeps a list of them.
fn children() -> Option<Vec<Pid>> {
    let own = std::process::id();
    let list = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).ok()?;
    let numbers = list.split_ascii_whitespace();
    Some(
        numbers
            .filter_map(|number| Pid::from_raw(number.parse().ok()?))
            .collect(),
    )
}

/// All living processes that descend from this one.
fn descendants() -> Vec<Pid> {
    let mut families: BTreeMap<i32, Vec<(i32, bool)>> = BTreeMap::new();
    for (pid, parent, alive) in processes().filter_map(kin) {
        families.entry(parent).or_default().push((pid, alive));
    }
    let mut living = Vec::new();
    let mut parents = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        // Removed, so that ids that were reused while the list was read can't cause a loop.
        for (pid, alive) in families.remove(&parent).unwrap_or_default() {
            parents.push(pid);
            if alive {
                living.extend(Pid::from_raw(pid));
            }
        }
    }
    living
}

/// A process, its parent, and whether it is alive: from `number (name) state parent …`, where the name may contain any character.
fn kin(pid: i32) -> Option<(i32, i32, bool)> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let end = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
    let mut words = rest.split_ascii_whitespace();
    let state = words.next()?;
    let parent = words.next()?.parse().ok()?;
    Some((pid, parent, !matches!(state, "Z" | "X")))
}
