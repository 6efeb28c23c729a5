//! Modules that loop, grow, return wrong data and fail. Each gets its own error, the host continues, and the next call works.

use std::time::{Duration, Instant};

use metier_wasm::{WasiRoots, WasmCallError, WasmLimits, WasmLoadError, WasmProgram, compile};
use serde_json::json;

use crate::kit::{about, data, host, load, load_with, reactor, refused, told, tool, trouble, wasm};

const SPIN: &str = "(loop $l (br $l)) (unreachable)";

/// Calls it with a short deadline; it must be stopped then.
#[track_caller]
fn too_long(text: &str) {
    let program = load(text).unwrap();
    let began = Instant::now();
    let time = Duration::from_millis(200);
    let answer = program.call(&about(), "tool/execute", &json!({}), &mut host, time);
    let took = began.elapsed();
    assert!(
        matches!(answer.result, Err(WasmCallError::TimedOut(given)) if given == time),
        "{:?}",
        answer.result
    );
    assert!(took >= time, "{took:?}");
}

// case 138
#[test]
fn what_loops_is_ended() {
    too_long(&reactor("", SPIN));
    too_long(&reactor(
        &format!("(func $s {SPIN}) (start $s)"),
        "(i64.const 0)",
    ));
    let initialize = format!(r#"(func (export "_initialize") {SPIN})"#);
    too_long(&reactor(&initialize, "(i64.const 0)"));
    too_long(&format!(
        r#"(module (memory (export "memory") 1) (func (export "_start") {SPIN}))"#
    ));
}

// case 138
#[test]
fn what_asks_for_ever_is_ended() {
    let question = r#"{"method":"host/log","params":{"message":"x"}}"#;
    let definitions = format!(
        "{} (func $again (drop (call $ask (i32.const 0) (i32.const {}))) (global.set $next (i32.const 65536)))",
        data(0, question),
        question.len()
    );
    too_long(&reactor(
        &definitions,
        "(loop $l (call $again) (br $l)) (unreachable)",
    ));
}

// case 138
#[test]
fn who_sleeps_is_woken_at_the_deadline() {
    // One subscription to the clock, for an hour.
    too_long(
        r#"(module
            (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
            (memory (export "memory") 1)
            (func (export "_start")
                (i32.store (i32.const 16) (i32.const 1))
                (i64.store (i32.const 24) (i64.const 3600000000000))
                (drop (call $poll (i32.const 0) (i32.const 128) (i32.const 1) (i32.const 256)))))"#,
    );
}

// case 138
#[test]
fn fuel_is_used_up() {
    let limits = WasmLimits {
        fuel: 1_000_000,
        ..WasmLimits::default()
    };
    let program = load_with(&reactor("", SPIN), limits, WasiRoots::default()).unwrap();
    let answer = program.call(
        &about(),
        "x",
        &json!({}),
        &mut host,
        Duration::from_secs(20),
    );
    assert!(
        matches!(answer.result, Err(WasmCallError::Fuel(1_000_000))),
        "{answer:?}"
    );
}

// case 138
#[test]
fn memory_is_not_for_the_taking() {
    let grow = "(if (i32.eq (memory.grow (i32.const 65000)) (i32.const -1)) (then (unreachable))) (i64.const 0)";
    trouble(tool(&reactor("", grow)), "needs more memory than 64 MiB");
    // Page by page, to the end.
    let bit =
        "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (unreachable)";
    trouble(tool(&reactor("", bit)), "needs more memory than 64 MiB");
    let second = "(memory $second 1100)";
    trouble(tool(&reactor(second, "(i64.const 0)")), "memory");
    let table = "(table $t 1 funcref) (func $f)";
    let grow = "(if (i32.eq (table.grow $t (ref.null func) (i32.const 10000000)) (i32.const -1)) (then (unreachable))) (i64.const 0)";
    trouble(tool(&reactor(table, grow)), "unreachable");
}

// case 140
#[test]
fn traps_are_reported() {
    let cases = [
        ("(unreachable)", "`unreachable` instruction executed"),
        ("(i64.load (i32.const -8))", "out of bounds memory access"),
        (
            "(i64.div_s (i64.const 1) (i64.const 0))",
            "integer divide by zero",
        ),
        (
            "(call_indirect $t (result i64) (i32.const 0))",
            "uninitialized element",
        ),
        (
            "(call_indirect $t (result i64) (i32.const 7))",
            "out of bounds table access",
        ),
        ("(call $deep)", "call stack exhausted"),
    ];
    let definitions =
        "(table $t 1 funcref) (func $deep (result i64) (i64.add (call $deep) (i64.const 1)))";
    for (body, expected) in cases {
        trouble(tool(&reactor(definitions, body)), expected);
    }
}

// case 140
#[test]
fn lies_about_addresses_are_found_out() {
    let text = r#"{"result":1}"#;
    let at = |address: u64, length: u64| {
        format!("(i64.const {})", (address << 32 | length).cast_signed())
    };
    let cases = [
        (at(0xffff_fff0, 12), "the memory ends before that"),
        (at(196_600, 100), "the memory ends before that"),
        (at(0, 0xffff_ffff), "the limit for a message is"),
        (at(0, 5 << 20), "the limit for a message is"),
        (at(0, 0), "a malformed answer"),
        (at(1, 4), "a malformed answer"),
    ];
    for (body, expected) in cases {
        trouble(tool(&reactor(&data(0, text), &body)), expected);
    }
    let utf8 = "(data (i32.const 0) \"{\\22result\\22:\\22\\ff\\fe\\22}\")";
    trouble(tool(&reactor(utf8, &told(0, 15))), "a malformed answer");
    // Requests, as well.
    for (ptr, len) in [(-1, 10), (0, -1), (196_600, 100)] {
        let body = format!("(call $ask (i32.const {ptr}) (i32.const {len}))");
        trouble(tool(&reactor("", &body)), "its question");
    }
}

// case 140
#[test]
fn an_allocator_that_lies_or_asks_is_found_out() {
    let module = |alloc: &str| {
        format!(
            r#"(module
                (import "metier" "ask" (func $ask (param i32 i32) (result i64)))
                (memory (export "memory") 1)
                {}
                (func (export "metier_alloc") (param i32) (result i32) {alloc})
                (func (export "metier_answer") (param i32 i32) (result i64) (i64.const 0)))"#,
            data(0, r#"{"method":"host/log","params":{"message":"x"}}"#)
        )
    };
    for garbage in ["(i32.const -1)", "(i32.const 65530)"] {
        trouble(
            tool(&module(garbage)),
            "bytes don't fit into the memory there",
        );
    }
    let asks = "(drop (call $ask (i32.const 0) (i32.const 46))) (i32.const 0)";
    trouble(tool(&module(asks)), "`metier_alloc` must not ask the host");
    trouble(tool(&module("(unreachable)")), "unreachable");
}

// case 141
#[test]
fn other_files_than_webassembly_are_not_run() {
    let load = |bytes: &[u8]| {
        let loaded = WasmProgram::load(
            bytes,
            WasmLimits::default(),
            WasiRoots::default(),
            None,
            &|bytes, _| compile(bytes),
        );
        loaded.err().expect("it was loaded")
    };
    let code = compile(&wasm("(module)")).unwrap();
    assert!(matches!(load(code.as_bytes()), WasmLoadError::Precompiled));
    assert!(matches!(
        load(b"\x7fELF garbage"),
        WasmLoadError::Garbage(_)
    ));
    let mut broken = wasm(&reactor("", "(i64.const 0)"));
    broken.truncate(broken.len() - 3);
    assert!(matches!(
        load(&broken),
        WasmLoadError::Garbage(_) | WasmLoadError::Compile(_)
    ));
    let mut large = b"\0asm\x01\0\0\0\0".to_vec();
    large.resize(65 << 20, 0);
    assert!(matches!(load(&large), WasmLoadError::TooLarge { .. }));
}

// case 138
#[test]
fn bombs_are_refused_or_compiled() {
    let many: String = (0..100_000).map(|_| "(func)").collect();
    refused(&format!("(module {many})"), "has more than 65536 functions");
    let depth = 10_000;
    let nested = format!(
        "{}{}(i64.const 0)",
        "(block ".repeat(depth),
        ")".repeat(depth)
    );
    // Deep, and harmless: it is compiled without recursion, and returns nothing useful.
    trouble(tool(&reactor("", &nested)), "a malformed answer");
}

// case 139
#[test]
fn unknown_imports_are_named() {
    let strange = r#"(module (import "env" "system" (func (param i32) (result i32))) (import "env" "exec" (func)) (func (export "_start")))"#;
    refused(
        strange,
        "imports items that are not available to skills: `env.system`, `env.exec`",
    );
    let unknown =
        r#"(module (import "wasi_snapshot_preview1" "fork" (func)) (func (export "_start")))"#;
    refused(unknown, "`wasi_snapshot_preview1.fork`");
    let mistyped =
        r#"(module (import "wasi_snapshot_preview1" "fd_write" (func)) (func (export "_start")))"#;
    refused(mistyped, "incompatible import type");
    let memory = r#"(module (import "metier" "memory" (memory 1)) (func (export "_start")))"#;
    refused(memory, "`metier.memory`");
}
