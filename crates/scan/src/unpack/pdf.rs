//! PDF, token by token.
//!
//! The structure of a PDF is a hint that readers repair, so it is not followed: all bytes are tokens, wherever
//! they are, and compressed streams are inflated and read as tokens too. That finds an action that no table
//! of contents mentions. Names are compared after undoing `#61` escapes, which exist to evade just this search.
//! Text whose font has its own encoding is not readable here.

use std::collections::HashMap;

use crate::text::codec;

/// The scripts, links and text of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pdf {
    /// JavaScript, in a string or in a separate stream.
    pub scripts: Vec<String>,
    /// Whether it contains JavaScript.
    pub javascript: bool,
    /// Whether an action runs when it is opened.
    pub open_action: bool,
    /// Whether an action runs on other events.
    pub additional_actions: bool,
    /// Whether a program is started.
    pub launch: bool,
    /// Whether files are embedded.
    pub embedded_file: bool,
    /// Whether it is encrypted, so that strings and streams can't be read.
    pub encrypted: bool,
    /// The targets of its links.
    pub uris: Vec<String>,
    /// Strings that are shown or that describe it.
    pub text: String,
    /// Whether compressed streams were left out because there was too much in them.
    pub cut: bool,
}

/// Bytes that are inflated from all streams together.
const MOST_INFLATED: usize = 8 * 1024 * 1024;
/// Text that is collected.
const MOST_TEXT: usize = 1024 * 1024;
/// Scripts and links that are collected.
const MOST_LISTED: usize = 1000;

/// Reads a document.
#[must_use]
pub(crate) fn pdf(bytes: &[u8]) -> Pdf {
    let mut scan = PdfScan {
        pdf: Pdf::default(),
        left: MOST_INFLATED,
        streams: HashMap::new(),
        script_refs: Vec::new(),
    };
    scan.tokens(bytes, true);
    for number in std::mem::take(&mut scan.script_refs) {
        if let Some(stream) = scan.streams.remove(&number) {
            scan.pdf
                .scripts
                .push(String::from_utf8_lossy(&stream).into_owned());
        }
    }
    if scan.pdf.encrypted {
        scan.pdf.text.clear();
    }
    scan.pdf
}

struct PdfScan {
    pdf: Pdf,
    left: usize,
    /// Streams by the number of their object, in case a script refers to one.
    streams: HashMap<u64, Vec<u8>>,
    script_refs: Vec<u64>,
}

/// The meaning of the last tokens.
#[derive(Default)]
struct PdfContext {
    name: String,
    numbers: [u64; 2],
    object: u64,
    flate: bool,
    array: bool,
}

impl PdfScan {
    fn tokens(&mut self, bytes: &[u8], outer: bool) {
        let mut context = PdfContext::default();
        let mut at = 0;
        while let Some(&b) = bytes.get(at) {
            let rest = bytes.get(at..).unwrap_or_default();
            at += match b {
                b'/' => {
                    let length = 1 + regular(rest.get(1..).unwrap_or_default());
                    context.name = name(rest.get(1..length).unwrap_or_default());
                    self.name(&mut context);
                    length
                }
                b'(' => {
                    let (string, length) = literal(rest);
                    self.string(&mut context, &string);
                    length
                }
                b'<' if rest.get(1) != Some(&b'<') => {
                    let length = memchr::memchr(b'>', rest).unwrap_or(rest.len());
                    let string = rest
                        .get(1..length)
                        .and_then(|digits| codec::hex(std::str::from_utf8(digits).ok()?))
                        .unwrap_or_default();
                    self.string(&mut context, &string);
                    length + 1
                }
                b'<' | b'>' => 2,
                b'%' => memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()),
                b'[' | b']' => {
                    context.array = b == b'[';
                    if !context.array {
                        self.line();
                    }
                    1
                }
                _ => match regular(rest) {
                    0 => 1,
                    length => self.word(&mut context, rest, length, outer),
                },
            };
        }
    }

    fn name(&mut self, context: &mut PdfContext) {
        let pdf = &mut self.pdf;
        match context.name.as_str() {
            "JavaScript" | "JS" => pdf.javascript = true,
            "OpenAction" => pdf.open_action = true,
            "AA" => pdf.additional_actions = true,
            "Launch" => pdf.launch = true,
            "EmbeddedFile" | "EmbeddedFiles" => pdf.embedded_file = true,
            "Encrypt" => pdf.encrypted = true,
            "FlateDecode" | "Fl" => context.flate = true,
            _ => {}
        }
    }

    fn string(&mut self, context: &mut PdfContext, bytes: &[u8]) {
        let name = std::mem::take(&mut context.name);
        let text = text(bytes);
        match name.as_str() {
            "JS" if self.pdf.scripts.len() < MOST_LISTED => self.pdf.scripts.push(text),
            "URI" if self.pdf.uris.len() < MOST_LISTED => self.pdf.uris.push(text),
            _ if self.pdf.text.len() + text.len() > MOST_TEXT => self.pdf.cut = true,
            _ => {
                let readable = text
                    .chars()
                    .filter(|c| !c.is_control() && *c != char::REPLACEMENT_CHARACTER)
                    .count();
                if readable * 10 >= text.chars().count() * 9 {
                    self.pdf.text.push_str(&text);
                    if !context.array {
                        self.line();
                    }
                }
            }
        }
    }

    fn line(&mut self) {
        if !self.pdf.text.is_empty() && !self.pdf.text.ends_with('\n') {
            self.pdf.text.push('\n');
        }
    }

    /// A keyword or a number; returns its end, with the stream that it begins.
    fn word(&mut self, context: &mut PdfContext, rest: &[u8], length: usize, outer: bool) -> usize {
        let word = rest.get(..length).unwrap_or_default();
        match word {
            b"obj" => {
                context.object = context.numbers[0];
                context.flate = false;
            }
            b"R" => {
                if context.name == "JS" && self.script_refs.len() < MOST_LISTED {
                    self.script_refs.push(context.numbers[0]);
                }
                context.name.clear();
            }
            b"stream" if outer => return self.stream(context, rest),
            _ => {
                let number = std::str::from_utf8(word)
                    .ok()
                    .and_then(|word| word.parse().ok());
                if let Some(number) = number {
                    context.numbers = [context.numbers[1], number];
                }
            }
        }
        length
    }

    fn stream(&mut self, context: &PdfContext, rest: &[u8]) -> usize {
        let start = match rest.get(6..8) {
            Some(b"\r\n") => 8,
            _ => 7,
        };
        let body = rest.get(start..).unwrap_or_default();
        let length = memchr::memmem::find(body, b"endstream").unwrap_or(body.len());
        let data = body.get(..length).unwrap_or_default();
        let content = if context.flate {
            codec::inflate(data, self.left).unwrap_or_default()
        } else {
            data.to_vec()
        };
        if context.flate {
            self.left -= content.len().min(self.left);
            self.pdf.cut |= self.left == 0;
        }
        // Pixels and fonts have no tokens.
        let sample = content.get(..content.len().min(512)).unwrap_or_default();
        let odd = sample
            .iter()
            .filter(|&&b| b < 9 || (14..32).contains(&b) || b > 126)
            .count();
        if odd * 4 <= sample.len() {
            self.tokens(&content, false);
            self.streams.insert(context.object, content);
        }
        start + length
    }
}

/// How many characters belong to a name, a number or a keyword.
fn regular(bytes: &[u8]) -> usize {
    let ends = |b: &u8| {
        b.is_ascii_whitespace()
            || *b == 0
            || matches!(
                b,
                b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%'
            )
    };
    bytes.iter().position(ends).unwrap_or(bytes.len())
}

/// A name, with `#61` undone; only the beginning of a long one.
fn name(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut rest = bytes.get(..bytes.len().min(128)).unwrap_or_default();
    while let [first, more @ ..] = rest {
        if let (b'#', Some(Ok(byte))) = (
            first,
            more.get(..2)
                .and_then(|digits| Some(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16))),
        ) {
            out.push(char::from(byte));
            rest = more.get(2..).unwrap_or_default();
        } else {
            out.push(char::from(*first));
            rest = more;
        }
    }
    out
}

/// A string in parentheses, which may nest and have escapes; and its length in the source.
fn literal(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&b) = bytes.get(at) {
        at += 1;
        match b {
            b'\\' => {
                let octal: Vec<u8> = bytes
                    .iter()
                    .skip(at)
                    .take(3)
                    .copied()
                    .take_while(|b| (b'0'..=b'7').contains(b))
                    .collect();
                if octal.is_empty() {
                    out.extend(match bytes.get(at) {
                        Some(b'n') => Some(b'\n'),
                        Some(b'r' | b'b' | b'f') => Some(b' '),
                        Some(b't') => Some(b'\t'),
                        Some(b'\n' | b'\r') | None => None,
                        Some(&other) => Some(other),
                    });
                    at += 1;
                } else {
                    out.push(
                        octal
                            .iter()
                            .fold(0_u8, |sum, b| sum.wrapping_mul(8).wrapping_add(b - b'0')),
                    );
                    at += octal.len();
                }
            }
            b'(' => {
                depth += 1;
                if depth > 1 {
                    out.push(b);
                }
            }
            b')' => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
                out.push(b);
            }
            _ => out.push(b),
        }
    }
    (out, at.min(bytes.len()))
}

/// UTF-16 with its mark, UTF-8, or Latin letters.
fn text(bytes: &[u8]) -> String {
    if let Some(wide) = bytes.strip_prefix(b"\xfe\xff") {
        let units: Vec<u16> = wide
            .chunks_exact(2)
            .filter_map(|pair| Some(u16::from_be_bytes([*pair.first()?, *pair.get(1)?])))
            .collect();
        return String::from_utf16_lossy(&units);
    }
    std::str::from_utf8(bytes).map_or_else(
        |_| bytes.iter().map(|&b| char::from(b)).collect(),
        str::to_owned,
    )
}
