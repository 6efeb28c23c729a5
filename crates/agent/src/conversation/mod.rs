//! A conversation between a person, or a parent conversation, and a model, with skills.
//!
//! **Problem.** A loop that asks a model and calls tools is twenty lines. Trust comes from the code around each line: each event
//! is recorded before the next step, a call that no rule allows is not made whatever the model outputs, everything that a
//! skill adds is removed with it, and a turn that fails leaves a conversation that can continue.
//!
//! **Decision.** All code uses four methods: [`record`](AgentConversation::record) (written, then applied),
//! [`tell`](AgentConversation::tell) (to the listener), `ask` (the model) and `run_calls` (tools). A turn is a loop over the last two.
//!
//! ```text
//! turn "…"   mentions → skills loaded, forks and workflows run        activation.rs
//!   ask      too long? → shorter                                      compaction.rs
//!            system prompt, messages, tools → answer                  here
//!   calls    known? allowed? in order? within the budget?             calls.rs
//!            own tool · tool of a skill · sub-agent on its thread     calls.rs, subagent.rs
//!   answer   contract kept? → transforms → the person
//! ```

mod accepted_calls;
mod activation;
mod calls;
mod compaction;
mod conditions;
mod opening;
mod set;
mod subagent;
mod triggers;

use std::{collections::BTreeSet, sync::Arc};

use metier_model::model_text::for_model;
use metier_runtime::live::{FinalAnswer, Runtime};
use metier_sdk::HookPhase;

pub use opening::{ConversationPlan, ConversationRole, SharedResources, open};
pub use set::{RejectedSet, SkillSet, is_coding, judge_set};

use crate::context::{AgentContext, ChosenModel};
use crate::conversation::accepted_calls::AcceptedCalls;
use crate::event::{AgentEvent, ReportedEvent};
use crate::history::MessageHistory;
use crate::metered_model::{MeteredModel, max_tokens};
use crate::pipeline::Pipeline;
use crate::rules::ToolUseRules;
use crate::system::System;
use crate::toolbox::Toolbox;
use crate::transcript::Transcript;
use crate::turn_usage::TurnUsage;
use crate::{
    ErrorReport, HistoryRecord, ModelError, ModelRequest, ModelResponse, ReasoningEffort,
    ResponseDelta, StopReason, TokenUsage, ToolCall,
};

/// How often an answer that breaks a contract is sent back.
const MAX_REMINDERS: usize = 2;
/// How often in a row hooks send an answer back before the turn ends anyway.
const MAX_SENT_BACK: usize = 8;

/// A conversation with a model, with its skills and rules.
pub struct AgentConversation {
    context: Arc<AgentContext>,
    runtime: Runtime,
    shared: SharedResources,
    id: String,
    depth: usize,
    role: ConversationRole,
    /// The model that the conversation was opened with.
    configured: ChosenModel,
    /// This model, or the one that a skill of the opening requires.
    chosen: ChosenModel,
    /// The model that a skill of this turn requires instead.
    instead: Option<ChosenModel>,
    rules: ToolUseRules,
    pipeline: Pipeline,
    /// The skills of a set whose conditions are checked.
    conditioned: Vec<conditions::Conditioned>,
    conversation: MessageHistory,
    transcript: Transcript,
    system: System,
    /// The last prompt; `None` if something has changed since.
    prompt: Option<Arc<str>>,
    toolbox: Toolbox,
    /// The mode of the program, which some triggers match.
    mode: metier_select::UsageMode,
    /// The triggers of all skills, read with the first message.
    triggers: Option<Arc<triggers::ConversationTriggers>>,
    /// Skills that triggers do not load: those of the opening, and those that could not be loaded.
    passed_over: BTreeSet<String>,
    /// How many bytes of a tool's answer the model gets.
    room: usize,
    tally: TurnUsage,
    /// Answers questions of skills; their usage is part of the turn.
    skill_model: Arc<MeteredModel>,
}

/// The result of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnResult {
    /// The answer, after all transforms.
    pub text: String,
    /// Tokens of the whole turn.
    pub usage: TokenUsage,
}

impl AgentConversation {
    /// Its id, for `--resume`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The conversation so far.
    #[must_use]
    pub fn conversation(&self) -> &MessageHistory {
        &self.conversation
    }

    /// The tools that the model gets now.
    #[must_use]
    pub fn tools(&self) -> Vec<String> {
        self.toolbox.names()
    }

    /// Whether the last turn is incomplete: the process was killed before the model had answered.
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        !self.conversation.is_empty() && self.conversation.waits_for_model()
    }

    /// Sends a user message; the model answers.
    ///
    /// # Errors
    /// When there is no answer. The work so far is kept, and the conversation can continue.
    pub fn turn(&mut self, said: &str) -> Result<TurnResult, ErrorReport> {
        self.begin_turn(said);
        let done = self.settle().and_then(|()| self.hear(said));
        self.end_turn(done)
    }

    /// Lets the model answer an unanswered message.
    ///
    /// # Errors
    /// As for a turn.
    pub fn go_on(&mut self) -> Result<TurnResult, ErrorReport> {
        let unanswered = self.conversation.last_user_text().to_owned();
        self.begin_turn(&unanswered);
        let done = self.settle().and_then(|()| self.respond());
        self.end_turn(done)
    }

    /// Ends the code of all skills, newest first, and reports their log. Dropping a conversation ends them too.
    ///
    /// # Errors
    /// When that can't be recorded; everything has ended anyway.
    pub fn end(self) -> Result<(), ErrorReport> {
        let ended = self.runtime.end();
        self.tell_new();
        ended.map_err(|error| ErrorReport::new("not-ended", error.to_string()))
    }

    /// Unloads a skill: removes its tools, its rules and its text.
    ///
    /// # Errors
    /// When it is not active, or when that can't be recorded.
    pub fn unload(&mut self, skill: &str) -> Result<(), ErrorReport> {
        if !self.conversation.active().iter().any(|name| name == skill) {
            let active = self.conversation.active().join(", ");
            let report = ErrorReport::new("not-active", format!("skill `{skill}` is not active"));
            return Err(match active.as_str() {
                "" => report.skill(skill).hint("no skill is active"),
                active => report.skill(skill).hint(format!("active skills: {active}")),
            });
        }
        self.record(HistoryRecord::Unloaded {
            skill: skill.to_owned(),
        })?;
        self.deactivate(skill)?;
        self.tell(AgentEvent::SkillUnloaded {
            skill: skill.to_owned(),
        });
        Ok(())
    }

    /// Ends a skill's code, and takes its rules and tools out of the conversation.
    fn deactivate(&mut self, skill: &str) -> Result<(), ErrorReport> {
        self.rules.widen(skill);
        self.pipeline.leave(skill);
        self.runtime.forget_text(skill);
        if self.runtime.names().iter().any(|name| name == skill) {
            let ended = self.runtime.deactivate(skill);
            ended.map_err(|error| ErrorReport::new("not-ended", error.to_string()).skill(skill))?;
        }
        self.prompt = None;
        self.refresh_tools();
        Ok(())
    }

    fn begin_turn(&mut self, message: &str) {
        self.runtime.next_turn();
        self.runtime.set_user_message(message);
        if self.depth == 0 {
            self.shared.budget.refill();
        }
        self.instead = None;
        self.prompt = None;
        self.tally = TurnUsage::default();
    }

    fn end_turn(&mut self, done: Result<String, ErrorReport>) -> Result<TurnResult, ErrorReport> {
        self.tally.add(self.skill_model.take_tally());
        self.runtime.set_user_message("");
        self.tell_new();
        match done {
            Ok(text) => {
                let TurnUsage {
                    requests, usage, ..
                } = self.tally;
                self.tell(AgentEvent::TurnEnded {
                    text: text.clone(),
                    requests,
                    input_tokens: usage.input,
                    output_tokens: usage.output,
                    cost: self.tally.cost().map(crate::price::shown),
                });
                Ok(TurnResult { text, usage })
            }
            Err(report) => {
                self.tell(AgentEvent::TurnFailed {
                    code: report.code.to_owned(),
                    message: report.message.clone(),
                    hint: report.hint.clone(),
                });
                Err(report)
            }
        }
    }

    /// Asks and calls until the model has finished.
    fn respond(&mut self) -> Result<String, ErrorReport> {
        let mut reminders = 0;
        let mut sent_back = 0;
        loop {
            self.compact()?;
            let answer = self.ask()?;
            let ModelResponse {
                text,
                calls,
                kept,
                stop,
                usage,
            } = answer;
            let taken = AcceptedCalls::new(calls, &stop, self.conversation.call_ids());
            self.pipeline.hear(&text);
            self.record(HistoryRecord::Assistant {
                text: text.clone(),
                calls: taken.calls.clone(),
                kept,
                usage,
            })?;
            if !taken.calls.is_empty() {
                self.run_calls(taken)?;
                continue;
            }
            match stop {
                StopReason::MaxTokens => self.note("the answer reached its token limit and may be incomplete: metier config agent.max_tokens"),
                StopReason::Refusal => self.note("the model, or its provider, declined to answer"),
                _ if text.trim().is_empty() => self.note("the model returned an empty answer"),
                _ => {}
            }
            let missing = self.missing(&text)?;
            if missing.is_empty() {
                let words = self.transformed(text, sent_back > 0)?;
                if let Some((skill, reason)) = words.sent_back {
                    if sent_back < MAX_SENT_BACK {
                        sent_back += 1;
                        self.send_back(&skill, &reason)?;
                        continue;
                    }
                    self.note(format!(
                        "a hook of skill `{skill}` sent the answer back {MAX_SENT_BACK} times; the turn ends"
                    ));
                }
                if let Some(facts) = self.pipeline.facts() {
                    self.note(facts);
                }
                return Ok(words.text);
            }
            self.runtime.refuse(None, "report", &missing.join("; "))?;
            if reminders == MAX_REMINDERS {
                return Err(unfinished(&missing));
            }
            reminders += 1;
            self.note(format!("the answer was sent back: {}", missing.join("; ")));
            self.record(HistoryRecord::User {
                text: format!("[The task is not done: {}.]", missing.join("; ")),
                skills: Vec::new(),
            })?;
        }
    }

    /// The promised results of the set's skills that the answer or the project lacks.
    fn missing(&mut self, answer: &str) -> Result<Vec<String>, ErrorReport> {
        let mut missing = self.pipeline.conclude(answer).err().unwrap_or_default();
        missing.extend(self.unkept_postconditions()?);
        Ok(missing)
    }

    /// One request. Pieces are reported as they arrive, unless a transform has to process them first.
    fn ask(&mut self) -> Result<ModelResponse, ErrorReport> {
        let budget = Arc::clone(&self.shared.budget);
        budget
            .take_request()
            .map_err(|spent| spent_report(&spent))?;
        let request = self.request()?;
        let chosen = self.answering().clone();
        let withheld = self.runtime.handles(HookPhase::AfterResponse);
        self.tally.requests += 1;
        let mut partial = String::new();
        let answer = {
            let (id, depth, listener) = (&self.id, self.depth, &self.shared.listener);
            let tell = |event| {
                listener.hear(&ReportedEvent {
                    session: id.clone(),
                    depth,
                    event,
                });
            };
            let mut told = |delta: ResponseDelta<'_>| match delta {
                ResponseDelta::Text(text) => {
                    partial.push_str(text);
                    if !withheld {
                        tell(AgentEvent::Text { text: text.into() });
                    }
                }
                ResponseDelta::Thinking(text) => tell(AgentEvent::Thinking { text: text.into() }),
                // The call is reported once its arguments are known.
                ResponseDelta::Call { .. } => {}
                ResponseDelta::Again {
                    pause,
                    attempt,
                    of,
                    because,
                } => tell(AgentEvent::Retry {
                    seconds: pause.as_secs_f64(),
                    attempt,
                    of,
                    reason: because.to_string(),
                }),
            };
            chosen
                .model
                .answer(&request, &mut told, &self.shared.cancel)
        };
        match answer {
            Ok(answer) => {
                budget.use_tokens(answer.usage);
                self.tally.answered(answer.usage, chosen.price);
                Ok(answer)
            }
            Err(error) if error.is_unknown_model() && chosen.name != self.configured.name => {
                self.note(format!(
                    "a skill requires the model `{}`, which is not available ({error}); using `{}`",
                    chosen.name, self.configured.name
                ));
                self.chosen = self.configured.clone();
                self.instead = None;
                self.ask()
            }
            Err(error) => {
                self.keep_partial(&error, partial)?;
                Err(ErrorReport::from(&error))
            }
        }
    }

    /// The start of an answer that was cut off: the user has read it, so the model should know it.
    fn keep_partial(&mut self, error: &ModelError, partial: String) -> Result<(), ErrorReport> {
        if partial.trim().is_empty() {
            return Ok(());
        }
        let why = match error {
            ModelError::Cancelled => "stopped by the user",
            _ => "the answer was cut off",
        };
        let partial = calls::cut(partial, calls::MAX_OUTPUT);
        self.record(HistoryRecord::Assistant {
            text: format!("{partial}\n[{why}]"),
            calls: Vec::new(),
            kept: Vec::new(),
            usage: TokenUsage::default(),
        })
    }

    /// The request that the model would get now, built as at the start of a turn. Hooks run; the model is not asked.
    ///
    /// # Errors
    /// When acts of hooks can't be recorded.
    pub fn preview(&mut self) -> Result<ModelRequest, ErrorReport> {
        self.prompt = None;
        self.request()
    }

    /// The system prompt, rebuilt when something changed. A hook that blocks the message of this turn ends the turn here.
    pub(super) fn system_prompt(&mut self) -> Result<Arc<str>, ErrorReport> {
        if let Some(prompt) = &self.prompt {
            return Ok(Arc::clone(prompt));
        }
        let fragments = self.runtime.fragments();
        self.tell_new();
        let fragments = fragments?;
        let prompt: Arc<str> = self.system.with(&fragments).into();
        self.prompt = Some(Arc::clone(&prompt));
        Ok(prompt)
    }

    fn request(&mut self) -> Result<ModelRequest, ErrorReport> {
        let system = self.system_prompt()?;
        let chosen = self.answering();
        Ok(ModelRequest {
            model: chosen.name.model.clone(),
            system,
            messages: self.conversation.messages(),
            tools: self.toolbox.specs(),
            max_tokens: max_tokens(&self.context),
            effort: chosen.effort,
            temperature: None,
        })
    }

    /// The model of this turn.
    fn answering(&self) -> &ChosenModel {
        self.instead.as_ref().unwrap_or(&self.chosen)
    }

    /// The final answer, after all transforms, and whether a hook lets the turn end with it.
    fn transformed(&self, text: String, continued: bool) -> Result<FinalAnswer, ErrorReport> {
        if !self.runtime.handles(HookPhase::AfterResponse) {
            return Ok(FinalAnswer {
                text,
                sent_back: None,
            });
        }
        let words = self.runtime.after_response(&text, continued)?;
        self.tell(AgentEvent::Text {
            text: words.text.clone(),
        });
        Ok(words)
    }

    /// A hook does not let the turn end: the model gets the reason, and continues.
    fn send_back(&mut self, skill: &str, reason: &str) -> Result<(), ErrorReport> {
        self.note(format!(
            "a hook of skill `{skill}` sent the answer back: {reason}"
        ));
        self.record(HistoryRecord::User {
            text: format!(
                "[The task is not done. A hook of skill `{skill}` reports: {}]",
                for_model(reason)
            ),
            skills: Vec::new(),
        })
    }

    /// Records an event, then applies it.
    fn record(&mut self, record: HistoryRecord) -> Result<(), ErrorReport> {
        self.transcript.write(&self.context.now(), &[&record])?;
        self.conversation.apply(record);
        Ok(())
    }

    fn tell(&self, event: AgentEvent) {
        self.shared.listener.hear(&ReportedEvent {
            session: self.id.clone(),
            depth: self.depth,
            event,
        });
    }

    /// Passes on what skills and their hooks reported outside a call.
    fn tell_new(&self) {
        let (_, said) = self.runtime.collect();
        self.tell_said(said);
    }

    fn note(&self, text: impl Into<String>) {
        self.tell(AgentEvent::Note { text: text.into() });
    }

    /// Skills, rules or the role changed: updates the callable tools.
    fn refresh_tools(&mut self) {
        let names = self.system.names.as_deref();
        let servers = Arc::clone(self.context.servers());
        let (contributed, served) = match self.role {
            ConversationRole::Orchestrator => (Vec::new(), &[][..]),
            _ => (self.runtime.tools(), servers.tools()),
        };
        let toolbox = Toolbox::new(contributed, served, self.own_tools(), &self.rules, names);
        let changed = toolbox.names() != self.toolbox.names();
        self.toolbox = toolbox;
        if changed {
            self.tell(AgentEvent::Tools {
                tools: self.toolbox.names(),
            });
        }
    }
}

/// How hard a skill requires the model to think.
fn effort(word: Option<&str>) -> Option<ReasoningEffort> {
    Some(match word? {
        "low" | "minimal" => ReasoningEffort::Low,
        "medium" => ReasoningEffort::Medium,
        "high" | "max" | "xhigh" => ReasoningEffort::High,
        _ => return None,
    })
}

fn unfinished(missing: &[String]) -> ErrorReport {
    let message = format!("the task was not finished: {}", missing.join("; "));
    ErrorReport::new("not-validated", message)
        .hint("check the conversation, then repeat the task with what was missing")
}

fn spent_report(spent: &crate::ExhaustedBudget) -> ErrorReport {
    ErrorReport::new("budget", spent.to_string())
        .hint(format!("raise the limit: metier config {} N", spent.key()))
}

/// A call in its reported form: its arguments, or the text that the model wrote instead.
fn shown_input(call: &ToolCall) -> serde_json::Value {
    match &call.input {
        crate::CallArguments::Object(object) => serde_json::Value::Object(object.clone()),
        crate::CallArguments::Malformed(text) => serde_json::Value::String(text.clone()),
    }
}
