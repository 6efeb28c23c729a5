//! Whether the provider would accept a request.
//!
//! The schemas describe the form of a request; this module checks the rest: the headers, and that roles and results
//! follow from the messages before them.

use std::sync::OnceLock;

use metier_schema::{BoundedSchema, SchemaMisfit};
use serde_json::Value;

use super::{ProviderFormat, Recorded};

/// The format that a request uses.
pub(super) fn format(request: &Recorded) -> Result<ProviderFormat, String> {
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/messages") => Ok(ProviderFormat::Anthropic),
        ("POST", "/v1/chat/completions") => Ok(ProviderFormat::OpenAi),
        ("POST", "/v1/responses") => Ok(ProviderFormat::OpenAiResponses),
        _ => Err("there is nothing at this path".to_owned()),
    }
}

/// All errors of a request.
pub(super) fn request(request: &Recorded, format: ProviderFormat, is_keyless: bool) -> Vec<String> {
    let Some(schema) = schema(format) else {
        return vec!["metier never asks in this format".to_owned()];
    };
    let mut problems = headers(request, format, is_keyless);
    if request.json.is_null() {
        problems.push("the body is not JSON".to_owned());
        return problems;
    }
    let checked = schema.check(&request.json);
    problems.extend(checked.err().as_ref().map(SchemaMisfit::to_string));
    if problems.is_empty() {
        let messages = request.json["messages"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        problems.extend(match format {
            ProviderFormat::Anthropic => anthropic(messages),
            ProviderFormat::OpenAi | ProviderFormat::OpenAiResponses => openai(messages),
        });
        problems.extend(twice(&request.tools()));
    }
    problems
}

/// `None` for the format of other programs.
fn schema(format: ProviderFormat) -> Option<&'static BoundedSchema> {
    static ANTHROPIC: OnceLock<BoundedSchema> = OnceLock::new();
    static OPENAI: OnceLock<BoundedSchema> = OnceLock::new();
    let (cell, text) = match format {
        ProviderFormat::Anthropic => (&ANTHROPIC, include_str!("schemas/anthropic.json")),
        ProviderFormat::OpenAi => (&OPENAI, include_str!("schemas/openai.json")),
        ProviderFormat::OpenAiResponses => return None,
    };
    Some(
        cell.get_or_init(|| {
            compile(text).unwrap_or_else(|error| panic!("our own schema: {error}"))
        }),
    )
}

fn compile(text: &str) -> Result<BoundedSchema, Box<dyn std::error::Error>> {
    let schema: Value = serde_json::from_str(text)?;
    Ok(BoundedSchema::new(&schema)?)
}

fn headers(request: &Recorded, format: ProviderFormat, is_keyless: bool) -> Vec<String> {
    let mut problems = Vec::new();
    let mut expect = |name: &str, fits: &dyn Fn(&str) -> bool| match request.header(name) {
        Some(value) if fits(value) => {}
        Some(value) => problems.push(format!("the header `{name}` is `{value}`")),
        None => problems.push(format!("the header `{name}` is missing")),
    };
    expect("content-type", &|value| {
        value.starts_with("application/json")
    });
    if format == ProviderFormat::Anthropic {
        expect("anthropic-version", &|value| value == "2023-06-01");
    }
    match format {
        _ if is_keyless => {}
        ProviderFormat::Anthropic => expect("x-api-key", &|value| !value.is_empty()),
        ProviderFormat::OpenAi | ProviderFormat::OpenAiResponses => {
            expect("authorization", &|value| {
                value
                    .strip_prefix("Bearer ")
                    .is_some_and(|key| !key.is_empty())
            });
        }
    }
    let keys = ["x-api-key", "authorization"];
    let keys = keys.iter().filter(|name| request.header(name).is_some());
    if keys.count() > usize::from(!is_keyless) {
        problems.push("it contains an unknown key".to_owned());
    }
    problems
}

fn twice(names: &[&str]) -> Vec<String> {
    let seen = |at: usize| names[..at].contains(&names[at]);
    let twice = (0..names.len()).filter(|at| seen(*at));
    twice
        .map(|at| format!("the tool `{}` is there twice", names[at]))
        .collect()
}

/// Roles alternate, the user begins, and each call is answered in the very next message, before anything else in it.
fn anthropic(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != role {
            problems.push(format!("message {at} is not of the role `{role}`"));
        }
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        let results = ids(blocks, "tool_result", "tool_use_id");
        problems.extend(answered(at, &open, &results));
        let begin = blocks.iter().take(results.len());
        if begin
            .into_iter()
            .any(|block| block["type"] != "tool_result")
        {
            problems.push(format!("message {at} has something before its results"));
        }
        open = ids(blocks, "tool_use", "id");
    }
    if !open.is_empty() {
        problems.push("the last message has calls without results".to_owned());
    }
    problems
}

fn ids<'a>(blocks: &'a [Value], kind: &str, field: &str) -> Vec<&'a str> {
    let blocks = blocks.iter().filter(|block| block["type"] == kind);
    blocks.filter_map(|block| block[field].as_str()).collect()
}

/// Each call is answered by one message directly after the message with the call.
fn openai(messages: &[Value]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut results: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            results.extend(message["tool_call_id"].as_str());
            continue;
        }
        problems.extend(answered(at, &open, &std::mem::take(&mut results)));
        let calls = message["tool_calls"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        open = calls
            .iter()
            .filter_map(|call| call["id"].as_str())
            .collect();
        if message["role"] == "system" && at > 0 {
            problems.push(format!("message {at} is a system prompt and not the first"));
        }
    }
    problems.extend(answered(messages.len(), &open, &results));
    problems
}

/// Results must have the ids of the calls, in their order, each once. Providers accept any order; ours is that of the calls.
fn answered(at: usize, calls: &[&str], results: &[&str]) -> Option<String> {
    let twice = (1..calls.len()).find(|call| calls[..*call].contains(&calls[*call]));
    if let Some(call) = twice {
        return Some(format!(
            "before message {at}, the id `{}` is there twice",
            calls[call]
        ));
    }
    (calls != results)
        .then(|| format!("message {at} should answer {calls:?} and answers {results:?}"))
}
