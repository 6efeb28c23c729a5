//! The layers that values come from.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::key::ConfigKey;
use crate::table::AGENT_TOOLS;

/// The layer that set a value; later variants override earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// No layer: the built-in default.
    Default,
    /// The user's config file.
    User(PathBuf),
    /// The config file of a project.
    Project(PathBuf),
    /// The environment variable with this name.
    Env(String),
    /// The command-line flag with this name.
    Flag(String),
}

impl Origin {
    /// The path of the file, if the layer is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Origin::User(path) | Origin::Project(path) => Some(path),
            Origin::Default | Origin::Env(_) | Origin::Flag(_) => None,
        }
    }

    pub(crate) fn rank(&self) -> u8 {
        match self {
            Origin::Default => 0,
            Origin::User(_) => 1,
            Origin::Project(_) => 2,
            Origin::Env(_) => 3,
            Origin::Flag(_) => 4,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::User(path) | Origin::Project(path) => write!(f, "{}", path.display()),
            Origin::Env(name) | Origin::Flag(name) => f.write_str(name),
        }
    }
}

/// One source of values: a whole TOML file, or one key's value from a variable or a flag.
#[derive(Clone)]
pub struct Layer {
    pub(crate) origin: Origin,
    /// The key that a flag sets.
    pub(crate) key: Option<String>,
    pub(crate) text: String,
    /// Whether only settings of models apply.
    pub(crate) models_only: bool,
}

impl Layer {
    /// The user's config file.
    pub fn user(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self {
            origin: Origin::User(path.into()),
            key: None,
            text: text.into(),
            models_only: false,
        }
    }

    /// The user's config file, of which only the settings of models apply: `agent` except `agent.tools` and
    /// `agent.mcp`, which affect which skills are ready. Problems with other settings are not reported.
    pub fn user_models(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self {
            models_only: true,
            ..Self::user(path, text)
        }
    }

    /// Whether a key of this layer applies.
    pub(crate) fn counts(&self, key: &ConfigKey) -> bool {
        let of_agent = key.segments().next() == AGENT_TOOLS.segments().next();
        let is_of_models = key.path != AGENT_TOOLS.path && !key.path.starts_with("agent.mcp.");
        !self.models_only || (of_agent && is_of_models)
    }

    /// The config file of a project: it can only tighten.
    pub fn project(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self {
            origin: Origin::Project(path.into()),
            key: None,
            text: text.into(),
            models_only: false,
        }
    }

    /// A `METIER_…` variable. An empty value means that it is not set.
    pub fn env(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            origin: Origin::Env(name.into()),
            key: None,
            text: value.into(),
            models_only: false,
        }
    }

    /// A flag such as `--strict`, which sets `key` to `value`.
    pub fn flag(name: impl Into<String>, key: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            origin: Origin::Flag(name.into()),
            key: Some(key.into()),
            text: value.into(),
            models_only: false,
        }
    }

    /// The origin of the values in this layer.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl fmt::Debug for Layer {
    /// Omits the content, which can contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layer")
            .field("origin", &self.origin)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
