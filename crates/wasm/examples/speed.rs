//! What a call costs, in figures: `cargo run --release -p metier-wasm --example speed`.
//!
//! The guest answers at once, so that all that is measured is ours: the context, the store, the instance, the way in and out.
#![allow(clippy::print_stdout, reason = "a program that prints figures")]

use std::{
    error::Error,
    fs,
    time::{Duration, Instant},
};

use metier_wasm::{Cache, Limits, Program, Room, compile};
use serde_json::{Value, json};

const CALLS: u32 = 1_000;
const TIME: Duration = Duration::from_secs(10);
/// A reactor that answers with a constant.
const MODULE: &str = r#"(module
    (memory (export "memory") 2)
    (data (i32.const 0) "{\22result\22:{\22output\22:1}}")
    (func (export "metier_alloc") (param i32) (result i32) (i32.const 1024))
    (func (export "metier_answer") (param i32 i32) (result i64) (i64.const 23)))"#;

fn main() -> Result<(), Box<dyn Error>> {
    let module = wat::parse_str(MODULE)?;
    let folder = tempfile::tempdir()?;
    let cache = Cache::new(folder.path().join("wasm"));
    let load = || {
        let compiler = |bytes: &[u8], _| compile(bytes);
        Program::load(
            &module,
            Limits::default(),
            Room::default(),
            Some(&cache),
            &compiler,
        )
    };
    let began = Instant::now();
    load()?;
    let first = began.elapsed();
    let cold = median(50, || load().map(drop))?;
    let program = load()?;
    let call = || {
        let answer = program.call(
            &Value::Null,
            "tool/execute",
            &json!({}),
            &mut |_, _| Ok(Value::Null),
            TIME,
        );
        answer.result.map(drop)
    };
    (0..100).try_for_each(|_| call())?;
    let before = resident()?;
    let warm = median(CALLS, call)?;
    let after = resident()?;
    let figures = json!({
        "first_load_us": micros(first),
        "cached_load_us": micros(cold),
        "warm_call_us": micros(warm),
        "resident_kib_before": before,
        "resident_kib_after_1000": after,
    });
    println!("{figures:#}");
    Ok(())
}

/// The time that is in the middle of many.
fn median<E: Error + 'static>(
    times: u32,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<Duration, Box<dyn Error>> {
    let mut took = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        work()?;
        took.push(began.elapsed());
    }
    took.sort_unstable();
    Ok(took.get(took.len() / 2).copied().unwrap_or_default())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Resident memory, in KiB.
fn resident() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let figure = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(figure.ok_or("no VmRSS")?.parse()?)
}
