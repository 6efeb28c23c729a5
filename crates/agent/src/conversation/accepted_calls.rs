//! The calls of an answer that are accepted.
//!
//! **Problem.** A model can call ten thousand tools at once, give two calls the same id or none, name a tool with a megabyte, or be
//! stopped in the middle of a call, whose arguments then look complete. No provider accepts all of that back, and half a call must
//! not be made. **Decision.** Before anything is recorded the calls are limited, each with an id that is unique in the
//! conversation; an incomplete call stays, so that the model is informed, and is not run.

use std::collections::BTreeSet;

use crate::provider::plain;
use crate::{StopReason, ToolCall};

/// The maximum number of calls of one answer: as many as a person could follow.
const MAX_CALLS: usize = 64;
/// Maximum length of a call id, in bytes.
const MAX_ID: usize = 128;
/// Maximum length of a name. Tool names are shorter, so a truncated name is unknown.
const MAX_NAME: usize = 200;

/// The calls of one answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct AcceptedCalls {
    pub(super) calls: Vec<ToolCall>,
    /// How many more calls there were.
    pub(super) surplus: usize,
    /// Whether the answer ended inside the last call.
    pub(super) is_cut: bool,
}

impl AcceptedCalls {
    /// The calls of an answer with this stop reason; `known` are the ids that the conversation contains.
    pub(super) fn new<'k>(
        mut calls: Vec<ToolCall>,
        stop: &StopReason,
        known: impl Iterator<Item = &'k str>,
    ) -> Self {
        // A refusal revokes the calls of the answer.
        if *stop == StopReason::Refusal || calls.is_empty() {
            return Self::default();
        }
        let surplus = calls.len().saturating_sub(MAX_CALLS);
        calls.truncate(MAX_CALLS);
        let mut seen: BTreeSet<String> = known.map(|id| plain(id).into_owned()).collect();
        for call in &mut calls {
            call.id = distinct(&call.id, &mut seen);
            if call.name.len() > MAX_NAME {
                let end = call.name.floor_char_boundary(MAX_NAME);
                call.name.replace_range(end.., "…");
            }
        }
        Self {
            is_cut: *stop == StopReason::MaxTokens && surplus == 0,
            calls,
            surplus,
        }
    }
}

/// An id unchanged, or a similar new one. Two ids are equal if a provider can't distinguish them.
fn distinct(id: &str, seen: &mut BTreeSet<String>) -> String {
    let end = id.floor_char_boundary(MAX_ID);
    let stem = match &id[..end] {
        "" => "call",
        stem => stem,
    };
    let others = (2usize..).map(|number| format!("{stem}_{number}"));
    let mut handles = std::iter::once(stem.to_owned()).chain(others);
    let fresh = handles.find(|handle| seen.insert(plain(handle).into_owned()));
    fresh.unwrap_or_else(|| stem.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallArguments;

    fn call(id: &str, name: &str) -> ToolCall {
        ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            input: CallArguments::Object(serde_json::Map::new()),
        }
    }

    fn ids(taken: &AcceptedCalls) -> Vec<&str> {
        taken.calls.iter().map(|call| call.id.as_str()).collect()
    }

    #[test]
    fn no_two_calls_have_the_same_handle() {
        let calls = ["a", "a", "", "a_2", "x:1", "x.1", "old"].map(|id| call(id, "read"));
        let known = ["old", "older"].into_iter();
        let taken = AcceptedCalls::new(calls.to_vec(), &StopReason::ToolUse, known);
        assert_eq!(
            ids(&taken),
            ["a", "a_2", "call", "a_2_2", "x:1", "x.1_2", "old_2"]
        );
        let long = AcceptedCalls::new(
            vec![call(&"ä".repeat(5000), "read")],
            &StopReason::End,
            [].into_iter(),
        );
        assert_eq!(ids(&long), ["ä".repeat(64)]);
    }

    #[test]
    fn of_many_calls_the_first_are_taken_and_the_others_counted() {
        let calls: Vec<ToolCall> = (0..10_000)
            .map(|n| call(&format!("c{n}"), "read"))
            .collect();
        let taken = AcceptedCalls::new(calls, &StopReason::MaxTokens, [].into_iter());
        assert_eq!((taken.calls.len(), taken.surplus), (64, 9936));
        assert!(!taken.is_cut, "the last one that was taken is whole");
    }

    #[test]
    fn a_name_that_was_cut_is_the_name_of_no_tool() {
        let taken = AcceptedCalls::new(
            vec![call("a", &"é".repeat(1_000_000))],
            &StopReason::ToolUse,
            [].into_iter(),
        );
        assert!(taken.calls[0].name.ends_with('…') && taken.calls[0].name.len() < 210);
    }

    #[test]
    fn what_is_declined_or_breaks_off_is_not_meant() {
        let one = || vec![call("a", "read")];
        assert_eq!(
            AcceptedCalls::new(one(), &StopReason::Refusal, [].into_iter()),
            AcceptedCalls::default()
        );
        assert!(AcceptedCalls::new(one(), &StopReason::MaxTokens, [].into_iter()).is_cut);
        assert!(!AcceptedCalls::new(one(), &StopReason::ToolUse, [].into_iter()).is_cut);
        assert!(!AcceptedCalls::new(Vec::new(), &StopReason::MaxTokens, [].into_iter()).is_cut);
    }
}
