//! A reply in the format of Anthropic Messages.

use serde_json::{Value, json};

use super::turn::ModelReply;

/// The whole stream.
pub(super) fn events(reply: &ModelReply, model: &str) -> String {
    let mut stream = String::new();
    let mut event = |data: Value| {
        let kind = data["type"].as_str().unwrap_or_default();
        stream.push_str(&format!("event: {kind}\ndata: {data}\n\n"));
    };
    let mut message = whole(reply, model);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["usage"]["output_tokens"] = json!(1);
    event(json!({ "type": "message_start", "message": message }));
    event(json!({ "type": "ping" }));
    for (index, (begin, deltas)) in blocks(reply).into_iter().enumerate() {
        event(json!({ "type": "content_block_start", "index": index, "content_block": begin }));
        for delta in deltas {
            event(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        event(json!({ "type": "content_block_stop", "index": index }));
    }
    event(json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop(reply), "stop_sequence": null },
        "usage": { "output_tokens": reply.output }
    }));
    event(json!({ "type": "message_stop" }));
    stream
}

/// The start of each block, and its later pieces.
fn blocks(reply: &ModelReply) -> Vec<(Value, Vec<Value>)> {
    let mut blocks = Vec::new();
    if !reply.thinking.is_empty() {
        let pieces = ModelReply::pieces(&reply.thinking);
        let mut deltas: Vec<Value> = pieces
            .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
            .collect();
        deltas.push(json!({ "type": "signature_delta", "signature": SIGNATURE }));
        let begin = json!({ "type": "thinking", "thinking": "", "signature": "" });
        blocks.push((begin, deltas));
    }
    if !reply.text.is_empty() {
        let pieces = ModelReply::pieces(&reply.text);
        let deltas = pieces.map(|piece| json!({ "type": "text_delta", "text": piece }));
        blocks.push((json!({ "type": "text", "text": "" }), deltas.collect()));
    }
    for call in &reply.calls {
        let pieces = ModelReply::halves(&call.arguments);
        let deltas =
            pieces.map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        let begin = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
        blocks.push((begin, deltas.to_vec()));
    }
    blocks
}

/// The signature is not verified; it only has to be sent back.
const SIGNATURE: &str = "c2lnbmVk";

/// The whole answer in one document, which can't contain arguments that are not JSON.
pub(super) fn whole(reply: &ModelReply, model: &str) -> Value {
    let mut content = Vec::new();
    if !reply.thinking.is_empty() {
        content.push(
            json!({ "type": "thinking", "thinking": reply.thinking, "signature": SIGNATURE }),
        );
    }
    if !reply.text.is_empty() {
        content.push(json!({ "type": "text", "text": reply.text }));
    }
    for call in &reply.calls {
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
        content
            .push(json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input }));
    }
    json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop(reply),
        "stop_sequence": null,
        "usage": {
            "input_tokens": reply.input.saturating_sub(reply.cached),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": reply.cached,
            "output_tokens": reply.output
        }
    })
}

fn stop(reply: &ModelReply) -> &str {
    match &reply.stop {
        Some(stop) => stop,
        None if reply.calls.is_empty() => "end_turn",
        None => "tool_use",
    }
}
