//! The host's end of a pipe to a child: reading without waiting, a queue to write, and lines that are not messages.

use std::io;
use std::os::fd::BorrowedFd;

use metier_sdk::wire::MAX_FRAME;
use metier_sdk::wire::envelope::{Lines, Malformed, Message};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

/// The size of one read: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;
/// The capacity that the queue keeps after a long message.
const KEPT: usize = 4 * CHUNK;
/// How many characters of a line that is not a message are shown.
const SHOWN: usize = 200;

/// The outcome of a read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Got {
    /// Some bytes, or none yet.
    Some,
    /// The pipe is closed.
    End,
}

/// Reads once, as many bytes as have arrived.
pub(super) fn read(lines: &mut Lines, from: BorrowedFd<'_>) -> Got {
    let buffer = lines.buffer();
    buffer.reserve(CHUNK);
    match rustix::io::read(from, spare_capacity(buffer)) {
        Ok(0) => Got::End,
        Ok(_) | Err(Errno::AGAIN | Errno::INTR) => Got::Some,
        Err(_) => Got::End,
    }
}

/// Messages that were not written yet.
#[derive(Default)]
pub(super) struct Queue {
    bytes: Vec<u8>,
    sent: usize,
}

impl Queue {
    /// Where messages are appended.
    pub(super) fn lines(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Writes once, as many bytes as the pipe takes.
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

/// A line that is not a message.
#[derive(Debug)]
pub(super) struct Garbage {
    /// The reason.
    pub(super) malformed: Malformed,
    /// The start of the line.
    pub(super) shown: String,
    /// Whether it was meant as an answer to the request.
    pub(super) answers: bool,
}

/// Reads a line. `asked` is the id of the request that waits for its answer, if there is one.
pub(super) fn parse(line: &[u8], asked: Option<u64>) -> Result<Message, Box<Garbage>> {
    Message::parse(line).map_err(|malformed| {
        Box::new(Garbage {
            malformed,
            shown: String::from_utf8_lossy(line).chars().take(SHOWN).collect(),
            answers: asked.is_some_and(|asked| looks_like_answer(line, asked)),
        })
    })
}

/// Whether a malformed line was meant as the answer to a request; the call must then stop waiting.
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
    use metier_sdk::wire::code;
    use std::os::fd::AsFd;

    fn lines(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut incoming = Lines::default();
        let mut found = Vec::new();
        for chunk in chunks {
            let (read, mut write) = io::pipe().unwrap();
            io::Write::write_all(&mut write, chunk).unwrap();
            assert_eq!(super::read(&mut incoming, read.as_fd()), Got::Some);
            while let Some(line) = incoming.next().unwrap() {
                found.push(line.to_vec());
            }
        }
        incoming.finish();
        while let Some(line) = incoming.next().unwrap() {
            found.push(line.to_vec());
        }
        found
    }

    // case 133
    #[test]
    fn lines_are_whole_however_they_arrive() {
        let text = "{\"a\":\"héé\"}\n\n{}".as_bytes();
        let whole = lines(&[text]);
        assert_eq!(whole, [&text[..13], b"{}"]);
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
            let expected = whole.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            let expected: Vec<&[u8]> = expected.filter(|line| !line.is_empty()).collect();
            let found = lines(&parts);
            proptest::prop_assert_eq!(&found, &expected);
            for line in &found {
                let _message = parse(line, Some(1));
            }
        }
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
            ("{\"id\":7}", code::INVALID, true),
        ] {
            let garbage = parse(line.as_bytes(), Some(7)).unwrap_err();
            assert_eq!(garbage.malformed.code, code, "{}", garbage.shown);
            assert_eq!(garbage.answers, answers, "{}", garbage.shown);
        }
        assert!(
            parse(b"{\"id\":7,\"result\":\"\xff\"}", Some(7))
                .unwrap_err()
                .answers
        );
    }
}
