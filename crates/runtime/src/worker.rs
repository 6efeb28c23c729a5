//! One activation: every act is permitted, recorded, done, and recorded as done, in this order.

#[cfg(feature = "wasm")]
mod wasi;

use std::{path::PathBuf, sync::Arc, time::Instant};

use metier_catalog::Snapshot;
use metier_host::{
    backend::{Alive, End, Started},
    child::{Exit, Outcome as Ended, Relay},
    sandbox::UndonePlace,
    world::{Begun, Done, HostEnvironment, Running, SkillInWorld, World, WorldError},
};
use metier_model::Permission;
use metier_policy::{
    Act, ChangePreview, ContentBefore, Grant, PendingAct, Permit, Refusal, Unpermitted, Within,
};
use metier_store::{BegunReceipt, NewReceipt, Outcome, Receipt, StoreError};

use crate::{
    desk::{Desk, Subject, Went},
    guarded::Guarded,
    receipts::{ConnectionReceipts, Heard, RecentReceipts, Refusals},
    redact::Redactor,
};

/// The kind of act that a program of a skill is which stays.
const RUN: &str = "skill:run";

/// A skill with a grant, and the world that it may change.
pub struct Worker {
    desk: Arc<Desk>,
    grant: Arc<Grant>,
    world: World,
    redactor: Redactor,
    /// Which skill works, for questions about what it does.
    skill: SkillAtWork,
    /// Whether the skill still has the bytes that were approved.
    unchanged: Box<dyn Fn() -> bool + Send + Sync>,
    receipts: Guarded<RecentReceipts>,
    refusals: Guarded<Refusals>,
    connections: Arc<ConnectionReceipts>,
    /// Programs that stay, until it is written down how they ended.
    runs: Guarded<Vec<Run>>,
}

/// The skill of a worker.
pub struct SkillAtWork {
    /// Its folder, for people.
    pub place: String,
    /// Its files, as they were scanned.
    pub held: Arc<Snapshot>,
}

/// A program that stays, or stayed.
struct Run {
    begun: BegunReceipt,
    start: Instant,
    sandbox: Option<&'static str>,
    ended: Arc<Guarded<Option<(End, Instant)>>>,
}

/// Why an act was not done.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The grant does not hold it.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// Its files are no longer the approved ones.
    #[error("its files changed after they were scanned; try again")]
    Changed,
    /// The world would not.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A model or another skill returned an error.
    #[error(transparent)]
    Elsewhere(#[from] DelegateError),
    /// It can't be written down; what can't be written down is not done.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a model or another skill did not do what a skill asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct DelegateError {
    /// A stable code, such as `no-model`, which the skill gets with the message.
    pub code: &'static str,
    /// What happened, for the skill.
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

impl Worker {
    /// Creates the worker of one activation.
    ///
    /// # Errors
    /// When temporary folders can't be created.
    pub fn new(
        desk: Arc<Desk>,
        grant: Arc<Grant>,
        host: Arc<HostEnvironment>,
        skill_in_world: SkillInWorld,
        redactor: Redactor,
        skill: SkillAtWork,
        unchanged: Box<dyn Fn() -> bool + Send + Sync>,
    ) -> Result<Self, WorldError> {
        let connections = Arc::new(ConnectionReceipts::new(
            desk.store.lock().path().to_owned(),
            desk.whose(grant.identity()),
            redactor.clone(),
            (desk.clock)(),
        ));
        let log = Arc::clone(&connections);
        Ok(Self {
            desk,
            world: World::new(Arc::clone(&grant), host, skill_in_world, log)?,
            grant,
            redactor,
            skill,
            unchanged,
            receipts: Guarded::default(),
            refusals: Guarded::default(),
            connections,
            runs: Guarded::default(),
        })
    }

    /// Does one thing, if it may.
    ///
    /// # Errors
    /// When it is not permitted, fails, or its receipt can't be written.
    pub fn act(&self, act: &Act) -> Result<Done, Failed> {
        self.act_relayed(act, None)
    }

    /// The same; the output of a script goes to `relay` immediately. That is safe only if there are no secrets to remove from it:
    /// see [`Worker::has_secrets`].
    ///
    /// # Errors
    /// When it is not permitted, fails, or its receipt can't be written.
    pub fn act_relayed(&self, act: &Act, relay: Option<&dyn Relay>) -> Result<Done, Failed> {
        let permit = self.permit(act)?;
        // A question may stay open for minutes: what runs must be what was asked about.
        if act.permission() == Permission::ShellExec && !(self.unchanged)() {
            self.refuse(act, Failed::Changed.to_string())?;
            return Err(Failed::Changed);
        }
        let begun = Begun::write(&permit, |permit| self.begin(permit.act()))?;
        let start = Instant::now();
        let done = self.world.act_relayed(&begun, relay);
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let went = match &done {
            Ok(Done::Child(ended, _)) => {
                self.warn_undone(&ended.undone);
                self.warn_replaced(&ended.replaced);
                match failed_in_pipeline(act, ended) {
                    true => Went {
                        outcome: Some(Outcome::Error),
                        reason: Some("the pipeline printed nothing but errors".to_owned()),
                        ..child(ended)
                    },
                    false => child(ended),
                }
            }
            Ok(_) => Went::well(ms),
            Err(error) if error.is_refusal() => Went::refused(error.to_string()),
            Err(error) => Went::badly(Outcome::Error, error.to_string(), ms),
        };
        self.complete(begun.over(), &went)?;
        if went.outcome.is_none() {
            let delay = self.refusals.lock().hear_tried();
            std::thread::sleep(delay);
        }
        Ok(done?)
    }

    /// Lets something be done elsewhere (a model asked, another skill invoked), if it may.
    ///
    /// # Errors
    /// When it is not permitted, fails, or its receipt can't be written.
    pub fn elsewhere<T>(
        &self,
        act: &Act,
        deed: impl FnOnce() -> Result<T, DelegateError>,
    ) -> Result<T, Failed> {
        self.permit(act)?;
        let begun = self.begin(act)?;
        let start = Instant::now();
        let done = deed();
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let went = match &done {
            Ok(_) => Went::well(ms),
            Err(error) => Went::badly(Outcome::Error, error.to_string(), ms),
        };
        self.complete(begun, &went)?;
        Ok(done?)
    }

    /// The permit for an act, asking if need be; without one that is written down.
    ///
    /// # Errors
    /// When the act is not permitted, or the refusal can't be recorded.
    pub fn permit(&self, act: &Act) -> Result<Permit, Failed> {
        let answers = self.desk.session_answers();
        let permitted = self
            .grant
            .permit_or_ask(act.clone(), answers, &self.desk.meter);
        let permitted = match permitted {
            Ok(permit) => Ok(permit),
            Err(Unpermitted::Refused(refusal)) => Err(refusal),
            Err(Unpermitted::Pending(pending)) => {
                let subject = Subject {
                    identity: self.grant.identity(),
                    place: &self.skill.place,
                    held: &self.skill.held,
                };
                self.desk
                    .ask_about(&subject, &self.grant, self.with_preview(*pending))?
            }
        };
        if let Err(refusal) = &permitted {
            self.refuse(act, refusal.message.clone())?;
        }
        Ok(permitted?)
    }

    /// A pending write with what it would change, for the user.
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

    /// The world that the skill can change with permits.
    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    /// Writes down how programs that stayed have ended, and floods of refusals.
    ///
    /// # Errors
    /// When a receipt can't be written.
    pub fn settle(&self) -> Result<(), StoreError> {
        let (over, on): (Vec<Run>, Vec<Run>) = self
            .runs
            .take()
            .into_iter()
            .partition(|run| run.ended.lock().is_some());
        self.runs.lock().extend(on);
        let all = over.into_iter().map(|run| self.complete_run(run));
        let written = all.fold(Ok(()), Result::and);
        written.and(self.write_refusals())
    }

    /// The activation is over: whatever stayed has ended with it, and floods of refusals are written.
    ///
    /// # Errors
    /// When that can't be written down.
    pub fn end(&self) -> Result<(), StoreError> {
        let runs = self.runs.take();
        let all = runs.into_iter().map(|run| self.complete_run(run));
        let written = all.fold(Ok(()), Result::and);
        written.and(self.write_refusals())
    }

    /// Warns the user at once that protected files were restored. The receipt contains the same.
    pub(crate) fn warn_undone(&self, places: &[UndonePlace]) {
        if !places.is_empty() {
            let skill = &self.grant.identity().skill;
            let text = format!("skill `{skill}`: {}", undone(places));
            (self.desk.warn)(&self.redactor.clean(&text));
        }
    }

    /// The same for protected files that were replaced and stay.
    fn warn_replaced(&self, places: &[PathBuf]) {
        if let Some(text) = replaced(places) {
            let text = format!("skill `{}`: {text}", self.grant.identity().skill);
            (self.desk.warn)(&self.redactor.clean(&text));
        }
    }

    /// Writes a receipt for something that is not an act: a call, a hook. Large numbers of refusals are counted instead.
    ///
    /// # Errors
    /// When a receipt can't be written.
    pub fn record(&self, act: &str, detail: &str, went: &Went) -> Result<(), StoreError> {
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

    /// The same for later: [`Worker::keep`] what becomes of it.
    pub(crate) fn draft(&self, act: &str, detail: &str, went: &Went) -> NewReceipt {
        let identity = self.grant.identity();
        self.desk.draft(identity, act, detail, went, &self.redactor)
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

    /// What was written down since this was asked last.
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

    /// A text without the secrets that the skill was given.
    #[must_use]
    pub fn clean(&self, bytes: &[u8]) -> String {
        self.redactor.clean(&String::from_utf8_lossy(bytes))
    }

    /// What was written down so far: the newest, if it is much.
    #[must_use]
    pub fn receipts(&self) -> Vec<Receipt> {
        let of_connections = self.connections.take();
        let mut receipts = self.receipts.lock();
        receipts.append(of_connections);
        receipts.all()
    }

    /// How many there are besides the newest.
    #[must_use]
    pub fn receipts_left_out(&self) -> u64 {
        self.receipts.lock().left_out()
    }

    /// Starts a long-running program after a receipt for its start. Its end gets a receipt in [`Worker::settle`] or [`Worker::end`].
    ///
    /// # Errors
    /// When the receipt can't be written, the skill's files changed, or the program can't be started or sandboxed.
    pub(crate) fn start<T>(
        &self,
        detail: &str,
        what: &T,
        start: impl FnOnce(&World, &Begun<'_, T, BegunReceipt>) -> Result<Running, WorldError>,
    ) -> Result<Started, WorldError> {
        let unwritten = |error: StoreError| WorldError::NotWritten(error.to_string());
        self.settle().map_err(unwritten)?;
        if !(self.unchanged)() {
            return Err(WorldError::Changed);
        }
        let begun = Begun::write(what, |_| self.begin_run(detail))?;
        let since = Instant::now();
        let started = match start(&self.world, &begun) {
            Ok(running) => Started::from(running),
            Err(error) => {
                let went = Went::badly(Outcome::Error, error.to_string(), elapsed(since));
                self.complete(begun.over(), &went).map_err(unwritten)?;
                return Err(error);
            }
        };
        let ended = Arc::new(Guarded::new(None));
        self.runs.lock().push(Run {
            begun: begun.over(),
            start: since,
            sandbox: Some(started.confinement),
            ended: Arc::clone(&ended),
        });
        let child = Some(started.child);
        Ok(Started {
            child: Box::new(Watched { child, ended }),
            ..started
        })
    }

    fn begin_run(&self, detail: &str) -> Result<BegunReceipt, WorldError> {
        let identity = self.grant.identity();
        let begun = self.desk.begin(identity, (RUN, detail), &self.redactor);
        begun.map_err(|error| WorldError::NotWritten(error.to_string()))
    }

    fn complete_run(&self, run: Run) -> Result<(), StoreError> {
        let (went, at) = match run.ended.take() {
            Some((end, at)) => (ended(&end), at),
            None => (Went::well(0), Instant::now()),
        };
        let took = at.saturating_duration_since(run.start).as_millis();
        let went = Went {
            ms: u64::try_from(took).unwrap_or(u64::MAX),
            sandbox: run.sandbox.map(str::to_owned),
            ..went
        };
        self.complete(run.begun, &went)
    }

    /// Writes the receipt for the start of an act. The act is done only after that.
    fn begin(&self, act: &Act) -> Result<BegunReceipt, StoreError> {
        let what = (act.permission().as_str(), &*act.detail());
        let identity = self.grant.identity();
        self.desk.begin(identity, what, &self.redactor)
    }

    fn complete(&self, begun: BegunReceipt, went: &Went) -> Result<(), StoreError> {
        let receipt = self.desk.complete(begun, went, &self.redactor)?;
        self.receipts.lock().push(receipt);
        Ok(())
    }

    fn refuse(&self, act: &Act, reason: String) -> Result<(), StoreError> {
        let kind = act.permission().as_str();
        self.record(kind, &act.detail(), &Went::refused(reason))
    }

    fn write_refusals(&self) -> Result<(), StoreError> {
        let waiting = self.refusals.lock().take(Instant::now());
        self.append(&waiting)
    }

    fn append(&self, drafts: &[NewReceipt]) -> Result<(), StoreError> {
        let written = self.desk.write(drafts)?;
        let mut receipts = self.receipts.lock();
        written.into_iter().for_each(|one| receipts.push(one));
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // An activation that ended in order has done this already and reported errors.
        self.end().ok();
    }
}

/// A child whose end is noticed, however it comes about.
struct Watched {
    child: Option<Box<dyn Alive>>,
    ended: Arc<Guarded<Option<(End, Instant)>>>,
}

impl Alive for Watched {
    fn end(mut self: Box<Self>, patience: std::time::Duration) -> End {
        let end = match self.child.take() {
            Some(child) => child.end(patience),
            None => was_ended(),
        };
        *self.ended.lock() = Some((end.clone(), Instant::now()));
        end
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            drop(child);
            *self.ended.lock() = Some((was_ended(), Instant::now()));
        }
    }
}

fn was_ended() -> End {
    End {
        by_itself: false,
        how: "it was stopped".to_owned(),
        undone: Vec::new(),
        replaced: Vec::new(),
    }
}

fn ended(end: &End) -> Went {
    let mut reasons = Vec::new();
    if !end.by_itself || end.how != Exit::Code(0).to_string() {
        reasons.push(end.how.clone());
    }
    if !end.undone.is_empty() {
        reasons.push(undone(&end.undone));
    }
    let mut went = match reasons.as_slice() {
        [] => Went::well(0),
        _ => Went::badly(Outcome::Error, String::new(), 0),
    };
    reasons.extend(replaced(&end.replaced));
    went.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    went
}

fn elapsed(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Protected files that a child created or changed, for people.
pub(crate) fn undone(places: &[UndonePlace]) -> String {
    let places = metier_host::child::undone(places);
    format!("it created protected files, which were renamed: {places}")
}

/// Whether a pipeline of a body came to nothing, though its last program ended well: it has no output, and complaints instead.
pub(crate) fn failed_in_pipeline(act: &Act, ended: &Ended) -> bool {
    let Act::Line(line) = act else {
        return false;
    };
    let is_blank = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_whitespace);
    line.within == Within::Skill
        && line.is_pipeline()
        && ended.exit == Exit::Code(0)
        && is_blank(&ended.stdout)
        && !is_blank(&ended.stderr)
}

/// Protected files that were replaced while a child ran, for people.
fn replaced(places: &[PathBuf]) -> Option<String> {
    let names = places.iter().map(|place| place.display().to_string());
    let names = names.collect::<Vec<_>>().join(", ");
    (!places.is_empty()).then(|| {
        format!("another program replaced protected files while it ran, and it may have changed them since; check {names}")
    })
}

fn child(ended: &Ended) -> Went {
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
    Went {
        outcome: Some(match ended.exit {
            Exit::Code(0) if ended.undone.is_empty() => Outcome::Ok,
            Exit::TimedOut => Outcome::Timeout,
            _ => Outcome::Error,
        }),
        reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
        ms: ended.ms,
        sandbox: Some(World::confinement(ended).to_owned()),
    }
}
