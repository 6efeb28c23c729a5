//! Turns: a script runs until its promise is settled, and no longer.
//!
//! Requests to the host are synchronous, so only two things can settle a promise later: jobs
//! that the engine has queued, and timers. If there is neither, the promise can't settle, and an error is better than waiting for the
//! deadline.

use std::time::Duration;

use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Function, Object, Promise, Value};

use crate::script_error::JsScriptError;
use crate::state::EngineState;

/// Runs jobs and timers of a script.
pub(crate) struct EventLoop<'js> {
    ctx: Ctx<'js>,
    /// The functions of `compat/timers.js`, once it is loaded.
    native: Object<'js>,
}

impl<'js> EventLoop<'js> {
    pub(crate) const fn new(ctx: Ctx<'js>, native: Object<'js>) -> Self {
        Self { ctx, native }
    }

    /// The result of a promise.
    pub(crate) fn settle(
        &self,
        state: &EngineState,
        promise: &Promise<'js>,
    ) -> Result<Value<'js>, JsScriptError> {
        let failed = |error: rquickjs::Error| JsScriptError::of(&self.ctx, state, &error);
        loop {
            self.jobs(state)?;
            if promise.state() != PromiseState::Pending {
                return promise
                    .result::<Value>()
                    .unwrap_or(Err(rquickjs::Error::Unknown))
                    .map_err(failed);
            }
            let timers = self.timers().map_err(failed)?;
            let Some(timers) = timers else {
                return Err(JsScriptError::Never);
            };
            let next: Function = timers.get("next").map_err(failed)?;
            let milliseconds: Option<f64> = next.call(()).map_err(failed)?;
            let Some(milliseconds) = milliseconds else {
                return Err(JsScriptError::Never);
            };
            let wait = Duration::try_from_secs_f64(milliseconds.max(0.0) / 1_000.0);
            state.wait(wait.unwrap_or(Duration::MAX / 2));
            let fire: Function = timers.get("fire").map_err(failed)?;
            fire.call::<_, ()>(()).map_err(failed)?;
        }
    }

    /// Drops jobs and timers that are left when a call returns.
    pub(crate) fn finish(&self, state: &EngineState) -> Result<(), JsScriptError> {
        self.jobs(state)?;
        for reason in state.take_rejected() {
            state.log(
                "error",
                &format!("unhandled rejection of a promise: {reason}"),
            );
        }
        let failed = |error: rquickjs::Error| JsScriptError::of(&self.ctx, state, &error);
        let Some(timers) = self.timers().map_err(failed)? else {
            return Ok(());
        };
        let clear: Function = timers.get("clear").map_err(failed)?;
        let left: usize = clear.call(()).map_err(failed)?;
        if left > 0 {
            let noun = if left == 1 { "timer" } else { "timers" };
            state.log(
                "warn",
                &format!("{left} {noun} did not fire before the call returned, and never will"),
            );
        }
        Ok(())
    }

    fn jobs(&self, state: &EngineState) -> Result<(), JsScriptError> {
        loop {
            if let Some(stop) = state.stopped() {
                return Err(JsScriptError::Stopped(stop));
            }
            if !self.ctx.execute_pending_job() {
                return Ok(());
            }
        }
    }

    fn timers(&self) -> rquickjs::Result<Option<Object<'js>>> {
        self.native.get("timers")
    }
}
