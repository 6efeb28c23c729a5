//! Core modules that are called.

use metier_wasm::WasmCallError;
use serde_json::json;

use crate::kit::{call, data, load, reactor, refused, told, tool, trouble};

const ANSWER: &str = r#"{"result":{"output":"hi"}}"#;

#[test]
fn it_answers_from_its_memory() {
    let text = reactor(&data(0, ANSWER), &told(0, ANSWER.len()));
    assert_eq!(tool(&text).unwrap(), json!({"output": "hi"}));
}

#[test]
fn what_it_is_asked_is_what_it_can_answer() {
    // The request, to which it replies itself: a `params` of `{"result": …}` at another address would do as well, but
    // this is the whole request, which has neither a result nor an error.
    let echo = "(i64.or (i64.shl (i64.extend_i32_u (local.get $ptr)) (i64.const 32)) (i64.extend_i32_u (local.get $len)))";
    trouble(
        tool(&reactor("", echo)),
        "neither a `result` nor an `error`",
    );
}

#[test]
fn an_error_is_the_error_of_the_protocol() {
    let text = r#"{"error":{"code":-32602,"message":"no such tool","data":{"name":"t"}}}"#;
    let answer = tool(&reactor(&data(0, text), &told(0, text.len())));
    let Err(WasmCallError::Answered(error)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!((error.code, &*error.message), (-32602, "no such tool"));
    assert_eq!(error.data, Some(json!({"name": "t"})));
}

/// A reactor that returns the host's answer to this request.
fn asks(question: &str) -> String {
    let length = question.len();
    reactor(
        &data(0, question),
        &format!("(call $ask (i32.const 0) (i32.const {length}))"),
    )
}

#[test]
fn it_asks_and_is_answered_or_refused() {
    let read =
        |path: &str| format!(r#"{{"method":"host/read_file","params":{{"path":"{path}"}}}}"#);
    assert_eq!(
        tool(&asks(&read("notes.md"))).unwrap(),
        json!({"content": "hello"})
    );
    let answer = tool(&asks(&read("/etc/passwd")));
    assert!(
        matches!(&answer, Err(WasmCallError::Answered(error)) if error.is_refused()),
        "{answer:?}"
    );
    trouble(tool(&asks("garbage")), "this is not a request");
}

#[test]
fn nothing_is_left_for_the_next_call() {
    let one = r#"{"result":1}"#;
    let definitions = format!("(global $calls (mut i32) (i32.const 0)) {}", data(0, one));
    let body = format!(
        "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
         (i32.store8 (i32.const 10) (i32.add (i32.const 48) (global.get $calls)))
         {}",
        told(0, one.len())
    );
    let program = load(&reactor(&definitions, &body)).unwrap();
    for _ in 0..3 {
        assert_eq!(
            call(&program, "tool/execute", &json!({})).result.unwrap(),
            1
        );
    }
}

#[test]
fn initialize_is_called_first() {
    let one = r#"{"result":1}"#;
    let definitions = format!(
        r#"{} (func (export "_initialize") (i32.store8 (i32.const 10) (i32.const 55)))"#,
        data(0, one)
    );
    assert_eq!(
        tool(&reactor(&definitions, &told(0, one.len()))).unwrap(),
        7
    );
}

#[test]
fn the_error_about_missing_exports_names_them() {
    refused("(module)", "exports neither `metier_answer` nor `_start`");
    let only =
        r#"(module (func (export "metier_answer") (param i32 i32) (result i64) (i64.const 0)))"#;
    refused(only, "exports `metier_answer`, but no `memory`");
    let wrong = r#"(module (memory (export "memory") 1)
        (func (export "metier_alloc") (result i32) (i32.const 0))
        (func (export "metier_answer") (param i32 i32) (result i64) (i64.const 0)))"#;
    refused(wrong, "no function `metier_alloc: (i32) -> (i32)`");
}
