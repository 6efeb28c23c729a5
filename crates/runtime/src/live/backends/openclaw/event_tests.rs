//! Events on their way to a handler and back.

use super::*;

fn around() -> EventSurroundings {
    EventSurroundings {
        project: "/project".into(),
        session: "s".into(),
    }
}

fn raised(kind: &str, action: &str) -> &'static openclaw::OpenClawEvent {
    let mut events = openclaw::EVENTS.iter();
    let found = events.find(|event| event.kind == kind && event.action == action);
    found.unwrap()
}

/// Lets a handler change an event, and applies the changes.
fn after(
    (kind, action): (&str, &str),
    event: &Value,
    handler: impl FnOnce(&mut Value, &mut Value),
) -> TakenChanges {
    let raised = raised(kind, action);
    let asked = asked(raised, event, &around(), "2026-01-01T00:00:00Z".into());
    let (mut messages, mut context) = (asked.messages.clone(), asked.context.clone());
    handler(&mut messages, &mut context);
    taken(
        raised.phase,
        event,
        &asked,
        &OpenclawChange { messages, context },
    )
}

const BOOTSTRAP: (&str, &str) = ("agent", "bootstrap");

fn push(context: &mut Value, file: Value) {
    context["bootstrapFiles"].as_array_mut().unwrap().push(file);
}

#[test]
fn a_handler_sees_what_openclaw_would_show_it() {
    let event = json!({ "fragments": ["one", { "path": "b.md", "content": "two" }] });
    let asked = asked(raised("agent", "bootstrap"), &event, &around(), "t".into());
    assert_eq!((&*asked.r#type, &*asked.action), BOOTSTRAP);
    assert_eq!(asked.session_key, "agent:main:s");
    assert_eq!(asked.messages, json!([]));
    let files = &asked.context["bootstrapFiles"];
    assert_eq!(asked.context["workspaceDir"], "/project");
    assert_eq!(
        files[0],
        json!({"name": "fragment-1.md", "path": "fragment-1.md", "content": "one", "missing": false, "virtual": true})
    );
    assert_eq!(
        (&files[1]["path"], &files[1]["content"]),
        (&json!("b.md"), &json!("two"))
    );
}

#[test]
fn files_in_both_shapes_become_fragments_behind_the_others() {
    let event = json!({ "fragments": ["one"], "session": "s" });
    let taken = after(BOOTSTRAP, &event, |messages, context| {
        push(
            context,
            json!({"path": "R.md", "content": "remember", "virtual": true}),
        );
        push(
            context,
            json!({"name": "AGENTS.md", "path": "/p/AGENTS.md", "content": "be kind", "missing": false}),
        );
        messages.as_array_mut().unwrap().push("hello".into());
    });
    assert_eq!(
        taken.event.unwrap(),
        json!({
            "fragments": [
                "one",
                {"path": "R.md", "content": "remember"},
                {"path": "/p/AGENTS.md", "content": "be kind"},
                "hello",
            ],
            "session": "s",
        })
    );
    assert_eq!((taken.cancel, taken.said), (None, vec![]));
}

#[test]
fn a_file_that_is_changed_is_added_and_one_that_is_removed_stays() {
    let event = json!({ "fragments": ["one", "two"] });
    let taken = after(BOOTSTRAP, &event, |_, context| {
        let files = context["bootstrapFiles"].as_array_mut().unwrap();
        files.remove(1);
        files[0]["content"] = "other".into();
    });
    let fragments = &taken.event.unwrap()["fragments"];
    assert_eq!(
        *fragments,
        json!(["one", "two", {"path": "fragment-1.md", "content": "other"}])
    );
}

#[test]
fn a_file_without_content_adds_nothing() {
    let event = json!({ "fragments": [] });
    for file in [
        json!({"path": "a"}),
        json!({"path": "a", "content": " "}),
        json!({"path": "a", "content": "x", "missing": true}),
        json!({"path": "a", "content": 7}),
        json!(null),
        json!("text"),
    ] {
        let taken = after(BOOTSTRAP, &event, |_, context| push(context, file.clone()));
        assert_eq!(taken, TakenChanges::default(), "{file}");
    }
    for nonsense in [json!(null), json!(7), json!([[]]), json!({})] {
        let taken = after(BOOTSTRAP, &event, |messages, context| {
            *messages = nonsense.clone();
            *context = nonsense.clone();
        });
        assert_eq!(taken, TakenChanges::default(), "{nonsense}");
    }
}

#[test]
fn a_tool_gets_another_input_or_none() {
    let event = json!({ "tool": "a__t", "input": {"x": 1} });
    let before = ("tool", "before");
    let taken = after(before, &event, |_, context| {
        assert_eq!(context["toolName"], "a__t");
        context["params"]["x"] = 2.into();
        context["toolName"] = "shell".into();
    });
    assert_eq!(
        taken.event,
        Some(json!({ "tool": "a__t", "input": {"x": 2} }))
    );
    let taken = after(before, &event, |_, context| {
        context["block"] = true.into();
        context["blockReason"] = "no".into();
    });
    assert_eq!((taken.event, taken.cancel.as_deref()), (None, Some("no")));
    let taken = after(before, &event, |_, _| {});
    assert_eq!(taken, TakenChanges::default());
}

#[test]
fn a_result_is_changed() {
    let event = json!({ "tool": "a__t", "input": {}, "output": "x", "is_error": false });
    let taken = after(("tool", "after"), &event, |messages, context| {
        context["result"] = "y".into();
        context["block"] = true.into();
        messages.as_array_mut().unwrap().push("done".into());
    });
    assert_eq!(taken.event.unwrap()["output"], "y");
    assert_eq!((taken.cancel, taken.said), (None, vec!["done".to_owned()]));
}

#[test]
fn an_answer_that_was_sent_can_not_be_changed() {
    let event = json!({ "text": "hello" });
    let taken = after(("message", "sent"), &event, |messages, context| {
        assert_eq!(context["content"], "hello");
        context["content"] = "bye".into();
        messages.as_array_mut().unwrap().push("seen".into());
    });
    assert_eq!((taken.event, taken.said), (None, vec!["seen".to_owned()]));
}
