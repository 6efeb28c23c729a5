//! Changes one key in a user's file, and nothing else.
//!
//! An existing value is replaced in place, and every byte around it is kept; a new key is inserted with `toml_edit`,
//! which keeps comments. The result is parsed again before it is returned.

use std::ops::Range;

use toml_edit::{Document, DocumentMut, InlineTable, Item, Table, TableLike, Value as TomlValue};

use crate::config::{UnknownKey, unknown_key};
use crate::datum::{Datum, HIDDEN};
use crate::key::{ConfigKey, KeyLookup, find};
use crate::problem::LineIndex;
use crate::read::wrong_segment;
use crate::{KeyPath, ValueKind};

/// A file's content with one key changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The whole new content.
    pub text: String,
    /// The previous value, as TOML with secrets hidden.
    pub old: Option<String>,
}

/// Why a file was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The key does not exist.
    #[error(transparent)]
    Unknown(#[from] UnknownKey),
    /// The value does not fit the key.
    #[error("`{key}`: expected {expected}, found {found}")]
    WrongValue {
        /// The key to set.
        key: String,
        /// A description of the values that fit.
        expected: String,
        /// A description of the value that was given.
        found: String,
    },
    /// A part of the key's path is not a possible name.
    #[error("`{key}` can't be set: {reason}")]
    WrongName {
        /// The key to set.
        key: String,
        /// The part and its problem.
        reason: String,
    },
    /// The file is not valid TOML.
    #[error("line {line}, column {column}: not valid TOML: {message}")]
    NotToml {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The parser's message.
        message: String,
    },
    /// Another value is in the place of the key or of one of its tables.
    #[error("`{path}` is {found}, so `{key}` can't be changed")]
    InTheWay {
        /// The key to change.
        key: String,
        /// The path of the other value.
        path: String,
        /// `a table` or `not a table`.
        found: &'static str,
    },
    /// The layout of the file does not allow a safe change.
    #[error("`{key}` can't be changed without changing other lines")]
    Awkward {
        /// The key to change.
        key: String,
    },
}

impl EditError {
    /// How the user can fix it.
    pub fn hint(&self) -> String {
        match self {
            EditError::Unknown(unknown) => unknown.hint.clone(),
            EditError::WrongValue { key, expected, .. } => {
                format!("VALUE in `metier config {key} VALUE` must be {expected}")
            }
            EditError::WrongName { .. } => "`metier list` shows the names of skills".to_owned(),
            EditError::NotToml { line, .. } => format!("fix line {line} first"),
            EditError::InTheWay { path, .. } => {
                format!("remove or rename `{path}` in the file first")
            }
            EditError::Awkward { .. } => "edit the file by hand".to_owned(),
        }
    }
}

/// Sets a key. Strings can be unquoted, lists written as `a,b` or in TOML.
pub fn set(text: &str, key: &str, value: &str) -> Result<Edited, EditError> {
    let target = EditTarget::new(key)?;
    let datum =
        Datum::from_text(target.key.kind, value).map_err(|mismatch| EditError::WrongValue {
            key: target.path.to_string(),
            expected: mismatch.expected,
            found: mismatch.found,
        })?;
    let document = parse(text)?;
    let spot = target.locate(document.as_table())?;
    let new = datum.to_toml().to_string();
    let edited = match spot.and_then(|spot| Some((spot.old, spot.value?))) {
        Some((old, span)) => Edited {
            text: spliced(text, span, &new),
            old,
        },
        None => Edited {
            text: target.inserted(document.into_mut(), &datum)?,
            old: None,
        },
    };
    let holds =
        |item: &Item| Datum::from_item(target.key.kind, item).is_ok_and(|found| found == datum);
    target.verified(edited, holds)
}

/// Removes a key's line. If the key is not set, the content is returned unchanged.
pub fn unset(text: &str, key: &str) -> Result<Edited, EditError> {
    let target = EditTarget::new(key)?;
    let document = parse(text)?;
    let Some(spot) = target.locate(document.as_table())? else {
        return Ok(Edited {
            text: text.to_owned(),
            old: None,
        });
    };
    let whole_lines = spot.value.filter(|_| !spot.inline).zip(spot.key);
    let new = match whole_lines {
        Some((value, key)) => spliced(text, lines_of(text, key.start..value.end), ""),
        None => target.removed(document.into_mut(), &spot.name)?,
    };
    target.verified(
        Edited {
            text: new,
            old: spot.old,
        },
        |item| item.is_none(),
    )
}

fn parse(text: &str) -> Result<Document<String>, EditError> {
    Document::parse(text.to_owned()).map_err(|error| {
        let place = LineIndex::new(text).place(error.span().map_or(0, |span| span.start));
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        EditError::NotToml {
            line: place.line,
            column: place.column,
            message,
        }
    })
}

fn spliced(text: &str, span: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..span.start], &text[span.end..])
}

/// The whole lines that a span touches, with their line endings.
fn lines_of(text: &str, span: Range<usize>) -> Range<usize> {
    let start = text[..span.start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let end = text[span.end..]
        .find('\n')
        .map_or(text.len(), |newline| span.end + newline + 1);
    start..end
}

/// The key to change.
struct EditTarget {
    key: &'static ConfigKey,
    path: KeyPath,
}

/// The position of the key in a file.
struct Spot {
    /// The last segment as spelled in the file.
    name: String,
    key: Option<Range<usize>>,
    value: Option<Range<usize>>,
    inline: bool,
    old: Option<String>,
}

impl EditTarget {
    fn new(key: &str) -> Result<Self, EditError> {
        let given = KeyPath::parse(key);
        let KeyLookup::Key { key, path, .. } = find(&given) else {
            return Err(unknown_key(&given).into());
        };
        match wrong_segment(key, &path) {
            Some(reason) => Err(EditError::WrongName {
                key: path.to_string(),
                reason,
            }),
            None => Ok(Self { key, path }),
        }
    }

    fn tables(&self) -> &[String] {
        self.path
            .segments()
            .split_last()
            .map_or(&[], |(_, tables)| tables)
    }

    fn locate(&self, root: &Table) -> Result<Option<Spot>, EditError> {
        let mut table: &dyn TableLike = root;
        let mut inline = false;
        for (depth, segment) in self.tables().iter().enumerate() {
            let Some(item) = table.get(segment) else {
                return Ok(None);
            };
            if item.is_array_of_tables() {
                return Err(EditError::Awkward {
                    key: self.path.to_string(),
                });
            }
            inline |= item.is_inline_table();
            table = item
                .as_table_like()
                .ok_or_else(|| self.in_the_way(depth + 1, "not a table"))?;
        }
        let names = [Some(self.path.last()), self.key.alias];
        let found = names
            .into_iter()
            .flatten()
            .find_map(|name| Some((name, table.get_key_value(name)?)));
        let Some((name, (key, item))) = found else {
            return Ok(None);
        };
        if !item.is_value() {
            return Err(self.in_the_way(self.path.segments().len(), "a table"));
        }
        let old = Some(self.shown(item));
        Ok(Some(Spot {
            name: name.to_owned(),
            key: key.span(),
            value: item.span(),
            inline,
            old,
        }))
    }

    fn shown(&self, item: &Item) -> String {
        match Datum::from_item(self.key.kind, item) {
            Ok(datum) => datum.shown(&self.path),
            Err(_) if self.key.is_secret() => HIDDEN.to_owned(),
            // A value of another type is shown as an uninterpreted one.
            Err(_) => Datum::from_item(ValueKind::Free, item)
                .map_or_else(|_| HIDDEN.to_owned(), |it| it.shown(&self.path)),
        }
    }

    fn in_the_way(&self, depth: usize, found: &'static str) -> EditError {
        let path =
            KeyPath::from_segments(self.path.segments().iter().take(depth).cloned().collect());
        EditError::InTheWay {
            key: self.path.to_string(),
            path: path.to_string(),
            found,
        }
    }

    fn inserted(&self, mut document: DocumentMut, datum: &Datum) -> Result<String, EditError> {
        let awkward = || EditError::Awkward {
            key: self.path.to_string(),
        };
        let mut table: &mut dyn TableLike = document.as_table_mut();
        let mut inline = false;
        for segment in self.tables() {
            if !table.contains_key(segment) {
                let new = new_table(inline, table.is_dotted() && !inline);
                table.insert(segment, new);
            }
            let item = table.get_mut(segment).ok_or_else(awkward)?;
            inline = item.is_inline_table();
            table = item.as_table_like_mut().ok_or_else(awkward)?;
        }
        table.insert(self.path.last(), Item::Value(datum.to_toml()));
        Ok(document.to_string())
    }

    fn removed(&self, mut document: DocumentMut, name: &str) -> Result<String, EditError> {
        let awkward = || EditError::Awkward {
            key: self.path.to_string(),
        };
        let mut table: &mut dyn TableLike = document.as_table_mut();
        for segment in self.tables() {
            let item = table.get_mut(segment).ok_or_else(awkward)?;
            table = item.as_table_like_mut().ok_or_else(awkward)?;
        }
        table.remove(name);
        Ok(document.to_string())
    }

    /// The new content, if it still parses and has the expected value.
    fn verified(&self, edited: Edited, holds: impl Fn(&Item) -> bool) -> Result<Edited, EditError> {
        let awkward = || EditError::Awkward {
            key: self.path.to_string(),
        };
        let document = Document::parse(edited.text.as_str()).map_err(|_| awkward())?;
        let mut tables = self.tables().iter();
        let table = tables.try_fold(document.as_item(), |item, segment| item.get(segment));
        let item = table.and_then(|table| {
            let names = [Some(self.path.last()), self.key.alias];
            names.into_iter().flatten().find_map(|name| table.get(name))
        });
        if holds(item.unwrap_or(&Item::None)) {
            Ok(edited)
        } else {
            Err(awkward())
        }
    }
}

fn new_table(inline: bool, dotted: bool) -> Item {
    if inline {
        return Item::Value(TomlValue::InlineTable(InlineTable::new()));
    }
    let mut table = Table::new();
    table.set_implicit(true);
    table.set_dotted(dotted);
    Item::Table(table)
}
