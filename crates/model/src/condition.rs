//! Conditions before or after a skill runs: in prose for the model, or in a form that a program checks.

use crate::manifest::Json;

/// One entry of `preconditions` or `postconditions`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition<'a> {
    /// A sentence that the model is asked to observe.
    Prose(&'a str),
    /// `{file: PATH}`: the file exists in the project; with `schema`, it contains JSON that matches it.
    File {
        /// Relative to the project.
        path: &'a str,
        /// The JSON Schema of its content.
        schema: Option<&'a Json>,
    },
    /// `{command: LINE}`: the command ends with exit code 0.
    Command(&'a str),
    /// `{schema: {…}}`: the skill's input, or its result, matches.
    Schema(&'a Json),
    /// Anything else: nothing is checked, and nothing is passed to the model.
    Unknown,
}

impl<'a> Condition<'a> {
    /// Reads an entry of either list.
    #[must_use]
    pub fn read(value: &'a Json) -> Self {
        let fields = match value {
            Json::String(text) if !text.trim().is_empty() => return Self::Prose(text),
            Json::Object(fields) => fields,
            _ => return Self::Unknown,
        };
        let text = |key: &str| {
            let text = fields.get(key).and_then(Json::as_str).map(str::trim);
            text.filter(|text| !text.is_empty())
        };
        let schema = fields.get("schema").filter(|schema| schema.is_object());
        let has_schema = fields.contains_key("schema");
        match (text("file"), text("command"), schema, fields.len()) {
            (Some(path), None, None, 1) if is_inside(path) => Self::File { path, schema: None },
            (Some(path), None, Some(_), 2) if is_inside(path) => Self::File { path, schema },
            (None, Some(line), None, 1) if !has_schema => Self::Command(line),
            (None, None, Some(schema), 1) => Self::Schema(schema),
            _ => Self::Unknown,
        }
    }
}

/// Whether a path stays in its base folder.
fn is_inside(path: &str) -> bool {
    let mut parts = path.split(['/', '\\']);
    !path.starts_with(['/', '~']) && !path.contains('\0') && parts.all(|part| part != "..")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn four_forms_are_read_and_nothing_else() {
        assert_eq!(
            Condition::read(&json!("It is agreed.")),
            Condition::Prose("It is agreed.")
        );
        assert_eq!(
            Condition::read(&json!({"file": "docs/plan.md"})),
            Condition::File {
                path: "docs/plan.md",
                schema: None
            }
        );
        assert_eq!(
            Condition::read(&json!({"command": "cargo test"})),
            Condition::Command("cargo test")
        );
        let schema = json!({"type": "object"});
        assert_eq!(
            Condition::read(&json!({"schema": schema})),
            Condition::Schema(&schema)
        );
        assert_eq!(
            Condition::read(&json!({"file": "plan.json", "schema": schema})),
            Condition::File {
                path: "plan.json",
                schema: Some(&schema)
            }
        );
        for unknown in [
            json!(""),
            json!(7),
            json!(["a"]),
            json!({}),
            json!({"fiel": "x"}),
            json!({"file": ""}),
            json!({"file": "/etc/passwd"}),
            json!({"file": "../x"}),
            json!({"file": "x", "command": "y"}),
            json!({"file": "x", "schema": "y"}),
            json!({"command": "x", "because": "y"}),
            json!({"schema": "plan.schema.json"}),
        ] {
            assert_eq!(Condition::read(&unknown), Condition::Unknown, "{unknown}");
        }
    }
}
