//! `cargo xtask attack`: each attack case of `docs/security.md`, the tests that cover it, and their results.
//!
//! **Problem.** A list of attacks proves nothing, and a test does not say which attack it is about. **Decision.** The list is a table in the
//! documentation, a test carries the number of its case, and this chore joins them. That every case of a feature that is built has a test, and that every
//! number has a row, is itself a test of this crate, so `cargo xtask test` checks it without running anything twice.

mod cases;
mod outcome;
mod tagged;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::{Result, test, workspace};
use cases::{AttackCase, PAGE};
use outcome::{CaseVerdict, Outcomes};
use tagged::TaggedTest;

/// The table, the tests with numbers, and the inconsistencies between them.
struct Coverage {
    cases: Vec<AttackCase>,
    tests: Vec<TaggedTest>,
    problems: Vec<String>,
}

/// Runs the tests of all cases, or of those that are named, and prints case → tests → result.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let list_only = arguments.iter().any(|word| word == "--list");
    let numbers = arguments.iter().filter(|word| *word != "--list");
    let chosen: BTreeSet<u16> = numbers
        .map(|word| {
            let number = word.parse();
            number.map_err(|_| {
                format!(
                    "`{word}` is not the number of a case; usage: cargo xtask attack [--list] [CASE …]"
                )
            })
        })
        .collect::<std::result::Result<_, String>>()?;
    let root = workspace::root();
    let mut coverage = coverage(&root)?;
    if let Some(number) = chosen
        .iter()
        .find(|number| !known(&coverage.cases, **number))
    {
        return Err(format!("{PAGE} has no case {number}").into());
    }
    if !chosen.is_empty() {
        coverage.cases.retain(|case| chosen.contains(&case.number));
        coverage
            .tests
            .retain(|test| test.cases.iter().any(|case| chosen.contains(case)));
    }
    let outcomes = match list_only {
        true => None,
        false => {
            test::prepare()?;
            Some(outcome::run(&wanted(&coverage.tests))?)
        }
    };
    let (text, failed) = report(&coverage, outcomes.as_ref());
    println!("{text}");
    for problem in &coverage.problems {
        eprintln!("error: {problem}");
    }
    Ok(if failed || !coverage.problems.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Reads the table and all tests; runs nothing.
fn coverage(root: &Path) -> Result<Coverage> {
    let (cases, mut problems) = cases::read(&fs::read_to_string(root.join(PAGE))?);
    let (tests, lost) = tagged::find(root)?;
    problems.extend(lost);
    problems.extend(mismatches(&cases, &tests));
    Ok(Coverage {
        cases,
        tests,
        problems,
    })
}

/// Numbers without a row, and cases of built features without a test.
fn mismatches(cases: &[AttackCase], tests: &[TaggedTest]) -> Vec<String> {
    let mut problems = Vec::new();
    for test in tests {
        for number in test.cases.iter().filter(|number| !known(cases, **number)) {
            problems.push(format!("{}: {PAGE} has no case {number}", test.place));
        }
    }
    for case in cases.iter().filter(|case| case.built) {
        if !tests.iter().any(|test| test.cases.contains(&case.number)) {
            let AttackCase {
                number,
                feature,
                attempt,
                ..
            } = case;
            problems.push(format!(
                "case {number} (`{feature}`) has no test: {attempt}"
            ));
        }
    }
    problems
}

fn known(cases: &[AttackCase], number: u16) -> bool {
    cases.iter().any(|case| case.number == number)
}

/// Root file of a target → the tests to run in it.
fn wanted(tests: &[TaggedTest]) -> BTreeMap<PathBuf, Vec<String>> {
    let mut wanted: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for test in tests {
        let names = wanted.entry(test.target.clone()).or_default();
        names.insert(test.name.clone());
    }
    let lists = wanted.into_iter();
    lists
        .map(|(target, names)| (target, names.into_iter().collect()))
        .collect()
}

/// How often each result was seen.
#[derive(Default)]
struct ResultTally {
    passed: usize,
    failed: usize,
    not_run: usize,
    without_test: Vec<u16>,
}

/// The whole text, and whether anything failed.
fn report(coverage: &Coverage, outcomes: Option<&Outcomes>) -> (String, bool) {
    let mut text = String::new();
    let mut tally = ResultTally::default();
    for case in &coverage.cases {
        let AttackCase {
            number,
            feature,
            attempt,
            built,
        } = case;
        let state = if *built { "" } else { ", not built" };
        text += &format!("case {number} ({feature}{state}): {attempt}\n");
        let own = coverage
            .tests
            .iter()
            .filter(|test| test.cases.contains(number));
        let lines: Vec<String> = own
            .map(|test| line(*number, test, outcomes, &mut tally))
            .collect();
        if lines.is_empty() {
            tally.without_test.push(*number);
            text += "  no test\n";
        }
        text += &lines.concat();
    }
    text += &failures(outcomes);
    let run = match outcomes {
        Some(_) => format!(
            "{} ok, {} FAILED, {} not run",
            tally.passed, tally.failed, tally.not_run
        ),
        None => "nothing was run".to_owned(),
    };
    text += &format!(
        "attack: {} cases; {run}; without a test: {}",
        coverage.cases.len(),
        ranges(&tally.without_test)
    );
    (text, tally.failed > 0)
}

/// One test below its case, and the parts that the machine could not run.
fn line(
    case: u16,
    test: &TaggedTest,
    outcomes: Option<&Outcomes>,
    tally: &mut ResultTally,
) -> String {
    let title = test.scenario.as_ref().unwrap_or(&test.name);
    let shown = format!("{title} ({})", test.place);
    let Some(outcomes) = outcomes else {
        return format!("  {shown}\n");
    };
    let key = (test.target.clone(), test.name.clone());
    let Some(outcome) = outcomes.get(&key) else {
        tally.failed += 1;
        return format!("  FAILED   {shown}: was not run\n");
    };
    if let Some(reason) = outcome.skipped(case) {
        tally.not_run += 1;
        return format!("  not run  {shown}: {reason}\n");
    }
    // All scenarios are one test; its report names those that failed.
    let other_scenario = |title: &String| !outcome.output.contains(&format!("({title})"));
    let verdict = match outcome.verdict {
        CaseVerdict::Failed if test.scenario.as_ref().is_some_and(other_scenario) => {
            CaseVerdict::Passed
        }
        verdict => verdict,
    };
    let mut text = match verdict {
        CaseVerdict::Passed => {
            tally.passed += 1;
            format!("  ok       {shown}\n")
        }
        CaseVerdict::Ignored => {
            tally.not_run += 1;
            format!("  not run  {shown}: ignored\n")
        }
        CaseVerdict::Failed => {
            tally.failed += 1;
            format!("  FAILED   {shown}\n")
        }
        CaseVerdict::Missing => {
            tally.failed += 1;
            format!("  FAILED   {shown}: the test binary said nothing about it\n")
        }
    };
    let conditions: BTreeSet<&str> = outcome
        .not_run()
        .filter(|line| !line.starts_with("case "))
        .collect();
    for condition in conditions {
        text += &format!("           not run: {condition}\n");
    }
    text
}

/// The output of the failed tests.
fn failures(outcomes: Option<&Outcomes>) -> String {
    let all = outcomes.into_iter().flatten();
    let failed = all.filter(|(_, outcome)| outcome.verdict == CaseVerdict::Failed);
    failed
        .map(|((_, name), outcome)| format!("\n---- {name} ----\n{}\n", outcome.output))
        .collect()
}

/// `23-40, 143`, or `none`.
fn ranges(numbers: &[u16]) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let shown: Vec<String> = ranges
        .into_iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    match shown.is_empty() {
        true => "none".to_owned(),
        false => shown.join(", "),
    }
}

#[cfg(test)]
#[path = "attack_tests.rs"]
mod tests;
