//! # metier-agent — sessions with a model that obey
//!
//! **Problem.** An agent is a loop around a model, and a model can output anything. What it is allowed to do must not depend on its
//! output; what was done must survive a killed process; and every provider has its own format for the same conversation.
//!
//! **Goals.**
//! * a loop that can be read in one sitting, over one trait, [`Model`];
//! * a tool is called only if every rule of the session allows it, and a sub-agent has no more than its skills allow;
//! * what happened is written down before anything follows from it, so that a session can be resumed and no tool runs twice;
//! * nothing waits for ever and nothing grows for ever: budgets, depth, time-outs, a [`Cancel`] for a whole tree of sessions.
//!
//! **Worked example.** A model with a key from the environment, which comes in as a value:
//!
//! ```
//! use metier_agent::{Endpoint, ModelError, ModelName, Provider, Settings};
//!
//! let settings = Settings::default();
//! let name = ModelName::parse("anthropic/claude-opus-4-8", None)?;
//! let lookup = |variable: &str| (variable == "ANTHROPIC_API_KEY").then(|| "sk-ant-x".to_owned());
//! let endpoint = Endpoint::resolve(&name, &settings, &lookup)?;
//! assert_eq!(endpoint.url(), "https://api.anthropic.com/v1/messages");
//! assert!(!format!("{endpoint:?}").contains("sk-ant"));
//! let model = Provider::new(endpoint, metier_agent::Limits::default());
//!
//! let without = Endpoint::resolve(&name, &settings, &|_| None);
//! assert!(matches!(without, Err(ModelError::NoKey { variable, .. }) if variable == "ANTHROPIC_API_KEY"));
//! # drop(model);
//! # Ok::<(), ModelError>(())
//! ```
//!
//! And a conversation, which is what its records come to:
//!
//! ```
//! use metier_agent::{Conversation, Message, Record};
//!
//! let said = |text: &str| Record::User { text: text.into(), skills: vec![] };
//! let conversation = Conversation::replay([said("hello"), said("are you there?")]);
//! assert!(conversation.waits_for_model());
//! assert_eq!(conversation.messages(), [Message::User("hello\n\nare you there?".into())]);
//! ```
//!
//! **In → out.** [`Plan`] + [`AgentContext`] → [`Session`]; a user message → [`Event`]s and a [`Turn`]; `Request → Delta… → Answer`, or a
//! [`ModelError`].
//!
//! **Invariants.** No type of a provider leaves `provider/` · no environment and no wall clock: values come in · a key is in no
//! error, no `Debug` and no other host's request · after a piece was reported, a request is never sent again · a record is written
//! before anything follows from it · rules of a session hold for all sessions that it starts.
//!
//! **Start reading at** `session/mod.rs`, then `session/calls.rs`, `rules.rs`, `conversation.rs`; for the wire, `model.rs` and `provider/mod.rs`.

mod budget;
mod cancel;
mod context;
mod conversation;
mod error;
mod event;
mod model;
mod own;
mod pipeline;
mod price;
mod provider;
mod report;
mod rules;
mod session;
mod stored;
mod system;
mod tally;
mod tool_schema;
mod toolbox;
mod transcript;
mod voice;

pub use budget::{Budget, Limits as BudgetLimits, Spent};
pub use cancel::Cancel;
pub use context::{AgentContext, Chosen};
pub use conversation::{Conversation, OpenCall};
pub use error::{ModelError, Wait};
pub use event::{ActivatedBy, Event, Listener, SubagentKind, Told};
pub use model::{
    Answer, Delta, Effort, Input, Kept, Message, Model, Request, Stop, ToolCall, ToolResult,
    ToolSpec, Usage,
};
pub use own::tool_names;
pub use price::{Price, PriceError};
pub use provider::{Endpoint, Kind, Limits, ModelName, Provider, Settings};
pub use report::Report;
pub use rules::{Forbidden, Rules, Wanted};
pub use session::{
    Plan, Rejected, Role, Session, Shared, SkillSet, Turn, is_coding, judge_set, open,
};
pub use stored::{KeptSkill, Record, SkillText};
pub use transcript::Transcript;
pub use voice::Voice;
