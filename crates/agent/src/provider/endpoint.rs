//! The address of a model, and its key.
//!
//! The values are arguments: settings that the user wrote, and a function that looks up a variable. The settings for
//! `agent.provider` apply to that provider only, so that a key for one provider is never sent to another.

use metier_config::Secret;
use metier_model::text::visible;
use url::Url;

use super::name::{ModelName, ProviderKind};
use crate::ModelError;

/// The user's settings, from `agent.*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderSettings {
    /// The provider of a bare name, to which the next two settings apply; they apply to all if it isn't set.
    pub provider: Option<ProviderKind>,
    /// An address other than the provider's own.
    pub base_url: Option<String>,
    /// A variable other than the provider's own.
    pub api_key_env: Option<String>,
}

impl From<&metier_config::AgentSettings> for ProviderSettings {
    fn from(agent: &metier_config::AgentSettings) -> Self {
        Self {
            provider: agent.provider.as_deref().and_then(ProviderKind::from_word),
            base_url: agent.base_url.clone(),
            api_key_env: agent.api_key_env.clone(),
        }
    }
}

/// An address with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    kind: ProviderKind,
    url: Url,
    key: Option<Secret>,
    variable: String,
}

impl Endpoint {
    /// Finds the address and the key for a model.
    ///
    /// # Errors
    /// When a required key is missing, or the base URL is not valid.
    pub fn resolve(
        name: &ModelName,
        settings: &ProviderSettings,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let kind = name.provider;
        let meant = settings.provider.is_none_or(|provider| provider == kind);
        let set = |variable: &str| lookup(variable).filter(|value| !value.is_empty());
        let base = settings.base_url.clone().filter(|_| meant);
        let base = base
            .or_else(|| set(base_variable(kind)))
            .unwrap_or_else(|| default_base(kind).to_owned());
        let url = locate(kind, &base)?;
        let named = settings.api_key_env.clone().filter(|_| meant);
        let variable = named.unwrap_or_else(|| key_variable(kind).to_owned());
        let key = if variable.is_empty() {
            None
        } else {
            set(&variable)
        };
        match &key {
            None if !variable.is_empty() => {
                return Err(ModelError::NoKey {
                    provider: kind,
                    variable,
                });
            }
            Some(key) if !key.bytes().all(|byte| byte.is_ascii_graphic()) => {
                return Err(ModelError::BadKey { variable });
            }
            _ => {}
        }
        Ok(Self {
            kind,
            url,
            key: key.map(Secret::new),
            variable,
        })
    }

    /// The provider behind this endpoint.
    #[must_use]
    pub fn kind(&self) -> ProviderKind {
        self.kind
    }

    /// The URL that requests are sent to.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The URL for messages, without the query.
    pub(super) fn shown(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.into()
    }

    pub(super) fn key(&self) -> Option<&Secret> {
        self.key.as_ref()
    }

    pub(super) fn variable(&self) -> &str {
        &self.variable
    }

    /// Whether this is the provider itself, and not a compatible server.
    pub(super) fn is_original(&self) -> bool {
        let original = Url::parse(default_base(self.kind));
        original.is_ok_and(|original| original.host_str() == self.url.host_str())
    }
}

/// The variable with the key; empty if none is needed.
fn key_variable(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::Anthropic => "ANTHROPIC_API_KEY",
        ProviderKind::OpenAi => "OPENAI_API_KEY",
        ProviderKind::Ollama => "",
    }
}

fn base_variable(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::Anthropic => "ANTHROPIC_BASE_URL",
        ProviderKind::OpenAi => "OPENAI_BASE_URL",
        ProviderKind::Ollama => "OLLAMA_HOST",
    }
}

fn default_base(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::Anthropic => "https://api.anthropic.com",
        ProviderKind::OpenAi => "https://api.openai.com/v1",
        ProviderKind::Ollama => "http://127.0.0.1:11434",
    }
}

/// The URL for requests. Base URLs are written with and without `/v1`, and `OLLAMA_HOST` even without `http:`.
fn locate(kind: ProviderKind, base: &str) -> Result<Url, ModelError> {
    let whole = match kind {
        ProviderKind::Ollama => with_defaults(base),
        ProviderKind::Anthropic | ProviderKind::OpenAi => base.to_owned(),
    };
    let wrong = |reason: &str| ModelError::BadUrl {
        url: without_password(&whole),
        reason: reason.to_owned(),
    };
    let mut url = Url::parse(&whole).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it starts with neither `https://` nor `http://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it must not contain credentials"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    let versioned = match kind {
        ProviderKind::Anthropic if path.ends_with("/v1") => path,
        ProviderKind::Anthropic => format!("{path}/v1"),
        ProviderKind::OpenAi | ProviderKind::Ollama if path.is_empty() => "/v1".to_owned(),
        ProviderKind::OpenAi | ProviderKind::Ollama => path,
    };
    let method = match kind {
        ProviderKind::Anthropic => "messages",
        ProviderKind::OpenAi | ProviderKind::Ollama => "chat/completions",
    };
    url.set_path(&format!("{versioned}/{method}"));
    url.set_fragment(None);
    Ok(url)
}

/// `OLLAMA_HOST` can be a host, or a host and a port; the default port is not that of HTTP.
fn with_defaults(base: &str) -> String {
    if base.contains("://") {
        return base.to_owned();
    }
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match base.rsplit_once(':') {
        Some((_, port)) if is_port(port) => format!("http://{base}"),
        _ => format!("http://{base}:11434"),
    }
}

/// The part before an `@` can contain a password.
fn without_password(url: &str) -> String {
    let shown = match url.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => url.to_owned(),
    };
    visible(&shown).into_owned()
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
