//! Answers: documents of `--json`, refusals with their status, and the bodies of requests.

use std::{borrow::Cow, time::Duration};

use axum::{
    body::{self, Body, Bytes},
    extract::{FromRequest, Request},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use metier::{Error, ErrorKind};
use metier_wire::{ErrorBody, ErrorDocument};
use serde::{Serialize, de::DeserializeOwned};

use crate::page;

/// The largest body of a request, and how long it may take to arrive.
const MAX_BODY: usize = 1 << 20;
const BODY_TIME: Duration = Duration::from_secs(10);

/// A request that the daemon refuses itself.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) code: &'static str,
    pub(super) message: Cow<'static, str>,
    hint: Option<Cow<'static, str>>,
}

impl Refusal {
    pub(super) fn new(
        status: u16,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// A refusal because the request itself is wrong.
    pub(super) fn usage(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, "usage", message)
    }

    /// This answer as a page, for a browser.
    pub(super) fn into_page(self) -> Response {
        page::refused(self.status, self.code, &self.message)
    }

    /// The document of an error, as bytes.
    pub(super) fn document(&self) -> ErrorDocument<'_> {
        ErrorDocument {
            error: ErrorBody {
                code: self.code,
                message: Cow::Borrowed(&self.message),
                hint: self.hint.as_deref(),
                skill: None,
                path: None,
                line: None,
                choices: Vec::new(),
            },
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status);
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = with_status(status, &self.document());
        let headers = response.headers_mut();
        match self.status {
            401 => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            429 | 503 => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// Why a request failed: the daemon refused it, or the library returned an error.
#[derive(Debug)]
pub(super) enum ApiError {
    Refused(Refusal),
    Failed(Box<Error>),
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl ApiError {
    /// The document that `--json` prints.
    pub(super) fn document(&self) -> ErrorDocument<'_> {
        match self {
            Self::Refused(refusal) => refusal.document(),
            Self::Failed(error) => ErrorDocument::from(&**error),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        match self {
            Self::Refused(refusal) => refusal.into_response(),
            Self::Failed(error) => with_status(status_of(&error), &ErrorDocument::from(&*error)),
        }
    }
}

/// The status of an error of the library.
fn status_of(error: &Error) -> StatusCode {
    match (error.kind(), error.code()) {
        (_, "usage" | "source") => StatusCode::BAD_REQUEST,
        (_, "unknown-skill" | "not-found" | "not-a-file" | "not-installed" | "not-kept") => {
            StatusCode::NOT_FOUND
        }
        (
            _,
            "not-approved" | "not-permitted" | "denied" | "blocked" | "changed" | "disabled"
            | "path-refused" | "not-for-models" | "not-for-users",
        ) => StatusCode::FORBIDDEN,
        (_, "too-large") => StatusCode::PAYLOAD_TOO_LARGE,
        (ErrorKind::Unmet | ErrorKind::Interrupted, _) => StatusCode::CONFLICT,
        (ErrorKind::Broken, _) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The result of a handler.
pub(super) type ApiResult = Result<Response, ApiError>;

/// A document as an answer.
pub(super) fn document(document: &impl Serialize) -> Response {
    with_status(StatusCode::OK, document)
}

pub(super) fn with_status(status: StatusCode, document: &impl Serialize) -> Response {
    // No document fails to serialise: their keys are strings, and they have no numbers that JSON lacks.
    let mut text = serde_json::to_vec(document).unwrap_or_default();
    text.push(b'\n');
    let mut response = json(Bytes::from(text));
    *response.status_mut() = status;
    response
}

/// JSON that was written before.
pub(super) fn json(text: Bytes) -> Response {
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// The body of a request: one JSON document. An empty body is an empty object.
pub(super) struct JsonBody<T>(pub(super) T);

impl<S: Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Refusal> {
        let kind = request.headers().get(header::CONTENT_TYPE).cloned();
        let limited = body::to_bytes(request.into_body(), MAX_BODY);
        let text = match tokio::time::timeout(BODY_TIME, limited).await {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => {
                let message = "the body can't be read, or exceeds the limit of 1 MB";
                return Err(Refusal::new(413, "too-large", message));
            }
            Err(_) => {
                let message = "the body did not arrive within 10 seconds";
                return Err(Refusal::new(408, "timeout", message));
            }
        };
        if text.is_empty() {
            return parse(b"{}").map(Self);
        }
        // A form or plain text is what a foreign page can send without being asked first.
        let is_json = kind.as_ref().and_then(|kind| kind.to_str().ok());
        let is_json = is_json.is_some_and(|kind| {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("application/json")
        });
        if !is_json {
            let message = "the body has to be JSON, with `Content-Type: application/json`";
            return Err(Refusal::new(415, "not-json", message));
        }
        parse(&text).map(Self)
    }
}

/// One JSON document, with an error that contains the position.
pub(super) fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, Refusal> {
    // serde would accept an array and assign its values to the fields by position.
    if !text.trim_ascii_start().starts_with(b"{") {
        return Err(Refusal::usage("the request is not a JSON object"));
    }
    serde_json::from_slice(text)
        .map_err(|error| Refusal::usage(format!("the request can't be read: {error}")))
}
