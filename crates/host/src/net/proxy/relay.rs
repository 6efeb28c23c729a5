//! Bytes in both directions, counted and timed.
//!
//! The two directions share one clock: a download is not idle because the child sends nothing.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use super::ProxyShared;

/// One connection's clock and counters.
pub(super) struct Flow<'a> {
    shared: &'a ProxyShared,
    started: Instant,
    last_ms: AtomicU64,
    up: AtomicU64,
    down: AtomicU64,
    cut: OnceLock<String>,
}

/// The direction of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Up,
    Down,
}

impl<'a> Flow<'a> {
    pub(super) fn new(shared: &'a ProxyShared) -> Self {
        Self {
            shared,
            started: Instant::now(),
            last_ms: AtomicU64::new(0),
            up: AtomicU64::new(0),
            down: AtomicU64::new(0),
            cut: OnceLock::new(),
        }
    }

    pub(super) fn ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn bytes(&self, way: Way) -> u64 {
        self.counter(way).load(Ordering::SeqCst)
    }

    /// The limit that ended the connection, if one did.
    pub(super) fn cut(&self) -> Option<&str> {
        self.cut.get().map(String::as_str)
    }

    /// Waits for bytes until a limit is reached, and counts them.
    pub(super) fn read(&self, from: &TcpStream, buffer: &mut [u8], way: Way) -> io::Result<usize> {
        let mut from = from;
        loop {
            from.set_read_timeout(Some(self.patience()?))?;
            match from.read(buffer) {
                Ok(count) => {
                    self.count(count, way)?;
                    return Ok(count);
                }
                Err(error) if is_pause(error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Copies until the end of `from`.
    pub(super) fn pump(&self, from: &TcpStream, mut to: &TcpStream, way: Way) -> io::Result<()> {
        to.set_write_timeout(Some(self.shared.limits.idle))?;
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let count = self.read(from, &mut buffer, way)?;
            if count == 0 {
                return Ok(());
            }
            to.write_all(&buffer[..count])?;
            self.touch();
        }
    }

    fn counter(&self, way: Way) -> &AtomicU64 {
        match way {
            Way::Up => &self.up,
            Way::Down => &self.down,
        }
    }

    /// Records activity on the connection.
    pub(super) fn touch(&self) {
        self.last_ms.store(self.ms(), Ordering::SeqCst);
    }

    /// Counts bytes that were read.
    pub(super) fn count(&self, count: usize, way: Way) -> io::Result<()> {
        self.touch();
        let count = count as u64;
        self.counter(way).fetch_add(count, Ordering::SeqCst);
        let before = self.shared.bytes.fetch_add(count, Ordering::SeqCst);
        let max = self.shared.limits.max_bytes;
        if before.saturating_add(count) > max {
            return Err(self.stop(format!("more than {max} bytes since the skill was started")));
        }
        Ok(())
    }

    /// How long one read may wait.
    fn patience(&self) -> io::Result<Duration> {
        let limits = &self.shared.limits;
        let open = self.started.elapsed();
        let quiet = open.saturating_sub(Duration::from_millis(self.last_ms.load(Ordering::SeqCst)));
        let left = limits.total.saturating_sub(open);
        if left.is_zero() {
            return Err(self.stop(format!("open for more than {:?}", limits.total)));
        }
        let idle = limits.idle.saturating_sub(quiet);
        if idle.is_zero() {
            return Err(self.stop(format!("nothing was sent for {:?}", limits.idle)));
        }
        Ok(idle.min(left).max(Duration::from_millis(1)))
    }

    fn stop(&self, why: String) -> io::Error {
        self.cut.set(why).ok(); // only the first limit is reported
        io::ErrorKind::TimedOut.into()
    }
}

/// Closes both directions; the connection can be closed already.
pub(super) fn hang_up(stream: &TcpStream) {
    stream.shutdown(Shutdown::Both).ok();
}

fn is_pause(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}
