//! The nine moments at which a skill may step in.

use std::{fmt, str::FromStr};

#[cfg(feature = "guest")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A moment in the life of a skill or of a conversation at which hooks are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookPhase {
    /// The skill was just activated.
    #[serde(alias = "OnActivate")]
    Activate,
    /// The skill is about to be deactivated.
    #[serde(alias = "OnDeactivate")]
    Deactivate,
    /// A conversation begins.
    #[serde(alias = "OnConversationStart")]
    ConversationStart,
    /// The system prompt is about to be put together; fragments may be added.
    #[serde(alias = "OnBeforePromptBuild")]
    BeforePromptBuild,
    /// A tool is about to be called; its input may be changed, the call cancelled.
    #[serde(alias = "OnBeforeToolCall")]
    BeforeToolCall,
    /// A tool has answered; its result may be changed.
    #[serde(alias = "OnAfterToolResult")]
    AfterToolResult,
    /// The model's answer is complete; it may be transformed.
    #[serde(alias = "OnAfterResponse")]
    AfterResponse,
    /// A section of the wiki is about to be written; context may be added.
    #[serde(alias = "OnBeforeWikiSection")]
    BeforeWikiSection,
    /// A scan has ended; findings may be added, never removed.
    #[serde(alias = "OnSecurityScanComplete")]
    SecurityScanComplete,
}

impl HookPhase {
    /// All nine, in the order in which they are documented.
    pub const ALL: [Self; 9] = [
        Self::Activate,
        Self::Deactivate,
        Self::ConversationStart,
        Self::BeforePromptBuild,
        Self::BeforeToolCall,
        Self::AfterToolResult,
        Self::AfterResponse,
        Self::BeforeWikiSection,
        Self::SecurityScanComplete,
    ];

    /// The spelling of other hosts, which is also accepted with `On` before it: `OnBeforeToolCall`.
    const fn camel_case(self) -> &'static str {
        match self {
            Self::Activate => "Activate",
            Self::Deactivate => "Deactivate",
            Self::ConversationStart => "ConversationStart",
            Self::BeforePromptBuild => "BeforePromptBuild",
            Self::BeforeToolCall => "BeforeToolCall",
            Self::AfterToolResult => "AfterToolResult",
            Self::AfterResponse => "AfterResponse",
            Self::BeforeWikiSection => "BeforeWikiSection",
            Self::SecurityScanComplete => "SecurityScanComplete",
        }
    }

    /// The spelling used in manifests, in code and on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Activate => "activate",
            Self::Deactivate => "deactivate",
            Self::ConversationStart => "conversation_start",
            Self::BeforePromptBuild => "before_prompt_build",
            Self::BeforeToolCall => "before_tool_call",
            Self::AfterToolResult => "after_tool_result",
            Self::AfterResponse => "after_response",
            Self::BeforeWikiSection => "before_wiki_section",
            Self::SecurityScanComplete => "security_scan_complete",
        }
    }
}

impl fmt::Display for HookPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is not one of the nine phases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPhase(pub String);

impl fmt::Display for UnknownPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = HookPhase::ALL.iter().map(|phase| phase.as_str()).collect();
        write!(
            f,
            "`{}` is not a phase; the phases are {}",
            self.0,
            known.join(", ")
        )
    }
}

impl std::error::Error for UnknownPhase {}

impl FromStr for HookPhase {
    type Err = UnknownPhase;

    fn from_str(text: &str) -> Result<Self, UnknownPhase> {
        let mut all = Self::ALL.into_iter();
        let bare = text.strip_prefix("On");
        all.find(|phase| phase.as_str() == text || bare == Some(phase.camel_case()))
            .ok_or_else(|| UnknownPhase(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_what_it_is_called_everywhere() {
        for phase in HookPhase::ALL {
            assert_eq!(phase.as_str().parse(), Ok(phase));
            assert_eq!(serde_json::to_value(phase).unwrap(), phase.as_str());
        }
        assert!("BeforeToolCall".parse::<HookPhase>().is_err());
    }
}
