//! Separate user, mount, PID, network, IPC and UTS namespaces.
//!
//! The user keeps their id inside, so that files keep their owner. All namespaces are requested in one call, which creates all or
//! none.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};
use rustix::thread::UnshareFlags;

use super::setup_error::SetupError;
use super::sys;

/// Leaves the user's namespaces. The PID namespace starts with the next child.
pub(crate) fn enter() -> Result<(), SetupError> {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let all = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWPID
        | UnshareFlags::NEWNET
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS;
    sys::unshare(all).map_err(|error| SetupError::machine("make namespaces", error))?;
    let write = |file: &str, text: String| {
        fs::write(file, text).map_err(|error| SetupError::machine("keep the user id", error))
    };
    // Groups must be dropped before they can be mapped: otherwise leaving a group could give more rights.
    write("/proc/self/setgroups", "deny".to_owned())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Opens the only access to a separate network: loopback, and a listener on it.
pub(crate) fn listen() -> Result<(TcpListener, u16), SetupError> {
    let trouble = |error: io::Error| SetupError::machine("open the network listener", error);
    raise_loopback().map_err(trouble)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(trouble)?;
    let port = listener.local_addr().map_err(trouble)?.port();
    Ok((listener, port))
}

/// Asks the kernel, over netlink, to enable interface 1: in a new network that is loopback, and there is no other.
fn raise_loopback() -> io::Result<()> {
    const HEADER: u32 = 16;
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACK: u16 = 1 | 4;
    const ERROR: u16 = 2;
    const UP: u32 = 1;
    let mut message = Vec::with_capacity(32);
    message.extend((HEADER + 16).to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACK.to_ne_bytes());
    message.extend([0; 8]); // sequence and sender, which don't matter with one message
    message.extend([0; 4]); // any family, any kind of interface
    message.extend(1i32.to_ne_bytes()); // the interface
    message.extend(UP.to_ne_bytes()); // its flags
    message.extend(UP.to_ne_bytes()); // which of them to change
    // Protocol 0 of netlink is the one for interfaces and routes.
    let kernel = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    send(&kernel, &message, SendFlags::empty())?;
    let mut answer = [0u8; 64];
    let (length, _) = recv(&kernel, &mut answer[..], RecvFlags::empty())?;
    let field = |at: usize| answer.get(at..at + 4).filter(|_| length >= at + 4);
    let kind = field(4).map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]]));
    let code = field(16).map(|bytes| i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    match (kind, code) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(code)) => Err(io::Error::from_raw_os_error(-code)),
        _ => Err(io::Error::other("unexpected answer from the kernel")),
    }
}
