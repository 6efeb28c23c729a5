//! A stream of Anthropic Messages, event by event.
//!
//! A message is a list of blocks, each of which starts, grows and ends; a piece contains the number of its block. Blocks and pieces of
//! unknown kinds are skipped, so that additions of a provider do not break us.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::StopReason;
use crate::provider::StreamReading;
use crate::provider::draft::{Fault, ResponseDraft};

#[derive(Debug, Default)]
pub(crate) struct AnthropicStream {
    thoughts: BTreeMap<u64, Thought>,
}

/// A thought and its signature, which arrive in pieces and are sent back as a whole.
#[derive(Debug, Default)]
struct Thought {
    text: String,
    signature: String,
}

// Plain structs with everything optional: a tagged enum would read numbers through a buffer, which can't hold them
// when `serde_json` keeps them as text.
#[derive(Deserialize)]
struct AnthropicEvent {
    r#type: String,
    index: Option<u64>,
    message: Option<Whole>,
    content_block: Option<Value>,
    delta: Option<AnthropicPiece>,
    usage: Option<AnthropicUsage>,
    error: Option<Trouble>,
}

#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    content: Vec<Value>,
    stop_reason: Option<String>,
    usage: Option<AnthropicUsage>,
}

#[derive(Deserialize)]
struct AnthropicPiece {
    text: Option<String>,
    partial_json: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct AnthropicUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Trouble {
    r#type: Option<String>,
    message: Option<String>,
}

impl StreamReading for AnthropicStream {
    fn event(&mut self, data: &[u8], draft: &mut ResponseDraft<'_>) -> Result<(), Fault> {
        let event: AnthropicEvent = serde_json::from_slice(data)?;
        let index = event.index.unwrap_or(0);
        match event.r#type.as_str() {
            "message_start" => count(event.message.and_then(|message| message.usage), draft),
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.begin(index, block, draft)?;
                }
            }
            "content_block_delta" => {
                if let Some(piece) = event.delta {
                    self.grow(index, piece, draft)?;
                }
            }
            "content_block_stop" => self.end(index, draft)?,
            "message_delta" => {
                count(event.usage, draft);
                if let Some(reason) = event.delta.and_then(|delta| delta.stop_reason) {
                    draft.stop(stop(&reason));
                }
            }
            "message_stop" => draft.over(),
            "error" => return Err(failed(event.error)),
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &[u8], draft: &mut ResponseDraft<'_>) -> Result<(), Fault> {
        let message: Whole = serde_json::from_slice(body)?;
        for (index, block) in (0..).zip(message.content) {
            self.begin(index, block, draft)?;
            self.end(index, draft)?;
        }
        count(message.usage, draft);
        if let Some(reason) = message.stop_reason {
            draft.stop(stop(&reason));
        }
        draft.over();
        Ok(())
    }
}

impl AnthropicStream {
    fn begin(
        &mut self,
        index: u64,
        block: Value,
        draft: &mut ResponseDraft<'_>,
    ) -> Result<(), Fault> {
        let text = |field: &str| block[field].as_str().unwrap_or_default();
        match text("type") {
            "text" => draft.text(text("text")),
            "thinking" => {
                draft.thinking(text("thinking"))?;
                let thought = Thought {
                    text: text("thinking").to_owned(),
                    signature: text("signature").to_owned(),
                };
                self.thoughts.insert(index, thought);
                Ok(())
            }
            "redacted_thinking" => draft.keep(block),
            "tool_use" => {
                draft.call(index, text("id").to_owned(), text("name").to_owned())?;
                match &block["input"] {
                    Value::Object(input) if !input.is_empty() => {
                        draft.arguments(index, &block["input"].to_string())
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn grow(
        &mut self,
        index: u64,
        piece: AnthropicPiece,
        draft: &mut ResponseDraft<'_>,
    ) -> Result<(), Fault> {
        if let Some(text) = piece.text {
            draft.text(&text)?;
        }
        if let Some(json) = piece.partial_json
            && draft.call_at(index).is_some()
        {
            draft.arguments(index, &json)?;
        }
        if let Some(thinking) = piece.thinking {
            draft.thinking(&thinking)?;
            if let Some(thought) = self.thoughts.get_mut(&index) {
                thought.text.push_str(&thinking);
            }
        }
        if let Some(signature) = piece.signature
            && let Some(thought) = self.thoughts.get_mut(&index)
        {
            draft.take(signature.len())?;
            thought.signature.push_str(&signature);
        }
        Ok(())
    }

    /// A thought without a signature is dropped: the provider would not accept it.
    fn end(&mut self, index: u64, draft: &mut ResponseDraft<'_>) -> Result<(), Fault> {
        match self.thoughts.remove(&index) {
            Some(Thought { text, signature }) if !signature.is_empty() => {
                draft.keep(json!({ "type": "thinking", "thinking": text, "signature": signature }))
            }
            _ => Ok(()),
        }
    }
}

/// Later counts replace earlier ones. Tokens that were read from or written to the cache are not in `input_tokens` here.
fn count(usage: Option<AnthropicUsage>, draft: &mut ResponseDraft<'_>) {
    let Some(usage) = usage else { return };
    let total = draft.usage();
    if let Some(input) = usage.input_tokens {
        let cached = usage.cache_read_input_tokens.unwrap_or(0);
        let written = usage.cache_creation_input_tokens.unwrap_or(0);
        total.input = input.saturating_add(cached).saturating_add(written);
        total.cached_input = cached;
    }
    if let Some(output) = usage.output_tokens {
        total.output = output;
    }
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::End,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}

/// An error in the middle of a stream has no status, only a status name.
fn failed(trouble: Option<Trouble>) -> Fault {
    let trouble = trouble.unwrap_or(Trouble {
        r#type: None,
        message: None,
    });
    let code = match trouble.r#type.as_deref() {
        Some("invalid_request_error") => 400,
        Some("authentication_error") => 401,
        Some("permission_error") => 403,
        Some("not_found_error") => 404,
        Some("request_too_large") => 413,
        Some("rate_limit_error") => 429,
        Some("overloaded_error") => 529,
        _ => 500,
    };
    let message = trouble
        .message
        .unwrap_or_else(|| "no reason was given".to_owned());
    Fault::Failed(code, message)
}
