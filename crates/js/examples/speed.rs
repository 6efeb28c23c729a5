//! How long a handler takes, in one process: from an engine that isn't there to the first answer, and from then on.
//!
//! ```text
//! cargo run --release -p metier-js --example speed
//! ```
#![expect(clippy::print_stdout, reason = "it is there to print")]

use std::cell::RefCell;
use std::error::Error;
use std::io::{self, BufRead, Read, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use metier_js::{Limits, serve};
use serde_json::{Value, json};

/// What such handlers do: types, an enum, a file, a loop over what is there.
const HANDLER: &str = r###"
import fs from "node:fs/promises";
import path from "node:path";
import type { HookHandler } from "openclaw/hooks";

enum Header { Reminder = "## Reminder" }
interface Entry { path: string; content?: string; virtual?: boolean }
const isObject = (value: unknown): value is Record<string, unknown> => !!value && typeof value === "object";

async function pending(workspace: string | undefined): Promise<number> {
  if (!workspace) return 0;
  try {
    const text = await fs.readFile(path.join(workspace, ".notes", "ERRORS.md"), "utf-8");
    return text.split(/^## /m).slice(1).filter((section) => section.includes("pending")).length;
  } catch {
    return 0;
  }
}

const handler: HookHandler = async (event) => {
  if (!isObject(event.context) || !Array.isArray(event.context.bootstrapFiles)) return;
  const count = await pending(event.context.workspaceDir as string);
  const files = (event.context.bootstrapFiles as Entry[]).filter((file) => file.path !== "REMINDER.md");
  files.push({ path: "REMINDER.md", content: `${Header.Reminder}\n\n${count} to look at`, virtual: true });
  event.context.bootstrapFiles = files;
};
export default handler;
"###;

/// How often the events come, and how often it begins anew.
const EVENTS: usize = 1_000;
const STARTS: usize = 200;

/// A line in memory whose other end asks, answers, and notes when.
struct Line {
    to_guest: Vec<u8>,
    left: usize,
    answered: Vec<Instant>,
}

struct Input(Rc<RefCell<Line>>, Vec<u8>);
struct Output(Rc<RefCell<Line>>);

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.1.append(&mut self.0.borrow_mut().to_guest);
        Ok(&self.1)
    }

    fn consume(&mut self, count: usize) {
        self.1.drain(..count);
    }
}

impl Write for Output {
    /// The guest writes a frame and then the end of its line.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes == b"\n" {
            return Ok(1);
        }
        let frame: Value = serde_json::from_slice(bytes)?;
        let mut line = self.0.borrow_mut();
        let next = if frame.get("method").is_some() {
            let error =
                json!({"code": -32_002, "message": "there is none", "data": {"code": "not-found"}});
            json!({"id": frame["id"], "error": error})
        } else {
            if frame.get("error").is_some() {
                return Err(io::Error::other(frame.to_string()));
            }
            line.answered.push(Instant::now());
            if line.left == 0 {
                return Ok(bytes.len());
            }
            line.left -= 1;
            event()
        };
        line.to_guest.extend(format!("{next}\n").bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn event() -> Value {
    let context = json!({"workspaceDir": "/project", "bootstrapFiles": [{"path": "AGENTS.md", "content": "# Agents"}]});
    json!({"id": 1, "method": "openclaw/handle", "params": {"handler": 0, "event": {"type": "agent", "action": "bootstrap",
        "sessionKey": "main", "timestamp": "2026-01-02T03:04:05Z", "messages": [], "context": context}}})
}

/// When it was begun, and when each answer was there.
fn run(events: usize) -> Result<(Instant, Vec<Instant>), Box<dyn Error>> {
    let initialize = json!({"id": 0, "method": "initialize", "params": {"protocol": 1, "skill": "s", "directory": "/skills/s",
        "sources": {"handler.ts": HANDLER}, "handlers": [{"file": "handler.ts", "export": "default"}]}});
    let line = Rc::new(RefCell::new(Line {
        to_guest: format!("{initialize}\n").into_bytes(),
        left: events,
        answered: Vec::new(),
    }));
    let began = Instant::now();
    let ends = (
        Input(Rc::clone(&line), Vec::new()),
        Output(Rc::clone(&line)),
    );
    serve(ends.0, ends.1, &Limits::default())?;
    let answered = std::mem::take(&mut line.borrow_mut().answered);
    Ok((began, answered))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut loaded, mut first) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let (began, answered) = run(1)?;
        loaded.push(answered[0] - began);
        first.push(answered[1] - began);
    }
    let (_, answered) = run(EVENTS)?;
    let warm = answered.windows(2).skip(1).map(|pair| pair[1] - pair[0]);
    println!("engine and handler loaded: {:?}", median(loaded));
    println!("the same and the first event: {:?}", median(first));
    println!("each event from then on:    {:?}", median(warm.collect()));
    Ok(())
}
