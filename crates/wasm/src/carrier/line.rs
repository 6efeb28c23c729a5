//! The talk with a command: which line it reads next, and what becomes of those that it writes.
//!
//! It reads what a process would read: `initialize`, the call, `shutdown`, one after the other, and in between the answers to
//! what it asks, each before anything else. One read never gets more than one line: whoever reads with a buffer would
//! otherwise find the call where it looks for an answer. When there is nothing more, the input ends.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use metier_sdk::wire::{MAX_FRAME, RpcError, code, method};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Request, present, too_long};
use crate::{
    counter::{Asks, Question, Reply},
    said::Mouth,
    trouble::{Broke, Trouble, shown},
};

/// How many lines of a call may be nobody's: no message, no answer to what was asked, no notification that is known.
const STRAY: u32 = 1_000;

/// The ids of our requests.
const FIRST: u64 = 1;
const SECOND: u64 = 2;
const THIRD: u64 = 3;

/// The talk of one call.
#[derive(Clone)]
pub(crate) struct Talk(Arc<Mutex<Inner>>);

struct Inner {
    /// Lines that come when it reads and nothing else is to be read.
    script: VecDeque<Bytes>,
    /// What it reads next.
    input: VecDeque<Bytes>,
    /// A line that it has begun to write.
    partial: Vec<u8>,
    asked: VecDeque<Question>,
    /// How many questions were not answered yet.
    open: usize,
    /// The id of the request whose answer counts.
    wanted: u64,
    answer: Option<Reply>,
    stray: u32,
    mouth: Mouth,
}

#[derive(Serialize)]
struct Outgoing<'a> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a Value,
}

#[derive(Serialize)]
struct Answering<'a> {
    jsonrpc: &'static str,
    id: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default)]
    error: Option<RpcError>,
}

impl Talk {
    pub(super) fn new(request: &Request<'_>, mouth: &Mouth) -> Result<Self, Trouble> {
        let nothing = json!({});
        let mut script = vec![line(FIRST, method::INITIALIZE, request.about)?];
        let wanted = if request.method == method::INITIALIZE {
            script.push(line(SECOND, method::SHUTDOWN, &nothing)?);
            FIRST
        } else {
            script.push(line(SECOND, request.method, request.params)?);
            script.push(line(THIRD, method::SHUTDOWN, &nothing)?);
            SECOND
        };
        Ok(Self(Arc::new(Mutex::new(Inner {
            script: script.into(),
            input: VecDeque::new(),
            partial: Vec::new(),
            asked: VecDeque::new(),
            open: 0,
            wanted,
            answer: None,
            stray: 0,
            mouth: mouth.clone(),
        }))))
    }

    /// The answer, if there was one.
    pub(super) fn answer(&self) -> Option<Reply> {
        self.inner().answer.take()
    }

    /// Whether it has to wait until what it asked is answered.
    pub(super) fn waits(&self) -> bool {
        self.inner().open > 0
    }

    /// The next bytes that it reads, of one line; nothing at the end.
    pub(super) fn read(&self, size: usize) -> Option<Bytes> {
        let mut inner = self.inner();
        if inner.input.is_empty() {
            let next = inner.script.pop_front()?;
            inner.input.push_back(next);
        }
        let mut line = inner.input.pop_front()?;
        let part = line.split_to(size.min(line.len()));
        if !line.is_empty() {
            inner.input.push_front(line);
        }
        Some(part)
    }

    /// Takes what it writes.
    pub(super) fn write(&self, mut bytes: &[u8]) -> Result<(), Broke> {
        let mut inner = self.inner();
        while let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
            let (end, rest) = bytes.split_at(at);
            inner.extend(end)?;
            let line = std::mem::take(&mut inner.partial);
            inner.hear(line.trim_ascii())?;
            bytes = rest.get(1..).unwrap_or_default();
        }
        inner.extend(bytes)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn extend(&mut self, bytes: &[u8]) -> Result<(), Broke> {
        if self.partial.len() + bytes.len() > MAX_FRAME {
            return Err(Broke(format!(
                "a line is longer than {MAX_FRAME} bytes; each message is one line"
            )));
        }
        self.partial.extend(bytes);
        Ok(())
    }

    /// Understands a line.
    fn hear(&mut self, line: &[u8]) -> Result<(), Broke> {
        if line.is_empty() {
            return Ok(());
        }
        let Ok(message) = serde_json::from_slice::<Message>(line) else {
            let text = shown(&String::from_utf8_lossy(line));
            let said = format!("on standard output, and no message: {text}\n");
            self.mouth.say(said.as_bytes());
            return self.stray(&text);
        };
        let Message {
            id,
            method,
            params,
            result,
            error,
        } = message;
        let Some(method) = method else {
            return self.answered(&id, result, error);
        };
        if id.is_null() && method != "host/log" {
            return self.stray(&method);
        }
        self.open += 1;
        self.asked.push_back(Question {
            id,
            method,
            params: params.unwrap_or_else(|| json!({})),
        });
        Ok(())
    }

    fn answered(
        &mut self,
        id: &Value,
        result: Option<Value>,
        error: Option<RpcError>,
    ) -> Result<(), Broke> {
        let id = id.as_u64();
        let answer = match (result, error) {
            (_, Some(error)) => Err(error),
            (Some(result), None) => Ok(result),
            (None, None) => return self.stray("neither a result nor an error"),
        };
        // Whoever can't be initialized can't answer either.
        let fails = id == Some(FIRST) && answer.is_err();
        if (id == Some(self.wanted) || fails) && self.answer.is_none() {
            self.answer = Some(answer);
            return Ok(());
        }
        match id {
            Some(FIRST..=THIRD) => Ok(()),
            _ => self.stray("an answer to nothing that was asked"),
        }
    }

    fn stray(&mut self, what: &str) -> Result<(), Broke> {
        self.stray += 1;
        if self.stray <= STRAY {
            return Ok(());
        }
        Err(Broke(format!(
            "wrote more than {STRAY} lines in one call that nobody waits for, the last: {}",
            shown(what)
        )))
    }
}

impl Asks for Talk {
    fn question(&self) -> Option<Question> {
        self.inner().asked.pop_front()
    }

    fn answer(&self, id: Value, reply: Reply) {
        let mut inner = self.inner();
        inner.open = inner.open.saturating_sub(1);
        if !id.is_null() {
            inner.input.push_back(answering(&id, &reply));
        }
    }
}

/// A request, as a line.
fn line(id: u64, method: &str, params: &Value) -> Result<Bytes, Trouble> {
    let request = Outgoing {
        jsonrpc: "2.0",
        id,
        method,
        params,
    };
    let mut line =
        serde_json::to_vec(&request).map_err(|error| Trouble::Protocol(error.to_string()))?;
    if line.len() > MAX_FRAME {
        return Err(Trouble::Answered(too_long("the request", line.len())));
    }
    line.push(b'\n');
    Ok(line.into())
}

/// An answer, as a line.
fn answering(id: &Value, reply: &Reply) -> Bytes {
    let write = |reply: &Reply| {
        let mut line = serde_json::to_vec(&Answering {
            jsonrpc: "2.0",
            id,
            result: reply.as_ref().ok(),
            error: reply.as_ref().err(),
        })
        .unwrap_or_default();
        line.push(b'\n');
        line
    };
    let answer = write(reply);
    if answer.len() <= MAX_FRAME {
        return answer.into();
    }
    let error = RpcError {
        code: code::FAILED,
        ..too_long("the answer", answer.len())
    };
    write(&Err(error)).into()
}
