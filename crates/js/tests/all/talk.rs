//! The script of a host: its requests, and its answers to requests.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, Read, Write};
use std::rc::Rc;
use std::time::Duration;

use metier_js::{JsLimits, WorkerServeError, serve};
use serde_json::{Value, json};

/// The host's answer to a request: a result, or an error's code and its reason code.
pub(crate) type Answer = Result<Value, (i32, &'static str)>;
type Host = Box<dyn FnMut(&str, &Value) -> Answer>;

/// A connection in memory: requests of the engine are answered immediately.
#[derive(Default)]
struct Line {
    to_guest: Vec<u8>,
    /// The host's requests, each sent when the previous one is answered.
    calls: VecDeque<Value>,
    unfinished: Vec<u8>,
    said: Vec<Value>,
}

struct Input(Rc<RefCell<Line>>, Vec<u8>);
struct Output(Rc<RefCell<Line>>, Host);

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.1.append(&mut self.0.borrow_mut().to_guest);
        Ok(&self.1)
    }

    fn consume(&mut self, count: usize) {
        self.1.drain(..count);
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut line = self.0.borrow_mut();
        line.unfinished.extend(bytes);
        while let Some(end) = line.unfinished.iter().position(|byte| *byte == b'\n') {
            let frame: Vec<u8> = line.unfinished.drain(..=end).collect();
            let frame: Value = serde_json::from_slice(&frame).expect("every line is a frame");
            assert_eq!(frame["jsonrpc"], "2.0", "{frame}");
            let next = match (frame["method"].as_str(), frame.get("id")) {
                (Some(method), Some(id)) => Some(match (self.1)(method, &frame["params"]) {
                    Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                    Err((code, reason)) => json!({"jsonrpc": "2.0", "id": id,
                        "error": {"code": code, "message": format!("the host says {reason}"), "data": {"code": reason}}}),
                }),
                (Some(_), None) => None,
                (None, _) => line.calls.pop_front(),
            };
            if let Some(next) = next {
                line.to_guest.extend(format!("{next}\n").bytes());
            }
            line.said.push(frame);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A session with an engine that has these files.
pub(crate) struct Talk {
    files: BTreeMap<String, String>,
    entrypoint: Option<&'static str>,
    handlers: Vec<Value>,
    calls: Vec<(&'static str, Value)>,
    host: Host,
    limits: JsLimits,
}

/// The results of a session.
#[derive(Debug)]
pub(crate) struct Said {
    /// The answer to `initialize`, and then one for each call.
    pub(crate) answers: Vec<Value>,
    /// Log lines with their levels.
    pub(crate) log: Vec<String>,
    /// Requests to the host, without log lines.
    pub(crate) asked: Vec<Value>,
    pub(crate) end: Result<(), String>,
}

impl Talk {
    /// A skill with one file and its default export as the handler.
    pub(crate) fn handler(file: &str, text: &str) -> Self {
        Self::files(&[(file, text)]).handle(file, "default")
    }

    pub(crate) fn files(files: &[(&str, &str)]) -> Self {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        Self {
            files: files.iter().map(owned).collect(),
            entrypoint: None,
            handlers: Vec::new(),
            calls: Vec::new(),
            host: Box::new(|_, _| Err((-32_001, "not-granted"))),
            limits: JsLimits {
                time: Duration::from_secs(2),
                ..JsLimits::default()
            },
        }
    }

    pub(crate) fn handle(mut self, file: &str, export: &str) -> Self {
        self.handlers.push(json!({"file": file, "export": export}));
        self
    }

    pub(crate) fn entrypoint(mut self, file: &'static str) -> Self {
        self.entrypoint = Some(file);
        self
    }

    /// Another file of the skill.
    pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    pub(crate) fn host(mut self, host: impl FnMut(&str, &Value) -> Answer + 'static) -> Self {
        self.host = Box::new(host);
        self
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(&mut JsLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    pub(crate) fn call(mut self, method: &'static str, params: Value) -> Self {
        self.calls.push((method, params));
        self
    }

    /// An event for the first handler, with this context.
    pub(crate) fn event(self, context: &Value) -> Self {
        self.call("openclaw/handle", handle(0, context))
    }

    pub(crate) fn run(self) -> Said {
        let initialize = json!({"protocol": 1, "skill": "s", "directory": "/skills/s", "project": "/project",
            "entrypoint": self.entrypoint, "handlers": self.handlers, "sources": self.files});
        let line = Rc::new(RefCell::new(Line::default()));
        let calls = [("initialize", initialize)].into_iter().chain(self.calls);
        for (id, (method, params)) in calls.enumerate() {
            let frame = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            line.borrow_mut().calls.push_back(frame);
        }
        let first = line.borrow_mut().calls.pop_front().expect("`initialize`");
        line.borrow_mut().to_guest = format!("{first}\n").into_bytes();
        let input = Input(Rc::clone(&line), Vec::new());
        let output = Output(Rc::clone(&line), self.host);
        let end =
            serve(input, output, &self.limits).map_err(|error: WorkerServeError| error.to_string());
        let said = std::mem::take(&mut line.borrow_mut().said);
        let (mut answers, mut log, mut asked) = (Vec::new(), Vec::new(), Vec::new());
        for frame in said {
            match frame["method"].as_str() {
                None => answers.push(frame),
                Some("host/log") => log.push(format!(
                    "{}: {}",
                    text(&frame["params"]["level"]),
                    text(&frame["params"]["message"])
                )),
                Some(_) => asked.push(json!([frame["method"], frame["params"]])),
            }
        }
        Said {
            answers,
            log,
            asked,
            end,
        }
    }
}

impl Said {
    /// The changes of the last call.
    #[track_caller]
    pub(crate) fn event(&self) -> Value {
        let last = self.answers.last().expect("an answer");
        assert!(last.get("result").is_some(), "{self:?}");
        last["result"]["event"].clone()
    }

    /// The context after the last call.
    #[track_caller]
    pub(crate) fn context(&self) -> Value {
        self.event()["context"].clone()
    }

    /// The error in the last answer: of a call, or of a handler that was not loaded.
    #[track_caller]
    pub(crate) fn error(&self) -> String {
        let last = self.answers.last().expect("an answer");
        match &last["result"]["failed_handlers"][0]["reason"] {
            Value::Null => text(&last["error"]["message"]),
            reason => text(reason),
        }
    }
}

pub(crate) fn handle(handler: usize, context: &Value) -> Value {
    json!({"handler": handler, "event": {"type": "agent", "action": "bootstrap", "sessionKey": "main",
        "timestamp": "2026-01-02T03:04:05.006Z", "messages": ["first"], "context": context}})
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| panic!("no text: {value}"), str::to_owned)
}

/// The value that a handler with this body stores in the context; `out` is its variable for it.
#[track_caller]
pub(crate) fn out(body: &str) -> Value {
    let text =
        format!("export default async (event) => {{ let out; {body}\n event.context.out = out; }}");
    let said = Talk::handler("h.mjs", &text).event(&json!({})).run();
    said.context()["out"].clone()
}
