//! What a call costs, for `cargo xtask bench host`: each line is a name and a number.
//!
//! `speed [COMPONENT]`: a guest that answers at once, so that all that is measured is ours: the context, the store, the instance, the way
//! in and out. And a component, if there is one: the word-count of the examples, which does something.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

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
    let folder = tempfile::tempdir()?;
    let cache = Cache::new(folder.path().join("wasm"));
    measure("wasm", &wat::parse_str(MODULE)?, &json!({}), &cache)?;
    if let Some(component) = std::env::args_os().nth(1) {
        let input = json!({"name": "count", "input": {"text": "one two\nthree\n"}});
        measure("component", &fs::read(component)?, &input, &cache)?;
    }
    Ok(())
}

fn measure(name: &str, module: &[u8], params: &Value, cache: &Cache) -> Result<(), Box<dyn Error>> {
    let load = || {
        let compiler = |bytes: &[u8], _| compile(bytes);
        Program::load(
            module,
            Limits::default(),
            Room::default(),
            Some(cache),
            &compiler,
        )
    };
    let began = Instant::now();
    load()?;
    tell(
        &format!("{name}_first_ms"),
        began.elapsed().as_secs_f64() * 1e3,
    );
    let cached = median(50, || load().map(drop))?;
    tell(&format!("{name}_cached_ms"), cached.as_secs_f64() * 1e3);
    let program = load()?;
    let call = || {
        let answer = program.call(
            &json!({"protocol": 1, "skill": "x", "directory": "/"}),
            "tool/execute",
            params,
            &mut |_, _| Ok(Value::Null),
            TIME,
        );
        answer.result.map(drop)
    };
    (0..100).try_for_each(|_| call())?;
    let before = resident_mb()?;
    let warm = median(CALLS, call)?;
    tell(&format!("{name}_call_us"), warm.as_secs_f64() * 1e6);
    tell(&format!("{name}_growth_mb"), resident_mb()? - before);
    Ok(())
}

fn tell(name: &str, value: f64) {
    println!("{name} {value:.3}");
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

/// Resident memory.
fn resident_mb() -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let figure = line.and_then(|line| line.split_whitespace().nth(1));
    let kib: f64 = figure.ok_or("no VmRSS")?.parse()?;
    Ok(kib / 1024.0)
}
