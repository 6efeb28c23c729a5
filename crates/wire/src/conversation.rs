//! Conversations with models: the list of them, and the result of one turn.

use metier_store::ConversationRecord;
use serde::Serialize;

/// `chat --list --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConversationsDocument {
    /// The conversations of this project, the newest first.
    pub conversations: Vec<ConversationRow>,
}

/// A conversation, without its messages.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConversationRow {
    /// The id that `--resume` takes.
    pub id: String,
    /// Title of the conversation.
    pub title: String,
    /// The model that it started with.
    pub model: String,
    /// Path of the project folder.
    pub folder: String,
    /// Time of the first message.
    pub started_at: String,
    /// Time of the last message.
    pub last_at: String,
    /// Number of recorded lines: messages, answers, results of tools, and other steps.
    pub lines: u64,
}

impl From<&ConversationRecord> for ConversationRow {
    fn from(conversation: &ConversationRecord) -> Self {
        Self {
            id: conversation.id.clone(),
            title: conversation.title.clone(),
            model: conversation.model.clone(),
            folder: conversation.folder.clone(),
            started_at: conversation.started_at.clone(),
            last_at: conversation.last_at.clone(),
            lines: conversation.lines,
        }
    }
}

/// `agent --json`, `spawn --json`, and `run --json` of a skill that an agent follows.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerDocument<'a> {
    /// Its id, for `chat --resume`.
    pub session: &'a str,
    /// The answer of the model.
    pub text: &'a str,
    /// Tokens of the whole turn.
    pub usage: UsageRow,
}

/// Tokens of a turn.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageRow {
    /// Tokens of all requests.
    pub input_tokens: u64,
    /// Tokens of all answers.
    pub output_tokens: u64,
}
