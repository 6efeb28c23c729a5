//! The table of keys: the one place to add, change or remove a key.

use crate::key::{Fallback, Item, Key, Kind, Project, Rule};

/// `METIER_…` variables that are not keys: metier's home, logging, the clock in tests, and what metier passes to
/// child processes.
pub static OTHER_VARIABLES: &[&str] = &[
    "METIER_HOME",
    "METIER_LOG",
    "METIER_LOG_FORMAT",
    "METIER_NOW",
    "METIER_SKILL_DIR",
    "METIER_SESSION_ID",
    "METIER_PROJECT_DIR",
];

/// Keys that have no effect in this version. `metier config` and the reference page say so.
pub(crate) static WITHOUT_EFFECT: &[Key] = &[
    SKILLS_LOAD_WATCH,
    SKILLS_LOAD_WATCH_DEBOUNCE_MS,
    SKILLS_REGISTRY_URL,
];

/// Names each row, so that values are read by name, and puts all rows into [`KEYS`]: a key that is read is in the
/// table.
macro_rules! keys {
    ($($name:ident = $row:expr;)+) => {
        $(pub(crate) const $name: Key = $row;)+

        /// All keys, in the order in which they are shown.
        pub static KEYS: &[Key] = &[$($name),+];
    };
}

keys! {
    SKILLS_ENABLED = Key {
        path: "skills.enabled",
        kind: Kind::Bool,
        default: Fallback::Bool(true),
        env: Some("METIER_SKILLS_ENABLED"),
        alias: None,
        project: Project::Tighten(Rule::Only("false")),
        doc: "The main switch: if `false`, no skill is offered or run, including the core tools of an agent.",
    };
    SKILLS_VALIDATION = Key {
        path: "skills.validation",
        kind: Kind::Choice(&["lenient", "strict"]),
        default: Fallback::Text("lenient"),
        env: Some("METIER_SKILLS_VALIDATION"),
        alias: None,
        project: Project::Tighten(Rule::Only("strict")),
        doc: "Whether a skill that violates the specification is loaded with warnings (`lenient`) or not at all (`strict`).",
    };
    SKILLS_LOAD_EXTRA_DIRS = Key {
        path: "skills.load.extra_dirs",
        kind: Kind::List(Item::Path),
        default: Fallback::Empty,
        env: Some("METIER_SKILLS_LOAD_EXTRA_DIRS"),
        alias: Some("extraDirs"),
        project: Project::Never,
        doc: "Additional folders to search for skills, with the lowest precedence.",
    };
    SKILLS_LOAD_AGENTS = Key {
        path: "skills.load.agents",
        kind: Kind::Bool,
        default: Fallback::Bool(true),
        env: Some("METIER_SKILLS_LOAD_AGENTS"),
        alias: None,
        project: Project::Tighten(Rule::Only("false")),
        doc: "Whether the skill folders of other agents on this machine are also searched.",
    };
    SKILLS_LOAD_WATCH = Key {
        path: "skills.load.watch",
        kind: Kind::Bool,
        default: Fallback::Bool(true),
        env: Some("METIER_SKILLS_LOAD_WATCH"),
        alias: None,
        project: Project::Tighten(Rule::Only("false")),
        doc: "Whether a running server reloads changed skills.",
    };
    SKILLS_LOAD_WATCH_DEBOUNCE_MS = Key {
        path: "skills.load.watch_debounce_ms",
        kind: Kind::Int(0),
        default: Fallback::Int(250),
        env: Some("METIER_SKILLS_LOAD_WATCH_DEBOUNCE_MS"),
        alias: Some("watchDebounceMs"),
        project: Project::Never,
        doc: "The number of milliseconds without further changes before a changed skill is read again.",
    };
    SKILLS_ALLOW_BUNDLED = Key {
        path: "skills.allow_bundled",
        kind: Kind::List(Item::Name),
        default: Fallback::Absent,
        env: Some("METIER_SKILLS_ALLOW_BUNDLED"),
        alias: Some("allowBundled"),
        project: Project::Tighten(Rule::Intersect),
        doc: "The built-in skills that may be used; all of them if not set.",
    };
    SKILLS_APPROVED = Key {
        path: "skills.approved",
        kind: Kind::List(Item::Approval),
        default: Fallback::Empty,
        env: Some("METIER_SKILLS_APPROVED"),
        alias: None,
        project: Project::Never,
        doc: "Skills whose permissions are approved in advance: your own and built-in ones as `name`, others as `source:name`, or bound to their content as `name@sha256:…`.",
    };
    SKILLS_ENTRIES_ENABLED = Key {
        path: "skills.entries.<name>.enabled",
        kind: Kind::Bool,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Tighten(Rule::Only("false")),
        doc: "Whether this skill may be used; true if not set.",
    };
    SKILLS_ENTRIES_ENV = Key {
        path: "skills.entries.<name>.env.<variable>",
        kind: Kind::Secret,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "An environment variable for the programs that this skill runs.",
    };
    SKILLS_ENTRIES_API_KEY = Key {
        path: "skills.entries.<name>.api_key",
        kind: Kind::Secret,
        default: Fallback::Absent,
        env: None,
        alias: Some("apiKey"),
        project: Project::Never,
        doc: "The value of this skill's primary environment variable.",
    };
    SKILLS_ENTRIES_VERSION = Key {
        path: "skills.entries.<name>.version",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "Which version to use when several skills have this name.",
    };
    SKILLS_SECURITY_SCAN_ON_LOAD = Key {
        path: "skills.security.scan_on_load",
        kind: Kind::Bool,
        default: Fallback::Bool(true),
        env: Some("METIER_SKILLS_SECURITY_SCAN_ON_LOAD"),
        alias: Some("scanOnLoad"),
        project: Project::Tighten(Rule::Only("true")),
        doc: "Whether a skill is scanned before its body is loaded.",
    };
    SKILLS_SECURITY_BLOCK_CRITICAL = Key {
        path: "skills.security.block_critical",
        kind: Kind::Bool,
        default: Fallback::Bool(true),
        env: Some("METIER_SKILLS_SECURITY_BLOCK_CRITICAL"),
        alias: Some("blockCritical"),
        project: Project::Tighten(Rule::Only("true")),
        doc: "Whether a critical finding or an incomplete scan blocks a skill; if `false`, it is a warning.",
    };
    SKILLS_SECURITY_ALLOWED_COMMAND_PREFIXES = Key {
        path: "skills.security.allowed_command_prefixes",
        kind: Kind::List(Item::Prefix),
        default: Fallback::Absent,
        env: Some("METIER_SKILLS_SECURITY_ALLOWED_COMMAND_PREFIXES"),
        alias: Some("allowedCommandPrefixes"),
        project: Project::Tighten(Rule::IntersectPrefixes),
        doc: "The first words that a `!command` may start with; no limit if not set.",
    };
    SKILLS_SECURITY_ON_CONFLICT = Key {
        path: "skills.security.on_conflict",
        kind: Kind::Choice(&["restrict", "reject"]),
        default: Fallback::Text("restrict"),
        env: Some("METIER_SKILLS_SECURITY_ON_CONFLICT"),
        alias: None,
        project: Project::Tighten(Rule::Only("reject")),
        doc: "What happens when skills of a set disagree about a tool: the strictest rule applies (`restrict`), or the set is rejected (`reject`).",
    };
    SKILLS_SECURITY_ON_COMMAND_ERROR = Key {
        path: "skills.security.on_command_error",
        kind: Kind::Choice(&["abort", "inline"]),
        default: Fallback::Text("abort"),
        env: Some("METIER_SKILLS_SECURITY_ON_COMMAND_ERROR"),
        alias: None,
        project: Project::Never,
        doc: "What happens when a `!command` fails: the skill is not activated (`abort`), or the error is inserted in its place (`inline`).",
    };
    SKILLS_SCAN_RULES = Key {
        path: "skills.scan.rules",
        kind: Kind::Choice(&["evidence", "seed"]),
        default: Fallback::Text("evidence"),
        env: Some("METIER_SKILLS_SCAN_RULES"),
        alias: None,
        project: Project::Never,
        doc: "Which rules the scanner uses: combined evidence (`evidence`), or single patterns (`seed`).",
    };
    SKILLS_SCAN_RULES_DIR = Key {
        path: "skills.scan.rules_dir",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_SKILLS_SCAN_RULES_DIR"),
        alias: None,
        project: Project::Never,
        doc: "A folder with your own rules in YAML files; they add findings and never remove any.",
    };
    SKILLS_SCAN_MAX_FILES = Key {
        path: "skills.scan.max_files",
        kind: Kind::Int(1),
        default: Fallback::Int(500),
        env: Some("METIER_SKILLS_SCAN_MAX_FILES"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of files to scan in a skill; with more files the scan is incomplete.",
    };
    SKILLS_SCAN_MAX_FILE_BYTES = Key {
        path: "skills.scan.max_file_bytes",
        kind: Kind::Int(1),
        default: Fallback::Int(1_048_576),
        env: Some("METIER_SKILLS_SCAN_MAX_FILE_BYTES"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of bytes to scan in a file; with a larger file the scan is incomplete.",
    };
    SKILLS_SCAN_SUPPRESS = Key {
        path: "skills.scan.suppress",
        kind: Kind::List(Item::Suppression),
        default: Fallback::Empty,
        env: Some("METIER_SKILLS_SCAN_SUPPRESS"),
        alias: None,
        project: Project::Never,
        doc: "Findings that you have reviewed and accept, each bound to its fingerprint and the skill's digest, with a reason.",
    };
    SKILLS_REGISTRY_URL = Key {
        path: "skills.registry_url",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_SKILLS_REGISTRY_URL"),
        alias: None,
        project: Project::Never,
        doc: "The registry to search, install from and publish to.",
    };
    SKILLS_LIMITS_MAX_SKILLS = Key {
        path: "skills.limits.max_skills",
        kind: Kind::Int(1),
        default: Fallback::Int(200_000),
        env: Some("METIER_SKILLS_LIMITS_MAX_SKILLS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of skills to read in one root.",
    };
    SKILLS_LIMITS_MAX_ENTRIES = Key {
        path: "skills.limits.max_entries",
        kind: Kind::Int(1),
        default: Fallback::Int(2_000_000),
        env: Some("METIER_SKILLS_LIMITS_MAX_ENTRIES"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of files and folders to visit in one root.",
    };
    SKILLS_LIMITS_MAX_SKILL_BYTES = Key {
        path: "skills.limits.max_skill_bytes",
        kind: Kind::Int(1),
        default: Fallback::Int(1_000_000),
        env: Some("METIER_SKILLS_LIMITS_MAX_SKILL_BYTES"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum size of a SKILL.md in bytes.",
    };
    SKILLS_LIMITS_MAX_DEPTH = Key {
        path: "skills.limits.max_depth",
        kind: Kind::Int(1),
        default: Fallback::Int(6),
        env: Some("METIER_SKILLS_LIMITS_MAX_DEPTH"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum depth of folders to search in a root.",
    };
    SKILLS_LIMITS_MAX_ROOT_SECONDS = Key {
        path: "skills.limits.max_root_seconds",
        kind: Kind::Int(1),
        default: Fallback::Int(10),
        env: Some("METIER_SKILLS_LIMITS_MAX_ROOT_SECONDS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum time to search one root, in seconds.",
    };
    SKILLS_LIMITS_MAX_LLM_CALLS_PER_TURN = Key {
        path: "skills.limits.max_llm_calls_per_turn",
        kind: Kind::Int(0),
        default: Fallback::Int(10),
        env: Some("METIER_SKILLS_LIMITS_MAX_LLM_CALLS_PER_TURN"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of model calls of a skill in one turn.",
    };
    SKILLS_LIMITS_MAX_SHELL_EXEC_PER_TURN = Key {
        path: "skills.limits.max_shell_exec_per_turn",
        kind: Kind::Int(0),
        default: Fallback::Int(20),
        env: Some("METIER_SKILLS_LIMITS_MAX_SHELL_EXEC_PER_TURN"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of commands of a skill in one turn.",
    };
    SKILLS_LIMITS_MAX_NET_FETCH_PER_TURN = Key {
        path: "skills.limits.max_net_fetch_per_turn",
        kind: Kind::Int(0),
        default: Fallback::Int(10),
        env: Some("METIER_SKILLS_LIMITS_MAX_NET_FETCH_PER_TURN"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of network requests of a skill in one turn.",
    };
    SKILLS_LIMITS_SHELL_EXEC_TIMEOUT = Key {
        path: "skills.limits.shell_exec_timeout",
        kind: Kind::Int(1),
        default: Fallback::Int(30),
        env: Some("METIER_SKILLS_LIMITS_SHELL_EXEC_TIMEOUT"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The time limit of a command, in seconds.",
    };
    SKILLS_LIMITS_NET_FETCH_TIMEOUT = Key {
        path: "skills.limits.net_fetch_timeout",
        kind: Kind::Int(1),
        default: Fallback::Int(15),
        env: Some("METIER_SKILLS_LIMITS_NET_FETCH_TIMEOUT"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The time limit of a network request, in seconds.",
    };
    SKILLS_LIMITS_TOOL_TIMEOUT = Key {
        path: "skills.limits.tool_timeout",
        kind: Kind::Int(1),
        default: Fallback::Int(60),
        env: Some("METIER_SKILLS_LIMITS_TOOL_TIMEOUT"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The time limit of a call of a skill's tool or workflow, including everything that it does, in seconds.",
    };
    SKILLS_LIMITS_HOOK_TIMEOUT = Key {
        path: "skills.limits.hook_timeout",
        kind: Kind::Int(1),
        default: Fallback::Int(5),
        env: Some("METIER_SKILLS_LIMITS_HOOK_TIMEOUT"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The time limit of a skill's hook, in seconds.",
    };
    SKILLS_HOOKS_ENGINE = Key {
        path: "skills.hooks.engine",
        kind: Kind::Choice(&["auto", "deno", "embedded"]),
        default: Fallback::Text("auto"),
        env: Some("METIER_SKILLS_HOOKS_ENGINE"),
        alias: None,
        project: Project::Never,
        doc: "What runs hooks in JavaScript and TypeScript: Deno, or the engine built into metier; `auto` uses Deno if it is installed.",
    };
    SKILLS_HOOKS_DENO = Key {
        path: "skills.hooks.deno",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_SKILLS_HOOKS_DENO"),
        alias: None,
        project: Project::Never,
        doc: "The path of Deno, absolute or below `~/`; if not set, Deno is searched in `PATH`.",
    };
    AGENT_TOOLS = Key {
        path: "agent.tools",
        kind: Kind::List(Item::Tool),
        default: Fallback::Absent,
        env: Some("METIER_AGENT_TOOLS"),
        alias: None,
        project: Project::Never,
        doc: "The tools of the agent that uses metier; if not set, tools are not checked.",
    };
    AGENT_MODEL = Key {
        path: "agent.model",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_MODEL"),
        alias: None,
        project: Project::Never,
        doc: "The model to use, as `provider/model`.",
    };
    AGENT_PROVIDER = Key {
        path: "agent.provider",
        kind: Kind::Choice(&["anthropic", "openai", "ollama"]),
        default: Fallback::Absent,
        env: Some("METIER_AGENT_PROVIDER"),
        alias: None,
        project: Project::Never,
        doc: "The provider of a model that is given without one; `agent.base_url` and `agent.api_key_env` apply only to this provider.",
    };
    AGENT_BASE_URL = Key {
        path: "agent.base_url",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_AGENT_BASE_URL"),
        alias: None,
        project: Project::Never,
        doc: "The URL of another server that implements the provider's API.",
    };
    AGENT_API_KEY_ENV = Key {
        path: "agent.api_key_env",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_AGENT_API_KEY_ENV"),
        alias: None,
        project: Project::Never,
        doc: "The environment variable that contains the API key, if not the provider's usual one.",
    };
    AGENT_MAX_TOKENS = Key {
        path: "agent.max_tokens",
        kind: Kind::Int(1),
        default: Fallback::Int(16_384),
        env: Some("METIER_AGENT_MAX_TOKENS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of tokens of a model's response.",
    };
    AGENT_TIMEOUT = Key {
        path: "agent.timeout",
        kind: Kind::Int(1),
        default: Fallback::Int(600),
        env: Some("METIER_AGENT_TIMEOUT"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The time limit of a model's response, in seconds.",
    };
    AGENT_CONTEXT_TOKENS = Key {
        path: "agent.context_tokens",
        kind: Kind::Int(1),
        default: Fallback::Int(150_000),
        env: Some("METIER_AGENT_CONTEXT_TOKENS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The number of tokens of a conversation at which its oldest part is summarized; at most the model's context window.",
    };
    AGENT_MAX_REQUESTS = Key {
        path: "agent.max_requests",
        kind: Kind::Int(1),
        default: Fallback::Int(100),
        env: Some("METIER_AGENT_MAX_REQUESTS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of model requests for one task, including all sub-agents.",
    };
    AGENT_MAX_SUBAGENT_REQUESTS = Key {
        path: "agent.max_subagent_requests",
        kind: Kind::Int(1),
        default: Fallback::Int(50),
        env: Some("METIER_AGENT_MAX_SUBAGENT_REQUESTS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of model requests of one sub-agent, including the sub-agents that it starts.",
    };
    AGENT_MAX_TOOL_CALLS = Key {
        path: "agent.max_tool_calls",
        kind: Kind::Int(0),
        default: Fallback::Int(500),
        env: Some("METIER_AGENT_MAX_TOOL_CALLS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of tool calls for one task, including all sub-agents.",
    };
    AGENT_MAX_TOTAL_TOKENS = Key {
        path: "agent.max_total_tokens",
        kind: Kind::Int(0),
        default: Fallback::Int(0),
        env: Some("METIER_AGENT_MAX_TOTAL_TOKENS"),
        alias: None,
        project: Project::Tighten(Rule::LowerWhereZeroIsNoLimit),
        doc: "The maximum number of tokens that a session and its sub-agents use in total; 0 means no limit.",
    };
    AGENT_MAX_DEPTH = Key {
        path: "agent.max_depth",
        kind: Kind::Int(0),
        default: Fallback::Int(3),
        env: Some("METIER_AGENT_MAX_DEPTH"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum depth of nested sub-agents; 0 disables sub-agents.",
    };
    AGENT_ORCHESTRATOR = Key {
        path: "agent.orchestrator",
        kind: Kind::Bool,
        default: Fallback::Bool(false),
        env: Some("METIER_AGENT_ORCHESTRATOR"),
        alias: None,
        project: Project::Tighten(Rule::Only("true")),
        doc: "Whether the primary agent only delegates to sub-agents; it then has no tools to read, write or run anything.",
    };
    AGENT_TRIGGERS = Key {
        path: "agent.triggers",
        kind: Kind::Bool,
        default: Fallback::Bool(true),
        env: Some("METIER_AGENT_TRIGGERS"),
        alias: None,
        project: Project::Tighten(Rule::Only("false")),
        doc: "Whether to load skills that AGENT.md lists or whose triggers match a message, the project or the mode.",
    };
    AGENT_MAX_TRIGGERED = Key {
        path: "agent.max_triggered",
        kind: Kind::Int(0),
        default: Fallback::Int(5),
        env: Some("METIER_AGENT_MAX_TRIGGERED"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of active skills in a conversation that were loaded by triggers; the best matches are loaded first.",
    };
    AGENT_PRICES_INPUT = Key {
        path: "agent.prices.<model>.input",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "The price of a million input tokens of this model, such as `\"3.00\"`; without prices no cost is shown.",
    };
    AGENT_PRICES_OUTPUT = Key {
        path: "agent.prices.<model>.output",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "The price of a million output tokens of this model.",
    };
    AGENT_PRICES_CACHED_INPUT = Key {
        path: "agent.prices.<model>.cached_input",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "The price of a million cached input tokens of this model; the price of input tokens if not set.",
    };
    PROMPT_BUDGET = Key {
        path: "prompt.budget",
        kind: Kind::Int(1),
        default: Fallback::Absent,
        env: Some("METIER_PROMPT_BUDGET"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "The maximum number of tokens for the list of skills in a prompt; no limit if not set.",
    };
    PROMPT_MAX_SKILLS = Key {
        path: "prompt.max_skills",
        kind: Kind::Int(0),
        default: Fallback::Absent,
        env: Some("METIER_PROMPT_MAX_SKILLS"),
        alias: None,
        project: Project::Tighten(Rule::LowerWhereZeroIsNoLimit),
        doc: "The maximum number of skills in a prompt; 0 means no limit.",
    };
    SETTINGS = Key {
        path: "settings.<path>",
        kind: Kind::Free,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "Settings that skills require by `requires.config`: `github.enabled` is `settings.github.enabled` here.",
    };
}
