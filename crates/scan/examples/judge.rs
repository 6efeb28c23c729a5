//! Scans many skills and prints one line of JSON about each: `cargo run --release -p metier-scan --example judge < FOLDERS`.
//!
//! `cargo xtask scan-eval` starts it. The first line contains the rules with their origins; each other line a skill, with the folder as it
//! was given. Nothing of a skill is executed.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for developers of the scanner"
)]

use std::{
    fs,
    io::{self, BufRead as _, Read as _},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use metier_model::{FileText, Files, Strictness, parse};
use metier_scan::{
    DeclaredFacts, FileToScan, FindingSeverity, RuleSet, ScanLimits, ScanReport, ScannedContent,
    builtin_rules, quietly, scan,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The largest file that is read; the scanner reports larger ones as unread.
const MOST: u64 = 33 << 20;

fn main() {
    let rules: Vec<Value> = builtin_rules()
        .map(|rule| json!({ "id": rule.id, "category": rule.category.word(), "origin": rule.origin() }))
        .collect();
    println!("{}", json!({ "rules": rules }));
    let folders: Vec<String> = io::stdin().lock().lines().map_while(Result::ok).collect();
    let (next, out) = (AtomicUsize::new(0), Mutex::new(()));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let row = judged(folder);
                    let _one_at_a_time = out.lock().unwrap_or_else(PoisonError::into_inner);
                    println!("{row}");
                }
            });
        }
    });
}

/// The content of a file.
enum ReadFile {
    Bytes(Vec<u8>),
    Link(String),
    Unread(String),
}

fn judged(folder: &str) -> Value {
    let mut files = Vec::new();
    collect(Path::new(folder), Path::new(folder), &mut files);
    files.sort_by(|a, b| a.0.cmp(&b.0));
    let digest = digest(&files);
    let text = |name: &str| {
        files.iter().find_map(|(path, content)| match content {
            ReadFile::Bytes(bytes) if path == name => {
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
            _ => None,
        })
    };
    let (markdown, yaml) = (text("SKILL.md"), text("SKILL.yaml"));
    let named = |name, text: &'_ Option<String>| -> Option<(&'static str, String)> {
        text.clone().map(|text| (name, text))
    };
    let (markdown, yaml) = (named("SKILL.md", &markdown), named("SKILL.yaml", &yaml));
    let manifest = parse(
        &Files {
            skill_md: markdown
                .as_ref()
                .map(|(name, text)| FileText { name, text }),
            skill_yaml: yaml.as_ref().map(|(name, text)| FileText { name, text }),
            ..Files::default()
        },
        Strictness::Lenient,
    )
    .manifest;
    let card = manifest.as_ref().map(|manifest| &manifest.card);
    let name = card.map_or_else(|| last_part(folder), |card| card.name.to_string());
    let homepage = manifest
        .as_ref()
        .and_then(|manifest| manifest.about.homepage.clone());
    let to_scan: Vec<FileToScan<'_>> = files
        .iter()
        .map(|(path, content)| FileToScan {
            path,
            content: match content {
                ReadFile::Bytes(bytes) => ScannedContent::Bytes(bytes),
                ReadFile::Link(target) => ScannedContent::Link(target),
                ReadFile::Unread(why) => ScannedContent::Unread(why),
            },
        })
        .collect();
    let about = DeclaredFacts {
        name: &name,
        description: card.map_or("", |card| &card.description),
        homepage: homepage.as_deref().unwrap_or_default(),
        ..DeclaredFacts::default()
    };
    let report = quietly(|| {
        scan(
            &to_scan,
            &about,
            &RuleSet::default(),
            &ScanLimits::default(),
        )
    });
    row(folder, &name, &digest, files.len(), report.as_ref())
}

fn row(folder: &str, name: &str, digest: &str, files: usize, report: Option<&ScanReport>) -> Value {
    let Some(report) = report else {
        return json!({ "path": folder, "name": name, "digest": digest, "verdict": "panic" });
    };
    let findings: Vec<Value> = report
        .findings
        .iter()
        .filter(|finding| finding.severity >= FindingSeverity::Warning)
        .map(|finding| {
            json!({
                "rule": finding.rule.id(),
                "severity": finding.severity.word(),
                "file": finding.place.file,
                "line": finding.place.line,
                "message": finding.message,
                "evidence": finding.evidence,
            })
        })
        .collect();
    let unread: Vec<String> = report
        .unread
        .iter()
        .map(|unread| format!("{}: {}", unread.file, unread.why))
        .collect();
    json!({
        "path": folder, "name": name, "digest": digest, "files": files,
        "verdict": report.verdict().word(), "findings": findings, "unread": unread,
    })
}

fn last_part(folder: &str) -> String {
    Path::new(folder)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, ReadFile)>) {
    let Ok(entries) = fs::read_dir(folder) else {
        files.push((
            relative(root, folder),
            ReadFile::Unread("the folder can't be read".into()),
        ));
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            collect(root, &path, files);
        } else if kind.is_symlink() {
            let target = fs::read_link(&path).unwrap_or_default();
            let target = target.to_string_lossy().into_owned();
            files.push((relative(root, &path), ReadFile::Link(target)));
        } else {
            files.push((relative(root, &path), read(&path)));
        }
    }
}

fn read(path: &PathBuf) -> ReadFile {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    match read {
        Ok(_) => ReadFile::Bytes(bytes),
        Err(error) => ReadFile::Unread(error.to_string()),
    }
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}

/// Identifies the bytes of a skill in the table of labels.
fn digest(files: &[(String, ReadFile)]) -> String {
    let mut hash = Sha256::new();
    for (path, content) in files {
        hash.update(path.as_bytes());
        hash.update([0]);
        match content {
            ReadFile::Bytes(bytes) => hash.update(Sha256::digest(bytes)),
            ReadFile::Link(target) => hash.update(target.as_bytes()),
            ReadFile::Unread(_) => hash.update([1]),
        }
    }
    hash.finalize()[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
