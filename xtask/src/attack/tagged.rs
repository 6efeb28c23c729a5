//! Finds the tests that carry the number of a case.
//!
//! A test binary knows its tests by module path, so the modules of each target are followed from its root file. Layout is
//! read by lines, which rustfmt guarantees: an inline module ends at the brace of its own depth.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Result, tidy, workspace};

/// The test that runs `spec/*.md`.
const SPECIFICATIONS: (&str, &str) = (
    "crates/cli/tests/all/main.rs",
    "spec::the_specifications_hold",
);

/// A test, or a scenario of a specification, and the cases it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaggedTest {
    pub(crate) cases: Vec<u16>,
    /// `FILE:LINE`, below the root of the workspace.
    pub(crate) place: String,
    /// The root file of the target that contains it.
    pub(crate) target: PathBuf,
    /// Its module path in that target.
    pub(crate) name: String,
    /// The heading, if it is a scenario; `name` is then the test that runs all of them.
    pub(crate) scenario: Option<String>,
}

/// Every test of the workspace with a number, and every number that belongs to no test.
pub(crate) fn find(root: &Path) -> Result<(Vec<TaggedTest>, Vec<String>)> {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for target in targets(&workspace::metadata()?) {
        let mut modules = Vec::new();
        follow(&target, "", true, &mut modules);
        for (file, prefix) in modules {
            let shown = below(root, &file);
            let text = fs::read_to_string(&file)?;
            let (tests, wrong) = in_rust(&text, &prefix);
            if seen.insert(file) {
                problems.extend(
                    wrong
                        .iter()
                        .map(|(line, what)| format!("{shown}:{line}: {what}")),
                );
            }
            found.extend(tests.into_iter().map(|(line, cases, name)| TaggedTest {
                cases,
                place: format!("{shown}:{line}"),
                target: target.clone(),
                name,
                scenario: None,
            }));
        }
    }
    for (path, text) in workspace::texts(root)? {
        let ours = ["crates/", "sdk/", "xtask/"]
            .iter()
            .any(|top| path.starts_with(top));
        if ours && path.ends_with(".rs") && !seen.contains(&root.join(&path)) {
            problems.extend(unreachable(&path, &text));
        }
        if path.starts_with("spec/") {
            let (scenarios, wrong) = in_specification(&path, &text);
            problems.extend(wrong);
            found.extend(
                scenarios
                    .into_iter()
                    .map(|(line, cases, title)| TaggedTest {
                        cases,
                        place: format!("{path}:{line}"),
                        target: root.join(SPECIFICATIONS.0),
                        name: SPECIFICATIONS.1.to_owned(),
                        scenario: Some(title),
                    }),
            );
        }
    }
    Ok((found, problems))
}

/// The root files of everything that cargo builds tests from.
fn targets(metadata: &Value) -> Vec<PathBuf> {
    const TESTED: [&str; 6] = ["lib", "bin", "test", "rlib", "cdylib", "proc-macro"];
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let tested = targets.filter(|target| {
        target["test"] == true && TESTED.iter().any(|kind| target["kind"][0] == **kind)
    });
    tested
        .filter_map(|target| target["src_path"].as_str())
        .map(PathBuf::from)
        .collect()
}

/// A file and the modules in it, each with its path. `owns_folder`: whether its modules are next to it.
fn follow(file: &Path, prefix: &str, owns_folder: bool, modules: &mut Vec<(PathBuf, String)>) {
    let Ok(text) = fs::read_to_string(file) else {
        return;
    };
    modules.push((file.to_path_buf(), prefix.to_owned()));
    let folder = file.parent().unwrap_or(file);
    let own = match file.file_stem() {
        Some(stem) if !owns_folder => folder.join(stem),
        _ => folder.to_path_buf(),
    };
    let mut inline = InlineModules::default();
    let mut path_attribute = None;
    for line in text.lines() {
        inline.read(line);
        let trimmed = line.trim();
        if let Some(rest) = trimmed.strip_prefix("#[path = \"") {
            path_attribute = rest.strip_suffix("\"]").map(str::to_owned);
            continue;
        }
        if let Some(name) = module_name(trimmed).and_then(|rest| rest.strip_suffix(';')) {
            let inner = inline.prefix(prefix) + name + "::";
            let below = inline
                .names()
                .fold(own.clone(), |path, part| path.join(part));
            match path_attribute.take() {
                Some(path) => follow(&folder.join(path), &inner, true, modules),
                None if below.join(name).join("mod.rs").exists() => {
                    follow(&below.join(name).join("mod.rs"), &inner, true, modules);
                }
                None => follow(&below.join(format!("{name}.rs")), &inner, false, modules),
            }
        }
        if !trimmed.starts_with("#[") {
            path_attribute = None;
        }
    }
}

/// The name after `mod` in a declaration.
fn module_name(line: &str) -> Option<&str> {
    let line = ["pub(crate) ", "pub(super) ", "pub "]
        .iter()
        .find_map(|word| line.strip_prefix(word))
        .unwrap_or(line);
    line.strip_prefix("mod ")
}

/// The inline modules around a line: the depth of each, and its name.
#[derive(Default)]
struct InlineModules(Vec<(usize, String)>);

impl InlineModules {
    fn read(&mut self, line: &str) {
        let depth = line.len() - line.trim_start().len();
        if line.trim_start() == "}" && self.0.last().is_some_and(|(open, _)| *open == depth) {
            self.0.pop();
        }
        let opened = module_name(line.trim()).and_then(|rest| rest.strip_suffix(" {"));
        if let Some(name) = opened {
            self.0.push((depth, name.to_owned()));
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, name)| name.as_str())
    }

    fn prefix(&self, outer: &str) -> String {
        self.names()
            .fold(outer.to_owned(), |path, name| path + name + "::")
    }
}

type Test = (usize, Vec<u16>, String);
type TaggedScenario = (usize, Vec<u16>, String);

/// The tests of one file that have numbers (line of the number, numbers, full name), and its problems (line, sentence).
pub(super) fn in_rust(text: &str, prefix: &str) -> (Vec<Test>, Vec<(usize, String)>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut inline = InlineModules::default();
    let mut tests = Vec::new();
    let mut problems = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        inline.read(line);
        let Some(numbers) = line.trim().strip_prefix(concat!("//", " case ")) else {
            continue;
        };
        let Some(cases) = numbers_of(numbers) else {
            if numbers.starts_with(|c: char| c.is_ascii_digit()) {
                problems.push((
                    index + 1,
                    format!("`{numbers}` is no list of cases, such as `94, 161`"),
                ));
            }
            continue;
        };
        match test_below(&lines[index + 1..]) {
            Some(name) => tests.push((index + 1, cases, inline.prefix(prefix) + name)),
            None => problems.push((index + 1, format!("case {numbers} stands above no test"))),
        }
    }
    (tests, problems)
}

/// `94, 161`.
fn numbers_of(text: &str) -> Option<Vec<u16>> {
    text.split(", ").map(|number| number.parse().ok()).collect()
}

/// The function below attributes and comments, if `#[test]` is one of them.
fn test_below<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let mut is_test = false;
    let mut in_attribute = false;
    for line in lines {
        let trimmed = line.trim();
        if in_attribute {
            in_attribute = !trimmed.ends_with(")]");
        } else if trimmed.starts_with("#[") {
            is_test |= trimmed == "#[test]";
            in_attribute = !trimmed.ends_with(']');
        } else if !trimmed.starts_with("//") {
            return tidy::function_name(line).filter(|_| is_test);
        }
    }
    None
}

/// Numbers in a file that no test target contains.
fn unreachable(path: &str, text: &str) -> Vec<String> {
    let (tests, _) = in_rust(text, "");
    let lost = |(line, _, name): Test| {
        format!("{path}:{line}: `{name}` is in no test target of the workspace")
    };
    tests.into_iter().map(lost).collect()
}

/// The scenarios of a specification that carry numbers.
pub(super) fn in_specification(path: &str, text: &str) -> (Vec<TaggedScenario>, Vec<String>) {
    let mut scenarios = Vec::new();
    let mut problems = Vec::new();
    let mut title = None;
    for (index, line) in text.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("## ") {
            title = Some(heading.trim().to_owned());
        }
        let comment = line.trim().strip_prefix("<!-- case ");
        let Some(numbers) = comment.and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        let line = index + 1;
        match (numbers_of(numbers), &title) {
            (Some(cases), Some(title)) => scenarios.push((line, cases, title.clone())),
            (None, _) => problems.push(format!("{path}:{line}: `{numbers}` is no list of cases")),
            (_, None) => problems.push(format!(
                "{path}:{line}: case {numbers} stands in no scenario"
            )),
        }
    }
    (scenarios, problems)
}

fn below(root: &Path, file: &Path) -> String {
    let path = file.strip_prefix(root).unwrap_or(file);
    path.to_string_lossy().into_owned()
}
