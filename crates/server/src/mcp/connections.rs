//! What belongs to one client: the session in which skills run for it, its answers, and long answers that it has not read to the end.
//!
//! A client on a pipe, or with a session of the older HTTP transport, is one connection. Requests of the newer protocol over HTTP are independent of each
//! other; those with the same caller share a connection from a pool, which ends when it was idle for a while.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use metier::{
    ApprovalQuestion, Approver, Error, NoticeLevel, Notices, Reply, Session, SessionOptions,
};
use rmcp::model::LoggingLevel;
use tokio::{sync::Mutex as AsyncMutex, task, time};

use super::{
    approvals::SessionAnswers, calls::CallRelay, replies::KeptReplies, skill_source::SkillsAtHand,
};

/// How many callers have a connection at the same time, and how long one is kept without a request.
const MAX_POOLED: usize = 64;
const IDLE: Duration = Duration::from_secs(600);

/// The state of one client.
#[derive(Default)]
pub(crate) struct Connection {
    /// The skills that run for it; used by one call at a time.
    pub(crate) session: Arc<AsyncMutex<Option<OpenSession>>>,
    /// Stops what they are doing.
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) answers: Arc<SessionAnswers>,
    kept: Mutex<KeptReplies>,
    /// How important a message must be for it; nothing is sent before it says so.
    log_level: AtomicU8,
    /// The resources whose changes it wants to know.
    subscribed: Mutex<BTreeSet<String>>,
}

impl Connection {
    pub(crate) fn kept(&self) -> MutexGuard<'_, KeptReplies> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_log_level(&self, level: LoggingLevel) {
        self.log_level.store(rank(level), Ordering::Relaxed);
    }

    /// Whether the client wants messages of this level.
    pub(crate) fn wants_log(&self, level: LoggingLevel) -> bool {
        let least = self.log_level.load(Ordering::Relaxed);
        least > 0 && rank(level) >= least
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        let session = Arc::clone(&self.session);
        // Skills get a moment to end, and no task of the server waits for them.
        thread::spawn(move || drop(session.blocking_lock().take()));
    }
}

/// From the least important level, 1, upwards.
pub(crate) fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 1,
        LoggingLevel::Info => 2,
        LoggingLevel::Notice => 3,
        LoggingLevel::Warning => 4,
        LoggingLevel::Error => 5,
        LoggingLevel::Critical => 6,
        LoggingLevel::Alert => 7,
        LoggingLevel::Emergency => 8,
    }
}

/// The session of a client, and the skills that it was opened with.
pub(crate) struct OpenSession {
    pub(crate) session: Session,
    skills: Arc<SkillsAtHand>,
    relay: Arc<SessionRelay>,
}

impl OpenSession {
    /// The session of a connection for one call: a new one if there is none, or if skills have changed since it was opened.
    pub(crate) fn for_call<'s>(
        slot: &'s mut Option<Self>,
        skills: &Arc<SkillsAtHand>,
        call: &Arc<CallRelay>,
    ) -> Result<&'s mut Session, Error> {
        let is_current = |open: &Self| Arc::ptr_eq(&open.skills, skills);
        let open = match slot.take().filter(is_current) {
            Some(open) => open,
            None => Self::open(skills, call)?,
        };
        open.relay.set(Some(call));
        Ok(&mut slot.insert(open).session)
    }

    /// A call has ended: questions have no one to ask.
    pub(crate) fn leave(slot: &Option<Self>) {
        if let Some(open) = slot {
            open.relay.set(None);
        }
    }

    fn open(skills: &Arc<SkillsAtHand>, call: &Arc<CallRelay>) -> Result<Self, Error> {
        let relay = Arc::new(SessionRelay {
            call: Mutex::default(),
            notices: skills.workspace.notices(),
        });
        let workspace = skills.workspace.for_request(
            Arc::clone(&relay) as _,
            Arc::clone(call.stop()),
            Arc::clone(&relay) as _,
        );
        let options = SessionOptions {
            stop: Some(Arc::clone(call.stop())),
            ..SessionOptions::default()
        };
        Ok(Self {
            session: workspace.session(&skills.skills, options)?,
            skills: Arc::clone(skills),
            relay,
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
            let oldest = idle.min_by_key(|(_, one)| one.used).map(|(caller, _)| caller.clone());
            callers.remove(&oldest?);
        }
        let pooled = callers.entry(caller.to_owned()).or_insert_with(|| PooledConnection {
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
