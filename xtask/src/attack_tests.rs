//! Every case of a feature that is built has a test, and the check detects the problems that it is for.

use std::path::Path;

use super::cases::{self, AttackCase};
use super::outcome::{self, CaseVerdict, TestOutcome};
use super::tagged::{self, TaggedTest};
use super::{Coverage, coverage, mismatches, ranges, report};
use crate::workspace;

#[test]
fn every_case_of_a_built_feature_has_a_test() {
    let coverage = coverage(&workspace::root()).unwrap();
    assert_eq!(coverage.problems, Vec::<String>::new());
    assert!(coverage.tests.len() > coverage.cases.len());
}

fn case(number: u16, built: bool) -> AttackCase {
    AttackCase {
        number,
        attempt: "a path that climbs out".to_owned(),
        feature: "read".to_owned(),
        built,
    }
}

fn tagged(cases: &[u16]) -> TaggedTest {
    TaggedTest {
        cases: cases.to_vec(),
        place: "crates/x/tests/all/paths.rs:7".to_owned(),
        target: "/x/tests/all/main.rs".into(),
        name: "paths::no_path_climbs_out".to_owned(),
        scenario: None,
    }
}

/// Samples are written without the mark, so that this file itself carries no numbers.
fn marked(text: &str) -> String {
    text.replace("@case", "// case")
}

#[test]
fn rows_are_read() {
    let page = "| case | what | must | feature |\n|---|---|---|---|\n\
                | 2 | a | b | `server` (not built) |\n| 1 | a path that climbs out | refuse | `read` |\n";
    let (cases, problems) = cases::read(page);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(cases[0], case(1, true));
    assert!(!cases[1].built);
    assert_eq!(cases[1].feature, "server");
}

#[test]
fn sabotage_a_table_that_lost_a_row_is_noticed() {
    let page = |rows: &[&str]| cases::read(&rows.join("\n")).1.join("\n");
    let check = |rows: &[&str], expected: &str| {
        let problems = page(rows);
        assert!(problems.contains(expected), "{problems}");
    };
    check(
        &["| 1 | a | b | `read` |", "| 3 | a | b | `read` |"],
        "case 2 has no row",
    );
    check(
        &["| 1 | a | b | `read` |", "| 1 | a | b | `read` |"],
        "case 1 has two rows",
    );
    check(&["| 1 | a | b |"], "case 1 has 3 cells");
    check(&["| 1 | a | | `read` |"], "empty cell");
    check(&["| 1 | a | b | read |"], "names no feature");
    check(
        &[
            "| 1 | a | b | `read` |",
            "| 2 | a | b | `read` (not built) |",
        ],
        "built in one row",
    );
    check(&["no table"], "lists no cases");
}

#[test]
fn tests_are_found_with_their_modules() {
    let text = marked(
        "mod inner {\n    @case 94, 161\n    /// What it is.\n    #[cfg(unix)]\n    #[test]\n    fn held() {\n    }\n}\n\n\
         #[cfg(test)]\nmod tests {\n    proptest! {\n        @case 3\n        #[test]\n        #[expect(\n            x,\n        )]\n        fn any(x in 0..3) {}\n    }\n}\n",
    );
    let (tests, problems) = tagged::in_rust(&text, "outer::");
    assert_eq!(problems, Vec::new());
    let expected = [
        (2, vec![94, 161], "outer::inner::held".to_owned()),
        (13, vec![3], "outer::tests::any".to_owned()),
    ];
    assert_eq!(tests, expected);
}

#[test]
fn sabotage_a_number_without_a_test_is_noticed() {
    let check = |text: &str, expected: &str| {
        let (tests, problems) = tagged::in_rust(&marked(text), "");
        assert_eq!(tests, Vec::new());
        let [(1, problem)] = &problems[..] else {
            panic!("{problems:?}");
        };
        assert!(problem.contains(expected), "{problem}");
    };
    check("@case 94\nfn held() {}\n", "stands above no test");
    check(
        "@case 94\n\n#[test]\nfn held() {}\n",
        "stands above no test",
    );
    check(
        "@case 94 and 95\n#[test]\nfn held() {}\n",
        "no list of cases",
    );
    check("@case 94", "stands above no test");
    let (tests, problems) = tagged::in_rust(&marked("@case in point\nfn held() {}\n"), "");
    assert!(tests.is_empty() && problems.is_empty());
}

#[test]
fn scenarios_carry_numbers_too() {
    let text = "# A document\n\n## Every way out\n\n<!-- case 1, 2 -->\nProse.\n";
    let (scenarios, problems) = tagged::in_specification("spec/x.md", text);
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(scenarios, [(5, vec![1, 2], "Every way out".to_owned())]);
    let (_, problems) =
        tagged::in_specification("spec/x.md", "<!-- case 1 -->\n## Late\n<!-- case x -->\n");
    assert_eq!(problems.len(), 2, "{problems:?}");
}

#[test]
fn sabotage_what_does_not_fit_is_noticed() {
    assert_eq!(
        mismatches(&[case(1, true)], &[tagged(&[1])]),
        Vec::<String>::new()
    );
    assert_eq!(mismatches(&[case(1, false)], &[]), Vec::<String>::new());
    let missing = mismatches(&[case(1, true)], &[]);
    assert_eq!(
        missing,
        ["case 1 (`read`) has no test: a path that climbs out"]
    );
    let unknown = mismatches(&[case(1, true)], &[tagged(&[1, 9])]);
    assert_eq!(
        unknown,
        ["crates/x/tests/all/paths.rs:7: docs/security.md has no case 9"]
    );
}

const OUTPUT: &str = "\
running 4 tests
test a::passes ... ok
test a::fails ... FAILED
test a::panics - should panic ... ok
test a::skips ... ok

successes:

---- a::skips stdout ----
test a::fails ... ok
not run: case 9: no Landlock here
not run: as nobody: this user can't become another

successes:
    a::passes

failures:

---- a::fails stdout ----
it broke

failures:
    a::fails
";

#[test]
fn results_and_reasons_are_read() {
    let names = ["passes", "fails", "panics", "skips", "gone"].map(|name| format!("a::{name}"));
    let read = outcome::read(OUTPUT, &names);
    let verdicts = names.each_ref().map(|name| read[name].verdict);
    let expected = [
        CaseVerdict::Passed,
        CaseVerdict::Failed,
        CaseVerdict::Passed,
        CaseVerdict::Passed,
        CaseVerdict::Missing,
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(read["a::fails"].output, "\nit broke".trim_start());
    assert_eq!(read["a::skips"].skipped(9), Some("no Landlock here"));
    assert_eq!(read["a::skips"].skipped(10), None);
    assert_eq!(read["a::skips"].not_run().count(), 2);
}

fn told(verdict: CaseVerdict, output: &str, scenario: Option<&str>) -> (String, bool) {
    let mut test = tagged(&[1]);
    test.scenario = scenario.map(str::to_owned);
    let key = (test.target.clone(), test.name.clone());
    let output = output.to_owned();
    let outcomes = [(key, TestOutcome { verdict, output })].into();
    let coverage = Coverage {
        cases: vec![case(1, true), case(2, false)],
        tests: vec![test],
        problems: Vec::new(),
    };
    report(&coverage, Some(&outcomes))
}

#[test]
fn a_report_has_every_case_and_fails_with_its_tests() {
    let (text, failed) = told(CaseVerdict::Passed, "not run: as nobody: not root", None);
    assert_eq!(
        text,
        "case 1 (read): a path that climbs out\n  ok       paths::no_path_climbs_out (crates/x/tests/all/paths.rs:7)\n           \
         not run: as nobody: not root\ncase 2 (read, not built): a path that climbs out\n  no test\n\
         attack: 2 cases; 1 ok, 0 FAILED, 0 not run; without a test: 2"
    );
    assert!(!failed);
    assert!(told(CaseVerdict::Failed, "it broke", None).1);
    assert!(told(CaseVerdict::Missing, "", None).1);
    let (text, failed) = told(CaseVerdict::Passed, "not run: case 1: no Landlock", None);
    assert!(
        text.contains("  not run  paths") && text.contains("no Landlock") && !failed,
        "{text}"
    );
    // Another scenario of the same test failed.
    assert!(
        !told(
            CaseVerdict::Failed,
            "x.md:3 (Another): differs",
            Some("Every way out")
        )
        .1
    );
    assert!(
        told(
            CaseVerdict::Failed,
            "x.md:3 (Every way out): differs",
            Some("Every way out")
        )
        .1
    );
}

/// The reader is tested with the output of a real test binary: this one.
#[test]
fn a_test_binary_is_run_and_read() {
    let binary = outcome::Binary {
        program: std::env::current_exe().unwrap(),
        folder: workspace::root(),
    };
    let names = ["numbers_are_summed_up", "there_is_no_such_test"]
        .map(|name| format!("attack::tests::{name}"));
    let read = outcome::read(
        &outcome::start(&binary, &names, Path::new("/dev/null")).unwrap(),
        &names,
    );
    assert_eq!(read[&names[0]].verdict, CaseVerdict::Passed);
    assert_eq!(
        read[&names[0]].not_run().collect::<Vec<_>>(),
        ["on paper: a line for the reader"]
    );
    assert_eq!(read[&names[1]].verdict, CaseVerdict::Missing);
}

#[test]
fn numbers_are_summed_up() {
    println!("not run: on paper: a line for the reader");
    assert_eq!(ranges(&[]), "none");
    assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3, 7, 9-10");
}
