//! Allow, ask, deny: of several opinions the strictest counts.

use std::fmt;

/// What to do about something that a skill wants. The greater one wins, so the order of asking never matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// Do it.
    Allow,
    /// Ask somebody first.
    Ask,
    /// Don't.
    Deny,
}

impl Decision {
    /// The stable word used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
