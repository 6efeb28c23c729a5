//! The wire: what a skill that runs outside and its host say to each other.
//!
//! JSON-RPC 2.0, one message a line. The host asks ([`Initialize`], [`ToolExecute`], [`HookHandle`], [`WorkflowRun`],
//! [`ScannerRun`], `shutdown`), and while it waits the skill may ask the host ([`HostRequest`]). A request of the skill that is
//! not granted gets the error [`code::REFUSED`] with the reason.
//!
//! ```text
//! → {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":1,"skill":"greeter",…}}
//! ← {"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"greet","description":"…","input_schema":{}}]}}
//! → {"jsonrpc":"2.0","id":2,"method":"tool/execute","params":{"name":"greet","input":{"who":"Ada"}}}
//! ← {"jsonrpc":"2.0","id":1,"method":"host/read_file","params":{"path":"greeting.txt"}}
//! → {"jsonrpc":"2.0","id":1,"result":{"content":"Hello"}}
//! ← {"jsonrpc":"2.0","id":2,"result":{"output":"Hello, Ada"}}
//! ```

use std::collections::BTreeMap;

#[cfg(feature = "guest")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::HookPhase;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;
/// The longest line that either side reads, in bytes.
pub const MAX_FRAME: usize = 4 << 20;

/// Names of the methods that the host calls.
pub mod method {
    /// Say what you contribute.
    pub const INITIALIZE: &str = "initialize";
    /// Execute a tool.
    pub const TOOL: &str = "tool/execute";
    /// Handle a hook.
    pub const HOOK: &str = "hook/handle";
    /// Run a workflow.
    pub const WORKFLOW: &str = "workflow/run";
    /// Run a scanner.
    pub const SCANNER: &str = "scanner/run";
    /// Let one handler of an OpenClaw hook see an event.
    pub const OPENCLAW: &str = "openclaw/handle";
    /// Come to an end.
    pub const SHUTDOWN: &str = "shutdown";
    /// Nobody waits for the answer to that request any more (a notification).
    pub const CANCEL: &str = "cancel";
}

/// Codes of errors.
pub mod code {
    /// That was no JSON.
    pub const PARSE: i32 = -32_700;
    /// That was JSON, but no message.
    pub const INVALID: i32 = -32_600;
    /// There is no such method.
    pub const METHOD: i32 = -32_601;
    /// The method takes other parameters.
    pub const PARAMS: i32 = -32_602;
    /// It went wrong inside.
    pub const INTERNAL: i32 = -32_603;
    /// It is not permitted; the message says why.
    pub const REFUSED: i32 = -32_001;
    /// It was permitted and did not work: no such file, no such host, no model.
    pub const FAILED: i32 = -32_002;
}

/// `initialize`: who you are here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Initialize {
    /// The version of this protocol.
    pub protocol: u32,
    /// The skill's name.
    pub skill: String,
    /// The skill's folder. Files below it may be read without a permission.
    pub directory: String,
    /// The folder in which relative paths begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// What the user configured for the skill.
    #[serde(default)]
    pub config: Value,
    /// What was granted.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// The file to begin with, below the folder; for interpreters of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// The skill's source files by path; for interpreters of ours, which can't open any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, String>,
    /// Handlers of OpenClaw hooks, in place of an entrypoint; for interpreters of ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<Handler>,
    /// Variables that were granted and that no program of a skill has, such as `HOME`; for interpreters that can't ask for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
}

/// A function that handles an OpenClaw hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Handler {
    /// The file, below the skill's folder.
    pub file: String,
    /// What the file calls it: `default`, or another name that it exports.
    pub export: String,
}

/// The answer to `initialize`: everything that the skill contributes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Contributions {
    /// Tools that a model may call.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// Phases at which it steps in.
    #[serde(default)]
    pub hooks: Vec<HookSpec>,
    /// Workflows that can be run by name.
    #[serde(default)]
    pub workflows: Vec<WorkflowSpec>,
    /// Scanners for files.
    #[serde(default)]
    pub scanners: Vec<ScannerSpec>,
    /// Who the code says that it is; it must be whom SKILL.yaml says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Manifest>,
    /// Handlers of OpenClaw hooks that could not be loaded; for interpreters of ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_handlers: Vec<FailedHandler>,
}

/// A handler of an OpenClaw hook that could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct FailedHandler {
    /// Its position in `handlers` of `initialize`.
    pub handler: usize,
    /// The file and the line, and what is wrong there.
    pub reason: String,
}

/// Who the code says that it is: built and copied elsewhere it still knows what it was built as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Manifest {
    /// The skill's name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Manifest {
    /// This name and this version, such as `env!("CARGO_PKG_VERSION")`.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let (name, version) = (name.into(), version.into());
        Self { name, version }
    }
}

/// A tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ToolSpec {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it does, for a model.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its input.
    #[serde(default = "any_object")]
    pub input_schema: Value,
}

fn any_object() -> Value {
    serde_json::json!({ "type": "object" })
}

/// A phase at which a skill steps in: its name alone, or with what else is to be said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
#[serde(untagged)]
pub enum HookSpec {
    /// Only the phase.
    Phase(HookPhase),
    /// The phase and its ways.
    Full {
        /// The phase.
        phase: HookPhase,
        /// Whether the call is cancelled when this hook fails; only skills of the type `security-rule` may say so.
        #[serde(default)]
        fail_closed: bool,
    },
}

impl HookSpec {
    /// The phase.
    #[must_use]
    pub const fn phase(self) -> HookPhase {
        match self {
            Self::Phase(phase) | Self::Full { phase, .. } => phase,
        }
    }

    /// Whether a failure of this hook cancels the call.
    #[must_use]
    pub const fn fail_closed(self) -> bool {
        matches!(
            self,
            Self::Full {
                fail_closed: true,
                ..
            }
        )
    }
}

impl From<HookPhase> for HookSpec {
    fn from(phase: HookPhase) -> Self {
        Self::Phase(phase)
    }
}

/// A workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct WorkflowSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
}

/// A scanner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ScannerSpec {
    /// Its name.
    pub name: String,
}

/// `tool/execute`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ToolExecute {
    /// The tool.
    pub name: String,
    /// Its input, as the schema says.
    #[serde(default)]
    pub input: Value,
    /// The session that it is called in.
    #[serde(default)]
    pub session: String,
}

/// The answer to `tool/execute`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ToolOutput {
    /// What came of it: a text or any JSON.
    #[serde(default)]
    pub output: Value,
    /// Whether it went wrong, and `output` says how.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// `hook/handle`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct HookHandle {
    /// The phase.
    pub phase: HookPhase,
    /// What is happening, as the hooks before left it.
    #[serde(default)]
    pub event: Value,
}

/// The answer to `hook/handle`; with neither, everything stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct HookAnswer {
    /// The event as it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Value>,
    /// The call must not happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Cancelled>,
}

impl HookAnswer {
    /// Everything stays as it is.
    #[must_use]
    pub const fn unchanged() -> Self {
        Self {
            event: None,
            cancel: None,
        }
    }

    /// This is how it goes on.
    #[must_use]
    pub const fn changed(event: Value) -> Self {
        Self {
            event: Some(event),
            cancel: None,
        }
    }

    /// It must not happen.
    #[must_use]
    pub fn cancelled(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            event: None,
            cancel: Some(Cancelled { reason }),
        }
    }
}

/// Why a call must not happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Cancelled {
    /// Told to whoever called.
    pub reason: String,
}

/// `workflow/run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct WorkflowRun {
    /// The workflow.
    pub name: String,
    /// Its input; from the command line `{"arguments": […]}`.
    #[serde(default)]
    pub input: Value,
}

/// The answer to `workflow/run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct WorkflowOutput {
    /// What came of it.
    #[serde(default)]
    pub output: Value,
}

/// `scanner/run`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ScannerRun {
    /// The scanner.
    pub name: String,
    /// What to look at.
    pub files: Vec<ScannedFile>,
}

/// A file for a scanner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ScannedFile {
    /// Below the scanned skill's folder.
    pub path: String,
    /// Its text.
    pub content: String,
}

impl ScannedFile {
    /// Something that is wrong in this file: `info`, `warning` or `critical`; the line counts from 1.
    #[must_use]
    pub fn finding(&self, rule: &str, severity: &str, line: u32, message: &str) -> FoundByScanner {
        FoundByScanner {
            rule: Some(rule.to_owned()),
            severity: severity.to_owned(),
            file: self.path.clone(),
            line,
            message: message.to_owned(),
        }
    }
}

/// The answer to `scanner/run`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ScannerOutput {
    /// What was found.
    #[serde(default)]
    pub findings: Vec<FoundByScanner>,
}

/// Something that a scanner found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct FoundByScanner {
    /// Which rule; it is shown behind the skill's name.
    #[serde(default)]
    pub rule: Option<String>,
    /// `info`, `warning` or `critical`.
    pub severity: String,
    /// The file, as it was given.
    #[serde(default)]
    pub file: String,
    /// The line, from 1.
    #[serde(default)]
    pub line: u32,
    /// What is wrong there.
    pub message: String,
}

/// `openclaw/handle`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct OpenclawHandle {
    /// Which of [`Initialize::handlers`], from 0.
    pub handler: usize,
    /// What is happening.
    pub event: OpenclawEvent,
}

/// An event as a handler of an OpenClaw hook gets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenclawEvent {
    /// `agent`, `command`, `session`, `gateway` or `message`.
    pub r#type: String,
    /// Such as `bootstrap` or `new`.
    pub action: String,
    /// Whose session it is.
    #[serde(default)]
    pub session_key: String,
    /// When, as in RFC 3339; the handler sees a `Date`.
    pub timestamp: String,
    /// What the user is told; a handler adds to it.
    #[serde(default)]
    pub messages: Value,
    /// All the rest; a handler changes it.
    #[serde(default)]
    pub context: Value,
}

/// The answer to `openclaw/handle`: what a handler can change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct OpenclawAnswer {
    /// The event as the handler left it.
    pub event: OpenclawChange,
}

/// The two parts of an event that a handler can change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct OpenclawChange {
    /// What the user is told.
    #[serde(default)]
    pub messages: Value,
    /// All the rest.
    #[serde(default)]
    pub context: Value,
}

/// What a skill may ask its host, each with its permission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
#[serde(tag = "method", content = "params")]
pub enum HostRequest {
    /// `file:read`, or a file of the skill itself → [`FileContent`].
    #[serde(rename = "host/read_file")]
    ReadFile {
        /// Absolute, or from the project.
        path: String,
    },
    /// `file:write` → `{}`.
    #[serde(rename = "host/write_file")]
    WriteFile {
        /// Absolute, or from the project.
        path: String,
        /// All of its new content.
        content: String,
    },
    /// `file:read` of the folder where the pattern begins → [`Paths`].
    #[serde(rename = "host/glob")]
    Glob {
        /// Such as `src/**/*.rs`, from the project.
        pattern: String,
    },
    /// `file:read` of the folder → [`Matches`].
    #[serde(rename = "host/grep")]
    Grep {
        /// A regular expression.
        pattern: String,
        /// A file or folder; the project if there is none.
        #[serde(default)]
        path: Option<String>,
        /// Which files, such as `*.rs`.
        #[serde(default)]
        glob: Option<String>,
    },
    /// `shell:exec` → [`Ended`].
    #[serde(rename = "host/exec")]
    Exec {
        /// A line for a shell.
        command: String,
    },
    /// `net:fetch` → [`Fetched`].
    #[serde(rename = "host/fetch")]
    Fetch {
        /// The whole URL.
        url: String,
        /// `GET` if there is none.
        #[serde(default)]
        method: Option<String>,
        /// Headers.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// The body.
        #[serde(default)]
        body: Option<String>,
    },
    /// `env:read` → [`Variable`].
    #[serde(rename = "host/env")]
    Env {
        /// The variable.
        name: String,
    },
    /// `env:write`, for later children of the same activation → `{}`.
    #[serde(rename = "host/set_env")]
    SetEnv {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
    },
    /// `git:read`, or `git:write` where the command changes something → [`Ended`].
    #[serde(rename = "host/git")]
    Git {
        /// What follows `git`.
        arguments: Vec<String>,
    },
    /// `llm:call` → [`Answered`].
    #[serde(rename = "host/llm")]
    Llm {
        /// What to ask.
        prompt: String,
        /// What to tell it first.
        #[serde(default)]
        system: Option<String>,
        /// Which model; the session's own if there is none.
        #[serde(default)]
        model: Option<String>,
    },
    /// `skill:invoke` → [`ToolOutput`].
    #[serde(rename = "host/invoke_skill")]
    InvokeSkill {
        /// The other skill.
        name: String,
        /// One of its tools; without one its workflow.
        #[serde(default)]
        tool: Option<String>,
        /// What it is given.
        #[serde(default)]
        input: Value,
    },
    /// No permission; may be a notification → `{}`.
    #[serde(rename = "host/log")]
    Log {
        /// `debug`, `info`, `warn` or `error`.
        #[serde(default)]
        level: Option<String>,
        /// What to write down.
        message: String,
    },
}

/// The answer to `host/read_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct FileContent {
    /// Its text.
    pub content: String,
}

/// The answer to `host/glob`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Paths {
    /// Files, from the project, in order.
    pub paths: Vec<String>,
    /// Whether there are more.
    #[serde(default)]
    pub truncated: bool,
}

/// The answer to `host/grep`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Matches {
    /// Lines that match.
    pub matches: Vec<Match>,
    /// Whether there are more.
    #[serde(default)]
    pub truncated: bool,
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Match {
    /// The file.
    pub path: String,
    /// The line's number, from 1.
    pub line: u64,
    /// The line.
    pub text: String,
}

/// The answer to `host/exec` and `host/git`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Ended {
    /// The exit code; nothing if it was ended.
    pub exit: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// Whether it printed more than was kept.
    #[serde(default)]
    pub truncated: bool,
}

/// The answer to `host/fetch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Fetched {
    /// The status.
    pub status: u16,
    /// Headers; the names are in lower case.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body, as text.
    pub body: String,
}

/// The answer to `host/env`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Variable {
    /// Nothing if it isn't set.
    pub value: Option<String>,
}

/// The answer to `host/llm`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Answered {
    /// What the model said.
    pub text: String,
}

/// An error of JSON-RPC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct RpcError {
    /// One of [`code`].
    pub code: i32,
    /// What happened.
    pub message: String,
    /// More, such as `{"code": "rate-limit"}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without more to say.
    #[must_use]
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Whether it is not permitted, rather than gone wrong.
    #[must_use]
    pub const fn is_refused(&self) -> bool {
        self.code == code::REFUSED
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RpcError {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_of_a_skill_is_its_method_and_its_parameters() {
        let request: HostRequest = serde_json::from_value(
            json!({"jsonrpc": "2.0", "id": 7, "method": "host/exec", "params": {"command": "ls"}}),
        )
        .unwrap();
        assert_eq!(
            request,
            HostRequest::Exec {
                command: "ls".into()
            }
        );
        let unknown = json!({"method": "host/format_disk", "params": {}});
        assert!(serde_json::from_value::<HostRequest>(unknown).is_err());
    }

    #[test]
    fn a_hook_is_a_word_or_says_more() {
        let hooks = json!(["activate", {"phase": "before_tool_call", "fail_closed": true}]);
        let hooks: Vec<HookSpec> = serde_json::from_value(hooks).unwrap();
        assert_eq!(hooks[0].phase(), HookPhase::Activate);
        assert!(!hooks[0].fail_closed() && hooks[1].fail_closed());
    }

    #[test]
    fn what_a_skill_leaves_out_is_not_there() {
        let nothing: Contributions = serde_json::from_value(json!({})).unwrap();
        assert_eq!(nothing, Contributions::default());
        let tool: ToolSpec = serde_json::from_value(json!({"name": "x"})).unwrap();
        assert_eq!(tool.input_schema, json!({"type": "object"}));
    }
}
