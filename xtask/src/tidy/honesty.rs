//! A test that is green has checked something: none skips its work in its own way, and none measures a busy machine or fails on one.
//!
//! The requirements of a test on the machine are in `crates/testkit/src/needs.rs`, and its waiting times in
//! `crates/testkit/src/patience.rs`.

use super::{function_length, function_name};

/// Files that are exempt.
const EXEMPT: &[&str] = &[
    // The two places where it is decided.
    "crates/testkit/src/needs.rs",
    "crates/testkit/src/patience.rs",
    // The tests of these rules, and of the reader of reports.
    "xtask/src/tidy/honesty.rs",
    "xtask/src/attack_tests.rs",
];

/// All rules about tests.
pub(super) fn check(path: &str, text: &str) -> Vec<String> {
    if EXEMPT.contains(&path) {
        return Vec::new();
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut problems = early_ends(path, &lines);
    let tests = match path.contains("/tests/") || path.ends_with("tests.rs") {
        true => 0,
        false => lines
            .iter()
            .position(|line| *line == "#[cfg(test)]")
            .unwrap_or(lines.len()),
    };
    for index in tests..lines.len() {
        let before = lines[index.saturating_sub(1)].trim();
        problems.extend(
            line_problem(before, lines[index].trim())
                .map(|what| format!("{path}:{}: {what}", index + 1)),
        );
    }
    problems
}

/// Tests that return in the middle. A test that another one starts in a separate process may do so.
fn early_ends(path: &str, lines: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, _) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.trim() == "#[test]")
    {
        let Some(begin) = (index..lines.len()).find(|&at| function_name(lines[at]).is_some())
        else {
            continue;
        };
        if lines[index..begin]
            .iter()
            .any(|line| line.trim().starts_with("#[ignore"))
        {
            continue;
        }
        let end = begin + function_length(&lines[begin..]);
        for (at, line) in lines.iter().enumerate().take(end).skip(begin) {
            if line.trim() == "return;" || line.contains("else { return }") {
                problems.push(format!(
                    "{path}:{}: a test that can't be run ends with `needed!` of crates/testkit, which reports it",
                    at + 1
                ));
            }
        }
    }
    problems
}

/// The problem of one line of a test, which may continue the line before.
fn line_problem(before: &str, line: &str) -> Option<&'static str> {
    const PRINTS: [&str; 3] = ["println!(", "eprintln!(", "print!("];
    let prints = PRINTS
        .iter()
        .any(|macro_| line.contains(macro_) || before.ends_with(macro_));
    if prints
        && ["\"not run", "\"not tested", "\"skip"]
            .iter()
            .any(|word| line.contains(word))
    {
        return Some("what is not run is reported by `needs` of crates/testkit");
    }
    let searches =
        line.contains("split_paths(") && [".any(", ".find("].iter().any(|how| line.contains(how));
    if searches || (line.contains("/bin/") && line.contains(".exists()")) {
        return Some("programs are looked for by `needs::program` of crates/testkit");
    }
    if line.contains("from_mode(0o755)") {
        return Some(
            "a file that this process wrote can't be run reliably: `make_executable` of crates/testkit",
        );
    }
    let compared = ["elapsed() < ", "elapsed() > ", "took < "];
    let limit = compared.iter().find_map(|words| line.split_once(words));
    if limit.is_some_and(|(_, limit)| limit.contains("Duration::from_")) {
        return Some(
            "a limit in seconds fails on a busy machine: `patience` of crates/testkit waits and measures",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::check;

    #[track_caller]
    fn caught(text: &str, expected: &str) {
        let problems = check("crates/x/tests/all/a.rs", text);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains(expected), "{problems:?}");
    }

    #[track_caller]
    fn fine(path: &str, text: &str) {
        assert_eq!(check(path, text), Vec::<String>::new());
    }

    #[test]
    fn a_test_does_not_end_in_the_middle() {
        let test =
            |line: &str| format!("#[test]\nfn a() {{\n    if x {{\n        {line}\n    }}\n}}\n");
        caught(&test("return;"), "a.rs:4: a test that can't be run");
        caught(&test("let Some(x) = y else { return };"), "needed!");
        fine("a.rs", &test("let x = needed!(y);"));
        fine(
            "a.rs",
            &format!(
                "fn helper() {{\n    return;\n}}\n{}",
                test("return work();")
            ),
        );
        fine(
            "a.rs",
            &test("return;").replace("#[test]\n", "#[test]\n#[ignore = \"run by another\"]\n"),
        );
    }

    #[test]
    fn what_is_not_run_has_one_reporter() {
        caught("println!(\"not run: no git\");\n", "reported by `needs`");
        caught(
            "eprintln!(\n    \"not tested as root: {x}\"\n",
            "reported by `needs`",
        );
        fine(
            "crates/x/tests/a.rs",
            "assert!(said.contains(\"not run: stopped\"));\n",
        );
        fine(
            "crates/x/src/a.rs",
            "println!(\"not run: it is a program\");\n",
        );
        caught(
            "if !Path::new(\"/usr/bin/git\").exists() {\n",
            "needs::program",
        );
        caught(
            "env::split_paths(&path).any(|folder| folder.join(\"git\").is_file())\n",
            "needs::program",
        );
    }

    #[test]
    fn what_tests_run_was_written_by_another_process() {
        let old = "fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();\n";
        caught(old, "make_executable");
        fine("src/a.rs", old);
        fine("a_tests.rs", &old.replace("755", "644"));
    }

    #[test]
    fn no_limit_is_in_seconds() {
        caught(
            "assert!(start.elapsed() < Duration::from_secs(5));\n",
            "busy machine",
        );
        caught(
            "if start.elapsed() > std::time::Duration::from_millis(5) {\n",
            "busy machine",
        );
        caught(
            "assert!(took < Duration::from_secs(1), \"slow\");\n",
            "busy machine",
        );
        fine(
            "a_tests.rs",
            "assert!(start.elapsed() >= Duration::from_secs(5));\nif start.elapsed() > PATIENCE {\n",
        );
        fine(
            "src/a.rs",
            "if start.elapsed() > Duration::from_secs(5) {\n",
        );
        let inside = check(
            "src/a.rs",
            "//! A.\n#[cfg(test)]\nmod tests {\n    assert!(took < Duration::from_secs(1));\n}\n",
        );
        assert_eq!(inside.len(), 1, "{inside:?}");
    }
}
