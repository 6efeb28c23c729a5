//! The fields of SKILL.md and SKILL.yaml.
//!
//! The reader accepts more than this: other spellings, other types, unknown fields. The schema describes what an editor should propose.

use metier::skill::{Backend, SkillType};
use serde_json::{Map, Value, json};

/// The type of a field.
enum FieldShape {
    Text,
    Flag,
    /// A string or a list of strings.
    Words,
    /// A list of strings.
    List,
    /// Any value.
    Any,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A shape that is written out.
    Written(fn() -> Value),
}

use FieldShape::{Any, Choice, Flag, List, Text, Words, Written};

/// All known fields, in the order of the reference.
const FIELDS: &[(&str, FieldShape, &str)] = &[
    (
        "name",
        Written(name),
        "The name of the skill, which is also the name of its folder",
    ),
    (
        "description",
        Written(description),
        "What the skill does, and when to use it",
    ),
    (
        "license",
        Text,
        "The license, by name or by the name of a file",
    ),
    (
        "compatibility",
        Any,
        "Requirements in prose; in SKILL.yaml also versions and platforms",
    ),
    ("metadata", Any, "Values of other tools"),
    (
        "allowed-tools",
        Words,
        "Tools that are approved in advance while the skill is active",
    ),
    ("version", Text, "The version, as MAJOR.MINOR.PATCH"),
    ("homepage", Text, "The address of the home page"),
    ("author", Any, "The author"),
    ("emoji", Text, "An emoji for lists"),
    ("category", Text, "The category"),
    ("tags", Words, "Words for searching"),
    ("requires", Written(requires), "What the machine must have"),
    (
        "os",
        Words,
        "The operating systems that the skill works on: linux, darwin, win32",
    ),
    (
        "always",
        Flag,
        "Whether to skip the check of the requirements",
    ),
    (
        "primaryEnv",
        Text,
        "The variable that `api_key` of the configuration sets",
    ),
    (
        "skillKey",
        Text,
        "The key in the configuration, if it is not the name",
    ),
    (
        "install",
        Written(installers),
        "Ways to install missing programs",
    ),
    (
        "tools",
        Any,
        "Tools that the skill requires (a list of names) or provides (a list of tables)",
    ),
    (
        "user-invocable",
        Flag,
        "Whether users can invoke the skill by name",
    ),
    (
        "disable-model-invocation",
        Flag,
        "Whether models can't choose the skill",
    ),
    (
        "context",
        Choice(&["inline", "fork"]),
        "Whether the skill runs in the conversation or in a separate one",
    ),
    ("agent", Text, "The kind of sub-agent for a fork"),
    ("background", Flag, "Whether a fork runs in the background"),
    ("model", Text, "The model to use"),
    (
        "effort",
        Choice(&["low", "medium", "high", "xhigh", "max"]),
        "The effort of the model",
    ),
    ("argument-hint", Any, "Help for the arguments"),
    ("arguments", Words, "The names of the arguments"),
    ("when_to_use", Text, "More about when to use the skill"),
    (
        "paths",
        Words,
        "Patterns of files for which a model loads the skill",
    ),
    ("shell", Text, "The shell for commands in the text"),
    ("hooks", Any, "Hooks in the format of Claude Code"),
    (
        "disallowed-tools",
        Words,
        "Tools that are not available while the skill is active",
    ),
    (
        "allowed_tools",
        Words,
        "The only tools that can be called while the skill is active",
    ),
    (
        "forbidden_tools",
        Words,
        "Tools that can't be called while the skill is active",
    ),
    ("execution_protocol", Words, "The steps to follow"),
    (
        "preconditions",
        Any,
        "Conditions that must hold before the skill runs",
    ),
    (
        "postconditions",
        Any,
        "Conditions that must hold after the skill runs",
    ),
    (
        "output_contract",
        Any,
        "The form of the output: a JSON Schema or prose",
    ),
    (
        "compatibility_rules",
        Any,
        "Skills that this one can or can't be combined with",
    ),
    (
        "composability_rules",
        Any,
        "Skills that this one has to be combined with",
    ),
    (
        "conflicts_with",
        Words,
        "Skills that can't be used together with this one",
    ),
    ("types", Written(types), "What the skill contributes"),
    ("triggers", Written(triggers), "When the skill is loaded"),
    (
        "permissions",
        List,
        "The permissions that the skill requests, such as `file:read(./docs/**)`",
    ),
    (
        "dependencies",
        Written(dependencies),
        "Other skills that this one requires",
    ),
    (
        "implementation",
        Written(implementation),
        "The code of the skill",
    ),
    ("prompt", Written(prompt), "Files whose text a model gets"),
    ("security_rules", Any, "Rules for the scanner"),
    ("wiki", Any, "Sections for a wiki"),
    (
        "command-dispatch",
        Choice(&["tool"]),
        "How the slash command is dispatched",
    ),
    (
        "command-tool",
        Text,
        "The tool that the slash command calls",
    ),
    (
        "command-arg-mode",
        Text,
        "How the arguments of the slash command are passed",
    ),
];

/// The schema of a manifest with these required fields.
pub(super) fn schema(required: &[&str]) -> Value {
    let field = |(name, shape, about): &(&str, FieldShape, &str)| {
        let mut schema = match shape {
            Text => json!({ "type": ["string", "number"] }),
            Flag => json!({ "type": "boolean" }),
            Words => words(),
            List => json!({ "type": "array", "items": { "type": "string" } }),
            Any => json!({}),
            Choice(values) => json!({ "enum": values }),
            Written(make) => make(),
        };
        schema["description"] = (*about).into();
        ((*name).to_owned(), schema)
    };
    let properties: Map<String, Value> = FIELDS.iter().map(field).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The names of all fields.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|(name, _, _)| *name)
}

fn words() -> Value {
    json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
}

fn name() -> Value {
    json!({ "type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": metier::skill::MAX_NAME })
}

fn description() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 1024 })
}

fn types() -> Value {
    let all = SkillType::ALL.map(SkillType::as_str);
    json!({ "anyOf": [{ "enum": all }, { "type": "array", "items": { "enum": all } }] })
}

fn object(properties: &Value) -> Value {
    json!({ "type": "object", "properties": properties })
}

fn requires() -> Value {
    object(&json!({ "bins": words(), "anyBins": words(), "env": words(), "config": words() }))
}

fn installers() -> Value {
    let text = json!({ "type": "string" });
    let one = object(&json!({
        "id": text,
        "kind": { "enum": ["brew", "apt", "npm", "node", "go", "uv", "pip", "cargo", "download"] },
        "formula": text, "cask": text, "package": text, "module": text, "url": text,
        "bins": words(),
        "os": words(),
        "label": text,
    }));
    json!({ "type": "array", "items": one })
}

fn triggers() -> Value {
    object(&json!({
        "files": words(),
        "keywords": words(),
        "languages": words(),
        "modes": { "type": "array", "items": { "enum": ["interactive", "headless", "wiki"] } },
    }))
}

fn dependencies() -> Value {
    let skill = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "version": { "type": ["string", "number"] },
            "optional": { "type": "boolean" },
        },
        "required": ["name"],
    });
    json!({ "type": "array", "items": { "anyOf": [{ "type": "string" }, skill] } })
}

fn implementation() -> Value {
    object(&json!({
        "backend": { "enum": Backend::ALL.map(Backend::as_str) },
        "entrypoint": { "type": "string" },
        "limits": object(&json!({
            "memory_mb": { "type": "integer" },
            "fuel": { "type": "integer" },
            "timeout": { "type": ["string", "integer"] },
        })),
    }))
}

fn prompt() -> Value {
    object(&json!({
        "system_prompt_file": { "type": "string" },
        "context_files": words(),
        "max_context_tokens": { "type": "integer" },
    }))
}
