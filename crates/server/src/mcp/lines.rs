//! Messages of a client, before they are read as JSON.
//!
//! The reader of JSON gives up on a message that is nested too deep, and nothing answers it: the client waits forever. A
//! message of a gigabyte is kept in memory first. So each line is checked byte by byte while it arrives. One that is too large
//! or too deep is not kept; a request with the same id takes its place, whose method names the problem and which no server has, so
//! that the client gets an error for its id.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

/// The largest message, in bytes.
const MAX_LINE: usize = 4 << 20;
/// How deep one may be nested; the reader of JSON has 128.
const MAX_DEPTH: usize = 120;
/// How many values one may have: each takes far more room than its letters.
const MAX_VALUES: usize = 100_000;
/// How many bytes of the top level of a message are kept.
const MAX_TOP: usize = 4 << 10;
/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Lines that are small and flat enough, from a reader that is not trusted.
pub(crate) struct BoundedLines<R> {
    inner: R,
    line: PartialLine,
    /// Checked bytes, and how many of them were returned.
    ready: Vec<u8>,
    given: usize,
}

impl<R> BoundedLines<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            line: PartialLine::default(),
            ready: Vec::new(),
            given: 0,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for BoundedLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            let left = this.ready.get(this.given..).unwrap_or_default();
            if !left.is_empty() {
                let count = left.len().min(buffer.remaining());
                buffer.put_slice(left.get(..count).unwrap_or_default());
                this.given += count;
                return Poll::Ready(Ok(()));
            }
            (this.ready, this.given) = (Vec::new(), 0);
            let mut chunk = vec![0; CHUNK];
            let mut read = ReadBuf::new(&mut chunk);
            match Pin::new(&mut this.inner).poll_read(context, &mut read) {
                Poll::Ready(Ok(())) if read.filled().is_empty() => {
                    // The last line has no line end. No bytes at all is the end of the input.
                    this.line.finish(&mut this.ready);
                    if this.ready.is_empty() {
                        return Poll::Ready(Ok(()));
                    }
                }
                Poll::Ready(Ok(())) => {
                    for byte in read.filled() {
                        this.line.take(*byte, &mut this.ready);
                    }
                }
                other => return other,
            }
        }
    }
}

/// A line so far.
#[derive(Default)]
struct PartialLine {
    bytes: Vec<u8>,
    /// The text at the top level of the message.
    top: Vec<u8>,
    depth: usize,
    values: usize,
    in_text: bool,
    escaped: bool,
    refused: Option<&'static str>,
}

impl PartialLine {
    fn take(&mut self, byte: u8, ready: &mut Vec<u8>) {
        if byte == b'\n' {
            if self.refused.is_none() {
                self.bytes.push(byte);
            }
            self.finish(ready);
            return;
        }
        let was = self.depth;
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_text => self.escaped = true,
            b'"' => self.in_text = !self.in_text,
            b'{' | b'[' if !self.in_text => {
                self.depth += 1;
                self.values += 1;
            }
            b',' if !self.in_text => self.values += 1,
            b'}' | b']' if !self.in_text => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        // Brackets belong to the level outside them, so `{"params": {}, "id": 7}` remains of every message.
        if was.min(self.depth) <= 1 && self.top.len() < MAX_TOP {
            self.top.push(byte);
        }
        if self.depth > MAX_DEPTH {
            self.refuse("the message is nested too deep");
        } else if self.bytes.len() >= MAX_LINE || self.values > MAX_VALUES {
            self.refuse("the message is too large");
        }
        if self.refused.is_none() {
            self.bytes.push(byte);
        }
    }

    fn refuse(&mut self, why: &'static str) {
        self.refused.get_or_insert(why);
        self.bytes = Vec::new();
    }

    /// Returns the line, or the request that takes its place.
    fn finish(&mut self, ready: &mut Vec<u8>) {
        let line = std::mem::take(self);
        let Some(why) = line.refused else {
            ready.extend(line.bytes);
            return;
        };
        // Without an id no answer is expected.
        let top: Value = serde_json::from_slice(&line.top).unwrap_or_default();
        let id = &top["id"];
        if id.is_string() || id.is_number() {
            let instead = json!({"jsonrpc": "2.0", "id": id, "method": why});
            ready.extend(format!("{instead}\n").bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(lines: &str) -> String {
        let (mut line, mut ready) = (PartialLine::default(), Vec::new());
        for byte in lines.bytes() {
            line.take(byte, &mut ready);
        }
        line.finish(&mut ready);
        String::from_utf8(ready).unwrap()
    }

    #[test]
    fn what_is_fine_is_passed_on_byte_by_byte() {
        for lines in [
            "",
            "\n\n",
            "{\"id\": 1}\n{\"a\": \"[[[[\\\"{{\"}\r\nnot json\n",
            "no end",
            "]]]]}}}\n[[",
        ] {
            assert_eq!(pass(lines), lines);
        }
    }

    #[test]
    fn what_is_too_deep_is_answered_under_its_id() {
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        let lines = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{{\"a\":{deep}}},\"id\":\"}}]\\\"7\"}}\n{{}}\n"
        );
        let passed = pass(&lines);
        let (instead, after) = passed.split_once('\n').unwrap();
        let instead: Value = serde_json::from_str(instead).unwrap();
        assert_eq!(instead["id"], "}]\"7");
        assert_eq!(instead["method"], "the message is nested too deep");
        assert_eq!(after, "{}\n");
        assert_eq!(pass(&format!("{deep}\nx\n")), "x\n");
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        let large = "x".repeat(MAX_LINE);
        let lines = format!("{{\"id\":5,\"params\":{{\"a\":\"{large}\"}}}}\n{{}}\n");
        let passed = pass(&lines);
        assert!(
            passed.contains("\"id\":5") && passed.contains("too large"),
            "{passed}"
        );
        assert!(passed.ends_with("\n{}\n") && passed.len() < 200);
    }
}
