//! `metier scan`

pub(super) mod page;

use std::{
    fs,
    path::{Path, PathBuf},
};

use metier::{
    read_named,
    scans::{ScanConsequence, ScanOptions, ScannedSkill, Verdict, builtin_rules, suggested},
};
use metier_wire::{Baseline, ScanDocument, ScannedRow, sarif};

use self::page::{PageFilter, SHOWN, report, suggestions, total};
use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, count, one_line},
};

/// Find what is dangerous in a skill, with the evidence
///
/// A chain of evidence blocks a skill: a secret that reaches the network, a download that is run, hidden
/// instructions. What a skill is merely able to do is listed and blocks nothing. Exit code 1 when
/// something is found at or above `--fail-on`, or when not everything could be read.
///
/// `--accept` accepts a blocked skill as it is: exactly these bytes, until one of them changes.
#[derive(clap::Args)]
pub(crate) struct ScanArgs {
    /// A skill's name or folder, or a folder of skills [default: this folder; with `--root`, all skills there]
    #[arg(value_name = "PATH|NAME")]
    what: Vec<String>,
    /// How to print: text, json or sarif
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ScanFormatArg>,
    /// What makes the command fail
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t = FailOn::Critical)]
    fail_on: FailOn,
    /// Leave out the findings that this file names
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the findings into the baseline
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// Show only skills that are blocked, and why
    #[arg(long, conflicts_with_all = ["suggest_permissions", "update_baseline", "accept", "revoke"])]
    bad: bool,
    /// Show only findings of this rule or category, such as `exfiltration`; the verdict still covers all findings
    #[arg(long, value_name = "RULE", conflicts_with_all = ["suggest_permissions", "update_baseline", "accept", "revoke"])]
    only: Vec<String>,
    /// Print the permissions that the code of the skill would need
    #[arg(long)]
    suggest_permissions: bool,
    /// Accept the skill despite the findings: it is not blocked until a byte changes
    #[arg(long, conflicts_with_all = ["revoke", "baseline", "suggest_permissions"])]
    accept: bool,
    /// Undo `--accept`
    #[arg(long, conflicts_with_all = ["baseline", "suggest_permissions"])]
    revoke: bool,
    /// Why, for `--accept` and `--update-baseline`
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ScanFormatArg {
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
    /// Something to review
    Warning,
    /// Nothing
    Never,
}

/// The largest baseline, in bytes.
const MAX_BASELINE: u64 = 64 << 20;

pub(crate) fn run(run: &CliRun, args: &ScanArgs) -> Result<Exit, Failure> {
    if args.reason.is_some() && !args.accept && !args.update_baseline {
        return Err(
            Failure::broken("usage", "`--reason` explains an acceptance or a baseline")
                .hint("add `--accept` or `--update-baseline`"),
        );
    }
    if args.revoke {
        return revoke(run, args);
    }
    known_rules(&args.only)?;
    let mut scans = match args.accept {
        true => run.accept(&args.what, args.reason.as_deref())?,
        false => run.scan(&args.what, args.options(run))?,
    };
    if let Some(file) = &args.baseline {
        apply_baseline(run, args, file, &mut scans)?;
    }
    let fails = scans.iter().any(|scan| fails(scan, args.fail_on));
    let verdicts = total(&scans);
    if args.bad {
        scans.retain(|scan| scan.consequence() == ScanConsequence::Blocked || is_bad(scan));
    }
    print(run, args, &scans, &verdicts)?;
    Ok(Exit::unmet_if(fails))
}

/// Refuses a rule or category that does not exist: it would match nothing, and an empty result looks like a clean skill.
fn known_rules(named: &[String]) -> Result<(), Failure> {
    let unknown = named
        .iter()
        .find(|name| !builtin_rules().any(|rule| PageFilter::names(rule.id, name)));
    match unknown {
        None => Ok(()),
        Some(name) => {
            let mut categories: Vec<&str> = builtin_rules()
                .filter_map(|rule| rule.id.split('/').next())
                .collect();
            categories.sort_unstable();
            categories.dedup();
            let name = one_line(name);
            Err(
                Failure::broken("usage", format!("there is no rule `{name}`"))
                    .hint(format!("a rule's id, or one of: {}", categories.join(", "))),
            )
        }
    }
}

impl ScanArgs {
    fn filter(&self) -> PageFilter<'_> {
        PageFilter {
            bad: self.bad,
            only: &self.only,
        }
    }

    /// With many skills, those up to a verdict are not printed. Their cached verdict is then enough.
    fn options(&self, run: &CliRun) -> ScanOptions {
        let is_text = !matches!(
            self.format,
            Some(ScanFormatArg::Json | ScanFormatArg::Sarif)
        ) && !run.output.is_json()
            && !run.output.is_verbose();
        let needs_all =
            self.baseline.is_some() || self.suggest_permissions || !self.only.is_empty();
        let (verdict, cached_over) = match self.bad {
            true => (Verdict::Warning, 0),
            false => (Verdict::Info, SHOWN),
        };
        ScanOptions {
            cached_up_to: (is_text && !needs_all).then_some(verdict),
            cached_over,
        }
    }
}

/// Whether a skill is blocked and not accepted.
fn is_bad(scan: &ScannedSkill) -> bool {
    let verdict = scan.verdict();
    matches!(verdict, Verdict::Critical | Verdict::Incomplete) && scan.acceptance.is_none()
}

fn print(
    run: &CliRun,
    args: &ScanArgs,
    scans: &[ScannedSkill],
    total: &str,
) -> Result<(), Failure> {
    let format = args.format.unwrap_or(if run.output.is_json() {
        ScanFormatArg::Json
    } else {
        ScanFormatArg::Text
    });
    match format {
        ScanFormatArg::Json => {
            let document = document(scans, args);
            run.output.document(&document)?;
        }
        ScanFormatArg::Sarif => {
            let document = document(scans, args);
            let log = sarif(&document, env!("CARGO_PKG_VERSION"), &base(run));
            run.output.document(&log)?;
        }
        ScanFormatArg::Text if args.suggest_permissions => {
            run.output.text(&suggestions(scans))?;
        }
        ScanFormatArg::Text => {
            let page = report(scans, total, args.filter(), &run.output);
            run.output.report(&page)?;
        }
    }
    Ok(())
}

/// The folder that paths in a SARIF log are relative to.
pub(super) fn base(run: &CliRun) -> String {
    run.machine().work.to_string_lossy().into_owned()
}

fn fails(scan: &ScannedSkill, fail_on: FailOn) -> bool {
    if scan.acceptance.is_some() {
        return false;
    }
    match (fail_on, scan.verdict()) {
        (FailOn::Never, _) | (_, Verdict::Clean | Verdict::Info) => false,
        (_, Verdict::Critical | Verdict::Incomplete) => true,
        (fail_on, Verdict::Warning) => fail_on == FailOn::Warning,
    }
}

fn revoke(run: &CliRun, args: &ScanArgs) -> Result<Exit, Failure> {
    let mut lines = String::new();
    for (name, was_accepted) in run.revoke_acceptance(&args.what)? {
        let name = one_line(&name);
        lines.push_str(&match was_accepted {
            true => format!(
                "{} {name} is no longer accepted\n",
                run.output.paint("✓", Tone::Good)
            ),
            false => format!("{name} was not accepted in its current version\n"),
        });
    }
    run.output.page("message", lines.as_bytes())?;
    Ok(Exit::Ok)
}

/// Leaves out the findings of the baseline, or writes the findings into it.
fn apply_baseline(
    run: &CliRun,
    args: &ScanArgs,
    file: &Path,
    scans: &mut [ScannedSkill],
) -> Result<(), Failure> {
    let path = run.machine().work.join(file);
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
        run.output.note(&format!(
            "{} in the baseline {}",
            count(baseline.len(), "finding"),
            one_line(&path.to_string_lossy())
        ));
    }
    for scan in scans {
        let name = scan.entry.name().into_owned();
        scan.leave_out(|finding| baseline.holds(&name, finding));
    }
    Ok(())
}

fn document(scans: &[ScannedSkill], args: &ScanArgs) -> ScanDocument {
    let row = |scan: &ScannedSkill| {
        let mut row = ScannedRow::from(scan);
        if args.suggest_permissions {
            row.suggested_permissions = Some(suggested(&scan.report.capabilities));
        }
        row.findings
            .retain(|finding| args.filter().has_rule(finding.rule()));
        row
    };
    ScanDocument {
        skills: scans.iter().map(row).collect(),
    }
}
