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

use metier::Machine;

use crate::{
    cli::{Cli, Command},
    failure::{Exit, Failure},
    output::Output,
    session::Session,
};

/// Runs the command that was typed.
pub(crate) fn run(cli: &Cli, machine: &Machine, output: &Output) -> Result<ExitCode, Failure> {
    let open = || Session::open(&cli.global, machine, output);
    let open_anyway = || Session::open_anyway(&cli.global, machine, output);
    let exit: Exit = match &cli.command {
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
    }?;
    Ok(exit.into())
}
