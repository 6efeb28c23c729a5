//! Answers requests of the host, one at a time.
//!
//! Mistakes of a skill are answers; only a broken connection is an error, and a call that had to be
//! stopped: its leftovers would continue in the next one. The host then starts another worker.

use std::io::{BufRead, Write};
use std::rc::Rc;

use metier_sdk::wire::{Initialize, MAX_FRAME, OpenclawHandle, PROTOCOL, RpcError, code, method};
use metier_sdk::worker::{Channel, WorkerHost, WorkerRequest, WorkerServeError};
use rquickjs::{Context, Runtime};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::JsLimits;
use crate::guest::{Guest, check};
use crate::modules::Modules;
use crate::script_error::summary;
use crate::state::{EngineState, Stop};

/// The smallest stack that the engine can use, in bytes.
const LEAST_STACK: usize = 64 << 10;

/// Serves one skill until the host sends `shutdown` or closes the connection.
///
/// # Errors
///
/// The connection breaks: reading or writing fails, a message is longer than [`MAX_FRAME`], or it is closed during
/// a call. Or a call was stopped, after its error was returned.
pub fn serve(
    input: impl BufRead + 'static,
    output: impl Write + 'static,
    limits: &JsLimits,
) -> Result<(), WorkerServeError> {
    let channel = Channel::new(input, output);
    let line = Rc::new(channel);
    // An answer must fit into a message with its other fields.
    let limits = JsLimits {
        output: limits.output.min(MAX_FRAME - 4_096),
        stack: limits.stack.max(LEAST_STACK),
        ..*limits
    };
    let mut next = line.next()?;
    while let Some(request) = next.take() {
        match request.method.as_str() {
            method::INITIALIZE => next = live(&line, request, limits)?,
            method::SHUTDOWN => {
                line.answer(&request.id, "{}")?;
                break;
            }
            _ => {
                let message = "no skill is loaded; `initialize` must be called first".to_owned();
                line.fail(&request.id, &RpcError::new(code::INVALID, message))?;
                next = line.next()?;
            }
        }
    }
    Ok(())
}

/// Runs one engine, from `initialize` to the next request that is not a call.
fn live<R: BufRead + 'static, W: Write + 'static>(
    line: &Rc<Channel<R, W>>,
    request: WorkerRequest,
    limits: JsLimits,
) -> Result<Option<WorkerRequest>, WorkerServeError> {
    let started = parse(request.params).and_then(|initialize| {
        checked(&initialize)?;
        engine(&limits).map(|engine| (initialize, engine))
    });
    let (mut initialize, (runtime, context)): (Initialize, _) = match started {
        Ok(started) => started,
        Err(error) => {
            line.fail(&request.id, &error)?;
            return line.next();
        }
    };
    let host: Rc<dyn WorkerHost> = Rc::clone(line) as Rc<dyn WorkerHost>;
    let entrypoint = initialize.entrypoint.take();
    let handlers = std::mem::take(&mut initialize.handlers);
    let state = Rc::new(EngineState::new(initialize, &host, limits));
    let modules = Modules(Rc::clone(&state));
    runtime.set_loader(modules.clone(), modules);
    let own = Rc::clone(&state);
    runtime.set_interrupt_handler(Some(Box::new(move || own.stopped().is_some())));
    let own = Rc::clone(&state);
    runtime.set_host_promise_rejection_tracker(Some(Box::new(move |_, _, reason, seen| {
        own.rejection(summary(&reason), seen);
    })));
    context.with(|ctx| {
        let guest = match Guest::load(&ctx, &state, entrypoint.as_deref(), &handlers) {
            Ok((guest, contributions)) => {
                line.answer(&request.id, &contributions)?;
                guest
            }
            Err(error) => {
                state.load.replace(None);
                line.fail(&request.id, &error)?;
                return line.next();
            }
        };
        calls(line, &guest, &state)
    })
}

/// Answers calls until another request arrives.
fn calls<R: BufRead, W: Write>(
    line: &Channel<R, W>,
    guest: &Guest<'_>,
    state: &EngineState,
) -> Result<Option<WorkerRequest>, WorkerServeError> {
    while let Some(request) = line.next()? {
        let name = request.method.as_str();
        if matches!(name, method::INITIALIZE | method::SHUTDOWN) {
            return Ok(Some(request));
        }
        state.begin();
        let answer = match name {
            method::OPENCLAW => {
                parse::<OpenclawHandle>(request.params).and_then(|handle| guest.openclaw(&handle))
            }
            method::TOOL | method::HOOK | method::WORKFLOW | method::SCANNER => {
                guest.answer(name, &request.params.to_string())
            }
            _ => {
                let end = name.floor_char_boundary(80);
                let message = format!("there is no method `{}`", &name[..end]);
                Err(RpcError::new(code::METHOD, message))
            }
        };
        match answer {
            Ok(result) => line.answer(&request.id, &result)?,
            Err(error) => line.fail(&request.id, &error)?,
        }
        if let Some(Stop::TooLong(_)) = state.stopped() {
            return Err(WorkerServeError::Spent);
        }
    }
    Ok(None)
}

fn checked(initialize: &Initialize) -> Result<(), RpcError> {
    if initialize.protocol != PROTOCOL {
        let message = format!(
            "this is version {PROTOCOL} of the protocol, not {}",
            initialize.protocol
        );
        return Err(RpcError::new(code::PARAMS, message));
    }
    check(initialize)
}

fn engine(limits: &JsLimits) -> Result<(Runtime, Context), RpcError> {
    let start = || -> rquickjs::Result<(Runtime, Context)> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        let context = Context::full(&runtime)?;
        Ok((runtime, context))
    };
    start().map_err(|error| {
        RpcError::new(
            code::INTERNAL,
            format!("the JavaScript engine does not start: {error}"),
        )
    })
}

fn parse<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params).map_err(|error| RpcError::new(code::PARAMS, error.to_string()))
}
