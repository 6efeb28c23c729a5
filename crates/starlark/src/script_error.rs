//! Errors of a skill, as text for its author.
//!
//! The interpreter's errors have a place and a call stack, but print them with drawings for terminals, and with terms
//! of the implementation. Here the first line is `file:line:column: message`, which editors can open, and each further line is
//! a call.

use starlark::codemap::FileSpan;
use starlark::{Error, ErrorKind};

use crate::json::cut;

/// How many calls are shown, those nearest to the error.
const SHOWN_CALLS: usize = 8;
/// The longest message of an error, in characters. `fail()` takes any text.
const LONGEST: usize = 4_000;

/// The message of `fail()`, if that ended the call: it is for the caller, without a place.
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
        ErrorKind::StackOverflow(_) => {
            "too many nested calls; is there an infinite recursion?".to_owned()
        }
        ErrorKind::Other(error) => limit(&error.to_string()).unwrap_or_else(|| error.to_string()),
        kind => kind.to_string(),
    };
    let message = cut(message.trim_end(), LONGEST);
    let mut text = match error.span() {
        Some(span) => format!("{}: {message}", place(span)),
        None => message,
    };
    let mut frames = error.call_stack().frames.as_slice();
    // The error of a built-in has the position of its call, which is in the first line already.
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

/// The message for a limit that was exceeded. The interpreter has no public type for these errors, so its text decides; the tests in
/// `tests/all/hostile.rs` exceed each limit and fail when the text changes.
fn limit(message: &str) -> Option<String> {
    let number = |rest: &str| rest.split(' ').next().unwrap_or_default().to_owned();
    if let Some(rest) = message.strip_prefix("Execution duration limit of ") {
        let ticks = number(rest);
        return Some(format!(
            "this takes too long: more than {ticks} steps (calls and iterations of loops)"
        ));
    }
    let rest = message.strip_prefix("Heap memory limit of ")?;
    let bytes = number(rest);
    Some(format!(
        "this takes too much memory: more than {bytes} bytes, here or shortly before"
    ))
}
