//! What a manifest asks for: a permission, and a scope that narrows it.

use std::{fmt, str::FromStr};

use metier_sdk::Permission;

/// A permission that a skill asks for, with the scope it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// Which of the ten.
    pub permission: Permission,
    /// `git *` in `shell:exec(git *)`; `None` asks for all of it.
    pub scope: Option<Box<str>>,
}

/// Why a text is not a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantError {
    /// Not one of the ten.
    Unknown(String),
    /// The brackets are not closed, empty, or something follows them.
    Scope,
}

impl fmt::Display for WantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => write!(f, "`{}` is not a permission", word.escape_debug()),
            Self::Scope => f.write_str("a scope is written in brackets, as in `shell:exec(git *)`"),
        }
    }
}

impl std::error::Error for WantError {}

impl FromStr for Want {
    type Err = WantError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (word, scope) = match text.split_once('(') {
            None => (text, None),
            Some((word, rest)) => {
                let scope = rest
                    .strip_suffix(')')
                    .filter(|scope| !scope.trim().is_empty())
                    .ok_or(WantError::Scope)?;
                if scope.chars().any(char::is_control) {
                    return Err(WantError::Scope);
                }
                (word, Some(scope.into()))
            }
        };
        let permission = word
            .parse()
            .map_err(|_| WantError::Unknown(word.to_owned()))?;
        Ok(Self { permission, scope })
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.scope {
            None => write!(f, "{}", self.permission),
            Some(scope) => write!(f, "{}({scope})", self.permission),
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
