//! Which programs take values as data: the table as people review it, and lines that must not be on it.

use super::listed::unlisted;
use crate::template::{Placeholders, might_run_a_value};

fn is_listed(line: &str) -> bool {
    let parsed = super::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    unlisted(&parsed.commands).is_none()
}

/// How a command with a placeholder in it is covered: by an approval of its commands, or only by one of the very line.
fn verdict(line: &str) -> &'static str {
    let placeholders = Placeholders {
        names: &[],
        declared: true,
    };
    let script = crate::template::parse(line, placeholders);
    let refused = script.iter().any(|piece| {
        matches!(piece, crate::template::Piece::Command(command)
            if matches!(command.script, crate::template::Script::Refused(_)))
    });
    let inner = line.trim_start_matches("!`").trim_end_matches('`');
    match might_run_a_value(inner, placeholders) {
        _ if refused => "refused",
        Some(_) => "this very line",
        None => "its commands",
    }
}

// case 168
#[test]
fn programs_that_run_their_arguments_need_an_approval_of_the_line() {
    let mut wrong = Vec::new();
    for line in include_str!("listed_runners.txt").lines() {
        if !line.is_empty() && verdict(&format!("!`{line}`")) == "its commands" {
            wrong.push(line);
        }
    }
    assert_eq!(wrong, Vec::<&str>::new());
}

// case 168
#[test]
fn a_value_does_not_become_code_on_its_way_through_a_line() {
    for line in [
        "echo \"$ARGUMENTS\" | sh",
        "echo \"$ARGUMENTS\" | sqlite3",
        "echo \"$ARGUMENTS\" | xargs sort",
        "sort $(echo \"$ARGUMENTS\")",
        "git log $(cat \"$ARGUMENTS\")",
        "for f in $(ls $ARGUMENTS); do git log $f; done",
        "cd \"$ARGUMENTS\" && git status",
        "git $ARGUMENTS",
        "gh $ARGUMENTS",
        "git -C \"$ARGUMENTS\" status",
        "git grep -O\"$ARGUMENTS\" x",
        "sort --compress-prog \"$ARGUMENTS\" x",
        "jq \"$ARGUMENTS\" x.json",
        "jq -f \"$ARGUMENTS\" x.json",
        "sh -c 'eval \"$1\"' sh \"$ARGUMENTS\"",
        "awk '{ system($0) }' \"$ARGUMENTS\"",
        "sed 's/a/b/e' \"$ARGUMENTS\"",
        "perl -ne 'print' \"$ARGUMENTS\"",
        "python3 -m timeit \"$ARGUMENTS\"",
        "/usr/bin/sqlite3 :memory: \"$ARGUMENTS\"",
        "//usr/bin/sqlite3 :memory: \"$ARGUMENTS\"",
        "${CLAUDE_PROJECT_DIR}/run.sh \"$ARGUMENTS\"",
        "timeout 5 sqlite3 x \"$ARGUMENTS\"",
        "rg --pre x \"$ARGUMENTS\"",
        "npx cat \"$ARGUMENTS\"",
        "wget -e \"$ARGUMENTS\" x",
    ] {
        assert_ne!(verdict(&format!("!`{line}`")), "its commands", "{line}");
    }
}

#[test]
fn everyday_lines_take_values() {
    for line in [
        "gh pr view $ARGUMENTS",
        "gh pr diff $0 --name-only",
        "gh issue list --search \"$ARGUMENTS\" | head -20",
        "git log --oneline -5 -- $ARGUMENTS",
        "git --no-pager diff $0...$1",
        "cat \"$ARGUMENTS\"",
        "ls -la $ARGUMENTS 2>/dev/null || echo none",
        "grep -rn \"$ARGUMENTS\" src | head -50",
        "rg -n \"$ARGUMENTS\"",
        "find . -name \"$ARGUMENTS\" -type f",
        "wc -l \"$0\" && echo \"$1\"",
        "jq -r '.name' \"$ARGUMENTS\"",
        "jq --arg q \"$ARGUMENTS\" '.[] | select(.a == $q)' x.json",
        "awk '/x/ { print }' \"$ARGUMENTS\"",
        "sed -n '1,20p' \"$ARGUMENTS\"",
        "bash ${CLAUDE_SKILL_DIR}/scripts/x.sh $ARGUMENTS",
        "python3 scripts/x.py \"$ARGUMENTS\"",
        "./scripts/x $ARGUMENTS",
        "${CLAUDE_SKILL_DIR}/x $ARGUMENTS",
        "sh -c 'echo \"$@\"' sh \"$ARGUMENTS\"",
        "timeout 5 gh pr checks $0",
        "curl -s \"https://example.com/$0\"",
        "echo \"$(gh pr view $0)\"",
        "test -f \"$0\" && head -5 \"$0\"",
    ] {
        assert_eq!(verdict(&format!("!`{line}`")), "its commands", "{line}");
    }
}

/// The tables, a program a line: the diff of this is what to review.
#[test]
fn the_table_of_programs() {
    let mut table = String::new();
    let samples = include_str!("listed_samples.txt");
    for program in samples.lines().filter(|line| !line.is_empty()) {
        let covered = if is_listed(program) {
            "its commands"
        } else {
            "this very line"
        };
        table.push_str(&format!("{program:<32} {covered}\n"));
    }
    let kept = include_str!("listed_table.txt");
    assert_eq!(
        kept, table,
        "the table changed; review it, and copy it to listed_table.txt"
    );
}
