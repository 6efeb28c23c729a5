//! Proposed permissions, compared with what a careful person would grant.
//!
//! Each file in `permissions/` is a small skill: first its label, one permission per line, written by reading the skill; then its files,
//! each after `=== path`. Where the proposal cannot be right, the file contains the reason between the two: `- PERMISSION: why` for a label
//! that isn't proposed, `+ PERMISSION: why` for a proposal that is not in the label. So each proposal is pinned exactly, and an improvement
//! fails as well.

#![expect(
    clippy::expect_used,
    reason = "a label that can't be read is a failed test"
)]

use std::{collections::BTreeSet, fs, path::Path};

use metier_scan::{
    DeclaredFacts, FileToScan, RuleSet, ScanLimits, ScannedContent, scan, suggested,
};

struct Labelled {
    name: String,
    label: BTreeSet<String>,
    missing: BTreeSet<String>,
    extra: BTreeSet<String>,
    files: Vec<(String, String)>,
}

fn labelled() -> Vec<Labelled> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/permissions");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the folder of the labels")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Labelled {
    let text = fs::read_to_string(path).expect("a labelled skill");
    let name = path
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let mut skill = Labelled {
        name,
        label: BTreeSet::new(),
        missing: BTreeSet::new(),
        extra: BTreeSet::new(),
        files: Vec::new(),
    };
    for line in text.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("=== ") {
            skill
                .files
                .push((path.trim_end().to_owned(), String::new()));
        } else if let Some((_, content)) = skill.files.last_mut() {
            content.push_str(line);
        } else {
            let line = line.trim_end();
            let differs = |line: &str| {
                let (permission, why) = line.split_once(": ").expect("a difference has a reason");
                assert!(why.len() > 20, "{}: that is no reason", skill.name);
                permission.to_owned()
            };
            match line.split_at_checked(2) {
                Some(("- ", rest)) => skill.missing.insert(differs(rest)),
                Some(("+ ", rest)) => skill.extra.insert(differs(rest)),
                _ => skill.label.insert(line.to_owned()),
            };
        }
    }
    skill
}

fn proposed(skill: &Labelled) -> BTreeSet<String> {
    let files: Vec<FileToScan<'_>> = skill
        .files
        .iter()
        .map(|(path, content)| FileToScan {
            path,
            content: ScannedContent::Bytes(content.as_bytes()),
        })
        .collect();
    let report = scan(
        &files,
        &DeclaredFacts::default(),
        &RuleSet::default(),
        &ScanLimits::default(),
    );
    suggested(&report.capabilities).into_iter().collect()
}

#[test]
fn proposals_are_what_a_careful_person_would_grant() {
    let mut table = String::new();
    let mut wrong = Vec::new();
    let (mut labels, mut proposals, mut both) = (0, 0, 0);
    for skill in labelled() {
        let found = proposed(&skill);
        let agreed = found.intersection(&skill.label).count();
        labels += skill.label.len();
        proposals += found.len();
        both += agreed;
        table.push_str(&format!(
            "{:<18} label {:>2}  proposed {:>2}  agreed {agreed:>2}",
            skill.name,
            skill.label.len(),
            found.len()
        ));
        for permission in skill.label.difference(&found) {
            table.push_str(&format!("  -{permission}"));
        }
        for permission in found.difference(&skill.label) {
            table.push_str(&format!("  +{permission}"));
        }
        table.push('\n');
        let mut expected: BTreeSet<String> =
            skill.label.difference(&skill.missing).cloned().collect();
        expected.extend(skill.extra.iter().cloned());
        if expected != found || !skill.missing.is_subset(&skill.label) {
            wrong.push(skill.name);
        }
    }
    table.push_str(&format!(
        "precision {both}/{proposals}, recall {both}/{labels}\n"
    ));
    println!("{table}");
    assert!(wrong.is_empty(), "not as pinned: {wrong:?}\n{table}");
}

#[test]
fn there_are_enough_of_them_and_each_scope_is_in_the_grammar() {
    let all = labelled();
    assert!(all.len() >= 30);
    for skill in all {
        for permission in proposed(&skill) {
            assert!(is_in_grammar(&permission), "{}: {permission}", skill.name);
        }
    }
}

/// Bare, or with a scope of its kind.
fn is_in_grammar(permission: &str) -> bool {
    let Some((kind, scope)) = permission.split_once('(') else {
        return matches!(
            permission,
            "net:fetch" | "env:read" | "file:read" | "file:write" | "shell:exec"
        );
    };
    let Some(scope) = scope.strip_suffix(')') else {
        return false;
    };
    let word = |text: &str, more: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    match kind {
        "shell:exec" => match scope.strip_suffix(" *") {
            Some(program) => word(program, "-_.+"),
            None => scope.contains('/') && word(scope, "-_./"),
        },
        "net:fetch" => word(scope, "-_.:"),
        "env:read" => word(scope, "_"),
        "file:read" | "file:write" => ["./", "~/", "/"]
            .iter()
            .any(|start| scope.starts_with(start)),
        _ => false,
    }
}
