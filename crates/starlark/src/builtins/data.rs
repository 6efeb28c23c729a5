//! JSON for skills, as exact and bounded as the conversion of messages.

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::Value;

use super::{Complaint, flag};
use crate::call::current;
use crate::json;

pub(super) fn functions(builder: &mut GlobalsBuilder) {
    builder.namespace("json", members);
}

#[starlark_module]
fn members(builder: &mut GlobalsBuilder) {
    fn encode<'v>(value: Value<'v>) -> starlark::Result<String> {
        let limit = current()?.limits.output;
        json::encode(value, limit).map_err(|source| complaint("json.encode", source).into())
    }

    fn decode<'v>(
        text: Value<'v>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        const ME: &str = "json.decode";
        let or_none = flag(ME, "or_none", or_none)?;
        match parse(super::text(ME, "text", text)?, eval) {
            Err(_) if or_none => Ok(Value::new_none()),
            result => Ok(result?),
        }
    }
}

fn parse<'v>(text: &str, eval: &Evaluator<'v, '_, '_>) -> Result<Value<'v>, Complaint> {
    let json: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| Complaint::failed("json.decode", error.to_string()))?;
    json::decode(&json, eval.heap()).map_err(|source| complaint("json.decode", source))
}

const fn complaint(function: &'static str, source: json::JsonError) -> Complaint {
    Complaint::Json { function, source }
}
