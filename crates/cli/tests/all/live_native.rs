//! Malicious and broken libraries: each causes a typed error for the caller, the host is unharmed, and the next call works.
//!
//! They are real libraries, built here from C with `cc`; `../native/good.c` contains everything except their faults.

use std::{env, fs, path::PathBuf, process::Command, thread, time::Duration};

use metier_runtime::live::{Runtime, SkillLine};
use metier_testkit::patience::in_time;
use serde_json::{Value, json};

use crate::live_session::{
    Live, PROGRAM, alone_in_a_process, keeps_nothing_of, left_running, lines,
};

const TOOL: &str = "types: [tool]\nversion: 1.0.0\n";
/// The time limit for those that would take forever.
const SHORT: Duration = Duration::from_secs(2);

const MARK: &str = "METIER_TEST_NATIVE";

const TIMED_OUT: &str = "took longer than 2 s and was stopped";
const GONE: &str = "ended before it answered `tool/execute`: ";

/// Bodies of the tool, and the error that its caller gets; `|` separates alternatives.
const CALLS: &[(&str, &str, &str)] = &[
    (
        "segfault",
        "*(volatile int *)8 = 1; return 0;",
        "tool/execute`: ended by signal 11",
    ),
    (
        "abort",
        "abort();",
        "tool/execute`: ended by signal 6 (aborted)",
    ),
    ("exit", "exit(0);", "tool/execute`: exit code 0"),
    ("exit-at-once", "_exit(0);", "tool/execute`: exit code 0"),
    ("endless", "for (;;) __asm__ volatile(\"\");", TIMED_OUT),
    (
        "fork",
        "if (fork() == 0) { setsid(); for (;;) sleep(60); } _exit(7);",
        "tool/execute`: exit code 7",
    ),
    ("fork-and-wait", "fork(); for (;;) sleep(60);", TIMED_OUT),
    (
        "blocks-signals",
        "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, NULL); for (;;) sleep(60);",
        TIMED_OUT,
    ),
    (
        "closes-files",
        "for (int fd = 0; fd < 64; fd++) close(fd); return say(answer, \"{\\\"result\\\":{}}\");",
        GONE,
    ),
    (
        "writes-everywhere",
        "for (;;) for (int fd = 3; fd < 64; fd++) write(fd, \"no frame\\n\", 9);",
        "broke the protocol: ",
    ),
    (
        "null-pointer",
        "answer->data = NULL; answer->length = 12; return 0;",
        "its library returned no answer: 12 bytes at NULL",
    ),
    (
        "nothing",
        "return 0;",
        "its library returned no answer: 0 bytes at NULL",
    ),
    (
        "status",
        "return -3;",
        "its library returned no answer: `answer` returned -3",
    ),
    (
        "garbage-length",
        "answer->data = (void *)strdup(\"{}\"); answer->length = SIZE_MAX; return 0;",
        "its library's answer is 18446744073709551615 bytes; the limit for a message is 4194304",
    ),
    (
        "garbage-pointer",
        "answer->data = (void *)8; answer->length = 100; return 0;",
        "tool/execute`: ended by signal 11",
    ),
    (
        "not-utf-8",
        "return say(answer, \"{\\\"result\\\":{\\\"output\\\":\\\"\\xff\\\"}}\");",
        "the answer of its library is malformed: ",
    ),
    (
        "not-json",
        "return say(answer, \"good\");",
        "the answer of its library is malformed: ",
    ),
    (
        "no-answer",
        "return say(answer, \"[1]\");",
        "the answer of its library is malformed: a message is an object, not a list",
    ),
    (
        "no-error",
        "return say(answer, \"{\\\"error\\\":1}\");",
        "sent an error that is not a JSON-RPC error: 1",
    ),
    (
        "huge-answer",
        "size_t n = 5 << 20; char *text = malloc(n); memset(text, 'x', n); answer->data = (void *)text; answer->length = n; return 0;",
        "its library's answer is 5242880 bytes; the limit for a message is 4194304",
    ),
    (
        "stack-overflow",
        "volatile char big[4096]; big[0] = 1; int32_t n = tool(request, host, answer); return n + big[0];",
        "tool/execute`: ended by signal ",
    ),
    (
        "endless-memory",
        "for (;;) { char *more = malloc(64 << 20); if (!more) abort(); more[0] = 1; }",
        "tool/execute`: ended by signal 6 (aborted)",
    ),
    (
        "twice-freed",
        "char *text = strdup(\"x\"); free(text); free(text); abort();",
        "tool/execute`: ended by signal 6 (aborted)",
    ),
];

/// Whole files that fail before they can be called, and the messages about them.
const LOADS: &[(&str, &str, &str)] = &[
    (
        "constructor-crashes",
        "__attribute__((constructor)) static void begin(void) { *(volatile int *)8 = 1; }",
        "ended before it answered `initialize`: ended by signal 11",
    ),
    (
        "constructor-loops",
        "__attribute__((constructor)) static void begin(void) { for (;;) sleep(60); }",
        TIMED_OUT,
    ),
    (
        "constructor-exits",
        "__attribute__((constructor)) static void begin(void) { _exit(0); }",
        "ended before it answered `initialize`: exit code 0",
    ),
    (
        "no-entry",
        "#define NO_TABLE\nvoid other(void) {}",
        "main.so` does not export `metier_skill_v1`; in Rust `metier_sdk::export_skill!` does, in C see metier.h",
    ),
    (
        "no-table",
        "#define NO_TABLE\nconst struct metier_skill *metier_skill_v1(void) { return NULL; }",
        "`metier_skill_v1` of `[WORK]/skills/no-table/main.so` does not return a table",
    ),
    (
        "other-abi",
        "#define TABLE {7, sizeof(struct metier_skill), create, answer, release, destroy}",
        "main.so` was built for version 7 of the native interface; this program has version 1: build it with the SDK of this version",
    ),
    (
        "short-table",
        "#define TABLE {METIER_ABI, 16, create, answer, release, destroy}",
        "main.so` is 16 bytes; at least 40 are required",
    ),
    (
        "table-with-a-hole",
        "#define TABLE {METIER_ABI, sizeof(struct metier_skill), create, answer, NULL, destroy}",
        "main.so` has no `release`",
    ),
    (
        "creates-nothing",
        "static void *none(void) { return NULL; }\n#define TABLE {METIER_ABI, sizeof(struct metier_skill), none, answer, release, destroy}",
        "main.so` returned NULL",
    ),
    (
        "missing-symbol",
        "int nobody_has_this(void);\n__attribute__((constructor)) static void begin(void) { nobody_has_this(); }",
        "main.so` can't be loaded: undefined symbol: nobody_has_this",
    ),
    (
        "refuses-to-begin",
        "#define CONTRIBUTES \"{\\\"error\\\":{\\\"code\\\":-32603,\\\"message\\\":\\\"not today\\\"}}\"",
        "its code can't be loaded: not today",
    ),
    (
        "contributes-nonsense",
        "#define CONTRIBUTES \"{\\\"result\\\":{\\\"tools\\\":7}}\"",
        "broke the protocol: its contributions are malformed: ",
    ),
    (
        "another-name",
        "#define CONTRIBUTES \"{\\\"result\\\":{\\\"tools\\\":[{\\\"name\\\":\\\"t\\\"}],\\\"manifest\\\":{\\\"name\\\":\\\"other\\\",\\\"version\\\":\\\"1.0.0\\\"}}}\"",
        "its code declares `other 1.0.0`, but SKILL.yaml declares `another-name 1.0.0`: rebuild it or fix SKILL.yaml",
    ),
    (
        "another-version",
        "#define CONTRIBUTES \"{\\\"result\\\":{\\\"tools\\\":[{\\\"name\\\":\\\"t\\\"}],\\\"manifest\\\":{\\\"name\\\":\\\"another-version\\\",\\\"version\\\":\\\"1.0.1\\\"}}}\"",
        "its code declares `another-version 1.0.1`, but SKILL.yaml declares `another-version 1.0.0`: rebuild it or fix SKILL.yaml",
    ),
];

/// Faults that need no body.
const NO_TOOL: &str = "return say(answer, \"{\\\"result\\\":{\\\"output\\\":1}}\");";

/// A skill whose library is built from this.
fn skill(live: &Live, name: &str, before: &str, tool: &str) {
    skill_with(live, name, TOOL, before, tool);
}

fn skill_with(live: &Live, name: &str, front: &str, before: &str, tool: &str) {
    live.skill(name, front, &[], ("main.so", ""));
    let library = live.stage.context.path(&format!("skills/{name}/main.so"));
    let code = format!(
        "#include <pthread.h>\n#include <signal.h>\n#include <unistd.h>\n#include \"metier.h\"\n{before}\n#include \"good.c\"\n\
         static int32_t tool(struct metier_bytes request, const struct metier_host *host, struct metier_bytes *answer)\n\
         {{ (void)request; (void)host; (void)answer; {tool} }}\n"
    );
    build(&code, &library);
}

fn build(code: &str, library: &PathBuf) {
    let source = library.with_extension("c");
    fs::write(&source, code).unwrap();
    let here = env!("CARGO_MANIFEST_DIR");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O0", "-w", "-D_GNU_SOURCE", "-pthread"])
        .args([
            format!("-I{here}/../../sdk/include"),
            format!("-I{here}/tests/native"),
        ])
        .arg("-o")
        .args([library, &source])
        .output();
    let built =
        built.unwrap_or_else(|error| panic!("these tests need a C compiler, `cc`: {error}"));
    assert!(built.status.success(), "{code}\n{built:?}");
    fs::remove_file(&source).unwrap();
}

fn impatient() -> Live {
    let mut live = Live::new();
    live.patience.tool = SHORT;
    live.patience.start = SHORT;
    live
}

fn called(runtime: &Runtime, name: &str, input: &Value) -> Result<String, String> {
    match runtime.call(name, "t", input) {
        Ok(called) if called.is_error => Err(called.output.to_string()),
        Ok(called) => Ok(called.output.as_str().unwrap_or_default().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn tells(said: &str, expected: &str) -> bool {
    expected.split('|').any(|expected| said.contains(expected))
}

/// One bad call, and the good one after it.
fn check_call(name: &str, tool: &str, expected: &str) {
    let live = impatient();
    skill(&live, name, "", tool);
    live.session(&[name], |runtime| {
        runtime.activate(name).unwrap();
        let error = in_time(name, || called(runtime, name, &json!({})).unwrap_err());
        assert!(tells(&error, expected), "{name}: {error}");
        let (receipts, _) = runtime.collect();
        let receipts = lines(&receipts);
        let start = format!("{name} tool:call {name}__t: ");
        assert!(
            receipts
                .iter()
                .any(|line| line.starts_with(&start) && tells(line, expected)),
            "{name}: {receipts:#?}"
        );
        let good = called(runtime, name, &json!({"good": true}));
        assert_eq!(good.as_deref(), Ok("good"), "{name}");
    });
    assert_eq!(left_running(&live), [""; 0], "{name}");
}

fn check_load(name: &str, before: &str, expected: &str) {
    let live = impatient();
    skill(&live, name, before, NO_TOOL);
    refused(&live, name, expected);
}

/// A skill that is not activated, and the reason.
fn refused(live: &Live, name: &str, expected: &str) {
    live.session(&[name], |runtime| {
        let error = runtime.activate(name).unwrap_err().to_string();
        let error = live.stage.context.filter(&error);
        assert!(tells(&error, expected), "{name}: {error}");
        let (receipts, _) = runtime.collect();
        let receipts = lines(&receipts);
        let start = format!("{name} skill:activate: error: ");
        assert!(
            receipts.iter().any(|line| line.starts_with(&start)),
            "{name}: {receipts:#?}"
        );
    });
    assert_eq!(left_running(live), [""; 0], "{name}");
}

fn all<T: Sync>(table: &[T], check: impl Fn(&T) + Sync) {
    thread::scope(|scope| {
        for part in table.chunks(table.len().div_ceil(3)) {
            scope.spawn(|| part.iter().for_each(&check));
        }
    });
}

#[test]
fn a_library_that_misbehaves_costs_its_call_and_nothing_else() {
    all(CALLS, |(name, tool, expected)| {
        check_call(name, tool, expected);
    });
}

/// The child. It does nothing when all ignored tests are run.
#[test]
#[ignore = "run by the test below"]
fn alone() {
    if env::var_os(MARK).is_none() {
        return;
    }
    let live = impatient();
    skill(&live, "good", "", NO_TOOL);
    let quick = CALLS
        .iter()
        .filter(|(_, _, expected)| *expected != TIMED_OUT);
    for (name, tool, _) in quick.clone() {
        skill(&live, name, "", tool);
    }
    let names: Vec<&str> = quick.map(|(name, ..)| *name).collect();
    live.session(&[&names[..], &["good"]].concat(), |runtime| {
        let call = |name: &str| {
            runtime.activate(name).unwrap();
            assert_eq!(called(runtime, name, &json!({})).is_ok(), name == "good");
            runtime.deactivate(name).unwrap();
        };
        call("good");
        keeps_nothing_of(|| names.iter().for_each(|name| call(name)));
    });
    assert_eq!(left_running(&live), [""; 0]);
}

#[test]
fn bad_libraries_leave_nothing_in_the_caller() {
    println!("{}", alone_in_a_process("live_native::alone", MARK, "1"));
}

#[test]
fn a_library_that_cannot_be_used_is_not_activated_and_says_why() {
    all(LOADS, |(name, before, expected)| {
        check_load(name, before, expected);
    });
}

#[test]
fn a_file_that_is_not_a_library_is_not_loaded() {
    let live = impatient();
    let context = &live.stage.context;
    // The first bytes of a library, and nothing after them.
    let mut half = fs::read(PROGRAM).unwrap();
    half.truncate(20);
    half[16..18].copy_from_slice(&[3, 0]);
    half.resize(200, 0);
    // The same for a processor that is not a 64-bit one.
    let mut other = half.clone();
    other[18..20].copy_from_slice(&[40, 0]);
    let files: [(&str, &[u8], &str); 5] = [
        (
            "a-text",
            b"this is not a library at all, but a text\n",
            "main.so` is not a shared library; build it with `crate-type = [\"cdylib\"]`",
        ),
        ("empty", b"", "main.so` is not a shared library"),
        (
            "for-another-machine",
            &other,
            "main.so` is for arm (64 bits), but this machine is ",
        ),
        ("half-of-one", &half, "main.so` can't be loaded: "),
        (
            "a-program",
            &fs::read("/bin/true").unwrap(),
            "main.so` can't be loaded: cannot dynamically load|main.so` is not a shared library",
        ),
    ];
    for (name, bytes, expected) in files {
        live.skill(name, TOOL, &[], ("main.so", ""));
        context.write(&format!("skills/{name}/main.so"), bytes);
        refused(&live, name, expected);
    }
}

#[test]
fn what_a_library_prints_is_its_log_and_never_an_answer() {
    let live = impatient();
    let forged = r#"puts("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"output\":\"forged\"}}"); fflush(stdout);"#;
    let tool = format!(
        "{forged} return say(answer, \"{{\\\"result\\\":{{\\\"output\\\":\\\"true\\\"}}}}\");"
    );
    skill(&live, "prints", "", &tool);
    live.session(&["prints"], |runtime| {
        runtime.activate("prints").unwrap();
        let called = runtime.call("prints", "t", &json!({})).unwrap();
        assert_eq!(called.output, "true");
        runtime.deactivate("prints").unwrap();
        let said = [called.said, runtime.collect().1].concat();
        let forged = |line: &SkillLine| line.text.contains("forged") && !line.is_warning;
        assert!(said.iter().any(forged), "{said:?}");
    });
}

/// Requests a file, and returns the host's reply as text.
const ASKS: &str = r#"
static char told[4096];
static void ask(const struct metier_host *host)
{
    const char *question = "{\"method\":\"host/read_file\",\"params\":{\"path\":\"greeting.txt\"}}";
    struct metier_bytes bytes = {(const uint8_t *)question, strlen(question)};
    struct metier_bytes heard = host->ask(host->context, bytes);
    size_t n = 0;
    for (size_t i = 0; i < heard.length && n < sizeof told - 2; i++) {
        if (heard.data[i] == '"' || heard.data[i] == '\\') told[n++] = '\\';
        told[n++] = heard.data[i];
    }
    told[n] = 0;
}
static void *from_a_thread(void *host) { ask(host); return NULL; }
"#;
const TELLS: &str = "char *text; asprintf(&text, \"{\\\"result\\\":{\\\"output\\\":\\\"%s\\\"}}\", told); answer->data = (void *)text; answer->length = strlen(text); return 0;";

#[test]
fn a_library_asks_its_host_and_only_in_its_own_thread() {
    let live = impatient();
    live.stage.context.write("greeting.txt", "Hello");
    let before = format!("#include <stdio.h>\n#include <string.h>\n{ASKS}");
    let asks = ["file:read(./greeting.txt)"];
    let thread = "pthread_t id; pthread_create(&id, NULL, from_a_thread, (void *)host); pthread_join(id, NULL);";
    for (name, permissions, ask, expected) in [
        (
            "asks",
            &asks[..],
            "ask(host);",
            r#"{"result":{"content":"Hello"}}"#,
        ),
        ("asks-without", &[], "ask(host);", r#""code":-32001"#),
        (
            "asks-elsewhere",
            &asks[..],
            thread,
            "only the thread that was called can ask the host, and only until it returns",
        ),
    ] {
        let asks = serde_json::to_string(permissions).unwrap();
        let front = format!("{TOOL}permissions: {asks}\n");
        skill_with(&live, name, &front, &before, &format!("{ask} {TELLS}"));
        live.session(&[name], |runtime| {
            runtime.activate(name).unwrap();
            let said = called(runtime, name, &json!({})).unwrap();
            assert!(said.contains(expected), "{name}: {said}");
        });
    }
    assert_eq!(left_running(&live), [""; 0]);
}

#[test]
fn a_library_needs_the_permission_that_a_program_needs() {
    let live = Live::new();
    skill(&live, "good", "", NO_TOOL);
    let refused = live.run(&["call", "good", "t"]);
    assert_eq!(refused.code, 1, "{}", refused.snapshot());
    assert!(
        refused.stderr.contains("shell:exec(main.so *)"),
        "{}",
        refused.snapshot()
    );
    let called = live.run(&["--approve-skills", "good", "call", "good", "t"]);
    assert_eq!(
        (called.code, called.stdout.trim()),
        (0, "1"),
        "{}",
        called.snapshot()
    );
}

/// Tries acts that were not granted, without asking its host; each letter stands for an act that succeeded.
const REACHES: &str = "char got[8] = \"\"; int fd;
    if ((fd = open(\"greeting.txt\", O_RDONLY)) >= 0) strcat(got, \"g\");
    if ((fd = open(\"secret.txt\", O_RDONLY)) >= 0) strcat(got, \"s\");
    if ((fd = open(\"new.txt\", O_WRONLY | O_CREAT, 0600)) >= 0) strcat(got, \"w\");
    if ((fd = open(\"skills/reaches/main.so\", O_WRONLY)) >= 0) strcat(got, \"o\");
    if ((fd = socket(AF_INET, SOCK_STREAM, 0)) >= 0) strcat(got, \"n\");
    if (kill(getppid(), 0) == 0 && getppid() > 1) strcat(got, \"k\");
    strcpy(told, got);";

#[test]
fn a_library_is_behind_the_fence_that_its_grant_amounts_to() {
    let live = impatient();
    live.stage.context.write("greeting.txt", "Hello");
    live.stage.context.write("secret.txt", "the secret");
    let before = format!(
        "#include <fcntl.h>\n#include <stdio.h>\n#include <string.h>\n#include <sys/socket.h>\n{ASKS}"
    );
    let front = format!("{TOOL}permissions: [\"file:read(./greeting.txt)\"]\n");
    skill_with(
        &live,
        "reaches",
        &front,
        &before,
        &format!("{REACHES} {TELLS}"),
    );
    live.session(&["reaches"], |runtime| {
        runtime.activate("reaches").unwrap();
        // It may open granted files directly, as a program may.
        assert_eq!(called(runtime, "reaches", &json!({})).as_deref(), Ok("g"));
    });
    assert!(!live.stage.has("new.txt"));
}

#[test]
fn without_a_library_nothing_is_started() {
    let output = Live::new().stage.context.run(&["__native-host"]);
    assert_eq!(
        (output.code, output.stderr.trim()),
        (1, "usage: __native-host LIBRARY")
    );
}
