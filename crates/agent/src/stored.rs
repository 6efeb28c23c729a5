//! The stored format of a conversation: one JSON object per line in the database.
//!
//! Conversations outlive the program that wrote them, so names and fields here, and those of [`ToolCall`], [`SignedBlock`] and
//! [`TokenUsage`], are added to but never changed. Clients do not see this format: `wire` owns what they see.

use serde::{Deserialize, Serialize};

use crate::{SignedBlock, TokenUsage, ToolCall};

/// One thing that happened in a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HistoryRecord {
    /// The conversation belongs to a sub-agent with exactly these skills. It is never resumed, because their limits would not apply.
    Confined {
        /// Skill names, in the order of the set.
        skills: Vec<String>,
    },
    /// A message of the user, with the skills that it loaded.
    User {
        /// The message.
        text: String,
        /// Texts of the loaded skills; the model gets them before the message.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skills: Vec<SkillText>,
    },
    /// An answer of the model.
    Assistant {
        /// The text of the answer.
        text: String,
        /// The tool calls in the answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        /// Signed blocks that the provider requires back unchanged.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<SignedBlock>,
        /// Tokens of the request and the answer.
        #[serde(default)]
        usage: TokenUsage,
    },
    /// A tool is about to be called. Without a `Result` for the same call it is unknown whether the tool did anything.
    Began {
        /// The id of the call.
        id: String,
    },
    /// A tool returned a result, or the call was refused.
    Result {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The output of the tool.
        output: String,
        /// Whether the output is an error.
        is_error: bool,
        /// The skill whose text the output is, if the call loaded one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skill: Option<String>,
    },
    /// A skill was activated, with or without a text.
    Activated {
        /// Name of the skill.
        skill: String,
    },
    /// A trigger loaded a skill with the previous message.
    Triggered {
        /// Name of the skill.
        skill: String,
        /// A description of what matched.
        why: String,
    },
    /// A skill was unloaded: its text is no longer sent.
    Unloaded {
        /// Name of the skill.
        skill: String,
    },
    /// The oldest part of the conversation was replaced by a summary.
    Compacted {
        /// The summary.
        summary: String,
        /// How many of the oldest items it replaces.
        items: usize,
        /// Texts of active skills, attached again.
        skills: Vec<SkillText>,
        /// The attached texts, and whether each was cut.
        kept: Vec<KeptSkill>,
    },
}

/// The text of a skill, as a model gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillText {
    /// Name of the skill.
    pub skill: String,
    /// The text inside its frame.
    pub text: String,
}

/// A skill whose text was attached again after compaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSkill {
    /// Name of the skill.
    pub skill: String,
    /// Whether the text was cut to fit.
    pub cut: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{CallArguments, ProviderKind};

    use super::*;

    fn text() -> SkillText {
        SkillText {
            skill: "s".into(),
            text: "t".into(),
        }
    }

    fn answer() -> HistoryRecord {
        let call = |input| ToolCall {
            id: "1".into(),
            name: "read".into(),
            input,
        };
        let object = json!({"path": "a"}).as_object().cloned().expect("object");
        HistoryRecord::Assistant {
            text: "hi".into(),
            calls: vec![
                call(CallArguments::Object(object)),
                call(CallArguments::Malformed("{".into())),
            ],
            kept: vec![SignedBlock {
                provider: ProviderKind::Anthropic,
                block: json!({"signature": "x"}),
            }],
            usage: TokenUsage {
                input: 3,
                output: 2,
                cached_input: 1,
            },
        }
    }

    /// Records of earlier versions are read, and the format has not changed since.
    #[test]
    fn the_stored_format_does_not_change() {
        let skill = || "s".to_owned();
        let lines = [
            (
                HistoryRecord::Confined {
                    skills: vec![skill()],
                },
                r#"{"kind":"confined","skills":["s"]}"#,
            ),
            (
                HistoryRecord::User {
                    text: "hi".into(),
                    skills: vec![text()],
                },
                r#"{"kind":"user","text":"hi","skills":[{"skill":"s","text":"t"}]}"#,
            ),
            (
                HistoryRecord::User {
                    text: "hi".into(),
                    skills: vec![],
                },
                r#"{"kind":"user","text":"hi"}"#,
            ),
            (
                answer(),
                r#"{"kind":"assistant","text":"hi","calls":[{"id":"1","name":"read","input":{"path":"a"}},{"id":"1","name":"read","input":"{"}],"kept":[{"provider":"anthropic","block":{"signature":"x"}}],"usage":{"input":3,"output":2,"cached_input":1}}"#,
            ),
            (
                HistoryRecord::Began { id: "1".into() },
                r#"{"kind":"began","id":"1"}"#,
            ),
            (
                HistoryRecord::Result {
                    id: "1".into(),
                    name: "read".into(),
                    output: "o".into(),
                    is_error: true,
                    skill: Some(skill()),
                },
                r#"{"kind":"result","id":"1","name":"read","output":"o","is_error":true,"skill":"s"}"#,
            ),
            (
                HistoryRecord::Activated { skill: skill() },
                r#"{"kind":"activated","skill":"s"}"#,
            ),
            (
                HistoryRecord::Triggered {
                    skill: skill(),
                    why: "w".into(),
                },
                r#"{"kind":"triggered","skill":"s","why":"w"}"#,
            ),
            (
                HistoryRecord::Unloaded { skill: skill() },
                r#"{"kind":"unloaded","skill":"s"}"#,
            ),
            (
                HistoryRecord::Compacted {
                    summary: "m".into(),
                    items: 4,
                    skills: vec![text()],
                    kept: vec![KeptSkill {
                        skill: skill(),
                        cut: true,
                    }],
                },
                r#"{"kind":"compacted","summary":"m","items":4,"skills":[{"skill":"s","text":"t"}],"kept":[{"skill":"s","cut":true}]}"#,
            ),
        ];
        for (record, line) in lines {
            assert_eq!(serde_json::to_string(&record).unwrap(), line);
            assert_eq!(serde_json::from_str::<HistoryRecord>(line).unwrap(), record);
        }
    }
}
