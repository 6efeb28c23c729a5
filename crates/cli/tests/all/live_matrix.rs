//! Every function of the SDK against every state of its permission, as text: nothing granted, exactly the required permission, the same
//! permission for something else, and denied.
//!
//! The functions come from the table that documents them, so a new one fails here until it has a row. Each cell is a call in a real worker
//! or a real program, and the receipts about it. `METIER_BLESS=1` rewrites `live_matrix.txt`: the diff is the thing to review.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    process::Command,
    thread,
};

use metier_runtime::live::{Called, Runtime};
use metier_starlark::{StarlarkBuiltin, reference};
use serde_json::{Value, json};

use crate::{
    authority::compare,
    live_session::{Live, left_running, lines, python, tool},
};

const TOOL: &str = "types: [tool]\n";

/// A function of the SDK: the permission that it requires, one that is not sufficient, and a call of it.
struct Row {
    builtin: &'static StarlarkBuiltin,
    /// The required permission; none for functions that stay inside.
    exact: Option<String>,
    /// The required permission with another scope, which is not sufficient.
    elsewhere: Option<String>,
    /// Its arguments in Starlark.
    arguments: String,
    /// The request of a program.
    params: Value,
}

/// Every function that the host provides to a skill.
fn rows(port: u16) -> Vec<Row> {
    let builtins = reference().iter();
    let asks = builtins.filter(|builtin| builtin.request.is_some());
    asks.map(|builtin| row(builtin, port)).collect()
}

fn row(builtin: &'static StarlarkBuiltin, port: u16) -> Row {
    let url = format!("http://127.0.0.1:{port}/");
    let git = |words: &[&str]| json!({ "arguments": words });
    let (scope, other, arguments, params) = match builtin.name {
        "read_file" => (
            "./data/a.txt",
            "./else/**",
            r#""data/a.txt""#.into(),
            json!({"path": "data/a.txt"}),
        ),
        "write_file" => (
            "./data/b.txt",
            "./else/**",
            r#""data/b.txt", "x""#.into(),
            json!({"path": "data/b.txt", "content": "x"}),
        ),
        "glob" => (
            "./data/**",
            "./else/**",
            r#""data/*.txt""#.into(),
            json!({"pattern": "data/*.txt"}),
        ),
        "grep" => (
            "./data/**",
            "./else/**",
            r#""a", "data""#.into(),
            json!({"pattern": "a", "path": "data"}),
        ),
        "exec" => (
            "echo *",
            "printf *",
            r#""echo hello""#.into(),
            json!({"command": "echo hello"}),
        ),
        "fetch" => (
            "127.0.0.1",
            "nowhere.invalid",
            format!("\"{url}\""),
            json!({"url": url}),
        ),
        "env" => (
            "COLOR",
            "SHAPE",
            r#""COLOR""#.into(),
            json!({"name": "COLOR"}),
        ),
        "set_env" => (
            "COLOR",
            "SHAPE",
            r#""COLOR", "red""#.into(),
            json!({"name": "COLOR", "value": "red"}),
        ),
        "git" => (".", "./else", r#""log", "-1""#.into(), git(&["log", "-1"])),
        "git_status" => (
            ".",
            "./else",
            String::new(),
            git(&["status", "--porcelain"]),
        ),
        "git_diff" => (".", "./else", String::new(), git(&["diff"])),
        "git_log" => (".", "./else", String::new(), git(&["log"])),
        "git_show" => (".", "./else", String::new(), git(&["show"])),
        "git_add" => (
            ".",
            "./else",
            r#""a.txt""#.into(),
            git(&["add", "--", "a.txt"]),
        ),
        "git_commit" => (
            ".",
            "./else",
            r#""words""#.into(),
            git(&["commit", "-m", "words"]),
        ),
        "llm" => (
            "small",
            "large",
            r#""Hello?", model = "small""#.into(),
            json!({"prompt": "Hello?", "model": "small"}),
        ),
        "llm_complete" => ("default", "big", r#""?""#.into(), json!({"prompt": "?"})),
        "invoke_skill" => (
            "other",
            "another",
            r#""other", "t""#.into(),
            json!({"name": "other", "tool": "t"}),
        ),
        "log" | "print" => ("", "", r#""words""#.into(), json!({"message": "words"})),
        name => panic!("`{name}` is a function of the SDK without a row here: add one"),
    };
    let want = |scope: &str| Some(format!("{}({scope})", builtin.permission?));
    Row {
        builtin,
        exact: want(scope),
        elsewhere: want(other),
        arguments,
        params,
    }
}

/// A tool for each function, and another one that asks for nothing instead of an error.
fn in_starlark(rows: &[&Row]) -> String {
    let mut code = String::new();
    for row in rows {
        let (name, arguments) = (row.builtin.name, &row.arguments);
        let mut define = |tool: &str, call: String| {
            code.push_str(&format!(
                "def {tool}(input):\n    {call}\n    return \"done\"\nregister_tool(\"{tool}\", \"\", {tool})\n"
            ));
        };
        define(&format!("call_{name}"), format!("{name}({arguments})"));
        if row.builtin.signature.contains("or_none") {
            let comma = if arguments.is_empty() { "" } else { ", " };
            let call = format!("{name}({arguments}{comma}or_none = True)");
            define(&format!("none_{name}"), call);
        }
    }
    code
}

/// A program that passes on the request in its input, and the answer that it got.
fn in_python() -> String {
    python(
        "from metier import HostError\n\
         @skill.tool('Asks')\ndef ask(host, method: str, params: dict):\n    try:\n        host.ask(method, **params)\n        return 'done'\n    \
         except HostError as error:\n        return {'code': error.code, 'message': error.message, 'data': error.data}",
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Guise {
    Starlark,
    Program,
}

const GUISES: [(Guise, &str); 2] = [(Guise::Starlark, "starlark"), (Guise::Program, "program")];

/// The table, and the machine on which it is computed.
struct Matrix {
    live: Live,
    rows: Vec<Row>,
    port: u16,
}

impl Matrix {
    fn new() -> Self {
        let mut live = Live::new();
        let context = &live.stage.context;
        context.write("data/a.txt", "a\n");
        context.write("a.txt", "a\n");
        context.dir("else");
        repository(&live);
        live.skill("other", TOOL, &[], ("main.star", &tool("return 1")));
        live.variables.insert("COLOR".into(), "blue".into());
        let port = page();
        let rows = rows(port);
        let matrix = Self { live, rows, port };
        for (guise, _) in GUISES {
            matrix.skill(guise, "nothing", &[], matrix.rows.iter());
            let elsewhere: Vec<&str> = matrix
                .rows
                .iter()
                .filter_map(|row| row.elsewhere.as_deref())
                .collect();
            matrix.skill(guise, "elsewhere", &elsewhere, matrix.rows.iter());
            for row in &matrix.rows {
                for kind in ["exactly", "denied"] {
                    let kind = row.kind(kind);
                    matrix.skill(guise, &kind, row.exact.as_deref().as_slice(), [row]);
                }
            }
        }
        matrix
    }

    fn skill<'r>(
        &self,
        guise: Guise,
        kind: &str,
        asks: &[&str],
        rows: impl IntoIterator<Item = &'r Row>,
    ) {
        let mut asks = asks.to_vec();
        asks.sort_unstable();
        asks.dedup();
        let rows: Vec<&Row> = rows.into_iter().collect();
        let name = named(guise, kind);
        let (file, code) = match guise {
            Guise::Starlark => ("main.star", in_starlark(&rows)),
            Guise::Program => ("main.py", in_python()),
        };
        self.live.skill(&name, TOOL, &asks, (file, &code));
    }

    /// One cell: the answer to the skill, and the receipts.
    fn cell(&self, runtime: &Runtime, guise: Guise, kind: &str, row: &Row, prefix: &str) -> String {
        let name = named(guise, kind);
        if let Err(error) = runtime.activate(&name) {
            return self.plain(&format!("not active: {error}"));
        }
        let method = row.builtin.request.unwrap();
        let called = match guise {
            Guise::Starlark => {
                runtime.call(&name, &format!("{prefix}_{}", row.builtin.name), &json!({}))
            }
            Guise::Program => runtime.call(
                &name,
                "ask",
                &json!({"method": method, "params": row.params}),
            ),
        };
        let called = called.unwrap();
        let (told, receipts) = (told(&called), lines(&called.receipts));
        let own: Vec<&String> = receipts
            .iter()
            .filter(|line| line.starts_with(&format!("{name} ")))
            .collect();
        let act = row
            .builtin
            .permission
            .map(|permission| format!("{name} {permission} "));
        let noted = act.and_then(|act| own.iter().find_map(|line| line.strip_prefix(&act)));
        let noted = noted.map(|line| {
            if line.contains(": refused") {
                "refused"
            } else {
                "done"
            }
        });
        self.plain(&format!("{told} [receipt: {}]", noted.unwrap_or("none")))
    }

    fn plain(&self, text: &str) -> String {
        let text = text.replace(&format!(":{}/", self.port), ":PORT/");
        self.live.stage.context.filter(&text)
    }
}

fn named(guise: Guise, kind: &str) -> String {
    match guise {
        Guise::Starlark => format!("s-{kind}"),
        Guise::Program => format!("p-{kind}"),
    }
}

/// The answer to a skill, on one line.
fn told(called: &Called) -> String {
    match &called.output {
        Value::String(done) if done == "done" => "done".to_owned(),
        Value::String(error) => {
            assert!(called.is_error, "{error}");
            let line = error.lines().next().unwrap_or_default();
            let (_, what) = line.split_once(": ").unwrap_or(("", line));
            format!("error: {what}")
        }
        other => {
            let data = &other["data"];
            format!(
                "error {} {} needs {}: {}",
                other["code"], data["code"], data["needed"], other["message"]
            )
        }
    }
}

fn repository(live: &Live) {
    for words in [
        &["init", "-q"][..],
        &["add", "a.txt"],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "commit",
            "-qm",
            "first",
        ],
    ] {
        let context = &live.stage.context;
        let mut git = Command::new("git");
        git.current_dir(context.work())
            .env("HOME", context.home())
            .args(words);
        assert!(git.output().unwrap().status.success(), "git {words:?}");
    }
}

/// A page that answers as often as it is requested.
fn page() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            while lines.next().is_some_and(|line| !line.trim().is_empty()) {}
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            (&stream).write_all(answer).ok();
        }
    });
    port
}

impl Row {
    /// The skill that is only for this.
    fn kind(&self, kind: &str) -> String {
        format!("{kind}-{}", self.builtin.name.replace('_', "-"))
    }
}

impl Matrix {
    /// The user's denials are applied by the program, and stored.
    fn deny(&self) {
        for row in &self.rows {
            let Some(exact) = &row.exact else { continue };
            for (guise, _) in GUISES {
                let name = named(guise, &row.kind("denied"));
                let denied = self.live.run(&["permissions", &name, "--deny", exact]);
                assert_eq!(denied.code, 0, "{name}: {}", denied.snapshot());
            }
        }
    }

    /// Every skill: a refusal is then never due to a missing approval.
    fn approved(&self) -> Vec<String> {
        let kinds = self.rows.iter();
        let kinds = kinds.flat_map(|row| [row.kind("exactly"), row.kind("denied")]);
        let kinds = kinds.chain(["nothing".to_owned(), "elsewhere".to_owned()]);
        let names = kinds.flat_map(|kind| GUISES.map(|(guise, _)| named(guise, &kind)));
        names.chain(["other".to_owned()]).collect()
    }

    /// All cells of a function, in one language.
    fn lines(&self, runtime: &Runtime, row: &Row, (guise, word): (Guise, &str)) -> String {
        let (exactly, denied) = (row.kind("exactly"), row.kind("denied"));
        let catches = guise == Guise::Starlark && row.builtin.signature.contains("or_none");
        let columns = [
            ("nothing", "nothing", "call"),
            ("nothing, or_none", "nothing", "none"),
            ("elsewhere", "elsewhere", "call"),
            ("exactly", &exactly, "call"),
            ("denied", &denied, "call"),
        ];
        let mut text = String::new();
        for (column, kind, prefix) in columns {
            if prefix == "none" && !catches {
                continue;
            }
            let cell = self.cell(runtime, guise, kind, row, prefix);
            let is_open = row.exact.is_none() || column == "exactly";
            let name = row.builtin.name;
            assert_eq!(
                cell.starts_with("done"),
                is_open,
                "{name}, {word}, {column}: {cell}"
            );
            text.push_str(&format!("  {word:<8}  {column:<16}  {cell}\n"));
        }
        for kind in [exactly, denied] {
            // A denied skill was never active.
            runtime.deactivate(&named(guise, &kind)).ok();
        }
        text
    }
}

// case 119, 137
#[test]
fn every_function_of_the_sdk_is_refused_unless_exactly_it_was_granted() {
    let matrix = Matrix::new();
    matrix.deny();
    let approved = matrix.approved();
    let approved: Vec<&str> = approved.iter().map(String::as_str).collect();
    let head = "# Which function of the SDK is refused when. Made by tests/all/live_matrix.rs; METIER_BLESS=1 rewrites it.\n";
    let mut text = head.to_owned();
    matrix.live.session(&approved, |runtime| {
        for row in &matrix.rows {
            let exact = row.exact.as_ref().map(|want| format!(": {want}"));
            let exact = exact.unwrap_or_default();
            text.push_str(&format!("\n{}{exact}\n", row.builtin.name));
            for guise in GUISES {
                text.push_str(&matrix.lines(runtime, row, guise));
            }
        }
    });
    assert_eq!(left_running(&matrix.live), [""; 0]);
    compare("live_matrix.txt", &text);
}
