//! The time that a client waits: from the start of `metier mcp` to the answer that names its tools, and for a skill.
//!
//! The process does not end when it has answered, so the duration of its run is meaningless; the clock stops at the line with the answer.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Result;

/// The two ways in which clients start.
#[derive(Clone, Copy, Debug)]
pub(super) enum Era {
    /// `initialize` first: the answer to it holds the catalog.
    Handshake,
    /// Each request stands alone.
    Alone,
}

impl Era {
    /// The client's messages; the last line requests the tools, with the id 2.
    fn lines(self) -> Vec<Value> {
        let client = json!({"name": "bench", "version": "1"});
        let tools = |params: Value| json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": params});
        match self {
            Self::Handshake => vec![
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
                    {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}}),
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
                tools(json!({})),
            ],
            Self::Alone => vec![tools(json!({"_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": client,
            }}))],
        }
    }
}

/// A running `metier mcp`; it ends with this value.
struct MeasuredServer {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl MeasuredServer {
    fn start(metier: &Path, home: &OsStr, root: &Path) -> Result<Self> {
        let mut child = Command::new(metier)
            .arg("--root")
            .arg(root)
            .arg("mcp")
            .env("METIER_HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = child.stdout.take().ok_or("the program has no pipes")?;
        Ok(Self {
            input: child.stdin.take(),
            child,
            output: BufReader::new(output).lines(),
        })
    }

    fn say(&mut self, line: &Value) -> Result<()> {
        let input = self.input.as_mut().ok_or("the program has no pipes")?;
        Ok(writeln!(input, "{line}")?)
    }

    /// The result with this id.
    fn hear(&mut self, id: u64) -> Result<Value> {
        loop {
            let line = self.output.next().ok_or("`metier mcp` ended")??;
            let mut answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == id {
                return Ok(answer["result"].take());
            }
        }
    }
}

impl Drop for MeasuredServer {
    fn drop(&mut self) {
        self.input = None;
        // It may have ended already.
        let _ = self.child.wait();
    }
}

/// Starts the program once and sends the request; returns the time to the answer.
pub(super) fn time(metier: &Path, home: &OsStr, root: &Path, era: Era) -> Result<Duration> {
    let start = Instant::now();
    let mut server = MeasuredServer::start(metier, home, root)?;
    for line in era.lines() {
        server.say(&line)?;
    }
    let instructions = match era {
        Era::Handshake => Some(server.hear(1)?["instructions"].to_string()),
        Era::Alone => None,
    };
    let answer = server.hear(2)?;
    let time = start.elapsed();
    if instructions.is_some_and(|text| !text.contains("<available_skills>") && !text.contains("- "))
    {
        return Err("the instructions name no skills".into());
    }
    match answer["tools"].as_array() {
        Some(tools) if !tools.is_empty() => Ok(time),
        _ => Err(format!("`metier mcp` has no tools: {answer}").into()),
    }
}

/// The time that `activate_skill` takes in a server that is ready: skills that were never scanned, and the same again.
pub(super) fn activations(
    metier: &Path,
    home: &OsStr,
    root: &Path,
    most: usize,
) -> Result<[Vec<Duration>; 2]> {
    let mut names: Vec<String> = fs::read_dir(root)?
        .filter_map(std::result::Result::ok)
        .filter(|entry| entry.path().join("SKILL.md").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    let step = (names.len() / most).max(1);
    let names: Vec<String> = names.into_iter().step_by(step).take(most).collect();
    let mut server = MeasuredServer::start(metier, home, root)?;
    for line in Era::Handshake.lines() {
        server.say(&line)?;
    }
    server.hear(2)?;
    // The folders are prepared after the first answers.
    thread::sleep(Duration::from_secs(2));
    let mut times = [Vec::new(), Vec::new()];
    let mut id = 2;
    for round in &mut times {
        for name in &names {
            id += 1;
            let start = Instant::now();
            server.say(
                &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params":
                {"name": "activate_skill", "arguments": {"name": name}}}),
            )?;
            let answer = server.hear(id)?;
            let time = start.elapsed();
            // Some skills of the corpus require programs that this machine does not have.
            if answer["isError"] == false {
                round.push(time);
            }
        }
    }
    match times.iter().any(Vec::is_empty) {
        true => Err("no skill can be activated".into()),
        false => Ok(times),
    }
}
