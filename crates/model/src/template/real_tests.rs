//! Commands with hostile values, run by real shells: the program gets the bytes of the value, and nothing else runs.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output, Stdio};

use metier_testkit::{make_executable, needs};
use proptest::prelude::*;

use super::*;

/// Each would create a file if any part of it ran.
const HOSTILE: &[&str] = &[
    "123; >pwned; rm -rf ~",
    "123\n!id\n>pwned",
    "$(>pwned)",
    "`>pwned`",
    "' ; >pwned ; '",
    "\" ; >pwned ; \"",
    "\"'\"'$(>pwned)",
    "a${IFS}b",
    "&& >pwned || >pwned",
    "| >pwned",
    "<(>pwned) >pwned",
    "* ? [a-z] {a,b}",
    "~",
    "~root",
    "\\",
    "\\\\\"",
    "a\\\n>pwned",
    "$ARGUMENTS $0 ${__metier_0} $1 $@",
    "!history !!",
    "# comment",
    "é 世界 \u{202e} \u{1f600}",
    "",
    " ",
    "  two  blanks\t",
    "\n\n",
    "EOF\n>pwned",
    "\u{1b}[2J",
    "x=y",
    "%s%n\\0",
];

/// A separate folder with the programs `gh` and `p`, which print their arguments.
struct Room(PathBuf);

impl Room {
    fn new(name: &str) -> Self {
        let id = std::process::id();
        let folder = std::env::temp_dir().join(format!("metier-template-{name}-{id}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("bin")).expect("a folder");
        std::fs::create_dir_all(folder.join("cwd")).expect("a folder");
        for program in ["gh", "p"] {
            let path = folder.join("bin").join(program);
            std::fs::write(&path, "#!/bin/sh\nprintf '<%s>' \"$@\"\n").expect("a program");
            make_executable(&path);
        }
        Self(folder)
    }

    /// Runs a command as a host would; returns its output, and fails on any error output.
    fn run(&self, shell: &Path, invocation: &ShellInvocation) -> String {
        let output = self.start(shell, invocation);
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "",
            "{invocation:?}"
        );
        String::from_utf8(output.stdout).expect("what went in")
    }

    /// Runs a command, and checks that no value was run.
    fn start(&self, shell: &Path, invocation: &ShellInvocation) -> Output {
        let output = Process::new(shell)
            .arg("-c")
            .arg(&invocation.script)
            .arg("metier")
            .args(&invocation.parameters)
            .env_clear()
            .env("PATH", self.0.join("bin"))
            .env("HOME", "/home/nobody")
            .current_dir(self.0.join("cwd"))
            .stdin(Stdio::null())
            .output()
            .expect("a shell");
        let left = std::fs::read_dir(self.0.join("cwd"))
            .expect("a folder")
            .count();
        assert_eq!(left, 0, "something ran: {invocation:?}");
        output
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn shells() -> Vec<PathBuf> {
    let bash = needs::program("bash").ok();
    [PathBuf::from("/bin/sh")].into_iter().chain(bash).collect()
}

fn recipe(text: &str) -> Recipe {
    let names = [Box::<str>::from("issue")];
    let placeholders = Placeholders {
        names: &names,
        declared: true,
    };
    let body = format!("```!\n{text}\n```\n");
    let Some(BodyPiece::Command(command)) = parse(&body, placeholders).into_iter().next() else {
        panic!("no command: {text}");
    };
    match command.script {
        Script::Ready(recipe) => recipe,
        Script::Refused(refused) => panic!("{text}: {refused}"),
    }
}

/// (command, its output), where `@` is the value.
const CONTEXTS: &[(&str, &str)] = &[
    ("p -- $ARGUMENTS", "<--><@>"),
    ("p -- \"$ARGUMENTS\"", "<--><@>"),
    ("p -- \"a $ARGUMENTS b\" c", "<--><a @ b><c>"),
    ("p x$ARGUMENTS", "<x@>"),
    ("p -- $0 \"$0\" x\"$issue\"'y'", "<--><@><@><x@y>"),
    ("p -- $ARGUMENTS[0]", "<--><@>"),
    ("p -- \"$(p x\"$0\")\"", "<--><<x@>>"),
    (
        "p -- $(p x$0 >/dev/null) \"$(p \"$(p x$ARGUMENTS)\")\"",
        "<--><<<x@>>>",
    ),
    ("(p -- $0); { p -- $0; }", "<--><@><--><@>"),
    ("if [ a = a ]; then p -- $0; fi", "<--><@>"),
    ("p -- $0 && p b", "<--><@><b>"),
    ("p -- '\\$0' \"\\\\$0\" $0", "<--><$0><\\@><@>"),
    ("p $# \"$@\" x$0", "<0><x@>"),
    ("set -- 1 2; p $# x$0; shift; p \"$*\"", "<2><x@><2>"),
    (
        "p -- {baseDir} ${CLAUDE_PROJECT_DIR}/x",
        "<--></skills/it's \"$(>pwned)\"></project/x>",
    ),
];

// case 73, 74, 75
#[test]
fn a_value_is_an_argument_and_nothing_else() {
    let room = Room::new("contexts");
    for shell in &shells() {
        for (text, expected) in CONTEXTS {
            let recipe = recipe(text);
            for value in HOSTILE {
                let words = [(*value).to_owned()];
                let values = Values {
                    text: value,
                    words: &words,
                    skill_dir: "/skills/it's \"$(>pwned)\"",
                    project_dir: "/project",
                    session_id: "",
                };
                let invocation = recipe.instantiate(&values).expect("no option");
                assert_eq!(
                    room.run(shell, &invocation),
                    expected.replace('@', value),
                    "{text} with {value:?} in {shell:?}"
                );
            }
        }
    }
}

// case 76
#[test]
fn an_option_behind_two_dashes_is_an_argument() {
    let room = Room::new("options");
    for value in ["-rf", "--upload-pack=x", "-", "--"] {
        let words = [value.to_owned()];
        let values = Values {
            text: value,
            words: &words,
            skill_dir: "",
            project_dir: "",
            session_id: "",
        };
        let invocation = recipe("p -- $0").instantiate(&values).expect("guarded");
        assert_eq!(
            room.run(Path::new("/bin/sh"), &invocation),
            format!("<--><{value}>")
        );
        recipe("p $0").instantiate(&values).expect_err("an option");
    }
}

#[test]
fn words_stay_as_the_user_quoted_them() {
    let room = Room::new("words");
    let text = "one 'two three' \"\" four\\ five '*'";
    let words = split_arguments(text);
    let values = Values {
        text,
        words: &words,
        skill_dir: "",
        project_dir: "",
        session_id: "",
    };
    for shell in &shells() {
        let bare = recipe("p $ARGUMENTS end")
            .instantiate(&values)
            .expect("ready");
        assert_eq!(
            room.run(shell, &bare),
            "<one><two three><><four five><*><end>"
        );
        let whole = recipe("p \"$ARGUMENTS\"")
            .instantiate(&values)
            .expect("ready");
        assert_eq!(room.run(shell, &whole), format!("<{text}>"));
        let none = Values {
            text: "",
            words: &[],
            ..values
        };
        let bare = recipe("p $ARGUMENTS end")
            .instantiate(&none)
            .expect("ready");
        assert_eq!(room.run(shell, &bare), "<end>");
        let whole = recipe("p \"$ARGUMENTS\" \"$issue\" end")
            .instantiate(&none)
            .expect("ready");
        assert_eq!(room.run(shell, &whole), "<><><end>");
    }
}

#[test]
fn the_longest_value_still_fits() {
    let room = Room::new("long");
    let words = ["x".repeat(MAX_ARGUMENT)];
    let values = Values {
        text: "",
        words: &words,
        skill_dir: "",
        project_dir: "",
        session_id: "",
    };
    // `p` is a program, whose other arguments count as well; a builtin prints only the length.
    let invocation = recipe("printf '%s' \"$0\"")
        .instantiate(&values)
        .expect("fits");
    let output = room.run(Path::new("/bin/sh"), &invocation);
    assert_eq!(output.len(), MAX_ARGUMENT);
    let many = vec!["y".to_owned(); 1000];
    let values = Values {
        words: &many,
        ..values
    };
    let invocation = recipe("p $ARGUMENTS").instantiate(&values).expect("fits");
    assert_eq!(
        room.run(Path::new("/bin/sh"), &invocation),
        "<y>".repeat(1000)
    );
}

// case 73
#[test]
fn the_lines_of_review_pr() {
    let room = Room::new("review");
    let body = "## Dynamic Context\n\n\
        !gh pr view $ARGUMENTS --json number,title,state,body\n\
        !gh pr view $ARGUMENTS --json title,state,body --jq '.title + \" (\" + .state + \")\"'\n\
        !gh pr view 123 --json title\n\
        !read ./references/schema.md\n";
    let pieces = parse(body, Placeholders::default());
    let words = ["123; >pwned".to_owned()];
    let values = Values {
        text: &words[0],
        words: &words,
        skill_dir: "",
        project_dir: "",
        session_id: "",
    };
    let mut printed = Vec::new();
    for piece in &pieces {
        match piece {
            BodyPiece::Command(command) => match &command.script {
                Script::Ready(recipe) => {
                    let invocation = recipe.instantiate(&values).expect("ready");
                    printed.push(room.run(Path::new("/bin/sh"), &invocation));
                }
                Script::Refused(refused) => panic!("{refused}"),
            },
            BodyPiece::Read { source, .. } => {
                printed.push(source.trim_start_matches('!').to_owned());
            }
            _ => {}
        }
    }
    assert_eq!(
        printed,
        [
            "<pr><view><123; >pwned><--json><number,title,state,body>",
            "<pr><view><123; >pwned><--json><title,state,body><--jq><.title + \" (\" + .state + \")\">",
            "<pr><view><123><--json><title>",
            "read ./references/schema.md",
        ]
    );
}

/// Breaks out of any quoting.
const POLYGLOT: &str = "x';>pwned;'\";>pwned;\"\n>pwned\nE\n>pwned\n$(>pwned)`>pwned`\\`>pwned\\`)>pwned;}>pwned;]]&&>pwned #";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Unusual commands that are accepted: a value stays a value in each.
    // case 73, 74
    #[test]
    fn no_accepted_command_lets_a_value_run(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "$ARGUMENTS", "$0", "$issue", "\"$ARGUMENTS\"", "{baseDir}", " ", " ", " p ", "\n", ";", "|", "&&", "$(p ",
                ")", "\"", "\"", "'", "`", "\\", "\\\n", " <<E\n", "\nE\n", " <<'E'\n", "#", " x=", " >/dev/null ", " -- ",
                "${x:-", "}", " [[ ", " ]] ", "$'", "{", ",", "*", "~", "2", "=", "!", "$((", "))", "$", " { ", "; } ",
                "( ", " if p; then ", "; fi ", " case x in (x) ", ";; esac ", " for i in ", "; do ", "; done ", "\r\n",
            ]),
            1..9,
        )
    ) {
        let text = format!("p {}", tokens.concat());
        let names = [Box::<str>::from("issue")];
        let spellings = Spellings { names: &names, declared: true, positional: true, dash_ends: true };
        if let Script::Ready(recipe) = Script::prepare(&text, spellings)
            && !recipe.slots().is_empty()
        {
            let words = [POLYGLOT.to_owned(), "*".to_owned()];
            let values = Values {
                text: POLYGLOT,
                words: &words,
                skill_dir: POLYGLOT,
                project_dir: POLYGLOT,
                session_id: POLYGLOT,
            };
            let Ok(invocation) = recipe.instantiate(&values) else {
                return Ok(());
            };
            let room = Room::new("polyglot");
            for shell in &shells() {
                room.start(shell, &invocation);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // case 74
    #[test]
    fn any_words_arrive(words in prop::collection::vec("[^\0]{0,12}", 0..5)) {
        let values = Values {
            text: &words.join(" "),
            words: &words,
            skill_dir: "",
            project_dir: "",
            session_id: "",
        };
        let invocation = recipe("printf '%s\\0' -- $ARGUMENTS \"$ARGUMENTS\" \"$(printf '%s.' \"x$ARGUMENTS\")\"")
            .instantiate(&values)
            .expect("guarded");
        let output = Process::new("sh")
            .arg("-c")
            .arg(&invocation.script)
            .arg("metier")
            .args(&invocation.parameters)
            .output()
            .expect("a shell")
            .stdout;
        let mut expected = vec!["--".to_owned()];
        expected.extend(words.iter().cloned());
        expected.push(words.join(" "));
        expected.push(format!("x{}.", words.join(" ")));
        let expected: String = expected.iter().map(|word| format!("{word}\0")).collect();
        prop_assert_eq!(String::from_utf8(output).expect("text"), expected);
    }
}
