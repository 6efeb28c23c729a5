//! Regular expressions.

use serde_json::json;

use crate::session::{body, value};

fn complaint(expression: &str) -> String {
    let ran = body(&format!("return {expression}")).run();
    ran.complaint().to_owned()
}

#[test]
fn patterns_match_find_and_replace() {
    let check = |expression: &str, expected| {
        assert_eq!(value(expression), expected, "{expression}");
    };
    check(r#"regex.matches(r"^v\d+$", "v12")"#, json!(true));
    check(r#"regex.matches(r"^v\d+$", "v12x")"#, json!(false));
    check(r#"regex.find(r"\w+", "one two")"#, json!(["one", "two"]));
    check(r#"regex.find(r"(\w)=\d", "a=1 b=2")"#, json!(["a", "b"]));
    check(r#"regex.replace("(a)(b)", "abab", "$2$1")"#, json!("baba"));
    check(r#"regex.find("x", "")"#, json!([]));
}

#[test]
fn an_invalid_pattern_is_reported_with_the_reason() {
    assert!(complaint(r#"regex.matches("(", "x")"#).contains("regex.matches: regex parse error"));
    assert!(
        complaint(r#"regex.find(1, "x")"#)
            .contains("regex.find: pattern must be a string, got int")
    );
    assert!(complaint(r#"regex.matches("(a{1000}){1000}", "x")"#).contains("size limit"));
}

// case 142
#[test]
fn a_bad_pattern_takes_no_longer_than_a_good_one() {
    let evil = r#"regex.matches("(a*)*b", "a" * 100000)"#;
    assert_eq!(value(evil), json!(false));
}
