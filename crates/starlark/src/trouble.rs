//! What went wrong in a skill, in words for the skill's author.
//!
//! The interpreter's errors know their place and their calls, but print them with pictures made for terminals, and words
//! about itself. Here the first line is `file:line:column: what`, so that an editor can jump there, and each further line is
//! a call.

use starlark::codemap::FileSpan;
use starlark::{Error, ErrorKind};

use crate::json::cut;

/// Calls that are shown; the ones nearest to the error.
const SHOWN_CALLS: usize = 8;
/// The longest message of an error, in characters. `fail()` can be given anything.
const LONGEST: usize = 4_000;

/// What `fail()` said, if that is what ended it: words of the author for whoever called, with no need for the place.
pub(crate) fn said(error: &Error) -> Option<String> {
    match error.kind() {
        ErrorKind::Fail(message) => {
            let message = message.to_string();
            Some(cut(message.trim(), LONGEST)).filter(|message| !message.is_empty())
        }
        _ => None,
    }
}

/// An error as text.
pub(crate) fn describe(error: &Error) -> String {
    let message = match error.kind() {
        ErrorKind::Fail(message) => message.to_string().trim_start().to_owned(),
        kind => in_our_words(&kind.to_string()),
    };
    let message = cut(message.trim_end(), LONGEST);
    let mut text = match error.span() {
        Some(span) => format!("{}: {message}", place(span)),
        None => message,
    };
    let mut frames = error.call_stack().frames.as_slice();
    // A built-in complains about the place where it was called: that was said.
    if let [outer @ .., last] = frames
        && last.location.is_some()
        && last.location.as_ref() == error.span()
    {
        frames = outer;
    }
    let calls: Vec<String> = frames
        .iter()
        .rev()
        .map(|frame| match &frame.location {
            Some(span) => format!("\n  in {}, called at {}", frame.name, place(span)),
            None => format!("\n  in {}", frame.name),
        })
        .collect();
    text.extend(calls.iter().take(SHOWN_CALLS).map(String::as_str));
    if calls.len() > SHOWN_CALLS {
        text.push_str(&format!("\n  … {} more calls", calls.len() - SHOWN_CALLS));
    }
    text
}

/// `skill.star:12:5`
fn place(span: &FileSpan) -> String {
    let begin = span.resolve_span().begin;
    format!(
        "{}:{}:{}",
        span.filename(),
        begin.line + 1,
        begin.column + 1
    )
}

/// The interpreter's messages about limits speak of its insides.
fn in_our_words(message: &str) -> String {
    if let Some(rest) = message.strip_prefix("Execution duration limit of ") {
        let ticks = rest.split(' ').next().unwrap_or_default();
        return format!("this takes too long: more than {ticks} steps (calls and rounds of loops)");
    }
    if let Some(rest) = message.strip_prefix("Heap memory limit of ") {
        let bytes = rest.split(' ').next().unwrap_or_default();
        return format!(
            "this takes too much memory: more than {bytes} bytes, at this place or shortly before"
        );
    }
    if message.starts_with("Starlark call stack overflow") {
        return "too many calls inside each other; is there a recursion without an end?".to_owned();
    }
    message.to_owned()
}
