//! A request in the format of OpenAI chat completions.
//!
//! A result is a separate message in this format, and no field marks it as an error: its text does.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::provider::plain::plain_name;
use crate::{ModelMessage, ModelRequest, ModelTool, ToolCall, ToolResult};

/// The bytes of the body. `is_original` is whether it is sent to OpenAI itself, which has renamed a field that compatible
/// servers know by its old name only.
pub(crate) fn body(
    request: &ModelRequest,
    is_original: bool,
) -> Result<Vec<u8>, serde_json::Error> {
    let (old, new) = if is_original {
        (None, Some(request.max_tokens))
    } else {
        (Some(request.max_tokens), None)
    };
    serde_json::to_vec(&OpenAiBody {
        model: &request.model,
        max_tokens: old,
        max_completion_tokens: new,
        stream: true,
        stream_options: StreamOptions {
            include_usage: true,
        },
        temperature: request.temperature,
        reasoning_effort: request.effort.map(crate::ReasoningEffort::word),
        tools: request.tools.iter().map(tool).collect(),
        messages: messages(request),
    })
}

#[derive(Serialize)]
struct OpenAiBody<'a> {
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
    tools: Vec<OpenAiTool<'a>>,
    messages: Vec<OpenAiMessage<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct OpenAiTool<'a> {
    r#type: &'static str,
    function: OpenAiFunction<'a>,
}

#[derive(Serialize)]
struct OpenAiFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
struct OpenAiMessage<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<OpenAiCall<'a>>,
}

#[derive(Serialize)]
struct OpenAiCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: OpenAiCalled<'a>,
}

#[derive(Serialize)]
struct OpenAiCalled<'a> {
    name: Cow<'a, str>,
    arguments: String,
}

fn tool(spec: &ModelTool) -> OpenAiTool<'_> {
    OpenAiTool {
        r#type: "function",
        function: OpenAiFunction {
            name: &spec.name,
            description: &spec.description,
            parameters: &spec.input_schema,
        },
    }
}

fn messages(request: &ModelRequest) -> Vec<OpenAiMessage<'_>> {
    let mut said = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        said.push(text("system", &request.system));
    }
    for message in &request.messages {
        match message {
            ModelMessage::User(words) => said.push(text("user", words)),
            ModelMessage::Assistant { text, calls, .. } => {
                // Without calls the content is required, even if it is empty.
                let has_content = !text.is_empty() || calls.is_empty();
                said.push(OpenAiMessage {
                    role: "assistant",
                    tool_call_id: None,
                    content: has_content.then_some(Cow::Borrowed(text.as_str())),
                    tool_calls: calls.iter().map(call).collect(),
                });
            }
            ModelMessage::Results(results) => said.extend(results.iter().map(result)),
        }
    }
    said
}

fn text<'a>(role: &'static str, text: &'a str) -> OpenAiMessage<'a> {
    OpenAiMessage {
        role,
        tool_call_id: None,
        content: Some(Cow::Borrowed(text)),
        tool_calls: Vec::new(),
    }
}

fn call(call: &ToolCall) -> OpenAiCall<'_> {
    OpenAiCall {
        id: &call.id,
        r#type: "function",
        function: OpenAiCalled {
            name: plain_name(&call.name),
            arguments: Value::Object(call.input.as_object()).to_string(),
        },
    }
}

fn result(result: &ToolResult) -> OpenAiMessage<'_> {
    let content = if result.is_error {
        Cow::Owned(format!("error: {}", result.output))
    } else {
        Cow::Borrowed(result.output.as_str())
    };
    OpenAiMessage {
        role: "tool",
        tool_call_id: Some(&result.id),
        content: Some(content),
        tool_calls: Vec::new(),
    }
}
