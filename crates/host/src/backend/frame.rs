//! Frames: lines of bytes that become messages, and messages that become lines.
//!
//! Whoever is at the other end may send anything. What is kept of it is bounded, what can't be understood has a reason, and
//! nothing here waits for anybody.

use std::io;
use std::os::fd::BorrowedFd;

use metier_sdk::wire::{MAX_FRAME, RpcError, code};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// How much is read at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;
/// What a buffer keeps for the next message, after a large one.
const KEPT: usize = 4 * CHUNK;
/// How much of what was not understood is shown.
const SHOWN: usize = 200;

/// What came in and was not looked at yet.
#[derive(Default)]
pub(super) struct Incoming {
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to here there is no end of a line.
    searched: usize,
}

/// What a read came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Got {
    /// Something, or nothing yet.
    Some,
    /// The end.
    End,
}

impl Incoming {
    /// Reads once what is there.
    pub(super) fn read(&mut self, from: BorrowedFd<'_>) -> Got {
        self.tidy();
        self.bytes.reserve(CHUNK);
        match rustix::io::read(from, spare_capacity(&mut self.bytes)) {
            Ok(0) => Got::End,
            Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Got::Some,
            Err(_) => Got::End,
        }
    }

    /// What is left at the end counts as a line.
    pub(super) fn finish(&mut self) {
        if self.start < self.bytes.len() && self.bytes.last() != Some(&b'\n') {
            self.bytes.push(b'\n');
        }
    }

    /// The next whole line, without its end.
    ///
    /// # Errors
    /// When it is longer than a frame may be, whether it has an end or not.
    pub(super) fn line(&mut self) -> Result<Option<&[u8]>, String> {
        let rest = self.bytes.get(self.searched..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map(|at| self.searched + at);
        let length = end.unwrap_or(self.bytes.len()) - self.start;
        if length > MAX_FRAME {
            return Err(format!(
                "a line is longer than {MAX_FRAME} bytes; each message is one line"
            ));
        }
        let Some(end) = end else {
            self.searched = self.bytes.len();
            return Ok(None);
        };
        let line = self.start..end;
        (self.start, self.searched) = (end + 1, end + 1);
        Ok(self.bytes.get(line))
    }

    /// Makes room: moves the rest to the front when nothing, or little, is left.
    fn tidy(&mut self) {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT);
        } else if self.start >= CHUNK {
            self.bytes.drain(..self.start);
        } else {
            return;
        }
        (self.searched, self.start) = (self.searched - self.start, 0);
    }
}

/// What is to go out and did not yet.
#[derive(Default)]
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outgoing {
    /// Adds a message; tells its size if that is more than the other end reads, and then adds nothing.
    pub(super) fn push(&mut self, message: &impl Serialize) -> Result<(), usize> {
        let before = self.bytes.len();
        let written = serde_json::to_writer(&mut self.bytes, message);
        let size = self.bytes.len() - before;
        if written.is_err() || size > MAX_FRAME {
            self.bytes.truncate(before);
            return Err(size);
        }
        self.bytes.push(b'\n');
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Writes once as much as is taken.
    pub(super) fn write(&mut self, to: BorrowedFd<'_>) -> io::Result<()> {
        let rest = self.bytes.get(self.sent..).unwrap_or_default();
        match rustix::io::write(to, rest) {
            Ok(length) => self.sent += length,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if self.sent == self.bytes.len() {
            self.clear();
        } else if self.sent > MAX_FRAME {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.sent = 0;
    }
}

/// A message as it arrives. Fields that are none of these are passed over.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) id: Option<Value>,
    #[serde(default)]
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    pub(super) result: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    pub(super) error: Option<Value>,
}

/// `null` is a value; only what is left out is not there.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Message {
    /// What an answer says.
    pub(super) fn answer(self) -> Result<Value, RpcError> {
        match (self.result, self.error) {
            (_, Some(error)) => Err(RpcError::deserialize(&error).unwrap_or_else(|_| {
                let message = error.as_str();
                let message = message.map_or_else(|| error.to_string(), str::to_owned);
                RpcError::new(code::INTERNAL, message)
            })),
            (Some(result), None) => Ok(result),
            (None, None) => Err(RpcError::new(
                code::INVALID,
                "answered with neither a result nor an error",
            )),
        }
    }
}

/// A line that is no message.
#[derive(Debug)]
pub(super) struct Garbage {
    /// What is wrong: one of [`code`], and why.
    pub(super) code: i32,
    pub(super) why: String,
    /// How it begins.
    pub(super) shown: String,
    /// Whether it would have been the answer to this id.
    pub(super) answers: bool,
}

/// Understands a line. `asked` is the id of the request whose answer is waited for, if one is.
pub(super) fn parse(line: &[u8], asked: Option<u64>) -> Result<Message, Garbage> {
    let garbage = |code, why: String| Garbage {
        code,
        why,
        shown: String::from_utf8_lossy(line).chars().take(SHOWN).collect(),
        answers: asked.is_some_and(|asked| looks_like_answer(line, asked)),
    };
    if line.first() == Some(&b'[') {
        // A batch may be of any size, and none of it is looked at.
        return Err(garbage(
            code::INVALID,
            "no batches: one message a line".to_owned(),
        ));
    }
    serde_json::from_slice(line).map_err(|error| {
        let code = if error.is_data() {
            code::INVALID
        } else {
            code::PARSE
        };
        garbage(code, error.to_string())
    })
}

/// Whether a broken line seems to be the answer to a request, so that nobody has to wait for one that never comes.
fn looks_like_answer(line: &[u8], asked: u64) -> bool {
    let find = |what: &str| memchr::memmem::find(line, what.as_bytes());
    if line.first() != Some(&b'{') || find("\"method\"").is_some() {
        return false;
    }
    let after = find("\"id\"").and_then(|at| line.get(at + 4..));
    let mut rest = after.unwrap_or_default().trim_ascii_start();
    rest = rest.strip_prefix(b":").unwrap_or_default();
    let digits = rest.trim_ascii_start();
    let end = digits.iter().position(|byte| !byte.is_ascii_digit());
    let digits = digits.get(..end.unwrap_or(digits.len()));
    digits == Some(asked.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    fn lines(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut incoming = Incoming::default();
        let mut found = Vec::new();
        for chunk in chunks {
            let (read, mut write) = io::pipe().unwrap();
            io::Write::write_all(&mut write, chunk).unwrap();
            assert_eq!(incoming.read(read.as_fd()), Got::Some);
            while let Some(line) = incoming.line().unwrap() {
                found.push(line.to_vec());
            }
        }
        incoming.finish();
        while let Some(line) = incoming.line().unwrap() {
            found.push(line.to_vec());
        }
        found
    }

    // case 133
    #[test]
    fn lines_are_whole_however_they_arrive() {
        let text = "{\"a\":\"héé\"}\n\n{}".as_bytes();
        let whole = lines(&[text]);
        assert_eq!(whole, [&text[..13], b"", b"{}"]);
        for at in 1..text.len() {
            assert_eq!(lines(&[&text[..at], &text[at..]]), whole, "cut at {at}");
        }
    }

    proptest::proptest! {
        // case 133, 134
        #[test]
        fn any_bytes_are_lines_and_none_is_a_panic(
            chunks in proptest::collection::vec(
                proptest::collection::vec(
                    proptest::prop_oneof![proptest::strategy::Just(b'\n'), proptest::num::u8::ANY],
                    1..40,
                ),
                1..20,
            )
        ) {
            let parts: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let whole = chunks.concat();
            let mut expected: Vec<&[u8]> = whole.split(|byte| *byte == b'\n').collect();
            expected.pop_if(|last| last.is_empty());
            let found = lines(&parts);
            proptest::prop_assert_eq!(&found, &expected);
            for line in &found {
                let _understood = parse(line, Some(1)).map(Message::answer);
            }
        }
    }

    #[test]
    fn what_has_no_end_is_not_kept() {
        let mut incoming = Incoming {
            bytes: vec![b'x'; MAX_FRAME + 1],
            ..Incoming::default()
        };
        assert!(incoming.line().unwrap_err().contains("longer than"));
    }

    #[test]
    fn garbage_has_a_reason() {
        let deep = "[".repeat(100_000);
        let deep = format!("{{\"id\":7,\"result\":{deep}");
        for (line, code, answers) in [
            ("loading the model", code::PARSE, false),
            ("{\"id\":7,\"result\":NaN}", code::PARSE, true),
            ("{\"id\":7,\"result\":\"\\ud800\"}", code::PARSE, true),
            ("{\"id\":71,\"result\":NaN}", code::PARSE, false),
            (
                "{\"id\":7,\"method\":\"m\",\"params\":NaN}",
                code::PARSE,
                false,
            ),
            (&deep, code::PARSE, true),
            ("{\"id\":7,\"id\":7,\"result\":1}", code::INVALID, true),
            ("[1,2,3", code::INVALID, false),
            ("\"text\"", code::INVALID, false),
            ("7", code::INVALID, false),
        ] {
            let garbage = parse(line.as_bytes(), Some(7)).unwrap_err();
            assert_eq!(garbage.code, code, "{}", garbage.shown);
            assert_eq!(garbage.answers, answers, "{}", garbage.shown);
        }
        assert!(
            parse(b"{\"id\":7,\"result\":\"\xff\"}", Some(7))
                .unwrap_err()
                .answers
        );
    }

    #[test]
    fn an_answer_may_be_null_and_must_be_something() {
        let answer = |line: &str| parse(line.as_bytes(), Some(1)).unwrap().answer();
        assert_eq!(answer("{\"id\":1,\"result\":null}"), Ok(Value::Null));
        let missing = answer("{\"id\":1}").unwrap_err();
        assert!(missing.message.contains("neither"), "{missing}");
        let text = answer("{\"id\":1,\"error\":\"out of tea\"}").unwrap_err();
        assert_eq!((text.code, &*text.message), (code::INTERNAL, "out of tea"));
    }
}
