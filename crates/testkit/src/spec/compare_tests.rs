//! Alignment: matches, the display of differences, and corrections.

use super::{Comparison, wildcard};

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[track_caller]
fn check(expected: &str, actual: &str, diff: Option<&str>, corrected: &str) {
    let (expected, actual) = (lines(expected), lines(actual));
    let comparison = Comparison::new(&expected, &actual);
    assert_eq!(
        comparison.is_match(),
        diff.is_none(),
        "{}",
        comparison.diff()
    );
    if let Some(diff) = diff {
        assert_eq!(comparison.diff(), diff);
    }
    let result = comparison.corrected();
    assert_eq!(result, lines(corrected));
    assert!(
        Comparison::new(&result, &actual).is_match(),
        "a correction must match"
    );
}

#[test]
fn equal_lines_match() {
    check("", "", None, "");
    check("a\nb", "a\nb", None, "a\nb");
}

#[test]
fn different_lines_do_not() {
    check(
        "a\nb\nc",
        "a\nx\nc",
        Some("  a\n- b\n+ x\n  c\n"),
        "a\nx\nc",
    );
    check("a", "", Some("- a\n"), "");
    check("", "a  ", Some("+ a··\n"), "a  ");
    check("a\nb", "b\na", Some("- a\n  b\n+ a\n"), "b\na");
}

#[test]
fn dots_stand_for_any_number_of_lines() {
    check("...", "", None, "...");
    check("a\n...\nz", "a\nz", None, "a\n...\nz");
    check("a\n...\nz", "a\nb\nc\nz", None, "a\n...\nz");
    check("a\n...\nz", "a\nb\ny", Some("  a\n  ...\n- z\n"), "a\n...");
    check("...\nb\n...", "a", Some("  ...\n- b\n  ...\n"), "...\n...");
}

#[test]
fn wildcards_in_lines_are_kept_by_corrections() {
    check(
        "v[..]\nold",
        "v1.2\nnew",
        Some("  v[..]\n- old\n+ new\n"),
        "v[..]\nnew",
    );
}

#[test]
fn marks_in_output_are_protected() {
    check(
        "\\$ ls\n\\? 1\n\\...",
        "$ ls\n? 1\n...",
        None,
        "\\$ ls\n\\? 1\n\\...",
    );
    check("", "$ ls", Some("+ $ ls\n"), "\\$ ls");
    check("", "\\$ ls", Some("+ \\$ ls\n"), "\\\\$ ls");
    check("\\d", "\\d", None, "\\d");
}

#[test]
fn wildcard_needs_the_rest() {
    assert!(wildcard("[..]", ""));
    assert!(wildcard("a[..]b[..]c", "a1b2c"));
    assert!(wildcard("a[..]b", "abb"));
    assert!(!wildcard("a[..]b[..]c", "a1c"));
    assert!(!wildcard("ab[..]ba", "aba"));
    assert!(!wildcard("a", "ab"));
}
