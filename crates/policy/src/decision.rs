//! Allowed, to be asked for, or denied; and which of several such answers counts.

use std::fmt;

/// An answer, from the mildest to the strictest. Where several apply, the maximum wins, so that it never matters in
/// which order they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// Yes.
    Allow,
    /// Not without somebody's word.
    Ask,
    /// No.
    Deny,
}

impl Decision {
    /// The stable word.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_answer_wins_in_any_order() {
        use Decision::{Allow, Ask, Deny};
        assert_eq!([Allow, Ask].into_iter().max(), Some(Ask));
        assert_eq!([Deny, Allow, Ask].into_iter().max(), Some(Deny));
        assert_eq!(Ask.to_string(), "ask");
    }
}
