//! One layer → assignments. Uses the table of keys and no other layer.

use std::collections::BTreeMap;
use std::ops::Range;

use metier_model::name::check_server_label;
use toml_edit::{Item as TomlItem, TableLike};

use crate::datum::{Datum, TypeMismatch, found_instead_of_table};
use crate::key::{ConfigKey, KeyLookup, ValueKind, find, is_name, key_for_env};
use crate::problem::{LineIndex, TextPosition};
use crate::table::NAMED_LISTS;
use crate::{
    ConfigProblem, KeyPath, Layer, OTHER_VARIABLES, Origin, ProblemSeverity, recover, suggest,
};

/// Enough to recognise a wrong file, and few enough that a hostile one does not flood the terminal.
const PROBLEMS: usize = 100;

/// `key = value`, of the correct type.
pub(crate) struct KeyAssignment {
    pub(crate) key: &'static ConfigKey,
    pub(crate) path: KeyPath,
    pub(crate) datum: Datum,
    pub(crate) place: Option<TextPosition>,
}

pub(crate) struct LayerReading {
    pub(crate) assignments: Vec<KeyAssignment>,
    pub(crate) problems: Vec<ConfigProblem>,
}

pub(crate) fn read(layer: &Layer) -> LayerReading {
    let mut reader = LayerReader::new(layer);
    match &layer.origin {
        Origin::User(_) | Origin::Project(_) => reader.file(),
        Origin::Env(name) => reader.variable(name),
        Origin::Flag(_) => reader.flag(),
        Origin::Default => {}
    }
    LayerReading {
        assignments: reader.assignments.into_values().collect(),
        problems: reader.problems,
    }
}

struct LayerReader<'a> {
    layer: &'a Layer,
    lines: LineIndex<'a>,
    assignments: BTreeMap<KeyPath, KeyAssignment>,
    problems: Vec<ConfigProblem>,
}

impl<'a> LayerReader<'a> {
    fn new(layer: &'a Layer) -> Self {
        let lines = LineIndex::new(&layer.text);
        Self {
            layer,
            lines,
            assignments: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    fn file(&mut self) {
        let (root, broken) = recover::parse(&self.layer.text);
        for mistake in broken {
            let hint = "strings need quotes, lists look like `[\"a\", \"b\"]`, tables like `[skills.load]`";
            let place = Some(mistake.offset..mistake.offset);
            self.report(
                ProblemSeverity::Error,
                format!("not valid TOML: {}", mistake.message),
                place,
                Some(hint.to_owned()),
            );
        }
        self.table(&KeyPath::root(), &root);
    }

    fn variable(&mut self, name: &str) {
        if self.layer.text.is_empty() || OTHER_VARIABLES.contains(&name) {
            return;
        }
        let Some(key) = key_for_env(name) else {
            let hint = suggest::variable(name).map(|near| format!("did you mean `{near}`?"));
            return self.report(
                ProblemSeverity::Warning,
                format!("unknown variable `{name}`"),
                None,
                hint,
            );
        };
        self.text(key, KeyPath::parse(key.path));
    }

    fn flag(&mut self) {
        let path = KeyPath::parse(self.layer.key.as_deref().unwrap_or_default());
        match find(&path) {
            KeyLookup::Key { key, path, .. } => self.text(key, path),
            KeyLookup::Table | KeyLookup::Nothing => self.unknown(&path, None),
        }
    }

    fn text(&mut self, key: &'static ConfigKey, path: KeyPath) {
        match Datum::from_text(key.kind, &self.layer.text) {
            Ok(datum) => self.assign(key, path, datum, None),
            Err(mismatch) => self.mismatch(&path, mismatch, None),
        }
    }

    fn table(&mut self, path: &KeyPath, table: &dyn TableLike) {
        for (name, item) in table.iter() {
            let span = table.key(name).and_then(toml_edit::Key::span);
            self.item(&path.child(name), span, item);
        }
    }

    fn item(&mut self, path: &KeyPath, span: Option<Range<usize>>, item: &TomlItem) {
        let inner = item.as_table_like();
        match (find(path), inner) {
            (KeyLookup::Table, Some(table)) => self.table(path, table),
            (KeyLookup::Table, None) if is_named_list(path, item) => self.named_list(path, item),
            (KeyLookup::Table, None) => {
                let expected = "a table".to_owned();
                let found = found_instead_of_table(item);
                self.mismatch(
                    path,
                    TypeMismatch {
                        expected,
                        found,
                        span: item.span(),
                    },
                    span,
                );
            }
            (KeyLookup::Key { key, .. }, Some(table))
                if key.kind == ValueKind::Free && !table.is_empty() =>
            {
                self.table(path, table);
            }
            (
                KeyLookup::Key {
                    key,
                    path: right,
                    by_alias,
                },
                _,
            ) => {
                if by_alias {
                    self.alias(path, &right, span.clone());
                }
                match Datum::from_item(key.kind, item) {
                    Ok(datum) => self.assign(key, right, datum, span),
                    Err(mismatch) => self.mismatch(&right, mismatch, span),
                }
            }
            (KeyLookup::Nothing, _) => self.unknown(path, span),
        }
    }

    /// `[[skills.mcp]]` with `name = "docs"` is `[skills.mcp.docs]`.
    fn named_list(&mut self, path: &KeyPath, item: &TomlItem) {
        let tables: Vec<&dyn TableLike> = match item {
            TomlItem::ArrayOfTables(tables) => tables.iter().map(|table| table as _).collect(),
            _ => {
                let items = item.as_array().into_iter().flatten();
                let tables = items.filter_map(|item| item.as_inline_table());
                tables.map(|table| table as _).collect()
            }
        };
        for table in tables {
            let Some(name) = table.get("name").and_then(TomlItem::as_str) else {
                let message = format!("a table of `{path}` has no `name`");
                let hint = "add a line such as `name = \"docs\"`".to_owned();
                self.report(ProblemSeverity::Error, message, item.span(), Some(hint));
                continue;
            };
            let path = path.child(name);
            for (key, item) in table.iter().filter(|(key, _)| *key != "name") {
                let span = table.key(key).and_then(toml_edit::Key::span);
                self.item(&path.child(key), span, item);
            }
        }
    }

    fn assign(
        &mut self,
        key: &'static ConfigKey,
        path: KeyPath,
        datum: Datum,
        span: Option<Range<usize>>,
    ) {
        if let Some(wrong) = wrong_segment(key, &path) {
            let message = format!("`{path}` can't be set: {wrong}");
            return self.report(ProblemSeverity::Error, message, span, None);
        }
        if self.assignments.contains_key(&path) {
            let message = format!("`{path}` is set twice; the first one counts");
            return self.report(
                ProblemSeverity::Error,
                message,
                span,
                Some("remove one of the two".to_owned()),
            );
        }
        let place = span.map(|span| self.lines.place(span.start));
        self.assignments.insert(
            path.clone(),
            KeyAssignment {
                key,
                path,
                datum,
                place,
            },
        );
    }

    fn alias(&mut self, given: &KeyPath, right: &KeyPath, span: Option<Range<usize>>) {
        let message = format!("`{given}` is a different spelling of `{right}`");
        self.report(
            ProblemSeverity::Warning,
            message,
            span,
            Some(format!("write `{}`", right.last())),
        );
    }

    fn mismatch(&mut self, path: &KeyPath, mismatch: TypeMismatch, key_span: Option<Range<usize>>) {
        let message = format!(
            "`{path}`: expected {}, found {}",
            mismatch.expected, mismatch.found
        );
        self.report(
            ProblemSeverity::Error,
            message,
            mismatch.span.or(key_span),
            None,
        );
    }

    fn unknown(&mut self, path: &KeyPath, span: Option<Range<usize>>) {
        if self.problems.len() < PROBLEMS {
            self.report(
                ProblemSeverity::Error,
                format!("there is no key `{path}`"),
                span,
                Some(suggest::hint(path)),
            );
        }
    }

    fn report(
        &mut self,
        severity: ProblemSeverity,
        message: String,
        span: Option<Range<usize>>,
        hint: Option<String>,
    ) {
        if self.problems.len() >= PROBLEMS {
            return;
        }
        let is_file = self.layer.origin.path().is_some();
        let place = span
            .filter(|_| is_file)
            .map(|span| self.lines.place(span.start));
        let origin = self.layer.origin.clone();
        let (line, column) = (
            place.map(|place| place.line),
            place.map(|place| place.column),
        );
        self.problems.push(ConfigProblem {
            severity,
            message,
            origin,
            line,
            column,
            hint,
        });
    }
}

fn is_named_list(path: &KeyPath, item: &TomlItem) -> bool {
    let is_list = match item {
        TomlItem::ArrayOfTables(_) => true,
        item => item
            .as_array()
            .is_some_and(|list| list.iter().all(toml_edit::Value::is_inline_table)),
    };
    is_list && NAMED_LISTS.contains(&path.to_string().as_str())
}

/// Why the user's segment of a path is not a valid name.
pub(crate) fn wrong_segment(key: &ConfigKey, path: &KeyPath) -> Option<String> {
    key.segments()
        .zip(path.segments())
        .find_map(|(pattern, segment)| match pattern {
            "<name>" if !is_name(segment) => Some(format!(
                "`{}` can't be a skill's name",
                segment.escape_debug()
            )),
            "<profile>" if !is_name(segment) => Some(format!(
                "`{}` can't be a profile's name",
                segment.escape_debug()
            )),
            "<server>" => {
                let wrong = check_server_label(segment).err()?;
                let segment = segment.escape_debug();
                Some(format!("`{segment}` can't be a server's name: {wrong}"))
            }
            "<header>" if !is_header(segment) => Some(format!(
                "`{}` can't be a header's name",
                segment.escape_debug()
            )),
            "<variable>" if segment.is_empty() || segment.contains(['=', '\0']) => Some(format!(
                "`{}` can't be a variable's name",
                segment.escape_debug()
            )),
            _ => None,
        })
}

fn is_header(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !text.is_empty() && text.bytes().all(is_plain)
}
