//! Programs that end during a call: the caller gets an error, the next call works, and nothing is left.

use std::{fs, process::Command, thread, time::Duration};

use metier_runtime::live::{CallError, Runtime};
use metier_store::{Receipt, ReceiptOutcome};
use metier_testkit::patience::wait_until;
use serde_json::json;

use crate::{
    live_session::{Live, left_running, lines, python, shell},
    skill_project::field,
};

const TOOL: &str = "types: [tool]\n";

/// A program that can end in several ways.
fn frail() -> Live {
    let live = Live::new();
    let code = python(
        "@skill.tool('Waits')\ndef wait(host):\n    host.write_file('waiting.txt', 'x')\n    time.sleep(600)\n\
         @skill.tool('Ends')\ndef end(host):\n    print('my last words', flush=True)\n    os._exit(3)\n\
         @skill.tool('Works')\ndef work(host):\n    return 'worked'",
    );
    let asks = ["file:write(./waiting.txt)"];
    live.skill("frail", TOOL, &asks, ("main.py", &code));
    live
}

/// The fate of its program.
fn runs(receipts: &[Receipt]) -> Vec<String> {
    let mut lines = lines(receipts);
    lines.retain(|line| line.starts_with("frail skill:run "));
    lines
}

/// Kills the program of a skill as soon as it handles its call.
fn kill_when_waiting(live: &Live) {
    let place = live.stage.context.path("skills/frail/main.py");
    let place = place.canonicalize().unwrap();
    let place = place.to_str().unwrap();
    // The file exists as soon as the program may write it.
    wait_until("the tool", || {
        !live.stage.context.read("waiting.txt").is_empty()
    });
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let folder = entry.path();
        let words = fs::read(folder.join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        let program = fs::read_link(folder.join("exe")).unwrap_or_default();
        if words.contains(place) && program.to_string_lossy().contains("python") {
            let pid = entry.file_name();
            let killed = Command::new("kill").arg("-9").arg(pid).status();
            assert!(killed.unwrap().success());
            return;
        }
    }
    panic!("the program of the skill is not there");
}

#[test]
fn a_program_killed_in_a_call_fails_that_call_and_the_next_one_works() {
    let live = frail();
    live.session(&["frail"], |runtime| {
        runtime.activate("frail").unwrap();
        let error = thread::scope(|scope| {
            scope.spawn(|| kill_when_waiting(&live));
            runtime.call("frail", "wait", &json!({})).unwrap_err()
        });
        assert_eq!(
            error.to_string(),
            "skill `frail` ended before it answered `tool/execute`: ended by signal 9 (killed)"
        );
        let (mut receipts, _) = runtime.collect();
        let called = runtime.call("frail", "work", &json!({})).unwrap();
        assert_eq!(called.output, "worked");
        receipts.extend(called.receipts);
        assert_eq!(
            runs(&receipts),
            [
                "frail skill:run main.py: error: ended by signal 9 (killed)",
                "frail skill:run crashed: error: ended before it answered `tool/execute`: ended by signal 9 (killed)",
                "frail skill:run restarted, attempt 1, after 0 ms: ok",
            ]
        );
    });
    assert_eq!(left_running(&live), [""; 0]);
    let kept = live.stage.receipts();
    let kept: Vec<&str> = kept.iter().map(|receipt| field(receipt, "act")).collect();
    let starts_crash_and_restart = 4;
    let runs = kept.iter().filter(|act| **act == "skill:run");
    assert_eq!(runs.count(), starts_crash_and_restart);
}

fn end(runtime: &Runtime) -> String {
    runtime
        .call("frail", "end", &json!({}))
        .unwrap_err()
        .to_string()
}

// case 136
#[test]
fn a_program_that_ends_again_and_again_is_left_alone_for_a_while() {
    let live = frail();
    live.session(&["frail"], |runtime| {
        runtime.activate("frail").unwrap();
        let mut receipts = Vec::new();
        for _ in 0..5 {
            assert_eq!(
                end(runtime),
                "skill `frail` ended before it answered `tool/execute`: exit code 3"
            );
            receipts.extend(runtime.collect().0);
        }
        let given_up = end(runtime);
        assert!(
            given_up.starts_with("skill `frail` crashed 5 times in a row; it can be restarted in ")
                && given_up.ends_with(" s"),
            "{given_up}"
        );
        let (tried, _) = runtime.collect();
        assert!(runs(&tried).is_empty(), "it was not even tried: {tried:?}");
        let mut runs = runs(&receipts);
        let start = "frail skill:run main.py: error: exit code 3";
        assert_eq!(runs.extract_if(.., |line| line == start).count(), 5);
        // The test does not know how long the wait actually was.
        for line in &mut runs {
            if let Some((before, _)) = line.split_once(", after ") {
                *line = before.to_owned();
            }
        }
        let crashed = "frail skill:run crashed: error: ended before it answered `tool/execute`: exit code 3; last output: my last words";
        assert_eq!(
            runs,
            [
                crashed,
                "frail skill:run restarted, attempt 1",
                crashed,
                "frail skill:run restarted, attempt 2",
                crashed,
                "frail skill:run restarted, attempt 3",
                crashed,
                "frail skill:run restarted, attempt 4",
                crashed,
                "frail skill:run given up: error: crashed 5 times in a row; not restarted for 30 s",
            ]
        );
    });
    assert_eq!(left_running(&live), [""; 0]);
}

// case 136
#[test]
fn a_program_that_never_answers_is_ended_when_its_time_is_over() {
    let mut live = frail();
    live.patience.tool = Duration::from_secs(2);
    live.session(&["frail"], |runtime| {
        runtime.activate("frail").unwrap();
        let error = runtime.call("frail", "wait", &json!({})).unwrap_err();
        assert!(matches!(error, CallError::Session { .. }), "{error}");
        let said = error.to_string();
        assert_eq!(said, "skill `frail` took longer than 2 s and was stopped");
        let (receipts, _) = runtime.collect();
        let last = receipts.last().unwrap();
        assert_eq!(last.entry.act, "tool:call");
        assert_eq!(last.entry.outcome, Some(ReceiptOutcome::Timeout));
        assert_eq!(
            runtime.call("frail", "work", &json!({})).unwrap().output,
            "worked"
        );
    });
    assert_eq!(left_running(&live), [""; 0]);
}

/// The messages that users see on the command line.
#[test]
fn programs_that_misbehave_are_named_with_what_they_did() {
    let hello = "answer '{\"tools\":[{\"name\":\"t\",\"description\":\"\",\"input_schema\":{\"type\":\"object\"}}]}'";
    let misbehaves = |method: &str, code: &str| {
        let first = if method == "initialize" { code } else { hello };
        shell(&[
            ("initialize", first),
            ("tool/execute", code),
            ("shutdown", "exit 0"),
        ])
    };
    for (name, code, expected) in [
        (
            "ends",
            misbehaves("initialize", "echo out of tea >&2; exit 7"),
            "error: skill `ends`: it ended before it answered `initialize`: exit code 7\n  out of tea\n",
        ),
        (
            "babbles",
            misbehaves("tool/execute", "while :; do echo babble; done"),
            "error: skill `babbles` broke the protocol: sent more than 1000 unexpected messages in one call; the last one: babble\n",
        ),
        (
            "endless",
            misbehaves("tool/execute", "head -c 5000000 /dev/zero | tr '\\0' x"),
            "error: skill `endless` broke the protocol: a line is longer than 4194304 bytes; each message is one line\n",
        ),
        (
            "odd",
            misbehaves(
                "tool/execute",
                "answer '{\"output\":1,\"is_error\":\"no\"}'",
            ),
            "error: skill `odd` returned an invalid response: ",
        ),
        (
            "core",
            misbehaves(
                "initialize",
                "answer '{\"tools\":[{\"name\":\"shell\",\"description\":\"\",\"input_schema\":{}}]}'",
            ),
            "error: skill `core`: `shell` is a core tool, which no skill can replace; choose another name\n",
        ),
        (
            "asks",
            misbehaves(
                "tool/execute",
                "echo '{\"id\":1,\"method\":\"host/reboot\"}'; read -r line; echo \"$line\" >&2; exit 1",
            ),
            "there is no method `host/reboot`",
        ),
    ] {
        let live = Live::new();
        live.skill(name, TOOL, &[], ("main.sh", &code));
        let output = live.run(&["--approve-skills", name, "call", name, "t"]);
        assert_eq!(output.code, 1, "{name}: {}", output.snapshot());
        assert!(
            output.stderr.contains(expected),
            "{name}: {}",
            output.snapshot()
        );
        assert_eq!(left_running(&live), [""; 0], "{name}");
    }
}

#[test]
fn the_time_of_a_tool_is_a_setting() {
    let mut live = Live::new();
    let code = shell(&[
        (
            "initialize",
            "answer '{\"tools\":[{\"name\":\"t\",\"description\":\"\",\"input_schema\":{}}]}'",
        ),
        ("tool/execute", "sleep 600"),
        ("shutdown", "exit 0"),
    ]);
    live.skill("silent", TOOL, &[], ("main.sh", &code));
    live.stage
        .context
        .env("METIER_SKILLS_LIMITS_TOOL_TIMEOUT", "1");
    let output = live.run(&["--approve-skills", "silent", "call", "silent", "t"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    let expected = "error: skill `silent` took longer than 1 s and was stopped\nhint: metier log silent shows what it did\n";
    assert_eq!(output.stderr, expected);
    assert_eq!(left_running(&live), [""; 0]);
}
