//! Secrets that a child was given don't come back: not in its output, not in a receipt, not in an error.
//!
//! Known values are found as they are, and as base64, hex and percent-encoding make them. A secret that a program cuts into
//! pieces or encodes in its own way is not found; that is why it is given to as few programs as possible.

use std::fmt::Write as _;

/// Values that must not be seen, with the names that stand in their place.
#[derive(Clone, Default)]
pub struct Redactor {
    /// What to look for, the longest first, and the name of the variable that holds it.
    spellings: Vec<(String, String)>,
}

/// Shorter values are words of the language, and would be found everywhere.
const SHORTEST: usize = 6;

impl Redactor {
    /// Hides these values; each comes with the name of its variable.
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut spellings = Vec::new();
        for (name, value) in secrets {
            let value = value.trim();
            if value.len() < SHORTEST {
                continue;
            }
            let mut known = vec![value.to_owned(), hex(value), percent(value)];
            known.extend(base64(value));
            known.dedup();
            spellings.extend(known.into_iter().map(|text| (text, name.to_owned())));
        }
        spellings.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Self { spellings }
    }

    /// The text without the values.
    #[must_use]
    pub fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (spelling, name) in &self.spellings {
            if text.contains(spelling) {
                text = text.replace(spelling, &format!("[redacted {name}]"));
            }
        }
        text
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} spellings)", self.spellings.len())
    }
}

fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        // Writing to a string can't fail.
        write!(out, "{byte:02x}").ok();
        out
    })
}

fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").ok();
        }
        out
    })
}

/// How the value looks inside of base64, wherever in the encoded text it begins: three ways, without the letters that its
/// neighbours decide.
fn base64(text: &str) -> Vec<String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let spell = |shift: usize| {
        let bytes: Vec<u8> = std::iter::repeat_n(0, shift).chain(text.bytes()).collect();
        let whole = bytes.chunks_exact(3).flat_map(|three| {
            let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            [18, 12, 6, 0].map(|at| char::from(LETTERS[(bits >> at & 63) as usize]))
        });
        let skip = [0, 2, 3][shift];
        whole.skip(skip).collect::<String>()
    };
    let mut out: Vec<String> = (0..3)
        .map(spell)
        .filter(|text| text.len() >= SHORTEST)
        .collect();
    let url: Vec<String> = out
        .iter()
        .map(|text| text.replace('+', "-").replace('/', "_"))
        .collect();
    out.extend(url);
    out.sort();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_is_not_seen_in_any_common_spelling() {
        let redactor = Redactor::new([("API_KEY", "canary/+secret=9"), ("SHORT", "abc")]);
        for text in [
            "key: canary/+secret=9.",
            "63616e6172792f2b7365637265743d39",
            "q=canary%2F%2Bsecret%3D9&x",
            "Y2FuYXJ5Lytz ZWNyZXQ9OQ== Y2FuYXJ5LytzZWNyZXQ9OQ==",
            "eGNhbmFyeS8rc2VjcmV0PTk=",
            "eHhjYW5hcnkvK3NlY3JldD05",
        ] {
            let clean = redactor.clean(text);
            assert!(clean.contains("[redacted API_KEY]"), "{text} → {clean}");
            assert!(!clean.contains("canary/+secret"), "{clean}");
        }
        assert_eq!(
            redactor.clean("abc"),
            "abc",
            "too short to be told from a word"
        );
    }
}
