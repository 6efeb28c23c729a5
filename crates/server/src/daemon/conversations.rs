//! Conversations that the daemon holds: each one has a thread, a log of its events, and questions that wait for answers. The addresses and the
//! documents call them sessions.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use axum::{
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
};
use metier::{
    ApprovalQueue, Error, Reply,
    agent::{AgentRole, Cancel, Conversation, ConversationOptions, EventListener, ReportedEvent},
};
use metier_wire::{
    ApprovalRow, ApprovalsField, MessageRequest, SessionRow, SessionsDocument, StartRequest,
    event_document,
};
use serde_json::json;
use tokio::sync::oneshot;

use super::{
    answer::{ApiError, ApiResult, JsonBody, Refusal, document, with_status},
    event_log::EventLog,
    events,
    skills::{Shared, done},
    state::{self, DaemonState},
};

/// Conversations at a time, and how many of those that ended are still shown.
const MAX_CONVERSATIONS: usize = 256;
const MAX_ENDED: usize = 64;

/// How much of its events a conversation keeps.
const MAX_EVENTS: usize = 2_048;
const MAX_EVENT_BYTES: usize = 1 << 20;

/// How long a conversation waits for the next message.
const IDLE: Duration = Duration::from_secs(1_800);

/// How long the end of the daemon waits for conversations.
const GRACE: Duration = Duration::from_secs(5);

/// All conversations of the daemon.
#[derive(Default)]
pub(super) struct ServedConversations {
    all: Mutex<BTreeMap<String, Arc<ServedConversation>>>,
    open: AtomicUsize,
    started: AtomicU64,
}

/// One conversation.
struct ServedConversation {
    id: String,
    /// Its id in the database.
    conversation: String,
    title: String,
    started: String,
    number: u64,
    progress: Mutex<Progress>,
    log: Arc<EventLog>,
    approvals: ApprovalQueue,
    cancel: Cancel,
    messages: SyncSender<String>,
}

#[derive(Clone, Default)]
struct Progress {
    state: ConversationState,
    turns: u64,
    text: Option<String>,
    error: Option<String>,
    is_ending: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ConversationState {
    #[default]
    Running,
    Idle,
    Ended,
}

impl ConversationState {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Ended => "ended",
        }
    }
}

/// Events of a conversation go to its log.
struct EventRecorder(Arc<EventLog>);

impl EventListener for EventRecorder {
    fn hear(&self, told: &ReportedEvent) {
        let text = event_document(told).to_string();
        self.0.add("event", text.into_bytes());
    }
}

impl ServedConversation {
    fn row(&self) -> SessionRow {
        let progress = self.progress().clone();
        SessionRow {
            id: self.id.clone(),
            conversation: self.conversation.clone(),
            title: self.title.clone(),
            started: self.started.clone(),
            state: progress.state.as_str(),
            turns: progress.turns,
            text: progress.text,
            error: progress.error,
        }
    }

    /// Ends the turn and the conversation.
    fn end(&self) {
        self.progress().is_ending = true;
        self.approvals.close();
        self.cancel.cancel();
        // Wakes a conversation that waits for a message; one that is busy checks the flag.
        self.messages.try_send(String::new()).ok();
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the messages to the model, one turn each.
    fn work(&self, mut conversation: Conversation, messages: &Receiver<String>) {
        while let Some(message) = self.next_message(messages) {
            let asked = json!({ "type": "message", "text": message });
            self.log.add("event", asked.to_string().into_bytes());
            let turn = conversation.send(&message);
            let mut progress = self.progress();
            progress.turns += 1;
            (progress.text, progress.error) = match turn {
                Ok(turn) => (Some(turn.text), None),
                Err(error) => (None, Some(error.in_full())),
            };
            progress.state = ConversationState::Idle;
        }
        if let Err(error) = conversation.end() {
            self.progress().error = Some(error.in_full());
        }
        self.progress().state = ConversationState::Ended;
        self.log.end();
    }

    fn next_message(&self, messages: &Receiver<String>) -> Option<String> {
        if self.progress().is_ending {
            return None;
        }
        let message = match messages.recv_timeout(IDLE) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
        let mut progress = self.progress();
        progress.state = ConversationState::Running;
        (!progress.is_ending).then_some(message)
    }
}

impl ServedConversations {
    /// The number of conversations that have not ended.
    pub(super) fn count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// The number of a conversation that is about to start, if there may be one more.
    fn reserve(&self) -> Result<u64, Refusal> {
        if self.open.fetch_add(1, Ordering::Relaxed) >= MAX_CONVERSATIONS {
            self.release();
            let message = format!("the limit of {MAX_CONVERSATIONS} sessions is reached");
            let refusal = Refusal::new(503, "busy", message);
            return Err(refusal.hint("end one with DELETE /api/v1/sessions/ID"));
        }
        Ok(self.started.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn release(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// The questions of all conversations.
    pub(super) fn approvals(&self) -> Vec<ApprovalRow> {
        let all: Vec<Arc<ServedConversation>> = self.all().values().cloned().collect();
        let rows = all.iter().map(|one| state::rows(&one.id, &one.approvals));
        rows.flatten().collect()
    }

    /// Answers a question; returns whether it was open.
    pub(super) fn answer(&self, id: &str, number: u64, reply: Reply) -> bool {
        let found = self.all().get(id).cloned();
        found.is_some_and(|served| served.approvals.answer(number, reply))
    }

    /// Ends all conversations, and waits for them for a while.
    pub(super) fn end_all(&self) {
        let all: Vec<Arc<ServedConversation>> = self.all().values().cloned().collect();
        for served in &all {
            served.end();
        }
        let end = Instant::now() + GRACE;
        while all.iter().any(|one| one.is_open()) && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn find(&self, id: &str) -> Result<Arc<ServedConversation>, Refusal> {
        let found = self.all().get(id).cloned();
        found.ok_or_else(|| {
            let message = format!("there is no session `{}`", id.escape_debug());
            Refusal::new(404, "unknown-session", message)
                .hint("GET /api/v1/sessions lists current sessions; `metier chat --list` lists earlier ones")
        })
    }

    fn rows(&self) -> Vec<SessionRow> {
        let mut all: Vec<Arc<ServedConversation>> = self.all().values().cloned().collect();
        all.sort_by_key(|served| std::cmp::Reverse(served.number));
        all.iter().map(|served| served.row()).collect()
    }

    /// Adds a conversation. The oldest of those that ended are forgotten.
    fn add(&self, served: Arc<ServedConversation>) {
        let mut all = self.all();
        while all.values().filter(|one| !one.is_open()).count() >= MAX_ENDED {
            let ended = all.values().filter(|one| !one.is_open());
            let Some(oldest) = ended.min_by_key(|one| one.number).map(|one| one.id.clone()) else {
                break;
            };
            all.remove(&oldest);
        }
        all.insert(served.id.clone(), served);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<ServedConversation>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServedConversation {
    fn is_open(&self) -> bool {
        self.progress().state != ConversationState::Ended
    }
}

/// The thread of a conversation: opens the conversation, reports whether that worked, and continues.
fn run(
    state: &DaemonState,
    number: u64,
    request: StartRequest,
    opened: oneshot::Sender<Result<SessionRow, Error>>,
) {
    let id = format!("s{number}");
    let log = Arc::new(EventLog::new(MAX_EVENTS, MAX_EVENT_BYTES));
    let approvals = state::announced(id.clone(), &state.events, Some(Arc::clone(&log)));
    let (sender, messages) = sync_channel(1);
    let (task, cancel) = (request.task.clone(), Cancel::new());
    let conversation = open(state, request, &log, &approvals, &cancel);
    let (conversation, title) = match conversation {
        Ok(opened) => opened,
        Err(error) => {
            state.conversations.release();
            // A client that no longer waits needs no answer.
            opened.send(Err(error)).ok();
            return;
        }
    };
    let served = Arc::new(ServedConversation {
        id,
        conversation: conversation.id().to_owned(),
        title,
        started: metier::text::timestamp(SystemTime::now()),
        number,
        progress: Mutex::default(),
        log,
        approvals,
        cancel,
        messages: sender,
    });
    served.messages.try_send(task).ok();
    state.conversations.add(Arc::clone(&served));
    let row = served.row();
    let event = json!({ "type": "session_started", "session": row });
    state.report("session_started", &event);
    opened.send(Ok(row)).ok();
    served.work(conversation, &messages);
    state.conversations.release();
    let event = json!({ "type": "session_ended", "session": served.row() });
    state.report("session_ended", &event);
}

/// Opens what the request asks for: the conversation and its title.
fn open(
    state: &DaemonState,
    request: StartRequest,
    log: &Arc<EventLog>,
    approvals: &ApprovalQueue,
    cancel: &Cancel,
) -> Result<(Conversation, String), Error> {
    let now = state.live.current()?;
    let title = ConversationOptions::about(&request.task).title;
    let asks = request.approvals == ApprovalsField::Ask;
    let options = ConversationOptions {
        role: match request.orchestrate {
            true => AgentRole::Orchestrator,
            false => AgentRole::Primary,
        },
        model: request.model,
        skills: request.skills,
        resume: request.resume,
        title: title.clone(),
        listener: Arc::new(EventRecorder(Arc::clone(log))),
        approver: asks.then(|| Arc::new(approvals.clone()) as _),
        cancel: cancel.clone(),
        ..ConversationOptions::default()
    };
    let conversation = now.workspace.conversation(&now.agent_skills()?, options)?;
    Ok((conversation, title))
}

pub(super) async fn start(
    State(state): Shared,
    JsonBody(request): JsonBody<StartRequest>,
) -> ApiResult {
    if request.task.trim().is_empty() {
        return Err(Refusal::usage("a session needs a task").into());
    }
    let number = state.conversations.reserve()?;
    let (opened, result) = oneshot::channel();
    let shared = Arc::clone(&state);
    let spawned = thread::Builder::new()
        .name(format!("metier-session-{number}"))
        .spawn(move || run(&shared, number, request, opened));
    if spawned.is_err() {
        state.conversations.release();
        return Err(Refusal::new(503, "busy", "the system has no more threads").into());
    }
    match result.await {
        Ok(Ok(row)) => Ok(with_status(StatusCode::CREATED, &row)),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => {
            Err(Refusal::new(500, "bug", "the session failed: this is a bug in metier").into())
        }
    }
}

pub(super) async fn list(State(state): Shared) -> ApiResult {
    let sessions = state.conversations.rows();
    Ok(document(&SessionsDocument { sessions }))
}

pub(super) async fn one(State(state): Shared, Path(id): Path<String>) -> ApiResult {
    Ok(document(&state.conversations.find(&id)?.row()))
}

pub(super) async fn message(
    State(state): Shared,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<MessageRequest>,
) -> ApiResult {
    let served = state.conversations.find(&id)?;
    let busy = |message: &'static str| -> ApiError {
        Refusal::new(409, "session-busy", message)
            .hint("wait for `turn_ended`, or stop the turn with POST /api/v1/sessions/ID/stop")
            .into()
    };
    let mut progress = served.progress();
    match progress.state {
        ConversationState::Running => {
            return Err(busy("the session is still working on the last message"));
        }
        ConversationState::Ended => {
            let hint = format!("metier chat --resume {}", served.conversation);
            let refusal = Refusal::new(409, "session-ended", "the session has ended");
            return Err(refusal.hint(hint).into());
        }
        ConversationState::Idle => {}
    }
    if served.messages.try_send(request.text).is_err() {
        return Err(busy("a message is already queued for this session"));
    }
    progress.state = ConversationState::Running;
    drop(progress);
    Ok(with_status(StatusCode::ACCEPTED, &served.row()))
}

pub(super) async fn stop(State(state): Shared, Path(id): Path<String>) -> ApiResult {
    let served = state.conversations.find(&id)?;
    if served.progress().state == ConversationState::Running {
        served.cancel.cancel();
        for pending in served.approvals.pending() {
            // It may have been answered meanwhile.
            let _was_open = served.approvals.answer(pending.id, Reply::Deny);
        }
    }
    Ok(done())
}

pub(super) async fn end(State(state): Shared, Path(id): Path<String>) -> ApiResult {
    state.conversations.find(&id)?.end();
    Ok(done())
}

pub(super) async fn conversation_events(
    State(state): Shared,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult {
    let served = state.conversations.find(&id)?;
    // From the start, unless the client already has a part.
    let after = events::last_event(&headers).unwrap_or(0);
    Ok(events::stream(&state, Arc::clone(&served.log), Some(after)))
}
