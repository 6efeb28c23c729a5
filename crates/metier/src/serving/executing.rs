//! Executing a skill by name, for a model behind a protocol: its text, the output of its workflow, or the answer of an agent that followed it.

#[cfg(feature = "agent")]
use std::sync::{Arc, atomic::AtomicBool};

use metier_model::{SkillContext, Strictness};
use metier_runtime::live::{Called, workflow_input};
use serde_json::Value;

use crate::{Error, RenderedSkill, Session, Skills, Workspace};

/// The ways in which a skill is executed.
///
/// An example is at [`Workspace::execute_for_model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionMode {
    /// Its text is given to the model that asked.
    Inline,
    /// A separate agent follows its text.
    Fork,
    /// Its code runs.
    Workflow,
}

impl ExecutionMode {
    /// The stable name used in JSON.
    ///
    /// ```
    /// assert_eq!(metier::ExecutionMode::Fork.as_str(), "fork");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Fork => "fork",
            Self::Workflow => "workflow",
        }
    }
}

/// The result of [`Workspace::execute_for_model`]: a text, or work that the caller starts.
///
/// An example is at [`Workspace::execute_for_model`].
pub enum ExecutionPlan {
    /// The text of the skill, for the model that asked.
    Inline(RenderedSkill),
    /// A workflow, to be run in a session.
    Workflow(PlannedWorkflow),
    /// A skill that a separate agent follows.
    Fork(PlannedAgentRun),
}

/// A skill that an agent follows, apart from the conversation that asked.
///
/// An example is at [`Workspace::execute_for_model`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedAgentRun {
    /// The name of the skill.
    pub skill: String,
    place: String,
    words: Vec<String>,
}

/// A workflow that is run in a session.
///
/// An example is at [`Workspace::execute_for_model`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedWorkflow {
    /// The name of the skill.
    pub skill: String,
    place: String,
    workflow: Option<String>,
    input: Value,
}

impl Workspace {
    /// Executes a skill, or one of its workflows, that a model names, with the arguments in one text. The text of a skill is rendered
    /// immediately, as by
    /// [`Workspace::render_for_model`]; code is run in a session of the caller.
    ///
    /// ```no_run
    /// use metier::ExecutionPlan;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// match workspace.execute_for_model(&skills, "release", "1.2.0")? {
    ///     ExecutionPlan::Inline(shown) => println!("{}", shown.content),
    ///     ExecutionPlan::Workflow(planned) => {
    ///         let mut session = workspace.session(&skills, metier::SessionOptions::default())?;
    ///         println!("{}", session.run_planned(&planned)?.output);
    ///     }
    ///     ExecutionPlan::Fork(planned) => println!("an agent follows {}", planned.skill),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Workspace::render_for_model`] and [`Workspace::find_runnable`].
    pub fn execute_for_model(
        &self,
        skills: &Skills,
        name: &str,
        arguments: &str,
    ) -> Result<ExecutionPlan, Error> {
        let found = self.find_runnable(skills, name)?;
        let place = found.skill.path().to_string_lossy().into_owned();
        let skill = self.find_for_model(skills, &place)?;
        if found.is_workflow {
            let words = metier_runtime::render::Arguments::from_text(arguments);
            return Ok(ExecutionPlan::Workflow(PlannedWorkflow {
                skill: skill.name().into_owned(),
                place,
                workflow: found.workflow,
                input: workflow_input(words.words(), arguments),
            }));
        }
        let limit = self.config.limits.max_skill_bytes;
        let loaded = skill.entry().load(Strictness::Lenient, limit).ok();
        let context = loaded.and_then(|(parsed, _)| Some(parsed.manifest?.invocation.context));
        if context == Some(SkillContext::Fork) {
            let words = metier_runtime::render::Arguments::from_text(arguments);
            return Ok(ExecutionPlan::Fork(PlannedAgentRun {
                skill: skill.name().into_owned(),
                place,
                words: words.words().to_vec(),
            }));
        }
        let shown = self.render_for_model(skills, &place, arguments)?;
        Ok(ExecutionPlan::Inline(shown))
    }
}

impl PlannedWorkflow {
    /// The folder of the skill, which names it whatever else has the same name.
    ///
    /// An example is at [`Workspace::execute_for_model`].
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }
}

impl Session {
    /// Runs a workflow that [`Workspace::execute_for_model`] planned, in this session.
    ///
    /// An example is at [`Workspace::execute_for_model`].
    ///
    /// # Errors
    /// As for [`Session::activate`] and [`Session::run`].
    pub fn run_planned(&mut self, planned: &PlannedWorkflow) -> Result<Called, Error> {
        self.activate(&planned.place)?;
        self.run(&planned.skill, planned.workflow.as_deref(), &planned.input)
    }
}

#[cfg(feature = "agent")]
impl Workspace {
    /// Has an agent follow a skill that [`Workspace::execute_for_model`] planned, with the model of the configuration, and returns its answer.
    ///
    /// ```no_run
    /// use metier::ExecutionPlan;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.agent_skills()?;
    /// if let ExecutionPlan::Fork(planned) = workspace.execute_for_model(&skills, "research", "llamas")? {
    ///     println!("{}", workspace.follow_planned(&skills, &planned)?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When no model is configured, and as for [`Conversation::send`](crate::agent::Conversation::send).
    pub fn follow_planned(
        &self,
        skills: &Skills,
        planned: &PlannedAgentRun,
    ) -> Result<String, Error> {
        let name = &planned.skill;
        self.model_name(None).map_err(|error| {
            error.detail(format!(
                "`{name}` runs in a fork: an agent of metier follows it. activate_skill gives its instructions to the caller"
            ))
        })?;
        let skill = self.find(skills, &planned.place)?;
        let message = skill.invocation(&planned.words)?;
        let options = crate::agent::ConversationOptions {
            approver: Some(Arc::clone(&self.settings.approver)),
            cancel: Arc::clone(&self.settings.stop).into(),
            ..crate::agent::ConversationOptions::about(&message)
        };
        let mut conversation = self.conversation(skills, options)?;
        let answer = conversation.send(&message);
        let ended = conversation.end();
        let answer = answer?;
        ended?;
        Ok(answer.text)
    }

    /// The model that skills of a session can ask, if one is configured; `stop` ends its answers.
    ///
    /// ```no_run
    /// use metier::SessionOptions;
    /// # use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let (skills, stop) = (workspace.skills()?, Arc::default());
    /// let model = workspace.model_for_skills(&skills, &stop);
    /// let options = SessionOptions { model, stop: Some(stop), ..SessionOptions::default() };
    /// let session = workspace.session(&skills, options)?;
    /// # let _ = session;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn model_for_skills(
        &self,
        skills: &Skills,
        stop: &Arc<AtomicBool>,
    ) -> Option<Arc<dyn crate::Model>> {
        let options = crate::agent::ConversationOptions::default();
        let cancel = Arc::clone(stop).into();
        self.skill_model(skills, None, &options.listener, &cancel)
            .ok()
    }
}
