//! Sessions with children that misbehave in every possible way.
//!
//! Each is a Python script, started directly, so that it can do anything. In every case the caller gets an answer in time, with a
//! message that describes what happened; no process is left, and no more memory is used than before.

mod calls;
mod lives;
mod messages;

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use metier_host::backend::{
    ChildProcess, ProcessEvent, SkillHost, SkillProcess, SkillProcessError, WorkerCommand,
};
use metier_sdk::wire::{HostRequest, Initialize, RpcError, code, method};
pub(crate) use metier_testkit::patience::PATIENCE;
use metier_testkit::patience::in_time;
use serde_json::{Value, json};

const PYTHON: &str = "/usr/bin/python3";

/// The first lines of every script.
const BEGIN: &str = r#"
import sys, json, os, time, signal
def raw(text):
    sys.stdout.buffer.write(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    sys.stdout.buffer.flush()
def send(**message): raw(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
def hear():
    line = sys.stdin.readline()
    if not line: sys.exit(0)
    return json.loads(line)
def begin(**contributions): send(id=hear()["id"], result=contributions)
def ask(method, **params):
    send(id="q", method=method, params=params)
    return hear()
"#;

/// Counts requests, and refuses to run programs.
#[derive(Default)]
pub(crate) struct Desk {
    asked: Cell<u64>,
    last: RefCell<Option<HostRequest>>,
}

impl SkillHost for Desk {
    fn ask(&self, request: HostRequest) -> Result<Value, RpcError> {
        self.asked.set(self.asked.get() + 1);
        let refused = matches!(request, HostRequest::Exec { .. });
        *self.last.borrow_mut() = Some(request);
        if refused {
            return Err(RpcError {
                code: code::REFUSED,
                message: "`shell:exec` is not granted".into(),
                data: None,
            });
        }
        Ok(json!({"value": "here"}))
    }
}

pub(crate) fn hello() -> Initialize {
    Initialize {
        protocol: 1,
        skill: "trouble".into(),
        directory: "/".into(),
        config: Value::Null,
        permissions: Vec::new(),
        entrypoint: None,
        sources: std::collections::BTreeMap::new(),
        handlers: Vec::new(),
        variables: std::collections::BTreeMap::new(),
        project: None,
    }
}

/// The complete script.
pub(crate) fn script(text: &str) -> String {
    format!("{BEGIN}{text}")
}

/// A script, and its folder.
pub(crate) struct Script {
    folder: tempfile::TempDir,
}

impl Script {
    pub(crate) fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("skill.py"), script(text)).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// How it is started: with the folder as its only argument.
    pub(crate) fn worker(&self) -> WorkerCommand {
        let script = self.path("skill.py").to_str().unwrap().to_owned();
        let folder = self.folder.path().to_str().unwrap().to_owned();
        WorkerCommand {
            binary: PYTHON.into(),
            arguments: vec!["-I".into(), "-S".into(), script, folder],
            variables: Vec::new(),
            confinement: "unsandboxed",
        }
    }

    pub(crate) fn open(&self, desk: &Desk) -> Result<ChildProcess<'static>, SkillProcessError> {
        ChildProcess::open(self.worker(), &hello(), desk, PATIENCE)
    }

    /// Whether a process with this script on its command line is alive. A process that was just killed may take a moment to exit.
    pub(crate) fn lives(&self) -> bool {
        let script = self.path("skill.py").display().to_string();
        let began = Instant::now();
        while lives(&script) {
            if began.elapsed() > PATIENCE {
                return true;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        false
    }
}

/// Whether a process with this argument is running on the machine.
pub(crate) fn lives(word: &str) -> bool {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| {
        String::from_utf8_lossy(&line)
            .split('\0')
            .any(|part| part == word)
    })
}

/// Opens a script, calls it once, and checks that nothing is left.
pub(crate) fn check(
    text: &str,
    timeout: Duration,
) -> (Result<Value, SkillProcessError>, Vec<ProcessEvent>, Desk) {
    let script = Script::new(&format!("begin()\nid = hear()['id']\n{text}"));
    let desk = Desk::default();
    let memory = memory();
    let mut session = script.open(&desk).unwrap();
    let answer = in_time(text, || {
        session.call(method::TOOL, json!({}), &desk, timeout)
    });
    let grown = self::memory().saturating_sub(memory);
    assert!(grown < 256 << 20, "grew by {grown} bytes");
    let mut events = session.events();
    events.extend(Box::new(session).close(&desk, Duration::from_millis(200)));
    assert!(!script.lives(), "{text}");
    (answer, events, desk)
}

/// The log, one line each.
pub(crate) fn said(events: &[ProcessEvent]) -> Vec<&str> {
    let lines = events.iter().filter_map(|event| match event {
        ProcessEvent::Said(line) => Some(line.as_str()),
        _ => None,
    });
    lines.collect()
}

pub(crate) fn text(answer: Result<Value, SkillProcessError>) -> String {
    answer.unwrap_err().to_string()
}

/// The memory that this process uses.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
