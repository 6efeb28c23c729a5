//! Skills that invoke skills: with the permissions that both have, never in cycles, and each with its own approval.

use metier_runtime::live::{Called, Runtime};
use serde_json::json;

use crate::live_session::{Live, left_running, lines, python, tool};

const TOOL: &str = "types: [tool]\n";

/// A tool that writes a file, in Starlark and in Python.
const WRITERS: [(&str, &str); 2] = [
    (
        "main.star",
        "write_file(\"out.txt\", \"written\")\nreturn \"done\"",
    ),
    (
        "main.py",
        "@skill.tool('Writes')\ndef t(host):\n    host.write_file('out.txt', 'written')\n    return 'done'",
    ),
];

/// A skill `a` that invokes `b`, which writes.
fn pair(asks: &[&str], (file, code): (&str, &str)) -> Live {
    let live = Live::new();
    live.skill(
        "a",
        TOOL,
        asks,
        ("main.star", &tool("return invoke_skill(\"b\", \"t\")")),
    );
    let code = match file.ends_with(".py") {
        true => python(code),
        false => tool(code),
    };
    live.skill("b", TOOL, &["file:write(./out.txt)"], (file, &code));
    live
}

fn call(runtime: &Runtime, skill: &str) -> Called {
    runtime.activate(skill).unwrap();
    runtime.call(skill, "t", &json!({})).unwrap()
}

// case 121
#[test]
fn a_skill_does_for_another_only_what_both_may_do() {
    for writer in WRITERS {
        let file = writer.0;
        let live = pair(&["skill:invoke(b)"], writer);
        live.session(&["a", "b"], |runtime| {
            let called = call(runtime, "a");
            let output = called.output.as_str().unwrap().to_owned();
            assert!(called.is_error, "{file}: {output}");
            assert!(
                output.contains("`file:write` is not granted"),
                "{file}: {output}"
            );
            assert!(!live.stage.has("out.txt"), "{file}");
            let receipts = lines(&called.receipts);
            let written = receipts.iter().find(|line| line.contains("b file:write"));
            assert!(
                written.is_some_and(|line| line.contains("out.txt: refused")),
                "{file}: {receipts:?}"
            );
            assert!(
                receipts.contains(&"b skill:activate a: ok".to_owned()),
                "{file}: {receipts:?}"
            );
            // By itself it is allowed.
            let called = call(runtime, "b");
            assert_eq!(called.output, "done", "{file}");
            assert!(live.stage.has("out.txt"), "{file}");
        });
        let both = pair(&["skill:invoke(b)", "file:write(./**)"], writer);
        both.session(&["a", "b"], |runtime| {
            let called = call(runtime, "a");
            assert_eq!(
                called.output,
                "done",
                "{file}: {:?}",
                lines(&called.receipts)
            );
            assert!(both.stage.has("out.txt"), "{file}");
        });
        assert_eq!(left_running(&both), [""; 0]);
    }
}

// case 121
#[test]
fn an_invoked_skill_needs_its_own_approval() {
    let live = pair(&["skill:invoke(b)", "file:write"], WRITERS[0]);
    live.session(&["a"], |runtime| {
        let called = call(runtime, "a");
        let output = called.output.as_str().unwrap().to_owned();
        let expected = "skill `b`: `file:write(./out.txt)` is not approved";
        assert!(called.is_error && output.contains(expected), "{output}");
        assert!(!live.stage.has("out.txt"));
        let receipts = lines(&called.receipts);
        let invoked = "a skill:invoke b: error: not-active: ";
        assert!(
            receipts.iter().any(|line| line.starts_with(invoked)),
            "{receipts:?}"
        );
    });
    let kept: Vec<String> = live
        .stage
        .receipts()
        .iter()
        .filter(|receipt| receipt["skill"] == "b" && receipt["decision"] == "refused")
        .map(|receipt| receipt["reason"].to_string())
        .collect();
    assert_eq!(
        kept,
        ["\"not approved, and there is no terminal to ask on\""]
    );
}

#[test]
fn a_skill_without_the_permission_invokes_nothing() {
    for asks in [&[][..], &["skill:invoke(c)"]] {
        let live = pair(asks, WRITERS[0]);
        live.session(&["a", "b"], |runtime| {
            let called = call(runtime, "a");
            let output = called.output.as_str().unwrap().to_owned();
            let expected = "`skill:invoke` is not granted for b";
            assert!(called.is_error && output.contains(expected), "{output}");
            let receipts = lines(&called.receipts);
            assert!(
                receipts[0].starts_with("a skill:invoke b: refused"),
                "{receipts:?}"
            );
            assert!(
                receipts.iter().all(|line| !line.starts_with("b ")),
                "{receipts:?}"
            );
        });
    }
}

/// Skills that each invoke the next one.
fn chain(names: &[&str], last: &str) -> Live {
    let live = Live::new();
    let next = names.iter().skip(1).copied().chain([last]);
    for (name, next) in names.iter().zip(next) {
        let code = tool(&format!("return invoke_skill(\"{next}\", \"t\")"));
        live.skill(name, TOOL, &["skill:invoke"], ("main.star", &code));
    }
    live
}

// case 122
#[test]
fn a_circle_is_seen_before_it_is_closed() {
    for (names, last, expected) in [
        (&["a"][..], "a", "a → a is a cycle"),
        (&["a", "b"], "a", "a → b → a is a cycle"),
        (&["a", "b", "c"], "b", "a → b → c → b is a cycle"),
    ] {
        let live = chain(names, last);
        live.session(names, |runtime| {
            let called = call(runtime, "a");
            let output = called.output.as_str().unwrap().to_owned();
            assert!(called.is_error && output.contains(expected), "{output}");
        });
        assert_eq!(left_running(&live), [""; 0]);
    }
}

// case 122
#[test]
fn a_chain_of_skills_has_an_end() {
    let names = ["s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"];
    let live = chain(&names, "s1");
    live.session(&names, |runtime| {
        let called = call(runtime, "s1");
        let output = called.output.as_str().unwrap().to_owned();
        let expected = "skills can invoke each other at most 8 levels deep";
        assert!(called.is_error && output.contains(expected), "{output}");
        let receipts = lines(&called.receipts);
        let last = "s8 skill:activate s1 → s2 → s3 → s4 → s5 → s6 → s7: ok";
        assert!(receipts.contains(&last.to_owned()), "{receipts:?}");
        assert!(
            receipts.iter().all(|line| !line.starts_with("s9 ")),
            "{receipts:?}"
        );
    });
    assert_eq!(left_running(&live), [""; 0]);
}

/// Omitting the input means an empty one.
#[test]
fn an_empty_input_can_be_omitted() {
    let live = Live::new();
    let asks =
        "@skill.tool('Asks')\ndef t(host):\n    return host.invoke_skill('b', 't')['output']";
    live.skill("a", TOOL, &["skill:invoke(b)"], ("main.py", &python(asks)));
    let counts = tool("return len(input)");
    live.skill("b", TOOL, &[], ("main.star", &counts));
    live.session(&["a", "b"], |runtime| {
        let called = call(runtime, "a");
        assert_eq!(called.output, 0, "{:?}", lines(&called.receipts));
    });
}

#[test]
fn who_is_not_there_is_not_invoked() {
    let live = chain(&["a"], "nobody");
    live.session(&["a"], |runtime| {
        let called = call(runtime, "a");
        let output = called.output.as_str().unwrap().to_owned();
        assert!(
            called.is_error && output.contains("there is no skill `nobody`"),
            "{output}"
        );
    });
}
