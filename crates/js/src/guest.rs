//! A loaded skill: its handlers or its entrypoint, in its own engine.

use std::rc::Rc;

use metier_sdk::wire::{
    FailedHandler, Handler, Initialize, OpenclawHandle, PROTOCOL, RpcError, code, method,
};
use rquickjs::context::EvalOptions;
use rquickjs::function::Constructor;
use rquickjs::{Ctx, Function, Module, Object, Persistent, Promise, Value};
use serde_json::json;

use crate::event_loop::EventLoop;
use crate::json::{Unsendable, encode};
use crate::natives;
use crate::script_error::JsScriptError;
use crate::shims::GLOBALS;
use crate::state::EngineState;
use crate::strip::SourceDialect;

const BOOT: &str = include_str!("../compat/boot.js");

/// A skill in its engine.
pub(crate) struct Guest<'js> {
    ctx: Ctx<'js>,
    state: Rc<EngineState>,
    native: Object<'js>,
    turn: EventLoop<'js>,
    /// Calls a function and awaits its result, whatever the script did to promises.
    call: Function<'js>,
    /// The original `Date`, from before any script ran.
    date: Constructor<'js>,
    /// The handlers, at the positions of the request; `None` for those that failed to load.
    handlers: Vec<Option<Function<'js>>>,
}

impl<'js> Guest<'js> {
    /// A new engine.
    fn new(ctx: &Ctx<'js>, state: &Rc<EngineState>) -> rquickjs::Result<Self> {
        let native = natives::native(ctx, state)?;
        let mut options = EvalOptions::default();
        options.filename = Some("metier:boot".to_owned());
        let boot: Function = ctx.eval_with_options(BOOT, options)?;
        let globals: Vec<Vec<&str>> = GLOBALS
            .iter()
            .map(|(name, from)| vec![*name, *from])
            .collect();
        let made: Object = boot.call((native.clone(), globals))?;
        let load: Function = made.get("load")?;
        state.load.replace(Some(Persistent::save(ctx, load)));
        Ok(Self {
            call: made.get("call")?,
            date: ctx.globals().get("Date")?,
            turn: EventLoop::new(ctx.clone(), native.clone()),
            ctx: ctx.clone(),
            state: Rc::clone(state),
            native,
            handlers: Vec::new(),
        })
    }

    /// Loads the skill's code and returns its contributions.
    pub(crate) fn load(
        ctx: &Ctx<'js>,
        state: &Rc<EngineState>,
        entrypoint: Option<&str>,
        handlers: &[Handler],
    ) -> Result<(Self, String), RpcError> {
        let made = Self::new(ctx, state);
        let mut guest = made.map_err(|error| failed(&JsScriptError::of(ctx, state, &error)))?;
        let failed = guest.load_handlers(handlers)?;
        let contributions = match entrypoint {
            None if failed.is_empty() => "{}".to_owned(),
            None => json!({ "failed_handlers": failed }).to_string(),
            Some(file) => {
                guest.module(file).map_err(|error| named(file, &error))?;
                guest.answer(method::INITIALIZE, &about(state))?
            }
        };
        guest
            .turn
            .finish(state)
            .map_err(|error| self::failed(&error))?;
        Ok((guest, contributions))
    }

    /// Loads each handler separately: one that fails to load is reported, and the others are used. Only a stopped engine
    /// loads no more.
    fn load_handlers(&mut self, handlers: &[Handler]) -> Result<Vec<FailedHandler>, RpcError> {
        let mut failed = Vec::new();
        for (position, handler) in handlers.iter().enumerate() {
            let function = match self.handler(handler) {
                Ok(function) => Some(function),
                Err(error @ (JsScriptError::Stopped(_) | JsScriptError::Engine(_))) => {
                    return Err(named(&handler.file, &error));
                }
                Err(error) => {
                    // Reported once.
                    self.state.take_rejected();
                    failed.push(FailedHandler {
                        handler: position,
                        reason: named(&handler.file, &error).message,
                    });
                    None
                }
            };
            self.handlers.push(function);
        }
        Ok(failed)
    }

    /// Passes an event to a handler and returns the changes.
    pub(crate) fn openclaw(&self, handle: &OpenclawHandle) -> Result<String, RpcError> {
        let Some(Some(handler)) = self.handlers.get(handle.handler) else {
            let count = self.handlers.len();
            let message = format!(
                "there is no handler {}; this skill has {count}",
                handle.handler
            );
            return Err(RpcError::new(code::PARAMS, message));
        };
        let event = serde_json::to_string(&handle.event);
        let event = event.map_err(|error| RpcError::new(code::PARAMS, error.to_string()))?;
        let event = self.event(&event).map_err(|error| self.failed(&error))?;
        let promise: rquickjs::Result<Promise> = self.call.call((handler.clone(), event.clone()));
        let promise = promise.map_err(|error| self.failed(&error))?;
        let settled = self.turn.settle(&self.state, &promise);
        settled.map_err(|error| failed(&error))?;
        self.turn
            .finish(&self.state)
            .map_err(|error| failed(&error))?;
        let messages = self.part(&event, "messages")?;
        let context = self.part(&event, "context")?;
        if messages.len() + context.len() > self.state.limits.output {
            return Err(self.unsendable(
                "event",
                &Unsendable::Long(messages.len() + context.len(), self.state.limits.output),
            ));
        }
        Ok(format!(
            r#"{{"event":{{"messages":{messages},"context":{context}}}}}"#
        ))
    }

    /// Lets the skill's code answer a request of the host.
    pub(crate) fn answer(&self, method: &str, params: &str) -> Result<String, RpcError> {
        let answer: Option<Function> = self
            .native
            .get("answer")
            .map_err(|error| self.failed(&error))?;
        let Some(answer) = answer else {
            let message = match self.handlers.is_empty() {
                true => {
                    "it contributes nothing; end the entrypoint with `skill.serve()`, where `skill` is a `Skill` of `metier`"
                }
                false => "this skill handles OpenClaw hooks only",
            };
            return Err(RpcError::new(code::INVALID, message));
        };
        let params = self
            .ctx
            .json_parse(params)
            .map_err(|error| self.failed(&error))?;
        let promise: rquickjs::Result<Promise> = self.call.call((answer, method, params));
        let promise = promise.map_err(|error| self.failed(&error))?;
        let settled = self.turn.settle(&self.state, &promise);
        let answer = settled.map_err(|error| failed(&error))?;
        self.turn
            .finish(&self.state)
            .map_err(|error| failed(&error))?;
        // The SDK sets a code for requests that can't be answered.
        if let Some(error) = answer
            .as_object()
            .and_then(|answer| answer.get::<_, Option<Object>>("error").ok().flatten())
        {
            let code = error.get("code").unwrap_or(code::INTERNAL);
            let message: String = error.get("message").unwrap_or_default();
            return Err(RpcError::new(code, message));
        }
        let result = answer
            .as_object()
            .map_or(Ok(Value::new_undefined(self.ctx.clone())), |answer| {
                answer.get("result")
            });
        let result = result.map_err(|error| self.failed(&error))?;
        let encoded = encode(&self.ctx, result, self.state.limits.output);
        encoded.map_err(|error| self.unsendable("answer", &error))
    }

    /// The function of a file that handles a hook.
    fn handler(&self, handler: &Handler) -> Result<Function<'js>, JsScriptError> {
        let failed = |error: rquickjs::Error| JsScriptError::of(&self.ctx, &self.state, &error);
        let exports = self.module(&handler.file)?;
        let registered: Option<Function> = self.native.get("handler").map_err(failed)?;
        self.native.remove("handler").map_err(failed)?;
        let object = exports.as_object();
        let exported = |name: &str| object.and_then(|all| all.get::<_, Value>(name).ok());
        let mut found = exported(&handler.export).filter(Value::is_function);
        if handler.export == "default" && found.is_none() {
            // `module.exports = handler`, in CommonJS or in a module that exports it.
            let inner = exported("default").and_then(|inner| inner.as_object().cloned());
            let inner = inner.and_then(|inner| inner.get::<_, Value>("default").ok());
            found = Some(exports.clone()).filter(Value::is_function);
            found = found.or(inner.filter(Value::is_function));
            // In files without a default export it is called `handler`.
            let inner = exported("default").and_then(|inner| inner.as_object().cloned());
            let inner = inner.and_then(|inner| inner.get::<_, Value>("handler").ok());
            let named = [exported("handler"), inner];
            found = found.or_else(|| named.into_iter().flatten().find(Value::is_function));
        }
        let found = found.and_then(Value::into_function).or(registered);
        found.ok_or_else(|| {
            let names = object.map(|all| all.keys::<String>().flatten().collect::<Vec<_>>());
            let names = names.filter(|names| !names.is_empty());
            let names = names.map_or_else(
                || "none".to_owned(),
                |names| format!("`{}`", names.join("`, `")),
            );
            JsScriptError::Request(format!(
                "it does not export a function `{}` (exports: {names}); name one with `export` in HOOK.md",
                handler.export
            ))
        })
    }

    /// Loads a file of the skill and returns its exports.
    fn module(&self, file: &str) -> Result<Value<'js>, JsScriptError> {
        let failed = |error: rquickjs::Error| JsScriptError::of(&self.ctx, &self.state, &error);
        if self.state.text(file).is_none() {
            return Err(JsScriptError::Request(
                "it is not among the skill's source files".to_owned(),
            ));
        }
        let compiled = self.state.compiled(file);
        let compiled = compiled.map_err(|error| JsScriptError::Thrown(error.to_string()))?;
        if compiled.is_some_and(|module| module.kind == SourceDialect::Module) {
            let promise = Module::import(&self.ctx, format!("./{file}")).map_err(failed)?;
            return self.turn.settle(&self.state, &promise);
        }
        let load = self.state.load.borrow().clone();
        let load = load.ok_or_else(|| JsScriptError::Engine("nothing loads modules".to_owned()))?;
        let load = load.restore(&self.ctx).map_err(failed)?;
        load.call((file,)).map_err(failed)
    }

    /// The event for a handler.
    fn event(&self, text: &str) -> rquickjs::Result<Object<'js>> {
        let event: Value = self.ctx.json_parse(text)?;
        let event = event.into_object().ok_or(rquickjs::Error::Unknown)?;
        let timestamp: String = event.get("timestamp")?;
        let date: Object = self.date.construct((timestamp,))?;
        event.set("timestamp", date)?;
        Ok(event)
    }

    /// A part of an event after the handler's changes.
    fn part(&self, event: &Object<'js>, name: &str) -> Result<String, RpcError> {
        let value = event.get(name).map_err(|error| self.failed(&error))?;
        let encoded = encode(&self.ctx, value, self.state.limits.output);
        encoded.map_err(|error| self.unsendable(&format!("event.{name}"), &error))
    }

    fn unsendable(&self, what: &str, error: &Unsendable) -> RpcError {
        let why = match error {
            Unsendable::Thrown => {
                JsScriptError::of(&self.ctx, &self.state, &rquickjs::Error::Exception).to_string()
            }
            error => error.to_string(),
        };
        RpcError::new(code::INTERNAL, format!("`{what}` can't be returned: {why}"))
    }

    fn failed(&self, error: &rquickjs::Error) -> RpcError {
        failed(&JsScriptError::of(&self.ctx, &self.state, error))
    }
}

/// Releases the functions that Rust holds, because the engine can't be dropped before.
impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.state.load.replace(None);
    }
}

/// The description of the skill for its code.
fn about(state: &EngineState) -> String {
    json!({
        "protocol": PROTOCOL,
        "skill": state.skill,
        "directory": state.directory,
        "config": state.config,
        "permissions": state.permissions,
    })
    .to_string()
}

fn failed(trouble: &JsScriptError) -> RpcError {
    RpcError::new(code::INTERNAL, trouble.to_string())
}

/// Adds the file that was being loaded, unless the message contains it.
fn named(file: &str, trouble: &JsScriptError) -> RpcError {
    let message = trouble.to_string();
    let message = match message.starts_with(file) {
        true => message,
        false => format!("{file}: {message}"),
    };
    RpcError::new(code::INTERNAL, message)
}

/// Checks that `initialize` names a file to load.
pub(crate) fn check(initialize: &Initialize) -> Result<(), RpcError> {
    match (&initialize.entrypoint, initialize.handlers.is_empty()) {
        (None, true) => Err(RpcError::new(
            code::PARAMS,
            "`entrypoint` or `handlers` is missing",
        )),
        (Some(_), false) => Err(RpcError::new(
            code::PARAMS,
            "`entrypoint` and `handlers` can't be combined",
        )),
        _ => Ok(()),
    }
}
