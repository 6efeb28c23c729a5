//! The ten permissions a skill can ask for.

use std::{fmt, str::FromStr};

/// One of the ten things a skill may be allowed to do. A scope can narrow it; nothing widens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// Read files of the project.
    FileRead,
    /// Write files of the project.
    FileWrite,
    /// Run a program.
    ShellExec,
    /// Send a request to a host on the network.
    NetFetch,
    /// Ask the language model.
    LlmCall,
    /// Read the git repository.
    GitRead,
    /// Change the git repository.
    GitWrite,
    /// Read an environment variable.
    EnvRead,
    /// Set an environment variable for later children of the same activation.
    EnvWrite,
    /// Invoke another skill.
    SkillInvoke,
}

impl Permission {
    /// All ten, in the order in which they are documented.
    pub const ALL: [Self; 10] = [
        Self::FileRead,
        Self::FileWrite,
        Self::ShellExec,
        Self::NetFetch,
        Self::LlmCall,
        Self::GitRead,
        Self::GitWrite,
        Self::EnvRead,
        Self::EnvWrite,
        Self::SkillInvoke,
    ];

    /// The spelling used in manifests, prompts and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FileRead => "file:read",
            Self::FileWrite => "file:write",
            Self::ShellExec => "shell:exec",
            Self::NetFetch => "net:fetch",
            Self::LlmCall => "llm:call",
            Self::GitRead => "git:read",
            Self::GitWrite => "git:write",
            Self::EnvRead => "env:read",
            Self::EnvWrite => "env:write",
            Self::SkillInvoke => "skill:invoke",
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The word is not one of the ten permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPermission(pub String);

impl fmt::Display for UnknownPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a permission", self.0.escape_debug())
    }
}

impl std::error::Error for UnknownPermission {}

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|permission| permission.as_str() == text)
            .ok_or_else(|| UnknownPermission(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_permission_reads_back() {
        for permission in Permission::ALL {
            assert_eq!(permission.as_str().parse(), Ok(permission));
        }
    }

    // case 126
    #[test]
    fn near_misses_are_refused() {
        for word in [
            "",
            "*",
            "file",
            "SHELL:EXEC",
            "shell:exec ",
            "file:read:../../",
            "all",
        ] {
            assert!(word.parse::<Permission>().is_err(), "{word:?}");
        }
    }
}
