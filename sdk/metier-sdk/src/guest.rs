//! A skill in Rust: what it contributes, and the answers to its host.
//!
//! **Problem.** A skill that runs outside has to read lines, keep ids apart and turn every accident into an answer before it can
//! do the first useful thing. **Goal.** The author writes functions; their types say what comes in and goes out.
//!
//! ```no_run
//! use metier_sdk::guest::Skill;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Greet {
//!     /// Whom to greet
//!     who: String,
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     Skill::new()
//!         .tool("greet", "Greets somebody", |host, input: Greet| {
//!             Ok(format!("{}, {}", host.read_file("greeting.txt")?, input.who))
//!         })
//!         .serve()
//! }
//! ```
//!
//! **Invariants.** A handler that fails or panics fails its own call and nothing else. Calls come one after the other. What a
//! handler knows of the world it asked its [`Host`] for; how the question travels is the [`Transport`]'s business, so the same
//! handlers serve over pipes and inside a process.

mod host;
mod pipe;

use std::{
    any::Any,
    error::Error,
    panic::{AssertUnwindSafe, catch_unwind},
};

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::wire::{
    Contributions, FoundByScanner, HookAnswer, HookHandle, HookSpec, Initialize, PROTOCOL,
    RpcError, ScannedFile, ScannerOutput, ScannerRun, ScannerSpec, ToolExecute, ToolOutput,
    ToolSpec, WorkflowOutput, WorkflowRun, WorkflowSpec, code, method,
};

pub use host::{Host, HostError, Transport};

/// What a handler gives back. Any error will do, a text too: `Err("no such guest".into())`.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

type Handler<I, O> = Box<dyn FnMut(&Host<'_>, I) -> Outcome<O> + Send>;

/// Something that a skill contributes, and who does it.
struct Part<S, I, O> {
    spec: S,
    handler: Handler<I, O>,
}

/// A skill: everything that it contributes.
#[derive(Default)]
pub struct Skill {
    about: Option<Initialize>,
    tools: Vec<Part<ToolSpec, Value, Value>>,
    hooks: Vec<Part<HookSpec, Value, HookAnswer>>,
    workflows: Vec<Part<WorkflowSpec, Value, Value>>,
    scanners: Vec<Part<ScannerSpec, Vec<ScannedFile>, Vec<FoundByScanner>>>,
}

impl Skill {
    /// Contributes nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A tool that a model may call. The schema of its input is that of `I`; what is written above the fields describes them. A
    /// tool that takes nothing in particular takes a [`Value`].
    #[must_use]
    pub fn tool<I, O>(
        mut self,
        name: &str,
        description: &str,
        mut handler: impl FnMut(&Host<'_>, I) -> Outcome<O> + Send + 'static,
    ) -> Self
    where
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
        self
    }

    /// Steps in at a phase. Several hooks at one phase are called in the order in which they were added; each gets the event as
    /// the one before left it, and the first that cancels is the last.
    #[must_use]
    pub fn hook(
        mut self,
        at: impl Into<HookSpec>,
        handler: impl FnMut(&Host<'_>, Value) -> Outcome<HookAnswer> + Send + 'static,
    ) -> Self {
        let (spec, handler) = (at.into(), Box::new(handler));
        self.hooks.push(Part { spec, handler });
        self
    }

    /// A workflow that can be run by name. From the command line its input is `{"arguments": […]}`.
    #[must_use]
    pub fn workflow<I, O>(
        mut self,
        name: &str,
        description: &str,
        mut handler: impl FnMut(&Host<'_>, I) -> Outcome<O> + Send + 'static,
    ) -> Self
    where
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
        self
    }

    /// A scanner for the files of other skills; [`ScannedFile::finding`] says what is wrong where.
    #[must_use]
    pub fn scanner(
        mut self,
        name: &str,
        handler: impl FnMut(&Host<'_>, Vec<ScannedFile>) -> Outcome<Vec<FoundByScanner>>
        + Send
        + 'static,
    ) -> Self {
        let spec = ScannerSpec {
            name: name.to_owned(),
        };
        put(&mut self.scanners, spec, Box::new(handler), |spec| {
            &spec.name
        });
        self
    }

    /// What the answer to `initialize` lists.
    #[must_use]
    pub fn contributions(&self) -> Contributions {
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
        }
    }

    /// Answers one request of the host, wherever it came from; questions of the handler go to `transport`.
    ///
    /// # Errors
    ///
    /// There is no such method, it takes other parameters, or a handler failed. Of a tool that isn't an error here: the answer says
    /// so, for the model to read.
    pub fn answer(
        &mut self,
        method: &str,
        params: Value,
        transport: &mut dyn Transport,
    ) -> Result<Value, RpcError> {
        match method {
            method::INITIALIZE => self.initialize(params),
            method::TOOL => self.execute(params, transport),
            method::HOOK => self.handle(params, transport),
            method::WORKFLOW => self.run(params, transport),
            method::SCANNER => self.scan(params, transport),
            method::SHUTDOWN => Ok(json!({})),
            _ => {
                let message = format!("there is no method `{method}`");
                Err(error(code::METHOD, message))
            }
        }
    }

    fn initialize(&mut self, params: Value) -> Result<Value, RpcError> {
        let about: Initialize = read(params)?;
        if about.protocol != PROTOCOL {
            let message = format!(
                "this skill speaks protocol {PROTOCOL}, not {}",
                about.protocol
            );
            return Err(error(code::PARAMS, message));
        }
        self.about = Some(about);
        write(self.contributions())
    }

    fn execute(&mut self, params: Value, transport: &mut dyn Transport) -> Result<Value, RpcError> {
        let ToolExecute { name, input, .. } = read(params)?;
        let part = find(&mut self.tools, "tool", &name, |spec| &spec.name)?;
        let host = Host::new(self.about.as_ref(), transport);
        let (output, is_error) = match call(&mut part.handler, &host, input) {
            Ok(output) => (output, false),
            Err(message) => (Value::String(message), true),
        };
        write(ToolOutput { output, is_error })
    }

    fn handle(&mut self, params: Value, transport: &mut dyn Transport) -> Result<Value, RpcError> {
        let HookHandle { phase, event } = read(params)?;
        let host = Host::new(self.about.as_ref(), transport);
        let (mut answer, mut handlers) = (HookAnswer::default(), 0);
        for Part { spec, handler } in &mut self.hooks {
            if spec.phase() != phase || answer.cancel.is_some() {
                continue;
            }
            handlers += 1;
            let event = answer.event.as_ref().unwrap_or(&event).clone();
            let next = call(handler, &host, event).map_err(failed)?;
            answer.event = next.event.or(answer.event);
            answer.cancel = next.cancel;
        }
        if handlers == 0 {
            return Err(nobody("hook", phase.as_str()));
        }
        if answer.cancel.is_some() {
            answer.event = None;
        }
        write(answer)
    }

    fn run(&mut self, params: Value, transport: &mut dyn Transport) -> Result<Value, RpcError> {
        let WorkflowRun { name, input } = read(params)?;
        let part = find(&mut self.workflows, "workflow", &name, |spec| &spec.name)?;
        let host = Host::new(self.about.as_ref(), transport);
        let output = call(&mut part.handler, &host, input).map_err(failed)?;
        write(WorkflowOutput { output })
    }

    fn scan(&mut self, params: Value, transport: &mut dyn Transport) -> Result<Value, RpcError> {
        let ScannerRun { name, files } = read(params)?;
        let part = find(&mut self.scanners, "scanner", &name, |spec| &spec.name)?;
        let host = Host::new(self.about.as_ref(), transport);
        let findings = call(&mut part.handler, &host, files).map_err(failed)?;
        write(ScannerOutput { findings })
    }
}

impl std::fmt::Debug for Skill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Skill").field(&self.contributions()).finish()
    }
}

/// Adds a part; one of the same name gives way.
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

fn find<'a, S, I, O>(
    parts: &'a mut [Part<S, I, O>],
    what: &str,
    wanted: &str,
    name: fn(&S) -> &String,
) -> Result<&'a mut Part<S, I, O>, RpcError> {
    let mut parts = parts.iter_mut();
    parts
        .find(|part| name(&part.spec) == wanted)
        .ok_or_else(|| nobody(what, wanted))
}

fn specs<S: Clone, I, O>(parts: &[Part<S, I, O>]) -> Vec<S> {
    parts.iter().map(|part| part.spec.clone()).collect()
}

/// Calls a handler; what went wrong is told in words, a panic too.
fn call<I, O>(handler: &mut Handler<I, O>, host: &Host<'_>, input: I) -> Result<O, String> {
    // A handler that panics may leave its own captured state half changed; that is what it would find with a mutex too.
    match catch_unwind(AssertUnwindSafe(|| handler(host, input))) {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(panic) => Err(words(&*panic)),
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("the skill panicked")
        .to_owned()
}

fn typed<I: DeserializeOwned, O: Serialize>(
    handler: &mut impl FnMut(&Host<'_>, I) -> Outcome<O>,
    host: &Host<'_>,
    input: Value,
) -> Outcome<Value> {
    let input =
        serde_json::from_value(input).map_err(|error| format!("the input doesn't fit: {error}"))?;
    Ok(serde_json::to_value(handler(host, input)?)?)
}

/// A caller that has nothing to say may leave the input out.
fn or_empty(input: Value) -> Value {
    if input.is_null() { json!({}) } else { input }
}

/// The schema of `I` as models get it: in one piece, and of an object.
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

/// `int64` and its like are words of Rust, not of JSON Schema; some models' APIs refuse them.
fn forget_width(schema: &mut Schema) {
    let width = schema.get("format").and_then(Value::as_str);
    if width.is_some_and(|width| width.contains("int") || ["float", "double"].contains(&width)) {
        schema.remove("format");
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params).map_err(|problem| error(code::PARAMS, problem.to_string()))
}

fn write(answer: impl Serialize) -> Result<Value, RpcError> {
    serde_json::to_value(answer).map_err(|problem| failed(problem.to_string()))
}

fn failed(message: String) -> RpcError {
    error(code::INTERNAL, message)
}

fn nobody(what: &str, name: &str) -> RpcError {
    error(code::PARAMS, format!("there is no {what} `{name}`"))
}

fn error(code: i32, message: String) -> RpcError {
    RpcError {
        code,
        message,
        data: None,
    }
}
