//! The socket between the parent and its launcher: each packet contains one message, with descriptors if it has any.
//!
//! It is the launcher's standard input, which is the one descriptor that can be passed without being inherited by every other child
//! that is started at the same moment. It also ends the launcher with the parent: however the parent dies, the socket closes, and the
//! launcher ends everything.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use super::NotStarted;

/// The longest message. Only reasons can be longer, and they are cut.
const MAX_MESSAGE: usize = 4096;
const MAX_DESCRIPTORS: usize = 4;

/// An order of the parent to the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LauncherOrder {
    /// Ask all processes to end.
    Terminate,
    /// Kill all processes of the child.
    Kill,
}

/// A message of the launcher.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// This machine has no such sandbox.
    Unavailable(String),
    /// The sandbox can't be set up for this profile.
    Unfit(String),
    /// This path of the profile points to another file or folder now.
    Replaced(String),
    /// The listener in the child's network, which comes along with this message.
    Listener,
    /// The sandbox is complete; the program starts next.
    Ready,
    /// The program could not be started.
    NotStarted(NotStarted),
    /// The program ended, with its status.
    Ended(ChildEnded),
}

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChildEnded {
    /// The status that `wait` returns.
    pub(crate) status: i32,
    /// Whether it left other processes running.
    pub(crate) survivors: bool,
    /// Whether it was killed for having too many processes.
    pub(crate) swarm: bool,
}

impl News {
    fn encode(&self) -> Vec<u8> {
        let text = |tag: u8, text: &str| {
            let mut bytes = vec![tag];
            bytes.extend(text.as_bytes());
            bytes.truncate(MAX_MESSAGE);
            bytes
        };
        match self {
            Self::Unavailable(why) => text(b'U', why),
            Self::Unfit(why) => text(b'F', why),
            Self::Replaced(place) => text(b'P', place),
            Self::Listener => vec![b'L'],
            Self::Ready => vec![b'R'],
            Self::NotStarted(why) => {
                let (tag, detail) = why.parts();
                let mut bytes = text(b'N', "");
                bytes.push(tag);
                bytes.extend(detail.as_bytes());
                bytes.truncate(MAX_MESSAGE);
                bytes
            }
            Self::Ended(ended) => {
                let mut bytes = vec![b'X', u8::from(ended.survivors), u8::from(ended.swarm)];
                bytes.extend(ended.status.to_le_bytes());
                bytes
            }
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match bytes {
            [b'U', why @ ..] => Some(Self::Unavailable(text(why))),
            [b'F', why @ ..] => Some(Self::Unfit(text(why))),
            [b'P', place @ ..] => Some(Self::Replaced(text(place))),
            [b'L'] => Some(Self::Listener),
            [b'R'] => Some(Self::Ready),
            [b'N', tag, detail @ ..] => {
                NotStarted::from_parts(*tag, text(detail)).map(Self::NotStarted)
            }
            [b'X', survivors, swarm, a, b, c, d] => Some(Self::Ended(ChildEnded {
                status: i32::from_le_bytes([*a, *b, *c, *d]),
                survivors: *survivors != 0,
                swarm: *swarm != 0,
            })),
            _ => None,
        }
    }
}

/// Both ends of a new socket.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
    socketpair(AddressFamily::UNIX, kind, flags, None).map_err(Into::into)
}

/// Sends bytes, and descriptors with them.
pub(crate) fn send(line: &OwnedFd, bytes: &[u8], along: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !along.is_empty() && !control.push(SendAncillaryMessage::ScmRights(along)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    sendmsg(
        line,
        &[IoSlice::new(bytes)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// Receives one message. An empty message means that the other end was closed.
pub(crate) fn receive(line: &OwnedFd, wait: bool) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = vec![0; MAX_MESSAGE];
    let mut flags = RecvFlags::CMSG_CLOEXEC;
    if !wait {
        flags |= RecvFlags::DONTWAIT;
    }
    let got = loop {
        let mut buffers = [IoSliceMut::new(&mut bytes)];
        match recvmsg(line, &mut buffers, &mut control, flags) {
            Err(rustix::io::Errno::INTR) => {}
            // A packet that was never read turns the other end's death into a connection reset.
            Err(rustix::io::Errno::CONNRESET) => return Ok((Vec::new(), Vec::new())),
            got => break got?,
        }
    };
    bytes.truncate(got.bytes);
    let mut along = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            along.extend(descriptors);
        }
    }
    Ok((bytes, along))
}

/// Sends a message to the parent. If the parent has ended, the error is ignored: the code that waits notices it.
pub(crate) fn tell(line: &OwnedFd, news: &News) {
    let _gone = send(line, &news.encode(), &[]);
}

/// Sends a message to the parent, with a descriptor.
pub(crate) fn hand_over(line: &OwnedFd, news: &News, along: &impl AsFd) -> io::Result<()> {
    send(line, &news.encode(), &[along.as_fd()])
}

/// Receives the next message; `Ok(None)` when the socket is closed.
pub(crate) fn hear(line: &OwnedFd, wait: bool) -> io::Result<Option<(News, Vec<OwnedFd>)>> {
    let (bytes, along) = receive(line, wait)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let news = News::decode(&bytes)
        .ok_or_else(|| io::Error::other("unexpected message from the sandbox launcher"))?;
    Ok(Some((news, along)))
}

/// Sends an order to the supervisor.
pub(crate) fn order(line: &OwnedFd, order: LauncherOrder) {
    let byte = match order {
        LauncherOrder::Terminate => b'T',
        LauncherOrder::Kill => b'K',
    };
    let _gone = send(line, &[byte], &[]);
}

/// The next order. A closed socket or an unknown message counts as an order to kill.
pub(crate) fn obey(line: &OwnedFd) -> Option<LauncherOrder> {
    match receive(line, false) {
        Ok((bytes, _)) if bytes == [b'T'] => Some(LauncherOrder::Terminate),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        _ => Some(LauncherOrder::Kill),
    }
}
