//! What a manifest asks for: a permission, and a scope that narrows it.

use std::{fmt, str::FromStr};

use metier_sdk::Permission;

use crate::scope::{NotAScope, PathPattern, Scope};

/// A permission that a skill asks for, with the scope it asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Want {
    /// Which of the ten.
    pub permission: Permission,
    /// How far it reaches: `git *` in `shell:exec(git *)`.
    pub scope: Scope,
}

impl Want {
    /// Whether everything that `other` asks for is in this one.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.permission == other.permission && self.reach().covers(&other.reach())
    }

    /// How far it reaches, written out: files and repositories without brackets are those of the project.
    #[must_use]
    pub fn reach(&self) -> Scope {
        let is_place = matches!(
            self.permission,
            Permission::FileRead
                | Permission::FileWrite
                | Permission::GitRead
                | Permission::GitWrite
        );
        match &self.scope {
            Scope::All if is_place => Scope::Paths(PathPattern::project()),
            scope => scope.clone(),
        }
    }
}

/// Why a text is not a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantError {
    /// Not one of the ten.
    Unknown(String),
    /// The brackets are not closed, or something follows them.
    Brackets,
    /// What stands in the brackets is not in the grammar of that permission.
    Scope(Permission, NotAScope),
}

impl fmt::Display for WantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => write!(f, "`{}` is not a permission", word.escape_debug()),
            Self::Brackets => {
                f.write_str("a scope is written in brackets, as in `shell:exec(git *)`")
            }
            Self::Scope(permission, problem) => write!(f, "`{permission}`: {problem}"),
        }
    }
}

impl std::error::Error for WantError {}

impl FromStr for Want {
    type Err = WantError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (word, scope) = match text.split_once('(') {
            None => (text, None),
            Some((word, rest)) => (word, Some(rest)),
        };
        let permission = word
            .parse()
            .map_err(|_| WantError::Unknown(word.to_owned()))?;
        let scope = match scope {
            None => Scope::All,
            Some(rest) => {
                let inner = rest.strip_suffix(')').ok_or(WantError::Brackets)?;
                Scope::parse(permission, inner)
                    .map_err(|problem| WantError::Scope(permission, problem))?
            }
        };
        Ok(Self { permission, scope })
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            Scope::All => write!(f, "{}", self.permission),
            scope => write!(f, "{}({scope})", self.permission),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wants_read_back() {
        for text in [
            "file:read",
            "file:read(./**)",
            "shell:exec(git *)",
            "net:fetch(api.github.com)",
            "env:read(GITHUB_TOKEN)",
        ] {
            assert_eq!(
                text.parse::<Want>().map(|want| want.to_string()),
                Ok(text.to_owned())
            );
        }
    }

    // case 126
    #[test]
    fn the_grammar_is_closed() {
        for text in [
            "",
            "*",
            "shell:exec ",
            "SHELL:EXEC",
            "file:read:../../",
            "shell:exec(",
            "shell:exec()",
            "shell:exec( )",
            "shell:exec(git)x",
            "shell:exec(a\nb)",
        ] {
            assert!(text.parse::<Want>().is_err(), "{text:?}");
        }
    }
}
