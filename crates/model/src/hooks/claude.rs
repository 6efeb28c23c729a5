//! Claude's command hooks: `hooks:` in a SKILL.md, or `hooks/hooks.json`.
//!
//! ```yaml
//! hooks:
//!   PreToolUse:
//!     - matcher: "Bash"
//!       hooks: [{type: command, command: "./scripts/check.sh", timeout: 5, once: true}]
//! ```

use metier_sdk::HookPhase;
use regex::Regex;

use crate::{
    diagnostic::DiagnosticCode,
    report::{DiagnosticCollector, Say},
    text::visible,
    yaml::{
        self,
        node::{Node, NodeValue, Pair, get},
    },
};

/// Claude's events that are supported, and the phase of each.
pub const EVENTS: &[(&str, HookPhase)] = &[
    ("SessionStart", HookPhase::ConversationStart),
    ("UserPromptSubmit", HookPhase::BeforePromptBuild),
    ("PreToolUse", HookPhase::BeforeToolCall),
    ("PostToolUse", HookPhase::AfterToolResult),
    ("Stop", HookPhase::AfterResponse),
    ("SessionEnd", HookPhase::Deactivate),
];

/// Claude's events that have no counterpart here.
const ELSEWHERE: &[&str] = &[
    "Setup",
    "UserPromptExpansion",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "MessageDisplay",
    "SubagentStart",
    "SubagentStop",
    "TaskCreated",
    "TaskCompleted",
    "StopFailure",
    "TeammateIdle",
    "InstructionsLoaded",
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
    "PreCompact",
    "PostCompact",
    "Elicitation",
    "ElicitationResult",
];

/// Claude's kinds of hooks other than commands.
const OTHER_TYPES: &[&str] = &["http", "mcp_tool", "prompt", "agent"];

/// Claude's names of metier's tools.
const CORE: &[(&str, &[&str])] = &[
    ("bash", &["Bash"]),
    ("shell", &["Bash"]),
    ("exec", &["Bash"]),
    ("read", &["Read"]),
    ("write", &["Write"]),
    ("edit", &["Edit", "MultiEdit", "NotebookEdit"]),
    ("glob", &["Glob"]),
    ("grep", &["Grep"]),
    ("ls", &["LS"]),
    ("fetch", &["WebFetch"]),
    ("task", &["Task"]),
];

/// The maximum length of a matcher, since it is compiled.
const MAX_MATCHER: usize = 1024;
/// The maximum size of a compiled matcher.
const MAX_COMPILED: usize = 64 << 10;
/// The maximum number of commands.
const MAX_COMMANDS: usize = 100;

/// A command that runs at an event.
#[derive(Clone, Debug)]
pub struct CommandHook {
    /// Claude's name of the event, such as `PreToolUse`.
    pub event: &'static str,
    /// The phase that corresponds to the event.
    pub phase: HookPhase,
    /// The tools that it applies to; ignored for events without tools.
    pub matcher: Matcher,
    /// The shell command line.
    pub command: Box<str>,
    /// Its time limit in seconds, if it has one.
    pub timeout: Option<u64>,
    /// Whether it runs once per session.
    pub once: bool,
    /// The file that contains it.
    pub file: Box<str>,
    /// The line in that file.
    pub line: u32,
}

/// The tools that a command applies to.
#[derive(Clone, Debug)]
pub enum Matcher {
    /// Matches every tool.
    All,
    /// Matches tools with these names.
    Names(Vec<Box<str>>),
    /// Matches tools whose names contain a match.
    Pattern(Regex),
}

impl Matcher {
    /// Reads a matcher: empty or `*` matches every tool, words between `|` or `,` are a list, anything else is a
    /// regular expression.
    fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "_- ,|".contains(c);
        if text.chars().all(plain) {
            let names = text.split(['|', ',']).map(str::trim);
            let names = names.filter(|name| !name.is_empty()).map(Into::into);
            return Ok(Self::Names(names.collect()));
        }
        if text.len() > MAX_MATCHER {
            return Err(format!("it is longer than {MAX_MATCHER} bytes"));
        }
        let built = regex::RegexBuilder::new(text)
            .size_limit(MAX_COMPILED)
            .build();
        built.map(Self::Pattern).map_err(|error| match error {
            regex::Error::Syntax(message) => {
                let last = message.lines().last().unwrap_or_default();
                last.trim_start_matches("error: ").to_owned()
            }
            other => other.to_string(),
        })
    }

    /// Whether a tool matches, by metier's or Claude's name.
    #[must_use]
    pub fn matches(&self, tool: &str) -> bool {
        let spellings = || std::iter::once(tool).chain(claude_names(tool).iter().copied());
        match self {
            Self::All => true,
            Self::Names(names) => spellings().any(|name| names.iter().any(|one| **one == *name)),
            Self::Pattern(pattern) => spellings().any(|name| pattern.is_match(name)),
        }
    }
}

/// Claude's names of one of metier's tools; empty for tools of skills.
#[must_use]
pub fn claude_names(tool: &str) -> &'static [&'static str] {
    let found = CORE.iter().find(|(name, _)| *name == tool);
    found.map_or(&[], |(_, names)| names)
}

/// Reads the field `hooks` of a manifest.
pub(super) fn read_field(
    pairs: &[Pair<'_>],
    report: &mut DiagnosticCollector<'_>,
    commands: &mut Vec<CommandHook>,
) {
    if let Some(node) = get(pairs, "hooks") {
        read_events(node, report, commands);
    }
}

/// Reads the file `hooks/hooks.json`.
pub(super) fn read_file(
    text: &str,
    report: &mut DiagnosticCollector<'_>,
    commands: &mut Vec<CommandHook>,
) {
    let root = match yaml::read_file(text) {
        Ok(root) => root,
        Err((_, message)) => {
            return report.add(DiagnosticCode::HookForm, 0, || {
                Say::new(format!("not valid JSON: {message}")).hint("check it with a JSON linter")
            });
        }
    };
    match root.get("hooks") {
        Some(node) => read_events(node, report, commands),
        None => report.add(DiagnosticCode::HookForm, root.at, || {
            Say::new("there is no field `hooks`").hint("write `{\"hooks\": {\"PreToolUse\": […]}}`")
        }),
    }
}

pub(super) fn read_events(
    node: &Node<'_>,
    report: &mut DiagnosticCollector<'_>,
    commands: &mut Vec<CommandHook>,
) {
    let pairs = match &node.value {
        NodeValue::Map(pairs) => pairs,
        NodeValue::Null => return,
        _ => return wrong("hooks", node, "a map of events", report),
    };
    for pair in pairs {
        let Some((event, phase)) = EVENTS.iter().find(|(name, _)| *name == pair.key) else {
            unknown(pair, report);
            continue;
        };
        for group in list(&pair.key, &pair.node, report) {
            read_group((event, *phase), group, report, commands);
        }
    }
}

fn unknown(pair: &Pair<'_>, report: &mut DiagnosticCollector<'_>) {
    report.add(DiagnosticCode::HookUnsupported, pair.key_at, || {
        let name = visible(&pair.key);
        if ELSEWHERE.contains(&&*pair.key) {
            return Say::new(format!(
                "the event `{name}` has no counterpart here and no effect"
            ));
        }
        let known: Vec<&str> = EVENTS.iter().map(|(name, _)| *name).collect();
        Say::new(format!("unknown event `{name}`")).hint(format!("use one of {}", known.join(", ")))
    });
}

fn read_group(
    (event, phase): (&'static str, HookPhase),
    group: &Node<'_>,
    report: &mut DiagnosticCollector<'_>,
    commands: &mut Vec<CommandHook>,
) {
    let Some(hooks) = group.get("hooks") else {
        return wrong(event, group, "a list of `{matcher, hooks}`", report);
    };
    let matcher = group
        .get("matcher")
        .map_or(Matcher::All, |node| read_matcher(node, report));
    for hook in list("hooks", hooks, report) {
        let Some((command, timeout, once)) = read_command(hook, report) else {
            continue;
        };
        if commands.len() >= MAX_COMMANDS {
            return report.add(DiagnosticCode::LimitReached, hook.at, || {
                Say::new(format!(
                    "there are more than {MAX_COMMANDS} hooks; the others are not run"
                ))
            });
        }
        commands.push(CommandHook {
            event,
            phase,
            matcher: matcher.clone(),
            command,
            timeout,
            once,
            file: report.file.into(),
            line: report.line(hook.at),
        });
    }
}

/// An invalid matcher matches every tool: calling a guard too often is safer than not at all.
fn read_matcher(node: &Node<'_>, report: &mut DiagnosticCollector<'_>) -> Matcher {
    let why = match (&node.value, node.as_text().map(Matcher::read)) {
        (_, Some(Ok(matcher))) => return matcher,
        (NodeValue::Null, _) => return Matcher::All,
        (_, Some(Err(why))) => why,
        (_, None) => format!("it must be a string, not {}", node.kind()),
    };
    report.add(DiagnosticCode::HookForm, node.at, || {
        let shown = visible(node.as_text().unwrap_or("…")).into_owned();
        Say::new(format!(
            "invalid matcher `{shown}`: {why}; its hooks run for every tool"
        ))
        .hint("name tools, as in `Bash|Edit`, or write a regular expression without look-around")
    });
    Matcher::All
}

fn read_command(
    hook: &Node<'_>,
    report: &mut DiagnosticCollector<'_>,
) -> Option<(Box<str>, Option<u64>, bool)> {
    let kind = hook.get("type").and_then(Node::as_text);
    if let Some(kind) = kind.filter(|kind| *kind != "command") {
        report.add(DiagnosticCode::HookUnsupported, hook.at, || {
            let shown = visible(kind);
            let say = match OTHER_TYPES.contains(&kind) {
                true => Say::new(format!("hooks of type `{shown}` are not supported")),
                false => Say::new(format!("unknown hook type `{shown}`")),
            };
            say.hint("use `type: command`")
        });
        return None;
    }
    let command = hook.get("command").and_then(Node::as_text).map(str::trim);
    let Some(command) = command.filter(|command| !command.is_empty()) else {
        wrong("hooks", hook, "a map with a `command`", report);
        return None;
    };
    let timeout = match hook.get("timeout") {
        None => None,
        Some(node) => {
            let seconds = node.as_text().and_then(|text| text.parse::<f64>().ok());
            let seconds = seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0);
            if seconds.is_none() {
                wrong("timeout", node, "a number of seconds", report);
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "positive, and a cast saturates at the largest number"
            )]
            seconds.map(|seconds| seconds.ceil() as u64)
        }
    };
    let once = hook.get("once").and_then(Node::as_bool).unwrap_or(false);
    Some((command.into(), timeout, once))
}

fn list<'n, 'a>(
    key: &str,
    node: &'n Node<'a>,
    report: &mut DiagnosticCollector<'_>,
) -> Vec<&'n Node<'a>> {
    let NodeValue::List(items) = &node.value else {
        wrong(key, node, "a list", report);
        return Vec::new();
    };
    let mut maps = Vec::new();
    for item in items {
        match item.as_map() {
            Some(_) => maps.push(item),
            None => wrong(key, item, "a map", report),
        }
    }
    maps
}

fn wrong(key: &str, node: &Node<'_>, wanted: &str, report: &mut DiagnosticCollector<'_>) {
    report.add(DiagnosticCode::HookForm, node.at, || {
        Say::new(format!(
            "`{}` must be {wanted}, not {}; it was ignored",
            visible(key),
            node.kind()
        ))
    });
}
