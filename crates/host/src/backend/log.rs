//! The log of a child: the end of standard error for error messages, and a bounded number of lines for receipts.

use super::ProcessEvent;

/// How much of the end is kept for error messages, in bytes.
const TAIL: usize = 64 * 1024;
/// How many lines of a call are kept, and how many bytes of them.
const LINES: usize = 100;
const BYTES: usize = 10 * 1024;
/// Longer lines are split.
const LONGEST: usize = 4 * 1024;
/// How many uncollected lines are kept.
const WAITING: usize = 1_000;

/// The log of one session.
#[derive(Default)]
pub(super) struct Log {
    tail: Vec<u8>,
    /// The start of an incomplete line.
    partial: Vec<u8>,
    lines: usize,
    bytes: usize,
    more: u64,
    said: Vec<ProcessEvent>,
}

impl Log {
    /// Starts a new call with new limits.
    pub(super) fn begin(&mut self) {
        self.count_rest();
        (self.lines, self.bytes) = (0, 0);
    }

    /// Adds output of standard error.
    pub(super) fn hear(&mut self, mut bytes: &[u8]) {
        self.tail.extend(bytes);
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(at);
            self.partial(line);
            self.end_line();
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.partial(bytes);
    }

    fn partial(&mut self, mut bytes: &[u8]) {
        while self.partial.len() + bytes.len() > LONGEST {
            let (now, later) = bytes.split_at(LONGEST - self.partial.len());
            self.partial.extend(now);
            self.end_line();
            bytes = later;
        }
        self.partial.extend(bytes);
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.partial);
        if self.is_full() {
            self.more += 1;
        } else {
            let line = line.strip_suffix(b"\r").unwrap_or(&line);
            self.say(&String::from_utf8_lossy(line));
        }
        self.partial = line;
        self.partial.clear();
    }

    /// Adds a line of `host/log`.
    pub(super) fn told(&mut self, level: Option<&str>, message: &str) {
        match level {
            Some(level) => self.say(&format!("{level}: {message}")),
            None => self.say(message),
        }
    }

    /// Adds text of one or more lines.
    pub(super) fn say(&mut self, text: &str) {
        for line in text.lines() {
            if self.is_full() {
                self.more += 1;
                continue;
            }
            self.lines += 1;
            self.bytes += line.len();
            let line = line.chars().take(LONGEST).collect();
            self.said.push(ProcessEvent::Said(line));
        }
    }

    fn is_full(&self) -> bool {
        self.lines >= LINES || self.bytes >= BYTES || self.said.len() >= WAITING
    }

    fn count_rest(&mut self) {
        if self.more > 0 {
            self.said
                .push(ProcessEvent::SaidMore(std::mem::take(&mut self.more)));
        }
    }

    /// The end of standard error.
    pub(super) fn tail(&self) -> String {
        let start = self.tail.len().saturating_sub(TAIL);
        let tail = self.tail.get(start..).unwrap_or_default();
        String::from_utf8_lossy(tail).into_owned()
    }

    /// The lines since the last call.
    pub(super) fn take(&mut self) -> Vec<ProcessEvent> {
        self.count_rest();
        std::mem::take(&mut self.said)
    }

    /// The last lines, with an incomplete one.
    pub(super) fn finish(&mut self) -> Vec<ProcessEvent> {
        if !self.partial.is_empty() {
            self.end_line();
        }
        self.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> ProcessEvent {
        ProcessEvent::Said(text.to_owned())
    }

    #[test]
    fn lines_are_whole_and_the_rest_is_counted() {
        let mut log = Log::default();
        log.hear(b"caf\xc3");
        log.hear(b"\xa9\r\ntwo\nthr");
        assert_eq!(log.take(), [said("café"), said("two")]);
        log.hear(b"ee");
        assert_eq!(log.finish(), [said("three")]);
        log.begin();
        for _ in 0..1_000_000 {
            log.hear(b"again\n");
        }
        let events = log.take();
        assert_eq!(events.len(), LINES + 1);
        assert_eq!(events.last(), Some(&ProcessEvent::SaidMore(999_900)));
        assert!(log.tail().len() == TAIL && log.tail.capacity() <= 4 * TAIL);
    }

    #[test]
    fn an_endless_line_is_cut() {
        let mut log = Log::default();
        for _ in 0..100 {
            log.hear(&[b'x'; 10_000]);
        }
        assert!(log.partial.len() <= LONGEST);
        let kept: usize = log.take().len();
        assert!(kept < 10, "{kept}");
    }
}
