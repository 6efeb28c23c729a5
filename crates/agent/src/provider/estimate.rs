//! Estimates for tokens that a server did not count.
//!
//! Some servers never report the tokens of a streamed answer (llama-cpp-python's does not know `stream_options`). A budget that
//! counts them as zero would be no limit, so they are estimated, as everything is whose tokens have to be known beforehand.

use metier_runtime::count_tokens;

use crate::{Answer, Input, Message, Request, Usage};

/// The same answer, with an estimate if its server reported no tokens at all.
pub(super) fn counted(request: &Request, answer: Answer) -> Answer {
    if answer.usage != Usage::default() {
        return answer;
    }
    let usage = Usage {
        input: tokens(said(request)),
        output: tokens(words(&answer.text, &answer.calls)),
        cached_input: 0,
    };
    Answer { usage, ..answer }
}

fn tokens(sum: usize) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

fn said(request: &Request) -> usize {
    let messages = request.messages.iter().map(|message| match message {
        Message::User(text) => count_tokens(text),
        Message::Assistant { text, calls, .. } => words(text, calls),
        Message::Results(results) => results
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
            Input::Object(object) => serde_json::to_string(object).unwrap_or_default(),
            Input::Malformed(text) => text.clone(),
        };
        count_tokens(&call.name) + count_tokens(&arguments)
    });
    count_tokens(text) + calls.sum::<usize>()
}
