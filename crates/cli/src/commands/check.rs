//! `metier check`

use metier::{
    checking::{CheckOptions, CheckReport, SkillCheck},
    skill::DiagnosticSeverity,
};
use metier_wire::{CheckDocument, CheckSummary, EvalDocument, TestRow};

use super::{
    eval,
    scan::{
        base,
        page::{PageFilter, findings},
    },
    test, validate,
};
use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// Validate, scan and test skills, with their trigger queries
///
/// For maintainers of a repository of skills, for hooks and for CI. A path is a skill's folder, a folder of skills, or any file of a skill:
/// files that belong to no skill are ignored. Tests of a skill that is invalid or blocked are not run. Trigger queries in `evals/` are measured as
/// by `metier eval`; they fail the check only with `--min-hit1`. Exit code 1 when something is wrong.
#[derive(clap::Args)]
pub(crate) struct CheckArgs {
    /// Folders of skills, or files of skills
    #[arg(default_value = ".")]
    path: Vec<String>,
    /// Require exactly the Agent Skills specification
    #[arg(long)]
    strict: bool,
    /// Check only skills that changed since this git revision
    #[arg(long, value_name = "REF")]
    since: Option<String>,
    /// Fail when a smaller fraction of the trigger queries (between 0 and 1) ranks its skill first
    #[arg(long, value_name = "FRACTION", value_parser = eval::part)]
    min_hit1: Option<f64>,
    /// How to print: text, json or sarif
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<CheckFormatArg>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CheckFormatArg {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

pub(crate) fn run(run: &CliRun, args: &CheckArgs) -> Result<Exit, Failure> {
    let options = CheckOptions {
        strict: args.strict,
        since: args.since.clone(),
        min_hit_at_1: args.min_hit1,
    };
    let report = run.check(&args.path, &options)?;
    let output = &run.output;
    let default = match output.is_json() {
        true => CheckFormatArg::Json,
        false => CheckFormatArg::Text,
    };
    match args.format.unwrap_or(default) {
        CheckFormatArg::Json => output.document(&CheckDocument::of(&report))?,
        CheckFormatArg::Sarif => {
            let log = CheckDocument::of(&report).into_sarif(env!("CARGO_PKG_VERSION"), &base(run));
            output.document(&log)?;
        }
        CheckFormatArg::Text => print(&report, output)?,
    }
    Ok(Exit::unmet_if(!report.is_passed()))
}

fn print(report: &CheckReport, output: &Output) -> Result<(), Failure> {
    for skill in &report.skills {
        print_skill(skill, output)?;
    }
    for problem in &report.folder_problems {
        output.report(&format!(
            "{}: {}: {} [{}]\n",
            one_line(&problem.file),
            problem.severity.as_str(),
            one_line(&problem.message),
            problem.code
        ))?;
    }
    print_queries(report, output)?;
    let summary = CheckSummary::of(report);
    let mark = match report.is_passed() {
        true => output.paint("✓", Tone::Good),
        false => output.paint("✗", Tone::Bad),
    };
    let mut parts = vec![format!("{} passed", summary.passed)];
    let mut add = |number: usize, what: &str| {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    };
    add(summary.invalid, "not valid");
    add(summary.blocked, "blocked");
    add(summary.unchanged, "unchanged");
    let tests = match (summary.tests_passed, summary.tests_failed) {
        (0, 0) => "no tests".to_owned(),
        (passed, 0) => format!("{} passed", count(passed, "test")),
        (passed, failed) => format!("{} failed, {passed} passed", count(failed, "test")),
    };
    output.report(&format!(
        "{mark} {}: {}; {tests}\n",
        count(summary.skills, "skill"),
        parts.join(", ")
    ))
}

/// The results of the trigger queries.
fn print_queries(report: &CheckReport, output: &Output) -> Result<(), Failure> {
    let document = EvalDocument::of(&report.queries);
    eval::print_problems(&document, output)?;
    if document.queries.is_empty() {
        return Ok(());
    }
    let mark = match report.is_reached() {
        true => output.paint("✓", Tone::Good),
        false => output.paint("✗", Tone::Bad),
    };
    let summary = &document.summary;
    let mut line = eval::measures(summary);
    if summary.negatives > 0 {
        let fired = count(summary.false_activations, "false activation");
        line.push_str(&format!("; {fired} of {}", summary.negatives));
    }
    output.report(&format!("{mark} {line}\n"))
}

/// The problems of a skill, and a line with the result.
fn print_skill(skill: &SkillCheck, output: &Output) -> Result<(), Failure> {
    let mut page = String::new();
    let diagnostics = skill.entry.diagnostics.iter();
    for diagnostic in
        diagnostics.filter(|one| one.severity > DiagnosticSeverity::Info || output.is_verbose())
    {
        page.push_str(&validate::lines(&skill.entry, diagnostic, output));
    }
    findings(&skill.scan, PageFilter::default(), output, &mut page);
    output.report(&page)?;
    let is_shown = |row: &TestRow| !row.passed || output.is_verbose();
    let rows = skill.tests.iter().cloned().map(TestRow::from);
    for row in rows.filter(is_shown) {
        test::show(&row, output)?;
    }
    let mark = match skill.is_passed() {
        true => output.paint("✓", Tone::Good),
        false => output.paint("✗", Tone::Bad),
    };
    let valid = if skill.is_valid { "valid" } else { "not valid" };
    let failed = skill.tests.iter().filter(|test| test.failure.is_some());
    let tests = match (skill.tests.len(), failed.count()) {
        _ if !skill.is_valid || skill.is_blocked() => "tests not run".to_owned(),
        (0, _) => "no tests".to_owned(),
        (all, 0) => format!("{} passed", count(all, "test")),
        (all, failed) => format!("{failed} of {} failed", count(all, "test")),
    };
    output.report(&format!(
        "{mark} {}: {valid}, scan {}, {tests}\n",
        one_line(&skill.entry.name()),
        skill.scan.verdict().word()
    ))
}
