//! Commands of Claude: when they run, their input, the answers that they may give, and their requirements.

use std::time::Duration;

use metier_model::Source;
use metier_runtime::live::{ActivateError, CallError, Runtime};
use metier_testkit::make_executable;
use serde_json::{Value, json};

use crate::{
    live_session::{Live, left_running, lines, said, tool},
    skill_project::{bytes_below, holds},
};

/// A fixture with a tool that returns its input, and a skill `a` with these hooks in `hooks/hooks.json`.
fn room(hooks: &Value, scripts: &[(&str, &str)]) -> Live {
    let live = Live::new();
    let json = json!({ "hooks": hooks }).to_string();
    let mut files = vec![("hooks/hooks.json", json.as_str())];
    files.extend(scripts);
    live.hooked("a", &[], &files);
    let echo = tool("return input");
    live.skill("echo", "types: [tool]\n", &[], ("main.star", &echo));
    live
}

/// One hook for an event.
fn on(event: &str, matcher: &str, command: &str) -> Value {
    json!({ event: [{ "matcher": matcher, "hooks": [{ "type": "command", "command": command }] }] })
}

fn both<T>(live: &Live, work: impl FnOnce(&Runtime) -> T) -> T {
    live.session(&["a"], |runtime| {
        runtime.activate("a").unwrap();
        runtime.activate("echo").unwrap();
        runtime.collect();
        work(runtime)
    })
}

fn cancelled(runtime: &Runtime, input: &Value) -> String {
    match runtime.call("echo", "t", input) {
        Err(CallError::Cancelled { by, reason, .. }) if by == "a" => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn exit_code_two_blocks_a_call_with_the_reason() {
    let live = room(
        &on("PreToolUse", "echo__t", "echo 'not this' >&2; exit 2"),
        &[],
    );
    both(&live, |runtime| {
        assert_eq!(cancelled(runtime, &json!({})), "not this");
        assert_eq!(
            lines(&runtime.collect().0),
            [
                "a shell:exec echo 'not this' >&2; exit 2: error: exit code 2",
                "a hook:before_tool_call cancelled the call: refused: not this",
                "echo tool:call echo__t: refused: cancelled by `a`: not this",
            ]
        );
    });
    let other = room(&on("PreToolUse", "Bash|other__t", "exit 2"), &[]);
    both(&other, |runtime| {
        assert_eq!(
            runtime.call("echo", "t", &json!({"x": 1})).unwrap().output,
            json!({"x": 1})
        );
    });
}

#[test]
fn only_the_command_of_a_hook_reads_the_event() {
    let script = "#!/bin/sh\ncat >&2\necho \" $CLAUDE_PROJECT_DIR $CLAUDE_PLUGIN_ROOT $CLAUDE_SKILL_DIR\" >&2\nexit 2\n";
    let hooks = on("PreToolUse", "*", "./scripts/check.sh");
    let live = room(&hooks, &[("scripts/check.sh", script)]);
    make_executable(&live.stage.context.path("skills/a/scripts/check.sh"));
    let work = live.stage.context.work().canonicalize().unwrap();
    let work = work.to_str().unwrap();
    let secret = "a-secret-of-4711";
    let reason = both(&live, |runtime| {
        cancelled(runtime, &json!({ "key": secret }))
    });
    let (read, folders) = reason.rsplit_once("} ").unwrap();
    assert_eq!(folders, format!("{work} {work}/skills/a {work}/skills/a"));
    let read: Value = serde_json::from_str(&format!("{read}}}")).unwrap();
    assert_eq!(
        read,
        json!({
            "session_id": "s", "transcript_path": "", "cwd": work, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "echo__t", "tool_input": { "key": secret },
        })
    );
}

#[test]
fn what_a_command_reads_is_in_no_receipt() {
    let live = room(&on("PreToolUse", "", "cat >/dev/null"), &[]);
    let secret = "a-secret-of-4711";
    both(&live, |runtime| {
        runtime
            .call("echo", "t", &json!({ "key": secret }))
            .unwrap();
    });
    let kept = bytes_below(live.database().parent().unwrap());
    assert!(!kept.is_empty());
    for (file, bytes) in kept {
        assert!(!holds(&bytes, secret), "{file}");
    }
}

#[test]
fn a_command_changes_an_input() {
    let answer = json!({ "hookSpecificOutput": { "updatedInput": { "x": 2 }, "permissionDecision": "allow" } });
    let live = room(
        &on("PreToolUse", "echo__.*", &format!("echo '{answer}'")),
        &[],
    );
    both(&live, |runtime| {
        let called = runtime.call("echo", "t", &json!({ "x": 1 })).unwrap();
        assert_eq!(called.output, json!({ "x": 2 }));
        let receipts = lines(&called.receipts);
        assert_eq!(
            receipts[1],
            "a hook:before_tool_call changed the input of echo__t: ok"
        );
    });
}

#[test]
fn allow_grants_nothing() {
    let answer = json!({ "hookSpecificOutput": { "permissionDecision": "allow" } });
    let live = room(&on("PreToolUse", "", &format!("echo '{answer}'")), &[]);
    live.stage.context.write("notes.txt", "a note\n");
    let reads = tool("return read_file(\"notes.txt\")");
    live.skill("reader", "types: [tool]\n", &[], ("main.star", &reads));
    both(&live, |runtime| {
        runtime.activate("reader").unwrap();
        let refused = runtime.call("reader", "t", &json!({}));
        let told = match refused {
            Ok(called) => called.output.to_string(),
            Err(error) => error.to_string(),
        };
        assert!(
            told.contains("file:read") && !told.contains("a note"),
            "{told}"
        );
    });
}

#[test]
fn it_needs_exactly_its_command_approved() {
    let live = room(&on("PreToolUse", "", "echo hi | cat"), &[]);
    live.session(&[], |runtime| {
        let refused = runtime.activate("a").unwrap_err();
        assert!(matches!(refused, ActivateError::Refused(_)), "{refused:?}");
        assert!(
            refused.to_string().contains("shell:exec(echo hi | cat)"),
            "{refused}"
        );
    });
    let told = live.json(&["info", "a"]);
    let asked = told["permissions"].as_array().unwrap().iter();
    let asked: Vec<&Value> = asked.map(|row| &row["permission"]).collect();
    assert_eq!(asked, ["file:read(./**)", "shell:exec(echo hi | cat)"]);
    assert_eq!(
        told["hooks"],
        json!([{
            "kind": "claude", "file": "hooks/hooks.json", "line": 1, "command": "echo hi | cat",
            "events": ["PreToolUse"], "phases": ["before_tool_call"],
        }])
    );
    assert_eq!(told["without_effect"], json!([]));
}

#[test]
fn text_from_the_start_stays_in_the_prompt() {
    let hooks = json!({
        "SessionStart": [{ "hooks": [{ "command": "echo 'Be kind.'", "once": true }] }],
        "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "echo now" }] }],
    });
    let live = room(&hooks, &[]);
    both(&live, |runtime| {
        let prompt = || -> Vec<String> {
            let fragments = runtime.fragments().unwrap();
            fragments
                .into_iter()
                .map(|fragment| fragment.text)
                .collect()
        };
        assert_eq!(prompt(), ["now"]);
        runtime.conversation_start().unwrap();
        runtime.conversation_start().unwrap();
        assert_eq!(prompt(), ["Be kind.", "now"]);
        assert_eq!(prompt(), ["Be kind.", "now"]);
    });
}

#[test]
fn stop_sends_an_answer_back_and_the_others_change_nothing() {
    let hooks = json!({
        "PostToolUse": [{ "matcher": "echo__t", "hooks": [{ "command": "grep -q tool_response && echo '{\"decision\": \"block\", \"reason\": \"odd\"}'" }] }],
        "Stop": [{ "hooks": [{ "command": "grep -q '\"stop_hook_active\":true' || { echo 'go on' >&2; exit 2; }" }] }],
        "SessionEnd": [{ "hooks": [{ "command": "echo '{\"systemMessage\": \"bye\"}'" }] }],
    });
    let live = room(&hooks, &[]);
    both(&live, |runtime| {
        assert_eq!(
            runtime.call("echo", "t", &json!({"x": 1})).unwrap().output,
            json!({"x": 1})
        );
        let words = runtime.after_response("hello", false).unwrap();
        assert_eq!(words.text, "hello");
        assert_eq!(words.sent_back, Some(("a".to_owned(), "go on".to_owned())));
        let again = runtime.after_response("hello", true).unwrap();
        assert_eq!(again.sent_back, None);
        runtime.deactivate("a").unwrap();
        assert_eq!(said(&runtime.collect().1), ["a: bye"]);
    });
}

#[test]
fn a_command_that_fails_or_takes_too_long_is_a_receipt() {
    let hooks = json!({ "PreToolUse": [{ "hooks": [
        { "command": "echo broken >&2; exit 1" },
        { "command": "sleep 30", "timeout": 1 },
        { "command": "echo '{\"systemMessage\": \"third\"}'" },
    ] }] });
    let mut live = room(&hooks, &[]);
    live.patience.hook = Duration::from_secs(10);
    both(&live, |runtime| {
        let called = runtime.call("echo", "t", &json!({})).unwrap();
        let receipts = lines(&called.receipts);
        let failed: Vec<&String> = receipts
            .iter()
            .filter(|line| line.starts_with("a hook:before_tool_call failed"))
            .collect();
        assert_eq!(
            failed,
            [
                "a hook:before_tool_call failed: error: `echo broken >&2; exit 1`: exit code 1: broken",
                "a hook:before_tool_call failed: error: took longer than 1 s and was stopped",
            ]
        );
        let said = said(&called.said);
        assert_eq!(
            said,
            [
                "a: warning: its hook of `before_tool_call` failed, and the call continues: \
                 `echo broken >&2; exit 1`: exit code 1: broken",
                "a: third",
                "a: warning: its hook of `before_tool_call` failed, and the call continues: \
                 took longer than 1 s and was stopped",
            ]
        );
    });
    assert_eq!(left_running(&live), Vec::<String>::new());
}

#[test]
fn tools_of_the_program_have_the_names_that_claude_has_for_them() {
    let mut live = room(&on("PreToolUse", "Read", "cat >&2; exit 2"), &[]);
    live.roots = vec![(Source::Builtin, "ours"), (Source::Project, "skills")];
    let read = "def r(input):\n    return 1\nregister_tool(\"read\", \"Reads\", r)\nregister_tool(\"grep\", \"Looks\", r)\n";
    live.skill_in("ours", "core", "types: [tool]\n", &[], ("main.star", read));
    both(&live, |runtime| {
        runtime.activate("core").unwrap();
        let refused = runtime
            .call("core", "read", &json!({}))
            .unwrap_err()
            .to_string();
        assert!(refused.contains(r#""tool_name":"Read""#), "{refused}");
        assert_eq!(runtime.call("core", "grep", &json!({})).unwrap().output, 1);
    });
}

#[test]
fn a_command_is_behind_the_fence() {
    let live = room(
        &on(
            "UserPromptSubmit",
            "",
            "cat ~/.ssh/id_rsa $HOME/../.ssh/id_rsa; touch made; ls made; true",
        ),
        &[],
    );
    live.stage.context.write("~/.ssh/id_rsa", "a key\n");
    both(&live, |runtime| {
        assert!(runtime.fragments().unwrap().is_empty());
    });
    assert!(!live.stage.has("made"));
}
