//! The errors of a call.

use metier_host::backend::SkillProcessError;
use metier_store::StoreError;

/// Why a call was not made.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The skill is not active.
    #[error("skill `{0}` is not active")]
    NotActive(String),
    /// A permission was withdrawn since it was started.
    #[error("{}", crate::standing_answers::withdrawn(.0).message)]
    Withdrawn(String),
    /// A permission was withdrawn, and it could not be started again with those that are left.
    #[error(
        "skill `{skill}` was stopped because its permissions were changed, and was not started again: {error}"
    )]
    NotStartedAgain {
        /// Name of the skill.
        skill: String,
        /// Why it was not started.
        #[source]
        error: Box<super::ActivateError>,
    },
    /// It has no such contribution.
    #[error("skill `{skill}` has no {kind} `{name}`")]
    Unknown {
        /// Name of the skill.
        skill: String,
        /// `tool`, `workflow` or `scanner`.
        kind: &'static str,
        /// The requested name.
        name: String,
        /// The names that exist.
        there: Vec<String>,
    },
    /// It has several workflows, and none was named.
    #[error("skill `{skill}` has several workflows: {}", there.join(", "))]
    WhichWorkflow {
        /// Name of the skill.
        skill: String,
        /// The names that exist.
        there: Vec<String>,
    },
    /// The input does not match the tool's schema.
    #[error("invalid input for `{tool}`: {reason}")]
    Input {
        /// The skill that provides the tool.
        skill: String,
        /// Name of the tool.
        tool: String,
        /// Why the input is invalid.
        reason: String,
    },
    /// A hook cancelled the call.
    #[error("`{tool}` was cancelled by skill `{by}`: {reason}")]
    Cancelled {
        /// Name of the tool.
        tool: String,
        /// The skill whose hook cancelled the call.
        by: String,
        /// The reason of the hook.
        reason: String,
    },
    /// A hook changed the input to one that the caller may not use.
    #[error("`{tool}` is not allowed with the input of a hook: {reason}")]
    NotAllowed {
        /// Name of the tool.
        tool: String,
        /// The caller's rule.
        reason: String,
    },
    /// The user does not allow it, or can't be asked.
    #[error("`{tool}` was not called: {reason}")]
    Refused {
        /// Name of the tool.
        tool: String,
        /// The reason, and a hint.
        reason: String,
    },
    /// It is already handling a call, further up the stack.
    #[error("skill `{0}` is already handling a call, which waits for this one")]
    Busy(String),
    /// Its code did not answer.
    #[error("skill `{skill}`{}", told(.error, ": ", " "))]
    Session {
        /// Name of the skill.
        skill: String,
        /// The error of the skill's process.
        error: Box<SkillProcessError>,
    },
    /// Its answer is invalid.
    #[error("skill `{skill}` returned an invalid response: {reason}")]
    Answer {
        /// Name of the skill.
        skill: String,
        /// The problem with the response.
        reason: String,
    },
    /// It can't be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The error of a session after its subject: messages of the skill's code follow a colon, its state follows as a sentence.
pub(super) fn told(error: &SkillProcessError, words: &str, sentence: &str) -> String {
    match error {
        SkillProcessError::Answered(_)
        | SkillProcessError::NotStarted(_)
        | SkillProcessError::Unfit(_) => {
            format!("{words}{error}")
        }
        _ => format!("{sentence}{error}"),
    }
}
