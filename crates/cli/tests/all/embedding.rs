//! Programs that embed the library: the examples, run as a stranger would run them.

use std::{path::PathBuf, process::Command};

use metier_testkit::{
    Context,
    model_server::{ModelServer, Turn},
};
use serde_json::json;

const GREETER: &str = r#"
def greet(input):
    return "Hello, " + input["name"]

register_tool("greet", "Greets a person.", greet, {"type": "object", "properties": {"name": {"type": "string"}}})
"#;

/// An example of the library, built with the tests of the workspace.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let profile = tests.ancestors().nth(2).unwrap();
    let program = profile.join("examples").join(name);
    assert!(
        program.exists(),
        "{} is missing: cargo build --examples -p metier",
        program.display()
    );
    program
}

fn machine() -> Context {
    let context = Context::new(env!("CARGO_BIN_EXE_metier"));
    context.write(
        "~/.config/metier/skills/greeter/SKILL.yaml",
        "name: greeter\nversion: 1.0.0\ndescription: Greets people.\ntypes: [tool]\n\
         implementation:\n  backend: starlark\n  entrypoint: skill.star\n",
    );
    context.write("~/.config/metier/skills/greeter/skill.star", GREETER);
    context
}

/// Runs an example on a machine: whether it ended well, and what it printed.
fn ends(
    context: &Context,
    name: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> (bool, String) {
    let like = context.command();
    let mut command = Command::new(example(name));
    command.env_clear();
    for (name, value) in like.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.envs(variables.iter().copied());
    let output = command.current_dir(context.work()).args(arguments).output();
    let output = output.unwrap();
    let (out, err) = (&output.stdout, &output.stderr);
    let shown = format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    );
    (output.status.success(), shown)
}

fn run(context: &Context, name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
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
        Turn::calls([("greeter__greet", json!({ "name": "Ada" }))]),
        Turn::text("She was greeted."),
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
fn what_can_not_be_called_is_said_with_what_can() {
    let context = machine();
    let refused = |call: [&str; 3], expected: &str| {
        let (well, shown) = ends(&context, "approve_from_elsewhere", &call, &[]);
        assert!(!well && shown.contains(expected), "{shown}");
    };
    refused(
        ["greeter", "greeter__wave", "{}"],
        "there is no tool `greeter__wave`\nhint: there are: greeter__greet",
    );
    refused(
        ["greeterr", "x", "{}"],
        "there is no skill `greeterr`\nhint: did you mean `greeter`?",
    );
}
