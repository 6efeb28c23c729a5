//! # metier-config — what the user decided
//!
//! **Problem.** A skill system is configured in five places (our defaults, the user's file, the project's file,
//! the environment, flags), and one of them, the project's file, arrives with a freshly cloned repository.
//! Somebody who asks "why is this value what it is?" deserves one answer, and somebody who clones a repository
//! must not have their guard lowered by it.
//!
//! **Goals.**
//! - One flat table, [`KEYS`], says all there is to say about a key: type, default, variable, what a project may do
//!   with it, one sentence of help. Reading, `metier config`, the reference page and suggestions are derived from it.
//! - Every value knows its [`Origin`], and its line where it came from a file.
//! - Nothing stops the reading: a mistake is a [`Problem`] with a place and a hint, and the rest still counts.
//!
//! **Worked example.** The user wrote `validation = "lenient"`, the project asks for `"strict"` and, while at it, tries
//! to switch scanning off. The first tightens and is taken; the second loosens, is reported and has no effect.
//!
//! ```
//! use metier_config::{Layer, Validation, load};
//!
//! let loaded = load([
//!     Layer::user("/home/ada/.config/metier/config.toml", "[skills]\nvalidation = \"lenient\"\n"),
//!     Layer::project(
//!         "/src/app/.metier/config.toml",
//!         "[skills]\nvalidation = \"strict\"\nsecurity.scan_on_load = false\n",
//!     ),
//! ]);
//! assert_eq!(loaded.config.validation, Validation::Strict);
//! assert!(loaded.config.security.scan_on_load);
//! assert_eq!(loaded.problems.len(), 1);
//! assert_eq!(
//!     loaded.problems[0].to_string(),
//!     "/src/app/.metier/config.toml:3:10: a project may only set `skills.security.scan_on_load` to `true`"
//! );
//! ```
//!
//! **In → out.** `Layer… → Loaded { Config, Problem… }` · `text + key + value → edited text` · `KEYS → reference page`
//!
//! **Invariants.** no I/O, no environment, no clock: texts come in · default < user < project < environment < flag,
//! in whatever order the layers are given · a project layer never loosens · a secret is never in `Debug`, in
//! [`Config::values`] or in a problem · a key without a decision for projects does not compile.
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
    Agent, Approved, Config, Engine, Entry, Hooks, Limits, Load, OnCommandError, OnConflict,
    Prices, Prompt, Scan, ScanRules, Security, Suppression, UnknownKey, Validation, Value,
};
pub use key::{Fallback, Item, Key, Kind, Project, Rule, key_for_env};
pub use layer::{Layer, Origin};
pub use load::{Loaded, load};
pub use path::KeyPath;
pub use problem::{Problem, Severity};
pub use reference::reference_markdown;
pub use secret::Secret;
pub use table::{KEYS, OTHER_VARIABLES};
