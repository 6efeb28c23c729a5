//! The server plays the right turns, and detects every error.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{ModelServer, ProviderFormat, ScriptedTurn};

/// Sends bytes and returns the whole response.
fn exchange(server: &ModelServer, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer); // a closed connection is an end too
    String::from_utf8(answer).unwrap()
}

fn post(server: &ModelServer, format: ProviderFormat, body: &Value) -> String {
    let (path, headers) = match format {
        ProviderFormat::Anthropic => (
            "/v1/messages",
            "x-api-key: k\r\nanthropic-version: 2023-06-01",
        ),
        ProviderFormat::OpenAi => ("/v1/chat/completions", "authorization: Bearer k"),
        ProviderFormat::OpenAiResponses => ("/v1/responses", "authorization: Bearer k"),
    };
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\ncontent-type: application/json\r\n{headers}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    exchange(server, format!("{head}{body}").as_bytes())
}

/// The smallest request, with these messages.
fn asking(messages: &Value) -> Value {
    json!({ "model": "m", "max_tokens": 1, "messages": messages })
}

fn hello() -> Value {
    asking(&json!([{ "role": "user", "content": "hello" }]))
}

/// Sends an invalid request and returns the server's message.
fn problem(format: ProviderFormat, body: &Value) -> String {
    let server = ModelServer::start([ScriptedTurn::text("never")]);
    let answer = post(&server, format, body);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let problems = server.problems_at_end();
    assert_eq!(problems.len(), 2, "{problems:?}"); // the turn was not played either
    problems.into_iter().next().unwrap()
}

#[test]
fn both_formats_are_played_streamed_and_whole() {
    for format in [ProviderFormat::Anthropic, ProviderFormat::OpenAi] {
        let turn = || ScriptedTurn::calls([("f", json!({ "a": 1 }))]).and_text("hi there");
        let server = ModelServer::start([turn(), turn()]);
        let whole = post(&server, format, &hello());
        assert!(whole.contains("content-type: application/json") && whole.contains("hi there"));
        let mut streaming = hello();
        streaming["stream"] = json!(true);
        let stream = post(&server, format, &streaming);
        assert!(
            stream.contains("text/event-stream") && stream.contains("\"hi \""),
            "{stream}"
        );
        assert!(stream.ends_with("0\r\n\r\n"), "complete");
        let requests = server.finish();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0].json, hello());
    }
}

/// A request of another program: its MCP tools are in a namespace.
fn asking_for_a_response(is_stream: bool) -> Value {
    let tool = json!({ "type": "function", "name": "f", "parameters": {} });
    let space = json!({ "type": "namespace", "name": "mcp__it", "tools": [tool] });
    json!({ "model": "m", "stream": is_stream, "input": [{ "type": "message" }], "tools": [space] })
}

#[test]
fn responses_are_played_for_programs_of_others() {
    let turn = || {
        ScriptedTurn::calls([("mcp__it__f", json!({ "a": 1 })), ("g", json!({}))])
            .and_text("hi there")
    };
    let server = ModelServer::start_foreign([turn(), turn()]);
    let whole = post(
        &server,
        ProviderFormat::OpenAiResponses,
        &asking_for_a_response(false),
    );
    let body = whole.split("\r\n\r\n").nth(1).unwrap();
    let body: Value =
        serde_json::from_str(body.lines().find(|line| line.starts_with('{')).unwrap()).unwrap();
    let output = body["output"].as_array().unwrap();
    assert_eq!(output[0]["content"][0]["text"], "hi there");
    assert_eq!(
        (
            &output[1]["namespace"],
            &output[1]["name"],
            &output[1]["call_id"]
        ),
        (&json!("mcp__it"), &json!("f"), &json!("call_1_1"))
    );
    assert_eq!(
        (&output[2]["namespace"], &output[2]["name"]),
        (&Value::Null, &json!("g"))
    );
    let stream = post(
        &server,
        ProviderFormat::OpenAiResponses,
        &asking_for_a_response(true),
    );
    for kind in [
        "created",
        "output_text.delta",
        "function_call_arguments.delta",
        "completed",
    ] {
        assert!(
            stream.contains(&format!("event: response.{kind}\n")),
            "{kind}: {stream}"
        );
    }
    assert_eq!(server.finish().len(), 2);
}

#[test]
fn our_own_requests_are_never_in_the_format_of_others() {
    let problem = problem(
        ProviderFormat::OpenAiResponses,
        &asking_for_a_response(false),
    );
    assert!(problem.contains("never asks in this format"), "{problem}");
}

#[test]
fn turns_may_be_computed_cut_or_refused() {
    let server = ModelServer::start([
        ScriptedTurn::computed(|request| {
            ScriptedTurn::text(request.json["messages"][0]["content"].as_str().unwrap())
        }),
        ScriptedTurn::text("a long answer").cut_after(30),
        ScriptedTurn::status(429, Some("7")),
        ScriptedTurn::raw(200, "text/plain", "odd"),
    ]);
    assert!(post(&server, ProviderFormat::OpenAi, &hello()).contains("hello"));
    assert!(!post(&server, ProviderFormat::OpenAi, &hello()).ends_with("0\r\n\r\n"));
    let refused = post(&server, ProviderFormat::Anthropic, &hello());
    assert!(refused.starts_with("HTTP/1.1 429") && refused.contains("retry-after: 7"));
    assert!(post(&server, ProviderFormat::Anthropic, &hello()).contains("odd"));
    let _ = server.finish();
}

#[test]
fn a_request_too_many_and_a_turn_too_many_are_problems() {
    let server = ModelServer::start([ScriptedTurn::text("a")]);
    post(&server, ProviderFormat::OpenAi, &hello());
    assert!(post(&server, ProviderFormat::OpenAi, &hello()).starts_with("HTTP/1.1 400"));
    let problems = server.problems_at_end();
    assert_eq!(problems, ["POST /v1/chat/completions: the script is over"]);

    let server = ModelServer::start([ScriptedTurn::text("a"), ScriptedTurn::text("b")]);
    assert_eq!(server.problems_at_end(), ["2 turns were not played"]);
}

#[test]
#[should_panic(expected = "1 turn was not played")]
fn a_server_that_is_dropped_fails_the_test() {
    drop(ModelServer::start([ScriptedTurn::text("never")]));
}

#[test]
fn an_invalid_request_is_a_problem() {
    let problem = |bytes: &[u8]| {
        let server = ModelServer::start([]);
        exchange(&server, bytes);
        server.problems_at_end().concat()
    };
    assert!(
        problem(b"GET / HTTP/1.1\r\ncontent-length: 0\r\n\r\n").contains("nothing at this path")
    );
    assert!(problem(b"\0\0\r\n\r\n").contains("not a request"));
    assert!(problem(b"POST /v1/messages HTTP/1.1\r\n\r\n").contains("no content-length"));
    assert!(
        problem(b"POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n").contains("too much")
    );
    let bare = b"POST /v1/messages HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";
    let problem = problem(bare);
    for missing in ["`content-type`", "`x-api-key`", "`anthropic-version`"] {
        assert!(problem.contains(missing), "{problem}");
    }
}

#[test]
fn unknown_keys_are_a_problem() {
    let server = ModelServer::start_keyless([ScriptedTurn::text("never")]);
    assert!(post(&server, ProviderFormat::OpenAi, &hello()).starts_with("HTTP/1.1 400"));
    assert!(server.problems_at_end()[0].contains("an unknown key"));
}

#[test]
fn shapes_are_checked() {
    let with = |field: &str, value: Value| {
        let mut body = hello();
        body[field] = value;
        body
    };
    let tool = |name: &str| json!([{ "name": name, "input_schema": { "type": "object" } }]);
    let typed = json!([{ "type": "web_search_20250305", "name": "web_search" }]);
    for body in [
        json!({}),
        with("max_tokens", json!(0)),
        with("messages", json!([])),
        with("messages", json!([{ "role": "user", "content": "" }])),
        with("messages", json!([{ "role": "system", "content": "x" }])),
        with(
            "messages",
            json!([{ "role": "user", "content": [{ "type": "text", "text": " " }] }]),
        ),
        with("temperature", json!(1.5)),
        with("colour", json!("red")),
        with("tools", tool("has a blank")),
        with("tools", tool(&"x".repeat(65))),
        with("tools", typed),
        with(
            "tools",
            json!([{ "name": "f", "input_schema": { "type": "array" } }]),
        ),
    ] {
        problem(ProviderFormat::Anthropic, &body);
    }
    let function = |name: &str| json!([{ "type": "function", "function": { "name": name } }]);
    for body in [
        json!({}),
        with("messages", json!([{ "role": "nobody", "content": "x" }])),
        with("messages", json!([{ "role": "tool", "content": "x" }])),
        with("messages", json!([{ "role": "assistant" }])),
        with("max_completion_tokens", json!(1)),
        with("system", json!("x")),
        with("tools", function("a.b")),
        with("tools", tool("f")),
    ] {
        problem(ProviderFormat::OpenAi, &body);
    }
}

#[test]
fn two_tools_of_one_name_are_a_problem() {
    let tool = json!({ "name": "f", "input_schema": { "type": "object" } });
    let mut body = hello();
    body["tools"] = json!([tool, tool]);
    assert!(problem(ProviderFormat::Anthropic, &body).contains("`f` is there twice"));
}

#[test]
fn roles_and_results_follow_from_earlier_messages() {
    let user = json!({ "role": "user", "content": "x" });
    let said = json!({ "role": "assistant", "content": "x" });
    let call = json!({ "role": "assistant", "content": [
        { "type": "tool_use", "id": "a", "name": "f", "input": {} },
        { "type": "tool_use", "id": "b", "name": "f", "input": {} }
    ] });
    let result = |id: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": "r" });
    let results = |blocks: Value| json!({ "role": "user", "content": blocks });
    let text = json!({ "type": "text", "text": "x" });
    let fails = |messages: Value| problem(ProviderFormat::Anthropic, &asking(&messages));
    fails(json!([said]));
    fails(json!([user, user]));
    fails(json!([user, call]));
    fails(json!([user, call, user]));
    fails(json!([user, call, results(json!([result("a")]))]));
    fails(json!([
        user,
        call,
        results(json!([result("a"), result("c")]))
    ]));
    fails(json!([
        user,
        call,
        results(json!([result("a"), result("b"), result("b")]))
    ]));
    fails(json!([
        user,
        call,
        results(json!([text, result("a"), result("b")]))
    ]));
    fails(json!([results(json!([result("a")]))]));
    let good = json!([user, call, results(json!([result("a"), result("b"), text]))]);
    let server = ModelServer::start([ScriptedTurn::text("fine")]);
    post(&server, ProviderFormat::Anthropic, &asking(&good));
    let _ = server.finish();
}

#[test]
fn the_same_for_the_other_format() {
    let user = json!({ "role": "user", "content": "x" });
    let function = json!({ "name": "f", "arguments": "{}" });
    let call = json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": "a", "type": "function", "function": function },
        { "id": "b", "type": "function", "function": function }
    ] });
    let result = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "r" });
    let fails = |messages: Value| problem(ProviderFormat::OpenAi, &asking(&messages));
    fails(json!([user, call]));
    fails(json!([user, call, user]));
    fails(json!([user, call, result("a")]));
    fails(json!([user, call, result("a"), user, result("b")]));
    fails(json!([user, result("a")]));
    fails(json!([user, { "role": "system", "content": "late" }]));
    let good = json!([user, call, result("a"), result("b"), user]);
    let server = ModelServer::start([ScriptedTurn::text("fine")]);
    post(&server, ProviderFormat::OpenAi, &asking(&good));
    let _ = server.finish();
}

#[test]
fn a_request_is_easy_to_look_into() {
    let system = [
        json!("be brief"),
        json!([{ "type": "text", "text": "be brief" }]),
    ];
    for system in system {
        let mut body = hello();
        body["system"] = system;
        body["tools"] = json!([{ "name": "f", "input_schema": { "type": "object" } }]);
        let server = ModelServer::start([ScriptedTurn::text("x")]);
        post(&server, ProviderFormat::Anthropic, &body);
        let requests = server.finish();
        assert_eq!(requests[0].system(), "be brief");
        assert_eq!(requests[0].tools(), ["f"]);
    }
    let system = json!({ "role": "system", "content": "be brief" });
    let server = ModelServer::start([ScriptedTurn::text("x")]);
    let body = asking(&json!([system, { "role": "user", "content": "x" }]));
    post(&server, ProviderFormat::OpenAi, &body);
    assert_eq!(server.finish()[0].system(), "be brief");
}

#[test]
fn a_program_of_others_may_send_what_we_never_would_but_not_once_too_often() {
    let body = json!({ "model": "m", "messages": [], "a_field_of_its_own": true });
    let server = ModelServer::start_foreign([ScriptedTurn::text("hi there")]);
    let answer = post(&server, ProviderFormat::Anthropic, &body);
    assert!(answer.contains("hi there"), "{answer}");
    let answer = post(&server, ProviderFormat::Anthropic, &body);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_eq!(server.requests().len(), 2);
    let problems = server.problems_at_end();
    assert_eq!(problems, ["POST /v1/messages: the script is over"]);
}

#[test]
fn results_stand_in_the_order_of_their_calls_and_no_id_is_there_twice() {
    let anthropic = |calls: &[&str], results: &[&str]| {
        let calls = calls
            .iter()
            .map(|id| json!({ "type": "tool_use", "id": id, "name": "f", "input": {} }));
        let results = results
            .iter()
            .map(|id| json!({ "type": "tool_result", "tool_use_id": id, "content": "x" }));
        let (calls, results): (Vec<Value>, Vec<Value>) = (calls.collect(), results.collect());
        let body = asking(&json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": calls },
            { "role": "user", "content": results },
        ]));
        problem(ProviderFormat::Anthropic, &body)
    };
    assert!(anthropic(&["a", "b"], &["b", "a"]).contains("should answer [\"a\", \"b\"]"));
    assert!(anthropic(&["a", "a"], &["a", "a"]).contains("the id `a` is there twice"));
    let call =
        json!({ "id": "a", "type": "function", "function": { "name": "f", "arguments": "{}" } });
    let result = json!({ "role": "tool", "tool_call_id": "a", "content": "x" });
    let twice = asking(&json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "tool_calls": [call, call] },
        result,
        result,
    ]));
    assert!(problem(ProviderFormat::OpenAi, &twice).contains("the id `a` is there twice"));
}
