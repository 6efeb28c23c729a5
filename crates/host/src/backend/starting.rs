//! Starts workers on a thread that lives as long as this process.
//!
//! **Problem.** A worker asks the kernel to end it with its parent, and for the kernel the parent is a *thread*. A session can be moved to
//! another thread, and the one that it started in can end.
//!
//! **Decision.** Unless it is the main thread, a caller lets another thread start the worker. That thread
//! is started with the first worker and does nothing else.

use std::{
    io,
    process::{Child, Command},
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Sender},
    },
    thread,
};

/// A program to start, and the channel for the result.
type StartOrder = (Command, Sender<io::Result<Child>>);

/// The channel to the thread that starts workers; `None` before the first one.
static ORDERS: Mutex<Option<Sender<StartOrder>>> = Mutex::new(None);

/// Starts a program that ends with this process, not with this thread.
pub(super) fn spawn(mut command: Command) -> io::Result<Child> {
    if is_first_thread() {
        return command.spawn();
    }
    let gone = || io::Error::other("the thread that starts workers has ended");
    let (answer, child) = mpsc::channel();
    orders()?.send((command, answer)).map_err(|_| gone())?;
    child.recv().map_err(|_| gone())?
}

fn orders() -> io::Result<Sender<StartOrder>> {
    let mut orders = ORDERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(orders) = &*orders {
        return Ok(orders.clone());
    }
    let (sender, receiver) = mpsc::channel::<StartOrder>();
    let start = move || {
        for (mut command, answer) in receiver {
            // If the caller is gone, the pipes are closed here, and the worker ends.
            answer.send(command.spawn()).ok();
        }
    };
    let thread = thread::Builder::new().name("starts workers".to_owned());
    thread.spawn(start)?;
    Ok(orders.insert(sender).clone())
}

#[cfg(target_os = "linux")]
fn is_first_thread() -> bool {
    rustix::thread::gettid() == rustix::process::getpid()
}

/// On other systems workers don't end with a thread.
#[cfg(not(target_os = "linux"))]
const fn is_first_thread() -> bool {
    true
}
