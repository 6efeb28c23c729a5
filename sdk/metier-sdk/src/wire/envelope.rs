//! JSON-RPC 2.0 on a pipe: one message per line, no line longer than [`MAX_FRAME`] bytes.
//!
//! Every end of every pipe uses this module: [`Lines`] cuts bytes into lines, [`Message::parse`] reads a line, [`Envelope`] writes one.
//! The other end can send anything, so memory is bounded, and a line that is not a message is a value with a reason.

use std::{
    io::{self, BufRead},
    ops::Range,
};

use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};
use serde_json::{Map, Value};

use super::{HostRequest, MAX_FRAME, RpcError, code};

/// The longest id of a request, if it is a string.
const LONGEST_ID: usize = 256;
/// The capacity that a buffer keeps after a long line, in bytes.
const KEPT: usize = 256 << 10;

/// A line longer than [`MAX_FRAME`]. The rest of it is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line is longer than {MAX_FRAME} bytes; each message is one line")]
pub struct LineTooLong;

/// Bytes that arrived and were not read yet, as lines. Blank lines are skipped.
#[derive(Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
    /// The start of the next line.
    start: usize,
    /// No line ends between `start` and here.
    searched: usize,
    /// Everything up to the next end of a line belongs to a line that was too long.
    skipping: bool,
}

impl Lines {
    /// The buffer to which arriving bytes are appended.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT);
        } else if self.start >= KEPT / 4 {
            self.bytes.drain(..self.start);
        } else {
            return &mut self.bytes;
        }
        (self.searched, self.start) = (self.searched - self.start, 0);
        &mut self.bytes
    }

    /// Ends the last line, if it has no end.
    pub fn finish(&mut self) {
        if self.start < self.bytes.len() && self.bytes.last() != Some(&b'\n') {
            self.bytes.push(b'\n');
        }
    }

    /// The next complete line, without its end and without spaces around it.
    ///
    /// # Errors
    /// The line is too long, whether its end has arrived or not. Each such line is reported once.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line borrows the buffer, which an iterator's item can't"
    )]
    pub fn next(&mut self) -> Result<Option<&[u8]>, LineTooLong> {
        let line = self.next_range()?;
        Ok(line.map(|line| self.bytes.get(line).unwrap_or_default().trim_ascii()))
    }

    /// The next complete line of `input`; `None` at its end. An incomplete line before the end is not a message.
    ///
    /// # Errors
    /// The input can't be read.
    pub fn read_from(
        &mut self,
        input: &mut impl BufRead,
    ) -> io::Result<Option<Result<&[u8], LineTooLong>>> {
        let line = loop {
            match self.next_range() {
                Ok(Some(line)) => break line,
                Ok(None) => {}
                Err(error) => return Ok(Some(Err(error))),
            }
            let piece = match input.fill_buf() {
                Ok([]) => return Ok(None),
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let length = piece.len();
            self.buffer().extend_from_slice(piece);
            input.consume(length);
        };
        let line = self.bytes.get(line).unwrap_or_default();
        Ok(Some(Ok(line.trim_ascii())))
    }

    fn next_range(&mut self) -> Result<Option<Range<usize>>, LineTooLong> {
        loop {
            let end = self.line_end();
            let line = self.start..end.unwrap_or(self.bytes.len());
            let is_too_long = line.len() > MAX_FRAME;
            let was_skipping = self.skipping;
            if end.is_some() || is_too_long || was_skipping {
                self.start = line.end + usize::from(end.is_some());
                self.skipping = end.is_none();
            }
            self.searched = line.end.max(self.start);
            if is_too_long && !was_skipping {
                return Err(LineTooLong);
            }
            if end.is_none() {
                return Ok(None);
            }
            let is_blank = |bytes: &[u8]| bytes.trim_ascii().is_empty();
            if !was_skipping && !self.bytes.get(line.clone()).is_none_or(is_blank) {
                return Ok(Some(line));
            }
        }
    }

    /// The position of the next `\n`.
    fn line_end(&self) -> Option<usize> {
        let mut rest = self.bytes.get(self.searched..)?;
        // The fastest search of the standard library.
        let after = self.searched + rest.skip_until(b'\n').ok()?;
        let last = after.checked_sub(1).filter(|last| *last >= self.searched)?;
        (self.bytes.get(last) == Some(&b'\n')).then_some(last)
    }
}

/// A message that arrived.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A request, which must be answered.
    Request {
        /// The id of its answer.
        id: Value,
        /// The method.
        method: String,
        /// Its parameters; an empty object if there are none.
        params: Value,
    },
    /// A notification, which has no answer.
    Notification {
        /// The method.
        method: String,
        /// Its parameters; an empty object if there are none.
        params: Value,
    },
    /// An answer.
    Answer {
        /// The id of the request; `null` if the sender could not read the request.
        id: Value,
        /// The result or the error.
        answer: Result<Value, RpcError>,
    },
}

/// Bytes that are not a message.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct Malformed {
    /// [`code::PARSE`] or [`code::INVALID`].
    pub code: i32,
    /// The id, if it can be read.
    pub id: Value,
    /// The reason.
    pub why: String,
}

impl Malformed {
    /// The error that the sender of such a line gets.
    #[must_use]
    pub fn error(&self) -> RpcError {
        let what = match self.code {
            code::PARSE => "JSON",
            _ => "a JSON-RPC message",
        };
        RpcError::new(self.code, format!("this line is not {what}: {}", self.why))
    }
}

/// The fields of a message; other fields are ignored.
#[derive(Deserialize)]
struct Fields {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    error: Option<Value>,
}

/// `null` is a value; only an omitted field is absent.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Message {
    /// Reads a line.
    ///
    /// # Errors
    /// The line is not JSON, or is not one message.
    pub fn parse(line: &[u8]) -> Result<Self, Malformed> {
        let fields = Fields::parse(line)?;
        let params = |params: Option<Value>| params.unwrap_or_else(|| Map::new().into());
        match (fields.id, fields.method) {
            (Value::Null, Some(method)) => Ok(Self::Notification {
                method,
                params: params(fields.params),
            }),
            (id, Some(method)) if is_id(&id) => Ok(Self::Request {
                id,
                method,
                params: params(fields.params),
            }),
            (_, Some(_)) => Err(invalid("an id is a number or a short string")),
            (id, None) => match answer(fields.result, fields.error) {
                Some(answer) => Ok(Self::Answer { id, answer }),
                None => Err(Malformed {
                    id,
                    ..invalid("neither a `method` nor a `result` nor an `error`")
                }),
            },
        }
    }

    /// Reads an answer that is not on a pipe, and so has no id: `{"result": …}` or `{"error": …}`.
    ///
    /// # Errors
    /// The bytes are not JSON, or are not an answer.
    pub fn parse_answer(bytes: &[u8]) -> Result<Result<Value, RpcError>, Malformed> {
        let Fields { result, error, .. } = Fields::parse(bytes)?;
        answer(result, error).ok_or_else(|| invalid("neither a `result` nor an `error`"))
    }
}

impl Fields {
    fn parse(line: &[u8]) -> Result<Self, Malformed> {
        let malformed = |error: serde_json::Error| Malformed {
            code: if error.is_data() {
                code::INVALID
            } else {
                code::PARSE
            },
            id: Value::Null,
            why: error.to_string(),
        };
        match line.trim_ascii_start().first() {
            Some(b'{') => serde_json::from_slice(line).map_err(malformed),
            // A batch can have any size, so none of it is read; serde would read it as the fields in order.
            Some(b'[') => Err(invalid("a message is an object, not a list")),
            _ => {
                serde_json::from_slice::<IgnoredAny>(line).map_err(malformed)?;
                Err(invalid("a message is an object"))
            }
        }
    }
}

/// The answer in these fields. An error in another form is reported with its text.
fn answer(result: Option<Value>, error: Option<Value>) -> Option<Result<Value, RpcError>> {
    match (result, error) {
        (_, Some(error)) => Some(Err(RpcError::deserialize(&error).unwrap_or_else(|_| {
            let text = error.as_str();
            let text = text.map_or_else(
                || format!("sent an error that is not a JSON-RPC error: {error}"),
                str::to_owned,
            );
            RpcError::new(code::INTERNAL, text)
        }))),
        (Some(result), None) => Some(Ok(result)),
        (None, None) => None,
    }
}

fn is_id(id: &Value) -> bool {
    match id {
        Value::Number(_) => true,
        Value::String(text) => text.len() <= LONGEST_ID,
        _ => false,
    }
}

fn invalid(why: &str) -> Malformed {
    Malformed {
        code: code::INVALID,
        id: Value::Null,
        why: why.to_owned(),
    }
}

/// A message with more than [`MAX_FRAME`] bytes; it is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message is {0} bytes; the limit for a message is {MAX_FRAME}")]
pub struct TooLong(pub usize);

impl TooLong {
    /// An error that names the message, such as `the answer`.
    #[must_use]
    pub fn error(self, code: i32, what: &str) -> RpcError {
        let Self(size) = self;
        let message = format!("{what} is {size} bytes; the limit for a message is {MAX_FRAME}");
        RpcError::new(code, message)
    }
}

/// The content of a message: all of it where there is no pipe, and so no id.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Body<'a> {
    /// A request of the host.
    Call {
        /// One of [`method`](super::method).
        method: &'a str,
        /// Its parameters.
        params: &'a Value,
    },
    /// A request of the skill.
    Question(&'a HostRequest),
    /// The answer of a request that succeeded.
    Result {
        /// The result.
        result: &'a Value,
    },
    /// The answer of a request that failed.
    Error {
        /// The error.
        error: &'a RpcError,
    },
}

impl<'a> From<&'a Result<Value, RpcError>> for Body<'a> {
    fn from(answer: &'a Result<Value, RpcError>) -> Self {
        match answer {
            Ok(result) => Self::Result { result },
            Err(error) => Self::Error { error },
        }
    }
}

/// A message to be sent.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Envelope<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Id<'a>>,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Id<'a> {
    Ours(u64),
    Theirs(&'a Value),
}

impl<'a> Envelope<'a> {
    /// A request; without an id a notification.
    #[must_use]
    pub fn request(id: Option<u64>, body: Body<'a>) -> Self {
        Self {
            jsonrpc: "2.0",
            id: id.map(Id::Ours),
            body,
        }
    }

    /// The answer to the request with this id.
    #[must_use]
    pub const fn answer(id: &'a Value, body: Body<'a>) -> Self {
        Self {
            jsonrpc: "2.0",
            id: Some(Id::Theirs(id)),
            body,
        }
    }

    /// Appends the message and the end of its line.
    ///
    /// # Errors
    /// The message is too long; nothing is appended.
    pub fn append_to(&self, lines: &mut Vec<u8>) -> Result<(), TooLong> {
        let before = lines.len();
        let written = serde_json::to_writer(&mut *lines, self);
        let size = lines.len() - before;
        // Writing these types to memory can't fail; if it did, half a message must not be sent.
        if written.is_err() || size > MAX_FRAME {
            lines.truncate(before);
            return Err(TooLong(size));
        }
        lines.push(b'\n');
        Ok(())
    }
}

/// Appends the answer to the request with this id. An answer that is too long is replaced by an error with this code.
pub fn append_answer(
    lines: &mut Vec<u8>,
    id: &Value,
    answer: &Result<Value, RpcError>,
    too_long: i32,
) {
    if let Err(size) = Envelope::answer(id, answer.into()).append_to(lines) {
        let error = &size.error(too_long, "the answer");
        // Always short enough: an id that is read has at most a few hundred bytes.
        let _appended = Envelope::answer(id, Body::Error { error }).append_to(lines);
    }
}

/// Appends an answer whose result is JSON already. The caller knows that it is not too long.
pub fn append_json_answer(lines: &mut Vec<u8>, id: &Value, result: &str) {
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
    lines.extend_from_slice(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(bytes: &[u8]) -> Vec<Result<String, LineTooLong>> {
        let mut lines = Lines::default();
        let mut input = io::BufReader::with_capacity(7, bytes);
        let mut found = Vec::new();
        while let Some(line) = lines.read_from(&mut input).unwrap() {
            found.push(line.map(|line| String::from_utf8_lossy(line).into_owned()));
        }
        found
    }

    #[test]
    fn lines_are_complete_and_blank_ones_are_skipped() {
        let text = "{\"a\":\"héé\"}\r\n\n  \n{}\nhalf a line";
        assert_eq!(
            lines(text.as_bytes()),
            [Ok("{\"a\":\"héé\"}".into()), Ok("{}".into())]
        );
    }

    #[test]
    fn a_long_line_is_reported_once_and_the_next_one_is_read() {
        let longest = "x".repeat(MAX_FRAME);
        assert_eq!(
            lines(format!("{longest}\nnext\n").as_bytes()),
            [Ok(longest.clone()), Ok("next".into())]
        );
        for rest in ["y", &longest] {
            let text = format!("{longest}{rest}\nnext\n");
            assert_eq!(
                lines(text.as_bytes()),
                [Err(LineTooLong), Ok("next".into())]
            );
        }
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let mut lines = Lines::default();
        lines.buffer().resize(MAX_FRAME + 1, b'x');
        assert_eq!(lines.next(), Err(LineTooLong));
        for _ in 0..64 {
            lines.buffer().resize(MAX_FRAME, b'x');
            assert_eq!(lines.next(), Ok(None));
            assert!(lines.buffer().is_empty());
        }
        lines.buffer().extend_from_slice(b"x\n{}\n");
        assert_eq!(lines.next(), Ok(Some(&b"{}"[..])));
    }

    #[test]
    fn a_message_is_a_request_a_notification_or_an_answer() {
        let parse = |line: &str| Message::parse(line.as_bytes()).unwrap();
        let params = json!({});
        assert_eq!(
            parse(r#"{"id":"a","method":"m","params":null}"#),
            Message::Request {
                id: json!("a"),
                method: "m".into(),
                params: params.clone()
            }
        );
        for line in [r#"{"method":"m"}"#, r#"{"id":null,"method":"m"}"#] {
            let method = "m".to_owned();
            let params = params.clone();
            assert_eq!(parse(line), Message::Notification { method, params });
        }
        let answered = |line: &str| match parse(line) {
            Message::Answer { answer, .. } => answer,
            other => panic!("{other:?}"),
        };
        assert_eq!(answered(r#"{"id":1,"result":null}"#), Ok(Value::Null));
        let error = answered(r#"{"id":1,"error":"out of tea"}"#).unwrap_err();
        assert_eq!(
            (error.code, &*error.message),
            (code::INTERNAL, "out of tea")
        );
        // The answer of a sender that could not read the request: an error in reply would have no end.
        let error = answered(r#"{"id":null,"error":{"code":-32700,"message":"no"}}"#);
        assert_eq!(error, Err(RpcError::new(code::PARSE, "no")));
    }

    #[test]
    fn anything_else_is_malformed_and_has_a_reason() {
        let long = format!(r#"{{"id":"{}","method":"m"}}"#, "x".repeat(LONGEST_ID + 1));
        for (line, code, id) in [
            ("loading", code::PARSE, Value::Null),
            (r#"{"id":7,"result":NaN}"#, code::PARSE, Value::Null),
            (r#"{"id":7,"id":7,"result":1}"#, code::INVALID, Value::Null),
            ("[1,\"m\"", code::INVALID, Value::Null),
            ("7", code::INVALID, Value::Null),
            (r#"{"id":23}"#, code::INVALID, json!(23)),
            (r#"{"id":{},"method":"m"}"#, code::INVALID, Value::Null),
            (r#"{"id":1,"method":7}"#, code::INVALID, Value::Null),
            (&long, code::INVALID, Value::Null),
        ] {
            let malformed = Message::parse(line.as_bytes()).unwrap_err();
            assert_eq!((malformed.code, &malformed.id), (code, &id), "{malformed}");
            assert!(malformed.error().message.starts_with("this line is not "));
        }
    }

    #[test]
    fn an_answer_that_is_too_long_becomes_an_error() {
        let mut lines = Vec::new();
        let answer = Ok(json!("x".repeat(MAX_FRAME)));
        append_answer(&mut lines, &json!(1), &answer, code::FAILED);
        let message = Message::parse(&lines).unwrap();
        let Message::Answer {
            answer: Err(error), ..
        } = message
        else {
            panic!("{message:?}");
        };
        assert_eq!(error.code, code::FAILED);
        assert!(
            error
                .message
                .contains("; the limit for a message is 4194304"),
            "{error}"
        );
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut lines = Vec::new();
        let request = HostRequest::Exec {
            command: "ls".into(),
        };
        Envelope::request(Some(7), Body::Question(&request))
            .append_to(&mut lines)
            .unwrap();
        append_json_answer(&mut lines, &json!("a"), "[1]");
        let text = String::from_utf8(lines).unwrap();
        assert_eq!(
            text,
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"host/exec\",\"params\":{\"command\":\"ls\"}}\n\
             {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":[1]}\n"
        );
        let message = Message::parse(text.lines().next().unwrap().as_bytes()).unwrap();
        let Message::Request { method, params, .. } = message else {
            panic!("{message:?}");
        };
        assert_eq!(HostRequest::new(&method, params), Ok(request));
    }
}
