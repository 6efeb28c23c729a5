//! One activation: every act is permitted, recorded, done, and recorded as done, in this order.

#[cfg(feature = "wasm")]
mod wasi;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::Arc,
    time::Instant,
};

use metier_catalog::Snapshot;
use metier_host::{
    backend::{ChildEnd, ChildEndCause, LiveChild, StartedChild},
    child::{ChildOutcome, Exit, Relay},
    execution::{
        ActExecutor, ActResult, ExecutingSkill, ExecutionError, HostEnvironment, RecordedAct,
        RunningScript,
    },
    sandbox::UndonePlace,
};
use metier_model::Permission;
use metier_policy::{
    Act, ChangePreview, ContentBefore, Grant, LineContext, PendingAct, Permit, PermitRefusal,
};
use metier_store::{BegunReceipt, NewReceipt, Receipt, ReceiptOutcome, StoreError};

use crate::{
    approvals::{ActRecord, Approvals, RequestingSkill},
    guarded::Guarded,
    receipts::{ConnectionReceipts, Heard, RecentReceipts, Refusals},
    redact::Redactor,
    standing_answers::{AnswersBehind, RevocableGrant},
};

/// The kind of act for a long-running program of a skill.
const RUN: &str = "skill:run";

/// A skill with a grant, and the world that it may change.
pub struct GrantedSkill {
    approvals: Arc<Approvals>,
    grant: Arc<Grant>,
    behind: Guarded<AnswersBehind>,
    world: ActExecutor,
    redactor: Redactor,
    /// The active skill, for approval questions.
    skill: ActiveSkill,
    /// Whether the skill still has the bytes that were approved.
    unchanged: Box<dyn Fn() -> bool + Send + Sync>,
    receipts: Guarded<RecentReceipts>,
    refusals: Guarded<Refusals>,
    connections: Arc<ConnectionReceipts>,
    /// Long-running programs whose end is not recorded yet.
    runs: Guarded<Vec<RunningAct>>,
}

/// The skill of a worker.
pub struct ActiveSkill {
    /// Its folder, for display.
    pub place: String,
    /// Its files, as they were scanned.
    pub held: Arc<Snapshot>,
}

/// A long-running program.
struct RunningAct {
    begun: BegunReceipt,
    start: Instant,
    sandbox: Option<&'static str>,
    ended: Arc<Guarded<Option<(ChildEnd, Instant)>>>,
}

/// Why an act was not done.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// The grant does not cover it.
    #[error("{0}")]
    Refused(#[from] PermitRefusal),
    /// Its files are no longer the approved ones.
    #[error("its files changed after they were scanned; try again")]
    Changed,
    /// The executor refused it or failed.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// A model or another skill returned an error.
    #[error(transparent)]
    Elsewhere(#[from] DelegateError),
    /// It can't be recorded; an act that can't be recorded is not done.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Work for a skill: `None` if it panics. The receipt is completed, and the skill gets its answer, after a bug of ours too.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Why a model or another skill did not fulfil a skill's request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct DelegateError {
    /// A stable code, such as `no-model`, which the skill gets with the message.
    pub code: &'static str,
    /// The error for the skill.
    pub message: String,
}

impl DelegateError {
    /// An error with a code.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

impl GrantedSkill {
    /// Creates the worker of one activation.
    ///
    /// # Errors
    /// When temporary folders can't be created.
    pub fn new(
        approvals: Arc<Approvals>,
        granted: RevocableGrant,
        host: Arc<HostEnvironment>,
        skill_in_world: ExecutingSkill,
        redactor: Redactor,
        skill: ActiveSkill,
        unchanged: Box<dyn Fn() -> bool + Send + Sync>,
    ) -> Result<Self, ExecutionError> {
        let RevocableGrant { grant, behind } = granted;
        let grant = Arc::new(grant);
        let connections = Arc::new(ConnectionReceipts::new(
            approvals.store.lock().path().to_owned(),
            approvals.whose(grant.identity()),
            redactor.clone(),
            (approvals.clock)(),
            behind.elsewhere(),
        ));
        let log = Arc::clone(&connections);
        Ok(Self {
            approvals,
            world: ActExecutor::new(Arc::clone(&grant), host, skill_in_world, log)?,
            grant,
            behind: Guarded::new(behind),
            redactor,
            skill,
            unchanged,
            receipts: Guarded::default(),
            refusals: Guarded::default(),
            connections,
            runs: Guarded::default(),
        })
    }

    /// Does an act, if it is permitted.
    ///
    /// # Errors
    /// When it is not permitted, fails, or its receipt can't be written.
    pub fn act(&self, act: &Act) -> Result<ActResult, ActError> {
        self.act_relayed(act, None)
    }

    /// [`Self::act`]; the output of a script goes to `relay` immediately. That is safe only if there are no secrets to remove from it:
    /// see [`GrantedSkill::has_secrets`].
    ///
    /// # Errors
    /// When it is not permitted, fails, or its receipt can't be written.
    pub fn act_relayed(&self, act: &Act, relay: Option<&dyn Relay>) -> Result<ActResult, ActError> {
        let permit = self.permit(act)?;
        // A question may stay open for minutes: the skill must not have changed since.
        if act.permission() == Permission::ShellExec && !(self.unchanged)() {
            self.refuse(act, ActError::Changed.to_string())?;
            return Err(ActError::Changed);
        }
        let begun = RecordedAct::write(&permit, |permit| self.begin(permit.act()))?;
        let start = Instant::now();
        let done = caught(|| self.world.act_relayed(&begun, relay));
        let done = done.unwrap_or(Err(ExecutionError::Panicked));
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let went = match &done {
            Ok(ActResult::Child(ended, _)) => {
                self.warn_undone(&ended.undone);
                self.warn_replaced(&ended.replaced);
                match failed_in_pipeline(act, ended) {
                    true => ActRecord {
                        outcome: Some(ReceiptOutcome::Error),
                        reason: Some("the pipeline printed nothing but errors".to_owned()),
                        ..child(ended)
                    },
                    false => child(ended),
                }
            }
            Ok(_) => ActRecord::well(ms),
            Err(error) if error.is_refusal() => ActRecord::refused(error.to_string()),
            Err(error) => ActRecord::badly(ReceiptOutcome::Error, error.to_string(), ms),
        };
        self.complete(begun.over(), &went)?;
        if went.outcome.is_none() {
            let delay = self.refusals.lock().hear_tried();
            std::thread::sleep(delay);
        }
        Ok(done?)
    }

    /// Lets another part do an act (ask a model, invoke another skill), if it is permitted.
    ///
    /// # Errors
    /// When it is not permitted, fails, or its receipt can't be written.
    pub fn elsewhere<T>(
        &self,
        act: &Act,
        deed: impl FnOnce() -> Result<T, DelegateError>,
    ) -> Result<T, ActError> {
        self.permit(act)?;
        let begun = self.begin(act)?;
        let start = Instant::now();
        let done = caught(deed).unwrap_or_else(|| {
            let bug = ExecutionError::Panicked.to_string();
            Err(DelegateError::new("bug", bug))
        });
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let went = match &done {
            Ok(_) => ActRecord::well(ms),
            Err(error) => ActRecord::badly(ReceiptOutcome::Error, error.to_string(), ms),
        };
        self.complete(begun, &went)?;
        Ok(done?)
    }

    /// The permit for an act, asking if necessary; a refusal is recorded.
    ///
    /// # Errors
    /// When the act is not permitted, or the refusal can't be recorded.
    pub fn permit(&self, act: &Act) -> Result<Permit, ActError> {
        let subject = RequestingSkill {
            identity: self.grant.identity(),
            place: &self.skill.place,
            held: &self.skill.held,
        };
        let shown = |pending| self.with_preview(pending);
        let behind = (&*self.grant, &self.behind);
        let permitted = self.approvals.permit(&subject, behind, act, shown)?;
        if let Err(refusal) = &permitted {
            self.refuse(act, refusal.message.clone())?;
        }
        Ok(permitted?)
    }

    /// Whether the user revoked or denied something since the grant was made. It then permits nothing.
    ///
    /// # Errors
    /// When the answers can't be read.
    pub fn is_withdrawn(&self) -> Result<bool, StoreError> {
        self.approvals.is_withdrawn(&self.grant, &self.behind)
    }

    /// Its grant, for a skill that it invokes: that skill can do nothing that this one can't, and ends with it.
    #[must_use]
    pub fn narrow(&self, granted: &RevocableGrant) -> RevocableGrant {
        granted.narrowed(&self.grant, &self.behind.lock())
    }

    /// A pending write with its changes, for the user.
    fn with_preview(&self, pending: PendingAct) -> PendingAct {
        let Act::WriteFile { path, content } = pending.act() else {
            return pending;
        };
        let found = self.world.content_for_question(path);
        let before = match &found {
            Ok(Some(bytes)) => ContentBefore::Known(bytes),
            Ok(None) => ContentBefore::Absent,
            Err(_) => ContentBefore::Unknown,
        };
        let hide = |line: &str| self.redactor.clean(line);
        let preview = ChangePreview::new(before, content, &hide);
        pending.with_preview(preview)
    }

    /// The executor of its acts.
    #[cfg(feature = "js")]
    pub(crate) fn world(&self) -> &ActExecutor {
        &self.world
    }

    /// Records the end of long-running programs, and floods of refusals.
    ///
    /// # Errors
    /// When a receipt can't be written.
    pub fn settle(&self) -> Result<(), StoreError> {
        let (over, on): (Vec<RunningAct>, Vec<RunningAct>) = self
            .runs
            .take()
            .into_iter()
            .partition(|run| run.ended.lock().is_some());
        self.runs.lock().extend(on);
        let all = over.into_iter().map(|run| self.complete_run(run));
        let written = all.fold(Ok(()), Result::and);
        written.and(self.write_refusals())
    }

    /// Ends the activation: all long-running programs have ended with it, and floods of refusals are written.
    ///
    /// # Errors
    /// When that can't be recorded.
    pub fn end(&self) -> Result<(), StoreError> {
        let runs = self.runs.take();
        let all = runs.into_iter().map(|run| self.complete_run(run));
        let written = all.fold(Ok(()), Result::and);
        written.and(self.write_refusals())
    }

    /// Warns the user immediately that protected files were restored. The receipt contains the same.
    pub(crate) fn warn_undone(&self, places: &[UndonePlace]) {
        if !places.is_empty() {
            let skill = &self.grant.identity().skill;
            let text = format!("skill `{skill}`: {}", undone(places));
            (self.approvals.warn)(&self.redactor.clean(&text));
        }
    }

    /// Warns the user immediately that protected files were replaced and stay.
    fn warn_replaced(&self, places: &[PathBuf]) {
        if let Some(text) = replaced(places) {
            let text = format!("skill `{}`: {text}", self.grant.identity().skill);
            (self.approvals.warn)(&self.redactor.clean(&text));
        }
    }

    /// Writes a receipt for something that is not an act: a call, a hook. Large numbers of refusals are counted instead.
    ///
    /// # Errors
    /// When a receipt can't be written.
    pub fn record(&self, act: &str, detail: &str, went: &ActRecord) -> Result<(), StoreError> {
        let draft = self.draft(act, detail, went);
        if went.outcome.is_some() {
            return self.append(&[draft]);
        }
        let heard = self.refusals.lock().hear(draft, Instant::now());
        let Heard { write, delay } = heard;
        self.append(write.as_slice())?;
        std::thread::sleep(delay);
        Ok(())
    }

    /// The receipt that [`GrantedSkill::record`] would write, for later: [`GrantedSkill::keep`] stores it.
    pub(crate) fn draft(&self, act: &str, detail: &str, went: &ActRecord) -> NewReceipt {
        let identity = self.grant.identity();
        self.approvals
            .draft(identity, act, detail, went, &self.redactor)
    }

    /// Adds a receipt that was written elsewhere.
    pub(crate) fn keep(&self, receipt: Receipt) {
        self.receipts.lock().push(receipt);
    }

    /// The permissions of the skill.
    #[must_use]
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// The receipts since the last call of this function.
    pub(crate) fn take_receipts(&self) -> RecentReceipts {
        let of_connections = self.connections.take();
        let mut receipts = self.receipts.take();
        receipts.append(of_connections);
        receipts
    }

    /// Whether the skill has secrets that must be removed from its output.
    #[must_use]
    pub fn has_secrets(&self) -> bool {
        !self.redactor.is_empty()
    }

    /// Removes the secrets of the skill from a string.
    #[must_use]
    pub fn clean(&self, bytes: &[u8]) -> String {
        self.redactor.clean(&String::from_utf8_lossy(bytes))
    }

    /// The receipts so far; only the newest if there are many.
    #[must_use]
    pub fn receipts(&self) -> Vec<Receipt> {
        let of_connections = self.connections.take();
        let mut receipts = self.receipts.lock();
        receipts.append(of_connections);
        receipts.all()
    }

    /// How many older receipts there are.
    #[must_use]
    pub fn receipts_left_out(&self) -> u64 {
        self.receipts.lock().left_out()
    }

    /// Starts a long-running program after a receipt for its start. Its end gets a receipt in [`GrantedSkill::settle`] or
    /// [`GrantedSkill::end`].
    ///
    /// # Errors
    /// When the receipt can't be written, the skill's files changed, or the program can't be started or sandboxed.
    pub(crate) fn start<T>(
        &self,
        detail: &str,
        what: &T,
        start: impl FnOnce(
            &ActExecutor,
            &RecordedAct<'_, T, BegunReceipt>,
        ) -> Result<RunningScript, ExecutionError>,
    ) -> Result<StartedChild, ExecutionError> {
        let unwritten = |error: StoreError| ExecutionError::NotWritten(error.to_string());
        self.settle().map_err(unwritten)?;
        if !(self.unchanged)() {
            return Err(ExecutionError::Changed);
        }
        let begun = RecordedAct::write(what, |_| self.begin_run(detail))?;
        let since = Instant::now();
        let started = match start(&self.world, &begun) {
            Ok(running) => StartedChild::from(running),
            Err(error) => {
                let went =
                    ActRecord::badly(ReceiptOutcome::Error, error.to_string(), elapsed(since));
                self.complete(begun.over(), &went).map_err(unwritten)?;
                return Err(error);
            }
        };
        let ended = Arc::new(Guarded::new(None));
        self.runs.lock().push(RunningAct {
            begun: begun.over(),
            start: since,
            sandbox: Some(started.confinement),
            ended: Arc::clone(&ended),
        });
        let child = Some(started.child);
        Ok(StartedChild {
            child: Box::new(WatchedRun { child, ended }),
            ..started
        })
    }

    fn begin_run(&self, detail: &str) -> Result<BegunReceipt, ExecutionError> {
        let identity = self.grant.identity();
        let begun = self
            .approvals
            .begin(identity, (RUN, detail), &self.redactor);
        begun.map_err(|error| ExecutionError::NotWritten(error.to_string()))
    }

    fn complete_run(&self, run: RunningAct) -> Result<(), StoreError> {
        let (went, at) = match run.ended.take() {
            Some((end, at)) => (ended(&end), at),
            None => (ActRecord::well(0), Instant::now()),
        };
        let took = at.saturating_duration_since(run.start).as_millis();
        let went = ActRecord {
            ms: u64::try_from(took).unwrap_or(u64::MAX),
            sandbox: run.sandbox.map(str::to_owned),
            ..went
        };
        self.complete(run.begun, &went)
    }

    /// Writes the receipt for the start of an act. The act is done only afterwards.
    fn begin(&self, act: &Act) -> Result<BegunReceipt, StoreError> {
        let what = (act.permission().as_str(), &*act.detail());
        let identity = self.grant.identity();
        self.approvals.begin(identity, what, &self.redactor)
    }

    fn complete(&self, begun: BegunReceipt, went: &ActRecord) -> Result<(), StoreError> {
        let receipt = self.approvals.complete(begun, went, &self.redactor)?;
        self.receipts.lock().push(receipt);
        Ok(())
    }

    fn refuse(&self, act: &Act, reason: String) -> Result<(), StoreError> {
        let kind = act.permission().as_str();
        self.record(kind, &act.detail(), &ActRecord::refused(reason))
    }

    fn write_refusals(&self) -> Result<(), StoreError> {
        let waiting = self.refusals.lock().take(Instant::now());
        self.append(&waiting)
    }

    fn append(&self, drafts: &[NewReceipt]) -> Result<(), StoreError> {
        let written = self.approvals.write(drafts)?;
        let mut receipts = self.receipts.lock();
        written.into_iter().for_each(|one| receipts.push(one));
        Ok(())
    }
}

impl Drop for GrantedSkill {
    fn drop(&mut self) {
        // An activation that ended normally has done this already and reported errors.
        self.end().ok();
    }
}

/// A child whose end is always detected.
struct WatchedRun {
    child: Option<Box<dyn LiveChild>>,
    ended: Arc<Guarded<Option<(ChildEnd, Instant)>>>,
}

impl LiveChild for WatchedRun {
    fn end(mut self: Box<Self>, patience: std::time::Duration) -> ChildEnd {
        let end = match self.child.take() {
            Some(child) => child.end(patience),
            None => was_ended(),
        };
        *self.ended.lock() = Some((end.clone(), Instant::now()));
        end
    }
}

impl Drop for WatchedRun {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            drop(child);
            *self.ended.lock() = Some((was_ended(), Instant::now()));
        }
    }
}

fn was_ended() -> ChildEnd {
    ChildEnd {
        by_itself: false,
        how: ChildEndCause::Unobserved("it was stopped".to_owned()),
        undone: Vec::new(),
        replaced: Vec::new(),
    }
}

fn ended(end: &ChildEnd) -> ActRecord {
    let mut reasons = Vec::new();
    if !end.by_itself || !end.how.is_success() {
        reasons.push(end.how.to_string());
    }
    if !end.undone.is_empty() {
        reasons.push(undone(&end.undone));
    }
    let mut went = match reasons.as_slice() {
        [] => ActRecord::well(0),
        _ => ActRecord::badly(ReceiptOutcome::Error, String::new(), 0),
    };
    reasons.extend(replaced(&end.replaced));
    went.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    went
}

fn elapsed(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Protected files that a child created or changed, for display.
pub(crate) fn undone(places: &[UndonePlace]) -> String {
    let places = metier_host::child::undone(places);
    format!("it created protected files, which were renamed: {places}")
}

/// Whether a pipeline of a body failed although its last program succeeded: it has no output, but error messages.
pub(crate) fn failed_in_pipeline(act: &Act, ended: &ChildOutcome) -> bool {
    let Act::Line(line) = act else {
        return false;
    };
    let is_blank = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_whitespace);
    line.within == LineContext::Skill
        && line.is_pipeline()
        && ended.exit == Exit::Code(0)
        && is_blank(&ended.stdout)
        && !is_blank(&ended.stderr)
}

/// Protected files that were replaced while a child ran, for display.
fn replaced(places: &[PathBuf]) -> Option<String> {
    let names = places.iter().map(|place| place.display().to_string());
    let names = names.collect::<Vec<_>>().join(", ");
    (!places.is_empty()).then(|| {
        format!("another program replaced protected files while it ran, and it may have changed them since; check {names}")
    })
}

fn child(ended: &ChildOutcome) -> ActRecord {
    let mut reasons = Vec::new();
    if ended.exit != Exit::Code(0) {
        reasons.push(ended.exit.to_string());
    }
    if ended.survivors_killed {
        reasons.push("it left processes running, which were killed".to_owned());
    }
    if !ended.undone.is_empty() {
        reasons.push(undone(&ended.undone));
    }
    reasons.extend(replaced(&ended.replaced));
    ActRecord {
        outcome: Some(match ended.exit {
            Exit::Code(0) if ended.undone.is_empty() => ReceiptOutcome::Ok,
            Exit::TimedOut => ReceiptOutcome::Timeout,
            _ => ReceiptOutcome::Error,
        }),
        reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
        ms: ended.ms,
        sandbox: Some(ActExecutor::confinement(ended).to_owned()),
    }
}
