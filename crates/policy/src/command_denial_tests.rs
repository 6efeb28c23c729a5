//! Denials and approvals of commands, in every spelling of the command.

use metier_testkit::patience::grows_linearly;
use proptest::{prelude::*, sample::Index};

use crate::{
    Act, ActMeter, CommandLine, ExactOnly, Grant,
    grant_tests::{granted, ruled, terms},
    plain_script,
};

/// A grant of every command with one denial.
fn denying(denial: &str) -> Grant {
    let denial = format!("shell:exec({denial})");
    granted(&["shell:exec"], &[denial.as_str()], terms())
}

fn act(text: &str) -> CommandLine {
    let parsed = metier_model::shell::parse(text).ok();
    CommandLine::new(text, parsed.as_ref(), text, Vec::new())
}

/// The rows of the table: an answer, a denial and a line.
fn rows() -> Vec<[&'static str; 3]> {
    let rows = include_str!("denial_table.txt").lines();
    let rows = rows.filter(|row| !row.is_empty() && !row.starts_with('#'));
    rows.map(|row| {
        let mut columns = row.splitn(3, " | ");
        std::array::from_fn(|_| columns.next().expect(row))
    })
    .collect()
}

/// Every row of the table: a denial, a line, and whether it may run. A line that can't be parsed is refused for that reason only.
// case 211, 216, 217, 218, 219, 220
#[test]
fn a_denial_covers_every_spelling_and_nothing_else() {
    let mut wrong = Vec::new();
    for [answer, denial, text] in rows() {
        let line = act(text);
        let is_parsed = line.could_run.is_some();
        let permitted = denying(denial).permit(Act::Line(line), &ActMeter::default());
        let is = match (is_parsed, permitted) {
            (false, Err(_)) => "not parsed",
            (true, Err(refusal)) if refusal.code == "denied" => "no",
            (true, Ok(_)) => "yes",
            (_, other) => panic!("{denial} | {text}: {other:?}"),
        };
        if is != answer {
            wrong.push(format!("{answer} | {denial} | {text}: {is}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// A denial with quotes, pipes or other signs denies its commands, and not only its text.
// case 211
#[test]
fn a_denied_line_denies_its_commands_however_they_are_written() {
    for (denial, denied, permitted) in [
        (
            "rm -rf ~/*",
            &["rm -rf ~/x", "rm -fr ~/x/y", "rm  -rf ~/*"][..],
            "rm -rf x",
        ),
        (
            "git reset HEAD~1 *",
            &["git reset HEAD~1", "git -C . reset --hard HEAD~1"],
            "git reset x",
        ),
        (
            "git log | head",
            &[
                "git log |head",
                "git log -3|head -5",
                "git log",
                "cat x | head",
            ],
            "git status | tail",
        ),
        (
            "echo \"wip\"",
            &["echo 'wip'", "echo wip", "echo  \"wip\" more"],
            "echo done",
        ),
        (
            "gh pr view $ARGUMENTS",
            &["gh pr view  1", "gh pr view \"$x\"", "gh pr view"],
            "gh pr list",
        ),
        (
            "git push; ls",
            &["git push", "x && git push origin", "sh -c 'git push'"],
            "git pull",
        ),
        ("rm a[bc]", &["rm ab", "rm 'ac'"], "rm b"),
        ("git push #now", &["git push"], "git log"),
        ("X=1 git push >out", &["git push"], "git log"),
        ("~/bin/x a", &["~/bin/x a", "x a", "/home/u/bin/x a"], "y a"),
        (
            "git commit -m 'a * b'",
            &["git commit -m 'a * b'", "git commit -m 'a  b  b'"],
            "git commit -m c",
        ),
    ] {
        let grant = denying(&denial.replace('\\', "\\\\"));
        let permit = |text: &str| grant.permit(Act::Line(act(text)), &ActMeter::default());
        for text in denied {
            let refusal = permit(text).expect_err(text);
            assert_eq!(refusal.code, "denied", "{denial}: {text}");
        }
        assert!(permit(permitted).is_ok(), "{denial}: {permitted}");
    }
}

/// A line that may run without the denial is refused because of the denial, and not for another reason.
// case 211
#[test]
fn the_rows_of_the_table_are_refused_by_their_denial() {
    let rows = rows();
    let all = granted(&["shell:exec"], &[], terms());
    for [_, _, text] in &rows {
        assert!(
            all.permit(Act::Line(act(text)), &ActMeter::default())
                .is_ok(),
            "{text}"
        );
    }
    let count = |answer: &str| rows.iter().filter(|row| row[0] == answer).count();
    assert!(
        count("no") >= 80 && count("yes") >= 80,
        "half of the rows each"
    );
}

/// Whatever the line is, what it could run is found without a panic: each beginning and each end of each row.
// case 211
#[test]
fn each_part_of_a_line_can_be_compared() {
    let grant = denying("git push *");
    let permits = |text: &str| grant.permit(Act::Line(act(text)), &ActMeter::default());
    for [_, _, text] in rows() {
        for (at, _) in text.char_indices() {
            let _ = (permits(&text[..at]), permits(&text[at..]));
        }
    }
}

/// The refusal names the denial and what lifts it; an approval of the line would change nothing.
// case 221
#[test]
fn a_denial_is_named_by_its_refusal() {
    let grant = denying("git push *");
    let refusal = |line: CommandLine| {
        let permitted = grant.permit(Act::Line(line), &ActMeter::default());
        permitted.expect_err("denied")
    };
    let denied = refusal(act("env git push"));
    assert_eq!((denied.code, &denied.needed), ("denied", &None));
    assert_eq!(
        denied.message,
        "env git push was not done: the denial `shell:exec(git push *)` applies to a command that this line could run; \
         to lift it: metier permissions x --revoke 'shell:exec(git push *)'"
    );
    let unquoted = refusal(act("git -C $DIR status")).message;
    assert!(unquoted.contains("but not `\"$DIR\"`"), "{unquoted}");
    for text in ["git $x", "git push $x", "$x", "git -C $x push"] {
        let message = refusal(act(text)).message;
        assert!(!message.contains("$DIR"), "{message}");
    }
    let unknown = refusal(act("f() { ls; }; f")).message;
    assert!(
        unknown.contains("may apply, since the line can't be analysed"),
        "{unknown}"
    );
}

/// What was approved exactly is not refused by a denial of something else: neither with a variable nor with a value.
// case 221
#[test]
fn a_denial_refuses_no_other_line_that_was_approved_exactly() {
    let grant = granted(
        &["shell:exec(npm test $1)", "shell:exec(FOO=1 cargo test)"],
        &["shell:exec(rm *)"],
        terms(),
    );
    let permits = |line| grant.permit(Act::Line(line), &ActMeter::default()).is_ok();
    assert!(permits(act("FOO=1 cargo test")));
    let value = act("npm test $1").with_value("$1", "npm");
    assert!(matches!(value.exact, Some(ExactOnly::Value { .. })));
    assert!(permits(value));
    let exact = granted(&["shell:exec(FOO=1 rm x)"], &["shell:exec(rm *)"], terms());
    let line = Act::Line(act("FOO=1 rm x"));
    assert!(exact.permit(line, &ActMeter::default()).is_err());
}

/// The work for a refused line grows with its length, not with its square.
// case 221
#[test]
fn a_long_line_is_compared_in_linear_time() {
    let grant = granted(
        &["shell:exec"],
        &["shell:exec(git push *)", "shell:exec(git remote rm *)"],
        terms(),
    );
    type Line = fn(usize) -> String;
    let lines: [(&str, Line); 8] = [
        ("many aliases", |times| {
            format!(
                "git {}{}",
                "-c alias.a=b ".repeat(times / 2),
                "x ".repeat(times)
            )
        }),
        ("starts", |times| {
            format!("env -x{}", " git -a".repeat(times))
        }),
        ("a text", |times| format!("x '{}'", " git -a".repeat(times))),
        ("wrappers", |times| "nice ".repeat(times) + "ls"),
        ("find", |times| {
            format!("find . {}", "\"$x\" a ".repeat(times))
        }),
        ("aliases", |times| {
            format!("git {}log", "-c a=b ".repeat(times))
        }),
        ("finds in each other", |times| {
            format!("find . {}", "\"$x\" find . ".repeat(times / 2))
        }),
        ("commands", |times| "echo $'a' {b,c};".repeat(times / 2)),
    ];
    for (what, line) in lines {
        let text = |times: usize| act(&line(times * 1000));
        grows_linearly(what, 8, text, |line| {
            let text = line.text.clone();
            let line = act(&text);
            let _ = grant.permit(Act::Line(line), &ActMeter::default());
        });
    }
}

/// A permission for a skill's own files does not permit other programs.
// case 80
#[test]
fn an_approval_of_scripts_covers_no_path_that_leads_out() {
    let grant = granted(
        &["shell:exec(scripts/*)", "shell:exec(/opt/x/*)"],
        &[],
        terms(),
    );
    let permit = |text: &str| {
        let parsed = metier_model::shell::parse(text).ok();
        let act = CommandLine::new(text, parsed.as_ref(), text, Vec::new());
        grant.permit(Act::Line(act), &ActMeter::default()).is_ok()
    };
    for text in [
        "scripts/../../bin/bash -c id",
        "scripts/a/../../x",
        "scripts/./x.sh",
        "scripts//x.sh",
        "scripts/",
        "./scripts/../x",
        "/opt/x/../../bin/sh -c id",
        "/opt/x//sh",
        "//opt/x/sh",
    ] {
        assert!(!permit(text), "{text}");
    }
    assert!(permit("scripts/x.sh a ../b"));
    assert!(permit("/opt/x/y"));
}

/// An option that makes git run a program is recognised in every spelling.
// case 168
#[test]
fn a_pattern_covers_no_option_that_runs_a_program() {
    for text in [
        "git ls-remote --upload-pack='touch x;' .",
        "git ls-remote --upl='touch x;' .",
        "git grep --open='touch x' a",
        "git grep -nO'touch x' a",
        "git clone -u 'touch x' . y",
        "tar --to-comm=x -xf a.tar",
        "sort --comp=x a",
        "split --fil=x a",
        "rsync -avze 'sh -c x' a b",
        "git rebase -ix 'touch x'",
        "git unknown -x 'touch x'",
        "git -C . -c alias.x=y x",
        "tar cIf 'touch x' out.tar f",
        "tar --rmt-command=x -cf h:a f",
        "tar --new-volume=x -cMf a f",
    ] {
        let parsed = metier_model::shell::parse(text).unwrap();
        let line = CommandLine::new(text, Some(&parsed), text, Vec::new());
        assert!(!line.is_plain, "{text}");
    }
    for text in [
        "git log --exclude=x -n 5",
        "git push -u origin x",
        "git commit -mfix",
        "git clean -fdx",
        "git log -Sexact -L:f:file.c",
        "git switch -c x",
        "tar -xzf a.tar",
        "tar czf a.tar f",
    ] {
        let parsed = metier_model::shell::parse(text).unwrap();
        let line = CommandLine::new(text, Some(&parsed), text, Vec::new());
        assert!(line.is_plain, "{text}");
    }
}

/// A path of a denied program names the program, wherever it is installed.
// case 211
#[test]
fn a_denied_path_denies_the_program() {
    let grant = granted(&["shell:exec"], &["shell:exec(/usr/bin/wget *)"], terms());
    let permit = |text: &str| {
        let parsed = metier_model::shell::parse(text).ok();
        let act = CommandLine::new(text, parsed.as_ref(), text, Vec::new());
        grant.permit(Act::Line(act), &ActMeter::default()).is_ok()
    };
    for text in ["/usr/bin/wget x", "wget x", "/bin/wget x", "/opt/x/wget"] {
        assert!(!permit(text), "{text}");
    }
    assert!(permit("curl wget"));
}

/// A file of a skill has one path in scopes; each interface converts typed paths to this form.
// case 211
#[test]
fn a_script_is_named_in_one_way() {
    let grant = granted(&["shell:exec"], &["shell:exec(scripts/x.sh)"], terms());
    let permit = |path: &str| {
        let arguments = Vec::new();
        let path = path.into();
        grant.permit(Act::Script { path, arguments }, &ActMeter::default())
    };
    for path in [
        "scripts/x.sh",
        "scripts//x.sh",
        "scripts/./x.sh",
        "./scripts/x.sh",
        "scripts/../scripts/x.sh",
        "/scripts/x.sh",
    ] {
        assert!(permit(path).is_err(), "{path}");
    }
    assert!(permit("scripts/y.sh").is_ok());
    let grant = granted(&["shell:exec"], &["shell:exec(./scripts/x.sh)"], terms());
    let script = Act::Script {
        path: "scripts/x.sh".into(),
        arguments: vec!["a".to_owned()],
    };
    assert!(grant.permit(script, &ActMeter::default()).is_err());
    for typed in ["scripts//x.sh", "./scripts/./x.sh", "scripts/x.sh"] {
        assert_eq!(plain_script(typed), "scripts/x.sh");
    }
    assert_eq!(plain_script("../x"), "../x");
    assert_eq!(plain_script("/etc/x"), "/etc/x");
}

proptest! {
    /// A denial only refuses: without it or with one of something else, an approval covers the same lines. What is read of a line for
    /// denials, such as arithmetic with names, covers nothing.
    // case 221
    #[test]
    fn a_denial_never_changes_the_reading_of_an_approval(
        (at, more, denied, approved) in (any::<Index>(), any::<Index>(), any::<Index>(), any::<Index>()),
        sign in prop::sample::select(vec!["; ", " && ", " | ", " "]),
    ) {
        let rows = rows();
        let [_, denial, _] = denied.get(&rows);
        let [[_, _, line], [_, _, other]] = [at.get(&rows), more.get(&rows)];
        let text = format!("{line}{sign}{other}");
        let program = approved.get(&rows)[2].split(' ').next().unwrap_or_default();
        let scope = match program.chars().all(|letter| letter.is_ascii_lowercase()) {
            true => format!("shell:exec({program} *)"),
            false => "shell:exec".to_owned(),
        };
        let permits = |denials: &[&str]| {
            let grant = ruled(&[scope.as_str()], denials, terms())?;
            Some(grant.permit(Act::Line(act(&text)), &ActMeter::default()))
        };
        let denial = format!("shell:exec({denial})");
        let alone = permits(&[]).unwrap();
        match permits(&[denial.as_str()]) {
            // The denial covers the whole approval.
            None => {}
            Some(Err(refusal)) if refusal.code == "denied" => {}
            Some(denied) => prop_assert_eq!(alone.map_err(|no| no.message).err(), denied.map_err(|no| no.message).err()),
        }
        if metier_model::shell::parse(&text).is_err() {
            let line = act(&text);
            prop_assert!(line.commands.is_none() && !line.is_plain);
            prop_assert!(scope == "shell:exec" || permits(&[]).unwrap().is_err());
        }
    }
}
