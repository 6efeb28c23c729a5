//! `metier run`: a workflow that can use a model, and an agent that follows any other skill.

use metier_testkit::model_server::ScriptedTurn;
use serde_json::Value;

use crate::test_agent::{TestAgent, last_message};

const ASKS: &str = "types: [workflow]\npermissions: [\"llm:call\"]\nimplementation: {backend: starlark, entrypoint: skill.star}\n";

/// A workflow that delegates its work to a model.
fn poet(room: &TestAgent) {
    room.skill("poet", ASKS, "Text.\n");
    room.stage.context.write(
        "~/.config/metier/skills/poet/skill.star",
        "def poem(input):\n    return \"A poem: \" + llm(\"Write about \" + input[\"text\"])\n\nregister_workflow(\"poet\", poem, description = \"Writes poems\")\n",
    );
}

#[test]
fn a_workflow_asks_the_model() {
    let room = TestAgent::new([ScriptedTurn::text("Bees hum.")]);
    poet(&room);
    let output = room.run(&["--approve-skills", "poet", "run", "poet", "bees"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(output.stdout, "A poem: Bees hum.\n");
    assert!(last_message(&room.finish()[0]).contains("Write about bees"));
}

#[test]
fn what_a_workflow_asks_counts_for_the_turn() {
    let room = TestAgent::new([ScriptedTurn::text("Bees hum.")]);
    poet(&room);
    let output = room.run(&["--approve-skills", "poet", "agent", "/poet bees", "--json"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["text"], "A poem: Bees hum.");
    assert_eq!(document["usage"]["input_tokens"], 10, "{document}");
    room.finish();
}

#[test]
fn a_workflow_has_no_events_to_print() {
    let room = TestAgent::new([]);
    poet(&room);
    let output = room.run(&["run", "poet", "bees", "--format", "jsonl"]);
    assert_eq!(output.code, 2, "{}", output.snapshot());
    assert!(output.stderr.contains("--json"), "{}", output.stderr);
    assert!(room.finish().is_empty());
}

#[test]
fn without_a_model_a_workflow_fails_when_it_asks() {
    let mut room = TestAgent::new([]);
    room.stage.context.unset("METIER_MODEL");
    poet(&room);
    let output = room.run(&["--approve-skills", "poet", "run", "poet", "bees"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("no model is configured"),
        "{}",
        output.stderr
    );
    let refused = room.run(&["run", "poet", "bees"]);
    assert_eq!(refused.code, 1, "{}", refused.snapshot());
    assert!(refused.stderr.contains("llm:call"), "{}", refused.stderr);
    assert!(room.finish().is_empty());
}

#[test]
fn an_agent_follows_a_skill_without_a_workflow() {
    let room = TestAgent::new([ScriptedTurn::text("Looks good.")]);
    room.skill(
        "review-pr",
        "",
        "Review number $ARGUMENTS[0] with $ARGUMENTS[1].\n",
    );
    let output = room.run(&["run", "review-pr", "123", "great care", "--json"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["text"], "Looks good.");
    assert_eq!(document["usage"]["input_tokens"], 10);
    let requests = room.finish();
    let said = last_message(&requests[0]);
    assert!(
        said.contains("Review number 123 with great care."),
        "{said}"
    );
    assert!(said.contains("/review-pr 123 'great care'"), "{said}");
}

#[test]
fn a_fork_is_followed_by_an_agent_of_its_own() {
    let room = TestAgent::new([ScriptedTurn::text("A snake that eats apples.")]);
    room.skill("coding-agent", "context: fork\n", "Build: $ARGUMENTS\n");
    let output = room.run(&["run", "coding-agent", "a snake game"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(output.stdout, "A snake that eats apples.\n");
    assert!(output.stderr.contains("fork"), "{}", output.stderr);
    assert_eq!(room.finish().len(), 1);
}

#[test]
fn a_skill_for_models_is_not_run_by_people() {
    let room = TestAgent::new([]);
    room.skill("inner", "user-invocable: false\n", "For models.\n");
    let output = room.run(&["run", "inner"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("can only be invoked by the model"),
        "{}",
        output.stderr
    );
    assert!(room.finish().is_empty());
}
