//! `bench host`: the cost of a running skill, from its activation to its end.
//!
//! A driver of the runtime does all of it in one process, as the program does, and prints medians; each run is a separate process, and a
//! row is the minimum of the runs: disks and cores that other processes use can only add time. A caller that waits for a worker waits for
//! the kernel to wake it, which takes several times as long on a sleeping core as on the one where the caller just ran. So some rows are
//! measured a second time with everything on one core: the difference is due to the machine.

use std::process::Command;

use super::options::BenchOptions;
use super::table::{BenchRow, BenchTable};
use super::{Bench, Figures, driver, rows};
use crate::Result;

/// A skill in its own process that does nothing, so that only the way there and back is measured.
const CHILD: &str = r##"use std::io::{BufRead, Write};

fn main() {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let id = line.split("\"id\":").nth(1).and_then(|rest| rest.split([',', '}']).next());
        let result = match line.contains(r#""method":"initialize""#) {
            true => r#"{"tools":[{"name":"greet"}],"hooks":["before_tool_call"]}"#,
            false => "{}",
        };
        let id = id.unwrap_or("null");
        if writeln!(out, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).is_err() {
            return;
        }
    }
}
"##;

const ACTIVATE_MS: f64 = 8.0;
const CALL_US: f64 = 150.0;
/// The maximum cost of recording an act, before it and after it.
const ACT_US: f64 = 60.0;
const HOOKS_MS: f64 = 1.0;
/// The additional memory that a process may use after all cycles, for its records of each.
const GROWTH_MB: f64 = 4.0;

pub(super) fn measure(bench: &Bench, options: &BenchOptions, table: &mut BenchTable) -> Result<()> {
    rows::program(table, &bench.start_up(options)?, bench.size_of_metier()?);
    let child = bench.compile("child", CHILD)?;
    let (runs, cycles) = if options.quick { (1, 100) } else { (3, 1_000) };
    let (mut free, mut bound) = (Vec::new(), Vec::new());
    for run in 0..runs {
        eprintln!("run {} of {runs}", run + 1);
        // Both cores in turn; one of them may be busy.
        let core = (run % 2).to_string();
        let mut taskset = Command::new("taskset");
        taskset.args(["-c", &core]).arg(driver("live")?);
        let commands = [Command::new(driver("live")?), taskset];
        for (kind, mut command) in commands.into_iter().enumerate() {
            let folder = bench.path().join(format!("live-{run}-{kind}"));
            std::fs::create_dir_all(&folder)?;
            let cycles = if run == 0 && kind == 0 { cycles } else { 1 };
            command.arg(&bench.metier).arg(&child).arg(&folder);
            let figures = Figures::of(command.arg(cycles.to_string()))?;
            if kind == 0 { &mut free } else { &mut bound }.push(figures);
            std::fs::remove_dir_all(&folder)?;
        }
    }
    let cycled = |name: &str| free.first().ok_or("nothing was measured")?.value(name);
    let (free, bound) = (
        |name: &str| least(&free, name),
        |name: &str| least(&bound, name),
    );
    activation(table, free)?;
    calls(table, free, bound)?;
    processes(table, free, bound)?;
    hooks(table, free, bound)?;
    cycling(table, cycles, cycled)
}

fn least(runs: &[Figures], name: &str) -> Result<f64> {
    let values = runs.iter().map(|figures| figures.value(name));
    let values = values.collect::<Result<Vec<f64>>>()?;
    let least = values.into_iter().min_by(f64::total_cmp);
    Ok(least.ok_or("nothing was measured")?)
}

fn activation(table: &mut BenchTable, value: impl Fn(&str) -> Result<f64>) -> Result<()> {
    let all = value("activate_ms")?;
    table.push(
        BenchRow::new("Starlark: activate, judged and granted")
            .ours(ms(all))
            .budget(all, ACTIVATE_MS, "ms"),
    );
    let (open, start) = (value("open_ms")?, value("start_ms")?);
    let (confine, load) = (value("confine_ms")?, value("initialize_us")? / 1e3);
    let parts = [
        ("- start of the program (as `--version`)", start),
        (
            "- interpreter built (what is left)",
            open - start - confine - load,
        ),
        ("- confined", confine),
        ("- initialize: the skill is loaded", load),
        (
            "- judged: read, hashed, verdict known",
            value("judge_us")? / 1e3,
        ),
        ("the first time: scanned as well", value("scan_ms")?),
        ("deactivate", value("deactivate_ms")?),
    ];
    for (what, time) in parts {
        table.push(BenchRow::new(what).ours(ms(time)));
    }
    let worker = value("worker_mb")?;
    table.push(BenchRow::new("one worker, memory of its own").ours(format!("{worker:.1} MB")));
    Ok(())
}

fn calls(
    table: &mut BenchTable,
    free: impl Fn(&str) -> Result<f64>,
    bound: impl Fn(&str) -> Result<f64>,
) -> Result<()> {
    let (call, sync) = (free("call_us")?, free("sync_us")?);
    table.push(
        BenchRow::new("Starlark: call, receipt on disk / one page on disk")
            .ours(us(call))
            .floor(us(sync))
            .value(format!("{:.2}", call / sync))
            .budget(call, CALL_US, "µs"),
    );
    let in_memory = bound("call_in_memory_us")?;
    let receipt = bound("receipt_in_memory_us")?;
    for (what, value) in [
        ("- receipt in memory", free("call_in_memory_us")?),
        ("- receipt in memory, one core", in_memory),
        ("- without a receipt, one core", in_memory - receipt),
    ] {
        table.push(
            BenchRow::new(what)
                .ours(us(value))
                .budget(value, CALL_US, "µs"),
        );
    }
    table.push(BenchRow::new("- the line alone, one core").ours(us(bound("line_us")?)));
    let act = bound("act_in_memory_us")?;
    table.push(
        BenchRow::new("receipt of an act: begun and completed, in memory, one core")
            .ours(us(act))
            .budget(act, ACT_US, "µs"),
    );
    Ok(())
}

fn processes(
    table: &mut BenchTable,
    free: impl Fn(&str) -> Result<f64>,
    bound: impl Fn(&str) -> Result<f64>,
) -> Result<()> {
    for (what, trip) in [
        ("process: there and back", free("process_us")?),
        ("- one core", bound("process_us")?),
    ] {
        table.push(
            BenchRow::new(what)
                .ours(us(trip))
                .budget(trip, CALL_US, "µs"),
        );
    }
    let (ours, own) = (free("process_activate_ms")?, free("child_start_ms")?);
    table.push(
        BenchRow::new("process: activate / its own start")
            .ours(ms(ours))
            .floor(ms(own))
            .value(format!("{:.1}", ours / own)),
    );
    Ok(())
}

fn hooks(
    table: &mut BenchTable,
    free: impl Fn(&str) -> Result<f64>,
    bound: impl Fn(&str) -> Result<f64>,
) -> Result<()> {
    for (what, time) in [
        ("hooks: an event for 50 skills", free("hooks_us")?),
        ("- one core", bound("hooks_us")?),
        ("hooks: 50 that change it", free("changing_hooks_us")?),
        (
            "- receipts in memory, one core",
            bound("changing_hooks_in_memory_us")?,
        ),
    ] {
        let time = time / 1e3;
        table.push(
            BenchRow::new(what)
                .ours(ms(time))
                .budget(time, HOOKS_MS, "ms"),
        );
    }
    Ok(())
}

/// The resources in use after many activations.
fn cycling(
    table: &mut BenchTable,
    cycles: usize,
    value: impl Fn(&str) -> Result<f64>,
) -> Result<()> {
    let (before, after) = (value("memory_before_mb")?, value("memory_after_mb")?);
    table.push(
        BenchRow::new("activate and deactivate, memory")
            .size(cycles)
            .ours(format!("{after:.1} MB"))
            .floor(format!("{before:.1} MB"))
            .value(format!("{:+.1} MB", after - before))
            .budget(after - before, GROWTH_MB, "MB more"),
    );
    for what in ["threads", "descriptors", "children"] {
        let before = value(&format!("{what}_before"))?;
        let after = value(&format!("{what}_after"))?;
        table.push(
            BenchRow::new(&format!("- {what}"))
                .size(cycles)
                .ours(format!("{after}"))
                .floor(format!("{before}"))
                .value(format!("{:+}", after - before))
                .budget(after - before, 0.0, "more"),
        );
    }
    Ok(())
}

pub(super) fn ms(value: f64) -> String {
    format!("{value:.2} ms")
}

pub(super) fn us(value: f64) -> String {
    format!("{value:.0} µs")
}

#[cfg(test)]
mod tests {
    use super::{BenchTable, cycling, hooks};

    #[test]
    fn everything_left_behind_is_reported() {
        let mut table = BenchTable::default();
        let value = |name: &str| Ok(if name == "children_after" { 1.0 } else { 0.0 });
        cycling(&mut table, 10, value).unwrap();
        assert_eq!(table.verdicts(), ["ok", "ok", "ok", "MISSED"]);
    }

    #[test]
    fn times_of_hooks_are_in_milliseconds() {
        let mut table = BenchTable::default();
        hooks(&mut table, |_| Ok(1_500.0), |_| Ok(900.0)).unwrap();
        assert_eq!(table.verdicts(), ["MISSED", "ok", "MISSED", "ok"]);
    }
}
