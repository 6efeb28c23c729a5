//! Verdicts on skills: from the cache if the bytes are known, else by a scan; the user's acceptance overrides them.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use metier_catalog::{
    Catalog, CatalogEntry, Fingerprint, NotedVerdict, ReadError, SkillLocation, Snapshot,
    VerdictKey, Verdicts,
};
use metier_model::{Digest, text::shell_word};
use metier_policy::scan_reason;
use metier_runtime::{
    AdmittedSnapshot, Inventory, RuleProblem, Rulebook, Status,
    scanning::{self, KnownVerdict, ScanConsequence, Scanned, Scanner},
};
use metier_scan::{ScanReport, Unread, Verdict};
use metier_store::Accepted;

use crate::{
    Error, NoticeLevel, TaskProgress, WorkKind,
    learned_verdicts::LearnedVerdicts,
    text::{count, one_line},
    workspace::Workspace,
};

/// How many times a skill is read if its files change meanwhile.
const SNAPSHOT_TRIES: usize = 3;

/// How skills are scanned in this run, and what is known from earlier ones.
pub(crate) struct ScanGate {
    workspace: Workspace,
    facts: Arc<GateFacts>,
}

/// Everything except its bytes that decides about a skill. A long-running program builds it once for each list.
pub(crate) struct GateFacts {
    scanner: Scanner,
    problems: Vec<RuleProblem>,
    verdicts: Verdicts,
    /// Verdicts that are not written yet.
    learned: Option<Arc<LearnedVerdicts>>,
    accepted: OnceLock<BTreeMap<String, Accepted>>,
    /// The bytes that installed skills must have.
    #[cfg(feature = "hub")]
    pins: OnceLock<crate::distribution::SkillPins>,
}

/// Why the content of a skill is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScanRefusal {
    /// It can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its files change while they are read.
    #[error("its files change while they are read")]
    Unsettled,
    /// The scanner blocks it.
    #[error("{0}")]
    Blocked(String),
    /// Its bytes are not those that were installed: the message and the hint.
    #[cfg(feature = "hub")]
    #[error("{0}")]
    Changed(String, String),
}

/// A skill that was scanned just now, or whose exact bytes were scanned before.
pub(crate) enum CheckedSkill {
    Scanned(Scanned),
    Cached(Snapshot, KnownVerdict),
}

/// A verdict on a skill, to be stored.
pub(crate) struct VerdictNote<'e> {
    pub(crate) entry: &'e CatalogEntry,
    pub(crate) digest: Digest,
    /// The state of the files that have this digest; `None` for a built-in skill.
    pub(crate) state: Option<Fingerprint>,
    pub(crate) known: &'e KnownVerdict,
    /// Whether it was scanned, and not found in the cache.
    pub(crate) fresh: bool,
}

/// A skill that was inspected just now: its bytes and the verdict on them.
pub(crate) struct CheckedVerdict {
    pub(crate) digest: Option<Digest>,
    /// The state of the files that have this digest.
    state: Option<Fingerprint>,
    pub(crate) known: KnownVerdict,
    /// Whether it was scanned, and not found in the cache.
    fresh: bool,
}

impl GateFacts {
    /// Facts with the rules of the skills of a catalog.
    pub(crate) fn new(workspace: &Workspace, catalog: &Catalog, verdicts: Verdicts) -> Self {
        let folder = workspace.config.scan.rules_dir.as_deref();
        let folder = folder.map(|folder| workspace.expand(folder));
        let Rulebook { patterns, problems } =
            Rulebook::gather(folder.as_deref(), catalog, &workspace.config);
        let live = workspace.live.as_ref();
        Self {
            scanner: Scanner::new(&workspace.config, patterns, workspace.machine.stamp),
            problems,
            verdicts,
            learned: live.map(|live| Arc::clone(&live.learned)),
            accepted: OnceLock::new(),
            #[cfg(feature = "hub")]
            pins: OnceLock::new(),
        }
    }

    /// The verdict of an earlier scan of these bytes.
    fn remembered(&self, entry: &CatalogEntry, digest: Digest) -> Option<KnownVerdict> {
        self.noted(entry, digest).and_then(KnownVerdict::from_note)
    }

    /// [`Self::remembered`] in the form in which it is kept.
    fn noted(&self, entry: &CatalogEntry, digest: Digest) -> Option<NotedVerdict> {
        let (name, rules) = (entry.name(), self.scanner.identity());
        self.verdicts.find(digest, rules, &name).or_else(|| {
            let digest = digest.0;
            let learned = self.learned.as_ref()?;
            learned.find(VerdictKey { digest, rules }, &name)
        })
    }
}

impl ScanGate {
    /// A gate that decides with these facts.
    pub(crate) fn new(workspace: &Workspace, facts: Arc<GateFacts>) -> Self {
        Self {
            workspace: workspace.clone(),
            facts,
        }
    }

    /// Mistakes in the user's own rules are errors; those of a skill's rules are warnings.
    pub(crate) fn check_rules(&self) -> Result<(), Error> {
        for problem in &self.facts.problems {
            if problem.own {
                return Err(Error::broken("rule", problem.message.clone())
                    .path(&problem.file)
                    .line(problem.line)
                    .hint("fix the rule, or see `metier config skills.scan.rules_dir`"));
            }
            let (file, message) = (problem.file.to_string_lossy(), &problem.message);
            let line = format!(
                "{}: a rule for the scanner is not used: {}",
                one_line(&file),
                one_line(message)
            );
            self.workspace.notices.notice(NoticeLevel::Warning, &line);
        }
        Ok(())
    }

    #[cfg(feature = "run")]
    pub(crate) fn problems(&self) -> &[RuleProblem] {
        &self.facts.problems
    }

    /// The user's acceptance of these bytes. The database is opened only if it is needed; one that can't be read has
    /// accepted nothing.
    pub(crate) fn accepted(&self, digest: Digest) -> Option<&Accepted> {
        let all = self.facts.accepted.get_or_init(|| {
            let store = self.workspace.existing_store().ok().flatten();
            let all = store.and_then(|store| store.all_accepted().ok());
            all.unwrap_or_default()
                .into_iter()
                .map(|accepted| (accepted.digest.clone(), accepted))
                .collect()
        });
        all.get(&digest.to_string())
    }

    /// The verdict of an earlier scan of these bytes, with the user's decisions.
    pub(crate) fn earlier_verdict(&self, entry: &CatalogEntry) -> Option<KnownVerdict> {
        let digest = entry.digest?;
        let known = self.facts.remembered(entry, digest)?;
        Some(self.judged(known, Some(digest)))
    }

    /// The consequence of a verdict, with the user's acceptance.
    pub(crate) fn judged(&self, known: KnownVerdict, digest: Option<Digest>) -> KnownVerdict {
        known.judged(&self.workspace.config, || {
            digest.is_some_and(|digest| self.accepted(digest).is_some())
        })
    }

    /// Scans skills on all cores; `keep` takes what the caller needs from each. With `least`, a skill whose exact bytes have a cached
    /// verdict that is not over it is not scanned again.
    pub(crate) fn scan<T: Send>(
        &self,
        entries: &[&CatalogEntry],
        least: Option<Verdict>,
        keep: impl Fn(&CatalogEntry, Result<CheckedSkill, ReadError>) -> T + Sync,
    ) -> Option<Vec<T>> {
        let facts = &*self.facts;
        let scanner = &facts.scanner;
        let stop = &self.workspace.settings.stop;
        let scanned = self.each(entries, |entry| {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let cached = |least: Verdict| {
                let snapshot = scanner.snapshot(entry).ok()?;
                let known = facts.remembered(entry, snapshot.digest)?;
                (known.verdict <= least).then_some(CheckedSkill::Cached(snapshot, known))
            };
            let done = least.and_then(cached).map(Ok);
            let scan = || scanner.scan(entry).map(CheckedSkill::Scanned);
            Some(keep(entry, done.unwrap_or_else(scan)))
        });
        scanned.into_iter().collect()
    }

    /// Scans bytes that were read before, on a thread with a large stack.
    pub(crate) fn scan_held(
        &self,
        entry: &CatalogEntry,
        snapshot: &Snapshot,
    ) -> (ScanReport, usize) {
        let scanner = &self.facts.scanner;
        let done = AtomicUsize::new(0);
        let scanned = scanning::in_parallel(&[snapshot], 1, &done, |snapshot| {
            scanner.scan_snapshot(entry, snapshot)
        });
        let failed = || (unread("the scanner failed on it".to_owned()), 0);
        scanned.into_iter().next().unwrap_or_else(failed)
    }

    /// All files of a skill, up to the memory limit.
    #[cfg(feature = "run")]
    pub(crate) fn snapshot(&self, entry: &CatalogEntry) -> Result<Snapshot, ReadError> {
        self.facts.scanner.snapshot(entry)
    }

    /// The consequence of a report on these bytes.
    pub(crate) fn known(&self, report: &ScanReport, digest: Option<Digest>) -> KnownVerdict {
        self.judged(KnownVerdict::of(report), digest)
    }

    fn each<T: Send>(
        &self,
        entries: &[&CatalogEntry],
        work: impl Fn(&CatalogEntry) -> T + Sync,
    ) -> Vec<T> {
        self.progressing(entries.len(), |threads, done| {
            scanning::in_parallel(entries, threads, done, |entry| work(entry))
        })
    }

    /// Scans with a progress counter.
    fn progressing<T>(
        &self,
        skills: usize,
        scan: impl FnOnce(usize, &AtomicUsize) -> Vec<T>,
    ) -> Vec<T> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let what = format!("Scanning {}…", count(skills, "skill"));
        let work = Arc::new(TaskProgress::new(WorkKind::Scan, what).of(skills));
        let _shown = self.workspace.notices.progress(&work);
        scan(threads.min(8), &work.done)
    }

    /// Inspects skills as they are now; only those that are not in the cache are scanned. A skill whose scan did not end before `end` has no
    /// verdict.
    fn look_until(
        &self,
        entries: &[&CatalogEntry],
        end: Option<Instant>,
    ) -> Vec<Option<CheckedVerdict>> {
        let looked = match end {
            None => {
                let facts = &*self.facts;
                self.each(entries, |entry| Some(look(facts, entry)))
            }
            Some(end) => {
                let items: Vec<CatalogEntry> =
                    entries.iter().map(|entry| (*entry).clone()).collect();
                let facts = Arc::clone(&self.facts);
                self.progressing(entries.len(), |threads, done| {
                    scanning::in_parallel_until(items, threads, end, done, move |entry| {
                        look(&facts, entry)
                    })
                })
            }
        };
        let judged = looked.into_iter().map(|looked: Option<CheckedVerdict>| {
            let looked = looked?;
            let known = self.judged(looked.known, looked.digest);
            Some(CheckedVerdict { known, ..looked })
        });
        judged.collect()
    }

    /// Inspects the skills of an inventory that could be used, and updates it.
    pub(crate) fn look_at_all(&self, inventory: &mut Inventory) {
        let wanted: Vec<usize> = inventory
            .skills
            .iter()
            .filter(|skill| !matches!(skill.status, Status::Disabled | Status::Invalid))
            .map(|skill| skill.entry)
            .collect();
        self.look_at(inventory, wanted, None);
    }

    /// [`Self::look_at_all`] for some skills, for at most this long; returns how many were not inspected. A scan that takes longer is abandoned.
    pub(crate) fn look_at(
        &self,
        inventory: &mut Inventory,
        wanted: Vec<usize>,
        most: Option<Duration>,
    ) -> usize {
        // Skills of servers are read and scanned when they are loaded.
        let is_here = |entry: &usize| {
            let place = &inventory.catalog.entries[*entry].place;
            !matches!(place, SkillLocation::Remote(_))
        };
        let wanted: Vec<usize> = wanted.into_iter().filter(is_here).collect();
        let entries: Vec<&CatalogEntry> = wanted
            .iter()
            .map(|entry| &inventory.catalog.entries[*entry])
            .collect();
        let end = most.and_then(|most| Instant::now().checked_add(most));
        let looked = self.look_until(&entries, end);
        let known = entries.iter().zip(&looked);
        self.remember(
            &inventory.catalog,
            known.filter_map(|(entry, looked)| {
                let looked = looked.as_ref()?;
                Some(VerdictNote {
                    entry,
                    digest: looked.digest?,
                    state: looked.state,
                    known: &looked.known,
                    fresh: looked.fresh,
                })
            }),
        );
        let mut left = 0;
        for (entry, looked) in wanted.into_iter().zip(looked) {
            match looked {
                Some(looked) => inventory.learn(entry, looked.digest, looked.known),
                None => left += 1,
            }
        }
        left
    }

    /// Keeps verdicts and digests for later lists and loads. What is kept already stays as it is: a list without it is not out of date, and a
    /// skill that is inspected again must not make a long-running program list all of them.
    pub(crate) fn remember<'e>(
        &self,
        catalog: &Catalog,
        found: impl Iterator<Item = VerdictNote<'e>>,
    ) {
        if self.workspace.index().is_none() {
            return;
        }
        let rules = self.facts.scanner.identity();
        let mut verdicts = Vec::new();
        let mut digests: Vec<(PathBuf, Digest, Fingerprint)> = Vec::new();
        for noticed in found {
            let (entry, digest) = (noticed.entry, noticed.digest);
            let note = noticed.known.note(&entry.name());
            if noticed.fresh && self.facts.noted(entry, digest).as_ref() != Some(&note) {
                let digest = digest.0;
                verdicts.push((VerdictKey { digest, rules }, note));
            }
            // A skill that can't be read is never looked up by its digest.
            let is_wanted = entry.digest != Some(digest) && entry.card.is_some();
            if let Some(state) = noticed.state.filter(|_| is_wanted) {
                digests.push((entry.place.path().into_owned(), digest, state));
            }
        }
        match &self.facts.learned {
            Some(learned) => learned.add(verdicts, digests),
            None => self
                .workspace
                .keep_verdicts(&catalog.roots, verdicts, &digests),
        }
    }

    /// Refuses bytes that are not those that were installed.
    #[cfg(feature = "hub")]
    fn check_pin(
        &self,
        catalog: &Catalog,
        entry: &CatalogEntry,
        digest: Digest,
    ) -> Result<(), ScanRefusal> {
        let workspace = &self.workspace;
        let pins = || crate::distribution::SkillPins::read(workspace);
        let pins = self.facts.pins.get_or_init(pins);
        match workspace.pin_problem(pins, &catalog.roots, entry, digest) {
            Some(problem) => Err(ScanRefusal::Changed(problem.message, problem.hint)),
            None => Ok(()),
        }
    }

    /// All files of a skill, of one moment: a folder that changed while it was read is read again, and then refused.
    fn settled_snapshot(&self, entry: &CatalogEntry) -> Result<Snapshot, ScanRefusal> {
        for _ in 0..SNAPSHOT_TRIES {
            let snapshot = self.facts.scanner.snapshot(entry)?;
            let is_settled = match (snapshot.fingerprint, entry.place.fingerprint()) {
                (None, _) => true,
                (Some(then), Ok(now)) => now == Some(then),
                // A folder with this many files has no fingerprint; their digest is that of the bytes that were read.
                (Some(_), Err(ReadError::TooManyFiles { .. })) => true,
                (Some(_), Err(error)) => return Err(error.into()),
            };
            if is_settled {
                return Ok(snapshot);
            }
        }
        Err(ScanRefusal::Unsettled)
    }

    /// Whether bytes with this digest may be returned, by the known verdicts. Nothing is read, scanned or reported.
    pub(crate) fn admits(&self, catalog: &Catalog, entry: &CatalogEntry, digest: Digest) -> bool {
        #[cfg(feature = "hub")]
        if self.check_pin(catalog, entry, digest).is_err() {
            return false;
        }
        #[cfg(not(feature = "hub"))]
        let _ = catalog;
        match self.facts.remembered(entry, digest) {
            Some(known) => self.judged(known, Some(digest)).stance != ScanConsequence::Blocked,
            None => !self.workspace.config.security.scan_on_load,
        }
    }

    /// The bytes of a skill, if exactly these were scanned before and are admitted. Nothing is scanned or reported.
    pub(crate) fn admitted_before(&self, entry: &CatalogEntry) -> Option<AdmittedSnapshot> {
        let snapshot = self.facts.scanner.snapshot(entry).ok()?;
        let digest = snapshot.digest;
        match self.facts.remembered(entry, digest) {
            Some(known) => {
                let known = self.judged(known, Some(digest));
                AdmittedSnapshot::with_verdict(snapshot, &known)
            }
            None => AdmittedSnapshot::without_scan(snapshot, &self.workspace.config).ok(),
        }
    }

    /// The bytes of a skill, if they may be returned: scanned before or now, unless the configuration disables scans on load. A
    /// long-running program keeps them, and uses the kept ones for a skill that can't be read any more.
    pub(crate) fn admit(
        &self,
        catalog: &Catalog,
        entry: &CatalogEntry,
    ) -> Result<AdmittedSnapshot, ScanRefusal> {
        if let Some(held) = self.workspace.substituted(entry) {
            return self.admit_bytes(catalog, entry, Snapshot::clone(held));
        }
        let snapshot = self.settled_snapshot(entry)?;
        let last_good = self.workspace.live.as_ref().map(|live| &live.last_good);
        let last_good = last_good.filter(|kept| !kept.has(&entry.place.path(), snapshot.digest));
        let copy = last_good.map(|last_good| (last_good, snapshot.clone()));
        let admitted = self.admit_bytes(catalog, entry, snapshot)?;
        if let Some((last_good, copy)) = copy {
            last_good.keep(entry, copy);
        }
        Ok(admitted)
    }

    fn admit_bytes(
        &self,
        catalog: &Catalog,
        entry: &CatalogEntry,
        snapshot: Snapshot,
    ) -> Result<AdmittedSnapshot, ScanRefusal> {
        let (digest, state) = (snapshot.digest, snapshot.fingerprint);
        #[cfg(feature = "hub")]
        self.check_pin(catalog, entry, digest)?;
        let remember = |known: &KnownVerdict, fresh| {
            let noticed = VerdictNote {
                entry,
                digest,
                state,
                known,
                fresh,
            };
            self.remember(catalog, std::iter::once(noticed));
        };
        let (snapshot, known) = match self.facts.remembered(entry, digest) {
            Some(known) => {
                remember(&known, false);
                (snapshot, known)
            }
            None => {
                let config = &self.workspace.config;
                let snapshot = match AdmittedSnapshot::without_scan(snapshot, config) {
                    Ok(admitted) => return Ok(admitted),
                    Err(snapshot) => *snapshot,
                };
                let (report, _) = self.scan_held(entry, &snapshot);
                let known = KnownVerdict::of(&report);
                remember(&known, true);
                (snapshot, known)
            }
        };
        let known = self.judged(known, Some(digest));
        let name = entry.name();
        let reason = scan_reason(&name, known.objection());
        if let (ScanConsequence::Warned, Some(reason)) = (known.stance, &reason) {
            let message = one_line(&reason.message);
            let line = format!("skill `{}`: {message}", one_line(&name));
            self.workspace.notices.notice(NoticeLevel::Warning, &line);
        }
        AdmittedSnapshot::with_verdict(snapshot, &known).ok_or_else(|| {
            let message = reason.map_or_else(
                || "the scanner found a threat".to_owned(),
                |reason| reason.message.into(),
            );
            ScanRefusal::Blocked(message)
        })
    }
}

/// A skill as it is now: with the verdict of the cache, or scanned.
fn look(facts: &GateFacts, entry: &CatalogEntry) -> CheckedVerdict {
    let scanner = &facts.scanner;
    let snapshot = match scanner.snapshot(entry) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            return CheckedVerdict {
                digest: None,
                state: None,
                known: KnownVerdict::of(&unreadable(&error)),
                fresh: false,
            };
        }
    };
    let (digest, state) = (snapshot.digest, snapshot.fingerprint);
    let cached = facts.remembered(entry, digest);
    CheckedVerdict {
        digest: Some(digest),
        state,
        fresh: cached.is_none(),
        known: cached
            .unwrap_or_else(|| KnownVerdict::of(&scanner.scan_snapshot(entry, &snapshot).0)),
    }
}

/// The report on a skill that can't be read.
pub(crate) fn unreadable(error: &ReadError) -> ScanReport {
    unread(error.to_string())
}

fn unread(why: String) -> ScanReport {
    ScanReport {
        unread: vec![Unread {
            file: String::new(),
            why,
        }],
        ..ScanReport::default()
    }
}

/// The error for a skill that is withheld.
pub(crate) fn refused(entry: &CatalogEntry, refusal: &ScanRefusal) -> Error {
    let name = entry.name();
    match refusal {
        ScanRefusal::Blocked(why) => Error::unmet("blocked", format!("skill `{name}` is blocked"))
            .skill(&*name)
            .detail(why)
            .hint(format!("metier scan {}", shell_word(&name))),
        #[cfg(feature = "hub")]
        ScanRefusal::Changed(why, hint) => {
            Error::unmet("changed", format!("skill `{name}` is blocked"))
                .skill(&*name)
                .detail(why)
                .hint(hint)
        }
        ScanRefusal::Unsettled => Error::unmet(
            "changing",
            format!("skill `{name}` can't be used: {refusal}"),
        )
        .skill(&*name)
        .path(entry.manifest_path())
        .hint("retry when its files are complete"),
        ScanRefusal::Read(error) => Error::unmet(
            "unreadable",
            format!("skill `{name}` can't be read: {error}"),
        )
        .skill(&*name)
        .path(entry.manifest_path())
        .hint(format!(
            "metier validate {}",
            shell_word(&entry.place.path().to_string_lossy())
        )),
    }
}
