//! `metier agent`: a task, a model, tools, and an answer.

use metier_testkit::model_server::Turn;
use serde_json::json;

use crate::agent_room::{AgentRoom, events, last_message};

#[test]
fn an_agent_answers() {
    let room = AgentRoom::new([Turn::text("It is done.")]);
    let output = room.run(&["agent", "say", "something"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(output.stdout, "It is done.\n");
    let requests = room.finish();
    assert_eq!(
        requests[0].json["messages"][0]["content"][0]["text"],
        "say something"
    );
}

#[test]
fn an_agent_reads_a_file_when_it_may() {
    let room = AgentRoom::new([
        Turn::calls([("read", json!({"path": "notes.txt"}))]),
        Turn::text("It says hello."),
    ]);
    room.stage.context.write("notes.txt", "hello from a file\n");
    let output = room.run(&[
        "agent",
        "--approve-skills",
        "core-tools",
        "--format",
        "jsonl",
        "read notes.txt",
    ]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let told = events(&output);
    assert_eq!(told.last().unwrap()["type"], "turn_ended");
    assert_eq!(told.last().unwrap()["requests"], 2);
    let requests = room.finish();
    assert!(last_message(&requests[1]).contains("hello from a file"));
}

#[test]
fn without_permission_an_agent_has_no_hands() {
    let room = AgentRoom::new([
        Turn::calls([("read", json!({"path": "notes.txt"}))]),
        Turn::text("I can't."),
    ]);
    room.stage.context.write("notes.txt", "hello from a file\n");
    let output = room.run(&["agent", "read notes.txt"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(
        output.stderr.contains("--approve-skills core-tools"),
        "{}",
        output.stderr
    );
    let requests = room.finish();
    assert!(!requests[0].tools().contains(&"read"));
    assert!(last_message(&requests[1]).contains("there is no tool `read`"));
}
