//! Skills at work, for a program that calls them.

use std::sync::{Arc, atomic::AtomicBool};

use metier_policy::Approver;
use metier_runtime::live::{Called, Model, Runtime, Tool};
use serde_json::Value;

use crate::{Error, Skills, Workspace, active};

/// How a session is opened. By default the approver of the workspace is asked, and there is no model.
#[derive(Clone, Default)]
pub struct SessionOptions {
    /// Who is asked for permission, in place of the workspace's own.
    pub approver: Option<Arc<dyn Approver>>,
    /// The model that skills may ask, if they are permitted to.
    pub model: Option<Arc<dyn Model>>,
    /// Set it to end what skills are doing: calls fail then.
    pub stop: Option<Arc<AtomicBool>>,
    /// The name of the session in receipts; a fresh one if there is none.
    pub id: Option<String>,
}

/// A session: skills that are active, their tools, and what they may do. It can be sent to another thread, and is used by one at a time.
///
/// Every activation is scanned, asked about and written down. A session that is dropped ends its skills; [`Session::end`] says whether that
/// could be written down.
pub struct Session {
    workspace: Workspace,
    runtime: Runtime,
}

impl Workspace {
    /// A session in which nothing is active yet, on these skills.
    ///
    /// # Errors
    /// When the database can't be opened: what can't be written down is not done.
    pub fn session(&self, skills: &Skills, options: SessionOptions) -> Result<Session, Error> {
        let stage = active::Stage {
            approver: options.approver,
            model: options.model,
            stop: options.stop,
            id: options.id.as_deref(),
            ..active::Stage::default()
        };
        Ok(Session {
            runtime: active::open(self, &skills.inventory, stage)?,
            workspace: self.clone(),
        })
    }
}

impl Session {
    /// Activates a skill, by name, `source:name` or path. One that is active already stays as it is.
    ///
    /// # Errors
    /// When it can't be used, may not, does not start, or contributes what it may not.
    pub fn activate(&mut self, name: &str) -> Result<(), Error> {
        active::activate(&self.workspace, &self.runtime, name)
    }

    /// Deactivates a skill, and takes back all that it contributed.
    ///
    /// # Errors
    /// When it is not active, or when that can't be written down; it is gone nevertheless.
    pub fn deactivate(&mut self, name: &str) -> Result<(), Error> {
        let done = self.runtime.deactivate(name).map(drop);
        done.map_err(|error| active::failed(&error))
    }

    /// The active skills, in the order in which their hooks are called.
    #[must_use]
    pub fn active(&self) -> Vec<String> {
        self.runtime.names()
    }

    /// The tools of all active skills, for a model: name, description and schema.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        self.runtime.tools()
    }

    /// Calls a tool by the name that [`Session::tools`] gives it.
    ///
    /// # Errors
    /// When there is no such tool, when a hook cancels the call, or when the skill does not answer. What the tool itself says went wrong is an
    /// answer.
    pub fn call(&mut self, tool: &str, input: &Value) -> Result<Called, Error> {
        let all = self.runtime.tools();
        let Some(found) = all.iter().find(|one| one.name == tool) else {
            let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
            let message = format!("there is no tool `{tool}`");
            return Err(match names.as_slice() {
                [] => Error::unmet("not-found", message).hint("no active skill has tools"),
                names => Error::unmet("not-found", message)
                    .hint(format!("there are: {}", names.join(", "))),
            });
        };
        let called = self.runtime.call(&found.skill, &found.spec.name, input);
        called.map_err(|error| active::failed(&error))
    }

    /// Runs a workflow of an active skill; without a name its only one.
    ///
    /// # Errors
    /// As for a tool.
    pub fn run(
        &mut self,
        skill: &str,
        workflow: Option<&str>,
        input: &Value,
    ) -> Result<Called, Error> {
        let called = self.runtime.run(skill, workflow, input);
        called.map_err(|error| active::failed(&error))
    }

    /// Ends all skills, the newest first.
    ///
    /// # Errors
    /// When that can't be written down; they have ended nevertheless.
    pub fn end(self) -> Result<(), Error> {
        self.runtime.end().map_err(|error| active::failed(&error))
    }
}
