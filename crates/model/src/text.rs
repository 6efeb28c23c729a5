//! Invisible characters, and how text is displayed so that nothing is hidden.

use std::{borrow::Cow, time::Duration};

/// Characters that are invisible, or that change the order in which text is displayed.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Invisible characters that have no meaning in honest text. Joiners and directional marks are not included: emoji,
/// Arabic, Hebrew and Indic text need them.
#[must_use]
pub fn hides_text(c: char) -> bool {
    !c.is_ascii()
        && is_invisible(c)
        && !matches!(
            c,
            '\u{200c}'..='\u{200f}' | '\u{00ad}' | '\u{2028}' | '\u{2029}'
        )
}

/// Control characters, except those that set lines and columns.
pub(crate) fn holds_control(text: &str) -> bool {
    let is_one = |byte: u8| (byte < b' ' && !matches!(byte, b'\n' | b'\t' | b'\r')) || byte == 0x7f;
    // Beyond ASCII they are U+0080 to U+009F. Without an early exit the compiler processes sixteen bytes at a time.
    let bytes = text.as_bytes();
    text.bytes().fold(false, |any, byte| any | is_one(byte))
        || bytes
            .windows(2)
            .fold(false, |any, two| any | (two[0] == 0xc2 && two[1] < 0xa0))
}

/// A duration for display, rounded: `450 ms`, `1.5 s`, `30 s`, `2 min 30 s`, `3 h 20 min`, `4 days`.
#[must_use]
pub fn duration(time: Duration) -> String {
    let tenths = (time.as_millis() + 50) / 100;
    let seconds = (time.as_millis() + 500) / 1000;
    let both = |whole: u128, unit: &str, rest: u128, smaller: &str| match rest {
        0 => format!("{whole} {unit}"),
        rest => format!("{whole} {unit} {rest} {smaller}"),
    };
    match seconds {
        _ if time.as_millis() < 1_000 => format!("{} ms", time.as_millis()),
        0..10 if !tenths.is_multiple_of(10) => format!("{}.{} s", tenths / 10, tenths % 10),
        0..100 => format!("{seconds} s"),
        100..3_600 => both(seconds / 60, "min", seconds % 60, "s"),
        3_600..172_800 => both(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// How long ago something was, in one unit: `just now`, `5 min ago`, `3 h ago`, `2 days ago`.
#[must_use]
pub fn ago(time: Duration) -> String {
    match time.as_secs() {
        0..10 => "just now".to_owned(),
        seconds @ 10..60 => format!("{seconds} s ago"),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h ago", seconds / 3_600),
        seconds @ 86_400..172_800 => format!("{} day ago", seconds / 86_400),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// The text without invisible characters, for a model.
#[must_use]
pub fn without_hidden(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(hides_text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().filter(|c| !hides_text(*c)).collect())
    }
}

/// The text with control and invisible characters escaped, for a terminal. Line breaks become spaces, so that one
/// value stays on one line.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let plain = |c: char| !c.is_control() && !is_invisible(c);
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '\u{200d}' => out.push(c),
            c if plain(c) => out.push(c),
            c => out.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(out)
}

/// The text for a user who decides: like [`visible`], and white space that would move a part of it out of sight, or
/// look like another character, is counted or escaped. Single spaces between words are kept.
#[must_use]
pub fn with_blanks_shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let is_edge = out.is_empty() || blanks == rest.len();
        match first {
            ' ' if blanks > 1 => out.push_str(&format!("␠×{blanks}")),
            ' ' if is_edge => out.push('␠'),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c != ' ' && (c.is_whitespace() || c == '\u{2800}') => {
                out.extend(c.escape_unicode());
            }
            c => out.push_str(&visible(c.encode_utf8(&mut [0; 4]))),
        }
        rest = &rest[blanks.max(first.len_utf8())..];
    }
    out
}

/// A string as one word of a command line, quoted where necessary: a skill's name must not become a command when the
/// user copies a hint.
#[must_use]
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@+,".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", visible(text).replace('\'', "'\\''")))
}

/// ASCII text that is hidden in Unicode tag characters.
#[must_use]
pub fn smuggled_ascii(text: &str) -> String {
    text.chars()
        .filter_map(|c| {
            char::from_u32(u32::from(c).checked_sub(0xe0000)?).filter(|c| matches!(c, ' '..='~'))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let check = |ms: u64, expected: &str| {
            assert_eq!(duration(Duration::from_millis(ms)), expected);
        };
        check(0, "0 ms");
        check(450, "450 ms");
        check(1_000, "1 s");
        check(1_540, "1.5 s");
        check(29_989, "30 s");
        check(90_000, "90 s");
        check(150_000, "2 min 30 s");
        check(12_000_000, "3 h 20 min");
        check(400_000_000, "4 days");
        assert_eq!(ago(Duration::from_secs(3)), "just now");
        assert_eq!(ago(Duration::from_secs(400)), "6 min ago");
        assert_eq!(ago(Duration::from_secs(90_000)), "1 day ago");
    }

    #[test]
    fn nothing_stays_hidden() {
        assert_eq!(
            visible("a\u{1b}[31mb\u{202e}c\nd"),
            "a\\u{1b}[31mb\\u{202e}c d"
        );
        assert_eq!(without_hidden("a\u{e0041}\u{200b}b"), "ab");
        assert_eq!(smuggled_ascii("x\u{e0048}\u{e0069}"), "Hi");
    }

    #[test]
    fn a_hint_never_contains_a_command_of_another_author() {
        assert_eq!(shell_word("review-pr"), "review-pr");
        assert_eq!(shell_word("/a b/c"), "'/a b/c'");
        assert_eq!(shell_word("x; rm -rf ~"), "'x; rm -rf ~'");
        assert_eq!(shell_word("$(x)'`"), "'$(x)'\\''`'");
        assert_eq!(shell_word("-rf"), "'-rf'");
    }

    #[test]
    fn control_characters_are_those_of_unicode() {
        let sets = |c| matches!(c, '\n' | '\t' | '\r');
        for c in (0..0x300).chain([0x2028, 0xfeff, 0x1f4e6]) {
            let c = char::from_u32(c).unwrap();
            let expected = c.is_control() && !sets(c);
            assert_eq!(holds_control(&format!("a{c}é")), expected, "{c:?}");
        }
    }

    #[test]
    fn honest_text_is_left_alone() {
        for text in ["plain", "café — ok", "👩‍🔬", "می‌خواهم"] {
            assert_eq!(without_hidden(text), text);
        }
        assert_eq!(visible("👩‍🔬"), "👩‍🔬");
    }
}
