//! `check --json`, and the same as SARIF 2.1.0.

use metier::checking::{CheckReport, SkillCheck};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    evaluation::EvalDocument,
    list::DiagnosticRow,
    live::TestRow,
    scan::{ScanDocument, ScannedRow, location, sarif, word_level},
};

/// The rule of a failed test in SARIF.
const TEST_FAILED: &str = "test-failed";

/// `check --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckDocument<'a> {
    /// One row for each skill.
    pub skills: Vec<CheckRow<'a>>,
    /// Problems with folders.
    pub diagnostics: Vec<DiagnosticRow<'a>>,
    /// The results of the trigger queries of the skills; `null` if there are none.
    pub queries: Option<EvalDocument<'a>>,
    /// The numbers of all skills.
    pub summary: CheckSummary,
}

/// The results for one skill.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckRow<'a> {
    /// Path of the skill's folder.
    pub path: String,
    /// Name of the skill.
    pub name: String,
    /// Whether everything is in order.
    pub passed: bool,
    /// Whether it is valid.
    pub valid: bool,
    /// All problems with its form.
    pub diagnostics: Vec<DiagnosticRow<'a>>,
    /// The result of the scan.
    pub scan: ScannedRow,
    /// Its tests; empty if the skill is not valid or blocked.
    pub tests: Vec<TestRow>,
}

/// The numbers of a check.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckSummary {
    /// Skills that were checked.
    pub skills: usize,
    /// Skills in which everything is in order.
    pub passed: usize,
    /// Skills that are not valid.
    pub invalid: usize,
    /// Skills that the scanner blocks.
    pub blocked: usize,
    /// Tests that passed.
    pub tests_passed: usize,
    /// Tests that failed.
    pub tests_failed: usize,
    /// Skills that did not change, and were not checked.
    pub unchanged: usize,
}

impl CheckSummary {
    /// The numbers of a report.
    #[must_use]
    pub fn of(report: &CheckReport) -> Self {
        let number = |is: &dyn Fn(&SkillCheck) -> bool| {
            report.skills.iter().filter(|skill| is(skill)).count()
        };
        let tests = || report.skills.iter().flat_map(|skill| &skill.tests);
        let failed = tests().filter(|test| test.failure.is_some()).count();
        Self {
            skills: report.skills.len(),
            passed: number(&SkillCheck::is_passed),
            invalid: number(&|skill| !skill.is_valid),
            blocked: number(&SkillCheck::is_blocked),
            tests_passed: tests().count() - failed,
            tests_failed: failed,
            unchanged: report.unchanged,
        }
    }
}

impl<'a> CheckDocument<'a> {
    /// The document of a report.
    #[must_use]
    pub fn of(report: &'a CheckReport) -> Self {
        let row = |skill: &'a SkillCheck| CheckRow {
            path: skill.entry.place.path().to_string_lossy().into_owned(),
            name: skill.entry.name().into_owned(),
            passed: skill.is_passed(),
            valid: skill.is_valid,
            diagnostics: skill
                .entry
                .diagnostics
                .iter()
                .map(|one| DiagnosticRow::of(&skill.entry, one))
                .collect(),
            scan: ScannedRow::from(&skill.scan),
            tests: skill.tests.iter().cloned().map(TestRow::from).collect(),
        };
        Self {
            skills: report.skills.iter().map(row).collect(),
            diagnostics: report
                .folder_problems
                .iter()
                .map(DiagnosticRow::new)
                .collect(),
            queries: has_queries(report).then(|| EvalDocument::of(&report.queries)),
            summary: CheckSummary::of(report),
        }
    }

    /// The report as a SARIF log: findings of the scanner, diagnostics and failed tests.
    #[must_use]
    pub fn into_sarif(self, version: &str, base: &str) -> Value {
        let place =
            |folder: &str, file: &str, line, column| location(base, folder, file, line, column);
        let mut results = Vec::new();
        let mut scanned = Vec::new();
        results.extend(self.diagnostics.iter().map(|row| diagnosed(row, base)));
        for skill in self.skills {
            results.extend(skill.diagnostics.iter().map(|row| diagnosed(row, base)));
            let failed = skill.tests.iter().filter(|test| !test.passed);
            results.extend(failed.map(|test| {
                let message = test.message.as_deref().unwrap_or_default();
                json!({
                    "ruleId": TEST_FAILED,
                    "level": "error",
                    "message": { "text": format!("test `{}` failed: {message}", test.name) },
                    "locations": [place(&skill.path, &test.file, test.line.unwrap_or(0), 1)],
                })
            }));
            scanned.push(skill.scan);
        }
        let mut log = sarif(&ScanDocument { skills: scanned }, version, base);
        if let Some(all) = log
            .pointer_mut("/runs/0/results")
            .and_then(Value::as_array_mut)
        {
            all.extend(results);
        }
        log
    }
}

fn has_queries(report: &CheckReport) -> bool {
    !report.queries.results.is_empty() || !report.queries.problems.is_empty()
}

/// A diagnostic as a result of SARIF.
fn diagnosed(row: &DiagnosticRow<'_>, base: &str) -> Value {
    json!({
        "ruleId": row.code,
        "level": word_level_of_diagnostic(row.severity),
        "message": { "text": row.message },
        "locations": [location(base, &row.path, "", row.line.unwrap_or(0), row.column.unwrap_or(1))],
    })
}

fn word_level_of_diagnostic(word: &str) -> &'static str {
    match word {
        "error" => "error",
        word => word_level(word),
    }
}
