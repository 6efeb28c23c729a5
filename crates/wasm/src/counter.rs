//! The counter: where a skill puts its question, and where it finds the answer.
//!
//! What answers belongs to the caller and does not live long enough to be lent to an engine. So the skill's function leaves
//! its question here and waits; whoever drives it ([`crate::drive`]) sees that, asks on its own thread, and goes on.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use metier_sdk::wire::RpcError;
use serde_json::Value;

/// What a skill asks, such as `host/read_file`.
#[derive(Debug)]
pub(crate) struct Question {
    /// The id that its answer must have; for those who ask over a line.
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Value,
}

pub(crate) type Reply = Result<Value, RpcError>;

/// Somewhere that questions are left.
pub(crate) trait Asks {
    /// The next one.
    fn question(&self) -> Option<Question>;

    /// Its answer.
    fn answer(&self, id: Value, reply: Reply);
}

/// For skills that ask by calling a function: one question at a time.
#[derive(Clone, Default)]
pub(crate) struct Counter(Arc<Mutex<Slot>>);

#[derive(Default)]
struct Slot {
    asked: VecDeque<Question>,
    reply: Option<Reply>,
}

impl Counter {
    /// Asks, and waits.
    pub(crate) async fn ask(&self, method: String, params: Value) -> Reply {
        self.slot().asked.push_back(Question {
            id: Value::Null,
            method,
            params,
        });
        poll_fn(|_| self.slot().reply.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asks for Counter {
    fn question(&self) -> Option<Question> {
        self.slot().asked.pop_front()
    }

    fn answer(&self, _: Value, reply: Reply) {
        self.slot().reply = Some(reply);
    }
}
