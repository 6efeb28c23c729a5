//! Compares the result of lenient parsing of real skills with PyYAML's.
//!
//! `cargo run -p metier-model --example pyyaml -- FOLDER [PYTHON]` reads every SKILL.md below FOLDER twice: here, and with the
//! PyYAML of PYTHON (`python3`). It prints how many load, every name and description that differs although PyYAML can parse the
//! frontmatter, and the diagnostics by code. Exit code 1 when a name differs.
#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    thread,
};

use metier_model::{FileText, Files, Strictness, parse_card};
use serde_json::Value;

/// Reads paths, one on each line, and prints for each one line of JSON: name and description, or `null`.
const SCRIPT: &str = r"
import json, re, sys, yaml
loader = getattr(yaml, 'CBaseLoader', yaml.BaseLoader)
frontmatter = re.compile(r'\s*---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)', re.S | re.M)
def text(value):
    return value.strip() if isinstance(value, str) else None
for path in sys.stdin:
    answer = None
    with open(path.rstrip('\n'), encoding='utf-8-sig', errors='replace') as file:
        found = frontmatter.match(file.read())
    try:
        fields = yaml.load(found.group(1), Loader=loader) if found else None
        if isinstance(fields, dict):
            answer = [text(fields.get('name')), text(fields.get('description'))]
    except (yaml.YAMLError, ValueError):
        pass
    print(json.dumps(answer))
";

#[derive(Default)]
struct Totals {
    files: usize,
    loaded: usize,
    parsed_there: usize,
    names: usize,
    descriptions: usize,
    codes: BTreeMap<String, usize>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: pyyaml FOLDER [PYTHON]")?;
    let python = arguments.next().unwrap_or_else(|| "python3".to_owned());
    let mut paths = Vec::new();
    find(Path::new(&folder), &mut paths)?;
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no standard input")?;
    let output = child.stdout.take().ok_or("no standard output")?;
    let lines: String = paths
        .iter()
        .map(|path| format!("{}\n", path.display()))
        .collect();
    let writer = thread::spawn(move || input.write_all(lines.as_bytes()));
    let mut totals = Totals::default();
    for (path, answer) in paths.iter().zip(BufReader::new(output).lines()) {
        compare(path, &serde_json::from_str(&answer?)?, &mut totals)?;
    }
    writer.join().map_err(|_| "the writer panicked")??;
    if !child.wait()?.success() || totals.files != paths.len() {
        return Err("PyYAML stopped early".into());
    }
    print(&totals);
    Ok(ExitCode::from(u8::from(totals.names > 0)))
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let is_skill = entry.file_name().eq_ignore_ascii_case("SKILL.md");
        match entry.file_type()? {
            kind if kind.is_dir() => find(&entry.path(), found)?,
            kind if kind.is_file() && is_skill => found.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

fn compare(path: &Path, there: &Value, totals: &mut Totals) -> Result<(), Box<dyn Error>> {
    let bytes = fs::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let folder = path
        .parent()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy());
    let skill_md = FileText {
        name: "SKILL.md",
        text: &text,
    };
    let files = Files {
        folder: folder.as_deref(),
        skill_md: Some(skill_md),
        ..Files::default()
    };
    let (card, diagnostics) = parse_card(&files, Strictness::Lenient);
    totals.files += 1;
    totals.parsed_there += usize::from(!there.is_null());
    let mut codes: Vec<_> = diagnostics
        .iter()
        .map(|found| format!("{} {}", found.severity, found.code))
        .collect();
    codes.sort();
    codes.dedup();
    codes
        .iter()
        .for_each(|code| *totals.codes.entry(code.clone()).or_default() += 1);
    let Some(card) = card else {
        println!("not loaded ({}): {}", codes.join(", "), path.display());
        return Ok(());
    };
    totals.loaded += 1;
    let differs = |there: &Value, here: &str| {
        there
            .as_str()
            .is_some_and(|there| !there.is_empty() && there != here)
    };
    if differs(&there[0], &card.name) && !codes.iter().any(|code| code.contains("name-unusable")) {
        totals.names += 1;
        println!(
            "name: {}\n  here  {:?}\n  there {}",
            path.display(),
            &*card.name,
            there[0]
        );
    }
    if differs(&there[1], &card.description) {
        totals.descriptions += 1;
        println!(
            "description ({}): {}\n  here  {:?}\n  there {}",
            codes.join(", "),
            path.display(),
            card.description,
            there[1]
        );
    }
    Ok(())
}

fn print(totals: &Totals) {
    let Totals {
        files,
        loaded,
        parsed_there,
        names,
        descriptions,
        codes,
    } = totals;
    let percent = |part: usize| 100.0 * part as f64 / (*files).max(1) as f64;
    println!(
        "\n{files} files; {loaded} load ({:.2} %); PyYAML parses {parsed_there} ({:.2} %)",
        percent(*loaded),
        percent(*parsed_there)
    );
    println!("names that differ: {names}; descriptions that differ: {descriptions}");
    for (code, count) in codes {
        println!("{count:8}  {code}");
    }
}
