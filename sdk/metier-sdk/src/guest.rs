//! Skills in Rust: contributions, and answers to the host.
//!
//! **Problem.** A skill that runs outside metier has to read lines, match ids and turn every failure into an answer before it can
//! do anything useful. **Goal.** The author writes functions; their types define input and output.
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
//!         .tool("greet", "Greets a guest", |host, input: Greet| {
//!             Ok(format!("{}, {}", host.read_file("greeting.txt")?, input.who))
//!         })
//!         .serve()
//! }
//! ```
//!
//! **Invariants.** A handler that fails or panics fails its own call only. Calls are handled one at a time. A handler reaches the
//! outside only through its [`Host`]; a [`Transport`] carries the requests, so the same
//! handlers work over pipes and inside a process.

mod host;
mod parts;
mod pipe;
mod plugin;

use std::{
    any::Any,
    error::Error,
    panic::{AssertUnwindSafe, catch_unwind},
};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::wire::{
    Contributions, FoundByScanner, HookAnswer, HookHandle, HookSpec, Initialize, PROTOCOL,
    RpcError, ScannedFile, ScannerOutput, ScannerRun, ToolExecute, ToolOutput, WorkflowOutput,
    WorkflowRun, code, method,
};

pub use host::{Host, HostError, Transport};
pub use pipe::{serve, serve_on};
pub use plugin::{Context, Plugin};

use parts::{Part, Parts, find};

/// The result of a handler. Any error type works, and so does text: `Err("no such guest".into())`.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// A skill with everything that it contributes.
#[derive(Default)]
pub struct Skill {
    about: Option<Initialize>,
    parts: Parts,
    plugin: Option<Box<dyn Plugin>>,
}

impl Skill {
    /// A skill without contributions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The skill of a plugin, which registers its contributions when it is activated.
    #[must_use]
    pub fn of(plugin: impl Plugin + 'static) -> Self {
        Self {
            plugin: Some(Box::new(plugin)),
            ..Self::default()
        }
    }

    /// A tool that a model can call. The schema of its input is that of `I`; doc comments of fields become descriptions. A
    /// tool without a fixed input takes a [`Value`].
    #[must_use]
    pub fn tool<I, O>(
        mut self,
        name: &str,
        description: &str,
        handler: impl FnMut(&Host<'_>, I) -> Outcome<O> + Send + 'static,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema,
        O: Serialize,
    {
        self.parts.tool(name, description, handler);
        self
    }

    /// A hook at a phase. Several hooks at one phase are called in the order in which they were added; each gets the event as
    /// the previous one left it, and none is called after one that cancels.
    #[must_use]
    pub fn hook(
        mut self,
        at: impl Into<HookSpec>,
        handler: impl FnMut(&Host<'_>, Value) -> Outcome<HookAnswer> + Send + 'static,
    ) -> Self {
        self.parts.hook(at.into(), handler);
        self
    }

    /// A workflow that can be run by name. From the command line its input is `{"arguments": […]}`.
    #[must_use]
    pub fn workflow<I, O>(
        mut self,
        name: &str,
        description: &str,
        handler: impl FnMut(&Host<'_>, I) -> Outcome<O> + Send + 'static,
    ) -> Self
    where
        I: DeserializeOwned,
        O: Serialize,
    {
        self.parts.workflow(name, description, handler);
        self
    }

    /// A scanner for the files of other skills; [`ScannedFile::finding`] makes its findings.
    #[must_use]
    pub fn scanner(
        mut self,
        name: &str,
        handler: impl FnMut(&Host<'_>, Vec<ScannedFile>) -> Outcome<Vec<FoundByScanner>>
        + Send
        + 'static,
    ) -> Self {
        self.parts.scanner(name, handler);
        self
    }

    /// The contributions, as in the answer to `initialize`.
    #[must_use]
    pub fn contributions(&self) -> Contributions {
        Contributions {
            manifest: self.plugin.as_ref().map(|plugin| plugin.manifest()),
            ..self.parts.contributions()
        }
    }

    /// Answers one request of the host; requests of the handler go to `transport`.
    ///
    /// # Errors
    ///
    /// The method does not exist, the parameters are wrong, or a handler failed. A tool that fails is not an error here: its output is the
    /// error, for the model to read.
    pub fn answer(
        &mut self,
        method: &str,
        params: Value,
        transport: &mut dyn Transport,
    ) -> Result<Value, RpcError> {
        match method {
            method::INITIALIZE => self.initialize(params, transport),
            method::TOOL => self.execute(params, transport),
            method::HOOK => self.handle(params, transport),
            method::WORKFLOW => self.run(params, transport),
            method::SCANNER => self.scan(params, transport),
            method::SHUTDOWN => self.shut_down(transport),
            _ => {
                let message = format!("there is no method `{method}`");
                Err(RpcError::new(code::METHOD, message))
            }
        }
    }

    fn initialize(
        &mut self,
        params: Value,
        transport: &mut dyn Transport,
    ) -> Result<Value, RpcError> {
        let about: Initialize = read(params)?;
        if about.protocol != PROTOCOL {
            let message = format!(
                "this skill uses protocol {PROTOCOL}, not {}",
                about.protocol
            );
            return Err(RpcError::new(code::PARAMS, message));
        }
        self.about = Some(about);
        if let Some(plugin) = &mut self.plugin {
            // Earlier registrations belong to an activation that ended or failed.
            self.parts = Parts::default();
            let host = Host::new(self.about.as_ref(), transport);
            let mut context = Context::new(&mut self.parts, host);
            caught(|| plugin.activate(&mut context)).map_err(failed)?;
        }
        write(self.contributions())
    }

    fn shut_down(&mut self, transport: &mut dyn Transport) -> Result<Value, RpcError> {
        // A plugin that was never activated has nothing to release.
        let about = self.about.take();
        if let (Some(plugin), Some(about)) = (&mut self.plugin, &about) {
            let host = Host::new(Some(about), transport);
            caught(|| plugin.deactivate(&host)).map_err(|message| {
                // The answer to the last request is not shown; the log is.
                host.log("error", &format!("deactivation failed: {message}"));
                failed(message)
            })?;
        }
        Ok(json!({}))
    }

    fn execute(&mut self, params: Value, transport: &mut dyn Transport) -> Result<Value, RpcError> {
        let ToolExecute { name, input, .. } = read(params)?;
        let part = find(&mut self.parts.tools, "tool", &name, |spec| &spec.name)?;
        let host = Host::new(self.about.as_ref(), transport);
        let (output, is_error) = match caught(|| (part.handler)(&host, input)) {
            Ok(output) => (output, false),
            Err(message) => (Value::String(message), true),
        };
        write(ToolOutput { output, is_error })
    }

    fn handle(&mut self, params: Value, transport: &mut dyn Transport) -> Result<Value, RpcError> {
        let HookHandle { phase, event } = read(params)?;
        let host = Host::new(self.about.as_ref(), transport);
        let (mut answer, mut handlers) = (HookAnswer::default(), 0);
        for Part { spec, handler } in &mut self.parts.hooks {
            if spec.phase() != phase || answer.cancel.is_some() {
                continue;
            }
            handlers += 1;
            let event = answer.event.as_ref().unwrap_or(&event).clone();
            let next = caught(|| handler(&host, event)).map_err(failed)?;
            answer.event = next.event.or(answer.event);
            answer.cancel = next.cancel;
        }
        if handlers == 0 {
            return Err(unknown_part("hook", phase.as_str()));
        }
        if answer.cancel.is_some() {
            answer.event = None;
        }
        write(answer)
    }

    fn run(&mut self, params: Value, transport: &mut dyn Transport) -> Result<Value, RpcError> {
        let WorkflowRun { name, input } = read(params)?;
        let part = find(&mut self.parts.workflows, "workflow", &name, |spec| {
            &spec.name
        })?;
        let host = Host::new(self.about.as_ref(), transport);
        let output = caught(|| (part.handler)(&host, input)).map_err(failed)?;
        write(WorkflowOutput { output })
    }

    fn scan(&mut self, params: Value, transport: &mut dyn Transport) -> Result<Value, RpcError> {
        let ScannerRun { name, files } = read(params)?;
        let part = find(&mut self.parts.scanners, "scanner", &name, |spec| {
            &spec.name
        })?;
        let host = Host::new(self.about.as_ref(), transport);
        let findings = caught(|| (part.handler)(&host, files)).map_err(failed)?;
        write(ScannerOutput { findings })
    }
}

impl std::fmt::Debug for Skill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Skill").field(&self.contributions()).finish()
    }
}

/// Calls the author's code; a failure becomes text, and so does a panic.
fn caught<T>(work: impl FnOnce() -> Outcome<T>) -> Result<T, String> {
    // A handler that panics can leave its own captured state half changed, as it could with a mutex.
    match catch_unwind(AssertUnwindSafe(work)) {
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

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params)
        .map_err(|problem| RpcError::new(code::PARAMS, problem.to_string()))
}

fn write(answer: impl Serialize) -> Result<Value, RpcError> {
    serde_json::to_value(answer).map_err(|problem| failed(problem.to_string()))
}

fn failed(message: String) -> RpcError {
    RpcError::new(code::INTERNAL, message)
}

fn unknown_part(what: &str, name: &str) -> RpcError {
    RpcError::new(code::PARAMS, format!("there is no {what} `{name}`"))
}
