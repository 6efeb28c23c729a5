//! Nothing grows without limit.

use metier_agent::{Cancel, ModelError, ProviderKind, ProviderLimits};
use metier_testkit::model_server::{ModelServer, ScriptedTurn};
use serde_json::json;

use crate::{BOTH, answer, ask, limits, provider, question};

/// Space for a few words, and in the raw stream for many more than are sent.
fn small() -> ProviderLimits {
    ProviderLimits {
        answer: 10_000,
        ..limits()
    }
}

fn too_large(kind: ProviderKind, turn: ScriptedTurn) {
    stopped(kind, turn, small(), 10_000);
}

fn stopped(kind: ProviderKind, turn: ScriptedTurn, limits: ProviderLimits, expected: usize) {
    let server = ModelServer::start([turn]);
    let error = answer(kind, &server, limits).unwrap_err();
    assert!(
        matches!(error, ModelError::TooLarge { limit, .. } if limit == expected),
        "{kind}: {error:?}"
    );
    let _ = server.finish();
}

#[test]
fn a_huge_answer_is_stopped() {
    for kind in BOTH {
        too_large(kind, ScriptedTurn::text(&"word ".repeat(2001)));
        too_large(kind, ScriptedTurn::text(&"x".repeat(10_001)));
        too_large(kind, ScriptedTurn::text("").thinking(&"hm ".repeat(4000)));
        too_large(
            kind,
            ScriptedTurn::text("").and_call("read_file", &"x".repeat(20_000)),
        );
        too_large(
            kind,
            ScriptedTurn::calls((0..1000).map(|_| ("f", json!({})))),
        );
        let page = json!({ "choices": [], "content": ["x".repeat(20_000)] });
        too_large(
            kind,
            ScriptedTurn::raw(200, "application/json", page.to_string()),
        );
    }
}

#[test]
fn as_much_as_is_allowed_is_allowed() {
    for kind in BOTH {
        let text = "x".repeat(9_000);
        let server = ModelServer::start([ScriptedTurn::text(&text)]);
        assert_eq!(answer(kind, &server, small()).unwrap().text, text);
        let _ = server.finish();
    }
}

#[test]
fn a_line_that_does_not_end_is_stopped() {
    for kind in BOTH {
        let line = format!("data: {}", "x".repeat(100_000));
        too_large(kind, ScriptedTurn::raw(200, "text/event-stream", line));
        let lines = "data: x\n".repeat(10_000);
        too_large(kind, ScriptedTurn::raw(200, "text/event-stream", lines));
    }
}

#[test]
fn a_silent_stream_is_stopped() {
    for kind in BOTH {
        let comments = ": nothing\n\n".repeat(50_000);
        let narrow = ProviderLimits {
            wire: 200_000,
            ..limits()
        };
        let turn = ScriptedTurn::raw(200, "text/event-stream", comments);
        stopped(kind, turn, narrow, 200_000);
    }
}

#[test]
fn an_endless_error_page_is_reported_by_its_status() {
    for kind in BOTH {
        let server =
            ModelServer::start([ScriptedTurn::raw(400, "text/html", "<p>".repeat(100_000))]);
        let error = answer(kind, &server, small()).unwrap_err();
        assert!(
            matches!(error, ModelError::Status { code: 400, .. }),
            "{error:?}"
        );
        assert!(error.to_string().len() < 1000);
        let _ = server.finish();
    }
}

#[test]
fn ten_thousand_calls_are_an_answer_like_any_other() {
    for kind in BOTH {
        let server =
            ModelServer::start([ScriptedTurn::calls((0..10_000).map(|_| ("f", json!({}))))]);
        let roomy = ProviderLimits {
            answer: 8 * 1024 * 1024,
            wire: 64 * 1024 * 1024,
            ..limits()
        };
        let answer = answer(kind, &server, roomy).unwrap();
        assert_eq!(answer.calls.len(), 10_000);
        let _ = server.finish();
    }
}

#[test]
fn a_call_after_one_that_failed_works() {
    let server = ModelServer::start([
        ScriptedTurn::text(&"x".repeat(10_001)),
        ScriptedTurn::text("ok"),
    ]);
    let provider = provider(ProviderKind::Anthropic, &server, small());
    assert!(ask(&provider, &question(), &Cancel::new()).0.is_err());
    assert_eq!(
        ask(&provider, &question(), &Cancel::new()).0.unwrap().text,
        "ok"
    );
    let _ = server.finish();
}
