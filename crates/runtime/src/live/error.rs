//! What can go wrong with a call.

use metier_host::backend::SessionError;
use metier_store::StoreError;

/// Why there was no call.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The skill is not active.
    #[error("skill `{0}` is not active")]
    NotActive(String),
    /// It contributes no such thing.
    #[error("skill `{skill}` has no {kind} `{name}`")]
    Unknown {
        /// The skill.
        skill: String,
        /// `tool`, `workflow` or `scanner`.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        there: Vec<String>,
    },
    /// It has several workflows, and none was named.
    #[error("skill `{skill}` has several workflows: {}", there.join(", "))]
    WhichWorkflow {
        /// The skill.
        skill: String,
        /// What there is.
        there: Vec<String>,
    },
    /// The input is not what the tool takes.
    #[error("the input of `{tool}` does not fit: {reason}")]
    Input {
        /// Whose tool.
        skill: String,
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
    /// A hook did not let it happen.
    #[error("`{tool}` was cancelled by skill `{by}`: {reason}")]
    Cancelled {
        /// The tool.
        tool: String,
        /// Whose hook.
        by: String,
        /// What it said.
        reason: String,
    },
    /// A hook changed the input into something that the caller may not do.
    #[error("`{tool}` is not allowed as a hook left it: {reason}")]
    NotAllowed {
        /// The tool.
        tool: String,
        /// What the caller's rules say.
        reason: String,
    },
    /// It is at work already, further up.
    #[error("skill `{0}` is at work already, and waits for this call")]
    Busy(String),
    /// Its code did not answer.
    #[error("skill `{skill}`{}", told(.error, ": ", " "))]
    Session {
        /// The skill.
        skill: String,
        /// What happened.
        error: Box<SessionError>,
    },
    /// Its answer is none.
    #[error("skill `{skill}` answered with something else: {reason}")]
    Answer {
        /// The skill.
        skill: String,
        /// What is wrong.
        reason: String,
    },
    /// It can't be written down.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a session says, behind what it is about: its code's own words behind a colon, and what became of it as a sentence.
pub(super) fn told(error: &SessionError, words: &str, sentence: &str) -> String {
    match error {
        SessionError::Answered(_) | SessionError::NotStarted(_) | SessionError::Unfit(_) => {
            format!("{words}{error}")
        }
        _ => format!("{sentence}{error}"),
    }
}
