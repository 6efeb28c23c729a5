//! How long a client waits: from starting `metier mcp` to the answer that names its tools.
//!
//! The process does not end when it has answered, so its whole run is meaningless; the clock stops at the line that has the answer.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Result;

/// The two ways in which clients begin.
#[derive(Clone, Copy, Debug)]
pub(super) enum Era {
    /// `initialize` first: the answer to it holds the catalog.
    Handshake,
    /// Each request stands alone.
    Alone,
}

impl Era {
    /// What a client sends; the last line requests the tools, with the id 2.
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

/// Starts the program once and asks; gives the time to the answer.
pub(super) fn time(metier: &Path, home: &OsStr, root: &Path, era: Era) -> Result<Duration> {
    let start = Instant::now();
    let mut child = Command::new(metier)
        .arg("--root")
        .arg(root)
        .arg("mcp")
        .env("METIER_HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
        return Err("the program has no pipes".into());
    };
    for line in era.lines() {
        writeln!(stdin, "{line}")?;
    }
    let mut answered = None;
    for line in BufReader::new(stdout).lines() {
        let answer: Value = serde_json::from_str(&line?)?;
        if answer["id"] == 2 {
            answered = Some((start.elapsed(), answer));
            break;
        }
    }
    drop(stdin);
    child.wait()?;
    match answered {
        Some((time, answer))
            if answer["result"]["tools"]
                .as_array()
                .is_some_and(|tools| !tools.is_empty()) =>
        {
            Ok(time)
        }
        other => Err(format!("`metier mcp` has no tools: {other:?}").into()),
    }
}
