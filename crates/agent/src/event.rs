//! Events of a conversation, reported while it runs.
//!
//! A conversation never prints. The program that opened it listens: a terminal shows events, `--format jsonl` writes each on a line, a test
//! compares them. Events of sub-agents reach the same listener, from other threads. `wire` owns their JSON.

use serde_json::Value;

use crate::stored::KeptSkill;

/// Receives the events of a conversation. Called from several threads.
pub trait EventListener: Send + Sync {
    /// Receives one event.
    fn hear(&self, told: &ReportedEvent);

    /// Sends a request to a model and waits for the answer. A terminal shows meanwhile that it waits.
    fn while_waiting(&self, request: &mut dyn FnMut()) {
        request();
    }
}

/// An event, and the conversation that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedEvent {
    /// Id of the conversation.
    pub session: String,
    /// Nesting depth: 0 is the conversation that the user talks to.
    pub depth: usize,
    /// The event.
    pub event: AgentEvent,
}

/// An event of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// The conversation is open.
    SessionStarted {
        /// The model, as `provider/model`.
        model: String,
        /// Whether it continues an earlier conversation.
        resumed: bool,
    },
    /// The tools of the next request, reported when they change.
    Tools {
        /// Names of the tools.
        tools: Vec<String>,
    },
    /// A skill was activated.
    SkillActivated {
        /// Name of the skill.
        skill: String,
        /// Who activated the skill.
        by: ActivatedBy,
        /// The reason, for display.
        why: String,
        /// Whether the conversation already contained the same text.
        already: bool,
    },
    /// A skill was unloaded and its text removed from the conversation.
    SkillUnloaded {
        /// Name of the skill.
        skill: String,
    },
    /// A workflow matches the message; the user can run it.
    WorkflowOffered {
        /// Name of the skill.
        skill: String,
        /// The reason, for display.
        why: String,
    },
    /// A piece of the model's answer.
    Text {
        /// The piece, unchanged.
        text: String,
    },
    /// A piece of the model's thinking, which is not part of its answer.
    Thinking {
        /// The piece, unchanged.
        text: String,
    },
    /// The model did not answer; the request is sent again.
    Retry {
        /// Length of the pause before it.
        seconds: f64,
        /// Number of the next attempt, counted from 1.
        attempt: u32,
        /// Maximum number of attempts.
        of: u32,
        /// Why the last attempt failed.
        reason: String,
    },
    /// A tool is called.
    ToolCall {
        /// The model's id of the call.
        id: String,
        /// Name of the tool.
        tool: String,
        /// The arguments.
        input: Value,
    },
    /// A tool returned a result.
    ToolResult {
        /// The model's id of the call.
        id: String,
        /// Name of the tool.
        tool: String,
        /// The output of the tool.
        output: String,
        /// Whether the output is an error.
        is_error: bool,
        /// Duration of the call.
        ms: u64,
    },
    /// A call was refused by the rules of the conversation.
    ToolRefused {
        /// The model's id of the call.
        id: String,
        /// Name of the tool.
        tool: String,
        /// The rule that refused it, for display.
        reason: String,
    },
    /// A sub-agent starts.
    SubagentStarted {
        /// The reason for its start.
        kind: SubagentKind,
        /// Its task.
        task: String,
        /// Names of its skills.
        skills: Vec<String>,
    },
    /// A sub-agent was not started, and no model was asked.
    SubagentRejected {
        /// All errors of the set.
        errors: Vec<String>,
    },
    /// The conversation was shortened.
    Compacted {
        /// Estimated tokens before.
        before: usize,
        /// Estimated tokens after.
        after: usize,
        /// Active skills whose text was attached again.
        skills: Vec<KeptSkill>,
    },
    /// A note for the user.
    Note {
        /// The note.
        text: String,
    },
    /// A turn ended with an answer.
    TurnEnded {
        /// The answer, after all transforms.
        text: String,
        /// Number of requests to the model.
        requests: u64,
        /// Tokens of all requests.
        input_tokens: u64,
        /// Tokens of all answers.
        output_tokens: u64,
        /// The cost, if prices are known.
        cost: Option<String>,
    },
    /// A turn ended without an answer. The conversation can continue.
    TurnFailed {
        /// A stable code.
        code: String,
        /// The error.
        message: String,
        /// How to fix it.
        hint: Option<String>,
    },
}

/// Who activated a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivatedBy {
    /// The user, by its name.
    User,
    /// The model, with a tool call.
    Model,
    /// The plan that the conversation was opened with.
    Plan,
    /// A trigger that matched.
    Trigger,
}

/// The reason for starting a sub-agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubagentKind {
    /// A task with a set of skills.
    Spawn,
    /// A skill that runs in its own context.
    Fork,
}
