//! Files that users write or commit.

use metier::configuration::{ConfigKey, KEYS, ListItemKind, ValueKind};
use serde_json::{Map, Value, json};

use super::{NamedSchema, manifest};

/// Sorted by the name of the file.
pub(super) const FILES: &[NamedSchema] = &[
    NamedSchema {
        name: "SKILL.md",
        about: "The frontmatter of a SKILL.md",
        make: || manifest::schema(&["name", "description"]),
    },
    NamedSchema {
        name: "SKILL.yaml",
        about: "A SKILL.yaml",
        make: || manifest::schema(&["name", "version", "description"]),
    },
    NamedSchema {
        name: "config.toml",
        about: "The user's configuration, and `.metier/config.toml` of a project",
        make: config,
    },
    NamedSchema {
        name: "metier.lock",
        about: "The skills that are installed, with their digests",
        make: lock,
    },
];

/// Every key of the configuration, table by table.
fn config() -> Value {
    let keys: Vec<KeyBelow> = KEYS
        .iter()
        .map(|key| KeyBelow {
            path: key.path.split('.').collect(),
            key,
        })
        .collect();
    table(&keys)
}

/// A key, and its path below a table.
struct KeyBelow {
    path: Vec<&'static str>,
    key: &'static ConfigKey,
}

/// A table with these keys; a segment in angle brackets stands for any name.
fn table(keys: &[KeyBelow]) -> Value {
    let mut groups: Vec<(&str, Vec<KeyBelow>)> = Vec::new();
    let mut leaves = Map::new();
    for KeyBelow { path, key } in keys {
        let (first, rest) = match path.as_slice() {
            [] => continue,
            [only] => {
                leaves.insert((*only).to_owned(), config_value(key));
                continue;
            }
            [first, rest @ ..] => (*first, rest.to_vec()),
        };
        let below = KeyBelow { path: rest, key };
        match groups.iter_mut().find(|(name, _)| *name == first) {
            Some((_, group)) => group.push(below),
            None => groups.push((first, vec![below])),
        }
    }
    let tables = groups
        .into_iter()
        .map(|(name, keys)| (name.to_owned(), table(&keys)));
    let mut others = json!(false);
    let mut properties = Map::new();
    for (name, schema) in leaves.into_iter().chain(tables) {
        match name.starts_with('<') {
            true => others = schema,
            false => drop(properties.insert(name, schema)),
        }
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": others })
}

fn config_value(key: &ConfigKey) -> Value {
    let mut schema = match key.kind {
        ValueKind::Bool => json!({ "type": "boolean" }),
        ValueKind::Int(least) => json!({ "type": "integer", "minimum": least }),
        ValueKind::Choice(words) => json!({ "enum": words }),
        ValueKind::Text | ValueKind::Secret => json!({ "type": "string", "minLength": 1 }),
        ValueKind::List(ListItemKind::Suppression) => json!({ "type": "array" }),
        ValueKind::List(_) => json!({ "type": "array", "items": { "type": "string" } }),
        ValueKind::Free => json!({}),
    };
    schema["description"] = key.doc.into();
    schema
}

/// `metier.lock`, as `metier_package::Lock` writes it.
fn lock() -> Value {
    let digest = json!({ "type": "string", "pattern": "^sha256:[0-9a-f]{64}$" });
    let words = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "properties": {
            "version": { "const": 1 },
            "skills": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "properties": {
                        "version": { "type": "string", "description": "The version in the manifest" },
                        "source": { "type": "string", "description": "Where the skill was installed from, as it can be typed again" },
                        "registry": { "type": "string", "description": "The registry that it came from" },
                        "commit": { "type": "string", "description": "The commit of a git repository" },
                        "archive": digest,
                        "tree": digest,
                        "signer": { "type": "string", "description": "The public key that signed it" },
                        "permissions": words,
                        "requires": words,
                        "verdict": { "enum": ["clean", "info", "warning", "critical", "incomplete"] },
                        "rules": { "type": "string", "description": "The rules of the scanner" },
                    },
                    "required": ["source", "tree", "verdict", "rules"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["version"],
        "additionalProperties": false,
    })
}
