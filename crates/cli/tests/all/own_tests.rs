//! The built-in skills keep their promises: each validates, scans clean, and passes its own tests.

use std::{fs, path::Path};

use metier_testkit::{TestContext, needed, needs};

const EXAMPLES: &[&str] = &[
    "ddd-expert",
    "kubernetes",
    "no-secrets",
    "redact",
    "reminder",
    "rfc-writer",
];
const BUILTIN: &[&str] = &[
    "core-tools",
    "git",
    "opencode-implementer",
    "specification-engine",
];

fn context() -> TestContext {
    let mut context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    // The real programs: the tests depend on their behaviour.
    context.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    context
}

#[test]
fn examples_validate_scan_clean_and_pass_their_tests() {
    needed!(needs::program("kubectl"));
    let context = context();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for name in EXAMPLES {
        let place = folder.join(name).canonicalize().unwrap();
        let place = place.to_str().unwrap();
        for command in [
            &["validate", "--strict", place][..],
            &["scan", "--fail-on", "warning", place],
            &["test", place],
        ] {
            let output = context.run(command);
            assert_eq!(output.code, 0, "{command:?}\n{}", output.snapshot());
            assert!(!output.stdout.is_empty(), "{command:?} says nothing");
        }
    }
}

#[test]
fn every_example_is_tested_and_described() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // Their promises are tested in separate files.
        .filter(|name| name != "fenced" && name != "word-count")
        .collect();
    names.sort();
    assert_eq!(names, EXAMPLES);
    for name in EXAMPLES {
        for file in ["README.md", "SKILL.yaml", "tests/cases.yaml"] {
            assert!(folder.join(name).join(file).is_file(), "{name}/{file}");
        }
    }
}

#[test]
fn built_in_skills_pass_their_tests() {
    let context = context();
    for name in BUILTIN {
        let output = context.run(&["test", name]);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        assert!(output.stdout.lines().count() > 4, "{}", output.snapshot());
    }
}

/// A skill that needs a missing program names it, and the way to install it.
#[test]
fn kubernetes_refuses_without_kubectl() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let folder = folder.canonicalize().unwrap();
    let output = context.run(&[
        "--root",
        folder.to_str().unwrap(),
        "--approve-skills",
        "kubernetes",
        "call",
        "kubernetes",
        "version",
    ]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(output.stderr.contains("kubectl"), "{}", output.snapshot());
}
