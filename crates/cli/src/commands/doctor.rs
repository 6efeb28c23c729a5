//! `metier doctor`

mod backends;

use std::{path::Path, process::ExitCode};

use metier_catalog::Entry;
use metier_host::sandbox::{Mechanism, Support};
use metier_model::{Digest, Severity, text::shell_word};
use metier_policy::Identity;
use metier_runtime::{Inventory, Status, desk, hooks};
use metier_store::Store;
use metier_wire::{Check, Doctor};

use crate::{
    commands::{causes::causes, info::left_in},
    failure::Failure,
    office::meant_by_name,
    output::{Tone, count, one_line},
    screening::Screening,
    session::Session,
};

/// Check this machine: each problem with the command that fixes it
///
/// Problems come first; what is well takes a line for each group, and with -v one for each check.
/// Skills are scanned too, unless the verdict on their exact bytes is known.
/// Exit code 1 when something failed; warnings alone don't fail.
#[derive(clap::Args)]
pub(crate) struct Args {}

/// How the names of checks of backends begin.
const BACKEND: &str = "backend ";

pub(crate) fn run(session: &Session, _args: &Args) -> Result<ExitCode, Failure> {
    let mut checks = configuration(session);
    let support = std::env::current_exe().map(|shim| metier_host::child::detect(&shim));
    checks.extend([database(session), cache(session), sandbox(&support)]);
    checks.extend(backends::checks(session, support.as_ref().ok()));
    match session.inventory() {
        Ok(mut inventory) => {
            let screening = session.screening(&inventory.catalog);
            rules(&screening, &mut checks);
            screening.look_at_all(&mut inventory);
            skills(session, &inventory, &mut checks);
        }
        Err(_) => checks.push(check(
            "skills",
            "fail",
            "skipped until the checks above pass".into(),
            None,
        )),
    }
    let failed = checks.iter().any(|check| check.status == "fail");
    if session.output.is_json() {
        session.output.document(&Doctor { checks })?;
    } else {
        session.output.report(&report(session, &checks))?;
    }
    Ok(ExitCode::from(u8::from(failed)))
}

fn check(name: &str, status: &'static str, message: String, fix: Option<String>) -> Check {
    Check {
        name: name.to_owned(),
        status,
        message,
        fix,
    }
}

/// What fails first, then warnings, then what is well: a line for each group of checks, and with `--verbose` for each check.
fn report(session: &Session, checks: &[Check]) -> String {
    let with = |status: &'static str| checks.iter().filter(move |check| check.status == status);
    let problems = with("fail").chain(with("warn"));
    let mut lines: String = problems.map(|check| line(session, check)).collect();
    if session.output.is_verbose() {
        lines.extend(with("ok").map(|check| line(session, check)));
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
            lines.push_str(&line(session, &check(name, "ok", names.join(", "), None)));
        }
    }
    lines.extend(skills.into_iter().map(|check| line(session, check)));
    lines
}

fn line(session: &Session, check: &Check) -> String {
    let sign = match check.status {
        "ok" => session.output.paint("ok  ", Tone::Good),
        "warn" => session.output.paint("warn", Tone::Warn),
        _ => session.output.paint("FAIL", Tone::Bad),
    };
    let fix = check
        .fix
        .as_ref()
        .map_or_else(String::new, |fix| format!("       → {}\n", one_line(fix)));
    format!(
        "{sign}  {}: {}\n{fix}",
        session.output.paint(&one_line(&check.name), Tone::Strong),
        one_line(&check.message)
    )
}

/// One check for each thing that is wrong with the configuration, or one that says that nothing is.
fn configuration(session: &Session) -> Vec<Check> {
    if session.problems.is_empty() {
        let file = session.machine.config_file.as_ref();
        let message = file.filter(|file| file.exists()).map_or_else(
            || "no file, all defaults".to_owned(),
            |file| file.display().to_string(),
        );
        return vec![check("configuration", "ok", message, None)];
    }
    let one = |problem: &metier_config::Problem| {
        let status = if problem.is_error() { "fail" } else { "warn" };
        let fix = problem.hint.clone();
        let fix = fix.or_else(|| Some("metier config".into()));
        check("configuration", status, problem.to_string(), fix)
    };
    session.problems.iter().map(one).collect()
}

fn database(session: &Session) -> Check {
    let Some(path) = &session.machine.database else {
        return check(
            "database",
            "warn",
            "there is no home directory to keep it in".into(),
            Some("set METIER_HOME to a folder".into()),
        );
    };
    match Store::open_existing(path) {
        Ok(Some(_)) => check("database", "ok", path.display().to_string(), None),
        Ok(None) => match unwritable(path) {
            Some(folder) => check(
                "database",
                "fail",
                format!("{} can't be written", folder.display()),
                Some(
                    "check its permissions, or set METIER_HOME to a folder that can be written"
                        .into(),
                ),
            ),
            None => check("database", "ok", "not needed yet".into(), None),
        },
        Err(error) => check("database", "fail", error.to_string(), Some(error.hint())),
    }
}

/// The folder that a file would be made in, if that can't be done.
fn unwritable(file: &Path) -> Option<&Path> {
    let folder = file.ancestors().skip(1).find(|folder| folder.exists())?;
    let refused = rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err();
    (refused || !folder.is_dir()).then_some(folder)
}

/// What keeps programs of skills in on this machine.
fn sandbox(support: &std::io::Result<Support>) -> Check {
    let refused = "programs of skills are refused here, unless --unsandboxed is given";
    match support {
        Ok(support) => match support.mechanism {
            Mechanism::Namespaces => check(
                "sandbox",
                "ok",
                "namespaces, Landlock and seccomp".into(),
                None,
            ),
            Mechanism::Landlock => check(
                "sandbox",
                "warn",
                format!("Landlock and seccomp only: {}", support.missing.join("; ")),
                Some(
                    "allow unprivileged user namespaces; without them skills have no network"
                        .into(),
                ),
            ),
            Mechanism::None => check(
                "sandbox",
                "warn",
                format!("none: {}", support.missing.join("; ")),
                Some(refused.into()),
            ),
        },
        Err(error) => check(
            "sandbox",
            "warn",
            format!("can't be looked at: {error}"),
            Some(refused.into()),
        ),
    }
}

fn cache(session: &Session) -> Check {
    match &session.machine.cache {
        Some(folder) if folder.exists() => check("index", "ok", folder.display().to_string(), None),
        Some(_) => check("index", "ok", "not written yet".into(), None),
        None => check(
            "index",
            "warn",
            "there is no home directory to keep it in: every start is a cold one".into(),
            Some("set METIER_HOME to a folder".into()),
        ),
    }
}

/// One check for each rule that the scanner can't use.
fn rules(screening: &Screening, checks: &mut Vec<Check>) {
    for problem in screening.problems() {
        let line = problem
            .line
            .map_or_else(String::new, |line| format!(":{line}"));
        checks.push(check(
            "rules of the scanner",
            if problem.own { "fail" } else { "warn" },
            format!("{}{line}: {}", problem.file.display(), problem.message),
            problem
                .own
                .then(|| "metier config skills.scan.rules_dir".to_owned()),
        ));
    }
}

/// Whether the configuration has the name of a skill that it does not approve.
fn is_approved_elsewhere(session: &Session, entry: &Entry) -> bool {
    let identity = Identity {
        skill: entry.name().as_ref().into(),
        source: entry.source,
        // No digest is in question: what is approved by its bytes is not approved by its name.
        digest: entry.digest.unwrap_or(Digest([0; 32])),
    };
    desk::is_approved_elsewhere(&identity, &session.config.approved)
}

fn skills(session: &Session, inventory: &Inventory, checks: &mut Vec<Check>) {
    let counts = inventory.counts();
    checks.push(check(
        "skills",
        "ok",
        format!(
            "{} found, {} ready",
            count(inventory.skills.len(), "skill"),
            counts.ready
        ),
        None,
    ));
    for diagnostic in inventory
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity > Severity::Info)
    {
        let status = if diagnostic.severity == Severity::Error {
            "fail"
        } else {
            "warn"
        };
        checks.push(check(
            &diagnostic.file,
            status,
            diagnostic.message.to_string(),
            diagnostic.hint.as_ref().map(ToString::to_string),
        ));
    }
    for skill in &inventory.skills {
        let entry = inventory.entry(skill);
        let name = format!("skill {}", entry.name());
        checks.extend(super::pin_problem(entry).map(|problem| {
            let fix = problem.hint.as_ref().map(ToString::to_string);
            check(&name, "warn", problem.message.to_string(), fix)
        }));
        if skill.status == Status::Ready && is_approved_elsewhere(session, entry) {
            let fix = "metier config skills.approved".to_owned();
            checks.push(check(&name, "warn", meant_by_name(entry), Some(fix)));
        }
        if matches!(
            skill.status,
            Status::Ready | Status::Disabled | Status::Shadowed
        ) {
            warnings(session, entry, &name, checks);
        }
        if skill.status == Status::Ready {
            hook_problems(session, entry, &name, checks);
        }
    }
    for cause in causes(inventory, true, &session.output) {
        let status = match cause.status {
            Status::Invalid => "fail",
            _ => "warn",
        };
        checks.push(check(&cause.label, status, cause.message, cause.hint));
    }
}

/// What is wrong with its hooks: what can't be read, and what did not work when it was activated last.
fn hook_problems(session: &Session, entry: &Entry, name: &str, checks: &mut Vec<Check>) {
    let brought = hooks::in_place(entry);
    let read = brought.diagnostics.iter();
    let read = read.filter(|diagnostic| diagnostic.severity > Severity::Info);
    let read = read.map(|diagnostic| {
        let message = format!("{}: {}", diagnostic.file, diagnostic.message);
        let fix = diagnostic.hint.as_ref().map(ToString::to_string);
        check(name, "warn", message, fix)
    });
    checks.extend(read);
    if let Some(happened) = left_in(session, entry) {
        let fix = format!("metier info {}", shell_word(&entry.name()));
        checks.push(check(name, "warn", happened, Some(fix)));
    }
}

fn warnings(session: &Session, entry: &Entry, name: &str, checks: &mut Vec<Check>) {
    let number = entry.warnings();
    if number > 0 && session.output.is_verbose() {
        checks.push(check(
            name,
            "warn",
            format!("it has {}", count(number, "warning")),
            Some(format!(
                "metier validate {}",
                shell_word(&entry.place.path().to_string_lossy())
            )),
        ));
    }
}
