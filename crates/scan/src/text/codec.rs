//! Single decodings, as lenient as the programs that would do them.
//!
//! An interpreter's `atob` or `base64 -d` skips line ends and forgives padding, so these do too, and take both
//! alphabets of base64 at once. That leniency is why they are written out here: a strict library would have to
//! be fed a cleaned copy, and the cleaning is longer than the decoding.

use std::io::Read;

/// Base64, standard and url-safe, with or without padding and white space.
#[must_use]
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    digits(text, 6, |b| match b {
        b'A'..=b'Z' => Some(b - b'A'),
        b'a'..=b'z' => Some(b - b'a' + 26),
        b'0'..=b'9' => Some(b - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    })
}

/// Base32 of RFC 4648, in either case, with or without padding and white space.
#[must_use]
pub(crate) fn base32(text: &str) -> Option<Vec<u8>> {
    digits(text, 5, |b| match b.to_ascii_uppercase() {
        b @ b'A'..=b'Z' => Some(b - b'A'),
        b @ b'2'..=b'7' => Some(b - b'2' + 26),
        _ => None,
    })
}

/// Hexadecimal digits, with or without `0x`, `\x`, commas, colons and white space between bytes.
#[must_use]
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut rest = text.as_bytes();
    let digit = |b: &u8| {
        char::from(*b)
            .to_digit(16)
            .and_then(|n| u8::try_from(n).ok())
    };
    loop {
        rest = match rest {
            [] => break,
            [b'0' | b'\\', b'x' | b'X', more @ ..] => more,
            [b',' | b':' | b';' | b' ' | b'\t' | b'\r' | b'\n', more @ ..] => more,
            [high, low, more @ ..] => {
                bytes.push(digit(high)? << 4 | digit(low)?);
                more
            }
            [_] => return None,
        };
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// Percent escapes; other characters are unchanged.
#[must_use]
pub(crate) fn url(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        if let (b'%', Some(byte)) = (first, more.get(..2).and_then(byte)) {
            bytes.push(byte);
            rest = more.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = more;
        }
    }
    Some(bytes)
}

/// Base85: Adobe's if it is framed by `<~ ~>` or has characters that only Adobe's has, otherwise Python's.
#[must_use]
pub(crate) fn base85(text: &str) -> Option<Vec<u8>> {
    if text.trim_start().starts_with("<~") {
        return ascii85(text);
    }
    b85(text).or_else(|| ascii85(text))
}

/// Base85 with the alphabet of RFC 1924, Python's `b85decode`.
#[must_use]
pub(crate) fn b85(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8; 85] =
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    let mut values = [u8::MAX; 256];
    for (value, &b) in (0_u8..).zip(ALPHABET) {
        if let Some(slot) = values.get_mut(usize::from(b)) {
            *slot = value;
        }
    }
    groups(text.bytes().filter(|b| !b.is_ascii_whitespace()), |b| {
        values
            .get(usize::from(b))
            .copied()
            .filter(|&value| value < 85)
    })
}

/// Base85 with Adobe's alphabet, `!` to `u` and `z` for four zeros; the frame `<~ ~>` may be there.
#[must_use]
pub(crate) fn ascii85(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let text = text.strip_prefix("<~").unwrap_or(text);
    let text = text.strip_suffix("~>").unwrap_or(text);
    let zeros = text
        .bytes()
        .filter(|b| !b.is_ascii_whitespace())
        .flat_map(|b| {
            let count = if b == b'z' { 5 } else { 1 };
            std::iter::repeat_n(if b == b'z' { b'!' } else { b }, count)
        });
    groups(zeros, |b| (b'!'..=b'u').contains(&b).then(|| b - b'!'))
}

/// Inflates gzip or zlib data to at most `most` bytes; also what came before an error.
#[must_use]
pub(crate) fn inflate(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    let read = match bytes {
        [0x1f, 0x8b, ..] => flate2::read::MultiGzDecoder::new(bytes)
            .take(limit)
            .read_to_end(&mut out),
        [0x78, 0x01 | 0x5e | 0x9c | 0xda, ..] => flate2::read::ZlibDecoder::new(bytes)
            .take(limit)
            .read_to_end(&mut out),
        _ => return None,
    };
    (read.is_ok() || !out.is_empty()).then_some(out)
}

/// UTF-16, little end first, as in PowerShell's `-EncodedCommand`: every other byte of the text is zero.
#[must_use]
pub(crate) fn utf16(bytes: &[u8]) -> Option<String> {
    let body = bytes.strip_prefix(&[0xff, 0xfe]).unwrap_or(bytes);
    let zeros = body
        .chunks_exact(2)
        .take(512)
        .filter(|pair| pair.get(1) == Some(&0))
        .count();
    if body.len() < 8 || zeros * 10 < (body.len() / 2).min(512) * 8 {
        return None;
    }
    let units: Vec<u16> = body
        .chunks_exact(2)
        .filter_map(|pair| Some(u16::from_le_bytes([*pair.first()?, *pair.get(1)?])))
        .collect();
    Some(String::from_utf16_lossy(&units))
}

/// Rotates each letter by thirteen places.
#[must_use]
pub(crate) fn rot13(text: &str) -> String {
    let turn = |c: char, first: u8| char::from((c as u8 - first + 13) % 26 + first);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            _ => c,
        })
        .collect()
}

/// The byte that two hexadecimal digits name.
pub(super) fn byte(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    (text.len() == 2 && text.bytes().all(|b| b.is_ascii_hexdigit()))
        .then(|| u8::from_str_radix(text, 16).ok())
        .flatten()
}

/// Digits of `width` bits each, most significant first; bits that fill no byte are dropped.
fn digits(text: &str, width: u32, value: impl Fn(u8) -> Option<u8>) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut held, mut count) = (0_u32, 0_u32);
    let mut body = text.bytes();
    for b in body.by_ref() {
        if b.is_ascii_whitespace() {
            continue;
        }
        if b == b'=' {
            break;
        }
        held = held << width & 0xffff | u32::from(value(b)?);
        count += width;
        if count >= 8 {
            count -= 8;
            bytes.push((held >> count & 0xff) as u8);
        }
    }
    let padded = body.all(|b| b == b'=' || b.is_ascii_whitespace());
    (padded && !bytes.is_empty()).then_some(bytes)
}

/// Five digits of base 85 are four bytes; a shorter last group is one byte short of its digits.
fn groups(text: impl Iterator<Item = u8>, value: impl Fn(u8) -> Option<u8>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut sum, mut count) = (0_u64, 0_usize);
    for b in text {
        sum = sum * 85 + u64::from(value(b)?);
        count += 1;
        if count == 5 {
            bytes.extend(u32::try_from(sum).ok()?.to_be_bytes());
            (sum, count) = (0, 0);
        }
    }
    if count > 1 {
        let filled = (count..5).fold(sum, |sum, _| sum * 85 + 84);
        bytes.extend(
            u32::try_from(filled)
                .ok()?
                .to_be_bytes()
                .iter()
                .take(count - 1),
        );
    }
    (!bytes.is_empty()).then_some(bytes)
}
