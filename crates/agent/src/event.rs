//! What happens in a session, told as it happens.
//!
//! A session never prints. Whoever opened it listens: a terminal paints what it hears, `--format jsonl` writes each event on a
//! line of its own, a test compares. Sub-agents are heard through the same listener, from threads of their own; the envelope says whose
//! event it is. Names and fields are part of the contract with programs that read the lines: they are added to, not changed.

use serde::Serialize;
use serde_json::Value;

/// Somebody who wants to know. Called from several threads.
pub trait Listener: Send + Sync {
    /// Something happened.
    fn hear(&self, told: &Told);

    /// Sends a request to a model and waits for the answer. A terminal shows meanwhile that it waits.
    fn while_waiting(&self, request: &mut dyn FnMut()) {
        request();
    }
}

/// An event, and whose it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    /// The session.
    pub session: String,
    /// How deep it is nested: 0 is the one that a person talks to.
    pub depth: usize,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A session is open.
    SessionStarted {
        /// The model that answers, as `provider/model`.
        model: String,
        /// Whether it goes on where an earlier one ended.
        resumed: bool,
    },
    /// What the next request tells the model that it may call; said when it changes.
    Tools {
        /// The names.
        tools: Vec<String>,
    },
    /// A skill became active.
    SkillActivated {
        /// The skill.
        skill: String,
        /// Who or what asked for it: `user`, `model`, `plan` or `trigger`.
        by: &'static str,
        /// Why, in words.
        why: String,
        /// It was in the conversation already, word for word.
        already: bool,
    },
    /// A skill is not active any more; its text was taken out of the conversation.
    SkillUnloaded {
        /// The skill.
        skill: String,
    },
    /// A workflow fits what was said; nobody has run it yet.
    WorkflowOffered {
        /// The skill.
        skill: String,
        /// Why, in words.
        why: String,
    },
    /// More words of the model.
    Text {
        /// As they came.
        text: String,
    },
    /// More thoughts of the model, which are not part of its answer.
    Thinking {
        /// As they came.
        text: String,
    },
    /// The model did not answer, and is asked once more.
    Retry {
        /// After a pause of so many seconds.
        seconds: f64,
        /// Which attempt follows it, counted from 1.
        attempt: u32,
        /// How many there are at most.
        of: u32,
        /// Why.
        reason: String,
    },
    /// A tool is called.
    ToolCall {
        /// The model's handle for it.
        id: String,
        /// Which.
        tool: String,
        /// With what.
        input: Value,
    },
    /// A tool answered.
    ToolResult {
        /// The handle of the call.
        id: String,
        /// Which.
        tool: String,
        /// What it said.
        output: String,
        /// Whether that is an error.
        is_error: bool,
        /// How long it took.
        ms: u64,
    },
    /// A tool was not called, because it may not be.
    ToolRefused {
        /// The handle of the call.
        id: String,
        /// Which.
        tool: String,
        /// Why.
        reason: String,
    },
    /// A sub-agent begins.
    SubagentStarted {
        /// How it came to be: `spawn` or `fork`.
        kind: &'static str,
        /// What it is to do.
        task: String,
        /// Its skills.
        skills: Vec<String>,
    },
    /// A sub-agent was not started. Nothing was asked of a model.
    SubagentRejected {
        /// All that is wrong.
        errors: Vec<String>,
    },
    /// The conversation was made shorter.
    Compacted {
        /// About how many tokens it had.
        before: usize,
        /// And has.
        after: usize,
        /// The active skills whose text was attached again.
        skills: Vec<KeptSkill>,
    },
    /// Something that a person should know.
    Note {
        /// In words.
        text: String,
    },
    /// A turn is over.
    TurnEnded {
        /// The answer, after all transforms.
        text: String,
        /// How often the model was asked.
        requests: u64,
        /// What went into it.
        input_tokens: u64,
        /// What came out.
        output_tokens: u64,
        /// What it cost, where prices are known.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<String>,
    },
    /// A turn ended without an answer. The session can go on.
    TurnFailed {
        /// A stable word.
        code: String,
        /// What happened.
        message: String,
        /// What to do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
}

/// A skill whose text survived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct KeptSkill {
    /// The skill.
    pub skill: String,
    /// Whether there was no room for all of it.
    pub cut: bool,
}
