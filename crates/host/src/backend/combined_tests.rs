//! Several sessions as one, with scripted members.

use std::sync::{Arc, Mutex};

use metier_sdk::wire::{HostRequest, RpcError, ToolSpec};
use serde_json::json;

use super::*;

struct NoHost;

impl SkillHost for NoHost {
    fn ask(&self, _: HostRequest) -> Result<Value, RpcError> {
        Ok(Value::Null)
    }
}

/// How a member reacts to a hook.
#[derive(Clone, Copy)]
enum Does {
    Append,
    Cancel,
    Fail,
}

struct Member {
    name: &'static str,
    does: Does,
    contributions: Contributions,
    heard: Arc<Mutex<Vec<String>>>,
}

impl SkillProcess for Member {
    fn contributions(&self) -> &Contributions {
        &self.contributions
    }

    fn call(
        &mut self,
        named: &str,
        params: Value,
        _: &dyn SkillHost,
        _: Duration,
    ) -> Result<Value, SkillProcessError> {
        self.heard
            .lock()
            .unwrap()
            .push(format!("{} {named}", self.name));
        if named != method::HOOK {
            return Ok(json!({ "output": self.name }));
        }
        match self.does {
            Does::Append => {
                let mut event = params["event"].clone();
                event["trail"]
                    .as_array_mut()
                    .unwrap()
                    .push(self.name.into());
                Ok(json!({ "event": event }))
            }
            Does::Cancel => Ok(json!({ "cancel": { "reason": self.name } })),
            Does::Fail => Err(SkillProcessError::Protocol(format!("{} failed", self.name))),
        }
    }

    fn events(&mut self) -> Vec<ProcessEvent> {
        vec![ProcessEvent::Said(self.name.to_owned())]
    }

    fn close(self: Box<Self>, _: &dyn SkillHost, _: Duration) -> Vec<ProcessEvent> {
        self.heard
            .lock()
            .unwrap()
            .push(format!("{} closed", self.name));
        vec![ProcessEvent::Ended]
    }
}

const PHASE: HookPhase = HookPhase::BeforeToolCall;

/// Several members, each with a hook and a tool with its name, and the calls that they got.
fn several(
    members: &[(&'static str, Does, bool)],
) -> (Box<dyn SkillProcess>, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::default());
    let members = members.iter().map(|&(name, does, fail_closed)| {
        let spec = HookSpec::Full {
            phase: PHASE,
            fail_closed,
        };
        let tool = ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            input_schema: json!({}),
        };
        let contributions = Contributions {
            hooks: vec![spec],
            tools: vec![tool],
            ..Contributions::default()
        };
        Box::new(Member {
            name,
            does,
            contributions,
            heard: Arc::clone(&heard),
        }) as Box<dyn SkillProcess>
    });
    (CombinedProcess::of(members.collect()).unwrap(), heard)
}

fn hook(session: &mut dyn SkillProcess) -> Result<Value, SkillProcessError> {
    let params = json!({ "phase": PHASE, "event": { "trail": [] } });
    session.call(method::HOOK, params, &NoHost, Duration::from_secs(1))
}

fn failures(session: &mut dyn SkillProcess) -> Vec<String> {
    let events = session.events().into_iter();
    let reasons = events.filter_map(|event| match event {
        ProcessEvent::HookFailed { reason, .. } => Some(reason),
        _ => None,
    });
    reasons.collect()
}

#[test]
fn no_parts_are_nothing_and_one_part_is_itself() {
    assert!(CombinedProcess::of(Vec::new()).is_none());
    let (mut one, heard) = several(&[("a", Does::Append, false)]);
    hook(&mut *one).unwrap();
    assert_eq!(*heard.lock().unwrap(), ["a hook/handle"]);
}

#[test]
fn each_sees_what_the_one_before_left() {
    let (mut two, _) = several(&[("a", Does::Append, false), ("b", Does::Append, false)]);
    assert_eq!(
        hook(&mut *two).unwrap(),
        json!({ "event": { "trail": ["a", "b"] } })
    );
}

#[test]
fn the_first_that_cancels_ends_it() {
    let (mut three, heard) = several(&[
        ("a", Does::Append, false),
        ("no", Does::Cancel, false),
        ("c", Does::Append, false),
    ]);
    assert_eq!(
        hook(&mut *three).unwrap(),
        json!({ "cancel": { "reason": "no" } })
    );
    assert_eq!(*heard.lock().unwrap(), ["a hook/handle", "no hook/handle"]);
}

#[test]
fn a_failed_one_is_reported_and_the_others_continue() {
    let (mut two, _) = several(&[("x", Does::Fail, false), ("b", Does::Append, false)]);
    assert_eq!(
        hook(&mut *two).unwrap(),
        json!({ "event": { "trail": ["b"] } })
    );
    assert_eq!(failures(&mut *two), ["broke the protocol: x failed"]);
}

#[test]
fn when_all_fail_it_failed() {
    let (mut two, _) = several(&[("x", Does::Fail, false), ("y", Does::Fail, false)]);
    assert_eq!(
        hook(&mut *two).unwrap_err().to_string(),
        "broke the protocol: y failed"
    );
    assert_eq!(failures(&mut *two), ["broke the protocol: x failed"]);
}

#[test]
fn a_failure_that_must_count_counts() {
    let (mut two, heard) = several(&[("x", Does::Fail, true), ("b", Does::Append, false)]);
    assert!(two.contributions().hooks[0].fail_closed());
    assert_eq!(two.contributions().hooks.len(), 1);
    assert!(hook(&mut *two).is_err());
    assert_eq!(*heard.lock().unwrap(), ["x hook/handle"]);
}

#[test]
fn an_endless_wait_is_answered() {
    let (mut two, _) = several(&[("a", Does::Append, false), ("b", Does::Append, false)]);
    let params = json!({ "phase": PHASE, "event": { "trail": [] } });
    let answer = two.call(method::HOOK, params, &NoHost, Duration::MAX);
    assert_eq!(answer.unwrap(), json!({ "event": { "trail": ["a", "b"] } }));
}

#[test]
fn a_tool_is_answered_by_the_skill_that_registered_it() {
    let (mut two, _) = several(&[("a", Does::Append, false), ("b", Does::Append, false)]);
    let mut call = |name: &str| {
        let params = json!({ "name": name, "input": {} });
        two.call(method::TOOL, params, &NoHost, Duration::from_secs(1))
    };
    assert_eq!(call("b").unwrap(), json!({ "output": "b" }));
    assert_eq!(call("a").unwrap(), json!({ "output": "a" }));
    assert!(matches!(call("c"), Err(SkillProcessError::Protocol(_))));
}

#[test]
fn all_come_to_an_end() {
    let (two, heard) = several(&[("a", Does::Append, false), ("b", Does::Append, false)]);
    assert_eq!(
        two.close(&NoHost, Duration::ZERO),
        [ProcessEvent::Ended, ProcessEvent::Ended]
    );
    assert_eq!(*heard.lock().unwrap(), ["a closed", "b closed"]);
}
