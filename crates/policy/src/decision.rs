//! Allow, ask or deny, and which of several decisions applies.

use std::fmt;

/// A decision, from the mildest to the strictest. If several apply, the maximum wins, so their order never matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It is permitted without a question.
    Allow,
    /// The user has to be asked.
    Ask,
    /// It is refused without a question.
    Deny,
}

impl Decision {
    /// The stable name used in JSON.
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
