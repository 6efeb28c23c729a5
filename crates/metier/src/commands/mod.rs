//! One file for each command: its arguments, whose comments are the help, and `run`.

pub(crate) mod agent;
pub(crate) mod call;
mod causes;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod compose;
pub(crate) mod config;
pub(crate) mod deps;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod new;
mod overview;
pub(crate) mod permissions;
pub(crate) mod prompt;
pub(crate) mod read;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod show;
pub(crate) mod spawn;
pub(crate) mod test;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod validate;
pub(crate) mod why;

use std::process::ExitCode;

use metier_catalog::Entry;
use metier_model::{Code, Diagnostic, text::shell_word};
use metier_policy::ReasonKind::Untrusted;
use metier_runtime::{Inventory, Skill, Status};

use crate::{
    cli::{Cli, Command},
    failure::Failure,
    machine::Machine,
    output::Output,
    session::Session,
};

/// Runs the command that was typed.
pub(crate) fn run(cli: &Cli, machine: &Machine, output: &Output) -> Result<ExitCode, Failure> {
    // Before anything is obeyed that a skill may have left behind.
    crate::leftovers::tidy_up(machine, output)?;
    let open = || Session::open(&cli.global, machine, output);
    let open_anyway = || Session::open_anyway(&cli.global, machine, output);
    match &cli.command {
        None => overview::run(&open()?),
        Some(Command::List(args)) => list::run(&open()?, args),
        Some(Command::Info(args)) => info::run(&open()?, args),
        Some(Command::Validate(args)) => validate::run(&open()?, args),
        Some(Command::Prompt(args)) => prompt::run(&open()?, args),
        Some(Command::Show(args)) => show::run(&open()?, args),
        Some(Command::Read(args)) => read::run(&open()?, args),
        Some(Command::Scan(args)) => scan::run(&open()?, args),
        Some(Command::Select(args)) => select::run(&open()?, args),
        Some(Command::Why(args)) => why::run(&open()?, args),
        Some(Command::Compose(args)) => compose::run(&open()?, args),
        Some(Command::Doctor(args)) => doctor::run(&open_anyway()?, args),
        Some(Command::Run(args)) => run::run(&open()?, args),
        Some(Command::Agent(args)) => agent::run(&open()?, args),
        Some(Command::Chat(args)) => chat::run(&open()?, args),
        Some(Command::Spawn(args)) => spawn::run(&open()?, args),
        Some(Command::Tools(args)) => tools::run(&open()?, args),
        Some(Command::Test(args)) => test::run(&open()?, args),
        Some(Command::Call(args)) => call::run(&open()?, args),
        Some(Command::Deps(args)) => deps::run(&open()?, args),
        Some(Command::Exec(args)) => exec::run(&open()?, args),
        Some(Command::Permissions(args)) => permissions::run(&open()?, args),
        Some(Command::Log(args)) => log::run(&open()?, args),
        Some(Command::New(args)) => new::run(args, machine, output),
        Some(Command::Mcp(args)) => mcp::run(&cli.global, machine, output, args),
        Some(Command::Trust(args)) => trust::run(&open_anyway()?, args),
        Some(Command::Config(args)) => config::run(&open_anyway()?, args),
        Some(Command::Completions(args)) => completions::run(args, output),
        Some(Command::Man(args)) => man::run(args, output),
    }
}

/// The skill of a name, or an error with the nearest names.
fn find<'a>(
    session: &Session<'_>,
    inventory: &'a Inventory,
    name: &str,
) -> Result<&'a Skill, Failure> {
    if name.contains('/')
        && let Ok(folder) = session.machine.work.join(name).canonicalize()
        && let Ok(skill) = inventory.find(&folder.to_string_lossy())
    {
        return Ok(skill);
    }
    inventory.find(name).map_err(|missing| {
        let shown = crate::output::one_line(&missing.name);
        let failure =
            Failure::unmet("unknown-skill", format!("there is no skill `{shown}`")).skill(shown);
        match missing.near.as_slice() {
            [] => failure.hint("metier list --all shows every skill"),
            near => failure.hint(format!(
                "did you mean {}?",
                near.iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(" or ")
            )),
        }
    })
}

/// Why a skill that lacks something is not used, in the same words at every door.
pub(crate) fn not_ready(skill: &Skill, name: &str) -> Failure {
    let failure = Failure::unmet("not-ready", format!("skill `{name}` is not ready"));
    let reasons = skill.reasons.iter().map(|one| one.message.to_string());
    let failure = reasons.fold(failure.skill(name), Failure::detail);
    match skill.way_out() {
        Some(hint) => failure.hint(hint),
        None => failure.hint(format!("metier info {}", shell_word(name))),
    }
}

/// That a skill is not of the version that the configuration asks for.
pub(crate) fn pin_problem(entry: &Entry) -> Option<&Diagnostic> {
    let mut diagnostics = entry.diagnostics.iter();
    diagnostics.find(|diagnostic| diagnostic.code == Code::VersionNotFound)
}

/// Says that a skill is used in another version than the configuration asks for.
pub(crate) fn warn_of_version(session: &Session<'_>, entry: &Entry) {
    if let Some(problem) = pin_problem(entry) {
        session.warn_once(&crate::output::one_line(&problem.message));
    }
}

/// A skill whose content may be shown once it was screened: an invalid, untrusted or disabled one is refused with its reasons. One of
/// another version than the configuration asks for is used with a warning.
pub(crate) fn find_usable<'a>(
    session: &Session<'_>,
    inventory: &'a Inventory,
    name: &str,
) -> Result<&'a Skill, Failure> {
    let skill = usable(session, inventory, name)?;
    warn_of_version(session, inventory.entry(skill));
    Ok(skill)
}

/// The same without the warning, for a conversation that has its own.
pub(crate) fn usable<'a>(
    session: &Session<'_>,
    inventory: &'a Inventory,
    name: &str,
) -> Result<&'a Skill, Failure> {
    let skill = find(session, inventory, name)?;
    let entry = inventory.entry(skill);
    let refuse = |code, what: &str| {
        Failure::unmet(code, format!("skill `{}` {what}", entry.name())).skill(entry.name())
    };
    match skill.status {
        Status::Ready | Status::NotReady | Status::Shadowed => Ok(skill),
        // The list knows only what was there last time; whoever gives out content looks again.
        Status::Blocked if skill.reasons.iter().all(|reason| reason.kind != Untrusted) => Ok(skill),
        Status::Invalid => {
            let failure = refuse("invalid", "can't be read").path(entry.manifest_path());
            let error = entry
                .diagnostics
                .iter()
                .find(|diagnostic| diagnostic.severity == metier_model::Severity::Error);
            let failure = error
                .map(|error| error.message.to_string())
                .into_iter()
                .fold(failure, Failure::detail);
            Err(failure
                .line(
                    error
                        .and_then(|error| error.position)
                        .map(|position| position.line),
                )
                .hint(format!(
                    "metier validate {}",
                    shell_word(&entry.place.path().to_string_lossy())
                )))
        }
        Status::Blocked | Status::Disabled => {
            let what = if skill.status == Status::Blocked {
                "is blocked"
            } else {
                "is disabled"
            };
            let code = if skill.status == Status::Blocked {
                "blocked"
            } else {
                "disabled"
            };
            let failure = skill
                .reasons
                .iter()
                .fold(refuse(code, what), |failure, reason| {
                    failure.detail(reason.message.to_string())
                });
            let hint = skill
                .reasons
                .iter()
                .find_map(|reason| reason.hint.as_deref());
            Err(failure.hint(hint.unwrap_or("metier info shows why")))
        }
    }
}
