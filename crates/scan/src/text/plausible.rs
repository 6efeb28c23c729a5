//! Whether a text is language or code.
//!
//! Almost any identifier is valid base64, and almost any bytes can be printed somehow; decoded text is only
//! relevant if it is language or code. Three cheap tests: whether it can be printed, whether its letters
//! follow each other as they do in English or in programs (nine of ten pairs do; of random letters, four),
//! and whether it is steady (random text changes between cases, digits and punctuation at every second character).
//! A characteristic word decides for texts that are too short for statistics.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Words that hidden text is searched for. Ordinary English words include a sign.
pub(crate) const TELL_TALES: &[&str] = &[
    "curl ",
    "wget ",
    "http://",
    "https://",
    "/bin/bash",
    "/bin/sh",
    "/dev/tcp",
    "bash -",
    "sh -c",
    "eval(",
    "exec(",
    "import os",
    "__import__",
    "subprocess",
    "os.system",
    "powershell",
    "invoke-",
    "iex ",
    "iex(",
    "downloadstring",
    "ignore previous",
    "ignore all previous",
    "child_process",
    "require(",
    "document.cookie",
    "base64",
    "chmod +x",
    "rm -rf",
    "authorized_keys",
    "id_rsa",
    "/etc/passwd",
    "cmd.exe",
    "cmd /c",
    "wscript",
    "fromcharcode",
];

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(TELL_TALES)
        .ok()
});

/// For each letter, the letters that commonly follow it, as bits: the 250 most frequent pairs of English prose
/// and of program text, 95 % of all.
const FOLLOWERS: [u32; 26] = [
    0x13e_bd4e, 0x112_cb15, 0x01e_4d95, 0x014_4119, 0x1ef_b87f, 0x012_4931, 0x006_3990, 0x008_5111,
    0x2ae_f87f, 0x000_0011, 0x000_0110, 0x11c_4939, 0x010_d913, 0x03c_497d, 0x07e_fc6f, 0x11e_c911,
    0x010_0000, 0x11e_7d5d, 0x15c_cd95, 0x11e_d995, 0x00e_b91b, 0x000_4111, 0x006_61d1, 0x008_8010,
    0x044_8840, 0x000_0010,
];

/// Reading more than the beginning changes no result.
const SAMPLE: usize = 4096;

/// The share of printable characters that any text has, in percent.
const PRINTABLE: usize = 85;

/// Whether a text contains a word of [`TELL_TALES`].
#[must_use]
pub(crate) fn has_tell_tale(text: &str) -> bool {
    FINDER.as_ref().is_some_and(|finder| finder.is_match(text))
}

/// Whether enough of a text can be printed: all of a short one, 85 % of a long one.
#[must_use]
pub(crate) fn is_printable(text: &str) -> bool {
    let (mut all, mut good) = (0_usize, 0_usize);
    for c in sample(text) {
        all += 1;
        good += usize::from(prints(c));
    }
    let share = if all < 32 { 100 } else { PRINTABLE };
    all > 0 && good * 100 >= all * share
}

/// Whether a text reads as language or as code.
#[must_use]
pub(crate) fn is_plausible(text: &str) -> bool {
    if !is_printable(text) {
        return false;
    }
    if has_tell_tale(text) {
        return true;
    }
    let shape = TextShape::of(text);
    shape.reads_latin() || shape.reads_foreign()
}

fn sample(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().take(SAMPLE)
}

fn prints(c: char) -> bool {
    !c.is_control() && !matches!(u32::from(c), 0xfffd | 0xe000..=0xf8ff | 0xf_0000..)
        || matches!(c, '\n' | '\t' | '\r')
}

#[derive(Default)]
struct TextShape {
    all: usize,
    ascii_letters: usize,
    foreign_letters: usize,
    /// The occurring letters of the 26, as bits.
    alphabet: u32,
    blocks: Vec<u32>,
    pairs: usize,
    common: usize,
    jumps: usize,
    wordy: usize,
}

impl TextShape {
    fn of(text: &str) -> Self {
        let mut shape = Self::default();
        let mut before: Option<char> = None;
        for c in sample(text) {
            shape.all += 1;
            shape.ascii_letters += usize::from(c.is_ascii_alphabetic());
            shape.alphabet |= letter(c).map_or(0, |letter| 1 << letter);
            shape.wordy += usize::from(c.is_alphanumeric() || c.is_whitespace());
            if u32::from(c) >= 0x370 && c.is_alphabetic() {
                shape.foreign_letters += 1;
                let block = if matches!(u32::from(c), 0x3000..=0x9fff | 0xac00..=0xd7af) {
                    0x3000
                } else {
                    u32::from(c) >> 8
                };
                if shape.blocks.len() < 2 && !shape.blocks.contains(&block) {
                    shape.blocks.push(block);
                }
            }
            if let Some(before) = before {
                shape.pair(before, c);
            }
            before = Some(c);
        }
        shape
    }

    fn pair(&mut self, before: char, c: char) {
        // camelCase and Capitals are one jump, not two.
        let capital = before.is_ascii_uppercase() && c.is_ascii_lowercase();
        self.jumps += usize::from(
            sort(before) != sort(c) && !capital && !c.is_whitespace() && !before.is_whitespace(),
        );
        if let (Some(first), Some(second)) = (letter(before), letter(c)) {
            self.pairs += 1;
            self.common += usize::from(
                FOLLOWERS
                    .get(first)
                    .is_some_and(|bits| bits >> second & 1 == 1),
            );
        }
    }

    fn reads_latin(&self) -> bool {
        let share = if self.pairs < 16 { 80 } else { 68 };
        self.pairs >= 5
            && self.alphabet.count_ones() >= 5
            && self.ascii_letters * 100 >= self.all * 35
            && self.wordy * 100 >= self.all * 50
            && self.common * 100 >= self.pairs * share
            && self.jumps * 100 <= self.all * 45
    }

    fn reads_foreign(&self) -> bool {
        self.foreign_letters >= 4
            && self.blocks.len() == 1
            && (self.foreign_letters + self.ascii_letters) * 100 >= self.all * 60
            && self.jumps * 100 <= self.all * 45
    }
}

fn letter(c: char) -> Option<usize> {
    c.is_ascii_alphabetic()
        .then(|| usize::from(c.to_ascii_lowercase() as u8 - b'a'))
}

fn sort(c: char) -> u8 {
    match c {
        'a'..='z' => 0,
        'A'..='Z' => 1,
        '0'..='9' => 2,
        c if c.is_alphabetic() => 3,
        _ => 4,
    }
}
