//! Mutates the rules' own samples and scans them, for a number of seconds: `cargo run --release --example fuzz -- 600 1`.
//!
//! A stable toolchain contains no fuzzer, and most bugs are found here without coverage: the samples already are programs of each
//! language, and a half of one inside another breaks parsers. The same seed gives the same inputs. A panic aborts
//! the run with the input on the screen; so does a scan that takes more than ten seconds.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program for developers of the scanner"
)]

#[expect(dead_code, reason = "the ids are for the tests of the rules")]
#[path = "../tests/samples/mod.rs"]
mod samples;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use metier_scan::{DeclaredFacts, FileToScan, Preset, RuleSet, ScanLimits, ScannedContent, scan};

/// Pseudo-random numbers (xorshift), so that a run can be repeated.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most.max(1) as u64).unwrap_or(0)
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |other: u64| {
        arguments
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(other)
    };
    let (seconds, seed) = (number(10), number(1));
    let samples: Vec<(&str, Vec<u8>)> = samples::all()
        .flat_map(|samples| samples.hits.iter().chain(samples.misses))
        .map(|(path, text)| (*path, text.as_bytes().to_vec()))
        .collect();
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let now = watched();
    let start = Instant::now();
    let (mut runs, mut bytes, mut slowest) = (0_u64, 0_usize, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) {
        let (path, input) = mutated(&samples, &mut dice);
        let shown = Shown(path, &input);
        let began = Instant::now();
        note(&now, Some((began, path, &input)));
        run(path, &input, runs);
        let mut taken = began.elapsed();
        // A busy machine is slow once; an expensive input is slow repeatedly.
        if taken > Duration::from_secs(1) {
            let again = Instant::now();
            run(path, &input, runs);
            taken = taken.min(again.elapsed());
            if taken > Duration::from_secs(1) {
                let head = &input[..input.len().min(100)];
                println!("{taken:?}: {path} \"{}…\"", head.escape_ascii());
            }
        }
        assert!(taken < Duration::from_secs(10), "{taken:?}");
        std::mem::forget(shown);
        slowest = slowest.max(taken);
        runs += 1;
        bytes += input.len();
    }
    println!("{runs} runs, {bytes} bytes, slowest {slowest:?}, no panic");
}

/// The input of the current scan, and its start time.
type Now = Arc<Mutex<Option<(Instant, String, Vec<u8>)>>>;

fn note(now: &Now, what: Option<(Instant, &str, &[u8])>) {
    let what = what.map(|(since, path, input)| (since, path.to_owned(), input.to_vec()));
    *now.lock().unwrap_or_else(PoisonError::into_inner) = what;
}

/// A scan that never ends cannot report it: another thread prints its input, and ends the run.
fn watched() -> Now {
    let now = Now::default();
    let seen = Arc::clone(&now);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let held = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((since, path, input)) = held.as_ref()
                && since.elapsed() > Duration::from_secs(30)
            {
                println!("endless: {path} \"{}\"", input.escape_ascii());
                std::process::exit(1);
            }
        }
    });
    now
}

/// Prints the input when it is dropped, which only a panic does.
struct Shown<'a>(&'a str, &'a [u8]);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        println!("{} \"{}\"", self.0, self.1.escape_ascii());
    }
}

fn run(path: &str, input: &[u8], runs: u64) {
    let file = FileToScan {
        path,
        content: ScannedContent::Bytes(input),
    };
    let preset = if runs.is_multiple_of(8) {
        Preset::Seed
    } else {
        Preset::Evidence
    };
    let rules = RuleSet {
        preset,
        ..RuleSet::default()
    };
    let report = scan(
        &[file],
        &DeclaredFacts::default(),
        &rules,
        &ScanLimits::default(),
    );
    assert!(report.findings.len() <= ScanLimits::default().findings);
}

/// A sample with changed bytes, doubled parts, and inserted parts of other samples; sometimes under another sample's name.
fn mutated<'s>(samples: &[(&'s str, Vec<u8>)], dice: &mut Dice) -> (&'s str, Vec<u8>) {
    let (mut path, mut input) = samples[dice.below(samples.len())].clone();
    if dice.below(4) == 0 {
        path = samples[dice.below(samples.len())].0;
    }
    for _ in 0..=dice.below(8) {
        let at = dice.below(input.len() + 1);
        match dice.below(6) {
            0 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = dice.next() as u8;
                }
            }
            1 => drop(input.drain(at..(at + dice.below(12)).min(input.len()))),
            2 => {
                let end = (at + dice.below(40)).min(input.len());
                let part = input[at..end].repeat(1 << dice.below(9));
                input.splice(at..at, part);
            }
            3 => {
                let other = &samples[dice.below(samples.len())].1;
                let from = dice.below(other.len());
                let part = other[from..].to_vec();
                input.splice(at..at, part);
            }
            4 => {
                const SIGNS: &[u8] = b"(){}[]<>\"'`\\$|&;#*_-!\n\t\0=,:/@%^~?+.";
                let sign = SIGNS[dice.below(SIGNS.len())];
                let count = 1 << dice.below(8);
                input.splice(at..at, std::iter::repeat_n(sign, count));
            }
            _ => input.truncate(at),
        }
    }
    input.truncate(64 << 10);
    (path, input)
}
