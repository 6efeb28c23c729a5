//! The interface for programs, asked from within: a view has no other source of data.

use axum::{
    Router,
    body::{self, Body},
    extract::Request,
    http::{Method, header},
};
use serde_json::{Value, json};
use tower_service::Service as _;

use super::{document::Document, forms::CheckedForm};

/// The largest document that a view reads.
const MAX_DOCUMENT: usize = 64 << 20;

/// The interface for programs.
#[derive(Clone)]
pub(super) struct Api {
    programs: Router,
}

/// A question whose parameters are in a body; it changes nothing.
#[derive(Clone, Copy)]
pub(super) enum ApiQuestion {
    Why,
    Compose,
}

/// The action of a form of the page: the method, the path below the interface, and the body.
pub(super) struct PageAct {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Value,
}

/// An error document, with its status.
#[derive(Debug)]
pub(super) struct ApiRefusal {
    pub(super) status: u16,
    pub(super) document: Document,
}

impl ApiRefusal {
    /// The message of the error.
    pub(super) fn message(&self) -> super::document::Quoted<'_> {
        self.document.root().at("error").text("message")
    }

    /// The code of the error.
    pub(super) fn code(&self) -> &str {
        self.document.root().at("error").text("code").raw()
    }

    /// The names to choose from, if the request was ambiguous.
    pub(super) fn choices(&self) -> Vec<super::document::Part<'_>> {
        self.document.root().at("error").items("choices")
    }

    /// The hint of the error.
    pub(super) fn hint(&self) -> Option<super::document::Quoted<'_>> {
        self.document.root().at("error").some_text("hint")
    }

    fn bug(message: &str) -> Self {
        let document = json!({ "error": { "code": "bug", "message": message, "hint": null } });
        Self {
            status: 500,
            document: Document::new(document),
        }
    }
}

/// The answer of the interface.
pub(super) type Answered = Result<Document, ApiRefusal>;

impl Api {
    pub(super) fn new(programs: Router) -> Self {
        Self { programs }
    }

    /// A document, by its path below `/api/v1`.
    pub(super) async fn get(&self, path: &str) -> Answered {
        self.send(Method::GET, path, None).await
    }

    /// The answer to a question.
    pub(super) async fn ask(&self, question: ApiQuestion, body: Value) -> Answered {
        let path = match question {
            ApiQuestion::Why => "/why",
            ApiQuestion::Compose => "/compose",
        };
        self.send(Method::POST, path, Some(body)).await
    }

    /// Does what a form of this page asks for. Only a form that was checked can do something.
    pub(super) async fn act(&self, _proof: &CheckedForm, act: PageAct) -> Answered {
        self.send(act.method, &act.path, Some(act.body)).await
    }

    async fn send(&self, method: Method, path: &str, content: Option<Value>) -> Answered {
        let request = Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"))
            .header(header::CONTENT_TYPE, "application/json");
        let content = content.map_or_else(Body::empty, |content| Body::from(content.to_string()));
        let Ok(request) = request.body(content) else {
            return Err(ApiRefusal::bug("the page built an invalid address"));
        };
        let answer = match self.programs.clone().call(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        let status = answer.status();
        let read = body::to_bytes(answer.into_body(), MAX_DOCUMENT).await;
        let text = read.map_err(|_| ApiRefusal::bug("the document is too large for the page"))?;
        let parsed = serde_json::from_slice::<Value>(&text);
        let document = parsed.map_err(|_| ApiRefusal::bug("the page can't read a document"))?;
        let document = Document::new(document);
        match status.is_success() {
            true => Ok(document),
            false => Err(ApiRefusal {
                status: status.as_u16(),
                document,
            }),
        }
    }
}

/// A part of a path or of a query, percent-encoded.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A query of the pairs that have a value.
pub(super) fn query(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> = pairs
        .map(|(name, value)| format!("{name}={}", encoded(value)))
        .collect();
    match pairs.is_empty() {
        true => String::new(),
        false => format!("?{}", pairs.join("&")),
    }
}
