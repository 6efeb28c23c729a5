//! Conversion between our events and OpenClaw's: the event that a handler gets, and the changes that are accepted.
//!
//! A handler of OpenClaw returns nothing; its changes to the event are its answer. As in OpenClaw, `event.messages` and
//! `event.context` are read, and of the context only the fields that the phase lets a hook change.

use metier_model::{HookPhase, hooks::openclaw};
use metier_sdk::wire::{OpenclawChange, OpenclawEvent};
use serde_json::{Map, Value, json};

/// The channel that messages come through, as events name it.
const CHANNEL: &str = "metier";
/// The author of messages in events.
const USER: &str = "user";

/// The fields that all events share.
#[derive(Clone, Debug)]
pub(super) struct EventSurroundings {
    /// The project, which OpenClaw calls the workspace.
    pub(super) project: String,
    /// Id of the session.
    pub(super) session: String,
}

/// The part of an answer that takes effect.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TakenChanges {
    /// The event for the next hook, if it changed.
    pub(super) event: Option<Value>,
    /// Why the call must not happen.
    pub(super) cancel: Option<String>,
    /// The text for the user.
    pub(super) said: Vec<String>,
}

/// Our event in the form for a handler.
pub(super) fn asked(
    raised: &openclaw::OpenClawEvent,
    event: &Value,
    around: &EventSurroundings,
    timestamp: String,
) -> OpenclawEvent {
    let key = format!("agent:main:{}", around.session);
    let mut context = Map::new();
    let mut put = |name: &str, value: Value| context.insert(name.to_owned(), value);
    put("workspaceDir", around.project.as_str().into());
    put("sessionKey", key.as_str().into());
    put("sessionId", around.session.as_str().into());
    put("agentId", "main".into());
    match (raised.kind, raised.phase) {
        ("agent", _) => {
            put("bootstrapFiles", files(&event["fragments"]));
        }
        ("message", HookPhase::BeforePromptBuild) => {
            received(raised.action, &event["prompt"], around, &timestamp, put);
        }
        (_, HookPhase::BeforeToolCall) => {
            put("toolName", event["tool"].clone());
            put("params", event["input"].clone());
        }
        (_, HookPhase::AfterToolResult) => {
            put("toolName", event["tool"].clone());
            put("params", event["input"].clone());
            put("result", event["output"].clone());
            put("isError", event["is_error"].clone());
        }
        (_, HookPhase::AfterResponse) => {
            put("content", event["text"].clone());
            put("success", true.into());
            put("to", USER.into());
            put("channelId", CHANNEL.into());
            put("conversationId", around.session.as_str().into());
        }
        _ => {}
    }
    OpenclawEvent {
        r#type: raised.kind.to_owned(),
        action: raised.action.to_owned(),
        session_key: key,
        timestamp,
        messages: json!([]),
        context: context.into(),
    }
}

/// The fields of OpenClaw's events about an incoming message. There is one channel here, and the user is the author.
fn received(
    action: &str,
    message: &Value,
    around: &EventSurroundings,
    timestamp: &str,
    mut put: impl FnMut(&str, Value) -> Option<Value>,
) {
    let content = message.as_str().unwrap_or_default();
    put("from", USER.into());
    put("channelId", CHANNEL.into());
    put("conversationId", around.session.as_str().into());
    if let Some(milliseconds) = milliseconds(timestamp) {
        put("timestamp", milliseconds.into());
    }
    if action == "received" {
        put("content", content.into());
        let metadata = json!({ "senderId": USER, "provider": CHANNEL, "surface": CHANNEL });
        put("metadata", metadata);
        return;
    }
    for name in ["body", "bodyForAgent", "transcript"] {
        put(name, content.into());
    }
    put("senderId", USER.into());
    put("provider", CHANNEL.into());
}

/// A time in milliseconds since 1970, which is the form in events about messages.
fn milliseconds(timestamp: &str) -> Option<u64> {
    let time = humantime::parse_rfc3339(timestamp).ok()?;
    let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

/// The fragments of a prompt as virtual files.
fn files(fragments: &Value) -> Value {
    let fragments = fragments.as_array().map(Vec::as_slice).unwrap_or_default();
    let file = |(position, fragment): (usize, &Value)| {
        let number = position + 1;
        let path = fragment["path"].as_str().map(str::to_owned);
        let path = path.unwrap_or_else(|| format!("fragment-{number}.md"));
        let content = fragment.as_str().or_else(|| fragment["content"].as_str());
        json!({
            "name": path, "path": path, "content": content.unwrap_or_default(),
            "missing": false, "virtual": true,
        })
    };
    fragments.iter().enumerate().map(file).collect()
}

/// The changes of a handler that the phase allows.
pub(super) fn taken(
    phase: HookPhase,
    event: &Value,
    asked: &OpenclawEvent,
    answer: &OpenclawChange,
) -> TakenChanges {
    let context = &answer.context;
    let messages = texts(&answer.messages);
    match phase {
        HookPhase::BeforePromptBuild => {
            let mut added = added_files(&asked.context, context);
            added.extend(messages.into_iter().map(Value::String));
            TakenChanges {
                event: appended(event, added),
                ..TakenChanges::default()
            }
        }
        HookPhase::BeforeToolCall if context["block"] == true => TakenChanges {
            cancel: Some(match context["blockReason"].as_str() {
                Some(reason) => reason.to_owned(),
                None => "a handler of OpenClaw blocked it".to_owned(),
            }),
            said: messages,
            ..TakenChanges::default()
        },
        HookPhase::BeforeToolCall => TakenChanges {
            event: changed(event, asked, context, &[("params", "input")]),
            said: messages,
            ..TakenChanges::default()
        },
        HookPhase::AfterToolResult => {
            let fields = [("result", "output"), ("isError", "is_error")];
            TakenChanges {
                event: changed(event, asked, context, &fields),
                said: messages,
                ..TakenChanges::default()
            }
        }
        _ => TakenChanges {
            said: messages,
            ..TakenChanges::default()
        },
    }
}

/// Files that are new or have other content now. Files without content are ignored.
fn added_files(before: &Value, after: &Value) -> Vec<Value> {
    let list = |context: &Value| {
        context["bootstrapFiles"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    let known = list(before);
    let is_new = |file: &&Value| {
        let same = |one: &Value| one["path"] == file["path"] && one["content"] == file["content"];
        !known.iter().any(same)
    };
    let after = list(after);
    let files = after.iter().filter(is_new).filter_map(|file| {
        let content = file["content"].as_str()?;
        let is_there = file["missing"] != true && !content.trim().is_empty();
        let path = file["path"].as_str().or_else(|| file["name"].as_str());
        is_there.then(|| json!({ "path": path.unwrap_or_default(), "content": content }))
    });
    files.collect()
}

fn appended(event: &Value, added: Vec<Value>) -> Option<Value> {
    if added.is_empty() {
        return None;
    }
    let mut event = event.clone();
    event.get_mut("fragments")?.as_array_mut()?.extend(added);
    Some(event)
}

/// The event with the fields that a handler changed: its name, ours.
fn changed(
    event: &Value,
    asked: &OpenclawEvent,
    context: &Value,
    fields: &[(&str, &str)],
) -> Option<Value> {
    let mut next = event.clone();
    for (theirs, ours) in fields {
        match context.get(theirs) {
            Some(value) if *value != asked.context[theirs] => next[ours] = value.clone(),
            _ => {}
        }
    }
    (next != *event).then_some(next)
}

fn texts(messages: &Value) -> Vec<String> {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |message: &Value| {
        let text = message.as_str().or_else(|| message["content"].as_str())?;
        (!text.trim().is_empty()).then(|| text.to_owned())
    };
    messages.iter().filter_map(text).collect()
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
