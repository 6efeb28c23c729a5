//! # metier — the skill system for LLM agents, at the command line
//!
//! **Problem.** Somebody types a command and wants an answer: data on stdout, talk on stderr, one
//! exit code, and, when it went wrong, what to type next.
//!
//! **In → out.** arguments → `cli::Cli` (what was typed) → `session::Session` (what it means here) →
//! one command → text or JSON.
//!
//! **Invariants.** this crate alone looks at the environment, the clock and the terminal · a command
//! parses, asks the runtime once and prints · exit codes are chosen in `failure.rs`.
//!
//! **Start reading at** `cli.rs`, then `session.rs`, then `commands/list.rs`.

mod approver;
mod chat;
mod cli;
mod commands;
mod complete;
mod failure;
mod help;
mod interrupt;
mod logging;
mod output;
mod session;
mod talk;
mod templates;
mod wrap;

use std::{ffi::OsString, process::ExitCode};

use metier::{active, leftovers, machine, office, opinions, screening};

use clap::{
    Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};

use cli::Cli;
use failure::Failure;
use machine::Machine;
use output::Output;

/// It asks for memory in pieces of megabytes, and lets the kernel answer with huge pages: thousands of
/// small ones were an eighth of what a list costs.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before anything else, and with nothing else: this is how the code of skills is started.
    if let Some(code) = metier::worker::run_if_worker() {
        return code;
    }
    let first = std::env::args_os().nth(1);
    let word = first.as_deref().and_then(|word| word.to_str());
    if word == Some("__complete") {
        let words: Vec<OsString> = std::env::args_os().skip(2).collect();
        return complete::main(&words);
    }
    let arguments = cli::without_seed_spelling(std::env::args_os().collect());
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return misused(&arguments, &error),
    };
    let mut output = Output::new(&cli.global);
    logging::start(&output);
    let done = Machine::look(
        cli.global.directory.as_deref(),
        cli.global.config.as_deref(),
    )
    .and_then(|machine| {
        output = output.clone().at(&machine);
        commands::run(&cli, &machine, &output)
    });
    match done {
        Ok(code) => code,
        Err(failure) => failure::report(&failure, &output),
    }
}

/// Help and version are answers; everything else that clap says is wrong usage.
fn misused(arguments: &[OsString], error: &clap::Error) -> ExitCode {
    let is_json = arguments.iter().any(|argument| argument == "--json");
    if !error.use_stderr() {
        // The page is made only now: no other run needs it. A closed pipe is the reader's choice.
        let is_page = error.kind() != ErrorKind::DisplayVersion;
        let page = is_page.then(|| help::command().try_get_matches_from(arguments).err());
        let page = page.flatten();
        page.as_ref().unwrap_or(error).print().ok();
        return ExitCode::SUCCESS;
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
        return ExitCode::from(2);
    }
    let text = error.to_string();
    let before_usage = text.split("\n\nUsage:").next().unwrap_or_default();
    let words: Vec<&str> = before_usage
        .trim_start_matches("error: ")
        .split_whitespace()
        .collect();
    let words = words.join(" ");
    let (message, hint) = words
        .split_once(" tip: ")
        .unwrap_or((&words, "metier --help"));
    let failure = Failure::broken("usage", message).hint(hint);
    failure::report(&failure, &Output::json())
}
