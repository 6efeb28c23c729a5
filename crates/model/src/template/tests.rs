//! Text that is a placeholder, a command, or neither.

use metier_testkit::patience::grows_linearly;
use proptest::prelude::*;

use super::*;

fn check(body: &str, declared: bool) -> Vec<BodyPiece<'_>> {
    let names = [Box::<str>::from("issue")];
    let pieces = parse(
        body,
        Placeholders {
            names: &names,
            declared,
        },
    );
    let source: String = pieces.iter().map(source).collect();
    if !body.contains('\\') {
        assert_eq!(source, body, "pieces put together are the body");
    }
    pieces
}

fn source<'a>(piece: &BodyPiece<'a>) -> &'a str {
    match piece {
        BodyPiece::Prose(text) | BodyPiece::Argument(_, text) => text,
        BodyPiece::Command(command) => command.source,
        BodyPiece::Read { source, .. } => source,
        BodyPiece::Arguments => "$ARGUMENTS",
        BodyPiece::Named(_) => "$issue",
        BodyPiece::Variable(_) => "{baseDir}",
    }
}

#[test]
fn placeholders() {
    assert_eq!(
        check("a $ARGUMENTS b", false),
        [
            BodyPiece::Prose("a "),
            BodyPiece::Arguments,
            BodyPiece::Prose(" b")
        ]
    );
    assert_eq!(
        check("$ARGUMENTS[1]", false),
        [BodyPiece::Argument(1, "$ARGUMENTS[1]")]
    );
    assert_eq!(
        check("fix $issue now", false),
        [
            BodyPiece::Prose("fix "),
            BodyPiece::Named(0),
            BodyPiece::Prose(" now")
        ]
    );
    assert_eq!(
        check("in {baseDir}/x", false),
        [
            BodyPiece::Prose("in "),
            BodyPiece::Variable(HostVariable::SkillDir),
            BodyPiece::Prose("/x")
        ]
    );
}

#[test]
fn shell_examples_stay_text() {
    assert_eq!(
        check("echo $1 $HOME ${x}", false),
        [BodyPiece::Prose("echo $1 $HOME ${x}")]
    );
    assert_eq!(check("$0", true), [BodyPiece::Argument(0, "$0")]);
    assert_eq!(
        check("$5-a-month $issue-x", true),
        [BodyPiece::Prose("$5-a-month $issue-x")]
    );
    assert_eq!(
        check("costs $100000", true),
        [BodyPiece::Prose("costs $100000")]
    );
}

#[test]
fn a_single_backslash_escapes() {
    assert_eq!(
        check("\\$ARGUMENTS", false),
        [BodyPiece::Prose("$ARGUMENTS")]
    );
    assert_eq!(
        check("\\\\$ARGUMENTS", false),
        [BodyPiece::Prose("\\\\"), BodyPiece::Arguments]
    );
}

/// The commands of a body: their source, and their text.
fn commands(body: &str) -> Vec<(&str, &str)> {
    let pieces = check(body, false);
    pieces
        .into_iter()
        .filter_map(|piece| match piece {
            BodyPiece::Command(command) => Some((command.source, command.text)),
            _ => None,
        })
        .collect()
}

// case 79
#[test]
fn four_forms_of_commands() {
    assert_eq!(commands("!git log\nx"), [("!git log", "git log")]);
    assert_eq!(commands("!git log  \r\nx"), [("!git log  ", "git log")]);
    assert_eq!(
        commands("on !`git branch` now, !`ls`"),
        [("!`git branch`", "git branch"), ("!`ls`", "ls")]
    );
    assert_eq!(
        commands("```!\nls\npwd\n```\n"),
        [("```!\nls\npwd\n```", "ls\npwd")]
    );
    assert_eq!(
        check("!read a/b.md", false),
        [BodyPiece::Read {
            path: vec![BodyPiece::Prose("a/b.md")],
            source: "!read a/b.md"
        }]
    );
}

#[test]
fn a_path_to_read_takes_arguments_and_quotes() {
    let read = |body: &str| match check(body, true).into_iter().next() {
        Some(BodyPiece::Read { path, .. }) => path.iter().map(|one| format!("{one:?}")).collect(),
        other => vec![format!("{other:?}")],
    };
    assert_eq!(
        read("!read references/$ARGUMENTS.md"),
        ["Prose(\"references/\")", "Arguments", "Prose(\".md\")"]
    );
    assert_eq!(read("!read \"a b.md\""), ["Prose(\"a b.md\")"]);
    assert_eq!(read("!read 'a b.md'"), ["Prose(\"a b.md\")"]);
    assert_eq!(
        read("!read $0/x.md"),
        ["Argument(0, \"$0\")", "Prose(\"/x.md\")"]
    );
}

#[test]
fn variables_may_be_set_before_a_program() {
    assert_eq!(
        commands("!FOO=1 make test"),
        [("!FOO=1 make test", "FOO=1 make test")]
    );
    assert_eq!(commands("!LC_ALL=C A=b sort x").len(), 1);
    assert_eq!(commands("!FOO=1").len(), 0);
    assert_eq!(commands("!a=b is text").len(), 0);
}

#[test]
fn lines_that_look_like_commands_are_known() {
    let body = "!(cd x && ls)\n!{ a; b; }\n!\"my prog\" x\n!$(which sh) x\n! ls -l\n!ls\n![image](x.png)\n!important\n```\n!(in a fence)\n```\n";
    let expected = [
        "!(cd x && ls)",
        "!{ a; b; }",
        "!\"my prog\" x",
        "!$(which sh) x",
        "! ls -l",
    ];
    assert_eq!(lines_taken_for_text(body), expected);
}

// case 79
#[test]
fn text_that_is_not_a_command() {
    for body in [
        "![image](x.png)",
        "!important, read this",
        "KEY=!`x`",
        "```sh\n!ls\n```\n",
        "~~~\n!`ls`\n~~~\n",
        "！ls",
        "\u{200b}!ls",
        "> !ls",
        "| !ls |",
        "  !ls",
        "a!`ls`",
        "!``",
        " !",
        "!",
        "```!\nls\n",
    ] {
        assert!(
            check(body, false)
                .iter()
                .all(|piece| matches!(piece, BodyPiece::Prose(_))),
            "{body:?}"
        );
    }
}

#[test]
fn arguments_split_like_a_shell() {
    assert_eq!(
        split_arguments(r#"a "b c" d\ e 'f"g' """#),
        ["a", "b c", "d e", "f\"g", ""]
    );
}

proptest! {
    #[test]
    fn pieces_put_together_are_the_body(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "a", " ", "\n", "!", "`", "!`", "```", "```!\n", "~~~", "$ARGUMENTS", "$ARGUMENTS[0]", "$0", "$issue",
                "{baseDir}", "read ", "ls", "'", "\"", "$(", ")", "${", "}", "\u{e9}", "\r\n",
            ]),
            0..30,
        )
    ) {
        let body: String = tokens.concat();
        check(&body, true);
    }

    #[test]
    fn any_body_is_cut_without_panic(body in any::<String>()) {
        check(&body, false);
    }
}

#[test]
fn hostile_bodies_take_linear_time() {
    for (before, unit) in [
        ("", "```!\n"),
        ("", "$ARGUMENTS["),
        ("", "!`"),
        ("", "{$"),
        ("", "!a $0 '\n"),
        ("!a ", "$0 "),
        ("!a ", "'"),
    ] {
        let body = |times| format!("{before}{}", unit.repeat(5_000 * times));
        grows_linearly(unit, 8, body, |body| {
            std::hint::black_box(parse(body, Placeholders::default()));
        });
    }
}
