//! `metier test`

use metier_wire::{TestDocument, TestRow};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Output, Tone, one_line},
};

/// Run a skill's own tests
///
/// `tests/*.yaml` contain cases (a tool, a workflow, a hook, a scanner, the prompt or a trigger, and what is expected of it),
/// `tests/*.star` functions whose names begin with `test_`. Each test runs in an empty folder that is its project, so
/// permissions inside a project, and programs in the sandbox, are granted without asking. There is no model; network,
/// variables and other skills need permission as always.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A skill, its folder, or a folder of skills
    #[arg(default_value = ".")]
    path: String,
}

pub(crate) fn run(run: &CliRun, args: &Args) -> Result<Exit, Failure> {
    let output = &run.output;
    let (mut rows, mut written) = (Vec::new(), Ok(()));
    run.test(&args.path, &mut |result| {
        let row = TestRow::from(result);
        if written.is_ok() && !output.is_json() {
            written = show(&row, output);
        }
        rows.push(row);
    })?;
    written?;
    let passed = rows.iter().filter(|row| row.passed).count();
    let failed = rows.len() - passed;
    if output.is_json() {
        output.document(&TestDocument {
            tests: rows,
            passed,
            failed,
        })?;
    } else {
        if rows.is_empty() {
            output.note(
                "there are no tests; put cases into tests/cases.yaml (docs/writing-skills.md)",
            );
        }
        let (bad, good) = (
            output.paint_talk(&format!("{failed} failed"), Tone::Bad),
            output.paint_talk(&format!("{passed} passed"), Tone::Good),
        );
        match (failed, passed) {
            (0, 0) => {}
            (0, _) => output.note(&good),
            (_, _) => output.say(&format!("{bad}, {good}")),
        }
    }
    Ok(Exit::unmet_if(failed > 0))
}

/// Prints the result of a test.
pub(super) fn show(row: &TestRow, output: &Output) -> Result<(), Failure> {
    let place = match row.line {
        Some(line) => format!("{}:{line}", row.file),
        None => row.file.clone(),
    };
    let mark = if row.passed {
        output.paint("✓", Tone::Good)
    } else {
        output.paint("✗", Tone::Bad)
    };
    let what = format!("{} {} {}", row.skill, place, row.name);
    output.report(&format!("{mark} {}\n", one_line(&what)))?;
    for line in row.message.iter().flat_map(|message| message.lines()) {
        output.report(&format!("    {}\n", one_line(line)))?;
    }
    Ok(())
}
