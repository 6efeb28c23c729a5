//! Documents of the interface as views read them: every text in one is from elsewhere, and is shown as [`Quoted`].

use std::borrow::Cow;

use maud::{Markup, Render, html};
use metier::text::visible;
use serde_json::Value;

/// A document.
#[derive(Debug)]
pub(super) struct Document(Value);

/// A part of a document. What is not there is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a>(&'a Value);

/// A text from elsewhere: shown with its hidden and control characters visible, so that it can't pretend to be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quoted<'a>(&'a str);

/// The longest text in one place; the rest is counted.
const MAX_SHOWN: usize = 20_000;

impl Document {
    pub(super) fn new(document: Value) -> Self {
        Self(document)
    }

    pub(super) fn root(&self) -> Part<'_> {
        Part(&self.0)
    }
}

static NOTHING: Value = Value::Null;

impl<'a> Part<'a> {
    /// A field, or a part without content.
    pub(super) fn at(self, key: &str) -> Self {
        Self(self.0.get(key).unwrap_or(&NOTHING))
    }

    pub(super) fn items(self, key: &str) -> Vec<Self> {
        let items = self.at(key).0.as_array();
        items.into_iter().flatten().map(Self).collect()
    }

    /// The fields of an object.
    pub(super) fn fields(self) -> Vec<(Quoted<'a>, Self)> {
        let fields = self.0.as_object().into_iter().flatten();
        fields
            .map(|(key, value)| (Quoted(key), Self(value)))
            .collect()
    }

    pub(super) fn text(self, key: &str) -> Quoted<'a> {
        Quoted(self.at(key).0.as_str().unwrap_or_default())
    }

    /// A text that is there and not empty.
    pub(super) fn some_text(self, key: &str) -> Option<Quoted<'a>> {
        Some(self.text(key)).filter(|text| !text.0.is_empty())
    }

    /// This part, if it is a text.
    pub(super) fn as_text(self) -> Option<Quoted<'a>> {
        self.0.as_str().map(Quoted)
    }

    /// The texts of a list.
    pub(super) fn texts(self, key: &str) -> Vec<Quoted<'a>> {
        let items = self.items(key).into_iter();
        items.filter_map(Self::as_text).collect()
    }

    pub(super) fn number(self, key: &str) -> u64 {
        self.at(key).0.as_u64().unwrap_or(0)
    }

    pub(super) fn real(self, key: &str) -> f64 {
        self.at(key).0.as_f64().unwrap_or(0.0)
    }

    pub(super) fn flag(self, key: &str) -> bool {
        self.at(key).0 == &Value::Bool(true)
    }

    pub(super) fn is_empty(self) -> bool {
        match self.0 {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::String(text) => text.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// The part itself, for a form that is made from a schema.
    pub(super) fn value(self) -> &'a Value {
        self.0
    }

    /// As text over several lines: a text as it is, anything else as JSON.
    pub(super) fn block(self) -> Markup {
        match self.0 {
            Value::String(text) => Quoted(text).lines(),
            other => {
                let text = serde_json::to_string_pretty(other).unwrap_or_default();
                Quoted(&text).lines()
            }
        }
    }
}

impl<'a> Quoted<'a> {
    /// A text that is from elsewhere.
    pub(super) fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// The text as it is, to compare it or to send it back; not to show it.
    pub(super) fn raw(self) -> &'a str {
        self.0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The text on its own lines.
    pub(super) fn lines(self) -> Markup {
        let (shown, rest) = self.cut();
        let lines: Vec<Cow<'_, str>> = shown.split('\n').map(visible_line).collect();
        html! { (lines.join("\n")) (Rest(rest)) }
    }

    /// The shown text, and the number of characters that are left out.
    fn cut(self) -> (&'a str, usize) {
        match self.0.char_indices().nth(MAX_SHOWN) {
            None => (self.0, 0),
            Some((end, _)) => (&self.0[..end], self.0[end..].chars().count()),
        }
    }
}

/// One line; a tab stays one.
fn visible_line(line: &str) -> Cow<'_, str> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line.contains('\t') {
        false => visible(line),
        true => {
            let parts: Vec<Cow<'_, str>> = line.split('\t').map(visible).collect();
            Cow::Owned(parts.join("\t"))
        }
    }
}

/// That characters are left out.
struct Rest(usize);

impl Render for Rest {
    fn render(&self) -> Markup {
        html! {
            @if self.0 > 0 { "… (" (self.0) " more characters)" }
        }
    }
}

impl Render for Quoted<'_> {
    fn render(&self) -> Markup {
        let (shown, rest) = self.cut();
        html! { (visible(shown)) (Rest(rest)) }
    }
}
