//! Sessions: active skills for a program that calls them.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use metier_policy::Approver;
use metier_runtime::live::{Called, Dispatched, Model, PromptFragment, Runtime, Tool};
use metier_sdk::{HookPhase, wire::Contributions};
use serde_json::Value;

use crate::{Error, Skills, Workspace, explain, session_setup};

/// How a session is opened. By default the approver of the workspace is asked, and there is no model.
///
/// ```
/// use metier::SessionOptions;
///
/// let options = SessionOptions {
///     id: Some("nightly-17".into()),
///     ..SessionOptions::default()
/// };
/// assert!(options.model.is_none());
/// ```
///
/// A model of the program itself implements [`Model`]:
///
/// ```
/// use metier::{ActTarget, DelegateError, Model, SessionOptions};
///
/// struct Echo;
/// impl Model for Echo {
///     fn target(&self, _model: Option<&str>) -> ActTarget {
///         ActTarget::new("echo")
///     }
///
///     fn answer(&self, prompt: &str, _system: Option<&str>, _model: Option<&str>) -> Result<String, DelegateError> {
///         Ok(prompt.to_owned())
///     }
/// }
/// let options = SessionOptions { model: Some(std::sync::Arc::new(Echo)), ..SessionOptions::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Default)]
pub struct SessionOptions {
    /// Answers requests for permission, in place of the workspace's approver.
    pub approver: Option<Arc<dyn Approver>>,
    /// The model that skills can ask, if they are permitted to.
    pub model: Option<Arc<dyn Model>>,
    /// Set it to stop what skills are doing: calls fail then.
    pub stop: Option<Arc<AtomicBool>>,
    /// The id of the session in receipts; a new one if there is none.
    pub id: Option<String>,
    /// The folder that skills see as the project, in place of the workspace's.
    pub project: Option<PathBuf>,
    /// A file of the skill's own tests that runs in place of its entrypoint; its tests are workflows.
    pub tests: Option<String>,
    /// Whether skills are started only to learn what they contribute: no permission is requested, and `activate` hooks don't run.
    pub describes: bool,
}

/// A session: active skills, their tools, and what they are permitted to do. It can be sent to another thread, and is used by one at a time.
///
/// Each activation is scanned, permitted and recorded. What skills log goes to the [`Notices`](crate::Notices) of the workspace. A session
/// that is dropped ends its skills; [`Session::end`] also reports whether that could be recorded.
///
/// ```no_run
/// # fn main() -> Result<(), metier::Error> {
/// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
/// let mut session = workspace.session(&workspace.skills()?, metier::SessionOptions::default())?;
/// session.activate("kubernetes")?;
/// for tool in session.tools() {
///     println!("{}: {}", tool.name, tool.spec.description);
/// }
/// let pods = session.call("kubernetes__pods", &serde_json::json!({ "namespace": "default" }))?;
/// # let _ = pods;
/// session.end()?;
/// # Ok(())
/// # }
/// ```
pub struct Session {
    workspace: Workspace,
    runtime: Runtime,
}

impl Workspace {
    /// A session in which no skill is active yet.
    ///
    /// An example is at [`Session`].
    ///
    /// # Errors
    /// When the database can't be opened: nothing runs that can't be recorded. When a rule of the user's own for the scanner is wrong.
    pub fn session(&self, skills: &Skills, options: SessionOptions) -> Result<Session, Error> {
        let stage = session_setup::SessionSetup {
            approver: options.approver,
            model: options.model,
            stop: options.stop,
            id: options.id.as_deref(),
            project: options.project.as_deref(),
            tests: options.tests.as_deref(),
            describes: options.describes,
        };
        Ok(Session {
            runtime: session_setup::open(self, &skills.inventory, stage)?,
            workspace: self.clone(),
        })
    }
}

impl Session {
    /// Activates a skill, by name, `source:name` or path. One that is already active stays as it is.
    ///
    /// ```no_run
    /// # fn f(session: &mut metier::Session) -> Result<(), metier::Error> {
    /// session.activate("kubernetes")?;
    /// session.activate("user:git")?;
    /// session.activate("./skills/release")?;
    /// assert_eq!(session.active().len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skill can't be used, is not permitted, does not start, or contributes what it must not.
    pub fn activate(&mut self, name: &str) -> Result<(), Error> {
        session_setup::activate(&self.workspace, &self.runtime, name)
    }

    /// Deactivates a skill, and removes everything that it contributed.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// # let mut session = workspace.session(&workspace.skills()?, metier::SessionOptions::default())?;
    /// session.activate("kubernetes")?;
    /// session.deactivate("kubernetes")?;
    /// assert!(session.tools().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skill is not active, or when its end can't be written to the database; its code has ended anyway.
    pub fn deactivate(&mut self, name: &str) -> Result<(), Error> {
        let done = self.runtime.deactivate(name).map(drop);
        done.map_err(|error| session_setup::failed(&error))
    }

    /// The active skills, in the order in which their hooks are called.
    ///
    /// The example of [`Session::activate`] counts them.
    #[must_use]
    pub fn active(&self) -> Vec<String> {
        self.runtime.names()
    }

    /// The tools of all active skills, for a model: name, description and schema.
    ///
    /// The texts were written by the author of the skill: a model gets them through [`for_model`](crate::model_text::for_model).
    ///
    /// ```no_run
    /// use metier::model_text::for_model;
    ///
    /// # fn f(session: &mut metier::Session) -> Result<(), metier::Error> {
    /// for tool in session.tools() {
    ///     println!("{}: {}", tool.name, for_model(&tool.spec.description));
    ///     println!("{}", tool.spec.input_schema);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        self.runtime.tools()
    }

    /// Everything that an active skill contributes: tools, hooks, workflows, scanners.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// # let mut session = workspace.session(&workspace.skills()?, metier::SessionOptions::default())?;
    /// session.activate("kubernetes")?;
    /// for workflow in &session.contributions("kubernetes")?.workflows {
    ///     println!("{}", workflow.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it is not active.
    pub fn contributions(&self, skill: &str) -> Result<Contributions, Error> {
        let all = self.runtime.contributions(skill);
        all.map_err(|error| session_setup::failed(&error))
    }

    /// Calls a tool by the name that [`Session::tools`] gives it.
    ///
    /// ```no_run
    /// # fn f(session: &mut metier::Session) -> Result<(), metier::Error> {
    /// let input = serde_json::json!({ "namespace": "default" });
    /// let called = session.call("kubernetes__pods", &input)?;
    /// if called.is_error {
    ///     println!("the tool failed: {}", called.output);
    /// }
    /// for receipt in &called.receipts {
    ///     println!("{} {}", receipt.entry.act, receipt.entry.detail);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such tool, when a hook cancels the call, or when the skill does not answer. An error that the tool itself returns is an
    /// answer ([`Called::is_error`]).
    pub fn call(&mut self, tool: &str, input: &Value) -> Result<Called, Error> {
        let all = self.runtime.tools();
        let Some(found) = all.iter().find(|one| one.name == tool) else {
            let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
            let message = format!("there is no tool `{tool}`");
            return Err(match names.as_slice() {
                [] => Error::unmet("not-found", message).hint("no active skill has tools"),
                names => Error::unmet("not-found", message)
                    .hint(format!("available tools: {}", names.join(", "))),
            });
        };
        self.call_tool(&found.skill, &found.spec.name, input)
    }

    /// Calls a tool of an active skill by the name that the skill gives it.
    ///
    /// ```no_run
    /// # fn f(session: &mut metier::Session) -> Result<(), metier::Error> {
    /// let input = serde_json::json!({ "namespace": "default" });
    /// let pods = session.call_tool("kubernetes", "pods", &input)?.output;
    /// println!("{pods}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Session::call`].
    pub fn call_tool(&mut self, skill: &str, tool: &str, input: &Value) -> Result<Called, Error> {
        let skill = self.name_of(skill);
        let called = self.runtime.call(&skill, tool, input);
        self.finished(called)
    }

    /// Runs a workflow of an active skill; without a name its only one.
    ///
    /// ```no_run
    /// # fn f(session: &mut metier::Session) -> Result<(), metier::Error> {
    /// let input = serde_json::json!({ "version": "1.2.0" });
    /// session.activate("release")?;
    /// let notes = session.run("release", Some("notes"), &input)?;
    /// println!("{}", notes.output);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`workflow_input`](crate::workflow_input) creates the input of a command line.
    ///
    /// # Errors
    /// As for [`Session::call`]; and when no name is given and the skill has several workflows.
    pub fn run(
        &mut self,
        skill: &str,
        workflow: Option<&str>,
        input: &Value,
    ) -> Result<Called, Error> {
        let skill = self.name_of(skill);
        let called = self.runtime.run(&skill, workflow, input);
        self.finished(called)
    }

    /// Sends an event to the hooks of all active skills, and returns the resulting event.
    ///
    /// ```no_run
    /// # fn f(session: &mut metier::Session) -> Result<(), metier::Error> {
    /// let event = serde_json::json!({ "text": "Done.", "session": "s" });
    /// let done = session.dispatch(metier::HookPhase::AfterResponse, event)?;
    /// println!("{}", done.event["text"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a receipt can't be written to the database. A hook that fails is reported and skipped.
    pub fn dispatch(&mut self, phase: HookPhase, event: Value) -> Result<Dispatched, Error> {
        let done = self.runtime.dispatch(phase, event);
        self.tell();
        Ok(done?)
    }

    /// The additions of active skills to the system prompt of a model. `message` is the user's message that the turn answers, for their hooks.
    ///
    /// ```no_run
    /// # fn f(session: &mut metier::Session) -> Result<(), metier::Error> {
    /// let mut prompt = "You are helpful.".to_owned();
    /// for fragment in session.prompt_fragments("Hello!")? {
    ///     fragment.append(&mut prompt);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a hook blocks the message, or when a receipt can't be written to the database.
    pub fn prompt_fragments(&mut self, message: &str) -> Result<Vec<PromptFragment>, Error> {
        self.runtime.set_user_message(message);
        let fragments = self.runtime.fragments();
        self.runtime.set_user_message("");
        self.tell();
        fragments.map_err(session_setup::no_prompt)
    }

    /// Begins a new turn, which is one message of the user with everything that follows from it. The limits per turn in `skills.limits`
    /// count from zero again.
    ///
    /// ```no_run
    /// # fn f(session: &mut metier::Session) -> Result<(), metier::Error> {
    /// for message in ["Which pods failed?", "Why?"] {
    ///     session.next_turn();
    ///     println!("{} additions", session.prompt_fragments(message)?.len());
    ///     // … the model answers, and calls tools …
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn next_turn(&mut self) {
        self.runtime.next_turn();
    }

    /// Ends all skills, the newest first.
    ///
    /// ```no_run
    /// # fn f(mut session: metier::Session) -> Result<(), metier::Error> {
    /// session.activate("kubernetes")?;
    /// session.end()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the end of a skill can't be written to the database; all code has ended anyway.
    pub fn end(self) -> Result<(), Error> {
        self.runtime
            .end()
            .map_err(|error| session_setup::failed(&error))
    }

    /// The name of a skill that was activated by `source:name` or path.
    fn name_of(&self, skill: &str) -> String {
        let inventory = self.runtime.inventory();
        let found = explain::find(&self.workspace, inventory, skill).ok();
        found.map_or_else(
            || skill.to_owned(),
            |found| inventory.entry(found).name().into_owned(),
        )
    }

    fn finished(
        &self,
        called: Result<Called, metier_runtime::live::CallError>,
    ) -> Result<Called, Error> {
        let called = called.map_err(|error| session_setup::failed(&error))?;
        session_setup::tell(&self.workspace, called.said.clone());
        Ok(called)
    }

    fn tell(&self) {
        session_setup::tell(&self.workspace, self.runtime.collect().1);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // `end` reports errors; here no caller is left for them.
        self.runtime.end().ok();
        self.tell();
    }
}
