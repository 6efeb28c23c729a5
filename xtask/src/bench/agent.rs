//! `bench agent`: the cost of a session with a model, apart from the model.
//!
//! In one process a driver of the agent has a conversation with a model whose answer is prepared; every request is built, and every turn
//! recorded, as in the program. From outside the program is started against a server on this machine, and the clock stops at the first byte
//! that arrives there. It is compared with the same program run with `--version`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::host::{ms, us};
use super::options::BenchOptions;
use super::table::{BenchRow, BenchTable};
use super::{Bench, Figures, driver};
use crate::Result;

/// The targets that are built before the measurement: package and bench target.
pub(super) const DRIVERS: &[(&str, &str)] = &[("metier-agent", "turns")];

/// The number of skills that are written; a few of a hundred are broken on purpose, and a thousand must remain.
const SKILLS: usize = 1_030;
const TURN_US: f64 = 1_000.0;
const PROMPT_US: f64 = 200.0;
/// The additional memory that a process may use after all turns: its window is full then.
const GROWTH_MB: f64 = 4.0;
/// The time limit for the program to connect.
const PATIENCE: Duration = Duration::from_secs(20);

/// A complete answer, as short as possible.
const ANSWER: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

pub(super) fn measure(bench: &Bench, options: &BenchOptions, table: &mut BenchTable) -> Result<()> {
    let skills = bench.corpus(SKILLS)?;
    inside(bench, options, &skills, table)?;
    let rounds = if options.quick { 5 } else { 31 };
    outside(bench, &bench.one_skill()?, 1, rounds, table)?;
    outside(bench, &skills, SKILLS, rounds, table)?;
    bench.drop_corpus(&skills)
}

/// Turns in one process.
fn inside(
    bench: &Bench,
    options: &BenchOptions,
    skills: &Path,
    table: &mut BenchTable,
) -> Result<()> {
    let turns = if options.quick { 100 } else { 1_000 };
    eprintln!("a conversation of {turns} turns");
    let folder = bench.path().join("turns");
    std::fs::create_dir_all(&folder)?;
    let mut command = Command::new(driver("turns")?);
    command.arg(&bench.metier).arg(skills).arg(&folder);
    let figures = Figures::of(command.arg(turns.to_string()))?;
    std::fs::remove_dir_all(&folder)?;
    let value = |name: &str| figures.value(name);
    turn(table, value)?;
    prompt(table, value)?;
    held(table, turns, value)
}

fn turn(table: &mut BenchTable, value: impl Fn(&str) -> Result<f64>) -> Result<()> {
    let size = value("skills")? as usize;
    let (whole, lines) = (value("turn_us")?, value("lines_us")?);
    table.push(
        BenchRow::new("turn without the model / its two lines on disk")
            .size(size)
            .ours(us(whole))
            .floor(us(lines))
            .value(format!("{:.1}", whole / lines))
            .budget(whole, TURN_US, "µs"),
    );
    let late = value("turn_p95_us")?;
    table.push(
        BenchRow::new("- 95 of 100")
            .size(size)
            .ours(us(late))
            .budget(late, TURN_US, "µs"),
    );
    for (what, name) in [
        ("- with a call of a Starlark skill", "call_turn"),
        ("- over HTTP on this machine", "http_turn"),
    ] {
        let (middle, late) = (
            value(&format!("{name}_us"))?,
            value(&format!("{name}_p95_us"))?,
        );
        table.push(
            BenchRow::new(what)
                .size(size)
                .ours(us(middle))
                .value(format!("95 %: {}", us(late))),
        );
    }
    let open = value("open_ms")?;
    table.push(BenchRow::new("session opened").size(size).ours(ms(open)));
    Ok(())
}

fn prompt(table: &mut BenchTable, value: impl Fn(&str) -> Result<f64>) -> Result<()> {
    let size = value("skills")? as usize;
    for (what, prefix) in [
        ("prompt put together, ten turns", ""),
        ("prompt put together, window full", "full_"),
    ] {
        // A short run does not fill the window.
        let Ok(time) = value(&format!("{prefix}prompt_us")) else {
            continue;
        };
        let kilobytes = value(&format!("{prefix}request_kb"))?;
        table.push(
            BenchRow::new(what)
                .size(size)
                .ours(us(time))
                .value(format!("{kilobytes:.0} kB"))
                .budget(time, PROMPT_US, "µs"),
        );
    }
    Ok(())
}

/// The resources in use after many turns.
fn held(table: &mut BenchTable, turns: usize, value: impl Fn(&str) -> Result<f64>) -> Result<()> {
    let (before, after) = (value("memory_before_mb")?, value("memory_after_mb")?);
    table.push(
        BenchRow::new("turns, memory")
            .size(turns)
            .ours(format!("{after:.1} MB"))
            .floor(format!("{before:.1} MB"))
            .value(format!("{:+.1} MB", after - before))
            .budget(after - before, GROWTH_MB, "MB more"),
    );
    let compacted = value("compacted")?;
    table.push(
        BenchRow::new("- summed up")
            .size(turns)
            .ours(format!("{compacted} times")),
    );
    for what in ["threads", "descriptors"] {
        let before = value(&format!("{what}_before"))?;
        let after = value(&format!("{what}_after"))?;
        table.push(
            BenchRow::new(&format!("- {what}"))
                .size(turns)
                .ours(format!("{after}"))
                .floor(format!("{before}"))
                .value(format!("{:+}", after - before))
                .budget(after - before, 0.0, "more"),
        );
    }
    Ok(())
}

/// From the start of the program to the first byte of its request, and `--version` in turns with it.
fn outside(
    bench: &Bench,
    root: &Path,
    size: usize,
    rounds: usize,
    table: &mut BenchTable,
) -> Result<()> {
    eprintln!("starting agents with {size} skills");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let (mut agent, mut version) = (Vec::new(), Vec::new());
    // The first one writes the index, and scans the skills that it activates.
    for round in 0..=rounds {
        let time = first_byte(bench, root, &listener)?;
        let plain = Instant::now();
        let status = Command::new(&bench.metier)
            .arg("--version")
            .stdout(Stdio::null())
            .status()?;
        if !status.success() {
            return Err("`metier --version` fails".into());
        }
        if round > 0 {
            agent.push(time);
            version.push(plain.elapsed());
        }
    }
    let (agent, version) = (middle(agent), middle(version));
    table.push(
        BenchRow::new("agent, start → first byte of its request / --version")
            .size(size)
            .ours(ms(agent))
            .floor(ms(version))
            .value(format!("{:.1}", agent / version)),
    );
    Ok(())
}

fn first_byte(bench: &Bench, root: &Path, listener: &TcpListener) -> Result<Duration> {
    let base = format!("http://{}/v1", listener.local_addr()?);
    let start = Instant::now();
    let mut child = Command::new(&bench.metier)
        .arg("--root")
        .arg(root)
        .args(["agent", "Say when you are done.", "--model", "openai/ready"])
        .args(["--approve-skills", "core-tools"])
        .env("METIER_HOME", bench.path().join("home"))
        .env("OPENAI_BASE_URL", base)
        .env("OPENAI_API_KEY", "none")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let served = accept(listener, &mut child).and_then(|stream| {
        let mut byte = [0];
        (&stream).read_exact(&mut byte)?;
        let time = start.elapsed();
        answer(&stream)?;
        Ok(time)
    });
    if served.is_err() {
        // It may have ended already.
        let _ = child.kill();
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let talk = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`metier agent` ended with {}: {talk}", output.status).into());
    }
    served
}

/// Waits for a connection, but not for a program that has ended.
fn accept(listener: &TcpListener, child: &mut Child) -> Result<TcpStream> {
    listener.set_nonblocking(true)?;
    let start = Instant::now();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                return Ok(stream);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if child.try_wait()?.is_some() || start.elapsed() > PATIENCE {
                    return Err("`metier agent` asked no model".into());
                }
                thread::sleep(Duration::from_micros(50));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Reads the rest of a request, and answers it.
fn answer(stream: &TcpStream) -> Result<()> {
    read_request(stream)?;
    send_answer(stream, ANSWER)
}

pub(super) fn read_request(stream: &TcpStream) -> Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.is_empty() {
            break;
        }
    }
    std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink())?;
    Ok(())
}

pub(super) fn send_answer(mut stream: &TcpStream, answer: &str) -> Result<()> {
    let length = answer.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    Ok(stream.write_all(answer.as_bytes())?)
}

/// In milliseconds.
fn middle(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::{BenchTable, held, prompt, turn};

    #[test]
    fn a_turn_that_takes_too_long_is_reported() {
        let mut table = BenchTable::default();
        let value = |name: &str| {
            Ok(if name == "turn_p95_us" {
                1_001.0
            } else {
                999.0
            })
        };
        turn(&mut table, value).unwrap();
        assert_eq!(table.verdicts(), ["ok", "MISSED", "", "", ""]);
    }

    #[test]
    fn a_window_that_was_never_full_has_no_row() {
        let mut table = BenchTable::default();
        let value = |name: &str| match name {
            "prompt_us" => Ok(201.0),
            name if name.starts_with("full_") => Err("not measured".into()),
            _ => Ok(1.0),
        };
        prompt(&mut table, value).unwrap();
        assert_eq!(table.verdicts(), ["MISSED"]);
    }

    #[test]
    fn growth_over_turns_is_reported() {
        let mut table = BenchTable::default();
        let value = |name: &str| {
            Ok(match name {
                "memory_after_mb" => 14.5,
                "memory_before_mb" => 10.0,
                "threads_after" => 2.0,
                _ => 1.0,
            })
        };
        held(&mut table, 1_000, value).unwrap();
        assert_eq!(table.verdicts(), ["MISSED", "", "MISSED", "ok"]);
    }
}
