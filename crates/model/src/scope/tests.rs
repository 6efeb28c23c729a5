//! The grammar of scopes: what is accepted and what is rejected.

use proptest::prelude::*;

use super::*;
use crate::Want;

fn want(text: &str) -> Want {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn scopes_read_back() {
    for text in [
        "file:read(./src/**)",
        "file:read(.)",
        "file:write(~/notes/*.md)",
        "file:read(/var/log/app.log)",
        "git:read(.)",
        "shell:exec(git log *)",
        "shell:exec(scripts/*.sh)",
        "shell:exec(git log -3 | head)",
        "shell:exec(gh pr view $ARGUMENTS)",
        r"shell:exec(a\nb)",
        r"shell:exec(\-ls *)",
        "net:fetch(api.github.com)",
        "net:fetch(*.example.com:8443)",
        "net:fetch([::1]:80)",
        "net:fetch(127.0.0.1)",
        "env:read(GITHUB_TOKEN)",
        "llm:call(anthropic/*)",
        "skill:invoke(review-*)",
    ] {
        assert_eq!(want(text).to_string(), text);
    }
    assert_eq!(want("file:read(src/a)").to_string(), "file:read(./src/a)");
    assert_eq!(
        want("net:fetch(API.GitHub.com)").to_string(),
        "net:fetch(api.github.com)"
    );
}

// case 126
#[test]
fn the_grammar_is_closed() {
    for text in [
        "file:read(../x)",
        "file:read(./a/../b)",
        "file:read(a\\b)",
        "file:read($HOME/x)",
        "file:read(a**b)",
        "file:read( x)",
        "file:read(x )",
        "file:read()",
        "file:read(a\u{0}b)",
        "file:read({a,b})",
        "file:read(a//b)",
        "shell:exec(*)",
        "shell:exec(g*)",
        "shell:exec(../x)",
        "shell:exec(a\\d)",
        "shell:exec(git) ",
        "shell:exec(",
        "net:fetch(https://a.io)",
        "net:fetch(a.io/x)",
        "net:fetch(u@a.io)",
        "net:fetch(127.1)",
        "net:fetch(0x7f000001)",
        "net:fetch(2130706433)",
        "net:fetch(::1)",
        "net:fetch([::1)",
        "net:fetch(a.io:0)",
        "net:fetch(a.io:99999)",
        "net:fetch(a.io:+80)",
        "net:fetch(*)",
        "net:fetch(*.com)",
        "net:fetch(bücher.de)",
        "net:fetch(a..b)",
        "net:fetch(a.io.)",
        "env:read(*)",
        "env:read(A B)",
        "env:read(1A)",
        "env:read(A=B)",
        "env:read()",
        "llm:call(*)",
        "skill:invoke(**)",
        "skill:invoke(a b)",
        "file:read:../../",
        "SHELL:EXEC(git)",
        "shell:exec (git)",
        "all",
    ] {
        assert!(text.parse::<Want>().is_err(), "{text:?}");
    }
}

#[test]
fn narrower_is_covered_and_wider_is_not() {
    let covers = |this: &str, other: &str| want(this).covers(&want(other));
    for (wide, narrow) in [
        ("shell:exec", "shell:exec(git *)"),
        ("shell:exec(git *)", "shell:exec(git log *)"),
        ("shell:exec(git *)", "shell:exec(git)"),
        ("shell:exec(scripts/*)", "shell:exec(scripts/x.sh)"),
        ("file:read(./**)", "file:read(./src/*.rs)"),
        ("file:read(./**)", "file:read(./src/**)"),
        ("file:read(./*/x)", "file:read(./a/x)"),
        ("net:fetch", "net:fetch(a.io)"),
        ("net:fetch(*.a.io)", "net:fetch(b.a.io)"),
        ("net:fetch(a.io)", "net:fetch(a.io:443)"),
        ("net:fetch(127.0.0.1)", "net:fetch(127.0.0.1:8080)"),
        ("llm:call(anthropic/*)", "llm:call(anthropic/x)"),
    ] {
        assert!(covers(wide, narrow), "{wide} covers {narrow}");
        assert!(!covers(narrow, wide), "{narrow} does not cover {wide}");
    }
    for (one, other) in [
        ("file:read", "file:write"),
        ("file:read", "file:read(~/x)"),
        ("file:write", "file:write(/etc/passwd)"),
        ("file:read(./**)", "file:read(~/x)"),
        ("net:fetch(*.a.io)", "net:fetch(a.io)"),
        ("net:fetch(a.io)", "net:fetch(eviLa.io)"),
        ("net:fetch(a.io)", "net:fetch(a.io:8080)"),
        ("shell:exec(git log *)", "shell:exec(git *)"),
        ("shell:exec(git log)", "shell:exec(git log | sh)"),
        ("env:read(A)", "env:read(B)"),
    ] {
        assert!(!covers(one, other), "{one} does not cover {other}");
    }
}

#[test]
fn paths_match_name_by_name() {
    let matches = |scope: &str, path: &str| {
        let Scope::Paths(pattern) = Scope::parse(Permission::FileRead, scope).expect("a scope")
        else {
            panic!("{scope}");
        };
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        pattern.matches(&names)
    };
    assert!(matches("./**", "a/b") && matches("./**", "") && matches("./src/**/x.rs", "src/x.rs"));
    assert!(
        matches("./src/**/x.rs", "src/a/b/x.rs") && matches("./*.md", "a.md") && matches(".", "")
    );
    assert!(
        !matches("./*.md", "a/b.md")
            && !matches("./src", "src/a")
            && !matches("./src/**", "srcx/a")
    );
}

#[test]
fn commands_match_word_by_word() {
    let matches = |scope: &str, words: &[Option<&str>]| {
        let Scope::Command(pattern) = Scope::parse(Permission::ShellExec, scope).expect("a scope")
        else {
            panic!("{scope}");
        };
        pattern.matches(words)
    };
    assert!(matches("git *", &[Some("git"), Some("log"), None]));
    assert!(matches("git *", &[Some("git")]));
    assert!(matches("git log", &[Some("git"), Some("log")]));
    assert!(!matches("git log", &[Some("git"), Some("log"), Some("-p")]));
    assert!(!matches("git log", &[Some("git"), None]));
    assert!(
        !matches("git *", &[None, Some("log")]),
        "a program that only the shell knows is no program"
    );
    assert!(
        !matches("git *", &[Some("gitx")])
            && !matches("git *", &[Some("./git")])
            && !matches("git *", &[Some("GIT")])
    );
    assert!(!matches("git *", &[]));
    assert!(matches(
        "scripts/*.sh",
        &[Some("scripts/a.sh"), Some("with"), Some("arguments")]
    ));
    assert!(!matches("scripts/*.sh", &[Some("other/a.sh")]));
}

#[test]
fn a_denied_line_is_its_commands() {
    let commands = |line: &str| {
        let pattern = CommandPattern::Line(line.into());
        let commands = pattern.denied_commands();
        commands.map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    for (line, expected) in [
        ("rm -rf ~/*", &["rm -rf ~/* *"][..]),
        ("git log | head -5", &["git log *", "head -5 *"]),
        ("gh pr view $ARGUMENTS", &["gh pr view *"]),
        ("x=1; echo \"$(id -u)\" 'b'", &["id -u *", "echo * b *"]),
        ("~/bin/x a", &["/x a *"]),
        ("rm a[bc]d {x,y}.rs p{q,r}", &["rm a* * p* *"]),
    ] {
        assert_eq!(commands(line).expect(line), expected, "{line}");
    }
    for line in [
        "f() { ls; }",
        "echo \"wip",
        "x=1",
        ">x",
        "$x a",
        "'*' a",
        "wip!x",
    ] {
        assert!(commands(line).is_err(), "{line}");
    }
}

proptest! {
    #[test]
    fn whatever_is_read_reads_back_and_covers_itself(index in 0_usize..10, text in "[ -~\\n]{0,24}") {
        let permission = Permission::ALL[index];
        if let Ok(want) = format!("{permission}({text})").parse::<Want>() {
            let again: Want = want.to_string().parse().expect("reads back");
            prop_assert_eq!(&again, &want);
            prop_assert!(want.covers(&again));
        }
    }

    #[test]
    fn a_line_of_a_body_reads_back(line in "[ -~\\n\\t]{1,40}") {
        let want = Want { permission: Permission::ShellExec, scope: Scope::Command(CommandPattern::line(&line)) };
        if line.trim() == line {
            prop_assert_eq!(want.to_string().parse::<Want>(), Ok(want));
        }
    }
}
