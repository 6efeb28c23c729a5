//! Tests each rule with its samples, and the tables against the style guide.

use std::collections::BTreeSet;

use crate::{
    input::{DeclaredFacts, FileToScan, RuleSet, ScanLimits, ScannedContent},
    made,
    report::{FindingSeverity, ScanReport},
    rule::ScanRule,
    rules,
    samples::{self, RuleSamples, Sample},
    scan::scan,
};

/// A sample as a skill: one file, or two for the placeholder `{PAIR}`.
struct Skill {
    files: Vec<(String, Vec<u8>)>,
    link: Option<(String, String)>,
    declared: Option<BTreeSet<metier_sdk::Permission>>,
}

/// The tables contain only text; placeholders represent other content.
fn skill((path, text): Sample) -> Skill {
    let mut skill = Skill {
        files: Vec::new(),
        link: None,
        declared: None,
    };
    let harmful = made::code(&[made::short("id")], &["os", "system"]);
    match path {
        "{LINK}" => skill.link = Some(("notes".to_owned(), text.to_owned())),
        "{PYC-MISMATCH}" => {
            skill
                .files
                .push(("tool.py".to_owned(), b"print(1)\n".to_vec()));
            let path = "__pycache__/tool.cpython-312.pyc".to_owned();
            skill.files.push((path, made::pyc_312(0, &harmful)));
        }
        _ if path.starts_with("{PAIR}") => {
            let (paths, (first, second)) = (&path[6..], text.split_once('|').unwrap());
            for (path, text) in paths.split('|').zip([first, second]) {
                skill.files.push((path.to_owned(), text.into()));
            }
        }
        _ if text.contains("{UNDECLARED}") => {
            let text = text.replace("{UNDECLARED}", "");
            skill.declared = Some([metier_sdk::Permission::FileRead].into());
            skill.files.push((path.to_owned(), text.into_bytes()));
            let script = b"curl -s https://api.service.invalid/v1 > out.json\n";
            skill.files.push(("run.sh".to_owned(), script.to_vec()));
        }
        _ => skill.files.push((path.to_owned(), expanded(text))),
    }
    skill
}

fn expanded(text: &str) -> Vec<u8> {
    let quiet = made::code(&[made::short("hello")], &["print"]);
    let script: &[(&str, &[u8])] = &[("bin/run.sh", b"#!/bin/sh\necho hello\n")];
    let blanks = "\n".repeat(100_000).into_bytes();
    let macros: &[(&str, &[u8])] = &[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", b"<w:t>report</w:t>"),
        ("word/vbaProject.bin", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    ];
    let table: [(&str, Vec<u8>); 8] = [
        ("{NEWLINES}", blanks),
        ("{PNG}", made::logo()),
        ("{ELF}", made::elf()),
        ("{PYC}", made::pyc_312(0, &quiet)),
        ("{PYC-UNCHECKED}", made::pyc_312(1, &quiet)),
        ("{TAR-ESCAPE}", made::tarred(&[("../../x", b"x")], &[])),
        ("{TAR-SCRIPT}", made::tarred(script, &[])),
        ("{ZIP-MACRO}", made::zipped(macros)),
    ];
    let mut out = text.as_bytes().to_vec();
    for (name, bytes) in table {
        if let Some(at) = text.find(name) {
            out.splice(at..at + name.len(), bytes);
        }
    }
    out
}

fn report(sample: Sample) -> ScanReport {
    let skill = skill(sample);
    let mut files: Vec<FileToScan<'_>> = skill
        .files
        .iter()
        .map(|(path, bytes)| FileToScan {
            path,
            content: ScannedContent::Bytes(bytes),
        })
        .collect();
    if let Some((path, target)) = &skill.link {
        files.push(FileToScan {
            path,
            content: ScannedContent::Link(target),
        });
    }
    let about = DeclaredFacts {
        name: "sample",
        description: "A sample of a rule.",
        declared: skill.declared,
        ..DeclaredFacts::default()
    };
    let rules = RuleSet {
        ..RuleSet::default()
    };
    scan(&files, &about, &rules, &ScanLimits::default())
}

/// Whether a hit was found: by the rule, or by a worse one of its family, which suppresses milder ones.
fn is_found(rule: &ScanRule, report: &ScanReport) -> bool {
    let worse = |severity| severity > rule.severity;
    severity(rule, report) >= Some(rule.severity)
        || report
            .findings
            .iter()
            .any(|finding| finding.rule.category() == rule.category && worse(finding.severity))
}

/// The severity that the rule reports for the sample, if it matches.
fn severity(rule: &ScanRule, report: &ScanReport) -> Option<FindingSeverity> {
    report
        .findings
        .iter()
        .filter(|finding| finding.rule.id() == rule.id)
        .map(|finding| finding.severity)
        .max()
}

fn seen(report: &ScanReport) -> String {
    let findings: Vec<String> = report
        .findings
        .iter()
        .map(|finding| format!("{} {}", finding.severity, finding.rule.id()))
        .collect();
    findings.join(", ")
}

/// Each rule with its samples.
fn bound() -> impl Iterator<Item = (&'static ScanRule, &'static RuleSamples)> {
    samples::all().filter_map(|samples| {
        let mut rules = rules::all();
        Some((rules.find(|rule| rule.id == samples.rule)?, samples))
    })
}

#[test]
fn each_rule_finds_its_hits() {
    let mut wrong = Vec::new();
    for (rule, samples) in bound() {
        for hit in samples.hits {
            let report = report(*hit);
            if !is_found(rule, &report) {
                wrong.push(format!("{}: {hit:?} gives {}", rule.id, seen(&report)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_rule_finds_its_misses() {
    let mut wrong = Vec::new();
    for (rule, samples) in bound() {
        for miss in samples.misses {
            let report = report(*miss);
            if severity(rule, &report) > Some(FindingSeverity::Info) {
                wrong.push(format!("{}: {miss:?} gives {}", rule.id, seen(&report)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rule_has_samples_of_both_kinds() {
    let rules: BTreeSet<&str> = rules::all().map(|rule| rule.id).collect();
    let mut seen = BTreeSet::new();
    for samples in samples::all() {
        let id = samples.rule;
        assert!(
            rules.contains(id),
            "{id} has samples, and there is no such rule"
        );
        assert!(seen.insert(id), "{id} has samples in two places");
        assert!(!samples.hits.is_empty(), "{id} has no hit");
        assert!(!samples.misses.is_empty(), "{id} has no miss");
    }
    let without: Vec<&&str> = rules.difference(&seen).collect();
    assert!(without.is_empty(), "no samples for {without:?}");
}

#[test]
fn ids_are_unique_and_begin_with_their_category() {
    let mut ids = BTreeSet::new();
    for rule in rules::all() {
        assert!(ids.insert(rule.id), "{} is there twice", rule.id);
        let (category, what) = rule.id.split_once('/').expect(rule.id);
        assert_eq!(category, rule.category.word(), "{}", rule.id);
        let plain = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(!what.is_empty() && what.chars().all(plain), "{}", rule.id);
    }
    assert!(!ids.is_empty());
}

#[test]
fn messages_read_like_the_others() {
    for rule in rules::all() {
        for text in [rule.message, rule.fix] {
            let first = text.chars().next().expect(rule.id);
            assert!(!first.is_uppercase(), "{}: {text:?}", rule.id);
            assert!(!text.ends_with(['.', '!', ' ']), "{}: {text:?}", rule.id);
            assert!(!text.contains("please"), "{}: {text:?}", rule.id);
        }
        let number = rule.owasp.strip_prefix("AST").expect(rule.id);
        assert!((1..=10).contains(&number.parse::<u8>().expect(rule.id)));
    }
}
