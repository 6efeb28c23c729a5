//! Errors of a script, as text for its author: the original file and line, and the thrown value.

use rquickjs::{Coerced, Ctx, Object, Value};

use crate::state::{EngineState, Stop};
use crate::strip::SourcePosition;

/// The longest message, in bytes.
const MAX_MESSAGE: usize = 2_000;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JsScriptError {
    /// It was stopped.
    #[error("{0}")]
    Stopped(Stop),
    /// It threw, or its promise was rejected.
    #[error("{0}")]
    Thrown(String),
    /// It waits for a promise that can't settle.
    #[error("its promise can never resolve: no timer and no request to the host is pending")]
    Never,
    /// The host requested something that does not exist.
    #[error("{0}")]
    Request(String),
    /// The engine failed unexpectedly.
    #[error("the JavaScript engine failed: {0}; this is a bug in metier")]
    Engine(String),
}

impl JsScriptError {
    /// Converts an engine's error; it takes the pending exception.
    pub(crate) fn of(ctx: &Ctx<'_>, state: &EngineState, error: &rquickjs::Error) -> Self {
        if let Some(stop) = state.stopped() {
            ctx.catch();
            return Self::Stopped(stop);
        }
        match error {
            rquickjs::Error::Exception => {
                let told = told(state, &ctx.catch());
                // Reading an error's message can run code of the script.
                state.stopped().map_or(Self::Thrown(told), Self::Stopped)
            }
            rquickjs::Error::Allocation => Self::Thrown(too_much(state)),
            error => Self::Engine(error.to_string()),
        }
    }
}

/// A thrown value as text, with its position.
pub(crate) fn told(state: &EngineState, thrown: &Value<'_>) -> String {
    let message = match thrown.as_object() {
        Some(error) if error.is_error() => error_told(state, error),
        // The engine throws null when it has no memory for an error; a script can do so too.
        _ if thrown.is_null() => format!("it threw null, or {}", too_much(state)),
        _ => format!("it threw {}", shown(thrown)),
    };
    let end = message.floor_char_boundary(MAX_MESSAGE);
    message[..end].to_owned()
}

/// A thrown value as text without the position, which takes too long to find for every rejection.
pub(crate) fn summary(thrown: &Value<'_>) -> String {
    let message = match thrown.as_object() {
        Some(error) if error.is_error() => {
            let message = error.get::<_, Coerced<String>>("message");
            message.map_or_else(|_| "an error".to_owned(), |message| message.0)
        }
        _ => shown(thrown),
    };
    let end = message.floor_char_boundary(MAX_MESSAGE);
    message[..end].to_owned()
}

fn error_told(state: &EngineState, error: &Object<'_>) -> String {
    let part = |name: &str| {
        let value = error.get::<_, Coerced<String>>(name);
        value.map_or_else(|_| String::new(), |value| value.0)
    };
    let (name, message) = (part("name"), part("message"));
    if message == "out of memory" {
        return too_much(state);
    }
    let stack = part("stack");
    let place = stack.lines().find_map(|line| place(state, line));
    // A syntax error contains its position.
    let placed = message
        .split_once(':')
        .is_some_and(|(file, _)| state.text(file).is_some());
    match place {
        _ if placed => message,
        Some(place) => format!("{place}: {name}: {message}"),
        None => format!("{name}: {message}"),
    }
}

/// The author's position for a line of a stack, `at name (file:line:column)`.
fn place(state: &EngineState, line: &str) -> Option<String> {
    let inside = line.trim().strip_prefix("at ")?;
    let inside = inside.rsplit_once('(').map_or(inside, |(_, inside)| inside);
    let mut parts = inside.trim_end_matches(')').rsplitn(3, ':');
    let column: usize = parts.next()?.parse().ok()?;
    let line: usize = parts.next()?.parse().ok()?;
    let file = parts.next()?;
    Some(match state.origin(file, SourcePosition { line, column })? {
        Some(at) => format!("{file}:{}:{}", at.line, at.column),
        None => file.to_owned(),
    })
}

fn too_much(state: &EngineState) -> String {
    let megabytes = state.limits.memory >> 20;
    format!("it needs more than {megabytes} MiB of memory")
}

/// A short description of a value that is not an error.
fn shown(value: &Value<'_>) -> String {
    if value.is_object() {
        return "an object that is not an Error".to_owned();
    }
    if let Some(text) = value.as_string() {
        let text = text.to_string();
        return text.map_or_else(|_| "a text".to_owned(), |text| format!("`{text}`"));
    }
    let text = value.get::<Coerced<String>>();
    text.map_or_else(|_| format!("a {}", value.type_name()), |text| text.0)
}
