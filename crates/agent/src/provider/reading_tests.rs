//! For any input, a reader returns pieces or a fault: it never panics, and never keeps more than its limit.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::draft::ResponseDraft;
use super::{ProviderKind, StreamReading, anthropic, openai};

const LIMIT: usize = 2000;

/// Tokens with a meaning in one of the formats.
const WORDS: [&str; 36] = [
    "type",
    "index",
    "message",
    "content_block",
    "delta",
    "usage",
    "error",
    "text",
    "partial_json",
    "thinking",
    "signature",
    "stop_reason",
    "input_tokens",
    "output_tokens",
    "content",
    "choices",
    "finish_reason",
    "tool_calls",
    "function",
    "arguments",
    "name",
    "id",
    "input",
    "reasoning",
    "refusal",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_start",
    "message_delta",
    "message_stop",
    "tool_use",
    "redacted_thinking",
    "prompt_tokens",
    "code",
    "{",
];

fn json() -> impl Strategy<Value = Value> {
    let word = || prop::sample::select(&WORDS[..]);
    let leaf = prop_oneof![
        4 => word().prop_map(|word| json!(word)),
        1 => Just(Value::Null),
        1 => any::<u64>().prop_map(|number| json!(number)),
        1 => (-3i64..3).prop_map(|number| json!(number)),
        1 => ".{0,20}".prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..4).prop_map(Value::Array),
            3 => btree_map(word(), inner, 0..6).prop_map(|fields| json!(fields)),
        ]
    })
}

fn event() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => json().prop_map(|json| json.to_string().into_bytes()),
        1 => vec(any::<u8>(), 0..64),
        1 => Just(b"[DONE]".to_vec()),
        2 => (0u64..3, json()).prop_map(|(index, block)| {
            json!({ "type": "content_block_start", "index": index, "content_block": block })
                .to_string()
                .into_bytes()
        }),
        2 => json().prop_map(|delta| {
            json!({ "choices": [{ "delta": delta }] }).to_string().into_bytes()
        }),
    ]
}

proptest! {
    #[test]
    fn no_event_makes_a_reader_panic_or_keep_too_much(events in vec(event(), 0..40)) {
        let readers: [(ProviderKind, Box<dyn StreamReading>); 2] = [
            (ProviderKind::Anthropic, Box::new(anthropic::AnthropicStream::default())),
            (ProviderKind::OpenAi, Box::new(openai::OpenAiStream::default())),
        ];
        for (kind, mut reading) in readers {
            let mut told = |_: crate::ResponseDelta<'_>| {};
            let mut draft = ResponseDraft::new(kind, LIMIT, &mut told);
            for event in &events {
                let _ = reading.event(event, &mut draft);
                let _ = reading.whole(event, &mut draft);
            }
            draft.over();
            let answer = draft.finish().map_err(|cut| cut.text).unwrap();
            prop_assert!(answer.text.len() <= LIMIT);
            prop_assert!(answer.calls.len() * 128 <= LIMIT);
            prop_assert!(answer.calls.iter().all(|call| !call.id.is_empty()));
        }
    }
}
