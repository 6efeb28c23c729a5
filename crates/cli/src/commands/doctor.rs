//! `metier doctor`

use metier::{
    diagnosis::{CheckStatus, HealthCheck},
    skill::Status,
};
use metier_wire::{Check, Doctor};

use crate::{
    cli_run::CliRun,
    commands::causes::causes,
    failure::{Exit, Failure},
    output::{Tone, one_line},
};

/// Check this machine and show the command that fixes each problem
///
/// Problems are printed first; checks that pass are summarised in a line for each group, or listed one by one with -v.
/// Skills are scanned too, unless a verdict on their exact bytes is already stored.
/// Exit code 1 when a check failed; warnings alone don't count.
#[derive(clap::Args)]
pub(crate) struct DoctorArgs {}

/// The prefix of the names of backend checks.
const BACKEND: &str = "backend ";

pub(crate) fn run(run: &CliRun, _args: &DoctorArgs) -> Result<Exit, Failure> {
    let diagnosis = run.diagnose(run.output.is_verbose());
    let mut checks: Vec<Check> = diagnosis.checks.into_iter().map(row).collect();
    if let Some(skills) = &diagnosis.skills {
        for cause in causes(skills.inventory(), true, &run.output) {
            let status = match cause.status {
                Status::Invalid => CheckStatus::Fail,
                _ => CheckStatus::Warn,
            };
            let (message, fix) = (cause.message, cause.hint);
            checks.push(row(HealthCheck::new(&cause.label, status, message, fix)));
        }
    }
    let failed = checks.iter().any(|check| check.status == "fail");
    if run.output.is_json() {
        run.output.document(&Doctor { checks })?;
    } else {
        run.output.report(&report(run, &checks))?;
    }
    Ok(Exit::unmet_if(failed))
}

fn row(check: HealthCheck) -> Check {
    Check {
        name: check.name,
        status: check.status.as_str(),
        message: check.message,
        fix: check.fix,
    }
}

/// Failures first, then warnings, then checks that pass: a line for each group, and with `--verbose` for each check.
fn report(run: &CliRun, checks: &[Check]) -> String {
    let with = |status: &'static str| checks.iter().filter(move |check| check.status == status);
    let problems = with("fail").chain(with("warn"));
    let mut lines: String = problems.map(|check| line(run, check)).collect();
    if run.output.is_verbose() {
        lines.extend(with("ok").map(|check| line(run, check)));
        return lines;
    }
    let (backends, others): (Vec<&Check>, Vec<&Check>) =
        with("ok").partition(|check| check.name.starts_with(BACKEND));
    let (skills, machine): (Vec<&Check>, Vec<&Check>) =
        others.into_iter().partition(|check| check.name == "skills");
    for (name, group) in [("machine", machine), ("backends", backends)] {
        let names = group.iter();
        let names = names.map(|check| check.name.trim_start_matches(BACKEND));
        let names: Vec<&str> = names.collect();
        if !names.is_empty() {
            let passed = HealthCheck::new(name, CheckStatus::Ok, names.join(", "), None);
            lines.push_str(&line(run, &row(passed)));
        }
    }
    lines.extend(skills.into_iter().map(|check| line(run, check)));
    lines
}

fn line(run: &CliRun, check: &Check) -> String {
    let sign = match check.status {
        "ok" => run.output.paint("ok  ", Tone::Good),
        "warn" => run.output.paint("warn", Tone::Warn),
        _ => run.output.paint("FAIL", Tone::Bad),
    };
    let fix = check
        .fix
        .as_ref()
        .map_or_else(String::new, |fix| format!("       → {}\n", one_line(fix)));
    format!(
        "{sign}  {}: {}\n{fix}",
        run.output.paint(&one_line(&check.name), Tone::Strong),
        one_line(&check.message)
    )
}
