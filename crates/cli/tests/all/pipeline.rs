//! Models that try to bypass the coding pipeline: each way is refused, with a receipt, and an honest run passes.
//!
//! OpenCode is a stand-in that runs its instruction as a command line, in the sandbox in which the real one runs.

use metier_testkit::{ProgramOutput, model_server::ScriptedTurn};
use serde_json::{Value, json};

use crate::test_agent::{TestAgent, last_message};

const PAIR: &str = "specification-engine,opencode-implementer";

/// A way to bypass the pipeline, and the check that stops it.
struct Violation {
    what: &'static str,
    /// Skills besides the two.
    besides: &'static str,
    script: Vec<ScriptedTurn>,
    /// The refused call or report.
    refused: &'static str,
    reason: &'static str,
}

/// A machine with a model, OpenCode, and skills that could do more than they should.
fn room(script: impl IntoIterator<Item = ScriptedTurn>) -> TestAgent {
    let room = TestAgent::new(script);
    let program = "#!/bin/sh\nfor last; do :; done\neval \"$last\"\n";
    room.stage.context.bin("opencode", program);
    room.skill(
        "typescript-pro",
        "allowed_tools: [read, write]\n",
        "Type.\n",
    );
    room.skill("runner", "allowed_tools: [shell, read]\n", "Run.\n");
    room.skill(
        "leader",
        "allowed_tools: [sessions_spawn, activate_skill]\n",
        "Lead.\n",
    );
    let folder = "~/.config/metier/skills/typist";
    room.stage.context.write(
        &format!("{folder}/SKILL.yaml"),
        "name: typist\nversion: 1.0.0\ndescription: Types.\ntypes: [tool]\npermissions: [\"file:write(./**)\"]\n\
         implementation: {backend: starlark, entrypoint: skill.star}\n",
    );
    room.stage.context.write(
        &format!("{folder}/skill.star"),
        "def go(input):\n    write_file(\"stolen\", \"x\")\n    return \"done\"\n\nregister_tool(\"go\", \"Goes\", go, {\"type\": \"object\"})\n",
    );
    let host = "net:fetch(example.com)";
    let output = room.run(&["permissions", "opencode-implementer", "--approve", host]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    room
}

fn spawn(room: &TestAgent, besides: &str) -> ProgramOutput {
    let skills = format!("{PAIR}{besides}");
    room.run(&[
        "spawn",
        "--task",
        "Refactor the API",
        "--skills",
        &skills,
        "--approve-skills",
        "core-tools,opencode-implementer,typist",
    ])
}

fn specify(ids: &[&str]) -> (&'static str, Value) {
    let criterion = |id: &&str| json!({"id": id, "criterion": "it holds", "check": "look"});
    let acceptance: Vec<Value> = ids.iter().map(criterion).collect();
    let specification =
        json!({"goal": "It is faster.", "constraints": [], "acceptance": acceptance});
    ("specKit", specification)
}

fn opencode(instruction: &str, criterion: &str) -> (&'static str, Value) {
    let input = json!({"instruction": instruction, "criterion": criterion});
    ("opencode", input)
}

fn calls<const N: usize>(calls: [(&'static str, Value); N]) -> ScriptedTurn {
    ScriptedTurn::calls(calls)
}

fn shell(command: &str) -> ScriptedTurn {
    calls([("shell", json!({"command": command}))])
}

fn report(criteria: &[(&str, bool)], changed: &[&str]) -> ScriptedTurn {
    let row = |(id, met): &(&str, bool)| json!({"id": id, "met": met, "evidence": "trust me"});
    let criteria: Vec<Value> = criteria.iter().map(row).collect();
    ScriptedTurn::text(
        &json!({"summary": "Done.", "criteria": criteria, "changed": changed}).to_string(),
    )
}

/// The true report when nothing was achieved.
fn not_met(changed: &[&str]) -> ScriptedTurn {
    report(&[("A1", false)], changed)
}

fn refusals(room: &TestAgent, detail: &str) -> Vec<String> {
    let receipts = room.stage.receipts();
    let refused = receipts
        .iter()
        .filter(|receipt| receipt["detail"] == detail && receipt["decision"] == "refused");
    refused
        .map(|receipt| receipt["reason"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Each is refused with its reason and a receipt, nothing of it is in the project, and the run can still end with a true report.
fn check(violations: Vec<Violation>) {
    for violation in violations {
        let Violation {
            what,
            besides,
            script,
            refused,
            reason,
        } = violation;
        let room = room(script);
        let output = spawn(&room, besides);
        assert_eq!(output.code, 0, "{what}: {}", output.snapshot());
        let reasons = refusals(&room, refused);
        let is_it = |said: &String| said.contains(reason);
        assert!(
            reasons.iter().any(is_it),
            "{what}: {reasons:#?}\n{}",
            output.snapshot()
        );
        assert!(!room.stage.has("stolen"), "{what}");
        room.finish();
    }
}

fn refused(
    what: &'static str,
    besides: &'static str,
    tool: &'static str,
    reason: &'static str,
    script: Vec<ScriptedTurn>,
) -> Violation {
    Violation {
        what,
        besides,
        script,
        refused: tool,
        reason,
    }
}

#[test]
fn no_call_comes_before_the_specification() {
    let before = "runs after `specification-engine`";
    let spec = || specify(&["A1"]);
    let empty = json!({"goal": "x", "constraints": [], "acceptance": [{"id": "A1", "criterion": " ", "check": "x"}]});
    let words = json!({"goal": "x", "constraints": [], "acceptance": [{"id": "A1", "criterion": "x", "check": "x"}]});
    check(vec![
        refused(
            "opencode without a specification",
            "",
            "opencode",
            before,
            vec![
                calls([opencode("touch stolen", "A1")]),
                calls([spec()]),
                not_met(&[]),
            ],
        ),
        refused(
            "opencode before specKit in one answer",
            "",
            "opencode",
            before,
            vec![
                calls([opencode("touch stolen", "A1"), spec()]),
                not_met(&[]),
            ],
        ),
        refused(
            "a specification that specKit refuses",
            "",
            "opencode",
            before,
            vec![
                calls([("specKit", empty), opencode("touch stolen", "A1")]),
                calls([spec()]),
                not_met(&[]),
            ],
        ),
        refused(
            "a specification in words",
            "",
            "opencode",
            before,
            vec![
                calls([opencode("touch stolen", "A1")]).and_text(&words.to_string()),
                calls([spec()]),
                not_met(&[]),
            ],
        ),
    ]);
}

#[test]
fn what_could_write_waits_for_the_implementer() {
    let held = "runs after `opencode-implementer`";
    let spec = || specify(&["A1"]);
    check(vec![
        refused(
            "a shell before the specification",
            ",runner",
            "shell",
            held,
            vec![shell("touch stolen"), calls([spec()]), not_met(&[])],
        ),
        refused(
            "a shell before the implementer",
            ",runner",
            "shell",
            held,
            vec![calls([spec()]), shell("touch stolen"), not_met(&[])],
        ),
        refused(
            "a shell after an implementer that failed",
            ",runner",
            "shell",
            held,
            vec![
                calls([spec(), opencode("exit 3", "A1")]),
                shell("touch stolen"),
                not_met(&[]),
            ],
        ),
        refused(
            "a shell beside the implementer",
            ",runner",
            "shell",
            held,
            vec![
                calls([spec()]),
                calls([
                    ("shell", json!({"command": "touch stolen"})),
                    opencode("true", "A1"),
                ]),
                not_met(&[]),
            ],
        ),
        refused(
            "a tool of another skill that writes",
            ",typist",
            "typist__go",
            held,
            vec![
                calls([spec()]),
                calls([("typist__go", json!({}))]),
                not_met(&[]),
            ],
        ),
    ]);
}

#[test]
fn no_other_tool_writes_and_nothing_leads_out() {
    let write = || ("write", json!({"path": "stolen", "content": "x"}));
    let spec = || specify(&["A1"]);
    check(vec![
        refused(
            "write",
            "",
            "write",
            "forbids `write`",
            vec![calls([spec(), write()]), not_met(&[])],
        ),
        refused(
            "write that another skill allows",
            ",typescript-pro",
            "write",
            "forbids `write`",
            vec![calls([spec(), write()]), not_met(&[])],
        ),
        refused(
            "write by another name",
            ",typescript-pro",
            "MultiEdit",
            "forbids `edit`",
            vec![
                calls([spec(), ("MultiEdit", json!({"path": "stolen"}))]),
                not_met(&[]),
            ],
        ),
        refused(
            "write with all core tools in the set",
            ",core-tools",
            "write",
            "forbids `write`",
            vec![calls([spec(), write()]), not_met(&[])],
        ),
        refused(
            "a shell that no skill brings",
            "",
            "shell",
            "no skill of the set allows it",
            vec![calls([spec()]), shell("touch stolen"), not_met(&[])],
        ),
        refused(
            "a sub-agent",
            ",leader",
            "sessions_spawn",
            "uses only the skills of its set",
            vec![
                calls([spec(), ("sessions_spawn", json!({"task": "touch stolen"}))]),
                not_met(&[]),
            ],
        ),
        refused(
            "a further skill",
            ",leader",
            "activate_skill",
            "uses only the skills of its set",
            vec![
                calls([spec(), ("activate_skill", json!({"name": "typist"}))]),
                not_met(&[]),
            ],
        ),
    ]);
}

#[test]
fn no_criterion_is_met_that_nothing_worked_on() {
    let met = || report(&[("A1", true)], &[]);
    let spec = || specify(&["A1"]);
    let named = "no call of `opencode-implementer` named it";
    check(vec![
        refused(
            "no report",
            "",
            "report",
            "the result of `opencode-implementer` is missing",
            vec![
                calls([spec()]),
                ScriptedTurn::text("All done."),
                not_met(&[]),
            ],
        ),
        refused(
            "met, and OpenCode never ran",
            "",
            "report",
            named,
            vec![calls([spec()]), met(), not_met(&[])],
        ),
        refused(
            "met, and no call named it",
            "",
            "report",
            named,
            vec![
                calls([spec(), ("opencode", json!({"instruction": "true"}))]),
                met(),
                not_met(&[]),
            ],
        ),
        refused(
            "met, and a call named another one",
            "",
            "report",
            named,
            vec![calls([spec(), opencode("true", "A2")]), met(), not_met(&[])],
        ),
        refused(
            "met, and the call failed",
            "",
            "report",
            "ended with exit code 3",
            vec![
                calls([spec(), opencode("exit 3", "A1")]),
                met(),
                not_met(&[]),
            ],
        ),
        refused(
            "met, and a later call failed",
            "",
            "report",
            "ended with exit code 4",
            vec![
                calls([spec(), opencode("true", "A1"), opencode("exit 4", "A1")]),
                met(),
                not_met(&[]),
            ],
        ),
        refused(
            "met, for another specification",
            "",
            "report",
            named,
            vec![
                calls([spec(), opencode("true", "A1"), spec()]),
                met(),
                not_met(&[]),
            ],
        ),
    ]);
}

#[test]
fn a_report_is_about_each_criterion_once() {
    let met = || report(&[("A1", true)], &[]);
    let spec = || specify(&["A1"]);
    let without = json!({"summary": "x", "changed": [], "criteria": [{"id": "A1", "met": true, "evidence": " "}]});
    let yes = json!({"summary": "x", "changed": [], "criteria": [{"id": "A1", "met": "yes", "evidence": "x"}]});
    let one = json!({"summary": "x", "changed": [], "criteria": [{"id": "A1", "met": false, "evidence": "x"}]});
    let two = format!(
        "```json\n{one}\n```\n```json\n{}\n```",
        one.to_string().replace("false", "true")
    );
    check(vec![
        refused(
            "met without evidence",
            "",
            "report",
            "is met without evidence",
            vec![
                calls([spec(), opencode("true", "A1")]),
                ScriptedTurn::text(&without.to_string()),
                not_met(&[]),
            ],
        ),
        refused(
            "met in other words",
            "",
            "report",
            "is missing",
            vec![
                calls([spec(), opencode("true", "A1")]),
                ScriptedTurn::text(&yes.to_string()),
                not_met(&[]),
            ],
        ),
        refused(
            "a criterion that nothing specified",
            "",
            "report",
            "has no criterion `A9`",
            vec![
                calls([spec(), opencode("true", "A9")]),
                report(&[("A1", false), ("A9", true)], &[]),
                not_met(&[]),
            ],
        ),
        refused(
            "a criterion twice",
            "",
            "report",
            "is reported twice",
            vec![
                calls([spec()]),
                report(&[("A1", false), ("A1", true)], &[]),
                not_met(&[]),
            ],
        ),
        refused(
            "a criterion left out",
            "",
            "report",
            "acceptance criterion `A2` is missing from the report",
            vec![
                calls([specify(&["A1", "A2"]), opencode("true", "A1")]),
                met(),
                report(&[("A1", true), ("A2", false)], &[]),
            ],
        ),
        refused(
            "two reports",
            "",
            "report",
            "the answer contains 2 reports",
            vec![calls([spec()]), ScriptedTurn::text(&two), not_met(&[])],
        ),
    ]);
}

#[test]
fn the_files_of_a_report_are_those_that_the_implementer_changed() {
    let met = || report(&[("A1", true)], &[]);
    let spec = || specify(&["A1"]);
    check(vec![
        refused(
            "a file that is kept quiet",
            "",
            "report",
            "but `api.rs` changed",
            vec![
                calls([spec(), opencode("touch api.rs", "A1")]),
                met(),
                report(&[("A1", true)], &["api.rs"]),
            ],
        ),
        refused(
            "a file that nothing changed",
            "",
            "report",
            "but no file changed",
            vec![
                calls([spec(), opencode("true", "A1")]),
                report(&[("A1", true)], &["api.rs"]),
                met(),
            ],
        ),
        refused(
            "a file that the shell wrote",
            ",runner",
            "report",
            "`hacked.rs` was changed by `shell`",
            vec![
                calls([spec(), opencode("true", "A1")]),
                shell("touch hacked.rs"),
                report(&[("A1", true)], &["hacked.rs"]),
                shell("rm hacked.rs"),
                met(),
            ],
        ),
    ]);
}

/// The requests of a model that only orchestrates, after the user asked for code, and the reason why it gets no sub-agent.
#[test]
fn an_orchestrator_starts_nothing_that_could_write_beside_the_pipeline() {
    let incomplete = "incomplete-coding-pipeline";
    let long = format!("{} Refactor the API.", "Look at it. ".repeat(2000));
    for (what, asked, input, reason) in [
        (
            "coding is denied",
            "Look at the API",
            json!({"task": "Refactor the API", "skills": ["typescript-pro"], "coding": false}),
            incomplete,
        ),
        (
            "a change is denied",
            "Look at the API",
            json!({"task": "Refactor the API. Don't change any code.", "skills": ["typescript-pro"]}),
            incomplete,
        ),
        (
            "half of the pair",
            "Look at the API",
            json!({"task": "Refactor the API", "skills": ["opencode-implementer"]}),
            incomplete,
        ),
        (
            "coding is said",
            "Look at the API",
            json!({"task": "Do it", "skills": ["typescript-pro"], "coding": true}),
            incomplete,
        ),
        (
            "the task is vague, and the person was not",
            "Refactor the API",
            json!({"task": "Do it", "skills": ["typescript-pro"]}),
            incomplete,
        ),
        (
            "the task is too long to be read",
            "Look at the API",
            json!({"task": long, "skills": ["runner"]}),
            incomplete,
        ),
        (
            "no skills",
            "Look at the API",
            json!({"task": "Do it"}),
            "needs skills",
        ),
        (
            "an empty set",
            "Look at the API",
            json!({"task": "Do it", "skills": []}),
            "empty set of skills",
        ),
    ] {
        let room = room([
            calls([("sessions_spawn", input)]),
            ScriptedTurn::text("I can't do that."),
        ]);
        let output = room.run(&[
            "agent",
            "--orchestrate",
            asked,
            "--approve-skills",
            "core-tools",
        ]);
        assert_eq!(output.code, 0, "{what}: {}", output.snapshot());
        let reasons = refusals(&room, "sessions_spawn");
        assert!(
            reasons.iter().any(|said| said.contains(reason)),
            "{what}: {reasons:#?}\n{}",
            output.snapshot()
        );
        assert_eq!(room.finish().len(), 2, "{what}");
    }
}

#[test]
fn an_orchestrator_may_send_readers_when_a_person_asks_for_code() {
    let room = room([
        calls([(
            "sessions_spawn",
            json!({"task": "Find out how others do it", "skills": ["librarian"]}),
        )]),
        ScriptedTurn::text("They cache."),
        ScriptedTurn::text("Others cache."),
    ]);
    room.skill("librarian", "", "Look it up.\n");
    let output = room.run(&[
        "agent",
        "--orchestrate",
        "Refactor the API",
        "--approve-skills",
        "core-tools",
    ]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let requests = room.finish();
    assert_eq!(requests[1].tools(), ["read", "glob", "grep"]);
}

/// A coding task without skills gets the two, and the facts that the program recorded follow the sub-agent's text.
#[test]
fn an_honest_run_passes_and_its_parent_sees_what_happened() {
    let room = room([
        calls([("sessions_spawn", json!({"task": "Refactor the API"}))]),
        calls([specify(&["A1", "A2"])]),
        calls([opencode("echo fast > api.rs", "A1")]),
        calls([opencode("exit 1", "A2")]),
        report(&[("A1", true), ("A2", false)], &["api.rs"]),
        ScriptedTurn::text("Half of it is done."),
    ]);
    let output = room.run(&[
        "agent",
        "Do it",
        "--approve-skills",
        "core-tools,opencode-implementer",
    ]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert_eq!(refusals(&room, "report"), [""; 0]);
    let requests = room.finish();
    assert_eq!(requests[1].tools(), ["specKit", "opencode"]);
    let told = last_message(&requests[5]);
    for fact in [
        "seen by metier: `opencode-implementer` for `A1` succeeded, it changed `api.rs`",
        "`opencode-implementer` for `A2` ended with exit code 1, it changed no file",
        "in all, `api.rs` changed",
    ] {
        assert!(told.contains(fact), "{told}");
    }
}

/// A user's own implementer has the name of the built-in one and of its tool, and the same rules apply to it.
#[test]
fn a_users_own_implementer_takes_the_place_of_the_built_in_one() {
    let room = room([
        calls([opencode("x", "A1")]),
        calls([specify(&["A1"]), opencode("x", "A1")]),
        report(&[("A1", true)], &[]),
        report(&[("A1", true)], &["own.rs"]),
    ]);
    let folder = "~/.config/metier/skills/opencode-implementer";
    room.stage.context.write(
        &format!("{folder}/SKILL.yaml"),
        "name: opencode-implementer\nversion: 9.0.0\ndescription: Implements in its own way.\ntypes: [tool]\n\
         permissions: [\"file:write(./**)\"]\nallowed_tools: [opencode]\n\
         output_contract: {type: object, required: [criteria]}\n\
         implementation: {backend: starlark, entrypoint: skill.star}\n",
    );
    room.stage.context.write(
        &format!("{folder}/skill.star"),
        "def opencode(input):\n    write_file(\"own.rs\", \"x\")\n    return \"done\"\n\nregister_tool(\"opencode\", \"Builds\", opencode, {\"type\": \"object\"})\n",
    );
    let output = spawn(&room, "");
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(room.stage.has("own.rs"));
    assert_eq!(refusals(&room, "opencode").len(), 1);
    assert_eq!(refusals(&room, "report").len(), 1);
    room.finish();
}
