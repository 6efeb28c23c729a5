//! The second half of the coding pipeline, with the real OpenCode: its instruction reaches a model, and the files that the model writes are
//! in the project, written only through the sandbox.
//!
//! The model is the one of the test kit, which also judges OpenCode's requests.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use metier_testkit::{
    ProgramOutput, TestContext,
    model_server::{ModelServer, ScriptedTurn},
};
use serde_json::{Value, json};

use crate::skill_project::field;

const SKILL: &str = "opencode-implementer";
const BUILT_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../skills");

/// The folder with the program, as `cargo xtask test` installs it.
fn opencode() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let packages = target.join("opencode/node_modules");
    let kinds = ["opencode-linux-x64-baseline", "opencode-linux-arm64"];
    let mut folders = kinds.iter().map(|kind| packages.join(kind).join("bin"));
    let found = folders.find(|folder| folder.join("opencode").is_file());
    let folder = found.unwrap_or_else(|| {
        panic!(
            "there is no OpenCode below {}: `cargo xtask test` installs it (it needs npm)",
            packages.display()
        )
    });
    folder.canonicalize().unwrap()
}

fn on_path(context: &mut TestContext, folder: &Path) {
    let mut path = folder.as_os_str().to_owned();
    path.push(":/usr/local/bin:/usr/bin:/bin");
    context.env("PATH", path);
}

fn call(context: &TestContext, input: &Value) -> ProgramOutput {
    let input = input.to_string();
    context.run(&["--approve-skills", SKILL, "call", SKILL, "opencode", &input])
}

/// The text that `references/setup.md` tells the user to put into the configuration, by the number of the step.
fn setup(number: usize) -> String {
    let text = fs::read_to_string(format!("{BUILT_IN}/{SKILL}/references/setup.md")).unwrap();
    let mut pieces = text.split("```toml\n").skip(1);
    let piece = pieces.nth(number).unwrap();
    piece.split("```").next().unwrap().to_owned()
}

/// A project with the program on its `PATH`, set up as the skill's documentation describes; `at` is the address of the model.
fn set_up(configuration: &str, at: &str, keys: &[&str]) -> TestContext {
    let mut context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    on_path(&mut context, &opencode());
    // A machine that is busy with other tests is slow.
    context
        .env("METIER_SKILLS_LIMITS_SHELL_EXEC_TIMEOUT", "100")
        .env("METIER_SKILLS_LIMITS_TOOL_TIMEOUT", "110")
        .timeout(Duration::from_secs(120));
    context.write("~/.config/metier/config.toml", configuration);
    let host = format!("net:fetch({})", at.trim_start_matches("http://"));
    let keys = keys.iter().map(|key| format!("env:read({key})"));
    let wants: Vec<String> = std::iter::once(host).chain(keys).collect();
    let mut arguments = vec!["permissions", SKILL, "--approve"];
    arguments.extend(wants.iter().map(String::as_str));
    let output = context.run(&arguments);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    context
}

/// The receipts of the skill, the newest first.
fn receipts(context: &TestContext) -> Vec<Value> {
    let output = context.run(&["log", SKILL, "--json", "--limit", "0"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let log: Value = serde_json::from_str(&output.stdout).unwrap();
    log["receipts"].as_array().unwrap().clone()
}

/// A model that writes a file, and then reports that it did.
fn writes(file: &Path, content: &str) -> [ScriptedTurn; 2] {
    let input = json!({ "filePath": file, "content": content });
    [
        ScriptedTurn::calls([("write", input)]),
        ScriptedTurn::text("It is there."),
    ]
}

#[test]
fn the_instruction_reaches_the_model_of_opencode_and_its_files_are_in_the_project() {
    let server = ModelServer::start_keyless([]);
    let at = server.url();
    let configuration = setup(1).replace("http://127.0.0.1:11434", &at);
    let context = set_up(&configuration, &at, &[]);
    let project = context.work().canonicalize().unwrap();
    server.play(writes(&project.join("hello.txt"), "hello\n"));
    // No part of it is interpreted by a shell or as an option.
    let instruction =
        "--model x/y it's `touch pwned` $(touch pwned) \"; touch pwned; '\nWrite hello.txt";
    let output = call(
        &context,
        &json!({ "instruction": instruction, "criterion": "A1'; touch pwned" }),
    );
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(answer["exit"], 0, "{answer}");
    assert_eq!(answer["criterion"], "A1'; touch pwned");
    assert!(
        answer["output"].as_str().unwrap().contains("It is there."),
        "{answer}"
    );
    assert!(
        answer.get("changed").is_none(),
        "there is no repository: {answer}"
    );
    assert_eq!(context.read("hello.txt"), "hello\n");
    assert!(!project.join("pwned").exists());
    // One to do the work and one to end; no request for a title, and none to another host.
    let requests = server.finish();
    assert_eq!(requests.len(), 2);
    assert!(
        requests[0].tools().contains(&"write"),
        "{:?}",
        requests[0].tools()
    );
    let told = requests[0].json["messages"][1]["content"].as_str().unwrap();
    assert_eq!(
        told.replace("\\\"", "\"").trim_matches('"'),
        instruction.trim_matches('"')
    );
    let result = &requests[1].json["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()["role"];
    assert_eq!(result, "tool");
}

#[test]
fn a_key_and_a_host_that_the_user_adds_are_enough_for_a_provider() {
    // It requests more from Anthropic than we do.
    let server = ModelServer::start_foreign([]);
    let at = server.url();
    let provider =
        format!(r#"{{"provider": {{"anthropic": {{"options": {{"baseURL": "{at}/v1"}}}}}}, "#);
    let configuration = setup(0).replacen('{', &provider, 1);
    let mut context = set_up(&configuration, &at, &["ANTHROPIC_API_KEY"]);
    context.env("ANTHROPIC_API_KEY", "sk-of-the-user");
    let project = context.work().canonicalize().unwrap();
    // In a repository, the answer lists the files that differ from before, including those that were already changed.
    context.write("mine.txt", "one\n");
    context.write("notes.txt", "one\n");
    git(&context, &["init", "--quiet"]);
    git(&context, &["add", "mine.txt", "notes.txt"]);
    context.write("mine.txt", "two\n");
    context.write("notes.txt", "two\n");
    server.play(
        writes(&project.join("src/hello world.txt"), "hello\n")
            .into_iter()
            .take(1),
    );
    let more = json!({ "command": "echo three >> notes.txt", "description": "More" });
    server.play([
        ScriptedTurn::calls([("bash", more)]),
        ScriptedTurn::text("It is there."),
    ]);
    let output = call(&context, &json!({ "instruction": "Write it." }));
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(answer["exit"], 0, "{answer}");
    assert_eq!(
        answer["changed"],
        json!(["notes.txt", "src/hello world.txt"]),
        "{answer}"
    );
    assert_eq!(context.read("notes.txt"), "two\nthree\n");
    let requests = server.finish();
    assert_eq!(requests.len(), 3);
    for request in &requests {
        assert_eq!(request.path, "/v1/messages");
        assert_eq!(request.header("x-api-key"), Some("sk-of-the-user"));
        assert_eq!(request.json["model"], "claude-sonnet-4-5");
    }
    // It ran in the sandbox, with its instruction in the receipt, and reached only that host.
    let receipts = receipts(&context);
    let ran = receipts
        .iter()
        .find(|receipt| field(receipt, "detail").contains("opencode run"));
    let ran = ran.unwrap_or_else(|| panic!("{receipts:?}"));
    assert!(field(ran, "detail").ends_with("-- 'Write it.'"), "{ran}");
    assert_eq!(field(ran, "sandbox"), "namespaces", "{ran}");
    let host = at.trim_start_matches("http://");
    for receipt in receipts
        .iter()
        .filter(|receipt| field(receipt, "act") == "net:fetch")
    {
        let reached = field(receipt, "outcome") == "ok";
        assert_eq!(
            reached,
            field(receipt, "detail").ends_with(host),
            "{receipt}"
        );
    }
}

fn git(context: &TestContext, arguments: &[&str]) {
    let ended = Command::new("git")
        .args(arguments)
        .current_dir(context.work())
        .env("HOME", context.home())
        .status();
    assert!(ended.is_ok_and(|status| status.success()), "{arguments:?}");
}

#[test]
fn without_opencode_the_answer_shows_how_to_install_it() {
    let mut context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    on_path(&mut context, Path::new("/nowhere"));
    let output = call(&context, &json!({ "instruction": "Write hello.txt." }));
    assert_eq!(output.code, 1, "{}", output.snapshot());
    let said = "opencode can't be run: there is no program `opencode` on PATH; install it with: npm install -g opencode-ai";
    assert!(output.stdout.contains(said), "{}", output.snapshot());
}

#[test]
fn without_a_host_opencode_is_not_started_and_the_answer_says_which_to_approve() {
    let mut context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    let program = context.bin("opencode", "#!/bin/sh\necho \"$@\" >> asked\n");
    on_path(&mut context, program.parent().unwrap());
    let output = call(&context, &json!({ "instruction": "Write hello.txt." }));
    assert_eq!(output.code, 1, "{}", output.snapshot());
    let said = "--approve 'net:fetch(api.anthropic.com)'";
    assert!(output.stdout.contains(said), "{}", output.snapshot());
    assert_eq!(context.read("asked"), "--version\n");
}

#[test]
fn an_opencode_that_takes_too_long_is_stopped_and_the_answer_shows_how_to_raise_the_limit() {
    let mut context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    let program = context.bin("opencode", "#!/bin/sh\necho begun\nsleep 60\n");
    on_path(&mut context, program.parent().unwrap());
    context.env("METIER_SKILLS_LIMITS_SHELL_EXEC_TIMEOUT", "1");
    let approved = context.run(&["permissions", SKILL, "--approve", "net:fetch(example.com)"]);
    assert_eq!(approved.code, 0, "{}", approved.snapshot());
    let output = call(&context, &json!({ "instruction": "Write hello.txt." }));
    assert_eq!(output.code, 1, "{}", output.snapshot());
    for said in [
        "begun",
        "metier config skills.limits.shell_exec_timeout 900",
    ] {
        assert!(output.stdout.contains(said), "{}", output.snapshot());
    }
}

/// The input of `specKit` is exactly what its skill promises to deliver; only descriptions are added.
#[test]
fn the_tool_of_a_specification_takes_its_contract() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    let document = |arguments: &[&str]| -> Value {
        let output = context.run(arguments);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        serde_json::from_str(&output.stdout).unwrap()
    };
    let tools = document(&["tools", "specification-engine", "--json"]);
    let [tool] = tools["tools"].as_array().unwrap().as_slice() else {
        panic!("{tools}")
    };
    assert_eq!(tool["name"], "specKit");
    let mut schema = tool["input_schema"].clone();
    without_descriptions(&mut schema);
    let about = document(&["info", "specification-engine", "--json"]);
    assert_eq!(schema, about["manifest"]["output_contract"], "{about}");
}

fn without_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.remove("description");
            fields.values_mut().for_each(without_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(without_descriptions),
        _ => {}
    }
}
