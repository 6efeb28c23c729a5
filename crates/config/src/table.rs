//! The table of keys: the one place to add, change or remove a key.

use crate::key::{Fallback, Item, Key, Kind, Project, Rule};

/// Variables with our prefix that are not keys: where we live, what we log, and what we tell the children we start.
pub static OTHER_VARIABLES: &[&str] = &[
    "METIER_HOME",
    "METIER_LOG",
    "METIER_LOG_FORMAT",
    "METIER_NOW",
    "METIER_SKILL_DIR",
    "METIER_SESSION_ID",
    "METIER_PROJECT_DIR",
];

/// Keys that are read and kept, and that nothing in this version acts on. They are shown as such.
pub(crate) static WITHOUT_EFFECT: &[Key] = &[
    SKILLS_LOAD_WATCH,
    SKILLS_LOAD_WATCH_DEBOUNCE_MS,
    SKILLS_REGISTRY_URL,
];

/// Gives each row a name, by which the values are read, and puts all of them into [`KEYS`]: a key that is read is in the table.
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
        doc: "The main switch: `false` means that no skill is offered or run, the core tools of an agent included.",
    };
    SKILLS_VALIDATION = Key {
        path: "skills.validation",
        kind: Kind::Choice(&["lenient", "strict"]),
        default: Fallback::Text("lenient"),
        env: Some("METIER_SKILLS_VALIDATION"),
        alias: None,
        project: Project::Tighten(Rule::Only("strict")),
        doc: "Whether a skill that departs from the specification is loaded with warnings or left out.",
    };
    SKILLS_LOAD_EXTRA_DIRS = Key {
        path: "skills.load.extra_dirs",
        kind: Kind::List(Item::Path),
        default: Fallback::Empty,
        env: Some("METIER_SKILLS_LOAD_EXTRA_DIRS"),
        alias: Some("extraDirs"),
        project: Project::Never,
        doc: "More folders to search for skills, below all others in precedence.",
    };
    SKILLS_LOAD_AGENTS = Key {
        path: "skills.load.agents",
        kind: Kind::Bool,
        default: Fallback::Bool(true),
        env: Some("METIER_SKILLS_LOAD_AGENTS"),
        alias: None,
        project: Project::Tighten(Rule::Only("false")),
        doc: "Whether the skill folders of other agents on this machine are searched too.",
    };
    SKILLS_LOAD_WATCH = Key {
        path: "skills.load.watch",
        kind: Kind::Bool,
        default: Fallback::Bool(true),
        env: Some("METIER_SKILLS_LOAD_WATCH"),
        alias: None,
        project: Project::Tighten(Rule::Only("false")),
        doc: "Whether a running daemon notices changed skills by itself.",
    };
    SKILLS_LOAD_WATCH_DEBOUNCE_MS = Key {
        path: "skills.load.watch_debounce_ms",
        kind: Kind::Int(0),
        default: Fallback::Int(250),
        env: Some("METIER_SKILLS_LOAD_WATCH_DEBOUNCE_MS"),
        alias: Some("watchDebounceMs"),
        project: Project::Never,
        doc: "How many milliseconds a changed skill must stay quiet before it is read again.",
    };
    SKILLS_ALLOW_BUNDLED = Key {
        path: "skills.allow_bundled",
        kind: Kind::List(Item::Name),
        default: Fallback::Absent,
        env: Some("METIER_SKILLS_ALLOW_BUNDLED"),
        alias: Some("allowBundled"),
        project: Project::Tighten(Rule::Intersect),
        doc: "The built-in skills that may be used; all of them when it isn't set.",
    };
    SKILLS_APPROVED = Key {
        path: "skills.approved",
        kind: Kind::List(Item::Approval),
        default: Fallback::Empty,
        env: Some("METIER_SKILLS_APPROVED"),
        alias: None,
        project: Project::Never,
        doc: "Skills whose requests are approved in advance: your own and built-in ones as `name`, any other as `source:name`, or bound to content as `name@sha256:…`.",
    };
    SKILLS_ENTRIES_ENABLED = Key {
        path: "skills.entries.<name>.enabled",
        kind: Kind::Bool,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Tighten(Rule::Only("false")),
        doc: "Whether this skill may be used; it may when it isn't set.",
    };
    SKILLS_ENTRIES_ENV = Key {
        path: "skills.entries.<name>.env.<variable>",
        kind: Kind::Secret,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "An environment variable for what this skill runs.",
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
        doc: "Whether a critical finding, or an incomplete scan, blocks a skill; otherwise it is a warning.",
    };
    SKILLS_SECURITY_ALLOWED_COMMAND_PREFIXES = Key {
        path: "skills.security.allowed_command_prefixes",
        kind: Kind::List(Item::Prefix),
        default: Fallback::Absent,
        env: Some("METIER_SKILLS_SECURITY_ALLOWED_COMMAND_PREFIXES"),
        alias: Some("allowedCommandPrefixes"),
        project: Project::Tighten(Rule::IntersectPrefixes),
        doc: "The first words that a `!command` may begin with; not limited here when it isn't set.",
    };
    SKILLS_SECURITY_ON_CONFLICT = Key {
        path: "skills.security.on_conflict",
        kind: Kind::Choice(&["restrict", "reject"]),
        default: Fallback::Text("restrict"),
        env: Some("METIER_SKILLS_SECURITY_ON_CONFLICT"),
        alias: None,
        project: Project::Tighten(Rule::Only("reject")),
        doc: "When skills of a set disagree about a tool: the most restrictive wins, or the set is rejected.",
    };
    SKILLS_SECURITY_ON_COMMAND_ERROR = Key {
        path: "skills.security.on_command_error",
        kind: Kind::Choice(&["abort", "inline"]),
        default: Fallback::Text("abort"),
        env: Some("METIER_SKILLS_SECURITY_ON_COMMAND_ERROR"),
        alias: None,
        project: Project::Never,
        doc: "When a `!command` fails: the activation stops, or the error is put in its place.",
    };
    SKILLS_SCAN_RULES = Key {
        path: "skills.scan.rules",
        kind: Kind::Choice(&["evidence", "seed"]),
        default: Fallback::Text("evidence"),
        env: Some("METIER_SKILLS_SCAN_RULES"),
        alias: None,
        project: Project::Never,
        doc: "Which rules the scanner uses: chains of evidence, or the single patterns of the founding design.",
    };
    SKILLS_SCAN_RULES_DIR = Key {
        path: "skills.scan.rules_dir",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_SKILLS_SCAN_RULES_DIR"),
        alias: None,
        project: Project::Never,
        doc: "A folder with rules of your own, in YAML files; they add findings and take none away.",
    };
    SKILLS_SCAN_MAX_FILES = Key {
        path: "skills.scan.max_files",
        kind: Kind::Int(1),
        default: Fallback::Int(500),
        env: Some("METIER_SKILLS_SCAN_MAX_FILES"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many files of a skill are scanned; one with more is incomplete.",
    };
    SKILLS_SCAN_MAX_FILE_BYTES = Key {
        path: "skills.scan.max_file_bytes",
        kind: Kind::Int(1),
        default: Fallback::Int(1_048_576),
        env: Some("METIER_SKILLS_SCAN_MAX_FILE_BYTES"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many bytes of a file are scanned; a skill with a larger one is incomplete.",
    };
    SKILLS_SCAN_SUPPRESS = Key {
        path: "skills.scan.suppress",
        kind: Kind::List(Item::Suppression),
        default: Fallback::Empty,
        env: Some("METIER_SKILLS_SCAN_SUPPRESS"),
        alias: None,
        project: Project::Never,
        doc: "Findings that you have looked at and that are right, each bound to its fingerprint and the skill's digest, with a reason.",
    };
    SKILLS_REGISTRY_URL = Key {
        path: "skills.registry_url",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_SKILLS_REGISTRY_URL"),
        alias: None,
        project: Project::Never,
        doc: "The registry that skills are searched in, installed from and published to.",
    };
    SKILLS_LIMITS_MAX_SKILLS = Key {
        path: "skills.limits.max_skills",
        kind: Kind::Int(1),
        default: Fallback::Int(200_000),
        env: Some("METIER_SKILLS_LIMITS_MAX_SKILLS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many skills are read in one root.",
    };
    SKILLS_LIMITS_MAX_ENTRIES = Key {
        path: "skills.limits.max_entries",
        kind: Kind::Int(1),
        default: Fallback::Int(2_000_000),
        env: Some("METIER_SKILLS_LIMITS_MAX_ENTRIES"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many files and folders are looked at in one root.",
    };
    SKILLS_LIMITS_MAX_SKILL_BYTES = Key {
        path: "skills.limits.max_skill_bytes",
        kind: Kind::Int(1),
        default: Fallback::Int(1_000_000),
        env: Some("METIER_SKILLS_LIMITS_MAX_SKILL_BYTES"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How large a SKILL.md may be, in bytes.",
    };
    SKILLS_LIMITS_MAX_DEPTH = Key {
        path: "skills.limits.max_depth",
        kind: Kind::Int(1),
        default: Fallback::Int(6),
        env: Some("METIER_SKILLS_LIMITS_MAX_DEPTH"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many folders deep a root is searched.",
    };
    SKILLS_LIMITS_MAX_ROOT_SECONDS = Key {
        path: "skills.limits.max_root_seconds",
        kind: Kind::Int(1),
        default: Fallback::Int(10),
        env: Some("METIER_SKILLS_LIMITS_MAX_ROOT_SECONDS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many seconds are spent on one root.",
    };
    SKILLS_LIMITS_MAX_LLM_CALLS_PER_TURN = Key {
        path: "skills.limits.max_llm_calls_per_turn",
        kind: Kind::Int(0),
        default: Fallback::Int(10),
        env: Some("METIER_SKILLS_LIMITS_MAX_LLM_CALLS_PER_TURN"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many model calls a skill may make in one turn.",
    };
    SKILLS_LIMITS_MAX_SHELL_EXEC_PER_TURN = Key {
        path: "skills.limits.max_shell_exec_per_turn",
        kind: Kind::Int(0),
        default: Fallback::Int(20),
        env: Some("METIER_SKILLS_LIMITS_MAX_SHELL_EXEC_PER_TURN"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many commands a skill may run in one turn.",
    };
    SKILLS_LIMITS_MAX_NET_FETCH_PER_TURN = Key {
        path: "skills.limits.max_net_fetch_per_turn",
        kind: Kind::Int(0),
        default: Fallback::Int(10),
        env: Some("METIER_SKILLS_LIMITS_MAX_NET_FETCH_PER_TURN"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many network requests a skill may make in one turn.",
    };
    SKILLS_LIMITS_SHELL_EXEC_TIMEOUT = Key {
        path: "skills.limits.shell_exec_timeout",
        kind: Kind::Int(1),
        default: Fallback::Int(30),
        env: Some("METIER_SKILLS_LIMITS_SHELL_EXEC_TIMEOUT"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many seconds a command may take.",
    };
    SKILLS_LIMITS_NET_FETCH_TIMEOUT = Key {
        path: "skills.limits.net_fetch_timeout",
        kind: Kind::Int(1),
        default: Fallback::Int(15),
        env: Some("METIER_SKILLS_LIMITS_NET_FETCH_TIMEOUT"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many seconds a network request may take.",
    };
    SKILLS_LIMITS_TOOL_TIMEOUT = Key {
        path: "skills.limits.tool_timeout",
        kind: Kind::Int(1),
        default: Fallback::Int(60),
        env: Some("METIER_SKILLS_LIMITS_TOOL_TIMEOUT"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many seconds a tool or a workflow of a skill may take, with all that it does.",
    };
    SKILLS_LIMITS_HOOK_TIMEOUT = Key {
        path: "skills.limits.hook_timeout",
        kind: Kind::Int(1),
        default: Fallback::Int(5),
        env: Some("METIER_SKILLS_LIMITS_HOOK_TIMEOUT"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many seconds a hook of a skill may take.",
    };
    SKILLS_HOOKS_ENGINE = Key {
        path: "skills.hooks.engine",
        kind: Kind::Choice(&["auto", "deno", "embedded"]),
        default: Fallback::Text("auto"),
        env: Some("METIER_SKILLS_HOOKS_ENGINE"),
        alias: None,
        project: Project::Never,
        doc: "What runs hooks in JavaScript and TypeScript: Deno, or the engine inside of this program; `auto` is Deno where it is installed.",
    };
    SKILLS_HOOKS_DENO = Key {
        path: "skills.hooks.deno",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_SKILLS_HOOKS_DENO"),
        alias: None,
        project: Project::Never,
        doc: "Where Deno is, as an absolute path or below `~/`; it is looked for in `PATH` when it isn't set.",
    };
    AGENT_TOOLS = Key {
        path: "agent.tools",
        kind: Kind::List(Item::Tool),
        default: Fallback::Absent,
        env: Some("METIER_AGENT_TOOLS"),
        alias: None,
        project: Project::Never,
        doc: "The tools that the agent around us has; not checked when it isn't set.",
    };
    AGENT_MODEL = Key {
        path: "agent.model",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_MODEL"),
        alias: None,
        project: Project::Never,
        doc: "The model that answers, as `provider/model`.",
    };
    AGENT_PROVIDER = Key {
        path: "agent.provider",
        kind: Kind::Choice(&["anthropic", "openai", "ollama"]),
        default: Fallback::Absent,
        env: Some("METIER_AGENT_PROVIDER"),
        alias: None,
        project: Project::Never,
        doc: "Whose model a name without a provider is, and for whom alone `agent.base_url` and `agent.api_key_env` are meant.",
    };
    AGENT_BASE_URL = Key {
        path: "agent.base_url",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_AGENT_BASE_URL"),
        alias: None,
        project: Project::Never,
        doc: "Where the model is asked, if not at the provider itself: any server that speaks its format.",
    };
    AGENT_API_KEY_ENV = Key {
        path: "agent.api_key_env",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: Some("METIER_AGENT_API_KEY_ENV"),
        alias: None,
        project: Project::Never,
        doc: "The variable that holds the key, if not the provider's usual one.",
    };
    AGENT_MAX_TOKENS = Key {
        path: "agent.max_tokens",
        kind: Kind::Int(1),
        default: Fallback::Int(16_384),
        env: Some("METIER_AGENT_MAX_TOKENS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many tokens an answer of the model may have.",
    };
    AGENT_TIMEOUT = Key {
        path: "agent.timeout",
        kind: Kind::Int(1),
        default: Fallback::Int(600),
        env: Some("METIER_AGENT_TIMEOUT"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many seconds an answer of the model may take.",
    };
    AGENT_CONTEXT_TOKENS = Key {
        path: "agent.context_tokens",
        kind: Kind::Int(1),
        default: Fallback::Int(150_000),
        env: Some("METIER_AGENT_CONTEXT_TOKENS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many tokens a conversation may have before its oldest part is summed up; not more than the model's window.",
    };
    AGENT_MAX_REQUESTS = Key {
        path: "agent.max_requests",
        kind: Kind::Int(1),
        default: Fallback::Int(100),
        env: Some("METIER_AGENT_MAX_REQUESTS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How often models are asked for one task, by all sub-agents together.",
    };
    AGENT_MAX_SUBAGENT_REQUESTS = Key {
        path: "agent.max_subagent_requests",
        kind: Kind::Int(1),
        default: Fallback::Int(50),
        env: Some("METIER_AGENT_MAX_SUBAGENT_REQUESTS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How often one sub-agent asks its model, those that it starts included.",
    };
    AGENT_MAX_TOOL_CALLS = Key {
        path: "agent.max_tool_calls",
        kind: Kind::Int(0),
        default: Fallback::Int(500),
        env: Some("METIER_AGENT_MAX_TOOL_CALLS"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many tools are called for one task, by all sub-agents together.",
    };
    AGENT_MAX_TOTAL_TOKENS = Key {
        path: "agent.max_total_tokens",
        kind: Kind::Int(0),
        default: Fallback::Int(0),
        env: Some("METIER_AGENT_MAX_TOTAL_TOKENS"),
        alias: None,
        project: Project::Tighten(Rule::LowerWhereZeroIsNoLimit),
        doc: "How many tokens a session and its sub-agents may use in all; 0 is no limit.",
    };
    AGENT_MAX_DEPTH = Key {
        path: "agent.max_depth",
        kind: Kind::Int(0),
        default: Fallback::Int(3),
        env: Some("METIER_AGENT_MAX_DEPTH"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How deep sub-agents may be nested; 0 means that there are none.",
    };
    AGENT_ORCHESTRATOR = Key {
        path: "agent.orchestrator",
        kind: Kind::Bool,
        default: Fallback::Bool(false),
        env: Some("METIER_AGENT_ORCHESTRATOR"),
        alias: None,
        project: Project::Tighten(Rule::Only("true")),
        doc: "Whether the primary agent only gives work to sub-agents: it then has no tool that reads, writes or runs anything.",
    };
    AGENT_TRIGGERS = Key {
        path: "agent.triggers",
        kind: Kind::Bool,
        default: Fallback::Bool(true),
        env: Some("METIER_AGENT_TRIGGERS"),
        alias: None,
        project: Project::Tighten(Rule::Only("false")),
        doc: "Whether skills whose triggers match a message, the project or the mode are loaded, as are those that AGENT.md names.",
    };
    AGENT_MAX_TRIGGERED = Key {
        path: "agent.max_triggered",
        kind: Kind::Int(0),
        default: Fallback::Int(5),
        env: Some("METIER_AGENT_MAX_TRIGGERED"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many skills that a trigger loaded may be active in a conversation at once; the best matches come first.",
    };
    AGENT_PRICES_INPUT = Key {
        path: "agent.prices.<model>.input",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "What a million tokens that go into this model cost, like `\"3.00\"`; without prices no cost is shown.",
    };
    AGENT_PRICES_OUTPUT = Key {
        path: "agent.prices.<model>.output",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "What a million tokens that come out of this model cost.",
    };
    AGENT_PRICES_CACHED_INPUT = Key {
        path: "agent.prices.<model>.cached_input",
        kind: Kind::Text,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "What a million tokens cost that the provider had in its cache; as much as others when it isn't set.",
    };
    PROMPT_BUDGET = Key {
        path: "prompt.budget",
        kind: Kind::Int(1),
        default: Fallback::Absent,
        env: Some("METIER_PROMPT_BUDGET"),
        alias: None,
        project: Project::Tighten(Rule::Lower),
        doc: "How many tokens the list of skills may take in a prompt; not limited when it isn't set.",
    };
    PROMPT_MAX_SKILLS = Key {
        path: "prompt.max_skills",
        kind: Kind::Int(0),
        default: Fallback::Absent,
        env: Some("METIER_PROMPT_MAX_SKILLS"),
        alias: None,
        project: Project::Tighten(Rule::LowerWhereZeroIsNoLimit),
        doc: "How many skills a prompt names at most; 0 is no limit.",
    };
    SETTINGS = Key {
        path: "settings.<path>",
        kind: Kind::Free,
        default: Fallback::Absent,
        env: None,
        alias: None,
        project: Project::Never,
        doc: "Anything a skill asks for by `requires.config`: `github.enabled` is `settings.github.enabled` here.",
    };
}
