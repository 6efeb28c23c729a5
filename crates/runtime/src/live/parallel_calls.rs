//! Tools of several skills that are called together: all start, then each is answered in turn.
//!
//! Requests of tools to the host are still answered one after the other, in the order of the calls, so that receipts are in order
//! and the user gets one question at a time; everything else runs in parallel. A call starts early only if it is certain to be the
//! next call of that skill: while any hook sees calls or results, nothing starts early.

use metier_sdk::{HookPhase, wire::method};
use serde_json::Value;

use super::{Active, Runtime, tool_params};

/// A call that will be made.
#[derive(Clone, Copy, Debug)]
pub struct PlannedCall<'a> {
    /// Name of the skill.
    pub skill: &'a str,
    /// Its tool, by its own name.
    pub tool: &'a str,
    /// The input of the call.
    pub input: &'a Value,
}

impl Runtime {
    /// Starts later calls, in this order; returns which of them did start. If there are several calls to one skill, none of them starts.
    pub fn begin_together(&self, calls: &[PlannedCall<'_>]) -> Vec<bool> {
        let watched = [HookPhase::BeforeToolCall, HookPhase::AfterToolResult];
        if calls.len() < 2 || watched.iter().any(|phase| self.handles(*phase)) {
            return vec![false; calls.len()];
        }
        let alone = |call: &PlannedCall<'_>| {
            let same = calls.iter().filter(|other| other.skill == call.skill);
            same.count() == 1
        };
        // The first one is answered first anyway.
        let begin =
            |(at, call): (usize, &PlannedCall<'_>)| at > 0 && alone(call) && self.begin_call(call);
        calls.iter().enumerate().map(begin).collect()
    }

    fn begin_call(&self, call: &PlannedCall<'_>) -> bool {
        // Starting a skill again may ask a question, which belongs to the call itself, in its turn.
        let active = match self.get(call.skill) {
            Ok(active) if matches!(active.can_start_again(), Ok(false)) => active,
            _ => return false,
        };
        let mut tools = active.tools.iter().zip(&active.schemas);
        let Some((tool, schema)) = tools.find(|(known, _)| known.spec.name == call.tool) else {
            return false;
        };
        if schema.check(call.input).is_err() {
            return false;
        }
        let params = tool_params(
            &tool.spec.name,
            call.input,
            &self.environment.approvals.session,
        );
        active.begin_ahead(method::TOOL, &params)
    }
}

impl Active {
    /// Starts a later call of its code early, unless it is busy.
    pub(super) fn begin_ahead(&self, method: &str, params: &Value) -> bool {
        let Some(mut session) = self.session.take() else {
            return false;
        };
        session.ahead(method, params);
        self.session.set(Some(session));
        true
    }
}
