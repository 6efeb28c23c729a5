//! Registering contributions, and cancelling calls from hooks.
//!
//! A handler must outlive the evaluation that registers it. It becomes a variable of the entrypoint's module, with a name
//! that no author can write (`<tool greet>`), and is frozen with it.

use metier_sdk::HookPhase;
use metier_sdk::wire::{Contributions, HookSpec, ScannerSpec, ToolSpec, WorkflowSpec};
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::Value;
use starlark::values::dict::DictRef;
use starlark::values::none::NoneType;

use super::{Complaint, flag, optional_text, text};
use crate::call::{EvaluationStage, current};
use crate::json::encode;

/// The variable that holds a handler.
pub(crate) fn handler_name(kind: &str, name: &str) -> String {
    format!("<{kind} {name}>")
}

#[starlark_module]
pub(super) fn functions(builder: &mut GlobalsBuilder) {
    fn register_tool<'v>(
        name: Value<'v>,
        description: Value<'v>,
        handler: Value<'v>,
        input_schema: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<NoneType> {
        const ME: &str = "register_tool";
        let tool = ToolSpec {
            name: plain_name(ME, name)?,
            description: text(ME, "description", description)?.to_owned(),
            input_schema: schema(ME, input_schema)?,
        };
        let variable = handler_name("tool", &tool.name);
        register(ME, &variable, handler, eval, |all| all.tools.push(tool))
    }

    fn register_hook<'v>(
        phase: Value<'v>,
        handler: Value<'v>,
        fail_closed: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<NoneType> {
        const ME: &str = "register_hook";
        let phase: HookPhase =
            text(ME, "phase", phase)?
                .parse()
                .map_err(|unknown: metier_sdk::UnknownPhase| {
                    Complaint::failed(ME, unknown.to_string())
                })?;
        let hook = if flag(ME, "fail_closed", fail_closed)? {
            HookSpec::Full {
                phase,
                fail_closed: true,
            }
        } else {
            HookSpec::Phase(phase)
        };
        let variable = handler_name("hook", phase.as_str());
        register(ME, &variable, handler, eval, |all| all.hooks.push(hook))
    }

    fn register_workflow<'v>(
        name: Value<'v>,
        handler: Value<'v>,
        description: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<NoneType> {
        const ME: &str = "register_workflow";
        let workflow = WorkflowSpec {
            name: plain_name(ME, name)?,
            description: optional_text(ME, "description", description)?.unwrap_or_default(),
        };
        let variable = handler_name("workflow", &workflow.name);
        register(ME, &variable, handler, eval, |all| {
            all.workflows.push(workflow);
        })
    }

    fn register_scanner<'v>(
        name: Value<'v>,
        handler: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<NoneType> {
        const ME: &str = "register_scanner";
        let scanner = ScannerSpec {
            name: plain_name(ME, name)?,
        };
        let variable = handler_name("scanner", &scanner.name);
        register(ME, &variable, handler, eval, |all| {
            all.scanners.push(scanner);
        })
    }

    fn cancel<'v>(reason: Value<'v>) -> starlark::Result<NoneType> {
        const ME: &str = "cancel";
        let reason = text(ME, "reason", reason)?;
        let call = current()?;
        if !matches!(call.stage, EvaluationStage::Hook) {
            let reason = "only the handler of a hook can cancel; use fail() to end with an error";
            return Err(Complaint::failed(ME, reason).into());
        }
        call.cancelled.replace(Some(reason.to_owned()));
        Err(Complaint::failed(ME, "cancelled").into())
    }
}

/// Letters, digits, `_` and `-`.
fn plain_name(function: &'static str, name: Value<'_>) -> Result<String, Complaint> {
    let name = text(function, "name", name)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return Err(Complaint::failed(
            function,
            format!(
                "name must be 1 to 64 letters, digits, `_` or `-`, got `{}`",
                crate::json::cut(name, 70)
            ),
        ));
    }
    Ok(name.to_owned())
}

fn schema(
    function: &'static str,
    schema: Option<Value<'_>>,
) -> starlark::Result<serde_json::Value> {
    let Some(schema) = schema.filter(|schema| !schema.is_none()) else {
        return Ok(serde_json::json!({ "type": "object" }));
    };
    if DictRef::from_value(schema).is_none() {
        return Err(Complaint::argument(function, "input_schema", "a dict or None", schema).into());
    }
    let json = encode(schema, current()?.limits.output)
        .map_err(|source| Complaint::Json { function, source })?;
    serde_json::from_str(&json)
        .map_err(|error| Complaint::failed(function, format!("input_schema: {error}")).into())
}

fn register<'v>(
    function: &'static str,
    variable: &str,
    handler: Value<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
    add: impl FnOnce(&mut Contributions),
) -> starlark::Result<NoneType> {
    if handler.get_type() != "function" {
        return Err(Complaint::argument(function, "handler", "a function", handler).into());
    }
    let call = current()?;
    let contributions = match &call.stage {
        EvaluationStage::Entrypoint(contributions) => contributions,
        EvaluationStage::Tested => return Ok(NoneType),
        EvaluationStage::Library => {
            let reason = "only the entrypoint can register; put this into a function and call that from there";
            return Err(Complaint::failed(function, reason).into());
        }
        EvaluationStage::Handler | EvaluationStage::Hook => {
            let reason = "a skill registers while it is loaded, not in a handler";
            return Err(Complaint::failed(function, reason).into());
        }
    };
    if eval.module().get(variable).is_some() {
        let reason = format!(
            "{} is already registered",
            variable.trim_matches(['<', '>'])
        );
        return Err(Complaint::failed(function, reason).into());
    }
    eval.set_module_variable_at_some_point(variable, handler)?;
    add(&mut contributions.borrow_mut());
    Ok(NoneType)
}
