//! The memory and time that one step of the interpreter can use, and that the limits of a process end it.
//!
//! This test runs itself again as a child whose address space and processor time are limited, as a worker's are. The child
//! must give an answer or be gone, soon.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use metier_starlark::{StarlarkLimits, serve};
use serde_json::json;

const MARK: &str = "METIER_STARLARK_TEST_GUEST";

/// The child. It does nothing when all ignored tests are run.
#[test]
#[ignore = "run by the tests of this file"]
fn guest() {
    if std::env::var_os(MARK).is_some() {
        serve(
            std::io::stdin().lock(),
            std::io::stdout().lock(),
            &StarlarkLimits::default(),
        )
        .unwrap();
    }
}

enum End {
    /// The error that it answered with.
    Answer(String),
    /// How the process ended.
    Gone(std::process::ExitStatus),
}

/// Runs a handler with this body in a child that has 512 MB and one second of processor time.
fn run(code: &str) -> End {
    let lines: Vec<String> = code.lines().map(|line| format!("    {line}\n")).collect();
    let source = format!(
        "def t(input):\n{}register_tool(\"t\", \"\", t)\n",
        lines.concat()
    );
    let initialize = json!({"id": 0, "method": "initialize", "params": {"protocol": 1, "skill": "s", "directory": "/",
        "entrypoint": "s.star", "sources": {"s.star": source}}});
    let execute = json!({"id": 1, "method": "tool/execute", "params": {"name": "t", "input": {}}});
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v 524288; ulimit -t 1; ulimit -c 0; exec \"$0\" --exact outside::guest --ignored --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .env(MARK, "1")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The child may be gone before it has read everything.
    let _ = writeln!(stdin, "{initialize}\n{execute}");
    drop(stdin);
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    let status = child.wait().unwrap();
    let answer = said
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find(|message| message["id"] == 1);
    match answer {
        Some(answer) => End::Answer(answer["result"]["output"].to_string()),
        None => End::Gone(status),
    }
}

#[test]
fn the_child_answers_when_nothing_is_wrong() {
    assert!(matches!(run("return 7"), End::Answer(output) if output == "7"));
}

// case 142
#[test]
fn what_one_step_can_do_is_ended_by_the_limits_of_the_process() {
    for code in [
        "s = \"x\"\nfor i in range(60):\n    s = s + s\nreturn len(s)",
        "x = [0]\nfor i in range(60):\n    x = x + x\nreturn len(x)",
        "x = [0]\nfor i in range(60):\n    x.extend(x)\nreturn len(x)",
        "return len(\"x\" * 1000000000)",
        "return len(\"x\" * 1000000000000)",
        "return len([0] * 1000000000)",
        "return len((0,) * 1000000000)",
        "return len(list(range(2000000000)))",
        "x = 1 << 10000000000\nreturn 1",
        "x = 1 << 1000000000\ny = x * x\nreturn 1",
        "x = 3\nfor i in range(60):\n    x = x * x\nreturn 1",
        "return len(str(1 << 100000000))",
        "return len(\"%s\" % (\"x\" * 300000000) + \"{}{}\".format(\"x\" * 300000000, \"y\"))",
        "return len(\"x\".join([\"y\" * 1000000] * 1000000))",
        "return len(\"xx\".replace(\"x\", \"x\" * 400000000))",
        "x = [0]\nfor i in range(40):\n    x = [x, x]\nreturn len(str(x))",
        "x = [0]\nfor i in range(60):\n    x = [x, x]\nreturn x == [x, x]",
        "return sorted(list(range(20000000)), reverse = True)[0] + len(sorted([str(i) for i in range(19000000)]))",
    ] {
        match run(code) {
            End::Answer(said) => println!("answered: {said:.100}  <- {code:?}"),
            End::Gone(status) => {
                println!("{status}  <- {code:?}");
                assert!(!status.success(), "{code}");
            }
        }
    }
}

/// Deep data is walked by recursion when it is dropped or frozen: the stack overflows, and the process ends.
// case 142
#[test]
fn deep_data_ends_the_process_and_nothing_else() {
    for code in [
        "x = []\nfor i in range(1000000):\n    x = [x]\nreturn 1",
        "x = []\nfor i in range(1000000):\n    x = [x]\nreturn x == [x]",
        "x = []\nfor i in range(1000000):\n    x = (x,)\nreturn len(repr(x))",
        "x = 1\nfor i in range(1000000):\n    x = struct(x = x)\nreturn hash(str(x))",
    ] {
        match run(code) {
            End::Answer(said) => println!("answered: {said:.100}  <- {code:?}"),
            End::Gone(status) => {
                println!("{status}  <- {code:?}");
                assert!(!status.success(), "{code}");
            }
        }
    }
}
