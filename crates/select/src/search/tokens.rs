//! Words as they are compared: without case, accents and endings; identifiers also by their parts.
//!
//! `PdfMerger`, `pdf-merger` and `pdf_mergers` share their words. A script without spaces is compared by characters, and
//! neighbouring characters count as neighbours. Words are stored as 64-bit hashes: the text of a skill can't be
//! restored from the index, and two words with the same hash only count as the same word.

use std::{
    borrow::Cow,
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    ops::Range,
    sync::LazyLock,
};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{
    bits::{eight_at, mask},
    tuning::{FILLER, MAX_WORD, STOP},
};
use crate::fold::runs_on;

/// A word as it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) hash: u64,
    pub(crate) weight: TermWeight,
    /// Its number in this tokenizer: 0, 1, 2 …
    pub(crate) number: u32,
}

/// How much a word contributes to finding a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermWeight {
    /// It occurs in every text.
    Stop,
    /// It occurs in every request.
    Filler,
    /// It is a number, which is a detail of a request and rarely its subject.
    Number,
    Full,
}

fn weight(word: &str) -> TermWeight {
    match word.bytes().all(|byte| byte.is_ascii_digit()) {
        true => TermWeight::Number,
        false => TermWeight::Full,
    }
}

/// Finds words, and remembers their stems: a collection has few different words.
pub(crate) struct Tokenizer {
    stemmer: Stemmer,
    known: KnownWords,
    /// The numbers of terms, by hash.
    numbers: ByHash<u32>,
}

/// A key that is a hash already.
#[derive(Default)]
pub(crate) struct HashedKey(u64);

impl Hasher for HashedKey {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = exact_letters(bytes);
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// A table by hashes.
pub(crate) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<HashedKey>>;

/// Words with their terms, by the hash of their letters. Every word of every text is looked up here, so a lookup takes one step: the word
/// is in the slot of its hash or in one of the next.
#[derive(Clone)]
struct KnownWords {
    /// As many as a power of two; at least half of them are empty, with 0 in place of a hash.
    slots: Vec<(u64, Term)>,
    used: usize,
}

const NO_TERM: (u64, Term) = (
    0,
    Term {
        hash: 0,
        weight: TermWeight::Stop,
        number: 0,
    },
);

impl Default for KnownWords {
    fn default() -> Self {
        Self {
            slots: vec![NO_TERM; 1 << 10],
            used: 0,
        }
    }
}

impl KnownWords {
    #[inline]
    fn get(&self, key: u64) -> Option<Term> {
        let (found, term) = self.slots.get(self.slot(key))?;
        (*found != 0).then_some(*term)
    }

    /// The slot of a word, or the empty one where it would be.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let last = self.slots.len() - 1;
        let mut at = usize::try_from(key >> 8).unwrap_or(0) & last;
        while let Some((found, _)) = self.slots.get(at)
            && *found != 0
            && *found != key
        {
            at = (at + 1) & last;
        }
        at
    }

    fn insert(&mut self, key: u64, term: Term) {
        if self.used * 2 >= self.slots.len() {
            let more = vec![NO_TERM; self.slots.len() * 2];
            for (key, term) in std::mem::replace(&mut self.slots, more) {
                if key != 0 {
                    self.put(key, term);
                }
            }
        }
        self.used += usize::from(self.get(key).is_none());
        self.put(key, term);
    }

    fn put(&mut self, key: u64, term: Term) {
        let at = self.slot(key);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = (key, term);
        }
    }
}

/// This bit makes an ASCII letter small and leaves a digit as it is.
const SMALL: u64 = 0x2020_2020_2020_2020;

/// The hash of some bytes, in each of which some bits are set. Eight bytes are one step, and most words need only one.
#[inline]
fn letters(bytes: &[u8], word: Range<usize>, set: u64) -> u64 {
    let (mut hash, mut at) = (0, word.start);
    loop {
        let eight = eight_at(bytes, at);
        let left = word.end.saturating_sub(at);
        if left <= 8 {
            let kept = eight & mask(u32::try_from(left * 8).unwrap_or(0));
            return spread(hash ^ (kept | set)).max(1);
        }
        hash = spread(hash ^ (eight | set));
        at += 8;
    }
}

fn exact_letters(bytes: &[u8]) -> u64 {
    letters(bytes, 0..bytes.len(), 0)
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

/// The position of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It follows the word before.
    Next,
    /// It is an identifier whose parts follow one another.
    Beside,
}

/// The words of the tables, which every tokenizer contains; a query has fewer of its own.
static TABLES: LazyLock<(KnownWords, ByHash<u32>)> = LazyLock::new(|| {
    let tokens = Tokenizer::of_tables();
    (tokens.known, tokens.numbers)
});

impl Default for Tokenizer {
    fn default() -> Self {
        let (known, numbers) = &*TABLES;
        Self {
            stemmer: Stemmer::create(Algorithm::English),
            known: known.clone(),
            numbers: numbers.clone(),
        }
    }
}

impl Tokenizer {
    fn of_tables() -> Self {
        let mut tokens = Self {
            stemmer: Stemmer::create(Algorithm::English),
            known: KnownWords::default(),
            numbers: ByHash::default(),
        };
        for (words, weight) in [(FILLER, TermWeight::Filler), (STOP, TermWeight::Stop)] {
            for word in words {
                let key = letters(word.as_bytes(), 0..word.len(), SMALL);
                let term = tokens.stemmed(word, weight);
                tokens.known.insert(key, term);
            }
        }
        tokens
    }

    /// The words of a text, in order.
    pub(crate) fn each<'t>(&mut self, text: &'t str, mut found: impl FnMut(Term, Place, &'t str)) {
        let mut at = 0;
        while let Some(next) = next_word(text, at) {
            at = next.place.end;
            let word = text.get(next.place.clone()).unwrap_or_default();
            let mut start = next.place.start;
            let mut second = if next.may_have_parts {
                parts(word)
            } else {
                None
            };
            let is_whole = second.is_none();
            while let Some(part) = second {
                let place = start..start + part;
                let own = text.get(place.clone()).unwrap_or_default();
                found(self.term_at(text, place), Place::Next, own);
                start += part;
                let rest = text.get(start..at).unwrap_or_default();
                second = parts(rest).or((!rest.is_empty()).then_some(rest.len()));
            }
            let place = if is_whole { Place::Next } else { Place::Beside };
            found(self.term_at(text, next.place), place, word);
        }
    }

    /// The numbers of all terms so far, by hash.
    pub(crate) fn numbers(&self) -> &ByHash<u32> {
        &self.numbers
    }

    /// A word in the form for comparison.
    pub(crate) fn term(&mut self, word: &str) -> Term {
        self.term_at(word, 0..word.len())
    }

    /// The word at a position of a text, in the form for comparison.
    #[inline]
    fn term_at(&mut self, text: &str, place: Range<usize>) -> Term {
        let bytes = text.as_bytes();
        let word = bytes.get(place.clone()).unwrap_or_default();
        let key = match word.is_ascii() {
            true => letters(
                bytes,
                place.start..place.end.min(place.start + MAX_WORD),
                SMALL,
            ),
            false => exact_letters(word),
        };
        match self.known.get(key) {
            Some(known) => known,
            None => self.learn(key, text.get(place).unwrap_or_default()),
        }
    }

    #[cold]
    fn learn(&mut self, key: u64, word: &str) -> Term {
        let plain = plain(word);
        let term = match plain.is_ascii() && !word.is_ascii() {
            true => self.term(&plain),
            false => self.stemmed(&plain, weight(&plain)),
        };
        self.known.insert(key, term);
        term
    }

    fn stemmed(&mut self, word: &str, weight: TermWeight) -> Term {
        let hash = exact_letters(self.stemmer.stem(&american(word)).as_bytes());
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
    if word.is_ascii() {
        return word.get(..MAX_WORD).unwrap_or(word).to_ascii_lowercase();
    }
    if word.chars().any(runs_on) {
        return word.nfkc().take(MAX_WORD).collect();
    }
    let letters = word.nfkd().filter(|c| !is_combining_mark(*c));
    let lower = letters.flat_map(char::to_lowercase);
    lower.take(MAX_WORD).collect()
}

/// British spellings that the stems don't cover: the letters, what can follow them at the end of a word, and the American letters.
const ENDINGS: &[(&str, &[&str], &str)] = &[
    (
        "is",
        &["e", "es", "ed", "er", "ers", "ing", "ation", "ations"],
        "iz",
    ),
    ("ys", &["e", "es", "ed", "er", "ers", "ing"], "yz"),
    ("our", &["", "s", "ed", "ing", "al", "ite", "ites"], "or"),
];
/// The part before them has at least this many letters, so that `raising` and `hours` stay unchanged,
const MIN_BASE: usize = 5;
/// or is one of these.
const SHORT_BASES: &[&str] = &[
    "util", "real", "anal", "col", "fav", "flav", "lab", "hon", "hum",
];

/// A word in American spelling: `summarise` and `summarize` are the same word.
fn american(word: &str) -> Cow<'_, str> {
    for (british, ends, american) in ENDINGS {
        for end in *ends {
            let base = word
                .strip_suffix(end)
                .and_then(|word| word.strip_suffix(british));
            if let Some(base) =
                base.filter(|base| base.len() >= MIN_BASE || SHORT_BASES.contains(base))
            {
                return Cow::Owned(format!("{base}{american}{end}"));
            }
        }
    }
    Cow::Borrowed(word)
}

/// Where a word is in a text.
struct FoundWord {
    place: Range<usize>,
    /// Whether there is a capital after its first byte.
    may_have_parts: bool,
}

const LETTER: u8 = 1;
const CAPITAL: u8 = 2;
/// A byte of a character that is not ASCII.
const WIDE: u8 = 4;

/// The kind of each byte; 0 for separators.
const KINDS: [u8; 256] = {
    let mut kinds = [WIDE; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        kinds[byte as usize] = match byte {
            b'A'..=b'Z' => CAPITAL,
            b'a'..=b'z' | b'0'..=b'9' => LETTER,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// The next run of letters and digits; a character of a script without spaces is a word.
#[inline]
fn next_word(text: &str, from: usize) -> Option<FoundWord> {
    let bytes = text.as_bytes();
    let character = |at: usize| text.get(at..).and_then(|rest| rest.chars().next());
    let is_alone = |c: char| runs_on(c) && c.is_alphanumeric();
    let is_word = |c: char| c.is_alphanumeric() || is_combining_mark(c);
    let mut at = from;
    loop {
        match KINDS[usize::from(*bytes.get(at)?)] {
            0 => at += 1,
            WIDE => {
                let c = character(at)?;
                if is_alone(c) {
                    return Some(FoundWord {
                        place: at..at + c.len_utf8(),
                        may_have_parts: false,
                    });
                }
                if is_word(c) {
                    break;
                }
                at += c.len_utf8();
            }
            _ => break,
        }
    }
    let start = at;
    let mut kinds = 0;
    while let Some(byte) = bytes.get(at) {
        match KINDS[usize::from(*byte)] {
            0 => break,
            WIDE => {
                let Some(c) = character(at).filter(|c| is_word(*c) && !is_alone(*c)) else {
                    break;
                };
                at += c.len_utf8();
            }
            kind => {
                if at > start {
                    kinds |= kind;
                }
                at += 1;
            }
        }
    }
    Some(FoundWord {
        place: start..at,
        may_have_parts: kinds & CAPITAL != 0,
    })
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
        same(&mut tokens, "summarise", "summarize");
        same(&mut tokens, "Optimising", "optimized");
        same(&mut tokens, "behaviours", "behavior");
        same(&mut tokens, "raising", "raise");
        same(&mut tokens, "hours", "hour");
        assert_ne!(tokens.term("deploy"), tokens.term("display"));
        assert_eq!(tokens.term("the").weight, TermWeight::Stop);
        assert_eq!(tokens.term("Please").weight, TermWeight::Filler);
    }
}
