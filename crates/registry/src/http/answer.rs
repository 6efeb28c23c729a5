//! Responses: documents with an `ETag`, bytes with a digest and ranges, refusals.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use metier_model::Digest;
use serde::Serialize;

use crate::blobs::digest_of;
use crate::registry::{RegistryError, RequestRefusal};

const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");

/// A JSON document, or only its `ETag` if the client has it.
pub(super) fn document<T: Serialize>(result: Result<T, Response>, headers: &HeaderMap) -> Response {
    let value = match result {
        Ok(value) => value,
        Err(response) => return response,
    };
    let Ok(body) = serde_json::to_vec(&value) else {
        let message = "the answer can't be written".to_owned();
        return refuse(&RequestRefusal::new(500, "failed", message));
    };
    let etag = format!("\"{}\"", digest_of(&body));
    let mut response = match is_known(headers, &etag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
    };
    set(&mut response, header::ETAG, &etag);
    set(&mut response, header::CACHE_CONTROL, "no-cache");
    response
}

/// The sentence of a refusal, for interfaces that return text.
#[derive(Clone)]
pub(super) struct ProblemMessage(pub(super) String);

/// A refusal as its document.
pub(super) fn refuse(refusal: &RequestRefusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let problem = refusal.problem();
    let message = ProblemMessage(problem.message.clone());
    let mut response = (status, axum::Json(problem)).into_response();
    response.extensions_mut().insert(message);
    if status == StatusCode::UNAUTHORIZED {
        set(&mut response, header::WWW_AUTHENTICATE, "Bearer");
    }
    response
}

/// The response to a failed request. The details of an internal failure are only logged.
pub(super) fn failure(error: &RegistryError) -> Response {
    match error {
        RegistryError::Refused(refusal) => refuse(refusal),
        RegistryError::Database(_) | RegistryError::Blobs(_) => {
            tracing::error!(%error, "a request failed");
            let message = "the registry failed; its log has the reason".to_owned();
            refuse(&RequestRefusal::new(500, "failed", message))
        }
    }
}

fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let known = headers.get(header::IF_NONE_MATCH);
    let known = known
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    known
        .split(',')
        .any(|known| matches!(known.trim(), "*") || known.trim().trim_start_matches("W/") == etag)
}

fn set(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// Bytes that never change at their URL.
pub(super) struct BytesAnswer {
    bytes: Vec<u8>,
    digest: String,
    content_type: &'static str,
    file_name: Option<String>,
}

impl BytesAnswer {
    /// An archive, which a browser saves under this name.
    pub(super) fn archive(bytes: Vec<u8>, digest: &str, file_name: String) -> Self {
        Self {
            bytes,
            digest: digest.to_owned(),
            content_type: "application/zip",
            file_name: Some(file_name),
        }
    }

    /// A file of a skill. A browser neither guesses its type nor runs it.
    pub(super) fn file(bytes: Vec<u8>, path: &str) -> Self {
        let is_text = path.ends_with(".md") || path.ends_with(".txt");
        Self {
            digest: digest_of(&bytes).to_string(),
            bytes,
            content_type: match is_text {
                true => "text/plain; charset=utf-8",
                false => "application/octet-stream",
            },
            file_name: None,
        }
    }

    /// The whole, a range of it, or only the `ETag`.
    pub(super) fn answer(self, headers: &HeaderMap) -> Response {
        let etag = format!("\"{}\"", self.digest);
        let length = self.bytes.len();
        let mut response = if is_known(headers, &etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            match requested_range(headers, &etag, length) {
                RequestedRange::Whole => Body::from(self.bytes).into_response(),
                RequestedRange::Part(first, last) => {
                    let part = self.bytes[first..=last].to_vec();
                    let mut response = (StatusCode::PARTIAL_CONTENT, part).into_response();
                    let range = format!("bytes {first}-{last}/{length}");
                    set(&mut response, header::CONTENT_RANGE, &range);
                    response
                }
                RequestedRange::Unsatisfiable => {
                    let mut response = StatusCode::RANGE_NOT_SATISFIABLE.into_response();
                    set(
                        &mut response,
                        header::CONTENT_RANGE,
                        &format!("bytes */{length}"),
                    );
                    return response;
                }
            }
        };
        set(&mut response, header::ETAG, &etag);
        set(&mut response, header::ACCEPT_RANGES, "bytes");
        set(&mut response, header::CONTENT_TYPE, self.content_type);
        set(&mut response, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        if let Ok(digest) = self.digest.parse::<Digest>() {
            let value = format!("sha-256=:{}:", STANDARD.encode(digest.0));
            set(&mut response, REPR_DIGEST, &value);
        }
        if let Some(name) = self.file_name {
            let value = format!("attachment; filename=\"{name}\"");
            set(&mut response, header::CONTENT_DISPOSITION, &value);
        }
        response
    }
}

#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    Whole,
    Part(usize, usize),
    Unsatisfiable,
}

/// One range, if it is still of the same bytes. For several ranges the whole is returned, which is allowed.
fn requested_range(headers: &HeaderMap, etag: &str, length: usize) -> RequestedRange {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if text(header::IF_RANGE).is_some_and(|condition| condition != etag) {
        return RequestedRange::Whole;
    }
    let range = text(header::RANGE).and_then(|value| value.strip_prefix("bytes="));
    let Some((first, last)) = range.and_then(|range| range.trim().split_once('-')) else {
        return RequestedRange::Whole;
    };
    let (first, last) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) if first <= last => (first, last.min(length.saturating_sub(1))),
        (Ok(first), Err(_)) if last.is_empty() => (first, length.saturating_sub(1)),
        (Err(_), Ok(0)) if first.is_empty() => return RequestedRange::Unsatisfiable,
        (Err(_), Ok(end)) if first.is_empty() => {
            (length.saturating_sub(end), length.saturating_sub(1))
        }
        _ => return RequestedRange::Whole,
    };
    match first < length {
        true => RequestedRange::Part(first, last),
        false => RequestedRange::Unsatisfiable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_a_part_of_the_bytes_or_refused() {
        let check = |range: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RANGE, HeaderValue::from_str(range).unwrap());
            requested_range(&headers, "\"e\"", 10)
        };
        assert_eq!(check("bytes=0-3"), RequestedRange::Part(0, 3));
        assert_eq!(check("bytes=4-"), RequestedRange::Part(4, 9));
        assert_eq!(check("bytes=-3"), RequestedRange::Part(7, 9));
        assert_eq!(check("bytes=-30"), RequestedRange::Part(0, 9));
        assert_eq!(check("bytes=2-99"), RequestedRange::Part(2, 9));
        assert_eq!(check("bytes=10-"), RequestedRange::Unsatisfiable);
        assert_eq!(check("bytes=-0"), RequestedRange::Unsatisfiable);
        for whole in [
            "bytes=5-2",
            "bytes=a-b",
            "bytes=0-1,3-4",
            "lines=0-1",
            "bytes=-",
        ] {
            assert_eq!(check(whole), RequestedRange::Whole, "{whole}");
        }
    }

    #[test]
    fn a_range_of_other_bytes_is_the_whole() {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, HeaderValue::from_static("bytes=1-2"));
        headers.insert(header::IF_RANGE, HeaderValue::from_static("\"old\""));
        assert_eq!(
            requested_range(&headers, "\"new\"", 10),
            RequestedRange::Whole
        );
        assert_eq!(
            requested_range(&headers, "\"old\"", 10),
            RequestedRange::Part(1, 2)
        );
    }
}
