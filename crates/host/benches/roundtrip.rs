//! How long a call to a child that does nothing takes, and how long such a child takes to start:
//! `cargo bench -p metier-host --bench roundtrip`.
#![allow(clippy::print_stdout, reason = "figures are what it is for")]

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use metier_host::backend::{ChildProcess, SkillHost, SkillProcess, WorkerCommand};
use metier_host::sandbox::{WorkerLimits, confine};
use metier_sdk::wire::{HostRequest, Initialize, RpcError, method};
use serde_json::{Value, json};

/// As in the program itself: what an allocator asks of the kernel must be allowed in a worker.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CALLS: usize = 20_000;
const STARTS: usize = 200;
const PATIENCE: Duration = Duration::from_secs(5);

struct NoHost;

impl SkillHost for NoHost {
    fn ask(&self, _: HostRequest) -> Result<Value, RpcError> {
        Ok(json!({}))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("child") => return child(false),
        Some("confined") => {
            confine(&WorkerLimits::default())?;
            return child(false);
        }
        Some("asking") => return child(true),
        _ => {}
    }
    let hello = Initialize {
        protocol: 1,
        skill: "figures".into(),
        directory: "/".into(),
        config: Value::Null,
        permissions: Vec::new(),
        entrypoint: None,
        sources: std::collections::BTreeMap::new(),
        handlers: Vec::new(),
        variables: std::collections::BTreeMap::new(),
        project: None,
    };
    let worker = |word: &str| -> std::io::Result<WorkerCommand> {
        Ok(WorkerCommand {
            binary: std::env::current_exe()?,
            arguments: vec![word.to_owned()],
            variables: Vec::new(),
            confinement: "unsandboxed",
        })
    };
    for (word, size) in [
        ("child", 10),
        ("child", 100_000),
        ("asking", 10),
        ("confined", 10),
        ("confined", 3_000_000),
    ] {
        let mut session = ChildProcess::open(worker(word)?, &hello, &NoHost, PATIENCE)?;
        let params = json!({"name": "greet", "input": {"who": "x".repeat(size)}, "session": "s"});
        let calls = if size > 1_000 { CALLS / 20 } else { CALLS };
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let params = params.clone();
            let began = Instant::now();
            session.call(method::TOOL, params, &NoHost, PATIENCE)?;
            times.push(began.elapsed());
        }
        report(&format!("{word}, {size} bytes"), times);
        Box::new(session).close(&NoHost, PATIENCE);
    }
    for word in ["child", "confined"] {
        let mut times = Vec::with_capacity(STARTS);
        for _ in 0..STARTS {
            let began = Instant::now();
            let session = ChildProcess::open(worker(word)?, &hello, &NoHost, PATIENCE)?;
            times.push(began.elapsed());
            Box::new(session).close(&NoHost, PATIENCE);
        }
        report(&format!("{word}, start and initialize"), times);
    }
    Ok(())
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: usize| {
        times
            .get(times.len() * part / 100)
            .copied()
            .unwrap_or_default()
    };
    println!(
        "{what}: p50 {:?}, p95 {:?}, p99 {:?} of {}",
        at(50),
        at(95),
        at(99),
        times.len()
    );
}

/// Answers every request with its own parameters; with `asking`, it sends a request to the host first.
fn child(asks: bool) -> Result<(), Box<dyn std::error::Error>> {
    let mut lines = std::io::stdin().lock().lines();
    let mut out = std::io::stdout().lock();
    while let Some(line) = lines.next() {
        let mut message: Value = serde_json::from_str(&line?)?;
        let first = message["method"] == method::INITIALIZE;
        if asks && message["method"] == method::TOOL {
            let question = json!({"jsonrpc": "2.0", "id": 1, "method": "host/env", "params": {"name": "LANG"}});
            writeln!(out, "{question}")?;
            out.flush()?;
            lines.next().ok_or("no answer")??;
        }
        let result = if first {
            json!({})
        } else {
            message["params"].take()
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
