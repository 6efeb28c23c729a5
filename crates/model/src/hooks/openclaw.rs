//! OpenClaw handlers: `HOOK.md` lists events, `handler.ts` handles them.
//!
//! ```text
//! hooks/openclaw/handler.ts        with or without a HOOK.md; without one it is called at `agent:bootstrap`
//! hooks/<name>/HOOK.md             with handler.ts, handler.js, index.ts or index.js next to it
//! HOOK.md                          a folder that is a skill and a hook at once
//! ```

use std::collections::BTreeSet;

use metier_sdk::HookPhase;

use super::{FOLDER, HOOK_MD, HookFile, SkillHooks};
use crate::{
    Requirement, Strictness,
    diagnostic::DiagnosticCode,
    read::{self, HookFields},
    report::{DiagnosticCollector, Say},
    yaml::node::{Node, NodeValue, get},
};

/// The folder whose handlers need no HOOK.md.
const OWN: &str = "hooks/openclaw/";
/// The event of a handler without a HOOK.md.
const USUAL: &str = "agent:bootstrap";
/// The default export of a handler.
const DEFAULT: &str = "default";
/// The vendors whose block below `metadata` can contain the events.
const VENDORS: [&str; 4] = ["metier", "openclaw", "clawdbot", "clawdis"];

/// The maximum number of handlers.
const MAX_HANDLERS: usize = 32;

/// The possible files of a handler; the first existing one is used.
const FILES: &[&str] = &[
    "handler.ts",
    "handler.mts",
    "handler.cts",
    "handler.js",
    "handler.mjs",
    "handler.cjs",
    "index.ts",
    "index.mts",
    "index.cts",
    "index.js",
    "index.mjs",
    "index.cjs",
];

/// An OpenClaw event, and the corresponding phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenClawEvent {
    /// The kind, such as `agent`.
    pub kind: &'static str,
    /// The action, such as `bootstrap`.
    pub action: &'static str,
    /// The phase that corresponds to the event.
    pub phase: HookPhase,
}

const fn event(kind: &'static str, action: &'static str, phase: HookPhase) -> OpenClawEvent {
    OpenClawEvent {
        kind,
        action,
        phase,
    }
}

/// Every supported event. For one kind, a handler is called once per phase: for the first of these that it lists.
pub const EVENTS: &[OpenClawEvent] = &[
    event("gateway", "startup", HookPhase::ConversationStart),
    event("session", "start", HookPhase::ConversationStart),
    event("command", "new", HookPhase::ConversationStart),
    event("command", "reset", HookPhase::ConversationStart),
    event("message", "received", HookPhase::BeforePromptBuild),
    event("message", "transcribed", HookPhase::BeforePromptBuild),
    event("message", "preprocessed", HookPhase::BeforePromptBuild),
    event("agent", "bootstrap", HookPhase::BeforePromptBuild),
    event("tool", "before", HookPhase::BeforeToolCall),
    event("tool", "after", HookPhase::AfterToolResult),
    event("message", "sent", HookPhase::AfterResponse),
    event("command", "stop", HookPhase::Deactivate),
    event("session", "end", HookPhase::Deactivate),
];

/// OpenClaw events that have no counterpart here.
const ELSEWHERE: &[&str] = &[
    "session:compact:before",
    "session:compact:after",
    "session:patch",
];

/// An OpenClaw handler.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenClawHandler {
    /// Its name: from its HOOK.md, or else its folder.
    pub name: Box<str>,
    /// The file, relative to the skill's folder.
    pub file: Box<str>,
    /// The export of the file that is the handler.
    pub export: Box<str>,
    /// Its events, as written: `agent:bootstrap`, or `agent` for all of that kind.
    pub events: Vec<Box<str>>,
    /// Requirements that must be met before it is called.
    pub requirements: Vec<Requirement>,
    /// Whether it is called without checking the requirements.
    pub always: bool,
}

impl OpenClawHandler {
    /// A handler in OpenClaw's folder without a HOOK.md.
    fn undescribed(folder: &str, file: &str) -> Self {
        Self {
            name: folder_name(folder).into(),
            file: file.into(),
            export: DEFAULT.into(),
            events: vec![USUAL.into()],
            requirements: Vec::new(),
            always: false,
        }
    }

    /// The phases at which it is called, each once.
    #[must_use]
    pub fn phases(&self) -> Vec<HookPhase> {
        let asked = |phase: &HookPhase| !self.raised(*phase).is_empty();
        HookPhase::ALL.into_iter().filter(asked).collect()
    }

    /// The events that it is called for at a phase, in order.
    #[must_use]
    pub fn raised(&self, phase: HookPhase) -> Vec<&'static OpenClawEvent> {
        let mut raised: Vec<&'static OpenClawEvent> = Vec::new();
        for event in EVENTS.iter().filter(|event| event.phase == phase) {
            let asked_already = raised.iter().any(|other| other.kind == event.kind);
            if !asked_already && self.events.iter().any(|name| names(name, event)) {
                raised.push(event);
            }
        }
        raised
    }

    /// Whether it handles a whole kind of events; such handlers are called first.
    #[must_use]
    pub fn is_general(&self, kind: &str) -> bool {
        self.events.iter().any(|name| &**name == kind)
    }
}

/// The phases of an event or of a kind of events.
#[must_use]
pub fn phases(name: &str) -> Vec<HookPhase> {
    let raised = EVENTS.iter().filter(|event| names(name, event));
    let raised: Vec<HookPhase> = raised.map(|event| event.phase).collect();
    let all = HookPhase::ALL.into_iter();
    all.filter(|phase| raised.contains(phase)).collect()
}

fn names(name: &str, event: &OpenClawEvent) -> bool {
    match name.split_once(':') {
        Some((kind, action)) => kind == event.kind && action == event.action,
        None => name == event.kind,
    }
}

/// Finds the handlers of a skill.
pub(super) fn read(files: &[HookFile<'_>], hooks: &mut SkillHooks) {
    let folders: BTreeSet<&str> = files.iter().filter_map(folder).collect();
    for folder in folders {
        let beside = |name: &str| {
            let mut files = files.iter();
            files.find(|file| file.path.strip_prefix(folder) == Some(name))
        };
        let file = FILES.iter().find_map(|name| beside(name));
        if let (true, Some(file)) = (hooks.handlers.len() >= MAX_HANDLERS, file) {
            return hooks.say(file, DiagnosticCode::LimitReached, || {
                Say::new(format!(
                    "there are more than {MAX_HANDLERS} handlers; the others are not called"
                ))
            });
        }
        match (beside(HOOK_MD), file) {
            (Some(described), Some(file)) => hooks.read_described(described, folder, file.path),
            (Some(described), None) => {
                hooks.say(described, DiagnosticCode::HookHandlerMissing, || {
                    let shown = if folder.is_empty() {
                        "the skill's folder"
                    } else {
                        folder
                    };
                    Say::new(format!("there is no handler in {shown}"))
                        .hint("add `handler.ts` or `handler.js` there")
                });
            }
            (None, Some(file)) if folder == OWN => {
                hooks
                    .handlers
                    .push(OpenClawHandler::undescribed(folder, file.path));
            }
            (None, _) => {}
        }
    }
}

/// The folder of a file that is part of a hook, with a trailing slash.
fn folder<'a>(file: &HookFile<'a>) -> Option<&'a str> {
    let (folder, name) = match file.path.rsplit_once('/') {
        Some((folder, name)) => (&file.path[..=folder.len()], name),
        None => ("", file.path),
    };
    let inner = folder
        .strip_prefix(FOLDER)
        .and_then(|inner| inner.strip_suffix('/'));
    let is_place = folder.is_empty() || inner.is_some_and(|inner| !inner.contains('/'));
    (is_place && (name == HOOK_MD || FILES.contains(&name))).then_some(folder)
}

fn folder_name(folder: &str) -> &str {
    let folder = folder.trim_end_matches('/');
    folder.rsplit('/').next().unwrap_or(folder)
}

impl SkillHooks {
    fn say(&mut self, file: &HookFile<'_>, code: DiagnosticCode, say: impl FnOnce() -> Say) {
        let mut report = DiagnosticCollector::new(
            Strictness::Lenient,
            file.path,
            file.text.unwrap_or_default(),
        );
        report.add(code, 0, say);
        self.diagnostics.append(&mut report.list);
    }

    fn read_described(&mut self, described: &HookFile<'_>, folder: &str, file: &str) {
        let Some(text) = described.text else {
            return self.say(described, DiagnosticCode::HookForm, || {
                Say::new("the file can't be read; its handler is not called")
            });
        };
        let mut report = DiagnosticCollector::new(Strictness::Lenient, described.path, text);
        let fields = read::hook(text, &mut report);
        if fields.is_none() && folder == OWN {
            // It declares nothing, but without it the handler would be called.
            self.handlers
                .push(OpenClawHandler::undescribed(folder, file));
        }
        if let Some(fields) = fields {
            let (events, export) = told(&fields, folder, &mut report);
            if !events.is_empty() {
                let name = fields.name.unwrap_or_else(|| folder_name(folder).into());
                self.handlers.push(OpenClawHandler {
                    name,
                    file: file.into(),
                    export: export.unwrap_or_else(|| DEFAULT.into()),
                    events,
                    requirements: fields.requirements,
                    always: fields.always,
                });
            }
        }
        self.diagnostics.append(&mut report.list);
    }
}

/// The events that a HOOK.md lists, and the export.
fn told(
    fields: &HookFields<'_>,
    folder: &str,
    report: &mut DiagnosticCollector<'_>,
) -> (Vec<Box<str>>, Option<Box<str>>) {
    let pairs = &fields.pairs;
    let metadata = get(pairs, "metadata").and_then(Node::as_map);
    let mut blocks = VENDORS.iter().filter_map(|vendor| get(metadata?, vendor));
    let block = blocks.next();
    let field = |name: &str| {
        block
            .and_then(|block| block.get(name))
            .or_else(|| get(pairs, name))
    };
    let export = field("export").and_then(Node::as_text).map(Into::into);
    let Some(node) = field("events") else {
        if folder == OWN {
            return (vec![USUAL.into()], export);
        }
        report.add(DiagnosticCode::HookForm, 0, || {
            Say::new("it lists no events; its handler is never called")
                .hint("add `metadata: {openclaw: {events: [agent:bootstrap]}}`")
        });
        return (Vec::new(), export);
    };
    let items: Vec<&Node<'_>> = match &node.value {
        NodeValue::List(items) => items.iter().collect(),
        _ => vec![node],
    };
    let mut events: Vec<Box<str>> = Vec::new();
    for item in items {
        let Some(name) = item.as_text().map(str::trim) else {
            report.add(DiagnosticCode::HookForm, item.at, || {
                Say::new(format!("an event must be a string, not {}", item.kind()))
            });
            continue;
        };
        if !phases(name).is_empty() {
            events.push(name.into());
        } else {
            unknown(name, item.at, report);
        }
    }
    (events, export)
}

fn unknown(name: &str, at: u32, report: &mut DiagnosticCollector<'_>) {
    report.add(DiagnosticCode::HookUnsupported, at, || {
        let shown = crate::text::visible(name);
        if ELSEWHERE.contains(&name) {
            return Say::new(format!(
                "the event `{shown}` has no counterpart here and no effect"
            ));
        }
        let known: Vec<String> = EVENTS
            .iter()
            .map(|event| format!("{}:{}", event.kind, event.action))
            .collect();
        Say::new(format!("unknown OpenClaw event `{shown}`"))
            .hint(format!("use one of {}", known.join(", ")))
    });
}
