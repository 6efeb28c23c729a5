//! The manifest: everything a SKILL.md or SKILL.yaml says.
//!
//! One type for both files and for all dialects. Everything that is parsed is kept, and everything
//! that is kept is shown by `metier info`. Free-form parts stay JSON, verbatim.

use std::time::Duration;

use crate::{card::Card, permission::Want};

pub use serde_json::Value as Json;

/// The one description that both file formats are read into.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The part that lists, prompts and eligibility need.
    pub card: Card,
    /// Who made it, under which terms, where to read more.
    pub about: About,
    /// How it is invoked.
    pub invocation: Invocation,
    /// Which tools it asks for, and to which it limits itself.
    pub tools: ToolRules,
    /// What it promises and expects when it is composed with others.
    pub contract: Contract,
    /// When it offers itself.
    pub triggers: Triggers,
    /// What it wants to be permitted.
    pub wants: Vec<Want>,
    /// The code behind it.
    pub code: Code,
    /// `metadata`, verbatim.
    pub metadata: Json,
    /// Fields that nobody knows, verbatim.
    pub unknown: Vec<(Box<str>, Json)>,
}

/// Who made it, under which terms.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct About {
    /// Licence.
    pub license: Option<Box<str>>,
    /// What it needs, in words.
    pub compatibility: Option<Box<str>>,
    /// Home page.
    pub homepage: Option<Box<str>>,
    /// Author.
    pub author: Option<Box<str>>,
    /// Category.
    pub category: Option<Box<str>>,
    /// Words to find it by.
    pub tags: Vec<Box<str>>,
    /// The Codex sidecar's interface block (`agents/openai.yaml`), verbatim.
    pub interface: Option<Json>,
    /// The Codex sidecar's tool dependencies, verbatim.
    pub sidecar_tools: Option<Json>,
    /// `compatibility` as SKILL.yaml has it: versions and platforms.
    pub platforms: Option<Json>,
}

/// Where a skill runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Context {
    /// In the conversation.
    #[default]
    Inline,
    /// In a session of its own.
    Fork,
}

/// How a skill is invoked.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Invocation {
    /// Inline or fork.
    pub context: Context,
    /// The kind of sub-agent for a fork.
    pub agent: Option<Box<str>>,
    /// Whether a fork runs in the background.
    pub background: Option<bool>,
    /// The model to use.
    pub model: Option<Box<str>>,
    /// The effort to use.
    pub effort: Option<Box<str>>,
    /// What to show as argument help.
    pub argument_hint: Option<Box<str>>,
    /// Names of positional arguments.
    pub arguments: Vec<Box<str>>,
    /// Files that make a model load it.
    pub paths: Vec<Box<str>>,
    /// The shell of its commands.
    pub shell: Option<Box<str>>,
    /// Hooks, verbatim.
    pub hooks: Option<Json>,
    /// OpenClaw: dispatch the slash command to this tool.
    pub dispatch_tool: Option<Box<str>>,
    /// OpenClaw: how the arguments reach that tool.
    pub dispatch_arguments: Option<Box<str>>,
}

/// Four lists of tools, kept apart because they mean different things.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ToolRules {
    /// `allowed-tools`: asks for pre-approval.
    pub preapprove: Vec<Box<str>>,
    /// `disallowed-tools`: not available while active.
    pub disallow: Vec<Box<str>>,
    /// `allowed_tools`: nothing else may be called.
    pub only: Option<Vec<Box<str>>>,
    /// `forbidden_tools`: never.
    pub forbid: Vec<Box<str>>,
}

/// What a skill promises and expects.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Contract {
    /// The steps to follow.
    pub execution_protocol: Vec<Box<str>>,
    /// What must hold before; prose, or `{file}`, `{schema}`, `{command}`.
    pub preconditions: Vec<Json>,
    /// What must hold after.
    pub postconditions: Vec<Json>,
    /// JSON Schema or prose.
    pub output_contract: Option<Json>,
    /// With whom it works.
    pub compatibility_rules: Vec<CompatibilityRule>,
    /// Whom it needs beside it.
    pub composability_rules: Vec<ComposabilityRule>,
    /// With whom it can't be.
    pub conflicts_with: Vec<Box<str>>,
}

/// `compatibility_rules[]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompatibilityRule {
    /// The other skill.
    pub with: Box<str>,
    /// Which versions of it.
    pub version: Option<Box<str>>,
    /// Whether they go together.
    pub compatible: bool,
    /// Why not.
    pub reason: Option<Box<str>>,
}

/// `composability_rules[]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposabilityRule {
    /// The other skill.
    pub with: Box<str>,
    /// Whether it must be there.
    pub required: bool,
    /// Whether this skill works before or after the other one.
    pub order: Option<SkillOrder>,
}

/// `composability_rules[].order`.
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

/// When a skill offers itself.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Triggers {
    /// File globs.
    pub files: Vec<Box<str>>,
    /// Words in the task.
    pub keywords: Vec<Box<str>>,
    /// Programming languages.
    pub languages: Vec<Box<str>>,
    /// `interactive`, `headless`, `wiki`.
    pub modes: Vec<Box<str>>,
}

/// What code may use up, where it says so; else the host decides. More than the host has can't be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Limits {
    /// Memory in MiB.
    pub memory_mb: Option<u64>,
    /// Instructions in a call, about.
    pub fuel: Option<u64>,
    /// How long a call may take.
    pub timeout: Option<Duration>,
}

impl Limits {
    /// The most memory, in MiB.
    pub const MAX_MEMORY_MB: u64 = 512;
    /// The most fuel.
    pub const MAX_FUEL: u64 = 1_000_000_000_000;
    /// The longest call.
    pub const MAX_TIMEOUT: Duration = Duration::from_secs(600);

    /// Whether it says anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The code behind a skill.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Code {
    /// The file that is run.
    pub entrypoint: Option<Box<str>>,
    /// How much it may use up.
    pub limits: Limits,
    /// The file with the system prompt.
    pub system_prompt_file: Option<Box<str>>,
    /// Files whose text is added to the prompt.
    pub context_files: Vec<Box<str>>,
    /// How many tokens that may take.
    pub max_context_tokens: Option<u32>,
    /// Tools that it offers.
    pub tools: Vec<ToolDefinition>,
    /// Rules for the scanner, verbatim.
    pub security_rules: Option<Json>,
    /// Sections for the wiki, verbatim.
    pub wiki: Option<Json>,
}

/// A tool that a skill offers.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: Box<str>,
    /// What it does.
    pub description: Box<str>,
    /// The JSON Schema of its input, if the manifest has one.
    pub input_schema: Option<Json>,
}
