//! `bench host`, second part: the cost of WebAssembly, libraries and hooks in TypeScript.
//!
//! Each backend is measured by a driver. Deno is measured next to our engine in the same minutes, alone and in our sandbox; where it isn't
//! installed (`cargo xtask test` does that), those rows report that.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::host::{ms, us};
use super::table::{BenchRow, BenchTable};
use super::{Bench, Figures, driver};
use crate::{Result, workspace};

/// The targets that are built before the measurement: package and bench target.
pub(super) const DRIVERS: &[(&str, &str)] = &[
    ("metier-runtime", "live"),
    ("metier-runtime", "native"),
    ("metier-runtime", "engines"),
    ("metier-wasm", "speed"),
];

const WASM_CALL_US: f64 = 50.0;
const WASM_LOAD_MS: f64 = 2.0;
/// The additional memory that the process may use after a thousand instances.
const GROWTH_MB: f64 = 1.0;
const NATIVE_CALL_US: f64 = 150.0;
const JS_COLD_MS: f64 = 4.5;
const JS_WARM_US: f64 = 300.0;
/// The minimum factor by which Deno is slower.
const AHEAD_OF_DENO: f64 = 4.0;
/// The maximum factor by which Deno may be slower in our sandbox.
const BEHIND_THE_FENCE: f64 = 1.1;

pub(super) fn measure(bench: &Bench, table: &mut BenchTable) -> Result<()> {
    wasm(table)?;
    native(bench, table)?;
    engines(bench, table)
}

fn wasm(table: &mut BenchTable) -> Result<()> {
    let component = workspace::target()?.join("guests/word_count.wasm");
    let mut command = Command::new(driver("speed")?);
    let there = component.exists();
    if there {
        command.arg(&component);
    }
    let figures = Figures::of(&mut command)?;
    let kinds = [
        ("wasm", "wasm, a module that answers immediately"),
        ("component", "wasm, word-count"),
    ];
    for (name, what) in kinds.into_iter().take(if there { 2 } else { 1 }) {
        let value = |part: &str| figures.value(&format!("{name}_{part}"));
        let (call, load) = (value("call_us")?, value("cached_ms")?);
        let what = format!("{what}: call, instance included");
        // The budget is for our part. The first guest does nothing; the second one's own work is measured separately.
        table.push(match value("own_us") {
            Ok(own) => BenchRow::new(&format!("{what} / its own work"))
                .ours(us(call))
                .floor(us(own))
                .value(format!("+{:.0} µs", call - own))
                .budget(call - own, WASM_CALL_US, "µs more"),
            Err(_) => BenchRow::new(&what)
                .ours(us(call))
                .budget(call, WASM_CALL_US, "µs"),
        });
        table.push(
            BenchRow::new("- loaded from the cache")
                .ours(ms(load))
                .budget(load, WASM_LOAD_MS, "ms"),
        );
        table.push(BenchRow::new("- compiled first").ours(ms(value("first_ms")?)));
        let growth = value("growth_mb")?;
        table.push(
            BenchRow::new("- 1,000 instances, memory")
                .value(format!("{growth:+.2} MB"))
                .budget(growth, GROWTH_MB, "MB more"),
        );
    }
    Ok(())
}

/// The word-count of the examples, as a library and as a program.
fn native(bench: &Bench, table: &mut BenchTable) -> Result<()> {
    let target = workspace::target()?.join("word-count");
    let status = workspace::cargo()
        .args(["build", "--release", "--quiet", "--locked"])
        .current_dir(workspace::root().join("examples/word-count"))
        .arg("--target-dir")
        .arg(&target)
        .status()?;
    if !status.success() {
        return Err("`examples/word-count` does not build".into());
    }
    let built = target.join("release");
    let mut command = Command::new(driver("native")?);
    command
        .arg(&bench.metier)
        .arg(built.join("libword_count.so"));
    let figures = Figures::of(command.arg(built.join("word-count")))?;
    let rows = [
        ("native: there and back / as a program", "call_us"),
        ("- with one question to the host", "asking_call_us"),
    ];
    for (what, name) in rows {
        let (native, process) = (
            figures.value(&format!("native_{name}"))?,
            figures.value(&format!("process_{name}"))?,
        );
        table.push(
            BenchRow::new(what)
                .ours(us(native))
                .floor(us(process))
                .value(format!("{:.2}", native / process))
                .budget(native, NATIVE_CALL_US, "µs"),
        );
    }
    let start = figures.value("native_start_us")? / 1e3;
    table.push(BenchRow::new("- from its start to what it contributes").ours(ms(start)));
    Ok(())
}

/// One handler in TypeScript: in our engine, in Deno in our sandbox, in Deno alone.
fn engines(bench: &Bench, table: &mut BenchTable) -> Result<()> {
    let Some(deno) = deno()? else {
        table.push(BenchRow::new("hooks in TypeScript").value("no Deno: cargo xtask test".into()));
        return Ok(());
    };
    let folder = bench.path().join("engines");
    fs::create_dir_all(&folder)?;
    let mut command = Command::new(driver("engines")?);
    let figures = Figures::of(command.arg(&bench.metier).arg(deno).arg(&folder))?;
    let value = |name: &str| figures.value(name);
    let (worker, whole) = (value("js_worker_cold_ms")?, value("js_cold_ms")?);
    let (fenced, alone) = (value("deno_cold_ms")?, value("deno_alone_ms")?);
    table.push(
        BenchRow::new("hook in TypeScript, cold: worker and event")
            .ours(ms(worker))
            .budget(worker, JS_COLD_MS, "ms"),
    );
    table.push(
        BenchRow::new("- judged and granted as well / `deno run`")
            .ours(ms(whole))
            .floor(ms(alone))
            .value(format!("{:.1} times faster", alone / whole))
            .budget(AHEAD_OF_DENO * whole / alone, 1.0, "of a quarter"),
    );
    let warm = value("js_warm_us")?;
    table.push(
        BenchRow::new("- each further event, with its receipt / Deno")
            .ours(us(warm))
            .floor(us(value("deno_warm_us")?))
            .budget(warm, JS_WARM_US, "µs"),
    );
    table.push(
        BenchRow::new("hook in Deno behind our fence / `deno run`")
            .ours(ms(fenced))
            .floor(ms(alone))
            .value(format!("{:.2}", fenced / alone))
            .budget(fenced / alone, BEHIND_THE_FENCE, "times"),
    );
    Ok(())
}

/// The folder in which `cargo xtask test` installed it, if it did.
fn deno() -> Result<Option<PathBuf>> {
    let deno = workspace::target()?.join("python/bin/deno");
    Ok(deno.exists().then_some(deno))
}
