//! Turns failures into errors.

use std::io;
use std::time::Duration;

use metier_model::text::visible;
use serde_json::Value;

use super::draft::Fault;
use super::endpoint::Endpoint;
use super::exchange::Stopped;
use super::limits::ProviderLimits;
use crate::{ModelError, TimeoutKind};

/// The provider, and the limits of the request.
pub(super) struct ProviderFailure<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) limits: &'a ProviderLimits,
}

impl ProviderFailure<'_> {
    /// The status of the response is not a success.
    pub(super) fn status(&self, code: u16, after: Option<Duration>, page: &[u8]) -> ModelError {
        self.said(code, after, &words(page))
    }

    /// The answer is an error.
    pub(super) fn fault(&self, fault: Fault) -> ModelError {
        let provider = self.endpoint.kind();
        match fault {
            Fault::TooLarge => ModelError::TooLarge {
                provider,
                limit: self.limits.answer,
            },
            Fault::Malformed(reason) => ModelError::Malformed {
                provider,
                reason: self.quoted(&reason),
            },
            Fault::Failed(code, message) => self.said(code, None, &message),
        }
    }

    /// The error when a response ended early.
    pub(super) fn stopped(&self, stopped: Stopped) -> ModelError {
        let provider = self.endpoint.kind();
        match stopped {
            Stopped::Cancelled => ModelError::Cancelled,
            Stopped::TimedOut(wait) => ModelError::TimedOut {
                provider,
                wait,
                limit: match wait {
                    TimeoutKind::Connection => self.limits.connect,
                    TimeoutKind::FirstByte => self.limits.first_byte,
                    TimeoutKind::NextByte => self.limits.between,
                    TimeoutKind::End => self.limits.whole,
                },
            },
            Stopped::TooLarge => ModelError::TooLarge {
                provider,
                limit: self.limits.wire,
            },
            Stopped::Unreachable(reason) => ModelError::Unreachable {
                url: self.endpoint.shown(),
                reason: self.quoted(&reason),
            },
            Stopped::Untrusted(reason) => ModelError::Untrusted {
                url: self.endpoint.shown(),
                reason: self.quoted(&reason),
            },
            Stopped::Malformed(reason) => ModelError::Malformed {
                provider,
                reason: self.quoted(&reason),
            },
            Stopped::Broken => ModelError::Cut {
                provider,
                text: String::new(),
                usage: crate::TokenUsage::default(),
            },
        }
    }

    /// The error when a request could not be sent.
    pub(super) fn unsent(&self, error: &io::Error) -> ModelError {
        ModelError::Unreachable {
            url: self.endpoint.shown(),
            reason: error.to_string(),
        }
    }

    fn said(&self, code: u16, after: Option<Duration>, message: &str) -> ModelError {
        let provider = self.endpoint.kind();
        let message = self.quoted(message);
        match code {
            401 | 403 => ModelError::Unauthorized {
                provider,
                variable: self.endpoint.variable().to_owned(),
                message,
            },
            429 => ModelError::RateLimited {
                provider,
                after,
                attempts: 1,
                message,
            },
            408 | 500.. => ModelError::Overloaded {
                provider,
                code,
                after,
                attempts: 1,
                message,
            },
            code => ModelError::Status {
                provider,
                code,
                message,
            },
        }
    }

    /// Text of a provider, for one line. Some providers repeat the rejected key.
    fn quoted(&self, text: &str) -> String {
        const MAX: usize = 300;
        let text = match self.endpoint.key() {
            Some(key) => text.replace(key.expose(), "[key]"),
            None => text.to_owned(),
        };
        let shown = visible(text.trim());
        match shown.char_indices().nth(MAX) {
            Some((end, _)) => format!("{}…", &shown[..end]),
            None => shown.into_owned(),
        }
    }
}

/// The message of an error page. Both formats have `error.message`; compatible servers vary.
fn words(page: &[u8]) -> String {
    let text = String::from_utf8_lossy(page);
    let Ok(json) = serde_json::from_str::<Value>(&text) else {
        return if text.trim().is_empty() {
            "no reason was given".to_owned()
        } else {
            text.into_owned()
        };
    };
    ["/error/message", "/message", "/error", "/detail"]
        .iter()
        .find_map(|path| json.pointer(path)?.as_str())
        .map_or_else(|| text.clone().into_owned(), str::to_owned)
}
