//! A loaded skill and its handlers.
//!
//! Each call has its own heap, which is dropped when the call ends: memory stays constant over any number of calls, and a
//! handler can't keep state in the module, which is frozen.

use std::rc::Rc;

use metier_sdk::wire::{
    Cancelled, Contributions, FoundByScanner, HookHandle, Initialize, ScannedFile, ScannerOutput,
    ScannerRun, ToolExecute, WorkflowRun,
};
use metier_sdk::worker::WorkerHost;
use starlark::environment::{FrozenModule, Module};
use starlark::eval::Evaluator;
use starlark::values::dict::DictRef;
use starlark::values::list::AllocList;
use starlark::values::structs::AllocStruct;
use starlark::values::{Heap, Value};

use crate::StarlarkLimits;
use crate::builtins::handler_name;
use crate::call::{EvaluationContext, EvaluationStage};
use crate::json::{JsonError, decode, encode};
use crate::load::{self, LoadedEntrypoint};
use crate::script_error::{describe, said};
use crate::testing::is_test;

/// The outcome of a call; each text is JSON.
#[derive(Debug)]
pub(crate) enum StarlarkOutcome {
    Done(String),
    Cancelled(String),
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StarlarkCallError {
    /// It is not registered.
    #[error("this skill has no {kind} `{name}`")]
    Unknown { kind: &'static str, name: String },
    /// The handler ended with an error.
    #[error("{0}")]
    Handler(String),
}

/// A loaded skill.
pub(crate) struct StarlarkSkill {
    module: FrozenModule,
    /// Whether its workflows are tests, which have no parameters.
    tests: bool,
    pub(crate) contributions: Contributions,
}

impl StarlarkSkill {
    /// Loads a skill; the error is for its author.
    pub(crate) fn load(
        initialize: &Initialize,
        entrypoint: &str,
        host: &Rc<dyn WorkerHost>,
        limits: &StarlarkLimits,
    ) -> Result<Self, String> {
        let LoadedEntrypoint {
            module,
            contributions,
        } = load::load(initialize, entrypoint, host, limits).map_err(|error| describe(&error))?;
        Ok(Self {
            module,
            tests: is_test(entrypoint),
            contributions,
        })
    }

    /// Runs the handler of a tool.
    pub(crate) fn tool(
        &self,
        execute: &ToolExecute,
        host: &Rc<dyn WorkerHost>,
        limits: &StarlarkLimits,
    ) -> Result<StarlarkOutcome, StarlarkCallError> {
        let call = EvaluationContext::new(host, limits, EvaluationStage::Handler);
        self.run(
            "tool",
            &execute.name,
            &CallInput::Json(&execute.input),
            &call,
        )
    }

    /// Runs the handler of a workflow.
    pub(crate) fn workflow(
        &self,
        run: &WorkflowRun,
        host: &Rc<dyn WorkerHost>,
        limits: &StarlarkLimits,
    ) -> Result<StarlarkOutcome, StarlarkCallError> {
        let call = EvaluationContext::new(host, limits, EvaluationStage::Handler);
        self.run("workflow", &run.name, &CallInput::Json(&run.input), &call)
    }

    /// Runs the handler of a hook.
    pub(crate) fn hook(
        &self,
        handle: &HookHandle,
        host: &Rc<dyn WorkerHost>,
        limits: &StarlarkLimits,
    ) -> Result<StarlarkOutcome, StarlarkCallError> {
        let call = EvaluationContext::new(host, limits, EvaluationStage::Hook);
        self.run(
            "hook",
            handle.phase.as_str(),
            &CallInput::Json(&handle.event),
            &call,
        )
    }

    /// Runs the handler of a scanner, and checks its findings.
    pub(crate) fn scanner(
        &self,
        run: &ScannerRun,
        host: &Rc<dyn WorkerHost>,
        limits: &StarlarkLimits,
    ) -> Result<ScannerOutput, StarlarkCallError> {
        let call = EvaluationContext::new(host, limits, EvaluationStage::Handler);
        let found = match self.run("scanner", &run.name, &CallInput::Files(&run.files), &call)? {
            StarlarkOutcome::Done(found) | StarlarkOutcome::Cancelled(found) => found,
        };
        let wrong = |what: String| {
            StarlarkCallError::Handler(format!(
                "scanner `{}`: must return a list of dicts with rule, severity, file, line and message: {what}",
                run.name
            ))
        };
        let findings: Option<Vec<FoundByScanner>> =
            serde_json::from_str(&found).map_err(|error| wrong(error.to_string()))?;
        let findings = findings.unwrap_or_default();
        let known = |severity: &str| matches!(severity, "info" | "warning" | "critical");
        if let Some(odd) = findings.iter().find(|finding| !known(&finding.severity)) {
            return Err(wrong(format!(
                "severity is info, warning or critical, not `{}`",
                crate::json::cut(&odd.severity, 40)
            )));
        }
        Ok(ScannerOutput { findings })
    }

    fn run(
        &self,
        kind: &'static str,
        name: &str,
        input: &CallInput<'_>,
        call: &Rc<EvaluationContext>,
    ) -> Result<StarlarkOutcome, StarlarkCallError> {
        let Ok((handler, _)) = self.module.get_any_visibility(&handler_name(kind, name)) else {
            return Err(StarlarkCallError::Unknown {
                kind,
                name: crate::json::cut(name, 80),
            });
        };
        Module::with_temp_heap(|module| {
            let heap = module.heap();
            let handler = heap.access_owned_frozen_value(&handler);
            let mut eval = Evaluator::new(&module);
            let result = call.enter(&mut eval).and_then(|_under_way| {
                if self.tests {
                    return eval.eval_function(handler, &[], &[]);
                }
                let input = input.value(heap).map_err(starlark::Error::new_native)?;
                eval.eval_function(handler, &[input], &[])
            });
            if let Some(reason) = call.cancelled.take() {
                let cancelled = serde_json::to_string(&Cancelled { reason });
                return cancelled
                    .map(StarlarkOutcome::Cancelled)
                    .map_err(|error| StarlarkCallError::Handler(error.to_string()));
            }
            // A model gets the reason that a tool passes to `fail`; any other error is for the author, with its position.
            let value = result.map_err(|error| {
                let said = said(&error).filter(|_| kind == "tool");
                StarlarkCallError::Handler(said.unwrap_or_else(|| describe(&error)))
            })?;
            if kind == "hook" && !value.is_none() && DictRef::from_value(value).is_none() {
                return Err(StarlarkCallError::Handler(format!(
                    "hook `{name}`: must return None, or a dict that is the new event, got {}",
                    value.get_type()
                )));
            }
            encode(value, call.limits.output)
                .map(StarlarkOutcome::Done)
                .map_err(|error| {
                    StarlarkCallError::Handler(format!("{kind} `{name}`: returned value: {error}"))
                })
        })
    }
}

/// The arguments of a handler.
enum CallInput<'a> {
    Json(&'a serde_json::Value),
    Files(&'a [ScannedFile]),
}

impl CallInput<'_> {
    fn value<'v>(&self, heap: Heap<'v>) -> Result<Value<'v>, JsonError> {
        match self {
            Self::Json(json) => decode(json, heap),
            Self::Files(files) => Ok(heap.alloc(AllocList(files.iter().map(|file| {
                AllocStruct([
                    ("path", heap.alloc(file.path.as_str())),
                    ("content", heap.alloc(file.content.as_str())),
                ])
            })))),
        }
    }
}
