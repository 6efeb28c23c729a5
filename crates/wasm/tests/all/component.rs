//! Components of the world `metier:skill/skill`, and of others.

use metier_wasm::WasmCallError;
use serde_json::json;

use crate::kit::{call, load, refused, tool, trouble};

const HOST: &str = r#"
    (type $host-type (instance
        (type $text string)
        (export "json" (type $json (eq $text)))
        (type $maybe (option $json))
        (type $record (record (field "code" s32) (field "message" string) (field "data" $maybe)))
        (export "problem" (type $problem (eq $record)))
        (type $answer (result $json (error $problem)))
        (export "ask" (func (param "method" string) (param "params" $json) (result $answer)))))
    (import "metier:skill/host@0.1.0" (instance $host (type $host-type)))
    (alias export $host "problem" (type $problem))
    (core module $memory
        (memory (export "memory") 4)
        (global $next (mut i32) (i32.const 65536))
        (func (export "realloc") (param i32 i32 i32 i32) (result i32)
            (global.set $next (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
            (global.get $next)
            (global.set $next (i32.add (global.get $next) (local.get 3)))))
    (core instance $memory (instantiate $memory))
    (alias core export $memory "memory" (core memory $bytes))
    (alias core export $memory "realloc" (core func $realloc))
    (core func $ask (canon lower (func $host "ask") (memory $bytes) (realloc $realloc)))
"#;

/// A component whose `answer` does this, and leaves the address of its result.
fn component(before: &str, imports: &str, with: &str, data: &str, body: &str) -> String {
    format!(
        r#"(component
            {HOST}
            {before}
            (core module $main
                (import "memory" "memory" (memory 1))
                (import "host" "ask" (func $ask (param i32 i32 i32 i32 i32)))
                {imports}
                {data}
                (func (export "answer") (param i32 i32 i32 i32 i32 i32) (result i32) {body}))
            (core instance $main (instantiate $main
                (with "memory" (instance $memory))
                (with "host" (instance (export "ask" (func $ask))))
                {with}))
            (func $answer (param "about" string) (param "method" string) (param "params" string)
                (result (result string (error $problem)))
                (canon lift (core func $main "answer") (memory $bytes) (realloc $realloc)))
            (export "answer" (func $answer)))"#
    )
}

/// A component that answers with these bytes.
fn says(bytes: &str, length: usize) -> String {
    let body = format!(
        "(i32.store (i32.const 4) (i32.const 1024)) (i32.store (i32.const 8) (i32.const {length})) (i32.const 0)"
    );
    component(
        "",
        "",
        "",
        &format!(r#"(data (i32.const 1024) "{bytes}")"#),
        &body,
    )
}

/// A component that returns the host's answer.
fn asks(path: &str) -> String {
    let params = format!(r#"{{\22path\22:\22{path}\22}}"#);
    let length = format!(r#"{{"path":"{path}"}}"#).len();
    let data = format!(r#"(data (i32.const 1024) "host/read_file{params}")"#);
    let body = format!(
        "(call $ask (i32.const 1024) (i32.const 14) (i32.const 1038) (i32.const {length}) (i32.const 0)) (i32.const 0)"
    );
    component("", "", "", &data, &body)
}

#[test]
fn it_answers_and_asks() {
    let program = load(&says(r#"{\22output\22:\22hi\22}"#, 15)).unwrap();
    assert_eq!(program.carrier(), "component");
    assert_eq!(
        call(&program, "tool/execute", &json!({})).result.unwrap(),
        json!({"output": "hi"})
    );
    assert_eq!(
        tool(&asks("notes.md")).unwrap(),
        json!({"content": "hello"})
    );
    let answer = tool(&asks("/etc/passwd"));
    assert!(
        matches!(&answer, Err(WasmCallError::Answered(error)) if error.is_refused()),
        "{answer:?}"
    );
}

// case 140
#[test]
fn texts_that_are_none_are_found_out() {
    trouble(tool(&says(r"\ff\fe", 2)), "invalid utf-8");
    trouble(tool(&says("{", 1)), "sent a malformed answer");
    trouble(tool(&says("", 0x7fff_ffff)), "out of bounds");
    trouble(
        tool(&component("", "", "", "", "(i32.const -4)")),
        "out of bounds",
    );
    trouble(
        tool(&component("", "", "", "", "(unreachable)")),
        "unreachable",
    );
    // A request with a wrong length.
    let lie = "(call $ask (i32.const 1024) (i32.const -1) (i32.const 0) (i32.const 0) (i32.const 0)) (i32.const 0)";
    trouble(tool(&component("", "", "", "", lie)), "out of bounds");
    // The same address for the answer, and an address beyond the end.
    let beyond = "(call $ask (i32.const 0) (i32.const 1) (i32.const 0) (i32.const 1) (i32.const -4)) (i32.const 0)";
    trouble(tool(&component("", "", "", "", beyond)), "out of bounds");
}

// case 139
#[test]
fn sockets_can_be_imported_and_not_used() {
    let before = r#"
        (import "wasi:sockets/instance-network@0.2.0" (instance $net (export "connect-anywhere" (func))))
        (core func $go (canon lower (func $net "connect-anywhere")))"#;
    let imports = r#"(import "net" "go" (func $go))"#;
    let with = r#"(with "net" (instance (export "go" (func $go))))"#;
    let text = |body: &str| component(before, imports, with, "", body);
    trouble(
        tool(&text("(call $go) (i32.const 0)")),
        "wasi:sockets/instance-network@0.2.0",
    );
    trouble(tool(&text("(unreachable)")), "unreachable");
}

#[test]
fn components_of_other_worlds_are_refused() {
    refused("(component)", "does not export a function `answer`");
    refused(
        r#"(component (import "acme:lib/shell@1.0.0" (instance (export "run" (func)))))"#,
        "`acme:lib/shell@1.0.0`",
    );
    refused(
        r#"(component (import "wasi:http/outgoing-handler@0.2.0" (instance (export "handle" (func)))))"#,
        "`wasi:http/outgoing-handler@0.2.0`",
    );
    let mistyped = r#"(component
        (core module $m (func (export "answer") (result i32) (i32.const 1)))
        (core instance $i (instantiate $m))
        (func $answer (result u32) (canon lift (core func $i "answer")))
        (export "answer" (func $answer)))"#;
    refused(mistyped, "does not export a function `answer`");
}
