//! Skills that load themselves: what can trigger one, what never does, and what remains of it later.

use metier_testkit::model_server::ScriptedTurn;
use serde_json::json;

use crate::test_agent::{TestAgent, last_message};

/// A fixture in which skills are scanned, as on any machine.
fn room(script: impl IntoIterator<Item = ScriptedTurn>) -> TestAgent {
    let mut room = TestAgent::new(script);
    room.stage
        .context
        .unset("METIER_SKILLS_SECURITY_SCAN_ON_LOAD");
    room.skill(
        "kubernetes",
        "triggers: {keywords: [kubectl], files: ['**/k8s/**']}\n",
        "Look before you change a cluster.\n",
    );
    room
}

const LOADED: &str = "Look before you change a cluster.";

#[test]
fn text_of_a_model_or_a_tool_loads_nothing() {
    let room = room([
        ScriptedTurn::text("I would use kubectl.").and_call("read", r#"{"path": "notes.txt"}"#),
        ScriptedTurn::calls([(
            "sessions_spawn",
            json!({"task": "run kubectl on k8s/app.yaml"}),
        )]),
        ScriptedTurn::text("The sub-agent says kubectl."),
        ScriptedTurn::text("Done: kubectl, k8s/app.yaml."),
        ScriptedTurn::text("Nothing."),
    ]);
    room.stage
        .context
        .write("notes.txt", "kubectl is the word, k8s/app.yaml the file\n");
    let output = room.stage.context.run_with_stdin(
        &["chat", "--approve-skills", "core-tools"],
        "read the notes\nand now?\n",
    );
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(!output.stderr.contains("loaded"), "{}", output.stderr);
    for request in room.finish() {
        assert!(!request.json.to_string().contains(LOADED));
    }
}

#[test]
fn a_triggered_skill_is_there_after_a_resume_and_stays_away_once_unloaded() {
    let answers = ["One.", "Two.", "Three.", "Four."].map(ScriptedTurn::text);
    let room = room(answers);
    let chat = |arguments: &[&str], lines: &str| {
        let all = [&["chat", "--approve-skills", "core-tools"], arguments].concat();
        let output = room.stage.context.run_with_stdin(&all, lines);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        output.stderr
    };
    let first = chat(&[], "why does kubectl fail?\n");
    assert!(
        first.contains("loaded kubernetes: keyword `kubectl`"),
        "{first}"
    );
    let second = chat(&["--resume"], "and kubectl here?\n/unload kubernetes\n");
    assert!(!second.contains("loaded kubernetes:"), "{second}");
    let third = chat(&["--resume"], "kubectl once more\nand k8s/app.yaml?\n");
    assert!(!third.contains("loaded kubernetes:"), "{third}");
    let requests = room.finish();
    let texts: Vec<usize> = requests
        .iter()
        .map(|request| request.json.to_string().matches(LOADED).count())
        .collect();
    assert_eq!(texts, [1, 1, 0, 0]);
}

#[test]
fn without_a_verdict_and_without_scans_nothing_is_triggered() {
    let mut room = room([ScriptedTurn::text("Hm."), ScriptedTurn::text("Yes.")]);
    room.stage
        .context
        .env("METIER_SKILLS_SECURITY_SCAN_ON_LOAD", "false");
    let ask = [
        "--approve-skills",
        "core-tools",
        "agent",
        "what of kubectl?",
    ];
    let output = room.run(&ask);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(
        output
            .stderr
            .contains("has not been scanned; metier scan kubernetes"),
        "{}",
        output.stderr
    );
    assert_eq!(room.run(&["scan", "kubernetes"]).code, 0);
    let output = room.run(&ask);
    assert!(
        output
            .stderr
            .contains("loaded kubernetes: keyword `kubectl`"),
        "{}",
        output.stderr
    );
    let requests = room.finish();
    assert!(!last_message(&requests[0]).contains(LOADED));
    assert!(last_message(&requests[1]).contains(LOADED));
}
