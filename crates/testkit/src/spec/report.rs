//! All errors of one run, for a reader who has not seen the documents.

use std::fmt;
use std::path::{Path, PathBuf};

/// One error.
#[derive(Debug)]
pub struct SpecFailure {
    /// The document, relative to the folder of specifications.
    pub file: PathBuf,
    /// The line of the block or command; 0 if it concerns the whole file.
    pub line: usize,
    /// The heading of the scenario, if there is one.
    pub scenario: String,
    /// The command, with the expected and the actual result.
    pub message: String,
}

/// The runs and errors.
#[derive(Debug, Default)]
pub struct SpecReport {
    /// Documents that were read.
    pub documents: usize,
    /// Scenarios that were run.
    pub scenarios: usize,
    /// Commands that were run in them.
    pub commands: usize,
    /// Transcripts that were rewritten.
    pub blessed: usize,
    /// All errors, in reading order.
    pub failures: Vec<SpecFailure>,
    /// The output of commands with `--json`.
    pub printed: Vec<PrintedJson>,
}

/// A run of the program with `--json`.
#[derive(Debug)]
pub struct PrintedJson {
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// Standard output.
    pub stdout: String,
}

impl SpecReport {
    /// Whether a command was run and there are no errors.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.failures.is_empty() && self.scenarios > 0
    }

    /// The counts, in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let Self {
            documents,
            scenarios,
            commands,
            blessed,
            failures,
            ..
        } = self;
        let failures = failures.len();
        format!(
            "spec: {documents} documents, {scenarios} scenarios, {commands} commands; {failures} failures, {blessed} rewritten"
        )
    }

    pub(super) fn fail(&mut self, file: &Path, line: usize, scenario: &str, message: String) {
        self.failures.push(SpecFailure {
            file: file.to_path_buf(),
            line,
            scenario: scenario.to_owned(),
            message,
        });
    }
}

impl fmt::Display for SpecReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "\n{failure}")?;
        }
        writeln!(f, "\n{}", self.summary())?;
        if !self.failures.is_empty() {
            writeln!(
                f,
                "hint: METIER_BLESS=1 rewrites expected output in place; read the diff afterwards"
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for SpecFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if !self.scenario.is_empty() {
            write!(f, " ({})", self.scenario)?;
        }
        for line in self.message.lines() {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}
