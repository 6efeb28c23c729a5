//! The content of a run of invisible characters.
//!
//! Three ways are in use: tag characters mirror ASCII one to one, the 256 variation selectors represent the
//! 256 bytes, and two zero-width characters represent the bits 0 and 1. The last does not determine which is which,
//! how many bits make a letter, and whether a third character separates letters; there are few combinations, so
//! all are tried, and one that gives readable text is accepted.

/// Fewer characters than this don't make one letter in binary.
const FEWEST_BITS: usize = 8;
/// Longer runs are truncated before they are decoded; the beginning is enough.
const MOST: usize = 64 * 1024;

/// The ASCII text of tag characters; `None` if they contain none.
pub(super) fn tags(run: &[char]) -> Option<String> {
    let text: String = run
        .iter()
        .take(MOST)
        .filter_map(|&c| {
            char::from_u32(u32::from(c).checked_sub(0xe_0000)?).filter(|c| (' '..='~').contains(c))
        })
        .collect();
    (!text.is_empty()).then_some(text)
}

/// The text in variation selectors, as bytes.
pub(super) fn selectors(run: &[char]) -> Option<String> {
    let bytes: Vec<u8> = run
        .iter()
        .take(MOST)
        .filter_map(|&c| match u32::from(c) {
            n @ 0xfe00..=0xfe0f => u8::try_from(n - 0xfe00).ok(),
            n @ 0xe_0100..=0xe_01ef => u8::try_from(n - 0xe_0100 + 16).ok(),
            _ => None,
        })
        .collect();
    // The first may be the legitimate selector of the emoji before the run.
    readable(&bytes)
        .or_else(|| readable(bytes.get(1..)?))
        .or_else(|| nibbles(&bytes))
}

/// The text in zero-width characters, as bits.
pub(super) fn bits(run: &[char]) -> Option<String> {
    let run = run.get(..run.len().min(MOST)).unwrap_or_default();
    let mut symbols: Vec<char> = Vec::new();
    for &c in run {
        if !symbols.contains(&c) {
            symbols.push(c);
            if symbols.len() > 3 {
                return None;
            }
        }
    }
    match *symbols.as_slice() {
        [a, b] if run.len() >= FEWEST_BITS => plain(run, b).or_else(|| plain(run, a)),
        [a, b, c] if run.len() >= FEWEST_BITS => [
            (a, b, c),
            (a, c, b),
            (b, a, c),
            (b, c, a),
            (c, a, b),
            (c, b, a),
        ]
        .into_iter()
        .find_map(|(gap, _, one)| separated(run, gap, one)),
        _ => None,
    }
}

fn plain(run: &[char], one: char) -> Option<String> {
    [8, 7, 16].into_iter().find_map(|width| {
        let bytes: Vec<u8> = run
            .chunks(width)
            .filter(|chunk| chunk.len() == width)
            .filter_map(|chunk| byte(chunk, one))
            .collect();
        (bytes.len() == run.len() / width)
            .then(|| readable(&bytes))
            .flatten()
    })
}

fn separated(run: &[char], gap: char, one: char) -> Option<String> {
    let mut bytes = Vec::new();
    for group in run.split(|&c| c == gap).filter(|group| !group.is_empty()) {
        bytes.push(byte(group, one)?);
    }
    readable(&bytes)
}

/// A number of at most eight significant bits, most significant first.
fn byte(bits: &[char], one: char) -> Option<u8> {
    if bits.len() > 16 {
        return None;
    }
    let number = bits
        .iter()
        .fold(0_u32, |sum, &c| sum << 1 | u32::from(c == one));
    u8::try_from(number).ok()
}

/// Sixteen selectors are enough for a byte in two halves.
fn nibbles(bytes: &[u8]) -> Option<String> {
    if bytes.iter().any(|&b| b > 15) {
        return None;
    }
    let bytes: Vec<u8> = bytes
        .chunks_exact(2)
        .filter_map(|pair| Some(pair.first()? << 4 | pair.get(1)?))
        .collect();
    readable(&bytes)
}

fn readable(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let seen = text
        .chars()
        .all(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r'));
    (seen && text.chars().any(char::is_alphanumeric)).then(|| text.to_owned())
}
