//! The schemas of the documents that tools return: what a client can rely on. A document can have more members.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// The documents of tools.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OutputShape {
    Search,
    List,
    Activate,
    Read,
    Execute,
    ListTools,
    Call,
    Scan,
}

/// The schema of a document, or of an error in its place.
pub(crate) fn schema(shape: OutputShape) -> JsonObject {
    let (mut properties, required) = members(shape);
    properties["error"] = json!({
        "type": "object",
        "description": "Why the request failed.",
        "properties": {
            "code": {"type": "string"},
            "message": {"type": "string"},
            "hint": {"type": ["string", "null"]},
            "skill": {"type": ["string", "null"]},
            "path": {"type": ["string", "null"]},
            "line": {"type": ["integer", "null"]}
        },
        "required": ["code", "message"]
    });
    let schema = json!({
        "type": "object",
        "properties": properties,
        "anyOf": [{"required": required}, {"required": ["error"]}]
    });
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

fn members(shape: OutputShape) -> (Value, Value) {
    let (text, number, flag) = (
        json!({"type": "string"}),
        json!({"type": "integer"}),
        json!({"type": "boolean"}),
    );
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let rows = json!({"type": "array", "items": {"type": "object"}});
    let cut = json!({
        "type": "object",
        "description": "Which bytes of the whole text these are.",
        "properties": {"offset": {"type": "integer"}, "next_offset": {"type": "integer"}, "bytes": {"type": "integer"}}
    });
    match shape {
        OutputShape::Search => (
            json!({
                "skills": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"name": text, "description": text, "source": text, "score": {"type": "number"}, "why": texts},
                    "required": ["name", "description", "score"]
                }},
                "total": number,
                "next_cursor": text
            }),
            json!(["skills", "total"]),
        ),
        OutputShape::List => (
            json!({
                "skills": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"name": text, "description": text, "source": text, "path": text, "status": text, "reasons": rows},
                    "required": ["name", "description", "source", "status", "reasons"]
                }},
                "diagnostics": rows,
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
                "total": number,
                "next_cursor": text
            }),
            json!(["skills", "counts", "total"]),
        ),
        OutputShape::Activate => (
            json!({"name": text, "digest": text, "content": text, "directory": text, "resources": texts, "commands": rows, "cut": cut}),
            json!(["name", "digest", "content", "directory", "resources"]),
        ),
        OutputShape::Read => (
            json!({"name": text, "path": text, "text": {"type": ["string", "null"]}, "size": number, "binary": flag, "cut": cut}),
            json!(["name", "path", "size", "binary"]),
        ),
        OutputShape::Execute => (
            json!({
                "name": text,
                "mode": {"type": "string", "enum": ["inline", "fork", "workflow"]},
                "content": text,
                "is_error": flag,
                "output": {},
                "receipts": rows,
                "cut": cut
            }),
            json!(["name", "mode", "content", "is_error", "receipts"]),
        ),
        OutputShape::ListTools => (
            json!({
                "tools": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"name": text, "skill": text, "tool": text, "description": text, "input_schema": {"type": "object"}},
                    "required": ["name", "skill", "tool", "description", "input_schema"]
                }},
                "not_started": texts,
                "total": number,
                "next_cursor": text
            }),
            json!(["tools", "total"]),
        ),
        OutputShape::Call => (
            json!({"output": {}, "is_error": flag, "receipts": rows, "cut": cut}),
            json!(["output", "is_error", "receipts"]),
        ),
        OutputShape::Scan => (
            json!({
                "skills": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"name": text, "path": text, "verdict": text, "findings": rows, "capabilities": texts},
                    "required": ["name", "verdict", "findings"]
                }}
            }),
            json!(["skills"]),
        ),
    }
}
