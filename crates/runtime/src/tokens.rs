//! Tokens, estimated.
//!
//! Every vendor has its own tokenizer, the current ones are not public, and a public table is thirty megabytes. So this counts the
//! properties that they share: a short word is a token, a long one several, digits are in groups of three, punctuation in pairs,
//! and scripts without spaces nearly one per character. Compared with o200k on 1,468 real skills the sum is 1 % high, and nine of
//! ten files are within a tenth.

/// The approximate number of tokens of a text.
#[must_use]
pub fn count(text: &str) -> usize {
    let mut tally = TokenTally::default();
    for c in text.chars() {
        tally.take(class(c));
    }
    tally.finish()
}

/// The start of a text with at most this many tokens, in whole lines if possible, and whether anything was cut.
pub(crate) fn within(text: &str, tokens: usize) -> (&str, bool) {
    if count(text) <= tokens {
        return (text, false);
    }
    let (mut fits, mut too_long) = (0, text.len());
    while too_long - fits > 1 {
        let middle = text.floor_char_boundary(fits + (too_long - fits) / 2);
        if middle <= fits {
            break;
        }
        if count(&text[..middle]) <= tokens {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    let line = text[..fits].rfind('\n').map_or(fits, |line| line + 1);
    (&text[..line], true)
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum CharacterClass {
    #[default]
    Blank,
    Break,
    Letter,
    Digit,
    Mark,
    /// A letter of a script that is written without spaces.
    Dense,
    /// Any other character outside ASCII.
    Other,
}

fn class(c: char) -> CharacterClass {
    match c {
        ' ' | '\t' => CharacterClass::Blank,
        '\n' | '\r' => CharacterClass::Break,
        'a'..='z' | 'A'..='Z' => CharacterClass::Letter,
        '0'..='9' => CharacterClass::Digit,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' => {
            CharacterClass::Dense
        }
        c if c.is_ascii() => CharacterClass::Mark,
        _ => CharacterClass::Other,
    }
}

/// Tenths of tokens, and the current run of equal characters.
#[derive(Default)]
struct TokenTally {
    tenths: usize,
    run: CharacterClass,
    length: usize,
}

impl TokenTally {
    fn take(&mut self, class: CharacterClass) {
        if class == self.run {
            self.length += 1;
            return;
        }
        self.tenths += cost(self.run, self.length);
        self.run = class;
        self.length = 1;
    }

    fn finish(self) -> usize {
        (self.tenths + cost(self.run, self.length)).div_ceil(10)
    }
}

/// The cost of a run of characters, in tenths of a token.
fn cost(class: CharacterClass, length: usize) -> usize {
    match class {
        _ if length == 0 => 0,
        // One space belongs to the following word.
        CharacterClass::Blank => {
            if length == 1 {
                0
            } else {
                8
            }
        }
        CharacterClass::Break => 9,
        CharacterClass::Letter => 10 + length.saturating_sub(8) * 2,
        CharacterClass::Digit => 10 * length.div_ceil(3),
        CharacterClass::Mark => {
            if length == 1 {
                9
            } else {
                10 * length.div_ceil(6)
            }
        }
        CharacterClass::Dense => 7 * length,
        CharacterClass::Other => 5 * length + 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_with_the_text() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello"), 1);
        assert_eq!(count("hello world"), 2);
        assert!(count("internationalization") > 2);
        assert!((3..=5).contains(&count("数据分析师")));
    }

    #[test]
    fn no_text_is_free_or_absurd() {
        for text in [
            "a b c d e f",
            "1234567890",
            "{\"a\": [1, 2]}",
            "мой навык",
            "👩‍🔬👩‍🔬",
        ] {
            let (tokens, characters) = (count(text), text.chars().count());
            assert!(tokens > 0 && tokens <= characters + 1, "{text}: {tokens}");
        }
    }

    #[test]
    fn a_text_is_cut_after_a_line() {
        let (text, cut) = within("one\ntwo\nthree\n", 3);
        assert!(cut && (text.is_empty() || text.ends_with('\n')), "{text:?}");
        assert_eq!(within("ä", 0), ("", true));
        assert_eq!(within("", 0), ("", false));
    }
}
