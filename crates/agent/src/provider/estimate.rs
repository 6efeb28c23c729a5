//! Estimates for tokens that a server did not count.
//!
//! Some servers never report the tokens of a streamed answer (llama-cpp-python's does not know `stream_options`). A budget that
//! counts them as zero would be no limit, so they are estimated, like all tokens that have to be known in advance.

use metier_runtime::count_tokens;

use crate::{CallArguments, ModelMessage, ModelRequest, ModelResponse, TokenUsage};

/// The answer, with an estimate if its server reported no tokens.
pub(super) fn counted(request: &ModelRequest, answer: ModelResponse) -> ModelResponse {
    if answer.usage != TokenUsage::default() {
        return answer;
    }
    let usage = TokenUsage {
        input: tokens(said(request)),
        output: tokens(words(&answer.text, &answer.calls)),
        cached_input: 0,
    };
    ModelResponse { usage, ..answer }
}

fn tokens(sum: usize) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

fn said(request: &ModelRequest) -> usize {
    let messages = request.messages.iter().map(|message| match message {
        ModelMessage::User(text) => count_tokens(text),
        ModelMessage::Assistant { text, calls, .. } => words(text, calls),
        ModelMessage::Results(results) => results
            .iter()
            .map(|result| count_tokens(&result.output))
            .sum(),
    });
    let tools = request.tools.iter().map(|tool| {
        count_tokens(&tool.name)
            + count_tokens(&tool.description)
            + count_tokens(&tool.input_schema.to_string())
    });
    count_tokens(&request.system) + messages.sum::<usize>() + tools.sum::<usize>()
}

fn words(text: &str, calls: &[crate::ToolCall]) -> usize {
    let calls = calls.iter().map(|call| {
        let arguments = match &call.input {
            CallArguments::Object(object) => serde_json::to_string(object).unwrap_or_default(),
            CallArguments::Malformed(text) => text.clone(),
        };
        count_tokens(&call.name) + count_tokens(&arguments)
    });
    count_tokens(text) + calls.sum::<usize>()
}
