//! Fields of a manifest that a model, an agent or another host relies on, from outside.

use metier_testkit::model_server::ScriptedTurn;
use serde_json::{Value, json};

use crate::{
    mcp::Client,
    skill_project::SkillProject,
    skill_text::example,
    test_agent::{TestAgent, last_message},
};

const STARLARK: &str = "implementation: {backend: starlark, entrypoint: skill.star}\n";

/// A skill below `skills/` with a manifest in YAML and code in Starlark.
fn coded(stage: &SkillProject, name: &str, front: &str, code: &str) {
    stage.context.write(
        &format!("skills/{name}/SKILL.yaml"),
        format!("name: {name}\nversion: 1.0.0\ndescription: Does {name}.\n{front}{STARLARK}"),
    );
    stage
        .context
        .write(&format!("skills/{name}/skill.star"), code);
}

#[test]
fn what_a_manifest_declares_of_a_tool_counts() {
    let stage = SkillProject::new();
    let front = "types: [tool]\ntools:\n  - name: add\n    description: Adds one.\n    \
                 input_schema: {type: object, properties: {a: {type: integer}}, required: [a]}\n  - name: bare\n";
    let code = "register_tool(\"add\", \"Does something.\", lambda input: input[\"a\"] + 1)\n\
                register_tool(\"bare\", \"Says hello.\", lambda input: \"hello\", {\"type\": \"object\", \"required\": [\"x\"]})\n";
    coded(&stage, "sums", front, code);
    let call = |tool: &str, input: &str| {
        stage.run(&["--approve-skills", "sums", "call", "sums", tool, input])
    };
    assert_eq!(call("add", r#"{"a": 1}"#).stdout, "2\n");
    let refused = call("add", r#"{"a": "one"}"#);
    assert_eq!(refused.code, 1, "{}", refused.snapshot());
    assert!(
        refused.stderr.contains("invalid input for `sums__add`"),
        "{}",
        refused.stderr
    );
    // Without a schema in the manifest, the code's own schema applies.
    assert_eq!(call("bare", "{}").code, 1);
    assert_eq!(call("bare", r#"{"x": 1}"#).stdout, "hello\n");
    let room = TestAgent::new([ScriptedTurn::text("Done.")]);
    coded(&room.stage, "sums", front, code);
    let output = room.run(&[
        "--skill-dir",
        "skills",
        "--approve-skills",
        "sums",
        "--skills",
        "sums",
        "agent",
        "hello",
    ]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let tools = room.finish()[0].json["tools"].clone();
    let all = tools.as_array().unwrap();
    let add = all.iter().find(|one| one["name"] == "sums__add").unwrap();
    assert_eq!(add["description"], "Adds one.");
    assert_eq!(add["input_schema"]["required"], json!(["a"]));
}

#[test]
fn a_model_without_a_provider_is_one_of_the_sessions_provider() {
    let room = TestAgent::new([
        ScriptedTurn::text("One."),
        ScriptedTurn::status(404, None),
        ScriptedTurn::text("Two."),
    ]);
    room.skill("sonnet", "model: claude-sonnet-4-20250514\n", "Think.\n");
    let output = room.run(&["agent", "/sonnet hello"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(
        !output.stderr.contains("not available"),
        "{}",
        output.stderr
    );
    // A provider that does not know the name gets a request for the session's model instead.
    let output = room.run(&["agent", "/sonnet hello"]);
    assert_eq!(output.stdout, "Two.\n", "{}", output.snapshot());
    assert!(
        output.stderr.contains(
            "requires the model `anthropic/claude-sonnet-4-20250514`, which is not available"
        ),
        "{}",
        output.stderr
    );
    let models: Vec<Value> = room
        .finish()
        .iter()
        .map(|request| request.json["model"].clone())
        .collect();
    let wanted = "claude-sonnet-4-20250514";
    assert_eq!(models, [wanted, wanted, "test-model"]);
}

#[test]
fn our_own_agent_checks_the_tools_that_a_skill_needs() {
    let room = TestAgent::new([ScriptedTurn::text("Done.")]);
    room.skill("odd", "tools: [Frobnicate]\n", "Text.\n");
    room.skill("plain", "tools: [Bash, Read, activate_skill]\n", "Text.\n");
    let refused = room.run(&["agent", "/odd"]);
    assert_eq!(refused.code, 1, "{}", refused.snapshot());
    let why = "is not ready: it needs the tool `Frobnicate`, which the agent does not have";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
    assert!(
        !refused.stderr.contains("agent.tools"),
        "{}",
        refused.stderr
    );
    assert_eq!(room.run(&["agent", "hello"]).code, 0);
    let system = room.finish()[0].json["system"].to_string();
    assert!(
        system.contains("plain") && !system.contains("odd"),
        "{system}"
    );
}

#[test]
fn a_skill_that_is_not_ready_is_refused_in_the_same_words_everywhere() {
    let lacking = "metadata: {openclaw: {requires: {bins: [no-such-program]}}}\n";
    let why = "it needs the program `no-such-program`, which is not on PATH";
    let room = TestAgent::new([
        ScriptedTurn::calls([("activate_skill", json!({"name": "lacking"}))]),
        ScriptedTurn::text("No."),
    ]);
    room.stage.skill("lacking", lacking, "Text.\n");
    let all = ["--skill-dir", "skills"];
    for arguments in [
        &["agent", "/lacking"][..],
        &["run", "lacking"],
        &["--skills", "lacking", "agent", "hello"],
    ] {
        let output = room.run(&[&all, arguments].concat());
        assert_eq!(output.code, 1, "{}", output.snapshot());
        assert!(output.stderr.contains("is not ready"), "{}", output.stderr);
        assert!(output.stderr.contains(why), "{}", output.stderr);
        assert!(!output.stderr.contains("not_ready"), "{}", output.stderr);
    }
    let output = room.run(&[&all[..], &["agent", "hello"]].concat());
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let mut client = Client::new(&room.stage.context, &[]);
    for (tool, arguments) in [
        ("activate_skill", json!({"name": "lacking"})),
        (
            "read_skill_resource",
            json!({"name": "lacking", "path": "SKILL.md"}),
        ),
    ] {
        let (code, text) = client.refused(tool, arguments);
        assert_eq!(code, "not-ready", "{text}");
        assert!(
            text.contains("is not ready") && text.contains(why),
            "{text}"
        );
    }
    client.end();
    let told = last_message(&room.finish()[1]);
    assert!(
        told.contains("is not ready") && told.contains(why),
        "{told}"
    );
}

#[test]
fn a_catalog_names_the_place_of_a_skill_that_was_scanned() {
    let room = TestAgent::new(["One.", "Two."].map(ScriptedTurn::text));
    room.skill("plain", "", "Text.\n");
    let location = "plain/SKILL.md";
    assert_eq!(room.run(&["agent", "hello"]).code, 0);
    assert_eq!(room.run(&["scan", "plain"]).code, 0);
    assert_eq!(room.run(&["agent", "hello"]).code, 0);
    let requests = room.finish();
    assert!(!requests[0].json["system"].to_string().contains(location));
    let system = requests[1].json["system"].to_string();
    assert!(
        system.contains("<location>") && system.contains(location),
        "{system}"
    );
}

#[test]
fn a_misspelt_skill_is_not_said_to_the_model() {
    let room = TestAgent::new([ScriptedTurn::text("It is a folder.")]);
    room.skill("review-pr", "", "Review $ARGUMENTS.\n");
    let output = room.run(&["agent", "/review-rp 3"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("there is no skill `review-rp`")
            && output.stderr.contains("review-pr"),
        "{}",
        output.stderr
    );
    // A path is not a name.
    assert_eq!(room.run(&["agent", "/usr/bin is what?"]).code, 0);
    assert_eq!(room.finish().len(), 1);
}

#[test]
fn a_workflow_is_run_by_its_own_name_and_several_are_listed() {
    let room = TestAgent::new([]);
    let code = "register_workflow(\"draft\", lambda input: \"draft \" + input[\"text\"])\n\
                register_workflow(\"publish\", lambda input: \"publish \" + input[\"text\"])\n";
    coded(&room.stage, "press", "types: [workflow]\n", code);
    let run = |arguments: &[&str]| {
        room.run(
            &[
                &["--skill-dir", "skills", "--approve-skills", "press"],
                arguments,
            ]
            .concat(),
        )
    };
    assert_eq!(run(&["run", "publish", "it"]).stdout, "publish it\n");
    assert_eq!(run(&["agent", "/press draft it"]).stdout, "draft it\n");
    let which = run(&["run", "press", "it"]);
    assert_eq!(which.code, 1, "{}", which.snapshot());
    assert!(
        which
            .stderr
            .contains("has several workflows: draft, publish")
            && which.stderr.contains("metier run press --workflow draft"),
        "{}",
        which.stderr
    );
    let unknown = run(&["run", "nosuch"]);
    assert_eq!(unknown.code, 1, "{}", unknown.snapshot());
    assert!(unknown.stderr.contains("there is no skill `nosuch`"));
    assert!(room.finish().is_empty());
}

#[test]
fn a_tool_skill_with_a_workflow_is_loaded_and_not_run_when_a_model_activates_it() {
    let room = TestAgent::new([
        ScriptedTurn::calls([("activate_skill", json!({"name": "press"}))]),
        ScriptedTurn::text("Done."),
    ]);
    let code = "register_tool(\"count\", \"Counts.\", lambda input: 1)\n\
                register_workflow(\"press\", lambda input: \"it ran\")\n";
    coded(&room.stage, "press", "types: [tool, workflow]\n", code);
    let output = room.run(&[
        "--skill-dir",
        "skills",
        "--approve-skills",
        "press",
        "agent",
        "hello",
    ]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let requests = room.finish();
    assert!(!last_message(&requests[1]).contains("it ran"));
    assert!(
        requests[1].json["tools"]
            .to_string()
            .contains("press__count")
    );
}

#[test]
fn the_example_rfc_writer_works_in_an_empty_project() {
    let stage = SkillProject::new();
    example(&stage.context, "rfc-writer");
    let output = stage.run(&[
        "--approve-skills",
        "rfc-writer",
        "run",
        "rfc-writer",
        "Signed packages",
    ]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let text = stage.context.read("docs/rfcs/0001-signed-packages.md");
    assert!(text.starts_with("# RFC 0001: Signed packages"), "{text}");
}

#[test]
fn a_program_and_its_arguments_are_words_and_the_answer_is_a_dict() {
    let stage = SkillProject::new();
    stage.context.bin("kubectl", "printf '[%s]' \"$@\"; exit 3");
    let code = "def get(input):\n    done = exec(\"kubectl\", \"get\", input[\"kind\"])\n    \
                return [done[\"stdout\"], done[\"exit_code\"]]\n\
                register_tool(name = \"get\", description = \"Gets.\", handler = get)\n";
    coded(
        &stage,
        "cluster",
        "types: [tool]\npermissions: [shell:exec]\n",
        code,
    );
    let input = json!({"kind": "pods; touch pwned 'x' $(id)"}).to_string();
    let output = stage.run(&[
        "--approve-skills",
        "cluster",
        "call",
        "cluster",
        "get",
        &input,
        "--json",
    ]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let done: Value = serde_json::from_str(&output.stdout).unwrap();
    let expected = json!(["[get][pods; touch pwned 'x' $(id)]", 3]);
    assert_eq!(done["output"], expected, "{}", output.snapshot());
    assert!(!stage.has("pwned"));
}

#[test]
fn hooks_and_approvals_are_read_in_the_spelling_of_other_hosts() {
    let stage = SkillProject::new();
    let code = "def check(event):\n    cancel(\"not today\")\n\
                register_hook(\"OnBeforeToolCall\", check)\n\
                register_tool(\"get\", \"Gets.\", lambda input: env(\"HOME\"))\n";
    coded(
        &stage,
        "guard",
        "types: [tool]\npermissions: [\"env:read(HOME)\"]\n",
        code,
    );
    stage.context.write(
        "config.toml",
        "[skills.approved]\n\"inline:guard\" = true\n",
    );
    let call = |arguments: &[&str]| {
        let head = ["--config", "config.toml", "--skill-dir", "skills"];
        stage.context.run(&[&head, arguments].concat())
    };
    let output = call(&["call", "guard", "get"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(output.stderr.contains("not today"), "{}", output.stderr);
    stage
        .context
        .write("config.toml", "[skills.approved]\nguard = [\"all\"]\n");
    let output = call(&["call", "guard", "get"]);
    assert_eq!(output.code, 2, "{}", output.snapshot());
    assert!(output.stderr.contains("`name = true`"), "{}", output.stderr);
}

#[test]
fn a_line_that_reads_a_file_takes_arguments_and_quotes_and_leaves_the_folder_never() {
    let stage = SkillProject::new();
    stage.skill("guide", "", "!read references/$ARGUMENTS.md\n");
    stage.skill("blanks", "", "!read \"references/a b.md\"\n");
    for skill in ["guide", "blanks"] {
        for (name, text) in [("style", "Be brief."), ("a b", "Two words.")] {
            let path = format!("skills/{skill}/references/{name}.md");
            stage.context.write(&path, text);
        }
    }
    stage.context.write("skills/secret.md", "not yours");
    assert_eq!(stage.show("guide", &["style"]).stdout, "Be brief.\n");
    assert_eq!(stage.show("guide", &["a b"]).stdout, "Two words.\n");
    assert_eq!(stage.show("blanks", &[]).stdout, "Two words.\n");
    for argument in [
        "nosuch",
        "../../secret",
        "/etc/passwd",
        "../references/style",
        "",
    ] {
        let output = stage.show("guide", &[argument]);
        assert_eq!(output.code, 1, "{argument}: {}", output.snapshot());
        assert!(!output.stdout.contains("not yours"));
        assert!(
            output.stderr.contains("metier info guide lists its files"),
            "{}",
            output.stderr
        );
    }
}

#[test]
fn a_command_may_set_variables_and_a_group_is_reported_as_text() {
    let stage = SkillProject::new();
    stage.context.bin("greet", "echo \"hello $WHO\"");
    stage.skill("sets", "", "!WHO=you greet\n");
    stage.skill("groups", "", "!(cd x && ls)\n");
    let shown = stage.show("sets", &[]);
    assert_eq!(shown.stdout, "hello you\n", "{}", shown.snapshot());
    assert_eq!(stage.show("groups", &[]).stdout, "!(cd x && ls)\n");
    let output = stage.context.run(&["validate", "skills/groups"]);
    assert!(
        output.stdout.contains("command-as-text") || output.stderr.contains("command-as-text"),
        "{}",
        output.snapshot()
    );
}

#[test]
fn omitted_skills_are_counted_and_sources_are_named() {
    let room = TestAgent::new([
        ScriptedTurn::calls([("list_skills", json!({}))]),
        ScriptedTurn::text("Done."),
    ]);
    for number in 0..22 {
        room.stage.skill(&format!("s{number:02}"), "", "Text.\n");
    }
    room.stage
        .context
        .write("skills/broken/SKILL.md", "---\nname: [\n");
    let full = room.stage.run(&["prompt", "--mode", "full"]);
    assert!(
        full.stderr
            .contains("2 skills left out: --max-skills is 20"),
        "{}",
        full.snapshot()
    );
    let output = room.run(&["--skill-dir", "skills", "agent", "hello"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let mut client = Client::new(&room.stage.context, &[]);
    let listed = client.document("list_skills", json!({}));
    client.end();
    assert_eq!(listed["counts"]["invalid"], 1, "{}", listed["counts"]);
    assert_eq!(listed["counts"]["ready"], 22);
    assert_eq!(listed["skills"].as_array().unwrap().len(), 22);
    let told = last_message(&room.finish()[1]);
    assert!(told.contains("- s00 (inline): Does s00."), "{told}");
}
