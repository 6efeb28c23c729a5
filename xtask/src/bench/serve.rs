//! `bench serve`: the cost of the daemon, compared with a bare server that returns the same bytes.
//!
//! Rates come from `wrk`, which loads both in turns. Memory and processor time are those of the daemon's own process.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::Value;

use super::options::BenchOptions;
use super::table::{BenchRow, BenchTable};
use super::{Bench, driver};
use crate::Result;

/// The targets that are built before the measurement: package and bench target.
pub(super) const DRIVERS: &[(&str, &str)] = &[("metier-server", "bare")];

const PAGE: &str = "/api/v1/skills?limit=50";
/// The maximum factor by which the bare server is faster.
const RATE: f64 = 2.0;
const SOCKETS: usize = 5_000;
const SOCKETS_MB: f64 = 150.0;
const FILES: usize = 1_000;
const UPDATE_MS: f64 = 1_000.0;
const SESSIONS: usize = 200;
/// The time limit for any step.
const PATIENCE: Duration = Duration::from_secs(120);

const ANSWER: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

pub(super) fn measure(bench: &Bench, options: &BenchOptions, table: &mut BenchTable) -> Result<()> {
    raise_limit()?;
    let size = options.sizes.first().copied().unwrap_or(10_000);
    eprintln!("a daemon of {size} skills");
    let root = bench.corpus(size)?;
    let daemon = MeasuredDaemon::start(bench, &root, &[])?;
    let page = daemon.get(PAGE)?;
    rates(bench, &daemon, &page, size, options.quick, table)?;
    idle(&daemon, size, options.quick, table)?;
    update(&daemon, &root, size, table)?;
    sockets(&daemon, options.quick, table)?;
    drop(daemon);
    sessions(bench, options.quick, table)?;
    bench.drop_corpus(&root)
}

/// A running daemon; it is killed with this value.
struct MeasuredDaemon {
    child: Child,
    address: String,
    token: String,
}

impl MeasuredDaemon {
    fn start(bench: &Bench, root: &Path, env: &[(&str, &str)]) -> Result<Self> {
        let mut child = Command::new(&bench.metier)
            .arg("--root")
            .arg(root)
            .args(["serve", "--listen", "127.0.0.1:0", "--json"])
            .env("METIER_HOME", bench.path().join("home"))
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let started: Value = serde_json::from_str(&line)?;
        let text = |key: &str| started[key].as_str().unwrap_or_default().to_owned();
        let token = fs::read_to_string(text("token_file"))?;
        Ok(Self {
            child,
            address: text("url").trim_start_matches("http://").to_owned(),
            token: token.trim().to_owned(),
        })
    }

    fn head(&self) -> String {
        let (address, token) = (&self.address, &self.token);
        format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n")
    }

    fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    fn ask(&self, request: &str) -> Result<String> {
        let mut stream = self.connect()?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
        match head.starts_with("HTTP/1.1 20") {
            true => Ok(body.to_owned()),
            false => Err(format!("{head}\n{body}").into()),
        }
    }

    fn get(&self, path: &str) -> Result<String> {
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\n{}Connection: close\r\n\r\n",
            self.head()
        ))
    }

    fn post(&self, path: &str, body: &str) -> Result<String> {
        let (head, length) = (self.head(), body.len());
        self.ask(&format!(
            "POST {path} HTTP/1.1\r\n{head}Connection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// Megabytes in memory.
    fn memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let words = line.and_then(|line| line.split_whitespace().next());
        let kilobytes: f64 = words.ok_or("no memory in /proc")?.parse()?;
        Ok(kilobytes / 1024.0)
    }

    /// Milliseconds of processor time so far.
    fn processor(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let rest = stat.rsplit(") ").next().unwrap_or_default();
        let ticks = |index: usize| {
            rest.split(' ')
                .nth(index)
                .and_then(|text| text.parse::<f64>().ok())
        };
        let (user, system) = (ticks(11), ticks(12));
        Ok(user
            .zip(system)
            .map_or(0.0, |(user, system)| (user + system) * 10.0))
    }
}

impl Drop for MeasuredDaemon {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Thousands of sockets need as many open files.
fn raise_limit() -> Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?)
}

/// Fetches one page from both servers, in turns.
fn rates(
    bench: &Bench,
    daemon: &MeasuredDaemon,
    page: &str,
    size: usize,
    quick: bool,
    table: &mut BenchTable,
) -> Result<()> {
    let file = bench.path().join("page.json");
    fs::write(&file, page)?;
    let mut bare = Command::new(driver("bare")?)
        .arg(&file)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut address = String::new();
    let stdout = bare.stdout.take().ok_or("no output")?;
    BufReader::new(stdout).read_line(&mut address)?;
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..if quick { 1 } else { 3 } {
        ours.push(wrk(&daemon.address, &daemon.token, quick)?);
        floor.push(wrk(address.trim(), &daemon.token, quick)?);
    }
    bare.kill()?;
    bare.wait()?;
    let (ours, floor) = (middle(ours), middle(floor));
    table.push(
        BenchRow::new("GET /api/v1/skills?limit=50, requests in a second / bare axum")
            .size(size)
            .ours(format!("{:.0}", ours.0))
            .floor(format!("{:.0}", floor.0))
            .value(format!("{:.2}", floor.0 / ours.0))
            .budget(floor.0 / ours.0, RATE, "×"),
    );
    table.push(
        BenchRow::new("- 99 of 100")
            .size(size)
            .ours(format!("{:.2} ms", ours.1))
            .floor(format!("{:.2} ms", floor.1)),
    );
    Ok(())
}

/// Requests in a second, and the 99th percentile in milliseconds.
fn wrk(address: &str, token: &str, quick: bool) -> Result<(f64, f64)> {
    let seconds = if quick { "-d2s" } else { "-d8s" };
    let output = Command::new("wrk")
        .args(["-t2", "-c32", seconds, "--latency", "-H"])
        .arg(format!("Authorization: Bearer {token}"))
        .arg(format!("http://{address}{PAGE}"))
        .output()
        .map_err(|error| format!("wrk: {error} (Debian: apt-get install wrk)"))?;
    let text = String::from_utf8(output.stdout)?;
    if text.contains("Non-2xx") || !output.status.success() {
        return Err(format!("wrk was refused: {text}").into());
    }
    let after = |label: &str| {
        let mut lines = text.lines().map(str::trim);
        lines.find_map(|line| line.strip_prefix(label).map(|rest| rest.trim().to_owned()))
    };
    let rate: f64 = after("Requests/sec:").ok_or("no rate")?.parse()?;
    let late = after("99%").ok_or("no percentile")?;
    let number: f64 = late.trim_end_matches(char::is_alphabetic).parse()?;
    let late = match late.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "us" => number / 1e3,
        "s" => number * 1e3,
        _ => number,
    };
    Ok((rate, late))
}

fn middle(mut all: Vec<(f64, f64)>) -> (f64, f64) {
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all[all.len() / 2]
}

/// An idle daemon.
fn idle(daemon: &MeasuredDaemon, size: usize, quick: bool, table: &mut BenchTable) -> Result<()> {
    thread::sleep(Duration::from_secs(2));
    let seconds = if quick { 3 } else { 20 };
    let before = daemon.processor()?;
    thread::sleep(Duration::from_secs(seconds));
    let used = (daemon.processor()? - before) / seconds as f64;
    table.push(
        BenchRow::new("idle, processor time in a second")
            .size(size)
            .ours(format!("{used:.1} ms"))
            .budget(used, 2.0, "ms"),
    );
    let memory = daemon.memory()?;
    table.push(
        BenchRow::new("- memory")
            .size(size)
            .ours(format!("{memory:.0} MB")),
    );
    Ok(())
}

/// From the last of many writes to the one update.
fn update(daemon: &MeasuredDaemon, root: &Path, size: usize, table: &mut BenchTable) -> Result<()> {
    let mut stream = daemon.connect()?;
    let path = "/api/v1/events?kinds=skills_changed";
    stream.write_all(format!("GET {path} HTTP/1.1\r\n{}\r\n", daemon.head()).as_bytes())?;
    let mut lines = BufReader::new(stream).lines();
    let mut line = |wanted: &str| -> Result<String> {
        loop {
            let line = lines.next().ok_or("the stream ended")??;
            if line.contains(wanted) {
                return Ok(line);
            }
        }
    };
    line(": connected")?;
    let folders = fs::read_dir(root)?.filter_map(std::result::Result::ok);
    let folders: Vec<_> = folders
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    let wanted = folders
        .iter()
        .filter(|folder| folder.join("SKILL.md").exists());
    let wanted: Vec<_> = wanted.take(FILES / 10).collect();
    for folder in &wanted {
        for number in 0..10 {
            fs::write(folder.join(format!("bench-{number}.txt")), "changed\n")?;
        }
    }
    let start = Instant::now();
    let data = line("data: ")?;
    let took = start.elapsed().as_secs_f64() * 1e3;
    let event: Value = serde_json::from_str(data.trim_start_matches("data: "))?;
    let changed = event["changed"].as_array().map_or(0, Vec::len);
    if changed != wanted.len() {
        return Err(format!(
            "{changed} of {} skills are in the first update",
            wanted.len()
        )
        .into());
    }
    for folder in &wanted {
        for number in 0..10 {
            fs::remove_file(folder.join(format!("bench-{number}.txt")))?;
        }
    }
    table.push(
        BenchRow::new("1,000 changed files → one update")
            .size(size)
            .ours(format!("{took:.0} ms"))
            .budget(took, UPDATE_MS, "ms"),
    );
    Ok(())
}

/// Idle sockets.
fn sockets(daemon: &MeasuredDaemon, quick: bool, table: &mut BenchTable) -> Result<()> {
    let count = if quick { 500 } else { SOCKETS };
    let before = daemon.memory()?;
    let mut open = Vec::with_capacity(count);
    for _ in 0..count {
        let mut stream = daemon.connect()?;
        let head = daemon.head();
        stream.write_all(
            format!("GET /ws HTTP/1.1\r\n{head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                .as_bytes(),
        )?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        if &answer != b"HTTP/1.1 101" {
            return Err("a socket was refused".into());
        }
        open.push(stream);
    }
    thread::sleep(Duration::from_secs(1));
    let after = daemon.memory()?;
    table.push(
        BenchRow::new("idle WebSockets, memory")
            .size(count)
            .ours(format!("{after:.0} MB"))
            .floor(format!("{before:.0} MB"))
            .value(format!(
                "{:+.1} kB each",
                (after - before) * 1024.0 / count as f64
            ))
            .budget(after - before, SOCKETS_MB, "MB more"),
    );
    drop(open);
    Ok(())
}

/// Sessions whose model answers after all of them have sent a request.
fn sessions(bench: &Bench, quick: bool, table: &mut BenchTable) -> Result<()> {
    let count = if quick { 20 } else { SESSIONS };
    eprintln!("{count} sessions at once");
    let root = bench.one_skill()?;
    let model = WaitingModel::start()?;
    let env = [
        ("OPENAI_BASE_URL", model.url.as_str()),
        ("OPENAI_API_KEY", "none"),
        ("METIER_MODEL", "openai/ready"),
    ];
    let daemon = MeasuredDaemon::start(bench, &root, &env)?;
    daemon.get(PAGE)?;
    let before = daemon.memory()?;
    let start = Instant::now();
    for _ in 0..count {
        daemon.post("/api/v1/sessions", "{\"task\":\"Say when you are done.\"}")?;
    }
    model.wait_for(count)?;
    let started = start.elapsed();
    let during = daemon.memory()?;
    model.answer();
    let end = Instant::now() + PATIENCE;
    loop {
        let listed: Value = serde_json::from_str(&daemon.get("/api/v1/sessions")?)?;
        let rows = listed["sessions"].as_array().cloned().unwrap_or_default();
        if rows.iter().filter(|row| row["text"] == "Done.").count() == count {
            break;
        }
        if Instant::now() > end {
            return Err("not every session had its answer".into());
        }
        thread::sleep(Duration::from_millis(50));
    }
    table.push(
        BenchRow::new("sessions at once, memory")
            .size(count)
            .ours(format!("{during:.0} MB"))
            .floor(format!("{before:.0} MB"))
            .value(format!(
                "{:.0} kB each",
                (during - before) * 1024.0 / count as f64
            )),
    );
    table.push(
        BenchRow::new("- all started and asking")
            .size(count)
            .ours(format!("{:.1} s", started.as_secs_f64())),
    );
    Ok(())
}

/// A model that answers all requests at the same time.
struct WaitingModel {
    url: String,
    gate: Arc<ModelGate>,
}

#[derive(Default)]
struct ModelGate {
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl WaitingModel {
    fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let gate = Arc::<ModelGate>::default();
        let shared = Arc::clone(&gate);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(std::result::Result::ok) {
                let gate = Arc::clone(&shared);
                // A disconnected client needs no answer.
                thread::spawn(move || gate.answer(&stream).ok());
            }
        });
        Ok(Self { url, gate })
    }

    fn wait_for(&self, count: usize) -> Result<()> {
        let state = self.gate.state.lock().map_err(|_| "poisoned")?;
        let waited = self
            .gate
            .changed
            .wait_timeout_while(state, PATIENCE, |state| state.0 < count);
        let (state, _) = waited.map_err(|_| "poisoned")?;
        match state.0 >= count {
            true => Ok(()),
            false => Err(format!("{} of {count} sessions asked", state.0).into()),
        }
    }

    fn answer(&self) {
        if let Ok(mut state) = self.gate.state.lock() {
            state.1 = true;
        }
        self.gate.changed.notify_all();
    }
}

impl ModelGate {
    fn answer(&self, stream: &TcpStream) -> Result<()> {
        super::agent::read_request(stream)?;
        let mut state = self.state.lock().map_err(|_| "poisoned")?;
        state.0 += 1;
        self.changed.notify_all();
        let waited = self
            .changed
            .wait_timeout_while(state, PATIENCE, |state| !state.1);
        drop(waited.map_err(|_| "poisoned")?);
        super::agent::send_answer(stream, ANSWER)
    }
}
