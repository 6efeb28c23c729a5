//! The inside of a worker of ours: a line to the host, one message a line, and one call at a time.
//!
//! An interpreter in a room of its own ([`Channel`]) answers the host, and may ask it ([`Host`]) while it does. A call of the host
//! may need the host: the skill asks, and nothing else happens until the answer is there. There are no
//! threads (the room in which this runs forbids them), so whatever comes in meanwhile is dealt with here: a `cancel` of the
//! call that is under way ends it, `shutdown` ends everything, and another call is told to wait. It is not put into a queue,
//! since a skill that invokes another that invokes the first would wait for itself.

use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, Read, Write};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::{HostRequest, MAX_FRAME, RpcError, code, method};

/// Why nothing more can be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The host can't be heard.
    #[error("can't read from the host")]
    Read(#[source] io::Error),
    /// The host can't be answered.
    #[error("can't write to the host")]
    Write(#[source] io::Error),
    /// A message without an end.
    #[error("a message of the host is longer than {MAX_FRAME} bytes")]
    FrameTooLong,
    /// The host went away while the skill waited for it.
    #[error("the host closed the line while it was asked something")]
    Closed,
    /// A call had to be ended, and what it left behind would go on in the next one.
    #[error("a call was ended, and nothing more can be done in the same engine")]
    Spent,
}

/// What a skill can ask, whoever answers.
pub trait Host {
    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// It was refused or went wrong, or nobody is there to answer.
    fn ask(&self, request: &HostRequest) -> Result<Value, Unanswered>;
    /// Has a line written down; nobody waits.
    ///
    /// # Errors
    /// The line is too long, or the host is gone.
    fn log(&self, level: &str, message: &str) -> Result<(), Unanswered>;
}

/// Why there is no answer.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Unanswered {
    /// It is not permitted.
    #[error("{0}")]
    Refused(RpcError),
    /// It was permitted and did not work.
    #[error("{0}")]
    Failed(RpcError),
    /// Nobody waits for the call any more, or the host is gone.
    #[error("{0}")]
    Ended(&'static str),
}

/// A message of the host.
#[derive(Debug, Default, Deserialize)]
struct Frame {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Value>,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<RpcError>,
}

/// What the host wants.
#[derive(Debug)]
pub struct Request {
    /// What the answer must carry.
    pub id: Value,
    /// One of [`method`], or a word that is none.
    pub method: String,
    /// As they came.
    pub params: Value,
}

enum Incoming {
    Request(Request),
    Notification(String, Value),
    Answer(Value, Result<Value, RpcError>),
    /// No message; the sender was told.
    Nothing,
}

/// A reader and a writer, and what is going on between them.
pub struct Channel<R, W> {
    input: RefCell<R>,
    output: RefCell<W>,
    /// The last number given to a request of ours.
    asked: Cell<u64>,
    /// The host's number of the call that is under way.
    current: RefCell<Value>,
    /// What ended the line, if it ended in the middle of a call.
    broken: RefCell<Option<ServeError>>,
    /// A `shutdown` that came in the middle of a call.
    leaving: RefCell<Option<Request>>,
}

impl<R: BufRead, W: Write> Channel<R, W> {
    /// A line that nothing was said on yet.
    pub const fn new(input: R, output: W) -> Self {
        Self {
            input: RefCell::new(input),
            output: RefCell::new(output),
            asked: Cell::new(0),
            current: RefCell::new(Value::Null),
            broken: RefCell::new(None),
            leaving: RefCell::new(None),
        }
    }

    /// The next request; nothing when the host has closed the line.
    ///
    /// # Errors
    /// The line broke, now or in the middle of the last call.
    pub fn next(&self) -> Result<Option<Request>, ServeError> {
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        if let Some(request) = self.leaving.take() {
            return Ok(Some(request));
        }
        while let Some(incoming) = self.read()? {
            if let Incoming::Request(request) = incoming {
                self.current.replace(request.id.clone());
                return Ok(Some(request));
            }
        }
        Ok(None)
    }

    /// Answers a request with a result that is JSON already.
    ///
    /// # Errors
    /// The host can't be answered.
    pub fn answer(&self, id: &Value, result: &str) -> Result<(), ServeError> {
        self.write(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
        ))
    }

    /// Answers a request with an error.
    ///
    /// # Errors
    /// The host can't be answered.
    pub fn fail(&self, id: &Value, error: &RpcError) -> Result<(), ServeError> {
        let error =
            serde_json::to_string(error).map_err(|error| ServeError::Write(error.into()))?;
        self.write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
    }

    fn write(&self, line: &str) -> Result<(), ServeError> {
        let mut output = self.output.borrow_mut();
        output
            .write_all(line.as_bytes())
            .and_then(|()| output.write_all(b"\n"))
            .and_then(|()| output.flush())
            .map_err(ServeError::Write)
    }

    fn read(&self) -> Result<Option<Incoming>, ServeError> {
        let Some(line) = self.read_line()? else {
            return Ok(None);
        };
        if line.trim_ascii().is_empty() {
            return Ok(Some(Incoming::Nothing));
        }
        let frame = match parse(&line) {
            Ok(frame) => frame,
            Err(error) => {
                self.fail(&Value::Null, &error)?;
                return Ok(Some(Incoming::Nothing));
            }
        };
        Ok(Some(match frame {
            Frame {
                method: Some(method),
                id: Some(id),
                params,
                ..
            } => Incoming::Request(Request {
                id,
                method,
                params: params.unwrap_or_default(),
            }),
            Frame {
                method: Some(method),
                params,
                ..
            } => Incoming::Notification(method, params.unwrap_or_default()),
            Frame {
                id: Some(id),
                error,
                result,
                ..
            } => Incoming::Answer(id, error.map_or(Ok(result.unwrap_or_default()), Err)),
            Frame { .. } => {
                let error =
                    RpcError::new(code::INVALID, "a message has a method or an id".to_owned());
                self.fail(&Value::Null, &error)?;
                Incoming::Nothing
            }
        }))
    }

    fn read_line(&self) -> Result<Option<Vec<u8>>, ServeError> {
        let mut line = Vec::new();
        let mut input = self.input.borrow_mut();
        let most = u64::try_from(MAX_FRAME).unwrap_or(u64::MAX) + 1;
        let read = input
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut line)
            .map_err(ServeError::Read)?;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        match read {
            0 => Ok(None),
            _ if line.len() > MAX_FRAME => Err(ServeError::FrameTooLong),
            _ => Ok(Some(line)),
        }
    }

    /// Waits for the answer to our request of this number.
    fn wait(&self, id: u64) -> Result<Result<Value, Unanswered>, ServeError> {
        while let Some(incoming) = self.read()? {
            match incoming {
                Incoming::Answer(of, answer) if of.as_u64() == Some(id) => {
                    return Ok(answer.map_err(|error| match error.code {
                        code::REFUSED => Unanswered::Refused(error),
                        _ => Unanswered::Failed(error),
                    }));
                }
                Incoming::Notification(name, params)
                    if name == method::CANCEL
                        && params.get("id") == Some(&*self.current.borrow()) =>
                {
                    return Ok(Err(Unanswered::Ended("the host cancelled this call")));
                }
                Incoming::Request(request) if request.method == method::SHUTDOWN => {
                    self.leaving.replace(Some(request));
                    return Ok(Err(Unanswered::Ended("the host ends this skill")));
                }
                Incoming::Request(request) => {
                    let message = "this skill is busy: it does one call at a time".to_owned();
                    self.fail(&request.id, &RpcError::new(code::FAILED, message))?;
                }
                Incoming::Answer(..) | Incoming::Notification(..) | Incoming::Nothing => {}
            }
        }
        Err(ServeError::Closed)
    }

    /// A line that ended in the middle of a call: the handler is told, and [`Self::next`] tells the caller.
    fn broke(&self, error: ServeError) -> Unanswered {
        self.broken.replace(Some(error));
        Unanswered::Ended("the host is gone")
    }

    fn send(&self, message: &Outgoing<'_>) -> Result<(), Unanswered> {
        let line = serde_json::to_string(message).map_err(|error| failed(error.to_string()))?;
        if line.len() > MAX_FRAME {
            return Err(failed(format!(
                "that makes a message of {} bytes, and the longest has {MAX_FRAME}",
                line.len()
            )));
        }
        self.write(&line).map_err(|error| self.broke(error))
    }
}

impl<R: BufRead, W: Write> Host for Channel<R, W> {
    fn ask(&self, request: &HostRequest) -> Result<Value, Unanswered> {
        let id = self.asked.get() + 1;
        self.asked.set(id);
        self.send(&Outgoing::new(Some(id), request))?;
        self.wait(id).unwrap_or_else(|error| Err(self.broke(error)))
    }

    fn log(&self, level: &str, message: &str) -> Result<(), Unanswered> {
        let request = HostRequest::Log {
            level: Some(level.to_owned()),
            message: message.to_owned(),
        };
        self.send(&Outgoing::new(None, &request))
    }
}

fn parse(line: &[u8]) -> Result<Frame, RpcError> {
    let failed = |error: serde_json::Error| {
        let code = if error.is_data() {
            code::INVALID
        } else {
            code::PARSE
        };
        RpcError::new(code, error.to_string())
    };
    // The reader would take a list for a message whose fields have no names.
    if line.trim_ascii_start().first() != Some(&b'{') {
        serde_json::from_slice::<IgnoredAny>(line).map_err(failed)?;
        let message = "a message is an object".to_owned();
        return Err(RpcError::new(code::INVALID, message));
    }
    serde_json::from_slice(line).map_err(failed)
}

#[derive(Serialize)]
struct Outgoing<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(flatten)]
    request: &'a HostRequest,
}

impl<'a> Outgoing<'a> {
    const fn new(id: Option<u64>, request: &'a HostRequest) -> Self {
        Self {
            jsonrpc: "2.0",
            id,
            request,
        }
    }
}

fn failed(message: String) -> Unanswered {
    Unanswered::Failed(RpcError::new(code::FAILED, message))
}
