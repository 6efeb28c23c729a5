//! The second try: a text that is not YAML is read entry by entry.
//!
//! One unquoted colon spoils a whole document for a YAML reader. Here the text is cut at its
//! top-level `key:` lines; every entry that is YAML by itself is read as such, and only the broken
//! ones are taken as what their author meant: text, or JSON5 where they start with a bracket.
//! Nothing is repaired in silence.

use super::{
    full::{self, Failure},
    node::{Node, Pair, Style, Value},
};
use crate::{
    diagnostic::Code,
    report::{Report, Say},
};

/// Reads what can be read. `None` when there is not a single entry.
pub(crate) fn read<'a>(
    text: &'a str,
    base: u32,
    report: &mut Report<'_>,
) -> Result<Option<Node<'a>>, Failure> {
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    for chunk in chunks(text) {
        let at = base + offset(chunk.start);
        if chunk.text.trim_end() == "..." {
            second_document(&text[chunk.start + chunk.text.len()..], at, report);
            break;
        }
        if pairs.len() >= MAX_ENTRIES {
            report.add(Code::TooManyValues, at, || {
                Say::new(format!("there are more than {MAX_ENTRIES} fields"))
            });
            return Err(Failure::Refused);
        }
        let Some(key) = chunk.key else {
            stray(chunk.text, at, report);
            continue;
        };
        match read_entry(chunk.text, at, report)? {
            Some(found) => found
                .into_iter()
                .for_each(|pair| full::push_pair(&mut pairs, pair, true, report)),
            None => {
                let node = repair_entry(key, chunk.text, at, report);
                full::push_pair(
                    &mut pairs,
                    Pair {
                        key: key.into(),
                        key_at: at,
                        node,
                    },
                    true,
                    report,
                );
            }
        }
    }
    Ok((!pairs.is_empty()).then_some(Node {
        value: Value::Map(pairs),
        at: base,
    }))
}

/// More fields than any manifest has.
const MAX_ENTRIES: usize = 1_000;

/// Behind the end of a document only another one can follow.
fn second_document(rest: &str, at: u32, report: &mut Report<'_>) {
    if !rest.trim().is_empty() {
        report.add(Code::SecondDocument, at, || {
            Say::new("a second YAML document starts here and is not read")
                .hint("keep one document between the `---` lines")
        });
    }
}

/// One top-level entry with its continuation lines, or one line that belongs nowhere.
struct Chunk<'a> {
    key: Option<&'a str>,
    start: usize,
    text: &'a str,
}

fn chunks(text: &str) -> Vec<Chunk<'_>> {
    let mut found: Vec<Chunk<'_>> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let blank = line.trim().is_empty() || line.starts_with('#');
        let key = entry_key(line);
        match found.last_mut() {
            Some(last) if last.key.is_some() && key.is_none() && (blank || continues(line)) => {
                last.text = &text[last.start..end];
            }
            _ if blank => {}
            _ => found.push(Chunk {
                key,
                start,
                text: line,
            }),
        }
        start = end;
    }
    found
}

fn continues(line: &str) -> bool {
    line.starts_with([' ', '\t', '}', ']']) || line.starts_with("- ")
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

fn stray(line: &str, at: u32, report: &mut Report<'_>) {
    let shown: String = line.trim_end().chars().take(40).collect();
    report.add(Code::StrayLine, at, || {
        let conflict = ["<<<<<<<", "=======", ">>>>>>>"]
            .iter()
            .any(|mark| line.starts_with(mark));
        let say = Say::new(format!(
            "the line `{}` belongs to no field and was passed over",
            shown.escape_debug()
        ));
        say.hint(if conflict {
            "finish the git merge: this is a conflict marker"
        } else {
            "indent it, or remove it"
        })
    });
}

/// The pairs of an entry that is YAML by itself.
fn read_entry<'a>(
    text: &'a str,
    at: u32,
    report: &mut Report<'_>,
) -> Result<Option<Vec<Pair<'a>>>, Failure> {
    match full::read(text, at, report) {
        Ok(Node {
            value: Value::Map(pairs),
            ..
        }) => Ok(Some(pairs)),
        Err(Failure::Refused) => Err(Failure::Refused),
        Ok(_) | Err(Failure::Syntax { .. }) => Ok(None),
    }
}

fn repair_entry<'a>(key: &str, text: &str, at: u32, report: &mut Report<'_>) -> Node<'a> {
    let behind = text.find(':').map_or("", |colon| &text[colon + 1..]);
    let value = behind.trim();
    let at_value = at + offset(text.len() - behind.trim_start().len());
    if value.starts_with(['{', '[']) {
        if let Some(json) = json5_value(value) {
            report.add(Code::ReadAsJson5, at_value, || {
                Say::new(format!("`{key}` is not valid YAML and was read as JSON5"))
                    .hint("write it as plain YAML")
            });
            return Node::from_json(json, at_value);
        }
        if key == "metadata" {
            report.add(Code::MetadataForm, at_value, || {
                Say::new("`metadata` is neither YAML nor JSON and was not read")
                    .hint("check its brackets and quotes")
            });
            return Node {
                value: Value::Null,
                at: at_value,
            };
        }
    }
    let plain = unwrap(value);
    report.add(Code::YamlRepaired, at_value, || {
        Say::new(format!(
            "`{key}` is not valid YAML and was read as plain text"
        ))
        .hint(format!(
            "put the value in quotes: `{key}: {}`",
            quoted(&plain)
        ))
    });
    Node {
        value: Value::Text(plain.into(), Style::Quoted),
        at: at_value,
    }
}

/// More brackets than a manifest needs, and few enough for a reader that calls itself for each.
const MAX_BRACKETS: usize = 256;

/// JSON5, also when only closing brackets are missing at the end.
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

/// The text that was meant: one line, without a block sign or quotes around it.
fn unwrap(value: &str) -> String {
    let value = value.trim_start_matches(['|', '>']).trim();
    let value = match value.chars().next() {
        Some(quote @ ('"' | '\'')) if value.len() > 1 && value.ends_with(quote) => {
            &value[1..value.len() - 1]
        }
        _ => value,
    };
    value
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn quoted(text: &str) -> String {
    let short: String = text.chars().take(24).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!(
        "'{}{more}'",
        crate::text::visible(&short.replace('\'', "''"))
    )
}

fn offset(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
