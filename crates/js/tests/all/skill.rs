//! Skills that contribute their own tools and hooks: the same source as for a program next to `sdk/typescript/metier.ts`.

use serde_json::json;

use crate::talk::Talk;

const GREETER: &str = r#"
import { Skill, HostError, cancel } from "metier";
import type { Phase } from "metier";

const skill = new Skill();
skill.tool(
  { name: "greet", description: "Greets someone.", input_schema: { type: "object", properties: { who: { type: "string" } }, required: ["who"] } },
  async (host, input: { who: string }) => `${await host.readFile("greeting.txt")}, ${input.who}`,
);
skill.tool({ name: "fail", description: "Fails." }, () => { throw new Error("no luck"); });
skill.tool({ name: "refused", description: "Is refused." }, async (host) => {
  try { await host.exec("ls"); } catch (error) { return [error instanceof HostError, error.refused, error.message, error.data.code]; }
});
const phase: Phase = "before_tool_call";
skill.hook(phase, (host, event) => (event.tool === "rm" ? cancel("never") : { ...event, seen: true }), { fail_closed: true });
skill.workflow({ name: "count", description: "Counts." }, (host, input) => input.arguments.length);
skill.scanner("marks", (host, files) => files.map((file) => ({ severity: "info", file: file.path, line: 1, message: "seen" })));
skill.serve();
"#;

#[test]
fn a_skill_declares_what_it_contributes_and_answers() {
    let said = Talk::files(&[("main.ts", GREETER)])
        .entrypoint("main.ts")
        .host(|method, _| match method {
            "host/read_file" => Ok(json!({"content": "Hello"})),
            _ => Err((-32_001, "not-granted")),
        })
        .call(
            "tool/execute",
            json!({"name": "greet", "input": {"who": "Ada"}}),
        )
        .call(
            "tool/execute",
            json!({"name": "greet", "input": {"who": 1}}),
        )
        .call("tool/execute", json!({"name": "fail", "input": {}}))
        .call("tool/execute", json!({"name": "refused", "input": {}}))
        .call("tool/execute", json!({"name": "nothing", "input": {}}))
        .call(
            "hook/handle",
            json!({"phase": "before_tool_call", "event": {"tool": "ls"}}),
        )
        .call(
            "hook/handle",
            json!({"phase": "before_tool_call", "event": {"tool": "rm"}}),
        )
        .call(
            "workflow/run",
            json!({"name": "count", "input": {"arguments": ["a", "b"]}}),
        )
        .call(
            "scanner/run",
            json!({"name": "marks", "files": [{"path": "x", "content": ""}]}),
        )
        .call("openclaw/handle", crate::talk::handle(0, &json!({})))
        .run();
    let results: Vec<_> = said
        .answers
        .iter()
        .map(|answer| {
            answer
                .get("result")
                .unwrap_or(&answer["error"]["message"])
                .clone()
        })
        .collect();
    assert_eq!(results[0]["tools"][0]["name"], "greet");
    assert_eq!(
        results[0]["tools"][1]["input_schema"],
        json!({"type": "object"})
    );
    assert_eq!(
        results[0]["hooks"],
        json!([{"phase": "before_tool_call", "fail_closed": true}])
    );
    assert_eq!(
        results[0]["workflows"],
        json!([{"name": "count", "description": "Counts."}])
    );
    assert_eq!(results[0]["scanners"], json!([{"name": "marks"}]));
    assert_eq!(
        results[1..],
        [
            json!({"output": "Hello, Ada"}),
            json!({"output": "the input is invalid: `who` is not of type string", "is_error": true}),
            json!({"output": "no luck", "is_error": true}),
            json!({"output": [true, true, "the host says not-granted", "not-granted"]}),
            json!("there is no tool `nothing`"),
            json!({"event": {"tool": "ls", "seen": true}}),
            json!({"cancel": {"reason": "never"}}),
            json!({"output": 2}),
            json!({"findings": [{"severity": "info", "file": "x", "line": 1, "message": "seen"}]}),
            json!("there is no handler 0; this skill has 0"),
        ]
    );
}

#[test]
fn the_file_of_the_sdk_beside_a_skill_is_not_needed_and_does_no_harm() {
    let beside = include_str!("../../../../sdk/typescript/metier.ts");
    let said = Talk::files(&[
        ("main.ts", &GREETER.replace("\"metier\"", "\"./metier.ts\"")),
        ("metier.ts", beside),
    ])
    .entrypoint("main.ts")
    .run();
    assert_eq!(
        said.answers[0]["result"]["tools"][0]["name"], "greet",
        "{said:?}"
    );
}

#[test]
fn the_error_about_missing_registrations_shows_how() {
    let said = Talk::files(&[("main.ts", "import { Skill } from 'metier'; new Skill();")])
        .entrypoint("main.ts")
        .run();
    assert_eq!(
        said.error(),
        "it contributes nothing; end the entrypoint with `skill.serve()`, where `skill` is a `Skill` of `metier`"
    );
}
