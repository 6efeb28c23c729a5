//! Answers requests of the host, one at a time.
//!
//! Mistakes of a skill are answers; only a broken connection is an error. So after an
//! error the process can't be used any more, and after an answer it can.

use std::io::{BufRead, Write};
use std::rc::Rc;

use metier_sdk::wire::{
    HookHandle, Initialize, MAX_FRAME, PROTOCOL, RpcError, ScannerRun, ToolExecute, ToolOutput,
    WorkflowRun, code, method,
};
use metier_sdk::worker::{Channel, WorkerHost, WorkerServeError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::StarlarkLimits;
use crate::skill::{StarlarkCallError, StarlarkOutcome, StarlarkSkill};

/// Serves one skill until the host sends `shutdown` or closes the connection.
///
/// # Errors
///
/// The connection breaks: reading or writing fails, a message is longer than [`MAX_FRAME`], or it is closed during
/// a call.
pub fn serve(
    input: impl BufRead + 'static,
    output: impl Write + 'static,
    limits: &StarlarkLimits,
) -> Result<(), WorkerServeError> {
    let channel = Rc::new(Channel::new(input, output));
    let host: Rc<dyn WorkerHost> = Rc::clone(&channel) as Rc<dyn WorkerHost>;
    // An answer must fit into a message with its other fields.
    let limits = StarlarkLimits {
        output: limits.output.min(MAX_FRAME - 4_096),
        ..*limits
    };
    // Built before the first request arrives, to save time later.
    crate::prepare();
    let mut skill = None;
    while let Some(request) = channel.next()? {
        let answer = answer(&request.method, request.params, &mut skill, &host, &limits);
        match answer {
            Ok(result) => channel.answer(&request.id, &result)?,
            Err(error) => channel.fail(&request.id, &error)?,
        }
        if request.method == method::SHUTDOWN {
            break;
        }
    }
    Ok(())
}

/// The result of a request, as JSON.
fn answer(
    name: &str,
    params: Value,
    skill: &mut Option<StarlarkSkill>,
    host: &Rc<dyn WorkerHost>,
    limits: &StarlarkLimits,
) -> Result<String, RpcError> {
    match name {
        method::INITIALIZE => {
            let fresh = initialize(&parse(params)?, host, limits)?;
            json(&skill.insert(fresh).contributions)
        }
        method::TOOL => {
            let execute: ToolExecute = parse(params)?;
            match loaded(skill)?.tool(&execute, host, limits) {
                Ok(StarlarkOutcome::Done(output) | StarlarkOutcome::Cancelled(output)) => {
                    Ok(format!(r#"{{"output":{output}}}"#))
                }
                Err(StarlarkCallError::Handler(message)) => json(&ToolOutput {
                    output: Value::String(message),
                    is_error: true,
                }),
                Err(error) => Err(failed(&error)),
            }
        }
        method::HOOK => {
            let handle: HookHandle = parse(params)?;
            match loaded(skill)?.hook(&handle, host, limits) {
                Ok(StarlarkOutcome::Done(event)) if event == "null" => Ok("{}".to_owned()),
                Ok(StarlarkOutcome::Done(event)) => Ok(format!(r#"{{"event":{event}}}"#)),
                Ok(StarlarkOutcome::Cancelled(why)) => Ok(format!(r#"{{"cancel":{why}}}"#)),
                Err(error) => Err(failed(&error)),
            }
        }
        method::WORKFLOW => {
            let run: WorkflowRun = parse(params)?;
            match loaded(skill)?.workflow(&run, host, limits) {
                Ok(StarlarkOutcome::Done(output) | StarlarkOutcome::Cancelled(output)) => {
                    Ok(format!(r#"{{"output":{output}}}"#))
                }
                Err(error) => Err(failed(&error)),
            }
        }
        method::SCANNER => {
            let run: ScannerRun = parse(params)?;
            let output = loaded(skill)?.scanner(&run, host, limits);
            json(&output.map_err(|error| failed(&error))?)
        }
        method::SHUTDOWN => Ok("{}".to_owned()),
        _ => Err(RpcError::new(
            code::METHOD,
            format!("there is no method `{}`", crate::json::cut(name, 80)),
        )),
    }
}

fn initialize(
    initialize: &Initialize,
    host: &Rc<dyn WorkerHost>,
    limits: &StarlarkLimits,
) -> Result<StarlarkSkill, RpcError> {
    if initialize.protocol != PROTOCOL {
        let message = format!(
            "this is version {PROTOCOL} of the protocol, not {}",
            initialize.protocol
        );
        return Err(RpcError::new(code::PARAMS, message));
    }
    let Some(entrypoint) = &initialize.entrypoint else {
        return Err(RpcError::new(code::PARAMS, "`entrypoint` is missing"));
    };
    if !initialize.sources.contains_key(entrypoint) {
        let message = format!("the entrypoint `{entrypoint}` is not among `sources`");
        return Err(RpcError::new(code::PARAMS, message));
    }
    StarlarkSkill::load(initialize, entrypoint, host, limits)
        .map_err(|message| RpcError::new(code::INTERNAL, message))
}

fn loaded(skill: &Option<StarlarkSkill>) -> Result<&StarlarkSkill, RpcError> {
    let message = "no skill is loaded; `initialize` must be called first";
    skill
        .as_ref()
        .ok_or_else(|| RpcError::new(code::INVALID, message))
}

fn parse<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params).map_err(|error| RpcError::new(code::PARAMS, error.to_string()))
}

fn json(result: &impl Serialize) -> Result<String, RpcError> {
    serde_json::to_string(result).map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))
}

fn failed(error: &StarlarkCallError) -> RpcError {
    let code = match error {
        StarlarkCallError::Unknown { .. } => code::PARAMS,
        StarlarkCallError::Handler(_) => code::INTERNAL,
    };
    RpcError::new(code, error.to_string())
}
