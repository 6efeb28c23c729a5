//! `examples/fenced`, as its README describes it: every command in it is run, and nothing gets out.
//!
//! The README is the script. A line that is added there without an expected result here fails the test.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use metier_testkit::{ProgramOutput, needed, needs};

use crate::skill_project::{SkillProject, field};

/// The canary that no child may print.
const TOKEN: &str = "secret-canary-5518";

#[test]
fn the_readme_of_the_demonstration_holds() {
    // The demonstration's own script is Python.
    needed!(needs::program("/usr/bin/python3"));
    let mut stage = SkillProject::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fenced");
    copy(&example, &stage.context.dir("examples/fenced"));
    let (port, answered) = serve();
    stage.context.env("GITHUB_TOKEN", TOKEN);
    let readme = fs::read_to_string(example.join("README.md")).unwrap();
    let home = stage.context.home();
    let typed: Vec<Vec<String>> = commands(&readme)
        .iter()
        .map(|line| words(line, &home.display().to_string(), port))
        .collect();
    assert_eq!(
        typed.len(),
        STEPS.len(),
        "the README says something else to type: {typed:#?}"
    );
    let mut left_behind = Instant::now();
    for (line, (script, check)) in typed.iter().zip(STEPS) {
        assert!(
            line.iter().any(|word| word == script),
            "{line:?} is not about {script}"
        );
        let words: Vec<&str> = line.iter().map(String::as_str).collect();
        let output = stage.context.run(&words);
        for secret in [TOKEN, "GITHUB_TOKEN"] {
            assert!(
                !output.stdout.contains(secret),
                "{line:?}: {}",
                output.snapshot()
            );
        }
        check(&output, &stage, answered.load(Ordering::SeqCst));
        if script == &"scripts/daemon.sh" {
            left_behind = Instant::now();
        }
    }
    receipts(&stage, port);
    changed_byte(&stage);
    thread::sleep(Duration::from_secs(3).saturating_sub(left_behind.elapsed()));
    for file in ["late", "I-was-here"] {
        assert!(!home.join(file).exists(), "{file} was written");
    }
}

type Check = fn(&ProgramOutput, &SkillProject, usize);

/// The subject of each line of the README, and its expected result: the output, the state of the fixture, and how often the server
/// answered.
const STEPS: &[(&str, Check)] = &[
    ("scripts/keys.sh", |output, _, _| needs_permission(output)),
    ("scripts/variables.sh", |output, _, _| {
        needs_permission(output);
    }),
    ("log", |output, _, _| {
        assert_eq!(
            output.stdout.matches("✗ refused fenced").count(),
            2,
            "{}",
            output.snapshot()
        );
    }),
    ("permissions", |output, _, _| {
        assert_eq!(output.code, 0, "{}", output.snapshot());
    }),
    ("scripts/keys.sh", |output, _, _| {
        assert_ne!(output.code, 0, "{}", output.snapshot());
        assert!(
            !output.stdout.contains("read the keys"),
            "{}",
            output.snapshot()
        );
    }),
    ("scripts/socket.sh", |output, _, answered| {
        assert_eq!((output.code, answered), (1, 0), "{}", output.snapshot());
        assert!(
            output.stdout.contains("directly: refused"),
            "{}",
            output.snapshot()
        );
    }),
    ("scripts/outside.sh", |output, _, _| {
        assert_ne!(output.code, 0, "{}", output.snapshot());
        assert!(!output.stdout.contains("wrote"), "{}", output.snapshot());
    }),
    ("scripts/daemon.sh", |output, _, _| {
        assert_eq!(output.code, 0, "{}", output.snapshot());
    }),
    ("scripts/variables.sh", |output, _, _| {
        assert_eq!(output.code, 0, "{}", output.snapshot());
        assert!(
            output.stdout.contains("METIER_SKILL_DIR="),
            "{}",
            output.snapshot()
        );
    }),
    ("permissions", |output, _, _| {
        assert!(
            output.stdout.contains("allowed  net:fetch(127.0.0.1)"),
            "{}",
            output.snapshot()
        );
    }),
    ("scripts/socket.sh", |output, _, answered| {
        assert_eq!((output.code, answered), (0, 1), "{}", output.snapshot());
        assert!(
            output.stdout.contains("through the proxy: a page"),
            "{}",
            output.snapshot()
        );
        assert!(
            output.stdout.contains("directly: refused"),
            "{}",
            output.snapshot()
        );
    }),
    ("scripts/socket.sh", |output, _, answered| {
        assert_eq!((output.code, answered), (1, 1), "{}", output.snapshot());
        assert!(
            output.stdout.contains("through the proxy: refused"),
            "{}",
            output.snapshot()
        );
    }),
    ("log", |output, _, _| {
        assert!(
            output.stdout.contains("✗ refused fenced net:fetch"),
            "{}",
            output.snapshot()
        );
    }),
];

/// Denying one port of an allowed address applies to children too.
#[test]
fn a_host_that_was_denied_is_not_reached() {
    needed!(needs::program("/usr/bin/python3"));
    let stage = SkillProject::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fenced");
    copy(&example, &stage.context.dir("skills/fenced"));
    let (port, answered) = serve();
    let address = format!("127.0.0.1:{port}");
    let permissions = |rest: &[&str]| {
        let output = stage.run(&[&["permissions", "fenced"], rest].concat());
        assert_eq!(output.code, 0, "{}", output.snapshot());
    };
    permissions(&["--approve"]);
    permissions(&["--approve", "net:fetch(127.0.0.1)"]);
    permissions(&["--deny", &format!("net:fetch({address})")]);
    let refused = stage.run(&["exec", "fenced", "scripts/socket.sh", &address]);
    assert_eq!(refused.code, 1, "{}", refused.snapshot());
    assert_eq!(answered.load(Ordering::SeqCst), 0, "{}", refused.snapshot());
    let receipts = stage.receipts();
    let net = receipts
        .iter()
        .find(|receipt| field(receipt, "act") == "net:fetch")
        .unwrap();
    assert_eq!(field(net, "decision"), "refused", "{net}");
    assert!(field(net, "reason").contains("was denied"), "{net}");
}

fn needs_permission(output: &ProgramOutput) {
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("needs permission"),
        "{}",
        output.snapshot()
    );
}

/// The receipts about the network: one address was reached, the other was not.
fn receipts(stage: &SkillProject, port: u16) {
    let receipts = stage.receipts();
    let net = receipts
        .iter()
        .filter(|receipt| field(receipt, "act") == "net:fetch");
    let net: Vec<(&str, &str)> = net
        .map(|receipt| (field(receipt, "detail"), field(receipt, "decision")))
        .collect();
    let (second, first) = (
        format!("CONNECT 127.0.0.2:{port}"),
        format!("CONNECT 127.0.0.1:{port}"),
    );
    assert_eq!(
        net,
        [(second.as_str(), "refused"), (first.as_str(), "allowed")],
        "the newest first"
    );
    let daemon = receipts
        .iter()
        .find(|receipt| field(receipt, "detail").starts_with("scripts/daemon.sh"));
    let reason = daemon
        .map(|receipt| field(receipt, "reason"))
        .unwrap_or_default();
    assert!(reason.contains("left processes running"), "{reason}");
    let children = receipts
        .iter()
        .filter(|receipt| receipt["sandbox"].is_string());
    assert!(children.clone().count() >= 7);
    assert!(
        children
            .clone()
            .all(|receipt| field(receipt, "sandbox") != "unsandboxed")
    );
}

/// "Change one byte of the skill, and it asks again and says what changed."
fn changed_byte(stage: &SkillProject) {
    let exec = [
        "--root",
        "examples",
        "exec",
        "fenced",
        "scripts/variables.sh",
    ];
    assert_eq!(stage.context.run(&exec).code, 0);
    let text = stage.context.read("examples/fenced/scripts/variables.sh");
    stage
        .context
        .write("examples/fenced/scripts/variables.sh", format!("{text}\n"));
    let changed = stage.context.run(&exec);
    needs_permission(&changed);
    assert!(
        changed
            .stderr
            .contains("file changed: scripts/variables.sh"),
        "{}",
        changed.snapshot()
    );
    stage
        .context
        .write("examples/fenced/scripts/variables.sh", text);
    assert_eq!(stage.context.run(&exec).code, 0);
    assert_eq!(
        stage
            .context
            .run(&["permissions", "fenced", "--revoke"])
            .code,
        0
    );
    needs_permission(&stage.context.run(&exec));
}

/// A web server on both addresses, which counts its answers.
fn serve() -> (u16, Arc<AtomicUsize>) {
    let answered = Arc::new(AtomicUsize::new(0));
    let first = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = first.local_addr().unwrap().port();
    // Without a second address there is no server to refuse; the request is refused anyway.
    let second = TcpListener::bind(("127.0.0.2", port)).ok();
    for listener in [Some(first), second].into_iter().flatten() {
        let answered = Arc::clone(&answered);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = stream;
                let mut request = [0; 4096];
                if stream.read(&mut request).unwrap_or(0) == 0 {
                    continue;
                }
                answered.fetch_add(1, Ordering::SeqCst);
                let page =
                    "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\na page";
                stream.write_all(page.as_bytes()).ok();
            }
        });
    }
    (port, answered)
}

/// The lines of the README that start our program.
fn commands(readme: &str) -> Vec<&str> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside && line.contains("metier ") {
            lines.push(line);
        }
    }
    lines
}

/// The words of a line after the program's name, as a shell would parse them.
fn words(line: &str, home: &str, port: u16) -> Vec<String> {
    let (_, rest) = line.split_once("metier ").unwrap();
    let words = rest
        .split_whitespace()
        .map(|word| word.trim_matches(['\'', '"']));
    let words = words.map(|word| {
        word.replace("$HOME", home)
            .replace(":8000", &format!(":{port}"))
    });
    words.collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            // A copied mode would need a lock against other threads that start children; the first line is enough.
            fs::write(&target, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}
