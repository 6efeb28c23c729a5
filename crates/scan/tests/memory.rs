//! The memory for one hostile file, in a separate process: the largest file that is read, dense with tokens.
//!
//! A parser keeps a node for each token, so a megabyte of `a,a,a` takes two hundred times the memory of a megabyte of text. A file with
//! more tokens than any realistic program is not parsed, and the skill is `incomplete`.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "only tests see this")]

use std::fs;

use metier_scan::{DeclaredFacts, FileToScan, RuleSet, ScanLimits, ScannedContent, Verdict, scan};

/// The peak of this process, in MiB.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .expect("a peak");
    let kib = line.split_whitespace().nth(1).expect("a number");
    kib.parse::<usize>().expect("a number") / 1024
}

fn verdict(path: &str, text: &str) -> Verdict {
    let file = FileToScan {
        path,
        content: ScannedContent::Bytes(text.as_bytes()),
    };
    let limits = ScanLimits::default();
    scan(
        &[file],
        &DeclaredFacts::default(),
        &RuleSet::default(),
        &limits,
    )
    .verdict()
}

/// A path, and a text: a beginning, a part that is repeated, an end.
type DenseText = (&'static str, &'static str, &'static str, &'static str);

const PROGRAMS: &[DenseText] = &[
    ("run.py", "x = [", "a,", "]\n"),
    ("run.py", "x = ", "a+", "a\n"),
    ("run.py", "", "a\n", ""),
    ("run.js", "x = {", "a,", "};\n"),
    ("run.js", "x = (", "a,", "a);\n"),
    ("run.js", "", "f();", ""),
];
const DOCUMENTS: &[DenseText] = &[
    ("notes.md", "", "`a` ", ""),
    ("notes.md", "", "- a\n", ""),
    ("notes.md", "", "[a](b)", ""),
    ("notes.md", "", "never tell the user ", ""),
    ("data.json", "[", "\"a b c d\",", "1]"),
    ("run.sh", "f ", "$a ", "\n"),
];

/// As many parts as fit into this many bytes.
fn filled((_, head, part, tail): &DenseText, bytes: usize) -> String {
    format!("{head}{}{tail}", part.repeat(bytes / part.len()))
}

const LARGEST: usize = (1 << 20) - 64;
/// Just below the limit of tokens.
const DENSE: usize = 340_000;

#[test]
fn programs_with_more_tokens_than_people_write_are_incomplete() {
    for text in PROGRAMS {
        let found = verdict(text.0, &filled(text, LARGEST));
        assert_eq!(found, Verdict::Incomplete, "{text:?}");
    }
}

/// The name of the variable that makes a process of this test scan one input.
const CHILD: &str = "METIER_MEMORY_INPUT";

/// One process per input: an allocator keeps its memory.
#[test]
#[allow(clippy::disallowed_methods, reason = "it starts itself")]
fn one_file_takes_at_most_128_megabytes() {
    let dense = PROGRAMS.iter().map(|text| (text, DENSE));
    let inputs: Vec<_> = dense
        .chain(PROGRAMS.iter().chain(DOCUMENTS).map(|text| (text, LARGEST)))
        .collect();
    let child = std::env::var(CHILD)
        .ok()
        .and_then(|number| number.parse::<usize>().ok());
    if let Some((text, bytes)) = child.and_then(|number| inputs.get(number)) {
        verdict(text.0, &filled(text, *bytes));
        println!("peak {}", peak());
    }
    let inputs = inputs.iter().enumerate().filter(|_| child.is_none());
    for (number, (text, bytes)) in inputs {
        let output = std::process::Command::new(std::env::current_exe().expect("a path"))
            .args([
                "--exact",
                "one_file_takes_at_most_128_megabytes",
                "--nocapture",
            ])
            .env(CHILD, number.to_string())
            .output()
            .expect("a process");
        let printed = String::from_utf8_lossy(&output.stdout);
        let peak: usize = printed
            .lines()
            .find_map(|line| line.rsplit_once("peak ")?.1.parse().ok())
            .expect("a peak");
        assert!(peak <= 128, "{peak} MB: {text:?} in {bytes} bytes");
    }
}
