//! A host that sends the lines of a script to a real program.
//!
//! In a script, a line that begins with `→` is sent, one with `←` must be received next; `#` starts a comment. A text that ends with `…`
//! matches every text with that beginning: some messages are those of a language's own library.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::Value;

/// The time limit for an answer on a machine that is busy with other work.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test.
pub(crate) struct Talk {
    name: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    log: JoinHandle<String>,
}

impl Talk {
    pub(crate) fn new(name: &str, mut command: Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        let (send, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                send.send(line).ok();
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let log = thread::spawn(move || {
            let mut log = Vec::new();
            stderr.read_to_end(&mut log).ok();
            String::from_utf8_lossy(&log).into_owned()
        });
        Self {
            name: name.to_owned(),
            stdin: child.stdin.take(),
            child,
            lines,
            log,
        }
    }

    /// Runs a whole script.
    pub(crate) fn play(&mut self, script: &str) {
        for (number, line) in (1..).zip(script.lines()) {
            if let Some(said) = line.strip_prefix("→ ") {
                self.say(said);
            } else if let Some(expected) = line.strip_prefix("← ") {
                let heard = self.hear();
                let expected: Value = serde_json::from_str(expected)
                    .unwrap_or_else(|error| panic!("line {number} of the script: {error}"));
                assert!(
                    alike(&plain(&expected), &plain(&heard)),
                    "{}, line {number} of the script\nexpected {expected}\n   heard {heard}",
                    self.name
                );
            } else {
                let comment = line.is_empty() || line.starts_with('#');
                assert!(comment, "line {number} of the script: {line}");
            }
        }
    }

    pub(crate) fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    /// The next line; that it is JSON is part of every test.
    pub(crate) fn hear(&mut self) -> Value {
        let name = &self.name;
        let line = self.lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|error| panic!("{name} says nothing: {error}"));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"))
    }

    /// Sends text without ending the line.
    pub(crate) fn mutter(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// The lines that are still sent after the last request.
    pub(crate) fn hear_after_the_end(&mut self) -> Value {
        drop(self.stdin.take());
        self.hear()
    }

    /// Closes its input. The program must exit successfully and print nothing more; returns its log.
    pub(crate) fn end(mut self) -> String {
        drop(self.stdin.take());
        self.end_by_itself()
    }

    /// The program must exit successfully and print nothing more, although its input stays open; returns its log.
    pub(crate) fn end_by_itself(mut self) -> String {
        let rest = self.lines.recv_timeout(PATIENCE);
        assert!(rest.is_err(), "{} goes on: {rest:?}", self.name);
        let status = self.child.wait().unwrap();
        let log = self.log.join().unwrap();
        assert!(status.success(), "{} ends with {status}\n{log}", self.name);
        log
    }
}

/// Without fields that some omit and others set to `null`.
fn plain(value: &Value) -> Value {
    let Some(params) = value.get("params").and_then(Value::as_object) else {
        return value.clone();
    };
    let empty =
        |value: &Value| value.is_null() || value.as_object().is_some_and(|map| map.is_empty());
    let said = params.iter().filter(|(_, value)| !empty(value));
    let said = said.map(|(name, value)| (name.clone(), value.clone()));
    let mut plain = value.clone();
    plain["params"] = said.collect::<serde_json::Map<_, _>>().into();
    plain
}

fn alike(expected: &Value, heard: &Value) -> bool {
    match (expected, heard) {
        (Value::String(expected), Value::String(heard)) => match expected.strip_suffix('…') {
            Some(beginning) => heard.starts_with(beginning),
            None => expected == heard,
        },
        (Value::Array(expected), Value::Array(heard)) => {
            let mut pairs = expected.iter().zip(heard);
            expected.len() == heard.len() && pairs.all(|(one, other)| alike(one, other))
        }
        (Value::Object(expected), Value::Object(heard)) => {
            let same = |(name, one)| heard.get(name).is_some_and(|other| alike(one, other));
            expected.len() == heard.len() && expected.iter().all(same)
        }
        _ => expected == heard,
    }
}

/// The folder `sdk/`.
pub(crate) fn sdk() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap().to_path_buf()
}

fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap()
}

/// The skill of `examples/`, which cargo builds with the tests.
pub(crate) fn rust() -> Command {
    let tests = std::env::current_exe().unwrap();
    let greeter = tests.parent().unwrap().join("../examples/greeter");
    assert!(
        greeter.exists(),
        "there is no example at {}: `cargo test -p metier-sdk` without `--test` builds it",
        greeter.display()
    );
    Command::new(greeter)
}

pub(crate) fn python(script: &Path) -> Command {
    let mut command = Command::new("python3");
    command.arg("-B").arg(script);
    command
}

/// A program that npm installed.
fn node() -> Command {
    let node = target().join("node/node_modules/.bin/node");
    assert!(
        node.exists(),
        "there is no Node at {}: `cargo xtask test` installs it (it needs npm)",
        node.display()
    );
    Command::new(node)
}

pub(crate) fn typescript(script: &Path) -> Command {
    let mut command = node();
    command.arg(script);
    command
}

/// The type checker, with all strict options that Node can run with.
pub(crate) fn tsc(script: &Path) -> Command {
    let modules = target().join("node/node_modules");
    let mut command = node();
    command
        .arg(modules.join("typescript/bin/tsc"))
        .args(["--noEmit", "--strict", "--erasableSyntaxOnly"])
        .args(["--verbatimModuleSyntax", "--allowImportingTsExtensions"])
        .args(["--target", "esnext", "--module", "esnext"])
        .args(["--moduleResolution", "bundler", "--types", "node"])
        .arg("--typeRoots")
        .arg(modules.join("@types"))
        .arg(script);
    command
}
