//! Sessions of agents: each one has a thread, a log of its events, and questions that wait for answers.

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

/// Sessions at a time, and how many of those that ended are still shown.
const MAX_SESSIONS: usize = 256;
const MAX_ENDED: usize = 64;

/// How much of its events a session keeps.
const MAX_EVENTS: usize = 2_048;
const MAX_EVENT_BYTES: usize = 1 << 20;

/// How long a session waits for the next message.
const IDLE: Duration = Duration::from_secs(1_800);

/// How long the end of the daemon waits for sessions.
const GRACE: Duration = Duration::from_secs(5);

/// All sessions of the daemon.
#[derive(Default)]
pub(super) struct Sessions {
    all: Mutex<BTreeMap<String, Arc<AgentSession>>>,
    open: AtomicUsize,
    started: AtomicU64,
}

/// One session.
struct AgentSession {
    id: String,
    /// The id of its conversation in the database.
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
    state: SessionState,
    turns: u64,
    text: Option<String>,
    error: Option<String>,
    is_ending: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum SessionState {
    #[default]
    Running,
    Idle,
    Ended,
}

impl SessionState {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Ended => "ended",
        }
    }
}

/// Events of a conversation go to the log of its session.
struct SessionListener(Arc<EventLog>);

impl EventListener for SessionListener {
    fn hear(&self, told: &ReportedEvent) {
        let text = event_document(told).to_string();
        self.0.add("event", text.into_bytes());
    }
}

impl AgentSession {
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

    /// Ends the turn and the session.
    fn end(&self) {
        self.progress().is_ending = true;
        self.approvals.close();
        self.cancel.cancel();
        // Wakes a session that waits for a message; one that is busy checks the flag.
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
            progress.state = SessionState::Idle;
        }
        if let Err(error) = conversation.end() {
            self.progress().error = Some(error.in_full());
        }
        self.progress().state = SessionState::Ended;
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
        progress.state = SessionState::Running;
        (!progress.is_ending).then_some(message)
    }
}

impl Sessions {
    /// The number of sessions that have not ended.
    pub(super) fn count(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// The number of a session that is about to start, if there may be one more.
    fn reserve(&self) -> Result<u64, Refusal> {
        if self.open.fetch_add(1, Ordering::Relaxed) >= MAX_SESSIONS {
            self.release();
            let message = format!("the limit of {MAX_SESSIONS} sessions is reached");
            let refusal = Refusal::new(503, "busy", message);
            return Err(refusal.hint("end one with DELETE /api/v1/sessions/ID"));
        }
        Ok(self.started.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn release(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// The questions of all sessions.
    pub(super) fn approvals(&self) -> Vec<ApprovalRow> {
        let all: Vec<Arc<AgentSession>> = self.all().values().cloned().collect();
        let rows = all.iter().map(|one| state::rows(&one.id, &one.approvals));
        rows.flatten().collect()
    }

    /// Answers a question; returns whether it was open.
    pub(super) fn answer(&self, session: &str, number: u64, reply: Reply) -> bool {
        let found = self.all().get(session).cloned();
        found.is_some_and(|session| session.approvals.answer(number, reply))
    }

    /// Ends all sessions, and waits for them for a while.
    pub(super) fn end_all(&self) {
        let all: Vec<Arc<AgentSession>> = self.all().values().cloned().collect();
        for session in &all {
            session.end();
        }
        let end = Instant::now() + GRACE;
        while all.iter().any(|one| one.is_open()) && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn find(&self, id: &str) -> Result<Arc<AgentSession>, Refusal> {
        let found = self.all().get(id).cloned();
        found.ok_or_else(|| {
            let message = format!("there is no session `{}`", id.escape_debug());
            Refusal::new(404, "unknown-session", message)
                .hint("GET /api/v1/sessions lists current sessions; `metier chat --list` lists earlier ones")
        })
    }

    fn rows(&self) -> Vec<SessionRow> {
        let mut all: Vec<Arc<AgentSession>> = self.all().values().cloned().collect();
        all.sort_by_key(|session| std::cmp::Reverse(session.number));
        all.iter().map(|session| session.row()).collect()
    }

    /// Adds a session. The oldest of those that ended are forgotten.
    fn add(&self, session: Arc<AgentSession>) {
        let mut all = self.all();
        while all.values().filter(|one| !one.is_open()).count() >= MAX_ENDED {
            let ended = all.values().filter(|one| !one.is_open());
            let Some(oldest) = ended.min_by_key(|one| one.number).map(|one| one.id.clone()) else {
                break;
            };
            all.remove(&oldest);
        }
        all.insert(session.id.clone(), session);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<AgentSession>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AgentSession {
    fn is_open(&self) -> bool {
        self.progress().state != SessionState::Ended
    }
}

/// The thread of a session: opens the conversation, reports whether that worked, and continues.
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
            state.sessions.release();
            // A client that no longer waits needs no answer.
            opened.send(Err(error)).ok();
            return;
        }
    };
    let session = Arc::new(AgentSession {
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
    session.messages.try_send(task).ok();
    state.sessions.add(Arc::clone(&session));
    let row = session.row();
    let event = json!({ "type": "session_started", "session": row });
    state.report("session_started", &event);
    opened.send(Ok(row)).ok();
    session.work(conversation, &messages);
    state.sessions.release();
    let event = json!({ "type": "session_ended", "session": session.row() });
    state.report("session_ended", &event);
}

/// The conversation of a session, and its title.
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
        listener: Arc::new(SessionListener(Arc::clone(log))),
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
    let number = state.sessions.reserve()?;
    let (opened, result) = oneshot::channel();
    let shared = Arc::clone(&state);
    let spawned = thread::Builder::new()
        .name(format!("metier-session-{number}"))
        .spawn(move || run(&shared, number, request, opened));
    if spawned.is_err() {
        state.sessions.release();
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
    let sessions = state.sessions.rows();
    Ok(document(&SessionsDocument { sessions }))
}

pub(super) async fn one(State(state): Shared, Path(id): Path<String>) -> ApiResult {
    Ok(document(&state.sessions.find(&id)?.row()))
}

pub(super) async fn message(
    State(state): Shared,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<MessageRequest>,
) -> ApiResult {
    let session = state.sessions.find(&id)?;
    let busy = |message: &'static str| -> ApiError {
        Refusal::new(409, "session-busy", message)
            .hint("wait for `turn_ended`, or stop the turn with POST /api/v1/sessions/ID/stop")
            .into()
    };
    let mut progress = session.progress();
    match progress.state {
        SessionState::Running => {
            return Err(busy("the session is still working on the last message"));
        }
        SessionState::Ended => {
            let hint = format!("metier chat --resume {}", session.conversation);
            let refusal = Refusal::new(409, "session-ended", "the session has ended");
            return Err(refusal.hint(hint).into());
        }
        SessionState::Idle => {}
    }
    if session.messages.try_send(request.text).is_err() {
        return Err(busy("a message is already queued for this session"));
    }
    progress.state = SessionState::Running;
    drop(progress);
    Ok(with_status(StatusCode::ACCEPTED, &session.row()))
}

pub(super) async fn stop(State(state): Shared, Path(id): Path<String>) -> ApiResult {
    let session = state.sessions.find(&id)?;
    if session.progress().state == SessionState::Running {
        session.cancel.cancel();
        for pending in session.approvals.pending() {
            // It may have been answered meanwhile.
            let _was_open = session.approvals.answer(pending.id, Reply::Deny);
        }
    }
    Ok(done())
}

pub(super) async fn end(State(state): Shared, Path(id): Path<String>) -> ApiResult {
    state.sessions.find(&id)?.end();
    Ok(done())
}

pub(super) async fn session_events(
    State(state): Shared,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> ApiResult {
    let session = state.sessions.find(&id)?;
    // From the start, unless the client already has a part.
    let after = events::last_event(&headers).unwrap_or(0);
    Ok(events::stream(
        &state,
        Arc::clone(&session.log),
        Some(after),
    ))
}
