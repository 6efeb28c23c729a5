//! The table of keys: the one place to add, change or remove a key.
//!
//! Every key has an effect: a test sets each one and compares what the program sees (`table_tests.rs`), and `cargo xtask tidy` reports a value that no other
//! crate reads.

use crate::key::{
    ConfigKey, DefaultValue, ListItemKind, ProjectAuthority, StricterValue, ValueKind,
};

/// `METIER_…` variables that are not keys: metier's home, the password of the signing key, logging, the clock in tests, and variables for
/// child processes.
pub static OTHER_VARIABLES: &[&str] = &[
    "METIER_HOME",
    "METIER_KEY_PASSWORD",
    "METIER_LOG",
    "METIER_LOG_FORMAT",
    "METIER_NOW",
    "METIER_SKILL_DIR",
    "METIER_SESSION_ID",
    "METIER_PROJECT_DIR",
];

/// Names each row, so that values are read by name, and puts all rows into [`KEYS`]: a key that is read is in the
/// table.
macro_rules! keys {
    ($($name:ident = $row:expr;)+) => {
        $(pub(crate) const $name: ConfigKey = $row;)+

        /// All keys, in the order in which they are shown.
        pub static KEYS: &[ConfigKey] = &[$($name),+];
    };
}

/// Tables that can be written as lists, `[[skills.mcp]]`, with their key as `name`.
pub(crate) const NAMED_LISTS: &[&str] = &["skills.mcp", "agent.mcp"];

/// A setting of an MCP server: a project that names a program to run, or an address for the user's keys, is refused.
const fn of_server(path: &'static str, kind: ValueKind, doc: &'static str) -> ConfigKey {
    ConfigKey {
        path,
        kind,
        default: DefaultValue::Absent,
        env: None,
        alias: None,
        project: ProjectAuthority::Never,
        doc,
    }
}

keys! {
    SKILLS_ENABLED = ConfigKey {
        path: "skills.enabled",
        kind: ValueKind::Bool,
        default: DefaultValue::Bool(true),
        env: Some("METIER_SKILLS_ENABLED"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Only("false")),
        doc: "The main switch: if `false`, no skill is offered or run, including the core tools of an agent.",
    };
    SKILLS_USAGE = ConfigKey {
        path: "skills.usage",
        kind: ValueKind::Bool,
        default: DefaultValue::Bool(false),
        env: Some("METIER_SKILLS_USAGE"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Only("false")),
        doc: "Whether skills with recent receipts are preferred to others that fit equally well; `metier why` shows it.",
    };
    SKILLS_VALIDATION = ConfigKey {
        path: "skills.validation",
        kind: ValueKind::Choice(&["lenient", "strict"]),
        default: DefaultValue::Text("lenient"),
        env: Some("METIER_SKILLS_VALIDATION"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Only("strict")),
        doc: "Whether a skill that violates the specification is loaded with warnings (`lenient`) or not at all (`strict`).",
    };
    SKILLS_LOAD_EXTRA_DIRS = ConfigKey {
        path: "skills.load.extra_dirs",
        kind: ValueKind::List(ListItemKind::Path),
        default: DefaultValue::Empty,
        env: Some("METIER_SKILLS_LOAD_EXTRA_DIRS"),
        alias: Some("extraDirs"),
        project: ProjectAuthority::Never,
        doc: "Additional folders to search for skills, with the lowest precedence.",
    };
    SKILLS_LOAD_AGENTS = ConfigKey {
        path: "skills.load.agents",
        kind: ValueKind::Bool,
        default: DefaultValue::Bool(true),
        env: Some("METIER_SKILLS_LOAD_AGENTS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Only("false")),
        doc: "Whether the skill folders of other agents on this machine are also searched.",
    };
    SKILLS_LOAD_WATCH = ConfigKey {
        path: "skills.load.watch",
        kind: ValueKind::Bool,
        default: DefaultValue::Bool(true),
        env: Some("METIER_SKILLS_LOAD_WATCH"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Only("false")),
        doc: "Whether a running server notices changed skills.",
    };
    SKILLS_LOAD_WATCH_DEBOUNCE_MS = ConfigKey {
        path: "skills.load.watch_debounce_ms",
        kind: ValueKind::Int(0),
        default: DefaultValue::Int(250),
        env: Some("METIER_SKILLS_LOAD_WATCH_DEBOUNCE_MS"),
        alias: Some("watchDebounceMs"),
        project: ProjectAuthority::Never,
        doc: "The number of milliseconds without further changes before a running server reports changes.",
    };
    SKILLS_ALLOW_BUNDLED = ConfigKey {
        path: "skills.allow_bundled",
        kind: ValueKind::List(ListItemKind::Name),
        default: DefaultValue::Absent,
        env: Some("METIER_SKILLS_ALLOW_BUNDLED"),
        alias: Some("allowBundled"),
        project: ProjectAuthority::Tighten(StricterValue::Intersect),
        doc: "The built-in skills that may be used; all of them if not set.",
    };
    SKILLS_APPROVED = ConfigKey {
        path: "skills.approved",
        kind: ValueKind::List(ListItemKind::Approval),
        default: DefaultValue::Empty,
        env: Some("METIER_SKILLS_APPROVED"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "Skills whose permissions are approved in advance: your own and built-in ones as `name`, others as `source:name`, or bound to their content as `name@sha256:…`.",
    };
    SKILLS_PROFILE = ConfigKey {
        path: "skills.profile",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: Some("METIER_SKILLS_PROFILE"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The profile in use: of the skills that are not built in, only those of the profile may be used; all of them if not set.",
    };
    SKILLS_SYNC_TO = ConfigKey {
        path: "skills.sync.to",
        kind: ValueKind::List(ListItemKind::Agent),
        default: DefaultValue::Empty,
        env: Some("METIER_SKILLS_SYNC_TO"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The agents into whose folders `metier sync` puts the installed skills if `--to` is not given.",
    };
    SKILLS_ENTRIES_ENABLED = ConfigKey {
        path: "skills.entries.<name>.enabled",
        kind: ValueKind::Bool,
        default: DefaultValue::Absent,
        env: None,
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Only("false")),
        doc: "Whether this skill may be used; true if not set.",
    };
    SKILLS_ENTRIES_ENV = ConfigKey {
        path: "skills.entries.<name>.env.<variable>",
        kind: ValueKind::Secret,
        default: DefaultValue::Absent,
        env: None,
        alias: None,
        project: ProjectAuthority::Never,
        doc: "An environment variable for the programs that this skill runs.",
    };
    SKILLS_ENTRIES_API_KEY = ConfigKey {
        path: "skills.entries.<name>.api_key",
        kind: ValueKind::Secret,
        default: DefaultValue::Absent,
        env: None,
        alias: Some("apiKey"),
        project: ProjectAuthority::Never,
        doc: "The value of this skill's primary environment variable.",
    };
    SKILLS_ENTRIES_VERSION = ConfigKey {
        path: "skills.entries.<name>.version",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: None,
        alias: None,
        project: ProjectAuthority::Never,
        doc: "Which version to use when several skills have this name.",
    };
    SKILLS_SECURITY_SCAN_ON_LOAD = ConfigKey {
        path: "skills.security.scan_on_load",
        kind: ValueKind::Bool,
        default: DefaultValue::Bool(true),
        env: Some("METIER_SKILLS_SECURITY_SCAN_ON_LOAD"),
        alias: Some("scanOnLoad"),
        project: ProjectAuthority::Tighten(StricterValue::Only("true")),
        doc: "Whether a skill is scanned before its body is loaded.",
    };
    SKILLS_SECURITY_BLOCK_CRITICAL = ConfigKey {
        path: "skills.security.block_critical",
        kind: ValueKind::Bool,
        default: DefaultValue::Bool(true),
        env: Some("METIER_SKILLS_SECURITY_BLOCK_CRITICAL"),
        alias: Some("blockCritical"),
        project: ProjectAuthority::Tighten(StricterValue::Only("true")),
        doc: "Whether a critical finding or an incomplete scan blocks a skill; if `false`, it is a warning.",
    };
    SKILLS_SECURITY_ALLOWED_COMMAND_PREFIXES = ConfigKey {
        path: "skills.security.allowed_command_prefixes",
        kind: ValueKind::List(ListItemKind::Prefix),
        default: DefaultValue::Absent,
        env: Some("METIER_SKILLS_SECURITY_ALLOWED_COMMAND_PREFIXES"),
        alias: Some("allowedCommandPrefixes"),
        project: ProjectAuthority::Tighten(StricterValue::IntersectPrefixes),
        doc: "The first words that a `!command` may start with; no limit if not set.",
    };
    SKILLS_SECURITY_ON_CONFLICT = ConfigKey {
        path: "skills.security.on_conflict",
        kind: ValueKind::Choice(&["restrict", "reject"]),
        default: DefaultValue::Text("restrict"),
        env: Some("METIER_SKILLS_SECURITY_ON_CONFLICT"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Only("reject")),
        doc: "What happens when skills of a set disagree about a tool: the strictest rule applies (`restrict`), or the set is rejected (`reject`).",
    };
    SKILLS_SECURITY_ON_COMMAND_ERROR = ConfigKey {
        path: "skills.security.on_command_error",
        kind: ValueKind::Choice(&["abort", "inline"]),
        default: DefaultValue::Text("abort"),
        env: Some("METIER_SKILLS_SECURITY_ON_COMMAND_ERROR"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "What happens when a `!command` fails: the skill is not activated (`abort`), or the error is inserted in its place (`inline`).",
    };
    SKILLS_SCAN_RULES = ConfigKey {
        path: "skills.scan.rules",
        kind: ValueKind::Choice(&["evidence", "seed"]),
        default: DefaultValue::Text("evidence"),
        env: Some("METIER_SKILLS_SCAN_RULES"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "Which rules the scanner uses: combined evidence (`evidence`), or that and single patterns (`seed`).",
    };
    SKILLS_SCAN_RULES_DIR = ConfigKey {
        path: "skills.scan.rules_dir",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: Some("METIER_SKILLS_SCAN_RULES_DIR"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "A folder with your own rules in YAML files; they add findings and never remove any.",
    };
    SKILLS_SCAN_MAX_FILES = ConfigKey {
        path: "skills.scan.max_files",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(500),
        env: Some("METIER_SKILLS_SCAN_MAX_FILES"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of files to scan in a skill; with more files the scan is incomplete.",
    };
    SKILLS_SCAN_MAX_FILE_BYTES = ConfigKey {
        path: "skills.scan.max_file_bytes",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(1_048_576),
        env: Some("METIER_SKILLS_SCAN_MAX_FILE_BYTES"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of bytes to scan in a file; with a larger file the scan is incomplete.",
    };
    SKILLS_SCAN_SUPPRESS = ConfigKey {
        path: "skills.scan.suppress",
        kind: ValueKind::List(ListItemKind::Suppression),
        default: DefaultValue::Empty,
        env: Some("METIER_SKILLS_SCAN_SUPPRESS"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "Findings that you have reviewed and accept, each bound to its fingerprint and the skill's digest, with a reason.",
    };
    SKILLS_REGISTRY_URL = ConfigKey {
        path: "skills.registry_url",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: Some("METIER_SKILLS_REGISTRY_URL"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The registries to search and install from, separated by spaces; the first one that has a skill provides it, and is where skills are published.",
    };
    SKILLS_MCP_COMMAND = of_server(
        "skills.mcp.<server>.command",
        ValueKind::Text,
        "The program of an MCP server that serves skills, which speaks MCP on its standard input and output and runs with your rights.",
    );
    SKILLS_MCP_ARGS = of_server(
        "skills.mcp.<server>.args",
        ValueKind::List(ListItemKind::Argument),
        "The arguments of the server's program.",
    );
    SKILLS_MCP_ENV = of_server(
        "skills.mcp.<server>.env.<variable>",
        ValueKind::Secret,
        "An environment variable for the server's program; `${NAME}` stands for a variable of metier's own environment.",
    );
    SKILLS_MCP_URL = of_server(
        "skills.mcp.<server>.url",
        ValueKind::Text,
        "The address of an MCP server with streamable HTTP, instead of `command`.",
    );
    SKILLS_MCP_HEADERS = of_server(
        "skills.mcp.<server>.headers.<header>",
        ValueKind::Secret,
        "A header for every request to the server, such as `Authorization`; `${NAME}` stands for a variable of metier's own environment.",
    );
    SKILLS_MCP_TIMEOUT = of_server(
        "skills.mcp.<server>.timeout",
        ValueKind::Int(1),
        "The time limit for the start of the server and for each of its answers, in seconds; 30 if not set.",
    );
    SKILLS_LIMITS_MAX_SKILLS = ConfigKey {
        path: "skills.limits.max_skills",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(200_000),
        env: Some("METIER_SKILLS_LIMITS_MAX_SKILLS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of skills to read in one root.",
    };
    SKILLS_LIMITS_MAX_ENTRIES = ConfigKey {
        path: "skills.limits.max_entries",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(2_000_000),
        env: Some("METIER_SKILLS_LIMITS_MAX_ENTRIES"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of files and folders to visit in one root.",
    };
    SKILLS_LIMITS_MAX_SKILL_BYTES = ConfigKey {
        path: "skills.limits.max_skill_bytes",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(1_000_000),
        env: Some("METIER_SKILLS_LIMITS_MAX_SKILL_BYTES"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum size of a SKILL.md in bytes.",
    };
    SKILLS_LIMITS_MAX_DEPTH = ConfigKey {
        path: "skills.limits.max_depth",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(6),
        env: Some("METIER_SKILLS_LIMITS_MAX_DEPTH"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum depth of folders to search in a root.",
    };
    SKILLS_LIMITS_MAX_ROOT_SECONDS = ConfigKey {
        path: "skills.limits.max_root_seconds",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(10),
        env: Some("METIER_SKILLS_LIMITS_MAX_ROOT_SECONDS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum time to search one root, in seconds.",
    };
    SKILLS_LIMITS_MAX_LLM_CALLS_PER_TURN = ConfigKey {
        path: "skills.limits.max_llm_calls_per_turn",
        kind: ValueKind::Int(0),
        default: DefaultValue::Int(10),
        env: Some("METIER_SKILLS_LIMITS_MAX_LLM_CALLS_PER_TURN"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of model calls of a skill in one turn.",
    };
    SKILLS_LIMITS_MAX_SHELL_EXEC_PER_TURN = ConfigKey {
        path: "skills.limits.max_shell_exec_per_turn",
        kind: ValueKind::Int(0),
        default: DefaultValue::Int(20),
        env: Some("METIER_SKILLS_LIMITS_MAX_SHELL_EXEC_PER_TURN"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of commands of a skill in one turn.",
    };
    SKILLS_LIMITS_MAX_NET_FETCH_PER_TURN = ConfigKey {
        path: "skills.limits.max_net_fetch_per_turn",
        kind: ValueKind::Int(0),
        default: DefaultValue::Int(10),
        env: Some("METIER_SKILLS_LIMITS_MAX_NET_FETCH_PER_TURN"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of network requests of a skill in one turn.",
    };
    SKILLS_LIMITS_SHELL_EXEC_TIMEOUT = ConfigKey {
        path: "skills.limits.shell_exec_timeout",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(30),
        env: Some("METIER_SKILLS_LIMITS_SHELL_EXEC_TIMEOUT"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The time limit of a command, in seconds.",
    };
    SKILLS_LIMITS_NET_FETCH_TIMEOUT = ConfigKey {
        path: "skills.limits.net_fetch_timeout",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(15),
        env: Some("METIER_SKILLS_LIMITS_NET_FETCH_TIMEOUT"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The time limit of a network request, in seconds.",
    };
    SKILLS_LIMITS_TOOL_TIMEOUT = ConfigKey {
        path: "skills.limits.tool_timeout",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(60),
        env: Some("METIER_SKILLS_LIMITS_TOOL_TIMEOUT"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The time limit of a call of a skill's tool or workflow, including everything that it does, in seconds.",
    };
    SKILLS_LIMITS_HOOK_TIMEOUT = ConfigKey {
        path: "skills.limits.hook_timeout",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(5),
        env: Some("METIER_SKILLS_LIMITS_HOOK_TIMEOUT"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The time limit of a skill's hook, in seconds.",
    };
    SKILLS_HOOKS_ENGINE = ConfigKey {
        path: "skills.hooks.engine",
        kind: ValueKind::Choice(&["auto", "deno", "embedded"]),
        default: DefaultValue::Text("auto"),
        env: Some("METIER_SKILLS_HOOKS_ENGINE"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "What runs hooks in JavaScript and TypeScript: Deno, or the engine built into metier; `auto` uses Deno if it is installed.",
    };
    SKILLS_HOOKS_DENO = ConfigKey {
        path: "skills.hooks.deno",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: Some("METIER_SKILLS_HOOKS_DENO"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The path of Deno, absolute or below `~/`; if not set, Deno is searched for in `PATH`.",
    };
    AGENT_TOOLS = ConfigKey {
        path: "agent.tools",
        kind: ValueKind::List(ListItemKind::Tool),
        default: DefaultValue::Absent,
        env: Some("METIER_AGENT_TOOLS"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The tools of the agent that uses metier; if not set, tools are not checked.",
    };
    AGENT_MODEL = ConfigKey {
        path: "agent.model",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: Some("METIER_MODEL"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The model to use, as `provider/model`.",
    };
    AGENT_PROVIDER = ConfigKey {
        path: "agent.provider",
        kind: ValueKind::Choice(&["anthropic", "openai", "ollama"]),
        default: DefaultValue::Absent,
        env: Some("METIER_AGENT_PROVIDER"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The provider of a model that is given without one; `agent.base_url` and `agent.api_key_env` apply only to this provider.",
    };
    AGENT_BASE_URL = ConfigKey {
        path: "agent.base_url",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: Some("METIER_AGENT_BASE_URL"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The URL of another server that implements the provider's API.",
    };
    AGENT_API_KEY_ENV = ConfigKey {
        path: "agent.api_key_env",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: Some("METIER_AGENT_API_KEY_ENV"),
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The environment variable that contains the API key, if not the provider's usual one.",
    };
    AGENT_MAX_TOKENS = ConfigKey {
        path: "agent.max_tokens",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(16_384),
        env: Some("METIER_AGENT_MAX_TOKENS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of tokens of a model's response.",
    };
    AGENT_TIMEOUT = ConfigKey {
        path: "agent.timeout",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(600),
        env: Some("METIER_AGENT_TIMEOUT"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The time limit of a model's response, in seconds.",
    };
    AGENT_CONTEXT_TOKENS = ConfigKey {
        path: "agent.context_tokens",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(150_000),
        env: Some("METIER_AGENT_CONTEXT_TOKENS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The number of tokens of a conversation at which its oldest part is summarized; at most the model's context window.",
    };
    AGENT_MAX_REQUESTS = ConfigKey {
        path: "agent.max_requests",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(100),
        env: Some("METIER_AGENT_MAX_REQUESTS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of model requests for one task, including all sub-agents.",
    };
    AGENT_MAX_SUBAGENT_REQUESTS = ConfigKey {
        path: "agent.max_subagent_requests",
        kind: ValueKind::Int(1),
        default: DefaultValue::Int(50),
        env: Some("METIER_AGENT_MAX_SUBAGENT_REQUESTS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of model requests of one sub-agent, including the sub-agents that it starts.",
    };
    AGENT_MAX_TOOL_CALLS = ConfigKey {
        path: "agent.max_tool_calls",
        kind: ValueKind::Int(0),
        default: DefaultValue::Int(500),
        env: Some("METIER_AGENT_MAX_TOOL_CALLS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of tool calls for one task, including all sub-agents.",
    };
    AGENT_MAX_TOTAL_TOKENS = ConfigKey {
        path: "agent.max_total_tokens",
        kind: ValueKind::Int(0),
        default: DefaultValue::Int(0),
        env: Some("METIER_AGENT_MAX_TOTAL_TOKENS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::LowerWhereZeroIsNoLimit),
        doc: "The maximum number of tokens that a session and its sub-agents use in total; 0 means no limit.",
    };
    AGENT_MAX_DEPTH = ConfigKey {
        path: "agent.max_depth",
        kind: ValueKind::Int(0),
        default: DefaultValue::Int(3),
        env: Some("METIER_AGENT_MAX_DEPTH"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum depth of nested sub-agents; 0 disables sub-agents.",
    };
    AGENT_ORCHESTRATOR = ConfigKey {
        path: "agent.orchestrator",
        kind: ValueKind::Bool,
        default: DefaultValue::Bool(false),
        env: Some("METIER_AGENT_ORCHESTRATOR"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Only("true")),
        doc: "Whether the primary agent only delegates to sub-agents; it then has no tools to read, write or run anything.",
    };
    AGENT_TRIGGERS = ConfigKey {
        path: "agent.triggers",
        kind: ValueKind::Bool,
        default: DefaultValue::Bool(true),
        env: Some("METIER_AGENT_TRIGGERS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Only("false")),
        doc: "Whether to load skills that AGENT.md lists or whose triggers match a message, the project or the mode.",
    };
    AGENT_MAX_TRIGGERED = ConfigKey {
        path: "agent.max_triggered",
        kind: ValueKind::Int(0),
        default: DefaultValue::Int(5),
        env: Some("METIER_AGENT_MAX_TRIGGERED"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of active skills in a conversation that were loaded by triggers; the best matches are loaded first.",
    };
    AGENT_PRICES_INPUT = ConfigKey {
        path: "agent.prices.<model>.input",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: None,
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The price of a million input tokens of this model, such as `\"3.00\"`; without prices no cost is shown.",
    };
    AGENT_PRICES_OUTPUT = ConfigKey {
        path: "agent.prices.<model>.output",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: None,
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The price of a million output tokens of this model.",
    };
    AGENT_PRICES_CACHED_INPUT = ConfigKey {
        path: "agent.prices.<model>.cached_input",
        kind: ValueKind::Text,
        default: DefaultValue::Absent,
        env: None,
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The price of a million cached input tokens of this model; the price of input tokens if not set.",
    };
    AGENT_MCP_COMMAND = of_server(
        "agent.mcp.<server>.command",
        ValueKind::Text,
        "The program of an MCP server whose tools the agent can use, which speaks MCP on its standard input and output and runs with your rights.",
    );
    AGENT_MCP_ARGS = of_server(
        "agent.mcp.<server>.args",
        ValueKind::List(ListItemKind::Argument),
        "The arguments of the server's program.",
    );
    AGENT_MCP_ENV = of_server(
        "agent.mcp.<server>.env.<variable>",
        ValueKind::Secret,
        "An environment variable for the server's program; `${NAME}` stands for a variable of metier's own environment.",
    );
    AGENT_MCP_URL = of_server(
        "agent.mcp.<server>.url",
        ValueKind::Text,
        "The address of an MCP server with streamable HTTP, instead of `command`.",
    );
    AGENT_MCP_HEADERS = of_server(
        "agent.mcp.<server>.headers.<header>",
        ValueKind::Secret,
        "A header for every request to the server, such as `Authorization`; `${NAME}` stands for a variable of metier's own environment.",
    );
    AGENT_MCP_TIMEOUT = of_server(
        "agent.mcp.<server>.timeout",
        ValueKind::Int(1),
        "The time limit for the start of the server and for each of its answers, in seconds; 30 if not set.",
    );
    AGENT_MCP_ALLOW = of_server(
        "agent.mcp.<server>.allow",
        ValueKind::List(ListItemKind::Tool),
        "The tools of the server that the agent can call without approval, even if their descriptions change.",
    );
    PROFILES_SKILLS = ConfigKey {
        path: "profiles.<profile>.skills",
        kind: ValueKind::List(ListItemKind::Name),
        default: DefaultValue::Absent,
        env: None,
        alias: None,
        project: ProjectAuthority::Never,
        doc: "The skills of this profile; `metier profile use NAME` applies it.",
    };
    PROMPT_BUDGET = ConfigKey {
        path: "prompt.budget",
        kind: ValueKind::Int(1),
        default: DefaultValue::Absent,
        env: Some("METIER_PROMPT_BUDGET"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::Lower),
        doc: "The maximum number of tokens for the list of skills in a prompt; no limit if not set.",
    };
    PROMPT_MAX_SKILLS = ConfigKey {
        path: "prompt.max_skills",
        kind: ValueKind::Int(0),
        default: DefaultValue::Absent,
        env: Some("METIER_PROMPT_MAX_SKILLS"),
        alias: None,
        project: ProjectAuthority::Tighten(StricterValue::LowerWhereZeroIsNoLimit),
        doc: "The maximum number of skills in a prompt; 0 means no limit.",
    };
    SETTINGS = ConfigKey {
        path: "settings.<path>",
        kind: ValueKind::Free,
        default: DefaultValue::Absent,
        env: None,
        alias: None,
        project: ProjectAuthority::Never,
        doc: "Settings that skills require with `requires.config`: `github.enabled` is `settings.github.enabled` here.",
    };
}
