//! The worker's side of a connection to the host: one message per line, one call at a time.
//!
//! A sandboxed interpreter answers the host over a [`Channel`], and can send requests to it ([`WorkerHost`]) during a call:
//! the skill asks, and nothing else happens until the answer arrives. There are no
//! threads (the sandbox forbids them), so other messages are handled while it waits: a `cancel` of the
//! current call ends it, `shutdown` ends everything, and another call is refused. There is no queue,
//! because a skill that invokes another that invokes the first would wait for itself.

use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, Write};

use serde_json::Value;

use crate::wire::envelope::{
    Body, Envelope, LineTooLong, Lines, Message, TooLong, append_json_answer,
};
use crate::wire::{HostRequest, RpcError, code, method};

/// Why a worker stops serving.
#[derive(Debug, thiserror::Error)]
pub enum WorkerServeError {
    /// Reading from the host failed.
    #[error("can't read from the host")]
    Read(#[source] io::Error),
    /// Writing to the host failed.
    #[error("can't write to the host")]
    Write(#[source] io::Error),
    /// A message of the host is too long.
    #[error(transparent)]
    FrameTooLong(#[from] LineTooLong),
    /// The host closed the connection while the skill waited for an answer.
    #[error("the host closed the connection during a request")]
    Closed,
    /// A call was stopped; its leftovers would continue in the next one.
    #[error("a call was stopped; its engine can't be used again")]
    Spent,
}

/// The host of a skill.
pub trait WorkerHost {
    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// The request was refused or failed, or the host closed the connection.
    fn ask(&self, request: &HostRequest) -> Result<Value, Unanswered>;
    /// Sends a line for the log, without waiting.
    ///
    /// # Errors
    /// The line is too long, or the host closed the connection.
    fn log(&self, level: &str, message: &str) -> Result<(), Unanswered>;
}

/// Why a request has no answer.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Unanswered {
    /// The request is not permitted.
    #[error("{0}")]
    Refused(RpcError),
    /// The request was permitted and failed.
    #[error("{0}")]
    Failed(RpcError),
    /// The call was cancelled, or the host closed the connection.
    #[error("{0}")]
    Ended(&'static str),
}

/// A request of the host.
#[derive(Debug)]
pub struct WorkerRequest {
    /// The id for the answer.
    pub id: Value,
    /// One of [`method`], or an unknown name.
    pub method: String,
    /// The parameters, unchecked.
    pub params: Value,
}

/// A connection to the host: a reader, a writer and the state between them.
pub struct Channel<R, W> {
    input: RefCell<R>,
    lines: RefCell<Lines>,
    output: RefCell<W>,
    /// The id of our last request.
    asked: Cell<u64>,
    /// The host's id of the current call.
    current: RefCell<Value>,
    /// The error that broke the connection during a call.
    broken: RefCell<Option<WorkerServeError>>,
    /// A `shutdown` that arrived during a call.
    leaving: RefCell<Option<WorkerRequest>>,
}

impl<R: BufRead, W: Write> Channel<R, W> {
    /// A new connection.
    pub fn new(input: R, output: W) -> Self {
        Self {
            input: RefCell::new(input),
            lines: RefCell::default(),
            output: RefCell::new(output),
            asked: Cell::new(0),
            current: RefCell::new(Value::Null),
            broken: RefCell::new(None),
            leaving: RefCell::new(None),
        }
    }

    /// The next request; `None` when the host has closed the connection.
    ///
    /// # Errors
    /// The connection broke, now or during the last call.
    pub fn next(&self) -> Result<Option<WorkerRequest>, WorkerServeError> {
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        if let Some(request) = self.leaving.take() {
            return Ok(Some(request));
        }
        while let Some(message) = self.read()? {
            if let Message::Request { id, method, params } = message {
                self.current.replace(id.clone());
                return Ok(Some(WorkerRequest { id, method, params }));
            }
        }
        Ok(None)
    }

    /// Answers a request with a result that is JSON already.
    ///
    /// # Errors
    /// Writing to the host failed.
    pub fn answer(&self, id: &Value, result: &str) -> Result<(), WorkerServeError> {
        let mut line = Vec::with_capacity(result.len() + 64);
        append_json_answer(&mut line, id, result);
        self.write(&line)
    }

    /// Answers a request with an error.
    ///
    /// # Errors
    /// Writing to the host failed.
    pub fn fail(&self, id: &Value, error: &RpcError) -> Result<(), WorkerServeError> {
        let mut line = Vec::new();
        let sent = Envelope::answer(id, Body::Error { error }).append_to(&mut line);
        if let Err(size) = sent {
            let error = &size.error(error.code, "the error");
            let _short = Envelope::answer(id, Body::Error { error }).append_to(&mut line);
        }
        self.write(&line)
    }

    fn write(&self, line: &[u8]) -> Result<(), WorkerServeError> {
        let mut output = self.output.borrow_mut();
        let written = output.write_all(line).and_then(|()| output.flush());
        written.map_err(WorkerServeError::Write)
    }

    /// The next message; a line that is not one is answered with an error.
    fn read(&self) -> Result<Option<Message>, WorkerServeError> {
        loop {
            let mut lines = self.lines.borrow_mut();
            let mut input = self.input.borrow_mut();
            let line = lines
                .read_from(&mut *input)
                .map_err(WorkerServeError::Read)?;
            let Some(line) = line.transpose()? else {
                return Ok(None);
            };
            match Message::parse(line) {
                Ok(message) => return Ok(Some(message)),
                Err(malformed) => self.fail(&malformed.id, &malformed.error())?,
            }
        }
    }

    /// Waits for the answer to our request with this id.
    fn wait(&self, id: u64) -> Result<Result<Value, Unanswered>, WorkerServeError> {
        while let Some(message) = self.read()? {
            match message {
                Message::Answer { id: of, answer } if of.as_u64() == Some(id) => {
                    return Ok(answer.map_err(|error| match error.code {
                        code::REFUSED => Unanswered::Refused(error),
                        _ => Unanswered::Failed(error),
                    }));
                }
                Message::Notification { method, params }
                    if method == method::CANCEL
                        && params.get("id") == Some(&*self.current.borrow()) =>
                {
                    return Ok(Err(Unanswered::Ended("the host cancelled this call")));
                }
                Message::Request { id, method, params } if method == method::SHUTDOWN => {
                    self.leaving
                        .replace(Some(WorkerRequest { id, method, params }));
                    return Ok(Err(Unanswered::Ended("the host is stopping this skill")));
                }
                Message::Request { id, .. } => {
                    let message = "this skill is busy: it handles one call at a time";
                    self.fail(&id, &RpcError::new(code::FAILED, message))?;
                }
                Message::Answer { .. } | Message::Notification { .. } => {}
            }
        }
        Err(WorkerServeError::Closed)
    }

    /// Notes that the connection broke during a call: the handler gets this error, and [`Self::next`] returns it.
    fn broke(&self, error: WorkerServeError) -> Unanswered {
        self.broken.replace(Some(error));
        Unanswered::Ended("the host closed the connection")
    }

    fn send(&self, id: Option<u64>, request: &HostRequest) -> Result<(), Unanswered> {
        let mut line = Vec::new();
        let too_long = |size: TooLong| Unanswered::Failed(size.error(code::FAILED, "the request"));
        Envelope::request(id, Body::Question(request))
            .append_to(&mut line)
            .map_err(too_long)?;
        self.write(&line).map_err(|error| self.broke(error))
    }
}

impl<R: BufRead, W: Write> WorkerHost for Channel<R, W> {
    fn ask(&self, request: &HostRequest) -> Result<Value, Unanswered> {
        let id = self.asked.get() + 1;
        self.asked.set(id);
        self.send(Some(id), request)?;
        self.wait(id).unwrap_or_else(|error| Err(self.broke(error)))
    }

    fn log(&self, level: &str, message: &str) -> Result<(), Unanswered> {
        let request = HostRequest::Log {
            level: Some(level.to_owned()),
            message: message.to_owned(),
        };
        self.send(None, &request)
    }
}
