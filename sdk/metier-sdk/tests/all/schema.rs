//! `sdk/schema/wire.json` states the input and output of each method, as the types do. `METIER_BLESS=1` rewrites it.

use std::fs;

use metier_sdk::wire::{
    Answered, Contributions, Ended, Fetched, FileContent, HookAnswer, HookHandle, HostRequest,
    Initialize, MAX_FRAME, Matches, OpenclawAnswer, OpenclawHandle, PROTOCOL, Paths, RpcError,
    ScannerOutput, ScannerRun, ToolExecute, ToolOutput, Variable, WorkflowOutput, WorkflowRun,
};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::talk::sdk;

#[test]
fn the_schema_is_that_of_the_types() {
    let path = sdk().join("schema/wire.json");
    let made = format!("{:#}\n", schema());
    if std::env::var_os("METIER_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let mut lines = made.lines().zip(stored.lines());
    let change = lines.find(|(made, stored)| made != stored);
    assert!(
        made == stored,
        "the wire changed, first here: {change:?}\nMETIER_BLESS=1 rewrites {}: review the diff",
        path.display()
    );
}

fn schema() -> Value {
    let mut types = SchemaSettings::draft2020_12().into_generator();
    let nothing = json!({"type": "object"});
    let called = json!({
        "initialize": {"params": of::<Initialize>(&mut types), "result": of::<Contributions>(&mut types)},
        "tool/execute": {"params": of::<ToolExecute>(&mut types), "result": of::<ToolOutput>(&mut types)},
        "hook/handle": {"params": of::<HookHandle>(&mut types), "result": of::<HookAnswer>(&mut types)},
        "workflow/run": {"params": of::<WorkflowRun>(&mut types), "result": of::<WorkflowOutput>(&mut types)},
        "scanner/run": {"params": of::<ScannerRun>(&mut types), "result": of::<ScannerOutput>(&mut types)},
        "openclaw/handle": {"params": of::<OpenclawHandle>(&mut types), "result": of::<OpenclawAnswer>(&mut types)},
        "shutdown": {"params": nothing, "result": nothing},
        "cancel": {"params": {"type": "object", "properties": {"id": {}}, "required": ["id"]}},
    });
    let asked = asked(&mut types);
    let error = of::<RpcError>(&mut types);
    let mut definitions = types.take_definitions(true);
    definitions.shift_remove("HostRequest");
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What a skill and its host say to each other",
        "$comment": "Made from sdk/metier-sdk/src/wire.rs. JSON-RPC 2.0, one message a line.",
        "protocol": PROTOCOL,
        "max_frame": MAX_FRAME,
        "called_by_the_host": called,
        "asked_by_the_skill": asked,
        "error": error,
        "$defs": definitions,
    })
}

fn of<T: JsonSchema>(types: &mut SchemaGenerator) -> Value {
    types.subschema_for::<T>().to_value()
}

/// Each variant of [`HostRequest`] is a method; its answer is stated only here.
fn asked(types: &mut SchemaGenerator) -> Map<String, Value> {
    of::<HostRequest>(types);
    let variants = types.definitions()["HostRequest"]["oneOf"].clone();
    let mut methods = Map::new();
    for variant in variants.as_array().unwrap() {
        let name = variant["properties"]["method"]["const"].as_str().unwrap();
        let result = match name {
            "host/read_file" => of::<FileContent>(types),
            "host/glob" => of::<Paths>(types),
            "host/grep" => of::<Matches>(types),
            "host/exec" | "host/git" => of::<Ended>(types),
            "host/fetch" => of::<Fetched>(types),
            "host/env" => of::<Variable>(types),
            "host/llm" => of::<Answered>(types),
            "host/invoke_skill" => of::<ToolOutput>(types),
            "host/write_file" | "host/set_env" | "host/log" => json!({"type": "object"}),
            other => panic!("what is the answer to {other}?"),
        };
        let params = &variant["properties"]["params"];
        let description = &variant["description"];
        let method = json!({"description": description, "params": params, "result": result});
        methods.insert(name.to_owned(), method);
    }
    methods
}
