//! Calls of a client, from their start to their end: questions to the user, progress, messages, and cancellation.

use std::{sync::Arc, time::Duration};

use metier::Reply;
use rmcp::{
    ErrorData, RoleServer,
    model::{InputRequiredResult, InputResponses, ProgressNotificationParam},
    service::RequestContext,
};
use tokio::{task, time};

use super::{
    approvals::{self, AskingMode},
    calls::{CallEvent, CallOutcome, OpenQuestion, RunningCall},
    connections::Connection,
    logging::log,
    server::{McpServer, asking},
};

/// How many calls wait for an answer of a user at a time, of all clients together.
const MAX_WAITING: usize = 64;

/// How often a client is notified that a call still runs.
const PROGRESS: Duration = Duration::from_secs(1);

/// A call whose client has to answer a question, in a request that repeats the first one.
pub(super) struct WaitingCall {
    call: RunningCall,
    open: OpenQuestion,
}

/// The result of a call.
pub(super) enum Driven {
    Done(CallOutcome),
    Asks(InputRequiredResult),
    /// The client cancelled it, or it panicked.
    Gone,
}

impl McpServer {
    /// Follows a call to its end, or to a question that the client has to answer first.
    pub(super) async fn drive(
        &self,
        mut call: RunningCall,
        connection: &Connection,
        context: &RequestContext<RoleServer>,
    ) -> Driven {
        let asking = asking(context);
        let mut progress = Progress::new(context);
        let mut ticks = time::interval_at(time::Instant::now() + PROGRESS, PROGRESS);
        loop {
            tokio::select! {
                biased;
                () = context.ct.cancelled() => {
                    call.cancel();
                    return Driven::Gone;
                }
                Some(event) = call.events.recv() => match event {
                    CallEvent::Notice(level, line) => {
                        log(connection, context, level, &line).await;
                        progress.say(&line).await;
                    }
                    CallEvent::Question(open) if asking == AskingMode::InputRequired => {
                        match self.wait_for(call, *open) {
                            Ok(asks) => return Driven::Asks(asks),
                            Err(refused) => call = refused,
                        }
                    }
                    CallEvent::Question(open) => {
                        let reply = tokio::select! {
                            () = context.ct.cancelled() => {
                                call.cancel();
                                return Driven::Gone;
                            }
                            reply = elicit(context, &open, self.shared().patience) => reply,
                        };
                        open.answer(reply);
                    }
                },
                done = &mut call.done => return done.map_or(Driven::Gone, Driven::Done),
                _ = ticks.tick() => progress.say(&call.label).await,
            }
        }
    }

    /// Keeps a call until its client repeats the request with an answer. One that never does is refused when its patience ends. If there are too many,
    /// the question is refused immediately.
    fn wait_for(
        &self,
        call: RunningCall,
        open: OpenQuestion,
    ) -> Result<InputRequiredResult, RunningCall> {
        let shared = self.shared();
        let mut waiting = shared.waiting();
        let (Ok(state), true) = (fresh_state(), waiting.len() < MAX_WAITING) else {
            // Dropping the question is a refusal: the client gets the error with the command to type.
            return Err(call);
        };
        let result = approvals::input_required(&open.question, state.clone());
        waiting.insert(state.clone(), WaitingCall { call, open });
        drop(waiting);
        let (shared, patience) = (Arc::downgrade(shared), shared.patience);
        task::spawn(async move {
            time::sleep(patience).await;
            if let Some(shared) = shared.upgrade() {
                shared.waiting().remove(&state);
            }
        });
        Ok(result)
    }

    /// Continues a call that waits, with the answer of its client.
    pub(super) async fn resume(
        &self,
        state: &str,
        key: &str,
        responses: Option<&InputResponses>,
        connection: &Connection,
        context: &RequestContext<RoleServer>,
    ) -> Result<Driven, ErrorData> {
        let unknown = || {
            ErrorData::invalid_params(
                "unknown requestState: the request was already answered, timed out, or differs from this one",
                None,
            )
        };
        let found = {
            let mut waiting = self.shared().waiting();
            let is_same = waiting.get(state).is_some_and(|one| one.call.key == key);
            is_same.then(|| waiting.remove(state)).flatten()
        };
        let WaitingCall { call, open } = found.ok_or_else(unknown)?;
        match approvals::answer_in(&open.question, responses) {
            Some(reply) => {
                open.answer(reply);
                Ok(self.drive(call, connection, context).await)
            }
            None => match self.wait_for(call, open) {
                Ok(asks) => Ok(Driven::Asks(asks)),
                Err(refused) => Ok(self.drive(refused, connection, context).await),
            },
        }
    }
}

/// A name for a call that waits, which can't be guessed.
fn fresh_state() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Asks the user of a client of the older protocol.
async fn elicit(
    context: &RequestContext<RoleServer>,
    open: &OpenQuestion,
    patience: Duration,
) -> Reply {
    let form = approvals::form(&open.question);
    let answered = context
        .peer
        .create_elicitation_with_timeout(form, Some(patience));
    match answered.await {
        Ok(result) => approvals::reply(&open.question, &result),
        Err(_) => Reply::Unavailable,
    }
}

/// The notifications about a long call, for a client that asked for them.
struct Progress<'c> {
    context: &'c RequestContext<RoleServer>,
    done: f64,
}

impl<'c> Progress<'c> {
    fn new(context: &'c RequestContext<RoleServer>) -> Self {
        Self { context, done: 0.0 }
    }

    async fn say(&mut self, words: &str) {
        let Some(token) = self.context.meta.get_progress_token() else {
            return;
        };
        self.done += 1.0;
        let param = ProgressNotificationParam::new(token, self.done).with_message(words);
        // A disconnected client is handled elsewhere.
        self.context.peer.notify_progress(param).await.ok();
    }
}
