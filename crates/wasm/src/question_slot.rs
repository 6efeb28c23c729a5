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

pub(crate) type QuestionReply = Result<Value, RpcError>;

/// A source of requests.
pub(crate) trait Asks {
    /// The next request.
    fn question(&self) -> Option<Question>;

    /// Its answer.
    fn answer(&self, id: Value, reply: QuestionReply);
}

/// For skills that ask by calling a function: one request at a time.
#[derive(Clone, Default)]
pub(crate) struct QuestionSlot(Arc<Mutex<SlotState>>);

#[derive(Default)]
struct SlotState {
    asked: VecDeque<Question>,
    reply: Option<QuestionReply>,
}

impl QuestionSlot {
    /// Sends a request and waits for the answer.
    pub(crate) async fn ask(&self, method: String, params: Value) -> QuestionReply {
        self.slot().asked.push_back(Question {
            id: Value::Null,
            method,
            params,
        });
        poll_fn(|_| self.slot().reply.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    fn slot(&self) -> MutexGuard<'_, SlotState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asks for QuestionSlot {
    fn question(&self) -> Option<Question> {
        self.slot().asked.pop_front()
    }

    fn answer(&self, _: Value, reply: QuestionReply) {
        self.slot().reply = Some(reply);
    }
}
