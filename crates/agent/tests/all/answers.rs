//! Answers that are complete, or nearly.

use metier_agent::{
    CallArguments, Cancel, ModelMessage, ProviderKind, StopReason, TokenUsage, ToolResult,
};
use metier_testkit::model_server::{ModelServer, ScriptedTurn};
use serde_json::{Map, Value, json};

use crate::{BOTH, answer, ask, limits, provider, question};

fn object(value: Value) -> CallArguments {
    match value {
        Value::Object(object) => CallArguments::Object(object),
        other => panic!("{other} is no object"),
    }
}

#[test]
fn text_is_reported_as_it_arrives() {
    for kind in BOTH {
        let server = ModelServer::start([ScriptedTurn::text("it says hello").usage(120, 7, 100)]);
        let (answer, told) = ask(
            &provider(kind, &server, limits()),
            &question(),
            &Cancel::new(),
        );
        let answer = answer.unwrap();
        assert_eq!(told, ["text it ", "text says ", "text hello"], "{kind}");
        assert_eq!(answer.text, "it says hello");
        assert_eq!(answer.stop, StopReason::End);
        assert!(answer.calls.is_empty());
        let usage = TokenUsage {
            input: 120,
            output: 7,
            cached_input: 100,
        };
        assert_eq!(answer.usage, usage, "{kind}");
        assert_eq!(server.finish().len(), 1);
    }
}

/// As llama-cpp-python streams: it accepts `stream_options` and ignores it.
#[test]
fn tokens_that_a_server_does_not_count_are_estimated() {
    let chunk = |delta: &str, reason: &str| {
        format!(
            r#"data: {{"id": "chatcmpl-1", "model": "m", "created": 1, "object": "chat.completion.chunk", "choices": [{{"index": 0, "delta": {delta}, "logprobs": null, "finish_reason": {reason}}}]}}"#
        )
    };
    let stream = [
        chunk(r#"{"role": "assistant"}"#, "null"),
        chunk(r#"{"content": "it says hello"}"#, "null"),
        chunk("{}", r#""stop""#),
        "data: [DONE]".to_owned(),
    ]
    .join("\n\n")
        + "\n\n";
    let server = ModelServer::start([ScriptedTurn::raw(200, "text/event-stream", stream)]);
    let answer = answer(ProviderKind::OpenAi, &server, limits()).unwrap();
    assert_eq!(
        (answer.text.as_str(), &answer.stop),
        ("it says hello", &StopReason::End)
    );
    // Three words were returned; two tools were sent with the question.
    assert_eq!(answer.usage.output, 3);
    assert!(
        (30..120).contains(&answer.usage.input),
        "{:?}",
        answer.usage
    );
    assert_eq!(server.finish().len(), 1);
}

#[test]
fn several_calls_at_once_keep_their_order_and_their_arguments() {
    for kind in BOTH {
        let long =
            json!({ "path": "b", "text": "ä".repeat(5000), "deep": [[1.50, null], { "a": true }] });
        let server = ModelServer::start([ScriptedTurn::calls([
            ("read_file", json!({ "path": "a.txt" })),
            ("web_search", long.clone()),
            ("read_file", json!({})),
        ])
        .and_text("let me see")]);
        let (answer, told) = ask(
            &provider(kind, &server, limits()),
            &question(),
            &Cancel::new(),
        );
        let answer = answer.unwrap();
        assert_eq!(answer.stop, StopReason::ToolUse, "{kind}");
        assert_eq!(answer.text, "let me see");
        let calls: Vec<_> = answer
            .calls
            .into_iter()
            .map(|call| (call.id, call.name, call.input))
            .collect();
        let call = |id: &str, name: &str, input| (id.to_owned(), name.to_owned(), object(input));
        let expected = [
            call("call_1", "read_file", json!({ "path": "a.txt" })),
            call("call_2", "web_search", long),
            call("call_3", "read_file", json!({})),
        ];
        assert_eq!(calls, expected, "{kind}");
        let calls: Vec<_> = told
            .iter()
            .filter(|line| line.starts_with("call"))
            .collect();
        assert_eq!(
            calls,
            [
                "call call_1 read_file",
                "call call_2 web_search",
                "call call_3 read_file"
            ]
        );
        let _ = server.finish();
    }
}

#[test]
fn arguments_that_are_not_an_object_are_kept_as_text() {
    for kind in BOTH {
        for text in [
            "{\"path\": ",
            "[1]",
            "\"a\"",
            "null",
            "{} {}",
            "{'a': 1}",
            "oh no",
        ] {
            let turn = ScriptedTurn::text("").and_call("read_file", text);
            let server = ModelServer::start([turn]);
            let answer = answer(kind, &server, limits()).unwrap();
            assert_eq!(
                answer.calls[0].input,
                CallArguments::Malformed(text.to_owned()),
                "{kind}"
            );
            let _ = server.finish();
        }
        let server = ModelServer::start([ScriptedTurn::text("").and_call("read_file", "")]);
        let answer = answer(kind, &server, limits()).unwrap();
        assert_eq!(
            answer.calls[0].input,
            CallArguments::Object(Map::new()),
            "nothing is no arguments"
        );
        let _ = server.finish();
    }
}

#[test]
fn a_stop_is_named_in_our_words() {
    let check = |kind: ProviderKind, reason: &str, expected: StopReason| {
        let server = ModelServer::start([ScriptedTurn::text("x").stop(reason)]);
        assert_eq!(
            answer(kind, &server, limits()).unwrap().stop,
            expected,
            "{kind} {reason}"
        );
        let _ = server.finish();
    };
    check(ProviderKind::Anthropic, "end_turn", StopReason::End);
    check(ProviderKind::Anthropic, "stop_sequence", StopReason::End);
    check(ProviderKind::Anthropic, "max_tokens", StopReason::MaxTokens);
    check(
        ProviderKind::Anthropic,
        "model_context_window_exceeded",
        StopReason::MaxTokens,
    );
    check(ProviderKind::Anthropic, "refusal", StopReason::Refusal);
    check(
        ProviderKind::Anthropic,
        "sunset",
        StopReason::Other("sunset".to_owned()),
    );
    check(ProviderKind::OpenAi, "stop", StopReason::End);
    check(ProviderKind::OpenAi, "length", StopReason::MaxTokens);
    check(ProviderKind::OpenAi, "content_filter", StopReason::Refusal);
    check(
        ProviderKind::OpenAi,
        "sunset",
        StopReason::Other("sunset".to_owned()),
    );
}

#[test]
fn a_stop_reason_with_tool_calls_is_a_call() {
    let turn = ScriptedTurn::calls([("read_file", json!({}))]).stop("stop");
    let server = ModelServer::start([turn]);
    let answer = answer(ProviderKind::OpenAi, &server, limits()).unwrap();
    assert_eq!(answer.stop, StopReason::ToolUse);
    let _ = server.finish();
}

#[test]
fn characters_may_be_split_between_pieces() {
    for kind in BOTH {
        for size in [1, 2, 3, 7] {
            let text = "grüße 🦀 日本語 e\u{301} ende";
            let server = ModelServer::start([ScriptedTurn::text(text).in_pieces_of(size)]);
            assert_eq!(
                answer(kind, &server, limits()).unwrap().text,
                text,
                "{kind} by {size}"
            );
            let _ = server.finish();
        }
    }
}

#[test]
fn a_server_that_does_not_stream_is_understood() {
    let anthropic = json!({
        "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [
            { "type": "text", "text": "hm" },
            { "type": "tool_use", "id": "c", "name": "read_file", "input": { "path": "a" } }
        ],
        "usage": { "input_tokens": 3, "output_tokens": 4 }
    });
    let openai = json!({
        "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "hm",
            "tool_calls": [{ "id": "c", "type": "function",
                "function": { "name": "read_file", "arguments": "{\"path\":\"a\"}" } }]
        } }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 4 }
    });
    for (kind, body) in BOTH.into_iter().zip([anthropic, openai]) {
        let turn = ScriptedTurn::raw(200, "application/json", body.to_string());
        let server = ModelServer::start([turn]);
        let answer = answer(kind, &server, limits()).unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.stop),
            ("hm", StopReason::ToolUse),
            "{kind}"
        );
        assert_eq!(answer.calls[0].input, object(json!({ "path": "a" })));
        assert_eq!((answer.usage.input, answer.usage.output), (3, 4));
        let _ = server.finish();
    }
}

#[test]
fn thoughts_are_reported_and_signatures_are_sent_back() {
    let turn = || ScriptedTurn::calls([("read_file", json!({}))]).thinking("what to do");
    for kind in BOTH {
        let server = ModelServer::start([turn(), ScriptedTurn::text("done")]);
        let provider = provider(kind, &server, limits());
        let mut request = question();
        let (answer, told) = ask(&provider, &request, &Cancel::new());
        assert_eq!(
            told[..3],
            ["thinking what ", "thinking to ", "thinking do"],
            "{kind}"
        );
        let answer = answer.unwrap();
        assert_eq!(answer.text, "");
        request.messages.push(answer.into());
        request
            .messages
            .push(ModelMessage::Results(vec![ToolResult {
                id: "call_1".to_owned(),
                name: "read_file".to_owned(),
                output: "hello".to_owned(),
                is_error: false,
            }]));
        ask(&provider, &request, &Cancel::new()).0.unwrap();
        let requests = server.finish();
        let back = &requests[1].json["messages"][1]["content"][0];
        match kind {
            ProviderKind::Anthropic => assert_eq!(
                back,
                &json!({ "type": "thinking", "thinking": "what to do", "signature": "c2lnbmVk" })
            ),
            _ => assert!(!requests[1].json.to_string().contains("what to do")),
        }
    }
}

/// As llama-cpp-python streams a call: the name is in every fragment, and everything is sent twice.
#[test]
fn a_call_that_is_named_in_every_fragment_is_one_call() {
    let chunk = |delta: Value, reason: Value| {
        let choice =
            json!({ "index": 0, "finish_reason": reason, "logprobs": null, "delta": delta });
        format!(
            "data: {}\n\n",
            json!({ "id": "chatcmpl-1", "choices": [choice] })
        )
    };
    let fragment = |arguments: &str| {
        let function = json!({ "name": "read_file", "arguments": arguments });
        let delta = json!({
            "role": null, "content": null, "function_call": function,
            "tool_calls": [{ "index": 0, "id": "call__0_read_file", "type": "function", "function": function }],
        });
        chunk(delta, Value::Null)
    };
    let empty =
        json!({ "role": "assistant", "content": null, "function_call": null, "tool_calls": null });
    let stream = [
        chunk(empty.clone(), Value::Null),
        fragment("{\""),
        fragment("path"),
        fragment("\": \"a.txt\"}"),
        fragment(""),
        chunk(empty, json!("tool_calls")),
        "data: [DONE]\n\n".to_owned(),
    ];
    let turn = ScriptedTurn::raw(200, "text/event-stream", stream.concat());
    let server = ModelServer::start([turn]);
    let answer = answer(ProviderKind::OpenAi, &server, limits()).unwrap();
    assert_eq!(answer.stop, StopReason::ToolUse);
    let [call] = answer.calls.as_slice() else {
        panic!("{:?}", answer.calls);
    };
    assert_eq!(
        (call.id.as_str(), call.name.as_str()),
        ("call__0_read_file", "read_file")
    );
    assert_eq!(call.input, object(json!({ "path": "a.txt" })));
    let _ = server.finish();
}

/// Deviations of compatible servers, and possible additions by providers.
#[test]
fn odd_streams_are_read() {
    let check = |kind: ProviderKind, lines: &[&str], text: &str, calls: &[(&str, &str)]| {
        let stream: String = lines
            .iter()
            .map(|line| format!("data: {line}\n\n"))
            .collect();
        let server = ModelServer::start([ScriptedTurn::raw(200, "text/event-stream", stream)]);
        let answer = answer(kind, &server, limits()).unwrap();
        let found: Vec<_> = answer
            .calls
            .iter()
            .map(|call| (call.id.as_str(), call.name.as_str()))
            .collect();
        assert_eq!(
            (answer.text.as_str(), &found[..]),
            (text, calls),
            "{lines:?}"
        );
        let _ = server.finish();
    };
    let call = |index: &str, id: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{{index}"id":"{id}","function":{{"name":"f","arguments":{{"a":1}}}}}}]}}}}]}}"#
        )
    };
    let stop = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let word = r#"{"choices":[{"delta":{"content":"a","reasoning":"r","reasoning_content":"r"}}]}"#;
    let parts = r#"{"choices":[{"delta":{"content":[{"type":"text","text":"b"}]}}]}"#;
    check(ProviderKind::OpenAi, &[word, parts, stop], "ab", &[]); // no [DONE]
    let same = [call("\"index\":0,", "x"), call("\"index\":0,", "y")];
    check(
        ProviderKind::OpenAi,
        &[&same[0], &same[1], stop, "[DONE]"],
        "",
        &[("x", "f"), ("y", "f")],
    );
    let none = [call("", "x"), call("", "")];
    check(ProviderKind::OpenAi, &[&none[0], stop], "", &[("x", "f")]);
    check(
        ProviderKind::OpenAi,
        &[&none[1], stop],
        "",
        &[("call_0", "f")],
    );
    let far = call("\"index\":4000000000,", "x");
    check(ProviderKind::OpenAi, &[&far, stop], "", &[("x", "f")]);
    check(
        ProviderKind::Anthropic,
        &[
            r#"{"type":"message_start","message":{"usage":{"input_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"n":1}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"b"}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"weather","rain":true}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        "ab",
        &[],
    );
}
