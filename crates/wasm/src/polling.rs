//! Polls a module on the caller's thread, answers its requests, and stops at the deadline.
//!
//! There is no executor: the caller can be inside one, and a request can lead to another module on the same thread.

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Instant,
};

use crate::{clock::DeadlineClock, error::DeadlineExceeded, program::Ask, question_slot::Asks};

/// Wakes the waiting thread.
struct Knock(Thread);

impl Wake for Knock {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs to the end or to the deadline. The engine unwinds a future that is dropped early.
pub(crate) fn drive<T>(
    work: impl Future<Output = T>,
    clock: &DeadlineClock,
    asks: &dyn Asks,
    ask: &mut Ask<'_>,
    until: Instant,
) -> Result<T, DeadlineExceeded> {
    let _running = clock.running();
    let mut work = pin!(work);
    let waker = Waker::from(Arc::new(Knock(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        let polled = {
            let _timers = clock.enter();
            work.as_mut().poll(&mut context)
        };
        if let Poll::Ready(done) = polled {
            return Ok(done);
        }
        let mut answered = false;
        while let Some(question) = asks.question() {
            let reply = ask(&question.method, question.params);
            asks.answer(question.id, reply);
            answered = true;
            if Instant::now() >= until {
                return Err(DeadlineExceeded);
            }
        }
        if !answered {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(DeadlineExceeded);
            }
            thread::park_timeout(left);
        }
    }
}
