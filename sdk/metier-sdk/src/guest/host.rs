//! The host, as a handler sees it: a method for each thing that may be asked for.

use std::{cell::RefCell, collections::BTreeMap};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::wire::{
    Answered, Ended, Fetched, FileContent, HostRequest, Initialize, Matches, Paths, RpcError,
    ToolOutput, Variable, code,
};

/// Why the host did not do it: [`RpcError::is_refused`] tells a refusal from an accident.
pub type HostError = RpcError;

/// How a question gets to the host.
pub trait Transport {
    /// Asks, and waits for the answer.
    ///
    /// # Errors
    ///
    /// The host refused or failed, or it can't be reached.
    fn ask(&mut self, request: &HostRequest) -> Result<Value, HostError>;

    /// Says something that needs no answer.
    ///
    /// # Errors
    ///
    /// The host can't be reached.
    fn tell(&mut self, request: &HostRequest) -> Result<(), HostError> {
        self.ask(request).map(drop)
    }
}

/// The host during one call. Each question needs its permission, and a refusal is an error like any other: passed on with `?` it
/// ends the handler, and whoever called reads the reason.
pub struct Host<'a> {
    about: Option<&'a Initialize>,
    transport: RefCell<&'a mut dyn Transport>,
}

impl<'a> Host<'a> {
    pub(super) fn new(about: Option<&'a Initialize>, transport: &'a mut dyn Transport) -> Self {
        let transport = RefCell::new(transport);
        Self { about, transport }
    }

    /// Who the skill is here: its name, its folder, what the user configured, what was granted. Nothing before `initialize`.
    #[must_use]
    pub const fn about(&self) -> Option<&'a Initialize> {
        self.about
    }

    /// What the user configured for the skill; `null` if there is nothing.
    #[must_use]
    pub fn config(&self) -> &'a Value {
        self.about.map_or(&Value::Null, |about| &about.config)
    }

    /// Asks for anything; the methods below are shorter ways to say the usual.
    ///
    /// # Errors
    ///
    /// The host refused or failed, can't be reached, or answered something else.
    pub fn ask<T: DeserializeOwned>(&self, request: &HostRequest) -> Result<T, HostError> {
        let answer = self.with(|transport| transport.ask(request))?;
        serde_json::from_value(answer)
            .map_err(|error| unusable(format!("the host's answer doesn't fit: {error}")))
    }

    fn with<T>(
        &self,
        act: impl FnOnce(&mut dyn Transport) -> Result<T, HostError>,
    ) -> Result<T, HostError> {
        match self.transport.try_borrow_mut() {
            Ok(mut transport) => act(&mut **transport),
            Err(_) => Err(unusable("the host is answering something else".to_owned())),
        }
    }

    /// The text of a file, absolute or from the project.
    ///
    /// # Errors
    ///
    /// As [`Host::ask`]; so it is for all of these.
    pub fn read_file(&self, path: &str) -> Result<String, HostError> {
        let path = path.to_owned();
        let FileContent { content } = self.ask(&HostRequest::ReadFile { path })?;
        Ok(content)
    }

    /// Replaces the content of a file, or makes it.
    pub fn write_file(&self, path: &str, content: &str) -> Result<(), HostError> {
        let (path, content) = (path.to_owned(), content.to_owned());
        self.done(&HostRequest::WriteFile { path, content })
    }

    /// Files of the project by pattern, such as `src/**/*.rs`.
    pub fn glob(&self, pattern: &str) -> Result<Paths, HostError> {
        let pattern = pattern.to_owned();
        self.ask(&HostRequest::Glob { pattern })
    }

    /// Lines that match a regular expression; below a file or folder, in files with such names.
    pub fn grep(
        &self,
        pattern: &str,
        path: Option<&str>,
        glob: Option<&str>,
    ) -> Result<Matches, HostError> {
        self.ask(&HostRequest::Grep {
            pattern: pattern.to_owned(),
            path: path.map(str::to_owned),
            glob: glob.map(str::to_owned),
        })
    }

    /// Runs a line in a shell. That the program failed is no error; [`Ended::exit`] says so.
    pub fn exec(&self, command: &str) -> Result<Ended, HostError> {
        let command = command.to_owned();
        self.ask(&HostRequest::Exec { command })
    }

    /// Gets a URL. For another method, headers or a body there is [`Host::ask`] with [`HostRequest::Fetch`].
    pub fn fetch(&self, url: &str) -> Result<Fetched, HostError> {
        self.ask(&HostRequest::Fetch {
            url: url.to_owned(),
            method: None,
            headers: BTreeMap::new(),
            body: None,
        })
    }

    /// An environment variable; nothing if it isn't set.
    pub fn env(&self, name: &str) -> Result<Option<String>, HostError> {
        let name = name.to_owned();
        let Variable { value } = self.ask(&HostRequest::Env { name })?;
        Ok(value)
    }

    /// Sets an environment variable for later children of the same activation.
    pub fn set_env(&self, name: &str, value: &str) -> Result<(), HostError> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.done(&HostRequest::SetEnv { name, value })
    }

    /// Runs git with these arguments.
    pub fn git(&self, arguments: &[&str]) -> Result<Ended, HostError> {
        let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        self.ask(&HostRequest::Git { arguments })
    }

    /// Asks the session's model. For another model or a system prompt there is [`Host::ask`] with [`HostRequest::Llm`].
    pub fn llm(&self, prompt: &str) -> Result<String, HostError> {
        let Answered { text } = self.ask(&HostRequest::Llm {
            prompt: prompt.to_owned(),
            system: None,
            model: None,
        })?;
        Ok(text)
    }

    /// Calls a tool of another skill, or runs its workflow.
    pub fn invoke_skill(
        &self,
        name: &str,
        tool: Option<&str>,
        input: impl Serialize,
    ) -> Result<ToolOutput, HostError> {
        let input = serde_json::to_value(input).map_err(|error| unusable(error.to_string()))?;
        self.ask(&HostRequest::InvokeSkill {
            name: name.to_owned(),
            tool: tool.map(str::to_owned),
            input,
        })
    }

    /// Writes something down: `debug`, `info`, `warn` or `error`. A host that is gone reads no logs, so this can't fail.
    pub fn log(&self, level: &str, message: &str) {
        let request = HostRequest::Log {
            level: Some(level.to_owned()),
            message: message.to_owned(),
        };
        self.with(|transport| transport.tell(&request)).ok();
    }

    fn done(&self, request: &HostRequest) -> Result<(), HostError> {
        self.ask::<Value>(request).map(drop)
    }
}

impl std::fmt::Debug for Host<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Host").field(&self.about).finish()
    }
}

fn unusable(message: String) -> HostError {
    HostError::new(code::INTERNAL, message)
}
