//! The values as the rest of the program sees them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::datum::Datum;
use crate::key::{ConfigKey, KeyLookup, find, suppression};
use crate::load::{Held, LoadState, load};
use crate::{KEYS, KeyPath, Origin, Secret, suggest, table};

/// Every value, typed. The documentation of each is in [`KEYS`].
#[derive(Debug, Clone)]
pub struct Config {
    /// `skills.enabled`
    pub enabled: bool,
    /// `skills.usage`
    pub usage: bool,
    /// `skills.validation`
    pub validation: ValidationSetting,
    /// `skills.load.*`
    pub load: LoadSettings,
    /// `skills.allow_bundled`; `None` allows all.
    pub allow_bundled: Option<Vec<String>>,
    /// `skills.approved`
    pub approved: Vec<ApprovedPermission>,
    /// `skills.security.*`
    pub security: SecuritySettings,
    /// `skills.scan.*`
    pub scan: ScanSettings,
    /// `skills.registry_url`
    pub registry_url: Option<String>,
    /// `skills.profile`
    pub profile: Option<String>,
    /// `profiles.<profile>.skills`
    pub profiles: BTreeMap<String, Vec<String>>,
    /// `skills.sync.to`
    pub sync_to: Vec<String>,
    /// `skills.mcp.<server>`
    pub mcp: BTreeMap<String, ServerSettings>,
    /// `skills.limits.*`
    pub limits: LimitSettings,
    /// `skills.hooks.*`
    pub hooks: HookSettings,
    /// `agent.*`
    pub agent: AgentSettings,
    /// `prompt.*`
    pub prompt: PromptSettings,
    entries: BTreeMap<String, SkillSettings>,
    state: LoadState,
}

/// `skills.validation`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValidationSetting {
    /// Load skills with a usable name and description, with warnings.
    Lenient,
    /// Load exactly what conforms to the specification.
    Strict,
}

/// `skills.load.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadSettings {
    /// Additional folders, as written: the caller resolves `~` and relative paths.
    pub extra_dirs: Vec<PathBuf>,
    /// Whether to search other agents' folders too.
    pub agents: bool,
    /// Whether a server reloads changed skills.
    pub watch: bool,
    /// Milliseconds without changes before a changed skill is read again.
    pub watch_debounce_ms: u64,
}

/// One item of `skills.approved`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedPermission {
    /// The skill's name, with its source where one is given.
    pub name: String,
    /// `sha256:…` in lower case if the approval is bound to content.
    pub digest: Option<String>,
}

/// `skills.security.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecuritySettings {
    /// Whether a skill is scanned before its body is loaded.
    pub scan_on_load: bool,
    /// Whether a critical finding blocks a skill.
    pub block_critical: bool,
    /// The first words that a `!command` may start with; `None` sets no limit.
    pub allowed_command_prefixes: Option<Vec<String>>,
    /// How to resolve a disagreement of skills about a tool.
    pub on_conflict: ConflictSetting,
    /// How to handle a failed `!command`.
    pub on_command_error: OnCommandError,
}

/// `skills.scan.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanSettings {
    /// The built-in rules to use.
    pub rules: ScanRules,
    /// The folder of the user's own rules, as written.
    pub rules_dir: Option<PathBuf>,
    /// The maximum number of files of a skill.
    pub max_files: u64,
    /// The maximum number of bytes of a file.
    pub max_file_bytes: u64,
    /// Findings that the user has reviewed and accepts.
    pub suppress: Vec<Suppression>,
}

/// `skills.scan.rules`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanRules {
    /// Combined evidence blocks a skill.
    Evidence,
    /// A match of a single pattern blocks a skill.
    Seed,
}

/// One item of `skills.scan.suppress`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppression {
    /// The fingerprint of the finding, in lower case.
    pub fingerprint: String,
    /// The digest of the skill that it applies to: `sha256:…` in lower case.
    pub digest: String,
}

/// `skills.security.on_conflict`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictSetting {
    /// The strictest rule applies.
    Restrict,
    /// The set is rejected.
    Reject,
}

/// `skills.security.on_command_error`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCommandError {
    /// The skill is not activated.
    Abort,
    /// The error is inserted in place of the command's output.
    Inline,
}

/// `skills.hooks.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSettings {
    /// The engine for hooks in JavaScript.
    pub engine: HookEngine,
    /// The path of Deno, as written.
    pub deno: Option<PathBuf>,
}

/// `skills.hooks.engine`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEngine {
    /// Deno if it is installed, otherwise the embedded engine.
    Auto,
    /// Deno only.
    Deno,
    /// The engine built into metier.
    Embedded,
}

/// `skills.limits.*`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitSettings {
    /// Skills to read in one root.
    pub max_skills: u64,
    /// Files and folders to visit in one root.
    pub max_entries: u64,
    /// The size of a SKILL.md in bytes.
    pub max_skill_bytes: u64,
    /// The depth of folders to search in a root.
    pub max_depth: u64,
    /// The time to search one root.
    pub max_root_seconds: u64,
    /// Model calls of a skill in a turn.
    pub max_llm_calls_per_turn: u64,
    /// Commands of a skill in a turn.
    pub max_shell_exec_per_turn: u64,
    /// Network requests of a skill in a turn.
    pub max_net_fetch_per_turn: u64,
    /// Seconds for a command.
    pub shell_exec_timeout: u64,
    /// Seconds for a network request.
    pub net_fetch_timeout: u64,
    /// Seconds for a call of a skill's tool or workflow.
    pub tool_timeout: u64,
    /// Seconds for a hook.
    pub hook_timeout: u64,
}

/// `agent.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// The tools of the agent that uses metier; `None` if unknown.
    pub tools: Option<Vec<String>>,
    /// The model, as `provider/model`.
    pub model: Option<String>,
    /// The provider of a model that is given without one.
    pub provider: Option<String>,
    /// The URL of a server other than the provider's.
    pub base_url: Option<String>,
    /// The variable with the API key, if not the provider's usual one.
    pub api_key_env: Option<String>,
    /// Tokens of a model's response.
    pub max_tokens: u64,
    /// Seconds for a model's response.
    pub timeout: u64,
    /// Tokens of a conversation at which it is summarised.
    pub context_tokens: u64,
    /// Model requests for one task.
    pub max_requests: u64,
    /// Model requests of one sub-agent.
    pub max_subagent_requests: u64,
    /// Tool calls for one task.
    pub max_tool_calls: u64,
    /// Tokens of a session and its sub-agents in total; 0 means no limit.
    pub max_total_tokens: u64,
    /// The depth of nested sub-agents.
    pub max_depth: u64,
    /// Whether the primary agent only delegates.
    pub orchestrator: bool,
    /// Whether matching triggers load skills.
    pub triggers: bool,
    /// Active skills that were loaded by triggers.
    pub max_triggered: u64,
    /// Prices by model, as written.
    pub prices: BTreeMap<String, Prices>,
    /// `agent.mcp.<server>`
    pub mcp: BTreeMap<String, ServerSettings>,
}

/// `agent.prices.<model>.*`, as written: per million tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices {
    /// The price of input tokens.
    pub input: Option<String>,
    /// The price of output tokens.
    pub output: Option<String>,
    /// The price of cached input tokens.
    pub cached_input: Option<String>,
}

/// `prompt.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSettings {
    /// Tokens for the list of skills.
    pub budget: Option<u64>,
    /// The maximum number of skills; `Some(0)` means no limit.
    pub max_skills: Option<u64>,
}

/// `skills.entries.<name>.*`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSettings {
    /// Whether the skill may be used.
    pub enabled: bool,
    /// Environment variables for the programs that it runs.
    pub env: BTreeMap<String, Secret>,
    /// The value of its primary environment variable.
    pub api_key: Option<Secret>,
    /// The version to use when several skills have this name.
    pub version: Option<String>,
}

/// An MCP server: `skills.mcp.<server>` or `agent.mcp.<server>`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerSettings {
    /// Its program.
    pub command: Option<String>,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// Variables for the program, as written.
    pub env: BTreeMap<String, Secret>,
    /// Its address.
    pub url: Option<String>,
    /// Headers for its address, as written.
    pub headers: BTreeMap<String, Secret>,
    /// The time limit in seconds.
    pub timeout: Option<u64>,
    /// Tools that are called without a question.
    pub allow: Vec<String>,
}

/// One line of `metier config`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigLine {
    /// The path, quoted where TOML requires it.
    pub key: String,
    /// The value as TOML, with secrets hidden; `None` if it is not set and has no default.
    pub text: Option<String>,
    /// The layer that the value comes from.
    pub origin: Origin,
    /// The line in the origin's file.
    pub line: Option<usize>,
    /// Whether no layer sets it.
    pub is_default: bool,
    /// One sentence about its purpose.
    pub doc: &'static str,
}

/// A key that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no key `{key}`")]
pub struct UnknownKey {
    /// The key as it was given.
    pub key: String,
    /// A suggestion for the user.
    pub hint: String,
}

static NO_ENTRY: SkillSettings = SkillSettings {
    enabled: true,
    env: BTreeMap::new(),
    api_key: None,
    version: None,
};

impl Default for Config {
    /// The configuration without any layer.
    fn default() -> Self {
        load([]).config
    }
}

/// Settings that a skill can require and that are true unless the user sets them, as in OpenClaw: there is a
/// workspace, and there can be a browser.
const ON_BY_DEFAULT: [&str; 2] = ["workspace.dir", "browser.enabled"];

impl Config {
    pub(crate) fn new(state: LoadState) -> Self {
        let view = ConfigView(&state);
        Self {
            enabled: view.bool(&table::SKILLS_ENABLED),
            usage: view.bool(&table::SKILLS_USAGE),
            validation: match view.text(&table::SKILLS_VALIDATION).as_deref() {
                Some("lenient") => ValidationSetting::Lenient,
                _ => ValidationSetting::Strict,
            },
            load: view.load(),
            allow_bundled: view.list(&table::SKILLS_ALLOW_BUNDLED),
            approved: view
                .list(&table::SKILLS_APPROVED)
                .unwrap_or_default()
                .iter()
                .map(|text| approved(text))
                .collect(),
            security: view.security(),
            scan: view.scan(),
            registry_url: view.text(&table::SKILLS_REGISTRY_URL),
            profile: view.text(&table::SKILLS_PROFILE),
            profiles: profiles(&state),
            sync_to: view.list(&table::SKILLS_SYNC_TO).unwrap_or_default(),
            mcp: servers(&state, "skills"),
            limits: view.limits(),
            hooks: view.hooks(),
            agent: view.agent(),
            prompt: PromptSettings {
                budget: view.optional_int(&table::PROMPT_BUDGET),
                max_skills: view.optional_int(&table::PROMPT_MAX_SKILLS),
            },
            entries: entries(&state),
            state,
        }
    }

    /// The settings of one skill; the defaults if there are none.
    pub fn entry(&self, name: &str) -> &SkillSettings {
        self.entries.get(name).unwrap_or(&NO_ENTRY)
    }

    /// The profile in use, if it does not contain this skill. An undefined profile contains none.
    pub fn profile_without(&self, name: &str) -> Option<&str> {
        let profile = self.profile.as_deref()?;
        let skills = self.profiles.get(profile);
        let contains = skills.is_some_and(|skills| skills.iter().any(|skill| skill == name));
        (!contains).then_some(profile)
    }

    /// All skills that have settings.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &SkillSettings)> {
        self.entries
            .iter()
            .map(|(name, entry)| (name.as_str(), entry))
    }

    /// Every key with its value and origin, in the order of [`KEYS`].
    pub fn values(&self) -> Vec<ConfigLine> {
        KEYS.iter().flat_map(|key| self.values_of(key)).collect()
    }

    /// One key with its value and origin.
    pub fn get(&self, key: &str) -> Result<ConfigLine, UnknownKey> {
        let path = KeyPath::parse(key);
        match find(&path) {
            KeyLookup::Key { key, path, .. } => Ok(value(key, &path, self.state.get(&path))),
            KeyLookup::Table | KeyLookup::Nothing => Err(unknown_key(&path)),
        }
    }

    /// Whether a path below `settings` has a value other than `false`, 0, `""` or an empty list or table.
    pub fn setting_is_truthy(&self, path: &str) -> bool {
        let written = path;
        let first = table::SETTINGS.segments().next().map(str::to_owned);
        let mut segments: Vec<String> = first.into_iter().collect();
        segments.extend_from_slice(KeyPath::parse(path).segments());
        let path = KeyPath::from_segments(segments);
        match self.state.get(&path) {
            Some(Held {
                datum: Datum::Free(free),
                ..
            }) => free.truthy,
            _ => {
                self.state.keys().any(|known| known.is_below(&path))
                    || ON_BY_DEFAULT.contains(&written)
            }
        }
    }

    fn values_of(&self, key: &'static ConfigKey) -> Vec<ConfigLine> {
        if !key.is_pattern() {
            let path = KeyPath::parse(key.path);
            return vec![value(key, &path, self.state.get(&path))];
        }
        let held = self
            .state
            .iter()
            .filter(|(_, held)| held.key.path == key.path);
        held.map(|(path, held)| value(key, path, Some(held)))
            .collect()
    }
}

pub(crate) fn unknown_key(path: &KeyPath) -> UnknownKey {
    UnknownKey {
        key: path.to_string(),
        hint: suggest::hint(path),
    }
}

fn value(key: &'static ConfigKey, path: &KeyPath, held: Option<&Held>) -> ConfigLine {
    let origin = held.map_or(Origin::Default, |held| held.origin.clone());
    ConfigLine {
        key: path.to_string(),
        text: held.map(|held| held.datum.shown(path)),
        line: held.and_then(|held| held.line),
        is_default: origin == Origin::Default,
        origin,
        doc: key.doc,
    }
}

fn approved(text: &str) -> ApprovedPermission {
    match text.split_once('@') {
        Some((name, digest)) => ApprovedPermission {
            name: name.to_owned(),
            digest: Some(digest.to_ascii_lowercase()),
        },
        None => ApprovedPermission {
            name: text.to_owned(),
            digest: None,
        },
    }
}

fn entries(state: &LoadState) -> BTreeMap<String, SkillSettings> {
    let mut entries: BTreeMap<String, SkillSettings> = BTreeMap::new();
    for (path, held) in state {
        let [_, _, name, field @ ..] = path.segments() else {
            continue;
        };
        let is = |key: &ConfigKey| held.key.path == key.path;
        let entries = &mut entries;
        match (&held.datum, field.last()) {
            (Datum::Bool(value), _) if is(&table::SKILLS_ENTRIES_ENABLED) => {
                entry_of(entries, name).enabled = *value;
            }
            (Datum::Secret(value), _) if is(&table::SKILLS_ENTRIES_API_KEY) => {
                entry_of(entries, name).api_key = Some(value.clone());
            }
            (Datum::Text(value), _) if is(&table::SKILLS_ENTRIES_VERSION) => {
                entry_of(entries, name).version = Some(value.clone());
            }
            (Datum::Secret(value), Some(variable)) if is(&table::SKILLS_ENTRIES_ENV) => {
                let env = &mut entry_of(entries, name).env;
                env.insert(variable.clone(), value.clone());
            }
            _ => {}
        }
    }
    entries
}

fn entry_of<'e>(
    entries: &'e mut BTreeMap<String, SkillSettings>,
    name: &str,
) -> &'e mut SkillSettings {
    let entry = entries.entry(name.to_owned());
    entry.or_insert_with(|| NO_ENTRY.clone())
}

fn profiles(state: &LoadState) -> BTreeMap<String, Vec<String>> {
    let of_profiles = state
        .iter()
        .filter(|(_, held)| held.key.path == table::PROFILES_SKILLS.path);
    let read = of_profiles.filter_map(|(path, held)| match (path.segments(), &held.datum) {
        ([_, name, _], Datum::List(skills)) => Some((name.clone(), skills.clone())),
        _ => None,
    });
    read.collect()
}

fn prices(state: &LoadState) -> BTreeMap<String, Prices> {
    let mut prices: BTreeMap<String, Prices> = BTreeMap::new();
    for (path, held) in state {
        let ([_, _, model, _], Datum::Text(text)) = (path.segments(), &held.datum) else {
            continue;
        };
        let is = |key: &ConfigKey| held.key.path == key.path;
        let field: fn(&mut Prices) -> &mut Option<String> = if is(&table::AGENT_PRICES_INPUT) {
            |price| &mut price.input
        } else if is(&table::AGENT_PRICES_OUTPUT) {
            |price| &mut price.output
        } else if is(&table::AGENT_PRICES_CACHED_INPUT) {
            |price| &mut price.cached_input
        } else {
            continue;
        };
        *field(prices.entry(model.clone()).or_default()) = Some(text.clone());
    }
    prices
}

/// The servers below `skills.mcp` or `agent.mcp`.
fn servers(state: &LoadState, whose: &str) -> BTreeMap<String, ServerSettings> {
    let mut servers: BTreeMap<String, ServerSettings> = BTreeMap::new();
    for (path, held) in state {
        let [first, second, name, field, rest @ ..] = path.segments() else {
            continue;
        };
        if first != whose || second != "mcp" {
            continue;
        }
        let server = servers.entry(name.clone()).or_default();
        match (field.as_str(), &held.datum, rest) {
            ("command", Datum::Text(text), []) => server.command = Some(text.clone()),
            ("url", Datum::Text(text), []) => server.url = Some(text.clone()),
            ("args", Datum::List(list), []) => server.args.clone_from(list),
            ("allow", Datum::List(list), []) => server.allow.clone_from(list),
            ("timeout", Datum::Int(seconds), []) => server.timeout = Some(*seconds),
            ("env", Datum::Secret(value), [variable]) => {
                server.env.insert(variable.clone(), value.clone());
            }
            ("headers", Datum::Secret(value), [header]) => {
                server.headers.insert(header.clone(), value.clone());
            }
            _ => {}
        }
    }
    servers
}

/// Reads values by rows of the table. A value whose type differs from the row's is treated as missing; a test sets every key
/// and expects [`Config`] to change.
struct ConfigView<'a>(&'a LoadState);

impl ConfigView<'_> {
    fn datum(&self, key: &ConfigKey) -> Option<&Datum> {
        self.0
            .get(&KeyPath::parse(key.path))
            .map(|held| &held.datum)
    }

    fn bool(&self, key: &ConfigKey) -> bool {
        matches!(self.datum(key), Some(Datum::Bool(true)))
    }

    fn int(&self, key: &ConfigKey) -> u64 {
        self.optional_int(key).unwrap_or_default()
    }

    fn optional_int(&self, key: &ConfigKey) -> Option<u64> {
        match self.datum(key) {
            Some(Datum::Int(value)) => Some(*value),
            _ => None,
        }
    }

    fn text(&self, key: &ConfigKey) -> Option<String> {
        match self.datum(key) {
            Some(Datum::Text(value)) => Some(value.clone()),
            _ => None,
        }
    }

    fn list(&self, key: &ConfigKey) -> Option<Vec<String>> {
        match self.datum(key) {
            Some(Datum::List(values)) => Some(values.clone()),
            _ => None,
        }
    }

    fn load(&self) -> LoadSettings {
        let extra_dirs = self
            .list(&table::SKILLS_LOAD_EXTRA_DIRS)
            .unwrap_or_default();
        LoadSettings {
            extra_dirs: extra_dirs.into_iter().map(PathBuf::from).collect(),
            agents: self.bool(&table::SKILLS_LOAD_AGENTS),
            watch: self.bool(&table::SKILLS_LOAD_WATCH),
            watch_debounce_ms: self.int(&table::SKILLS_LOAD_WATCH_DEBOUNCE_MS),
        }
    }

    fn security(&self) -> SecuritySettings {
        SecuritySettings {
            scan_on_load: self.bool(&table::SKILLS_SECURITY_SCAN_ON_LOAD),
            block_critical: self.bool(&table::SKILLS_SECURITY_BLOCK_CRITICAL),
            allowed_command_prefixes: self.list(&table::SKILLS_SECURITY_ALLOWED_COMMAND_PREFIXES),
            on_conflict: match self.text(&table::SKILLS_SECURITY_ON_CONFLICT).as_deref() {
                Some("restrict") => ConflictSetting::Restrict,
                _ => ConflictSetting::Reject,
            },
            on_command_error: match self
                .text(&table::SKILLS_SECURITY_ON_COMMAND_ERROR)
                .as_deref()
            {
                Some("inline") => OnCommandError::Inline,
                _ => OnCommandError::Abort,
            },
        }
    }

    fn agent(&self) -> AgentSettings {
        AgentSettings {
            tools: self.list(&table::AGENT_TOOLS),
            model: self.text(&table::AGENT_MODEL),
            provider: self.text(&table::AGENT_PROVIDER),
            base_url: self.text(&table::AGENT_BASE_URL),
            api_key_env: self.text(&table::AGENT_API_KEY_ENV),
            max_tokens: self.int(&table::AGENT_MAX_TOKENS),
            timeout: self.int(&table::AGENT_TIMEOUT),
            context_tokens: self.int(&table::AGENT_CONTEXT_TOKENS),
            max_requests: self.int(&table::AGENT_MAX_REQUESTS),
            max_subagent_requests: self.int(&table::AGENT_MAX_SUBAGENT_REQUESTS),
            max_tool_calls: self.int(&table::AGENT_MAX_TOOL_CALLS),
            max_total_tokens: self.int(&table::AGENT_MAX_TOTAL_TOKENS),
            max_depth: self.int(&table::AGENT_MAX_DEPTH),
            orchestrator: self.bool(&table::AGENT_ORCHESTRATOR),
            triggers: self.bool(&table::AGENT_TRIGGERS),
            max_triggered: self.int(&table::AGENT_MAX_TRIGGERED),
            prices: prices(self.0),
            mcp: servers(self.0, "agent"),
        }
    }

    fn scan(&self) -> ScanSettings {
        let suppressions = self.list(&table::SKILLS_SCAN_SUPPRESS).unwrap_or_default();
        ScanSettings {
            rules: match self.text(&table::SKILLS_SCAN_RULES).as_deref() {
                Some("seed") => ScanRules::Seed,
                _ => ScanRules::Evidence,
            },
            rules_dir: self.text(&table::SKILLS_SCAN_RULES_DIR).map(PathBuf::from),
            max_files: self.int(&table::SKILLS_SCAN_MAX_FILES),
            max_file_bytes: self.int(&table::SKILLS_SCAN_MAX_FILE_BYTES),
            suppress: suppressions
                .iter()
                .filter_map(|text| suppression(text))
                .map(|(fingerprint, digest, _reason)| Suppression {
                    fingerprint: fingerprint.to_ascii_lowercase(),
                    digest: digest.to_ascii_lowercase(),
                })
                .collect(),
        }
    }

    fn hooks(&self) -> HookSettings {
        HookSettings {
            engine: match self.text(&table::SKILLS_HOOKS_ENGINE).as_deref() {
                Some("auto") => HookEngine::Auto,
                Some("deno") => HookEngine::Deno,
                _ => HookEngine::Embedded,
            },
            deno: self.text(&table::SKILLS_HOOKS_DENO).map(PathBuf::from),
        }
    }

    fn limits(&self) -> LimitSettings {
        LimitSettings {
            max_skills: self.int(&table::SKILLS_LIMITS_MAX_SKILLS),
            max_entries: self.int(&table::SKILLS_LIMITS_MAX_ENTRIES),
            max_skill_bytes: self.int(&table::SKILLS_LIMITS_MAX_SKILL_BYTES),
            max_depth: self.int(&table::SKILLS_LIMITS_MAX_DEPTH),
            max_root_seconds: self.int(&table::SKILLS_LIMITS_MAX_ROOT_SECONDS),
            max_llm_calls_per_turn: self.int(&table::SKILLS_LIMITS_MAX_LLM_CALLS_PER_TURN),
            max_shell_exec_per_turn: self.int(&table::SKILLS_LIMITS_MAX_SHELL_EXEC_PER_TURN),
            max_net_fetch_per_turn: self.int(&table::SKILLS_LIMITS_MAX_NET_FETCH_PER_TURN),
            shell_exec_timeout: self.int(&table::SKILLS_LIMITS_SHELL_EXEC_TIMEOUT),
            net_fetch_timeout: self.int(&table::SKILLS_LIMITS_NET_FETCH_TIMEOUT),
            tool_timeout: self.int(&table::SKILLS_LIMITS_TOOL_TIMEOUT),
            hook_timeout: self.int(&table::SKILLS_LIMITS_HOOK_TIMEOUT),
        }
    }
}
