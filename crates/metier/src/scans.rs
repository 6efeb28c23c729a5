//! Scanning skills, and accepting one despite the findings.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use metier_catalog::{Catalog, CatalogEntry, DiscoveryLimits, Fingerprint, Root, Snapshot};
use metier_model::{
    Diagnostic, DiagnosticCode, DiagnosticSeverity, Digest, Source, text::shell_word,
};
use metier_runtime::scanning;

pub use metier_runtime::scanning::{KnownVerdict, ScanConsequence, SourceExcerpt, suggested};
pub use metier_scan::{Finding, FindingSeverity, ScanReport, Unread, Verdict, builtin_rules};
pub use metier_store::Accepted;

use crate::{
    Error, NoticeLevel, Workspace, explain,
    machine::timestamp,
    scan_gate::{CheckedSkill, ScanGate, VerdictNote, unreadable},
    scanner_skills,
    text::{count, one_line},
};

/// Options of [`Workspace::scan`], which has an example. By default every skill is scanned, and every report is complete.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScanOptions {
    /// Reports of skills with a cached verdict up to this one may be empty: their exact bytes were scanned before.
    pub cached_up_to: Option<Verdict>,
    /// That is so only if more skills than this are scanned.
    pub cached_over: usize,
}

/// A skill and what was found in it.
///
/// An example is at [`Workspace::scan`].
pub struct ScannedSkill {
    /// The skill.
    pub entry: CatalogEntry,
    /// How to name it in a command: its name if it was requested by name, else its folder.
    pub word: String,
    /// The digest of the bytes that were scanned; none if they can't be read.
    pub digest: Option<Digest>,
    /// The findings, without those that the user has suppressed.
    pub report: ScanReport,
    /// The lines around each finding.
    pub frames: Vec<Option<SourceExcerpt>>,
    /// Findings that the configuration suppresses.
    pub suppressed: usize,
    /// Findings that [`ScannedSkill::leave_out`] removed.
    pub left_out: usize,
    /// The user's decision to use it despite the findings.
    pub acceptance: Option<Accepted>,
    known: KnownVerdict,
    state: Option<Fingerprint>,
    is_cached: bool,
    /// The bytes, while other skills may have something to add.
    snapshot: Option<Snapshot>,
}

impl ScannedSkill {
    /// The verdict on these bytes.
    ///
    /// An example is at [`Workspace::scan`].
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.is_cached {
            true => self.known.verdict,
            false => self.report.verdict(),
        }
    }

    /// The consequence of the verdict in this configuration: whether the skill is blocked, used with a warning, or accepted by the user.
    ///
    /// The example of [`ScannedSkill::leave_out`] compares it.
    #[must_use]
    pub fn consequence(&self) -> ScanConsequence {
        self.known.stance
    }

    /// Removes findings that are known already, such as those of a baseline. The verdict follows from the rest; what other commands know
    /// about the skill does not change.
    ///
    /// ```no_run
    /// use metier::scans::{ScanConsequence, ScanOptions};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for mut scanned in workspace.scan(&["./skills"], ScanOptions::default())? {
    ///     scanned.leave_out(|finding| finding.place.file.starts_with("examples/"));
    ///     let is_blocked = scanned.consequence() == ScanConsequence::Blocked;
    ///     println!("{}: {}, blocked here: {is_blocked}", scanned.word, scanned.verdict().word());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn leave_out(&mut self, is_known: impl Fn(&Finding) -> bool) {
        let findings = self.report.findings.iter();
        let mut is_kept: Vec<bool> = findings.map(|finding| !is_known(finding)).collect();
        self.left_out += scanning::leave_out(&mut self.report, is_known);
        let mut is_kept = is_kept.drain(..);
        self.frames.retain(|_| is_kept.next().unwrap_or(true));
    }

    fn of(scan_gate: &ScanGate, entry: &CatalogEntry, found: ScanOutcome) -> Self {
        let digest = found.digest.map(|(digest, _)| digest);
        let is_cached = found.cached.is_some();
        let known = match found.cached {
            Some(known) => scan_gate.judged(known, digest),
            None => scan_gate.known(&found.report, digest),
        };
        let accepted = digest.filter(|_| known.stance == ScanConsequence::Accepted);
        let accepted = accepted.and_then(|digest| scan_gate.accepted(digest));
        Self {
            word: shell_word(&entry.name()).into_owned(),
            entry: entry.clone(),
            digest,
            report: found.report,
            frames: found.frames,
            suppressed: found.suppressed,
            left_out: 0,
            acceptance: accepted.cloned(),
            known,
            state: found.digest.and_then(|(_, state)| state),
            is_cached,
            snapshot: found.snapshot,
        }
    }
}

/// The result of one scan.
#[derive(Default)]
struct ScanOutcome {
    report: ScanReport,
    digest: Option<(Digest, Option<Fingerprint>)>,
    frames: Vec<Option<SourceExcerpt>>,
    suppressed: usize,
    cached: Option<KnownVerdict>,
    snapshot: Option<Snapshot>,
}

/// How deep a folder that is scanned may be; paths end before that.
const DEEPEST: usize = 500;
/// How long the search for skills in it may take.
const LONGEST: Duration = Duration::from_secs(3600);

impl Workspace {
    /// Scans skills by name, folder, or folder of skills; without any, the working directory, or with roots in the settings everything
    /// there. Skills of the type `security-rule` add what they find. The verdicts are kept: later lists and loads know them.
    ///
    /// ```no_run
    /// use metier::scans::{ScanOptions, Verdict};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for scanned in workspace.scan(&["./skills"], ScanOptions::default())? {
    ///     if scanned.verdict() == Verdict::Critical {
    ///         println!("{}: {}", scanned.entry.name(), scanned.report.findings[0].message);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill or folder, or when a rule of the user's own is wrong.
    pub fn scan(
        &self,
        what: &[impl AsRef<str>],
        options: ScanOptions,
    ) -> Result<Vec<ScannedSkill>, Error> {
        let what: Vec<&str> = what.iter().map(AsRef::as_ref).collect();
        // Skills with rules are in the usual places, wherever the scanned one is.
        let usual = self.catalog().unwrap_or_default();
        let entries = self.entries_to_scan(&what)?;
        let scan_gate = self.screening(&usual);
        scan_gate.check_rules()?;
        let mut scans = self.scan_entries(&scan_gate, &usual, &entries, options)?;
        for scan in &mut scans {
            let name = scan.entry.name();
            if self.is_path(&name) || what.iter().all(|what| **what != *name) {
                let path = scan.entry.place.path();
                scan.word = shell_word(&path.to_string_lossy()).into_owned();
            }
        }
        Ok(scans)
    }

    /// Scans one skill of the usual places by its name, never by a path.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let scanned = workspace.scan_named("review-pr")?;
    /// # let _ = scanned;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill, or when a rule of the user's own is wrong.
    pub fn scan_named(&self, name: &str) -> Result<ScannedSkill, Error> {
        let inventory = self.inventory()?;
        let entry = inventory.entry(explain::find(self, &inventory, name)?);
        let scan_gate = self.screening(&inventory.catalog);
        scan_gate.check_rules()?;
        let scanned = scan_gate.scan(&[entry], None, |_, scanned| found(scanned, false));
        let scanned = scanned.and_then(|scanned| scanned.into_iter().next());
        let scanned = scanned.ok_or_else(stopped)?;
        let scan = ScannedSkill::of(&scan_gate, entry, scanned);
        remember(&scan_gate, &inventory.catalog, std::slice::from_ref(&scan));
        Ok(scan)
    }

    /// Scans skills and accepts each as it is, despite the findings, until one of its bytes changes. A skill without a critical finding
    /// needs no acceptance and gets none.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// workspace.accept(&["backup"], Some("reviewed: it uploads to our own server"))?;
    /// workspace.revoke_acceptance(&["backup"])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for a scan; when more skills are found than were named, or when one can't be read.
    pub fn accept(
        &self,
        what: &[impl AsRef<str>],
        reason: Option<&str>,
    ) -> Result<Vec<ScannedSkill>, Error> {
        let mut scans = self.scan(what, ScanOptions::default())?;
        one_by_one(what.len(), scans.len())?;
        for scan in &mut scans {
            let name = scan.entry.name();
            let verdict = scan.report.verdict();
            if verdict < Verdict::Incomplete {
                let line = format!("{} needs no acceptance", one_line(&name));
                self.notices.notice(NoticeLevel::Note, &line);
                continue;
            }
            let Some(digest) = scan.digest else {
                let message = format!("skill `{name}` can't be read, so it can't be accepted");
                return Err(Error::unmet("unreadable", message).skill(name));
            };
            let accepted = Accepted {
                digest: digest.to_string(),
                skill: name.clone().into_owned(),
                verdict: verdict.word().to_owned(),
                reason: reason.map(str::to_owned),
                at: timestamp(self.machine.now),
            };
            self.acceptance_database()?;
            self.store()?.accept(&accepted)?;
            let line = format!(
                "{} is accepted as it is; undo with `metier scan {} --revoke`",
                one_line(&name),
                scan.word
            );
            self.notices.notice(NoticeLevel::Note, &line);
            scan.acceptance = Some(accepted);
        }
        Ok(scans)
    }

    /// Revokes the acceptance of skills as they are now: each name, and whether it was accepted.
    ///
    /// An example is at [`Workspace::accept`].
    ///
    /// # Errors
    /// When more skills are found than were named, when one can't be read, or when the database can't be written.
    pub fn revoke_acceptance(
        &self,
        what: &[impl AsRef<str>],
    ) -> Result<Vec<(String, bool)>, Error> {
        let named: Vec<&str> = what.iter().map(AsRef::as_ref).collect();
        let entries = self.entries_to_scan(&named)?;
        one_by_one(what.len(), entries.len())?;
        let revoke = |entry: &CatalogEntry| {
            let digest = entry.place.digest().map_err(|error| {
                Error::unmet("unreadable", error.to_string()).path(entry.place.path())
            })?;
            self.acceptance_database()?;
            let removed = match self.existing_store()? {
                Some(store) => store.take_back(&digest.to_string())?,
                None => false,
            };
            Ok((entry.name().into_owned(), removed))
        };
        entries.iter().map(revoke).collect()
    }

    fn acceptance_database(&self) -> Result<&Path, Error> {
        self.machine.database.as_deref().ok_or_else(|| {
            Error::broken("store", "there is no home directory to store it in")
                .hint("set METIER_HOME to a folder")
        })
    }

    /// The skills that were named: by path if there is one, else by name.
    fn entries_to_scan(&self, what: &[&str]) -> Result<Vec<CatalogEntry>, Error> {
        if what.is_empty() && !self.settings.roots.is_empty() {
            return Ok(self.inventory()?.catalog.entries);
        }
        let what = if what.is_empty() { &["."] } else { what };
        let (paths, names): (Vec<&str>, Vec<&str>) =
            what.iter().partition(|what| self.is_path(what));
        let mut entries = Vec::new();
        if !paths.is_empty() {
            entries.extend(self.entries_in(&paths)?);
        }
        if !names.is_empty() {
            let inventory = self.inventory()?;
            for name in names {
                let skill = explain::find(self, &inventory, name)?;
                entries.push(inventory.entry(skill).clone());
            }
        }
        Ok(entries)
    }

    fn entries_in(&self, paths: &[&str]) -> Result<Vec<CatalogEntry>, Error> {
        let root = |path: &&str| {
            let path = self.machine.work.join(PathBuf::from(path));
            Root::explicit(Source::Inline, path)
        };
        // A named folder is scanned completely: a skill that was not read is not clean.
        let limits = DiscoveryLimits {
            max_skills: usize::MAX,
            max_entries: usize::MAX,
            max_depth: DEEPEST,
            max_root_time: LONGEST,
            ..self.limits()
        };
        let roots = paths.iter().map(root).collect();
        let (inventory, _) = self.examine_within(roots, self.mode(), limits);
        let is_limit = |one: &&Diagnostic| one.code == DiagnosticCode::LimitReached;
        for passed_over in inventory.diagnostics.iter().filter(is_limit) {
            let line = format!("{}: {}", passed_over.file, passed_over.message);
            self.notices.notice(NoticeLevel::Warning, &one_line(&line));
        }
        if !inventory.skills.is_empty() {
            return Ok(inventory.catalog.entries);
        }
        let mut diagnostics = inventory.diagnostics.iter();
        let problem = diagnostics.find(|one| one.severity == DiagnosticSeverity::Error);
        Err(match problem {
            Some(problem) => {
                Error::unmet("not-found", problem.message.to_string()).path(&*problem.file)
            }
            None => Error::unmet(
                "skill-file-missing",
                "there is no SKILL.md or SKILL.yaml there",
            )
            .hint("name a skill, its folder, or a folder of skills"),
        })
    }

    fn is_path(&self, what: &str) -> bool {
        what.contains('/') || what == "." || self.machine.work.join(what).exists()
    }

    /// In the order of the entries. What was found out is remembered.
    pub(crate) fn scan_entries(
        &self,
        scan_gate: &ScanGate,
        usual: &Catalog,
        entries: &[CatalogEntry],
        options: ScanOptions,
    ) -> Result<Vec<ScannedSkill>, Error> {
        let others_scan = scanner_skills::is_any(usual);
        let is_large = entries.len() > options.cached_over;
        let least = options.cached_up_to.filter(|_| is_large && !others_scan);
        let all: Vec<&CatalogEntry> = entries.iter().collect();
        let scanned = scan_gate.scan(&all, least, |_, scanned| found(scanned, others_scan));
        let scanned = scanned.ok_or_else(stopped)?;
        let scans = entries.iter().zip(scanned);
        let scans = scans.map(|(entry, found)| ScannedSkill::of(scan_gate, entry, found));
        let mut scans: Vec<ScannedSkill> = scans.collect();
        remember(scan_gate, usual, &scans);
        if others_scan {
            self.hear_others(scan_gate, usual, &mut scans)?;
        }
        Ok(scans)
    }

    /// Adds the findings of skills of the type `security-rule`, and keeps the verdict that follows.
    fn hear_others(
        &self,
        scan_gate: &ScanGate,
        usual: &Catalog,
        scans: &mut [ScannedSkill],
    ) -> Result<(), Error> {
        let readable = scans.iter().filter_map(|scan| {
            Some(scanner_skills::HeldScan {
                entry: &scan.entry,
                snapshot: scan.snapshot.as_ref()?,
                report: &scan.report,
            })
        });
        let readable: Vec<scanner_skills::HeldScan<'_>> = readable.collect();
        let mut found = scanner_skills::of(self, &readable)?.into_iter();
        for scan in scans.iter_mut() {
            let Some(snapshot) = scan.snapshot.take() else {
                continue;
            };
            let added = found.next().unwrap_or_default();
            if added.is_empty() {
                continue;
            }
            scan.report.add(added);
            scan.frames = frames(&scan.report, &snapshot);
            scan.known = scan_gate.known(&scan.report, scan.digest);
            if scan.known.stance != ScanConsequence::Accepted {
                scan.acceptance = None;
            }
        }
        remember(scan_gate, usual, scans);
        Ok(())
    }
}

fn stopped() -> Error {
    Error::interrupted("stopped; nothing was changed")
}

/// The result of a scan; the bytes are kept only if other skills scan them too.
fn found(
    scanned: Result<CheckedSkill, metier_catalog::ReadError>,
    keep_bytes: bool,
) -> ScanOutcome {
    match scanned {
        Ok(CheckedSkill::Scanned(scanned)) => ScanOutcome {
            frames: frames(&scanned.report, &scanned.snapshot),
            digest: Some((scanned.snapshot.digest, scanned.snapshot.fingerprint)),
            report: scanned.report,
            suppressed: scanned.suppressed,
            cached: None,
            snapshot: keep_bytes.then_some(scanned.snapshot),
        },
        Ok(CheckedSkill::Cached(snapshot, known)) => ScanOutcome {
            digest: Some((snapshot.digest, snapshot.fingerprint)),
            cached: Some(known),
            ..ScanOutcome::default()
        },
        Err(error) => ScanOutcome {
            report: unreadable(&error),
            ..ScanOutcome::default()
        },
    }
}

fn frames(report: &ScanReport, snapshot: &Snapshot) -> Vec<Option<SourceExcerpt>> {
    let findings = report.findings.iter();
    let frames = findings.map(|finding| scanning::frame(snapshot, &finding.place));
    frames.collect()
}

fn remember(scan_gate: &ScanGate, usual: &Catalog, scans: &[ScannedSkill]) {
    let found = scans.iter().filter_map(|scan| {
        Some(VerdictNote {
            entry: &scan.entry,
            digest: scan.digest?,
            state: scan.state,
            known: &scan.known,
            fresh: !scan.is_cached,
        })
    });
    scan_gate.remember(usual, found);
}

/// A decision about bytes is made one skill at a time.
fn one_by_one(named: usize, found: usize) -> Result<(), Error> {
    if found == named.max(1) {
        return Ok(());
    }
    let message = format!(
        "{} were found, and each needs a decision",
        count(found, "skill")
    );
    Err(Error::broken("usage", message).hint("name each skill by its name or its folder"))
}
