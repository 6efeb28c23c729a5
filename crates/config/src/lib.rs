//! # metier-config — the user's settings
//!
//! **Problem.** A skill system is configured in five places (built-in defaults, the user's file, the project's file,
//! the environment, flags), and one of them, the project's file, arrives with a cloned repository. A user who asks
//! "why does this setting have this value?" needs one answer, and cloning a repository must not weaken the user's
//! settings.
//!
//! **Goals.**
//! - One flat table, [`KEYS`], defines everything about a key: type, default, variable, what a project may do with
//!   it, one sentence of help. Reading, `metier config`, the reference page and suggestions are derived from it.
//! - Every value has an [`Origin`], and a line if it comes from a file.
//! - Reading never stops: a mistake is a [`ConfigProblem`] with a position and a hint, and everything else still applies.
//!
//! **Worked example.** The user's file has `validation = "lenient"`; the project sets `"strict"` and also tries to
//! disable scanning. The first tightens and applies; the second loosens, is reported and has no effect.
//!
//! ```
//! use metier_config::{Layer, ValidationSetting, load};
//!
//! let loaded = load([
//!     Layer::user("/home/ada/.config/metier/config.toml", "[skills]\nvalidation = \"lenient\"\n"),
//!     Layer::project(
//!         "/src/app/.metier/config.toml",
//!         "[skills]\nvalidation = \"strict\"\nsecurity.scan_on_load = false\n",
//!     ),
//! ]);
//! assert_eq!(loaded.config.validation, ValidationSetting::Strict);
//! assert!(loaded.config.security.scan_on_load);
//! assert_eq!(loaded.problems.len(), 1);
//! assert_eq!(
//!     loaded.problems[0].to_string(),
//!     "/src/app/.metier/config.toml:3:10: a project can only set `skills.security.scan_on_load` to `true`"
//! );
//! ```
//!
//! **In → out.** `Layer… → Loaded { Config, Problem… }` · `text + key + value → edited text` · `KEYS → reference page`
//!
//! **Invariants.** no I/O, no environment, no clock: file contents are passed in · default < user < project < environment <
//! flag, in whatever order the layers are given · a project layer never loosens · a secret is never in `Debug`, in
//! [`Config::values`] or in a problem · a key without a rule for projects does not compile.
//!
//! **Start reading at** `table.rs`, then `load.rs`, then `tighten.rs`.
#![warn(clippy::disallowed_methods)]

mod config;
mod datum;
pub mod edit;
mod key;
mod layer;
mod load;
mod path;
mod problem;
mod read;
mod recover;
mod reference;
mod secret;
mod suggest;
mod table;
mod tighten;

#[cfg(test)]
mod config_tests;
#[cfg(test)]
mod edit_tests;
#[cfg(test)]
mod load_tests;
#[cfg(test)]
mod project_tests;
#[cfg(test)]
mod table_tests;

pub use config::{
    AgentSettings, ApprovedPermission, Config, ConfigLine, ConflictSetting, HookEngine,
    HookSettings, LimitSettings, LoadSettings, OnCommandError, Prices, PromptSettings, ScanRules,
    ScanSettings, SecuritySettings, ServerSettings, SkillSettings, Suppression, UnknownKey,
    ValidationSetting,
};
pub use key::{
    ConfigKey, DefaultValue, ListItemKind, ProjectAuthority, StricterValue, ValueKind, key_for_env,
};
pub use layer::{Layer, Origin};
pub use load::{LoadedConfig, load};
pub use path::KeyPath;
pub use problem::{ConfigProblem, ProblemSeverity};
pub use reference::reference_markdown;
pub use secret::Secret;
pub use table::{KEYS, OTHER_VARIABLES};
