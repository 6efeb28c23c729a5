//! Acts: everything that a skill can do to the world outside of itself, in the form in which it is checked.

use std::path::PathBuf;

use metier_model::Permission;

/// A command, word by word; `None` is a word that only the shell will know.
pub type Command = Vec<Option<Box<str>>>;

/// One thing that a skill is about to do. Values are final: whoever changes one asks again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Read a file or list a folder. The path is absolute, without links or `..` in it.
    ReadFile(PathBuf),
    /// Write a file. The path is absolute, without links or `..` in it.
    WriteFile(PathBuf),
    /// Run a line of a shell.
    Line {
        /// The line as its author wrote it, with placeholders in it.
        text: Box<str>,
        /// Every command in it; `None` when it can't be told what would run.
        commands: Option<Vec<Command>>,
    },
    /// Run a file of the skill, at this path below its folder.
    Script(Box<str>),
    /// Send a request to a host, as a URL parser gives it.
    Fetch {
        /// The host.
        host: Box<str>,
        /// The port.
        port: u16,
    },
    /// Read an environment variable.
    ReadVariable(Box<str>),
    /// Set an environment variable for later children.
    SetVariable(Box<str>),
    /// Read a git repository.
    ReadRepository(PathBuf),
    /// Change a git repository.
    WriteRepository(PathBuf),
    /// Call a model.
    CallModel(Box<str>),
    /// Invoke another skill.
    InvokeSkill(Box<str>),
}

impl Act {
    /// The permission that it needs.
    #[must_use]
    pub const fn permission(&self) -> Permission {
        match self {
            Self::ReadFile(_) => Permission::FileRead,
            Self::WriteFile(_) => Permission::FileWrite,
            Self::Line { .. } | Self::Script(_) => Permission::ShellExec,
            Self::Fetch { .. } => Permission::NetFetch,
            Self::ReadVariable(_) => Permission::EnvRead,
            Self::SetVariable(_) => Permission::EnvWrite,
            Self::ReadRepository(_) => Permission::GitRead,
            Self::WriteRepository(_) => Permission::GitWrite,
            Self::CallModel(_) => Permission::LlmCall,
            Self::InvokeSkill(_) => Permission::SkillInvoke,
        }
    }

    /// What it is about, for a receipt.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::ReadFile(path)
            | Self::WriteFile(path)
            | Self::ReadRepository(path)
            | Self::WriteRepository(path) => path.display().to_string(),
            Self::Fetch { host, port } => format!("{host}:{port}"),
            Self::Line { text, .. }
            | Self::Script(text)
            | Self::ReadVariable(text)
            | Self::SetVariable(text)
            | Self::CallModel(text)
            | Self::InvokeSkill(text) => text.to_string(),
        }
    }
}
