//! A stream of OpenAI chat completions, chunk by chunk.
//!
//! Compatible servers differ in small things: some give no `index`, some the same one to every call, some no `id`, some end without
//! `[DONE]`, some report `stop` for a call. All of these are accepted.

use serde::Deserialize;
use serde_json::Value;

use crate::StopReason;
use crate::provider::StreamReading;
use crate::provider::draft::{Fault, ResponseDraft};

#[derive(Debug, Default)]
pub(crate) struct OpenAiStream {
    is_refusal: bool,
}

/// A chunk of a stream, or a whole answer: the latter has a `message` where the former has a `delta`.
#[derive(Deserialize)]
struct OpenAiChunk {
    choices: Option<Vec<Choice>>,
    usage: Option<OpenAiUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Option<OpenAiPiece>,
    message: Option<OpenAiPiece>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct OpenAiPiece {
    /// A string; from some servers a list of parts with strings.
    content: Option<Value>,
    reasoning_content: Option<String>,
    /// `reasoning_content` under another name; some servers send both.
    reasoning: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<OpenAiFragment>>,
}

#[derive(Deserialize)]
struct OpenAiFragment {
    index: Option<u64>,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    /// A string with JSON in it; from some servers the JSON itself.
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct OpenAiUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl StreamReading for OpenAiStream {
    fn event(&mut self, data: &[u8], draft: &mut ResponseDraft<'_>) -> Result<(), Fault> {
        if data.trim_ascii() == b"[DONE]" {
            draft.over();
            return Ok(());
        }
        self.chunk(serde_json::from_slice(data)?, draft)
    }

    fn whole(&mut self, body: &[u8], draft: &mut ResponseDraft<'_>) -> Result<(), Fault> {
        let chunk: OpenAiChunk = serde_json::from_slice(body)?;
        if chunk.choices.as_ref().is_none_or(Vec::is_empty) && chunk.error.is_none() {
            return Err(Fault::Malformed("it has no `choices`".to_owned()));
        }
        self.chunk(chunk, draft)?;
        draft.over();
        Ok(())
    }
}

impl OpenAiStream {
    fn chunk(&mut self, chunk: OpenAiChunk, draft: &mut ResponseDraft<'_>) -> Result<(), Fault> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(failed(&error));
        }
        if let Some(usage) = chunk.usage {
            count(&usage, draft);
        }
        let choices = chunk.choices.unwrap_or_default();
        let Some(choice) = choices
            .into_iter()
            .find(|choice| choice.index.unwrap_or(0) == 0)
        else {
            return Ok(());
        };
        if let Some(piece) = choice.delta.or(choice.message) {
            self.piece(piece, draft)?;
        }
        if let Some(reason) = choice.finish_reason {
            draft.stop(self.stop(reason));
        }
        Ok(())
    }

    fn piece(&mut self, piece: OpenAiPiece, draft: &mut ResponseDraft<'_>) -> Result<(), Fault> {
        if let Some(thinking) = piece.reasoning_content.or(piece.reasoning) {
            draft.thinking(&thinking)?;
        }
        match piece.content {
            Some(Value::String(text)) => draft.text(&text)?,
            Some(Value::Array(parts)) => {
                for text in parts.iter().filter_map(|part| part["text"].as_str()) {
                    draft.text(text)?;
                }
            }
            _ => {}
        }
        if let Some(refusal) = piece.refusal.filter(|refusal| !refusal.is_empty()) {
            self.is_refusal = true;
            draft.text(&refusal)?;
        }
        for (order, fragment) in (0..).zip(piece.tool_calls.unwrap_or_default()) {
            fragment_of_call(order, fragment, draft)?;
        }
        Ok(())
    }

    fn stop(&self, reason: String) -> StopReason {
        match reason.as_str() {
            "stop" if self.is_refusal => StopReason::Refusal,
            "stop" => StopReason::End,
            "tool_calls" | "function_call" => StopReason::ToolUse,
            "length" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            _ => StopReason::Other(reason),
        }
    }
}

/// The first fragment of a call contains its `id` and name, the others only its position.
fn fragment_of_call(
    order: u64,
    fragment: OpenAiFragment,
    draft: &mut ResponseDraft<'_>,
) -> Result<(), Fault> {
    let place = fragment.index.unwrap_or(order);
    let function = fragment.function.unwrap_or(FunctionDelta {
        name: None,
        arguments: None,
    });
    let id = fragment.id.unwrap_or_default();
    let name = function.name.unwrap_or_default();
    let is_new = match draft.call_at(place) {
        None => true,
        Some(known) => !name.is_empty() && !id.is_empty() && known != id,
    };
    if is_new {
        draft.call(place, id, name)?;
    }
    match function.arguments {
        Some(Value::String(text)) => draft.arguments(place, &text),
        Some(Value::Null) | None => Ok(()),
        Some(json) => draft.arguments(place, &json.to_string()),
    }
}

fn count(usage: &OpenAiUsage, draft: &mut ResponseDraft<'_>) {
    let details = usage.prompt_tokens_details.as_ref();
    let cached = details.and_then(|details| details.cached_tokens);
    let total = draft.usage();
    total.input = usage.prompt_tokens.unwrap_or(total.input);
    total.output = usage.completion_tokens.unwrap_or(total.output);
    total.cached_input = cached.unwrap_or(total.cached_input);
}

/// An error in the middle of a stream, or instead of it.
fn failed(error: &Value) -> Fault {
    let word = ["type", "code"].map(|field| error[field].as_str().unwrap_or_default());
    let status = error["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let code = match (status, word) {
        (Some(code @ 400..=599), _) => code,
        (_, [kind, code]) if kind.contains("rate_limit") || code.contains("rate_limit") => 429,
        (_, ["invalid_request_error", _]) => 400,
        _ => 500,
    };
    let message = error["message"].as_str().or_else(|| error.as_str());
    Fault::Failed(code, message.unwrap_or("no reason was given").to_owned())
}
