//! The requests of daemon clients: bodies of HTTP requests, and messages over a WebSocket.

use serde::Deserialize;
use serde_json::Value;

/// The arguments of a skill: one string as the user types it, or a list of words.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ArgumentsField {
    /// One string; spaces separate its words, quotes keep them together.
    Text(String),
    /// Words.
    Words(Vec<String>),
}

impl Default for ArgumentsField {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// `POST /skills/{name}/render`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RenderRequest {
    /// Its arguments.
    pub arguments: ArgumentsField,
    /// Only the body, without the frame with its name and folder.
    pub raw: bool,
    /// Leave commands unchanged: nothing runs.
    pub no_exec: bool,
    /// How permissions that are not approved are decided.
    pub approvals: ApprovalsField,
}

/// How permissions that are not approved are decided.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ApprovalsField {
    /// The request is refused; the error contains the command that approves them.
    #[default]
    Refuse,
    /// The request waits for an answer to `POST /approvals/{id}`.
    Ask,
}

/// `POST /skills/{name}/execute`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ExecuteRequest {
    /// Its arguments.
    pub arguments: ArgumentsField,
    /// The input of a workflow, in place of the arguments.
    pub input: Option<Value>,
    /// The workflow, if it has several.
    pub workflow: Option<String>,
    /// The model, as PROVIDER/NAME, in place of the configured one.
    pub model: Option<String>,
    /// How permissions that are not approved are decided.
    pub approvals: ApprovalsField,
}

/// `POST /skills/{name}/tools/{tool}`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CallRequest {
    /// The input of the tool.
    pub input: Value,
    /// How permissions that are not approved are decided.
    pub approvals: ApprovalsField,
}

/// `POST /scan`: a skill by name, or a skill's folder.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ScanRequest {
    /// Name of the skill.
    pub name: Option<String>,
    /// Path of a skill's folder.
    pub path: Option<String>,
}

/// `POST /select`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SelectRequest {
    /// The task.
    pub task: String,
    /// The maximum number of skills, best first; skills that the task requires are always included.
    pub top: Option<usize>,
    /// Files that the task is about, in place of all files of the project.
    #[serde(default)]
    pub files: Vec<String>,
    /// Languages that the task is about, in place of those of the files.
    #[serde(default)]
    pub languages: Vec<String>,
    /// Whether the task is to write code; if absent, its words decide.
    pub coding: Option<bool>,
    /// The cost of mistakes.
    #[serde(default)]
    pub risk: RiskField,
    /// The field of the task: a word of a skill's category or tags.
    pub domain: Option<String>,
}

/// `POST /why`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WhyRequest {
    /// The task.
    pub task: String,
    /// Only this skill, with the triggers that don't match.
    pub skill: Option<String>,
    /// The cost of mistakes.
    #[serde(default)]
    pub risk: RiskField,
    /// The maximum number of skills.
    pub limit: Option<usize>,
}

/// The cost of mistakes.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RiskField {
    /// Low.
    #[default]
    Low,
    /// Medium: the permissions of skills are shown.
    Medium,
    /// High: skills that write or run commands are left out unless the task names them.
    High,
}

/// `POST /compose`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ComposeRequest {
    /// Names of the skills.
    pub skills: Vec<String>,
    /// Whether the agent will write code.
    #[serde(default)]
    pub coding: bool,
}

/// `POST /permissions`: a permanent answer, for exactly the bytes that the user saw.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PermitRequest {
    /// Name of the skill.
    pub skill: String,
    /// The digest of the skill's files when its permissions were shown. If the files have changed since, the answer is refused.
    pub digest: String,
    /// The permissions, as in `shell:exec(git *)`; if empty, all that it requests.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// The answer.
    pub decision: DecisionField,
}

/// An answer about permissions.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DecisionField {
    /// Allowed from now on.
    Allow,
    /// Denied from now on.
    Deny,
}

/// `DELETE /permissions`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ForgetRequest {
    /// Name of the skill.
    pub skill: String,
    /// The permissions; if empty, all answers about the skill are deleted.
    #[serde(default)]
    pub permissions: Vec<String>,
}

/// `POST /approvals/{id}`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AnswerRequest {
    /// The answer. An answer that the question does not offer counts as no.
    pub answer: AnswerField,
}

/// An answer to a question.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerField {
    /// For this act, or this run of the skill.
    Once,
    /// Until the session ends.
    Session,
    /// For these bytes of the skill, from now on.
    Always,
    /// It is denied.
    No,
}

/// `POST /sessions`: a task for an agent.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StartRequest {
    /// The task: the first message.
    pub task: String,
    /// The model, as PROVIDER/NAME, in place of the configured one.
    pub model: Option<String>,
    /// Skills that are active from the start.
    #[serde(default)]
    pub skills: Vec<String>,
    /// The id of a session that has ended, to continue it.
    pub resume: Option<String>,
    /// Whether the agent only assigns parts of the task to sub-agents.
    #[serde(default)]
    pub orchestrate: bool,
    /// How permissions that are not approved are decided.
    #[serde(default = "ask")]
    pub approvals: ApprovalsField,
}

fn ask() -> ApprovalsField {
    ApprovalsField::Ask
}

/// `POST /sessions/{id}/messages`.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MessageRequest {
    /// The message.
    pub text: String,
}

/// A message over the WebSocket. Every one but `auth` has an `id` that its answer repeats.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SocketRequest {
    /// Sends the token: the first message, if the upgrade did not contain it.
    Auth {
        /// The token.
        token: String,
    },
    /// The reply is `skills_list`.
    ListSkills {
        /// Words in the name or description.
        #[serde(default)]
        query: Option<String>,
        /// A status, as in the list.
        #[serde(default)]
        status: Option<String>,
        /// The maximum number of skills.
        #[serde(default)]
        limit: Option<usize>,
        /// The `next_cursor` of the previous page.
        #[serde(default)]
        cursor: Option<String>,
    },
    /// The reply is `skill_result`.
    ExecuteSkill {
        /// Name of the skill.
        name: String,
        /// How it is executed.
        #[serde(flatten)]
        how: SocketExecute,
    },
    /// The reply is `scan_result`.
    ScanSkill {
        /// Name of the skill.
        #[serde(default)]
        name: Option<String>,
        /// Path of a skill's folder.
        #[serde(default)]
        path: Option<String>,
    },
    /// The reply is `subscribed`, followed by `skills_changed` for each change.
    Subscribe,
}

/// How a skill is executed, over the WebSocket.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SocketExecute {
    /// Its arguments.
    pub arguments: ArgumentsField,
    /// The input of a workflow, in place of the arguments.
    pub input: Option<Value>,
    /// The workflow, if it has several.
    pub workflow: Option<String>,
    /// The model, as PROVIDER/NAME, in place of the configured one.
    pub model: Option<String>,
    /// How permissions that are not approved are decided.
    pub approvals: ApprovalsField,
}

impl From<SocketExecute> for ExecuteRequest {
    fn from(how: SocketExecute) -> Self {
        Self {
            arguments: how.arguments,
            input: how.input,
            workflow: how.workflow,
            model: how.model,
            approvals: how.approvals,
        }
    }
}
