//! The sent requests. The server checks each request against the provider's format, so these tests also show that the format is right.

use metier_agent::{
    CallArguments, Cancel, ModelMessage, ModelRequest, Provider, ProviderKind, ReasoningEffort,
    SignedBlock, ToolCall, ToolResult,
};
use metier_testkit::model_server::{ModelServer, ScriptedTurn};
use serde_json::{Map, Value, json};

use crate::{BOTH, ask, endpoint, limits, provider, question};

/// A conversation with every kind of content.
fn conversation() -> ModelRequest {
    let call = |id: &str, input| ToolCall {
        id: id.to_owned(),
        name: "read_file".to_owned(),
        input,
    };
    let result = |id: &str, output: &str, is_error| ToolResult {
        id: id.to_owned(),
        name: "read_file".to_owned(),
        output: output.to_owned(),
        is_error,
    };
    let path = Map::from_iter([("path".to_owned(), json!("a.txt"))]);
    ModelRequest {
        messages: vec![
            ModelMessage::User("what is in a.txt?".to_owned()),
            ModelMessage::Assistant {
                text: "let me see".to_owned(),
                calls: vec![
                    call("c1", CallArguments::Object(path)),
                    call("c2", CallArguments::Malformed("{\"pa".to_owned())),
                ],
                kept: vec![SignedBlock {
                    provider: ProviderKind::Ollama,
                    block: json!({ "not": "for these" }),
                }],
            },
            ModelMessage::Results(vec![
                result("c1", "hello", false),
                result("c2", "not an object", true),
            ]),
            ModelMessage::User("and now?".to_owned()),
        ],
        effort: Some(ReasoningEffort::High),
        temperature: Some(0.7),
        ..question()
    }
}

fn sent(kind: ProviderKind, request: &ModelRequest) -> Value {
    let server = ModelServer::start([ScriptedTurn::text("ok")]);
    ask(&provider(kind, &server, limits()), request, &Cancel::new())
        .0
        .unwrap();
    server.finish().remove(0).json
}

#[test]
fn a_conversation_for_anthropic() {
    let body = sent(ProviderKind::Anthropic, &conversation());
    let cached = json!({ "type": "ephemeral" });
    assert_eq!(
        body["messages"],
        json!([
            { "role": "user", "content": [{ "type": "text", "text": "what is in a.txt?" }] },
            { "role": "assistant", "content": [
                { "type": "text", "text": "let me see" },
                { "type": "tool_use", "id": "c1", "name": "read_file", "input": { "path": "a.txt" } },
                { "type": "tool_use", "id": "c2", "name": "read_file", "input": { "malformed_arguments": "{\"pa" } }
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "c1", "content": "hello" },
                { "type": "tool_result", "tool_use_id": "c2", "content": "not an object", "is_error": true },
                { "type": "text", "text": "and now?", "cache_control": cached }
            ] }
        ])
    );
    assert_eq!(
        body["system"],
        json!([{ "type": "text", "text": "be brief", "cache_control": cached }])
    );
    assert_eq!(body["output_config"], json!({ "effort": "high" }));
    assert_eq!(
        (&body["max_tokens"], &body["stream"]),
        (&json!(1000), &json!(true))
    );
    assert_eq!(body["temperature"], json!(0.7));
    // Our tool with the same name as one of theirs stays ours.
    assert_eq!(body["tools"][1]["name"], "web_search");
    assert!(body["tools"][1].get("type").is_none());
}

#[test]
fn a_conversation_for_openai() {
    let body = sent(ProviderKind::OpenAi, &conversation());
    let call = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "read_file", "arguments": arguments } });
    assert_eq!(
        body["messages"],
        json!([
            { "role": "system", "content": "be brief" },
            { "role": "user", "content": "what is in a.txt?" },
            { "role": "assistant", "content": "let me see", "tool_calls": [
                call("c1", r#"{"path":"a.txt"}"#),
                call("c2", r#"{"malformed_arguments":"{\"pa"}"#)
            ] },
            { "role": "tool", "tool_call_id": "c1", "content": "hello" },
            { "role": "tool", "tool_call_id": "c2", "content": "error: not an object" },
            { "role": "user", "content": "and now?" }
        ])
    );
    assert_eq!(body["reasoning_effort"], "high");
    assert_eq!(body["max_tokens"], 1000);
    assert_eq!(body["stream_options"], json!({ "include_usage": true }));
}

#[test]
fn the_same_request_is_the_same_bytes() {
    for kind in BOTH {
        let provider = Provider::new(endpoint(kind, "http://127.0.0.1:9".to_owned()), limits());
        let first = provider.body(&conversation()).unwrap();
        assert_eq!(first, provider.body(&conversation().clone()).unwrap());
        assert!(serde_json::from_slice::<Value>(&first).is_ok());
    }
}

#[test]
fn a_longer_conversation_begins_with_the_bytes_of_the_shorter() {
    // Otherwise nothing could be cached. This holds up to the mark at the end.
    for kind in BOTH {
        let provider = Provider::new(endpoint(kind, "http://127.0.0.1:9".to_owned()), limits());
        let short = ModelRequest {
            messages: conversation().messages[..1].to_vec(),
            ..conversation()
        };
        let short = provider.body(&short).unwrap();
        let long = provider.body(&conversation()).unwrap();
        let common = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
        let message = b"what is in a.txt?";
        let end = short
            .windows(message.len())
            .position(|window| window == message)
            .unwrap();
        assert!(common >= end + message.len(), "{kind}: {common}");
    }
}

#[test]
fn openai_itself_gets_the_new_name_of_the_limit() {
    let body = |base: &str| -> Value {
        let provider = Provider::new(endpoint(ProviderKind::OpenAi, base.to_owned()), limits());
        serde_json::from_slice(&provider.body(&question()).unwrap()).unwrap()
    };
    let own = body("https://api.openai.com/v1");
    assert_eq!(
        (&own["max_completion_tokens"], own.get("max_tokens")),
        (&json!(1000), None)
    );
    let other = body("https://elsewhere.example/v1");
    assert_eq!(
        (&other["max_tokens"], other.get("max_completion_tokens")),
        (&json!(1000), None)
    );
}

#[test]
fn a_name_that_ends_like_an_effort_is_sent_as_it_is() {
    for kind in BOTH {
        let request = ModelRequest {
            model: "my-model-high".to_owned(),
            ..question()
        };
        let body = sent(kind, &request);
        assert_eq!(body["model"], "my-model-high");
        assert!(body.get("reasoning_effort").is_none() && body.get("output_config").is_none());
    }
}

#[test]
fn what_is_empty_is_left_out() {
    for kind in BOTH {
        let request = ModelRequest {
            system: "".into(),
            tools: [].into(),
            messages: vec![
                ModelMessage::User("hello".to_owned()),
                ModelMessage::Assistant {
                    text: "hi".to_owned(),
                    calls: Vec::new(),
                    kept: Vec::new(),
                },
                ModelMessage::User("?".to_owned()),
            ],
            ..question()
        };
        let body = sent(kind, &request);
        assert!(
            body.get("system").is_none() && body.get("tools").is_none(),
            "{kind}"
        );
    }
}

#[test]
fn an_empty_answer_does_not_stop_the_conversation() {
    for kind in BOTH {
        let empty = ModelMessage::Assistant {
            text: String::new(),
            calls: Vec::new(),
            kept: Vec::new(),
        };
        let request = ModelRequest {
            messages: vec![
                ModelMessage::User("a".to_owned()),
                empty,
                ModelMessage::User("b".to_owned()),
            ],
            ..question()
        };
        let body = sent(kind, &request);
        assert!(body["messages"].to_string().contains("\"b\""), "{kind}");
    }
}
