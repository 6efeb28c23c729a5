//! # metier — the skill system for LLM agents, at the command line
//!
//! **Problem.** A command gets an answer: data on stdout, messages on stderr, one
//! exit code, and after a failure what to type next.
//!
//! **In → out.** arguments → `cli::Cli` (parsed) → `cli_run::CliRun` (the workspace and the output) →
//! one command → text or JSON.
//!
//! **Invariants.** only this crate reads the terminal · a command
//! parses, calls one method of the library and prints · exit codes are chosen in `failure.rs`.
//!
//! **Start reading at** `cli.rs`, then `cli_run.rs`, then `commands/list.rs`.
#![warn(clippy::exit)]

mod approver;
mod chat;
mod cli;
mod cli_run;
mod commands;
mod complete;
mod event_printer;
mod failure;
mod help;
mod interrupt;
mod logging;
mod output;
mod password;
mod talk;
mod templates;
mod wrap;

use std::{ffi::OsString, process::ExitCode};

use clap::{
    Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};

use cli::Cli;
use failure::{Exit, Failure};
use metier::Machine;
use output::Output;

/// It requests memory in pieces of megabytes, which the kernel backs with huge pages: thousands of
/// small ones were an eighth of the cost of a list.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // First, and alone: this is how the code of skills is started.
    if let Some(code) = metier::worker::run_if_worker() {
        return code;
    }
    let first = std::env::args_os().nth(1);
    let word = first.as_deref().and_then(|word| word.to_str());
    if word == Some("__complete") {
        let words: Vec<OsString> = std::env::args_os().skip(2).collect();
        return complete::main(&words).into();
    }
    let arguments = cli::without_seed_spelling(std::env::args_os().collect());
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return misused(&arguments, &error).into(),
    };
    let mut output = Output::new(&cli.global);
    logging::start(&output);
    let done = Machine::from_env(
        cli.global.directory.as_deref(),
        cli.global.config.as_deref(),
    )
    .and_then(|machine| {
        output = output.clone().at(&machine);
        if cli.global.events && !cli.global.json {
            let error = Failure::broken("usage", "--events works with --json only");
            return Err(error.hint("add --json, which prints the result on standard output"));
        }
        commands::run(&cli, &machine, &output)
    });
    match done {
        Ok(code) => code,
        Err(failure) => failure::report(&failure, &output).into(),
    }
}

/// Help and version are answers; every other message of clap is about wrong usage.
fn misused(arguments: &[OsString], error: &clap::Error) -> Exit {
    let is_json = arguments.iter().any(|argument| argument == "--json");
    if !error.use_stderr() {
        // The page is generated only now: no other run needs it. A closed pipe is the reader's choice.
        let is_page = error.kind() != ErrorKind::DisplayVersion;
        let page = is_page.then(|| help::command().try_get_matches_from(arguments).err());
        let page = page.flatten();
        page.as_ref().unwrap_or(error).print().ok();
        return Exit::Ok;
    }
    let unknown = error.get(ContextKind::InvalidSubcommand);
    let unknown = unknown.or_else(|| error.get(ContextKind::InvalidArg));
    if let Some(ContextValue::String(word)) = unknown
        && let Some((message, hint)) = help::planned(word)
    {
        let failure = Failure::broken("not-yet", message).hint(hint);
        let output = match Cli::try_parse_from(["metier"]) {
            Ok(cli) if !is_json => Output::new(&cli.global),
            _ => Output::json(),
        };
        return failure::report(&failure, &output);
    }
    if !is_json {
        // There is nowhere left to report to if even this fails.
        error.print().ok();
        return Exit::Broken;
    }
    failure::report(&usage(error), &Output::json())
}

/// Wrong usage as a failure: the message of clap without its suggestions, which are the hint.
fn usage(error: &clap::Error) -> Failure {
    let is_hint = |kind: &ContextKind| {
        matches!(
            kind,
            ContextKind::Suggested
                | ContextKind::SuggestedArg
                | ContextKind::SuggestedSubcommand
                | ContextKind::SuggestedValue
                | ContextKind::Usage
        )
    };
    let mut plain: clap::Error = clap::Error::new(error.kind());
    for (kind, value) in error.context().filter(|(kind, _)| !is_hint(kind)) {
        plain.insert(kind, value.clone());
    }
    let text = plain.to_string();
    let words = text.trim_start_matches("error: ").split_whitespace();
    let mut message = words.collect::<Vec<_>>().join(" ");
    if let Some(source) = std::error::Error::source(error) {
        message = format!("{message}: {source}");
    }
    let suggested = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    let suggested = suggested.into_iter().find_map(|kind| error.get(kind));
    let suggested = match (suggested, error.get(ContextKind::Suggested)) {
        (Some(ContextValue::String(word)), _) => Some(format!("did you mean `{word}`?")),
        (Some(ContextValue::Strings(words)), _) if !words.is_empty() => {
            Some(format!("did you mean `{}`?", words.join("` or `")))
        }
        (_, Some(ContextValue::StyledStrs(tips))) => tips.first().map(ToString::to_string),
        _ => None,
    };
    let hint = suggested.unwrap_or_else(|| "metier --help".to_owned());
    Failure::broken("usage", message).hint(hint)
}
