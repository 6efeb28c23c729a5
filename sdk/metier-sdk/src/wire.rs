//! The wire protocol: the messages between a skill that runs outside metier and its host.
//!
//! JSON-RPC 2.0, one message per line. The host calls ([`Initialize`], [`ToolExecute`], [`HookHandle`], [`WorkflowRun`],
//! [`ScannerRun`], `shutdown`); while it waits, the skill can send requests to the host ([`HostRequest`]). A request without a
//! permission gets the error [`code::REFUSED`] with the reason.
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

pub mod envelope;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;
/// The longest line that either side accepts, in bytes.
pub const MAX_FRAME: usize = 4 << 20;

/// Names of the methods that the host calls.
pub mod method {
    /// Returns what the skill contributes.
    pub const INITIALIZE: &str = "initialize";
    /// Executes a tool.
    pub const TOOL: &str = "tool/execute";
    /// Handles a hook.
    pub const HOOK: &str = "hook/handle";
    /// Runs a workflow.
    pub const WORKFLOW: &str = "workflow/run";
    /// Runs a scanner.
    pub const SCANNER: &str = "scanner/run";
    /// Passes an event to one handler of an OpenClaw hook.
    pub const OPENCLAW: &str = "openclaw/handle";
    /// Stops the skill.
    pub const SHUTDOWN: &str = "shutdown";
    /// Cancels the request with this id (a notification).
    pub const CANCEL: &str = "cancel";
}

/// Error codes.
pub mod code {
    /// The line is not JSON.
    pub const PARSE: i32 = -32_700;
    /// The line is JSON, but not a message.
    pub const INVALID: i32 = -32_600;
    /// There is no such method.
    pub const METHOD: i32 = -32_601;
    /// The parameters are not those of the method.
    pub const PARAMS: i32 = -32_602;
    /// Internal error.
    pub const INTERNAL: i32 = -32_603;
    /// Not permitted; the message contains the reason.
    pub const REFUSED: i32 = -32_001;
    /// Permitted, but failed: no such file, no such host, no model.
    pub const FAILED: i32 = -32_002;
}

/// The parameters of `initialize`: the skill and its environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Initialize {
    /// The version of this protocol.
    pub protocol: u32,
    /// The skill's name.
    pub skill: String,
    /// The skill's folder. Reading files below it requires no permission.
    pub directory: String,
    /// The folder that relative paths start from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The user's configuration for the skill.
    #[serde(default)]
    pub config: Value,
    /// The granted permissions.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// The entrypoint, below the folder; for metier's interpreters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<String>,
    /// The skill's source files by path; for metier's interpreters, which can't open files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<String, String>,
    /// Handlers of OpenClaw hooks, in place of an entrypoint; for metier's interpreters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<Handler>,
    /// Granted variables that a skill's programs don't get, such as `HOME`; for interpreters that can't request them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
}

/// A function that handles an OpenClaw hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Handler {
    /// The file, below the skill's folder.
    pub file: String,
    /// The name of the export: `default` or another one.
    pub export: String,
}

/// The answer to `initialize`: everything that the skill contributes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Contributions {
    /// Tools that a model can call.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// Phases with a hook.
    #[serde(default)]
    pub hooks: Vec<HookSpec>,
    /// Workflows that can be run by name.
    #[serde(default)]
    pub workflows: Vec<WorkflowSpec>,
    /// Scanners for files.
    #[serde(default)]
    pub scanners: Vec<ScannerSpec>,
    /// Name and version in the code; they must be those in SKILL.yaml.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Manifest>,
    /// Handlers of OpenClaw hooks that could not be loaded; for metier's interpreters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_handlers: Vec<FailedHandler>,
}

/// A handler of an OpenClaw hook that could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct FailedHandler {
    /// Its position in `handlers` of `initialize`.
    pub handler: usize,
    /// The file, the line and the problem.
    pub reason: String,
}

/// Name and version in the code: a built skill keeps them when it is copied elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Manifest {
    /// The skill's name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Manifest {
    /// A name and a version, such as `env!("CARGO_PKG_VERSION")`.
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
    /// A description for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its input.
    #[serde(default = "any_object")]
    pub input_schema: Value,
}

fn any_object() -> Value {
    serde_json::json!({ "type": "object" })
}

/// A hook: the name of its phase, or the phase with options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
#[serde(untagged)]
pub enum HookSpec {
    /// The phase, without options.
    Phase(HookPhase),
    /// The phase with options.
    Full {
        /// The phase.
        phase: HookPhase,
        /// Whether the call is cancelled when this hook fails; only for skills of the type `security-rule`.
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
    /// A human-readable description.
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

/// The parameters of `tool/execute`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ToolExecute {
    /// The name of the tool.
    pub name: String,
    /// The input, which matches the tool's schema.
    #[serde(default)]
    pub input: Value,
    /// The id of the session.
    #[serde(default)]
    pub session: String,
}

/// The answer to `tool/execute`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ToolOutput {
    /// The output: text or any JSON.
    #[serde(default)]
    pub output: Value,
    /// Whether the tool failed; `output` is the error then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// The parameters of `hook/handle`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct HookHandle {
    /// The phase.
    pub phase: HookPhase,
    /// The event, as the hooks before this one left it.
    #[serde(default)]
    pub event: Value,
}

/// The answer to `hook/handle`; without a field, the event stays unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct HookAnswer {
    /// The changed event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Value>,
    /// Cancels the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Cancelled>,
}

impl HookAnswer {
    /// Leaves the event unchanged.
    #[must_use]
    pub const fn unchanged() -> Self {
        Self {
            event: None,
            cancel: None,
        }
    }

    /// Changes the event.
    #[must_use]
    pub const fn changed(event: Value) -> Self {
        Self {
            event: Some(event),
            cancel: None,
        }
    }

    /// Cancels the call for this reason.
    #[must_use]
    pub fn cancelled(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            event: None,
            cancel: Some(Cancelled { reason }),
        }
    }
}

/// Why a hook cancelled a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Cancelled {
    /// The reason, for the caller.
    pub reason: String,
}

/// The parameters of `workflow/run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct WorkflowRun {
    /// The name of the workflow.
    pub name: String,
    /// The input; from the command line `{"arguments": […]}`.
    #[serde(default)]
    pub input: Value,
}

/// The answer to `workflow/run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct WorkflowOutput {
    /// The output.
    #[serde(default)]
    pub output: Value,
}

/// The parameters of `scanner/run`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ScannerRun {
    /// The name of the scanner.
    pub name: String,
    /// The files to scan.
    pub files: Vec<ScannedFile>,
}

/// A file for a scanner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct ScannedFile {
    /// The path below the scanned skill's folder.
    pub path: String,
    /// The content as text.
    pub content: String,
}

impl ScannedFile {
    /// A finding in this file. The severity is `info`, `warning` or `critical`; lines are counted from 1.
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
    /// The findings.
    #[serde(default)]
    pub findings: Vec<FoundByScanner>,
}

/// A finding of a scanner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct FoundByScanner {
    /// The rule, which is shown after the skill's name.
    #[serde(default)]
    pub rule: Option<String>,
    /// `info`, `warning` or `critical`.
    pub severity: String,
    /// The path of the file, as in the request.
    #[serde(default)]
    pub file: String,
    /// The line, counted from 1.
    #[serde(default)]
    pub line: u32,
    /// The problem.
    pub message: String,
}

/// The parameters of `openclaw/handle`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct OpenclawHandle {
    /// The position in [`Initialize::handlers`], from 0.
    pub handler: usize,
    /// The event.
    pub event: OpenclawEvent,
}

/// An event for a handler of an OpenClaw hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenclawEvent {
    /// `agent`, `command`, `session`, `gateway` or `message`.
    pub r#type: String,
    /// The action, such as `bootstrap` or `new`.
    pub action: String,
    /// The key of the session.
    #[serde(default)]
    pub session_key: String,
    /// The time in RFC 3339; the handler gets a `Date`.
    pub timestamp: String,
    /// Messages for the user; a handler can add to them.
    #[serde(default)]
    pub messages: Value,
    /// Everything else; a handler can change it.
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
    /// Messages for the user.
    #[serde(default)]
    pub messages: Value,
    /// Everything else.
    #[serde(default)]
    pub context: Value,
}

/// A request of a skill to its host, with the required permission and the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
#[serde(tag = "method", content = "params")]
pub enum HostRequest {
    /// `file:read`, or a file of the skill itself → [`FileContent`].
    #[serde(rename = "host/read_file")]
    ReadFile {
        /// An absolute path, or one relative to the project.
        path: String,
    },
    /// `file:write` → `{}`.
    #[serde(rename = "host/write_file")]
    WriteFile {
        /// An absolute path, or one relative to the project.
        path: String,
        /// The whole new content.
        content: String,
    },
    /// `file:read` of the folder that the pattern starts with → [`Paths`].
    #[serde(rename = "host/glob")]
    Glob {
        /// A pattern relative to the project, such as `src/**/*.rs`.
        pattern: String,
    },
    /// `file:read` of the folder → [`Matches`].
    #[serde(rename = "host/grep")]
    Grep {
        /// A regular expression.
        pattern: String,
        /// A file or folder; by default the project.
        #[serde(default)]
        path: Option<String>,
        /// A pattern for file names, such as `*.rs`.
        #[serde(default)]
        glob: Option<String>,
    },
    /// `shell:exec` → [`Ended`].
    #[serde(rename = "host/exec")]
    Exec {
        /// A command line for a shell.
        command: String,
    },
    /// `net:fetch` → [`Fetched`].
    #[serde(rename = "host/fetch")]
    Fetch {
        /// The URL.
        url: String,
        /// The HTTP method; by default `GET`.
        #[serde(default)]
        method: Option<String>,
        /// The headers of the request.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// The body of the request.
        #[serde(default)]
        body: Option<String>,
    },
    /// `env:read` → [`Variable`].
    #[serde(rename = "host/env")]
    Env {
        /// The name of the variable.
        name: String,
    },
    /// `env:write`, for programs that the skill starts later in this activation → `{}`.
    #[serde(rename = "host/set_env")]
    SetEnv {
        /// The name of the variable.
        name: String,
        /// Its value.
        value: String,
    },
    /// `git:read`, or `git:write` for commands that change something → [`Ended`].
    #[serde(rename = "host/git")]
    Git {
        /// The arguments after `git`.
        arguments: Vec<String>,
    },
    /// `llm:call` → [`Answered`].
    #[serde(rename = "host/llm")]
    Llm {
        /// The prompt.
        prompt: String,
        /// The system prompt.
        #[serde(default)]
        system: Option<String>,
        /// The model; by default that of the session.
        #[serde(default)]
        model: Option<String>,
    },
    /// `skill:invoke` → [`ToolOutput`].
    #[serde(rename = "host/invoke_skill")]
    InvokeSkill {
        /// The name of the other skill.
        name: String,
        /// One of its tools; by default its workflow is run.
        #[serde(default)]
        tool: Option<String>,
        /// The input of the tool or workflow.
        #[serde(default)]
        input: Value,
    },
    /// No permission; can be a notification → `{}`.
    #[serde(rename = "host/log")]
    Log {
        /// `debug`, `info`, `warn` or `error`.
        #[serde(default)]
        level: Option<String>,
        /// The line for the log.
        message: String,
    },
}

impl HostRequest {
    /// The names of all methods.
    pub const METHODS: [&'static str; 12] = [
        "host/read_file",
        "host/write_file",
        "host/glob",
        "host/grep",
        "host/exec",
        "host/fetch",
        "host/env",
        "host/set_env",
        "host/git",
        "host/llm",
        "host/invoke_skill",
        "host/log",
    ];

    /// The request with this method and these parameters.
    ///
    /// # Errors
    /// [`code::METHOD`] if there is no such method, [`code::PARAMS`] if it has other parameters.
    pub fn new(method: &str, params: Value) -> Result<Self, RpcError> {
        let shown = &method[..method.floor_char_boundary(80)];
        if !Self::METHODS.contains(&method) {
            let message = format!("there is no method `{shown}`");
            return Err(RpcError::new(code::METHOD, message));
        }
        let params = match params {
            Value::Null => Value::Object(serde_json::Map::new()),
            params => params,
        };
        let request = serde_json::json!({"method": method, "params": params});
        serde_json::from_value(request)
            .map_err(|error| RpcError::new(code::PARAMS, format!("`{shown}`: {error}")))
    }
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
    /// The files, relative to the project, sorted.
    pub paths: Vec<String>,
    /// Whether there are more.
    #[serde(default)]
    pub truncated: bool,
}

/// The answer to `host/grep`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Matches {
    /// The matching lines.
    pub matches: Vec<Match>,
    /// Whether there are more.
    #[serde(default)]
    pub truncated: bool,
}

/// A matching line.
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
    /// The exit code; `None` if the program was killed.
    pub exit: Option<i32>,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
    /// Whether output was dropped because there was too much.
    #[serde(default)]
    pub truncated: bool,
}

/// The answer to `host/fetch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Fetched {
    /// The HTTP status.
    pub status: u16,
    /// The headers; names are in lower case.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body as text.
    pub body: String,
}

/// The answer to `host/env`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Variable {
    /// The value; `None` if the variable is not set.
    pub value: Option<String>,
}

/// The answer to `host/llm`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct Answered {
    /// The answer of the model.
    pub text: String,
}

/// An error of JSON-RPC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "guest", derive(JsonSchema))]
pub struct RpcError {
    /// One of [`code`].
    pub code: i32,
    /// The message for the caller.
    pub message: String,
    /// Details, such as `{"code": "rate-limit"}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// An error without details.
    #[must_use]
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Whether the request was refused for lack of permission.
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
    }

    #[test]
    fn every_method_is_known_and_no_other() {
        let schema = schemars::schema_for!(HostRequest);
        let variants = schema.get("oneOf").and_then(Value::as_array).unwrap();
        let methods = variants.iter().map(|variant| {
            let name = &variant["properties"]["method"]["const"];
            name.as_str().unwrap().to_owned()
        });
        assert_eq!(methods.collect::<Vec<_>>(), HostRequest::METHODS);
        for (method, params, expected) in [
            ("host/format_disk", json!({}), code::METHOD),
            ("unknown variant", json!({}), code::METHOD),
            ("host/env", Value::Null, code::PARAMS),
            ("host/env", json!({"name": 7}), code::PARAMS),
        ] {
            let error = HostRequest::new(method, params).unwrap_err();
            assert_eq!(error.code, expected, "{error}");
        }
    }

    #[test]
    fn a_hook_is_a_name_or_a_map() {
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
