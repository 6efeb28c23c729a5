//! The host, as a handler sees it: one method per request.

use std::{cell::RefCell, collections::BTreeMap};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::wire::{
    Answered, Ended, Fetched, FileContent, HostRequest, Initialize, Matches, Paths, RpcError,
    ToolOutput, Variable, code,
};

/// Why a request failed; [`RpcError::is_refused`] distinguishes refusals from failures.
pub type HostError = RpcError;

/// The way of requests to the host.
pub trait Transport {
    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    ///
    /// The host refused or failed, or it can't be reached.
    fn ask(&mut self, request: &HostRequest) -> Result<Value, HostError>;

    /// Sends a request that needs no answer.
    ///
    /// # Errors
    ///
    /// The host can't be reached.
    fn tell(&mut self, request: &HostRequest) -> Result<(), HostError> {
        self.ask(request).map(drop)
    }
}

/// The host during one call. Each request requires its permission. A refusal is an error like any other: returned with `?` it
/// ends the handler, and the caller gets the reason.
pub struct Host<'a> {
    about: Option<&'a Initialize>,
    transport: RefCell<&'a mut dyn Transport>,
}

impl<'a> Host<'a> {
    pub(super) fn new(about: Option<&'a Initialize>, transport: &'a mut dyn Transport) -> Self {
        let transport = RefCell::new(transport);
        Self { about, transport }
    }

    /// The skill's name and folder, its configuration and its permissions. `None` before `initialize`.
    #[must_use]
    pub const fn about(&self) -> Option<&'a Initialize> {
        self.about
    }

    /// The user's configuration for the skill; `null` if there is none.
    #[must_use]
    pub fn config(&self) -> &'a Value {
        self.about.map_or(&Value::Null, |about| &about.config)
    }

    /// Sends any request; the methods below are shorter for the common ones.
    ///
    /// # Errors
    ///
    /// The host refused or failed, can't be reached, or sent another kind of answer.
    pub fn ask<T: DeserializeOwned>(&self, request: &HostRequest) -> Result<T, HostError> {
        let answer = self.with(|transport| transport.ask(request))?;
        serde_json::from_value(answer)
            .map_err(|error| unusable(format!("the host's answer is invalid: {error}")))
    }

    fn with<T>(
        &self,
        act: impl FnOnce(&mut dyn Transport) -> Result<T, HostError>,
    ) -> Result<T, HostError> {
        match self.transport.try_borrow_mut() {
            Ok(mut transport) => act(&mut **transport),
            Err(_) => Err(unusable(
                "the host is already answering another request".to_owned(),
            )),
        }
    }

    /// The text of a file. The path is absolute or relative to the project.
    ///
    /// # Errors
    ///
    /// As [`Host::ask`]; the same holds for all methods below.
    pub fn read_file(&self, path: &str) -> Result<String, HostError> {
        let path = path.to_owned();
        let FileContent { content } = self.ask(&HostRequest::ReadFile { path })?;
        Ok(content)
    }

    /// Creates a file or replaces its content.
    pub fn write_file(&self, path: &str, content: &str) -> Result<(), HostError> {
        let (path, content) = (path.to_owned(), content.to_owned());
        self.done(&HostRequest::WriteFile { path, content })
    }

    /// Files of the project by pattern, such as `src/**/*.rs`.
    pub fn glob(&self, pattern: &str) -> Result<Paths, HostError> {
        let pattern = pattern.to_owned();
        self.ask(&HostRequest::Glob { pattern })
    }

    /// Lines that match a regular expression, optionally in one file or folder, and in files that match a pattern.
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

    /// Runs a command line in a shell. A program that fails is not an error; see [`Ended::exit`].
    pub fn exec(&self, command: &str) -> Result<Ended, HostError> {
        let command = command.to_owned();
        self.ask(&HostRequest::Exec { command })
    }

    /// Gets a URL. For another method, headers or a body use [`Host::ask`] with [`HostRequest::Fetch`].
    pub fn fetch(&self, url: &str) -> Result<Fetched, HostError> {
        self.ask(&HostRequest::Fetch {
            url: url.to_owned(),
            method: None,
            headers: BTreeMap::new(),
            body: None,
        })
    }

    /// An environment variable; `None` if it is not set.
    pub fn env(&self, name: &str) -> Result<Option<String>, HostError> {
        let name = name.to_owned();
        let Variable { value } = self.ask(&HostRequest::Env { name })?;
        Ok(value)
    }

    /// Sets an environment variable for programs that are started later in this activation.
    pub fn set_env(&self, name: &str, value: &str) -> Result<(), HostError> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.done(&HostRequest::SetEnv { name, value })
    }

    /// Runs git with these arguments.
    pub fn git(&self, arguments: &[&str]) -> Result<Ended, HostError> {
        let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        self.ask(&HostRequest::Git { arguments })
    }

    /// Asks the session's model. For another model or a system prompt use [`Host::ask`] with [`HostRequest::Llm`].
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

    /// Writes a line to the log: `debug`, `info`, `warn` or `error`. Failures are ignored: without a host there is no log.
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
