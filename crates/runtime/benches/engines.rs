//! The cost of a TypeScript hook in either engine, for `cargo xtask bench host`: each line is a name and a number.
//!
//! `engines METIER DENO FOLDER` needs the program, Deno, and an empty folder. A cold start is measured up to the first answer: for the
//! runtime that is an activation (bytes scanned, permission requested, sandbox set up) and an event; for comparison, Deno alone is
//! started with the same flags and the same request. All three take turns, so that noise of the machine affects all of them.

mod environment;

use std::{
    ffi::OsString,
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use metier_config::{Config, HookEngine};
use metier_host::{
    backend::{ChildProcess, SkillHost, SkillProcess, WorkerCommand},
    child::SMALL_PAGES,
    execution::{Openings, deno_flags},
};
use metier_js::{DENO_RUNNER, OPENCLAW_HOOKS};
use metier_runtime::live::Runtime;
use metier_sdk::wire::{
    Handler, HostRequest, Initialize, OpenclawEvent, OpenclawHandle, PROTOCOL, RpcError, method,
};
use serde_json::{Value, json};

use environment::{BenchEnvironment, Error, Outcome, PATIENCE, median, nothing, tell};

const ROUNDS: usize = 25;
const FILE: &str = "hooks/openclaw/handler.ts";

/// A realistic handler: an imported type, an enum, a promise, an added file.
const HANDLER: &str = r##"import type { HookHandler } from "openclaw/hooks";

enum Tone {
  Calm = "calm",
  Loud = "loud",
}

interface Reminder {
  path: string;
  content: string;
  virtual: boolean;
}

async function remind(tone: Tone): Promise<Reminder> {
  const words = tone === Tone.Loud ? "REMEMBER" : "Remember";
  return { path: "REMINDER.md", content: `${words} what was learned.`, virtual: true };
}

const handler: HookHandler = async (event) => {
  if (event.type !== "agent" || event.action !== "bootstrap") return;
  event.context.bootstrapFiles.push(await remind(Tone.Calm));
};

export default handler;
"##;

fn main() -> Outcome {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [metier, deno, folder] = arguments.as_slice() else {
        return Err("usage: engines METIER DENO FOLDER".into());
    };
    let skill = write_skill(&folder.join("skills/reminder"))?;
    let bare = Bare::new(deno, &skill, &folder.join("bare"))?;
    let skills = folder.join("skills");
    let stage =
        |engine| BenchEnvironment::new(metier, folder, &[&skills], false, config(engine, deno));
    let embedded = stage(HookEngine::Embedded)?;
    let fenced = stage(HookEngine::Deno)?;
    let (mut ours, mut theirs, mut alone, mut worker) = (vec![], vec![], vec![], vec![]);
    embedded.play(&folder.join("embedded"), |embedded| {
        fenced.play(&folder.join("fenced"), |fenced| {
            // Once for the verdict on the skill, and for caches of the disk.
            cold(embedded)?;
            cold(fenced)?;
            bare.cold()?;
            for _ in 0..ROUNDS {
                ours.push(cold(embedded)?);
                theirs.push(cold(fenced)?);
                alone.push(bare.cold()?);
                worker.push(cold_worker(metier, &skill)?);
            }
            warm(embedded, "js_warm_us")?;
            warm(fenced, "deno_warm_us")
        })
    })?;
    tell("js_cold_ms", middle(ours));
    tell("js_worker_cold_ms", middle(worker));
    tell("deno_cold_ms", middle(theirs));
    tell("deno_alone_ms", middle(alone));
    Ok(())
}

fn config(engine: HookEngine, deno: &Path) -> Config {
    let mut config = Config::default();
    config.hooks.engine = engine;
    config.hooks.deno = Some(deno.to_owned());
    config
}

fn write_skill(folder: &Path) -> Result<PathBuf, Error> {
    let file = folder.join(FILE);
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent)?;
    }
    let manifest = "---\nname: reminder\ndescription: Is measured.\n---\nRemember.\n";
    fs::write(folder.join("SKILL.md"), manifest)?;
    fs::write(&file, HANDLER)?;
    Ok(folder.canonicalize()?)
}

/// From a cold start to the hook's additions, in milliseconds.
fn cold(runtime: &Runtime) -> Result<f64, Error> {
    let start = Instant::now();
    runtime.activate("reminder")?;
    let fragments = runtime.fragments()?;
    let time = start.elapsed().as_secs_f64() * 1e3;
    if !fragments
        .iter()
        .any(|one| one.text.contains("Remember what"))
    {
        return Err(format!("the hook added nothing: {:?}", runtime.collect().1).into());
    }
    runtime.deactivate("reminder")?;
    Ok(time)
}

fn warm(runtime: &Runtime, name: &str) -> Outcome {
    runtime.activate("reminder")?;
    let event = || Ok(runtime.fragments().map(drop)?);
    tell(name, median(500, event, nothing)?);
    Ok(runtime.end()?)
}

/// The embedded engine without the runtime around it: a worker that starts, sandboxes itself, loads the handler and answers.
fn cold_worker(metier: &Path, skill: &Path) -> Result<f64, Error> {
    let worker = WorkerCommand {
        binary: metier.to_owned(),
        arguments: vec!["__js".to_owned()],
        variables: [("MIMALLOC_ARENA_RESERVE", "16384"), SMALL_PAGES]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        confinement: "worker",
    };
    let start = Instant::now();
    let mut session = ChildProcess::open(worker, &hello(skill), &NoUser, PATIENCE)?;
    session.call(method::OPENCLAW, event()?, &NoUser, PATIENCE)?;
    let time = start.elapsed().as_secs_f64() * 1e3;
    Box::new(session).close(&NoUser, PATIENCE);
    Ok(time)
}

fn hello(skill: &Path) -> Initialize {
    Initialize {
        protocol: PROTOCOL,
        skill: "reminder".into(),
        directory: skill.to_string_lossy().into_owned(),
        project: None,
        config: Value::Null,
        permissions: Vec::new(),
        entrypoint: None,
        sources: [(FILE.to_owned(), HANDLER.to_owned())].into(),
        variables: std::collections::BTreeMap::new(),
        handlers: vec![Handler {
            file: FILE.into(),
            export: "default".into(),
        }],
    }
}

fn event() -> Result<Value, Error> {
    let event = OpenclawHandle {
        handler: 0,
        event: OpenclawEvent {
            r#type: "agent".into(),
            action: "bootstrap".into(),
            session_key: "s".into(),
            timestamp: "2026-01-02T03:04:05Z".into(),
            messages: json!([]),
            context: json!({"workspaceDir": "/", "bootstrapFiles": []}),
        },
    };
    Ok(serde_json::to_value(event)?)
}

struct NoUser;

impl SkillHost for NoUser {
    fn ask(&self, _: HostRequest) -> Result<Value, RpcError> {
        Ok(json!({}))
    }
}

/// Deno alone: the flags that correspond to the grant, and the same runner.
struct Bare {
    deno: PathBuf,
    arguments: Vec<OsString>,
    cache: PathBuf,
    lines: String,
}

impl Bare {
    fn new(deno: &Path, skill: &Path, folder: &Path) -> Result<Self, Error> {
        fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        for (name, text) in [
            ("deno.ts", DENO_RUNNER),
            ("hooks.ts", OPENCLAW_HOOKS),
            (
                "imports.json",
                r#"{"imports": {"openclaw/hooks": "./hooks.ts"}}"#,
            ),
        ] {
            fs::write(folder.join(name), text)?;
        }
        let flags = deno_flags(&Openings {
            read: vec![skill.to_owned()],
            ..Openings::default()
        });
        let mut map = OsString::from("--import-map=");
        map.push(folder.join("imports.json"));
        let mut arguments = vec![OsString::from("run")];
        arguments.extend(flags);
        arguments.extend([map, folder.join("deno.ts").into()]);
        let hello = serde_json::to_value(hello(skill))?;
        let first =
            json!({"jsonrpc": "2.0", "id": 1, "method": method::INITIALIZE, "params": hello});
        let second =
            json!({"jsonrpc": "2.0", "id": 2, "method": method::OPENCLAW, "params": event()?});
        Ok(Self {
            deno: deno.to_owned(),
            arguments,
            cache: folder.join("cache"),
            lines: format!("{first}\n{second}\n"),
        })
    }

    /// From a cold start to the result of the hook, in milliseconds. With an empty cache, as in the sandbox.
    fn cold(&self) -> Result<f64, Error> {
        if self.cache.exists() {
            fs::remove_dir_all(&self.cache)?;
        }
        fs::create_dir_all(&self.cache)?;
        let start = Instant::now();
        let mut child = Command::new(&self.deno)
            .args(&self.arguments)
            .env_clear()
            .env("DENO_DIR", &self.cache)
            .env("DENO_NO_UPDATE_CHECK", "1")
            .env("NO_COLOR", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut stdin = child.stdin.take().ok_or("no pipe")?;
        let stdout = child.stdout.take().ok_or("no pipe")?;
        stdin.write_all(self.lines.as_bytes())?;
        let answer = BufReader::new(stdout).lines().nth(1);
        let time = start.elapsed().as_secs_f64() * 1e3;
        let answer = answer.ok_or("Deno did not answer")??;
        child.kill()?;
        child.wait()?;
        match answer.contains("Remember what") {
            true => Ok(time),
            false => Err(format!("Deno answered {answer}").into()),
        }
    }
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
