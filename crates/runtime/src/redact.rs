//! Secrets of a child are removed from its output, from receipts and from errors.
//!
//! Values are found literally, and in percent-encoding, hex and base64, in upper or lower case, in one line or broken into several.
//! A string is searched in three forms, each of which keeps the positions of its bytes. A secret that a program splits or encodes
//! differently is not found; therefore as few programs as possible get it.

use std::{fmt::Write as _, ops::Range};

/// Values that must not be shown, with the names that replace them.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<RedactedSecret>,
}

#[derive(Clone)]
struct RedactedSecret {
    name: String,
    value: Vec<u8>,
    hex: Vec<u8>,
    base64: Vec<Vec<u8>>,
}

/// Shorter values are ordinary words, and would be found everywhere.
const SHORTEST: usize = 6;

/// Lines of a longer value, such as a private key, are secrets themselves from this length on.
const SHORTEST_LINE: usize = 16;

impl Redactor {
    /// Hides these values; each comes with the name of its variable.
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut all = Vec::new();
        for (name, value) in secrets {
            let value = value.trim();
            let lines = value.lines().map(str::trim);
            let lines = lines.filter(|line| line.len() >= SHORTEST_LINE && *line != value);
            let values = std::iter::once(value).chain(lines);
            let values = values.filter(|value| value.len() >= SHORTEST);
            all.extend(values.map(|value| RedactedSecret {
                name: name.to_owned(),
                value: value.into(),
                hex: hex(value).into(),
                base64: base64(value),
            }));
        }
        // The longest first, so that its name is used where another is a part of it.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.value.len()));
        Self { secrets: all }
    }

    /// Whether there is nothing to hide.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// The string without the values.
    #[must_use]
    pub fn clean(&self, text: &str) -> String {
        if self.secrets.is_empty() {
            return text.to_owned();
        }
        let (plain, digits, letters) = (
            TextView::decoded(text),
            TextView::hex(text),
            TextView::base64(text),
        );
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for secret in &self.secrets {
            let spelled = secret.base64.iter().flat_map(|form| letters.find(form));
            let places = plain.find(&secret.value);
            let places = places.into_iter().chain(digits.find(&secret.hex));
            found.extend(places.chain(spelled).map(|place| (place, &*secret.name)));
        }
        // Stable: of two matches at the same place the longer value is first.
        found.sort_by_key(|(place, _)| place.start);
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        for (place, name) in found {
            if place.start >= at {
                out.extend(&text.as_bytes()[at..place.start]);
                out.extend(format!("[redacted {name}]").bytes());
            }
            at = at.max(place.end);
        }
        out.extend(&text.as_bytes()[at..]);
        String::from_utf8_lossy(&out).into_owned()
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} values)", self.secrets.len())
    }
}

/// A string in one of the three forms.
#[derive(Default)]
struct TextView {
    bytes: Vec<u8>,
    /// The position of each byte in the string.
    places: Vec<Range<usize>>,
}

impl TextView {
    /// Unchanged, with `%2F` decoded.
    fn decoded(text: &str) -> Self {
        let bytes = text.as_bytes();
        let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
        let mut view = Self::default();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let escaped = (*byte == b'%').then(|| Some(digit(at + 1)? * 16 + digit(at + 2)?));
            let escaped = escaped.flatten().and_then(|code| u8::try_from(code).ok());
            let length = if escaped.is_some() { 3 } else { 1 };
            view.bytes.push(escaped.unwrap_or(*byte));
            view.places.push(at..at + length);
            at += length;
        }
        view
    }

    /// Lower case, without the separators of a hex dump.
    fn hex(text: &str) -> Self {
        let between = |byte: u8| byte.is_ascii_whitespace() || b":,%\\xX".contains(&byte);
        Self::of(text, between, |byte| byte.to_ascii_lowercase())
    }

    /// Without line breaks, and in one of the two alphabets.
    fn base64(text: &str) -> Self {
        let common = |byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        };
        Self::of(text, |byte: u8| byte.is_ascii_whitespace(), common)
    }

    fn of(text: &str, left_out: impl Fn(u8) -> bool, read: impl Fn(u8) -> u8) -> Self {
        let mut view = Self::default();
        for (at, byte) in text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| !left_out(*byte))
        {
            view.bytes.push(read(byte));
            view.places.push(at..at + 1);
        }
        view
    }

    /// Start and end of each match in the string.
    fn find(&self, wanted: &[u8]) -> Vec<Range<usize>> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let windows = self.bytes.windows(wanted.len()).enumerate();
        let found = windows.filter(|(_, window)| *window == wanted);
        let whole =
            found.map(|(at, _)| self.places[at].start..self.places[at + wanted.len() - 1].end);
        whole.collect()
    }
}

fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        // Writing to a string can't fail.
        write!(out, "{byte:02x}").ok();
        out
    })
}

/// The value within base64, at each of the three possible alignments, without the characters that depend on its neighbours.
fn base64(text: &str) -> Vec<Vec<u8>> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let spell = |shift: usize| {
        let bytes: Vec<u8> = std::iter::repeat_n(0, shift).chain(text.bytes()).collect();
        let whole = bytes.chunks_exact(3).flat_map(|three| {
            let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            [18, 12, 6, 0].map(|at| LETTERS[(bits >> at & 63) as usize])
        });
        let skip = [0, 2, 3][shift];
        whole.skip(skip).collect::<Vec<u8>>()
    };
    let forms = (0..3).map(spell);
    forms.filter(|form| form.len() >= SHORTEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // case 103, 104
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
            "Y2FuYXJ5\n  LytzZWNy\r\nZXQ9OQ==",
            "Y2FuYXJ5LytzZWNyZXQ9OQ".replace('/', "_").as_str(),
            "63616E6172792F2B7365637265743D39",
            "63 61 6e 61 72 79 2f 2b\n73 65 63 72 65 74 3d 39",
            "\\x63\\x61\\x6e\\x61\\x72\\x79\\x2f\\x2b\\x73\\x65\\x63\\x72\\x65\\x74\\x3d\\x39",
            "canary%2f%2bsecret%3d9",
            "%63%61%6e%61%72%79%2f%2b%73%65%63%72%65%74%3d%39",
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

    #[test]
    fn what_is_not_secret_stays_as_it_is() {
        let redactor = Redactor::new([
            ("A", "first-secret"),
            ("B", "secret"),
            ("KEY", "-- x --\nabcdefghijklmnopqrst\n"),
        ]);
        let check = |text: &str, expected: &str| assert_eq!(redactor.clean(text), expected);
        check("ä %zz % 100%", "ä %zz % 100%");
        check(
            "a first-secret, a secret.",
            "a [redacted A], a [redacted B].",
        );
        check("ßfirst-secretßsecretß", "ß[redacted A]ß[redacted B]ß");
        check("secretsecret", "[redacted B][redacted B]");
        check("> abcdefghijklmnopqrst <", "> [redacted KEY] <");
    }
}
