//! Several sessions as one: a skill with its own code and with hooks in the formats of other agents.
//!
//! The session that contributed a tool, a workflow or a scanner handles it. A hook is passed to all sessions with its phase, in order: each
//! gets the event as the previous one left it, and the first that cancels ends it. A session that fails is reported, and the others
//! continue, unless its hook is `fail_closed`.

use std::time::Duration;

use metier_sdk::{
    HookPhase,
    wire::{Contributions, HookAnswer, HookHandle, HookSpec, method},
};
use serde_json::Value;

use super::{HookChain, ProcessEvent, SkillHost, SkillProcess, SkillProcessError, read, write};

/// Several sessions as one.
pub struct CombinedProcess<'a> {
    members: Vec<Box<dyn SkillProcess + 'a>>,
    contributions: Contributions,
    events: Vec<ProcessEvent>,
}

impl<'a> CombinedProcess<'a> {
    /// Joins sessions, in the order in which they get hooks. A single session is returned unchanged; an empty list gives no session.
    #[must_use]
    pub fn of(mut members: Vec<Box<dyn SkillProcess + 'a>>) -> Option<Box<dyn SkillProcess + 'a>> {
        if members.len() < 2 {
            return members.pop();
        }
        let contributions = merged(&members);
        Some(Box::new(Self {
            members,
            contributions,
            events: Vec::new(),
        }))
    }

    /// Passes a hook to all sessions with its phase.
    fn hook(
        &mut self,
        params: Value,
        host: &dyn SkillHost,
        timeout: Duration,
    ) -> Result<Value, SkillProcessError> {
        let mut round = HookChain::new(read(params)?, timeout);
        let phase = round.phase;
        for member in &mut self.members {
            let Some(spec) = asked(member.contributions(), phase) else {
                continue;
            };
            let params = write(&HookHandle {
                phase,
                event: round.event.clone(),
            })?;
            let answer = member
                .call(method::HOOK, params, host, round.left())
                .and_then(read::<HookAnswer>)
                .and_then(an_event);
            match answer {
                Ok(answer) if answer.cancel.is_some() => return write(&answer),
                Ok(answer) => {
                    round.answered();
                    if let Some(next) = answer.event {
                        round.change(next);
                    }
                }
                Err(error) if spec.fail_closed() => return Err(error),
                Err(error) => round.failed(error, &mut self.events),
            }
        }
        write(&round.end(&mut self.events)?)
    }

    /// The session that contributed what the parameters name.
    fn owner(&mut self, named: &str, params: &Value) -> Option<&mut Box<dyn SkillProcess + 'a>> {
        let name = params["name"].as_str().unwrap_or_default();
        self.members.iter_mut().find(|member| {
            let all = member.contributions();
            match named {
                method::TOOL => all.tools.iter().any(|tool| tool.name == name),
                method::WORKFLOW => all.workflows.iter().any(|flow| flow.name == name),
                method::SCANNER => all.scanners.iter().any(|scanner| scanner.name == name),
                _ => false,
            }
        })
    }
}

impl SkillProcess for CombinedProcess<'_> {
    fn contributions(&self) -> &Contributions {
        &self.contributions
    }

    fn call(
        &mut self,
        named: &str,
        params: Value,
        host: &dyn SkillHost,
        timeout: Duration,
    ) -> Result<Value, SkillProcessError> {
        if named == method::HOOK {
            return self.hook(params, host, timeout);
        }
        let Some(owner) = self.owner(named, &params) else {
            return Err(SkillProcessError::Protocol(format!(
                "has no handler for `{named}`"
            )));
        };
        owner.call(named, params, host, timeout)
    }

    fn events(&mut self) -> Vec<ProcessEvent> {
        let mut events = std::mem::take(&mut self.events);
        for member in &mut self.members {
            events.append(&mut member.events());
        }
        events
    }

    fn close(self: Box<Self>, host: &dyn SkillHost, grace: Duration) -> Vec<ProcessEvent> {
        let mut events = self.events;
        for member in self.members {
            events.append(&mut member.close(host, grace));
        }
        events
    }
}

/// Checks that the event of an answer is an object, as the next session requires.
fn an_event(answer: HookAnswer) -> Result<HookAnswer, SkillProcessError> {
    match &answer.event {
        Some(event) if !event.is_object() => Err(SkillProcessError::Protocol(
            "returned a hook result that is not an event".to_owned(),
        )),
        _ => Ok(answer),
    }
}

fn asked(contributions: &Contributions, phase: HookPhase) -> Option<HookSpec> {
    let mut hooks = contributions.hooks.iter();
    hooks.find(|hook| hook.phase() == phase).copied()
}

/// The contributions of all sessions; each phase once, and `fail_closed` if one session sets it.
fn merged(members: &[Box<dyn SkillProcess + '_>]) -> Contributions {
    let mut all = Contributions::default();
    for member in members {
        let Contributions {
            tools,
            hooks,
            workflows,
            scanners,
            manifest,
            failed_handlers: _,
        } = member.contributions().clone();
        all.manifest = all.manifest.or(manifest);
        all.tools.extend(tools);
        all.workflows.extend(workflows);
        all.scanners.extend(scanners);
        for hook in hooks {
            match all.hooks.iter_mut().find(|one| one.phase() == hook.phase()) {
                Some(one) if hook.fail_closed() => *one = hook,
                Some(_) => {}
                None => all.hooks.push(hook),
            }
        }
    }
    all
}

#[cfg(test)]
#[path = "combined_tests.rs"]
mod tests;
