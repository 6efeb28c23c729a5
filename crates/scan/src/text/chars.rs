//! Invisible characters, and characters that look like others.
//!
//! The classes are defined once, because [`hidden`](super::hidden) reports them and [`normal`](super::normal)
//! drops them: two lists would drift, and the gap would be a hiding place. For look-alikes the table of
//! Unicode is used, but only inside a word that is otherwise Latin: a Russian word is
//! Russian, and `pаypal` with a Cyrillic `а` is neither.

use std::ops::Range;

use metier_model::confusables::prototype;

/// Why a character is invisible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvisibleClass {
    /// Tag characters, which mirror ASCII: U+E0000–E007F.
    Tag,
    /// Variation selectors, 256 of them: one for each byte.
    Selector,
    /// Of no width: spaces, joiners, marks.
    ZeroWidth,
    /// Reorders the surrounding text.
    Bidi,
    /// Soft hyphens, invisible operators, fillers, blank characters.
    Invisible,
    /// C0 and C1 controls, except tab, line feed, carriage return and form feed.
    Control,
}

/// The class of a character that can't be seen; `None` for one that can.
#[must_use]
pub(crate) fn class(c: char) -> Option<InvisibleClass> {
    match c {
        '\t' | '\n' | '\r' | '\u{c}' | ' '..='~' => None,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Some(InvisibleClass::Control),
        '\u{e0000}'..='\u{e007f}' => Some(InvisibleClass::Tag),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' => {
            Some(InvisibleClass::Selector)
        }
        '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{61c}' => {
            Some(InvisibleClass::ZeroWidth)
        }
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(InvisibleClass::Bidi),
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{17b4}'
        | '\u{17b5}' => Some(InvisibleClass::Invisible),
        '\u{180e}'
        | '\u{2061}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{2028}'
        | '\u{2029}' => Some(InvisibleClass::Invisible),
        '\u{2800}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{1bca0}'..='\u{1bca3}' => Some(InvisibleClass::Invisible),
        '\u{e0080}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}' => Some(InvisibleClass::Invisible),
        _ => None,
    }
}

/// Letters of scripts that shape by joiners (Arabic, Indic …) or break by zero-width spaces (Thai, Khmer …).
#[must_use]
pub(crate) fn is_joining(c: char) -> bool {
    matches!(u32::from(c),
        0x600..=0x61b | 0x61d..=0x109f | 0x1780..=0x17b3 | 0x17b6..=0x180a | 0x1810..=0x18af | 0x1a00..=0x1cff
        | 0xa800..=0xab6f | 0xabc0..=0xabff | 0xfb50..=0xfdff | 0xfe70..=0xfefc | 0x11000..=0x11fff)
}

/// Letters that are written from right to left.
#[must_use]
pub(crate) fn is_rtl(c: char) -> bool {
    matches!(u32::from(c),
        0x590..=0x61b | 0x61d..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefc | 0x10800..=0x10fff | 0x1e800..=0x1efff)
}

/// A picture or a symbol, which a variation selector or a joiner can follow.
#[must_use]
pub(crate) fn is_symbol(c: char) -> bool {
    matches!(u32::from(c),
        0xa9 | 0xae | 0x203c | 0x2049 | 0x20e3 | 0x2100..=0x27ff | 0x2900..=0x2bff | 0x3030 | 0x303d
        | 0x3297 | 0x3299 | 0x1f000..=0x1faff)
}

/// Whether a word continues with this character.
#[must_use]
pub(crate) fn in_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_'
    } else {
        c.is_alphanumeric()
    }
}

/// A letter of a script whose letters resemble Latin ones.
#[must_use]
pub(crate) fn is_lookalike_script(c: char) -> bool {
    matches!(u32::from(c),
        0x370..=0x3ff | 0x400..=0x58f | 0x13a0..=0x13ff | 0x1c80..=0x1c8f | 0x1f00..=0x1fff | 0x2c80..=0x2cff
        | 0xa640..=0xa69f | 0xa4d0..=0xa4ff | 0xab70..=0xabbf | 0x10280..=0x1031f)
}

/// The ASCII letter that a foreign one looks like.
///
/// Unicode's prototypes fold `I`, `l` and `1` into one; where the foreign letter is clearly a capital I, this
/// returns `I`, because rules compare words and not shapes.
#[must_use]
pub(crate) fn ascii_twin(c: char) -> Option<char> {
    if !is_lookalike_script(c) {
        return None;
    }
    if matches!(
        c,
        '\u{406}' | '\u{399}' | '\u{4c0}' | '\u{2c92}' | '\u{13c6}'
    ) {
        return Some('I');
    }
    prototype(c)
}

/// The word that begins at `start`, with the invisible characters that split it, and whether it imitates Latin.
///
/// It does if it has three letters, some of them ASCII, and each foreign one has an ASCII look-alike: `commitов` is jargon
/// (`в` has none), `Δt` is mathematics, `ignоrе` is neither.
#[must_use]
pub(crate) fn word(text: &str, start: usize) -> (Range<usize>, bool) {
    let rest = text.get(start..).unwrap_or_default();
    let (mut end, mut ascii, mut twins, mut strange) = (start, 0_usize, 0_usize, false);
    let mut before_ascii = false;
    let mut greek_first = false;
    for (at, c) in rest.char_indices() {
        if class(c).is_some_and(|class| class != InvisibleClass::Control) {
            continue;
        }
        if !in_word(c) {
            break;
        }
        end = start + at + c.len_utf8();
        if c.is_ascii_alphabetic() {
            ascii += 1;
            before_ascii = true;
            continue;
        }
        if is_lookalike_script(c) {
            twins += 1;
            // αMax and xβ are mathematics: a small Greek letter imitates a Latin one only between Latin letters.
            if matches!(u32::from(c), 0x3b1..=0x3c9) && c != 'ο' && !before_ascii {
                greek_first = true;
            }
        } else if !c.is_ascii() && c.is_alphabetic() && u32::from(c) >= 0x250 {
            strange = true;
        }
        before_ascii = false;
    }
    let last = text
        .get(start..end)
        .and_then(|word| word.chars().next_back());
    let greek_end = last.is_some_and(|c| matches!(u32::from(c), 0x3b1..=0x3c9) && c != 'ο');
    let mixed =
        twins > 0 && !strange && ascii >= 1 && ascii + twins >= 3 && !greek_first && !greek_end;
    let poses = mixed
        && text.get(start..end).is_some_and(|word| {
            word.chars()
                .all(|c| !is_lookalike_script(c) || ascii_twin(c).is_some())
        });
    (start..end, poses)
}

/// The end of a terminal's escape sequence (`ESC [ … m`, `ESC ] … BEL`) at `at`.
#[must_use]
pub(crate) fn terminal_escape(bytes: &[u8], at: usize) -> Option<usize> {
    /// Longer ones don't occur, and a search without an end would be quadratic.
    const LONGEST: usize = 256;
    if bytes.get(at) != Some(&0x1b) {
        return None;
    }
    let rest = bytes
        .get(at + 2..bytes.len().min(at + LONGEST))
        .unwrap_or_default();
    match bytes.get(at + 1)? {
        b'[' => rest
            .iter()
            .position(|b| !(0x20..0x40).contains(b))
            .and_then(|n| {
                let closed = (0x40..0x7f).contains(rest.get(n)?);
                closed.then_some(at + 3 + n)
            }),
        b']' | b'P' | b'_' | b'^' => {
            let n = rest.iter().position(|&b| b == 7 || b == 0x1b)?;
            Some(if rest.get(n) == Some(&7) {
                at + 3 + n
            } else {
                (at + 4 + n).min(bytes.len())
            })
            .filter(|&end| rest.get(n) == Some(&7) || bytes.get(end - 1) == Some(&b'\\'))
        }
        b'0'..=b'~' => Some(at + 2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_twin_is_unicodes() {
        for c in ('\0'..=char::MAX).filter(|c| is_lookalike_script(*c)) {
            let mut buffer = [0; 4];
            let mut twin = unicode_security::skeleton(c.encode_utf8(&mut buffer));
            let twin = match (twin.next(), twin.next()) {
                (Some(one), None) if one.is_ascii_alphabetic() => Some(one),
                _ => None,
            };
            assert_eq!(prototype(c), twin, "{c:?}");
        }
    }
}
