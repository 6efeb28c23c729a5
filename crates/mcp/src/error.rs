//! Why a server did not do what was requested.

use std::time::Duration;

use metier_model::text::visible;
use rmcp::service::{ClientInitializeError, ServiceError};

/// Why a server returned nothing that can be used.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// Its program could not be started.
    #[error("`{command}` can't be started: {source}")]
    Start {
        /// The program.
        command: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// It could not be reached, or the connection broke.
    #[error("{0}")]
    Connection(String),
    /// It requires an authorization that the configuration does not contain.
    #[error("it requires authorization")]
    Authorization {
        /// The server's demand, in its own words.
        challenge: String,
    },
    /// It did not answer in time.
    #[error("it did not answer `{what}` within {} seconds", .limit.as_secs())]
    Timeout {
        /// The request.
        what: String,
        /// The limit.
        limit: Duration,
    },
    /// The user or the session stopped it.
    #[error("stopped")]
    Stopped,
    /// It returned an error.
    #[error("it answered `{what}` with error {code}: {message}")]
    Answer {
        /// The request.
        what: String,
        /// The code of JSON-RPC.
        code: i32,
        /// Its message, escaped.
        message: String,
    },
    /// Its answer does not have the form that the protocol requires.
    #[error("its answer to `{what}` can't be used: {problem}")]
    Form {
        /// The request.
        what: String,
        /// The problem.
        problem: String,
    },
    /// The server does not have the requested skill, file or tool.
    #[error("it does not offer {0}")]
    Unsupported(&'static str),
}

/// Text of a server in a message: one line, without hidden characters, truncated.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 300;
    let line: String = visible(text).replace(['\n', '\r'], " ");
    let mut short: String = line.chars().take(LONGEST).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

impl McpError {
    pub(crate) fn form(what: &str, problem: impl std::fmt::Display) -> Self {
        Self::Form {
            what: what.to_owned(),
            problem: shown(&problem.to_string()),
        }
    }

    pub(crate) fn of_request(what: &str, error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::Answer {
                what: what.to_owned(),
                code: error.code.0,
                message: shown(&error.message),
            },
            ServiceError::TransportClosed => {
                Self::Connection("it closed the connection".to_owned())
            }
            ServiceError::UnexpectedResponse => {
                Self::form(what, "it is the answer to another request")
            }
            ServiceError::Timeout { timeout } => Self::Timeout {
                what: what.to_owned(),
                limit: timeout,
            },
            ServiceError::InputRequiredRoundsExceeded { .. } => {
                Self::form(what, "it keeps asking for more input")
            }
            other => match challenge(&other) {
                Some(challenge) => Self::Authorization { challenge },
                None => Self::Connection(reason(&other)),
            },
        }
    }

    pub(crate) fn of_start(error: &ClientInitializeError) -> Self {
        if let Some(challenge) = error.auth_challenge() {
            return Self::Authorization {
                challenge: challenge.to_owned(),
            };
        }
        match error {
            ClientInitializeError::JsonRpcError(data) => Self::Answer {
                what: "initialize".to_owned(),
                code: data.code.0,
                message: shown(&data.message),
            },
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
                Self::of_start(fallback)
            }
            ClientInitializeError::NoCompatibleProtocolVersion {
                server_supported, ..
            } => {
                let versions: Vec<String> =
                    server_supported.iter().map(ToString::to_string).collect();
                Self::form(
                    "server/discover",
                    format!("it supports only the versions {}", versions.join(", ")),
                )
            }
            ClientInitializeError::ConnectionClosed(_) => {
                Self::Connection("it closed the connection before answering".to_owned())
            }
            other => Self::Connection(reason(other)),
        }
    }
}

/// The innermost cause: the layers above only repeat that something failed.
fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    shown(&innermost.to_string())
}

/// A server's demand, if that is why a request failed.
fn challenge(error: &ServiceError) -> Option<String> {
    use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};
    let ServiceError::TransportSend(error) = error else {
        return None;
    };
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error.error.as_ref());
    while let Some(current) = next {
        if let Some(required) = current.downcast_ref::<AuthRequiredError>() {
            return Some(required.www_authenticate_header.clone());
        }
        if let Some(scope) = current.downcast_ref::<InsufficientScopeError>() {
            return Some(scope.www_authenticate_header.clone());
        }
        next = current.source();
    }
    None
}
