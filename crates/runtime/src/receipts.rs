//! Receipts of one activation, from its worker and from the threads of its connections.
//!
//! Three rules are implemented here, so that no caller has to remember them. A flood of refusals is counted
//! ([`Refusals`]): a skill without any permission must not fill the disk. The number of receipts in memory is
//! bounded ([`RecentReceipts`]). A connection is recorded by the thread that opens it, before a byte is sent
//! ([`ConnectionReceipts`]).

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use metier_host::net::{ConnectionLog, OpenConnection, ProxyConnection, ProxyDecision};
use metier_policy::{Act, FetchAct};
use metier_store::{
    BegunReceipt, NewReceipt, Receipt, ReceiptOutcome, ReceiptPart, Store, StoreError,
};

use crate::{
    approvals::{ActRecord, Whose, completion, draft},
    redact::Redactor,
    standing_answers::{AnswersBehind, withdrawn},
};

/// How many receipts are kept for display.
const MOST_RECENT: usize = 500;

/// How many refusals of one kind of act are recorded one by one.
pub(crate) const WRITTEN_SINGLY: u32 = 16;
/// After how long the others are recorded as one, the first time; the pause doubles from there.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// How long a skill waits for a refusal once there is a flood: so it can't use up the host's time either.
const FLOOD_DELAY: Duration = Duration::from_millis(2);
/// [`FLOOD_DELAY`] for acts that are refused only when they are tried: those were recorded as begun.
const TRIED_DELAY: Duration = Duration::from_millis(50);
/// The maximum length of the first and the last detail of a flood.
const KEPT_DETAIL: usize = 1_000;

/// The newest receipts, and the number of older ones.
#[derive(Debug, Default)]
pub(crate) struct RecentReceipts {
    newest: VecDeque<Receipt>,
    left_out: u64,
}

impl RecentReceipts {
    /// Adds a receipt. A receipt of an act that was begun before replaces that of its beginning.
    pub(crate) fn push(&mut self, receipt: Receipt) {
        let mut from_newest = self.newest.iter_mut().rev();
        if matches!(receipt.part, ReceiptPart::Completed { .. })
            && let Some(begun) = from_newest.find(|known| known.id == receipt.id)
        {
            *begun = receipt;
            return;
        }
        self.newest.push_back(receipt);
        if self.newest.len() > MOST_RECENT {
            self.newest.pop_front();
            self.left_out += 1;
        }
    }

    /// Adds the receipts of another list.
    pub(crate) fn append(&mut self, other: RecentReceipts) {
        self.left_out += other.left_out;
        other.newest.into_iter().for_each(|one| self.push(one));
    }

    /// The receipts in order, and the number of older ones.
    pub(crate) fn in_order(self) -> (Vec<Receipt>, u64) {
        let mut newest: Vec<Receipt> = self.newest.into();
        newest.sort_by_key(|receipt| receipt.id);
        (newest, self.left_out)
    }

    pub(crate) fn all(&self) -> Vec<Receipt> {
        let mut all: Vec<Receipt> = self.newest.iter().cloned().collect();
        all.sort_by_key(|receipt| receipt.id);
        all
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// Refusals of one activation, by the kind of act.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    kinds: BTreeMap<String, Flood>,
    tried: u32,
}

#[derive(Debug)]
struct Flood {
    written: u32,
    waiting: Option<Waiting>,
    last_written: Instant,
    pause: Duration,
}

/// Refusals that are not written yet.
#[derive(Debug)]
struct Waiting {
    first_detail: String,
    last: NewReceipt,
}

/// The handling of a refusal.
#[derive(Debug)]
pub(crate) struct Heard {
    /// Receipts to write now.
    pub(crate) write: Option<NewReceipt>,
    /// How long the skill waits for its answer.
    pub(crate) delay: Duration,
}

impl Refusals {
    /// Counts a refusal.
    pub(crate) fn hear(&mut self, mut refused: NewReceipt, now: Instant) -> Heard {
        let flood = self.kinds.entry(refused.act.clone()).or_insert(Flood {
            written: 0,
            waiting: None,
            last_written: now,
            pause: FIRST_PAUSE,
        });
        if flood.written < WRITTEN_SINGLY {
            flood.written += 1;
            flood.last_written = now;
            return Heard {
                write: Some(refused),
                delay: Duration::ZERO,
            };
        }
        refused
            .detail
            .truncate(refused.detail.floor_char_boundary(KEPT_DETAIL));
        match &mut flood.waiting {
            Some(waiting) => {
                refused.count = waiting.last.count.saturating_add(1);
                waiting.last = refused;
            }
            None => {
                flood.waiting = Some(Waiting {
                    first_detail: refused.detail.clone(),
                    last: refused,
                });
            }
        }
        let is_due = now.saturating_duration_since(flood.last_written) >= flood.pause;
        let write = is_due.then(|| flood.take(now)).flatten();
        if write.is_some() {
            flood.pause = (flood.pause * 2).min(LONGEST_PAUSE);
        }
        let delay = FLOOD_DELAY;
        Heard { write, delay }
    }

    /// Counts an act that was begun and then refused; returns how long the skill waits for its answer.
    pub(crate) fn hear_tried(&mut self) -> Duration {
        self.tried = self.tried.saturating_add(1);
        match self.tried > WRITTEN_SINGLY {
            true => TRIED_DELAY,
            false => Duration::ZERO,
        }
    }

    /// All counted refusals that are not recorded yet.
    pub(crate) fn take(&mut self, now: Instant) -> Vec<NewReceipt> {
        let kinds = self.kinds.values_mut();
        kinds.filter_map(|flood| flood.take(now)).collect()
    }
}

impl Flood {
    fn take(&mut self, now: Instant) -> Option<NewReceipt> {
        let Waiting { first_detail, last } = self.waiting.take()?;
        self.last_written = now;
        let detail = match last.count {
            1 => last.detail,
            _ if first_detail == last.detail => last.detail,
            _ => format!("{first_detail} … {}", last.detail),
        };
        Some(NewReceipt { detail, ..last })
    }
}

/// Writes receipts for the connections of the children of one activation, from any thread. It has its own database connection,
/// opened with the first one.
pub(crate) struct ConnectionReceipts {
    shared: Arc<SharedConnections>,
}

struct SharedConnections {
    database: PathBuf,
    whose: Whose,
    redactor: Redactor,
    /// The time of receipts, at a moment of the monotonic clock.
    clock: (SystemTime, Instant),
    inner: Mutex<ConnectionLogInner>,
}

struct ConnectionLogInner {
    store: Option<Store>,
    /// A long-running program opens connections at any time; the answers behind its grant can change meanwhile.
    behind: AnswersBehind,
    refusals: Refusals,
    recent: RecentReceipts,
}

impl ConnectionReceipts {
    pub(crate) fn new(
        database: PathBuf,
        whose: Whose,
        redactor: Redactor,
        now: SystemTime,
        behind: AnswersBehind,
    ) -> Self {
        Self {
            shared: Arc::new(SharedConnections {
                database,
                whose,
                redactor,
                clock: (now, Instant::now()),
                inner: Mutex::new(ConnectionLogInner {
                    store: None,
                    behind,
                    refusals: Refusals::default(),
                    recent: RecentReceipts::default(),
                }),
            }),
        }
    }

    /// The receipts since the last call of this function. Floods of refusals are written first.
    pub(crate) fn take(&self) -> RecentReceipts {
        let mut inner = self.shared.inner();
        let waiting = inner.refusals.take(Instant::now());
        // No caller takes this error; only a count of refusals is lost.
        inner.append(&self.shared, &waiting).ok();
        std::mem::take(&mut inner.recent)
    }
}

impl SharedConnections {
    fn inner(&self) -> MutexGuard<'_, ConnectionLogInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self) -> String {
        let (then, since) = self.clock;
        let now = then.checked_add(since.elapsed()).unwrap_or(then);
        humantime::format_rfc3339_millis(now).to_string()
    }

    fn draft(&self, host: &str, port: u16, went: &ActRecord) -> NewReceipt {
        let act = Act::Fetch(FetchAct {
            method: "CONNECT".into(),
            url: format!("{host}:{port}").into(),
            host: host.into(),
            port,
            headers: Vec::new(),
            body: Vec::new(),
        });
        let detail = self.redactor.clean(&act.detail());
        let kind = act.permission().as_str();
        draft(&self.whose, self.at(), kind, detail, went.clone())
    }
}

impl ConnectionLogInner {
    fn store(&mut self, shared: &SharedConnections) -> Result<&Store, StoreError> {
        match &mut self.store {
            Some(store) => Ok(store),
            none => Ok(none.insert(Store::open(&shared.database)?)),
        }
    }

    /// The receipt of a connection that will be opened, unless the grant behind it was withdrawn.
    fn begin(
        &mut self,
        shared: &SharedConnections,
        draft: &NewReceipt,
    ) -> Result<BegunReceipt, String> {
        self.store(shared).map_err(|error| error.to_string())?;
        let Some(store) = &self.store else {
            return Err("the database is closed".to_owned());
        };
        match self.behind.is_withdrawn(store) {
            Ok(false) => store.begin(draft).map_err(|error| error.to_string()),
            Ok(true) => Err(withdrawn(&shared.whose.skill).message),
            Err(error) => Err(error.to_string()),
        }
    }

    fn append(
        &mut self,
        shared: &SharedConnections,
        drafts: &[NewReceipt],
    ) -> Result<(), StoreError> {
        if drafts.is_empty() {
            return Ok(());
        }
        let written = self.store(shared)?.append(drafts)?;
        written.into_iter().for_each(|one| self.recent.push(one));
        Ok(())
    }
}

impl ConnectionLog for ConnectionReceipts {
    fn open(&self, host: &str, port: u16) -> Result<Box<dyn OpenConnection>, String> {
        let shared = &self.shared;
        let draft = shared.draft(host, port, &ActRecord::well(0));
        let mut inner = shared.inner();
        let begun = inner.begin(shared, &draft)?;
        inner.recent.push(begun.receipt().clone());
        Ok(Box::new(OpenReceipt {
            shared: Arc::clone(shared),
            begun,
        }))
    }

    fn refused(&self, seen: &ProxyConnection) {
        let shared = &self.shared;
        let reason = match &seen.decision {
            ProxyDecision::Refused(reason) | ProxyDecision::Cut(reason) => reason.as_str(),
            ProxyDecision::Allowed => "it was never opened",
        };
        let went = ActRecord::refused(shared.redactor.clean(reason));
        let draft = shared.draft(&seen.host, seen.port, &went);
        let mut inner = shared.inner();
        let Heard { write, delay } = inner.refusals.hear(draft, Instant::now());
        // Nothing was done, and no caller takes this error.
        inner.append(shared, write.as_slice()).ok();
        drop(inner);
        std::thread::sleep(delay);
    }
}

struct OpenReceipt {
    shared: Arc<SharedConnections>,
    begun: BegunReceipt,
}

impl OpenConnection for OpenReceipt {
    fn over(self: Box<Self>, seen: &ProxyConnection) {
        let OpenReceipt { shared, begun } = *self;
        let (outcome, reason) = match &seen.decision {
            ProxyDecision::Allowed => (Some(ReceiptOutcome::Ok), None),
            ProxyDecision::Cut(reason) => (Some(ReceiptOutcome::Error), Some(reason)),
            ProxyDecision::Refused(reason) => (None, Some(reason)),
        };
        let went = ActRecord {
            outcome,
            reason: reason.map(|reason| shared.redactor.clean(reason)),
            ms: seen.ms,
            sandbox: None,
        };
        let mut completion = completion(shared.at(), went);
        completion.note = format!("{} bytes sent, {} received", seen.bytes_up, seen.bytes_down);
        let mut inner = shared.inner();
        let completed = inner
            .store(&shared)
            .and_then(|store| store.complete(begun, &completion));
        // A receipt that can't be completed stays open, and is closed after this program has ended.
        if let Ok(receipt) = completed {
            inner.recent.push(receipt);
        }
    }
}

#[cfg(test)]
mod tests {
    use metier_model::{Digest, Source};
    use metier_policy::Identity;
    use metier_store::{Approval, ApprovalDecision};

    use super::*;

    fn refused(act: &str, detail: &str) -> NewReceipt {
        let whose = Whose {
            skill: "pest".into(),
            source: "user".into(),
            digest: "sha256:aa".into(),
            session: "s".into(),
        };
        let at = "2026-01-31T09:00:00Z".to_owned();
        let went = ActRecord::refused("not approved".into());
        draft(&whose, at, act, detail.to_owned(), went)
    }

    // case 157
    #[test]
    fn a_flood_is_counted_and_nothing_is_lost() {
        let start = Instant::now();
        let mut refusals = Refusals::default();
        let mut written = Vec::new();
        for number in 0..100_000_u32 {
            let now = start + Duration::from_millis(number.into());
            let detail = number.to_string();
            let heard = refusals.hear(refused("env:read", &detail), now);
            assert_eq!(heard.delay.is_zero(), number < WRITTEN_SINGLY);
            written.extend(heard.write);
            if number == 500 {
                let other = refusals.hear(refused("file:read", "x"), now);
                assert_eq!(other.write.unwrap().count, 1, "each kind has its own");
            }
        }
        written.extend(refusals.take(start + Duration::from_secs(100)));
        assert_eq!(written.iter().map(|one| one.count).sum::<u64>(), 100_000);
        assert!(written.len() < 25, "{}", written.len());
        assert_eq!(written[16].detail, "16 … 5015");
        assert!(written.last().unwrap().detail.ends_with(" … 99999"));
        assert!(refusals.take(start).is_empty());
    }

    /// A program that runs for long opens no connection any more, and begins no receipt of one.
    // case 215
    #[test]
    fn a_connection_is_refused_after_a_permission_was_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("metier.db");
        let store = Store::open(&database).unwrap();
        let identity = Identity {
            skill: "pest".into(),
            source: Source::User,
            digest: Digest([1; 32]),
        };
        let approval = Approval {
            skill: "pest".to_owned(),
            source: "user".to_owned(),
            permission: "net:fetch(a.io)".to_owned(),
            digest: identity.digest.to_string(),
            decision: ApprovalDecision::Allowed,
            at: "2026-01-31T09:00:00Z".to_owned(),
            by: "test".to_owned(),
        };
        store.approve(&[approval]).unwrap();
        let behind = AnswersBehind::read(&store, &identity).unwrap();
        let whose = Whose {
            skill: "pest".into(),
            source: "user".into(),
            digest: identity.digest.to_string(),
            session: "s".into(),
        };
        let now = SystemTime::UNIX_EPOCH;
        let redactor = Redactor::default();
        let receipts = ConnectionReceipts::new(database, whose, redactor, now, behind.elsewhere());
        assert!(receipts.open("a.io", 443).is_ok());
        store.revoke_approvals("pest", None, None).unwrap();
        for _ in 0..2 {
            let refused = receipts.open("a.io", 443).map(drop).unwrap_err();
            assert!(refused.contains("was revoked or denied"), "{refused}");
        }
        assert_eq!(receipts.take().all().len(), 1);
    }

    #[test]
    fn the_newest_are_kept_and_the_others_counted() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("metier.db")).unwrap();
        let drafts = vec![refused("env:read", "x"); 700];
        let mut recent = RecentReceipts::default();
        for receipt in store.append(&drafts).unwrap() {
            recent.push(receipt);
        }
        let (newest, left_out) = recent.in_order();
        assert_eq!((newest.len(), left_out), (MOST_RECENT, 200));
        assert_eq!(newest[0].id, 201);
    }
}
