//! One value, checked against its key: from TOML, from the string of a variable or flag, and back.

use std::ops::Range;

use toml_edit::{Array, InlineTable, Item as TomlItem, TableLike, Value as TomlValue};

use crate::key::{DefaultValue, ListItemKind, ValueKind};
use crate::{KeyPath, Secret};

/// The placeholder of a hidden value.
pub(crate) const HIDDEN: &str = "\"…\"";

/// How many characters of a wrong value are quoted in a message.
const QUOTED_CHARS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Datum {
    Bool(bool),
    Int(u64),
    Text(String),
    List(Vec<String>),
    Secret(Secret),
    Free(Free),
}

/// A value that metier does not interpret. Hidden in `Debug`: it can be a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Free {
    text: Secret,
    pub(crate) truthy: bool,
    holds_tables: bool,
}

/// A value that doesn't fit its key.
#[derive(Debug)]
pub(crate) struct TypeMismatch {
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) span: Option<Range<usize>>,
}

impl Datum {
    pub(crate) fn from_fallback(fallback: DefaultValue) -> Option<Self> {
        match fallback {
            DefaultValue::Absent => None,
            DefaultValue::Bool(value) => Some(Datum::Bool(value)),
            DefaultValue::Int(value) => Some(Datum::Int(value)),
            DefaultValue::Text(value) => Some(Datum::Text(value.to_owned())),
            DefaultValue::Empty => Some(Datum::List(Vec::new())),
        }
    }

    pub(crate) fn from_item(kind: ValueKind, item: &TomlItem) -> Result<Self, TypeMismatch> {
        match item {
            TomlItem::Table(table) if kind == ValueKind::List(ListItemKind::Approval) => {
                approvals(table)
            }
            TomlItem::Value(TomlValue::InlineTable(table))
                if kind == ValueKind::List(ListItemKind::Approval) =>
            {
                approvals(table)
            }
            TomlItem::Value(value) => Self::from_value(kind, value),
            TomlItem::ArrayOfTables(tables) if kind == ValueKind::Free => Ok(Datum::Free(
                Free::new(&plain(&TomlValue::Array(tables.clone().into_array()))),
            )),
            TomlItem::Table(table) if kind == ValueKind::Free && table.is_empty() => Ok(
                Datum::Free(Free::new(&TomlValue::InlineTable(InlineTable::new()))),
            ),
            other => Err(TypeMismatch {
                expected: kind.describe(),
                found: describe_item(other),
                span: other.span(),
            }),
        }
    }

    fn from_value(kind: ValueKind, value: &TomlValue) -> Result<Self, TypeMismatch> {
        match (kind, value) {
            (ValueKind::Bool, TomlValue::Boolean(found)) => return Ok(Datum::Bool(*found.value())),
            (ValueKind::Int(least), TomlValue::Integer(found)) => {
                if let Some(number) = u64::try_from(*found.value())
                    .ok()
                    .filter(|number| *number >= least)
                {
                    return Ok(Datum::Int(number));
                }
            }
            (ValueKind::Choice(words), TomlValue::String(found))
                if words.contains(&found.value().as_str()) =>
            {
                return Ok(Datum::Text(found.value().clone()));
            }
            (ValueKind::Text, TomlValue::String(found)) if !found.value().trim().is_empty() => {
                return Ok(Datum::Text(found.value().clone()));
            }
            (ValueKind::Secret, TomlValue::String(found)) => {
                return Ok(Datum::Secret(Secret::new(found.value())));
            }
            (ValueKind::List(item), TomlValue::Array(found)) => return list(item, found),
            (ValueKind::Free, found) => return Ok(Datum::Free(Free::new(&plain(found)))),
            _ => {}
        }
        let found = if kind == ValueKind::Secret {
            type_of(value).to_owned()
        } else {
            describe(value)
        };
        Err(TypeMismatch {
            expected: kind.describe(),
            found,
            span: value.span(),
        })
    }

    /// The value of a variable, a flag or a command-line argument: strings can be unquoted, lists written as `a,b`.
    pub(crate) fn from_text(kind: ValueKind, text: &str) -> Result<Self, TypeMismatch> {
        let value = match kind {
            ValueKind::Bool => bool_from_text(text),
            ValueKind::Int(_) | ValueKind::Free => text
                .trim()
                .parse()
                .unwrap_or_else(|_| TomlValue::from(text)),
            ValueKind::Choice(_) | ValueKind::Text | ValueKind::Secret => string_from_text(text),
            ValueKind::List(_) => list_from_text(text),
        };
        Self::from_value(kind, &value)
    }

    /// The value as TOML, secrets included.
    pub(crate) fn to_toml(&self) -> TomlValue {
        match self {
            Datum::Bool(value) => TomlValue::from(*value),
            Datum::Int(value) => TomlValue::from(i64::try_from(*value).unwrap_or(i64::MAX)),
            Datum::Text(value) => TomlValue::from(value.as_str()),
            Datum::List(values) => TomlValue::Array(values.iter().map(String::as_str).collect()),
            Datum::Secret(value) => TomlValue::from(value.expose()),
            Datum::Free(free) => {
                let text = free.text.expose();
                text.parse().unwrap_or_else(|_| TomlValue::from(text))
            }
        }
    }

    /// The value as TOML, with secrets hidden.
    pub(crate) fn shown(&self, path: &KeyPath) -> String {
        match self {
            Datum::Secret(_) => HIDDEN.to_owned(),
            Datum::Free(free) if free.holds_tables || sounds_secret(path.last()) => {
                HIDDEN.to_owned()
            }
            _ => self.to_toml().to_string(),
        }
    }
}

impl Free {
    fn new(value: &TomlValue) -> Self {
        let holds_tables = value
            .as_array()
            .is_some_and(|array| array.iter().any(has_table));
        Self {
            text: Secret::new(value.to_string()),
            truthy: is_truthy(value),
            holds_tables,
        }
    }
}

fn list(item: ListItemKind, array: &Array) -> Result<Datum, TypeMismatch> {
    let mut values: Vec<String> = Vec::with_capacity(array.len());
    for value in array {
        match value.as_str() {
            Some(text) if item.accepts(text) => {
                let may_repeat = item == ListItemKind::Argument;
                if may_repeat || !values.iter().any(|known| known == text) {
                    values.push(text.to_owned());
                }
            }
            _ => {
                let expected = format!("{} in the list", item.singular());
                return Err(TypeMismatch {
                    expected,
                    found: describe(value),
                    span: value.span(),
                });
            }
        }
    }
    Ok(Datum::List(values))
}

/// A table of approvals as a list: `name = true`, or `name = "sha256:…"` for exact content.
fn approvals(table: &dyn TableLike) -> Result<Datum, TypeMismatch> {
    let mut values = Vec::new();
    for (name, item) in table.iter() {
        let approved = match item.as_value() {
            Some(TomlValue::Boolean(yes)) => yes.value().then(|| name.to_owned()),
            Some(TomlValue::String(digest)) => Some(format!("{name}@{}", digest.value())),
            _ => Some(String::new()),
        };
        match approved {
            None => {}
            Some(text) if ListItemKind::Approval.accepts(&text) => values.push(text),
            Some(_) => {
                return Err(TypeMismatch {
                    expected: "`name = true` or `name = \"sha256:…\"` in the table".to_owned(),
                    found: describe_item(item),
                    span: item.span(),
                });
            }
        }
    }
    Ok(Datum::List(values))
}

fn bool_from_text(text: &str) -> TomlValue {
    match text.trim() {
        "true" | "1" => TomlValue::from(true),
        "false" | "0" => TomlValue::from(false),
        other => TomlValue::from(other),
    }
}

fn string_from_text(text: &str) -> TomlValue {
    match text.trim().parse() {
        Ok(quoted @ TomlValue::String(_)) => quoted,
        _ => TomlValue::from(text),
    }
}

fn list_from_text(text: &str) -> TomlValue {
    if text.trim_start().starts_with('[') {
        return text
            .trim()
            .parse()
            .unwrap_or_else(|_| TomlValue::from(text));
    }
    let items = text
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty());
    TomlValue::Array(items.collect())
}

/// The value without layout, comments and positions.
fn plain(value: &TomlValue) -> TomlValue {
    match value {
        TomlValue::String(found) => TomlValue::from(found.value().as_str()),
        TomlValue::Integer(found) => TomlValue::from(*found.value()),
        TomlValue::Float(found) => TomlValue::from(*found.value()),
        TomlValue::Boolean(found) => TomlValue::from(*found.value()),
        TomlValue::Datetime(found) => TomlValue::from(*found.value()),
        TomlValue::Array(found) => TomlValue::Array(found.iter().map(plain).collect()),
        TomlValue::InlineTable(found) => TomlValue::InlineTable(
            found
                .iter()
                .map(|(key, value)| (key, plain(value)))
                .collect(),
        ),
    }
}

fn is_truthy(value: &TomlValue) -> bool {
    match value {
        TomlValue::String(found) => !found.value().is_empty(),
        TomlValue::Integer(found) => *found.value() != 0,
        TomlValue::Float(found) => *found.value() != 0.0 && !found.value().is_nan(),
        TomlValue::Boolean(found) => *found.value(),
        TomlValue::Datetime(_) => true,
        TomlValue::Array(found) => !found.is_empty(),
        TomlValue::InlineTable(found) => !found.is_empty(),
    }
}

fn has_table(value: &TomlValue) -> bool {
    value.is_inline_table()
        || value
            .as_array()
            .is_some_and(|array| array.iter().any(has_table))
}

/// Settings have no types, so a secret can only be recognised by its name.
fn sounds_secret(segment: &str) -> bool {
    let segment = segment.to_lowercase();
    [
        "token",
        "secret",
        "password",
        "passwd",
        "credential",
        "key",
        "auth",
    ]
    .iter()
    .any(|word| segment.contains(word))
}

fn describe_item(item: &TomlItem) -> String {
    match item {
        TomlItem::Value(value) => describe(value),
        TomlItem::ArrayOfTables(_) => "a list of tables".to_owned(),
        TomlItem::Table(_) => "a table".to_owned(),
        TomlItem::None => "nothing".to_owned(),
    }
}

/// A wrong value for a message: short and on one line.
fn describe(value: &TomlValue) -> String {
    match value {
        TomlValue::String(found) => format!("the string `\"{}\"`", shortened(found.value())),
        TomlValue::Integer(found) => format!("`{}`", found.value()),
        TomlValue::Boolean(found) => format!("`{}`", found.value()),
        TomlValue::Float(found) => format!("`{}`", found.value()),
        _ => type_of(value).to_owned(),
    }
}

fn type_of(value: &TomlValue) -> &'static str {
    match value {
        TomlValue::String(_) => "a string",
        TomlValue::Integer(_) | TomlValue::Float(_) => "a number",
        TomlValue::Boolean(_) => "a boolean",
        TomlValue::Datetime(_) => "a date or time",
        TomlValue::Array(_) => "a list",
        TomlValue::InlineTable(_) => "a table",
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(QUOTED_CHARS)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(QUOTED_CHARS).is_some() {
        short.push('…');
    }
    short
}

pub(crate) fn found_instead_of_table(item: &TomlItem) -> String {
    item.as_value()
        .map_or_else(|| describe_item(item), |value| type_of(value).to_owned())
}
