//! `metier scan`

mod page;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use metier_catalog::{Catalog, Entry, Fingerprint, Root, Snapshot, read_named};
use metier_model::{Digest, Source, text::shell_word};
use metier_runtime::scanning::{self, Frame, Known, Stance};
use metier_scan::{Finding, Report, Verdict};
use metier_store::{Accepted, Store};
use metier_wire::{AcceptanceRow, Baseline, ScanDocument, ScannedRow, sarif};

use self::page::{SHOWN, report, suggestions, total};
use crate::{
    failure::Failure,
    machine::timestamp,
    opinions,
    output::{Tone, count, one_line},
    screening::{Either, Noticed, Screening, unreadable},
    session::Session,
};

/// Find what is dangerous in a skill, with the evidence
///
/// What blocks is a chain of evidence: a secret that reaches the network, a download that is run, hidden
/// text that instructs. What a skill is merely able to do is listed, not punished. Exit code 1 when
/// something is found at or over `--fail-on`, or when not everything could be read.
///
/// A skill that is blocked can be taken as it is with `--accept`: for exactly these bytes, until one changes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A skill's name or folder, or a folder of skills [default: this folder; with `--root`, all skills there]
    #[arg(value_name = "PATH|NAME")]
    what: Vec<String>,
    /// How to print: text, json or sarif
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// What makes the command fail
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Critical)]
    fail_on: FailOn,
    /// Leave out the findings that this file names
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write what is found into the baseline
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// Show only skills that are blocked, and why
    #[arg(long, conflicts_with_all = ["suggest_permissions", "update_baseline", "accept", "revoke"])]
    bad: bool,
    /// Print the permissions that would cover what the skill was seen to do
    #[arg(long)]
    suggest_permissions: bool,
    /// Accept the skill despite the findings: it is not blocked until a byte changes
    #[arg(long, conflicts_with_all = ["revoke", "baseline", "suggest_permissions"])]
    accept: bool,
    /// Take that back
    #[arg(long, conflicts_with_all = ["baseline", "suggest_permissions"])]
    revoke: bool,
    /// Why, for `--accept` and `--update-baseline`
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// Something that blocks
    Critical,
    /// Something that is worth a look
    Warning,
    /// Nothing
    Never,
}

/// The largest baseline, in bytes.
const MAX_BASELINE: u64 = 64 << 20;

/// A skill and what was found in it.
struct Scan<'a> {
    entry: &'a Entry,
    /// What to type for it: its name if it was asked for by name, else its folder.
    word: String,
    digest: Option<Digest>,
    /// The state of the files that have this digest.
    state: Option<Fingerprint>,
    report: Report,
    /// The lines around each finding.
    frames: Vec<Option<Frame>>,
    suppressed: usize,
    baselined: usize,
    known: Known,
    /// Whether the verdict is from the cache, and the report is empty.
    is_cached: bool,
    acceptance: Option<Accepted>,
}

impl Scan<'_> {
    fn verdict(&self) -> Verdict {
        match self.is_cached {
            true => self.known.verdict,
            false => self.report.verdict(),
        }
    }
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    if args.reason.is_some() && !args.accept && !args.update_baseline {
        return Err(
            Failure::broken("usage", "`--reason` says why something is accepted")
                .hint("add `--accept` or `--update-baseline`"),
        );
    }
    // Skills that bring rules lie in the usual places, wherever the one that is scanned lies.
    let usual = session.catalog().unwrap_or_default();
    let entries = entries(session, args)?;
    if args.revoke {
        return revoke(session, args, &entries);
    }
    let screening = session.screening(&usual);
    screening.check_rules()?;
    let heard = opinions::anybody(&usual);
    let least = args.cached(session, entries.len()).filter(|_| !heard);
    let mut scans = scan_all(&screening, &usual, &entries, least);
    if heard {
        hear(session, &screening, &usual, &mut scans)?;
    }
    for scan in &mut scans {
        let name = scan.entry.name();
        if is_path(session, &name) || args.what.iter().all(|what| **what != *name) {
            let path = scan.entry.place.path();
            scan.word = shell_word(&path.to_string_lossy()).into_owned();
        }
    }
    if args.accept {
        accept(session, args, &mut scans)?;
    }
    if let Some(file) = &args.baseline {
        apply_baseline(session, args, file, &mut scans)?;
    }
    let fails = scans.iter().any(|scan| fails(scan, args.fail_on));
    let verdicts = total(&scans);
    if args.bad {
        scans.retain(|scan| scan.known.stance == Stance::Blocked || is_bad(scan));
    }
    print(session, args, &scans, &verdicts)?;
    Ok(ExitCode::from(u8::from(fails)))
}

impl Args {
    /// In a report about many skills, the verdict up to which nothing is printed of a skill: then its cached verdict is enough.
    fn cached(&self, session: &Session, number: usize) -> Option<Verdict> {
        let is_text = !matches!(self.format, Some(Format::Json | Format::Sarif))
            && !session.output.is_json()
            && !session.output.is_verbose();
        let needs_all = self.baseline.is_some() || self.suggest_permissions || self.accept;
        match self.bad {
            true if is_text && !needs_all => Some(Verdict::Warning),
            false if is_text && !needs_all && number > SHOWN => Some(Verdict::Info),
            _ => None,
        }
    }
}

/// Whether a skill is blocked, unless the user said otherwise.
fn is_bad(scan: &Scan<'_>) -> bool {
    let verdict = scan.verdict();
    matches!(verdict, Verdict::Critical | Verdict::Incomplete) && scan.acceptance.is_none()
}

fn print(session: &Session, args: &Args, scans: &[Scan<'_>], total: &str) -> Result<(), Failure> {
    let format = args.format.unwrap_or(if session.output.is_json() {
        Format::Json
    } else {
        Format::Text
    });
    match format {
        Format::Json => {
            let document = document(scans, args.suggest_permissions);
            session.output.document(&document)?;
        }
        Format::Sarif => {
            let document = document(scans, args.suggest_permissions);
            let log = sarif(&document, env!("CARGO_PKG_VERSION"));
            session.output.document(&log)?;
        }
        Format::Text if args.suggest_permissions => session.output.text(&suggestions(scans))?,
        Format::Text => {
            let page = report(scans, total, args.bad, &session.output);
            session.output.report(&page)?;
        }
    }
    Ok(())
}

fn fails(scan: &Scan<'_>, fail_on: FailOn) -> bool {
    if scan.acceptance.is_some() {
        return false;
    }
    match (fail_on, scan.verdict()) {
        (FailOn::Never, _) | (_, Verdict::Clean | Verdict::Info) => false,
        (_, Verdict::Critical | Verdict::Incomplete) => true,
        (fail_on, Verdict::Warning) => fail_on == FailOn::Warning,
    }
}

/// The skills that were named: by path if there is one, else by name.
fn entries(session: &Session, args: &Args) -> Result<Vec<Entry>, Failure> {
    if args.what.is_empty() && !session.global.root.is_empty() {
        return Ok(session.inventory()?.catalog.entries);
    }
    let here = [".".to_owned()];
    let what = if args.what.is_empty() {
        &here[..]
    } else {
        &args.what
    };
    let (paths, names): (Vec<&String>, Vec<&String>) =
        what.iter().partition(|what| is_path(session, what));
    let mut entries = Vec::new();
    if !paths.is_empty() {
        let roots = paths
            .iter()
            .map(|path| {
                Root::explicit(
                    Source::Inline,
                    session.machine.work.join(PathBuf::from(path)),
                )
            })
            .collect();
        let inventory = session.examine(roots, session.mode());
        let missing = inventory
            .diagnostics
            .iter()
            .find(|diagnostic| diagnostic.severity == metier_model::Severity::Error);
        if let (true, Some(problem)) = (inventory.skills.is_empty(), missing) {
            return Err(
                Failure::unmet("not-found", problem.message.to_string()).path(&*problem.file)
            );
        }
        if inventory.skills.is_empty() {
            return Err(Failure::unmet(
                "skill-file-missing",
                "there is no SKILL.md or SKILL.yaml there",
            )
            .hint("name a skill, its folder, or a folder of skills"));
        }
        entries.extend(inventory.catalog.entries);
    }
    if !names.is_empty() {
        let inventory = session.inventory()?;
        for name in names {
            let skill = super::find(session, &inventory, name)?;
            entries.push(inventory.entry(skill).clone());
        }
    }
    Ok(entries)
}

fn is_path(session: &Session, what: &str) -> bool {
    what.contains('/') || what == "." || session.machine.work.join(what).exists()
}

/// One skill of the usual places, by its name and never by a path: the document, and the same as text.
pub(super) fn named(session: &Session, name: &str) -> Result<(ScanDocument, String), Failure> {
    let inventory = session.inventory()?;
    let entry = inventory.entry(super::find(session, &inventory, name)?);
    let screening = session.screening(&inventory.catalog);
    screening.check_rules()?;
    let one = std::slice::from_ref(entry);
    let scans = scan_all(&screening, &inventory.catalog, one, None);
    let page = report(&scans, &total(&scans), false, &session.output);
    Ok((document(&scans, false), page))
}

/// The order is that of the entries. What was found out is remembered. A skill whose cached verdict is not over `least` is not scanned
/// again, and has an empty report.
fn scan_all<'e>(
    screening: &Screening,
    usual: &Catalog,
    entries: &'e [Entry],
    least: Option<Verdict>,
) -> Vec<Scan<'e>> {
    let all: Vec<&Entry> = entries.iter().collect();
    let scanned = screening.scan(&all, least, |_, scanned| match scanned {
        Ok(Either::Scanned(scanned)) => {
            let frame = |finding: &Finding| scanning::frame(&scanned.snapshot, &finding.place);
            let frames = scanned.report.findings.iter().map(frame).collect();
            let digest = Some((scanned.snapshot.digest, scanned.snapshot.fingerprint));
            (scanned.report, digest, frames, scanned.suppressed, None)
        }
        Ok(Either::Cached(snapshot, known)) => {
            let digest = Some((snapshot.digest, snapshot.fingerprint));
            (Report::default(), digest, Vec::new(), 0, Some(known))
        }
        Err(error) => (unreadable(&error), None, Vec::new(), 0, None),
    });
    let scans: Vec<Scan<'e>> = entries
        .iter()
        .zip(scanned)
        .map(|(entry, (report, digest, frames, suppressed, cached))| {
            let state = digest.and_then(|(_, state)| state);
            let digest = digest.map(|(digest, _)| digest);
            let is_cached = cached.is_some();
            let known = match cached {
                Some(known) => screening.judged(known, digest),
                None => screening.known(&report, digest),
            };
            let accepted = (known.stance == Stance::Accepted)
                .then(|| digest.and_then(|digest| screening.accepted(digest)))
                .flatten();
            Scan {
                entry,
                word: shell_word(&entry.name()).into_owned(),
                digest,
                state,
                report,
                frames,
                suppressed,
                baselined: 0,
                acceptance: accepted.cloned(),
                known,
                is_cached,
            }
        })
        .collect();
    remember(screening, usual, &scans);
    scans
}

/// Adds what skills of the type `security-rule` find, and remembers the verdict that follows from it.
fn hear(
    session: &Session,
    screening: &Screening,
    usual: &Catalog,
    scans: &mut [Scan<'_>],
) -> Result<(), Failure> {
    // The bytes that were scanned, or none: what changed in between was not judged by anybody.
    let snapshots: Vec<Option<Snapshot>> = scans
        .iter()
        .map(|scan| {
            screening
                .snapshot(scan.entry)
                .ok()
                .filter(|held| Some(held.digest) == scan.digest)
        })
        .collect();
    let scanned: Vec<opinions::ScannedSkill<'_>> = scans
        .iter()
        .zip(&snapshots)
        .filter_map(|(scan, snapshot)| {
            Some(opinions::ScannedSkill {
                entry: scan.entry,
                snapshot: snapshot.as_ref()?,
                report: &scan.report,
            })
        })
        .collect();
    let mut found = opinions::of(session, &scanned)?.into_iter();
    for (scan, snapshot) in scans.iter_mut().zip(&snapshots) {
        let Some(snapshot) = snapshot else { continue };
        let added = found.next().unwrap_or_default();
        if added.is_empty() {
            continue;
        }
        scan.report.add(added);
        let findings = scan.report.findings.iter();
        scan.frames = findings
            .map(|finding| scanning::frame(snapshot, &finding.place))
            .collect();
        scan.known = screening.known(&scan.report, scan.digest);
        if scan.known.stance != Stance::Accepted {
            scan.acceptance = None;
        }
    }
    remember(screening, usual, scans);
    Ok(())
}

fn remember(screening: &Screening, usual: &Catalog, scans: &[Scan<'_>]) {
    let found = scans.iter().filter_map(|scan| {
        Some(Noticed {
            entry: scan.entry,
            digest: scan.digest?,
            state: scan.state,
            known: &scan.known,
            fresh: !scan.is_cached,
        })
    });
    screening.remember(usual, found);
}

/// A decision about bytes is made one skill at a time.
fn one_by_one(args: &Args, number: usize) -> Result<(), Failure> {
    if number == args.what.len().max(1) {
        return Ok(());
    }
    let message = format!(
        "{} are meant, and each needs its own decision",
        count(number, "skill")
    );
    Err(Failure::broken("usage", message).hint("name each skill by its name or its folder"))
}

fn accept(session: &Session, args: &Args, scans: &mut [Scan<'_>]) -> Result<(), Failure> {
    one_by_one(args, scans.len())?;
    for scan in scans {
        let name = scan.entry.name();
        let verdict = scan.report.verdict();
        if verdict < Verdict::Incomplete {
            session.output.note(&format!(
                "{} has nothing that would have to be accepted",
                one_line(&name)
            ));
            continue;
        }
        let Some(digest) = scan.digest else {
            let message = format!("skill `{name}` can't be read, so nobody knows what it is");
            return Err(Failure::unmet("unreadable", message).skill(name));
        };
        let accepted = Accepted {
            digest: digest.to_string(),
            skill: name.clone().into_owned(),
            verdict: verdict.word().to_owned(),
            reason: args.reason.clone(),
            at: timestamp(session.machine.now),
        };
        Store::open(database(session)?)?.accept(&accepted)?;
        session.output.note(&format!(
            "{} is accepted as it is; take it back with `metier scan {} --revoke`",
            one_line(&name),
            scan.word
        ));
        scan.acceptance = Some(accepted);
    }
    Ok(())
}

fn revoke(session: &Session, args: &Args, entries: &[Entry]) -> Result<ExitCode, Failure> {
    one_by_one(args, entries.len())?;
    let mut lines = String::new();
    for entry in entries {
        let name = one_line(&entry.name());
        let digest = entry.place.digest().map_err(|error| {
            Failure::unmet("unreadable", error.to_string()).path(entry.place.path())
        })?;
        let removed = match Store::open_existing(database(session)?)? {
            Some(store) => store.take_back(&digest.to_string())?,
            None => false,
        };
        lines.push_str(&if removed {
            format!(
                "{} {name} is not accepted any more\n",
                session.output.paint("✓", Tone::Good)
            )
        } else {
            format!("{name}, as it is now, was not accepted\n")
        });
    }
    session.output.page("message", lines.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn database(session: &Session) -> Result<&Path, Failure> {
    session.machine.database.as_deref().ok_or_else(|| {
        Failure::broken("store", "there is no home directory to remember it in")
            .hint("set METIER_HOME to a folder")
    })
}

/// Leaves out what the baseline holds, or makes the baseline hold what was found.
fn apply_baseline(
    session: &Session,
    args: &Args,
    file: &Path,
    scans: &mut [Scan<'_>],
) -> Result<(), Failure> {
    let path = session.machine.work.join(file);
    let wrong = |why: String| {
        Failure::broken("baseline", format!("the baseline can't be used: {why}"))
            .path(&path)
            .hint("write one with `--update-baseline`")
    };
    let mut baseline = match read_named(&path, MAX_BASELINE) {
        Ok(text) => Baseline::parse(&text).map_err(wrong)?,
        Err(error) if args.update_baseline && error.kind() == std::io::ErrorKind::NotFound => {
            Baseline::default()
        }
        Err(error) => return Err(wrong(error.to_string())),
    };
    if args.update_baseline {
        let names: Vec<String> = scans
            .iter()
            .map(|scan| scan.entry.name().into_owned())
            .collect();
        let all = scans.iter().zip(&names).flat_map(|(scan, name)| {
            let findings = scan.report.findings.iter();
            findings.map(move |finding| (name.as_str(), finding))
        });
        baseline.replace(all, args.reason.as_deref());
        fs::write(&path, baseline.text()).map_err(|error| wrong(error.to_string()))?;
        session.output.note(&format!(
            "{} in the baseline {}",
            count(baseline.len(), "finding"),
            one_line(&path.to_string_lossy())
        ));
    }
    for scan in scans {
        let name = scan.entry.name().into_owned();
        let kept: Vec<bool> = scan
            .report
            .findings
            .iter()
            .map(|finding| !baseline.holds(&name, finding))
            .collect();
        scan.baselined =
            scanning::leave_out(&mut scan.report, |finding| baseline.holds(&name, finding));
        let mut kept = kept.into_iter();
        scan.frames.retain(|_| kept.next().unwrap_or(true));
    }
    Ok(())
}

fn document(scans: &[Scan<'_>], suggest: bool) -> ScanDocument {
    let row = |scan: &Scan<'_>| ScannedRow {
        suppressed: scan.suppressed,
        baselined: scan.baselined,
        acceptance: scan.acceptance.as_ref().map(|accepted| AcceptanceRow {
            reason: accepted.reason.clone(),
            at: accepted.at.clone(),
        }),
        suggested_permissions: suggest.then(|| scanning::suggested(&scan.report.capabilities)),
        ..ScannedRow::of(
            scan.entry.place.path().to_string_lossy().into_owned(),
            scan.entry.name().into_owned(),
            scan.digest.map(|digest| digest.to_string()),
            &scan.report,
        )
    };
    ScanDocument {
        skills: scans.iter().map(row).collect(),
    }
}
