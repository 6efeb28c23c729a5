//! Tokens: which account can publish which skills.

use std::fmt;
use std::str::FromStr;

use crate::blobs::digest_of;
use crate::database::StoredToken;

/// The prefix of every token, so that secret scanners recognise one.
const PREFIX: &str = "mrt_";
/// The number of random bytes of a token. There are enough that a fast hash is safe: guessing is hopeless.
const RANDOM: usize = 32;
/// The longest name of an account.
const MAX_OWNER: usize = 64;

/// The scope of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenScope {
    /// Everything, for every skill.
    Admin,
    /// Publish and yank the skills whose name matches: `*`, `NAME` or `PREFIX*`.
    Publish(String),
}

impl TokenScope {
    /// Whether it permits publishing a skill with this name.
    #[must_use]
    pub fn covers(&self, name: &str) -> bool {
        match self {
            Self::Admin => true,
            Self::Publish(pattern) => match pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == pattern,
            },
        }
    }
}

impl fmt::Display for TokenScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Admin => f.write_str("admin"),
            Self::Publish(pattern) => write!(f, "publish:{pattern}"),
        }
    }
}

impl FromStr for TokenScope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match text.strip_prefix("publish:") {
            None if text == "admin" => Ok(Self::Admin),
            Some(pattern)
                if !pattern.is_empty()
                    && pattern
                        .strip_suffix('*')
                        .unwrap_or(pattern)
                        .chars()
                        .all(is_plain) =>
            {
                Ok(Self::Publish(pattern.to_owned()))
            }
            _ => Err(format!(
                "`{text}` is not a scope; write admin, publish:NAME, publish:PREFIX* or publish:*"
            )),
        }
    }
}

/// A new token. Its text is not stored, so it is known only now.
pub struct NewToken {
    /// The text that the account uses.
    pub secret: String,
    /// The row for the database, which contains the hash in place of the token.
    pub stored: StoredToken,
}

impl NewToken {
    /// A new token of an account.
    ///
    /// # Errors
    /// If the name of the account is invalid, or the operating system provides no random numbers.
    pub fn generate(owner: &str, scope: &TokenScope, now: &str) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if owner.is_empty() || owner.len() > MAX_OWNER || !owner.chars().all(is_plain) {
            return Err(format!(
                "`{owner}` can't be an account; use letters, digits, `-`, `_` and `.`"
            ));
        }
        let mut random = [0; RANDOM];
        getrandom::fill(&mut random)
            .map_err(|error| format!("the operating system provides no random numbers: {error}"))?;
        let secret = random.iter().map(|byte| format!("{byte:02x}"));
        let secret = format!("{PREFIX}{}", secret.collect::<String>());
        let hash = hash(&secret);
        let id = hash.trim_start_matches("sha256:")[..12].to_owned();
        let stored = StoredToken {
            id,
            hash,
            owner: owner.to_owned(),
            scope: scope.to_string(),
            created_at: now.to_owned(),
        };
        Ok(Self { secret, stored })
    }
}

/// The hash that is stored in place of a token.
pub(crate) fn hash(token: &str) -> String {
    digest_of(token.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_covers_its_names_and_no_others() {
        let check = |scope: &str, name: &str| scope.parse::<TokenScope>().unwrap().covers(name);
        assert!(check("admin", "pdf"));
        assert!(check("publish:*", "pdf"));
        assert!(check("publish:pdf", "pdf"));
        assert!(!check("publish:pdf", "pdf-forms"));
        assert!(check("publish:team-*", "team-pdf"));
        assert!(!check("publish:team-*", "pdf"));
        for refused in [
            "",
            "publish:",
            "publish:a/b",
            "publish:*x",
            "root",
            "publish:**",
        ] {
            assert!(refused.parse::<TokenScope>().is_err(), "{refused}");
        }
    }

    #[test]
    fn two_tokens_differ_and_only_the_hash_is_stored() {
        let new = || NewToken::generate("ada", &TokenScope::Admin, "now").unwrap();
        let (one, other) = (new(), new());
        assert_ne!(one.secret, other.secret);
        assert!(!format!("{:?}", one.stored).contains(&one.secret[PREFIX.len()..]));
        assert!(NewToken::generate("a b", &TokenScope::Admin, "now").is_err());
    }
}
