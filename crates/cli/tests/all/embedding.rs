//! Programs that embed the library: the examples, run as a third party would run them.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
    sync::mpsc::channel,
    thread,
};

use metier_store::{Receipt, ReceiptFilter, Store, Verified};
use metier_testkit::{
    TestContext,
    model_server::{ModelServer, ScriptedTurn},
    patience::PATIENCE,
};
use serde_json::json;

use crate::live_session::{left_in, lines};

const GREETER: &str = r#"
def greet(input):
    return "Hello, " + input["name"]

register_tool("greet", "Greets a person.", greet, {"type": "object", "properties": {"name": {"type": "string"}}})
"#;

/// An example of the library, built with the tests of the workspace.
fn example(name: &str) -> PathBuf {
    let tests = env::current_exe().unwrap();
    let profile = tests.ancestors().nth(2).unwrap();
    let program = profile.join("examples").join(name);
    assert!(
        program.exists(),
        "{} is missing: cargo build --examples -p metier",
        program.display()
    );
    program
}

fn machine() -> TestContext {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    context.write(
        "~/.config/metier/skills/greeter/SKILL.yaml",
        "name: greeter\nversion: 1.0.0\ndescription: Greets people.\ntypes: [tool]\n\
         implementation:\n  backend: starlark\n  entrypoint: skill.star\n",
    );
    context.write("~/.config/metier/skills/greeter/skill.star", GREETER);
    context
}

/// An example, to be started on a machine.
fn command(context: &TestContext, name: &str, arguments: &[&str]) -> Command {
    let like = context.command();
    let mut command = Command::new(example(name));
    command.env_clear();
    for (name, value) in like.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.current_dir(context.work()).args(arguments);
    command
}

/// Runs an example on a machine; returns whether it succeeded, and its output.
fn ends(
    context: &TestContext,
    name: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (bool, String) {
    let mut command = command(context, name, arguments);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let (out, err) = (&output.stdout, &output.stderr);
    let shown = format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    );
    (output.status.success(), shown)
}

fn run(
    context: &TestContext,
    name: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> String {
    let (well, shown) = ends(context, name, arguments, variables);
    assert!(well, "{name}: {shown}");
    shown
}

#[test]
fn a_program_lists_the_skills_of_a_machine() {
    let shown = run(&machine(), "list", &[], &[]);
    assert!(shown.contains("greeter: Greets people."), "{shown}");
}

#[test]
fn a_loop_of_ones_own_gives_a_model_its_skills() {
    let context = machine();
    let server = ModelServer::start_foreign([
        ScriptedTurn::calls([("greeter__greet", json!({ "name": "Ada" }))]),
        ScriptedTurn::text("She was greeted."),
    ]);
    let base = format!("{}/v1", server.url());
    let variables = [("OPENAI_BASE_URL", base.as_str()), ("OPENAI_API_KEY", "k")];
    let task = ["greeter", "Greet Ada."];
    let shown = run(&context, "give_a_model_its_skills", &task, &variables);
    assert!(shown.contains("She was greeted."), "{shown}");
    let requests = server.finish();
    assert!(String::from_utf8_lossy(&requests[1].body).contains("Hello, Ada"));
    let log = context.run(&["log", "greeter"]);
    assert!(log.stdout.contains("greeter__greet"), "{}", log.snapshot());
}

#[test]
fn a_program_names_its_worker_or_is_one() {
    let context = machine();
    let call = |worker: &str| {
        let input = "{\"name\": \"Ada\"}";
        let arguments = [worker, "greeter", "greeter__greet", input];
        ends(&context, "use_the_installed_program", &arguments, &[])
    };
    let metier = env!("CARGO_BIN_EXE_metier");
    assert_eq!(call(metier), (true, "\"Hello, Ada\"\n".to_owned()));
    for other in ["/bin/true", "/bin/cat", "/no/such/metier"] {
        let (well, shown) = call(other);
        let expected = format!("`{other}` can't run code of skills: it is not a metier of version");
        assert!(!well && shown.contains(&expected), "{shown}");
    }
    let (well, shown) = call("-");
    assert!(
        !well,
        "its own `main` would be started in place of a worker: {shown}"
    );
    assert!(
        shown.contains("does not call `metier::worker::run_if_worker`")
            && shown.contains("hint: call it first in `main`"),
        "{shown}"
    );
}

#[test]
fn permission_is_given_from_another_thread() {
    let context = machine();
    context.write(
        "~/.config/metier/skills/looker/SKILL.yaml",
        "name: looker\nversion: 1.0.0\ndescription: Looks.\ntypes: [tool]\npermissions: [\"env:read(LOOK_HERE)\"]\n\
         implementation:\n  backend: starlark\n  entrypoint: skill.star\n",
    );
    context.write(
        "~/.config/metier/skills/looker/skill.star",
        "def look(input):\n    return env(\"LOOK_HERE\")\n\nregister_tool(\"look\", \"Looks.\", look, {\"type\": \"object\"})\n",
    );
    let call = ["looker", "looker__look", "{}"];
    let shown = run(
        &context,
        "approve_from_elsewhere",
        &call,
        &[("LOOK_HERE", "found")],
    );
    assert_eq!(shown, "looker asks for env:read(LOOK_HERE)\n\"found\"\n");
}

#[test]
fn an_unknown_tool_is_reported_with_the_available_ones() {
    let context = machine();
    let refused = |call: [&str; 3], expected: &str| {
        let (well, shown) = ends(&context, "approve_from_elsewhere", &call, &[]);
        assert!(!well && shown.contains(expected), "{shown}");
    };
    refused(
        ["greeter", "greeter__wave", "{}"],
        "there is no tool `greeter__wave`\nhint: available tools: greeter__greet",
    );
    refused(
        ["greeterr", "x", "{}"],
        "there is no skill `greeterr`\nhint: did you mean `greeter`?",
    );
}

/// A skill in Starlark, or a program in the shell, with one tool.
fn worker(context: &TestContext, name: &str, is_program: bool) {
    let (backend, file, code) = match is_program {
        false => (
            "starlark",
            "skill.star",
            "def t(input):\n    return 1\n\nregister_tool(\"t\", \"A tool.\", t)\n".to_owned(),
        ),
        true => (
            "process",
            "main.sh",
            crate::live_session::shell(&[
                (
                    "initialize",
                    "answer '{\"tools\":[{\"name\":\"t\",\"description\":\"\",\"input_schema\":{\"type\":\"object\"}}]}'",
                ),
                ("tool/execute", "answer '{\"output\":1}'"),
                ("shutdown", "answer '{}'; exit 0"),
            ]),
        ),
    };
    let folder = format!("~/.config/metier/skills/{name}");
    context.write(
        &format!("{folder}/SKILL.yaml"),
        format!(
            "name: {name}\nversion: 1.0.0\ndescription: Works.\ntypes: [tool]\nimplementation:\n  backend: {backend}\n  entrypoint: {file}\n"
        ),
    );
    context.write(&format!("{folder}/{file}"), code);
}

#[test]
fn sessions_on_32_threads_leave_complete_receipts_and_nothing_else() {
    let context = machine();
    let names = ["a", "b", "c", "d", "e", "f"];
    for (number, name) in names.iter().enumerate() {
        worker(&context, name, number % 2 == 1);
        let approved = context.run(&["permissions", name, "--approve"]);
        assert_eq!(approved.code, 0, "{}", approved.snapshot());
    }
    let seconds = env::var("METIER_SOAK_SECONDS").unwrap_or_else(|_| "3".to_owned());
    let arguments: Vec<&str> = [seconds.as_str()].into_iter().chain(names).collect();
    // Programs of skills are started by the shell.
    let shown = run(
        &context,
        "many_sessions",
        &arguments,
        &[("PATH", "/usr/bin:/bin")],
    );
    let sessions: usize = shown.trim().parse().unwrap();
    let home = context.home();
    let place = home.parent().unwrap().to_string_lossy().into_owned();
    assert_eq!(left_in(&place), [""; 0]);
    let store = Store::open(&context.path("~/.local/share/metier/metier.db")).unwrap();
    assert!(matches!(store.verify().unwrap(), Verified::Whole { .. }));
    let mut by_session: BTreeMap<String, Vec<Receipt>> = BTreeMap::new();
    for receipt in store.receipts(ReceiptFilter::default()).unwrap() {
        let session = receipt.entry.session.clone().unwrap_or_default();
        by_session.entry(session).or_default().push(receipt);
    }
    let used = by_session.values().map(|receipts| lines(receipts));
    let used: Vec<Vec<String>> = used.filter(|lines| is_used(lines)).collect();
    assert_eq!(used.len(), sessions);
    for lines in used {
        assert!(lines.iter().all(|line| line.ends_with(": ok")), "{lines:?}");
        for act in [" skill:activate", " tool:call ", " skill:deactivate"] {
            let number = lines.iter().filter(|line| line.contains(act)).count();
            assert_eq!(number, 1, "{lines:?}");
        }
    }
}

/// Whether these receipts are from a session, and not from an approval.
fn is_used(lines: &[String]) -> bool {
    lines.iter().any(|line| line.contains("skill:activate"))
}

#[test]
fn a_watch_reports_skills_that_are_added_changed_and_removed() {
    let context = machine();
    let mut child = command(&context, "watch", &["600"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (send, lines) = channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            send.send(line).ok();
        }
    });
    let next = || lines.recv_timeout(PATIENCE).unwrap();
    assert!(next().starts_with("watching "));
    let skill = |text: &str| format!("---\nname: noted\ndescription: {text}\n---\nText.\n");
    // A root that did not exist.
    context.write("~/.claude/skills/noted/SKILL.md", skill("One."));
    assert_eq!(next(), "added noted");
    // As editors save: a new file replaces the old one.
    context.write("~/.claude/skills/noted/SKILL.md.new", skill("Another."));
    let folder = context.path("~/.claude/skills/noted");
    fs::rename(folder.join("SKILL.md.new"), folder.join("SKILL.md")).unwrap();
    assert_eq!(next(), "changed noted");
    context.write("~/.claude/skills/noted/references/deep.md", "More.");
    assert_eq!(next(), "changed noted");
    // A flood: one report, not one for each file.
    for number in 0..500 {
        context.write(
            &format!("~/.claude/skills/noted/references/{number}.md"),
            "x",
        );
    }
    assert_eq!(next(), "changed noted");
    let elsewhere = context.path("~/.claude/skills/renamed");
    fs::rename(&folder, &elsewhere).unwrap();
    let mut both = [next(), next()];
    // The name is in the manifest: the skill in the new folder is the same one.
    both.sort();
    assert_eq!(both, ["added noted", "removed noted"]);
    // A root that is a link.
    fs::create_dir_all(context.path("elsewhere/linked")).unwrap();
    context.write(
        "elsewhere/linked/SKILL.md",
        skill("Linked.").replace("noted", "linked"),
    );
    fs::create_dir_all(context.path("~/.openclaw")).unwrap();
    context.symlink(
        &context.path("elsewhere").to_string_lossy(),
        "~/.openclaw/skills",
    );
    assert_eq!(next(), "added linked");
    fs::remove_dir_all(context.path("elsewhere/linked")).unwrap();
    assert_eq!(next(), "removed linked");
    child.kill().unwrap();
    child.wait().unwrap();
}
