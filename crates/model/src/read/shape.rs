//! Reads one value in the form that a field requires, and reports any other form.

use crate::{
    diagnostic::DiagnosticCode,
    report::{DiagnosticCollector, Say},
    text::visible,
    tools::{self, ToolPattern},
    yaml::node::{Node, NodeValue, Pair},
};

/// Reports that a field has the wrong form.
pub(super) fn wrong(
    key: &str,
    node: &Node<'_>,
    wanted: &str,
    report: &mut DiagnosticCollector<'_>,
) {
    report.add(DiagnosticCode::FieldForm, node.at, || {
        Say::new(format!(
            "`{}` must be {wanted}, not {}; it was ignored",
            key.escape_debug(),
            node.kind()
        ))
    });
}

/// A string; an empty value is `None` without a diagnostic.
pub(super) fn text(
    key: &str,
    node: &Node<'_>,
    report: &mut DiagnosticCollector<'_>,
) -> Option<Box<str>> {
    match &node.value {
        NodeValue::Text(text, _) => Some(text.trim())
            .filter(|text| !text.is_empty())
            .map(Into::into),
        NodeValue::Null => None,
        _ => {
            wrong(key, node, "a string", report);
            None
        }
    }
}

/// A boolean.
pub(super) fn flag(
    key: &str,
    node: &Node<'_>,
    report: &mut DiagnosticCollector<'_>,
) -> Option<bool> {
    let flag = node.as_bool();
    if flag.is_none() && node.value != NodeValue::Null {
        wrong(key, node, "true or false", report);
    }
    flag
}

/// A list of strings; one string with commas is a list too.
pub(super) fn texts(
    key: &str,
    node: &Node<'_>,
    report: &mut DiagnosticCollector<'_>,
) -> Vec<Box<str>> {
    located(key, node, report)
        .into_iter()
        .map(|(text, _)| text)
        .collect()
}

/// A list of strings, each with its position.
pub(super) fn located(
    key: &str,
    node: &Node<'_>,
    report: &mut DiagnosticCollector<'_>,
) -> Vec<(Box<str>, u32)> {
    match &node.value {
        NodeValue::Null => Vec::new(),
        NodeValue::Text(text, _) => split_at(text, ',', node.at),
        NodeValue::List(items) => {
            let item = |item: &Node<'_>| {
                let found = item.as_text().map(|text| (text.trim().into(), item.at));
                if found.is_none() {
                    wrong(key, item, "a string", report);
                }
                found
            };
            items
                .iter()
                .filter_map(item)
                .filter(|(text, _): &(Box<str>, u32)| !text.is_empty())
                .collect()
        }
        NodeValue::Map(_) => {
            wrong(key, node, "a list of strings", report);
            Vec::new()
        }
    }
}

fn split_at(text: &str, separator: char, at: u32) -> Vec<(Box<str>, u32)> {
    text.split(separator)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| (part.into(), at))
        .collect()
}

/// No skill needs more tools than this, and composing skills compares all of them.
const MAX_TOOLS: usize = 1000;

/// Tool names: a list, or one string separated by commas or spaces. Entries that are not tool patterns are kept as
/// written, and reported: they allow nothing.
pub(super) fn tools(
    key: &str,
    node: &Node<'_>,
    report: &mut DiagnosticCollector<'_>,
) -> Vec<Box<str>> {
    let items = match &node.value {
        NodeValue::Text(text, _) => vec![(text.trim().into(), node.at)],
        NodeValue::List(items) => items
            .iter()
            .flat_map(|item| match scoped(item) {
                Some(text) => vec![(text, item.at)],
                None => located(
                    key,
                    &Node {
                        value: NodeValue::List(vec![item.clone()]),
                        at: item.at,
                    },
                    report,
                ),
            })
            .collect(),
        _ => located(key, node, report),
    };
    let mut found = Vec::new();
    for (item, at) in &items {
        for entry in tools::split(item) {
            if found.len() >= MAX_TOOLS {
                report.add(DiagnosticCode::TooManyValues, *at, || {
                    Say::new(format!("`{key}` lists more than {MAX_TOOLS} tools"))
                });
                return found;
            }
            if let Err(error) = entry.parse::<ToolPattern>() {
                report.add(DiagnosticCode::ToolForm, *at, || {
                    Say::new(format!(
                        "`{}` in `{key}` is not a tool pattern: {error}",
                        visible(entry)
                    ))
                    .hint("write `Read`, `Bash(git:*)` or `mcp__server__tool`")
                });
            }
            found.push(entry.into());
        }
    }
    found
}

/// YAML reads `- WebFetch(domain: example.org)` as a map, but the author intended one tool.
fn scoped(item: &Node<'_>) -> Option<Box<str>> {
    let [pair] = item.as_map()? else { return None };
    let scope = pair.node.as_text()?;
    (pair.key.contains('(') && scope.ends_with(')'))
        .then(|| format!("{}: {scope}", pair.key).into())
}

/// The pairs of a map.
pub(super) fn map<'n, 'a>(
    key: &str,
    node: &'n Node<'a>,
    report: &mut DiagnosticCollector<'_>,
) -> &'n [Pair<'a>] {
    match &node.value {
        NodeValue::Map(pairs) => pairs,
        NodeValue::Null => &[],
        _ => {
            wrong(key, node, "a map", report);
            &[]
        }
    }
}

/// The items of a list that are maps.
pub(super) fn maps<'n, 'a>(
    key: &str,
    node: &'n Node<'a>,
    report: &mut DiagnosticCollector<'_>,
) -> Vec<&'n Node<'a>> {
    match &node.value {
        NodeValue::List(items) => {
            items
                .iter()
                .filter(|item| item.as_map().is_none())
                .for_each(|item| wrong(key, item, "a map", report));
            items
                .iter()
                .filter(|item| item.as_map().is_some())
                .collect()
        }
        NodeValue::Null => Vec::new(),
        _ => {
            wrong(key, node, "a list of maps", report);
            Vec::new()
        }
    }
}

/// The text of a key of a map.
pub(super) fn entry(
    node: &Node<'_>,
    key: &str,
    report: &mut DiagnosticCollector<'_>,
) -> Option<Box<str>> {
    text(key, node.get(key)?, report)
}
