//! Workers are started on a thread that lives as long as this process.
//!
//! **Problem.** A worker asks the kernel to end it with its parent, and for the kernel the parent is a *thread*. A session can be moved to
//! another thread, and the one that it began in may end.
//!
//! **Decision.** Unless it is the first thread of the process, which ends with it, a caller lets another thread start the worker. That thread
//! begins with the first worker and does nothing else.

use std::{
    io,
    process::{Child, Command},
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Sender},
    },
    thread,
};

/// A program to start, and where to send what came of it.
type Order = (Command, Sender<io::Result<Child>>);

/// The way to the thread that starts workers; none before the first one.
static ORDERS: Mutex<Option<Sender<Order>>> = Mutex::new(None);

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

fn orders() -> io::Result<Sender<Order>> {
    let mut orders = ORDERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(orders) = &*orders {
        return Ok(orders.clone());
    }
    let (sender, receiver) = mpsc::channel::<Order>();
    let start = move || {
        for (mut command, answer) in receiver {
            // A caller that is gone has no use for it; its pipes are closed with it, and it ends.
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

/// Elsewhere no worker ends with a thread.
#[cfg(not(target_os = "linux"))]
const fn is_first_thread() -> bool {
    true
}
