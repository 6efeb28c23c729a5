//! The tools that a model calls: each is checked, and always answered.
//!
//! Every call gets a result, even a refused one: a model without one stops, and no provider accepts the conversation. Output
//! of tools is untrusted: none of our frames starts or ends in it, and the total leaves space in the model's window.
//! Sub-agents start first, each on its own thread; the other calls of the same answer are made meanwhile, in order.

use std::thread;
use std::time::Instant;

use metier_catalog::{ProjectLimits, ProjectState, Resource};
use metier_model::SkillContext;
use metier_model::model_text::for_model;
use metier_runtime::live::{CallError, Called, PlannedCall, SkillLine};
use serde_json::{Map, Value};

use super::{
    AgentConversation,
    accepted_calls::AcceptedCalls,
    activation::{model_runs_workflow, reason},
    shown_input, spent_report,
    subagent::Subagent,
};
use crate::builtin_tools::{self, BuiltinTool};
use crate::event::{ActivatedBy, AgentEvent};
use crate::pipeline::CodingCall;
use crate::rules::{ForbiddenTool, RequestedTool};
use crate::toolbox::ToolTarget;
use crate::{CallArguments, ErrorReport, HistoryRecord, ToolCall};

/// The maximum output of one call for the model.
pub(super) const MAX_OUTPUT: usize = 60_000;
/// The least output that each call may have, when many tools are called together.
const MIN_OUTPUT: usize = 1_000;
/// The maximum size of a skill's file.
const MAX_RESOURCE: u64 = 1 << 20;
/// Maximum number of sub-agents that run at once.
const AT_ONCE: usize = 4;
/// How many tools are named when one is unknown.
const MAX_NAMED: usize = 40;

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CallOutcome {
    pub(super) output: String,
    pub(super) is_error: bool,
    /// The skill whose text this is.
    pub(super) skill: Option<String>,
}

impl CallOutcome {
    pub(super) fn well(output: impl Into<String>) -> Self {
        Self {
            output: output.into(),
            ..Self::default()
        }
    }

    pub(super) fn badly(output: impl Into<String>) -> Self {
        Self {
            output: output.into(),
            is_error: true,
            skill: None,
        }
    }
}

impl From<ErrorReport> for CallOutcome {
    fn from(report: ErrorReport) -> Self {
        let hint = report.hint.map(|hint| format!("\nhint: {hint}"));
        Self::badly(format!("{}{}", report.message, hint.unwrap_or_default()))
    }
}

/// The decision about a call.
enum CallJob {
    /// No call: this is the result.
    Answer(CallOutcome),
    /// It is refused, for this reason.
    Refused(ForbiddenTool, Option<String>),
    /// A sub-agent that is not started, with all errors.
    Rejected(ErrorReport),
    /// The program runs it.
    Own(BuiltinTool, Map<String, Value>),
    /// A skill runs it.
    Skill {
        skill: String,
        short: String,
        input: Map<String, Value>,
    },
    /// A server runs it.
    Server(Map<String, Value>),
    /// A sub-agent runs it.
    Child(Box<Subagent>),
}

impl AgentConversation {
    /// Returns results for all calls of one answer. For the calls beyond the limit the model gets only their number.
    pub(super) fn run_calls(&mut self, taken: AcceptedCalls) -> Result<(), ErrorReport> {
        let AcceptedCalls {
            calls,
            surplus,
            is_cut,
        } = taken;
        // Half of the window is for their output: two bytes for each of its tokens.
        let room = self.window().saturating_mul(2) / calls.len().max(1);
        self.room = room.clamp(MIN_OUTPUT, MAX_OUTPUT);
        let mut spent = None;
        let mut jobs: Vec<(ToolCall, CallJob)> = Vec::new();
        for call in calls {
            self.tell(AgentEvent::ToolCall {
                id: call.id.clone(),
                tool: call.name.clone(),
                input: shown_input(&call),
            });
            let job = match self.shared.budget.take_call() {
                Ok(()) => self.judge_call(&call)?,
                Err(none_left) => {
                    spent = Some(none_left);
                    CallJob::Answer(CallOutcome::badly(format!("not run: {none_left}")))
                }
            };
            jobs.push((call, job));
        }
        if surplus > 0 {
            self.note(format!(
                "the model called {} tools at once; only the first {} were run",
                jobs.len() + surplus,
                jobs.len()
            ));
            if let Some((_, last)) = jobs.last_mut() {
                let more = format!("and {surplus} further calls were not run: call fewer at once");
                *last = CallJob::Answer(CallOutcome::badly(format!("not run, {more}")));
            }
        }
        if is_cut && let Some((_, last)) = jobs.last_mut() {
            self.note("the answer reached its token limit in a tool call, which was not run: metier config agent.max_tokens");
            let cut = "not run: the answer reached its token limit in this call. Call it again with shorter arguments";
            *last = CallJob::Answer(CallOutcome::badly(cut));
        }
        self.run_jobs(jobs)?;
        if self.shared.cancel.is_cancelled() {
            return Err(ErrorReport::new("cancelled", "cancelled"));
        }
        match spent {
            Some(spent) => Err(spent_report(&spent)),
            None => Ok(()),
        }
    }

    fn run_jobs(&mut self, jobs: Vec<(ToolCall, CallJob)>) -> Result<(), ErrorReport> {
        let (children, others): (Vec<_>, Vec<_>) = jobs
            .into_iter()
            .partition(|(_, job)| matches!(job, CallJob::Child(_)));
        let mut children = children.into_iter().filter_map(|(call, job)| match job {
            CallJob::Child(child) => Some((call, child)),
            _ => None,
        });
        let mut others = Some(others);
        loop {
            let batch: Vec<_> = children.by_ref().take(AT_ONCE).collect();
            let now = others.take().unwrap_or_default();
            if batch.is_empty() && now.is_empty() {
                return Ok(());
            }
            thread::scope(|scope| {
                let mut running = Vec::new();
                for (call, child) in batch {
                    self.announce(&child);
                    self.record(HistoryRecord::Began {
                        id: call.id.clone(),
                    })?;
                    let start = Instant::now();
                    running.push((call, start, scope.spawn(move || child.run())));
                }
                let ahead = self.begin_together(&now)?;
                for (call, job) in now {
                    // Checked again, because other calls matter: a loaded skill can forbid it, a delivered result can allow it.
                    let job = match job {
                        CallJob::Answer(_) | CallJob::Rejected(_) => job,
                        _ => self.judge_call(&call)?,
                    };
                    self.run_job(&call, job, ahead.contains(&call.id))?;
                }
                for (call, start, thread) in running {
                    let done = thread.join();
                    let done = done
                        .unwrap_or_else(|_| CallOutcome::badly("the sub-agent ended unexpectedly"));
                    self.answer(&call, done, start)?;
                }
                Ok::<(), ErrorReport>(())
            })?;
        }
    }

    /// Starts tools of different skills together, if the runtime allows it; returns which calls were started.
    fn begin_together(&mut self, jobs: &[(ToolCall, CallJob)]) -> Result<Vec<String>, ErrorReport> {
        let inputs: Vec<(&str, &str, &str, Value)> = jobs
            .iter()
            .filter_map(|(call, job)| match job {
                CallJob::Skill {
                    skill,
                    short,
                    input,
                } => Some((
                    call.id.as_str(),
                    skill.as_str(),
                    short.as_str(),
                    Value::Object(input.clone()),
                )),
                _ => None,
            })
            .collect();
        let loads = |(_, job): &(ToolCall, CallJob)| {
            matches!(job, CallJob::Own(BuiltinTool::ActivateSkill, _))
        };
        // The changed files can be determined for one call at a time only.
        let is_watched = |(id, skill, short, _): &(&str, &str, &str, Value)| {
            let name = jobs.iter().find(|(call, _)| call.id == *id);
            self.pipeline.watches(RequestedTool {
                name: name.map_or(short, |(call, _)| &call.name),
                short,
                skill: Some(skill),
            })
        };
        if inputs.len() < 2 || jobs.iter().any(loads) || inputs.iter().any(is_watched) {
            return Ok(Vec::new());
        }
        let is_alone = |skill: &str| inputs.iter().filter(|(_, of, ..)| *of == skill).count() == 1;
        // Recorded before any tool starts: after a crash it is unknown which of them ran. The others start in their turn.
        for (id, skill, ..) in inputs.iter().skip(1) {
            if is_alone(skill) {
                self.record(HistoryRecord::Began {
                    id: (*id).to_owned(),
                })?;
            }
        }
        let planned: Vec<PlannedCall<'_>> = inputs
            .iter()
            .map(|(_, skill, tool, input)| PlannedCall { skill, tool, input })
            .collect();
        let began = self.runtime.begin_together(&planned);
        let began = inputs.iter().zip(began).filter(|(_, began)| *began);
        Ok(began.map(|((id, ..), _)| (*id).to_owned()).collect())
    }

    /// Whether a call is allowed, and who runs it. Nothing runs yet.
    fn judge_call(&self, call: &ToolCall) -> Result<CallJob, ErrorReport> {
        let CallArguments::Object(input) = &call.input else {
            let wrong = "the arguments are not a JSON object; nothing was run. Call it again with arguments that match its schema";
            return Ok(CallJob::Answer(CallOutcome::badly(wrong)));
        };
        let Some(target) = self.toolbox.target(&call.name) else {
            return Ok(self.unknown(&call.name));
        };
        let wanted = target.wanted(&call.name);
        if let Err(forbidden) = self.permit(wanted, input) {
            let skill = wanted.skill.map(str::to_owned);
            return Ok(CallJob::Refused(forbidden, skill));
        }
        if let Err(not_yet) = self.pipeline.admit(wanted, &arguments(input)) {
            let forbidden = ForbiddenTool {
                tool: call.name.clone(),
                by: not_yet.by().map(str::to_owned),
                reason: not_yet.to_string(),
            };
            return Ok(CallJob::Refused(forbidden, wanted.skill.map(str::to_owned)));
        }
        match target {
            ToolTarget::Own(own) => self.judge_own(*own, input.clone()),
            ToolTarget::Skill { skill, short } => Ok(CallJob::Skill {
                skill: skill.clone(),
                short: short.clone(),
                input: input.clone(),
            }),
            ToolTarget::Server { .. } => Ok(CallJob::Server(input.clone())),
        }
    }

    /// Whether the rules allow a call with this input.
    fn permit(
        &self,
        wanted: RequestedTool<'_>,
        input: &Map<String, Value>,
    ) -> Result<(), ForbiddenTool> {
        let mut arguments = arguments(input).into_iter();
        arguments.try_for_each(|argument| self.rules.permit(wanted, argument))
    }

    /// An unknown name. In a sub-agent with a set it is refused like any tool outside the set.
    fn unknown(&self, name: &str) -> CallJob {
        let wanted = RequestedTool {
            name,
            short: name,
            skill: None,
        };
        if self.rules.is_confined()
            && let Err(forbidden) = self.rules.permit(wanted, "")
        {
            return CallJob::Refused(forbidden, None);
        }
        let there = self.toolbox.names();
        let there = match there.len() {
            0 => "there are no tools".to_owned(),
            more if more > MAX_NAMED => {
                format!("there are {}, …", there[..MAX_NAMED].join(", "))
            }
            _ => format!("there are {}", there.join(", ")),
        };
        let name = metier_model::text::visible(name);
        CallJob::Answer(CallOutcome::badly(format!(
            "there is no tool `{name}`; {there}"
        )))
    }

    /// Some of the program's own tools start a sub-agent.
    fn judge_own(
        &self,
        own: BuiltinTool,
        input: Map<String, Value>,
    ) -> Result<CallJob, ErrorReport> {
        let child = match own {
            BuiltinTool::SessionsSpawn => match builtin_tools::read(input) {
                Err(wrong) => return Ok(CallJob::Answer(misread(&wrong))),
                Ok(spawn) => {
                    return Ok(match Subagent::spawn(self, spawn) {
                        Ok(child) => CallJob::Child(Box::new(child)),
                        Err(report) => CallJob::Rejected(report),
                    });
                }
            },
            BuiltinTool::ActivateSkill => {
                let wanted: builtin_tools::ActivateInput = match builtin_tools::read(input.clone())
                {
                    Err(wrong) => return Ok(CallJob::Answer(misread(&wrong))),
                    Ok(wanted) => wanted,
                };
                match self.read(&wanted.name, ActivatedBy::Model) {
                    Err(report) => return Ok(CallJob::Answer(report.into())),
                    Ok(skill) if model_runs_workflow(&skill.manifest, &wanted.arguments) => {
                        return Ok(self.judge_workflow(&skill.entry.name(), &wanted, input));
                    }
                    Ok(skill) if skill.manifest.invocation.context != SkillContext::Fork => {
                        return Ok(CallJob::Own(own, input));
                    }
                    Ok(skill) => Subagent::fork(self, &skill, &wanted.arguments),
                }
            }
            _ => return Ok(CallJob::Own(own, input)),
        };
        Ok(match child {
            Ok(child) => CallJob::Child(Box::new(child)),
            Err(report) => CallJob::Answer(report.into()),
        })
    }

    /// A workflow that a model starts is checked like a tool with the name of its skill: it is code that runs because a model
    /// requested it.
    fn judge_workflow(
        &self,
        skill: &str,
        wanted: &builtin_tools::ActivateInput,
        input: Map<String, Value>,
    ) -> CallJob {
        // Its own allow-list is for other tools, not for its own workflow.
        let mut rules = self.rules.clone();
        rules.widen(skill);
        let workflow = RequestedTool {
            name: skill,
            short: skill,
            skill: Some(skill),
        };
        match rules.permit(workflow, &wanted.arguments) {
            Ok(()) => CallJob::Own(BuiltinTool::ActivateSkill, input),
            Err(forbidden) => CallJob::Refused(forbidden, Some(skill.to_owned())),
        }
    }

    /// Makes a call, or returns why not. A call that was started early is always completed, if only to end it.
    fn run_job(&mut self, call: &ToolCall, job: CallJob, ahead: bool) -> Result<(), ErrorReport> {
        let start = Instant::now();
        if self.shared.cancel.is_cancelled() && !ahead {
            let stopped = CallOutcome::badly("not run: the user stopped the turn");
            return self.answer(call, stopped, start);
        }
        let outcome = match job {
            CallJob::Answer(outcome) => outcome,
            CallJob::Refused(forbidden, skill) => {
                self.runtime
                    .refuse(skill.as_deref(), &forbidden.tool, &forbidden.reason)?;
                self.tell(AgentEvent::ToolRefused {
                    id: call.id.clone(),
                    tool: forbidden.tool.clone(),
                    reason: forbidden.reason.clone(),
                });
                return self.conclude(call, CallOutcome::badly(forbidden.to_string()));
            }
            CallJob::Rejected(report) => {
                self.runtime.refuse(None, &call.name, &report.message)?;
                report.into()
            }
            CallJob::Own(own, input) => {
                self.record(HistoryRecord::Began {
                    id: call.id.clone(),
                })?;
                self.run_own(own, input)
            }
            CallJob::Skill {
                skill,
                short,
                input,
            } => {
                self.record(HistoryRecord::Began {
                    id: call.id.clone(),
                })?;
                self.run_skill(&call.name, &skill, &short, input)
            }
            CallJob::Server(input) => {
                self.record(HistoryRecord::Began {
                    id: call.id.clone(),
                })?;
                self.run_served(&call.name, input)
            }
            // Usually those run elsewhere; this one was checked again.
            CallJob::Child(child) => child.run(),
        };
        if self.runtime.take_restarted() {
            self.refresh_tools();
        }
        self.answer(call, outcome, start)
    }

    fn run_skill(
        &mut self,
        name: &str,
        skill: &str,
        short: &str,
        input: Map<String, Value>,
    ) -> CallOutcome {
        let wanted = RequestedTool {
            name,
            short,
            skill: Some(skill),
        };
        if let Err(report) = self.check_preconditions(skill) {
            return report.into();
        }
        // A hook may have changed its input: the approval was for the original one.
        let may = |changed: &Value| {
            let changed = changed.as_object().ok_or("it is not a JSON object")?;
            let permitted = self.permit(wanted, changed);
            permitted.map_err(|forbidden| forbidden.reason)?;
            let admitted = self.pipeline.admit(wanted, &arguments(changed));
            admitted.map_err(|not_yet| not_yet.to_string())
        };
        let input = Value::Object(input);
        let before = self.pipeline.watches(wanted).then(|| self.project_state());
        let done = self.runtime.call_within(skill, short, &input, &may);
        let made = done.as_ref().ok().and_then(|called| called.made());
        if let Some(made) = made {
            let given = input.as_object().map(arguments);
            let given = given.unwrap_or_default();
            self.pipeline.deliver(wanted, &given, made);
        }
        if let Some(before) = before {
            let seen = CodingCall {
                criterion: input["criterion"].as_str().map(str::to_owned),
                output: made.cloned(),
                before,
                after: self.project_state(),
            };
            self.pipeline.watched(wanted, seen);
        }
        self.outcome(done)
    }

    /// The model's result of a call, after the messages of skills were passed on.
    fn outcome(&mut self, done: Result<Called, CallError>) -> CallOutcome {
        match done {
            Err(error) => CallOutcome::badly(error.to_string()),
            Ok(called) => {
                self.tell_said(called.said);
                CallOutcome {
                    output: shown(&called.output),
                    is_error: called.is_error,
                    skill: None,
                }
            }
        }
    }

    /// A tool of a server: hooks, permission and receipts are the runtime's.
    fn run_served(&mut self, name: &str, input: Map<String, Value>) -> CallOutcome {
        let servers = std::sync::Arc::clone(self.context.servers());
        let mut tools = servers.tools().iter();
        let Some(tool) = tools.find(|tool| tool.full_name() == name) else {
            return CallOutcome::badly(format!("there is no tool `{name}`"));
        };
        let owner = tool.owner();
        let wanted = RequestedTool {
            name,
            short: tool.name(),
            skill: Some(&owner),
        };
        let may = |changed: &Value| {
            let changed = changed.as_object().ok_or("it is not a JSON object")?;
            let permitted = self.permit(wanted, changed);
            permitted.map_err(|forbidden| forbidden.reason)?;
            let admitted = self.pipeline.admit(wanted, &arguments(changed));
            admitted.map_err(|not_yet| not_yet.to_string())
        };
        let cancel = &self.shared.cancel;
        let call = |input: &Value| servers.call(tool, input, cancel);
        let input = Value::Object(input);
        let done = self.runtime.call_served(tool, &input, &may, &call);
        self.outcome(done)
    }

    /// The current files of the project.
    fn project_state(&self) -> ProjectState {
        let project = &self.runtime.environment().approvals.terms.project;
        ProjectState::now(project, ProjectLimits::default())
    }

    fn run_own(&mut self, own: BuiltinTool, input: Map<String, Value>) -> CallOutcome {
        let inventory = self.context.inventory();
        let done = match own {
            BuiltinTool::ListSkills => Ok(CallOutcome::well(builtin_tools::list(inventory))),
            BuiltinTool::SearchSkills => {
                builtin_tools::read(input).map(|wanted: builtin_tools::SearchInput| {
                    CallOutcome::well(builtin_tools::search(&self.context, &wanted.query))
                })
            }
            BuiltinTool::ActivateSkill => {
                builtin_tools::read(input).map(|wanted| self.activate(&wanted))
            }
            BuiltinTool::ReadSkillResource => {
                builtin_tools::read(input).map(|wanted| self.read_resource(&wanted))
            }
            // Checked before, and run on its own thread.
            BuiltinTool::SessionsSpawn => Err("it needs a task".to_owned()),
        };
        done.unwrap_or_else(|wrong| misread(&wrong))
    }

    fn activate(&mut self, wanted: &builtin_tools::ActivateInput) -> CallOutcome {
        let skill = match self.read(&wanted.name, ActivatedBy::Model) {
            Ok(skill) => skill,
            Err(report) => return report.into(),
        };
        if model_runs_workflow(&skill.manifest, &wanted.arguments) {
            let done = self.run_workflow(&skill, &wanted.arguments, ActivatedBy::Model);
            return done.map_or_else(CallOutcome::from, CallOutcome::well);
        }
        let by = ActivatedBy::Model;
        match self.take_in(&skill, &wanted.arguments, by, reason(by)) {
            Err(report) => report.into(),
            Ok(loaded) => match loaded.text {
                None => CallOutcome::well(format!(
                    "skill `{}` is already loaded; its text is above",
                    wanted.name
                )),
                Some(text) => CallOutcome {
                    output: text.text,
                    is_error: false,
                    skill: Some(text.skill),
                },
            },
        }
    }

    fn read_resource(&self, wanted: &builtin_tools::ReadResourceInput) -> CallOutcome {
        let skill = match self.read(&wanted.name, ActivatedBy::Model) {
            Ok(skill) => skill,
            Err(report) => return report.into(),
        };
        match skill.held.resource(&wanted.path, MAX_RESOURCE) {
            Ok(Resource::Text(text)) => CallOutcome::well(text),
            Ok(Resource::Binary(bytes)) => CallOutcome::badly(format!(
                "`{}` is not text ({} bytes)",
                metier_model::text::visible(&wanted.path),
                bytes.len()
            )),
            Err(error) => CallOutcome::badly(error.to_string()),
        }
    }

    /// Reports a result, and adds it to the conversation.
    fn answer(
        &mut self,
        call: &ToolCall,
        outcome: CallOutcome,
        start: Instant,
    ) -> Result<(), ErrorReport> {
        let outcome = CallOutcome {
            // A skill is never truncated here: half of an instruction is a different instruction.
            output: match outcome.skill {
                Some(_) => outcome.output,
                None => for_model(&cut(outcome.output, self.room)).into_owned(),
            },
            ..outcome
        };
        let told = AgentEvent::ToolResult {
            id: call.id.clone(),
            tool: call.name.clone(),
            output: outcome.output.clone(),
            is_error: outcome.is_error,
            ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        self.conclude(call, outcome)?;
        self.tell(told);
        Ok(())
    }

    /// Records an answer.
    fn conclude(&mut self, call: &ToolCall, outcome: CallOutcome) -> Result<(), ErrorReport> {
        self.record(HistoryRecord::Result {
            id: call.id.clone(),
            name: call.name.clone(),
            output: outcome.output,
            is_error: outcome.is_error,
            skill: outcome.skill,
        })
    }

    /// Lines that skills logged.
    pub(super) fn tell_said(&self, said: Vec<SkillLine>) {
        for line in said {
            self.note(line.to_string());
        }
    }
}

/// The values of a call that a rule with brackets can mean: the command, the file, the address. Only the tool knows which of them
/// it uses, so the rule has to hold for each. A value that is not a string could be anything, which the empty string represents.
fn arguments(input: &Map<String, Value>) -> Vec<&str> {
    let keys = ["command", "path", "file_path", "url", "name"];
    let there = keys.iter().filter_map(|key| input.get(*key));
    let there = there.filter(|value| !value.is_null());
    let mut found: Vec<&str> = there
        .map(|value| value.as_str().unwrap_or_default())
        .collect();
    if found.is_empty() {
        found.push("");
    }
    found
}

fn misread(wrong: &str) -> CallOutcome {
    CallOutcome::badly(format!("invalid arguments: {wrong}; nothing was run"))
}

/// A string unchanged, any other value as JSON.
pub(super) fn shown(output: &Value) -> String {
    match output {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The start of a long text, and how much is missing.
pub(super) fn cut(output: String, most: usize) -> String {
    if output.len() <= most {
        return output;
    }
    let end = output.floor_char_boundary(most);
    let missing = output.len() - end;
    format!("{}\n[cut: {missing} more bytes]", &output[..end])
}
