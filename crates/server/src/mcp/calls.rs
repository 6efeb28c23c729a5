//! Work for a client: on a separate thread, with questions to the user, messages, and an end when the client cancels it.
//!
//! **Problem.** Libraries are synchronous, a scan takes a second, a skill's tool a minute, and a user decides after lunch; meanwhile a ping has to be
//! answered. **Decision.** A call runs on a blocking thread with a [`CallRelay`] as its approver and its notices. The relay sends events to the
//! task that answers the request. A call that waits for an answer takes no place among those that work.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use metier::{ApprovalQuestion, Approver, NoticeLevel, Notices, Reply};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore, mpsc as channel, oneshot},
    task,
};

use super::{approvals::SessionAnswers, replies::ToolReply};

/// The result of a finished call.
pub(crate) enum CallOutcome {
    /// The answer to a tool call.
    Tool(ToolReply),
    /// The text of a prompt, or why there is none.
    Prompt(Result<String, metier::Error>),
}

/// An event while a call runs.
pub(crate) enum CallEvent {
    /// The user has to decide; the call waits.
    Question(Box<OpenQuestion>),
    /// A message about a skill.
    Notice(NoticeLevel, String),
}

/// A question that waits for its answer. Dropping it is a refusal.
pub(crate) struct OpenQuestion {
    pub(crate) question: ApprovalQuestion,
    answer: mpsc::SyncSender<Reply>,
}

impl OpenQuestion {
    pub(crate) fn answer(self, reply: Reply) {
        // The call may have given up meanwhile.
        self.answer.send(reply).ok();
    }
}

/// A call at work.
pub(crate) struct RunningCall {
    pub(crate) events: channel::UnboundedReceiver<CallEvent>,
    pub(crate) done: oneshot::Receiver<CallOutcome>,
    pub(crate) stop: Arc<AtomicBool>,
    /// A few words about it, for its progress.
    pub(crate) label: String,
    /// The request, so that an answer is matched to it.
    pub(crate) key: String,
}

impl RunningCall {
    /// Ends the call, and what it started.
    pub(crate) fn cancel(&self) {
        self.stop.store(true, Ordering::Release);
    }
}

/// The values that a call needs from its server.
pub(crate) struct CallSetup {
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) answers: Arc<SessionAnswers>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) can_ask: bool,
    pub(crate) patience: Duration,
    pub(crate) notices: Arc<dyn Notices>,
}

/// Starts work on another thread, as soon as there is a place for it. A panic of the work drops `done`.
pub(crate) async fn start(
    setup: CallSetup,
    label: String,
    key: String,
    work: impl FnOnce(&Arc<CallRelay>) -> CallOutcome + Send + 'static,
) -> RunningCall {
    // The semaphore is never closed.
    let permit = Arc::clone(&setup.permits).acquire_owned().await.ok();
    let (send_events, events) = channel::unbounded_channel();
    let (send_done, done) = oneshot::channel();
    let stop = Arc::clone(&setup.stop);
    let relay = Arc::new(CallRelay {
        events: send_events,
        permit: Mutex::new(permit),
        runtime: Handle::current(),
        is_allowed_once: AtomicBool::new(false),
        setup,
    });
    task::spawn_blocking(move || {
        let outcome = work(&relay);
        // The client may have left.
        send_done.send(outcome).ok();
    });
    RunningCall {
        events,
        done,
        stop,
        label,
        key,
    }
}

/// The approver and the notices of one call.
pub(crate) struct CallRelay {
    events: channel::UnboundedSender<CallEvent>,
    /// The place among those that work; given back while the call waits.
    permit: Mutex<Option<OwnedSemaphorePermit>>,
    runtime: Handle,
    /// Whether the user allowed something for this call only.
    is_allowed_once: AtomicBool,
    setup: CallSetup,
}

impl CallRelay {
    /// Whether the user allowed something for this call only: what has it must not stay active.
    pub(crate) fn is_allowed_once(&self) -> bool {
        self.is_allowed_once.load(Ordering::Acquire)
    }

    pub(crate) fn stop(&self) -> &Arc<AtomicBool> {
        &self.setup.stop
    }

    fn is_stopped(&self) -> bool {
        self.setup.stop.load(Ordering::Acquire)
    }

    fn place(&self) -> std::sync::MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Approver for CallRelay {
    fn ask(&self, question: &ApprovalQuestion) -> Reply {
        let setup = &self.setup;
        if self.is_stopped() || !setup.can_ask {
            return Reply::Unavailable;
        }
        if setup.answers.covers(question) {
            return Reply::Once;
        }
        let (answer, answered) = mpsc::sync_channel(1);
        let open = OpenQuestion {
            question: question.clone(),
            answer,
        };
        if self
            .events
            .send(CallEvent::Question(Box::new(open)))
            .is_err()
        {
            return Reply::Unavailable;
        }
        drop(self.place().take());
        let reply = answered.recv_timeout(setup.patience);
        let permit = Arc::clone(&setup.permits).acquire_owned();
        *self.place() = self.runtime.block_on(permit).ok();
        let reply = reply.unwrap_or(Reply::Unavailable);
        if reply == Reply::Once {
            self.is_allowed_once.store(true, Ordering::Release);
        }
        setup.answers.taken(question, reply)
    }
}

impl Notices for CallRelay {
    fn notice(&self, level: NoticeLevel, line: &str) {
        self.setup.notices.notice(level, line);
        // Without a client there is no one to tell.
        self.events
            .send(CallEvent::Notice(level, line.to_owned()))
            .ok();
    }

    fn explains(&self) -> bool {
        self.setup.notices.explains()
    }
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
