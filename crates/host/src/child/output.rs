//! A child's output: read until the end, kept up to a limit.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// How many bytes are read and discarded, for each byte kept, before the output counts as a flood.
const PATIENCE: usize = 256;
const CHUNK: usize = 64 * 1024;

/// An output stream of the child, read up to a limit.
pub(super) struct CapturedStream<R> {
    /// `None` once it ended.
    from: Option<R>,
    pub(super) kept: Vec<u8>,
    most: usize,
    seen: usize,
}

impl<R: Read + AsFd> CapturedStream<R> {
    pub(super) fn new(from: Option<R>, most: usize) -> io::Result<Self> {
        if let Some(from) = &from {
            fcntl_setfl(from, fcntl_getfl(from)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            from,
            kept: Vec::new(),
            most,
            seen: 0,
        })
    }

    pub(super) fn source(&self) -> Option<BorrowedFd<'_>> {
        self.from.as_ref().map(AsFd::as_fd)
    }

    /// Reads the available bytes once, so that both streams get their turn. `relay` gets all of them.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>, relay: impl FnOnce(&[u8])) {
        buffer.resize(CHUNK, 0);
        let Some(from) = &mut self.from else {
            return;
        };
        match from.read(buffer) {
            Ok(0) => self.from = None,
            Ok(length) => {
                let room = self.most.saturating_sub(self.kept.len()).min(length);
                self.kept.extend(buffer.iter().take(room));
                self.seen = self.seen.saturating_add(length);
                relay(buffer.get(..length).unwrap_or_default());
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(_) => self.from = None,
        }
    }

    pub(super) fn truncated(&self) -> bool {
        self.seen > self.kept.len()
    }

    pub(super) fn is_flood(&self) -> bool {
        self.seen > self.most.saturating_mul(PATIENCE).max(CHUNK)
    }
}
