//! The tree that both YAML readers build: text stays text, and every value has a position.

use std::borrow::Cow;

/// How a string was written: only unquoted text can also be a number or a boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Without quotes, on one or several lines.
    Plain,
    /// In quotes or as a block.
    Quoted,
}

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node<'a> {
    /// The parsed value.
    pub(crate) value: NodeValue<'a>,
    /// Byte offset in the file.
    pub(crate) at: u32,
}

/// The YAML values that a manifest needs. Scalars keep their source spelling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeValue<'a> {
    /// No value, `~` or `null`.
    Null,
    /// Any other scalar, and how it was written.
    Text(Cow<'a, str>, Style),
    /// A sequence of nodes.
    List(Vec<Node<'a>>),
    /// A mapping, in source order.
    Map(Vec<Pair<'a>>),
}

/// One `key: value` of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair<'a> {
    /// The key as text.
    pub(crate) key: Cow<'a, str>,
    /// Byte offset of the key in the file.
    pub(crate) key_at: u32,
    /// The value and its position.
    pub(crate) node: Node<'a>,
}

impl<'a> Node<'a> {
    /// The text of a scalar.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Text(text, _) => Some(text),
            _ => None,
        }
    }

    /// The pairs of a mapping.
    pub(crate) fn as_map(&self) -> Option<&[Pair<'a>]> {
        match &self.value {
            NodeValue::Map(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// A boolean in any of the spellings that skills use.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        let text = self.as_text()?;
        let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        if is(&["true", "yes", "on", "1"]) {
            Some(true)
        } else if is(&["false", "no", "off", "0"]) {
            Some(false)
        } else {
            None
        }
    }

    /// The kind of value, for a message.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            NodeValue::Null => "null",
            NodeValue::Text(..) => "a string",
            NodeValue::List(_) => "a list",
            NodeValue::Map(_) => "a map",
        }
    }

    /// The value of a key of a mapping.
    pub(crate) fn get(&self, key: &str) -> Option<&Node<'a>> {
        get(self.as_map()?, key)
    }

    /// This value as JSON; unquoted numbers and booleans become JSON ones when they round-trip.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            NodeValue::Null => Json::Null,
            NodeValue::Text(text, Style::Plain) => plain_to_json(text),
            NodeValue::Text(text, Style::Quoted) => Json::String(text.to_string()),
            NodeValue::List(items) => items.iter().map(Node::to_json).collect(),
            NodeValue::Map(pairs) => pairs
                .iter()
                .map(|pair| (pair.key.to_string(), pair.node.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    /// A node for a JSON value; all of it has one position.
    pub(crate) fn from_json(json: serde_json::Value, at: u32) -> Node<'static> {
        use serde_json::Value as Json;
        let value = match json {
            Json::Null => NodeValue::Null,
            Json::Bool(flag) => NodeValue::Text(flag.to_string().into(), Style::Plain),
            Json::Number(number) => NodeValue::Text(number.to_string().into(), Style::Plain),
            Json::String(text) => NodeValue::Text(text.into(), Style::Quoted),
            Json::Array(items) => NodeValue::List(
                items
                    .into_iter()
                    .map(|item| Node::from_json(item, at))
                    .collect(),
            ),
            Json::Object(map) => NodeValue::Map(
                map.into_iter()
                    .map(|(key, json)| Pair {
                        key: key.into(),
                        key_at: at,
                        node: Node::from_json(json, at),
                    })
                    .collect(),
            ),
        };
        Node { value, at }
    }
}

/// The value of a key among pairs.
pub(crate) fn get<'n, 'a>(pairs: &'n [Pair<'a>], key: &str) -> Option<&'n Node<'a>> {
    pairs
        .iter()
        .find(|pair| pair.key == key)
        .map(|pair| &pair.node)
}

fn plain_to_json(text: &str) -> serde_json::Value {
    match text {
        "true" | "True" | "TRUE" => return true.into(),
        "false" | "False" | "FALSE" => return false.into(),
        _ => {}
    }
    let number = text.parse::<i64>().map(serde_json::Number::from).ok();
    match number {
        Some(number) if number.to_string() == text => number.into(),
        _ => text.into(),
    }
}
