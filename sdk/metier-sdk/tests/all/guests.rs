//! The same skill in Rust, Python and TypeScript, each as a real program: one transcript holds for all.

use std::{
    io::Write,
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

use metier_sdk::wire::MAX_FRAME;
use serde_json::{Value, json};

use crate::talk::{Talk, python, rust, sdk, tsc, typescript};

const SCRIPT: &str = include_str!("greeter.txt");

fn in_python() -> Command {
    python(&sdk().join("python/tests/greeter.py"))
}

fn in_typescript() -> Command {
    typescript(&sdk().join("typescript/tests/greeter.ts"))
}

#[test]
fn a_skill_in_rust_keeps_to_the_transcript() {
    keeps_to_the_transcript("rust", rust());
}

#[test]
fn a_skill_in_python_keeps_to_the_transcript() {
    keeps_to_the_transcript("python", in_python());
}

#[test]
fn a_skill_in_typescript_keeps_to_the_transcript() {
    keeps_to_the_transcript("typescript", in_typescript());
}

fn keeps_to_the_transcript(name: &str, command: Command) {
    let mut talk = Talk::new(name, command);
    talk.play(SCRIPT);
    // `shutdown` is enough: the program ends while we still hold its stdin.
    let log = talk.end_by_itself();
    assert!(log.contains("this is no frame"), "{name}: {log}");
}

#[test]
fn too_much_is_refused_both_ways_and_harms_nothing() {
    for (name, command) in all() {
        let mut talk = Talk::new(name, command);
        let call = |text: &str, times: u8| {
            let params = json!({"name": "repeat", "input": {"text": text, "times": times}});
            json!({"id": 1, "method": "tool/execute", "params": params}).to_string()
        };
        let exact = MAX_FRAME - call("", 0).len();
        talk.say(&call(&"x".repeat(exact), 0));
        assert_eq!(talk.hear()["result"]["output"], json!([]), "{name}");
        talk.say(&call(&"x".repeat(exact + 1), 0));
        let error = talk.hear()["error"].clone();
        let expected = format!("a line is longer than {MAX_FRAME} bytes; each message is one line");
        assert_eq!(
            error,
            json!({"code": -32700, "message": expected}),
            "{name}"
        );
        talk.say(&call(&"x".repeat(MAX_FRAME / 2), 2));
        let error = talk.hear()["error"].clone();
        assert_eq!(error["code"], -32603, "{name}");
        let message = error["message"].as_str().unwrap();
        let names_both = message.starts_with("the answer ") && message.contains("4194304");
        assert!(names_both, "{name}: {message}");
        talk.say(&call("still here", 1));
        assert_eq!(
            talk.hear()["result"]["output"],
            json!(["still here"]),
            "{name}"
        );
        talk.end();
    }
}

#[test]
fn a_host_that_goes_away_ends_the_skill_with_success() {
    for (name, command) in all() {
        let mut talk = Talk::new(name, command);
        talk.say(
            r#"{"id":1,"method":"tool/execute","params":{"name":"greet","input":{"who":"Ada"}}}"#,
        );
        assert_eq!(talk.hear()["method"], "host/read_file", "{name}");
        // Half a line is not a request.
        talk.mutter(r#"{"id":2,"method":"shut"#);
        let answer: Value = talk.hear_after_the_end();
        let expected = json!({"output": "the host closed the pipe", "is_error": true});
        assert_eq!(answer["result"], expected, "{name}");
        talk.end();
    }
}

#[test]
fn a_host_that_does_not_listen_any_more_ends_the_skill_with_success() {
    for (name, mut command) in all() {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = pipes.stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stdin = child.stdin.take().unwrap();
        // A child that another test starts at this moment holds a copy of our end until it executes its own program: answers are read for
        // that long, and a few requests would all be answered.
        let mut requests = 0..10_000;
        while child.try_wait().unwrap().is_none() {
            let id = requests
                .next()
                .expect("it ends when its answers are not read");
            writeln!(stdin, r#"{{"id":{id},"method":"weather"}}"#).ok();
            sleep(Duration::from_millis(1));
        }
        let status = child.wait().unwrap();
        assert!(status.success(), "{name} ends with {status}");
    }
}

fn all() -> [(&'static str, Command); 3] {
    let (python, typescript) = (in_python(), in_typescript());
    [
        ("rust", rust()),
        ("python", python),
        ("typescript", typescript),
    ]
}

#[test]
fn the_skill_in_typescript_passes_the_type_checker() {
    let output = tsc(&sdk().join("typescript/tests/greeter.ts"))
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{complaints}");
}

#[test]
fn what_is_copied_into_every_skill_stays_small() {
    for file in ["python/metier.py", "typescript/metier.ts"] {
        let lines = std::fs::read_to_string(sdk().join(file))
            .unwrap()
            .lines()
            .count();
        assert!(lines <= 250, "{file} has {lines} lines");
    }
}
