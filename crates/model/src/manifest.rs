//! The manifest: the complete content of a SKILL.md or SKILL.yaml.
//!
//! One type for both files and for all dialects. All parsed fields are kept, and `metier info` shows all of them.
//! Free-form parts stay JSON, verbatim.

use std::time::Duration;

use crate::{card::Card, permission::Want};

pub use serde_json::Value as Json;

/// The type that both file formats are read into.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillManifest {
    /// The part that lists, prompts and eligibility need.
    pub card: Card,
    /// Author, license, links and tags.
    pub about: Authorship,
    /// How it is invoked.
    pub invocation: InvocationRules,
    /// The tools that it requests or forbids.
    pub tools: ToolRules,
    /// Conditions and rules for composing it with others.
    pub contract: Contract,
    /// When it should be loaded.
    pub triggers: Triggers,
    /// The permissions that it requests.
    pub wants: Vec<Want>,
    /// Its code and prompt files.
    pub code: SkillCode,
    /// The field `metadata`, verbatim.
    pub metadata: Json,
    /// Unknown fields, verbatim.
    pub unknown: Vec<(Box<str>, Json)>,
}

/// Author, license, links and tags.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Authorship {
    /// The license, as written.
    pub license: Option<Box<str>>,
    /// Its requirements in prose.
    pub compatibility: Option<Box<str>>,
    /// The URL of its home page.
    pub homepage: Option<Box<str>>,
    /// The name of its author.
    pub author: Option<Box<str>>,
    /// The category, as written.
    pub category: Option<Box<str>>,
    /// Keywords for searching.
    pub tags: Vec<Box<str>>,
    /// The Codex sidecar's interface block (`agents/openai.yaml`), verbatim.
    pub interface: Option<Json>,
    /// The Codex sidecar's tool dependencies, verbatim.
    pub sidecar_tools: Option<Json>,
    /// `compatibility` of a SKILL.yaml: versions and platforms.
    pub platforms: Option<Json>,
}

/// Where a skill runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SkillContext {
    /// Within the conversation.
    #[default]
    Inline,
    /// In a separate session.
    Fork,
}

/// How a skill is invoked.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct InvocationRules {
    /// Whether it runs inline or in a fork.
    pub context: SkillContext,
    /// The kind of sub-agent for a fork.
    pub agent: Option<Box<str>>,
    /// Whether a fork runs in the background.
    pub background: Option<bool>,
    /// The model to use.
    pub model: Option<Box<str>>,
    /// The effort to use.
    pub effort: Option<Box<str>>,
    /// The help text for its arguments.
    pub argument_hint: Option<Box<str>>,
    /// The names of its positional arguments.
    pub arguments: Vec<Box<str>>,
    /// Globs of files that make a model load it.
    pub paths: Vec<Box<str>>,
    /// The shell for its commands.
    pub shell: Option<Box<str>>,
    /// The field `hooks`, verbatim.
    pub hooks: Option<Json>,
    /// OpenClaw: the tool that the slash command is dispatched to.
    pub dispatch_tool: Option<Box<str>>,
    /// OpenClaw: how the arguments are passed to that tool.
    pub dispatch_arguments: Option<Box<str>>,
}

/// Four lists of tools, kept apart because they mean different things.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ToolRules {
    /// `allowed-tools`: requests pre-approval.
    pub preapprove: Vec<Box<str>>,
    /// `disallowed-tools`: not available while active.
    pub disallow: Vec<Box<str>>,
    /// `allowed_tools`: no other tool may be called.
    pub only: Option<Vec<Box<str>>>,
    /// `forbidden_tools`: may never be called.
    pub forbid: Vec<Box<str>>,
}

/// Conditions and rules for composing a skill with others.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Contract {
    /// The steps to follow.
    pub execution_protocol: Vec<Box<str>>,
    /// Conditions before it runs; prose, or `{file}`, `{schema}`, `{command}`.
    pub preconditions: Vec<Json>,
    /// Conditions after it ran.
    pub postconditions: Vec<Json>,
    /// The form of its output: a JSON Schema or prose.
    pub output_contract: Option<Json>,
    /// The skills that it works with.
    pub compatibility_rules: Vec<CompatibilityRule>,
    /// The skills that it has to be combined with.
    pub composability_rules: Vec<ComposabilityRule>,
    /// The skills that it conflicts with.
    pub conflicts_with: Vec<Box<str>>,
}

/// An entry of `compatibility_rules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompatibilityRule {
    /// The name of the other skill.
    pub with: Box<str>,
    /// The versions of the other skill that the rule applies to.
    pub version: Option<Box<str>>,
    /// Whether they can be combined.
    pub compatible: bool,
    /// The author's reason.
    pub reason: Option<Box<str>>,
}

/// An entry of `composability_rules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposabilityRule {
    /// The name of the other skill.
    pub with: Box<str>,
    /// Whether the other skill is required.
    pub required: bool,
    /// Whether this skill runs before or after the other one.
    pub order: Option<SkillOrder>,
}

/// The value of `order` in `composability_rules`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillOrder {
    /// Before the other skill.
    Before,
    /// After the other skill.
    After,
}

impl SkillOrder {
    /// The value in a manifest.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// When a skill should be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Triggers {
    /// Globs of files in the project.
    pub files: Vec<Box<str>>,
    /// Words in the task.
    pub keywords: Vec<Box<str>>,
    /// Programming languages of the project.
    pub languages: Vec<Box<str>>,
    /// The modes `interactive`, `headless`, `wiki`.
    pub modes: Vec<Box<str>>,
}

/// Resource limits of the code; where not given, the host's defaults apply, and never more than the host's maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CodeLimits {
    /// Memory limit in MiB.
    pub memory_mb: Option<u64>,
    /// The approximate number of instructions in a call.
    pub fuel: Option<u64>,
    /// The time limit of a call.
    pub timeout: Option<Duration>,
}

impl CodeLimits {
    /// The maximum memory limit in MiB.
    pub const MAX_MEMORY_MB: u64 = 512;
    /// The maximum fuel of a call.
    pub const MAX_FUEL: u64 = 1_000_000_000_000;
    /// The maximum time limit of a call.
    pub const MAX_TIMEOUT: Duration = Duration::from_secs(600);

    /// Whether no limit is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The code and prompt files of a skill.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SkillCode {
    /// The file to run.
    pub entrypoint: Option<Box<str>>,
    /// Its resource limits.
    pub limits: CodeLimits,
    /// The file with the system prompt.
    pub system_prompt_file: Option<Box<str>>,
    /// Files whose text is added to the prompt.
    pub context_files: Vec<Box<str>>,
    /// The maximum number of tokens of those files.
    pub max_context_tokens: Option<u32>,
    /// The tools that it provides.
    pub tools: Vec<ToolDefinition>,
    /// Rules for the scanner, verbatim.
    pub security_rules: Option<Json>,
    /// Sections for the wiki, verbatim.
    pub wiki: Option<Json>,
}

/// A tool that a skill provides.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// The name of the tool.
    pub name: Box<str>,
    /// The description of the tool, for a model.
    pub description: Box<str>,
    /// The JSON Schema of its input, if the manifest has one.
    pub input_schema: Option<Json>,
}
