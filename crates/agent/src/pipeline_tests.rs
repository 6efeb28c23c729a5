//! Who waits for whom, and whether what was promised came.

use metier_model::{FileText, Files, Manifest, Mode, parse};
use serde_json::json;

use super::*;

const CONTRACT: &str = "output_contract: {type: object, required: [plan], properties: {plan: {type: string, minLength: 3}}}\n";

fn skill(name: &str, lines: &str) -> Manifest {
    let text = format!("name: {name}\nversion: 1.0.0\ndescription: Does {name}.\n{lines}");
    let files = Files {
        skill_yaml: Some(FileText {
            name: "SKILL.yaml",
            text: &text,
        }),
        ..Files::default()
    };
    let parsed = parse(&files, Mode::Lenient);
    parsed
        .manifest
        .unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

/// A planner with a tool, and a builder behind it.
fn pair() -> [Manifest; 2] {
    let code = "types: [tool]\nimplementation: {backend: starlark, entrypoint: x.star}\n";
    [
        skill("planner", &format!("{code}{CONTRACT}")),
        skill(
            "builder",
            &format!(
                "{code}composability_rules: [{{with: planner, required: true, order: after}}]\n\
                 output_contract: {{type: object, required: [done]}}\n"
            ),
        ),
    ]
}

#[test]
fn a_skill_waits_until_the_one_before_has_delivered() {
    let pair = pair();
    let mut pipeline = Pipeline::new(&pair);
    assert_eq!(pipeline.admit("planner"), Ok(()));
    assert_eq!(pipeline.admit("somebody-else"), Ok(()));
    let not_yet = pipeline.admit("builder").unwrap_err();
    assert_eq!((&*not_yet.waits, &*not_yet.first), ("builder", "planner"));
    for misfit in [
        json!("a plan"),
        json!({}),
        json!({"plan": "x"}),
        json!({"plan": 7}),
    ] {
        pipeline.deliver("planner", &misfit);
        assert!(pipeline.admit("builder").is_err(), "{misfit}");
    }
    // Nobody delivers for another.
    pipeline.deliver("builder", &json!({"plan": "by somebody else"}));
    assert!(pipeline.admit("builder").is_err());
    pipeline.deliver("planner", &json!({"plan": "three steps"}));
    assert_eq!(pipeline.admit("builder"), Ok(()));
}

#[test]
fn in_a_conversation_a_skill_has_no_tools_without_the_one_that_it_requires() {
    let pair = pair();
    let mut conversation = Pipeline::default();
    for skill in &pair {
        conversation.join(skill);
    }
    assert_eq!(conversation.admit("planner"), Ok(()));
    let apart = conversation.admit("builder").unwrap_err();
    assert!(apart.what.contains("sub-agent"), "{apart}");
    conversation.leave("builder");
    assert_eq!(conversation.admit("builder"), Ok(()));

    // A member of a set that is loaded once more stays a member.
    let mut set = Pipeline::new(&pair);
    set.deliver("planner", &json!({"plan": "three steps"}));
    set.join(&pair[1]);
    assert_eq!(set.admit("builder"), Ok(()));
}

#[test]
fn the_order_may_be_said_by_either() {
    let first = skill(
        "first",
        &format!("composability_rules: [{{with: second, order: before}}]\n{CONTRACT}"),
    );
    let second = skill("second", "");
    let pipeline = Pipeline::new([&second, &first]);
    assert!(pipeline.admit("second").is_err());
    assert_eq!(pipeline.admit("first"), Ok(()));
}

#[test]
fn a_skill_without_tools_delivers_in_the_models_words() {
    let first = skill(
        "first",
        &format!("composability_rules: [{{with: second, order: before}}]\n{CONTRACT}"),
    );
    let second = skill("second", "");
    let mut pipeline = Pipeline::new([&first, &second]);
    pipeline.hear("I have a plan.");
    assert!(pipeline.admit("second").is_err());
    pipeline.hear("Here it is:\n```json\n{\"plan\": \"three steps\"}\n```\nShall I?");
    assert_eq!(pipeline.admit("second"), Ok(()));
}

#[test]
fn a_task_is_done_when_the_last_skill_has_delivered() {
    let pair = pair();
    let mut pipeline = Pipeline::new(&pair);
    let missing = pipeline.conclude("Done.").unwrap_err();
    assert_eq!(missing.len(), 2, "{missing:?}");
    assert!(
        missing[0].contains("`planner` has not delivered"),
        "{missing:?}"
    );
    pipeline.deliver("planner", &json!({"plan": "three steps"}));
    assert!(pipeline.conclude("```json\n{}\n```").is_err());
    assert_eq!(pipeline.conclude("{\"done\": true}"), Ok(()));
}

#[test]
fn without_an_order_nothing_is_asked_for() {
    let alone = skill("alone", CONTRACT);
    assert_eq!(Pipeline::new([&alone]).conclude("Done."), Ok(()));
    assert_eq!(Pipeline::default().conclude("Done."), Ok(()));
}

#[test]
fn a_contract_that_is_no_schema_can_not_be_kept() {
    let first = skill(
        "first",
        "composability_rules: [{with: second, order: before}]\noutput_contract: {type: nonsense}\n",
    );
    let second = skill("second", "");
    let mut pipeline = Pipeline::new([&first, &second]);
    pipeline.deliver("first", &json!({}));
    assert!(pipeline.admit("second").is_err());
}

#[test]
fn every_criterion_is_answered_with_evidence() {
    let code = "types: [tool]\nimplementation: {backend: starlark, entrypoint: x.star}\n";
    let specification = skill(
        "specification-engine",
        &format!(
            "{code}composability_rules: [{{with: opencode-implementer, order: before}}]\noutput_contract: {{type: object, required: [acceptance]}}\n"
        ),
    );
    let implementer = skill(
        "opencode-implementer",
        &format!("{code}output_contract: {{type: object, required: [criteria]}}\n"),
    );
    let mut pipeline = Pipeline::new([&specification, &implementer]);
    pipeline.deliver(
        "specification-engine",
        &json!({"acceptance": [{"id": "A1"}, {"id": "A2"}]}),
    );
    let wrong = pipeline.conclude(r#"{"criteria": [{"id": "A1", "met": true, "evidence": " "}]}"#);
    assert_eq!(
        wrong.unwrap_err(),
        [
            "nothing is said about acceptance criterion `A2`",
            "criterion \"A1\" is met without evidence"
        ]
    );
    let whole = r#"{"criteria": [{"id": "A1", "met": true, "evidence": "3 passed"}, {"id": "A2", "met": false}]}"#;
    assert_eq!(pipeline.conclude(whole), Ok(()));
}
