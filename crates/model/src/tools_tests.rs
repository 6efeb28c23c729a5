//! The grammar of tools: valid and invalid entries, and which pattern covers which.

use super::*;

fn tool(text: &str) -> ToolPattern {
    text.parse()
        .unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn call(name: &str, argument: &str) -> ToolPattern {
    ToolPattern::call(name, argument).unwrap_or_else(|error| panic!("{name:?}: {error}"))
}

#[test]
fn what_is_in_the_grammar_reads_back() {
    for text in [
        "Read",
        "Bash",
        "specKit",
        "spec_kit",
        "functions.exec",
        "Bash(git:*)",
        "Bash(git *)",
        "Bash(git commit -m *)",
        "Bash(python3 -c print(1))",
        "Edit(src/**)",
        "WebFetch(domain:example.com)",
        "mcp__github",
        "mcp__github__*",
        "mcp__github__create_issue",
        "mcp__*",
        "*",
    ] {
        assert_eq!(tool(text).as_str(), text);
    }
}

// case 55
#[test]
fn the_grammar_is_closed() {
    for text in [
        "",
        " ",
        "**",
        "Read*",
        "Web*",
        "Bash(",
        "Bash()",
        "Bash( )",
        "Bash)",
        "Bash(git))",
        "Bash(git)x",
        "Bash(a)(b)",
        "Bash (git)",
        "Bash(a\nb)",
        "(git)",
        "Read,",
        "Read Write",
        "9lives",
        "-Read",
        "Wrıte",
        "Rеad",
        "Re\u{200b}ad",
        "mcp__",
        "mcp____x",
        "mcp__a__",
        "mcp__a(b)",
        "github/create",
        "!Bash",
        "{{tools}}",
        "all tools",
    ] {
        assert!(text.parse::<ToolPattern>().is_err(), "{text:?}");
    }
    assert!("x".repeat(2000).parse::<ToolPattern>().is_err());
}

// case 55
#[test]
fn stars_are_understood_and_marked() {
    for text in ["*", "Bash(*)", "Bash(**)", "Read(*)", "mcp__*"] {
        assert!(tool(text).is_broad(), "{text}");
    }
    for text in ["Bash", "Bash(git:*)", "mcp__github", "Edit(src/**)"] {
        assert!(!tool(text).is_broad(), "{text}");
    }
    assert!(tool("*").names_no_tool() && !tool("Bash(*)").names_no_tool());
    assert!(tool("Bash").covers(&tool("Bash(*)")) && tool("Bash(*)").covers(&tool("Bash")));
}

#[test]
fn the_core_tools_have_many_spellings_and_others_have_one() {
    for (one, other) in [
        ("Write", "write"),
        ("WRITE", "write_file"),
        ("MultiEdit", "edit"),
        ("apply_patch", "Edit"),
        ("Bash", "shell"),
        ("exec", "bash"),
        ("WebFetch", "web_fetch"),
        ("web-search", "WebSearch"),
        ("LS", "ls"),
    ] {
        assert!(tool(one).covers(&tool(other)), "{one} {other}");
        assert!(tool(other).overlaps(&tool(one)), "{one} {other}");
    }
    for (one, other) in [
        ("specKit", "speckit"),
        ("opencode", "OpenCode"),
        ("Read", "Write"),
        ("mcp__a__write", "write"),
        ("mcp__A", "mcp__a"),
    ] {
        assert!(!tool(one).overlaps(&tool(other)), "{one} {other}");
    }
}

#[test]
fn a_prefix_holds_whole_words_of_one_command() {
    for pattern in ["Bash(git:*)", "Bash(git *)", "shell(git  *)"] {
        for command in ["git", "git log -3", "git  status", "git commit -m \"a b\""] {
            assert!(tool(pattern).covers(&call("Bash", command)), "{command}");
        }
        for command in [
            "gitk",
            "git; rm x",
            "git log; rm x",
            "git log && rm x",
            "git log | sh",
            "git log > x",
            "git `x`",
            "git $(x)",
            "git $X",
            "git log\nrm x",
            "xgit log",
            "",
        ] {
            assert!(!tool(pattern).covers(&call("Bash", command)), "{command}");
        }
    }
    assert!(tool("Bash(git:*)").covers(&tool("Bash(git log:*)")));
    assert!(!tool("Bash(git log:*)").covers(&tool("Bash(git:*)")));
    assert!(tool("Bash(npm run * --ci)").covers(&call("bash", "npm run test --ci")));
    assert!(!tool("Bash(npm run * --ci)").covers(&call("bash", "npm run x; rm y --ci")));
    assert!(!tool("Bash(git:*)").covers(&tool("Bash")));
}

#[test]
fn a_prohibition_reaches_whatever_might_be_meant() {
    let rm = tool("Bash(rm:*)");
    for command in [
        "rm -rf x",
        "/bin/rm x",
        "ls; rm x",
        "r\"\"m x",
        "$X y",
        "'rm' x",
        "a\nb",
    ] {
        assert!(rm.overlaps(&call("Bash", command)), "{command}");
    }
    assert!(!rm.overlaps(&call("Bash", "ls -l")));
    assert!(!rm.overlaps(&tool("Bash(git:*)")));
    assert!(rm.overlaps(&tool("Bash")) && rm.overlaps(&tool("*")));
    let push = tool("Bash(git push)");
    assert!(push.overlaps(&call("Bash", "git  push")));
    assert!(push.overlaps(&call("Bash", "sudo git push")));
    assert!(push.overlaps(&call("Bash", "git \"push\"")));
    assert!(!push.overlaps(&call("Bash", "git pull")));
    let secrets = tool("Read(secrets/**)");
    for path in [
        "secrets/key",
        "./secrets/key",
        "x/../secrets/key",
        "/home/me/secrets/key",
        "~/secrets",
    ] {
        assert!(secrets.overlaps(&call("read_file", path)), "{path}");
    }
    assert!(!secrets.overlaps(&call("Read", "src/lib.rs")));
    assert!(tool("Edit(src/**)").covers(&call("Edit", "src/a/b.rs")));
    assert!(!tool("Edit(src/**)").covers(&call("Edit", "src/../x")));
}

#[test]
fn servers_hold_their_tools() {
    let server = tool("mcp__github");
    assert!(server.covers(&tool("mcp__github__create_issue")));
    assert!(server.covers(&tool("mcp__github__*")));
    assert!(!tool("mcp__github__create_issue").covers(&server));
    assert!(tool("mcp__github__create_issue").overlaps(&server));
    assert!(!server.overlaps(&tool("mcp__gitlab__x")));
    assert!(tool("mcp__*").covers(&server) && tool("*").covers(&server));
}

#[test]
fn a_prohibition_that_can_not_be_read_forbids_more() {
    for (text, reaches) in [
        ("Bash(", "Bash"),
        ("Bash (rm:*)", "Bash(ls)"),
        ("Bash(rm))", "Bash"),
        ("Web*", "WebFetch"),
        ("???", "anything"),
    ] {
        let forbidden = ToolPattern::prohibiting(text);
        assert!(forbidden.overlaps(&tool(reaches)), "{text}");
    }
    for text in ["Bash(", "Bash (rm:*)", "Bash(rm))"] {
        let forbidden = ToolPattern::prohibiting(text);
        assert_eq!(forbidden, tool("Bash"), "what it does is what it shows");
    }
    assert_eq!(ToolPattern::prohibiting("Web*").as_str(), "*");
    assert_eq!(ToolPattern::prohibiting("write"), tool("write"));
}

#[test]
fn lists_are_split_outside_brackets() {
    let check = |text: &str, expected: &[&str]| assert_eq!(split(text), expected, "{text:?}");
    check("Read Write", &["Read", "Write"]);
    check(" Read,Write , Grep\n", &["Read", "Write", "Grep"]);
    check(
        "Bash(git add:*, git commit:*), Read",
        &["Bash(git add:*, git commit:*)", "Read"],
    );
    check("Bash (git) Read", &["Bash (git)", "Read"]);
    check("Bash(git Read", &["Bash(git Read"]);
    check("Bash)) Read", &["Bash))", "Read"]);
    check("Bash  \t(git) , Read", &["Bash  \t(git)", "Read"]);
    check("Read , Write , (x)", &["Read", "Write", "(x)"]);
    check("Read ,(x) y", &["Read", "(x)", "y"]);
    check("Bash(a b", &["Bash(a b"]);
    check("Bash(a) (b) c", &["Bash(a) (b)", "c"]);
    check("", &[]);
    check(" , ,", &[]);
}

#[test]
fn splitting_takes_as_long_as_the_text_is() {
    let blanks = " ".repeat(4 << 20);
    assert_eq!(split(&format!("Read{blanks}Write")), ["Read", "Write"]);
    assert_eq!(split(&blanks), Vec::<&str>::new());
}
