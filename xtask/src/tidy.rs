//! The rules of this project that no compiler checks.
//!
//! Each rule is a function from texts to problems, so that each has a test with a text that breaks it. What is
//! exempt is in a table with the reason, at the top. Length is judged by layout, which rustfmt guarantees.

mod architecture;
mod features;
mod guide;
mod honesty;
mod names;
mod settings;
mod voice;

use std::path::Path;

use crate::{Findings, Result, workspace};

/// Test inputs may have any form.
fn is_fixture(path: &str) -> bool {
    path.split('/').any(|part| part == "fixtures")
}

/// Names that don't describe the content: of nothing, and of a scene instead of the field.
const EMPTY_NAMES: &[&str] = &[
    "util", "utils", "helper", "helpers", "common", "misc", "manager", "ground", "guises", "room",
    "stage",
];

/// Texts that belong to one machine. They are split, so that this file can contain them.
const MACHINE: &[&str] = &[
    concat!("/wo", "rk"),
    concat!("/ro", "ot"),
    concat!("../sha", "red"),
    concat!("artif", "actory"),
    concat!("sparse+", "http"),
];

/// (file, text, reason): where a text of [`MACHINE`] is right.
const MACHINE_ALLOWED: &[(&str, &str, &str)] = &[];

/// (file or `file::function`, reason): tables may be tall.
const TALL_ALLOWED: &[(&str, &str)] = &[];

const MAX_FUNCTION: usize = 100;
const MAX_FILE: usize = 800;

/// With fewer files than this, something is wrong with the search for files.
const MIN_RUST: usize = 20;
const MIN_MARKDOWN: usize = 2;

/// A file: its path below the root, and its text.
type ProjectText = (String, String);

/// Checks all files below `root`.
pub(crate) fn check(root: &Path) -> Result<Findings> {
    let texts = workspace::texts(root)?;
    let mut problems: Vec<String> = texts
        .iter()
        .flat_map(|(path, text)| file(path, text))
        .collect();
    problems.extend(links(&texts, |path| root.join(path).exists()));
    problems.extend(map(&texts, |path| root.join(path).exists()));
    problems.extend(names::check(&texts));
    problems.extend(features::check(&texts));
    problems.extend(guide::check(&texts));
    problems.extend(architecture::check(&texts));
    problems.extend(settings::check(&texts));
    problems.extend(voice::check(&texts));
    problems.extend(pointers(&texts, |path| root.join(path).exists()));
    let lock = std::fs::read_to_string(root.join("Cargo.lock"))?;
    problems.extend(sources(&lock));
    let count = |extension| {
        texts
            .iter()
            .filter(|(path, _)| path.ends_with(extension))
            .count()
    };
    let (rust, markdown) = (count(".rs"), count(".md"));
    if rust < MIN_RUST || markdown < MIN_MARKDOWN {
        problems.push(format!(
            "only {rust} Rust and {markdown} Markdown files: that can't be all"
        ));
    }
    let looked_at = format!("{rust} Rust and {markdown} Markdown files");
    Ok(Findings {
        looked_at,
        problems,
    })
}

/// All rules that need one file only.
fn file(path: &str, text: &str) -> Vec<String> {
    if is_fixture(path) {
        return Vec::new();
    }
    let mut problems = machine(path, text);
    // The output of a program can end in spaces, and a specification shows it unchanged.
    if !path.starts_with("spec/") {
        problems.extend(blanks(path, text));
    }
    if path.ends_with(".rs") {
        problems.extend(docs(path, text));
        problems.extend(names(path, text));
        problems.extend(tall(path, text));
        problems.extend(honesty::check(path, text));
    }
    problems
}

fn docs(path: &str, text: &str) -> Option<String> {
    let first = text.lines().next().unwrap_or_default();
    let says_something = first
        .strip_prefix("//!")
        .is_some_and(|rest| !rest.trim().is_empty());
    (!says_something).then(|| format!("{path}:1: a file opens with `//!` and what it is for"))
}

fn blanks(path: &str, text: &str) -> Vec<String> {
    let markdown = path.ends_with(".md");
    let problem = |(index, line): (usize, &str)| {
        // Two spaces at the end are a line break in Markdown, but an invisible one: write it differently.
        let what = if line.ends_with(char::is_whitespace) {
            "spaces at the end of the line"
        } else if line.contains('\t') && (markdown || path.ends_with(".rs")) {
            "a tab"
        } else {
            return None;
        };
        Some(format!("{path}:{}: {what}", index + 1))
    };
    text.split('\n').enumerate().filter_map(problem).collect()
}

fn machine(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for &word in MACHINE {
            let allowed = MACHINE_ALLOWED
                .iter()
                .any(|(file, text, _)| *file == path && *text == word);
            if !allowed && mentions(line, word) {
                problems.push(format!("{path}:{}: `{word}` is of one machine", index + 1));
            }
        }
    }
    problems
}

/// Whether `word` is in the line and, if it is a path, neither begins nor ends inside another name.
fn mentions(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || "_-]})~.".contains(c);
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let inside = before.is_some_and(part)
            || after.is_some_and(|c| c.is_alphanumeric() || "_-".contains(c));
        !word.starts_with('/') || !inside
    })
}

fn names(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let parts = path.split('/').map(|part| part.trim_end_matches(".rs"));
    for part in parts.filter(|part| EMPTY_NAMES.contains(part)) {
        problems.push(format!("{path}: `{part}` does not describe its content"));
    }
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let line = line
            .strip_prefix("pub ")
            .or(line.strip_prefix("pub(crate) "))
            .unwrap_or(line);
        let Some(name) = line.strip_prefix("mod ") else {
            continue;
        };
        let name = name.trim_end_matches([';', '{', ' ']);
        if EMPTY_NAMES.contains(&name) {
            problems.push(format!(
                "{path}:{}: `{name}` does not describe its content",
                index + 1
            ));
        }
    }
    problems
}

fn tall(path: &str, text: &str) -> Vec<String> {
    let allowed = |what: &str| TALL_ALLOWED.iter().any(|(name, _)| *name == what);
    let lines: Vec<&str> = text.lines().collect();
    let mut problems = Vec::new();
    if lines.len() > MAX_FILE && !allowed(path) {
        problems.push(format!(
            "{path}: {} lines; more than {MAX_FILE} need a reason",
            lines.len()
        ));
    }
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let length = function_length(&lines[index..]);
        if length > MAX_FUNCTION && !allowed(&format!("{path}::{name}")) {
            problems.push(format!(
                "{path}:{}: `{name}` has {length} lines; {MAX_FUNCTION} are the limit",
                index + 1
            ));
        }
    }
    problems
}

/// The name, if a function starts on this line.
pub(crate) fn function_name(line: &str) -> Option<&str> {
    const BEFORE: &[&str] = &[
        "pub",
        "pub(crate)",
        "pub(super)",
        "const",
        "async",
        "unsafe",
        "extern",
        "\"C\"",
    ];
    let (before, after) = line.trim_start().split_once("fn ")?;
    let modifiers = before.split_whitespace().all(|word| BEFORE.contains(&word));
    let name = after.split(['(', '<']).next()?;
    modifiers.then_some(name)
}

/// From its first line to the brace that closes it, which rustfmt puts at the same depth.
fn function_length(lines: &[&str]) -> usize {
    let depth = lines[0].len() - lines[0].trim_start().len();
    let Some(open) = lines
        .iter()
        .position(|line| line.ends_with(['{', '}', ';']))
    else {
        return lines.len();
    };
    if !lines[open].ends_with('{') {
        return open + 1;
    }
    let close = format!("{}}}", " ".repeat(depth));
    let body = lines[open..].iter().position(|line| *line == close);
    body.map_or(lines.len(), |length| open + length + 1)
}

/// Every crate is on the map, and everything on the map exists.
fn map(texts: &[ProjectText], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let Some((_, map)) = texts.iter().find(|(path, _)| path == "ARCHITECTURE.md") else {
        return vec!["ARCHITECTURE.md is missing".to_owned()];
    };
    let mut problems = Vec::new();
    let named = paths(map);
    let crates = texts
        .iter()
        .filter_map(|(path, _)| path.strip_suffix("/Cargo.toml"));
    for folder in crates.filter(|folder| !is_fixture(folder)) {
        if !named
            .iter()
            .any(|path| path == folder || path.starts_with(&format!("{folder}/")))
        {
            problems.push(format!("ARCHITECTURE.md does not mention `{folder}`"));
        }
    }
    for path in named.iter().filter(|path| !exists(path)) {
        problems.push(format!(
            "ARCHITECTURE.md mentions `{path}`, which does not exist"
        ));
    }
    problems
}

/// The files after "Start reading at" exist, next to the file that names them or in its crate.
fn pointers(texts: &[ProjectText], exists: impl Fn(&str) -> bool) -> Vec<String> {
    const START: &str = "**Start reading at** ";
    let mut problems = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| path.ends_with(".rs")) {
        let docs: String = text
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| format!("{}\n", line.trim()))
            .collect();
        let Some((_, after)) = docs.split_once(START) else {
            continue;
        };
        let paragraph = after.split("\n\n").next().unwrap_or_default();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let package = path.rsplit_once("/src/").map_or("", |(package, _)| package);
        for file in paragraph.split('`').skip(1).step_by(2) {
            let is_there = |base: &str| exists(format!("{base}/{file}").trim_matches('/'));
            if !is_there(folder) && !is_there(package) {
                problems.push(format!(
                    "{path}: \"Start reading at\" names `{file}`, which does not exist"
                ));
            }
        }
    }
    problems
}

/// The paths below `crates/`, `sdk/` and `xtask` that a text names.
fn paths(text: &str) -> Vec<String> {
    let part = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let words = text
        .split(|c: char| !part(c))
        .map(|word| word.trim_end_matches(['/', '.']));
    let ours = |word: &&str| {
        word.starts_with("crates/")
            || word.starts_with("sdk/")
            || word.starts_with("examples/")
            || word.split('/').next() == Some("xtask")
    };
    words.filter(ours).map(str::to_owned).collect()
}

/// Relative links in Markdown lead somewhere.
fn links(texts: &[ProjectText], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    let markdown = texts
        .iter()
        .filter(|(path, _)| path.ends_with(".md") && !is_fixture(path));
    for (path, text) in markdown {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, target) in targets(text) {
            let file = target.split(['#', '?']).next().unwrap_or_default();
            let elsewhere = file.is_empty() || file.contains(':') || file.starts_with('{');
            let below_root = format!("{folder}/{file}");
            if !elsewhere && !exists(below_root.trim_start_matches('/')) {
                problems.push(format!(
                    "{path}:{line}: the link to `{target}` leads nowhere"
                ));
            }
        }
    }
    problems
}

/// (line, target) of each link outside code.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    let mut fence: Option<String> = None;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let ticks: String = start
            .chars()
            .take_while(|c| *c == '`' || *c == '~')
            .collect();
        match &fence {
            Some(open) if start.trim_end() == ticks && ticks.starts_with(open.as_str()) => {
                fence = None;
            }
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => targets.extend(line_targets(line).map(|target| (index + 1, target))),
        }
    }
    targets
}

fn line_targets(line: &str) -> impl Iterator<Item = String> {
    // Every second piece between backticks is code.
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
    let reference = prose
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "));
    let reference = reference.map(|(_, target)| target.trim().to_owned());
    let inline = prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next());
    let inline: Vec<String> = inline
        .map(|target| target.trim_matches(['<', '>']).to_owned())
        .collect();
    inline.into_iter().chain(reference)
}

/// Locked packages come from crates.io, not from a mirror.
fn sources(lock: &str) -> Vec<String> {
    const OFFICIAL: &str = "\"registry+https://github.com/rust-lang/crates.io-index\"";
    let lines = lock
        .lines()
        .filter_map(|line| line.strip_prefix("source = "));
    let foreign = lines.filter(|source| *source != OFFICIAL);
    foreign
        .map(|source| format!("Cargo.lock: {source} is not crates.io"))
        .collect()
}

#[cfg(test)]
#[path = "tidy_tests.rs"]
mod tests;
