//! The cost of active skills, for `cargo xtask bench host`: each line is a name and a number.
//!
//! `live METIER CHILD FOLDER [CYCLES]` needs the program, which interprets Starlark, a program that answers as a skill does, and
//! an empty folder on a disk. Most of a receipt's time is the disk's sync, so calls are measured with the
//! database on the disk and in memory.

mod environment;

use std::{
    cell::{Cell, RefCell},
    fs,
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use metier_config::Config;
use metier_host::{
    backend::{self, ChildProcess, SkillHost, SkillProcess},
    sandbox::{WorkerLimits, confine},
};
use metier_runtime::live::Runtime;
use metier_sdk::{
    HookPhase,
    wire::{HostRequest, Initialize, PROTOCOL, RpcError, method},
};
use metier_store::{Completion, NewReceipt, ReceiptDecision, ReceiptOutcome, Store};
use serde_json::{Value, json};

use environment::{BenchEnvironment, Error, Outcome, PATIENCE, median, nothing, tell};

const HOOKS: usize = 50;
/// The folder of files in memory, if there is one.
const MEMORY: &str = "/dev/shm";

/// A skill of the usual size.
const GREETER: &str = r#"
GREETINGS = {"en": "Hello", "de": "Hallo", "fr": "Bonjour"}

def greeting(language):
    if language not in GREETINGS:
        fail("no greeting for " + language)
    return GREETINGS[language]

def greet(input):
    who = input["who"].strip()
    return {"text": greeting(input.get("language", "en")) + ", " + who}

register_tool(
    "greet",
    "Greets someone.",
    greet,
    input_schema = {
        "type": "object",
        "required": ["who"],
        "properties": {"who": {"type": "string"}, "language": {"enum": ["en", "de", "fr"]}},
    },
)
"#;

const WATCHER: &str = r#"
def watch(event):
    return None

register_hook("before_tool_call", watch)
"#;

const EDITOR: &str = r#"
def edit(event):
    event["input"]["count"] = event["input"].get("count", 0) + 1
    return event

register_hook("before_tool_call", edit)
"#;

fn main() -> Outcome {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let words: Vec<&Path> = arguments.iter().map(PathBuf::as_path).collect();
    let (metier, child, folder, cycles) = match words.as_slice() {
        [word] if word.as_os_str() == "__child" => return answer(),
        [word] if word.as_os_str() == "__confined" => {
            confine(&WorkerLimits::default())?;
            return answer();
        }
        [metier, child, folder] => (*metier, *child, *folder, 1_000),
        [metier, child, folder, cycles] => {
            let cycles = cycles.to_str().ok_or("CYCLES is no number")?;
            (*metier, *child, *folder, cycles.parse()?)
        }
        _ => return Err("usage: live METIER CHILD FOLDER [CYCLES]".into()),
    };
    write_skills(&folder.join("skills"), child)?;
    parts(metier, child)?;
    let on_disk = folder.join("data");
    disk(folder)?;
    receipts("us", &on_disk)?;
    let stage = BenchEnvironment::new(
        metier,
        folder,
        &[&folder.join("skills")],
        false,
        Config::default(),
    )?;
    stage.play(&on_disk, |runtime| {
        activations(&stage, runtime)?;
        calls(runtime, "call_us", "greeter", "greet")?;
        runtime.end()?;
        hooks(runtime, "watcher", "hooks_us")?;
        hooks(runtime, "editor", "changing_hooks_us")?;
        process(runtime)?;
        turns(runtime, cycles)
    })?;
    if !Path::new(MEMORY).is_dir() {
        return Ok(());
    }
    let in_memory = Path::new(MEMORY).join(format!("metier-live-{}", std::process::id()));
    let measured = receipts("in_memory_us", &in_memory).and_then(|()| {
        stage.play(&in_memory, |runtime| {
            runtime.activate("greeter")?;
            calls(runtime, "call_in_memory_us", "greeter", "greet")?;
            runtime.end()?;
            hooks(runtime, "editor", "changing_hooks_in_memory_us")
        })
    });
    fs::remove_dir_all(&in_memory)?;
    measured
}

fn write_skills(folder: &Path, child: &Path) -> Outcome {
    write_skill(folder, "greeter", "starlark", "skill.star", GREETER)?;
    for number in 0..HOOKS {
        for (kind, source) in [("watcher", WATCHER), ("editor", EDITOR)] {
            write_skill(
                folder,
                &format!("{kind}-{number}"),
                "starlark",
                "skill.star",
                source,
            )?;
        }
    }
    let compiled = write_skill(folder, "compiled", "process", "main", "")?;
    fs::copy(child, compiled)?;
    Ok(())
}

fn write_skill(
    folder: &Path,
    name: &str,
    backend: &str,
    file: &str,
    source: &str,
) -> Result<PathBuf, Error> {
    let folder = folder.join(name);
    fs::create_dir_all(&folder)?;
    let manifest = format!(
        "name: {name}\nversion: 1.0.0\ndescription: Is measured.\ntypes: [tool]\n\
         implementation:\n  backend: {backend}\n  entrypoint: {file}\n"
    );
    fs::write(folder.join("SKILL.yaml"), manifest)?;
    let file = folder.join(file);
    fs::write(&file, source)?;
    Ok(file)
}

/// From the start of a worker to its contributions, and the parts that can be measured from outside: starting the program,
/// sandboxing it, loading the skill. The rest is building the interpreter.
fn parts(metier: &Path, child: &Path) -> Outcome {
    let hello = hello();
    let me = std::env::current_exe()?;
    let (mut opened, mut started, mut free, mut confined, mut plain) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // In turns: a disturbance of the machine affects all of them.
    for _ in 0..60 {
        opened.push(opening(&starlark(metier), &hello)?);
        started.push(version(metier)?);
        free.push(opening(&program(&me, &["__child"]), &hello)?);
        confined.push(opening(&program(&me, &["__confined"]), &hello)?);
        plain.push(opening(&program(child, &[]), &hello)?);
    }
    tell("open_ms", middle(opened) / 1e3);
    tell("start_ms", middle(started) / 1e3);
    tell("confine_ms", (middle(confined) - middle(free)) / 1e3);
    tell("child_start_ms", middle(plain) / 1e3);
    let mut session = ChildProcess::open(starlark(metier), &hello, &NoUser, PATIENCE)?;
    let again = serde_json::to_value(&hello)?;
    let load = || {
        session.call(method::INITIALIZE, again.clone(), &NoUser, PATIENCE)?;
        Ok(())
    };
    tell("initialize_us", median(200, load, nothing)?);
    let params = json!({"name": "greet", "input": {"who": "Ada"}, "session": "s"});
    let call = || {
        session.call(method::TOOL, params.clone(), &NoUser, PATIENCE)?;
        Ok(())
    };
    tell("line_us", median(5_000, call, nothing)?);
    Box::new(session).close(&NoUser, PATIENCE);
    Ok(())
}

fn middle(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// From one start to the first answer.
fn opening(worker: &backend::WorkerCommand, hello: &Initialize) -> Result<f64, Error> {
    let start = Instant::now();
    let session = ChildProcess::open(worker.clone(), hello, &NoUser, PATIENCE)?;
    let time = start.elapsed().as_secs_f64() * 1e6;
    Box::new(session).close(&NoUser, PATIENCE);
    Ok(time)
}

fn version(metier: &Path) -> Result<f64, Error> {
    let start = Instant::now();
    Command::new(metier)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    Ok(start.elapsed().as_secs_f64() * 1e6)
}

fn starlark(metier: &Path) -> backend::WorkerCommand {
    backend::WorkerCommand {
        variables: vec![("MIMALLOC_ARENA_RESERVE".into(), "16384".into())],
        ..program(metier, &["__starlark"])
    }
}

fn program(binary: &Path, arguments: &[&str]) -> backend::WorkerCommand {
    backend::WorkerCommand {
        binary: binary.to_owned(),
        arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        variables: Vec::new(),
        confinement: "worker",
    }
}

fn hello() -> Initialize {
    Initialize {
        protocol: PROTOCOL,
        skill: "greeter".into(),
        directory: "/".into(),
        config: Value::Null,
        permissions: Vec::new(),
        entrypoint: Some("skill.star".into()),
        sources: [("skill.star".to_owned(), GREETER.to_owned())].into(),
        handlers: Vec::new(),
        variables: std::collections::BTreeMap::new(),
        project: None,
    }
}

/// Returns an empty answer to every request.
fn answer() -> Outcome {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {}});
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

struct NoUser;

impl SkillHost for NoUser {
    fn ask(&self, _: HostRequest) -> Result<Value, RpcError> {
        Ok(json!({}))
    }
}

/// The time that the disk needs to sync one page: no receipt can be faster.
fn disk(folder: &Path) -> Outcome {
    let mut file = fs::File::create(folder.join("page"))?;
    let write = || {
        file.write_all(&[0; 4096])?;
        Ok(file.sync_data()?)
    };
    tell("sync_us", median(300, write, nothing)?);
    Ok(())
}

/// One receipt alone, and an act with both of its entries.
fn receipts(place: &str, folder: &Path) -> Outcome {
    let store = Store::open(&folder.join("metier.db"))?;
    let receipt = NewReceipt {
        at: "2026-01-02T03:04:05.678Z".into(),
        skill: "greeter".into(),
        source: "user".into(),
        digest: format!("sha256:{:064}", 7),
        act: "tool:call".into(),
        detail: "greeter__greet".into(),
        decision: ReceiptDecision::Allowed,
        reason: None,
        outcome: Some(ReceiptOutcome::Ok),
        ms: 0,
        sandbox: None,
        session: Some("0123456789abcdef".into()),
        count: 1,
    };
    let write = || {
        store.append(std::slice::from_ref(&receipt))?;
        Ok(())
    };
    tell(&format!("receipt_{place}"), median(500, write, nothing)?);
    let completion = Completion {
        at: "2026-01-02T03:04:05.679Z".into(),
        decision: ReceiptDecision::Allowed,
        outcome: Some(ReceiptOutcome::Ok),
        reason: None,
        ms: 1,
        sandbox: None,
        note: String::new(),
    };
    let act = || {
        let begun = store.begin(&receipt)?;
        store.complete(begun, &completion)?;
        Ok(())
    };
    tell(&format!("act_{place}"), median(500, act, nothing)?);
    Ok(())
}

/// The first activation, for which the skill is scanned, then many; the skill stays active.
fn activations(stage: &BenchEnvironment, runtime: &Runtime) -> Outcome {
    runtime.activate("greeter")?;
    tell("scan_ms", stage.judging().as_secs_f64() * 1e3);
    runtime.deactivate("greeter")?;
    let judging = RefCell::new(Vec::new());
    let time = median(
        100,
        || Ok(runtime.activate("greeter")?),
        || {
            judging
                .borrow_mut()
                .push(stage.judging().as_secs_f64() * 1e6);
            runtime.deactivate("greeter")?;
            Ok(())
        },
    )?;
    tell("activate_ms", time / 1e3);
    tell("judge_us", middle(judging.take()));
    let ending = median(
        30,
        || {
            if runtime.names().is_empty() {
                return Ok(());
            }
            runtime.deactivate("greeter")?;
            Ok(())
        },
        || Ok(runtime.activate("greeter")?),
    )?;
    tell("deactivate_ms", ending / 1e3);
    tell("worker_mb", worker_mb()?);
    Ok(())
}

fn calls(runtime: &Runtime, name: &str, skill: &str, tool: &str) -> Outcome {
    let input = json!({"who": "Ada"});
    let call = || match runtime.call(skill, tool, &input)? {
        called if called.is_error => Err(called.output.to_string().into()),
        _ => Ok(()),
    };
    tell(name, median(2_000, call, nothing)?);
    Ok(())
}

/// An event for all skills of a kind.
fn hooks(runtime: &Runtime, kind: &str, name: &str) -> Outcome {
    for number in 0..HOOKS {
        runtime.activate(&format!("{kind}-{number}"))?;
    }
    let event = json!({
        "tool": "greeter__greet", "skill": "greeter", "input": {"who": "Ada"}, "session": "s",
    });
    let seen = Cell::new(0);
    let dispatch = || {
        let done = runtime.dispatch(HookPhase::BeforeToolCall, event.clone())?;
        seen.set(done.event["input"]["count"].as_u64().unwrap_or(0));
        Ok(())
    };
    let expected = if kind == "editor" { HOOKS } else { 0 };
    // Every change is recorded, in the order in which hooks are called.
    let collect = || {
        let written = runtime.collect().0.into_iter();
        let written: Vec<String> = written.map(|receipt| receipt.entry.skill).collect();
        match written == runtime.names()[..expected] {
            true => Ok(()),
            false => Err(format!("receipts of {written:?}").into()),
        }
    };
    runtime.collect();
    let rounds = if kind == "editor" { 60 } else { 300 };
    tell(name, median(rounds, dispatch, collect)?);
    if seen.get() != u64::try_from(expected)? {
        return Err(format!("{} of {expected} hooks changed the event", seen.get()).into());
    }
    Ok(runtime.end()?)
}

/// A program in the sandbox of a skill.
fn process(runtime: &Runtime) -> Outcome {
    let time = median(
        40,
        || Ok(runtime.activate("compiled")?),
        || {
            runtime.deactivate("compiled")?;
            Ok(())
        },
    )?;
    tell("process_activate_ms", time / 1e3);
    runtime.activate("compiled")?;
    let event =
        json!({"tool": "compiled__greet", "skill": "compiled", "input": {}, "session": "s"});
    // A hook that changes nothing leaves no receipt: only the round trip.
    let dispatch = || {
        runtime.dispatch(HookPhase::BeforeToolCall, event.clone())?;
        Ok(())
    };
    tell("process_us", median(5_000, dispatch, nothing)?);
    Ok(runtime.end()?)
}

/// The memory of this process.
struct Held {
    memory_mb: f64,
    threads: usize,
    descriptors: usize,
    children: usize,
}

impl Held {
    fn now() -> Result<Self, Error> {
        Ok(Self {
            memory_mb: memory_mb("self", "VmRSS:")?,
            threads: fs::read_dir("/proc/self/task")?.count(),
            descriptors: fs::read_dir("/proc/self/fd")?.count(),
            children: children()?.len(),
        })
    }

    #[allow(clippy::cast_precision_loss, reason = "a handful of them")]
    fn tell(&self, when: &str) {
        tell(&format!("memory_{when}_mb"), self.memory_mb);
        tell(&format!("threads_{when}"), self.threads as f64);
        tell(&format!("descriptors_{when}"), self.descriptors as f64);
        tell(&format!("children_{when}"), self.children as f64);
    }
}

/// Activates and deactivates repeatedly.
fn turns(runtime: &Runtime, cycles: usize) -> Outcome {
    let turn = || -> Outcome {
        runtime.activate("greeter")?;
        runtime.deactivate("greeter")?;
        Ok(())
    };
    (0..20).try_for_each(|_| turn())?;
    Held::now()?.tell("before");
    (0..cycles).try_for_each(|_| turn())?;
    Held::now()?.tell("after");
    Ok(())
}

fn children() -> Result<Vec<String>, Error> {
    let mut all = Vec::new();
    for task in fs::read_dir("/proc/self/task")? {
        let children = fs::read_to_string(task?.path().join("children"))?;
        all.extend(children.split_whitespace().map(str::to_owned));
    }
    Ok(all)
}

/// The memory that one worker uses and does not share with others.
fn worker_mb() -> Result<f64, Error> {
    let all = children()?;
    let pid = all.first().ok_or("there is no worker")?;
    memory_mb(pid, "RssAnon:")
}

fn memory_mb(pid: &str, kind: &str) -> Result<f64, Error> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(kind));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib: f64 = kib.ok_or("its memory is not told")?.parse()?;
    Ok(kib / 1024.0)
}
