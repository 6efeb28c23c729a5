//! Samples → rows, with the budgets. The references of all numbers are defined only here.

use std::time::Duration;

use super::measure::{BenchSample, median};
use super::table::{BenchRow, BenchTable};
use crate::Result;

/// The size at which the ratios have a budget.
const JUDGED: usize = 10_000;
/// The size up to which the cost per skill may not grow.
const LARGE: usize = 50_000;

const COLD: f64 = 2.0;
const WARM: f64 = 1.5;
const STRICT: f64 = 3.0;
const GROWTH: f64 = 1.2;
const START_MS: f64 = 3.0;
/// The size of the program that ships.
const SIZE_MB: f64 = 50.0;
const SMALL_MS: f64 = 5.0;
const SCAN_MS: f64 = 3.0;
const SCAN_ONE_MS: f64 = 50.0;
const SCAN_MB: f64 = 64.0;
const TOOLS_MS: &[(usize, f64)] = &[(52, 15.0), (JUDGED, 60.0)];
const ACTIVATE_MS: &[(usize, f64)] = &[(52, 1.0), (JUDGED, 10.0)];
const PEAK_MB: &[(usize, f64)] = &[(JUDGED, 64.0), (LARGE, 200.0)];

/// The samples of one size, in the order in which `Bench::catalog` lists its programs.
pub(super) struct Costs {
    pub(super) size: usize,
    pub(super) samples: Vec<Vec<BenchSample>>,
}

/// Start-up and size of the program.
pub(super) fn program(table: &mut BenchTable, samples: &[Vec<BenchSample>], bytes: u64) {
    let (ours, empty) = (wall(&samples[0]), wall(&samples[1]));
    table.push(
        BenchRow::new("--version over an empty program, wall")
            .ours(ms(ours))
            .floor(ms(empty))
            .value(format!("{:+.2} ms", ours - empty))
            .budget(ours - empty, START_MS, "ms"),
    );
    let megabytes = bytes as f64 / 1e6;
    table.push(
        BenchRow::new("binary size")
            .ours(format!("{megabytes:.1} MB"))
            .budget(megabytes, SIZE_MB, "MB"),
    );
}

/// A list of as few skills as most users have.
pub(super) fn small(table: &mut BenchTable, size: usize, samples: &[BenchSample]) {
    let ours = wall(samples);
    table.push(
        BenchRow::new("list, wall")
            .size(size)
            .ours(ms(ours))
            .budget(ours, SMALL_MS, "ms"),
    );
}

/// Three commands against their floors, and memory.
pub(super) fn catalog(table: &mut BenchTable, costs: &Costs) {
    let size = costs.size;
    let pairs = [
        ("list --json --no-index, CPU / read floor", COLD),
        ("list --json with index, CPU / stat floor", WARM),
        ("validate --strict --json, CPU / read floor", STRICT),
    ];
    for ((what, limit), pair) in pairs.into_iter().zip(costs.samples.chunks(2)) {
        let (ours, floor) = (cpu(&pair[0]), cpu(&pair[1]));
        let ratio = ours / floor;
        let row = BenchRow::new(what)
            .size(size)
            .ours(ms(ours))
            .floor(ms(floor))
            .value(format!("{ratio:.2}"));
        table.push(if size == JUDGED {
            row.budget(ratio, limit, "×")
        } else {
            row
        });
    }
    let peak = |index: usize| {
        median(&costs.samples[index], |sample| sample.peak_kib) as f64 * 1024.0 / 1e6
    };
    let (ours, floor) = (peak(0), peak(1));
    let row = BenchRow::new("list --json --no-index, peak memory").size(size);
    let row = row
        .ours(format!("{ours:.1} MB"))
        .floor(format!("{floor:.1} MB"));
    let limit = PEAK_MB.iter().find(|(at, _)| *at == size);
    table.push(match limit {
        Some((_, limit)) => row.budget(ours, *limit, "MB"),
        None => row,
    });
}

/// [`scan` of a whole corpus, `scan` of one small skill].
pub(super) fn scan(table: &mut BenchTable, size: usize, samples: &[Vec<BenchSample>]) {
    let each = cpu(&samples[0]) / size as f64;
    table.push(
        BenchRow::new("scan --json, CPU per skill")
            .size(size)
            .ours(ms(each))
            .budget(each, SCAN_MS, "ms"),
    );
    let alone = wall(&samples[1]);
    table.push(
        BenchRow::new("scan of one small skill, wall")
            .size(1)
            .ours(ms(alone))
            .budget(alone, SCAN_ONE_MS, "ms"),
    );
    let peak = median(&samples[0], |sample| sample.peak_kib) as f64 * 1024.0 / 1e6;
    table.push(
        BenchRow::new("scan --json, peak memory")
            .size(size)
            .ours(format!("{peak:.1} MB"))
            .budget(peak, SCAN_MB, "MB"),
    );
}

/// From the start of `metier mcp` to its tools, for clients that send `initialize` and for those that don't.
pub(super) fn handshake(
    table: &mut BenchTable,
    size: usize,
    mut first: Vec<Duration>,
    mut alone: Vec<Duration>,
) {
    for (what, times) in [
        ("mcp, start → initialize → tools/list, wall", &mut first),
        ("mcp, start → tools/list alone, wall", &mut alone),
    ] {
        let row = BenchRow::new(what).size(size);
        table.push(in_the_middle(row, times, size, TOOLS_MS));
    }
}

/// From a request to activate a skill to its text: never scanned, and known.
pub(super) fn activation(table: &mut BenchTable, size: usize, mut times: [Vec<Duration>; 2]) {
    let [first, again] = &mut times;
    for (what, times) in [
        ("mcp, activate_skill for the first time, p50, wall", first),
        ("mcp, activate_skill again, p50, wall", again),
    ] {
        let row = in_the_middle(BenchRow::new(what).size(size), times, size, ACTIVATE_MS);
        let late = milliseconds(times[times.len() * 99 / 100]);
        table.push(row.value(format!("p99 {}", ms(late))));
    }
}

/// The median, with the budget of this size.
fn in_the_middle(
    row: BenchRow,
    times: &mut [Duration],
    size: usize,
    limits: &[(usize, f64)],
) -> BenchRow {
    times.sort_unstable();
    let time = milliseconds(times[times.len() / 2]);
    let row = row.ours(ms(time));
    match limits.iter().find(|(at, _)| *at == size) {
        Some((_, limit)) => row.budget(time, *limit, "ms"),
        None => row,
    }
}

/// The cost of known verdicts for a list: the same command before and after everything was scanned.
pub(super) fn verdicts(
    table: &mut BenchTable,
    size: usize,
    known: &[BenchSample],
    plain: &[BenchSample],
) {
    let (known, plain) = (cpu(known), cpu(plain));
    table.push(
        BenchRow::new("list --json with verdicts, CPU / without")
            .size(size)
            .ours(ms(known))
            .floor(ms(plain))
            .value(format!("{:.2}", known / plain)),
    );
}

/// Whether five times the skills cost five times the CPU; the growth of the floor shows how quiet the machine was.
pub(super) fn growth(table: &mut BenchTable, costs: &[Costs]) {
    let at = |size| costs.iter().find(|costs| costs.size == size);
    let (Some(small), Some(large)) = (at(JUDGED), at(LARGE)) else {
        return;
    };
    let each =
        |costs: &Costs, program: usize| cpu(&costs.samples[program]) * 1000.0 / costs.size as f64;
    let step = |program: usize| {
        format!(
            "{:.2} → {:.2} µs",
            each(small, program),
            each(large, program)
        )
    };
    let growth = each(large, 0) / each(small, 0);
    table.push(
        BenchRow::new("list --json --no-index, CPU per skill, from 10,000")
            .size(LARGE)
            .ours(step(0))
            .floor(step(1))
            .value(format!("{growth:.2}"))
            .budget(growth, GROWTH, "×"),
    );
}

fn cpu(samples: &[BenchSample]) -> f64 {
    milliseconds(median(samples, |sample| sample.cpu))
}

fn wall(samples: &[BenchSample]) -> f64 {
    milliseconds(median(samples, |sample| sample.wall))
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn ms(value: f64) -> String {
    format!("{value:.2} ms")
}

/// The cost of permissions.
pub(super) fn render(table: &mut BenchTable, value: impl Fn(&str) -> Result<f64>) -> Result<()> {
    let rows = [
        ("activation without commands", "activation_us", 100.0, "µs"),
        ("permit", "permit_us", 1.0, "µs"),
        ("what was answered, one of 5,000", "lookup_us", 50.0, "µs"),
        (
            "the same during a write",
            "lookup_while_writing_us",
            50.0,
            "µs",
        ),
    ];
    for (what, name, limit, unit) in rows {
        let time = value(name)?;
        table.push(
            BenchRow::new(what)
                .ours(format!("{time:.2} {unit}"))
                .budget(time, limit, unit),
        );
    }
    let (plain, supervised, fenced) = (
        value("plain_ms")?,
        value("supervised_ms")?,
        value("fenced_ms")?,
    );
    for (what, time) in [
        ("`true` with a supervisor, wall", supervised),
        ("`true` in the sandbox, wall", fenced),
    ] {
        let over = time - plain;
        let row = BenchRow::new(what)
            .ours(format!("{time:.2} ms"))
            .floor(format!("{plain:.2} ms"));
        table.push(
            row.value(format!("+{over:.2} ms"))
                .budget(over, 5.0, "ms more"),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BenchSample, Costs, catalog, growth, handshake, program};
    use crate::bench::table::BenchTable;
    use std::time::Duration;

    fn samples(ms: u64, peak_kib: u64) -> Vec<BenchSample> {
        let time = Duration::from_millis(ms);
        vec![
            BenchSample {
                cpu: time,
                wall: time,
                peak_kib
            };
            3
        ]
    }

    fn costs(size: usize, ours: u64, floor: u64) -> Costs {
        let pair = [samples(ours, 100_000), samples(floor, 2_000)];
        Costs {
            size,
            samples: pair.iter().cycle().take(6).cloned().collect(),
        }
    }

    #[test]
    fn budgets_are_kept_or_missed() {
        let mut table = BenchTable::default();
        catalog(&mut table, &costs(10_000, 100, 40));
        assert_eq!(table.verdicts(), ["MISSED", "MISSED", "ok", "MISSED"]);
        assert!(table.text().contains("2.50"), "{}", table.text());
    }

    #[test]
    fn other_sizes_are_only_shown() {
        let mut table = BenchTable::default();
        catalog(&mut table, &costs(52, 100, 40));
        assert_eq!(table.verdicts(), ["", "", "", ""]);
    }

    #[test]
    fn growth_needs_both_sizes() {
        let mut table = BenchTable::default();
        growth(&mut table, &[costs(10_000, 100, 1)]);
        assert!(table.verdicts().is_empty());
        growth(&mut table, &[costs(10_000, 100, 1), costs(50_000, 590, 1)]);
        growth(&mut table, &[costs(10_000, 100, 1), costs(50_000, 610, 1)]);
        assert_eq!(table.verdicts(), ["ok", "MISSED"]);
    }

    #[test]
    fn an_agent_waits_no_longer_than_the_budget() {
        let mut table = BenchTable::default();
        let times = |ms| vec![Duration::from_millis(ms); 3];
        handshake(&mut table, 52, times(16), times(14));
        handshake(&mut table, 10_000, times(16), times(61));
        handshake(&mut table, 500, times(900), times(900));
        assert_eq!(table.verdicts(), ["MISSED", "ok", "ok", "MISSED", "", ""]);
    }

    #[test]
    fn start_up_is_a_difference() {
        let mut table = BenchTable::default();
        program(&mut table, &[samples(5, 1), samples(1, 1)], 1_000_000);
        assert_eq!(table.verdicts(), ["MISSED", "ok"]);
        assert!(table.text().contains("+4.00 ms"));
    }
}
