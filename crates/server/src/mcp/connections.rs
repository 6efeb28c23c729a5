//! The state of one client: the session in which skills run for it, its answers, and long answers that it has not read to the end.
//!
//! A client on a pipe, or with a session of the older HTTP transport, is one connection. Requests of the newer protocol over HTTP are independent of each
//! other; those with the same caller share a connection from a pool, which ends when it was idle for a while.

use std::{
    collections::{BTreeSet, HashMap},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use metier::{
    ApprovalQuestion, Approver, CurrentSkills, Error, Fingerprint, NoticeLevel, Notices, Reply,
    Session, SessionOptions, Skill,
};
use tokio::{sync::Mutex as AsyncMutex, task, time};

use super::{approvals::SessionAnswers, calls::CallRelay, replies::KeptReplies};

/// How many callers have a connection at the same time, and how long one is kept without a request.
const MAX_POOLED: usize = 64;
const IDLE: Duration = Duration::from_secs(600);

/// How many sessions a client has at the same time.
const MAX_SESSIONS: usize = 4;

/// The state of one client.
#[derive(Default)]
pub(crate) struct Connection {
    /// The skills that run for it; used by one call at a time.
    pub(crate) sessions: Arc<AsyncMutex<ClientSessions>>,
    /// Stops what they are doing.
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) answers: Arc<SessionAnswers>,
    kept: Mutex<KeptReplies>,
    /// The lowest level of messages that the client wants; nothing is sent before it sets one.
    log_level: AtomicU8,
    /// The resources that it subscribed to.
    subscribed: Mutex<BTreeSet<String>>,
}

impl Connection {
    pub(crate) fn kept(&self) -> MutexGuard<'_, KeptReplies> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.subscribed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// How important a message must be for the client; 0 if it wants none.
    pub(crate) fn log_level(&self) -> &AtomicU8 {
        &self.log_level
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        let sessions = Arc::clone(&self.sessions);
        // Skills get a moment to end, and no task of the server waits for them.
        thread::spawn(move || sessions.blocking_lock().0.clear());
    }
}

/// The sessions in which skills run for a client. A session has the skills that existed when it was opened; a skill that was added or
/// changed later runs in another one, and unchanged skills continue where they are.
#[derive(Default)]
pub(crate) struct ClientSessions(Vec<OpenSession>);

struct OpenSession {
    session: Session,
    generation: u64,
    relay: Arc<SessionRelay>,
    /// The skills that were started in it, with the state of their files then.
    started: HashMap<PathBuf, Option<Fingerprint>>,
    /// The skill of the call that uses it now.
    current: Option<(PathBuf, String)>,
}

impl ClientSessions {
    /// The session for a call of a skill.
    pub(crate) fn for_call(
        &mut self,
        now: &CurrentSkills,
        skill: Skill<'_>,
        call: &Arc<CallRelay>,
    ) -> Result<&mut Session, Error> {
        let (path, state) = (
            skill.path(),
            skill.entry().place.fingerprint().ok().flatten(),
        );
        let runs_it = |open: &OpenSession| open.started.get(&path) == Some(&state);
        let has_it = |open: &OpenSession| {
            open.generation == now.generation && !open.started.contains_key(&path)
        };
        let found = self
            .0
            .iter()
            .position(runs_it)
            .or_else(|| self.0.iter().position(has_it));
        let position = match found {
            Some(position) => position,
            None => {
                // A skill whose bytes changed is ended, with everything that belongs to it.
                self.0.retain(|open| !open.started.contains_key(&path));
                if self.0.len() >= MAX_SESSIONS {
                    self.0.remove(0);
                }
                self.0.push(OpenSession::new(now, call)?);
                self.0.len() - 1
            }
        };
        let open = &mut self.0[position];
        open.started.insert(path.clone(), state);
        open.current = Some((path, skill.name().into_owned()));
        open.relay.set(Some(call));
        Ok(&mut open.session)
    }

    /// A call has ended: no more questions can be asked, and a skill that was allowed something for this call only is ended.
    pub(crate) fn leave(&mut self, call: &CallRelay) {
        for open in &mut self.0 {
            open.relay.set(None);
            if let Some((path, name)) = open.current.take()
                && call.is_allowed_once()
            {
                // A skill that did not become active needs no end.
                open.session.deactivate(&name).ok();
                open.started.remove(&path);
            }
        }
    }
}

impl OpenSession {
    fn new(now: &CurrentSkills, call: &Arc<CallRelay>) -> Result<Self, Error> {
        let relay = Arc::new(SessionRelay {
            call: Mutex::default(),
            notices: now.workspace.notices(),
        });
        let workspace = now.workspace.for_request(
            Arc::clone(&relay) as _,
            Arc::clone(call.stop()),
            Arc::clone(&relay) as _,
        );
        let options = SessionOptions {
            stop: Some(Arc::clone(call.stop())),
            model: workspace.model_for_skills(now.usable(), call.stop()),
            ..SessionOptions::default()
        };
        Ok(Self {
            session: workspace.session(now.usable(), options)?,
            generation: now.generation,
            relay,
            started: HashMap::new(),
            current: None,
        })
    }
}

/// The approver and the notices of a session: those of the call that uses it now.
struct SessionRelay {
    call: Mutex<Option<Arc<CallRelay>>>,
    notices: Arc<dyn Notices>,
}

impl SessionRelay {
    fn set(&self, call: Option<&Arc<CallRelay>>) {
        *self.call.lock().unwrap_or_else(PoisonError::into_inner) = call.cloned();
    }

    fn call(&self) -> Option<Arc<CallRelay>> {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner);
        call.clone()
    }
}

impl Approver for SessionRelay {
    fn ask(&self, question: &ApprovalQuestion) -> Reply {
        let call = self.call();
        call.map_or(Reply::Unavailable, |call| call.ask(question))
    }
}

impl Notices for SessionRelay {
    fn notice(&self, level: NoticeLevel, line: &str) {
        match self.call() {
            Some(call) => call.notice(level, line),
            None => self.notices.notice(level, line),
        }
    }

    fn explains(&self) -> bool {
        self.notices.explains()
    }
}

/// The connections of callers whose requests are independent of each other.
#[derive(Default)]
pub(crate) struct ConnectionPool {
    callers: Mutex<HashMap<String, PooledConnection>>,
}

struct PooledConnection {
    connection: Arc<Connection>,
    used: Instant,
}

impl ConnectionPool {
    /// The connection of a caller. If there are too many, the one that was idle for the longest time ends; `None` if none is idle.
    pub(crate) fn of(self: &Arc<Self>, caller: &str) -> Option<Arc<Connection>> {
        let mut callers = self.callers();
        if callers.is_empty() {
            task::spawn(end_idle(Arc::downgrade(self)));
        }
        if !callers.contains_key(caller) && callers.len() >= MAX_POOLED {
            let idle = callers.iter().filter(|(_, one)| one.is_idle());
            let oldest = idle
                .min_by_key(|(_, one)| one.used)
                .map(|(caller, _)| caller.clone());
            callers.remove(&oldest?);
        }
        let pooled = callers
            .entry(caller.to_owned())
            .or_insert_with(|| PooledConnection {
                connection: Arc::default(),
                used: Instant::now(),
            });
        pooled.used = Instant::now();
        Some(Arc::clone(&pooled.connection))
    }

    fn callers(&self) -> MutexGuard<'_, HashMap<String, PooledConnection>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PooledConnection {
    /// Whether no request uses it.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.connection) == 1
    }
}

/// Ends connections that were idle for long, until there are none.
async fn end_idle(pool: Weak<ConnectionPool>) {
    loop {
        time::sleep(IDLE / 10).await;
        let Some(pool) = pool.upgrade() else {
            return;
        };
        let mut callers = pool.callers();
        callers.retain(|_, one| !one.is_idle() || one.used.elapsed() < IDLE);
        if callers.is_empty() {
            return;
        }
    }
}
