//! Permissions that a manifest requests, each with a scope that narrows it.

use std::{fmt, str::FromStr};

use metier_sdk::Permission;

use crate::scope::{NotAScope, PathPattern, Scope};

/// A requested permission with its scope.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Want {
    /// One of the ten permissions.
    pub permission: Permission,
    /// The scope: `git *` in `shell:exec(git *)`.
    pub scope: Scope,
}

impl Want {
    /// Whether this covers everything that `other` requests.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.permission == other.permission && self.reach().covers(&other.reach())
    }

    /// The effective scope: files and repositories without a scope are those of the project.
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

/// Why a string is not a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantError {
    /// It is not one of the ten permissions.
    Unknown(String),
    /// The parentheses are not closed, or text follows them.
    Brackets,
    /// The scope is not in the grammar of that permission.
    Scope(Permission, NotAScope),
}

impl fmt::Display for WantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => write!(f, "unknown permission `{}`", word.escape_debug()),
            Self::Brackets => {
                f.write_str("write a scope in parentheses, as in `shell:exec(git *)`")
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
