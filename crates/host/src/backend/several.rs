//! Several sessions as one: a skill that has code of its own, and hooks in the ways of others besides.
//!
//! Whoever contributed a tool, a workflow or a scanner answers for it. A hook goes through all that asked for its phase, in order: each
//! sees the event as the one before left it, and the first that cancels ends it. One that fails is told of, and the others go
//! on, unless it is one whose failure must count.

use std::time::Duration;

use metier_sdk::{
    HookPhase,
    wire::{Contributions, HookAnswer, HookHandle, HookSpec, method},
};
use serde_json::Value;

use super::{Event, Host, Round, Session, SessionError, read, write};

/// Several sessions as one.
pub struct Several<'a> {
    members: Vec<Box<dyn Session + 'a>>,
    contributions: Contributions,
    events: Vec<Event>,
}

impl<'a> Several<'a> {
    /// These, in the order in which hooks go through them. A single one stays what it is; none is none.
    #[must_use]
    pub fn of(mut members: Vec<Box<dyn Session + 'a>>) -> Option<Box<dyn Session + 'a>> {
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

    /// Lets a hook go through all that asked for it.
    fn hook(
        &mut self,
        params: Value,
        host: &dyn Host,
        timeout: Duration,
    ) -> Result<Value, SessionError> {
        let mut round = Round::new(read(params)?, timeout);
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

    /// Whoever contributed what the parameters name.
    fn owner(&mut self, named: &str, params: &Value) -> Option<&mut Box<dyn Session + 'a>> {
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

impl Session for Several<'_> {
    fn contributions(&self) -> &Contributions {
        &self.contributions
    }

    fn call(
        &mut self,
        named: &str,
        params: Value,
        host: &dyn Host,
        timeout: Duration,
    ) -> Result<Value, SessionError> {
        if named == method::HOOK {
            return self.hook(params, host, timeout);
        }
        let Some(owner) = self.owner(named, &params) else {
            return Err(SessionError::Protocol(format!(
                "has no handler for `{named}`"
            )));
        };
        owner.call(named, params, host, timeout)
    }

    fn events(&mut self) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.events);
        for member in &mut self.members {
            events.append(&mut member.events());
        }
        events
    }

    fn close(self: Box<Self>, host: &dyn Host, grace: Duration) -> Vec<Event> {
        let mut events = self.events;
        for member in self.members {
            events.append(&mut member.close(host, grace));
        }
        events
    }
}

/// An answer whose event is one: whoever comes next would be asked about it.
fn an_event(answer: HookAnswer) -> Result<HookAnswer, SessionError> {
    match &answer.event {
        Some(event) if !event.is_object() => Err(SessionError::Protocol(
            "returned something that is not an event from a hook".to_owned(),
        )),
        _ => Ok(answer),
    }
}

fn asked(contributions: &Contributions, phase: HookPhase) -> Option<HookSpec> {
    let mut hooks = contributions.hooks.iter();
    hooks.find(|hook| hook.phase() == phase).copied()
}

/// All that they contribute; each phase once, and with the failure that must count, if one of them says so.
fn merged(members: &[Box<dyn Session + '_>]) -> Contributions {
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
#[path = "several_tests.rs"]
mod tests;
