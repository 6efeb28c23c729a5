//! `metier eval`

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use metier::evaluation::{EvalOptions, EvalReport};
use metier_wire::{ConfusionRow, EvalDocument, EvalSummary, QueryRow};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// Measure which skills their trigger queries find
///
/// A query names the skill that it should find. Skills ship queries in `evals/*.json` (`[{query, should_trigger}]` or `{evals:
/// [{prompt}]}`); a file that ends in `.tsv` has lines `query<TAB>skill`, with `!` before the name of a skill that must not be found
/// first. Each query is compared with all skills in the folders, by their text and triggers, without a model. By default, a query
/// passes when its skill scores above all others, so name a folder with its neighbours, or use `--installed`.
#[derive(clap::Args)]
pub(crate) struct EvalArgs {
    /// Folders of skills, and `.tsv` files of queries [default: all skills that are found here]
    path: Vec<String>,
    /// A query passes when its skill is among the best K
    #[arg(long, value_name = "K", default_value = "1")]
    top: NonZeroUsize,
    /// Fail when a smaller fraction of the queries (between 0 and 1) ranks its skill first
    #[arg(long, value_name = "FRACTION", value_parser = part)]
    min_hit1: Option<f64>,
    /// Also compare with the skills that are installed
    #[arg(long)]
    installed: bool,
    /// Write the results as JUnit XML into this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// A number between 0 and 1.
pub(super) fn part(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    let number = number.filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "use a number between 0 and 1, as in 0.9".to_owned())
}

pub(crate) fn run(run: &CliRun, args: &EvalArgs) -> Result<Exit, Failure> {
    let options = EvalOptions {
        top: args.top.get(),
        with_installed: args.installed,
    };
    let report = run.evaluate(&args.path, options)?;
    let document = EvalDocument::of(&report);
    let output = &run.output;
    if let Some(file) = &args.junit {
        write_junit(&run.machine().work.join(file), &document)?;
    }
    let is_reached = args.min_hit1.is_none_or(|part| report.reaches(part));
    let exit = Exit::unmet_if(!is_reached || !report.problems.is_empty());
    if output.is_json() {
        output.document(&document)?;
        return Ok(exit);
    }
    print(&document, output)?;
    if let Some(part) = args.min_hit1.filter(|_| !is_reached) {
        let reached = report.quality.hit_at_1();
        let word = output.paint_talk("error:", Tone::Bad);
        output.say(&format!(
            "{word} hit@1 is {reached:.3}, and {part} is required"
        ));
    }
    note_pool(&report, args, output);
    Ok(exit)
}

fn write_junit(file: &Path, document: &EvalDocument<'_>) -> Result<(), Failure> {
    fs::write(file, document.to_junit()).map_err(|error| {
        let message = format!("the results can't be written: {error}");
        Failure::broken("junit", message)
            .path(file)
            .hint("check the file behind `--junit`")
    })
}

/// A number of queries.
pub(super) fn queries(number: usize) -> String {
    match number {
        1 => "1 query".to_owned(),
        number => format!("{number} queries"),
    }
}

fn print(document: &EvalDocument<'_>, output: &Output) -> Result<(), Failure> {
    let is_shown = |query: &&QueryRow<'_>| !query.passed || output.is_verbose();
    for query in document.queries.iter().filter(is_shown) {
        let mark = match query.passed {
            true => output.paint("✓", Tone::Good),
            false => output.paint("✗", Tone::Bad),
        };
        let text = one_line(query.query);
        output.report(&format!("{mark} \"{text}\" {}\n", one_line(&query.told())))?;
    }
    print_problems(document, output)?;
    for skill in &document.skills {
        output.report(&confusion(skill, output))?;
    }
    print_measures(&document.summary, output)
}

/// Files and queries that could not be used.
pub(super) fn print_problems(document: &EvalDocument<'_>, output: &Output) -> Result<(), Failure> {
    for problem in &document.problems {
        let word = output.paint("error:", Tone::Bad);
        let place = match problem.number {
            Some(number) => format!("{}:{number}", problem.file),
            None => problem.file.to_owned(),
        };
        let line = format!("{}: {}", one_line(&place), one_line(problem.message));
        output.report(&format!("{word} {line}\n"))?;
    }
    Ok(())
}

fn print_measures(summary: &EvalSummary, output: &Output) -> Result<(), Failure> {
    if summary.queries > 0 {
        output.report(&format!("{}\n", measures(summary)))?;
    }
    if summary.negatives > 0 {
        output.report(&format!(
            "{} of {} that must not find their skill first\n",
            count(summary.false_activations, "false activation"),
            queries(summary.negatives)
        ))?;
    }
    Ok(())
}

fn confusion(skill: &ConfusionRow<'_>, output: &Output) -> String {
    let name = output.paint(&one_line(skill.name), Tone::Strong);
    let mut parts = Vec::new();
    if skill.queries > 0 {
        parts.push(format!(
            "{} of {} first",
            skill.first,
            queries(skill.queries)
        ));
    }
    for other in skill.lost_to.iter().take(3) {
        parts.push(format!("{} to `{}`", other.queries, one_line(other.name)));
    }
    if skill.negatives > 0 {
        parts.push(format!(
            "{} of {}",
            count(skill.false_activations, "false activation"),
            skill.negatives
        ));
    }
    format!("{name}: {}\n", parts.join(", "))
}

/// The measures in one line.
pub(super) fn measures(summary: &EvalSummary) -> String {
    format!(
        "{} over {}: hit@1 {:.3}, recall@5 {:.3}, recall@10 {:.3}, nDCG@10 {:.3}, MRR {:.3}",
        queries(summary.queries as usize),
        count(summary.searched, "skill"),
        summary.hit_at_1,
        summary.recall_at_5,
        summary.recall_at_10,
        summary.ndcg_at_10,
        summary.mrr
    )
}

fn note_pool(report: &EvalReport, args: &EvalArgs, output: &Output) {
    if report.results.is_empty() && report.problems.is_empty() {
        output.note(
            "no skill has trigger queries; put them into evals/triggers.json (docs/selection.md)",
        );
    } else if report.searched == 1 && !args.installed {
        let word = output.paint_talk("hint:", Tone::Note);
        output.note(&format!(
            "{word} there is no other skill to compare with: name a folder with several skills, or use `--installed`"
        ));
    }
}
