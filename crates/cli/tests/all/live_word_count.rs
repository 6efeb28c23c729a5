//! `examples/word-count`: one source, built in several ways, and the same expectations for each.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use serde_json::json;

use crate::{
    live_guests::guest,
    live_session::{Live, left_running},
    skill_project::field,
};

/// A way to build it.
struct Guise {
    /// The folder with its SKILL.yaml, which is the name of the backend.
    folder: &'static str,
    /// The path in the skill of the file that is run.
    file: &'static str,
    /// Builds everything, and returns the path of that file.
    built: fn() -> PathBuf,
    /// The sandbox in its receipts.
    confinement: &'static str,
}

const GUISES: &[Guise] = &[
    Guise {
        folder: "process",
        file: "word-count",
        built: || host_build().join("word-count"),
        confinement: "namespaces",
    },
    Guise {
        folder: "native",
        file: "libword_count.so",
        built: || host_build().join("libword_count.so"),
        confinement: "namespaces",
    },
    Guise {
        folder: "wasm",
        file: "word_count.wasm",
        built: || guest("word_count.wasm"),
        confinement: "wasm",
    },
];

pub(crate) fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/word-count")
}

/// The folder with what cargo built for this machine.
fn host_build() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| build(&example(), &["--locked"]).join("debug"));
    folder.clone()
}

/// Builds a skill in Rust; returns the folder for build output, which all of them share.
pub(crate) fn build(package: &Path, arguments: &[&str]) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("word-count");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--target-dir"])
        .arg(&target)
        .args(arguments)
        .current_dir(package)
        // Lints are for this repository, not for packages that are built from it.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        // With debug information it would be ten times as large.
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_PROFILE_DEV_STRIP", "true")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{} is not built:\n{}",
        package.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    target
}

/// A machine with the skill, put together as its README describes.
fn live(guise: &Guise) -> Live {
    let live = Live::new();
    let (context, example) = (&live.stage.context, example());
    for (from, to) in [
        (example.join(guise.folder).join("SKILL.yaml"), "SKILL.yaml"),
        (example.join("SKILL.md"), "SKILL.md"),
        (example.join("tests/cases.yaml"), "tests/cases.yaml"),
        ((guise.built)(), guise.file),
    ] {
        let to = context.path(&format!("skills/word-count/{to}"));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&from, &to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    }
    context.write("notes.txt", "one two\nthree\n");
    live
}

/// The receipts, without the file that is run and the folders that tests are run in.
fn written(live: &Live, guise: &Guise) -> Vec<String> {
    let program = format!("shell:exec({} *)", guise.file);
    let receipts = live.stage.receipts();
    let receipts = receipts
        .iter()
        .filter(|one| field(one, "detail") != program && field(one, "act") != "skill:run");
    let words = ["act", "detail", "decision", "outcome"];
    let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
    receipts
        .map(|one| words.map(|name| last(field(one, name))).join(" | "))
        .collect()
}

#[test]
fn every_build_of_the_example_keeps_what_it_promises() {
    let mut first: Option<Vec<String>> = None;
    for guise in GUISES {
        let (live, name) = (live(guise), guise.folder);
        for arguments in [
            &["validate", "--strict", "skills/word-count"][..],
            &["test", "skills/word-count"],
        ] {
            let output = live.stage.context.run(arguments);
            assert_eq!(output.code, 0, "{name}: {}", output.snapshot());
        }

        let call = |input: &str| ["call", "word-count", "count", input].map(str::to_owned);
        let by_path = call(r#"{"path":"notes.txt"}"#);
        let by_path: Vec<&str> = by_path.iter().map(String::as_str).collect();
        let refused = live.run(&by_path);
        assert_eq!(refused.code, 1, "{name}: {}", refused.snapshot());
        assert!(
            refused.stderr.contains("file:read"),
            "{name}: {}",
            refused.snapshot()
        );

        let approved = [&["--approve-skills", "word-count"][..], &by_path].concat();
        let counted = live.json(&approved);
        assert_eq!(
            counted["output"],
            json!({"lines": 2, "words": 3, "bytes": 14}),
            "{name}: {counted}"
        );
        let receipts = live.stage.receipts();
        let start = receipts
            .iter()
            .find(|one| field(one, "act") == "skill:activate");
        let start = start.unwrap();
        assert_eq!(
            field(start, "sandbox"),
            guise.confinement,
            "{name}: {start}"
        );
        let written = written(&live, guise);
        assert_eq!(first.get_or_insert(written.clone()), &written, "{name}");
        assert_eq!(left_running(&live), [""; 0], "{name}");
    }
}

#[test]
fn a_build_of_another_version_is_not_activated() {
    for guise in GUISES {
        let (live, name) = (live(guise), guise.folder);
        let manifest = live.stage.context.read("skills/word-count/SKILL.yaml");
        let manifest = manifest.replace("version: 1.0.0", "version: 1.1.0");
        live.stage
            .context
            .write("skills/word-count/SKILL.yaml", manifest);
        let call = ["call", "word-count", "count", r#"{"text":"one"}"#];
        let refused = live.run(&[&["--approve-skills", "word-count"][..], &call].concat());
        assert_eq!(refused.code, 1, "{name}: {}", refused.snapshot());
        let expected =
            "its code declares `word-count 1.0.0`, but SKILL.yaml declares `word-count 1.1.0`";
        assert!(
            refused.stderr.contains(expected),
            "{name}: {}",
            refused.snapshot()
        );
    }
}
