//! Words as they are compared: without case, accents and endings; identifiers also by their parts.
//!
//! `PdfMerger`, `pdf-merger` and `pdf_mergers` share their words. A script without spaces is compared by characters, and
//! neighbouring characters count as neighbours. Words are stored as 64-bit hashes: a text of some skill can't be
//! restored from the index, and two words with the same hash only count as the same word.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::tuning::{FILLER, MAX_WORD, STOP};
use crate::fold::runs_on;

/// A word as it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) hash: u64,
    pub(crate) weight: TermWeight,
    /// Its number in this tokenizer: 0, 1, 2 …
    pub(crate) number: u32,
}

/// How much a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermWeight {
    /// It is in every text.
    Stop,
    /// It is in every request.
    Filler,
    Full,
}

/// Finds words, and remembers their stems: a collection has few different words.
pub(crate) struct Tokenizer {
    stemmer: Stemmer,
    known: ByHash<Term>,
    /// The numbers of terms, by hash.
    numbers: ByHash<u32>,
    word: String,
}

/// A key that is a hash already.
#[derive(Default)]
pub(crate) struct HashedKey(u64);

impl Hasher for HashedKey {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| step(hash, *byte));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// A table by hashes.
pub(crate) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<HashedKey>>;

const START: u64 = 0xcbf2_9ce4_8422_2325;

fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

/// The bits of a hash are spread over all of it.
pub(crate) fn spread(mut hash: u64) -> u64 {
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

/// The hash of two neighbours.
pub(crate) fn pair(left: u64, right: u64) -> u32 {
    let hash = spread(left.rotate_left(23) ^ right);
    u32::try_from(hash >> 32).unwrap_or(0)
}

/// Where a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It follows the word before.
    Next,
    /// It is an identifier whose parts follow one another.
    Beside,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            known: ByHash::default(),
            numbers: ByHash::default(),
            word: String::new(),
        }
    }
}

impl Tokenizer {
    /// The words of a text, in order.
    pub(crate) fn each<'t>(&mut self, text: &'t str, mut found: impl FnMut(Term, Place, &'t str)) {
        words(text, |word| {
            let parts = parts(word);
            let Some(first) = parts else {
                found(self.term(word), Place::Next, word);
                return;
            };
            let mut rest = word;
            let mut end = Some(first);
            while !rest.is_empty() {
                let (part, more) = rest.split_at(end.unwrap_or(rest.len()));
                found(self.term(part), Place::Next, part);
                rest = more;
                end = self::parts(rest);
            }
            found(self.term(word), Place::Beside, word);
        });
    }

    /// The numbers of all terms so far, by hash.
    pub(crate) fn numbers(&self) -> &ByHash<u32> {
        &self.numbers
    }

    /// A word as it is compared.
    pub(crate) fn term(&mut self, word: &str) -> Term {
        let key = match word.is_ascii() {
            true => {
                let bytes = word.bytes().take(MAX_WORD);
                bytes.fold(START, |hash, byte| step(hash, byte.to_ascii_lowercase()))
            }
            false => {
                self.word = plain(word);
                self.word.bytes().fold(START, step)
            }
        };
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if word.is_ascii() {
            self.word.clear();
            let bytes = word.chars().take(MAX_WORD);
            self.word.extend(bytes.map(|c| c.to_ascii_lowercase()));
        }
        let term = self.stemmed();
        self.known.insert(key, term);
        term
    }

    fn stemmed(&mut self) -> Term {
        let word = self.word.as_str();
        let weight = match word {
            word if STOP.contains(&word) => TermWeight::Stop,
            word if FILLER.contains(&word) => TermWeight::Filler,
            _ => TermWeight::Full,
        };
        let stem = self.stemmer.stem(word);
        let hash = spread(stem.bytes().fold(START, step));
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        Term {
            hash,
            weight,
            number: *self.numbers.entry(hash).or_insert(next),
        }
    }
}

/// A word without case and accents.
pub(crate) fn plain(word: &str) -> String {
    if word.chars().any(runs_on) {
        return word.nfkc().take(MAX_WORD).collect();
    }
    let letters = word.nfkd().filter(|c| !is_combining_mark(*c));
    let lower = letters.flat_map(char::to_lowercase);
    lower.take(MAX_WORD).collect()
}

/// Runs of letters and digits; a character of a script without spaces is a word.
fn words<'t>(text: &'t str, mut found: impl FnMut(&'t str)) {
    let bytes = text.as_bytes();
    let mut start = None;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let (size, is_word, alone) = match byte.is_ascii() {
            true => (1, byte.is_ascii_alphanumeric(), false),
            false => {
                let next = text.get(at..).and_then(|rest| rest.chars().next());
                let c = next.unwrap_or('\u{fffd}');
                let alone = runs_on(c) && c.is_alphanumeric();
                let is_word = c.is_alphanumeric() || is_combining_mark(c);
                (c.len_utf8(), is_word && !alone, alone)
            }
        };
        if is_word {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            found(text.get(start..at).unwrap_or_default());
        }
        if alone {
            found(text.get(at..at + size).unwrap_or_default());
        }
        at += size;
    }
    if let Some(start) = start {
        found(text.get(start..).unwrap_or_default());
    }
}

/// Where the second part of an identifier in camel case starts: `useEffect`, `HTTPServer`.
fn parts(word: &str) -> Option<usize> {
    let bytes = word.as_bytes();
    let starts = |at: usize| {
        let before = bytes.get(at - 1).is_some_and(u8::is_ascii_lowercase);
        let upper = bytes.get(at).is_some_and(u8::is_ascii_uppercase);
        let after = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let was_upper = bytes.get(at - 1).is_some_and(u8::is_ascii_uppercase);
        upper && (before || (was_upper && after))
    };
    (1..bytes.len()).find(|at| starts(*at) && word.is_char_boundary(*at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut found = Vec::new();
        Tokenizer::default().each(text, |_, place, word| {
            let sign = if place == Place::Beside { "+" } else { "" };
            found.push(format!("{sign}{}", plain(word)));
        });
        assert_eq!(found.join(" "), expected, "{text}");
    }

    #[test]
    fn identifiers_have_parts() {
        check("pdf-merger, pdf_merger", "pdf merger pdf merger");
        check(
            "useEffect(HTTPServer)",
            "use effect +useeffect http server +httpserver",
        );
        check("S3 und 2FA für Bären", "s3 und 2fa fur baren");
        check("iOS", "i os +ios");
    }

    #[test]
    fn scripts_without_spaces_have_characters() {
        check("部署docker镜像", "部 署 docker 镜 像");
        check("バックアップ", "バ ッ ク ア ッ プ");
        check("🙂🙂 ok 👩‍💻", "ok");
    }

    #[test]
    fn endings_and_accents_do_not_matter() {
        let mut tokens = Tokenizer::default();
        let same = |tokens: &mut Tokenizer, a: &str, b: &str| {
            assert_eq!(tokens.term(a), tokens.term(b), "{a} {b}");
        };
        same(&mut tokens, "deploying", "Deployed");
        same(&mut tokens, "résumé", "RESUME\u{301}");
        same(&mut tokens, "ｐｄｆ", "pdf");
        assert_ne!(tokens.term("deploy"), tokens.term("display"));
        assert_eq!(tokens.term("the").weight, TermWeight::Stop);
        assert_eq!(tokens.term("Please").weight, TermWeight::Filler);
    }
}
