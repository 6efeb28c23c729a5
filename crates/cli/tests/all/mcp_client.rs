//! Skills and tools of MCP servers: a real server as a program, honest or not (`fixtures/mcp/server.py`).

use std::{fs, path::Path};

use metier_testkit::{
    NotRun, ProgramOutput, TestContext, model_server::ScriptedTurn, needed, needs,
};
use serde_json::{Value, json};

use crate::{
    skill_project::field,
    test_agent::{TestAgent, last_message},
};

const PYTHON: &str = "/usr/bin/python3";
const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/mcp/server.py");
const CONFIG: &str = "~/.config/metier/config.toml";
const GREETER: &str = "---\nname: greeter\ndescription: Greets people. Use for greetings.\nallowed-tools: shell\n---\nSay hello to $ARGUMENTS. See notes.md.\n";

/// A table of the configuration that starts the test server.
fn table(kind: &str, name: &str, mode: &str, folder: &Path, more: &str) -> String {
    let folder = folder.display();
    format!(
        "[[{kind}]]\nname = \"{name}\"\ncommand = \"{PYTHON}\"\nargs = [\"{SERVER}\", \"{mode}\", \"{folder}\"]\n{more}\n"
    )
}

/// A machine with a server that serves one skill.
struct Room {
    context: TestContext,
}

impl Room {
    fn new(mode: &str) -> Result<Self, NotRun> {
        Self::with(mode, "")
    }

    fn with(mode: &str, more: &str) -> Result<Self, NotRun> {
        needs::program(PYTHON)?;
        let room = Self {
            context: TestContext::new(env!("CARGO_BIN_EXE_metier")),
        };
        room.context.write("~/served/greeter/SKILL.md", GREETER);
        room.context
            .write("~/served/greeter/notes.md", "Be kind.\n");
        room.configure(mode, more);
        Ok(room)
    }

    fn configure(&self, mode: &str, more: &str) {
        let folder = self.context.home().join("served");
        let log = self.context.home().join("log");
        let more = format!("env = {{ MCP_TEST_LOG = \"{}\" }}\n{more}", log.display());
        let text = table("skills.mcp", "docs", mode, &folder, &more);
        self.context.write(CONFIG, text);
    }

    fn run(&self, arguments: &[&str]) -> ProgramOutput {
        self.context.run(arguments)
    }

    /// The methods that were requested from the server since the last time.
    fn asked(&self) -> Vec<String> {
        let file = self.context.home().join("log");
        let log = fs::read_to_string(&file).unwrap_or_default();
        fs::remove_file(&file).ok();
        let method = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            let path = line["params"]["uri"].as_str().unwrap_or_default();
            let path = path.rsplit('/').next().unwrap_or_default().to_owned();
            format!("{} {path}", line["method"].as_str().unwrap())
                .trim()
                .to_owned()
        };
        log.lines().map(method).collect()
    }

    /// The skills of a list as JSON, by name.
    fn listed(&self) -> Vec<(String, String)> {
        let output = self.run(&["list", "--json"]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        let skills = document["skills"].as_array().unwrap().iter();
        let text = |skill: &Value, key: &str| skill[key].as_str().unwrap().to_owned();
        skills
            .map(|skill| (text(skill, "name"), text(skill, "status")))
            .collect()
    }

    fn status(&self, name: &str) -> Option<String> {
        let listed = self.listed();
        listed
            .into_iter()
            .find(|(known, _)| known == name)
            .map(|(_, status)| status)
    }
}

#[test]
fn a_skill_of_a_server_is_listed_then_loaded_then_kept() {
    let room = needed!(Room::new("honest"));
    let list = room.run(&["list"]);
    assert!(
        list.stdout
            .contains("extra  MCP servers\n? docs:greeter - Greets people"),
        "{}",
        list.stdout
    );
    // A list reads no file, and a second list sends no request.
    assert_eq!(room.asked(), ["server/discover", "skills/list"]);
    room.run(&["list"]);
    assert_eq!(room.asked(), [""; 0]);
    let shown = room.run(&["show", "docs:greeter", "Ada"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(
        shown.stdout.contains("comes from the MCP server `docs`"),
        "{}",
        shown.stdout
    );
    assert!(
        shown.stdout.contains("Say hello to Ada."),
        "{}",
        shown.stdout
    );
    assert!(
        shown.stdout.contains("<file>notes.md</file>"),
        "{}",
        shown.stdout
    );
    assert_eq!(
        room.asked(),
        [
            "server/discover",
            "resources/read SKILL.md",
            "resources/read notes.md"
        ]
    );
    // It was scanned, so it has a verdict now; it was kept, so the server is not asked again.
    assert!(room.run(&["list"]).stdout.contains("✓ docs:greeter"));
    let read = room.run(&["read", "docs:greeter", "notes.md"]);
    assert_eq!(read.stdout, "Be kind.\n", "{}", read.stderr);
    assert_eq!(room.asked(), [""; 0]);
    let refreshed = room.run(&["list", "--refresh"]);
    assert_eq!(refreshed.code, 0);
    assert_eq!(room.asked(), ["server/discover", "skills/list"]);
}

#[test]
fn an_older_server_and_one_that_greets_work_as_well() {
    for mode in ["legacy", "greets"] {
        let room = needed!(Room::new(mode));
        assert_eq!(
            room.status("docs:greeter").as_deref(),
            Some("ready"),
            "{mode}"
        );
        let shown = room.run(&["show", "docs:greeter", "Ada"]);
        assert!(
            shown.stdout.contains("Say hello to Ada."),
            "{mode}: {}",
            shown.stderr
        );
    }
}

// case 193
#[test]
fn content_that_is_not_what_was_listed_is_not_loaded() {
    for (mode, reason) in [
        ("digest", "it does not have the digest that was announced"),
        ("size", "bytes were announced"),
        (
            "frontmatter",
            "its `description` differs from the announced one",
        ),
    ] {
        let room = needed!(Room::new(mode));
        assert_eq!(
            room.status("docs:greeter").as_deref(),
            Some("ready"),
            "{mode}"
        );
        room.asked();
        let shown = room.run(&["show", "docs:greeter"]);
        assert_eq!(shown.code, 1, "{mode}: {}", shown.stdout);
        let is_said = shown.stderr.contains("failed verification") && shown.stderr.contains(reason);
        assert!(
            is_said || (mode == "size" && shown.stderr.contains("were announced")),
            "{mode}: {}",
            shown.stderr
        );
        assert!(!shown.stdout.contains("hello"), "{mode}");
        // After the first false file nothing else is read.
        let read: Vec<String> = room
            .asked()
            .into_iter()
            .filter(|one| one.starts_with("resources/"))
            .collect();
        assert_eq!(read, ["resources/read SKILL.md"], "{mode}");
    }
}

// case 193
#[test]
fn a_skill_that_changed_has_a_new_digest_and_is_loaded_by_the_next_request() {
    let room = needed!(Room::new("honest"));
    room.run(&["list"]);
    let changed = GREETER.replace("Say hello", "Say good evening");
    room.context.write("~/served/greeter/SKILL.md", changed);
    let first = room.run(&["show", "docs:greeter", "Ada"]);
    assert_eq!(first.code, 1, "{}", first.stdout);
    assert!(
        first.stderr.contains("failed verification"),
        "{}",
        first.stderr
    );
    let second = room.run(&["show", "docs:greeter", "Ada"]);
    assert!(
        second.stdout.contains("Say good evening to Ada."),
        "{}",
        second.stderr
    );
}

// case 193
#[test]
fn a_kept_file_that_was_changed_on_disk_is_not_used() {
    let room = needed!(Room::new("honest"));
    room.run(&["list"]);
    room.run(&["show", "docs:greeter"]);
    room.asked();
    let cache = room.context.home().join(".cache/metier/mcp/docs");
    let mut kept = 0;
    for folder in fs::read_dir(&cache)
        .unwrap()
        .flatten()
        .filter(|one| one.path().is_dir())
    {
        for file in fs::read_dir(folder.path()).unwrap().flatten() {
            let text = fs::read_to_string(file.path()).unwrap().replace('e', "3");
            fs::write(file.path(), text).unwrap();
            kept += 1;
        }
    }
    assert_eq!(kept, 2);
    let shown = room.run(&["show", "docs:greeter", "Ada"]);
    assert!(
        shown.stdout.contains("Say hello to Ada."),
        "{}",
        shown.stderr
    );
    assert!(room.asked().contains(&"resources/read SKILL.md".to_owned()));
    // When the user removes the server, its skills are removed as well.
    room.context.write(
        CONFIG,
        table(
            "skills.mcp",
            "other",
            "honest",
            &room.context.home().join("served"),
            "",
        ),
    );
    room.run(&["list"]);
    assert!(!cache.exists());
}

// case 194
#[test]
fn entries_that_break_the_rules_are_listed_as_invalid() {
    for (mode, reason) in [
        ("dynamic", "without digests they can't be verified"),
        ("outside", "is not a path inside the skill"),
    ] {
        let room = needed!(Room::new(mode));
        assert_eq!(
            room.status("docs:greeter").as_deref(),
            Some("invalid"),
            "{mode}"
        );
        let list = room.run(&["list", "--all"]);
        assert!(list.stdout.contains(reason), "{mode}: {}", list.stdout);
        let shown = room.run(&["show", "docs:greeter"]);
        assert_eq!(shown.code, 1, "{mode}");
    }
}

// case 194
#[test]
fn instructions_in_a_description_block_a_skill_before_anything_is_read() {
    let room = needed!(Room::new("instruct"));
    assert_eq!(room.status("docs:greeter").as_deref(), Some("blocked"));
    let prompt = room.run(&["prompt"]);
    assert!(!prompt.stdout.contains("evil.example"), "{}", prompt.stdout);
}

// case 194
#[test]
fn names_with_control_characters_reach_no_terminal() {
    let room = needed!(Room::new("names"));
    let list = room.run(&["list", "--all"]);
    assert_eq!(list.code, 0, "{}", list.stderr);
    let all = format!("{}{}", list.stdout, list.stderr);
    assert!(!all.contains(['\u{1b}', '\u{202e}']), "{all:?}");
    assert_eq!(room.status("docs:greeter").as_deref(), Some("ready"));
}

// case 195
#[test]
fn a_server_that_fails_breaks_no_list() {
    for (mode, said) in [
        ("slow", "did not answer `skills/list` within 2 seconds"),
        (
            "error",
            "it answered `skills/list` with error -32602: no skills today",
        ),
        ("shape", "it has no `skills` list"),
        ("huge", "MCP server `docs`: "),
        ("dies", "the test server has no license"),
        ("endless", "its list has more than 200 pages"),
    ] {
        let room = needed!(Room::with(mode, "timeout = 2"));
        let list = room.run(&["list"]);
        assert_eq!(list.code, 0, "{mode}: {}", list.stderr);
        assert!(list.stderr.contains(said), "{mode}: {}", list.stderr);
        assert!(
            list.stdout.contains("skill-author"),
            "{mode}: {}",
            list.stdout
        );
        assert!(!list.stderr.contains('\u{1b}'), "{mode}: {:?}", list.stderr);
    }
    let room = needed!(Room::new("honest"));
    room.context.write(
        CONFIG,
        "[[skills.mcp]]\nname = \"docs\"\ncommand = \"/no/such/program\"\n",
    );
    let list = room.run(&["list"]);
    assert_eq!(list.code, 0);
    assert!(
        list.stderr.contains("`/no/such/program` can't be started"),
        "{}",
        list.stderr
    );
}

// case 195
#[test]
fn a_server_ends_with_the_program() {
    let room = needed!(Room::new("stays"));
    room.run(&["list"]);
    let mark = room.context.home().join("served").display().to_string();
    let is_left = || {
        fs::read_dir("/proc").unwrap().flatten().any(|process| {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&mark)
        })
    };
    metier_testkit::patience::wait_until("the server ends", || !is_left());
}

// case 196
#[test]
fn a_project_names_no_server() {
    let room = needed!(Room::new("honest"));
    room.context.write(CONFIG, "");
    let folder = room.context.home().join("served");
    for kind in ["skills.mcp", "agent.mcp"] {
        let text = table(kind, "docs", "honest", &folder, "");
        room.context.write(".metier/config.toml", text);
        let list = room.run(&["list"]);
        let said = format!("a project can't set `{kind}.docs.command`");
        assert!(list.stderr.contains(&said), "{}", list.stderr);
        assert!(!list.stdout.contains("docs:greeter"), "{}", list.stdout);
    }
    assert_eq!(room.asked(), [""; 0]);
}

#[test]
fn a_skill_of_a_server_shadows_nothing() {
    let room = needed!(Room::new("honest"));
    room.context.write(
        "~/.config/metier/skills/greeter/SKILL.md",
        GREETER.replace("hello", "my own hello"),
    );
    let names: Vec<String> = room.listed().into_iter().map(|(name, _)| name).collect();
    assert!(
        names.contains(&"greeter".to_owned()) && names.contains(&"docs:greeter".to_owned()),
        "{names:?}"
    );
    let shown = room.run(&["show", "greeter", "Ada"]);
    assert!(shown.stdout.contains("my own hello"), "{}", shown.stdout);
}

/// A fixture with a model, and a server with tools.
fn test_agent(
    mode: &str,
    more: &str,
    script: impl IntoIterator<Item = ScriptedTurn>,
) -> Result<TestAgent, NotRun> {
    needs::program(PYTHON)?;
    let room = TestAgent::new(script);
    let folder = room.stage.context.dir("~/served");
    room.stage
        .context
        .write(CONFIG, table("agent.mcp", "sums", mode, &folder, more));
    Ok(room)
}

fn adds(a: i64, b: i64) -> ScriptedTurn {
    ScriptedTurn::calls([("sums__add", json!({ "a": a, "b": b }))])
}

#[test]
fn a_tool_of_a_server_is_called_when_the_user_allows_it() {
    let script = [
        adds(2, 3),
        ScriptedTurn::calls([("sums__add", json!({ "a": 2 }))]),
        ScriptedTurn::text("Five."),
    ];
    let room = needed!(test_agent("honest", "allow = [\"add\"]", script));
    let output = room.run(&["agent", "add"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let receipts = room.stage.receipts();
    let mut calls = receipts
        .iter()
        .filter(|one| field(one, "act") == "tool:call" && field(one, "skill") == "mcp:sums");
    let refused = calls.next().unwrap();
    assert_eq!(field(refused, "decision"), "refused");
    let called = calls.next().unwrap();
    assert_eq!(field(called, "detail"), "sums__add {\"a\":2,\"b\":3}");
    assert_eq!(
        (field(called, "decision"), field(called, "outcome")),
        ("allowed", "ok")
    );
    let requests = room.finish();
    let tools = requests[0].json["tools"].as_array().unwrap();
    let tool = tools
        .iter()
        .find(|tool| tool["name"] == "sums__add")
        .unwrap();
    assert_eq!(tool["description"], "(MCP server sums) Adds two numbers");
    assert!(
        last_message(&requests[1]).contains('5'),
        "{}",
        last_message(&requests[1])
    );
    assert!(
        last_message(&requests[2]).contains("invalid input for `sums__add`"),
        "{}",
        last_message(&requests[2])
    );
}

// case 197
#[test]
fn a_tool_of_a_server_is_not_called_without_an_answer() {
    let room = needed!(test_agent(
        "honest",
        "",
        [adds(2, 3), ScriptedTurn::text("I can't.")]
    ));
    let output = room.run(&["agent", "add"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let receipts = room.stage.receipts();
    let refused = receipts
        .iter()
        .find(|one| field(one, "skill") == "mcp:sums")
        .unwrap();
    assert_eq!(field(refused, "decision"), "refused");
    let requests = room.finish();
    let told = last_message(&requests[1]);
    assert!(
        told.contains("metier config agent.mcp.sums.allow add"),
        "{told}"
    );
    assert!(told.contains("nothing was done"), "{told}");
}

// case 198
#[test]
fn hostile_tools_are_left_out_and_hostile_results_are_broken() {
    let room = needed!(test_agent(
        "tools",
        "allow = [\"add\"]",
        [adds(2, 3), ScriptedTurn::text("Done.")]
    ));
    let output = room.run(&["agent", "add"]);
    for said in [
        "its tool `evil` is left out",
        "its tool `loop` is left out: its input schema is refused",
        "is left out: models accept only names",
    ] {
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
    assert!(!output.stderr.contains('\u{1b}'), "{:?}", output.stderr);
    let requests = room.finish();
    let names: Vec<&str> = requests[0].json["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(
        names.contains(&"sums__add")
            && !names.contains(&"sums__evil")
            && !names.contains(&"sums__loop"),
        "{names:?}"
    );
    assert!(
        !last_message(&requests[1]).contains("<|im_start|>"),
        "{}",
        last_message(&requests[1])
    );
}

#[test]
fn a_skill_that_needs_a_tool_finds_it_on_a_server() {
    let room = needed!(test_agent("honest", "", [ScriptedTurn::text("Ready.")]));
    room.skill("adder", "tools: [sums__add]\n", "Add.");
    room.skill("other", "tools: [sums__subtract]\n", "Subtract.");
    let output = room.run(&["agent", "hello"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let requests = room.finish();
    let prompt = requests[0].json["system"].to_string();
    assert!(
        prompt.contains("Does adder") && !prompt.contains("Does other"),
        "{prompt}"
    );
}
