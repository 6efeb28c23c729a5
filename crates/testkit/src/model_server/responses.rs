//! A reply in the format of OpenAI Responses. Only other programs request it, so its requests are recorded and not checked.

use serde_json::{Value, json};

use super::turn::{ModelReply, ScriptedCall};

/// The whole stream.
pub(super) fn events(reply: &ModelReply, request: &Value) -> String {
    let mut stream = String::new();
    let mut event = |data: Value| {
        let kind = data["type"].as_str().unwrap_or_default();
        stream.push_str(&format!("event: {kind}\ndata: {data}\n\n"));
    };
    let mut response = whole(reply, request);
    let output = response["output"].take();
    response["status"] = json!("in_progress");
    response["output"] = json!([]);
    event(json!({ "type": "response.created", "response": response }));
    let items = output.as_array().map_or(&[][..], Vec::as_slice);
    for (index, item) in items.iter().enumerate() {
        event(
            json!({ "type": "response.output_item.added", "output_index": index, "item": begun(item) }),
        );
        for delta in deltas(item) {
            let (kind, piece) = delta;
            event(
                json!({ "type": kind, "item_id": item["id"], "output_index": index, "content_index": 0, "delta": piece }),
            );
        }
        event(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    event(json!({ "type": "response.completed", "response": whole(reply, request) }));
    stream
}

/// An item before its first piece.
fn begun(item: &Value) -> Value {
    let mut begun = item.clone();
    let (field, empty) = match item["type"] == "message" {
        true => ("content", json!([])),
        false => ("arguments", json!("")),
    };
    begun[field] = empty;
    begun["status"] = json!("in_progress");
    begun
}

/// The pieces of an item.
fn deltas(item: &Value) -> Vec<(&'static str, &str)> {
    let text = item["content"][0]["text"].as_str().unwrap_or_default();
    let words = ModelReply::pieces(text).map(|piece| ("response.output_text.delta", piece));
    let arguments = item["arguments"].as_str().unwrap_or_default();
    let halves = ModelReply::halves(arguments).into_iter();
    let halves = halves.filter(|half| !half.is_empty());
    let halves = halves.map(|half| ("response.function_call_arguments.delta", half));
    words.chain(halves).collect()
}

/// The whole answer in one document.
pub(super) fn whole(reply: &ModelReply, request: &Value) -> Value {
    let message = json!({
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "content": [{ "type": "output_text", "text": reply.text, "annotations": [] }]
    });
    let message = (!reply.text.is_empty()).then_some(message);
    let calls = reply.calls.iter().map(|call| function_call(call, request));
    let output: Vec<Value> = message.into_iter().chain(calls).collect();
    json!({
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "completed",
        "model": request["model"],
        "output": output,
        "usage": {
            "input_tokens": reply.input,
            "input_tokens_details": { "cached_tokens": reply.cached },
            "output_tokens": reply.output,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": reply.input + reply.output
        }
    })
}

/// A call. A tool of a namespace has two names; in a script it is `namespace__tool`.
fn function_call(call: &ScriptedCall, request: &Value) -> Value {
    // The conversation is one list, so an id is unique in all of it.
    let turn = request["input"].as_array().map_or(0, Vec::len);
    let id = format!("{}_{turn}", call.id);
    let mut item = json!({
        "type": "function_call",
        "id": format!("fc_{id}"),
        "call_id": id,
        "status": "completed",
        "name": call.name,
        "arguments": call.arguments
    });
    if let Some((space, name)) = in_namespace(&call.name, request) {
        item["namespace"] = json!(space);
        item["name"] = json!(name);
    }
    item
}

fn in_namespace<'a>(name: &'a str, request: &'a Value) -> Option<(&'a str, &'a str)> {
    let tools = request["tools"].as_array()?;
    let spaces = tools.iter().filter(|tool| tool["type"] == "namespace");
    let mut spaces = spaces.filter_map(|space| Some((space["name"].as_str()?, &space["tools"])));
    spaces.find_map(|(space, tools)| {
        let bare = name.strip_prefix(space)?.strip_prefix("__")?;
        let mut tools = tools.as_array()?.iter();
        let is_there = tools.any(|tool| tool["name"] == bare);
        is_there.then_some((space, bare))
    })
}
