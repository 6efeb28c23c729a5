//! Shared code of the tests: WebAssembly text to modules, and one call.

use std::time::Duration;

use metier_sdk::wire::{RpcError, code};
use metier_wasm::{
    WasiRoots, WasmAnswer, WasmCallError, WasmLimits, WasmLoadError, WasmProgram, compile,
};
use serde_json::{Value, json};

/// Longer than any test that is not about time.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// A module or component from its text.
pub(crate) fn wasm(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Loads it with the default limits and roots, compiled in this process.
pub(crate) fn load(text: &str) -> Result<WasmProgram, WasmLoadError> {
    load_with(text, WasmLimits::default(), WasiRoots::default())
}

pub(crate) fn load_with(
    text: &str,
    limits: WasmLimits,
    room: WasiRoots,
) -> Result<WasmProgram, WasmLoadError> {
    WasmProgram::load(&wasm(text), limits, room, None, &|bytes, _| compile(bytes))
}

/// The parameters of `initialize`.
pub(crate) fn about() -> Value {
    json!({"protocol": 1, "skill": "test", "directory": "/skill", "config": null, "permissions": []})
}

/// A host that grants one file, and refuses everything else.
#[expect(clippy::needless_pass_by_value, reason = "as an `Ask` is called")]
pub(crate) fn host(method: &str, params: Value) -> Result<Value, RpcError> {
    if method == "host/read_file" && params["path"] == "notes.md" {
        return Ok(json!({"content": "hello"}));
    }
    Err(RpcError {
        code: code::REFUSED,
        message: format!("{method} is not permitted"),
        data: None,
    })
}

/// Calls it once.
pub(crate) fn call(program: &WasmProgram, method: &str, params: &Value) -> WasmAnswer {
    program.call(&about(), method, params, &mut host, LONG)
}

/// Calls the tool of a module that must load.
pub(crate) fn tool(text: &str) -> Result<Value, WasmCallError> {
    let program = load(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    call(&program, "tool/execute", &json!({"name": "t"})).result
}

/// The message of an expected error.
#[track_caller]
pub(crate) fn trouble(answer: Result<Value, WasmCallError>, expected: &str) {
    let error = answer.expect_err("it went well").to_string();
    assert!(error.contains(expected), "{error}");
}

/// The message of a module that must not load.
#[track_caller]
pub(crate) fn refused(text: &str, expected: &str) {
    let error = load(text).err().expect("it was loaded").to_string();
    assert!(error.contains(expected), "{error}");
}

/// A reactor with this body for `metier_answer` and these definitions before it. Strings from the host are stored at 65536 and
/// after, each at its own address; `$len` is a global with the length of the last one.
pub(crate) fn reactor(definitions: &str, body: &str) -> String {
    format!(
        r#"(module
            (import "metier" "ask" (func $ask (param i32 i32) (result i64)))
            (memory (export "memory") 3)
            (global $next (mut i32) (i32.const 65536))
            {definitions}
            (func (export "metier_alloc") (param $len i32) (result i32)
                (global.get $next)
                (global.set $next (i32.add (global.get $next) (local.get $len))))
            (func (export "metier_answer") (param $ptr i32) (param $len i32) (result i64)
                {body}))"#
    )
}

/// The expression for a string in memory, as address and length.
pub(crate) fn told(address: u32, length: usize) -> String {
    format!("(i64.const {})", u64::from(address) << 32 | length as u64)
}

/// A data segment.
pub(crate) fn data(address: u32, text: &str) -> String {
    let escaped: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    format!("(data (i32.const {address}) \"{escaped}\")")
}
