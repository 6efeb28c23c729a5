//! A request in the format of OpenAI chat completions.
//!
//! A result is a separate message in this format, and no field marks it as an error: the text does.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::provider::plain::plain_name;
use crate::{Message, Request, ToolCall, ToolResult, ToolSpec};

/// The bytes of the body. `is_original` is whether it goes to OpenAI itself, which has renamed a field that compatible
/// servers know by its old name only.
pub(crate) fn body(request: &Request, is_original: bool) -> Result<Vec<u8>, serde_json::Error> {
    let (old, new) = if is_original {
        (None, Some(request.max_tokens))
    } else {
        (Some(request.max_tokens), None)
    };
    serde_json::to_vec(&Body {
        model: &request.model,
        max_tokens: old,
        max_completion_tokens: new,
        stream: true,
        stream_options: StreamOptions {
            include_usage: true,
        },
        temperature: request.temperature,
        reasoning_effort: request.effort.map(crate::Effort::word),
        tools: request.tools.iter().map(tool).collect(),
        messages: messages(request),
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Said<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
struct Said<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: Cow<'a, str>,
    arguments: String,
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool {
        r#type: "function",
        function: Function {
            name: &spec.name,
            description: &spec.description,
            parameters: &spec.input_schema,
        },
    }
}

fn messages(request: &Request) -> Vec<Said<'_>> {
    let mut said = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        said.push(text("system", &request.system));
    }
    for message in &request.messages {
        match message {
            Message::User(words) => said.push(text("user", words)),
            Message::Assistant { text, calls, .. } => {
                // Without calls there has to be content, if only an empty one.
                let has_content = !text.is_empty() || calls.is_empty();
                said.push(Said {
                    role: "assistant",
                    tool_call_id: None,
                    content: has_content.then_some(Cow::Borrowed(text.as_str())),
                    tool_calls: calls.iter().map(call).collect(),
                });
            }
            Message::Results(results) => said.extend(results.iter().map(result)),
        }
    }
    said
}

fn text<'a>(role: &'static str, text: &'a str) -> Said<'a> {
    Said {
        role,
        tool_call_id: None,
        content: Some(Cow::Borrowed(text)),
        tool_calls: Vec::new(),
    }
}

fn call(call: &ToolCall) -> Call<'_> {
    Call {
        id: &call.id,
        r#type: "function",
        function: Called {
            name: plain_name(&call.name),
            arguments: Value::Object(call.input.as_object()).to_string(),
        },
    }
}

fn result(result: &ToolResult) -> Said<'_> {
    let content = if result.is_error {
        Cow::Owned(format!("error: {}", result.output))
    } else {
        Cow::Borrowed(result.output.as_str())
    };
    Said {
        role: "tool",
        tool_call_id: Some(&result.id),
        content: Some(content),
        tool_calls: Vec::new(),
    }
}
