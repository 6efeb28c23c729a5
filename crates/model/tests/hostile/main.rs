//! Careless and hostile frontmatter: it loads with the values as written, or it is rejected in time.
//!
//! Each table goes through one [`check`], in both modes and through both YAML readers.
#![expect(clippy::unwrap_used, reason = "a broken fixture is a broken test")]

mod anything;
mod budgets;
mod continued;
mod documents;
mod hints;
mod names;
mod pairs;
mod values;

use std::{process::Command, time::Duration};

use metier_model::{
    DiagnosticSeverity, FileText, Files, Parsed, SkillManifest, Strictness, parse, parse_thoroughly,
};
use metier_testkit::patience::within_processor_time;

/// The result of one mode for a document.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    /// It loads, with at most informational diagnostics.
    Fine,
    /// It loads, with a warning of this code.
    Warns(&'static str),
    /// It does not load, because of an error of this code.
    Refused(&'static str),
}

use Outcome::{Fine, Refused, Warns};

fn parsed(text: &str, mode: Strictness) -> Parsed {
    parsed_in(Some("x"), text, mode)
}

fn parsed_in(folder: Option<&str>, text: &str, mode: Strictness) -> Parsed {
    let skill_md = Some(FileText {
        name: "SKILL.md",
        text,
    });
    checked(
        &Files {
            folder,
            skill_md,
            ..Files::default()
        },
        mode,
    )
}

/// Both readers agree, and there is a manifest exactly when nothing is an error.
fn checked(files: &Files<'_>, mode: Strictness) -> Parsed {
    let found = parse(files, mode);
    let thorough = parse_thoroughly(files, mode);
    if found != thorough {
        panic!(
            "the readers disagree: the fast one says {}, the full one {}",
            summary(&found),
            summary(&thorough)
        );
    }
    let failed = found
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error);
    assert_eq!(found.manifest.is_none(), failed, "{:?}", found.diagnostics);
    found
}

/// A short form of a result that can be large.
fn summary(parsed: &Parsed) -> String {
    let mut text = format!("{parsed:?}");
    let end = text
        .char_indices()
        .nth(600)
        .map_or(text.len(), |(end, _)| end);
    text.truncate(end);
    text
}

fn codes(parsed: &Parsed, severity: DiagnosticSeverity) -> Vec<&'static str> {
    let some = parsed
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == severity);
    some.map(|diagnostic| diagnostic.code.as_str()).collect()
}

/// A file with this frontmatter.
fn file(yaml: &str) -> String {
    format!("---\n{yaml}---\n\nThe body.\n")
}

/// A file with a name, a description, and more.
fn with(more: &str) -> String {
    file(&format!("name: x\ndescription: Does things.\n{more}"))
}

fn is(outcome: Outcome, text: &str, mode: Strictness) {
    let found = parsed(text, mode);
    let shown: String = text.chars().take(300).collect();
    let errors = codes(&found, DiagnosticSeverity::Error);
    let warnings = codes(&found, DiagnosticSeverity::Warning);
    match outcome {
        Fine => assert!(
            found.manifest.is_some() && warnings.is_empty(),
            "{mode:?}: {errors:?} {warnings:?}\n{shown}"
        ),
        Warns(code) => assert!(
            found.manifest.is_some() && warnings.contains(&code),
            "{mode:?}: {errors:?} {warnings:?}, not {code}\n{shown}"
        ),
        Refused(code) => assert!(
            errors.contains(&code),
            "{mode:?}: {errors:?} {warnings:?}, not {code}\n{shown}"
        ),
    }
}

/// One file, and the results of lenient and strict reading.
fn check(text: &str, lenient: Outcome, strict: Outcome) {
    is(lenient, text, Strictness::Lenient);
    is(strict, text, Strictness::Strict);
}

fn refused(text: &str, code: &'static str) {
    check(text, Refused(code), Refused(code));
}

fn loaded(text: &str) -> SkillManifest {
    let found = parsed(text, Strictness::Lenient);
    let shown: String = text.chars().take(300).collect();
    found
        .manifest
        .unwrap_or_else(|| panic!("{:?}\n{shown}", found.diagnostics))
}

/// Runs `work` and fails if it took unreasonably long; the limit is for a slow machine without optimisation, and
/// still far below what quadratic work would need.
fn in_time<T>(what: &str, work: impl FnOnce() -> T) -> T {
    within_processor_time(what, Duration::from_secs(4), work)
}

/// Runs `work` with a small stack, so that recursion shows.
fn on_a_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(512 * 1024)
            .spawn_scoped(scope, work)
            .unwrap();
        thread.join().unwrap()
    })
}

/// Runs one test, by its full name, in a separate process: the tested code could end the process.
fn survives_in_a_process(name: &str, work: impl FnOnce()) {
    if std::env::var_os("METIER_TEST_INNER").is_some() {
        return work();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--include-ignored"])
        .env("METIER_TEST_INNER", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{:?}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}
