//! The scripted host. It sends only when the interpreter waits for a line, so no thread is needed: reading drives it.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufReader, Read, Write};
use std::rc::Rc;

use metier_sdk::wire::code;
use metier_starlark::{StarlarkLimits, WorkerServeError, serve};
use serde_json::{Value, json};

/// The host's answer to a request: a result, or an error with its code.
pub(crate) type Said = Result<Value, (i32, &'static str)>;
type Host = Box<dyn FnMut(&str, &Value) -> Said>;

/// A skill and the requests to it.
pub(crate) struct Session {
    sources: BTreeMap<String, String>,
    config: Value,
    permissions: Vec<&'static str>,
    entrypoint: &'static str,
    limits: StarlarkLimits,
    lines: VecDeque<String>,
    host: Host,
    silent: bool,
}

/// The exchanged messages.
pub(crate) struct Transcript {
    /// The answers of the interpreter, in order; the first is the one to `initialize`.
    pub(crate) answers: Vec<Value>,
    /// The interpreter's requests, as method and parameters; log lines are among them.
    pub(crate) asked: Vec<(String, Value)>,
    pub(crate) end: Result<(), WorkerServeError>,
}

impl Session {
    pub(crate) fn new(source: &str) -> Self {
        Self {
            sources: BTreeMap::from([("skill.star".to_owned(), source.to_owned())]),
            config: Value::Null,
            permissions: Vec::new(),
            entrypoint: "skill.star",
            limits: StarlarkLimits::default(),
            lines: VecDeque::new(),
            host: Box::new(|_, _| Err((code::FAILED, "there is no host"))),
            silent: false,
        }
    }

    pub(crate) fn file(mut self, path: &str, source: &str) -> Self {
        self.sources.insert(path.to_owned(), source.to_owned());
        self
    }

    pub(crate) fn entrypoint(mut self, path: &'static str) -> Self {
        self.entrypoint = path;
        self
    }

    pub(crate) fn config(mut self, config: Value, permissions: &[&'static str]) -> Self {
        self.config = config;
        self.permissions = permissions.to_vec();
        self
    }

    pub(crate) fn limits(mut self, limits: StarlarkLimits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn host(mut self, host: impl FnMut(&str, &Value) -> Said + 'static) -> Self {
        self.host = Box::new(host);
        self
    }

    pub(crate) fn line(mut self, line: impl Into<String>) -> Self {
        self.lines.push_back(line.into());
        self
    }

    pub(crate) fn call(self, method: &str, params: impl Into<Value>) -> Self {
        let params: Value = params.into();
        let id = self.lines.len() + 1;
        self.line(
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        )
    }

    pub(crate) fn tool(self, name: &str, input: impl Into<Value>) -> Self {
        let input: Value = input.into();
        self.call("tool/execute", json!({"name": name, "input": input}))
    }

    /// A host that answers nothing, and disconnects after the last line.
    pub(crate) fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// Sends `initialize` and then everything else.
    pub(crate) fn run(mut self) -> Transcript {
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocol": 1, "skill": "greeter", "directory": "/skills/greeter", "config": self.config,
            "permissions": self.permissions, "entrypoint": self.entrypoint, "sources": self.sources,
        }});
        self.lines.push_front(initialize.to_string());
        self.run_as_is()
    }

    pub(crate) fn run_as_is(self) -> Transcript {
        let shared = Rc::new(RefCell::new(Shared::default()));
        let reader = Reader {
            shared: Rc::clone(&shared),
            lines: self.lines,
            host: self.host,
            silent: self.silent,
            pending: Vec::new(),
        };
        let end = serve(
            BufReader::new(reader),
            Writer(Rc::clone(&shared)),
            &self.limits,
        );
        let mut shared = shared.borrow_mut();
        shared.take_lines();
        Transcript {
            answers: std::mem::take(&mut shared.answers),
            asked: std::mem::take(&mut shared.asked),
            end,
        }
    }
}

impl Transcript {
    /// The last answer's result.
    pub(crate) fn result(&self) -> &Value {
        &self.answers.last().expect("no answer")["result"]
    }

    /// The last answer's `output`, which must not be an error.
    pub(crate) fn output(&self) -> &Value {
        assert_ne!(self.result()["is_error"], true, "{}", self.result());
        &self.result()["output"]
    }

    /// The error in the last answer.
    pub(crate) fn complaint(&self) -> &str {
        let last = self.answers.last().expect("no answer");
        if last["result"]["is_error"] == true {
            return last["result"]["output"].as_str().expect("no text");
        }
        last["error"]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("no complaint: {last}"))
    }

    /// The code of the last answer's error.
    pub(crate) fn code(&self) -> i64 {
        self.answers
            .last()
            .and_then(|last| last["error"]["code"].as_i64())
            .expect("no error")
    }
}

/// The output of the tool `t` of a skill whose handler has this body.
pub(crate) fn body(body: &str) -> Session {
    let lines: Vec<String> = body.lines().map(|line| format!("    {line}\n")).collect();
    Session::new(&format!(
        "def t(input):\n{}register_tool(\"t\", \"\", t)\n",
        lines.concat()
    ))
    .tool("t", json!({}))
}

/// The value of an expression in a handler.
pub(crate) fn value(expression: &str) -> Value {
    body(&format!("return {expression}")).run().output().clone()
}

#[derive(Default)]
struct Shared {
    written: Vec<u8>,
    answers: Vec<Value>,
    asked: Vec<(String, Value)>,
    /// Requests that the host has not answered.
    open: Vec<(Value, String, Value)>,
}

impl Shared {
    fn take_lines(&mut self) {
        let written = std::mem::take(&mut self.written);
        for line in written
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let message: Value = serde_json::from_slice(line).expect("the guest wrote no JSON");
            assert_eq!(message["jsonrpc"], "2.0");
            let Some(method) = message["method"].as_str() else {
                self.answers.push(message);
                continue;
            };
            self.asked
                .push((method.to_owned(), message["params"].clone()));
            if !message["id"].is_null() {
                self.open.push((
                    message["id"].clone(),
                    method.to_owned(),
                    message["params"].clone(),
                ));
            }
        }
    }
}

struct Writer(Rc<RefCell<Shared>>);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Reader {
    shared: Rc<RefCell<Shared>>,
    lines: VecDeque<String>,
    host: Host,
    silent: bool,
    pending: Vec<u8>,
}

impl Reader {
    fn next_line(&mut self) -> Option<String> {
        let mut shared = self.shared.borrow_mut();
        shared.take_lines();
        let open = if self.silent { None } else { shared.open.pop() };
        let Some((id, method, params)) = open else {
            return self.lines.pop_front();
        };
        // The host may send something else first: everything before a line `answer`.
        if self.lines.front().is_some_and(|line| line == "answer") {
            self.lines.pop_front();
        } else if self.lines.iter().any(|line| line == "answer") {
            shared.open.push((id, method, params));
            return self.lines.pop_front();
        }
        Some(match (self.host)(&method, &params) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
            Err((code, message)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
                    .to_string()
            }
        })
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.pending.is_empty()
            && let Some(line) = self.next_line()
        {
            self.pending = line.into_bytes();
            self.pending.push(b'\n');
        }
        let count = buffer.len().min(self.pending.len());
        buffer[..count].copy_from_slice(&self.pending[..count]);
        self.pending.drain(..count);
        Ok(count)
    }
}
