//! # xtask — the project's chores, as code
//!
//! **Problem.** Rules that live in a document are forgotten, and numbers that can't be reproduced are opinions.
//!
//! **Goals.**
//! * one command passes all tests, on a machine that has only cargo;
//! * the rules that a compiler can't check (the map, the layers, the module docs) are tests;
//! * the budgets are measured against real floors, in the same run, on the same machine.
//!
//! **Worked example.** `cargo xtask test`; `cargo xtask attack 94`; `cargo xtask guests`; `cargo xtask judge inspector`; `cargo xtask tidy`; `cargo xtask layers`; `cargo xtask bench --quick`.
//!
//! **Invariants.** A check that read nothing fails · each check has a test that breaks its rule · few dependencies,
//! because the bench builds this program with optimisation.
//!
//! **Start reading at** `layers.rs`, then `tidy.rs`, then `bench.rs`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program for the people who work on this project"
)]

mod attack;
mod bench;
mod demo;
#[cfg(test)]
mod deny;
mod guests;
mod judge;
mod layers;
mod model;
mod packages;
mod quality;
mod scan_eval;
mod soak;
mod test;
mod tidy;
mod wasi;
mod workspace;

use std::process::ExitCode;

/// Errors are sentences: their readers have the source at hand.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test             install what the tests need and run them all
  test --with-model
                   install a small model and talk to it; not part of the other tests
  soak             sessions on 32 threads for 30 seconds: receipts, leftovers
  demo             make the picture of the README from a real run
  guests           build the skills that are WebAssembly, after getting what that takes
  attack [--list] [CASE …]
                   run the tests of the attack cases in docs/security.md, and print each case with its results
  judge [--metier FILE] [--skills DIR] [--markdown] [JUDGE …]
                   install the suites, clients and agents of others that docs/judges.md names, and run them against metier
  tidy             docs, links, names, lengths, the map in ARCHITECTURE.md
  layers           dependencies between crates point down, and an embedded library stays small
  scan-eval DIR    the scanner on a labelled corpus, as measured and with each family left out
  scan-eval --collection DIR …
                   what is blocked of all skills below these folders, with the labels that people wrote
  wasi DIR         the public test suite of WASI in our sandbox
  bench [catalog] [--sizes 52,1000,10000,50000] [--quick] [--keep DIR] [--metier FILE] [--markdown]
                   speed and memory against floors, with the budgets
  bench scan [--sizes 500] [--quick] [--keep DIR] [--metier FILE] [--markdown]
                   what a scan costs, with the budgets
  bench host [--quick] [--keep DIR] [--metier FILE] [--markdown]
                   what skills cost that run: activation, calls, hooks, with the budgets
  bench mcp [--sizes 52,10000] [--quick] [--keep DIR] [--metier FILE] [--markdown]
                   how long an agent waits for the tools, with the budgets
  bench agent [--quick] [--keep DIR] [--metier FILE] [--markdown]
                   what a turn costs beside the model, with the budgets
  bench hub [--keep DIR] [--metier FILE] [--markdown]
                   what installing from a registry costs, with the budgets
  bench serve [--sizes 10000] [--quick] [--keep DIR] [--metier FILE] [--markdown]
                   what the daemon costs, with the budgets; it needs `wrk`
  bench select --skills DIR [--sizes 10000,60000] [--quick] [--markdown]
                   what the index of the search costs over real skills, with the budgets, beside tantivy and SkillPort
  quality MIRRORS [SETS [--fresh]]
                   build the labelled sets of docs/selection.md from copies of public collections, and print its table";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", arguments),
    };
    match command {
        "test" if rest.first().is_some_and(|word| word == "--with-model") => model::run(&rest[1..]),
        "test" => test::run(rest),
        "soak" => soak::run(),
        "guests" => guests::run(rest),
        "demo" => demo::run(),
        "attack" => attack::run(rest),
        "judge" => judge::run(rest),
        "tidy" => Ok(report("tidy", &tidy::check(&workspace::root())?)),
        "layers" => Ok(report("layers", &layers::check(&workspace::root())?)),
        "scan-eval" => scan_eval::run(rest),
        "wasi" => wasi::run(rest),
        "bench" => bench::start(rest),
        "quality" => quality::run(rest),
        // Started by the bench itself, from an optimised build.
        "__bench" => bench::run(rest),
        "__measure" => bench::measure::child(rest),
        "__floor-read" => bench::floor::read(rest),
        "__floor-stat" => bench::floor::stat(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(format!("unknown command `{other}`\n\n{USAGE}").into()),
    }
}

/// What a check read, and what it found.
struct Findings {
    looked_at: String,
    problems: Vec<String>,
}

fn report(name: &str, findings: &Findings) -> ExitCode {
    for problem in &findings.problems {
        eprintln!("error: {problem}");
    }
    println!(
        "{name}: {}; {} problems",
        findings.looked_at,
        findings.problems.len()
    );
    if findings.problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
