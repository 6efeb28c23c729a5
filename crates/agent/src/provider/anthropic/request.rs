//! A request in the format of Anthropic Messages.
//!
//! Roles alternate in this format, so a user message after results is merged with them into one message; empty messages are rejected, so
//! none is sent. Two marks tell the provider what to cache: the end of the system prompt, which all turns share with the tools
//! before it, and the end of the conversation, which the next turn starts with.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::provider::ProviderKind;
use crate::provider::plain::{plain, plain_name};
use crate::{ModelMessage, ModelRequest, ModelTool};

/// The bytes of the body.
pub(crate) fn body(request: &ModelRequest) -> Result<Vec<u8>, serde_json::Error> {
    let mut messages = messages(&request.messages);
    if let Some(last) = messages.last_mut().and_then(|turn| turn.content.last_mut()) {
        last.mark();
    }
    serde_json::to_vec(&AnthropicBody {
        model: &request.model,
        max_tokens: request.max_tokens,
        stream: true,
        temperature: request.temperature,
        output_config: request.effort.map(|effort| OutputConfig {
            effort: effort.word(),
        }),
        tools: request.tools.iter().map(tool).collect(),
        system: system(&request.system),
        messages,
    })
}

#[derive(Serialize)]
struct AnthropicBody<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnthropicTool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<AnthropicBlock<'a>>,
    messages: Vec<AnthropicTurn<'a>>,
}

#[derive(Serialize)]
struct OutputConfig {
    effort: &'static str,
}

/// One of our tools. It has no `type`: a tool with a type would run at the provider.
#[derive(Serialize)]
struct AnthropicTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
struct AnthropicTurn<'a> {
    role: &'static str,
    content: Vec<AnthropicBlock<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnthropicBlock<'a> {
    Text {
        r#type: &'static str,
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Call {
        r#type: &'static str,
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Map<String, Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Result {
        r#type: &'static str,
        tool_use_id: Cow<'a, str>,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Kept(&'a Value),
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

impl<'a> AnthropicBlock<'a> {
    fn text(text: &'a str) -> Self {
        Self::Text {
            r#type: "text",
            text,
            cache_control: None,
        }
    }

    /// Marks the end of the part to cache. Signed thoughts have no marks.
    fn mark(&mut self) {
        match self {
            Self::Text { cache_control, .. }
            | Self::Call { cache_control, .. }
            | Self::Result { cache_control, .. } => {
                *cache_control = Some(CacheControl {
                    r#type: "ephemeral",
                });
            }
            Self::Kept(_) => {}
        }
    }
}

fn tool(spec: &ModelTool) -> AnthropicTool<'_> {
    AnthropicTool {
        name: &spec.name,
        description: &spec.description,
        input_schema: &spec.input_schema,
    }
}

fn system(text: &str) -> Vec<AnthropicBlock<'_>> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut block = AnthropicBlock::text(text);
    block.mark();
    vec![block]
}

fn messages(messages: &[ModelMessage]) -> Vec<AnthropicTurn<'_>> {
    let mut turns: Vec<AnthropicTurn<'_>> = Vec::new();
    for message in messages {
        let role = match message {
            ModelMessage::User(_) | ModelMessage::Results(_) => "user",
            ModelMessage::Assistant { .. } => "assistant",
        };
        let content = blocks(message);
        if content.is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.content.extend(content),
            _ => turns.push(AnthropicTurn { role, content }),
        }
    }
    turns
}

fn blocks(message: &ModelMessage) -> Vec<AnthropicBlock<'_>> {
    let words = |text: &'_ str| !text.trim().is_empty(); // white space alone is refused
    match message {
        ModelMessage::User(text) if words(text) => vec![AnthropicBlock::text(text)],
        ModelMessage::User(_) => Vec::new(),
        ModelMessage::Assistant { text, calls, kept } => {
            let own = kept
                .iter()
                .filter(|kept| kept.provider == ProviderKind::Anthropic);
            let own = own.map(|kept| AnthropicBlock::Kept(&kept.block));
            let text = words(text).then(|| AnthropicBlock::text(text));
            let calls = calls.iter().map(|call| AnthropicBlock::Call {
                r#type: "tool_use",
                id: plain(&call.id),
                name: plain_name(&call.name),
                input: call.input.as_object(),
                cache_control: None,
            });
            own.chain(text).chain(calls).collect()
        }
        ModelMessage::Results(results) => {
            let result = results.iter().map(|result| AnthropicBlock::Result {
                r#type: "tool_result",
                tool_use_id: plain(&result.id),
                content: &result.output,
                is_error: result.is_error,
                cache_control: None,
            });
            result.collect()
        }
    }
}
