//! # metier-agent — conversations with a model, under rules that the program enforces
//!
//! **Problem.** An agent is a loop around a model, and a model can output anything. What it is allowed to do must not depend on its
//! output; what was done must survive a killed process; and every provider has its own format for the same conversation.
//!
//! **Goals.**
//! * a loop that can be read in one sitting, over one trait, [`LanguageModel`];
//! * a tool is called only if every rule of the conversation allows it, and a sub-agent has no more than its skills allow;
//! * each event is recorded before the next step, so that a conversation can be resumed and no tool runs twice;
//! * no wait and no growth without limit: budgets, depth, timeouts, a [`Cancel`] for a whole tree of conversations.
//!
//! **Worked example.** A model with a key from the environment, which is an argument:
//!
//! ```
//! use metier_agent::{Endpoint, ModelError, ModelName, Provider, ProviderLimits, ProviderSettings};
//!
//! let settings = ProviderSettings::default();
//! let name = ModelName::parse("anthropic/claude-opus-4-8", None)?;
//! let lookup = |variable: &str| (variable == "ANTHROPIC_API_KEY").then(|| "sk-ant-x".to_owned());
//! let endpoint = Endpoint::resolve(&name, &settings, &lookup)?;
//! assert_eq!(endpoint.url(), "https://api.anthropic.com/v1/messages");
//! assert!(!format!("{endpoint:?}").contains("sk-ant"));
//! let model = Provider::new(endpoint, ProviderLimits::default());
//!
//! let without = Endpoint::resolve(&name, &settings, &|_| None);
//! assert!(matches!(without, Err(ModelError::NoKey { variable, .. }) if variable == "ANTHROPIC_API_KEY"));
//! # drop(model);
//! # Ok::<(), ModelError>(())
//! ```
//!
//! And a conversation, which is rebuilt from its records:
//! ```
//! use metier_agent::{HistoryRecord, MessageHistory, ModelMessage};
//!
//! let said = |text: &str| HistoryRecord::User { text: text.into(), skills: vec![] };
//! let history = MessageHistory::replay([said("hello"), said("are you there?")]);
//! assert!(history.waits_for_model());
//! assert_eq!(history.messages(), [ModelMessage::User("hello\n\nare you there?".into())]);
//! ```
//!
//! **In → out.** [`ConversationPlan`] + [`AgentContext`] → [`AgentConversation`]; a user message → [`AgentEvent`]s and a [`TurnResult`];
//! `ModelRequest → ResponseDelta… → ModelResponse`, or a [`ModelError`].
//!
//! **Invariants.** No type of a provider leaves `provider/` · no environment and no wall clock: values come in · a key is in no
//! error, no `Debug` and no other host's request · after a piece was reported, a request is never sent again · a record is written
//! before the next step · rules of a conversation apply to all conversations that it starts.
//!
//! **Start reading at** `conversation/mod.rs`, then `conversation/calls.rs`, `rules.rs`, `history.rs`; for the wire, `model.rs` and
//! `provider/mod.rs`.

mod budget;
mod builtin_tools;
mod cancel;
mod context;
mod conversation;
mod error;
mod event;
mod history;
mod metered_model;
mod model;
mod pipeline;
mod price;
mod provider;
mod report;
mod rules;
mod stored;
mod system;
mod tool_schema;
mod toolbox;
mod transcript;
mod turn_usage;

pub use budget::{Budget, BudgetLimits, ExhaustedBudget};
pub use builtin_tools::tool_names;
pub use cancel::Cancel;
pub use context::{AgentContext, ChosenModel, SearchedSkill, ToolServers};
pub use conversation::{
    AgentConversation, ConversationPlan, ConversationRole, RejectedSet, SharedResources, SkillSet,
    TurnResult, is_coding, judge_set, open,
};
pub use error::{ModelError, TimeoutKind};
pub use event::{ActivatedBy, AgentEvent, EventListener, ReportedEvent, SubagentKind};
pub use history::{MessageHistory, OpenCall};
pub use metered_model::MeteredModel;
pub use model::{
    CallArguments, LanguageModel, ModelMessage, ModelRequest, ModelResponse, ModelTool,
    ReasoningEffort, ResponseDelta, SignedBlock, StopReason, TokenUsage, ToolCall, ToolResult,
};
pub use price::{Price, PriceError, shown as shown_cost};
pub use provider::{Endpoint, ModelName, Provider, ProviderKind, ProviderLimits, ProviderSettings};
pub use report::ErrorReport;
pub use rules::{ForbiddenTool, RequestedTool, ToolUseRules};
pub use stored::{HistoryRecord, KeptSkill, SkillText};
pub use transcript::Transcript;
