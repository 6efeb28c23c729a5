//! The changes that a handler makes to an event, and how they are returned.

use serde_json::json;

use crate::talk::{Talk, handle};

#[test]
fn a_handler_in_typescript_changes_messages_and_context() {
    let handler = r#"
import type { HookHandler } from "openclaw/hooks";
import { HookEvent } from "openclaw/hooks";
enum Tone { Kind = "kind" }
const handler: HookHandler = async (event: HookEvent): Promise<void> => {
  event.messages.push(`${event.type}:${event.action} ${event.timestamp.toISOString()} ${event.timestamp instanceof Date}`);
  (event.context as any).bootstrapFiles!.push({ path: "X.md", content: Tone.Kind, virtual: true });
};
export default handler;
"#;
    let said = Talk::handler("hooks/handler.ts", handler)
        .event(&json!({"bootstrapFiles": [], "kept": 1}))
        .run();
    assert_eq!(said.answers[0]["result"], json!({}));
    assert_eq!(
        said.event(),
        json!({"messages": ["first", "agent:bootstrap 2026-01-02T03:04:05.006Z true"],
            "context": {"bootstrapFiles": [{"path": "X.md", "content": "kind", "virtual": true}], "kept": 1}})
    );
    assert_eq!(said.end, Ok(()));
}

#[test]
fn both_can_be_replaced_as_a_whole() {
    let handler = "module.exports = (event) => { event.messages = ['only']; event.context = { a: [undefined, () => 1], b: undefined }; };";
    let said = Talk::handler("h.js", handler).event(&json!({"x": 1})).run();
    assert_eq!(
        said.event(),
        json!({"messages": ["only"], "context": {"a": [null, null]}})
    );
}

#[test]
fn a_module_keeps_its_state_from_call_to_call() {
    let handler = "let seen = 0; export default (event) => { event.context.seen = ++seen; };";
    let said = Talk::handler("h.js", handler)
        .event(&json!({}))
        .event(&json!({}))
        .run();
    assert_eq!(said.context(), json!({"seen": 2}));
}

#[test]
fn each_handler_has_its_number() {
    let said = Talk::files(&[
        ("a.mjs", "export default (e) => { e.messages = ['a']; }"),
        ("b.cjs", "exports.go = (e) => { e.messages = ['b']; }"),
    ])
    .handle("a.mjs", "default")
    .handle("b.cjs", "go")
    .call("openclaw/handle", handle(1, &json!({})))
    .call("openclaw/handle", handle(2, &json!({})))
    .run();
    assert_eq!(said.answers[1]["result"]["event"]["messages"], json!(["b"]));
    assert_eq!(said.error(), "there is no handler 2; this skill has 2");
}

#[test]
fn a_text_cut_in_the_middle_of_a_character_still_arrives() {
    let handler = "export default (e) => { e.context.cut = 'a😀'.slice(0, 2); e.context.back = '\\\\ud83d'; console.log('a😀'.slice(0, 2)); };";
    let said = Talk::handler("h.mjs", handler).event(&json!({})).run();
    assert_eq!(
        said.context(),
        json!({"cut": "a\u{fffd}", "back": "\\ud83d"})
    );
    assert_eq!(said.log, ["info: a\u{fffd}"]);
}

#[test]
fn a_value_that_is_not_json_is_an_error_that_names_the_part() {
    for (body, part, expected) in [
        ("e.context.self = e.context", "event.context", "circular"),
        ("e.messages.push(10n)", "event.messages", "BigInt"),
        (
            "e.context.x = { toJSON() { throw new Error('no way'); } }",
            "event.context",
            "no way",
        ),
        (
            "Object.defineProperty(e.context, 'x', { enumerable: true, get() { throw new Error('got') } })",
            "event.context",
            "got",
        ),
        (
            "e.context = new Proxy({}, { ownKeys() { throw new Error('trap') } })",
            "event.context",
            "trap",
        ),
        (
            "let deep = {}; for (let i = 0; i < 200; i++) deep = { deep }; e.context = deep",
            "event.context",
            "nested more than 100",
        ),
        (
            "e.context.big = 'x'.repeat(5 << 20)",
            "event.context",
            "at most 1048576 are allowed",
        ),
    ] {
        let said = Talk::handler("h.mjs", &format!("export default (e) => {{ {body} }}"))
            .event(&json!({}))
            .event(&json!({}))
            .run();
        let error = said.error();
        assert!(
            error.contains(&format!("`{part}` can't be returned")) && error.contains(expected),
            "{body}: {error}"
        );
        assert_eq!(said.answers.len(), 3, "the next call is answered too");
    }
}
