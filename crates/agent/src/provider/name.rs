//! The name and the provider of a model.
//!
//! A model is written as `provider/model` everywhere; `provider:model` is accepted too. Both `/` and `:` occur in names
//! (`ollama/llama3:8b`, `openai/meta/llama-3`), so only a known provider counts as a prefix.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ModelError;

/// The provider of a model, which decides the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// The Messages API of Anthropic.
    Anthropic,
    /// OpenAI chat completions, or a compatible API.
    OpenAi,
    /// Ollama on the user's own machine: the same format, without a key.
    Ollama,
}

impl ProviderKind {
    const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Ollama];

    /// The name of the provider in model names and settings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
        }
    }

    /// The provider with this name.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A model's name with its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    /// The provider of the model.
    pub provider: ProviderKind,
    /// The provider's own name of it.
    pub model: String,
}

impl ModelName {
    /// Reads `provider/model`, or a bare name if there is a default provider.
    ///
    /// # Errors
    /// When neither names a provider, or there is no model name.
    pub fn parse(text: &str, default: Option<ProviderKind>) -> Result<Self, ModelError> {
        let named = text.find(['/', ':']).and_then(|end| {
            let provider = ProviderKind::from_word(&text[..end])?;
            Some((provider, &text[end + 1..]))
        });
        let found = named.or_else(|| default.map(|provider| (provider, text)));
        match found {
            Some((provider, model)) if !model.is_empty() => Ok(Self {
                provider,
                model: model.to_owned(),
            }),
            _ => Err(ModelError::NoProvider {
                name: metier_model::text::visible(text).into_owned(),
            }),
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_contains_its_owner() {
        let check = |text: &str, default, expected: &str| {
            let name = ModelName::parse(text, default).unwrap();
            assert_eq!(name.to_string(), expected, "{text}");
        };
        check("anthropic/claude-x", None, "anthropic/claude-x");
        check("anthropic:claude-x", None, "anthropic/claude-x");
        check("ollama:llama3:8b", None, "ollama/llama3:8b");
        check(
            "openai/meta/llama-3",
            Some(ProviderKind::Anthropic),
            "openai/meta/llama-3",
        );
        check(
            "meta/llama-3",
            Some(ProviderKind::OpenAi),
            "openai/meta/llama-3",
        );
        check("llama3:8b", Some(ProviderKind::Ollama), "ollama/llama3:8b");
        check("gpt-x", Some(ProviderKind::OpenAi), "openai/gpt-x");
    }

    #[test]
    fn a_name_without_an_owner_is_refused() {
        for text in [
            "claude-x",
            "elsewhere/claude-x",
            "anthropic/",
            "anthropic:",
            "",
        ] {
            let error = ModelName::parse(text, None).unwrap_err();
            assert!(matches!(&error, ModelError::NoProvider { name } if name == text));
            assert!(error.hint().unwrap().contains("agent.provider"));
        }
    }
}
