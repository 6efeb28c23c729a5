//! Who can be asked, what a form shows, and which answers count.

use metier::{ApprovalOffer, Reply};
use rmcp::model::{ClientCapabilities, ElicitResult, ElicitationAction};
use serde_json::{Value, json};

use super::*;
use crate::mcp::test_questions::question;

fn capabilities(value: Value) -> ClientCapabilities {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_client_is_asked_in_the_way_that_it_declares() {
    for (declared, legacy, modern) in [
        (json!({}), AskingMode::Never, AskingMode::Never),
        (
            json!({"elicitation": {}}),
            AskingMode::Elicitation,
            AskingMode::InputRequired,
        ),
        (
            json!({"elicitation": {"form": {}}}),
            AskingMode::Elicitation,
            AskingMode::InputRequired,
        ),
        (
            json!({"elicitation": {"url": {}}}),
            AskingMode::Never,
            AskingMode::Never,
        ),
        (
            json!({"sampling": {}, "roots": {}}),
            AskingMode::Never,
            AskingMode::Never,
        ),
    ] {
        let declared = capabilities(declared);
        assert_eq!(AskingMode::of(Some(&declared), false), legacy);
        assert_eq!(AskingMode::of(Some(&declared), true), modern);
    }
    assert_eq!(AskingMode::of(None, false), AskingMode::Never);
}

#[test]
fn a_form_shows_the_card_and_never_offers_always() {
    let question = question("notes", &["shell:exec(git *)", "file:read(./**)"]);
    let offers = |offer: &ApprovalOffer| matches!(offer, ApprovalOffer::Always(_));
    assert!(
        question.offers.iter().any(offers),
        "at a terminal it is offered"
    );
    let form = serde_json::to_value(form(&question)).unwrap();
    let message = form["message"].as_str().unwrap();
    assert!(
        message.starts_with("The skill notes asks for permission."),
        "{message}"
    );
    assert!(
        message.contains("run: git *") && message.contains(&question.identity.digest.to_string())
    );
    assert!(
        !message.contains("lways") && !message.contains("type `l`"),
        "{message}"
    );
    let answers = &form["requestedSchema"]["properties"]["answer"];
    assert_eq!(answers["enum"], json!(["no", "once", "session"]));
    assert_eq!(form["requestedSchema"]["required"], json!(["answer"]));
}

#[test]
fn only_an_offered_answer_allows_anything() {
    let question = question("notes", &["shell:exec(git *)"]);
    let answered = |action, content: Value| {
        let result = ElicitResult::new(action).with_content(content);
        reply(&question, &result)
    };
    for (action, content, expected) in [
        (
            ElicitationAction::Accept,
            json!({"answer": "once"}),
            Reply::Once,
        ),
        (
            ElicitationAction::Accept,
            json!({"answer": "session"}),
            Reply::Session,
        ),
        (
            ElicitationAction::Accept,
            json!({"answer": "no"}),
            Reply::Deny,
        ),
        (
            ElicitationAction::Accept,
            json!({"answer": "always"}),
            Reply::Deny,
        ),
        (
            ElicitationAction::Accept,
            json!({"answer": true}),
            Reply::Deny,
        ),
        (
            ElicitationAction::Accept,
            json!({"reply": "once"}),
            Reply::Deny,
        ),
        (ElicitationAction::Accept, json!("once"), Reply::Deny),
        (
            ElicitationAction::Decline,
            json!({"answer": "once"}),
            Reply::Deny,
        ),
        (
            ElicitationAction::Cancel,
            json!({"answer": "session"}),
            Reply::Deny,
        ),
    ] {
        assert_eq!(answered(action, content.clone()), expected, "{content}");
    }
}

#[test]
fn an_answer_is_looked_for_under_its_key() {
    let question = question("notes", &["shell:exec(git *)"]);
    let responses = |value: Value| serde_json::from_value::<InputResponses>(value).unwrap();
    let once = json!({"action": "accept", "content": {"answer": "once"}});
    assert_eq!(
        answer_in(&question, Some(&responses(json!({"approval": once})))),
        Some(Reply::Once)
    );
    assert_eq!(
        answer_in(&question, Some(&responses(json!({"other": once})))),
        None
    );
    assert_eq!(
        answer_in(&question, Some(&responses(json!({"approval": "yes"})))),
        Some(Reply::Deny)
    );
    assert_eq!(answer_in(&question, None), None);
}

// case 123, 124, 125
#[test]
fn an_answer_for_a_session_covers_exactly_one_question() {
    let answers = SessionAnswers::default();
    let asked = question("notes", &["shell:exec(git *)", "file:read(./**)"]);
    assert_eq!(answers.taken(&asked, Reply::Once), Reply::Once);
    assert!(!answers.covers(&asked), "once is once");
    assert_eq!(answers.taken(&asked, Reply::Session), Reply::Once);
    assert!(answers.covers(&asked));
    assert!(answers.covers(&question(
        "notes",
        &["file:read(./**)", "shell:exec(git *)"]
    )));
    assert!(!answers.covers(&question("notes", &["shell:exec(git *)"])));
    assert!(!answers.covers(&question(
        "notes",
        &[
            "shell:exec(git *)",
            "file:read(./**)",
            "net:fetch(a.example)"
        ]
    )));
    assert!(!answers.covers(&question(
        "other",
        &["shell:exec(git *)", "file:read(./**)"]
    )));
    let mut changed = question("notes", &["shell:exec(git *)", "file:read(./**)"]);
    changed.identity.digest.0[0] ^= 1;
    assert!(!answers.covers(&changed));
    changed = question("notes", &["shell:exec(git *)", "file:read(./**)"]);
    changed.place.push('x');
    assert!(!answers.covers(&changed));
}
