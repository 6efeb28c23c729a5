//! Commands of Claude: a shell command that gets an event and returns a verdict.
//!
//! Each run is an act like any other: it needs `shell:exec` of exactly that command, runs in the sandbox, and leaves a receipt.
//! [`answer`] interprets its output; no output grants anything.

mod answer;

use std::{sync::Arc, time::Duration};

use metier_host::{
    backend::{
        HookChain, HookHandler, OnlyHooks, ProcessEvent, SkillHost, SkillProcess, SkillProcessError,
    },
    child::Exit,
    execution::ActResult,
};
use metier_model::{
    HookPhase,
    hooks::{CommandHook, claude},
    shell,
};
use metier_policy::{Act, CommandLine};
use metier_sdk::wire::{Contributions, HookAnswer, HookHandle, RpcError, code};
use serde_json::{Value, json};

use super::BackendOpening;
use crate::granted_skill::{ActError, GrantedSkill};
use answer::{Judged, Printed, judged};

/// The event whose output stays in the prompt.
const SESSION_START: &str = "SessionStart";

/// The commands of a skill; nothing if it has none.
pub(super) fn open(opening: &BackendOpening<'_>) -> Option<Box<dyn SkillProcess>> {
    let hooks = opening.active.hooks.commands.clone();
    if hooks.is_empty() {
        return None;
    }
    let starts = hooks.iter().any(|hook| hook.event == SESSION_START);
    // The output at the start of the session is part of each prompt.
    let asks = |phase: &HookPhase| {
        hooks.iter().any(|hook| hook.phase == *phase)
            || (starts && *phase == HookPhase::BeforePromptBuild)
    };
    let phases = HookPhase::ALL.into_iter().filter(asks);
    let environment = &opening.runtime.environment;
    let files = opening.active.loaded.held.files.iter();
    Some(Box::new(OnlyHooks(Commands {
        contributions: Contributions {
            hooks: phases.map(Into::into).collect(),
            ..Contributions::default()
        },
        worker: Arc::clone(&opening.active.worker),
        done: vec![false; hooks.len()],
        hooks,
        files: files
            .filter_map(|file| file.path.as_str().map(str::to_owned))
            .collect(),
        project: environment
            .approvals
            .terms
            .project
            .to_string_lossy()
            .into_owned(),
        session: environment.approvals.session.clone(),
        kept: Vec::new(),
        events: Vec::new(),
    })))
}

/// The commands of one skill.
struct Commands {
    worker: Arc<GrantedSkill>,
    hooks: Vec<CommandHook>,
    /// The commands that ran.
    done: Vec<bool>,
    /// The files of the skill.
    files: Vec<String>,
    project: String,
    session: String,
    /// The output of the commands at the start of the session.
    kept: Vec<String>,
    contributions: Contributions,
    events: Vec<ProcessEvent>,
}

impl Commands {
    /// The commands to run now.
    fn asked(&self, phase: HookPhase, event: &Value) -> Vec<usize> {
        let tool = event["tool"].as_str();
        let asked = |(position, hook): &(usize, &CommandHook)| {
            hook.phase == phase
                && tool.is_none_or(|tool| hook.matcher.matches(tool))
                && !(hook.once && self.done[*position])
        };
        let hooks = self.hooks.iter().enumerate();
        hooks.filter(asked).map(|(position, _)| position).collect()
    }

    fn run(
        &self,
        hook: &CommandHook,
        event: &Value,
        left: Duration,
    ) -> Result<Judged, SkillProcessError> {
        let own = hook.timeout.map(Duration::from_secs);
        let limit = own.map_or(left, |own| own.min(left));
        let understood = shell::parse(&hook.command).ok();
        let line = CommandLine::new(
            &hook.command,
            understood.as_ref(),
            &hook.command,
            Vec::new(),
        );
        let line = match self.is_of_the_skill(&hook.command) {
            true => line,
            false => line.in_project(),
        };
        let act = Act::Line(CommandLine {
            stdin: self.input(hook, event).to_string().into_bytes(),
            timeout: Some(limit),
            ..line
        });
        let refused =
            |code: i32, message: String| SkillProcessError::Answered(RpcError::new(code, message));
        let done = self.worker.act(&act).map_err(|failed| match failed {
            ActError::Execution(error) => SkillProcessError::NotStarted(error),
            ActError::Refused(refusal) => refused(code::REFUSED, refusal.message),
            other => refused(code::FAILED, other.to_string()),
        })?;
        let ActResult::Child(ended, _) = done else {
            return Err(SkillProcessError::Protocol("is not a command".to_owned()));
        };
        let stdout = self.worker.clean(&ended.stdout);
        let stderr = self.worker.clean(&ended.stderr);
        match ended.exit {
            Exit::Code(code @ (0 | 2)) => {
                let printed = Printed {
                    blocks: code == 2,
                    stdout: &stdout,
                    stderr: &stderr,
                    cut: ended.truncated,
                };
                Ok(judged(hook, &printed))
            }
            Exit::TimedOut => Err(SkillProcessError::TimedOut(limit)),
            exit => {
                let last = stderr.trim_end().lines().last().unwrap_or_default();
                let last = if last.is_empty() {
                    String::new()
                } else {
                    format!(": {last}")
                };
                let message = format!("`{}`: {exit}{last}", hook.command);
                Err(refused(code::FAILED, message))
            }
        }
    }

    /// Whether a command starts with a file of the skill, relative to its folder: it then runs there.
    fn is_of_the_skill(&self, command: &str) -> bool {
        let first = command.split_whitespace().next().unwrap_or_default();
        let named = first.strip_prefix("./");
        named.is_some_and(|path| self.files.iter().any(|file| file == path))
    }

    /// The input of a command.
    fn input(&self, hook: &CommandHook, event: &Value) -> Value {
        let mut input = json!({
            "session_id": self.session,
            "transcript_path": "",
            "cwd": self.project,
            "permission_mode": "default",
            "hook_event_name": hook.event,
        });
        let tool = event["tool"].as_str().unwrap_or_default();
        let named = claude::claude_names(tool).first().copied();
        match hook.phase {
            HookPhase::BeforeToolCall => {
                input["tool_name"] = named.unwrap_or(tool).into();
                input["tool_input"] = event["input"].clone();
            }
            HookPhase::AfterToolResult => {
                input["tool_name"] = named.unwrap_or(tool).into();
                input["tool_input"] = event["input"].clone();
                input["tool_response"] = event["output"].clone();
            }
            HookPhase::AfterResponse => {
                input["stop_hook_active"] = (event["continued"] == true).into();
                input["last_assistant_message"] = event["text"].clone();
            }
            HookPhase::ConversationStart => input["source"] = "startup".into(),
            HookPhase::BeforePromptBuild => {
                // Some guards use the second name.
                for name in ["prompt", "user_prompt"] {
                    input[name] = event["prompt"].as_str().unwrap_or_default().into();
                }
            }
            HookPhase::Deactivate => input["reason"] = "other".into(),
            _ => {}
        }
        input
    }
}

impl HookHandler for Commands {
    const WHO: &'static str = "commands of hooks";

    fn contributions(&self) -> &Contributions {
        &self.contributions
    }

    fn hook(
        &mut self,
        handle: HookHandle,
        _host: &dyn SkillHost,
        timeout: Duration,
    ) -> Result<HookAnswer, SkillProcessError> {
        let mut round = HookChain::new(handle, timeout);
        let phase = round.phase;
        let mut fragments = match phase {
            HookPhase::BeforePromptBuild => self.kept.clone(),
            _ => Vec::new(),
        };
        for position in self.asked(phase, &round.event) {
            let hook = self.hooks[position].clone();
            self.done[position] = true;
            let Judged {
                input,
                cancel,
                told,
                said,
            } = match self.run(&hook, &round.event, round.left()) {
                Ok(judged) => judged,
                Err(error) => {
                    round.failed(error, &mut self.events);
                    continue;
                }
            };
            round.answered();
            self.events.extend(said.into_iter().map(ProcessEvent::Said));
            if let Some(reason) = cancel {
                return Ok(HookAnswer::cancelled(reason));
            }
            if let Some(input) = input {
                let mut event = round.event.take();
                event["input"] = input;
                round.change(event);
            }
            match (phase, told) {
                (HookPhase::BeforePromptBuild, Some(text)) => fragments.push(text),
                (HookPhase::ConversationStart, Some(text)) => self.kept.push(text),
                _ => {}
            }
        }
        if !fragments.is_empty() && round.event["fragments"].is_array() {
            let mut event = round.event.take();
            if let Some(all) = event["fragments"].as_array_mut() {
                all.extend(fragments.into_iter().map(Value::String));
            }
            round.change(event);
        }
        round.end(&mut self.events)
    }

    fn events(&mut self) -> Vec<ProcessEvent> {
        std::mem::take(&mut self.events)
    }

    fn close(self, _host: &dyn SkillHost, _grace: Duration) -> Vec<ProcessEvent> {
        self.events
    }
}
