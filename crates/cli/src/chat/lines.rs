//! Lines from a pipe: a turn each.

use std::io::{self, BufRead, Read};

use super::editor::{EditorInput, joined};
use crate::failure::Failure;

/// The longest turn.
const MAX_BYTES: u64 = 1 << 20;

/// Standard input that is not a terminal.
pub(super) struct PipedLines;

impl PipedLines {
    /// The next line. As at a terminal, one that ends with `\` continues on the next.
    pub(super) fn next(&mut self) -> Result<EditorInput, Failure> {
        let mut bytes = Vec::new();
        let mut input = io::stdin().lock().take(MAX_BYTES + 1);
        loop {
            let read = input.read_until(b'\n', &mut bytes).map_err(|error| {
                Failure::broken("input", format!("the input can't be read: {error}"))
                    .hint("pass lines on stdin, or run it in a terminal")
            })?;
            if bytes.len() as u64 > MAX_BYTES {
                let message = format!("a turn can have at most {MAX_BYTES} bytes");
                return Err(Failure::unmet("input", message)
                    .hint("put it into a file, and let the model read that"));
            }
            if read == 0 || !bytes.ends_with(b"\\\n") {
                break;
            }
        }
        if bytes.is_empty() {
            return Ok(EditorInput::End);
        }
        let text = String::from_utf8_lossy(&bytes);
        Ok(EditorInput::Line(joined(
            text.trim_end_matches(['\n', '\r']),
        )))
    }
}
