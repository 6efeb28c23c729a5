//! Runs Markdown specifications: documents whose examples are tests.
//!
//! # The format
//!
//! Everything below a `##` heading, up to the next one, is a scenario with its own fresh [`TestContext`]. The part
//! before the first `##` is shared: its files and variables are set up for each scenario of the document. Only
//! fenced code blocks count; their first word (the language) and the attributes after it define their meaning.
//!
//! | block | effect |
//! |---|---|
//! | `LANG file=PATH` | writes the file below the working folder; `~/x` is below home, `$BIN/x` an executable on `PATH` |
//! | … `escape` | first replaces `\x1b` (a byte), `\u{e0041}`, `\r`, `\n`, `\t`, `\0`, `\\` by the characters that they stand for |
//! | … `no-newline` | leaves out the last newline |
//! | … `expand` | puts this run's paths in place of `[WORK]`, `[HOME]`, `[BIN]` |
//! | `LANG symlink=TARGET file=PATH` | makes a symbolic link (the block is empty) |
//! | `LANG dir=PATH` | makes a folder (the block is empty) |
//! | `LANG service=NAME` | starts a server of the test program for the scenario, see [`run_dir_with`] (the block is empty) |
//! | `env` | `NAME=value` lines; `NAME=` alone unsets; the labels are expanded |
//! | `console` | a transcript, see below |
//! | `json contains` | must be contained in the JSON output of the last command |
//! | `json model` | the model's answers to the next requests, see below |
//! | `json asked` | all requests since the last such block |
//! | any other language, without attributes | an illustration; an attribute that is not in this table is an error |
//!
//! In a transcript a line `$ COMMAND` runs `metier`, or one of `cat rm mkdir chmod mkfifo ln`; there is no shell, only
//! words with quotes, a leading `~/`, `NAME=value` before the program and `< FILE` after the arguments. The lines
//! below it are the output, standard output first and standard error after it, with temporary paths as
//! `[WORK]`, `[HOME]`, `[BIN]` and invisible characters as `\u{1b}`. `[..]` stands for any text within a line, a line
//! `...` for any number of lines, and `? N` at the end for the exit code N (0 when it is left out). A line of output
//! that would be parsed as one of these marks is written with a `\` before it. Blank lines at the end don't count.
//!
//! `json contains` compares by containment: the listed keys must match, the listed elements must
//! be there in this order, `[..]` works inside strings and `"[..]"` alone stands for any value. An empty list
//! means *empty*. Where such a block directly follows a transcript, it describes the last command's standard
//! output, and the transcript lists only its standard error.
//!
//! The first `json model` of a scenario starts a [model server](crate::model_server) and sets the variables that direct `metier` to it. Its
//! list contains a turn for each request: a string, or `{"text": …, "calls": [["tool", {…}], …]}`, or `{"status": 429}`. In `json asked`
//! every request is `{"tools": "read write", "system": …, "last": …}`: the names of the tools with spaces between them, the system
//! prompt and the last message as strings. Each must be contained, their number must be exact, and an empty list states that
//! there was no request.
//!
//! # Failures
//!
//! Besides a difference: a folder without a scenario, a document without one (except `README.md`), a scenario that prepares files and runs
//! nothing, a block that can't be parsed. With `METIER_BLESS=1` the expectations of failing transcripts are rewritten in place, keeping the
//! wildcard lines that still match; read the diff before you commit it. `METIER_SPEC=compose` runs only the documents with that word in
//! their names, `METIER_SPEC='compose#that disagree'` only their scenarios with those words in the heading.

mod bless;
mod builtin;
mod compare;
mod contains;
mod document;
mod escape;
mod model;
mod report;
mod scenario;
mod transcript;
mod words;

use std::any::Any;
use std::fs;
use std::io;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub use report::{PrintedJson, SpecFailure, SpecReport};

use crate::TestContext;
use bless::Correction;
use document::{SpecDocument, SpecScenario};

/// Runs every `*.md` below `dir` with the program `bin`; panics with one readable report if anything is wrong. Returns the report.
///
/// # Panics
/// If a scenario fails, a document can't be read, or there was nothing to run.
#[expect(
    clippy::print_stdout,
    reason = "called by a test: `--nocapture` shows how much was run"
)]
pub fn run_dir_with(bin: &Path, dir: &Path, services: SpecServices<'_>) -> SpecReport {
    let bless = std::env::var_os("METIER_BLESS").is_some_and(|value| value == "1");
    let wanted = std::env::var("METIER_SPEC").unwrap_or_default();
    let report = check((bin, services), dir, bless, &wanted);
    println!("{}", report.summary());
    assert!(report.is_success(), "{report}");
    report
}

/// [`run_dir_with`] for documents without services.
///
/// # Panics
/// As [`run_dir_with`].
pub fn run_dir(bin: &Path, dir: &Path) -> SpecReport {
    run_dir_with(bin, dir, &[])
}

/// Servers that scenarios can start: the name in a document, and how to start it. A server sets the variables that direct the program to
/// it, and lives as long as the returned value.
pub type SpecServices<'a> = &'a [(&'a str, StartService)];

/// Starts a server for one scenario.
pub type StartService = fn(&mut TestContext) -> Box<dyn Any>;

/// Like [`run_dir`], but returns the report. With `bless`, failing transcripts are rewritten in place.
#[must_use]
pub fn check_dir(bin: &Path, dir: &Path, bless: bool) -> SpecReport {
    check((bin, &[]), dir, bless, "")
}

/// The documents whose names contain a word, and the scenarios in them whose headings contain the text after `#`.
fn check(program: (&Path, SpecServices<'_>), dir: &Path, bless: bool, wanted: &str) -> SpecReport {
    let mut report = SpecReport::default();
    let (document, heading) = wanted.split_once('#').unwrap_or((wanted, ""));
    match documents(dir) {
        Ok(paths) => {
            let named = |path: &PathBuf| {
                let name = path.strip_prefix(dir).unwrap_or(path);
                name.to_string_lossy().contains(document)
            };
            for path in paths.into_iter().filter(named) {
                check_document(program, dir, &path, (bless, heading), &mut report);
            }
        }
        Err(error) => report.fail(dir, 0, "", format!("can't be read: {error}")),
    }
    if report.scenarios == 0 {
        let nothing = "no scenario was found: nothing has been tested";
        report.fail(dir, 0, "", nothing.to_owned());
    }
    report
}

fn check_document(
    (bin, services): (&Path, SpecServices<'_>),
    dir: &Path,
    path: &Path,
    (bless, heading): (bool, &str),
    report: &mut SpecReport,
) {
    let name = path.strip_prefix(dir).unwrap_or(path);
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return report.fail(name, 0, "", format!("can't be read: {error}")),
    };
    let document = SpecDocument::parse(&text);
    for problem in &document.problems {
        report.fail(name, problem.line, "", problem.message.clone());
    }
    if document.scenarios.is_empty() && !path.ends_with("README.md") {
        report.fail(name, 1, "", "the document has no scenario".to_owned());
    }
    report.documents += 1;
    let mut corrections = Vec::new();
    let run = |scenario: &&SpecScenario| {
        let context = TestContext::try_new(bin)?;
        Ok::<_, io::Error>(scenario::run(context, services, &document.shared, scenario))
    };
    let is_wanted = |scenario: &&SpecScenario| scenario.title.contains(heading);
    let wanted: Vec<&SpecScenario> = document.scenarios.iter().filter(is_wanted).collect();
    let all = in_parallel(&wanted, run);
    for (scenario, done) in wanted.into_iter().zip(all) {
        report.scenarios += 1;
        let done = match done {
            Ok(done) => done,
            Err(error) => {
                return report.fail(name, scenario.line, &scenario.title, error.to_string());
            }
        };
        report.commands += done.commands;
        report.printed.extend(done.printed);
        for mismatch in done.mismatches {
            match mismatch.correction {
                Some(correction) if bless => corrections.push(correction),
                _ => report.fail(name, mismatch.line, &scenario.title, mismatch.message),
            }
        }
    }
    rewrite(path, name, &text, corrections, report);
}

/// Runs a function for each item, several in parallel: scenarios share nothing, and mostly wait for the program. The results are in order.
fn in_parallel<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let turn = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(index) else {
                return done;
            };
            done.push((index, work(one)));
        }
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let turns: Vec<_> = (0..threads).map(|_| scope.spawn(turn)).collect();
        let ended = turns.into_iter().map(|turn| turn.join());
        let ended = ended.map(|done| done.unwrap_or_else(|panic| resume_unwind(panic)));
        ended.flatten().collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn rewrite(
    path: &Path,
    name: &Path,
    text: &str,
    corrections: Vec<Correction>,
    report: &mut SpecReport,
) {
    if corrections.is_empty() {
        return;
    }
    let count = corrections.len();
    match fs::write(path, bless::apply(text, corrections)) {
        Ok(()) => report.blessed += count,
        Err(error) => report.fail(name, 0, "", format!("can't be rewritten: {error}")),
    }
}

/// All Markdown files below `dir`, sorted.
fn documents(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            found.extend(documents(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
