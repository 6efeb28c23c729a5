//! The reasons why a model returned no answer, and how to fix them.

use std::time::Duration;

use thiserror::Error;

use crate::TokenUsage;
use crate::provider::ProviderKind;

/// Why a model returned no answer. Messages of a provider are quoted on one line, cut, and without the key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// A model name without a provider.
    #[error("model `{name}` has no provider prefix")]
    NoProvider {
        /// The name as it was given.
        name: String,
    },
    /// No request was sent, because there is no key.
    #[error("no API key for {provider}")]
    NoKey {
        /// The provider of the model.
        provider: ProviderKind,
        /// The variable that was read.
        variable: String,
    },
    /// A key that can't be sent.
    #[error("the API key in `{variable}` contains invalid characters")]
    BadKey {
        /// The variable that contained it.
        variable: String,
    },
    /// A base URL that can't be used.
    #[error("`{url}` is not a base URL: {reason}")]
    BadUrl {
        /// The URL as it was given, without a password.
        url: String,
        /// The problem.
        reason: String,
    },
    /// The key was not accepted.
    #[error("{provider} rejected the API key: {message}")]
    Unauthorized {
        /// The provider of the model.
        provider: ProviderKind,
        /// Where the key came from.
        variable: String,
        /// The provider's error message.
        message: String,
    },
    /// Too many requests, after all attempts.
    #[error("{provider} rate limit reached{}: {message}", times(*.attempts))]
    RateLimited {
        /// The provider of the model.
        provider: ProviderKind,
        /// How long it asked to wait.
        after: Option<Duration>,
        /// The number of attempts.
        attempts: u32,
        /// The provider's error message.
        message: String,
    },
    /// The provider is overloaded or broken, after all attempts.
    #[error("{provider} is unavailable ({code}){}: {message}", times(*.attempts))]
    Overloaded {
        /// The provider of the model.
        provider: ProviderKind,
        /// HTTP status code.
        code: u16,
        /// How long it asked to wait.
        after: Option<Duration>,
        /// The number of attempts.
        attempts: u32,
        /// The provider's error message.
        message: String,
    },
    /// The request was not accepted.
    #[error("{provider} rejected the request ({code}): {message}")]
    Status {
        /// The provider of the model.
        provider: ProviderKind,
        /// HTTP status code.
        code: u16,
        /// The provider's error message.
        message: String,
    },
    /// The answer broke off.
    #[error("{provider} closed the connection {}", if text.is_empty() { "before sending a response" } else { "in the middle of its response" })]
    Cut {
        /// The provider of the model.
        provider: ProviderKind,
        /// The text that had arrived.
        text: String,
        /// The tokens so far, if they were reported.
        usage: TokenUsage,
    },
    /// The answer exceeds the size limit.
    #[error("the response of {provider} is larger than {limit} bytes")]
    TooLarge {
        /// The provider of the model.
        provider: ProviderKind,
        /// Maximum size of a response in bytes.
        limit: usize,
    },
    /// The response is not in the provider's format.
    #[error("can't parse the response of {provider}: {reason}")]
    Malformed {
        /// The provider of the model.
        provider: ProviderKind,
        /// The problem.
        reason: String,
    },
    /// The request took longer than its limit.
    #[error("{provider} timed out: no {wait} within {limit:?}")]
    TimedOut {
        /// The provider of the model.
        provider: ProviderKind,
        /// The missing part of the response.
        wait: TimeoutKind,
        /// The timeout that was reached.
        limit: Duration,
    },
    /// The call was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The server can't be reached.
    #[error("can't reach `{url}`: {reason}")]
    Unreachable {
        /// URL of the request.
        url: String,
        /// The error of the system.
        reason: String,
    },
    /// The server's identity can't be verified. Nothing was sent.
    #[error("can't establish a secure connection to `{url}`: {reason}")]
    Untrusted {
        /// URL of the request.
        url: String,
        /// The TLS error.
        reason: String,
    },
}

/// The awaited part of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutKind {
    /// A connection, name and TLS included.
    Connection,
    /// The start of a response.
    FirstByte,
    /// The next piece of it.
    NextByte,
    /// The end of a response.
    End,
}

impl std::fmt::Display for TimeoutKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connection => "connection",
            Self::FirstByte => "start of a response",
            Self::NextByte => "further data",
            Self::End => "end of the response",
        })
    }
}

impl ModelError {
    /// Whether the provider does not know the requested model.
    pub(crate) const fn is_unknown_model(&self) -> bool {
        matches!(self, Self::Status { code: 404, .. })
    }

    /// The hint: what to type next.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoProvider { name } => format!(
                "use `anthropic/{name}`, `openai/{name}` or `ollama/{name}`, or set a default: `metier config agent.provider anthropic`"
            ),
            Self::NoKey { variable, .. } => format!(
                "set it with `export {variable}=…`, or name another variable: `metier config agent.api_key_env NAME`"
            ),
            Self::BadKey { variable } => {
                format!("set it again, without spaces and line breaks: `export {variable}=…`")
            }
            Self::BadUrl { .. } => {
                "a base URL looks like `https://host/v1`; set it with `metier config agent.base_url URL`".to_owned()
            }
            Self::Unauthorized { variable, .. } if variable.is_empty() => {
                "it requires a key: set its variable with `metier config agent.api_key_env NAME`".to_owned()
            }
            Self::Unauthorized { variable, .. } => {
                format!("check the key in `{variable}`, and that it belongs to this base URL")
            }
            Self::RateLimited { after: Some(after), .. } | Self::Overloaded { after: Some(after), .. } => {
                format!("try again in {} s", after.as_secs().max(1))
            }
            // Some servers start an answer before they count the tokens of the request (llama-cpp-python's does).
            Self::Cut { text, .. } if text.is_empty() => {
                "try again later; if the server closes the connection because the conversation exceeds its context window, compact it earlier: `metier config agent.context_tokens N`".to_owned()
            }
            Self::RateLimited { .. } | Self::Overloaded { .. } | Self::Cut { .. } => {
                "try again later".to_owned()
            }
            Self::Status { code: 404, .. } => {
                "check the name of the model (`--model`, `METIER_MODEL`) and the base URL (`metier config agent.base_url`)".to_owned()
            }
            Self::TooLarge { .. } => "ask for a shorter answer: `metier config agent.max_tokens N`".to_owned(),
            Self::Malformed { .. } => {
                "check that the base URL serves the API of this provider: `metier config agent.base_url`".to_owned()
            }
            Self::TimedOut { wait: TimeoutKind::Connection, .. } | Self::Unreachable { .. } => {
                "check the network and the base URL: `metier config agent.base_url`".to_owned()
            }
            Self::Untrusted { .. } => {
                "check the clock and the system's certificates; if the server is your own, install its certificate there".to_owned()
            }
            Self::TimedOut { .. } => {
                "try again, or raise the timeout with `metier config agent.timeout SECONDS`".to_owned()
            }
            Self::Status { .. } | Self::Cancelled => return None,
        })
    }

    /// Whether the same request can succeed later.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Overloaded { .. }
                | Self::Cut { .. }
                | Self::Unreachable { .. }
        )
    }

    /// This error after this many attempts.
    pub(crate) fn after_attempts(mut self, count: u32) -> Self {
        if let Self::RateLimited { attempts, .. } | Self::Overloaded { attempts, .. } = &mut self {
            *attempts = count;
        }
        self
    }
}

fn times(count: u32) -> String {
    match count {
        1 => String::new(),
        count => format!(" after {count} attempts"),
    }
}
