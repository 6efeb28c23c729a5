//! Names, schemas and arguments of the tools agree with each other.

use serde_json::{Value, json};

use super::{ToolRequest, all};

fn parse(tool: &str, arguments: &Value) -> Option<Result<ToolRequest, String>> {
    let arguments = arguments.as_object().unwrap().clone();
    let parsed = ToolRequest::parse(tool, arguments)?;
    Some(parsed.map_err(|refusal| refusal.text))
}

/// An argument of each type, for whatever a schema asks for.
fn example(schema: &Value) -> Value {
    match (&schema["enum"], schema["type"].as_str()) {
        (Value::Array(words), _) => words[0].clone(),
        (_, Some("boolean")) => json!(true),
        (_, Some("string")) => json!("text"),
        other => panic!("no example for {other:?}"),
    }
}

#[test]
fn what_a_schema_allows_is_understood() {
    let tools = all();
    assert_eq!(tools.len(), 4);
    for tool in tools {
        let properties = tool.input_schema["properties"].as_object().unwrap();
        let everything: Value = properties
            .iter()
            .map(|(key, schema)| (key.clone(), example(schema)))
            .collect();
        assert!(
            matches!(parse(&tool.name, &everything), Some(Ok(_))),
            "{}: {everything}",
            tool.name
        );
        let required = tool.input_schema.get("required").cloned();
        for key in required.iter().flat_map(|keys| keys.as_array().unwrap()) {
            let mut less = everything.clone();
            less.as_object_mut().unwrap().remove(key.as_str().unwrap());
            let refused = parse(&tool.name, &less).unwrap().unwrap_err();
            assert!(refused.contains("missing field"), "{refused}");
        }
    }
}

#[test]
fn what_a_schema_forbids_is_refused() {
    for (tool, arguments) in [
        ("list_skills", json!({"sauce": "user"})),
        ("list_skills", json!({"all": "yes"})),
        ("activate_skill", json!({"name": 3})),
        ("activate_skill", json!({"name": "a", "arguments": ["x"]})),
        ("read_skill_resource", json!({"name": "a", "path": null})),
        ("scan_skill", json!({"name": "a", "path": "/"})),
    ] {
        let refused = parse(tool, &arguments).unwrap().unwrap_err();
        assert!(refused.starts_with("error: the arguments of"), "{refused}");
    }
}

#[test]
fn there_are_no_other_tools() {
    for tool in ["", "list", "Activate_Skill", "activate_skill "] {
        assert!(parse(tool, &json!({"name": "a"})).is_none(), "{tool}");
    }
}

#[test]
fn only_activation_may_change_anything() {
    let changing: Vec<_> = all()
        .into_iter()
        .filter(|tool| {
            let annotations = tool.annotations.as_ref().unwrap();
            annotations.read_only_hint != Some(true)
        })
        .map(|tool| tool.name)
        .collect();
    assert_eq!(changing, ["activate_skill"]);
}
