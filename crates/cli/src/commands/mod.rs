//! One file for each command: its arguments, whose comments are the help, and `run`.

pub(crate) mod agent;
pub(crate) mod call;
mod causes;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod compose;
pub(crate) mod config;
pub(crate) mod deps;
pub(crate) mod doctor;
pub(crate) mod enable;
pub(crate) mod eval;
pub(crate) mod exec;
pub(crate) mod improve;
pub(crate) mod info;
pub(crate) mod install;
pub(crate) mod keygen;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod login;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod new;
pub(crate) mod outdated;
mod overview;
pub(crate) mod pack;
pub(crate) mod permissions;
pub(crate) mod profile;
pub(crate) mod prompt;
pub(crate) mod publish;
pub(crate) mod read;
pub(crate) mod remove;
pub(crate) mod rollback;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod select;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod sign;
pub(crate) mod spawn;
pub(crate) mod sync;
pub(crate) mod test;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod ui;
pub(crate) mod undo;
pub(crate) mod update;
pub(crate) mod validate;
pub(crate) mod verify;
pub(crate) mod verify_signature;
pub(crate) mod why;
pub(crate) mod yank;

use std::process::ExitCode;

use metier::Machine;

use crate::{
    cli::{Cli, CliCommand},
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::Output,
};

/// Runs the command that was typed.
pub(crate) fn run(cli: &Cli, machine: &Machine, output: &Output) -> Result<ExitCode, Failure> {
    let open = || CliRun::open(&cli.global, machine, output);
    let open_anyway = || CliRun::open_anyway(&cli.global, machine, output);
    let exit: Exit = match &cli.command {
        None => overview::run(&open()?),
        Some(CliCommand::List(args)) => list::run(&open()?, args),
        Some(CliCommand::Info(args)) => info::run(&open()?, args),
        Some(CliCommand::Validate(args)) => validate::run(&open()?, args),
        Some(CliCommand::Prompt(args)) => prompt::run(&open()?, args),
        Some(CliCommand::Show(args)) => show::run(&open()?, args),
        Some(CliCommand::Read(args)) => read::run(&open()?, args),
        Some(CliCommand::Scan(args)) => scan::run(&open()?, args),
        Some(CliCommand::Check(args)) => check::run(&open()?, args),
        Some(CliCommand::Eval(args)) => eval::run(&open()?, args),
        Some(CliCommand::Improve(args)) => improve::run(&open()?, args),
        Some(CliCommand::Select(args)) => select::run(&open()?, args),
        Some(CliCommand::Why(args)) => why::run(&open()?, args),
        Some(CliCommand::Compose(args)) => compose::run(&open()?, args),
        Some(CliCommand::Doctor(args)) => doctor::run(&open_anyway()?, args),
        Some(CliCommand::Run(args)) => run::run(&open()?, args),
        Some(CliCommand::Agent(args)) => agent::run(&open()?, args),
        Some(CliCommand::Chat(args)) => chat::run(&open()?, args),
        Some(CliCommand::Spawn(args)) => spawn::run(&open()?, args),
        Some(CliCommand::Tools(args)) => tools::run(&open()?, args),
        Some(CliCommand::Test(args)) => test::run(&open()?, args),
        Some(CliCommand::Call(args)) => call::run(&open()?, args),
        Some(CliCommand::Deps(args)) => deps::run(&open()?, args),
        Some(CliCommand::Enable(args)) => enable::enable(&open()?, args),
        Some(CliCommand::Disable(args)) => enable::disable(&open()?, args),
        Some(CliCommand::Profile(args)) => profile::run(&open()?, args),
        Some(CliCommand::Sync(args)) => sync::run(&open()?, args),
        Some(CliCommand::Update(args)) => update::run(&open()?, args),
        Some(CliCommand::Outdated(args)) => outdated::run(&open()?, args),
        Some(CliCommand::Rollback(args)) => rollback::run(&open()?, args),
        Some(CliCommand::Exec(args)) => exec::run(&open()?, args),
        Some(CliCommand::Install(args)) => install::run(&open()?, args),
        Some(CliCommand::Add(args)) => install::run_add(&open()?, args),
        Some(CliCommand::Remove(args)) => remove::run(&open()?, args),
        Some(CliCommand::Undo(args)) => undo::run(&open()?, args),
        Some(CliCommand::Verify(args)) => verify::run(&open()?, args),
        Some(CliCommand::Permissions(args)) => permissions::run(&open()?, args),
        Some(CliCommand::Log(args)) => log::run(&open()?, args),
        Some(CliCommand::Search(args)) => search::run(&open()?, args),
        Some(CliCommand::Publish(args)) => publish::run(&open()?, args),
        Some(CliCommand::Login(args)) => login::run(&open()?, args),
        Some(CliCommand::Yank(args)) => yank::run(&open()?, args),
        Some(CliCommand::New(args)) => new::run(args, machine, output),
        Some(CliCommand::Pack(args)) => pack::run(&open()?, args),
        Some(CliCommand::Keygen(args)) => keygen::run(&open()?, args),
        Some(CliCommand::Sign(args)) => sign::run(&open()?, args),
        Some(CliCommand::VerifySignature(args)) => verify_signature::run(&open()?, args),
        Some(CliCommand::Mcp(args)) => mcp::run(&cli.global, machine, output, args),
        Some(CliCommand::Serve(args)) => serve::run(&cli.global, machine, output, args),
        Some(CliCommand::Ui(args)) => ui::run(&cli.global, machine, output, args),
        Some(CliCommand::Trust(args)) => trust::run(&open_anyway()?, args),
        Some(CliCommand::Config(args)) => config::run(&open_anyway()?, args),
        Some(CliCommand::Schema(args)) => schema::run(args, output),
        Some(CliCommand::Completions(args)) => completions::run(args, output),
        Some(CliCommand::Man(args)) => man::run(args, output),
    }?;
    Ok(exit.into())
}
