//! `metier scan`

use std::{
    path::PathBuf,
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use metier_catalog::{Entry, Root};
use metier_model::Source;
use metier_runtime::scanning::{self, Scanned};
use metier_scan::{Finding, Report, Severity, Verdict};
use metier_wire::{ScanDocument, ScannedRow, sarif};

use crate::{
    failure::Failure,
    output::{Output, Tone, count, one_line},
    session::Session,
};

/// Read every byte of a skill and say what is dangerous in it, with the evidence
///
/// What blocks is a chain of evidence: a secret that reaches the network, a download that is run, hidden
/// text that instructs. What a skill is merely able to do is listed, not punished. Exit code 1 when
/// something is found at or over `--fail-on`, or when not everything could be read.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A skill's name or folder, or a folder of skills
    #[arg(value_name = "PATH|NAME", default_value = ".")]
    what: Vec<String>,
    /// How to print: text, json or sarif
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// What makes the command fail
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Critical)]
    fail_on: FailOn,
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

/// A skill and what was found in it.
struct Result_ {
    entry: Entry,
    scanned: Scanned,
}

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    let entries = entries(session, args)?;
    let results = scan_all(session, entries)?;
    let format = args.format.unwrap_or(if session.output.is_json() {
        Format::Json
    } else {
        Format::Text
    });
    match format {
        Format::Json => session.output.document(&document(&results))?,
        Format::Sarif => session
            .output
            .document(&sarif(&document(&results), env!("CARGO_PKG_VERSION")))?,
        Format::Text => session.output.text(&report(&results, session.output))?,
    }
    let fails = results
        .iter()
        .any(|result| fails(&result.scanned.report, args.fail_on));
    Ok(ExitCode::from(u8::from(fails)))
}

fn fails(report: &Report, fail_on: FailOn) -> bool {
    match (fail_on, report.verdict()) {
        (FailOn::Never, _) | (_, Verdict::Clean | Verdict::Info) => false,
        (_, Verdict::Critical | Verdict::Incomplete) => true,
        (fail_on, Verdict::Warning) => fail_on == FailOn::Warning,
    }
}

/// The skills that were named: by path if there is one, else by name.
fn entries(session: &Session<'_>, args: &Args) -> Result<Vec<Entry>, Failure> {
    let (paths, names): (Vec<&String>, Vec<&String>) =
        args.what.iter().partition(|what| is_path(session, what));
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

fn is_path(session: &Session<'_>, what: &str) -> bool {
    what.contains('/') || what == "." || session.machine.work.join(what).exists()
}

/// On all cores; the order is that of the entries.
fn scan_all(session: &Session<'_>, entries: Vec<Entry>) -> Result<Vec<Result_>, Failure> {
    let rules = metier_scan::Rules::default();
    let limits = metier_scan::Limits::default();
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<Scanned, metier_catalog::ReadError>>>> =
        Mutex::new((0..entries.len()).map(|_| None).collect());
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(8)
        .min(entries.len().max(1));
    let work = || {
        while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
            let index = entries
                .iter()
                .position(|other| std::ptr::eq(other, entry))
                .unwrap_or_default();
            let manifest = entry
                .load(session.mode(), u64::MAX)
                .ok()
                .and_then(|(parsed, _)| parsed.manifest);
            let scanned = scanning::scan(entry, manifest.as_ref(), &rules, &limits);
            if let Ok(mut results) = results.lock() {
                results[index] = Some(scanned);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let results = results.into_inner().unwrap_or_default();
    entries
        .into_iter()
        .zip(results)
        .map(|(entry, scanned)| match scanned {
            Some(Ok(scanned)) => Ok(Result_ { entry, scanned }),
            Some(Err(error)) => {
                Err(Failure::unmet("unreadable", error.to_string()).path(entry.place.path()))
            }
            None => Err(Failure::broken(
                "scan",
                "a skill was not scanned".to_owned(),
            )),
        })
        .collect()
}

fn document(results: &[Result_]) -> ScanDocument {
    ScanDocument {
        skills: results
            .iter()
            .map(|result| {
                ScannedRow::of(
                    result.entry.place.path().to_string_lossy().into_owned(),
                    result.entry.name().into_owned(),
                    result.scanned.digest.to_string(),
                    &result.scanned.report,
                    0,
                )
            })
            .collect(),
    }
}

fn report(results: &[Result_], output: &Output) -> String {
    let mut out = String::new();
    for result in results {
        let report = &result.scanned.report;
        for finding in &report.findings {
            if finding.severity > Severity::Info || output.is_verbose() {
                out.push_str(&frame(result, finding, output));
            }
        }
        for unread in &report.unread {
            out.push_str(&format!(
                "{}: not read: {} ({})\n",
                one_line(&result.entry.name()),
                one_line(&unread.file),
                one_line(&unread.why)
            ));
        }
    }
    let worst = results
        .iter()
        .map(|result| result.scanned.report.verdict())
        .max()
        .unwrap_or(Verdict::Clean);
    let sign = if worst >= Verdict::Incomplete {
        output.paint("✗", Tone::Bad)
    } else {
        output.paint("✓", Tone::Good)
    };
    let with = |verdict: Verdict| {
        results
            .iter()
            .filter(|result| result.scanned.report.verdict() == verdict)
            .count()
    };
    let parts: Vec<String> = Verdict::ALL
        .into_iter()
        .rev()
        .map(|verdict| (with(verdict), verdict))
        .filter(|(number, _)| *number > 0)
        .map(|(number, verdict)| format!("{number} {}", verdict.word()))
        .collect();
    out.push_str(&format!(
        "{sign} {}: {}\n",
        count(results.len(), "skill"),
        parts.join(", ")
    ));
    out
}

fn frame(result: &Result_, finding: &Finding, output: &Output) -> String {
    let tone = match finding.severity {
        Severity::Critical => Tone::Bad,
        Severity::Warning => Tone::Warn,
        Severity::Info => Tone::Faint,
    };
    let path = result.entry.place.path().join(&finding.place.file);
    let mut out = format!(
        "{}:{}:{}: {}: {} [{}]\n",
        one_line(&path.to_string_lossy()),
        finding.place.line,
        finding.place.column,
        output.paint(finding.severity.word(), tone),
        one_line(&finding.message),
        finding.rule.id()
    );
    let number = finding.place.line.to_string();
    out.push_str(&format!(
        "  {} {} {}\n",
        output.paint(&number, Tone::Faint),
        output.paint("|", Tone::Faint),
        one_line(&finding.evidence)
    ));
    if let Some(fix) = finding.rule.fix() {
        out.push_str(&format!("  {} {fix}\n", output.paint("hint:", Tone::Note)));
    }
    out
}
