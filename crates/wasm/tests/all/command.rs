//! Programs that speak the wire protocol on their standard streams.

use metier_wasm::{WasiRoots, WasmCallError, WasmLimits};
use serde_json::json;

use crate::kit::{LONG, about, call, data, load, load_with, trouble};

/// A program with `$read`, which stores a line at 4096 and returns its length, and `$write`.
fn command(definitions: &str, body: &str) -> String {
    format!(
        r#"(module
            (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 4)
            {definitions}
            (func $read (result i32)
                (i32.store (i32.const 3000) (i32.const 4096))
                (i32.store (i32.const 3004) (i32.const 60000))
                (if (call $fd_read (i32.const 0) (i32.const 3000) (i32.const 1) (i32.const 3008))
                    (then (unreachable)))
                (i32.load (i32.const 3008)))
            (func $put (param $fd i32) (param $ptr i32) (param $len i32)
                (loop $more
                    (i32.store (i32.const 3000) (local.get $ptr))
                    (i32.store (i32.const 3004) (local.get $len))
                    (if (call $fd_write (local.get $fd) (i32.const 3000) (i32.const 1) (i32.const 3008))
                        (then (unreachable)))
                    (local.set $ptr (i32.add (local.get $ptr) (i32.load (i32.const 3008))))
                    (local.set $len (i32.sub (local.get $len) (i32.load (i32.const 3008))))
                    (br_if $more (local.get $len))))
            (func $write (param i32 i32) (call $put (i32.const 1) (local.get 0) (local.get 1)))
            (func (export "_start") {body}))"#
    )
}

const HELLO: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"t\"}]}}\n";
const ASK: &str = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"host/read_file\",\"params\":{\"path\":\"notes.md\"}}\n";
const HEAD: &str = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"output\":";
const BYE: &str = "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n";

/// A program that does everything in order: it is initialised, gets a call, sends a request, returns the host's answer, and ends.
fn orderly() -> String {
    let texts = [
        (0, HELLO),
        (256, ASK),
        (512, HEAD),
        (768, "}}\n"),
        (1024, BYE),
    ];
    let definitions: String = texts.iter().map(|(at, text)| data(*at, text)).collect();
    let write =
        |at: u32, text: &str| format!("(call $write (i32.const {at}) (i32.const {}))", text.len());
    let body = format!(
        "(local $n i32)
         (drop (call $read)) {} (drop (call $read)) {}
         (local.set $n (call $read))
         {} (call $write (i32.const 4096) (i32.sub (local.get $n) (i32.const 1))) {}
         (drop (call $read)) {}
         (if (call $read) (then (unreachable)))
         (if (call $read) (then (unreachable)))",
        write(0, HELLO),
        write(256, ASK),
        write(512, HEAD),
        write(768, "}}\n"),
        write(1024, BYE)
    );
    command(&definitions, &body)
}

#[test]
fn it_is_talked_to_like_a_process() {
    let program = load(&orderly()).unwrap();
    assert_eq!(program.carrier(), "command");
    let hello = call(&program, "initialize", &about());
    // It expects another call, but gets a shutdown: its answers so far count.
    assert_eq!(hello.result.unwrap()["tools"][0]["name"], "t");
    let answer = call(&program, "tool/execute", &json!({"name": "t"}))
        .result
        .unwrap();
    assert_eq!(answer["output"]["result"]["content"], "hello", "{answer}");
    assert_eq!(answer["output"]["id"], 9);
}

#[test]
fn who_ends_without_an_answer_has_none() {
    let program = load(&command("", "")).unwrap();
    let answer = call(&program, "tool/execute", &json!({}));
    assert!(
        matches!(answer.result, Err(WasmCallError::Exited(0))),
        "{answer:?}"
    );
    let program = load(&command("", "(call $exit (i32.const 3))")).unwrap();
    let answer = call(&program, "tool/execute", &json!({}));
    assert!(
        matches!(answer.result, Err(WasmCallError::Exited(3))),
        "{answer:?}"
    );
}

#[test]
fn who_can_not_be_initialized_answers_nothing() {
    let text = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"no\"}}\n";
    let body = format!("(call $write (i32.const 0) (i32.const {}))", text.len());
    let program = load(&command(&data(0, text), &body)).unwrap();
    let answer = call(&program, "tool/execute", &json!({}));
    assert!(
        matches!(answer.result, Err(WasmCallError::Answered(_))),
        "{answer:?}"
    );
}

#[test]
fn floods_are_bounded() {
    // A line without an end.
    let endless = "(loop $l (call $write (i32.const 8192) (i32.const 65536)) (br $l))";
    let answer = call(&load(&command("", endless)).unwrap(), "x", &json!({}));
    trouble(answer.result, "a line is longer than 4194304 bytes");
    // Invalid lines.
    let definitions = data(0, "garbage\n");
    let lines = "(loop $l (call $write (i32.const 0) (i32.const 8)) (br $l))";
    let answer = call(
        &load(&command(&definitions, lines)).unwrap(),
        "x",
        &json!({}),
    );
    assert!(
        answer
            .said
            .bytes
            .starts_with(b"not a message, on standard output: garbage\n")
    );
    trouble(
        answer.result,
        "more than 1000 unexpected messages in one call",
    );
    // Standard error.
    let errors = "(loop $l (call $put (i32.const 2) (i32.const 8192) (i32.const 65536)) (br $l))";
    let limits = WasmLimits {
        fuel: 20_000,
        ..WasmLimits::default()
    };
    let program = load_with(&command("", errors), limits, WasiRoots::default()).unwrap();
    let answer = program.call(&about(), "x", &json!({}), &mut crate::kit::host, LONG);
    assert!(
        answer.said.bytes.len() <= 64 * 1024 && answer.said.more > 1_000_000,
        "{}",
        answer.said.more
    );
    trouble(answer.result, "used up its fuel");
}

#[test]
fn what_it_complains_about_is_kept() {
    let body = "(call $put (i32.const 2) (i32.const 0) (i32.const 6))";
    let answer = call(
        &load(&command(&data(0, "alas!\n"), body)).unwrap(),
        "x",
        &json!({}),
    );
    assert_eq!(answer.said.bytes, b"alas!\n");
}
