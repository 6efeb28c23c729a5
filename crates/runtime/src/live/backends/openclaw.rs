//! Handlers of OpenClaw hooks: their events are raised at our phases, and their changes are applied.
//!
//! The handlers run in an engine that knows nothing about phases: Deno where it is installed, otherwise the embedded one. Both use the
//! same protocol (`openclaw/handle`), so this session does not know which one it uses.

mod event;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use metier_catalog::MachineFacts;
use metier_host::backend::{
    HookChain, HookHandler, OnlyHooks, ProcessEvent, SkillHost, SkillProcess, SkillProcessError,
    read, write,
};
use metier_model::{
    HookPhase, Need,
    hooks::{OpenClawHandler, openclaw},
};
use metier_policy::Facts;
use metier_sdk::wire::{
    Contributions, FailedHandler, HookAnswer, HookHandle, OpenclawAnswer, OpenclawHandle, RpcError,
    code, method,
};

use super::{BackendOpening, handlers, report};
use crate::{approvals::WallClock, live::ActivateError, requests};
use event::{EventSurroundings, TakenChanges, asked, taken};

/// The handlers of a skill in their engine; `None` if none of them can run here.
pub(super) fn open(
    opening: &BackendOpening<'_>,
) -> Result<Option<Box<dyn SkillProcess>>, ActivateError> {
    let mut handlers: Vec<OpenClawHandler> = Vec::new();
    for handler in &opening.active.hooks.handlers {
        match missing(opening, handler) {
            Some(what) => opening
                .active
                .say(format!("its hook `{}` is not run: {what}", handler.name)),
            None => handlers.push(handler.clone()),
        }
    }
    if handlers.is_empty() {
        return Ok(None);
    }
    let files = handlers.iter().map(|handler| handler.file.to_string());
    let files: Vec<String> = files.collect();
    let Some(inner) = report::unloaded(opening, &files, handlers::open(opening, &handlers[..]))?
    else {
        return Ok(None);
    };
    for FailedHandler { handler, reason } in inner.contributions().failed_handlers.clone() {
        if let Some(handler) = handlers.get_mut(handler) {
            let refused = SkillProcessError::Answered(RpcError::new(code::FAILED, reason));
            let refused: Result<(), _> = Err(ActivateError::Session(refused));
            report::unloaded(opening, &[handler.file.to_string()], refused)?;
            // It keeps its position, which identifies it to the engine.
            handler.events.clear();
        }
    }
    let environment = &opening.runtime.environment;
    let phases = HookPhase::ALL.into_iter();
    let asks = |phase: &HookPhase| handlers.iter().any(|one| one.phases().contains(phase));
    Ok(Some(Box::new(OnlyHooks(Handlers {
        contributions: Contributions {
            hooks: phases.filter(asks).map(Into::into).collect(),
            ..Contributions::default()
        },
        inner,
        handlers,
        around: EventSurroundings {
            project: environment
                .approvals
                .terms
                .project
                .to_string_lossy()
                .into_owned(),
            session: environment.approvals.session.clone(),
        },
        clock: Arc::clone(&environment.approvals.clock),
        events: Vec::new(),
    }))))
}

/// An unmet requirement of a handler, for display.
fn missing(opening: &BackendOpening<'_>, handler: &OpenClawHandler) -> Option<String> {
    let environment = &opening.runtime.environment;
    let configured = requests::configured(&environment.config, &opening.active.loaded);
    let setting = |path: &str| environment.config.setting_is_truthy(path);
    let machine = MachineFacts::new(
        environment.host.path.as_deref(),
        BTreeSet::new(),
        &setting,
        None,
    );
    let has_variable = |name: &str| {
        configured.iter().any(|(other, _)| other == name)
            || (environment.variable)(name).is_some_and(|value| !value.is_empty())
    };
    let wants = handler.requirements.iter();
    let mut wants = wants.filter(|_| !handler.always);
    wants.find_map(|want| match &want.need {
        Need::Bin(name) => {
            (!machine.has_program(name)).then(|| format!("the program `{name}` is not installed"))
        }
        Need::AnyBin(names) => (!names.iter().any(|name| machine.has_program(name)))
            .then(|| format!("none of the programs `{}` is installed", names.join("`, `"))),
        Need::Env(name) => {
            (!has_variable(name)).then(|| format!("the variable `{name}` is not set"))
        }
        Need::Config(path) => {
            (!machine.has_setting(path)).then(|| format!("the setting `{path}` is not set"))
        }
        Need::Os(systems) => {
            let is_here = machine.os().is_some_and(|os| systems.contains(&os));
            (!is_here).then(|| "it is for another operating system".to_owned())
        }
        Need::Tool(_) | Need::Skill(_) | Need::Metier(_) => None,
    })
}

/// Handlers of one skill, and the engine that runs them.
struct Handlers {
    inner: Box<dyn SkillProcess>,
    handlers: Vec<OpenClawHandler>,
    contributions: Contributions,
    around: EventSurroundings,
    clock: WallClock,
    events: Vec<ProcessEvent>,
}

/// The handlers that are called at a phase and the event for each, in order: event by event, handlers of the whole kind first.
fn plan(
    handlers: &[OpenClawHandler],
    phase: HookPhase,
) -> Vec<(usize, &'static openclaw::OpenClawEvent)> {
    let mut plan = Vec::new();
    for event in openclaw::EVENTS.iter().filter(|event| event.phase == phase) {
        for general in [true, false] {
            for (position, handler) in handlers.iter().enumerate() {
                if handler.is_general(event.kind) == general
                    && handler.raised(phase).contains(&event)
                {
                    plan.push((position, event));
                }
            }
        }
    }
    plan
}

impl HookHandler for Handlers {
    const WHO: &'static str = "handlers of OpenClaw";

    fn contributions(&self) -> &Contributions {
        &self.contributions
    }

    fn hook(
        &mut self,
        handle: HookHandle,
        host: &dyn SkillHost,
        timeout: Duration,
    ) -> Result<HookAnswer, SkillProcessError> {
        let mut round = HookChain::new(handle, timeout);
        let phase = round.phase;
        for (handler, raised) in plan(&self.handlers, phase) {
            let now = humantime::format_rfc3339_millis((self.clock)()).to_string();
            let asked = asked(raised, &round.event, &self.around, now);
            let answer = write(&OpenclawHandle {
                handler,
                event: asked.clone(),
            })
            .and_then(|params| {
                self.inner
                    .call(method::OPENCLAW, params, host, round.left())
            })
            .and_then(read::<OpenclawAnswer>);
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => {
                    round.failed(error, &mut self.events);
                    continue;
                }
            };
            round.answered();
            let TakenChanges {
                event,
                cancel,
                said,
            } = taken(phase, &round.event, &asked, &answer.event);
            self.events.extend(said.into_iter().map(ProcessEvent::Said));
            if let Some(reason) = cancel {
                return Ok(HookAnswer::cancelled(reason));
            }
            if let Some(event) = event {
                round.change(event);
            }
        }
        round.end(&mut self.events)
    }

    fn events(&mut self) -> Vec<ProcessEvent> {
        let mut events = self.inner.events();
        events.append(&mut self.events);
        events
    }

    fn close(self, host: &dyn SkillHost, grace: Duration) -> Vec<ProcessEvent> {
        let mut events = self.events;
        events.append(&mut self.inner.close(host, grace));
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handler(events: &[&str]) -> OpenClawHandler {
        OpenClawHandler {
            name: "h".into(),
            file: "handler.ts".into(),
            export: "default".into(),
            events: events.iter().map(|event| (*event).into()).collect(),
            requirements: Vec::new(),
            always: false,
        }
    }

    #[test]
    fn those_for_a_whole_kind_are_asked_before_those_for_one_event() {
        let handlers = [
            handler(&["agent:bootstrap"]),
            handler(&["agent"]),
            handler(&["message:received", "agent:bootstrap"]),
            handler(&["command:new"]),
        ];
        let plan: Vec<(usize, &str)> = plan(&handlers, HookPhase::BeforePromptBuild)
            .into_iter()
            .map(|(position, event)| (position, event.kind))
            .collect();
        assert_eq!(
            plan,
            [(2, "message"), (1, "agent"), (0, "agent"), (2, "agent")]
        );
    }
}
