//! The skills of a workspace for a long-running program: listed once, and again when something changed.
//!
//! **Problem.** A server that lists ten thousand skills for every request spends a tenth of a second on each; one that keeps a list must never answer
//! from an old one. **Decision.** The kernel queues an event before the write that caused it returns. [`LiveSkills::current`] looks into that queue
//! and lists again only if there is one, so a skill can be used as soon as its file is closed. What can't be watched is listed for each call.
//! A separate thread sets the watches up, waits until changes settle, and reports them to every [`Watch`](crate::Watch).

use std::{
    os::fd::OwnedFd,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use metier_runtime::{Status, finding::SkillFinder};
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::{read, write},
};

use crate::{
    Error, ExposedSkills, Skill, Skills, Workspace,
    last_good::{LastGood, SubstitutedSkills},
    learned_verdicts::{LearnedVerdicts, UnwrittenVerdicts},
    searching::SearchScope,
    watch::{SkillStates, compare, given_out, states},
    watched_folders::{Unwatched, WatchedChanges, WatchedFolders},
    workspace::{KnownSkills, LiveInventory, LiveVersions, VerdictsState},
};

/// How long the first list is awaited before the folders are watched.
const HEAD_START: Duration = Duration::from_millis(250);

/// How long verdicts are gathered before they are written.
const GATHER: Duration = Duration::from_millis(50);

/// The pause between two readings of events, so that a program that writes all the time costs little.
const BREATH: Duration = Duration::from_millis(10);

/// How long the end of a series of changes is awaited.
const MAX_SETTLE: Duration = Duration::from_secs(2);

/// How often the skills are listed without an event although every folder is watched: some file systems report nothing.
const LOOK_AGAIN: Duration = Duration::from_secs(600);

/// The shortest pause between listings where folders can't be watched. It is also at least this many times as long as a listing takes.
const POLL: Duration = Duration::from_secs(2);
const POLL_PART: u32 = 50;

/// The skills of a workspace, always as they are now. Cheap to clone; clones share one list.
///
/// ```no_run
/// # fn main() -> Result<(), metier::Error> {
/// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
/// let live = workspace.live()?;
/// let now = live.current()?;
/// println!("{} skills, listed {} times", now.skills.all().count(), now.generation);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LiveSkills {
    shared: Arc<LiveShared>,
    _ends: Arc<EndsWatching>,
}

/// The skills at one moment, and the workspace of that moment.
///
/// An example is at [`LiveSkills`].
pub struct CurrentSkills {
    /// The workspace at that moment: its methods use [`CurrentSkills::usable`] and list nothing. One that changes something is called on
    /// [`Workspace::reopen`].
    pub workspace: Workspace,
    /// Every skill as it is on the disk.
    pub skills: Skills,
    /// Counts the listings. The same number means the same skills.
    pub generation: u64,
    /// `skills` with the last good version of each broken skill.
    usable: Skills,
    publisher: OnceLock<ExposedSkills>,
    finder: OnceLock<SkillFinder>,
    #[cfg(feature = "agent")]
    last_good: Arc<LastGood>,
    #[cfg(feature = "agent")]
    for_own_agent: Mutex<Option<Skills>>,
}

/// How changes are noticed.
///
/// An example is at [`LiveSkills::watching`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchState {
    /// The folders are being prepared; until then the skills are listed for each call.
    Starting,
    /// The system reports every change in this many folders.
    Watched(usize),
    /// Not everything can be watched, for this reason: the skills are listed for each call, and every few seconds.
    Polled(String),
    /// `skills.load.watch` is off: the skills are listed for each call, and nothing is reported.
    Off,
}

impl WatchState {
    /// The word in documents.
    ///
    /// ```
    /// assert_eq!(metier::WatchState::Off.as_str(), "off");
    /// ```
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Watched(_) => "watched",
            Self::Polled(_) => "polled",
            Self::Off => "off",
        }
    }
}

struct LiveShared {
    last_good: Arc<LastGood>,
    learned: Arc<LearnedVerdicts>,
    /// The generation of the list that is known to be up to date; 0 if none is.
    certain: Arc<AtomicU64>,
    /// Held while verdicts are written.
    writing: Mutex<()>,
    /// Held while the skills are listed, so that other callers wait for the same list.
    listing: Mutex<Listing>,
    report: Mutex<Report>,
    reported: Condvar,
    /// Wakes the thread up.
    wake: Arc<OwnedFd>,
    is_over: AtomicBool,
}

struct Listing {
    /// The workspace that was opened last.
    workspace: Workspace,
    now: Option<Arc<CurrentSkills>>,
    /// Whether something changed since the last listing.
    is_stale: bool,
    /// Whether there are verdicts that the list does not show. A skill that is used does not need them: its bytes are judged then.
    lacks_verdicts: bool,
    generation: u64,
    judgements: Vec<String>,
    /// The state of the file of verdicts when it was read.
    verdicts: Option<VerdictsState>,
    state: WatchState,
    folders: Option<WatchedFolders>,
    /// Changes that were not reported yet.
    changes: WatchedChanges,
    /// How long the last listing took.
    took: Duration,
}

/// The last report to watches; `None` while the folders are being prepared.
#[derive(Default)]
struct Report {
    states: Option<Arc<SkillStates>>,
    /// The first list, which is returned before the folders are watched; `None` once it was compared.
    first_list: Option<Arc<CurrentSkills>>,
    /// The skills of the first list.
    first: Option<Arc<SkillStates>>,
}

/// Ends the thread when the last handle is dropped.
struct EndsWatching(Arc<LiveShared>);

impl Drop for EndsWatching {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
        self.0.wake();
        // The process may end before the thread wakes up.
        let now = self.0.listing().now.clone();
        self.0.keep_learned(now.as_deref());
    }
}

impl Workspace {
    /// The skills of this workspace for a long-running program. This returns immediately: nothing is listed, and the folders are prepared
    /// on another thread.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let live = workspace.live()?;
    /// for arguments in ["12", "13"] {
    ///     let now = live.current_for("review-pr")?;
    ///     println!("{}", now.workspace.render_for_model(now.usable(), "review-pr", arguments)?.content);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the system has no more threads or file handles.
    pub fn live(&self) -> Result<LiveSkills, Error> {
        let last_good = Arc::<LastGood>::default();
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = Arc::new(eventfd(0, flags).map_err(std::io::Error::from)?);
        let learned = Arc::new(LearnedVerdicts::new(Arc::clone(&wake)));
        let mut workspace = self.clone();
        workspace.live = Some(LiveVersions {
            last_good: Arc::clone(&last_good),
            learned: Arc::clone(&learned),
            published: Arc::default(),
            substituted: Arc::default(),
            known: None,
        });
        let listing = Listing {
            workspace,
            now: None,
            is_stale: true,
            lacks_verdicts: false,
            generation: 0,
            judgements: Vec::new(),
            verdicts: None,
            state: WatchState::Starting,
            folders: None,
            changes: WatchedChanges::anywhere(),
            took: Duration::ZERO,
        };
        let shared = Arc::new(LiveShared {
            last_good,
            learned,
            certain: Arc::default(),
            writing: Mutex::default(),
            listing: Mutex::new(listing),
            report: Mutex::default(),
            reported: Condvar::new(),
            wake,
            is_over: AtomicBool::new(false),
        });
        let watching = Arc::clone(&shared);
        thread::Builder::new()
            .name("metier-watch".to_owned())
            .spawn(move || watching.watch())?;
        Ok(LiveSkills {
            _ends: Arc::new(EndsWatching(Arc::clone(&shared))),
            shared,
        })
    }
}

impl LiveSkills {
    /// The skills as they are now. They are listed again only if something changed, or if not everything can be watched.
    ///
    /// An example is at [`LiveSkills`].
    ///
    /// # Errors
    /// When the configuration or the database can't be read.
    pub fn current(&self) -> Result<Arc<CurrentSkills>, Error> {
        let mut listing = self.shared.listing();
        self.shared.notice(&mut listing);
        match listing.known() {
            Some(now) => Ok(now),
            None => self.shared.list(&mut listing),
        }
    }

    /// [`LiveSkills::current`], but verdicts of the last scans may be missing in the list. For a skill that is used, since its bytes are
    /// judged then, and for requests that don't depend on skills, such as receipts. [`LiveSkills`] has an example of such a list.
    ///
    /// # Errors
    /// As for [`LiveSkills::current`].
    pub fn current_files(&self) -> Result<Arc<CurrentSkills>, Error> {
        let mut listing = self.shared.listing();
        self.shared.notice(&mut listing);
        match listing.known_files() {
            Some(now) => Ok(now),
            None => self.shared.list(&mut listing),
        }
    }

    /// The current list if no listing is needed for it. It never waits. [`LiveSkills`] has an example of such a list.
    #[must_use]
    pub fn current_if_listed(&self) -> Option<Arc<CurrentSkills>> {
        let mut listing = self.shared.listing.try_lock().ok()?;
        self.shared.notice(&mut listing);
        listing.known()
    }

    /// The skills as they were listed last, whatever changed since; `None` if they never were, or are being listed just now. For statistics, not for
    /// answers. [`LiveSkills`] has an example.
    #[must_use]
    pub fn last_listed(&self) -> Option<Arc<CurrentSkills>> {
        let listing = self.shared.listing.try_lock().ok()?;
        listing.now.clone()
    }

    /// [`LiveSkills::current`] to use one skill: if it is not ready by the kept list, the skills are listed again before it is refused. (A program
    /// that it needs may have been installed, where no event reports it.) Scans since then may be missing in the list.
    ///
    /// An example is at [`Workspace::live`].
    ///
    /// # Errors
    /// As for [`LiveSkills::current`].
    pub fn current_for(&self, name: &str) -> Result<Arc<CurrentSkills>, Error> {
        let before = self.shared.listing().generation;
        let now = self.current_files()?;
        let found = now.workspace.lookup(now.usable(), name);
        let is_ready = found.is_ok_and(|skill| skill.status() == Status::Ready);
        match is_ready || now.generation > before {
            true => Ok(now),
            false => self.refresh(),
        }
    }

    /// [`LiveSkills::current`] to look at one skill, whatever its status: the skills are listed again only if there is none of this
    /// name. The example of [`Workspace::live`] does the same for a skill that is used.
    ///
    /// # Errors
    /// As for [`LiveSkills::current`].
    pub fn current_to_show(&self, name: &str) -> Result<Arc<CurrentSkills>, Error> {
        let now = self.current_files()?;
        match now.workspace.lookup(&now.skills, name) {
            Ok(_) => Ok(now),
            Err(_) => self.refresh(),
        }
    }

    /// Lists the skills again, whether or not something changed. Watches report what did.
    ///
    /// An example is at [`LiveSkills`].
    ///
    /// # Errors
    /// As for [`LiveSkills::current`].
    pub fn refresh(&self) -> Result<Arc<CurrentSkills>, Error> {
        let mut listing = self.shared.listing();
        self.shared.notice(&mut listing);
        listing.changes.add(WatchedChanges::anywhere());
        let now = self.shared.list(&mut listing)?;
        self.shared.wake();
        Ok(now)
    }

    /// Writes the verdicts of scans to the cache, for a program that is about to end. Otherwise they are written soon, and when the last clone is dropped.
    ///
    /// An example is at [`LiveSkills`].
    pub fn save_verdicts(&self) {
        let now = self.shared.listing().now.clone();
        self.shared.keep_learned(now.as_deref());
    }

    /// How changes are noticed at the moment.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// if let metier::WatchState::Polled(why) = workspace.live()?.watching() {
    ///     eprintln!("changes are noticed late: {why}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn watching(&self) -> WatchState {
        self.shared.listing().state.clone()
    }

    /// The last report to watches. Waits while the folders are still being prepared.
    pub(crate) fn reported(&self) -> Result<Arc<SkillStates>, Error> {
        self.prepared(|report| report.states.clone())
    }

    /// The skills of the first list. Waits while the folders are still being prepared.
    pub(crate) fn first_given_out(&self) -> Result<Arc<SkillStates>, Error> {
        self.prepared(|report| report.first.clone())
    }

    fn prepared<T>(&self, what: impl Fn(&Report) -> Option<T>) -> Result<T, Error> {
        // An error of the configuration is returned here: the thread would wait for its end.
        self.current()?;
        let mut report = self.shared.report();
        loop {
            if let Some(found) = what(&report) {
                return Ok(found);
            }
            let waited = self.shared.reported.wait(report);
            report = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until the states of the skills differ from these, or the time limit is reached.
    pub(crate) fn await_report(
        &self,
        known: &Arc<SkillStates>,
        timeout: Duration,
    ) -> Option<Arc<SkillStates>> {
        let is_old = |report: &mut Report| match &report.states {
            Some(states) => Arc::ptr_eq(states, known),
            None => true,
        };
        let report = self.shared.report();
        let waited = self
            .shared
            .reported
            .wait_timeout_while(report, timeout, is_old);
        let (mut report, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match is_old(&mut report) {
            true => None,
            false => report.states.clone(),
        }
    }
}

impl CurrentSkills {
    /// The skills for everything that activates or renders one: a skill that was used and can't be read any more is here in its last good version.
    /// An example is at [`Workspace::live`].
    #[must_use]
    pub fn usable(&self) -> &Skills {
        &self.usable
    }

    /// Gives out [`CurrentSkills::usable`] to hosts that verify files. [`ExposedSkills`] has an example.
    ///
    /// # Errors
    /// As for [`ExposedSkills::new`].
    pub fn publisher(&self) -> Result<&ExposedSkills, Error> {
        if let Some(publisher) = self.publisher.get() {
            return Ok(publisher);
        }
        let publisher = ExposedSkills::new(&self.workspace, &self.usable)?;
        Ok(self.publisher.get_or_init(|| publisher))
    }

    /// The skills that a text finds, ready or not, best first: positions in [`CurrentSkills::skills`], with their points. The index is opened once for
    /// each list, and nothing is scanned: a skill without a verdict is searched by name and description.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let now = workspace.live()?.current()?;
    /// for (position, points) in now.search("merge two PDF files", 10) {
    ///     println!("{points:.1} {}", now.skills.inventory().skills[position].entry);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn search(&self, text: &str, limit: usize) -> Vec<(usize, f32)> {
        let finder = self.finder.get_or_init(|| {
            let reading = self.workspace.search_reading();
            let finder = self.workspace.finder(&self.skills, reading);
            // A damaged index is built again.
            let scope = SearchScope::Any(1);
            self.workspace
                .hits(&self.skills, finder, reading, "", scope)
                .1
        });
        let found = finder.find_any(text, limit).unwrap_or_default().skills;
        let found = found.into_iter().map(|one| (one.position, one.hit.points));
        found.collect()
    }

    /// The broken skill as it is on the disk, if its last good version is used instead. [`LiveSkills`] has an example of the list that
    /// contains it.
    #[must_use]
    pub fn broken(&self, skill: &Skill<'_>) -> Option<Skill<'_>> {
        self.workspace.substituted(skill.entry())?;
        let path = skill.path();
        self.skills.all().find(|found| found.path() == path)
    }

    /// The skills for [`Workspace::conversation`](crate::Workspace::conversation), like [`CurrentSkills::usable`]. An example is at
    /// [`Conversation`](crate::agent::Conversation).
    ///
    /// # Errors
    /// When the trusted folders can't be read from the database.
    #[cfg(feature = "agent")]
    pub fn agent_skills(&self) -> Result<Skills, Error> {
        let mut known = lock(&self.for_own_agent);
        if let Some(skills) = &*known {
            return Ok(skills.clone());
        }
        let LiveInventory { found, usable } =
            self.workspace.live_inventory(&self.last_good, true)?;
        let inventory = usable.map_or(found, |(inventory, _)| inventory);
        let skills = Skills::of(Arc::new(inventory));
        Ok(known.insert(skills).clone())
    }
}

impl Listing {
    /// The kept list, if it is known that nothing changed.
    fn known(&self) -> Option<Arc<CurrentSkills>> {
        self.known_files().filter(|_| !self.lacks_verdicts)
    }

    /// The kept list, if it is known that no file changed; it may lack verdicts.
    fn known_files(&self) -> Option<Arc<CurrentSkills>> {
        let is_certain = matches!(self.state, WatchState::Watched(_)) && !self.is_stale;
        self.now.clone().filter(|_| is_certain)
    }

    /// Watches the places of a workspace that was opened again.
    fn follow(&mut self, workspace: &Workspace) {
        let Some(folders) = &mut self.folders else {
            return;
        };
        let places = workspace.watched_places();
        if !folders.has(&places) {
            let watched = folders.follow(places);
            let count = folders.count();
            self.watched(watched, count);
        }
    }

    /// Notes whether every folder is watched.
    fn watched(&mut self, watched: Result<(), Unwatched>, count: usize) {
        match watched {
            Ok(()) => {
                if let WatchState::Watched(folders) = &mut self.state {
                    *folders = count;
                }
            }
            Err(why) => {
                self.folders = None;
                self.state = WatchState::Polled(why.to_string());
            }
        }
    }

    /// The queue of events, which becomes readable when there are changes.
    fn queue(&self) -> Option<Arc<OwnedFd>> {
        self.folders.as_ref().map(WatchedFolders::queue)
    }
}

impl LiveShared {
    /// Reads the queue of events.
    fn notice(&self, listing: &mut Listing) {
        let has_scanned = || listing.workspace.verdicts_state() != listing.verdicts;
        listing.lacks_verdicts |= !self.learned.is_empty() || has_scanned();
        let Some(folders) = &mut listing.folders else {
            return;
        };
        let (changes, watched) = folders.look();
        let count = folders.count();
        listing.watched(watched, count);
        if changes.records && !changes.any {
            // metier writes these records itself, and a list rarely depends on what it writes.
            let judgements = listing.workspace.judgements();
            let is_same = judgements.is_ok_and(|judgements| judgements == listing.judgements);
            if is_same {
                return;
            }
        }
        if changes.any || changes.records {
            listing.is_stale = true;
            self.certain.store(0, Ordering::Release);
            listing.changes.add(changes);
            self.wake();
        }
    }

    fn list(&self, listing: &mut Listing) -> Result<Arc<CurrentSkills>, Error> {
        let start = Instant::now();
        self.keep_learned(listing.now.as_deref());
        self.learned.forget_written();
        let mut workspace = listing.workspace.live_reopened()?;
        listing.follow(&workspace);
        listing.judgements = workspace.judgements()?;
        // Before the verdicts are read: one that is written meanwhile makes the list stale.
        listing.verdicts = workspace.verdicts_state();
        let LiveInventory { found, usable } = workspace.live_inventory(&self.last_good, false)?;
        let found = Arc::new(found);
        let kept = listing.workspace.live.as_ref();
        let published = kept.map(|live| Arc::clone(&live.published));
        let (usable, substituted) = match usable {
            Some((inventory, substituted)) => (Arc::new(inventory), substituted),
            None => (Arc::clone(&found), SubstitutedSkills::default()),
        };
        workspace.live = Some(LiveVersions {
            last_good: Arc::clone(&self.last_good),
            learned: Arc::clone(&self.learned),
            published: published.unwrap_or_default(),
            substituted: Arc::new(substituted),
            known: Some(KnownSkills {
                usable: Arc::clone(&usable),
                generation: listing.generation + 1,
                certain: Arc::clone(&self.certain),
                facts: Arc::default(),
            }),
        });
        listing.generation += 1;
        let now = Arc::new(CurrentSkills {
            workspace: workspace.clone(),
            skills: Skills::of(found),
            generation: listing.generation,
            usable: Skills::of(usable),
            publisher: OnceLock::new(),
            finder: OnceLock::new(),
            #[cfg(feature = "agent")]
            last_good: Arc::clone(&self.last_good),
            #[cfg(feature = "agent")]
            for_own_agent: Mutex::default(),
        });
        listing.workspace = workspace;
        listing.now = Some(Arc::clone(&now));
        listing.is_stale = false;
        listing.lacks_verdicts = false;
        let is_watched = matches!(listing.state, WatchState::Watched(_));
        let certain = if is_watched { listing.generation } else { 0 };
        self.certain.store(certain, Ordering::Release);
        listing.took = start.elapsed();
        if listing.generation == 1 {
            // The first list comes before the watches: a client waits for it.
            self.report().first_list = Some(Arc::clone(&now));
            self.wake();
        }
        Ok(now)
    }

    /// Writes what scans found out. When it returns, nothing is being written either.
    fn keep_learned(&self, now: Option<&CurrentSkills>) {
        let _writing = lock(&self.writing);
        let UnwrittenVerdicts { verdicts, digests } = self.learned.take();
        let Some(now) = now else {
            return;
        };
        let roots = &now.skills.inventory().catalog.roots;
        let verdicts = verdicts.into_iter().collect();
        now.workspace.keep_verdicts(roots, verdicts, &digests);
    }

    /// [`Self::keep_learned`] on another thread, while requests use the list.
    fn keep_learned_soon(&self) {
        if !self.learned.is_empty() {
            self.poll(None, Some(GATHER));
            let now = self.listing().now.clone();
            self.keep_learned(now.as_deref());
        }
    }

    /// The thread that prepares the folders and reports changes.
    fn watch(&self) {
        self.poll(None, Some(HEAD_START));
        self.prepare();
        self.report_changes();
        while self.sleep() && self.settle() {
            self.report_changes();
        }
    }

    /// Watches the folders, and only then lists: a change in between is not missed.
    fn prepare(&self) {
        let workspace = self.listing().workspace.clone();
        let prepared = match workspace.config.load.watch {
            false => None,
            true => Some(WatchedFolders::new().and_then(|mut folders| {
                let watched = folders.follow(workspace.watched_places());
                watched.map(|()| folders)
            })),
        };
        let mut listing = self.listing();
        listing.is_stale = true;
        match prepared {
            None => listing.state = WatchState::Off,
            Some(Ok(folders)) => {
                listing.state = WatchState::Watched(folders.count());
                listing.folders = Some(folders);
            }
            Some(Err(why)) => listing.watched(Err(why), 0),
        }
    }

    /// Waits for changes, or until it is time to list without one; returns whether the program still runs.
    fn sleep(&self) -> bool {
        let start = Instant::now();
        loop {
            let (queue, most) = {
                let listing = self.listing();
                let most = match listing.state {
                    WatchState::Off => None,
                    WatchState::Polled(_) => Some(POLL.max(listing.took * POLL_PART)),
                    WatchState::Starting | WatchState::Watched(_) => Some(LOOK_AGAIN),
                };
                (listing.queue(), most)
            };
            // Events that change no list don't put off the next one.
            let left = most.map(|most| most.saturating_sub(start.elapsed()));
            self.poll(queue.as_deref(), left);
            if self.is_over.load(Ordering::Relaxed) {
                return false;
            }
            self.keep_learned_soon();
            let mut listing = self.listing();
            self.notice(&mut listing);
            if listing.changes.any || listing.lacks_verdicts {
                return true;
            }
            if most.is_some_and(|most| start.elapsed() >= most) {
                listing.changes.add(WatchedChanges::anywhere());
                listing.is_stale = true;
                return true;
            }
            drop(listing);
            self.poll(None, Some(BREATH));
        }
    }

    /// Waits until no more changes arrive; returns whether the program still runs.
    fn settle(&self) -> bool {
        let start = Instant::now();
        while start.elapsed() < MAX_SETTLE {
            self.keep_learned_soon();
            let (queue, quiet) = {
                let mut listing = self.listing();
                self.notice(&mut listing);
                let quiet = listing.workspace.config.load.watch_debounce_ms;
                (listing.queue(), Duration::from_millis(quiet))
            };
            if !self.poll(queue.as_deref(), Some(quiet.min(MAX_SETTLE))) {
                break;
            }
            self.poll(None, Some(BREATH));
        }
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Compares the skills with what was reported last, and reports them if something is different. While they can't be listed, nothing is reported.
    fn report_changes(&self) {
        let (now, changes) = {
            let mut listing = self.listing();
            self.notice(&mut listing);
            let now = match listing.known() {
                Some(now) => Ok(now),
                None => self.list(&mut listing),
            };
            let Ok(now) = now else {
                return;
            };
            let changes = std::mem::replace(&mut listing.changes, WatchedChanges::none());
            (now, changes)
        };
        let before = self.report().states.clone();
        let states = Arc::new(states(&now, before.as_deref(), &changes));
        let is_news = match &before {
            Some(before) => !compare(before, &states).is_empty(),
            None => {
                let first = self.report().first_list.take();
                let first = first.map(|first| given_out(&first, &states));
                let first = first.filter(|first| !compare(first, &states).is_empty());
                self.report().first = Some(first.map_or_else(|| Arc::clone(&states), Arc::new));
                true
            }
        };
        if is_news {
            self.report().states = Some(states);
            self.reported.notify_all();
        }
    }

    /// Waits for an event or for [`LiveShared::wake`]; returns whether there was one before the time was up.
    fn poll(&self, queue: Option<&OwnedFd>, most: Option<Duration>) -> bool {
        let most = most.and_then(|most| Timespec::try_from(most).ok());
        let mut watched = vec![PollFd::new(&self.wake, PollFlags::IN)];
        watched.extend(queue.map(|queue| PollFd::new(queue, PollFlags::IN)));
        let woken = poll(&mut watched, most.as_ref()).unwrap_or(1) > 0;
        read(&self.wake, &mut [0; 8]).ok();
        woken
    }

    fn wake(&self) {
        write(&self.wake, &1_u64.to_ne_bytes()).ok();
    }

    fn listing(&self) -> MutexGuard<'_, Listing> {
        lock(&self.listing)
    }

    fn report(&self) -> MutexGuard<'_, Report> {
        lock(&self.report)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const _: () = {
    const fn is_shareable<T: Send + Sync + Clone>() {}
    is_shareable::<LiveSkills>();
    is_shareable::<Arc<CurrentSkills>>();
};
