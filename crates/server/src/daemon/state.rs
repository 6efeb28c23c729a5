//! The state that all requests share: the skills, the events, and a bounded number of threads for work that blocks.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::body::Bytes;
use metier::{ApprovalQueue, CurrentSkills, Error, LiveSkills, Reply};
use metier_wire::ApprovalRow;
use serde::Serialize;
use serde_json::json;
use tokio::sync::{Semaphore, watch};

use super::{
    access::Access,
    answer::{ApiError, Refusal},
    conversations::ServedConversations,
    event_log::EventLog,
    metrics::Metrics,
    plans::KeptPlans,
};

/// Skills that are executed, and conversations that are opened, at a time.
const LONG_AT_ONCE: usize = 64;

/// Requests that wait for a thread.
const MAX_WAITING: usize = 512;

/// The number of kept pages of the list, and the largest kept one in bytes.
const MAX_PAGES: usize = 128;
const MAX_PAGE_BYTES: usize = 1 << 20;

/// How many events are kept for clients that read slowly.
const MAX_EVENTS: usize = 1_024;
const MAX_EVENT_BYTES: usize = 4 << 20;

/// How long a question waits for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);

/// The id for questions of requests that belong to no conversation.
pub(super) const NO_SESSION: &str = "requests";

/// The state that all requests share.
pub(super) struct DaemonState {
    pub(super) live: LiveSkills,
    pub(super) access: Access,
    pub(super) events: Arc<EventLog>,
    pub(super) metrics: Metrics,
    pub(super) conversations: ServedConversations,
    /// Questions of requests that belong to no conversation.
    pub(super) questions: ApprovalQueue,
    pub(super) pages: ListPages,
    pub(super) plans: KeptPlans,
    pub(super) started: String,
    /// Cloned by every stream of events, so its count shows whether one is open.
    pub(super) listeners: Arc<()>,
    /// Becomes true when the daemon ends.
    pub(super) ending: watch::Receiver<bool>,
    quick: Arc<Semaphore>,
    long: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// The two queues of work: quick work never waits behind slow work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkLane {
    /// It uses the processor and ends soon.
    Quick,
    /// It waits for skills, models or users.
    Long,
}

/// The maximum number of threads for work that blocks.
pub(super) fn max_threads() -> usize {
    quick_at_once() + LONG_AT_ONCE + 4
}

fn quick_at_once() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores * 2).max(4)
}

impl DaemonState {
    pub(super) fn new(
        live: LiveSkills,
        access: Access,
        started: String,
        ending: watch::Receiver<bool>,
    ) -> Self {
        let events = Arc::new(EventLog::new(MAX_EVENTS, MAX_EVENT_BYTES));
        let questions = announced(NO_SESSION.to_owned(), &events, None);
        Self {
            live,
            access,
            conversations: ServedConversations::default(),
            events,
            metrics: Metrics::default(),
            questions,
            pages: ListPages::default(),
            plans: KeptPlans::default(),
            started,
            listeners: Arc::default(),
            ending,
            quick: Arc::new(Semaphore::new(quick_at_once())),
            long: Arc::new(Semaphore::new(LONG_AT_ONCE)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// The skills as they are now.
    pub(super) async fn now(self: &Arc<Self>) -> Result<Arc<CurrentSkills>, ApiError> {
        if let Some(now) = self.live.current_if_listed() {
            return Ok(now);
        }
        self.work(WorkLane::Quick, |state| state.live.current())
            .await
    }

    /// Does work that blocks on another thread, if one is free soon.
    pub(super) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        lane: WorkLane,
        work: impl FnOnce(&Self) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, ApiError> {
        let permits = match lane {
            WorkLane::Quick => &self.quick,
            WorkLane::Long => &self.long,
        };
        let waiting = Waiting::begin(&self.waiting)?;
        let permit = Arc::clone(permits).acquire_owned().await;
        drop(waiting);
        let state = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&state)
        });
        match done.await {
            Ok(done) => done.map_err(ApiError::from),
            Err(error) => {
                tracing::error!(%error, "a request failed");
                let message = "the request failed: this is a bug in metier";
                let refusal = Refusal::new(500, "bug", message);
                Err(refusal
                    .hint("see the daemon's log; other requests are not affected")
                    .into())
            }
        }
    }

    /// Reports an event to everyone who listens.
    pub(super) fn report(&self, kind: &'static str, document: &impl Serialize) {
        let text = serde_json::to_vec(document).unwrap_or_default();
        self.events.add(kind, text);
    }

    /// Every question that waits for an answer.
    pub(super) fn approvals(&self) -> Vec<ApprovalRow> {
        let own = rows(NO_SESSION, &self.questions);
        own.into_iter()
            .chain(self.conversations.approvals())
            .collect()
    }

    /// Answers a question; returns whether it was open.
    pub(super) fn answer(&self, id: &str, reply: Reply) -> bool {
        let Some((session, number)) = id.rsplit_once('.') else {
            return false;
        };
        let Ok(number) = number.parse() else {
            return false;
        };
        match session {
            NO_SESSION => self.questions.answer(number, reply),
            session => self.conversations.answer(session, number, reply),
        }
    }
}

/// The questions of one queue.
pub(super) fn rows(session: &str, queue: &ApprovalQueue) -> Vec<ApprovalRow> {
    let pending = queue.pending();
    let row = |one| ApprovalRow::new(approval_id(session, one), session, one);
    pending.iter().map(row).collect()
}

fn approval_id(session: &str, pending: &metier::PendingApproval) -> String {
    format!("{session}.{}", pending.id)
}

/// A queue whose questions and answers are reported as events of the daemon, and of the conversation if there is one.
pub(super) fn announced(
    session: String,
    events: &Arc<EventLog>,
    own: Option<Arc<EventLog>>,
) -> ApprovalQueue {
    let events = Arc::clone(events);
    let listener = move |pending: &metier::PendingApproval, reply: Option<Reply>| {
        let row = ApprovalRow::new(approval_id(&session, pending), &session, pending);
        let (kind, document) = match reply {
            None => (
                "approval_requested",
                json!({ "type": "approval_requested", "approval": row }),
            ),
            Some(reply) => (
                "approval_answered",
                json!({ "type": "approval_answered", "id": row.id, "answer": word(reply) }),
            ),
        };
        let text = document.to_string().into_bytes();
        if let Some(own) = &own {
            own.add(kind, text.clone());
        }
        events.add(kind, text);
    };
    ApprovalQueue::new(PATIENCE).with_listener(listener)
}

const fn word(reply: Reply) -> &'static str {
    match reply {
        Reply::Once => "once",
        Reply::Session => "session",
        Reply::Always => "always",
        Reply::Deny => "no",
        Reply::Unavailable => "none",
    }
}

/// A request that waits for a thread; dropping it ends the wait.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(count: &'a AtomicUsize) -> Result<Self, Refusal> {
        let waiting = Self(count);
        if count.fetch_add(1, Ordering::Relaxed) >= MAX_WAITING {
            return Err(Refusal::new(503, "busy", "too many requests are waiting"));
        }
        Ok(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Pages of the list, written once for each listing of the skills.
#[derive(Default)]
pub(super) struct ListPages(Mutex<KeptPages>);

#[derive(Default)]
struct KeptPages {
    generation: u64,
    pages: HashMap<String, Bytes>,
}

impl ListPages {
    /// The page that a query of this listing had.
    pub(super) fn find(&self, generation: u64, query: &str) -> Option<Bytes> {
        let kept = self.kept();
        let page = kept.pages.get(query).cloned();
        page.filter(|_| kept.generation == generation)
    }

    /// Keeps a page.
    pub(super) fn keep(&self, generation: u64, query: &str, page: &Bytes) {
        let mut kept = self.kept();
        if kept.generation > generation || page.len() > MAX_PAGE_BYTES {
            return;
        }
        if kept.generation < generation || kept.pages.len() >= MAX_PAGES {
            kept.pages.clear();
            kept.generation = generation;
        }
        kept.pages.insert(query.to_owned(), page.clone());
    }

    fn kept(&self) -> MutexGuard<'_, KeptPages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
