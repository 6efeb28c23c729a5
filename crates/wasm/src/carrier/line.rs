//! The messages of a command: the lines that it reads, and those that it writes.
//!
//! It reads the same lines as a process: `initialize`, the call, `shutdown`, in this order, and between them the answers to
//! its requests, each immediately after the request. One read never returns more than one line: a buffered reader could
//! otherwise get the call where it expects an answer. After the last line the input ends.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use metier_sdk::wire::{
    code,
    envelope::{Body, Envelope, Lines, Message, append_answer},
    method,
};
use serde_json::{Value, json};

use super::CarrierRequest;
use crate::{
    captured_output::OutputSink,
    error::{GuestFailure, WasmCallError, shown},
    question_slot::{Asks, Question, QuestionReply},
};

/// How many messages of a call can be malformed lines, unexpected answers and unknown notifications.
const STRAY: u32 = 1_000;

/// The ids of our requests.
const FIRST: u64 = 1;
const SECOND: u64 = 2;
const THIRD: u64 = 3;

/// The conversation of one call.
#[derive(Clone)]
pub(crate) struct CarrierPipes(Arc<Mutex<CarrierPipesInner>>);

struct CarrierPipesInner {
    /// Our requests, which it reads when there is no answer to read.
    script: VecDeque<Bytes>,
    /// Its next input.
    input: VecDeque<Bytes>,
    /// Its unparsed output.
    output: Lines,
    asked: VecDeque<Question>,
    /// The number of unanswered requests.
    open: usize,
    /// The id of the request whose answer counts.
    wanted: u64,
    answer: Option<QuestionReply>,
    stray: u32,
    mouth: OutputSink,
}

impl CarrierPipes {
    pub(super) fn new(
        request: &CarrierRequest<'_>,
        mouth: &OutputSink,
    ) -> Result<Self, WasmCallError> {
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
        Ok(Self(Arc::new(Mutex::new(CarrierPipesInner {
            script: script.into(),
            input: VecDeque::new(),
            output: Lines::default(),
            asked: VecDeque::new(),
            open: 0,
            wanted,
            answer: None,
            stray: 0,
            mouth: mouth.clone(),
        }))))
    }

    /// The answer, if there was one.
    pub(super) fn answer(&self) -> Option<QuestionReply> {
        self.inner().answer.take()
    }

    /// Whether it has to wait for an answer.
    pub(super) fn waits(&self) -> bool {
        self.inner().open > 0
    }

    /// The next bytes that it reads, from one line; `None` at the end.
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

    /// Handles its output.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), GuestFailure> {
        let mut inner = self.inner();
        // Moved out, because its lines are borrowed while the rest changes.
        let mut output = std::mem::take(&mut inner.output);
        output.buffer().extend_from_slice(bytes);
        let heard = inner.hear_all(&mut output);
        inner.output = output;
        heard
    }

    fn inner(&self) -> MutexGuard<'_, CarrierPipesInner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CarrierPipesInner {
    fn hear_all(&mut self, output: &mut Lines) -> Result<(), GuestFailure> {
        while let Some(line) = output
            .next()
            .map_err(|error| GuestFailure(error.to_string()))?
        {
            self.hear(line)?;
        }
        Ok(())
    }

    fn hear(&mut self, line: &[u8]) -> Result<(), GuestFailure> {
        match Message::parse(line) {
            Err(_) => {
                let text = shown(&String::from_utf8_lossy(line));
                let said = format!("not a message, on standard output: {text}\n");
                self.mouth.say(said.as_bytes());
                self.stray(&text)
            }
            Ok(Message::Answer { id, answer }) => self.answered(&id, answer),
            Ok(Message::Request { id, method, params }) => {
                self.ask(id, method, params);
                Ok(())
            }
            Ok(Message::Notification { method, params }) if method == "host/log" => {
                self.ask(Value::Null, method, params);
                Ok(())
            }
            Ok(Message::Notification { method, .. }) => self.stray(&method),
        }
    }

    fn ask(&mut self, id: Value, method: String, params: Value) {
        self.open += 1;
        self.asked.push_back(Question { id, method, params });
    }

    fn answered(&mut self, id: &Value, answer: QuestionReply) -> Result<(), GuestFailure> {
        let id = id.as_u64();
        // A skill that can't be initialised can't answer either.
        let fails = id == Some(FIRST) && answer.is_err();
        if (id == Some(self.wanted) || fails) && self.answer.is_none() {
            self.answer = Some(answer);
            return Ok(());
        }
        match id {
            Some(FIRST..=THIRD) => Ok(()),
            _ => self.stray("a response that matches no request"),
        }
    }

    fn stray(&mut self, what: &str) -> Result<(), GuestFailure> {
        self.stray += 1;
        if self.stray <= STRAY {
            return Ok(());
        }
        Err(GuestFailure(format!(
            "sent more than {STRAY} unexpected messages in one call; the last one: {}",
            shown(what)
        )))
    }
}

impl Asks for CarrierPipes {
    fn question(&self) -> Option<Question> {
        self.inner().asked.pop_front()
    }

    fn answer(&self, id: Value, reply: QuestionReply) {
        let mut inner = self.inner();
        inner.open = inner.open.saturating_sub(1);
        if !id.is_null() {
            let mut line = Vec::new();
            append_answer(&mut line, &id, &reply, code::FAILED);
            inner.input.push_back(line.into());
        }
    }
}

/// A request, as a line.
fn line(id: u64, method: &str, params: &Value) -> Result<Bytes, WasmCallError> {
    let mut line = Vec::new();
    Envelope::request(Some(id), Body::Call { method, params })
        .append_to(&mut line)
        .map_err(|size| WasmCallError::Answered(size.error(code::PARAMS, "the request")))?;
    Ok(line.into())
}
