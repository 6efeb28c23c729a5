//! Where values come from.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::key::Key;
use crate::table::AGENT_TOOLS;

/// Who decided a value; the later ones win.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Nobody: it is our default.
    Default,
    /// The user's file.
    User(PathBuf),
    /// A file that came with the project.
    Project(PathBuf),
    /// An environment variable.
    Env(String),
    /// A command-line flag.
    Flag(String),
}

impl Origin {
    /// The file, if it is one.
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
    /// Whether only the settings of models count.
    pub(crate) models_only: bool,
}

impl Layer {
    /// The user's own file.
    pub fn user(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self {
            origin: Origin::User(path.into()),
            key: None,
            text: text.into(),
            models_only: false,
        }
    }

    /// The user's own file, of which only the settings of models count: `agent`, but for `agent.tools`, which decides which skills are
    /// ready. What is wrong with other settings is not reported.
    pub fn user_models(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self {
            models_only: true,
            ..Self::user(path, text)
        }
    }

    /// Whether a setting of this layer counts.
    pub(crate) fn counts(&self, key: &Key) -> bool {
        let of_agent = key.segments().next() == AGENT_TOOLS.segments().next();
        !self.models_only || (of_agent && key.path != AGENT_TOOLS.path)
    }

    /// A file of the project: it can only tighten.
    pub fn project(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self {
            origin: Origin::Project(path.into()),
            key: None,
            text: text.into(),
            models_only: false,
        }
    }

    /// A `METIER_…` variable. An empty value counts as not set.
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

    /// Where it comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl fmt::Debug for Layer {
    /// Without the text, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layer")
            .field("origin", &self.origin)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
