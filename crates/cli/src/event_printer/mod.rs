//! The events of a conversation, as human-readable text or as lines of JSON.

mod markdown;
mod screen;

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use clap::ValueEnum;
use metier::agent::{ActivatedBy, AgentEvent, EventListener, ReportedEvent, SubagentKind};
use metier::text::{duration, with_blanks_shown};
use metier_wire::event_document;
use serde_json::Value;

use crate::output::{Output, Tone, one_line};

pub(crate) use markdown::MarkdownStyle;
pub(crate) use screen::TerminalScreen;

/// How many lines of a tool's answer --verbose shows.
const MAX_LINES: usize = 8;

/// How many characters of a value in a call are shown.
const MAX_VALUE: usize = 60;

/// How events are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    /// For people: the answer on stdout, everything else on stderr
    #[default]
    Text,
    /// For programs: every event as a line of JSON on stdout
    Jsonl,
}

/// Receives the events of all sessions of a run. Sub-agents report from their own threads; lines are never mixed.
pub(crate) struct EventPrinter {
    output: Arc<Output>,
    format: EventFormat,
    screen: Arc<TerminalScreen>,
    /// Tokens of sub-agents in this turn, in and out.
    below: Mutex<(u64, u64)>,
}

impl EventPrinter {
    pub(crate) fn new(output: &Arc<Output>, format: EventFormat) -> Arc<Self> {
        Arc::new(Self {
            output: Arc::clone(output),
            format,
            screen: Arc::new(TerminalScreen::new(output, format == EventFormat::Text)),
            below: Mutex::default(),
        })
    }

    /// Whether the output is human-readable text.
    pub(crate) fn is_for_people(&self) -> bool {
        self.format == EventFormat::Text
    }

    /// The terminal that it writes to.
    pub(crate) fn screen(&self) -> &Arc<TerminalScreen> {
        &self.screen
    }

    fn show(&self, told: &ReportedEvent) {
        let depth = told.depth;
        if depth == 0 && !matches!(told.event, AgentEvent::Text { .. }) {
            // The session continues with something else: its text has ended.
            self.screen.end_text();
        }
        match &told.event {
            // A sub-agent reports to its parent, not to the person.
            AgentEvent::Text { .. } | AgentEvent::Thinking { .. }
                if depth > 0 || self.output.is_json() => {}
            AgentEvent::Text { text } => self.screen.words(text),
            AgentEvent::Thinking { text } if self.output.is_verbose() => self.screen.thoughts(text),
            AgentEvent::TurnEnded {
                input_tokens,
                output_tokens,
                cost,
                ..
            } => {
                let tokens = (*input_tokens, *output_tokens);
                self.add_up(depth, tokens, cost.as_deref());
            }
            AgentEvent::TurnFailed { .. } if depth == 0 => {
                self.take_below();
                self.screen.close();
            }
            AgentEvent::ToolResult {
                output,
                is_error: false,
                ..
            } if self.output.is_verbose() => self.show_output(depth, output),
            event => {
                for line in self.lines(event) {
                    self.screen.line(&format!("{}{line}", "  ".repeat(depth)));
                }
            }
        }
    }

    /// Prints the tokens of a turn. Those of sub-agents are counted until the turn that they belong to is over.
    fn add_up(&self, depth: usize, (input, output): (u64, u64), cost: Option<&str>) {
        if depth > 0 {
            let mut below = self.below.lock().unwrap_or_else(PoisonError::into_inner);
            *below = (below.0 + input, below.1 + output);
            return;
        }
        self.screen.close();
        let below = match self.take_below() {
            (0, 0) => String::new(),
            (input, output) => format!("; sub-agents {input} in, {output} out"),
        };
        if self.output.shows_progress() || self.output.is_verbose() {
            let cost = cost.map(|cost| format!(", cost {cost}"));
            let cost = cost.unwrap_or_default();
            let line = format!("{input} tokens in, {output} out{cost}{below}");
            self.screen
                .line(&self.output.paint_talk(&line, Tone::Faint));
        }
    }

    fn take_below(&self) -> (u64, u64) {
        let mut below = self.below.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *below)
    }

    /// The first lines of what a tool answered.
    fn show_output(&self, depth: usize, output: &str) {
        let indent = "  ".repeat(depth + 1);
        let faint = |line: &str| {
            let line = self.output.paint_talk(line, Tone::Faint);
            self.screen.line(&format!("{indent}{line}"));
        };
        for line in output.lines().take(MAX_LINES) {
            faint(&self.output.fitted(line, indent.len()));
        }
        let more = output.lines().count().saturating_sub(MAX_LINES);
        if more > 0 {
            faint(&format!("… and {more} more"));
        }
    }

    /// The lines about an event: a label each, and the rest.
    fn lines(&self, event: &AgentEvent) -> Vec<String> {
        let note = |word: &str, rest: &str| {
            vec![format!(
                "{} {rest}",
                self.output.paint_talk(word, Tone::Note)
            )]
        };
        let warn = |word: &str, rest: &str| {
            vec![format!(
                "{} {rest}",
                self.output.paint_talk(word, Tone::Warn)
            )]
        };
        let short = |text: &str| self.output.fitted(&one_line(text), 24);
        match event {
            AgentEvent::SkillActivated {
                skill,
                by: ActivatedBy::Trigger,
                why,
                already: false,
            } => note("loaded", &format!("{}: {}", one_line(skill), one_line(why))),
            AgentEvent::SkillActivated {
                skill,
                why,
                already: false,
                ..
            } => note("skill", &format!("{} ({why})", one_line(skill))),
            AgentEvent::SkillUnloaded { skill } => note("unloaded", &one_line(skill)),
            AgentEvent::WorkflowOffered { skill, why } => {
                let name = one_line(skill);
                let why = one_line(why);
                note(
                    "offer",
                    &format!("/{name} would run the workflow `{name}` ({why})"),
                )
            }
            AgentEvent::ToolCall { tool, input, .. } => {
                // A command is shown in full: the cut part could be the one that matters.
                let input = match input.get("command").and_then(|command| command.as_str()) {
                    Some(command) => with_blanks_shown(command),
                    None => short(&input_shown(input)),
                };
                note("tool", format!("{} {input}", one_line(tool)).trim_end())
            }
            AgentEvent::ToolResult {
                tool,
                output,
                is_error: true,
                ..
            } => warn("failed", &format!("{}: {}", one_line(tool), short(output))),
            AgentEvent::ToolRefused { tool, reason, .. } => warn(
                "refused",
                &format!("{}: {}", one_line(tool), one_line(reason)),
            ),
            AgentEvent::SubagentStarted { kind, task, skills } => {
                let with = match skills.as_slice() {
                    [] => String::new(),
                    skills => format!(" with {}", skills.join(", ")),
                };
                note(subagent_word(*kind), &format!("{}{with}", short(task)))
            }
            AgentEvent::SubagentRejected { errors } => {
                let lines = errors
                    .iter()
                    .flat_map(|error| warn("rejected", &one_line(error)));
                lines.collect()
            }
            AgentEvent::Retry {
                seconds,
                attempt,
                of,
                reason,
            } => {
                let pause = duration(Duration::from_secs_f64(seconds.clamp(0.0, 86_400.0)));
                let reason = one_line(reason);
                warn(
                    "retrying",
                    &format!("in {pause} (attempt {attempt} of {of}): {reason}"),
                )
            }
            AgentEvent::Compacted {
                before,
                after,
                skills,
            } => {
                let skills: Vec<&str> = skills.iter().map(|kept| kept.skill.as_str()).collect();
                let kept = match skills.as_slice() {
                    [] => String::new(),
                    skills => format!("; kept whole or in part: {}", skills.join(", ")),
                };
                let line = format!("the conversation from about {before} to {after} tokens{kept}");
                note("shortened", &line)
            }
            AgentEvent::Note { text } => note("note:", &one_line(text)),
            _ => Vec::new(),
        }
    }
}

/// The input of a tool as people read it: its values, with their names where there are several. What is nested stays JSON.
fn input_shown(input: &Value) -> String {
    let is_plain = |value: &Value| match value {
        Value::Array(parts) => parts
            .iter()
            .all(|part| !part.is_object() && !part.is_array()),
        other => !other.is_object(),
    };
    let Some(fields) = input
        .as_object()
        .filter(|fields| fields.values().all(is_plain))
    else {
        return input.to_string();
    };
    let parts = fields.iter().map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), one_line);
        let text = match text.char_indices().nth(MAX_VALUE) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        };
        match name.as_str() {
            "path" => text,
            _ if fields.len() == 1 => text,
            name => format!("{name}: {text}"),
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

const fn subagent_word(kind: SubagentKind) -> &'static str {
    match kind {
        SubagentKind::Spawn => "spawn",
        SubagentKind::Fork => "fork",
    }
}

impl EventListener for EventPrinter {
    fn hear(&self, told: &ReportedEvent) {
        if matches!(told.event, AgentEvent::SessionStarted { .. }) {
            self.screen.started(&told.session);
        }
        match self.format {
            EventFormat::Text => self.show(told),
            EventFormat::Jsonl => {
                let mut out = io::stdout().lock();
                // If the reader is gone, the exit code still reports how the work ended.
                if serde_json::to_writer(&mut out, &event_document(told)).is_ok() {
                    out.write_all(b"\n").and_then(|()| out.flush()).ok();
                }
            }
        }
    }

    fn while_waiting(&self, request: &mut dyn FnMut()) {
        self.screen.while_waiting(request);
    }
}
