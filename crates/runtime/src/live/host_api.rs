//! The requests of a skill while it works, handled by its worker: each request becomes an act, each act needs a permit.

use std::{
    io::ErrorKind,
    path::{Component, Path, PathBuf},
    sync::atomic::Ordering,
    time::Duration,
};

use metier_catalog::{ReadError, Snapshot};
use metier_host::{
    backend::SkillHost,
    child::{ChildOutcome, Exit},
    execution::{ActResult, ExecutionError},
    net::FetchResponse,
};
use metier_model::shell;
use metier_policy::{Act, CommandLine, FetchAct, GitAct};
use metier_sdk::wire::{
    Answered, Ended, Fetched, FileContent, HostRequest, Match, Matches, Paths, RpcError,
    ToolOutput, Variable, code,
};
use serde_json::{Value, json};

use super::{Active, Runtime, SkillLine, invoke::SkillCall};
use crate::granted_skill::{ActError, DelegateError, caught};

/// The maximum size of a file that a skill reads.
const MAX_TEXT: u64 = 4 << 20;
/// Maximum length of a log line.
const MAX_LINE: usize = 2_000;
/// How many lines of one skill are kept.
const MAX_LINES: usize = 500;

/// The host as one active skill sees it.
pub(super) struct HostApi<'r> {
    pub(super) runtime: &'r Runtime,
    pub(super) skill: &'r Active,
}

impl SkillHost for HostApi<'_> {
    fn is_stopped(&self) -> bool {
        let stop = self.runtime.environment.host.stop.as_ref();
        stop.is_some_and(|stop| stop.load(Ordering::Acquire))
    }

    fn waited(&self) -> Duration {
        self.runtime.environment.approvals.waited()
    }

    fn ask(&self, request: HostRequest) -> Result<Value, RpcError> {
        let bug = || failed("bug", ExecutionError::Panicked.to_string());
        caught(|| self.answer(request)).unwrap_or_else(|| Err(bug()))
    }
}

impl HostApi<'_> {
    fn answer(&self, request: HostRequest) -> Result<Value, RpcError> {
        match request {
            HostRequest::ReadFile { path } => self.read(&path),
            HostRequest::WriteFile { path, content } => {
                let act = Act::WriteFile {
                    path: self.path(&path)?,
                    content: content.into_bytes(),
                };
                self.act(&act).map(|_| json!({}))
            }
            HostRequest::Glob { pattern } => self.glob(&pattern),
            HostRequest::Grep {
                pattern,
                path,
                glob,
            } => self.grep(&pattern, path.as_deref(), glob.as_deref()),
            HostRequest::Exec { command } => self.exec(&command),
            HostRequest::Fetch {
                url,
                method,
                headers,
                body,
            } => {
                let headers = headers.into_iter().collect();
                let method = method.as_deref().unwrap_or("GET").to_ascii_uppercase();
                self.fetch(&url, &method, headers, body.unwrap_or_default())
            }
            HostRequest::Env { name } => match self.act(&Act::ReadVariable(name.into()))? {
                ActResult::Value(value) => answer(&Variable {
                    value: value.map(|value| value.to_string_lossy().into_owned()),
                }),
                _ => Err(odd()),
            },
            HostRequest::SetEnv { name, value } => {
                let act = Act::SetVariable {
                    name: name.into(),
                    value: value.into(),
                };
                self.act(&act).map(|_| json!({}))
            }
            HostRequest::Git { arguments } => self.git(arguments),
            HostRequest::Llm {
                prompt,
                system,
                model,
            } => self.llm(&prompt, system.as_deref(), model.as_deref()),
            HostRequest::InvokeSkill { name, tool, input } => {
                self.invoke(&name, tool.as_deref(), input)
            }
            HostRequest::Log { level, message } => {
                self.log(level.as_deref(), &message);
                Ok(json!({}))
            }
        }
    }

    fn act(&self, act: &Act) -> Result<ActResult, RpcError> {
        self.skill.worker.act(act).map_err(|error| wrong(&error))
    }

    /// A file of the skill itself is read from the scanned bytes, and needs no permission; reading any other file is an act.
    fn read(&self, path: &str) -> Result<Value, RpcError> {
        let path = self.path(path)?;
        let own = path.strip_prefix(&self.skill.folder).ok();
        let bytes = match own.and_then(Path::to_str) {
            Some(own) => {
                let held = self.skill.loaded.held.read(own, MAX_TEXT);
                held.map_err(|error| {
                    failed(
                        unread(&self.skill.loaded.held, own, &error),
                        error.to_string(),
                    )
                })?
            }
            None => match self.act(&Act::ReadFile(path.clone()))? {
                ActResult::Bytes(bytes) => bytes,
                _ => return Err(odd()),
            },
        };
        let content = String::from_utf8(bytes)
            .map_err(|_| failed("not-text", format!("{} is not UTF-8 text", path.display())))?;
        answer(&FileContent { content })
    }

    fn glob(&self, pattern: &str) -> Result<Value, RpcError> {
        let (folder, pattern) = split(pattern);
        let act = Act::FindFiles {
            folder: self.path(folder)?,
            pattern: pattern.into(),
        };
        match self.act(&act)? {
            ActResult::Found {
                paths,
                truncated,
                unused,
            } => {
                self.say_unused(&unused);
                answer(&Paths {
                    paths: paths.iter().map(|path| self.shown(path)).collect(),
                    truncated,
                })
            }
            _ => Err(odd()),
        }
    }

    fn grep(
        &self,
        pattern: &str,
        path: Option<&str>,
        glob: Option<&str>,
    ) -> Result<Value, RpcError> {
        let act = Act::SearchFiles {
            folder: self.path(path.unwrap_or("."))?,
            pattern: pattern.into(),
            glob: glob.map(Into::into),
        };
        match self.act(&act)? {
            ActResult::Matches {
                matches,
                truncated,
                unused,
            } => {
                self.say_unused(&unused);
                answer(&Matches {
                    matches: matches
                        .into_iter()
                        .map(|found| Match {
                            path: self.shown(&found.path),
                            line: found.line,
                            text: found.text,
                        })
                        .collect(),
                    truncated,
                })
            }
            _ => Err(odd()),
        }
    }

    /// A limit that was reached is reported.
    fn say_unused(&self, unused: &[PathBuf]) {
        for path in unused {
            let path = self.shown(path);
            self.skill.say(format!(
                "[{path} is not used as an ignore file: it must be a regular file of at most 128 KB and 2,000 patterns]"
            ));
        }
    }

    fn exec(&self, command: &str) -> Result<Value, RpcError> {
        let understood = shell::parse(command).ok();
        let line = CommandLine::new(command, understood.as_ref(), command, Vec::new());
        self.ended(&Act::Line(line.in_project()))
    }

    /// A read-only command needs a weaker permission than one that changes something; `branch` and `tag` do both, and their flags decide.
    fn git(&self, arguments: Vec<String>) -> Result<Value, RpcError> {
        let git = GitAct {
            repository: self.project().to_owned(),
            arguments,
        };
        let reads = metier_host::execution::only_reads(&git.arguments);
        self.ended(&if reads {
            Act::ReadRepository(git)
        } else {
            Act::WriteRepository(git)
        })
    }

    fn ended(&self, act: &Act) -> Result<Value, RpcError> {
        match self.act(act)? {
            ActResult::Child(ended, _) => answer(&self.outcome(&ended)?),
            _ => Err(odd()),
        }
    }

    fn outcome(&self, ended: &ChildOutcome) -> Result<Ended, RpcError> {
        let exit = match &ended.exit {
            Exit::Code(code) => Some(*code),
            Exit::NotStarted(_) => return Err(failed("not-done", ended.exit.to_string())),
            _ => None,
        };
        let worker = &self.skill.worker;
        let mut stderr = worker.clean(&ended.stderr);
        if exit.is_none() {
            stderr = format!("{stderr}[{}]\n", ended.exit);
        }
        Ok(Ended {
            exit,
            stdout: worker.clean(&ended.stdout),
            stderr,
            truncated: ended.truncated,
        })
    }

    fn fetch(
        &self,
        url: &str,
        method: &str,
        headers: Vec<(String, String)>,
        body: String,
    ) -> Result<Value, RpcError> {
        let target = metier_host::net::FetchTarget::parse(url)
            .map_err(|error| failed("url", error.to_string()))?;
        let act = Act::Fetch(FetchAct {
            method: method.into(),
            url: url.into(),
            host: target.host.to_string().into(),
            port: target.port,
            headers,
            body: body.into_bytes(),
        });
        let ActResult::Response(FetchResponse {
            status,
            headers,
            body,
            ..
        }) = self.act(&act)?
        else {
            return Err(odd());
        };
        answer(&Fetched {
            status,
            headers: headers
                .into_iter()
                .map(|(name, value)| (name.to_ascii_lowercase(), value))
                .collect(),
            body: self.skill.worker.clean(&body),
        })
    }

    fn llm(
        &self,
        prompt: &str,
        system: Option<&str>,
        model: Option<&str>,
    ) -> Result<Value, RpcError> {
        let target = match &self.runtime.model {
            Some(port) => port.target(model),
            None => model.unwrap_or("default").into(),
        };
        let act = Act::CallModel(target);
        let asked = self.skill.worker.elsewhere(&act, || {
            let port = self.runtime.model.as_ref().ok_or_else(|| {
                DelegateError::new(
                    "no-model",
                    "this run has no language model; `metier agent` and `metier chat` provide one",
                )
            })?;
            port.answer(prompt, system, model)
        });
        let text = asked.map_err(|error| wrong(&error))?;
        answer(&Answered { text })
    }

    fn invoke(&self, name: &str, tool: Option<&str>, input: Value) -> Result<Value, RpcError> {
        let found = self.runtime.invoked(name);
        let target = match found {
            Ok((_, ref target)) => target.clone(),
            Err(_) => name.into(),
        };
        let act = Act::InvokeSkill(target);
        // A missing input is an empty object, because tools and workflows take objects.
        let input = match input {
            Value::Null => json!({}),
            input => input,
        };
        let invocation = SkillCall {
            caller: self.skill,
            tool,
            input,
        };
        let done = self.skill.worker.elsewhere(&act, || {
            let (skill, _) = found?;
            self.runtime.invoke(skill, &invocation)
        });
        let output: ToolOutput = done.map_err(|error| wrong(&error))?;
        answer(&output)
    }

    fn log(&self, level: Option<&str>, message: &str) {
        let end = message.floor_char_boundary(MAX_LINE);
        let message = self.skill.worker.clean(&message.as_bytes()[..end]);
        let level = level.filter(|level| ["debug", "warn", "error"].contains(level));
        self.skill.say(match level {
            Some(level) => format!("{level}: {message}"),
            None => message,
        });
    }

    fn project(&self) -> &Path {
        &self.runtime.environment.approvals.terms.project
    }

    /// Absolute and without `.` and `..`. The world resolves links in it.
    fn path(&self, path: &str) -> Result<PathBuf, RpcError> {
        if path.contains('\0') {
            return Err(failed("path", "a path can't contain NUL".to_owned()));
        }
        let mut plain = PathBuf::new();
        for part in self.project().join(path).components() {
            match part {
                Component::ParentDir => {
                    plain.pop();
                }
                Component::CurDir => {}
                other => plain.push(other),
            }
        }
        Ok(plain)
    }

    /// A path for a skill: relative to the project if it is inside.
    fn shown(&self, path: &Path) -> String {
        let path = path.strip_prefix(self.project()).unwrap_or(path);
        path.to_string_lossy().into_owned()
    }
}

impl Active {
    /// Adds a line to its log.
    pub(super) fn say(&self, line: String) {
        self.log(false, line);
    }

    /// Adds a line to its log, up to [`MAX_LINES`].
    pub(super) fn log(&self, is_warning: bool, text: String) {
        let line = |is_warning, text| SkillLine {
            skill: self.name().to_owned(),
            is_warning,
            text,
        };
        let mut said = self.said.lock();
        match said.len().cmp(&MAX_LINES) {
            std::cmp::Ordering::Less => said.push(line(is_warning, text)),
            std::cmp::Ordering::Equal => {
                said.push(line(false, "[further lines were discarded]".to_owned()));
            }
            std::cmp::Ordering::Greater => {}
        }
    }
}

/// The folder that a pattern starts in, and the rest of the pattern.
fn split(pattern: &str) -> (&str, &str) {
    let special = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
    match pattern[..special].rfind('/') {
        Some(0) => ("/", &pattern[1..]),
        Some(end) => (&pattern[..end], &pattern[end + 1..]),
        None => (".", pattern),
    }
}

fn answer(value: &impl serde::Serialize) -> Result<Value, RpcError> {
    serde_json::to_value(value).map_err(|error| failed("not-done", error.to_string()))
}

fn failed(code: &str, message: String) -> RpcError {
    RpcError {
        code: code::FAILED,
        message,
        data: Some(json!({ "code": code })),
    }
}

/// An answer of a different kind than the act, which never happens.
fn odd() -> RpcError {
    failed("not-done", "the host can't answer this request".to_owned())
}

/// The error that a skill gets when an act was not done. A refusal has its own code, and the permission that is needed.
fn wrong(error: &ActError) -> RpcError {
    match error {
        ActError::Refused(refusal) => RpcError {
            code: code::REFUSED,
            message: refusal.to_string(),
            data: Some(json!({ "code": refusal.code, "needed": refusal.needed })),
        },
        ActError::Changed => RpcError {
            code: code::REFUSED,
            message: error.to_string(),
            data: Some(json!({ "code": "changed" })),
        },
        ActError::Execution(inner) if inner.is_refusal() => RpcError {
            code: code::REFUSED,
            message: error.to_string(),
            data: Some(json!({ "code": "never" })),
        },
        ActError::Elsewhere(inner) => failed(inner.code, inner.message.clone()),
        ActError::Execution(inner) => failed(undone(inner), error.to_string()),
        ActError::Store(_) => failed("not-done", error.to_string()),
    }
}

/// The code for why an act was not done; shims that imitate file APIs need to distinguish them.
fn undone(error: &ExecutionError) -> &'static str {
    match error {
        ExecutionError::TooLarge { .. } => "too-large",
        ExecutionError::File { source, .. } => match source.kind() {
            ErrorKind::NotFound => "not-found",
            ErrorKind::IsADirectory => "is-folder",
            ErrorKind::NotADirectory => "not-folder",
            _ => "not-done",
        },
        _ => "not-done",
    }
}

/// The code for why a file of the skill itself was not read. A snapshot contains only files: a folder exists if there are files below it.
fn unread(held: &Snapshot, path: &str, error: &ReadError) -> &'static str {
    let path = Path::new(path);
    let mut files = held.files.iter();
    match error {
        _ if files
            .any(|file| file.path.as_path() != path && file.path.as_path().starts_with(path)) =>
        {
            "is-folder"
        }
        ReadError::NotFound(_) => "not-found",
        ReadError::TooLarge { .. } => "too-large",
        _ => "not-done",
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_pattern_begins_in_a_folder() {
        for (pattern, expected) in [
            ("*.rs", (".", "*.rs")),
            ("src/**/*.rs", ("src", "**/*.rs")),
            ("src/lib.rs", ("src", "lib.rs")),
            ("/etc/*", ("/etc", "*")),
            ("/*", ("/", "*")),
            ("../x/{a,b}/c", ("../x", "{a,b}/c")),
            ("", (".", "")),
        ] {
            assert_eq!(split(pattern), expected, "{pattern}");
        }
    }
}
