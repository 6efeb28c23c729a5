//! Programs that treat values as data: the table for review, and lines that must not be listed.

use super::listed::unlisted;
use super::listed_programs::{ANYTHING, FILE_RUNNERS, LISTED, OperandKind, PASSERS, TEXT_RUNNERS};
use crate::template::{Placeholders, might_run_a_value};

fn is_listed(line: &str) -> bool {
    let parsed = super::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    unlisted(&parsed.commands).is_none()
}

/// How a command with a placeholder is covered: by an approval of its commands, or only by an approval of the exact line.
fn verdict(line: &str) -> &'static str {
    let placeholders = Placeholders {
        names: &[],
        declared: true,
    };
    let script = crate::template::parse(line, placeholders);
    let refused = script.iter().any(|piece| {
        matches!(piece, crate::template::BodyPiece::Command(command)
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
        // Input of a command from its standard input, from a file that the line wrote, or from a start-up file.
        "echo \"$ARGUMENTS\" | python3 /dev/stdin",
        "echo \"$ARGUMENTS\" | python3 /dev/fd/0",
        "echo \"$ARGUMENTS\" | perl /proc/self/fd/0",
        "echo \"$ARGUMENTS\" | . /dev/stdin",
        "echo \"$ARGUMENTS\" | bash ./../../../../../dev/stdin",
        "echo \"$ARGUMENTS\" | bash ${CLAUDE_SKILL_DIR}/../../dev/stdin",
        "echo \"$ARGUMENTS\" | bash -s ./x.sh",
        "echo \"$ARGUMENTS\" | python3 -i x.py",
        "echo \"$ARGUMENTS\" | perl -d ./x.pl",
        "echo \"$ARGUMENTS\" | tee /tmp/x; . /tmp/x",
        "echo \"$ARGUMENTS\" | tee ~/.bashrc; bash -i ./x.sh",
        "echo \"$ARGUMENTS\" | tee ~/.profile; bash -lc true",
        "cp \"$ARGUMENTS\" /tmp/cat; /tmp/cat x",
        "/tmp/cat \"$ARGUMENTS\"",
        "echo \"$ARGUMENTS\" > ~/.gitconfig; git diff",
        "echo \"$ARGUMENTS\" >> ~/.npmrc",
        "{ echo \"$ARGUMENTS\"; } > ~/.npmrc",
        "echo \"$ARGUMENTS\" &> x.sh",
        "echo \"$ARGUMENTS\" | sort -o ~/.npmrc",
        "echo \"$ARGUMENTS\" | uniq - ~/.npmrc",
        "awk '{ print > \"/tmp/x\" }' \"$ARGUMENTS\"",
        "sed -e 'w /tmp/x' -e p \"$ARGUMENTS\"",
        "sed p \"$ARGUMENTS\" -i",
        "sh -c 'echo \"$1\" > ~/.bashrc' sh \"$ARGUMENTS\"",
        "bash -c 'eval \"$3\"' x -c ls \"$ARGUMENTS\"",
        "find . -fprintf /tmp/x \"$ARGUMENTS\"",
        "curl -o /tmp/x \"$ARGUMENTS\"",
        "time -o ~/.bashrc -f %C echo \"$ARGUMENTS\"",
        "env -C /tmp ./x \"$ARGUMENTS\"",
        "find . {-exec,id} \"$ARGUMENTS\" +",
        "find . -ex{ec,} \"$ARGUMENTS\" +",
        "find -- $ARGUMENTS",
        "cargo test -- $ARGUMENTS",
    ] {
        assert_ne!(verdict(&format!("!`{line}`")), "its commands", "{line}");
    }
}

/// Every program of the tables with the words that it needs, so that it is listed with a value as its operand.
fn samples() -> Vec<String> {
    let mut samples: Vec<String> = ANYTHING
        .split_ascii_whitespace()
        .filter(|program| !["[", "printf", "test"].contains(program))
        .map(str::to_owned)
        .collect();
    for entry in LISTED {
        let text = if entry.operands == OperandKind::TextFirst {
            " .x"
        } else {
            ""
        };
        let subcommands = entry.subcommands.split(',').map(str::trim);
        samples.extend(subcommands.map(|sub| format!("{} {sub}{text}", entry.name)));
    }
    samples.extend(
        FILE_RUNNERS
            .iter()
            .map(|(name, _)| format!("{name} scripts/x.y")),
    );
    samples.extend(TEXT_RUNNERS.iter().map(|(name, _)| format!("{name} 3p")));
    let passers = PASSERS
        .split_ascii_whitespace()
        .filter(|name| *name != "timeout");
    samples.extend(passers.map(|name| format!("{name} cat")));
    samples.push("./scripts/x".to_owned());
    samples
}

// case 168
#[test]
fn no_value_becomes_an_option_of_a_listed_program() {
    for sample in samples() {
        let takes_operands = !sample.starts_with("uniq");
        let line = format!("{sample} \"$0\"");
        let covered = if takes_operands {
            "its commands"
        } else {
            "this very line"
        };
        assert_eq!(verdict(&format!("!`{line}`")), covered, "{line}");
        for glued in [
            "-$0", "--$0", "-\"$0\"", "\"-$0\"", "''-$0", "-x$0", "--x$0", "--$0=x", "-$0=x",
            "+$0", "-{a,$0}", "\\-$0", "--a$0=b",
        ] {
            let line = format!("{sample} {glued}");
            assert_ne!(verdict(&format!("!`{line}`")), "its commands", "{line}");
        }
        // A value that is inserted as a word is refused if it starts with a dash.
        let pieces = format!("!`{line}`");
        let pieces = crate::template::parse(
            &pieces,
            Placeholders {
                names: &[],
                declared: true,
            },
        );
        let Some(crate::template::BodyPiece::Command(command)) = pieces.first() else {
            panic!("{line}");
        };
        let crate::template::Script::Ready(recipe) = &command.script else {
            panic!("{line}");
        };
        for value in ["-exec", "--config=x", "-", "--"] {
            let words = [value.to_owned()];
            let values = crate::template::Values {
                text: value,
                words: &words,
                skill_dir: "/skill",
                project_dir: "/project",
                session_id: "",
            };
            assert!(recipe.instantiate(&values).is_err(), "{line}: {value}");
        }
    }
}

/// Options of various programs that name a program, code, a configuration or a file to write.
const HARMFUL: &str = "--config --globalconfig --userconfig --git --node-options --prefix --python --manifest-path --runtime --root \
    --kubeconfig --exec --exec-path --git-dir --work-tree --ext-diff --output --output-document --engine --netrc-file \
    --compress-program --files0-from --pre --pre-glob --hostname-bin --editor --web --from-file --library-path --magic-file \
    --require --import --rcfile --init-file --chdir --in-place --file --load --exec-batch -exec -execdir -ok -okdir -fprint \
    -fprintf -fls -delete -K -Z -O -x -X";

/// Whether a program uses an option with that name, or that letter, for something else.
fn means_something_else(program: &str, option: &str) -> bool {
    match option {
        // A format, and whether early releases count.
        "--output" => ["glab", "kubectl"].contains(&program),
        "--pre" => program.starts_with("pip"),
        _ if option.starts_with("--") || program == "find" => false,
        _ => LISTED
            .iter()
            .filter(|entry| entry.name == program)
            .flat_map(|entry| entry.options.split_ascii_whitespace())
            .any(|one| one.trim_end_matches(':') == &option[..2]),
    }
}

// case 168
#[test]
fn no_option_that_is_not_on_a_list_is_in_a_listed_line() {
    let is_in = |names: &str, name: &str| names.split_ascii_whitespace().any(|one| one == name);
    for sample in samples() {
        let program = sample.split(' ').next().unwrap_or_default();
        // These have no option that runs, configures or writes anything.
        if is_in(ANYTHING, program) || program == "./scripts/x" {
            continue;
        }
        // The file or the command interprets what follows it.
        let only_in_front =
            FILE_RUNNERS.iter().any(|(name, _)| *name == program) || is_in(PASSERS, program);
        let options = HARMFUL.split_ascii_whitespace();
        for option in options.filter(|option| !means_something_else(program, option)) {
            let mut lines = vec![
                sample.replacen(program, &format!("{program} {option} \"$0\""), 1),
                sample.replacen(program, &format!("{program} {option}=\"$0\""), 1),
            ];
            if !only_in_front {
                lines.push(format!("{sample} {option} \"$0\""));
                lines.push(format!("{sample} {option}=\"$0\""));
            }
            for line in lines {
                assert_ne!(verdict(&format!("!`{line}`")), "its commands", "{line}");
            }
        }
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
        "git log --oneline -n 5 --author=\"$0\" 2>&1 | sort | uniq -c | sort -rn",
        "gh pr list --json number,title --jq '.[].title' --search \"$0\" >&2",
        "echo \"- $0\"",
        "echo \"$0\" | bash scripts/x.sh",
        "env LANG=C grep -n \"$0\" x >/dev/null",
        "nice -n 5 rg -tpy -C3 \"$0\"",
        "git branch --list \"$0\" && git tag -l \"$0\"",
        "awk -F: '{ print }' \"$0\"",
        "sed -ne 's/a/b/p' \"$0\"",
        "curl -sSL --max-time 5 \"https://example.com/$0\" | jq -r .name",
    ] {
        assert_eq!(verdict(&format!("!`{line}`")), "its commands", "{line}");
    }
}

/// The tables, one program per line: review the diff of this.
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
