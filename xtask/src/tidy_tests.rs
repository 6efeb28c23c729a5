//! The project is tidy, and each rule detects its violations.

use super::{ProjectText, check, file, function_length, links, map, mentions, pointers, sources};
use crate::workspace;

#[test]
fn the_project_is_tidy() {
    let findings = check(&workspace::root()).unwrap();
    assert!(findings.problems.is_empty(), "{:#?}", findings.problems);
}

#[test]
fn sabotage_a_folder_with_nothing_in_it_fails() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Cargo.lock"), "").unwrap();
    let findings = check(folder.path()).unwrap();
    assert!(
        findings
            .problems
            .iter()
            .any(|problem| problem.contains("that can't be all"))
    );
}

#[track_caller]
fn caught(path: &str, text: &str, expected: &str) {
    let problems = file(path, text);
    assert!(
        problems.iter().any(|problem| problem.contains(expected)),
        "{problems:?}"
    );
}

#[track_caller]
fn fine(path: &str, text: &str) {
    assert_eq!(file(path, text), Vec::<String>::new());
}

#[test]
fn files_say_what_they_are_for() {
    fine("a.rs", "//! Things.\n");
    caught("a.rs", "use std::fs;\n", "opens with `//!`");
    caught("a.rs", "//!\n", "opens with `//!`");
    caught("build.rs", "", "opens with `//!`");
}

#[test]
fn blanks_and_tabs() {
    caught("a.md", "text \n", "a.md:1: spaces at the end");
    caught("a.rs", "//! A.\n\tfn\n", "a.rs:2: a tab");
    caught("a.md", "a\r\n", "spaces at the end");
    fine("spec/a.md", "a \tb \n");
    caught("crates/x/src/spec/a.rs", "//! A. \n", "spaces at the end");
    fine("crates/x/fixtures/a.md", "a \tb \n");
}

#[test]
fn nothing_of_one_machine() {
    let (work, root) = (concat!("/wo", "rk"), concat!("/ro", "ot"));
    caught("a.md", &format!("see {work}/x\n"), "of one machine");
    caught("a.rs", &format!("//! \"{root}\"\n"), "of one machine");
    caught(
        "a.toml",
        concat!("x = \"sparse+", "https://x\"\n"),
        "of one machine",
    );
    caught("spec/a.md", &format!("see {work}/x\n"), "of one machine");
    fine("fixtures/a.md", &format!("see {root}/x\n"));
    assert!(!mentions(&format!("{work}space"), work));
    assert!(!mentions(&format!("https://x.org{root}/y"), root));
    assert!(mentions(&format!("cd {work}"), work));
}

#[test]
fn names_that_describe_nothing_are_refused() {
    caught(
        "crates/x/src/utils.rs",
        "//! A.\n",
        "`utils` does not describe",
    );
    caught(
        "a.rs",
        "//! A.\nmod helper;\n",
        "a.rs:2: `helper` does not describe",
    );
    caught(
        "a.rs",
        "//! A.\n    pub(crate) mod common {\n",
        "`common` does not describe",
    );
    caught(
        "crates/x/tests/all/stage.rs",
        "//! A.\n",
        "`stage` does not describe",
    );
    fine("a.rs", "//! A.\nmod helpful;\n// mod utils\n");
}

#[test]
fn long_functions_and_files() {
    let body = "    x();\n".repeat(98);
    let long = format!("//! A.\npub(crate) async fn long<T>(\n    a: T,\n) {{\n{body}}}\n");
    caught("a.rs", &long, "a.rs:2: `long` has 102 lines");
    fine("a.rs", &format!("//! A.\nfn ok() {{\n{body}}}\n"));
    caught(
        "a.rs",
        &format!("//! A.\n{}", "\n".repeat(800)),
        "801 lines",
    );
    fine(
        "a.rs",
        &format!(
            "//! A.\ntrait T {{\n    fn a(&self);\n{}}}\n",
            "    // x\n".repeat(200)
        ),
    );
}

#[test]
fn a_function_ends_at_its_own_depth() {
    let lines = [
        "    fn a() {",
        "        if x {",
        "        }",
        "    }",
        "    fn b() {}",
        "}",
    ];
    assert_eq!(function_length(&lines), 4);
    assert_eq!(function_length(&lines[4..]), 1);
}

fn texts(list: &[(&str, &str)]) -> Vec<ProjectText> {
    list.iter()
        .map(|&(path, text)| (path.to_owned(), text.to_owned()))
        .collect()
}

#[test]
fn the_map_is_complete_and_true() {
    let packages = [
        ("crates/a/Cargo.toml", ""),
        ("sdk/b/Cargo.toml", ""),
        ("xtask/Cargo.toml", ""),
    ];
    let with = |text| texts(&[&packages[..], &[("ARCHITECTURE.md", text)]].concat());
    let all = "`crates/a/` and [b](sdk/b/src/lib.rs). xtask too.";
    assert!(map(&with(all), |_| true).is_empty());
    assert_eq!(
        map(&with("`crates/a`, xtask"), |_| true),
        ["ARCHITECTURE.md does not mention `sdk/b`"]
    );
    let gone = map(&with(all), |path| path != "crates/a");
    assert_eq!(
        gone,
        ["ARCHITECTURE.md mentions `crates/a`, which does not exist"]
    );
    assert_eq!(
        map(&texts(&packages), |_| true),
        ["ARCHITECTURE.md is missing"]
    );
    let prefix = texts(&[
        ("crates/a/Cargo.toml", ""),
        ("ARCHITECTURE.md", "crates/ab"),
    ]);
    assert_eq!(map(&prefix, |_| true).len(), 1);
}

#[test]
fn a_reader_is_sent_to_files_that_exist() {
    let docs = "//! # a\n//!\n//! **Start reading at** `b.rs`, then `c/mod.rs`,\n//! then `data/d.js`.\n//!\n//! Not `e.rs`.\nmod b; // `f`\n";
    let texts = texts(&[("crates/a/src/lib.rs", docs)]);
    let there = ["crates/a/src/b.rs", "crates/a/data/d.js"];
    assert_eq!(
        pointers(&texts, |path| there.contains(&path)),
        ["crates/a/src/lib.rs: \"Start reading at\" names `c/mod.rs`, which does not exist"]
    );
    assert!(pointers(&texts, |_| true).is_empty());
}

#[test]
fn links_lead_somewhere() {
    let text = "[a](b.md#x) [c](https://x.org) `[d](no.md)` [e](#here)\n```\n[f](no.md)\n```\n[g](../gone.md)\n[h]: lost.md\n";
    let texts = texts(&[("docs/a.md", text)]);
    let found = links(&texts, |path| path == "docs/b.md");
    assert_eq!(
        found,
        [
            "docs/a.md:5: the link to `../gone.md` leads nowhere",
            "docs/a.md:6: the link to `lost.md` leads nowhere"
        ]
    );
}

#[test]
fn locked_packages_come_from_crates_io() {
    let official = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    assert!(sources(official).is_empty());
    assert_eq!(
        sources("source = \"registry+https://mirror.example/index\"\n").len(),
        1
    );
}
