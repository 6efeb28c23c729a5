//! Conversations between a model and a person or a program, with the skills of a workspace.
//!
//! The loop is metier's own: it asks the model, checks each tool call against the rules of the active skills, asks for permission, and writes
//! everything down before it continues. A [`Conversation`] is owned and can be moved to another thread; what happens in it is reported to a
//! [`EventListener`] as typed [`AgentEvent`]s.
//!
//! ```no_run
//! use metier::{Settings, Workspace, agent::ConversationOptions};
//!
//! # fn main() -> Result<(), metier::Error> {
//! let workspace = Workspace::open(Settings::from_env()?)?;
//! let options = ConversationOptions {
//!     model: Some("ollama/qwen3".into()),
//!     ..ConversationOptions::about("review the last commit")
//! };
//! let mut conversation = workspace.conversation(&workspace.agent_skills()?, options)?;
//! println!("{}", conversation.send("review the last commit")?.text);
//! conversation.end()?;
//! # Ok(())
//! # }
//! ```

mod invocation;
mod models;
mod reranking;
mod stored_conversations;
mod sub_agent;

use std::sync::Arc;

use metier_agent::{
    Budget, ConversationPlan, ConversationRole, ErrorReport, SharedResources, judge_set,
};
use metier_model::text::shell_word;
use metier_policy::{Approver, FaultCode};

pub use metier_agent::{
    ActivatedBy, AgentEvent, BudgetLimits, Cancel, EventListener, ReportedEvent, SubagentKind,
    TokenUsage, TurnResult, is_coding,
};
pub use metier_policy::CODING_PIPELINE;
pub use metier_select::{UsageMode, mentions};
pub use reranking::RerankedSkills;
pub use stored_conversations::{LastExchange, StoredConversation, StoredConversations};
pub use sub_agent::{SubAgent, SubAgentRequest, SubAgentSkills};

use crate::{Error, ErrorKind, Skills, Workspace, session_setup};

/// How a conversation is opened. By default a primary agent with the configured model, reporting to no listener.
///
/// The [module](self) has an example, and so has [`ConversationOptions::about`].
#[derive(Clone)]
pub struct ConversationOptions {
    /// The role of the agent.
    pub role: AgentRole,
    /// `provider/name` of a model, in place of the configured one.
    pub model: Option<String>,
    /// Skills that are active from the start.
    pub skills: Vec<String>,
    /// How the agent is used: some triggers match that.
    pub mode: UsageMode,
    /// Its title in lists of conversations.
    pub title: String,
    /// The id of a conversation that is continued.
    pub resume: Option<String>,
    /// Limits of each turn, in place of the configured ones.
    pub limits: Option<BudgetLimits>,
    /// Receives the events of the conversation and of its sub-agents, from several threads.
    pub listener: Arc<dyn EventListener>,
    /// Answers requests for permission, in place of the workspace's approver.
    pub approver: Option<Arc<dyn Approver>>,
    /// Stops a turn from another thread or a signal handler.
    pub cancel: Cancel,
}

/// The role of an agent: its own tools, and its skills.
///
/// ```
/// use metier::agent::{AgentRole, ConversationOptions};
///
/// let options = ConversationOptions {
///     role: AgentRole::Orchestrator,
///     ..ConversationOptions::about("summarise the open issues")
/// };
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AgentRole {
    /// Core tools, every skill that is ready, and sub-agents; an orchestrator if `agent.orchestrator` is set.
    #[default]
    Primary,
    /// Only sub-agents: it reads, writes and runs nothing itself.
    Orchestrator,
    /// Like a primary agent, for a task of another agent: names of skills in the task load nothing.
    SubAgent,
    /// Exactly what a set of skills allows. The set is checked as a whole before a model is asked.
    SkillSet {
        /// The skills.
        skills: Vec<String>,
        /// Whether code is to be written: then the set has to contain the coding pipeline ([`CODING_PIPELINE`]).
        is_coding: bool,
    },
}

/// A listener that ignores events.
struct Ignored;

impl EventListener for Ignored {
    fn hear(&self, _told: &ReportedEvent) {}
}

impl Default for ConversationOptions {
    fn default() -> Self {
        Self {
            role: AgentRole::default(),
            model: None,
            skills: Vec::new(),
            mode: UsageMode::default(),
            title: String::new(),
            resume: None,
            limits: None,
            listener: Arc::new(Ignored),
            approver: None,
            cancel: Cancel::new(),
        }
    }
}

impl ConversationOptions {
    /// The defaults, with the first words of a task as the title.
    ///
    /// ```
    /// use metier::agent::ConversationOptions;
    ///
    /// assert_eq!(ConversationOptions::about(" review\n it ").title, "review it");
    /// ```
    #[must_use]
    pub fn about(task: &str) -> Self {
        Self {
            title: ConversationPlan::about(task).title,
            ..Self::default()
        }
    }
}

/// A conversation with a model. It can be sent to another thread, and is used by one at a time.
///
/// Every message is written to the database before anything follows from it: a conversation survives a crash, and
/// [`ConversationOptions::resume`] continues it. One that is dropped ends its skills.
///
/// ```no_run
/// use metier::agent::{AgentEvent, ConversationOptions, EventListener, ReportedEvent};
///
/// struct Printer;
/// impl EventListener for Printer {
///     fn hear(&self, told: &ReportedEvent) {
///         if let AgentEvent::Text { text } = &told.event { print!("{text}"); }
///     }
/// }
/// # fn main() -> Result<(), metier::Error> {
/// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
/// let options = ConversationOptions { listener: std::sync::Arc::new(Printer), ..ConversationOptions::about("fix the build") };
/// let mut conversation = workspace.conversation(&workspace.agent_skills()?, options)?;
/// conversation.send("fix the build")?;
/// conversation.end()?;
/// # Ok(())
/// # }
/// ```
pub struct Conversation {
    session: metier_agent::AgentConversation,
    cancel: Cancel,
    is_subagent: bool,
}

impl Workspace {
    /// The skills of this workspace for [`Workspace::conversation`]: one that requires a tool which metier's agent doesn't have is not ready.
    ///
    /// An example is at [`Conversation`]; the [module](crate::agent) has another.
    ///
    /// # Errors
    /// When the trusted folders can't be read from the database.
    pub fn agent_skills(&self) -> Result<Skills, Error> {
        let inventory = Arc::new(self.agent_inventory()?);
        Ok(Skills { inventory })
    }

    /// Opens a conversation on these skills, or continues an earlier one.
    ///
    /// An example is at [`Conversation`]; that of [`Conversation::resume`] continues an earlier one.
    ///
    /// # Errors
    /// When no model is configured, when a set of skills is rejected, when a skill of the options can't be used, or when nothing can be written to
    /// the database.
    pub fn conversation(
        &self,
        skills: &Skills,
        options: ConversationOptions,
    ) -> Result<Conversation, Error> {
        let context = Arc::new(models::context(self, skills, &options.listener));
        let role = match options.role {
            AgentRole::Primary if self.config.agent.orchestrator => ConversationRole::Orchestrator,
            AgentRole::Primary => ConversationRole::Primary,
            AgentRole::Orchestrator => ConversationRole::Orchestrator,
            AgentRole::SubAgent => ConversationRole::Helper,
            AgentRole::SkillSet { skills, is_coding } => {
                let judged = judge_set(&context, &skills, is_coding);
                ConversationRole::Set(Box::new(
                    judged.map_err(|rejected| not_started(&skills, &rejected))?,
                ))
            }
        };
        // A missing model or key is reported before anything is opened.
        context.model(options.model.as_deref()).map_err(failure)?;
        let stage = session_setup::SessionSetup {
            approver: options.approver,
            id: options.resume.as_deref(),
            stop: Some(options.cancel.flag()),
            ..session_setup::SessionSetup::default()
        };
        let runtime = session_setup::open(self, &skills.inventory, stage)?;
        let limits = options.limits.unwrap_or_else(|| models::limits(self));
        let shared = SharedResources {
            budget: Arc::new(Budget::new(limits)),
            cancel: options.cancel.clone(),
            listener: options.listener,
        };
        let is_subagent = matches!(role, ConversationRole::Helper | ConversationRole::Set(_));
        let plan = ConversationPlan {
            role,
            model: options.model,
            skills: options.skills,
            title: options.title,
            mode: options.mode,
            resumes: options.resume.is_some(),
            ..ConversationPlan::default()
        };
        let session = metier_agent::open(&context, runtime, shared, plan).map_err(failure)?;
        Ok(Conversation {
            session,
            cancel: options.cancel,
            is_subagent,
        })
    }

    /// The name of the model that would answer, as `provider/name`: `name`, or the configured one.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// println!("{}", workspace.model_name(None)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When no model is configured, when its provider is not known, or when there is no key for it.
    pub fn model_name(&self, name: Option<&str>) -> Result<String, Error> {
        let chosen = models::choose(&self.config, name).map_err(failure)?;
        Ok(chosen.name.to_string())
    }

    /// The model that skills of a session can ask, for [`SessionOptions::model`](crate::SessionOptions::model): `name`, or the configured one.
    /// Without a name, a missing model is reported when a skill asks.
    ///
    /// ```no_run
    /// use metier::{SessionOptions, agent::ConversationOptions};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// let ConversationOptions { listener, cancel, .. } = ConversationOptions::default();
    /// let model = workspace.skill_model(&skills, Some("ollama/qwen3"), &listener, &cancel)?;
    /// let session = workspace.session(&skills, SessionOptions { model: Some(model), ..SessionOptions::default() })?;
    /// # let _ = session;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When `name` has no known provider, or when there is no key for it.
    pub fn skill_model(
        &self,
        skills: &Skills,
        name: Option<&str>,
        listener: &Arc<dyn EventListener>,
        cancel: &Cancel,
    ) -> Result<Arc<dyn crate::Model>, Error> {
        let context = Arc::new(models::context(self, skills, listener));
        let chosen = name.map(|name| context.model(Some(name))).transpose();
        let budget = Arc::new(Budget::new(models::limits(self)));
        let chosen = chosen.map_err(failure)?;
        let voice = metier_agent::MeteredModel::new(&context, chosen, budget, cancel.clone());
        Ok(Arc::new(voice))
    }
}

impl Conversation {
    /// Its id, under which it is in the database: [`ConversationOptions::resume`] takes it.
    ///
    /// The example of [`Conversation::resume`] continues a conversation by its id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.session.id()
    }

    /// The names of the skills that are active in it.
    ///
    /// The example of [`Conversation::compact`] prints them.
    #[must_use]
    pub fn active(&self) -> &[String] {
        self.session.conversation().active()
    }

    /// The names of the tools that the model can call now: its own, those of active skills, and those of MCP servers.
    ///
    /// The example of [`Conversation::compact`] prints them.
    #[must_use]
    pub fn tools(&self) -> Vec<String> {
        self.session.tools()
    }

    /// Whether the last message was never answered, because the program ended before: [`Conversation::resume`] asks the model again.
    ///
    /// The example of [`Conversation::resume`] asks for it.
    #[must_use]
    pub fn is_unanswered(&self) -> bool {
        self.session.is_unanswered()
    }

    /// Sends a message, and returns the answer after all tool calls that led to it.
    ///
    /// `/NAME` in a message loads that skill, except in the task of a sub-agent; [`Skill::invocation`](crate::Skill::invocation) makes such
    /// a message.
    ///
    /// An example is at [`Conversation`].
    ///
    /// # Errors
    /// When there is no answer. If the turn was cancelled, the kind is [`ErrorKind::Interrupted`]. What was done until then is kept, and the
    /// conversation can be continued.
    pub fn send(&mut self, text: &str) -> Result<TurnResult, Error> {
        let turn = match self.is_subagent {
            true => self.session.assign(text),
            false => self.session.turn(text),
        };
        self.finished(turn)
    }

    /// Asks the model for the answer to the last message, if that [was never answered](Conversation::is_unanswered).
    ///
    /// ```no_run
    /// use metier::agent::ConversationOptions;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let newest = workspace.conversations()?.newest()?;
    /// let options = ConversationOptions { resume: Some(newest.id), ..ConversationOptions::default() };
    /// let mut conversation = workspace.conversation(&workspace.agent_skills()?, options)?;
    /// if conversation.is_unanswered() {
    ///     println!("{}", conversation.resume()?.text);
    /// }
    /// println!("conversation {}", conversation.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Conversation::send`].
    pub fn resume(&mut self) -> Result<TurnResult, Error> {
        let turn = self.session.go_on();
        self.finished(turn)
    }

    /// Deactivates a skill, and removes its text, tools and rules from the conversation.
    ///
    /// The example of [`Conversation::compact`] calls it.
    ///
    /// # Errors
    /// When the skill is not active, or when its end can't be written to the database.
    pub fn unload(&mut self, skill: &str) -> Result<(), Error> {
        let done = self.session.unload(skill);
        self.finished(done)
    }

    /// Shortens the conversation now: the model summarizes the oldest messages. Returns whether there was anything to shorten.
    ///
    /// ```no_run
    /// # fn f(conversation: &mut metier::agent::Conversation) -> Result<(), metier::Error> {
    /// println!("{} with {}", conversation.active().join(", "), conversation.tools().join(", "));
    /// conversation.unload("review-pr")?;
    /// if conversation.compact()? {
    ///     println!("the oldest messages are a summary now");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Conversation::send`].
    pub fn compact(&mut self) -> Result<bool, Error> {
        let done = self.session.compact_now();
        self.finished(done)
    }

    /// Ends the code of all skills, the newest first. The conversation stays in the database.
    ///
    /// An example is at [`Conversation`].
    ///
    /// # Errors
    /// When the end of a skill can't be written to the database; all code has ended anyway.
    pub fn end(self) -> Result<(), Error> {
        self.session.end().map_err(failure)
    }

    /// Lowers the flag, so that skills can end and the next turn is not cancelled.
    fn finished<T>(&self, done: Result<T, ErrorReport>) -> Result<T, Error> {
        let cancelled = self.cancel.is_cancelled();
        self.cancel.clear();
        done.map_err(|report| match cancelled {
            true => Error::interrupted("the turn was cancelled"),
            false => failure(report),
        })
    }
}

/// The report of an agent as an error.
pub(crate) fn failure(report: ErrorReport) -> Error {
    let error = match report.is_broken {
        true => Error::broken(report.code, report.message),
        false => Error::unmet(report.code, report.message),
    };
    let error = match report.hint {
        Some(hint) => error.hint(hint),
        None => error,
    };
    match report.skill {
        Some(skill) => error.skill(skill),
        None => error,
    }
}

/// An error as the report of an agent.
fn report(error: &Error) -> ErrorReport {
    let details = error.details().iter().map(|detail| format!("; {detail}"));
    ErrorReport {
        code: error.code(),
        message: format!("{}{}", error.message(), details.collect::<String>()),
        skill: error.about_skill().map(str::to_owned),
        hint: error.advice().map(str::to_owned),
        is_broken: error.kind() == ErrorKind::Broken,
    }
}

/// A rejected set of skills; the hint checks the same set without starting anything.
fn not_started(skills: &[String], rejected: &metier_agent::RejectedSet) -> Error {
    let names: Vec<_> = skills.iter().map(|name| shell_word(name)).collect();
    let mut errors = rejected.errors.iter();
    let coding = match errors.any(|fault| fault.code == FaultCode::IncompleteCodingPipeline) {
        true => " --coding",
        false => "",
    };
    let error = Error::unmet("rejected", "the sub-agent was not started");
    let error = rejected.lines().into_iter().fold(error, Error::detail);
    error.hint(format!("metier compose {}{coding}", names.join(" ")))
}

const _: () = {
    const fn is_sendable<T: Send>() {}
    is_sendable::<Conversation>();
};
