//! The clock: one thread per process that advances the engine's epoch during calls, and wakes calls that sleep.
//!
//! Guests that loop check the epoch; guests that wait are woken by tokio's timers, which need a thread as well. It is started
//! by the first call, and sleeps while there is none.

use std::{
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    runtime::{Builder, EnterGuard, Handle},
    sync::Notify,
};
use wasmtime::Engine;

use crate::error::WasmCallError;

/// The precision of deadlines.
const TICK: Duration = Duration::from_millis(10);
/// The maximum number of threads that wait for files. A thread that is blocked by a file stays behind when its call ends.
const FILES: usize = 16;
/// How long such a thread is kept for the next file.
const IDLE: Duration = Duration::from_secs(1);

/// The clock of this process.
pub(crate) struct DeadlineClock {
    handle: Handle,
    face: Arc<Face>,
}

/// State that the thread and the calls share.
#[derive(Default)]
struct Face {
    /// The number of running calls.
    running: AtomicUsize,
    /// Whether the thread waits for a call.
    asleep: AtomicBool,
    begun: Notify,
}

/// A running call. While there is one, the epoch advances.
pub(crate) struct Running<'a>(&'a Face);

impl DeadlineClock {
    /// The clock of this process.
    pub(crate) fn get(engine: &'static Engine) -> Result<&'static Self, WasmCallError> {
        static CLOCK: OnceLock<Result<DeadlineClock, String>> = OnceLock::new();
        let clock = CLOCK.get_or_init(|| Self::start(engine).map_err(|error| error.to_string()));
        clock
            .as_ref()
            .map_err(|why| WasmCallError::Engine(why.clone()))
    }

    fn start(engine: &'static Engine) -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .max_blocking_threads(FILES)
            .thread_keep_alive(IDLE)
            .build()?;
        let handle = runtime.handle().clone();
        let face = Arc::new(Face::default());
        let shared = Arc::clone(&face);
        std::thread::Builder::new()
            .name("wasm-clock".into())
            .spawn(move || runtime.block_on(shared.run(engine)))?;
        Ok(Self { handle, face })
    }

    /// Counts a running call, until this is dropped.
    pub(crate) fn running(&self) -> Running<'_> {
        self.face.running.fetch_add(1, Ordering::SeqCst);
        if self.face.asleep.load(Ordering::SeqCst) {
            self.face.begun.notify_one();
        }
        Running(&self.face)
    }

    /// Makes the timers available to the future that is polled now.
    pub(crate) fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }
}

impl Face {
    async fn run(&self, engine: &Engine) {
        loop {
            if self.running.load(Ordering::SeqCst) == 0 {
                self.asleep.store(true, Ordering::SeqCst);
                // Again, because a call that started in between has not seen `asleep`.
                if self.running.load(Ordering::SeqCst) == 0 {
                    self.begun.notified().await;
                }
                self.asleep.store(false, Ordering::SeqCst);
            }
            tokio::time::sleep(TICK).await;
            engine.increment_epoch();
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}
