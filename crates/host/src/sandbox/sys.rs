//! The system calls that no safe wrapper offers.
//!
//! Each function is one call, states why it is sound, and decides nothing. All of them run in the launcher or in a worker that is
//! about to sandbox itself, which have a single thread: a fork there copies a whole program, not one thread of several.

#![allow(
    unsafe_code,
    reason = "fork, execve, signalfd and mount_setattr have no safe wrapper in rustix"
)]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// The two sides of a fork.
pub(crate) enum Forked {
    /// This is the new process.
    Child,
    /// The original process, and the id of the copy.
    Parent(Pid),
}

/// Forks this process.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the launcher is single-threaded, so the copy finds every lock (above all the allocator's) free.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => Pid::from_raw(pid)
            .map(Forked::Parent)
            .ok_or_else(|| io::Error::other("fork answered with no process")),
    }
}

/// Leaves namespaces for new ones.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the only danger is `FILES` between threads that share descriptors; there is one thread.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(Into::into)
}

/// Executes another program; returns only if that failed, with the reason.
pub(crate) fn execve(program: &CStr, args: &[CString], env: &[CString]) -> io::Error {
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        let ends = std::iter::once(std::ptr::null());
        texts.iter().map(|text| text.as_ptr()).chain(ends).collect()
    };
    let (argv, envp) = (pointers(args), pointers(env));
    // SAFETY: all three are NUL-terminated, both arrays end with a null pointer, and everything they point to
    // outlives the call.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
    io::Error::last_os_error()
}

/// Closes every descriptor from `first` on.
///
/// Only for the start of a process, when no value of it owns one of them.
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: the caller owns no descriptor in the range; those that are closed were inherited by mistake.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Makes a descriptor that becomes readable when a child ends, so that it can be polled.
pub(crate) fn child_signals() -> io::Result<OwnedFd> {
    let set = signal_set(&[libc::SIGCHLD]);
    // SAFETY: `set` is initialised, and the old mask is not requested.
    let masked =
        unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
    if masked != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `set` is initialised; -1 requests a new descriptor.
    let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just made it for us, so this is its only owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Resets every signal to its default action and blocks none, as programs expect at their start.
pub(crate) fn default_signals() {
    for signal in 1..=64 {
        // SAFETY: the default action runs no code of ours; for signals that can't be changed the call fails and
        // changes nothing.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let none = signal_set(&[]);
    // SAFETY: `none` is initialised, and the old mask is not requested.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) };
}

fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    // SAFETY: the type is a plain array of integers, for which zero is a valid value.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is a valid place to write to.
    unsafe { libc::sigemptyset(&raw mut set) };
    for signal in signals {
        // SAFETY: `set` was initialised by the call before.
        unsafe { libc::sigaddset(&raw mut set, *signal) };
    }
    set
}

/// Signals every process that this one may signal and can see, except itself.
///
/// Only for the first process of a PID namespace: there it means all processes inside, elsewhere the user's whole desktop.
pub(crate) fn signal_namespace(signal: libc::c_int) {
    if std::process::id() != 1 {
        return;
    }
    // SAFETY: takes two numbers; the check above ensures that this process is the first of a namespace.
    unsafe { libc::kill(-1, signal) };
}

/// Makes a mount and everything below it read-only, and disables set-user-id bits there. It can only remove rights.
pub(crate) fn freeze_mounts(at: BorrowedFd<'_>) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is empty and NUL-terminated, the structure is initialised and its size is given.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The Landlock version of this kernel.
pub(crate) fn landlock_version() -> io::Result<u32> {
    const VERSION: libc::c_uint = 1;
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel reads no structure, and requires a null pointer and size 0.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0usize, VERSION) };
    u32::try_from(version).map_err(|_| io::Error::last_os_error())
}
