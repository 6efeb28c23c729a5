//! Scans a skill as it is on disk: its files are read once and go to the scanner together with its manifest.
//!
//! A [`Scanner`] holds the rules and limits of this machine, and the findings that the user accepted. Its report on a skill becomes
//! a [`KnownVerdict`], which is small enough to be kept for every skill and sufficient to block one.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use metier_catalog::{
    CatalogEntry, MemoryBudget, NotedVerdict, ReadError, Snapshot, SnapshotContent,
};
use metier_config::{Config, ScanRules, Suppression};
use metier_model::{Backend, DiagnosticCode, Digest, SkillManifest, Strictness, text};
use metier_policy::{ScanEvidence, ScanState, scan_reason};
use metier_scan::{
    DeclaredFacts, FileToScan, Finding, FindingLocation, Pattern, Preset, RuleSet, ScanLimits,
    ScanReport, Unread, Verdict, judge_words, quietly,
};
use metier_sdk::Permission;

pub use metier_scan::suggested;

pub use crate::parallel::{in_parallel, in_parallel_until};

use crate::{
    inventory::{Inventory, Status, status_of},
    log,
};

/// The settings of scans on this machine.
#[derive(Debug, Default)]
pub struct Scanner {
    rules: RuleSet,
    limits: ScanLimits,
    suppress: Vec<Suppression>,
    identity: u64,
}

/// A scanned skill, with the scanned bytes.
#[derive(Debug)]
pub struct Scanned {
    /// The findings, without those that the user accepted.
    pub report: ScanReport,
    /// How many findings the user accepted.
    pub suppressed: usize,
    /// The bytes that were scanned.
    pub snapshot: Snapshot,
}

/// The maximum size of a skill in memory; more is hashed and reported as not read.
const MOST_BYTES: usize = 48 * 1024 * 1024;

/// The maximum size of a file in memory: as large as the largest WebAssembly module that is run (a test of the WebAssembly backend compares
/// them).
pub(crate) const MOST_FILE_BYTES: usize = 32 << 20;

impl Scanner {
    /// A scanner with the settings of the configuration. `stamp` is a number that changes with the program.
    #[must_use]
    pub fn new(config: &Config, patterns: Vec<Pattern>, stamp: u64) -> Self {
        let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        let scan = &config.scan;
        let rules = RuleSet {
            preset: match scan.rules {
                ScanRules::Evidence => Preset::Evidence,
                ScanRules::Seed => Preset::Seed,
            },
            patterns,
        };
        let limits = ScanLimits {
            files: size(scan.max_files),
            file_bytes: size(scan.max_file_bytes),
            ..ScanLimits::default()
        };
        let mut hash = DefaultHasher::new();
        stamp.hash(&mut hash);
        (scan.rules == ScanRules::Seed).hash(&mut hash);
        (limits.files, limits.file_bytes, limits.findings).hash(&mut hash);
        for pattern in &rules.patterns {
            pattern.identity().hash(&mut hash);
        }
        for suppression in &scan.suppress {
            (&suppression.fingerprint, &suppression.digest).hash(&mut hash);
        }
        Self {
            rules,
            limits,
            suppress: scan.suppress.clone(),
            identity: hash.finish(),
        }
    }

    /// The inputs of a verdict besides the skill: program, rules, limits, and accepted findings.
    #[must_use]
    pub fn identity(&self) -> u64 {
        self.identity
    }

    /// All files of a skill, up to the size limit.
    ///
    /// # Errors
    /// When its folder or a file in it can't be read.
    pub fn snapshot(&self, entry: &CatalogEntry) -> Result<Snapshot, ReadError> {
        entry.place.snapshot(MemoryBudget {
            file: self.limits.file_bytes.max(MOST_FILE_BYTES),
            total: MOST_BYTES,
        })
    }

    /// Reads and scans a skill.
    ///
    /// # Errors
    /// When its folder or a file in it can't be read.
    pub fn scan(&self, entry: &CatalogEntry) -> Result<Scanned, ReadError> {
        let snapshot = self.snapshot(entry)?;
        let (report, suppressed) = self.scan_snapshot(entry, &snapshot);
        Ok(Scanned {
            report,
            suppressed,
            snapshot,
        })
    }

    /// Scans bytes that were read before; also returns how many findings the user accepted.
    #[must_use]
    pub fn scan_snapshot(&self, entry: &CatalogEntry, snapshot: &Snapshot) -> (ScanReport, usize) {
        let mut report = guarded(|| self.look(entry, snapshot));
        let digest = snapshot.digest.to_string();
        log::skill_scanned(&entry.name(), &digest, report.findings.len());
        let suppressed = leave_out(&mut report, |finding| {
            let fingerprint = finding.fingerprint();
            let of_this = |suppression: &Suppression| {
                suppression.fingerprint == fingerprint && suppression.digest == digest
            };
            self.suppress.iter().any(of_this)
        });
        (report, suppressed)
    }

    fn look(&self, entry: &CatalogEntry, snapshot: &Snapshot) -> ScanReport {
        let paths: Vec<Cow<'_, str>> = snapshot.files.iter().map(|held| held.path.text()).collect();
        let files: Vec<FileToScan<'_>> = snapshot
            .files
            .iter()
            .zip(&paths)
            .map(|(held, path)| FileToScan {
                path,
                content: content(&held.content),
            })
            .collect();
        let manifest = entry
            .load_held(snapshot, Strictness::Lenient, u64::MAX)
            .ok()
            .and_then(|(parsed, _)| parsed.manifest);
        let card = entry.card.as_ref();
        let name = entry.name();
        let about = DeclaredFacts {
            name: &name,
            description: card.map_or("", |card| &card.description),
            homepage: manifest
                .as_ref()
                .and_then(|manifest| manifest.about.homepage.as_deref())
                .unwrap_or_default(),
            declared: manifest.as_ref().and_then(declared),
            module: manifest.as_ref().and_then(module),
        };
        let mut report = metier_scan::scan(&files, &about, &self.rules, &self.limits);
        let odd = snapshot.files.iter();
        let odd = odd.filter(|held| held.path.as_str().is_none());
        report.unread.extend(odd.map(|held| Unread {
            file: held.path.to_string(),
            why: "its name is not UTF-8, so references to it can't be checked".to_owned(),
        }));
        report
    }
}

/// Removes accepted findings from a report, and returns how many. If there were more findings than are kept, the rest was never
/// reviewed: the scan is then incomplete.
pub fn leave_out(report: &mut ScanReport, known: impl Fn(&Finding) -> bool) -> usize {
    let number = report.without(known);
    if number > 0 && report.more > 0 {
        report.unread.push(Unread {
            file: String::new(),
            why: "there are more findings than are kept".to_owned(),
        });
    }
    number
}

/// A bug in the scanner must not hide a skill, end the program or corrupt its output: the file that it failed on counts as unread.
fn guarded(look: impl FnOnce() -> ScanReport) -> ScanReport {
    quietly(look).unwrap_or_else(|| ScanReport {
        unread: vec![Unread {
            file: String::new(),
            why: "the scanner failed on it, which is a bug in metier".to_owned(),
        }],
        ..ScanReport::default()
    })
}

fn content(held: &SnapshotContent) -> metier_scan::ScannedContent<'_> {
    match held {
        SnapshotContent::Bytes(bytes) => metier_scan::ScannedContent::Bytes(bytes),
        SnapshotContent::Link(target) => match target.as_str() {
            Some(target) => metier_scan::ScannedContent::Link(target),
            None => metier_scan::ScannedContent::Unread("it is a link whose target is not UTF-8"),
        },
        SnapshotContent::Special => {
            metier_scan::ScannedContent::Unread("it is a FIFO, a socket or a device")
        }
        SnapshotContent::Left => {
            metier_scan::ScannedContent::Unread("the skill exceeds the size that is kept in memory")
        }
    }
}

/// The permissions that a manifest declares; `None` if it declares none.
fn declared(manifest: &SkillManifest) -> Option<BTreeSet<Permission>> {
    let declared: BTreeSet<_> = manifest.wants.iter().map(|want| want.permission).collect();
    (!declared.is_empty()).then_some(declared)
}

/// The file that the WebAssembly backend runs.
fn module(manifest: &SkillManifest) -> Option<&str> {
    let path = manifest.code.entrypoint.as_deref().unwrap_or("skill.wasm");
    let path = path.strip_prefix("./").unwrap_or(path);
    (manifest.card.backend == Some(Backend::Wasm)).then_some(path)
}

/// The known result of a skill's scan: the verdict, and the worst finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownVerdict {
    /// The verdict of the scanner.
    pub verdict: Verdict,
    /// Whether the verdict blocks the skill.
    pub stance: ScanConsequence,
    /// The rule of the worst finding; empty when there is none.
    pub rule: Box<str>,
    /// File of the first finding.
    pub file: Box<str>,
    /// Its line; 0 when there is none.
    pub line: u32,
    /// Message of the first finding.
    pub message: Box<str>,
}

/// The consequence of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanConsequence {
    /// The skill has no blocking findings.
    Fine,
    /// It has blocking findings, and the user has accepted it.
    Accepted,
    /// It has blocking findings, but the user chose warnings only.
    Warned,
    /// The skill is blocked.
    Blocked,
}

/// The maximum length of a kept message.
const MOST_MESSAGE: usize = 300;

impl KnownVerdict {
    /// The verdict of a report, before the user's decisions.
    #[must_use]
    pub fn of(report: &ScanReport) -> Self {
        let verdict = report.verdict();
        let short = |text: &str| {
            let text = text::visible(text);
            let cut: String = text.chars().take(MOST_MESSAGE).collect();
            if cut.len() < text.len() {
                format!("{cut}…").into_boxed_str()
            } else {
                cut.into_boxed_str()
            }
        };
        let worst = report
            .findings
            .iter()
            .max_by_key(|finding| finding.severity);
        match (verdict, report.unread.first(), worst) {
            (Verdict::Incomplete, Some(unread), _) => Self::new(
                verdict,
                "".into(),
                short(&unread.file),
                0,
                short(&unread.why),
            ),
            (_, _, Some(worst)) => {
                // Of several equally bad ones, the first.
                let worst = report
                    .findings
                    .iter()
                    .find(|finding| finding.severity == worst.severity)
                    .unwrap_or(worst);
                Self::new(
                    verdict,
                    short(worst.rule.id()),
                    short(&worst.place.file),
                    worst.place.line,
                    short(&worst.message),
                )
            }
            _ => Self::new(verdict, "".into(), "".into(), 0, "".into()),
        }
    }

    fn new(verdict: Verdict, rule: Box<str>, file: Box<str>, line: u32, message: Box<str>) -> Self {
        let blocks = matches!(verdict, Verdict::Critical | Verdict::Incomplete);
        Self {
            verdict,
            stance: if blocks {
                ScanConsequence::Blocked
            } else {
                ScanConsequence::Fine
            },
            rule,
            file,
            line,
            message,
        }
    }

    /// The verdict on the name and description of an unscanned skill. A diagnostic, created when they were read, states that there is a
    /// finding; the words are judged again for its rule.
    #[must_use]
    pub fn of_words(entry: &CatalogEntry) -> Option<Self> {
        let mut diagnostics = entry.diagnostics.iter();
        let noted = diagnostics.find(|noted| noted.code == DiagnosticCode::WordsInstruct)?;
        let found = entry.card.as_ref().and_then(|card| {
            let when = card.when_to_use.as_deref().unwrap_or_default();
            judge_words(&card.name, &card.description, when)
        });
        let (rule, message) = match found {
            Some(found) => (found.rule.into(), found.message.into()),
            None => ("".into(), noted.message.clone()),
        };
        Some(Self::new(
            Verdict::Critical,
            rule,
            noted.file.clone(),
            0,
            message,
        ))
    }

    /// The stored verdict; `None` when this program doesn't know it.
    #[must_use]
    pub fn from_note(noted: NotedVerdict) -> Option<Self> {
        let verdict = Verdict::ALL
            .into_iter()
            .find(|verdict| verdict.word() == &*noted.verdict)?;
        let NotedVerdict {
            rule,
            file,
            line,
            message,
            ..
        } = noted;
        Some(Self::new(verdict, rule, file, line, message))
    }

    /// The stored verdict on a skill with this name.
    #[must_use]
    pub fn note(&self, name: &str) -> NotedVerdict {
        NotedVerdict {
            name: name.into(),
            verdict: self.verdict.word().into(),
            rule: self.rule.clone(),
            file: self.file.clone(),
            line: self.line,
            message: self.message.clone(),
        }
    }

    /// This verdict after the user's decision: `accepted` is called only when the skill would be blocked.
    #[must_use]
    pub fn judged(mut self, config: &Config, accepted: impl FnOnce() -> bool) -> Self {
        if self.stance == ScanConsequence::Blocked {
            self.stance = if accepted() {
                ScanConsequence::Accepted
            } else if config.security.block_critical {
                ScanConsequence::Blocked
            } else {
                ScanConsequence::Warned
            };
        }
        self
    }

    /// For the rules of eligibility.
    #[must_use]
    pub fn scan(&self) -> ScanState<'_> {
        match self.stance {
            ScanConsequence::Fine | ScanConsequence::Accepted | ScanConsequence::Warned => {
                ScanState::Passed
            }
            ScanConsequence::Blocked => self.objection(),
        }
    }

    /// The most severe finding, whether or not it blocks the skill.
    #[must_use]
    pub fn objection(&self) -> ScanState<'_> {
        let evidence = ScanEvidence {
            rule: &self.rule,
            file: &self.file,
            line: self.line,
            message: &self.message,
        };
        match self.verdict {
            Verdict::Critical => ScanState::Critical(evidence),
            Verdict::Incomplete => ScanState::Incomplete(evidence),
            _ => ScanState::Passed,
        }
    }
}

impl Inventory {
    /// Stores the new verdict on an entry, and its digest.
    pub fn learn(&mut self, entry: usize, digest: Option<Digest>, known: KnownVerdict) {
        self.catalog.entries[entry].digest = digest;
        let name = self.catalog.entries[entry].name().into_owned();
        for skill in &mut self.skills {
            if skill.entry != entry {
                continue;
            }
            if !matches!(skill.status, Status::Invalid | Status::Shadowed) {
                skill
                    .reasons
                    .retain(|reason| reason.kind != metier_policy::ReasonKind::Scan);
                skill.reasons.extend(scan_reason(&name, known.scan()));
                skill.status = status_of(&skill.reasons);
            }
            skill.scan = Some(Box::new(known));
            return;
        }
    }
}

/// Lines of a file around a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceExcerpt {
    /// The number of the first line.
    pub first: u32,
    /// The lines of the file, without their ends.
    pub lines: Vec<String>,
}

/// How many lines are shown before and after, and the maximum length of a line.
const AROUND: u32 = 2;
const MOST_LINE: usize = 4096;

/// The lines around a place; `None` when it is not in a text file of the skill, but for example in an archive.
#[must_use]
pub fn frame(snapshot: &Snapshot, place: &FindingLocation) -> Option<SourceExcerpt> {
    let held = snapshot
        .files
        .iter()
        .find(|held| held.path.text() == place.file && place.line > 0)?;
    let SnapshotContent::Bytes(bytes) = &held.content else {
        return None;
    };
    if bytes.contains(&0) {
        return None;
    }
    let first = place.line.saturating_sub(AROUND).max(1);
    let lines: Vec<String> = bytes
        .strip_suffix(b"\n")
        .unwrap_or(bytes)
        .split(|byte| *byte == b'\n')
        .skip(first as usize - 1)
        .take((place.line + AROUND + 1 - first) as usize)
        .map(|line| {
            let line = &line[..line.len().min(MOST_LINE)];
            let line = String::from_utf8_lossy(line);
            line.trim_end_matches('\r').to_owned()
        })
        .collect();
    (lines.len() > (place.line - first) as usize).then_some(SourceExcerpt { first, lines })
}

#[cfg(test)]
#[path = "scanning_tests.rs"]
mod tests;
