//! Server-sent events, parsed as the bytes arrive.
//!
//! Lines end with LF, CR or both, events with an empty line; the pieces in which bytes arrive have no meaning, so a character or a
//! line break can be split between two of them. Only the data of an event is returned: in both formats it contains its type.
//! Endless events are stopped at a limit.

/// Collects bytes until they are events.
#[derive(Debug)]
pub(super) struct SseEvents {
    limit: usize,
    /// The incomplete line.
    line: Vec<u8>,
    /// The data of the incomplete event.
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    is_first: bool,
}

/// An event is longer than the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

impl SseEvents {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            is_first: true,
        }
    }

    /// Adds bytes and returns the data of each event that they complete.
    pub(super) fn feed<E: From<TooLong>>(
        &mut self,
        mut bytes: &[u8],
        mut event: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + self.data.len() + part.len() > self.limit {
                return Err(TooLong.into());
            }
            self.line.extend_from_slice(part);
            let Some(&ending) = rest.first() else {
                return Ok(());
            };
            self.after_cr = ending == b'\r';
            bytes = &rest[1..];
            if self.end_line() {
                event(&self.data)?;
                self.data.clear();
            }
        }
        Ok(())
    }

    /// Whether an event ends with this line and has data.
    fn end_line(&mut self) -> bool {
        let mut line = self.line.as_slice();
        if std::mem::take(&mut self.is_first) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            self.line.clear();
            return std::mem::take(&mut self.has_data);
        }
        if let Some(value) = line.strip_prefix(b"data:") {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data
                .extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
            self.has_data = true;
        } else if line == b"data" {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
        }
        self.line.clear();
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(pieces: &[&[u8]], limit: usize) -> Result<Vec<String>, TooLong> {
        let mut events = SseEvents::new(limit);
        let mut found = Vec::new();
        for piece in pieces {
            events.feed(piece, |data| {
                found.push(String::from_utf8_lossy(data).into_owned());
                Ok::<(), TooLong>(())
            })?;
        }
        Ok(found)
    }

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(
            events(&[text.as_bytes()], 1000).unwrap(),
            expected,
            "{text:?}"
        );
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(
            events(&bytes, 1000).unwrap(),
            expected,
            "{text:?}, byte by byte"
        );
    }

    #[test]
    fn events_end_with_an_empty_line() {
        check("data: a\n\ndata:b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", &["a", "b", "c"]);
        check("event: x\nid: 1\ndata: a\n\n", &["a"]);
        check("data: a\ndata: b\n\n", &["a\nb"]);
        check("data:  a \n\n", &[" a "]);
        check(": comment\n\n\n\ndata: grün 🦀\n\n", &["grün 🦀"]);
        check("\u{feff}data: a\n\n", &["a"]);
        check("data\n\n", &[""]);
        check("database: a\n\n", &[]);
    }

    #[test]
    fn an_unfinished_message_is_not_an_event() {
        check("data: a\n\ndata: b\n", &["a"]);
        check("data: a", &[]);
    }

    #[test]
    fn what_does_not_end_is_stopped() {
        assert_eq!(events(&[b"data: 12345"], 10), Err(TooLong));
        assert_eq!(
            events(
                &[b"data: 1\n", b"data: 2\n", b"data: 3\n", b"data: 4\n"],
                10
            ),
            Err(TooLong)
        );
        assert!(events(&[b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n"], 10).is_ok());
        let endless: Vec<&[u8]> = vec![b"x"; 11];
        assert_eq!(events(&endless, 10), Err(TooLong));
    }

    proptest! {
        #[test]
        fn pieces_mean_nothing(text in "(data: ?[a-zä🦀]{0,5}|:x|event: y|)(\r|\n|\r\n){1,3}.{0,40}", cut in 0usize..60) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            let whole = events(&[bytes], 1000).unwrap();
            prop_assert_eq!(whole, events(&[&bytes[..cut], &bytes[cut..]], 1000).unwrap());
        }
    }
}
