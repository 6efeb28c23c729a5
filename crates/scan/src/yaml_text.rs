//! YAML as text: its values one by one, at their offsets in the file.

/// A frontmatter with quoted values as plain ones, at the same offsets: quotes in YAML are not quotations.
pub(crate) fn without_yaml_quotes(front: &str) -> String {
    let mut plain = String::with_capacity(front.len());
    let mut open = None;
    for line in front.split_inclusive('\n') {
        let text = line.trim_end();
        // The key may already be replaced by spaces; a colon then belongs to the value.
        let keyed = !text.trim_start().starts_with(['"', '\'']);
        let colon = text
            .find(": ")
            .filter(|colon| keyed || text[..*colon].ends_with(['"', '\'']));
        let begins = colon.map_or(0, |colon| colon + 2);
        let value = text[begins..].trim_start_matches([' ', '-']);
        let at = text.len() - value.len();
        let first = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let opens = open.is_none().then_some(first).flatten();
        let quote = open.or(opens);
        let last =
            quote.filter(|quote| text.ends_with(*quote) && (opens.is_none() || value.len() > 1));
        let inner_end = text.len() - usize::from(last.is_some());
        match opens {
            Some(_) => {
                plain.push_str(&text[..at]);
                plain.push(' ');
                plain.push_str(&text[at + 1..inner_end]);
            }
            None => plain.push_str(&text[..inner_end]),
        }
        if last.is_some() {
            plain.push(' ');
        }
        plain.push_str(&line[text.len()..]);
        open = quote.filter(|_| last.is_none());
    }
    plain
}

/// The maximum number of fields of a manifest; a file with more is scanned as one text, which finds more.
pub(crate) const MOST_FIELDS: usize = 2_000;

pub(crate) fn is_skill_yaml(name: &str) -> bool {
    ["skill.yaml", "skill.yml"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// The lines of a YAML file, field by field and item by item, with spaces in place of keys and list markers. A list on one line
/// is several fields; indented lines below a value are part of it. All parts together are as long as the file.
pub(crate) fn yaml_fields(content: &str) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    let (mut last_indent, mut is_open) = (0, true);
    for line in content.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches([' ', '-']).len();
        let continues = (indent > last_indent && !is_open) || line.trim().is_empty();
        if let Some(last) = fields.last_mut().filter(|_| continues) {
            last.push_str(line);
            continue;
        }
        let value = key_end(&line[indent..]).map_or(indent, |end| indent + end);
        (last_indent, is_open) = (indent, line[value..].trim().is_empty());
        let text = format!("{}{}", " ".repeat(value), &line[value..]);
        if line[value..].trim_start().starts_with(['[', '{']) {
            flow_fields(&text, &mut fields);
        } else {
            fields.push(text);
        }
    }
    fields
}

/// The items of a flow value, without quotes; a comma inside quotes does not separate.
fn flow_fields(text: &str, fields: &mut Vec<String>) {
    let (mut piece, mut quote, mut before) = (String::new(), None, ' ');
    for c in text.chars() {
        let opens = quote.is_none() && matches!(before, '[' | '{' | ',' | ':');
        match c {
            '"' | '\'' if opens || quote == Some(c) => {
                quote = opens.then_some(c);
                piece.push(' ');
            }
            _ => piece.push(c),
        }
        if c == ',' && quote.is_none() {
            fields.push(std::mem::take(&mut piece));
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    fields.push(piece);
}

/// The offset of the value after `key:`.
fn key_end(line: &str) -> Option<usize> {
    let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '"' | '\'');
    let (key, rest) = line.split_once(':')?;
    let ends = rest.starts_with([' ', '\n', '\r']);
    (ends && !key.is_empty() && key.chars().all(is_key)).then_some(key.len() + 1)
}
