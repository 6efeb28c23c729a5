//! How long a handler takes, in one process: from engine start to the first answer, and afterwards: `cargo bench -p metier-js --bench handler`.
#![expect(clippy::print_stdout, reason = "it is there to print")]

use std::cell::RefCell;
use std::error::Error;
use std::io::{self, Cursor, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use metier_js::{JsLimits, serve};
use serde_json::{Value, json};

/// The work of typical handlers: types, an enum, a file, a loop over existing values.
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

/// How many events there are, and how many times it starts again.
const EVENTS: usize = 1_000;
const STARTS: usize = 200;

/// The engine's output: the time of each answer is recorded, and an error ends the run. It requests one file in each event; the
/// reply is prepared, so that the host is only a line of input.
struct Output(Rc<RefCell<Vec<Instant>>>);

impl Write for Output {
    /// The engine writes a frame and then the end of its line.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes != b"\n" {
            let frame: Value = serde_json::from_slice(bytes)?;
            if frame.get("error").is_some() {
                return Err(io::Error::other(frame.to_string()));
            }
            if frame.get("method").is_none() {
                self.0.borrow_mut().push(Instant::now());
            }
        }
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

/// The start, and the time of each answer.
fn run(events: usize) -> Result<(Instant, Vec<Instant>), Box<dyn Error>> {
    let initialize = json!({"id": 0, "method": "initialize", "params": {"protocol": 1, "skill": "s", "directory": "/skills/s",
        "sources": {"handler.ts": HANDLER}, "handlers": [{"file": "handler.ts", "export": "default"}]}});
    let mut input = format!("{initialize}\n");
    let event = event();
    for id in 1..=events {
        let error =
            json!({"code": -32_002, "message": "there is none", "data": {"code": "not-found"}});
        let answer = json!({"id": id, "error": error});
        input += &format!("{event}\n{answer}\n");
    }
    let answered = Rc::new(RefCell::new(Vec::new()));
    let output = Output(Rc::clone(&answered));
    let began = Instant::now();
    serve(Cursor::new(input), output, &JsLimits::default())?;
    Ok((began, answered.take()))
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
