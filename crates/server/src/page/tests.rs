//! What holds for all views: where forms and markup are made, and that whatever a document contains stays text.

use std::fs;

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{Method, StatusCode, header},
    response::IntoResponse as _,
    routing::any,
};
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::daemon::access::PageVisit;

use super::{is_page, router};

/// Everything that markup, a script, a style sheet or a terminal would take for its own.
const HOSTILE: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)><style>*{}</style><svg onload=alert(1)>\u{202e}\u{200b}\u{1b}[2J</title></pre>${1}{{1}}";

/// A document in which every field that a view reads is hostile.
fn hostile_document(path: &str) -> Value {
    let text = HOSTILE;
    let skill = json!({
        "name": text, "description": text, "source": text, "agent": text, "path": text, "digest": text, "status": text,
        "version": text, "types": [text], "scan": text, "backend": text, "shadowed_by": text,
        "reasons": [{ "kind": text, "message": text, "hint": text, "path": text, "line": 3 }],
        "manifest": { "license": text, "author": text, (text): [text] }, "without_effect": [text],
        "files": [{ "path": text, "size": 1 }, { "path": "SKILL.md", "size": 1 }],
        "permissions": [{ "permission": text, "state": "ask", "means": text }, { "permission": text, "state": text, "means": text }],
        "findings": [{ "rule": text, "severity": text, "file": text, "line": 1, "column": 1, "message": text, "evidence": text,
            "steps": [{ "what": text, "file": text, "line": 1 }], "fix": text }],
        "unread": [{ "file": text, "why": text }],
        "tools": [{ "name": text, "description": text, "input_schema": { "properties": { (text): { "type": "string", "description": text } } } }],
        "diagnostics": [{ "severity": text, "code": text, "message": text, "path": text, "hint": text, "line": 1 }],
    });
    let receipt = json!({ "id": text, "at": text, "skill": text, "act": text, "detail": text, "decision": text, "outcome": text,
        "reason": text, "ms": 1, "sandbox": text, "note": text, "count": 2 });
    let session = json!({ "id": text, "conversation": text, "title": text, "started": text, "state": text, "turns": 1, "text": text, "error": text });
    let signals = json!([{ "signal": text, "sign": text, "detail": text, "weight": 0.5 }]);
    match path.trim_start_matches("/api/v1") {
        "/status" => {
            json!({ "project": text, "counts": { "ready": 1 }, "watch": { "state": "polled", "reason": text },
            "sources": [{ "source": text, "skills": 1 }], "agents": [{ "agent": text, "skills": 1 }] })
        }
        "/skills" => {
            json!({ "skills": [skill], "total": 300, "diagnostics": [{ "severity": "error", "path": format!("{text}/x"), "message": text, "hint": text }] })
        }
        "/approvals" => {
            json!({ "approvals": [{ "id": text, "session": text, "skill": text, "source": text, "danger": text, "text": text,
            "answers": [{ "answer": text, "covers": [text] }] }] })
        }
        "/permissions" => {
            json!({ "approvals": [{ "skill": text, "permission": text, "state": text, "digest": "other", "at": text, "by": text }] })
        }
        "/receipts" => json!({ "receipts": [receipt], "whole": false }),
        "/sessions" => json!({ "sessions": [session] }),
        "/conversations" => {
            json!({ "conversations": [{ "id": text, "title": text, "model": text, "last_at": text }] })
        }
        "/why" => json!({ "skills": [
            { "name": text, "source": text, "picked": true, "score": 0.5, "why": signals, "gates": [], "consent": text },
            { "name": text, "source": text, "picked": false, "score": 0.1, "why": signals, "problems": [{ "detail": text }],
              "gates": [{ "kind": text, "message": text, "hint": text }] }],
            "errors": [{ "message": text, "hint": text }], "coding_evidence": { "evidence": signals } }),
        "/compose" => {
            json!({ "valid": false, "order": [text], "tools": { "allowed": [text], "forbidden": [text], "own": [text] },
            "errors": [{ "code": text, "message": text, "hint": text }], "warnings": [], "unchecked": [{ "skill": text, "field": text, "text": text }] })
        }
        "/installed" => {
            json!({ "skills": [{ "name": text, "state": text, "scope": text, "place": text, "source": text, "version": text, "changes": { "added": [text] } }] })
        }
        "/changes" => json!({ "changes": [{ "id": text, "title": text, "at": text }] }),
        "/installs" | "/updates" => {
            json!({ "plan": text, "notices": [text], "left_out": [text], "skills": [{ "name": text, "state": text, "verdict": text,
            "source": text, "digest": text, "text": text, "open": [text], "obstacles": [{}], "error": { "message": text },
            "files": [{ "path": text, "change": text, "diff": text }] }] })
        }
        "/refused" => json!({ "error": { "message": text, "hint": text } }),
        path if path.contains("/files/") => {
            json!({ "name": text, "path": text, "text": text, "size": 1, "binary": false })
        }
        path if path.starts_with("/sessions/") => session,
        _ => skill,
    }
}

async fn answer(mut page: Router, method: Method, path: &str, body: &str) -> (StatusCode, String) {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(body.to_owned()))
        .unwrap();
    request
        .extensions_mut()
        .insert(PageVisit::with_token("the-token"));
    let answer = page.call(request).await.unwrap();
    let status = answer.status();
    for name in ["content-security-policy", "x-frame-options"] {
        let is_redirect = status.is_redirection();
        assert!(
            is_redirect || answer.headers().contains_key(name),
            "{path} has no {name}"
        );
    }
    let bytes = to_bytes(answer.into_body(), 8 << 20).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// The views, on top of an interface that returns hostile documents.
fn hostile_page() -> Router {
    let answer = |request: Request| async move {
        let document = hostile_document(request.uri().path());
        axum::response::Response::new(Body::from(document.to_string())).into_response()
    };
    router(Router::new().fallback(any(answer)))
}

const VIEWS: &[&str] = &[
    "/",
    "/skills?search=x&status=ready",
    "/skills/x",
    "/skills/x/files/a/b",
    "/approvals",
    "/why?task=x",
    "/compose?skill=a&skill=b",
    "/install",
    "/chat",
    "/chat/s1",
    "/receipts?verify=true",
    "/usage",
];

#[tokio::test]
async fn whatever_a_document_contains_stays_text() {
    for view in VIEWS {
        let (status, page) = answer(hostile_page(), Method::GET, view, "").await;
        assert_eq!(status, StatusCode::OK, "{view}");
        for made in [
            "<script>alert",
            "<img",
            "<style",
            "<svg onload",
            "onerror=alert(1)>\"",
            "</title></pre>",
        ] {
            assert!(!page.contains(made), "{view} has {made}");
        }
        for hidden in ["\u{202e}", "\u{200b}", "\u{1b}"] {
            let shown = page.split("value=\"").next().unwrap_or(&page);
            assert!(
                !shown.contains(hidden),
                "{view} has {}",
                hidden.escape_unicode()
            );
        }
        // No attribute is an event handler, and none is a style.
        for tag in page
            .split('<')
            .skip(1)
            .filter_map(|rest| rest.split_once('>'))
        {
            let mut outside = tag.0.split('"').step_by(2);
            assert!(
                !outside.any(|part| part.contains(" on") || part.contains(" style=")),
                "{view}: <{}>",
                tag.0
            );
        }
    }
}

#[tokio::test]
async fn every_form_that_is_posted_has_the_token() {
    for view in VIEWS {
        let (_, page) = answer(hostile_page(), Method::GET, view, "").await;
        for form in page.split("<form ").skip(1) {
            let (head, rest) = form.split_once('>').unwrap();
            let fields = rest.split("</form>").next().unwrap();
            let is_post = head.contains("method=\"post\"");
            assert!(is_post || head.contains("method=\"get\""), "{view}: {head}");
            assert_eq!(
                fields.contains("name=\"form_token\" value=\"the-token\""),
                is_post,
                "{view}: {head}"
            );
        }
    }
}

async fn never_asked() -> axum::response::Response {
    panic!("nothing may be asked of the interface")
}

/// Every address of a form, refused without the token, with a wrong one, and with that of another browser.
#[tokio::test]
async fn a_form_without_the_token_does_nothing() {
    for path in [
        "/do/refresh",
        "/do/approvals/requests.1",
        "/do/permissions",
        "/do/scan",
        "/do/tools/a",
        "/do/tools/a/b",
        "/do/installs",
        "/do/installs/p1",
        "/do/updates",
        "/do/updates/p1",
        "/do/undo",
        "/do/remove",
        "/do/sessions",
        "/do/sessions/s1/messages",
        "/do/sessions/s1/stop",
        "/do/sessions/s1/end",
    ] {
        for body in [
            "",
            "answer=always",
            "form_token=&answer=always",
            "form_token=the-toke&answer=always",
        ] {
            let page = router(Router::new().fallback(any(never_asked)));
            let (status, _) = answer(page, Method::POST, path, body).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{path} {body}");
        }
        let (status, _) = answer(hostile_page(), Method::POST, path, "form_token=the-token").await;
        assert!(
            status.is_success() || status.is_redirection(),
            "{path}: {status}"
        );
    }
}

#[tokio::test]
async fn a_form_returns_to_a_view_of_ours_only() {
    for (back, expected) in [
        ("/skills?search=a", "/skills?search=a"),
        ("/skills/a%2Fb", "/skills/a%2Fb"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("/api/v1/status", "/"),
        ("", "/"),
    ] {
        let body = format!("form_token=the-token&back={}", super::api::encoded(back));
        let mut page = hostile_page();
        let mut request = Request::builder()
            .method(Method::POST)
            .uri("/do/refresh")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(body))
            .unwrap();
        request
            .extensions_mut()
            .insert(PageVisit::with_token("the-token"));
        let answer = page.call(request).await.unwrap();
        assert_eq!(answer.headers()[header::LOCATION], expected, "{back}");
    }
}

#[test]
fn markup_and_forms_are_made_in_one_way() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/page");
    let mut read = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".rs") || name.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        read += 1;
        assert!(!text.contains("PreEscaped"), "{name} writes markup as text");
        let is_forms = name == "forms.rs";
        assert!(
            is_forms || !text.contains("method=\"post\""),
            "{name} writes a form of its own"
        );
    }
    assert!(read > 10, "the files were not found");
}

#[test]
fn addresses_of_the_page_are_no_addresses_of_programs() {
    for path in [
        "/",
        "/skills",
        "/skills/a",
        "/approvals",
        "/chat/s1",
        "/do/refresh",
    ] {
        assert!(is_page(path), "{path}");
    }
    for path in [
        "/api/v1/skills",
        "/mcp",
        "/ws",
        "/metrics",
        "/healthz",
        "/login",
        "/skillset",
        "/assets/page.css",
        "//evil",
        "",
    ] {
        assert!(!is_page(path), "{path}");
    }
}
