//! Executing a skill by name, for a model behind a protocol: its text, the output of its workflow, or the answer of an agent that followed it.

use metier_model::{SkillContext, Strictness};
use metier_runtime::live::{Called, workflow_input};
use serde_json::Value;

use crate::{Error, Session, Shown, Skills, Workspace};

/// How a skill is executed.
///
/// An example is at [`Workspace::execute_for_model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionMode {
    /// Its text is given to the model that asked.
    Inline,
    /// An agent of its own follows its text.
    Fork,
    /// Its code runs.
    Workflow,
}

impl ExecutionMode {
    /// The stable name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Fork => "fork",
            Self::Workflow => "workflow",
        }
    }
}

/// What executing a skill means.
///
/// An example is at [`Workspace::execute_for_model`].
pub enum Executed {
    /// The text of the skill, for the model that asked.
    Inline(Shown),
    /// A workflow, to be run in a session.
    Workflow(PlannedWorkflow),
    /// An agent has to follow the skill: its message, which names the skill and its arguments.
    Fork(String),
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
    /// Executes a skill, or one of its workflows, that a model names, with the arguments in one text. The text of a skill is rendered at once, as by
    /// [`Workspace::render_for_model`]; code is run in a session of the caller.
    ///
    /// ```no_run
    /// use metier::Executed;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.skills()?;
    /// match workspace.execute_for_model(&skills, "release", "1.2.0")? {
    ///     Executed::Inline(shown) => println!("{}", shown.content),
    ///     Executed::Workflow(planned) => {
    ///         let mut session = workspace.session(&skills, metier::SessionOptions::default())?;
    ///         println!("{}", session.run_planned(&planned)?.output);
    ///     }
    ///     Executed::Fork(message) => println!("for an agent: {message}"),
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
    ) -> Result<Executed, Error> {
        let found = self.find_runnable(skills, name)?;
        let place = found.skill.path().to_string_lossy().into_owned();
        let skill = self.find_for_model(skills, &place)?;
        if found.is_workflow {
            let words = metier_runtime::render::Arguments::from_text(arguments);
            return Ok(Executed::Workflow(PlannedWorkflow {
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
            let name = skill.name();
            return Ok(Executed::Fork(format!("/{name} {arguments}").trim_end().to_owned()));
        }
        let shown = self.render_for_model(skills, &place, arguments)?;
        Ok(Executed::Inline(shown))
    }
}

impl Session {
    /// Runs a workflow that [`Workspace::execute_for_model`] planned, in this session.
    ///
    /// # Errors
    /// As for [`Session::activate`] and [`Session::run`].
    pub fn run_planned(&mut self, planned: &PlannedWorkflow) -> Result<Called, Error> {
        self.activate(&planned.place)?;
        self.run(&planned.skill, planned.workflow.as_deref(), &planned.input)
    }
}
