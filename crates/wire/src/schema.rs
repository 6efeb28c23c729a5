//! JSON Schemas of the files that users write, and of every document that a command prints with `--json`.
//!
//! The schemas of documents come from the types that are printed. Tests compare them with what the program prints in the specifications,
//! and those of files with the skills of this repository.

mod documents;
mod files;
mod manifest;
mod served;

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The dialect of all schemas.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema with its name.
pub struct NamedSchema {
    /// The name of a file (`SKILL.yaml`), or of a command (`list`).
    pub name: &'static str,
    /// The file or output that has this form, in one line.
    pub about: &'static str,
    make: fn() -> Value,
}

impl NamedSchema {
    /// The schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut schema = json!({ "$schema": DIALECT, "title": self.about });
        if let (Value::Object(all), Value::Object(own)) = (&mut schema, (self.make)()) {
            all.extend(own);
        }
        schema
    }
}

/// All schemas: files first, then documents by the name of the command.
pub fn schemas() -> impl Iterator<Item = &'static NamedSchema> {
    files::FILES.iter().chain(documents::DOCUMENTS)
}

/// The schemas of the daemon's requests and replies, except the documents of commands.
pub fn served_schemas() -> impl Iterator<Item = &'static NamedSchema> {
    served::SERVED.iter()
}

/// A generator for written documents, as opposed to read ones.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator()
}

/// One of several shapes, which share their definitions.
fn one_of(mut generator: SchemaGenerator, mut shapes: Vec<Value>) -> Value {
    let mut schema = match (shapes.len(), shapes.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            shapes.extend(last);
            json!({ "anyOf": shapes })
        }
    };
    let definitions: Map<String, Value> = generator.take_definitions(true);
    if let Value::Object(fields) = &mut schema {
        fields.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
