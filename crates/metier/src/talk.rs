//! What a session tells, as a person or a program hears it.

use std::{
    io::{self, Write},
    sync::{Mutex, PoisonError},
};

use clap::ValueEnum;
use metier_agent::{Event, Listener, Told};

use crate::output::{Output, Tone, one_line};

/// How events are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: the answer on stdout, everything else on stderr
    #[default]
    Text,
    /// For programs: every event as a line of JSON on stdout
    Jsonl,
}

/// Hears all sessions of a run. Sub-agents talk from threads of their own; one line is one line.
pub(crate) struct Talk<'o> {
    output: &'o Output,
    format: Format,
    state: Mutex<State>,
}

/// Where the cursor is.
#[derive(Default)]
struct State {
    /// Words of the model stand on the line.
    is_open: bool,
    /// Thoughts were shown and not ended.
    is_thinking: bool,
}

impl<'o> Talk<'o> {
    pub(crate) fn new(output: &'o Output, format: Format) -> Self {
        Self {
            output,
            format,
            state: Mutex::default(),
        }
    }

    fn line(&self, state: &mut State, depth: usize, text: &str) {
        self.close(state);
        let indent = "  ".repeat(depth);
        self.output.note(&format!("{indent}{text}"));
    }

    /// Ends the line that the model is writing.
    fn close(&self, state: &mut State) {
        if state.is_open {
            // Whoever closed stdout is told by what is written next.
            self.output.text("\n").ok();
            state.is_open = false;
        }
        state.is_thinking = false;
    }

    fn show(&self, told: &Told) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        let paint = |text: &str, tone| self.output.paint_talk(text, tone);
        let depth = told.depth;
        match &told.event {
            Event::Text { text } if depth == 0 && !self.output.is_json() => {
                self.output.content(text).ok();
                state.is_open = !text.ends_with('\n');
            }
            Event::SkillActivated {
                skill,
                why,
                already: false,
            } => {
                let line = format!("{} {} ({why})", paint("skill", Tone::Note), one_line(skill));
                self.line(state, depth, &line);
            }
            Event::SkillUnloaded { skill } => {
                let line = format!("{} {}", paint("unloaded", Tone::Note), one_line(skill));
                self.line(state, depth, &line);
            }
            Event::WorkflowOffered { skill, why } => {
                let name = one_line(skill);
                let line = format!(
                    "{} /{name} would run the workflow `{name}` ({})",
                    paint("offer", Tone::Note),
                    one_line(why)
                );
                self.line(state, depth, &line);
            }
            Event::ToolCall { tool, input, .. } => {
                let input = self.output.fitted(&one_line(&input.to_string()), 24);
                let line = format!("{} {} {input}", paint("tool", Tone::Note), one_line(tool));
                self.line(state, depth, &line);
            }
            Event::ToolResult {
                tool,
                output,
                is_error: true,
                ..
            } => {
                let what = self.output.fitted(&one_line(output), 24);
                let line = format!("{} {}: {what}", paint("failed", Tone::Warn), one_line(tool));
                self.line(state, depth, &line);
            }
            Event::ToolRefused { tool, reason, .. } => {
                let line = format!(
                    "{} {}: {}",
                    paint("refused", Tone::Warn),
                    one_line(tool),
                    one_line(reason)
                );
                self.line(state, depth, &line);
            }
            Event::SubagentStarted { kind, task, skills } => {
                let with = match skills.as_slice() {
                    [] => String::new(),
                    skills => format!(" with {}", skills.join(", ")),
                };
                let task = self.output.fitted(&one_line(task), 24);
                let line = format!("{} {task}{with}", paint(kind, Tone::Note));
                self.line(state, depth, &line);
            }
            Event::SubagentRejected { errors } => {
                for error in errors {
                    let line = format!("{} {}", paint("rejected", Tone::Warn), one_line(error));
                    self.line(state, depth, &line);
                }
            }
            Event::Retry { seconds, reason } => {
                let line = format!(
                    "{} in {seconds:.1} s: {}",
                    paint("again", Tone::Warn),
                    one_line(reason)
                );
                self.line(state, depth, &line);
            }
            Event::Compacted {
                before,
                after,
                skills,
            } => {
                let skills: Vec<&str> = skills.iter().map(|kept| kept.skill.as_str()).collect();
                let kept = match skills.as_slice() {
                    [] => String::new(),
                    skills => format!("; kept whole or in part: {}", skills.join(", ")),
                };
                let line = format!(
                    "{} the conversation from about {before} to {after} tokens{kept}",
                    paint("shortened", Tone::Note)
                );
                self.line(state, depth, &line);
            }
            Event::Note { text } => {
                let line = format!("{} {}", paint("note:", Tone::Note), one_line(text));
                self.line(state, depth, &line);
            }
            Event::TurnEnded { .. } | Event::TurnFailed { .. } => self.close(state),
            _ => {}
        }
    }
}

impl Listener for Talk<'_> {
    fn hear(&self, told: &Told) {
        match self.format {
            Format::Text => self.show(told),
            Format::Jsonl => {
                let mut out = io::stdout().lock();
                // Whoever reads the lines went away: the exit code tells how the work ended.
                if serde_json::to_writer(&mut out, told).is_ok() {
                    out.write_all(b"\n").and_then(|()| out.flush()).ok();
                }
            }
        }
    }
}
