//! Runs tests by their exact names and reads their results.
//!
//! The binaries are those of `cargo test --workspace`, so that nothing is built a second time with other features; they are started in the
//! folder of their package, as cargo starts them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::{Result, test, workspace};

/// The result of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestOutcome {
    pub(crate) verdict: CaseVerdict,
    /// Its output.
    pub(crate) output: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaseVerdict {
    Passed,
    Failed,
    Ignored,
    /// The binary has no test with this name, or ended before it reported a result.
    Missing,
}

impl TestOutcome {
    /// What the machine could not run: the text after `not run: ` on a line of the output.
    pub(crate) fn not_run(&self) -> impl Iterator<Item = &str> {
        let lines = self.output.lines();
        lines.filter_map(|line| line.trim_start().strip_prefix("not run: "))
    }

    /// The reason, if the test reports that it could not try this case.
    pub(crate) fn skipped(&self, case: u16) -> Option<&str> {
        let prefix = format!("case {case}: ");
        self.not_run()
            .find_map(|text| text.strip_prefix(prefix.as_str()))
    }
}

/// A test binary, and the folder that it is started in.
pub(super) struct Binary {
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
}

/// Root file of a target and name of a test → its result.
pub(crate) type Outcomes = BTreeMap<(PathBuf, String), TestOutcome>;

/// Builds all tests and runs these: root file of a target → names.
pub(crate) fn run(wanted: &BTreeMap<PathBuf, Vec<String>>) -> Result<Outcomes> {
    let binaries = build()?;
    let list = test::not_run_list()?;
    let mut outcomes = Outcomes::new();
    for (target, names) in wanted {
        let shown = target.strip_prefix(workspace::root()).unwrap_or(target);
        eprintln!("{}: {} tests", shown.display(), names.len());
        let text = match binaries.get(target) {
            Some(binary) => start(binary, names, &list)?,
            None => String::new(),
        };
        for (name, outcome) in read(&text, names) {
            outcomes.insert((target.clone(), name), outcome);
        }
    }
    Ok(outcomes)
}

fn build() -> Result<BTreeMap<PathBuf, Binary>> {
    let output = workspace::cargo()
        .args(["test", "--workspace", "--locked", "--no-run"])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err("the tests can't be built".into());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tests = messages.filter(|message| message["profile"]["test"] == true);
    Ok(tests.filter_map(|message| binary(&message)).collect())
}

fn binary(message: &Value) -> Option<(PathBuf, Binary)> {
    let source = PathBuf::from(message["target"]["src_path"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let program = PathBuf::from(message["executable"].as_str()?);
    let folder = folder.to_path_buf();
    Some((source, Binary { program, folder }))
}

pub(super) fn start(binary: &Binary, names: &[String], not_run: &Path) -> Result<String> {
    let output = std::process::Command::new(&binary.program)
        .args(names)
        .args(["--exact", "--show-output"])
        .current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder)
        .env(test::NOT_RUN, not_run)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What a test binary reported about these tests. A test can print lines that look like a result, but only further down: the first line counts.
pub(super) fn read(text: &str, names: &[String]) -> BTreeMap<String, TestOutcome> {
    let mut outcomes: BTreeMap<String, TestOutcome> = BTreeMap::new();
    for name in names {
        let verdict = text
            .lines()
            .find_map(|line| verdict(line, name))
            .unwrap_or(CaseVerdict::Missing);
        let output = printed(text, name);
        outcomes.insert(name.clone(), TestOutcome { verdict, output });
    }
    outcomes
}

fn verdict(line: &str, name: &str) -> Option<CaseVerdict> {
    let rest = line.strip_prefix("test ")?.strip_prefix(name)?;
    let rest = rest.strip_prefix(" - should panic").unwrap_or(rest);
    match rest.strip_prefix(" ... ")? {
        "ok" => Some(CaseVerdict::Passed),
        "FAILED" => Some(CaseVerdict::Failed),
        word if word.starts_with("ignored") => Some(CaseVerdict::Ignored),
        _ => None,
    }
}

/// The lines below the name of a test in the report of its binary.
fn printed(text: &str, name: &str) -> String {
    let head = format!("---- {name} stdout ----");
    let lines = text.lines().skip_while(|line| *line != head).skip(1);
    let ends = |line: &&str| {
        (line.starts_with("---- ") && line.ends_with(" stdout ----"))
            || *line == "successes:"
            || *line == "failures:"
    };
    let own: Vec<&str> = lines.take_while(|line| !ends(line)).collect();
    own.join("\n").trim_end().to_owned()
}
