//! The cost of a native skill: `native METIER LIBRARY [PROGRAM]`; each line is a name and a number.
//!
//! METIER loads the library like a skill's; PROGRAM is the same skill as a program, for comparison. Both are
//! `examples/word-count`, and run without a sandbox, which costs both the same.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use metier_host::backend::{ChildProcess, SkillHost, SkillProcess, WorkerCommand};
use metier_sdk::wire::{HostRequest, Initialize, PROTOCOL, RpcError, method};
use serde_json::{Value, json};

type Error = Box<dyn std::error::Error>;

const PATIENCE: Duration = Duration::from_secs(10);
const STARTS: usize = 20;
const CALLS: usize = 2_000;

/// A host with one file.
struct OneFile;

impl SkillHost for OneFile {
    fn ask(&self, _: HostRequest) -> Result<Value, RpcError> {
        Ok(json!({"content": "one two\nthree\n"}))
    }
}

fn main() -> Result<(), Error> {
    // Children start elsewhere.
    let arguments = std::env::args_os()
        .skip(1)
        .map(|path| Path::new(&path).canonicalize());
    let arguments: Vec<PathBuf> = arguments.collect::<Result<_, _>>()?;
    match arguments.as_slice() {
        [metier, library] => native(metier, library),
        [metier, library, program] => {
            native(metier, library)?;
            measure("process", &worker(program, Vec::new()))
        }
        _ => Err("usage: native METIER LIBRARY [PROGRAM]".into()),
    }
}

fn native(metier: &Path, library: &Path) -> Result<(), Error> {
    let library = library.to_str().ok_or("LIBRARY is not text")?;
    let arguments = vec!["__native-host".to_owned(), library.to_owned()];
    measure("native", &worker(metier, arguments))
}

fn worker(binary: &Path, arguments: Vec<String>) -> WorkerCommand {
    WorkerCommand {
        binary: binary.to_owned(),
        arguments,
        variables: Vec::new(),
        confinement: "unsandboxed",
    }
}

fn measure(name: &str, worker: &WorkerCommand) -> Result<(), Error> {
    let hello = Initialize {
        protocol: PROTOCOL,
        skill: "word-count".into(),
        directory: "/".into(),
        config: Value::Null,
        permissions: Vec::new(),
        entrypoint: None,
        sources: BTreeMap::new(),
        handlers: Vec::new(),
        variables: BTreeMap::new(),
        project: None,
    };
    let start = || ChildProcess::open(worker.clone(), &hello, &OneFile, PATIENCE);
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        let begin = Instant::now();
        let session = start()?;
        starts.push(begin.elapsed());
        Box::new(session).close(&OneFile, PATIENCE);
    }
    tell(&format!("{name}_start_us"), starts);
    let mut session = start()?;
    for (what, input) in [
        ("call", json!({"text": "one two\nthree\n"})),
        ("asking_call", json!({"path": "notes.txt"})),
    ] {
        let mut calls = Vec::new();
        for _ in 0..CALLS {
            let params = json!({"name": "count", "input": input, "session": "s"});
            let begin = Instant::now();
            let answer = session.call(method::TOOL, params, &OneFile, PATIENCE)?;
            calls.push(begin.elapsed());
            if answer["output"]["words"] != 3 {
                return Err(format!("that is no count: {answer}").into());
            }
        }
        tell(&format!("{name}_{what}_us"), calls);
    }
    Box::new(session).close(&OneFile, PATIENCE);
    Ok(())
}

#[expect(clippy::print_stdout, reason = "printing is what this program is for")]
fn tell(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let median = times[times.len() / 2].as_secs_f64() * 1e6;
    println!("{name} {median:.1}");
}
