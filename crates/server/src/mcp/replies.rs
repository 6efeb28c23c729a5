//! Answers to tool calls: a document for programs and the same as text for a model, and never more than a model can take in.
//!
//! **Problem.** A body of a megabyte, ten thousand rows or the output of a tool fill the memory of a conversation, and every client gets
//! both forms. **Decision.** Both forms together have at most [`MAX_ANSWER`] bytes. A long text is returned in parts, and the whole of it
//! is kept until the next parts are requested, so that nothing is run a second time; a long list is cut, and the answer states how many
//! rows are missing.

use std::{borrow::Cow, collections::VecDeque};

use metier::{
    Error,
    model_text::{for_model, for_model_framed},
    text::one_line,
};
use metier_wire::{ErrorBody, ErrorDocument};
use serde::Serialize;
use serde_json::{Value, json};

/// The size of an answer, in bytes, unless the caller asks for another one.
pub(crate) const MAX_ANSWER: usize = 64 << 10;
/// The sizes that a caller can request.
pub(crate) const LEAST_ANSWER: usize = 4 << 10;
pub(crate) const MOST_ANSWER: usize = 1 << 20;

/// The size of the frame of an answer: the protocol's fields and the sentence about the rest.
const FRAME: usize = 1 << 10;

/// How many answers of one client are kept until the rest is requested, and how many bytes.
const MAX_KEPT: usize = 8;
const MAX_KEPT_BYTES: usize = 16 << 20;

/// An answer to a client, or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolReply {
    pub(crate) document: Value,
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// The member of the document that is the text again: it is returned in parts if it is long.
    pub(crate) long: Option<&'static str>,
}

impl ToolReply {
    /// A document, and the same as text. A model reads both.
    pub(crate) fn new(document: &impl Serialize, text: &str) -> Self {
        Self {
            document: neutral(value(document), for_model),
            text: for_model(text).into_owned(),
            is_error: false,
            long: None,
        }
    }

    /// [`Self::new`] for a skill in its frame, which is kept.
    pub(crate) fn framed(document: &impl Serialize, text: &str) -> Self {
        Self {
            document: neutral(value(document), for_model_framed),
            text: for_model_framed(text).into_owned(),
            is_error: false,
            long: None,
        }
    }

    /// This answer, where a member of the document is the text again.
    pub(crate) fn in_parts(self, member: &'static str) -> Self {
        Self {
            long: Some(member),
            ..self
        }
    }

    /// An error of the server itself.
    pub(crate) fn refused(code: &str, message: String, hint: Option<&str>) -> Self {
        let text = match hint {
            Some(hint) => format!("error: {message}\nhint: {hint}\n"),
            None => format!("error: {message}\n"),
        };
        let error = ErrorBody {
            code,
            message: Cow::Owned(message),
            hint,
            skill: None,
            path: None,
            line: None,
            choices: Vec::new(),
        };
        Self {
            is_error: true,
            ..Self::new(&ErrorDocument { error }, &text)
        }
    }

    /// How many bytes both forms take in a message.
    fn size(&self) -> usize {
        self.document.to_string().len() + escaped_len(&self.text)
    }

    /// The part of this answer that starts at `offset`, with at most `limit` bytes.
    pub(crate) fn part(&self, offset: usize, limit: usize) -> Self {
        let room = limit.saturating_sub(FRAME);
        if offset == 0 && self.size() <= room {
            return self.clone();
        }
        match self.long {
            Some(member) => self.part_of_text(member, offset, room),
            None => {
                let mut reply = self.clone();
                shorten_lists(
                    &mut reply.document,
                    room.saturating_sub(escaped_len(&reply.text)),
                );
                reply
            }
        }
    }

    fn part_of_text(&self, member: &str, offset: usize, room: usize) -> Self {
        let mut document = self.document.clone();
        document[member] = Value::Null;
        // Receipts and names of files get a quarter at most; the text is what was asked for.
        shorten_lists(&mut document, room / 4);
        let left = room.saturating_sub(document.to_string().len());
        let start = floor_char(&self.text, offset);
        let rest = self.text.get(start..).unwrap_or_default();
        let part = prefix_of(rest, left / 2);
        let (end, all) = (start + part.len(), self.text.len());
        document[member] = part.into();
        let mut cut = json!({ "offset": start, "bytes": all });
        let mut text = part.to_owned();
        if end < all {
            cut["next_offset"] = end.into();
            text.push_str(&format!(
                "\n[cut: these are bytes {start} to {end} of {all}. Call the tool again with the same arguments and `offset`: {end} for the rest; \
                 nothing runs a second time.]\n"
            ));
        }
        document["cut"] = cut;
        Self {
            document,
            text,
            is_error: self.is_error,
            long: None,
        }
    }
}

impl From<&Error> for ToolReply {
    fn from(error: &Error) -> Self {
        let mut text = format!("error: {}\n", one_line(error.message()));
        let place = error.place().map(|(path, line)| match line {
            Some(line) => format!("in {path}:{line}"),
            None => format!("in {path}"),
        });
        for detail in error.details().iter().cloned().chain(place) {
            text.push_str(&format!("  {}\n", one_line(&detail)));
        }
        if let Some(hint) = error.advice() {
            text.push_str(&format!("hint: {}\n", one_line(hint)));
        }
        Self {
            is_error: true,
            ..Self::new(&ErrorDocument::from(error), &text)
        }
    }
}

/// Long answers of one client, until the rest is requested or newer ones take their place.
#[derive(Default)]
pub(crate) struct KeptReplies(VecDeque<(String, ToolReply)>);

impl KeptReplies {
    /// Keeps an answer if it has a rest.
    pub(crate) fn keep(&mut self, key: &str, reply: &ToolReply, limit: usize) {
        self.0.retain(|(known, _)| known != key);
        if reply.long.is_none() || reply.size() <= limit.saturating_sub(FRAME) {
            return;
        }
        self.0.push_back((key.to_owned(), reply.clone()));
        let size = |all: &VecDeque<(String, ToolReply)>| {
            all.iter().map(|(_, one)| one.text.len()).sum::<usize>()
        };
        while self.0.len() > MAX_KEPT || self.0.len() > 1 && size(&self.0) > MAX_KEPT_BYTES {
            self.0.pop_front();
        }
    }

    /// The answer to the same request, if it is still kept.
    pub(crate) fn find(&self, key: &str) -> Option<&ToolReply> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found.map(|(_, reply)| reply)
    }
}

/// Halves the longest list of a document until it fits; `left_out` states how much is missing.
fn shorten_lists(document: &mut Value, room: usize) {
    while document.to_string().len() > room {
        let Some(pointer) = longest_list(document) else {
            return;
        };
        let Some(Value::Array(items)) = document.pointer_mut(&pointer) else {
            return;
        };
        let left = items.len() / 2;
        let missing = items.len() - left;
        items.truncate(left);
        let name = pointer.rsplit('/').next().unwrap_or_default().to_owned();
        let before = document["left_out"][&name].as_u64().unwrap_or(0);
        document["left_out"][&name] = (before + missing as u64).into();
    }
}

/// Where the list is that takes the most room: in the document, or in the only row of a list in it.
fn longest_list(document: &Value) -> Option<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let Value::Object(members) = document else {
        return None;
    };
    for (name, member) in members {
        let Value::Array(items) = member else {
            continue;
        };
        if let ([Value::Object(row)], true) = (items.as_slice(), items.len() == 1) {
            for (inner, value) in row {
                if value.as_array().is_some_and(|items| !items.is_empty()) {
                    found.push((value.to_string().len(), format!("/{name}/0/{inner}")));
                }
            }
        } else if !items.is_empty() {
            found.push((member.to_string().len(), format!("/{name}")));
        }
    }
    found.into_iter().max().map(|(_, pointer)| pointer)
}

/// The longest start of a text that takes at most this many bytes in a message.
fn prefix_of(text: &str, room: usize) -> &str {
    let mut used = 0;
    for (at, letter) in text.char_indices() {
        used += escaped_char(letter);
        if used > room {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// The length of a text as JSON.
fn escaped_len(text: &str) -> usize {
    text.chars().map(escaped_char).sum::<usize>() + 2
}

fn escaped_char(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

/// The nearest place at or before an offset where a letter begins.
fn floor_char(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A document in whose texts, names included, no turn begins.
pub(crate) fn neutral(mut document: Value, neutral: fn(&str) -> Cow<'_, str>) -> Value {
    let mut left = vec![&mut document];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                if let Cow::Owned(broken) = neutral(text) {
                    *text = broken;
                }
            }
            Value::Array(items) => left.extend(items),
            Value::Object(members) => {
                if members
                    .keys()
                    .any(|name| matches!(neutral(name), Cow::Owned(_)))
                {
                    *members = std::mem::take(members)
                        .into_iter()
                        .map(|(name, value)| (neutral(&name).into_owned(), value))
                        .collect();
                }
                left.extend(members.values_mut());
            }
            _ => {}
        }
    }
    document
}

/// No document fails to serialize: their keys are strings, and they hold no numbers that JSON does not have.
pub(crate) fn value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(text: &str) -> ToolReply {
        ToolReply::new(&json!({"content": text, "files": ["a", "b"]}), text).in_parts("content")
    }

    #[test]
    fn an_answer_that_fits_is_not_changed() {
        let reply = long("short");
        assert_eq!(reply.part(0, MAX_ANSWER), reply);
    }

    #[test]
    fn the_parts_of_a_long_text_are_the_text() {
        for text in ["x".repeat(300_000), "ü\"\n\u{1}".repeat(40_000)] {
            let reply = long(&text);
            let (mut all, mut offset) = (String::new(), 0);
            loop {
                let part = reply.part(offset, MAX_ANSWER);
                assert!(part.size() <= MAX_ANSWER, "{}", part.size());
                all.push_str(part.document["content"].as_str().unwrap());
                let Some(next) = part.document["cut"]["next_offset"].as_u64() else {
                    break;
                };
                assert!(part.text.contains(&format!("`offset`: {next}")));
                offset = usize::try_from(next).unwrap();
            }
            assert!(all == reply.text, "the parts differ from the text");
        }
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let rows: Vec<Value> = (0..5_000)
            .map(|at| json!({"file": format!("f{at}"), "why": "x".repeat(100)}))
            .collect();
        let reply = ToolReply::new(
            &json!({"skills": [{"findings": rows, "unread": []}]}),
            "text",
        );
        let part = reply.part(0, MAX_ANSWER);
        assert!(part.size() <= MAX_ANSWER);
        let left = part.document["skills"][0]["findings"]
            .as_array()
            .unwrap()
            .len() as u64;
        assert_eq!(
            left + part.document["left_out"]["findings"].as_u64().unwrap(),
            5_000
        );
    }

    #[test]
    fn only_a_few_long_answers_are_kept() {
        let mut kept = KeptReplies::default();
        kept.keep("short", &long("x"), MAX_ANSWER);
        assert!(kept.find("short").is_none());
        for at in 0..20 {
            kept.keep(&at.to_string(), &long(&"x".repeat(100_000)), MAX_ANSWER);
        }
        assert!(
            kept.find("11").is_none() && kept.find("12").is_some() && kept.find("19").is_some()
        );
    }
}
