//! The second attempt: text that is not YAML is read entry by entry.
//!
//! One unquoted colon breaks a whole document for a YAML reader. Here the text is split at its top-level `key:`
//! lines; every entry that is valid YAML is parsed as such, and only the broken ones are read as their author meant
//! them: text, or JSON5 if they start with a bracket. Every repair is reported.

use super::{
    full::{self, YamlFailure},
    node::{Node, NodeValue, Pair, Style},
};
use crate::{
    diagnostic::DiagnosticCode,
    name,
    report::{DiagnosticCollector, Say},
    text::visible,
};

/// Reads as much as possible. `None` if there is not a single entry.
pub(crate) fn read<'a>(
    text: &'a str,
    base: u32,
    report: &mut DiagnosticCollector<'_>,
) -> Result<Option<Node<'a>>, YamlFailure> {
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    let mut entries = 0;
    for chunk in chunks(text) {
        let at = base + offset(chunk.start);
        if chunk.text.trim_end() == "..." {
            second_document(&text[chunk.start + chunk.text.len()..], at, report);
            break;
        }
        entries += usize::from(chunk.key.is_some());
        if entries > MAX_ENTRIES {
            report.add(DiagnosticCode::TooManyValues, at, || {
                Say::new(format!("there are more than {MAX_ENTRIES} fields"))
            });
            return Err(YamlFailure::Refused);
        }
        let Some(key) = chunk.key else {
            stray(chunk.text, at, report);
            continue;
        };
        for pair in read_chunk(&chunk, key, at, report)? {
            full::push_pair(&mut pairs, pair, true, report);
        }
    }
    Ok((!pairs.is_empty()).then_some(Node {
        value: NodeValue::Map(pairs),
        at: base,
    }))
}

/// More fields than any manifest has.
const MAX_ENTRIES: usize = 1_000;

/// Only another document can follow the end of a document.
fn second_document(rest: &str, at: u32, report: &mut DiagnosticCollector<'_>) {
    if !rest.trim().is_empty() {
        report.add(DiagnosticCode::SecondDocument, at, || {
            Say::new("a second YAML document starts here and is not read")
                .hint("keep one document between the `---` lines")
        });
    }
}

/// Fields whose value is a sentence: text in the first column below one of them can only be its continuation.
const PROSE: &[&str] = &["description", "when_to_use", "compatibility"];

/// How far the end of a quote is searched.
const MAX_QUOTE: usize = 64 * 1024;

/// One top-level entry with its continuation lines, or one line that belongs to no entry.
struct FieldChunk<'a> {
    key: Option<&'a str>,
    start: usize,
    text: &'a str,
    /// How much of `text` has the form of an entry; the rest is in the first column without a key.
    formed: usize,
}

fn chunks(text: &str) -> Vec<FieldChunk<'_>> {
    let mut found: Vec<FieldChunk<'_>> = Vec::new();
    let (mut start, mut quoted_until, mut commented) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let is_quoted = start < quoted_until;
        let blank = line.trim().is_empty() || line.starts_with('#');
        let key = entry_key(line).filter(|_| !is_quoted);
        match found.last_mut() {
            Some(last) if is_quoted || (last.key.is_some() && key.is_none() && blank) => {
                last.extend(text, end, is_quoted || last.formed == last.text.len());
                commented |= !is_quoted && line.starts_with('#');
            }
            Some(last) if last.key.is_some() && key.is_none() && continues(line, last.text) => {
                last.extend(text, end, last.formed == last.text.len());
            }
            Some(last) if key.is_none() && !commented && last.continues_with(line) => {
                last.extend(text, end, false);
            }
            _ if blank => {}
            _ => {
                let formed = line.len();
                found.push(FieldChunk {
                    key,
                    start,
                    text: line,
                    formed,
                });
                commented = false;
                let may_quote = key.is_some() && found.len() <= MAX_ENTRIES;
                quoted_until = if may_quote {
                    quote_end(text, start).unwrap_or(0)
                } else {
                    0
                };
            }
        }
        start = end;
    }
    found
}

impl<'a> FieldChunk<'a> {
    /// Whether a line after the first starts in the first column.
    fn is_flush(&self) -> bool {
        let flush = |line: &str| !line.trim().is_empty() && !line.starts_with([' ', '\t', '#']);
        self.text.lines().skip(1).any(flush)
    }

    fn extend(&mut self, text: &'a str, end: usize, is_formed: bool) {
        self.text = &text[self.start..end];
        if is_formed {
            self.formed = self.text.len();
        }
    }

    /// Whether a line in the first column continues this entry's sentence.
    fn continues_with(&self, line: &str) -> bool {
        self.key.is_some_and(|key| PROSE.contains(&key)) && !is_mark(line)
    }
}

fn continues(line: &str, entry: &str) -> bool {
    let is_bare = || entry.trim_end().ends_with(':') && !entry.trim_end().contains('\n');
    line.starts_with([' ', '\t', '}', ']'])
        || line.starts_with("- ")
        || (line.starts_with(['{', '[']) && is_bare())
}

/// Markers of an unfinished merge, of a directive and of the end of a document.
fn is_mark(line: &str) -> bool {
    ["<<<<<<<", "=======", ">>>>>>>", "%YAML", "%TAG", "..."]
        .iter()
        .any(|mark| line.starts_with(mark))
}

/// The offset after the quote that closes the value of the entry at `start`, if that is on a later line with nothing
/// after it.
fn quote_end(text: &str, start: usize) -> Option<usize> {
    let entry = &text[start..];
    let behind = entry.find(':')? + 1;
    let value = entry[behind..].trim_start_matches([' ', '\t']);
    let quote = value
        .bytes()
        .next()
        .filter(|byte| matches!(byte, b'"' | b'\''))?;
    let open = entry.len() - value.len() + 1;
    let length = closing_quote(&entry.as_bytes()[open..], quote)?;
    let close = open + length + 1;
    let rest = entry[close..].lines().next().unwrap_or("").trim_start();
    let ends = rest.is_empty() || rest.starts_with('#');
    (ends && entry[open..close].contains('\n')).then_some(start + close)
}

/// The position where the quote that opened before `bytes` is closed.
fn closing_quote(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut index = 0;
    while index < bytes.len().min(MAX_QUOTE) {
        match bytes[index] {
            b'\\' if quote == b'"' => index += 2,
            byte if byte == quote && quote == b'\'' && bytes.get(index + 1) == Some(&quote) => {
                index += 2;
            }
            byte if byte == quote => return Some(index),
            _ => index += 1,
        }
    }
    None
}

/// The key of a line `key: …` or `key:` that starts in the first column.
fn entry_key(line: &str) -> Option<&str> {
    let (key, rest) = line.trim_start_matches('\u{feff}').split_once(':')?;
    let bare = |quote: char| {
        key.strip_prefix(quote)
            .and_then(|key| key.strip_suffix(quote))
    };
    let key = bare('"').or_else(|| bare('\'')).unwrap_or(key);
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let fits = key.starts_with(|c: char| c.is_alphabetic() || c == '_') && key.chars().all(word);
    (fits && (rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))).then_some(key)
}

fn stray(line: &str, at: u32, report: &mut DiagnosticCollector<'_>) {
    let shown: String = line.trim_end().chars().take(40).collect();
    report.add(DiagnosticCode::StrayLine, at, || {
        let conflict = line.starts_with(['<', '=', '>']) && is_mark(line);
        let say = Say::new(format!(
            "the line `{}` belongs to no field and was ignored",
            shown.escape_debug()
        ));
        say.hint(if conflict {
            "finish the git merge: this is a conflict marker"
        } else {
            "remove it"
        })
    });
}

/// The pairs of an entry that is valid YAML.
fn read_entry<'a>(
    text: &'a str,
    at: u32,
    report: &mut DiagnosticCollector<'_>,
) -> Result<Option<Vec<Pair<'a>>>, YamlFailure> {
    match full::read(text, at, report) {
        Ok(Node {
            value: NodeValue::Map(pairs),
            ..
        }) => Ok(Some(pairs)),
        Err(YamlFailure::Refused) => Err(YamlFailure::Refused),
        Ok(_) | Err(YamlFailure::Syntax { .. }) => Ok(None),
    }
}

/// The pairs of one entry: as YAML, then with its lines indented, then as its author meant it.
fn read_chunk<'a>(
    chunk: &FieldChunk<'a>,
    key: &str,
    at: u32,
    report: &mut DiagnosticCollector<'_>,
) -> Result<Vec<Pair<'a>>, YamlFailure> {
    let formed = &chunk.text[..chunk.formed];
    let read = read_entry(formed, at, report)?;
    let is_text = |pairs: &[Pair<'_>]| matches!(pairs, [pair] if matches!(pair.node.value, NodeValue::Text(..) | NodeValue::Null));
    let loose = &chunk.text[chunk.formed..];
    match read {
        Some(pairs) if loose.trim().is_empty() => return Ok(pairs),
        Some(pairs) if !is_text(&pairs) => {
            stray_lines(loose, at + offset(chunk.formed), report);
            return Ok(pairs);
        }
        _ => {}
    }
    let node = match indented(chunk, report) {
        Some(text) => {
            let node = Node {
                value: text,
                at: value_at(chunk.text, at),
            };
            report.add(DiagnosticCode::YamlRepaired, node.at, || {
                Say::new(format!(
                    "the value of `{key}` continues in the first column; all of it was read"
                ))
                .hint("indent the following lines by two spaces")
            });
            node
        }
        None => repair_entry(key, chunk.text, at, report),
    };
    Ok(vec![Pair {
        key: key.to_owned().into(),
        key_at: at,
        node,
    }])
}

/// The text of an entry that is YAML once its lines are indented.
fn indented(
    chunk: &FieldChunk<'_>,
    report: &mut DiagnosticCollector<'_>,
) -> Option<NodeValue<'static>> {
    if !chunk.is_flush() {
        return None;
    }
    let lines: Vec<&str> = chunk.text.split('\n').collect();
    let before = report.list.len();
    let text = lines.join("\n ");
    let read = read_entry(&text, 0, report);
    let value = match read {
        Ok(Some(pairs)) if pairs.len() == 1 => pairs.into_iter().next()?.node.value,
        _ => NodeValue::Null,
    };
    if let NodeValue::Text(text, style) = value {
        return Some(NodeValue::Text(text.into_owned().into(), style));
    }
    report.list.truncate(before);
    None
}

fn stray_lines(lines: &str, at: u32, report: &mut DiagnosticCollector<'_>) {
    let mut at = at;
    for line in lines.split_inclusive('\n') {
        if !line.trim().is_empty() && !line.starts_with('#') {
            stray(line, at, report);
        }
        at += offset(line.len());
    }
}

/// The offset of the value after the colon of an entry at `at`.
fn value_at(text: &str, at: u32) -> u32 {
    let behind = text.find(':').map_or("", |colon| &text[colon + 1..]);
    at + offset(text.len() - behind.trim_start().len())
}

fn repair_entry<'a>(
    key: &str,
    text: &str,
    at: u32,
    report: &mut DiagnosticCollector<'_>,
) -> Node<'a> {
    let value = text.find(':').map_or("", |colon| text[colon + 1..].trim());
    let at_value = value_at(text, at);
    if value.starts_with(['{', '[']) {
        if let Some(json) = json5_value(value) {
            report.add(DiagnosticCode::ReadAsJson5, at_value, || {
                Say::new(format!("`{key}` is not valid YAML and was read as JSON5"))
                    .hint("write it as plain YAML")
            });
            return Node::from_json(json, at_value);
        }
        if key == "metadata" {
            report.add(DiagnosticCode::MetadataForm, at_value, || {
                Say::new("`metadata` is neither YAML nor JSON and was ignored")
                    .hint("check its brackets and quotes")
            });
            return Node {
                value: NodeValue::Null,
                at: at_value,
            };
        }
    }
    let plain = unwrap(value);
    if key == "name" && name::departures(&plain).next().is_some() {
        report.add(DiagnosticCode::NameUnusable, at_value, || {
            let shown: String = visible(&plain).chars().take(40).collect();
            Say::new(format!(
                "the name `{shown}` can't be read: it is not valid YAML; the folder's name is used"
            ))
            .hint("use lower-case letters, digits and hyphens")
        });
        return Node {
            value: NodeValue::Null,
            at: at_value,
        };
    }
    report.add(DiagnosticCode::YamlRepaired, at_value, || {
        Say::new(format!(
            "`{key}` is not valid YAML and was read as plain text"
        ))
        .hint(format!(
            "put the value in quotes: `{key}: {}`",
            quoted(&plain)
        ))
    });
    Node {
        value: NodeValue::Text(plain.into(), Style::Quoted),
        at: at_value,
    }
}

/// More brackets than a manifest needs, and few enough for a recursive reader.
const MAX_BRACKETS: usize = 256;

/// Parses JSON5, even if closing brackets are missing at the end.
pub(crate) fn json5_value(text: &str) -> Option<serde_json::Value> {
    if memchr::memchr2_iter(b'[', b'{', text.as_bytes()).count() > MAX_BRACKETS {
        return None;
    }
    json5::from_str(text)
        .ok()
        .or_else(|| json5::from_str(&format!("{text}{}", missing_brackets(text)?)).ok())
}

fn missing_brackets(text: &str) -> Option<String> {
    let (mut open, mut quote, mut escaped) = (Vec::new(), None, false);
    for c in text.chars() {
        match (quote, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(mark), c) if c == mark => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => open.push(']'),
            (None, '{') => open.push('}'),
            (None, ']' | '}') => {
                open.pop();
            }
            _ => {}
        }
    }
    (quote.is_none() && !open.is_empty()).then(|| open.iter().rev().collect())
}

/// The intended text: one line, without a block sign, comments or quotes around it.
fn unwrap(value: &str) -> String {
    let is_quoted = value.starts_with(['"', '\'']);
    let is_comment =
        |(index, line): &(usize, &str)| *index > 0 && !is_quoted && line.starts_with('#');
    let lines: Vec<&str> = without_block_sign(value)
        .lines()
        .enumerate()
        .filter(|line| !is_comment(line))
        .map(|(_, line)| line.trim())
        .filter(|line| !line.is_empty())
        .collect();
    without_quotes(&lines.join(" "))
}

/// Removes the block sign of `>- text` and `|2 text` on one line, which is not valid YAML.
fn without_block_sign(value: &str) -> &str {
    let Some(rest) = value.strip_prefix(['|', '>']) else {
        return value;
    };
    let indicator = |c: char| matches!(c, '-' | '+' | '1'..='9');
    let text = rest.trim_start_matches(indicator);
    let is_sign = rest.len() - text.len() <= 2 && !text.starts_with(|c: char| !c.is_whitespace());
    let text = if is_sign {
        text
    } else {
        rest.trim_start_matches(['|', '>'])
    };
    text.trim()
}

/// Removes quotes around the text, around its start, or only before it. Quotes around words inside it are kept.
fn without_quotes(text: &str) -> String {
    let Some(quote @ ('"' | '\'')) = text.chars().next() else {
        return text.to_owned();
    };
    let inner = &text[1..];
    let whole = inner.strip_suffix(quote);
    let Some(close) = closing_quote(inner.as_bytes(), quote as u8) else {
        return unescaped(inner, quote);
    };
    let behind = &inner[close + 1..];
    match whole {
        Some(whole) => unescaped(whole, quote),
        None if behind.contains(quote) => text.to_owned(),
        None => format!("{}{behind}", unescaped(&inner[..close], quote)),
    }
}

fn unescaped(text: &str, quote: char) -> String {
    match quote {
        '"' => text.replace("\\\"", "\""),
        _ => text.replace("''", "'"),
    }
}

fn quoted(text: &str) -> String {
    let short: String = text.chars().take(24).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("'{}{more}'", visible(&short.replace('\'', "''")))
}

fn offset(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
