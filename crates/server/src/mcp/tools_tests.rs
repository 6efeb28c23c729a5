//! Names, schemas and arguments of the tools agree with each other.

use serde_json::{Value, json};

use super::{LEAST_ANSWER, MAX_ANSWER, MOST_ANSWER, ToolRequest, all};

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
        (_, Some("integer")) => schema["minimum"].clone(),
        (_, Some("object")) => json!({"any": ["thing"]}),
        other => panic!("no example for {other:?}"),
    }
}

#[test]
fn what_a_schema_allows_is_understood() {
    let tools = all();
    assert_eq!(tools.len(), 8);
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
        ("search_skills", json!({})),
        ("search_skills", json!({"query": "a", "limit": -1})),
        ("search_skills", json!({"query": "a", "limit": 1.5})),
        ("list_skills", json!({"cursor": 7})),
        ("skill-execute", json!({"name": "a", "arguments": {"b": 1}})),
        ("call_skill_tool", json!({"skill": "a"})),
        (
            "call_skill_tool",
            json!({"skill": "a", "tool": "b", "input": "c"}),
        ),
        (
            "call_skill_tool",
            json!({"skill": "a", "tool": "b", "input": {}, "always": true}),
        ),
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
fn only_what_runs_code_may_change_anything() {
    let changing: Vec<_> = all()
        .into_iter()
        .filter(|tool| {
            let annotations = tool.annotations.as_ref().unwrap();
            annotations.read_only_hint != Some(true)
        })
        .map(|tool| tool.name)
        .collect();
    assert_eq!(
        changing,
        ["activate_skill", "skill-execute", "call_skill_tool"]
    );
}

#[test]
fn every_tool_says_what_it_returns_and_so_do_its_errors() {
    for tool in all() {
        let schema = Value::Object((**tool.output_schema.as_ref().unwrap()).clone());
        assert_eq!(schema["type"], "object", "{}", tool.name);
        let shapes = schema["anyOf"].as_array().unwrap();
        assert_eq!(shapes[1], json!({"required": ["error"]}));
        for key in shapes[0]["required"].as_array().unwrap() {
            assert!(
                schema["properties"][key.as_str().unwrap()].is_object(),
                "{} {key}",
                tool.name
            );
        }
    }
}

#[test]
fn an_answer_is_only_large_if_that_was_asked_for() {
    let part = |tool: &str, arguments: Value| {
        let request = ToolRequest::parse(tool, arguments.as_object().unwrap().clone());
        request.unwrap().unwrap().part()
    };
    assert_eq!(
        part("activate_skill", json!({"name": "a"})),
        (0, MAX_ANSWER)
    );
    assert_eq!(
        part(
            "activate_skill",
            json!({"name": "a", "offset": 7, "limit": 1})
        ),
        (7, LEAST_ANSWER)
    );
    assert_eq!(
        part(
            "read_skill_resource",
            json!({"name": "a", "path": "b", "limit": 1_u64 << 40})
        )
        .1,
        MOST_ANSWER
    );
    assert_eq!(part("list_skills", json!({})), (0, MAX_ANSWER));
    assert_eq!(
        part("list_skills", json!({"limit": 1000})),
        (0, MOST_ANSWER)
    );
}
