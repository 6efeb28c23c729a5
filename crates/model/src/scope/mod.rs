//! Scopes: the text in the parentheses of `shell:exec(git *)`.
//!
//! A scope can only narrow. The grammar is closed and differs by permission, so a string that can't be parsed is a
//! reported mistake, and never "all".
//!
//! ```text
//! file:read(./src/**)   file:write(~/notes/*.md)   git:read(.)      paths: project, home or absolute; `*`, `?`, `**`
//! shell:exec(git log *) shell:exec(scripts/*.sh)                    words: a last `*` is any further words
//! shell:exec(git log | head)                                        anything with shell signs: exactly this line,
//!                                                                   or, denied, each of its commands
//! net:fetch(api.github.com) net:fetch(*.a.io:8443) net:fetch([::1])  hosts and addresses, not URLs
//! env:read(GITHUB_TOKEN)                                            one variable, no pattern
//! llm:call(anthropic/*) skill:invoke(review-*)                      names
//! ```

mod command;
mod denial;
mod glob;
mod host;
mod path;

#[cfg(test)]
mod tests;

use std::fmt;

use metier_sdk::Permission;

pub use command::{CommandPattern, NotADenial};
pub use denial::{CommandStart, PossibleCommand, PossibleWord};
pub use host::HostPattern;
pub use path::{Anchor, PathPattern, Reach};

/// The scope of a permission.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// No parentheses: no limit.
    All,
    /// A pattern of files and repositories.
    Paths(PathPattern),
    /// A pattern of commands.
    Command(CommandPattern),
    /// A host on the network.
    Host(HostPattern),
    /// The name of an environment variable.
    Variable(Box<str>),
    /// A model or a skill; `*` matches any characters.
    Name(Box<str>),
}

/// Why a string is not a scope of its permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAScope(pub &'static str);

impl fmt::Display for NotAScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for NotAScope {}

/// Longer than any real scope; a dialog must be able to show it.
const MAX_LENGTH: usize = 4096;

impl Scope {
    /// Parses the text in the parentheses.
    ///
    /// # Errors
    /// If the string is not in the grammar of that permission.
    pub fn parse(permission: Permission, text: &str) -> Result<Self, NotAScope> {
        if text.len() > MAX_LENGTH {
            return Err(NotAScope("a scope can have at most 4096 bytes"));
        }
        if text.trim() != text || text.is_empty() {
            return Err(NotAScope(
                "a scope must not be empty or start or end with spaces",
            ));
        }
        if text.chars().any(char::is_control) {
            return Err(NotAScope("a scope must not contain control characters"));
        }
        match permission {
            Permission::FileRead
            | Permission::FileWrite
            | Permission::GitRead
            | Permission::GitWrite => PathPattern::parse(text).map(Self::Paths),
            Permission::ShellExec => CommandPattern::parse(text).map(Self::Command),
            Permission::NetFetch => HostPattern::parse(text).map(Self::Host),
            Permission::EnvRead | Permission::EnvWrite => variable(text).map(Self::Variable),
            Permission::LlmCall | Permission::SkillInvoke => name(text).map(Self::Name),
        }
    }

    /// Whether this covers everything in `other`. False if that is uncertain.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (Self::Paths(this), Self::Paths(other)) => this.covers(other),
            (Self::Command(this), Self::Command(other)) => this.covers(other),
            (Self::Host(this), Self::Host(other)) => this.covers(other),
            (Self::Variable(this), Self::Variable(other)) => this == other,
            (Self::Name(this), Self::Name(other)) => this == other || glob::matches(this, other),
            _ => false,
        }
    }

    /// Whether a name is in a scope of names.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Name(pattern) => glob::matches(pattern, name),
            Self::Variable(variable) => **variable == *name,
            _ => false,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => Ok(()),
            Self::Paths(pattern) => write!(f, "{pattern}"),
            Self::Command(pattern) => write!(f, "{pattern}"),
            Self::Host(pattern) => write!(f, "{pattern}"),
            Self::Variable(text) | Self::Name(text) => f.write_str(text),
        }
    }
}

fn variable(text: &str) -> Result<Box<str>, NotAScope> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(fits) {
        return Err(NotAScope(
            "write one variable, as in `env:read(GITHUB_TOKEN)`; patterns are not supported",
        ));
    }
    Ok(text.into())
}

fn name(text: &str) -> Result<Box<str>, NotAScope> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./:*".contains(c);
    if !text.chars().all(fits) {
        return Err(NotAScope(
            "a name consists of letters, digits and `-_./:`, and `*` for any characters",
        ));
    }
    if text.chars().all(|c| c == '*') {
        return Err(NotAScope("omit the parentheses to request all of them"));
    }
    Ok(text.into())
}
