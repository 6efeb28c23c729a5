//! Requests of a skill, and their answers.
//!
//! The function that answers belongs to the caller and can't be lent to an engine. So the skill's function leaves
//! its request here and waits; [`crate::drive`] takes it, gets the answer on the caller's thread, and continues.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use metier_sdk::wire::RpcError;
use serde_json::Value;

/// A request of a skill, such as `host/read_file`.
#[derive(Debug)]
pub(crate) struct Question {
    /// The id for its answer; for skills that use JSON-RPC.
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Value,
}

pub(crate) type Reply = Result<Value, RpcError>;

/// A source of requests.
pub(crate) trait Asks {
    /// The next request.
    fn question(&self) -> Option<Question>;

    /// Its answer.
    fn answer(&self, id: Value, reply: Reply);
}

/// For skills that ask by calling a function: one request at a time.
#[derive(Clone, Default)]
pub(crate) struct Counter(Arc<Mutex<Slot>>);

#[derive(Default)]
struct Slot {
    asked: VecDeque<Question>,
    reply: Option<Reply>,
}

impl Counter {
    /// Sends a request and waits for the answer.
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
