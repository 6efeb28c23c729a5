//! Which glob patterns are used: those of ignore files, of searches, and of triggers.
//!
//! **Problem.** Patterns come from files and callers that are not trusted. Their compiler recurses once for each nested brace, its
//! callers panic where a pattern is too large for it, and it takes hundreds of bytes for each byte of a pattern.
//!
//! **Decision.** There is one value with one set of limits. What it accepts is far below the limits of the compiler, alone and in sum.

use std::fmt;

/// The longest pattern, in bytes.
const MAX_LENGTH: usize = 1_000;
/// The braces and the commas in a pattern. All of them count: whether braces are nested depends on classes and escapes.
const MAX_BRACES: usize = 16;
const MAX_COMMAS: usize = 200;
/// Patterns that are compiled together, and their bytes.
const MAX_PATTERNS: usize = 10_000;
const MAX_BYTES: usize = 256 << 10;

/// How many patterns may still be compiled for one search or one list.
#[derive(Clone, Debug)]
pub struct PatternBudget {
    patterns: usize,
    bytes: usize,
}

/// The limit that a pattern exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternExcess {
    /// Its own length.
    Length,
    /// Its braces.
    Braces,
    /// Its alternatives.
    Alternatives,
    /// The number or the length of all patterns.
    All,
}

impl Default for PatternBudget {
    fn default() -> Self {
        Self {
            patterns: MAX_PATTERNS,
            bytes: MAX_BYTES,
        }
    }
}

impl PatternBudget {
    /// Counts a pattern that is to be compiled.
    ///
    /// # Errors
    /// When it exceeds a limit. Then it must not be compiled, and is not counted.
    pub fn accept(&mut self, pattern: &str) -> Result<(), PatternExcess> {
        let count = |wanted| pattern.bytes().filter(|byte| *byte == wanted).count();
        if pattern.len() > MAX_LENGTH {
            return Err(PatternExcess::Length);
        }
        if count(b'{') > MAX_BRACES {
            return Err(PatternExcess::Braces);
        }
        if count(b',') > MAX_COMMAS {
            return Err(PatternExcess::Alternatives);
        }
        if self.patterns == 0 || self.bytes < pattern.len() {
            return Err(PatternExcess::All);
        }
        self.patterns -= 1;
        self.bytes -= pattern.len();
        Ok(())
    }
}

impl fmt::Display for PatternExcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => write!(f, "it is longer than {MAX_LENGTH} bytes"),
            Self::Braces => write!(f, "it has more than {MAX_BRACES} braces"),
            Self::Alternatives => write!(f, "it has more than {MAX_COMMAS} alternatives"),
            Self::All => write!(
                f,
                "all patterns together exceed {MAX_PATTERNS} patterns or {} KB",
                MAX_BYTES >> 10
            ),
        }
    }
}

impl std::error::Error for PatternExcess {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_leaves_a_pattern_out() {
        let mut budget = PatternBudget::default();
        for (pattern, expected) in [
            ("?".repeat(1_000), Ok(())),
            ("?".repeat(1_001), Err(PatternExcess::Length)),
            ("{a,b}".repeat(16), Ok(())),
            ("{a,b}".repeat(17), Err(PatternExcess::Braces)),
            // A class contains the closing brace.
            ("{[}]".repeat(17), Err(PatternExcess::Braces)),
            (format!("{{{}}}", "a,".repeat(200)), Ok(())),
            ("a,".repeat(201), Err(PatternExcess::Alternatives)),
        ] {
            assert_eq!(budget.accept(&pattern), expected, "{pattern}");
        }
        let many = (0..20_000).take_while(|_| budget.accept("?").is_ok());
        assert_eq!(many.count(), MAX_PATTERNS - 3);
        let mut budget = PatternBudget::default();
        let long = "?".repeat(1_000);
        let many = (0..20_000).take_while(|_| budget.accept(&long).is_ok());
        assert_eq!(many.count(), MAX_BYTES / 1_000);
        assert_eq!(budget.accept(&long), Err(PatternExcess::All));
    }
}
