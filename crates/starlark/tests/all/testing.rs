//! Files of tests.

use metier_sdk::wire::Contributions;
use serde_json::json;

use crate::session::{Session, Transcript};

const SKILL: &str = r#"
def double(x):
    return 2 * x

register_tool("double", "Doubles", lambda input: double(input["x"]))
"#;

const TESTS: &str = r#"
load("//skill.star", "double")

def helper():
    fail("never called")

def test_doubles():
    assert_eq(double(2), 4)
    assert_true(double(0) == 0)
    assert_contains([2, 4], double(2))

def test_is_wrong():
    assert_eq(double(2), 5, "double")
"#;

fn run(test: &str) -> Transcript {
    Session::new(SKILL)
        .file("tests/double.star", TESTS)
        .entrypoint("tests/double.star")
        .call("workflow/run", json!({"name": test}))
        .run()
}

#[test]
fn every_function_that_begins_with_test_is_one() {
    let ran = run("test_doubles");
    let found: Contributions = serde_json::from_value(ran.answers[0]["result"].clone()).unwrap();
    let names: Vec<&str> = found
        .workflows
        .iter()
        .map(|flow| flow.name.as_str())
        .collect();
    assert_eq!(names, ["test_doubles", "test_is_wrong"]);
    assert_eq!(found.tools, [], "what is tested registers nothing");
    assert_eq!(*ran.result(), json!({"output": null}));
}

#[test]
fn what_is_not_so_says_what_is() {
    let ran = run("test_is_wrong");
    let complaint = ran.complaint();
    assert!(
        complaint.contains("double: expected 5, got 4"),
        "{complaint}"
    );
    assert!(complaint.contains("tests/double.star:13:5"), "{complaint}");
}

#[test]
fn assertions_are_for_tests() {
    let ran = Session::new("assert_eq(1, 1)").run();
    assert!(ran.complaint().contains("assert_eq"), "{}", ran.complaint());
}
