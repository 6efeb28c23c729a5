//! Skills in JavaScript and TypeScript, in the engine of the real program: their permissions are checked where those of all other skills
//! are, and nothing that they do to their worker has an effect outside it.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::live_session::{Live, PROGRAM, left_running, lines};

const FRONT: &str = "types: [tool]\n";

/// A skill that runs in the engine, with one file.
fn skill(live: &Live, name: &str, permissions: &[&str], code: &str) {
    let asks = serde_json::to_string(permissions).unwrap();
    let front = format!(
        "{FRONT}implementation: {{backend: js, entrypoint: main.ts}}\npermissions: {asks}\n"
    );
    live.stage.skill_in("skills", name, &front, "Text.\n");
    let file = format!("skills/{name}/main.ts");
    live.stage.context.write(&file, code);
}

/// A skill with one tool `t` that has this body.
fn tool(body: &str) -> String {
    format!(
        "import {{ Skill }} from 'metier';\nimport fs from 'node:fs/promises';\nconst skill = new Skill();\n\
         skill.tool({{ name: 't', description: 'A tool' }}, async (host) => {{\n{body}\n}});\nskill.serve();\n"
    )
}

/// The answer of the tool of an approved skill.
fn call(live: &Live, name: &str) -> Value {
    live.session(&[name], |runtime| {
        runtime.activate(name).unwrap();
        runtime.call(name, "t", &json!({})).unwrap().output
    })
}

#[test]
fn the_source_of_a_program_for_node_runs_in_the_engine() {
    let live = Live::new();
    live.stage.context.write("greeting.txt", "Hello\n");
    live.stage.context.write("secret.txt", "the secret\n");
    let asks = [
        "file:read(./greeting.txt)",
        "file:write(./note.txt)",
        "shell:exec(echo *)",
    ];
    skill(&live, "herald", &asks, include_str!("../languages/main.ts"));
    let sdk = include_str!("../../../../sdk/typescript/metier.ts");
    live.stage.context.write("skills/herald/metier.ts", sdk);
    let receipts = live.session(&["herald"], |runtime| {
        runtime.activate("herald").unwrap();
        let greeted = runtime.call("herald", "greet", &json!({"who": "Ada"}));
        assert_eq!(greeted.unwrap().output, json!("Hello, Ada"));
        let refused = runtime.call("herald", "peek", &json!({})).unwrap();
        assert!(refused.is_error, "{:?}", refused.output);
        refused.receipts
    });
    let lines = lines(&receipts);
    let refusals: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("refused"))
        .collect();
    assert_eq!(refusals.len(), 1, "{lines:#?}");
    assert!(refusals[0].contains("secret.txt"), "{lines:#?}");
    assert_eq!(left_running(&live), [""; 0]);
}

#[test]
fn the_host_decides_which_files_are_the_same() {
    let live = Live::new();
    let context = &live.stage.context;
    context.write("data/a.txt", "ä");
    context.write("data/deep/b.txt", "b");
    context.write("other.txt", "x");
    let body = r"
const code = async (work) => { try { return await work(); } catch (error) { return error.code; } };
const kind = async (path) => { const s = await fs.stat(path); return s.isDirectory() ? 'folder' : s.size; };
return [
  await code(() => fs.readFile('data/a.txt', 'utf8')),
  await code(() => fs.readFile('data/none.txt')),
  await code(() => fs.readFile('other.txt')),
  await code(() => fs.readFile('/etc/passwd')),
  await code(() => fs.readFile('data')),
  await code(() => kind('data')),
  await code(() => kind('data/a.txt')),
  await code(() => kind('data/none')),
  await code(() => kind(host.directory)),
  await code(() => kind(`${host.directory}/main.ts`).then((size) => size > 0)),
  await code(() => fs.readFile(`${host.directory}/none.ts`)),
  await code(() => fs.readdir('data')),
  await code(() => fs.writeFile('data/new/c.txt', 'c', { flag: 'wx' })),
  await code(() => fs.writeFile('data/a.txt', 'c', { flag: 'wx' })),
  await code(() => fs.appendFile('data/a.txt', '!')),
  await code(() => fs.writeFile('other.txt', '')),
  process.cwd() === require('path').dirname(require('path').resolve('other.txt')),
];";
    skill(
        &live,
        "files",
        &["file:read(./data/**)", "file:write(./data/**)"],
        &tool(body),
    );
    assert_eq!(
        call(&live, "files"),
        json!([
            "ä",
            "ENOENT",
            "EACCES",
            "EACCES",
            "EISDIR",
            "folder",
            2,
            "ENOENT",
            "folder",
            true,
            "ENOENT",
            ["a.txt", "deep"],
            null,
            "EEXIST",
            null,
            "EACCES",
            true
        ])
    );
    let read = |path: &str| std::fs::read_to_string(live.stage.context.path(path)).unwrap();
    assert_eq!(read("data/a.txt"), "ä!");
    assert_eq!(read("data/new/c.txt"), "c");
    assert_eq!(read("other.txt"), "x");
}

#[test]
fn nothing_is_granted_that_was_not_asked_for() {
    let live = Live::new();
    live.stage.context.write("a.txt", "a");
    let body = r"
const refused = [];
for (const [name, ...given] of [['readFile', 'a.txt'], ['writeFile', 'a.txt', ''], ['glob', '*'], ['grep', 'a'], ['exec', 'id'],
  ['fetch', 'http://127.0.0.1/'], ['env', 'HOME'], ['setEnv', 'A', 'b'], ['git', 'log'], ['llm', 'x'], ['invokeSkill', 'nothing']]) {
  try { await host[name](...given); refused.push(`${name} was done`); } catch (error) { refused.push(error.refused ? 'refused' : `${name}: ${error.message}`); }
}
refused.push(process.env.HOME ?? 'unset', await fetch('http://127.0.0.1/').catch((error) => error.name));
return refused;";
    skill(&live, "nosy", &[], &tool(body));
    let answer = call(&live, "nosy");
    let mut expected = vec!["refused"; 11];
    expected.extend(["unset", "TypeError"]);
    assert_eq!(answer, json!(expected));
}

#[test]
fn code_that_means_harm_ends_with_a_reason() {
    for (name, body, expected) in [
        (
            "loop",
            "for (;;) {}",
            "took longer than 2 s and was stopped|it ran for more than",
        ),
        (
            "microtasks",
            "const again = () => queueMicrotask(again); again(); await new Promise(() => {})",
            "took longer than 2 s and was stopped|it ran for more than",
        ),
        (
            "regex",
            "/^(a+)+$/.test('a'.repeat(40) + 'b')",
            "took longer than 2 s and was stopped|it ran for more than",
        ),
        (
            "memory",
            "const all = []; for (;;) all.push(new Uint8Array(1 << 20))",
            "MiB of memory|out of memory",
        ),
        (
            "recursion",
            "const f = () => f() + 1; f()",
            "Maximum call stack size exceeded",
        ),
        (
            "never",
            "await new Promise(() => {})",
            "its promise can never resolve",
        ),
        ("exit", "process.exit(0)", "process.exit(0) was called"),
        ("large", "return 'x'.repeat(8 << 20)", "can't be returned"),
    ] {
        let mut live = Live::new();
        skill(&live, name, &[], &tool(body));
        // Only code that never ends by itself has to be waited for.
        if expected.starts_with("took longer") {
            live.stage
                .context
                .env("METIER_SKILLS_LIMITS_TOOL_TIMEOUT", "2");
        }
        let output = live.run(&["call", name, "t"]);
        assert_eq!(output.code, 1, "{name}: {}", output.snapshot());
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(
            expected.split('|').any(|expected| said.contains(expected)),
            "{name}: {}",
            output.snapshot()
        );
        assert_eq!(left_running(&live), [""; 0], "{name}");
    }
    for (name, code, expected) in [
        ("mistake", "const x: = 1;", "main.ts:1:10: Unexpected token"),
        (
            "remote",
            "import 'https://example.com/x.ts';",
            "is a remote module",
        ),
        (
            "programs",
            "import { execSync } from 'node:child_process'; execSync('id');",
            "skills can't start programs",
        ),
        (
            "outside",
            "import '../other/main.ts';",
            "is outside the skill's folder",
        ),
        (
            "nothing",
            "export {};",
            "end the entrypoint with `skill.serve()`",
        ),
    ] {
        let live = Live::new();
        skill(&live, name, &[], code);
        let output = live.run(&["call", name, "t"]);
        assert_eq!(output.code, 1, "{name}: {}", output.snapshot());
        assert!(
            output.stderr.contains(expected),
            "{name}: {}",
            output.snapshot()
        );
    }
}

/// A handler of an OpenClaw hook that uses every feature for which an engine might need more from the system.
const HANDLER: &str = r#"
import type { HookHandler } from "openclaw/hooks";
import fs from "node:fs";
const handler: HookHandler = async (event) => {
  const began = Date.now();
  await new Promise((done) => setTimeout(done, 20));
  event.messages.push(String(Date.now() - began >= 19), String(Math.random() < 1), String(new Date(0).getTimezoneOffset()));
  event.messages.push(String(crypto.randomUUID().length), new Date(0).toLocaleString() === "" ? "no" : "locale", "ß".normalize("NFKD"));
  try { fs.readFileSync("/etc/passwd"); } catch (error: any) { event.messages.push(error.code); }
  console.log('{"jsonrpc":"2.0","id":2,"result":{}}');
  const big = []; try { for (;;) big.push("x".repeat(1 << 20) + big.length); } catch (error: any) { big.length = 0; event.messages.push(error.message); }
  event.context = { done: true };
};
export default handler;
"#;

#[test]
fn a_handler_of_a_hook_needs_no_more_than_its_room_has() {
    let mut worker = Command::new(PROGRAM)
        .arg("__js")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = worker.stdin.take().unwrap();
    let mut output = BufReader::new(worker.stdout.take().unwrap());
    let mut send = |message: Value| writeln!(input, "{message}").unwrap();
    let event = json!({"type": "agent", "action": "bootstrap", "sessionKey": "s", "timestamp": "2026-01-02T03:04:05Z", "messages": [], "context": {}});
    send(
        json!({"id": 1, "method": "initialize", "params": {"protocol": 1, "skill": "s", "directory": "/skills/s",
        "sources": {"handler.ts": HANDLER}, "handlers": [{"file": "handler.ts", "export": "default"}]}}),
    );
    send(json!({"id": 2, "method": "openclaw/handle", "params": {"handler": 0, "event": event}}));
    let mut answers = Vec::new();
    let mut logged = Vec::new();
    while answers.len() < 2 {
        let mut line = String::new();
        assert_ne!(
            output.read_line(&mut line).unwrap(),
            0,
            "{:?}",
            worker.wait()
        );
        let message: Value = serde_json::from_str(&line).unwrap();
        match message["method"].as_str() {
            None => answers.push(message),
            Some("host/log") => logged.push(message["params"]["message"].clone()),
            Some(_) => {
                send(json!({"id": message["id"], "error": {"code": -32_001, "message": "no"}}));
            }
        }
    }
    assert_eq!(answers[0]["result"], json!({}));
    let changed = &answers[1]["result"]["event"];
    assert_eq!(
        changed["messages"],
        json!([
            "true",
            "true",
            "0",
            "36",
            "locale",
            "ß",
            "EACCES",
            "out of memory"
        ])
    );
    assert_eq!(changed["context"], json!({"done": true}));
    assert_eq!(logged, [r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]);
    send(json!({"id": 3, "method": "shutdown", "params": {}}));
    assert!(worker.wait().unwrap().success());
}

/// For every backend that can't derive the name of its file; the others have a default.
#[test]
fn the_error_about_a_missing_entrypoint_shows_what_to_add() {
    let live = Live::new();
    for (backend, file) in [
        ("js", "main.ts"),
        ("process", "main.py"),
        ("native", "lib/skill.so"),
    ] {
        let front = format!("types: [tool]\nimplementation: {{backend: {backend}}}\n");
        live.stage.skill_in("skills", backend, &front, "Text.\n");
        let output = live.run(&["--approve-skills", backend, "tools", backend]);
        let expected = format!("add `implementation: {{entrypoint: {file}}}` to SKILL.yaml");
        assert_eq!(output.code, 1, "{}", output.snapshot());
        assert!(output.stderr.contains(&expected), "{}", output.snapshot());
    }
}
