//! WebAssembly skills in the real program: scanned, approved, compiled in a child, called, and confined.

use std::time::{Duration, Instant};

use metier_host::backend::{Compiler, WorkerCommand};
use metier_testkit::needed;
use metier_wasm::WasmLoadError;
use serde_json::{Value, json};

use crate::{
    live_session::{Live, left_running, processes},
    skill_project::{SkillProject, field, holds},
};

const TOOL: &str = "types: [tool]\n";
const CONTRIBUTES: &str = r#"{"result":{"tools":[{"name":"greet","description":"Greets."}]}}"#;
const QUESTION: &str = r#"{"method":"host/read_file","params":{"path":"greeting.txt"}}"#;

/// A text in memory.
fn data(address: usize, text: &str) -> String {
    let escaped: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    format!("(data (i32.const {address}) \"{escaped}\")")
}

/// A reactor that contributes the tool `greet`; this is the body of the tool, which leaves its result on the stack as `ptr << 32 | len`.
fn reactor(tool: &str) -> Vec<u8> {
    reactor_with("", "", tool)
}

/// A reactor whose tool sends this request, and returns the host's reply.
fn asks(question: &str) -> Vec<u8> {
    let texts = data(1024, question) + &data(2048, HEAD);
    reactor_with("", &texts, &tool_that_asks(question))
}

const HEAD: &str = r#"{"result":{"output":"#;

/// What the tool of such a reactor does, with the question and `HEAD` in memory.
fn tool_that_asks(question: &str) -> String {
    let after = 2048 + HEAD.len();
    format!(
        "(local $told i64) (local $len i32)
         (local.set $told (call $ask (i32.const 1024) (i32.const {})))
         (local.set $len (i32.wrap_i64 (local.get $told)))
         (memory.copy
            (i32.const {after})
            (i32.wrap_i64 (i64.shr_u (local.get $told) (i64.const 32)))
            (local.get $len))
         (i32.store16 (i32.add (i32.const {after}) (local.get $len)) (i32.const 0x7d7d))
         (i64.or (i64.const {}) (i64.extend_i32_u (i32.add (local.get $len) (i32.const {}))))",
        question.len(),
        2048_u64 << 32,
        HEAD.len() + "}}".len()
    )
}

fn reactor_with(imports: &str, texts: &str, tool: &str) -> Vec<u8> {
    let contributes = data(0, CONTRIBUTES);
    let contributed = CONTRIBUTES.len();
    // The first eight letters of `tool/execute`, as a number.
    let mark = i64::from_le_bytes(*b"tool/exe");
    let text = format!(
        r#"(module
            (import "metier" "ask" (func $ask (param i32 i32) (result i64)))
            {imports}
            (memory (export "memory") 8)
            {contributes} {texts}
            (global $next (mut i32) (i32.const 65536))
            (func (export "metier_alloc") (param $len i32) (result i32)
                (global.get $next)
                (global.set $next (i32.add (global.get $next) (local.get $len))))
            (func $tool (result i64) {tool})
            (func (export "metier_answer") (param $ptr i32) (param $len i32) (result i64)
                (local $end i32)
                (local.set $end (i32.add (local.get $ptr) (local.get $len)))
                (loop $look
                    (if (i64.eq (i64.load (local.get $ptr)) (i64.const {mark}))
                        (then (return (call $tool))))
                    (local.set $ptr (i32.add (local.get $ptr) (i32.const 1)))
                    (br_if $look (i32.lt_u (local.get $ptr) (local.get $end))))
                (i64.const {contributed})))"#
    );
    wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Writes a skill with this module.
fn skill(live: &Live, name: &str, permissions: &[&str], module: &[u8]) {
    skill_with(live, name, "", permissions, module);
}

fn skill_with(live: &Live, name: &str, limits: &str, permissions: &[&str], module: &[u8]) {
    let permissions = serde_json::to_string(permissions).unwrap();
    let front = format!(
        "{TOOL}permissions: {permissions}\nimplementation: {{backend: wasm, entrypoint: skill.wasm{limits}}}\n"
    );
    live.stage.skill(name, &front, "Text.\n");
    live.stage
        .context
        .write(&format!("skills/{name}/skill.wasm"), module);
}

fn call(live: &Live, name: &str) -> Value {
    live.json(&["--approve-skills", name, "call", name, "greet"])
}

#[test]
fn a_reactor_reads_what_it_may() {
    let live = Live::new();
    live.stage.context.write("greeting.txt", "Good day");
    skill(
        &live,
        "may",
        &["file:read(./greeting.txt)"],
        &asks(QUESTION),
    );
    let called = call(&live, "may");
    assert_eq!(
        called["output"],
        json!({"result": {"content": "Good day"}}),
        "{called}"
    );
    let receipts = live.stage.receipts();
    let activated = receipts
        .iter()
        .find(|receipt| field(receipt, "act") == "skill:activate")
        .unwrap();
    assert_eq!(field(activated, "sandbox"), "wasm", "{activated}");
}

#[test]
fn a_reactor_does_not_read_what_it_may_not() {
    let live = Live::new();
    live.stage.context.write("greeting.txt", "Good day");
    skill(
        &live,
        "may-not",
        &["file:read(./other.txt)"],
        &asks(QUESTION),
    );
    let called = call(&live, "may-not");
    assert_eq!(called["output"]["error"]["code"], -32_001, "{called}");
    assert!(
        !holds(called.to_string().as_bytes(), "Good day"),
        "{called}"
    );
}

// case 141
#[test]
fn a_module_as_large_as_compilers_make_them_is_scanned_and_runs() {
    let live = Live::new();
    live.stage.context.write("greeting.txt", "Good day");
    let mut module = asks(QUESTION);
    // Data for a debugger: a section with a name, and three megabytes.
    let mut debug = b"\x05debug".to_vec();
    debug.resize(3 << 20, 0);
    module.extend(section(0, &debug));
    skill(&live, "large", &["file:read(./greeting.txt)"], &module);
    let called = call(&live, "large");
    assert_eq!(
        called["output"]["result"]["content"], "Good day",
        "{called}"
    );
}

#[test]
fn it_is_called_by_its_name() {
    let live = Live::new();
    let head = r#"{"result":{"output":"#;
    let answer = format!("{head}0}}}}");
    let import = r#"(import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))"#;
    let digit = 2048 + head.len();
    let tool = format!(
        "(drop (call $args (i32.const 3000) (i32.const 3004)))
         (i32.store8 (i32.const {digit}) (i32.add (i32.const 48) (i32.load (i32.const 3000))))
         (i64.const {})",
        (2048_u64 << 32) | answer.len() as u64
    );
    skill(
        &live,
        "named",
        &[],
        &reactor_with(import, &data(2048, &answer), &tool),
    );
    let called = call(&live, "named");
    assert_eq!(called["output"], 1, "{called}");
}

#[test]
fn machine_code_of_a_skill_is_refused() {
    let live = Live::new();
    let code = metier_wasm::compile(&reactor("(i64.const 0)")).unwrap();
    skill(&live, "ready-made", &[], code.as_bytes());
    let output = live.run(&[
        "--approve-skills",
        "ready-made",
        "call",
        "ready-made",
        "greet",
    ]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output
            .stderr
            .contains("is already compiled to machine code"),
        "{}",
        output.snapshot()
    );
}

#[test]
fn it_is_compiled_once_in_a_folder_of_the_users() {
    let live = Live::new();
    skill(&live, "kept", &[], &reactor("(unreachable)"));
    for _ in 0..2 {
        let output = live.run(&["--approve-skills", "kept", "call", "kept", "greet"]);
        assert_eq!(output.code, 1, "{}", output.snapshot());
        assert!(
            output.stderr.contains("`unreachable` instruction"),
            "{}",
            output.snapshot()
        );
    }
}

#[test]
fn limits_are_those_of_the_manifest() {
    let live = Live::new();
    let spin = reactor("(loop $l (br $l)) (unreachable)");
    skill_with(&live, "little-fuel", ", limits: {fuel: 100000}", &[], &spin);
    let output = live.run(&[
        "--approve-skills",
        "little-fuel",
        "call",
        "little-fuel",
        "greet",
    ]);
    assert!(
        output.stderr.contains("used up its fuel of 100000"),
        "{}",
        output.snapshot()
    );
    skill_with(
        &live,
        "little-time",
        ", limits: {timeout: 300ms}",
        &[],
        &spin,
    );
    let output = live.run(&[
        "--approve-skills",
        "little-time",
        "call",
        "little-time",
        "greet",
    ]);
    assert!(
        output.stderr.contains("took longer than 300 ms"),
        "{}",
        output.snapshot()
    );
    let grow = reactor("(drop (memory.grow (i32.const 32))) (i64.load (i32.const 600000))");
    skill_with(&live, "little-room", ", limits: {memory_mb: 1}", &[], &grow);
    let output = live.run(&[
        "--approve-skills",
        "little-room",
        "call",
        "little-room",
        "greet",
    ]);
    assert!(
        output.stderr.contains("needs more memory than 1 MiB"),
        "{}",
        output.snapshot()
    );
}

/// A reactor that creates a file in the first folder that was opened for it, and reports success.
fn makes(name: &str) -> Vec<u8> {
    let imports = r#"(import "wasi_snapshot_preview1" "path_open"
            (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))"#;
    let done = r#"{"result":{"output":"done"}}"#;
    let tool = format!(
        "(if (call $open (i32.const 3) (i32.const 0) (i32.const 4096) (i32.const {}) (i32.const 1)
            (i64.const 0x40) (i64.const 0) (i32.const 0) (i32.const 8192)) (then (unreachable)))
         (i64.const {})",
        name.len(),
        5000_u64 << 32 | done.len() as u64
    );
    reactor_with(imports, &(data(4096, name) + &data(5000, done)), &tool)
}

#[test]
fn a_folder_is_written_but_not_what_others_obey() {
    let live = Live::new();
    skill(
        &live,
        "writes",
        &["file:write(./out/**)"],
        &makes("note.txt"),
    );
    let called = call(&live, "writes");
    assert_eq!(called["output"], "done", "{called}");
    assert!(live.stage.has("out/note.txt"));
    skill(&live, "bends", &["file:write(./out/**)"], &makes(".git"));
    let output = live.run(&["--approve-skills", "bends", "call", "bends", "greet"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("is never written for a skill"),
        "{}",
        output.snapshot()
    );
    assert!(!live.stage.has("out/.git"));
    skill(
        &live,
        "only-reads",
        &["file:read(./out/**)"],
        &makes("new.txt"),
    );
    let output = live.run(&[
        "--approve-skills",
        "only-reads",
        "call",
        "only-reads",
        "greet",
    ]);
    assert!(
        output.stderr.contains("`unreachable` instruction"),
        "{}",
        output.snapshot()
    );
    assert!(!live.stage.has("out/new.txt"));
}

/// The code that invokes `b`.
const INVOKES: &str =
    r#"{"method":"host/invoke_skill","params":{"name":"b","tool":"greet","input":{}}}"#;

/// A skill that invokes `b`, which reads `greeting.txt`: both are instances in this process, one inside the other.
fn invoking(permissions: &[&str]) -> Value {
    let live = Live::new();
    live.stage.context.write("greeting.txt", "Good day");
    skill(&live, "a", permissions, &asks(INVOKES));
    let reads = &["file:read(./greeting.txt)"];
    skill(&live, "b", reads, &asks(QUESTION));
    let called = live.json(&["--approve-skills", "a,b", "call", "a", "greet"]);
    assert_eq!(left_running(&live), [""; 0]);
    called["output"].clone()
}

#[test]
fn one_invokes_another_and_gets_its_answer() {
    let said = invoking(&["skill:invoke(b)", "file:read(./**)"]);
    let inner = json!({"result": {"content": "Good day"}});
    assert_eq!(said["result"]["output"], inner, "{said}");
}

#[test]
fn an_invoked_skill_reads_nothing_that_its_caller_may_not() {
    let said = invoking(&["skill:invoke(b)"]);
    assert_eq!(said["result"]["output"]["error"]["code"], -32_001, "{said}");
    assert!(!said.to_string().contains("Good day"), "{said}");
}

#[test]
fn invoking_without_the_permission_is_refused() {
    for permissions in [&[][..], &["skill:invoke(c)"]] {
        let said = invoking(permissions);
        assert_eq!(said["error"]["code"], -32_001, "{permissions:?}: {said}");
    }
}

/// A number in the encoding of modules.
fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).unwrap();
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

fn section(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number][..], &leb(content.len()), content].concat()
}

/// A valid module that takes more than a second to compile: a thousand functions of ten thousand instructions each.
fn bomb() -> Vec<u8> {
    const FUNCTIONS: usize = 1_000;
    // A local that is added to itself, and the end of the function.
    let mut code = [
        &[1, 1, 0x7f][..],
        &[0x20, 0, 0x20, 0, 0x6a, 0x21, 0].repeat(2_500),
    ]
    .concat();
    code.push(0x0b);
    let body = [leb(code.len()), code].concat();
    let kinds = [leb(FUNCTIONS), vec![0; FUNCTIONS]].concat();
    let bodies = [leb(FUNCTIONS), body.repeat(FUNCTIONS)].concat();
    [
        b"\0asm\x01\0\0\0".to_vec(),
        section(1, &[1, 0x60, 0, 0]),
        section(3, &kinds),
        section(10, &bodies),
    ]
    .concat()
}

// case 138
#[test]
fn a_compiler_that_takes_too_long_is_killed() {
    let mark = format!("until-{}", std::process::id());
    let compiler = Compiler {
        worker: WorkerCommand {
            binary: env!("CARGO_BIN_EXE_metier").into(),
            arguments: vec!["__wasm-compile".into(), mark.clone()],
            variables: Vec::new(),
            confinement: "worker",
        },
    };
    let time = Duration::from_millis(500);
    let began = Instant::now();
    let compiled = compiler.compile(&bomb(), time);
    let took = began.elapsed();
    assert!(
        matches!(compiled, Err(WasmLoadError::CompileTime(limit)) if limit == time),
        "{:?}",
        compiled.err()
    );
    assert!(took >= time, "{took:?}");
    assert_eq!(processes(|_, words| words.contains(&mark)), [""; 0]);
}

// case 234, 138
#[test]
fn skills_that_take_all_memory_leave_the_program_small() {
    const TAKES: &str = "
        (block $full (loop $grow
            (br_if $full (i32.eq (memory.grow (i32.const 16)) (i32.const -1)))
            (br $grow)))
        (local.set $page (i32.const 196608))
        (loop $touch
            (i32.store (local.get $page) (i32.const 1))
            (local.set $page (i32.add (local.get $page) (i32.const 4096)))
            (br_if $touch (i32.lt_u (local.get $page) (i32.mul (memory.size) (i32.const 65536)))))";
    let mut live = Live::new();
    live.stage = needed!(SkillProject::measured());
    let limits = ", limits: {memory_mb: 512}";
    let sets = "(local.set $told";
    let asks = tool_that_asks(INVOKES).replacen(sets, &format!("{TAKES}{sets}"), 1);
    let tool = format!("(local $page i32) {asks}");
    let texts = data(1024, INVOKES) + &data(2048, HEAD);
    let first = reactor_with("", &texts, &tool);
    skill_with(&live, "a", limits, &["skill:invoke(b)"], &first);
    let answer = r#"{"result":{"output":7}}"#;
    let tool = format!(
        "(local $page i32) {TAKES} (i64.const {})",
        (2048_u64 << 32) | answer.len() as u64
    );
    let second = reactor_with("", &data(2048, answer), &tool);
    skill_with(&live, "b", limits, &[], &second);
    let arguments = ["--approve-skills", "a,b", "call", "a", "greet"];
    let output = live.run(&arguments);
    let memory = live.stage.used().kilobytes;
    assert!(memory < 256 << 10, "{memory} KB: {}", output.snapshot());
    // It took what there is, and the other one still answered.
    assert!(memory > 100 << 10, "{memory} KB: {}", output.snapshot());
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(output.stdout.contains('7'), "{}", output.snapshot());
}
