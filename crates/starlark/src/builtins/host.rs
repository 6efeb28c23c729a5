//! Requests to the host: files, programs, the network, the environment, the model, other skills.
//!
//! A function sends one [`HostRequest`] and waits. If the host refuses, the handler ends at that line: a refusal is the
//! user's decision, and a skill that can do without checks `skill.permissions` first. If the request is permitted and
//! fails (no such file, no such host), the handler ends too, unless the call has `or_none=True`; the language has no other
//! way to catch an error, and needs none for the one case that skills expect.

use std::rc::Rc;

use metier_sdk::wire::{
    Answered, Ended, Fetched, FileContent, HostRequest, Matches, Paths, ToolOutput, Variable,
};
use metier_sdk::worker::Unanswered;
use serde::de::DeserializeOwned;
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::starlark_module;
use starlark::values::dict::AllocDict;
use starlark::values::list::AllocList;
use starlark::values::none::NoneType;
use starlark::values::structs::AllocStruct;
use starlark::values::tuple::UnpackTuple;
use starlark::values::{Heap, Value};

use super::{Complaint, flag, optional_text, text, texts};
use crate::call::{EvaluationContext, current};
use crate::json::{cut, decode, encode};

const LEVELS: [&str; 4] = ["debug", "info", "warn", "error"];

/// All functions of this module.
pub(super) fn functions(builder: &mut GlobalsBuilder) {
    files(builder);
    machine(builder);
    others(builder);
}

#[starlark_module]
fn files(builder: &mut GlobalsBuilder) {
    fn read_file<'v>(
        path: Value<'v>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let asking = Asking::new("read_file", or_none, eval)?;
        let path = text("read_file", "path", path)?.to_owned();
        asking.answer(
            &HostRequest::ReadFile { path },
            |file: FileContent, heap| heap.alloc(file.content),
        )
    }

    fn write_file<'v>(
        path: Value<'v>,
        content: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let asking = Asking::new("write_file", None, eval)?;
        let path = text("write_file", "path", path)?.to_owned();
        let content = text("write_file", "content", content)?.to_owned();
        asking.answer(&HostRequest::WriteFile { path, content }, nothing)
    }

    fn glob<'v>(
        pattern: Value<'v>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let asking = Asking::new("glob", or_none, eval)?;
        let pattern = text("glob", "pattern", pattern)?.to_owned();
        asking.answer(&HostRequest::Glob { pattern }, |found: Paths, heap| {
            heap.alloc(AllocList(found.paths))
        })
    }

    fn grep<'v>(
        pattern: Value<'v>,
        path: Option<Value<'v>>,
        glob: Option<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let asking = Asking::new("grep", or_none, eval)?;
        let request = HostRequest::Grep {
            pattern: text("grep", "pattern", pattern)?.to_owned(),
            path: optional_text("grep", "path", path)?,
            glob: optional_text("grep", "glob", glob)?,
        };
        asking.answer(&request, matches)
    }
}

#[starlark_module]
fn machine(builder: &mut GlobalsBuilder) {
    fn exec<'v>(
        command: Value<'v>,
        #[starlark(args)] arguments: UnpackTuple<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let asking = Asking::new("exec", or_none, eval)?;
        let command = text("exec", "command", command)?;
        if arguments.items.is_empty() {
            let command = command.to_owned();
            return asking.answer(&HostRequest::Exec { command }, ended);
        }
        let mut line = quoted(command);
        for argument in arguments.items {
            line.push(' ');
            line.push_str(&quoted(text("exec", "argument", argument)?));
        }
        asking.answer(&HostRequest::Exec { command: line }, ended_dict)
    }

    fn fetch<'v>(
        url: Value<'v>,
        method: Option<Value<'v>>,
        headers: Option<Value<'v>>,
        body: Option<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let asking = Asking::new("fetch", or_none, eval)?;
        let request = HostRequest::Fetch {
            url: text("fetch", "url", url)?.to_owned(),
            method: optional_text("fetch", "method", method)?,
            headers: texts("fetch", "headers", headers)?,
            body: optional_text("fetch", "body", body)?,
        };
        asking.answer(&request, fetched)
    }

    fn env<'v>(
        name: Value<'v>,
        default: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let asking = Asking::new("env", None, eval)?;
        let name = text("env", "name", name)?.to_owned();
        asking.answer(
            &HostRequest::Env { name },
            |variable: Variable, heap| match variable.value {
                Some(value) => heap.alloc(value),
                None => default.unwrap_or_else(Value::new_none),
            },
        )
    }

    fn set_env<'v>(
        name: Value<'v>,
        value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let asking = Asking::new("set_env", None, eval)?;
        let name = text("set_env", "name", name)?.to_owned();
        let value = text("set_env", "value", value)?.to_owned();
        asking.answer(&HostRequest::SetEnv { name, value }, nothing)
    }
}

#[starlark_module]
fn others(builder: &mut GlobalsBuilder) {
    fn llm<'v>(
        prompt: Value<'v>,
        system: Option<Value<'v>>,
        model: Option<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let asking = Asking::new("llm", or_none, eval)?;
        let request = HostRequest::Llm {
            prompt: text("llm", "prompt", prompt)?.to_owned(),
            system: optional_text("llm", "system", system)?,
            model: optional_text("llm", "model", model)?,
        };
        asking.answer(&request, |answer: Answered, heap| heap.alloc(answer.text))
    }

    fn llm_complete<'v>(
        prompt: Value<'v>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let asking = Asking::new("llm_complete", or_none, eval)?;
        let request = HostRequest::Llm {
            prompt: text("llm_complete", "prompt", prompt)?.to_owned(),
            system: None,
            model: None,
        };
        asking.answer(&request, |answer: Answered, heap| heap.alloc(answer.text))
    }

    fn invoke_skill<'v>(
        name: Value<'v>,
        tool: Option<Value<'v>>,
        input: Option<Value<'v>>,
        #[starlark(require = named)] or_none: Option<Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        invoke(name, tool, input, or_none, eval)
    }

    fn log<'v>(message: Value<'v>, level: Option<Value<'v>>) -> starlark::Result<NoneType> {
        let level = level.map_or(Ok("info"), |level| text("log", "level", level))?;
        if !LEVELS.contains(&level) {
            let reason = format!(
                "level must be one of {}, got `{}`",
                LEVELS.join(", "),
                cut(level, 40)
            );
            return Err(Complaint::failed("log", reason).into());
        }
        write_log("log", level, &message.to_str())
    }

    fn print<'v>(#[starlark(args)] values: UnpackTuple<Value<'v>>) -> starlark::Result<NoneType> {
        let words: Vec<String> = values.items.iter().map(|value| value.to_str()).collect();
        write_log("print", "info", &words.join(" "))
    }
}

/// A request to be sent.
pub(super) struct Asking<'v> {
    function: &'static str,
    or_none: bool,
    call: Rc<EvaluationContext>,
    heap: Heap<'v>,
}

impl<'v> Asking<'v> {
    pub(super) fn new(
        function: &'static str,
        or_none: Option<Value<'v>>,
        eval: &Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Self> {
        Ok(Self {
            function,
            or_none: flag(function, "or_none", or_none)?,
            call: current()?,
            heap: eval.heap(),
        })
    }

    /// Sends the request and converts the answer.
    pub(super) fn answer<T: DeserializeOwned>(
        self,
        request: &HostRequest,
        make: impl FnOnce(T, Heap<'v>) -> Value<'v>,
    ) -> starlark::Result<Value<'v>> {
        match self.ask(request)? {
            Some(answer) => Ok(make(answer, self.heap)),
            None => Ok(Value::new_none()),
        }
    }

    /// Sends the request; `None` if it failed and the call has `or_none=True`.
    fn ask<T: DeserializeOwned>(&self, request: &HostRequest) -> Result<Option<T>, Complaint> {
        let answer = match self.call.host.ask(request) {
            Ok(answer) => answer,
            Err(Unanswered::Failed(_)) if self.or_none => return Ok(None),
            Err(why) => return Err(Complaint::unanswered(self.function, why)),
        };
        serde_json::from_value(answer).map(Some).map_err(|error| {
            let reason = format!("the host's answer was not understood: {error}");
            Complaint::failed(self.function, reason)
        })
    }
}

fn nothing<'v>(_: serde_json::Value, _: Heap<'v>) -> Value<'v> {
    Value::new_none()
}

/// A word quoted for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// How a program ended, as a dict, for calls with a program and its arguments.
fn ended_dict<'v>(ended: Ended, heap: Heap<'v>) -> Value<'v> {
    let exit = ended
        .exit
        .map_or_else(Value::new_none, |exit| heap.alloc(exit));
    heap.alloc(AllocDict([
        ("exit", exit),
        ("exit_code", exit),
        ("stdout", heap.alloc(ended.stdout)),
        ("stderr", heap.alloc(ended.stderr)),
        ("truncated", Value::new_bool(ended.truncated)),
    ]))
}

/// How a program ended, as `struct(exit, stdout, stderr, truncated)`.
pub(super) fn ended<'v>(ended: Ended, heap: Heap<'v>) -> Value<'v> {
    let exit = ended
        .exit
        .map_or_else(Value::new_none, |exit| heap.alloc(exit));
    heap.alloc(AllocStruct([
        ("exit", exit),
        ("stdout", heap.alloc(ended.stdout)),
        ("stderr", heap.alloc(ended.stderr)),
        ("truncated", Value::new_bool(ended.truncated)),
    ]))
}

fn fetched<'v>(fetched: Fetched, heap: Heap<'v>) -> Value<'v> {
    heap.alloc(AllocStruct([
        ("status", heap.alloc(i32::from(fetched.status))),
        ("headers", heap.alloc(AllocDict(fetched.headers))),
        ("body", heap.alloc(fetched.body)),
    ]))
}

fn matches<'v>(found: Matches, heap: Heap<'v>) -> Value<'v> {
    heap.alloc(AllocList(found.matches.into_iter().map(|found| {
        AllocStruct([
            ("path", heap.alloc(found.path)),
            ("line", heap.alloc(found.line)),
            ("text", heap.alloc(found.text)),
        ])
    })))
}

fn invoke<'v>(
    name: Value<'v>,
    tool: Option<Value<'v>>,
    input: Option<Value<'v>>,
    or_none: Option<Value<'v>>,
    eval: &Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    const ME: &str = "invoke_skill";
    let asking = Asking::new(ME, or_none, eval)?;
    let json = |source| Complaint::Json {
        function: ME,
        source,
    };
    let input = match input.filter(|input| !input.is_none()) {
        Some(input) => {
            let text = encode(input, asking.call.limits.output).map_err(json)?;
            serde_json::from_str(&text)
                .map_err(|error| Complaint::failed(ME, format!("input: {error}")))?
        }
        None => serde_json::json!({}),
    };
    let request = HostRequest::InvokeSkill {
        name: text(ME, "name", name)?.to_owned(),
        tool: optional_text(ME, "tool", tool)?,
        input,
    };
    match asking.ask::<ToolOutput>(&request)? {
        Some(output) if !output.is_error => Ok(decode(&output.output, asking.heap).map_err(json)?),
        Some(output) if !asking.or_none => {
            let reason = match output.output {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            };
            Err(Complaint::failed(ME, reason).into())
        }
        _ => Ok(Value::new_none()),
    }
}

fn write_log(function: &'static str, level: &str, message: &str) -> starlark::Result<NoneType> {
    let call = current()?;
    let sent = match call.may_log(message.len() + 1) {
        Some(true) => call.host.log(level, message),
        Some(false) => {
            let bytes = call.limits.output;
            let notice =
                format!("more than {bytes} bytes in one call: the rest of the log is omitted");
            call.host.log("warn", &notice)
        }
        None => Ok(()),
    };
    sent.map_err(|why| Complaint::unanswered(function, why))?;
    Ok(NoneType)
}
