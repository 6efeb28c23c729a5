//! The fast path: the small part of YAML that nearly all frontmatters use.
//!
//! Block maps with bare keys, one-line and folded plain text, one-line quoted text, `|` and `>` blocks, lists of
//! scalars, and JSON-like flow values. For anything else, including anything that deserves a diagnostic, it returns
//! `None`, and the full reader is used. It must never return a result different from the full reader's; in doubt, it
//! gives up.

use std::borrow::Cow;

use super::node::{Node, NodeValue, Pair, Style};

const MAX_DEPTH: usize = 16;

/// A longer document could contain more values than the full reader allows.
const MAX_TEXT: usize = 16 * 1024;

/// The maximum length of a key without a question mark in YAML.
const MAX_KEY: usize = 1024;

/// The top-level pairs, or `None` to use the full reader.
pub(crate) fn read(text: &str, base: u32) -> Option<Vec<Pair<'_>>> {
    if text.len() > MAX_TEXT || !text.ends_with('\n') || has_unusual_bytes(text.as_bytes()) {
        return None;
    }
    let mut reader = PlainYamlReader {
        text,
        bytes: text.as_bytes(),
        position: 0,
        base,
    };
    let pairs = reader.map(0, 0)?;
    (reader.position == text.len() && !pairs.is_empty()).then_some(pairs)
}

/// Whether there are tabs, control characters, unusual line breaks or byte order marks.
fn has_unusual_bytes(bytes: &[u8]) -> bool {
    let control = |byte: u8| (byte < b' ' && !matches!(byte, b'\n' | b'\r')) || byte == 0x7f;
    // Without an early exit the compiler processes sixteen bytes at a time.
    if bytes.iter().fold(false, |any, byte| any | control(*byte)) {
        return true;
    }
    let lone_return = |index: usize| bytes.get(index + 1) != Some(&b'\n');
    let exotic = |index: usize| match &bytes[index..] {
        [0xc2, second, ..] => *second < 0xa0,
        [0xe2, 0x80, third, ..] => matches!(third, 0xa8 | 0xa9),
        [0xef, 0xbb, 0xbf, ..] | [0xef, 0xbf, 0xbe | 0xbf, ..] => true,
        _ => false,
    };
    memchr::memchr_iter(b'\r', bytes).any(lone_return)
        || memchr::memchr3_iter(0xc2, 0xe2, 0xef, bytes).any(exotic)
}

struct PlainYamlReader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// The start of a line, except inside a value.
    position: usize,
    base: u32,
}

/// A line: where its text starts and ends (without spaces and line break), where the next starts.
#[derive(Clone, Copy)]
struct YamlLine {
    indent: usize,
    start: usize,
    end: usize,
    next: usize,
}

impl<'a> PlainYamlReader<'a> {
    fn line(&self, from: usize) -> Option<YamlLine> {
        if from >= self.bytes.len() {
            return None;
        }
        let rest = &self.bytes[from..];
        let next = from + memchr::memchr(b'\n', rest)? + 1;
        let indent = rest.iter().take_while(|byte| **byte == b' ').count();
        Some(self.trim(from + indent, next)).map(|(start, end)| YamlLine {
            indent,
            start,
            end,
            next,
        })
    }

    /// `start..next` without the line break and the spaces before it.
    fn trim(&self, start: usize, next: usize) -> (usize, usize) {
        let mut end = next;
        while end > start && matches!(self.bytes[end - 1], b' ' | b'\n' | b'\r') {
            end -= 1;
        }
        (start.min(end), end)
    }

    /// The next line with content; skips comments and blank lines.
    fn content_line(&mut self) -> Option<YamlLine> {
        while let Some(line) = self.line(self.position) {
            if line.start < line.end && self.bytes[line.start] != b'#' {
                return Some(line);
            }
            self.position = line.next;
        }
        None
    }

    fn at(&self, index: usize) -> u32 {
        self.base
            .saturating_add(u32::try_from(index).unwrap_or(u32::MAX))
    }

    fn map(&mut self, indent: usize, depth: usize) -> Option<Vec<Pair<'a>>> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut pairs: Vec<Pair<'a>> = Vec::with_capacity(if depth == 0 { 8 } else { 2 });
        while let Some(line) = self.content_line() {
            if line.indent < indent {
                break;
            }
            if line.indent > indent {
                return None;
            }
            let key_end = self.key_end(line.start, line.end)?;
            let key = &self.text[line.start..key_end];
            if pairs.iter().any(|pair| pair.key.eq_ignore_ascii_case(key)) {
                return None;
            }
            let node = self.value(key_end + 1, line, depth)?;
            pairs.push(Pair {
                key: Cow::Borrowed(key),
                key_at: self.at(line.start),
                node,
            });
        }
        Some(pairs)
    }

    /// The end of a bare key that is followed by `: ` or by `:` and the end of the line.
    fn key_end(&self, start: usize, end: usize) -> Option<usize> {
        let line = &self.bytes[start..end];
        let length = memchr::memchr(b':', line)?;
        let key = &line[..length];
        let fits = key.first()?.is_ascii_alphabetic()
            && key
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        (fits && length <= MAX_KEY && matches!(line.get(length + 1), None | Some(b' ')))
            .then_some(start + length)
    }

    fn value(&mut self, from: usize, line: YamlLine, depth: usize) -> Option<Node<'a>> {
        let start = from
            + self.bytes[from..line.end]
                .iter()
                .take_while(|byte| **byte == b' ')
                .count();
        if start >= line.end {
            self.position = line.next;
            return self.nested(from, line.indent, depth);
        }
        match self.bytes[start] {
            b'|' | b'>' => self.block(start, line),
            b'[' | b'{' => self.flow_value(start),
            _ => self.scalar(start, line, true),
        }
    }

    /// The value of a key with nothing after its colon.
    fn nested(&mut self, from: usize, indent: usize, depth: usize) -> Option<Node<'a>> {
        let nothing = Node {
            value: NodeValue::Null,
            at: self.at(from - 1),
        };
        let Some(next) = self.content_line() else {
            return Some(nothing);
        };
        let at = self.at(next.start);
        let is_item = self.bytes[next.start] == b'-';
        if is_item && next.indent >= indent {
            let items = self.list(next.indent)?;
            let first = items.first().map_or(at, |item| item.at);
            let at = if next.indent == indent { first } else { at };
            return Some(Node {
                value: NodeValue::List(items),
                at,
            });
        }
        if next.indent <= indent {
            return Some(nothing);
        }
        match self.bytes[next.start] {
            b'{' | b'[' => return self.flow_value(next.start),
            _ if self.key_end(next.start, next.end).is_none() => {
                return self.scalar(next.start, YamlLine { indent, ..next }, true);
            }
            _ => {}
        }
        Some(Node {
            value: NodeValue::Map(self.map(next.indent, depth + 1)?),
            at,
        })
    }

    /// A list of scalars, `- ` each at the same indentation.
    fn list(&mut self, indent: usize) -> Option<Vec<Node<'a>>> {
        let mut items = Vec::new();
        while let Some(line) = self.content_line() {
            if line.indent < indent || (line.indent == indent && self.bytes[line.start] != b'-') {
                break;
            }
            if line.indent > indent
                || line.start + 2 >= line.end
                || self.bytes[line.start + 1] != b' '
            {
                return None;
            }
            let blanks = self.bytes[line.start + 2..line.end]
                .iter()
                .take_while(|byte| **byte == b' ')
                .count();
            let start = line.start + 2 + blanks;
            let item = match self.bytes.get(start)? {
                b'[' | b'{' => self.flow_value(start)?,
                _ => self.scalar(start, line, false)?,
            };
            items.push(item);
        }
        Some(items)
    }

    /// Plain or quoted text that starts at `start` on `line`.
    fn scalar(&mut self, start: usize, line: YamlLine, may_fold: bool) -> Option<Node<'a>> {
        let at = self.at(start);
        let value = match self.bytes[start] {
            b'"' | b'\'' => match self.quoted(start, line.end) {
                Some((text, end)) if end == line.end => {
                    self.position = line.next;
                    NodeValue::Text(text, Style::Quoted)
                }
                None if may_fold => self.folded_quote(start, line)?,
                _ => return None,
            },
            byte if starts_plain(byte) => self.plain(start, line, may_fold)?,
            _ => return None,
        };
        Some(Node { value, at })
    }

    /// Plain text, folded over following lines that are indented deeper.
    fn plain(&mut self, start: usize, line: YamlLine, may_fold: bool) -> Option<NodeValue<'a>> {
        if !is_plain(&self.bytes[start..line.end]) {
            return None;
        }
        let mut text = Cow::Borrowed(&self.text[start..line.end]);
        self.position = line.next;
        while let Some(next) = self.line(self.position) {
            if next.start >= next.end {
                return self
                    .ends_here(next.next, line.indent)
                    .then(|| plain_value(text));
            }
            if next.indent <= line.indent {
                break;
            }
            let more = &self.bytes[next.start..next.end];
            if !may_fold || !(starts_plain(more[0]) || more[0] == b'"') || !is_plain(more) {
                return None;
            }
            let text = text.to_mut();
            text.push(' ');
            text.push_str(&self.text[next.start..next.end]);
            self.position = next.next;
        }
        Some(plain_value(text))
    }

    /// Whether no line deeper than `indent` follows after blank lines.
    fn ends_here(&mut self, from: usize, indent: usize) -> bool {
        self.position = from;
        self.content_line().is_none_or(|line| line.indent <= indent)
    }

    /// Quoted text on one line, and the offset after its closing quote.
    fn quoted(&self, start: usize, end: usize) -> Option<(Cow<'a, str>, usize)> {
        let quote = self.bytes[start];
        let inner = &self.bytes[start + 1..end];
        let length = memchr::memchr2(quote, b'\\', inner)?;
        let close = start + 1 + length;
        if self.bytes[close] == quote && self.bytes.get(close + 1) != Some(&quote) {
            return Some((Cow::Borrowed(&self.text[start + 1..close]), close + 1));
        }
        if quote == b'"' {
            self.escaped(start + 1, end)
        } else {
            None
        }
    }

    /// Quoted text over several lines: a line break becomes a space, a blank line a line break.
    fn folded_quote(&mut self, start: usize, line: YamlLine) -> Option<NodeValue<'a>> {
        let quote = self.bytes[start];
        let plain = |bytes: &[u8]| !bytes.contains(&quote) && !bytes.contains(&b'\\');
        if !plain(&self.bytes[start + 1..line.end]) {
            return None;
        }
        let mut text = self.text[start + 1..line.end].to_owned();
        let mut breaks = 1;
        self.position = line.next;
        while let Some(next) = self.line(self.position) {
            self.position = next.next;
            if next.start >= next.end {
                breaks += 1;
                continue;
            }
            if next.indent <= line.indent {
                return None;
            }
            let (content, closed) = match self.bytes[next.start..next.end].split_last()? {
                (last, content) if *last == quote => (content, true),
                _ => (&self.bytes[next.start..next.end], false),
            };
            if !plain(content) {
                return None;
            }
            push_folded(&mut text, breaks);
            text.push_str(&self.text[next.start..next.start + content.len()]);
            if closed {
                return Some(NodeValue::Text(text.into(), Style::Quoted));
            }
            breaks = 1;
        }
        None
    }

    fn escaped(&self, start: usize, end: usize) -> Option<(Cow<'a, str>, usize)> {
        let mut text = String::with_capacity(end - start);
        let mut run = start;
        let mut index = start;
        while index < end {
            match self.bytes[index] {
                b'"' => {
                    text.push_str(&self.text[run..index]);
                    return Some((Cow::Owned(text), index + 1));
                }
                b'\\' => {
                    text.push_str(&self.text[run..index]);
                    text.push(match self.bytes.get(index + 1)? {
                        b'"' => '"',
                        b'\\' => '\\',
                        b'/' => '/',
                        b'n' => '\n',
                        b't' => '\t',
                        _ => return None,
                    });
                    index += 2;
                    run = index;
                }
                _ => index += 1,
            }
        }
        None
    }

    /// A `|` or `>` block, clipped or stripped.
    fn block(&mut self, start: usize, line: YamlLine) -> Option<Node<'a>> {
        let folded = self.bytes[start] == b'>';
        let strip = match &self.bytes[start + 1..line.end] {
            b"" => false,
            b"-" => true,
            _ => return None,
        };
        self.position = line.next;
        let first = self.line(line.next)?;
        if first.start >= first.end || first.indent <= line.indent {
            return None;
        }
        let mut text = String::new();
        let mut breaks = 0;
        while let Some(next) = self.line(self.position) {
            if next.start >= next.end {
                // More spaces than the indentation are content, even on an otherwise empty line.
                if self.line_text_end(next).saturating_sub(self.position) > first.indent {
                    return None;
                }
                breaks += 1;
                self.position = next.next;
                continue;
            }
            if next.indent <= line.indent {
                break;
            }
            if next.indent < first.indent || (folded && next.indent > first.indent) {
                return None;
            }
            push_breaks(&mut text, breaks, folded);
            text.push_str(
                &self.text[next.start - (next.indent - first.indent)..self.line_text_end(next)],
            );
            breaks = 1;
            self.position = next.next;
        }
        if !strip {
            text.push('\n');
        }
        Some(Node {
            value: NodeValue::Text(text.into(), Style::Quoted),
            at: self.at(first.start),
        })
    }

    /// The end of a line of a block: trailing spaces are content.
    fn line_text_end(&self, line: YamlLine) -> usize {
        let end = line.next - 1;
        if self.bytes[end - 1] == b'\r' {
            end - 1
        } else {
            end
        }
    }

    /// A flow value that takes the rest of its line or lines.
    fn flow_value(&mut self, start: usize) -> Option<Node<'a>> {
        let (node, end) = self.flow(start, 0)?;
        let rest = &self.bytes[end..];
        let line_break = memchr::memchr(b'\n', rest)?;
        rest[..line_break].trim_ascii().is_empty().then_some(())?;
        self.position = end + line_break + 1;
        Some(node)
    }

    fn flow(&self, start: usize, depth: usize) -> Option<(Node<'a>, usize)> {
        if depth > MAX_DEPTH {
            return None;
        }
        let (value, end) = match self.bytes.get(start)? {
            b'[' => self.flow_list(start + 1, depth)?,
            b'{' => self.flow_map(start + 1, depth)?,
            b'"' | b'\'' => {
                let (text, end) = self.quoted(start, self.line_break(start)?)?;
                (NodeValue::Text(text, Style::Quoted), end)
            }
            _ => {
                let end = self.flow_word(start)?;
                (plain_value(Cow::Borrowed(&self.text[start..end])), end)
            }
        };
        Some((
            Node {
                value,
                at: self.at(start),
            },
            end,
        ))
    }

    fn line_break(&self, from: usize) -> Option<usize> {
        memchr::memchr2(b'\n', b'\r', &self.bytes[from..]).map(|index| from + index)
    }

    fn flow_list(&self, mut index: usize, depth: usize) -> Option<(NodeValue<'a>, usize)> {
        let mut items = Vec::new();
        loop {
            index = self.blanks(index)?;
            if self.bytes[index] == b']' {
                return Some((NodeValue::List(items), index + 1));
            }
            let (item, end) = self.flow(index, depth + 1)?;
            items.push(item);
            index = self.separator(end, b']')?;
        }
    }

    fn flow_map(&self, mut index: usize, depth: usize) -> Option<(NodeValue<'a>, usize)> {
        let mut pairs: Vec<Pair<'a>> = Vec::new();
        loop {
            index = self.blanks(index)?;
            if self.bytes[index] == b'}' {
                return Some((NodeValue::Map(pairs), index + 1));
            }
            if self.bytes[index] != b'"' {
                return None;
            }
            let (key, end) = self.quoted(index, self.line_break(index)?)?;
            if self.bytes.get(end) != Some(&b':')
                || pairs.iter().any(|pair| pair.key.eq_ignore_ascii_case(&key))
                || key == "<<"
                || key.len() > 64
            {
                return None;
            }
            let (node, after) = self.flow(self.blanks(end + 1)?, depth + 1)?;
            pairs.push(Pair {
                key,
                key_at: self.at(index),
                node,
            });
            index = self.separator(after, b'}')?;
        }
    }

    /// Skips spaces and line breaks; returns the offset of the next byte.
    fn blanks(&self, from: usize) -> Option<usize> {
        let skipped = self.bytes[from..]
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r'))
            .count();
        (from + skipped < self.bytes.len()).then_some(from + skipped)
    }

    /// The offset after a comma, or at the closing bracket.
    fn separator(&self, from: usize, close: u8) -> Option<usize> {
        let index = self.blanks(from)?;
        match self.bytes[index] {
            b',' => Some(index + 1),
            byte if byte == close => Some(index),
            _ => None,
        }
    }

    /// The end of unquoted words inside a flow value.
    fn flow_word(&self, start: usize) -> Option<usize> {
        let word = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || matches!(
                    byte,
                    b'_' | b'.' | b'/' | b'-' | b'+' | b' ' | b'(' | b')' | b'*'
                )
        };
        let length = self.bytes[start..]
            .iter()
            .take_while(|byte| word(byte))
            .count();
        let close = start + length;
        let end = start + self.bytes[start..close].trim_ascii_end().len();
        let fits = length > 0
            && self.bytes[start].is_ascii_alphanumeric()
            && matches!(self.bytes.get(close), Some(b',' | b']' | b'}'));
        fits.then_some(end)
    }
}

fn push_folded(text: &mut String, breaks: usize) {
    if breaks == 1 {
        text.push(' ');
    }
    (1..breaks).for_each(|_| text.push('\n'));
}

fn push_breaks(text: &mut String, breaks: usize, folded: bool) {
    match (text.is_empty(), folded, breaks) {
        (true, ..) => {}
        (false, true, _) => push_folded(text, breaks),
        (false, false, _) => (0..breaks).for_each(|_| text.push('\n')),
    }
}

fn starts_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(byte, b'(' | b'/' | b'.' | b'_' | b'$' | b'<' | b'+' | b'~')
}

/// Whether there is no `: `, no ` #` and no colon at the end.
fn is_plain(bytes: &[u8]) -> bool {
    memchr::memchr2_iter(b':', b'#', bytes).all(|index| match bytes[index] {
        b':' => !matches!(bytes.get(index + 1), None | Some(b' ')),
        _ => index == 0 || bytes[index - 1] != b' ',
    })
}

fn plain_value(text: Cow<'_, str>) -> NodeValue<'_> {
    if matches!(text.as_ref(), "~" | "null" | "Null" | "NULL") {
        NodeValue::Null
    } else {
        NodeValue::Text(text, Style::Plain)
    }
}
