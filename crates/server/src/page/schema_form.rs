//! A form from the JSON Schema of a tool's input, and the input from the form.
//!
//! Fields of an object that are text, numbers, yes or no, or one of some values have a control each; anything else is written as JSON.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::{document::Quoted, forms::CheckedForm};

/// Fields of the form that are values begin with this.
const FIELD: &str = "field:";
/// Which control a field has, for reading it back.
const KIND: &str = "kind:";

/// How a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    Text,
    Number,
    Whole,
    YesNo,
    Json,
}

impl Control {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Text, "text"),
        (Self::Number, "number"),
        (Self::Whole, "integer"),
        (Self::YesNo, "boolean"),
        (Self::Json, "json"),
    ];

    fn of(schema: &Value) -> Self {
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Self::Text,
            Some("number") => Self::Number,
            Some("integer") => Self::Whole,
            Some("boolean") => Self::YesNo,
            _ => Self::Json,
        }
    }

    fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(control, _)| *control == self);
        found.map_or("json", |(_, word)| word)
    }

    /// The value of a text that was typed; what is empty is left out.
    fn read(self, text: &str) -> Result<Option<Value>, String> {
        let wrong = |what: &str| Err(format!("`{text}` is not {what}"));
        if text.is_empty() {
            return Ok(None);
        }
        Ok(Some(match self {
            Self::Text => Value::from(text),
            Self::YesNo => Value::from(text == "true"),
            Self::Whole => match text.parse::<i64>() {
                Ok(number) => Value::from(number),
                Err(_) => return wrong("a whole number"),
            },
            Self::Number => match text.parse::<f64>() {
                Ok(number) => Value::from(number),
                Err(_) => return wrong("a number"),
            },
            Self::Json => match serde_json::from_str(text) {
                Ok(value) => value,
                Err(error) => return wrong(&format!("JSON: {error}")),
            },
        }))
    }
}

/// The controls for an input; `id` makes their names unique in the page.
pub(super) fn controls(schema: &Value, id: &str) -> Markup {
    let fields = schema.get("properties").and_then(Value::as_object);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    html! {
        @match fields.filter(|fields| !fields.is_empty()) {
            Some(fields) => {
                @for (number, (name, schema)) in fields.iter().enumerate() {
                    (control(name, schema, required.contains(&name.as_str()), &format!("{id}-{number}")))
                }
            }
            None => {
                label { span { "Input as JSON" }
                    textarea name="whole" rows="3" spellcheck="false" { "{}" }
                }
            }
        }
    }
}

fn control(name: &str, schema: &Value, is_required: bool, id: &str) -> Markup {
    let control = Control::of(schema);
    let field = format!("{FIELD}{name}");
    let about = schema.get("description").and_then(Value::as_str);
    let about_id = about.map(|_| format!("about-{id}"));
    let choices = schema.get("enum").and_then(Value::as_array);
    html! {
        input type="hidden" name={ (KIND) (name) } value=(control.word());
        div.field {
            label for=(id) { (Quoted::new(name)) @if is_required { span.faint { " (required)" } } }
            @if let Some(choices) = choices {
                select id=(id) name=(field) required[is_required] aria-describedby=[about_id.as_deref()] {
                    @if !is_required { option value="" { "–" } }
                    @for choice in choices.iter().filter_map(Value::as_str) {
                        option value=(choice) { (Quoted::new(choice)) }
                    }
                }
            } @else {
                @match control {
                    Control::Text => input type="text" id=(id) name=(field) required[is_required] autocomplete="off" aria-describedby=[about_id.as_deref()];,
                    Control::Number => input type="number" step="any" id=(id) name=(field) required[is_required] aria-describedby=[about_id.as_deref()];,
                    Control::Whole => input type="number" step="1" id=(id) name=(field) required[is_required] aria-describedby=[about_id.as_deref()];,
                    Control::YesNo => select id=(id) name=(field) aria-describedby=[about_id.as_deref()] {
                        option value="" { "–" } option value="true" { "yes" } option value="false" { "no" }
                    },
                    Control::Json => textarea id=(id) name=(field) rows="2" spellcheck="false" required[is_required] placeholder="JSON" aria-describedby=[about_id.as_deref()] {},
                }
            }
            @if let (Some(about), Some(about_id)) = (about, &about_id) { p.small.faint id=(about_id) { (Quoted::new(about)) } }
        }
    }
}

/// The input that a form describes.
pub(super) fn input(form: &CheckedForm) -> Result<Value, String> {
    read(form.fields())
}

fn read<'a>(sent: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Value, String> {
    let sent: Vec<(&str, &str)> = sent.collect();
    let value = |name: &str| {
        sent.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    };
    if let Some(whole) = value("whole") {
        return Ok(Control::Json.read(whole)?.unwrap_or_default());
    }
    let mut input = Map::new();
    for (field, text) in &sent {
        let Some(name) = field.strip_prefix(FIELD) else {
            continue;
        };
        let kind = value(&format!("{KIND}{name}")).unwrap_or("json");
        let known = Control::ALL.iter().find(|(_, word)| *word == kind);
        let control = known.map_or(Control::Json, |(control, _)| *control);
        let read = control.read(text).map_err(|why| format!("{name}: {why}"))?;
        if let Some(read) = read {
            input.insert(name.to_owned(), read);
        }
    }
    Ok(Value::Object(input))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{controls, read};

    #[test]
    fn a_form_reads_back_as_the_types_of_its_schema() {
        let sent = [
            ("kind:text", "text"),
            ("field:text", "12"),
            ("kind:count", "integer"),
            ("field:count", "12"),
            ("kind:share", "number"),
            ("field:share", "0.5"),
            ("kind:deep", "boolean"),
            ("field:deep", "true"),
            ("kind:list", "json"),
            ("field:list", "[1, 2]"),
            ("kind:left", "text"),
            ("field:left", ""),
            ("other", "x"),
        ];
        let input = read(sent.into_iter()).unwrap();
        let expected =
            json!({ "text": "12", "count": 12, "share": 0.5, "deep": true, "list": [1, 2] });
        assert_eq!(input, expected);
        assert_eq!(
            read([("whole", "{\"a\": 1}")].into_iter()).unwrap(),
            json!({ "a": 1 })
        );
    }

    #[test]
    fn what_is_not_of_its_type_is_refused_with_its_name() {
        for (kind, text) in [("integer", "1.5"), ("number", "many"), ("json", "{")] {
            let sent = [("kind:size", kind), ("field:size", text)];
            let why = read(sent.into_iter()).unwrap_err();
            assert!(why.starts_with("size: "), "{why}");
        }
    }

    #[test]
    fn names_of_a_hostile_schema_stay_text() {
        let schema = json!({ "properties": { "\"><script>": {
            "type": "string", "description": "</p><script>", "enum": ["\"><b>"]
        } } });
        let page = controls(&schema, "t").into_string();
        assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    }
}
