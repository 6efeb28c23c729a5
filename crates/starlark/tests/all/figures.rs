//! The time of operations, and the memory for many calls.
//!
//! The times are printed, not checked: `cargo test --release -p metier-starlark -- --ignored --nocapture figures`.

use std::cell::RefCell;
use std::io::{BufReader, Read, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use metier_starlark::{StarlarkLimits, serve};
use serde_json::json;

/// A host that sends `initialize` and then the same call repeatedly, and records the times.
struct Loop {
    first: String,
    again: String,
    left: u32,
    pending: Vec<u8>,
    notes: Rc<RefCell<Notes>>,
}

#[derive(Default)]
struct Notes {
    /// When each line was read: all earlier requests had been answered by then.
    asked: Vec<Instant>,
    /// Resident memory in KiB, after a tenth of the calls and at the end.
    memory: Vec<u64>,
    written: u64,
}

impl Read for Loop {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.pending.is_empty() {
            let mut notes = self.notes.borrow_mut();
            notes.asked.push(Instant::now());
            let calls = u32::try_from(notes.asked.len()).unwrap() - 1;
            if calls == (self.left + calls) / 10 || self.left == 0 {
                notes.memory.push(resident());
            }
            if calls == 0 {
                self.pending.extend_from_slice(self.first.as_bytes());
            } else if self.left > 0 {
                self.left -= 1;
                self.pending.extend_from_slice(self.again.as_bytes());
            }
        }
        let count = buffer.len().min(self.pending.len());
        buffer[..count].copy_from_slice(&self.pending[..count]);
        self.pending.drain(..count);
        Ok(count)
    }
}

struct Counting(Rc<RefCell<Notes>>);

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().written += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

fn repeat(source: &str, calls: u32) -> Rc<RefCell<Notes>> {
    let initialize = json!({"id": 0, "method": "initialize", "params": {"protocol": 1, "skill": "s", "directory": "/",
        "entrypoint": "s.star", "sources": {"s.star": source}}});
    let execute = json!({"id": 1, "method": "tool/execute", "params": {"name": "t", "input": {"who": "Ada", "n": [1, 2, 3]}}});
    let notes = Rc::new(RefCell::new(Notes::default()));
    let host = Loop {
        first: format!("{initialize}\n"),
        again: format!("{execute}\n"),
        left: calls,
        pending: Vec::new(),
        notes: Rc::clone(&notes),
    };
    serve(
        BufReader::new(host),
        Counting(Rc::clone(&notes)),
        &StarlarkLimits::default(),
    )
    .unwrap();
    notes
}

const SKILL: &str = r#"
"""A skill of twenty lines."""

GREETINGS = {
    "en": "Hello",
    "de": "Guten Tag",
}

def greeting(language):
    if language in GREETINGS:
        return GREETINGS[language]
    return GREETINGS["en"]

def t(input):
    words = [greeting(input.get("language", "de")), input["who"]]
    return ", ".join(words) + "!"

register_tool("t", "Greets someone.", t, input_schema = {
    "type": "object",
    "properties": {"who": {"type": "string"}},
})
"#;

/// Other tests use memory too, so this runs in a separate process.
#[test]
fn memory_stays_flat_over_many_calls() {
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "figures::many_calls", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{said}");
    println!("{said}");
}

#[test]
#[ignore = "run by the test above"]
fn many_calls() {
    let calls = if cfg!(debug_assertions) {
        3_000
    } else {
        100_000
    };
    let notes = repeat(SKILL, calls);
    let notes = notes.borrow();
    let [early, .., late] = notes.memory[..] else {
        panic!("{:?}", notes.memory)
    };
    println!("{calls} calls: {early} KiB after a tenth of them, {late} KiB at the end");
    // The list of times grows by 16 bytes a call, and doubles.
    assert!(late.saturating_sub(early) < 4 << 10, "{early} → {late} KiB");
    assert!(notes.written > u64::from(calls) * 40);
}

#[test]
#[ignore = "prints how long things take"]
fn figures() {
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let cold = Instant::now();
    repeat(SKILL, 0);
    println!("first start, initialize and end: {:?}", cold.elapsed());
    let warm: Vec<Duration> = (0..100)
        .map(|_| {
            let begin = Instant::now();
            repeat(SKILL, 0);
            begin.elapsed()
        })
        .collect();
    println!(
        "later start, initialize and end: {:?} (median of 100)",
        median(warm)
    );
    for (name, source) in [
        ("constant", "register_tool(\"t\", \"\", lambda input: 1)"),
        ("greet", SKILL),
    ] {
        let notes = repeat(source, 100_000);
        let notes = notes.borrow();
        let calls: Vec<Duration> = notes.asked[2..]
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect();
        let all: Duration = calls.iter().sum();
        println!(
            "call of `{name}`: {:?} median, {:?} mean of {}",
            median(calls.clone()),
            all / calls.len() as u32,
            calls.len()
        );
    }
}
