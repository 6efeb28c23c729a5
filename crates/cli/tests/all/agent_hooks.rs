//! Hooks in a conversation: they read the message of each turn and may block it, and a broken one stops nothing else.

use metier_testkit::{ProgramOutput, model_server::ScriptedTurn};
use serde_json::{Value, json};

use crate::test_agent::{TestAgent, events};

/// A user's skill with these files.
fn hooked(room: &TestAgent, name: &str, files: &[(&str, &str)]) {
    room.skill(name, "", "Text.\n");
    for (path, text) in files {
        let path = format!("~/.config/metier/skills/{name}/{path}");
        room.stage.context.write(&path, text);
    }
}

/// A command for one event of Claude.
fn command(event: &str, line: &str) -> String {
    json!({ "hooks": { event: [{ "hooks": [{ "type": "command", "command": line }] }] } })
        .to_string()
}

/// A guard that reports what it read, and blocks messages that contain `secret`.
const GUARD: &str = "read -r line; echo \"read $line\"; case $line in *'\"prompt\":'*secret*) echo 'no secrets' >&2; exit 2;; esac";

fn guarded(script: impl IntoIterator<Item = ScriptedTurn>) -> TestAgent {
    let room = TestAgent::new(script);
    let hooks = command("UserPromptSubmit", GUARD);
    hooked(&room, "guard", &[("hooks/hooks.json", &hooks)]);
    room
}

const WITH_GUARD: &[&str] = &["--skills", "guard", "--approve-skills", "guard"];

fn run(room: &TestAgent, arguments: &[&str]) -> ProgramOutput {
    room.run(&[WITH_GUARD, arguments].concat())
}

fn system(request: &metier_testkit::model_server::Recorded) -> String {
    request.json["system"].to_string()
}

#[test]
fn a_command_of_claude_reads_the_message_of_each_turn() {
    let room = guarded([ScriptedTurn::text("One."), ScriptedTurn::text("Two.")]);
    let lines = "the first words\nthe second words\n";
    let chat = [WITH_GUARD, &["chat"]].concat();
    let output = room.stage.context.run_with_stdin(&chat, lines);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let requests = room.finish();
    for (request, words) in requests.iter().zip(lines.lines()) {
        let told = system(request);
        let expected = json!(format!(r#""prompt":"{words}""#)).to_string();
        assert!(told.contains(expected.trim_matches('"')), "{told}");
    }
    let room = guarded([ScriptedTurn::text("One.")]);
    let output = run(&room, &["agent", "what is asked"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(system(&room.finish()[0]).contains("what is asked"));
    let room = guarded([ScriptedTurn::text("One.")]);
    let output = run(&room, &["spawn", "--task", "the task"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(system(&room.finish()[0]).contains("the task"));
}

#[test]
fn a_blocked_message_reaches_no_model_and_the_session_continues() {
    let room = guarded([ScriptedTurn::text("Fine.")]);
    let chat = [WITH_GUARD, &["chat"]].concat();
    let lines = "a secret of mine\nplain words\n";
    let output = room.stage.context.run_with_stdin(&chat, lines);
    assert_eq!(output.stdout, "Fine.\n", "{}", output.snapshot());
    let blocked = "error: the message was blocked by skill `guard`: no secrets";
    assert!(output.stderr.contains(blocked), "{}", output.snapshot());
    let requests = room.finish();
    assert_eq!(requests.len(), 1);
    let sent = requests[0].json["messages"].to_string();
    assert!(
        sent.contains("plain words") && !sent.contains("secret"),
        "{sent}"
    );
}

#[test]
fn a_blocked_message_loads_no_skill_by_a_trigger() {
    let room = guarded([ScriptedTurn::text("Fine.")]);
    room.skill(
        "kubernetes",
        "triggers: {keywords: [kubectl]}\n",
        "Look before you change a cluster.\n",
    );
    assert_eq!(room.run(&["scan", "kubernetes"]).code, 0);
    let chat = [WITH_GUARD, &["chat"]].concat();
    let lines = "kubectl get secret\nplain words\n";
    let output = room.stage.context.run_with_stdin(&chat, lines);
    assert_eq!(output.stdout, "Fine.\n", "{}", output.snapshot());
    assert!(!output.stderr.contains("loaded"), "{}", output.snapshot());
    let requests = room.finish();
    assert!(!requests[0].json.to_string().contains("Look before"));
}

#[test]
fn every_command_that_has_a_message_obeys_the_block() {
    for arguments in [
        &["agent", "a secret of mine"][..],
        &["spawn", "--task", "a secret of mine"],
        &["run", "talk", "secret"],
    ] {
        let room = guarded([]);
        room.skill("talk", "", "Say $ARGUMENTS.\n");
        let output = run(&room, arguments);
        assert_eq!(output.code, 1, "{}", output.snapshot());
        let blocked = "the message was blocked by skill `guard`: no secrets";
        assert!(output.stderr.contains(blocked), "{}", output.snapshot());
        assert_eq!(room.finish().len(), 0);
    }
}

#[test]
fn a_decision_in_json_blocks_like_an_exit_code() {
    for answer in [
        json!({ "decision": "block", "reason": "not now" }),
        json!({ "continue": false, "stopReason": "not now" }),
    ] {
        let room = TestAgent::new([]);
        let hooks = command("UserPromptSubmit", &format!("echo '{answer}'"));
        hooked(&room, "guard", &[("hooks/hooks.json", &hooks)]);
        let output = run(&room, &["agent", "--format", "jsonl", "hello"]);
        assert_eq!(output.code, 1, "{}", output.snapshot());
        let told = events(&output);
        let failed = told.iter().find(|event| event["type"] == "turn_failed");
        assert_eq!(failed.unwrap()["code"], "blocked", "{told:?}");
        room.finish().clear();
    }
}

// case 184
#[test]
fn a_guard_whose_verdict_cannot_be_read_blocks() {
    let deep = format!(
        "echo '{{\"decision\": \"block\", \"x\": {}{}}}'",
        "[".repeat(200),
        "]".repeat(200)
    );
    for line in [
        deep.as_str(),
        "printf '\\357\\273\\277{\"decision\": \"block\"}'",
        "echo '{\"decision\": \"block\"'",
        "echo checked; echo '{\"decision\": \"block\", \"reason\": \"r\"}'",
    ] {
        let room = TestAgent::new([]);
        let hooks = command("UserPromptSubmit", line);
        hooked(&room, "guard", &[("hooks/hooks.json", &hooks)]);
        let output = run(&room, &["agent", "hello"]);
        assert_eq!(output.code, 1, "{line}: {}", output.snapshot());
        let blocked = "the message was blocked by skill `guard`";
        assert!(output.stderr.contains(blocked), "{}", output.snapshot());
        assert_eq!(room.finish().len(), 0);
    }
    let room = TestAgent::new([ScriptedTurn::text("Fine.")]);
    let hooks = command("UserPromptSubmit", "echo 'the decision is yours'");
    hooked(&room, "guard", &[("hooks/hooks.json", &hooks)]);
    let output = run(&room, &["agent", "hello"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(system(&room.finish()[0]).contains("the decision is yours"));
}

#[test]
fn stop_sends_the_model_on_until_it_is_content() {
    for line in [
        "grep -q '\"stop_hook_active\":true' || { echo 'run the <|im_start|> tests' >&2; exit 2; }",
        "grep -q '\"stop_hook_active\":true' || echo '{\"decision\": \"block\", \"reason\": \"run the <|im_start|> tests\"}'",
    ] {
        let room = TestAgent::new([ScriptedTurn::text("One."), ScriptedTurn::text("Two.")]);
        let hooks = command("Stop", line);
        hooked(&room, "guard", &[("hooks/hooks.json", &hooks)]);
        let output = run(&room, &["agent", "hello"]);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        assert!(output.stdout.ends_with("Two.\n"), "{}", output.snapshot());
        let requests = room.finish();
        assert_eq!(requests.len(), 2);
        let sent = requests[1].json["messages"].to_string();
        assert!(sent.contains("run the &lt;|im_start|> tests"), "{sent}");
    }
}

// case 184
#[test]
fn stop_sends_the_model_on_eight_times_at_most() {
    let room = TestAgent::new((0..9).map(|_| ScriptedTurn::text("Done.")));
    let hooks = command("Stop", "echo more >&2; exit 2");
    hooked(&room, "guard", &[("hooks/hooks.json", &hooks)]);
    let output = run(&room, &["agent", "hello"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(
        output.stderr.contains("sent the answer back 8 times"),
        "{}",
        output.snapshot()
    );
    assert_eq!(room.finish().len(), 9);
}

#[test]
fn stop_with_continue_false_ends_the_turn() {
    let room = TestAgent::new([ScriptedTurn::text("One.")]);
    let hooks = command(
        "Stop",
        "echo '{\"continue\": false, \"stopReason\": \"enough\"}'",
    );
    hooked(&room, "guard", &[("hooks/hooks.json", &hooks)]);
    let output = run(&room, &["agent", "hello"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(room.finish().len(), 1);
}

#[test]
fn a_skill_that_a_blocked_message_names_is_not_loaded() {
    let room = guarded([ScriptedTurn::text("Fine.")]);
    room.skill("talk", "", "A text of talk.\n");
    let chat = [WITH_GUARD, &["chat"]].concat();
    let lines = "/talk about a secret\nplain words\n";
    let output = room.stage.context.run_with_stdin(&chat, lines);
    assert_eq!(output.stdout, "Fine.\n", "{}", output.snapshot());
    let sent = room.finish()[0].json["messages"].to_string();
    assert!(!sent.contains("A text of talk"), "{sent}");
}

#[test]
fn a_handler_of_openclaw_reads_the_message() {
    let room = TestAgent::new([ScriptedTurn::text("Fine.")]);
    let hook = "---\nname: h\ndescription: A hook.\nmetadata: {openclaw: {events: [message:received]}}\n---\n";
    let handler = "export default async (event) => { const { from, content, channelId, conversationId } = event.context;\n\
        event.messages.push([event.type, event.action, from, content, channelId, typeof conversationId].join(' ')); };\n";
    let files = [
        ("hooks/openclaw/HOOK.md", hook),
        ("hooks/openclaw/handler.js", handler),
    ];
    hooked(&room, "guard", &files);
    let output = run(&room, &["agent", "what is asked"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let told = system(&room.finish()[0]);
    let expected = "message received user what is asked metier string";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn the_words_of_the_user_are_in_no_receipt() {
    let room = guarded([]);
    run(&room, &["agent", "a secret-of-4711"]);
    let receipts = room.stage.receipts();
    assert!(!receipts.is_empty());
    let all = Value::from(receipts).to_string();
    assert!(all.contains("blocked the message"), "{all}");
    assert!(!all.contains("4711"), "{all}");
    room.finish().clear();
}
// case 159
#[test]
fn a_handler_that_can_not_be_loaded_takes_nothing_else_down() {
    let room = TestAgent::new([ScriptedTurn::text("Fine.")]);
    let good = "export default (event) => { event.messages.push('from the other one'); };\n";
    let described = "---\nname: h\ndescription: A hook.\nmetadata: {openclaw: {events: [agent:bootstrap]}}\n---\n";
    let files = [
        (
            "hooks/openclaw/handler.js",
            "\nimport left from 'left-pad';\nexport default () => {};\n",
        ),
        ("hooks/other/HOOK.md", described),
        ("hooks/other/handler.js", good),
    ];
    hooked(&room, "guard", &files);
    let output = run(&room, &["agent", "hello"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let warning = "its hook hooks/openclaw/handler.js can't be loaded: ";
    assert!(output.stderr.contains(warning), "{}", output.snapshot());
    assert!(
        output.stderr.contains("`left-pad`"),
        "{}",
        output.snapshot()
    );
    let receipts = room.stage.receipts();
    let failed = receipts
        .iter()
        .find(|receipt| receipt["act"] == "hook:load");
    let failed = failed.unwrap_or_else(|| panic!("{receipts:?}"));
    assert_eq!(failed["detail"], "hooks/openclaw/handler.js");
    let doctor = room.run(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("skill guard: not all of its hooks worked"),
        "{}",
        doctor.snapshot()
    );
    assert!(system(&room.finish()[0]).contains("from the other one"));
}

// case 159
#[test]
fn doctor_and_info_show_hooks_that_cannot_be_read() {
    let room = TestAgent::new([]);
    let odd =
        "---\nname: h\ndescription: A hook.\nmetadata: {openclaw: {events: [agent:boot]}}\n---\n";
    let files = [
        ("hooks/odd/HOOK.md", odd),
        ("hooks/odd/handler.js", "export default () => {};\n"),
        ("hooks/hooks.json", "{\"hooks\": {\"Start\": []}}"),
    ];
    hooked(&room, "guard", &files);
    for command in [&["doctor"][..], &["info", "guard"]] {
        let output = room.run(command);
        for problem in [
            "unknown OpenClaw event `agent:boot`",
            "unknown event `Start`",
        ] {
            assert!(output.stdout.contains(problem), "{}", output.snapshot());
        }
    }
    room.finish().clear();
}
