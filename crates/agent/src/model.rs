//! A conversation with a model, independent of the provider.
//!
//! Providers disagree on where a system prompt is, how a tool's result is sent and how a stop is named. This module has the common
//! part; `provider/` translates, and no code outside it sees their formats. One value is passed through unread:
//! [`SignedBlock`], which a model requires back with its own calls.

use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::provider::ProviderKind;
use crate::{Cancel, ModelError};

/// A language model.
///
/// The call blocks, like the rest of the program, and ends when `cancel` is set. Several threads may send requests at the same time.
pub trait LanguageModel: Send + Sync {
    /// Sends `request` and reports pieces of the answer as they arrive.
    ///
    /// # Errors
    /// When there is no complete answer. Pieces that were reported stay valid.
    fn answer(
        &self,
        request: &ModelRequest,
        told: &mut dyn FnMut(ResponseDelta<'_>),
        cancel: &Cancel,
    ) -> Result<ModelResponse, ModelError>;
}

/// A request to a model. With a thousand skills, most of it is the prompt and the tools, which are the same in each request: they
/// are shared, not copied.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The model's own name, without a provider: `claude-…`, `gpt-…`.
    pub model: String,
    /// The system prompt; empty for none.
    pub system: Arc<str>,
    /// The conversation so far, oldest first.
    pub messages: Vec<ModelMessage>,
    /// The tools it may call, in the order in which it sees them.
    pub tools: Arc<[ModelTool]>,
    /// Maximum length of the answer, in tokens.
    pub max_tokens: u32,
    /// How hard to think; the provider's default when it isn't set.
    pub effort: Option<ReasoningEffort>,
    /// The temperature; the provider's default when it isn't set.
    pub temperature: Option<f32>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelMessage {
    /// A message of the user.
    User(String),
    /// An answer of the model.
    Assistant {
        /// The text; can be empty if it only called tools.
        text: String,
        /// The tools it called.
        calls: Vec<ToolCall>,
        /// Signed blocks that the provider requires back unchanged.
        kept: Vec<SignedBlock>,
    },
    /// The results of the called tools: one for each call of the message before.
    Results(Vec<ToolResult>),
}

impl From<ModelResponse> for ModelMessage {
    fn from(answer: ModelResponse) -> Self {
        Self::Assistant {
            text: answer.text,
            calls: answer.calls,
            kept: answer.kept,
        }
    }
}

/// A tool, as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelTool {
    /// Letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// Its description, for the model.
    pub description: String,
    /// A JSON Schema of an object.
    pub input_schema: Value,
}

/// A tool that the model called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The model's id of this call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The arguments.
    pub input: CallArguments,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CallArguments {
    /// A JSON object, as it should be. It has not been checked against the tool's schema.
    Object(Map<String, Value>),
    /// The text that the model wrote instead.
    Malformed(String),
}

impl CallArguments {
    /// Parses the model's arguments. An empty string means no arguments.
    pub(crate) fn read(text: String) -> Self {
        if text.trim().is_empty() {
            return Self::Object(Map::new());
        }
        match serde_json::from_str(&text) {
            Ok(object) => Self::Object(object),
            Err(_) => Self::Malformed(text),
        }
    }

    /// An object in every case, since providers accept nothing else.
    pub(crate) fn as_object(&self) -> Map<String, Value> {
        match self {
            Self::Object(object) => object.clone(),
            Self::Malformed(text) => {
                let text = Value::String(text.clone());
                Map::from_iter([("malformed_arguments".to_owned(), text)])
            }
        }
    }
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The `id` of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// The output of the tool.
    pub output: String,
    /// Whether the output is an error, which includes a refusal.
    pub is_error: bool,
}

/// A block that a provider signed and requires back unchanged: without its signed thinking it rejects the results of the calls that
/// came with it. Other providers never see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignedBlock {
    /// The provider that signed the block.
    pub provider: ProviderKind,
    /// The block, as it came.
    pub block: Value,
}

/// How hard to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReasoningEffort {
    /// Least thinking, quick answers.
    Low,
    /// The middle level.
    Medium,
    /// Most thinking, thorough answers.
    High,
}

impl ReasoningEffort {
    /// The name of the level, which all providers share.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A piece of an answer, reported as it arrives.
#[derive(Debug)]
pub enum ResponseDelta<'a> {
    /// More text of the answer.
    Text(&'a str),
    /// More thinking of the model, which is not part of the answer.
    Thinking(&'a str),
    /// A tool call starts; the arguments follow with the answer.
    Call {
        /// The model's id of the call.
        id: &'a str,
        /// Name of the tool.
        name: &'a str,
    },
    /// No piece has arrived yet, and the request is sent again after a pause.
    Again {
        /// How long the pause is.
        pause: Duration,
        /// The number of the next attempt, from 1.
        attempt: u32,
        /// The maximum number of attempts.
        of: u32,
        /// Why the last attempt failed.
        because: &'a ModelError,
    },
}

/// A complete answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelResponse {
    /// The text of the answer.
    pub text: String,
    /// The tools it called, in its order.
    pub calls: Vec<ToolCall>,
    /// Signed blocks that the provider requires back unchanged.
    pub kept: Vec<SignedBlock>,
    /// Why the answer ended.
    pub stop: StopReason,
    /// Tokens of the request and the answer.
    pub usage: TokenUsage,
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The answer is complete.
    End,
    /// It waits for the results of its calls.
    ToolUse,
    /// It reached `max_tokens` and is not complete.
    MaxTokens,
    /// The model, or a filter of its provider, declined.
    Refusal,
    /// Another reason, in the provider's words; empty if it gave none.
    Other(String),
}

/// Tokens that a request and its answer used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// All input tokens, cached or not.
    pub input: u64,
    /// All output tokens, including thoughts.
    pub output: u64,
    /// The part of the input that was read from the provider's cache.
    pub cached_input: u64,
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached_input = self.cached_input.saturating_add(other.cached_input);
    }
}
