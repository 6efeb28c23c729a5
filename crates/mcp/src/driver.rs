//! The thread of one connection: it runs the asynchronous library, and callers wait for its results with a limit.

use std::{
    io,
    sync::mpsc::{self, RecvTimeoutError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

/// How often a waiting caller checks whether it should stop.
const LOOK: Duration = Duration::from_millis(50);
/// How long a connection can take to end when it is dropped.
const FAREWELL: Duration = Duration::from_secs(3);

/// Why a result did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    Timeout,
    Stopped,
    /// The thread ended.
    Gone,
}

/// A thread with a runtime.
pub(crate) struct Driver {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new()
            .name("metier-mcp".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    stopped.await.ok();
                });
                runtime.shutdown_background();
            })?;
        Ok(Self {
            handle,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Waits for `work`, up to `limit` and only until `stop` returns true. Work that is no longer waited for is dropped.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        stop: &dyn Fn() -> bool,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Unfinished> {
        let (send, receive) = mpsc::sync_channel(1);
        let task = self.handle.spawn(async move {
            send.send(work.await).ok(); // the receiver can be gone
        });
        let until = Instant::now() + limit;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let unfinished = match receive.recv_timeout(left.min(LOOK)) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Disconnected) => return Err(Unfinished::Gone),
                Err(RecvTimeoutError::Timeout) if stop() => Unfinished::Stopped,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => Unfinished::Timeout,
                Err(RecvTimeoutError::Timeout) => continue,
            };
            task.abort();
            return Err(unfinished);
        }
    }
}

impl Driver {
    /// Runs `last`, for at most [`FAREWELL`], then ends the thread.
    pub(crate) fn end(&mut self, last: impl Future<Output = ()> + Send + 'static) {
        self.run(FAREWELL, &|| false, last).ok();
        if let Some(stop) = self.stop.take() {
            stop.send(()).ok();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_takes_too_long_is_left() {
        let mut driver = Driver::start().unwrap();
        let slow = async { tokio::time::sleep(Duration::from_secs(600)).await };
        let done = driver.run(Duration::from_millis(60), &|| false, slow);
        assert_eq!(done, Err(Unfinished::Timeout));
        let done = driver.run(Duration::from_secs(60), &|| false, async { 7 });
        assert_eq!(done, Ok(7));
        driver.end(async {});
    }

    #[test]
    fn a_caller_that_stops_is_not_kept() {
        let mut driver = Driver::start().unwrap();
        let slow = async { tokio::time::sleep(Duration::from_secs(600)).await };
        let done = driver.run(Duration::from_secs(600), &|| true, slow);
        assert_eq!(done, Err(Unfinished::Stopped));
        driver.end(async {});
    }
}
