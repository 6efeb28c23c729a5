//! A reply in the format of OpenAI chat completions.

use serde_json::{Value, json};

use super::turn::ModelReply;

/// The whole stream.
pub(super) fn events(reply: &ModelReply, model: &str) -> String {
    let mut stream = String::new();
    let mut event = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": model,
            "choices": choices,
            "usage": usage
        });
        stream.push_str(&format!("data: {chunk}\n\n"));
    };
    let first = json!({ "role": "assistant", "content": "" });
    for delta in std::iter::once(first).chain(deltas(reply)) {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": null });
        event(json!([choice]), Value::Null);
    }
    let last = json!({ "index": 0, "delta": {}, "finish_reason": stop(reply) });
    event(json!([last]), Value::Null);
    event(json!([]), usage(reply));
    stream.push_str("data: [DONE]\n\n");
    stream
}

fn deltas(reply: &ModelReply) -> Vec<Value> {
    let thoughts = ModelReply::pieces(&reply.thinking);
    let thoughts = thoughts.map(|piece| json!({ "reasoning_content": piece }));
    let words = ModelReply::pieces(&reply.text).map(|piece| json!({ "content": piece }));
    let mut deltas: Vec<Value> = thoughts.chain(words).collect();
    for (index, call) in reply.calls.iter().enumerate() {
        let [first, second] = ModelReply::halves(&call.arguments);
        let begin = json!({
            "index": index,
            "id": call.id,
            "type": "function",
            "function": { "name": call.name, "arguments": first }
        });
        deltas.push(json!({ "tool_calls": [begin] }));
        let rest = json!({ "index": index, "function": { "arguments": second } });
        deltas.push(json!({ "tool_calls": [rest] }));
    }
    deltas
}

/// The whole answer in one document.
pub(super) fn whole(reply: &ModelReply, model: &str) -> Value {
    let call = |call: &super::turn::ScriptedCall| {
        json!({
            "id": call.id,
            "type": "function",
            "function": { "name": call.name, "arguments": call.arguments }
        })
    };
    let mut message = json!({ "role": "assistant", "content": reply.text });
    if !reply.calls.is_empty() {
        message["tool_calls"] = reply.calls.iter().map(call).collect();
    }
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [{ "index": 0, "message": message, "finish_reason": stop(reply) }],
        "usage": usage(reply)
    })
}

fn usage(reply: &ModelReply) -> Value {
    json!({
        "prompt_tokens": reply.input,
        "completion_tokens": reply.output,
        "total_tokens": reply.input + reply.output,
        "prompt_tokens_details": { "cached_tokens": reply.cached }
    })
}

fn stop(reply: &ModelReply) -> &str {
    match &reply.stop {
        Some(stop) => stop,
        None if reply.calls.is_empty() => "stop",
        None => "tool_calls",
    }
}
