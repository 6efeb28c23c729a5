//! The cost of a call, for `cargo xtask bench host`: each line is a name and a number.
//!
//! `speed [COMPONENT]`: a module that answers immediately, so that only our own code is measured: the context, the store, the instance,
//! input and output. And a component, if there is one: the word-count of the examples, which does real work. How much of a call is its own
//! work is measured with an instance that is kept, and called again and again.
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::{
    error::Error,
    fs,
    time::{Duration, Instant},
};

use metier_wasm::{Cache, WasiRoots, WasmLimits, WasmProgram, compile};
use serde_json::{Value, json};
use wasmtime::{
    Config, Engine, Store,
    component::{Component, ComponentType, Lift, Linker, ResourceTable},
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

const CALLS: u32 = 1_000;
const TIME: Duration = Duration::from_secs(10);
const METHOD: &str = "tool/execute";
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
        let component = fs::read(component)?;
        measure("component", &component, &input, &cache)?;
        let own = own_work(&component, &input)?;
        tell("component_own_us", own.as_secs_f64() * 1e6);
    }
    Ok(())
}

fn measure(name: &str, module: &[u8], params: &Value, cache: &Cache) -> Result<(), Box<dyn Error>> {
    let load = || {
        let compiler = |bytes: &[u8], _| compile(bytes);
        WasmProgram::load(
            module,
            WasmLimits::default(),
            WasiRoots::default(),
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
        let answer = program.call(&about(), METHOD, params, &mut |_, _| Ok(Value::Null), TIME);
        answer.result.map(drop)
    };
    (0..100).try_for_each(|_| call())?;
    let before = resident_mb()?;
    let warm = median(CALLS, call)?;
    tell(&format!("{name}_call_us"), warm.as_secs_f64() * 1e6);
    tell(&format!("{name}_growth_mb"), resident_mb()? - before);
    Ok(())
}

/// The parameters of `initialize`.
fn about() -> Value {
    json!({"protocol": 1, "skill": "x", "directory": "/"})
}

/// The state that an instance keeps: none.
#[derive(Default)]
struct Guest {
    context: WasiCtx,
    table: ResourceTable,
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.context,
            table: &mut self.table,
        }
    }
}

/// The record `problem` of the world.
#[derive(Debug, ComponentType, Lift)]
#[component(record)]
#[expect(dead_code, reason = "it is shown as a whole")]
struct Problem {
    code: i32,
    message: String,
    data: Option<String>,
}

/// How long a component takes by itself: no context, no store, no instance is created for it.
fn own_work(component: &[u8], params: &Value) -> Result<Duration, Box<dyn Error>> {
    // Its code counts fuel and can be interrupted, as ours does.
    let mut config = Config::new();
    config.consume_fuel(true).epoch_interruption(true);
    let engine = Engine::new(&config)?;
    let component = Component::new(&engine, component)?;
    let mut linker = Linker::<Guest>::new(&engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    linker.define_unknown_imports_as_traps(&component)?;
    let mut store = Store::new(&engine, Guest::default());
    store.set_fuel(u64::MAX)?;
    store.set_epoch_deadline(u64::MAX / 2);
    let instance = linker.instantiate(&mut store, &component)?;
    type Answer = (Result<String, Problem>,);
    let answer = instance.get_typed_func::<(&str, &str, &str), Answer>(&mut store, "answer")?;
    let (about, params) = (about().to_string(), params.to_string());
    let mut call = || -> Result<(), Box<dyn Error>> {
        let (answered,) = answer.call(&mut store, (&about, METHOD, &params))?;
        answered
            .map(drop)
            .map_err(|problem| format!("{problem:?}").into())
    };
    (0..100).try_for_each(|_| call())?;
    median(CALLS, call)
}

fn tell(name: &str, value: f64) {
    println!("{name} {value:.3}");
}

/// The median of the times.
fn median<E: Into<Box<dyn Error>>>(
    times: u32,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<Duration, Box<dyn Error>> {
    let mut took = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        work().map_err(Into::into)?;
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
