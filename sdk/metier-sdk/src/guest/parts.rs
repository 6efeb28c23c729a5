//! The contributions that a skill registered, each with its handler.

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{Host, Outcome, unknown_part};
use crate::wire::{
    Contributions, FoundByScanner, HookAnswer, HookSpec, RpcError, ScannedFile, ScannerSpec,
    ToolSpec, WorkflowSpec,
};

pub(super) type Handler<I, O> = Box<dyn FnMut(&Host<'_>, I) -> Outcome<O> + Send>;

/// A contribution and its handler.
pub(super) struct Part<S, I, O> {
    pub(super) spec: S,
    pub(super) handler: Handler<I, O>,
}

/// All contributions of a skill.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) tools: Vec<Part<ToolSpec, Value, Value>>,
    pub(super) hooks: Vec<Part<HookSpec, Value, HookAnswer>>,
    pub(super) workflows: Vec<Part<WorkflowSpec, Value, Value>>,
    pub(super) scanners: Vec<Part<ScannerSpec, Vec<ScannedFile>, Vec<FoundByScanner>>>,
}

impl Parts {
    pub(super) fn tool<I, O>(
        &mut self,
        name: &str,
        description: &str,
        mut handler: impl FnMut(&Host<'_>, I) -> Outcome<O> + Send + 'static,
    ) where
        I: DeserializeOwned + JsonSchema,
        O: Serialize,
    {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: input_schema::<I>(),
        };
        let handler = move |host: &Host<'_>, input| typed(&mut handler, host, or_empty(input));
        put(&mut self.tools, spec, Box::new(handler), |spec| &spec.name);
    }

    pub(super) fn hook(
        &mut self,
        spec: HookSpec,
        handler: impl FnMut(&Host<'_>, Value) -> Outcome<HookAnswer> + Send + 'static,
    ) {
        let handler = Box::new(handler);
        self.hooks.push(Part { spec, handler });
    }

    pub(super) fn workflow<I, O>(
        &mut self,
        name: &str,
        description: &str,
        mut handler: impl FnMut(&Host<'_>, I) -> Outcome<O> + Send + 'static,
    ) where
        I: DeserializeOwned,
        O: Serialize,
    {
        let spec = WorkflowSpec {
            name: name.to_owned(),
            description: description.to_owned(),
        };
        let handler = move |host: &Host<'_>, input| typed(&mut handler, host, or_empty(input));
        put(&mut self.workflows, spec, Box::new(handler), |spec| {
            &spec.name
        });
    }

    pub(super) fn scanner(
        &mut self,
        name: &str,
        handler: impl FnMut(&Host<'_>, Vec<ScannedFile>) -> Outcome<Vec<FoundByScanner>>
        + Send
        + 'static,
    ) {
        let spec = ScannerSpec {
            name: name.to_owned(),
        };
        put(&mut self.scanners, spec, Box::new(handler), |spec| {
            &spec.name
        });
    }

    pub(super) fn contributions(&self) -> Contributions {
        let mut hooks: Vec<HookSpec> = Vec::new();
        for Part { spec, .. } in &self.hooks {
            match hooks.iter_mut().find(|hook| hook.phase() == spec.phase()) {
                Some(hook) if spec.fail_closed() => *hook = *spec,
                Some(_) => {}
                None => hooks.push(*spec),
            }
        }
        Contributions {
            tools: specs(&self.tools),
            hooks,
            workflows: specs(&self.workflows),
            scanners: specs(&self.scanners),
            manifest: None,
            failed_handlers: Vec::new(),
        }
    }
}

/// Adds a part, and replaces one with the same name.
fn put<S, I, O>(
    parts: &mut Vec<Part<S, I, O>>,
    spec: S,
    handler: Handler<I, O>,
    name: fn(&S) -> &String,
) {
    let part = Part { spec, handler };
    match parts
        .iter_mut()
        .find(|other| name(&other.spec) == name(&part.spec))
    {
        Some(other) => *other = part,
        None => parts.push(part),
    }
}

pub(super) fn find<'a, S, I, O>(
    parts: &'a mut [Part<S, I, O>],
    what: &str,
    wanted: &str,
    name: fn(&S) -> &String,
) -> Result<&'a mut Part<S, I, O>, RpcError> {
    let mut parts = parts.iter_mut();
    parts
        .find(|part| name(&part.spec) == wanted)
        .ok_or_else(|| unknown_part(what, wanted))
}

fn specs<S: Clone, I, O>(parts: &[Part<S, I, O>]) -> Vec<S> {
    parts.iter().map(|part| part.spec.clone()).collect()
}

fn typed<I: DeserializeOwned, O: Serialize>(
    handler: &mut impl FnMut(&Host<'_>, I) -> Outcome<O>,
    host: &Host<'_>,
    input: Value,
) -> Outcome<Value> {
    let input =
        serde_json::from_value(input).map_err(|error| format!("the input is invalid: {error}"))?;
    Ok(serde_json::to_value(handler(host, input)?)?)
}

/// A caller can omit the input.
fn or_empty(input: Value) -> Value {
    if input.is_null() { json!({}) } else { input }
}

/// The schema of `I` for models: without references, and an object.
fn input_schema<I: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        })
        .with_transform(RecursiveTransform(forget_width));
    let schema = settings.into_generator().into_root_schema_for::<I>();
    match schema.to_value() {
        Value::Object(mut schema) => {
            schema.shift_remove("title");
            schema.entry("type").or_insert_with(|| json!("object"));
            Value::Object(schema)
        }
        _ => json!({"type": "object"}),
    }
}

/// `int64` and similar formats come from Rust, not from JSON Schema; some model APIs refuse them.
fn forget_width(schema: &mut Schema) {
    let width = schema.get("format").and_then(Value::as_str);
    if width.is_some_and(|width| width.contains("int") || ["float", "double"].contains(&width)) {
        schema.remove("format");
    }
}
