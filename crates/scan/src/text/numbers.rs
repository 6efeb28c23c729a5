//! Characters written as numbers: escapes in a row, and lists of codes.
//!
//! Both are found by one walk each. Escapes may be interrupted by a few plain characters (`c\x75r\x6c`), but
//! most of them must represent letters that needed no escape: `%20` in a URL, `\u4e2d` in JSON and
//! `\x1b[31m` in a log are legitimate. Codes may each be wrapped (`chr(99)`), and are separated by commas, by
//! spaces, or if they are wrapped by the sign that joins strings.

use std::ops::Range;

use super::codec;
use super::decode::TextEncoding;

/// A row of escapes is at least this long.
const FEWEST_ESCAPES: usize = 4;
/// A list of bare numbers is at least this long; of wrapped ones, [`FEWEST_ESCAPES`].
const FEWEST_CODES: usize = 6;
/// Plain characters that are allowed between two escapes.
const WIDEST_GAP: usize = 6;

/// A range, its notation, and the bytes that it represents.
pub(super) type NumberRun = (Range<usize>, TextEncoding, Vec<u8>);

struct Escape {
    how: TextEncoding,
    code: u32,
    end: usize,
}

/// Rows of escapes: `\x63`, `\u0063`, `\143`, `%63`, `&#99;`.
pub(super) fn escapes(text: &str) -> Vec<NumberRun> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = memchr::memchr3(b'\\', b'%', b'&', bytes.get(at..).unwrap_or_default()) {
        at += next;
        let Some(first) = escape(bytes, at) else {
            at += 1;
            continue;
        };
        let row = row(bytes, at, first);
        let end = row.end;
        if row.count >= FEWEST_ESCAPES && row.needless * 2 >= row.count {
            found.push((at..end, row.how, row.bytes));
        }
        at = end;
    }
    found
}

struct NumberRow {
    how: TextEncoding,
    bytes: Vec<u8>,
    count: usize,
    needless: usize,
    end: usize,
}

fn row(bytes: &[u8], start: usize, first: Escape) -> NumberRow {
    let mut row = NumberRow {
        how: first.how,
        bytes: Vec::new(),
        count: 0,
        needless: 0,
        end: start,
    };
    let mut high = None;
    let mut next = Some((start, first));
    while let Some((at, escape)) = next {
        row.bytes.extend(bytes.get(row.end..at).unwrap_or_default());
        row.count += 1;
        row.needless +=
            usize::from(char::from_u32(escape.code).is_some_and(|c| c.is_ascii_alphanumeric()));
        push(&mut row.bytes, &escape, &mut high);
        row.end = escape.end;
        let ahead = bytes
            .get(row.end..bytes.len().min(row.end + WIDEST_GAP + 1))
            .unwrap_or_default();
        let gap = ahead
            .iter()
            .position(|&b| b == b'\\' || b == b'%' || b == b'&');
        next = gap
            .filter(|&gap| {
                !ahead
                    .iter()
                    .take(gap)
                    .any(|b| matches!(b, b'"' | b'\'' | b'`' | b'\n'))
            })
            .and_then(|gap| Some((row.end + gap, self::escape(bytes, row.end + gap)?)));
    }
    row
}

/// Small codes of byte escapes are bytes, all others characters; two surrogates are one.
fn push(out: &mut Vec<u8>, escape: &Escape, high: &mut Option<u32>) {
    let is_byte = matches!(
        escape.how,
        TextEncoding::HexEscape | TextEncoding::Octal | TextEncoding::Url
    );
    if let (true, Ok(byte)) = (is_byte, u8::try_from(escape.code)) {
        out.push(byte);
        return;
    }
    let code = match (high.take(), escape.code) {
        (_, code @ 0xd800..=0xdbff) => {
            *high = Some(code);
            return;
        }
        (Some(first), second @ 0xdc00..=0xdfff) => {
            0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
        }
        (_, code) => code,
    };
    let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend(c.encode_utf8(&mut [0; 4]).bytes());
}

fn escape(bytes: &[u8], at: usize) -> Option<Escape> {
    let rest = bytes.get(at..)?;
    let hex = |skip: usize, count: usize| -> Option<u32> {
        let digits = std::str::from_utf8(rest.get(skip..skip + count)?).ok()?;
        digits
            .bytes()
            .all(|b| b.is_ascii_hexdigit())
            .then(|| u32::from_str_radix(digits, 16).ok())
            .flatten()
    };
    let braced = || -> Option<(u32, usize)> {
        let close = rest.iter().take(12).position(|&b| b == b'}')?;
        Some((
            hex(3, close.checked_sub(3).filter(|&n| n > 0)?)?,
            at + close + 1,
        ))
    };
    let made = |how, code, length| {
        Some(Escape {
            how,
            code,
            end: at + length,
        })
    };
    match rest {
        [b'\\', b'x' | b'u', b'{', ..] => braced().map(|(code, end)| Escape {
            how: TextEncoding::UnicodeEscape,
            code,
            end,
        }),
        [b'\\', b'x', ..] => made(TextEncoding::HexEscape, hex(2, 2)?, 4),
        [b'\\', b'u', ..] | [b'%', b'u', ..] => made(TextEncoding::UnicodeEscape, hex(2, 4)?, 6),
        [b'\\', b'U', ..] => made(TextEncoding::UnicodeEscape, hex(2, 8)?, 10),
        [b'\\', b'0'..=b'7', b'0'..=b'7', ..] => {
            let count = rest
                .get(1..4)
                .unwrap_or_default()
                .iter()
                .take_while(|b| (b'0'..=b'7').contains(b))
                .count()
                .max(2);
            let digits = std::str::from_utf8(rest.get(1..=count)?).ok()?;
            made(
                TextEncoding::Octal,
                u32::from_str_radix(digits, 8).ok()?,
                count + 1,
            )
        }
        [b'%', ..] => made(
            TextEncoding::Url,
            u32::from(codec::byte(rest.get(1..3)?)?),
            3,
        ),
        [b'&', b'#', ..] => entity(rest).map(|(code, length)| Escape {
            how: TextEncoding::Entity,
            code,
            end: at + length,
        }),
        _ => None,
    }
}

fn entity(rest: &[u8]) -> Option<(u32, usize)> {
    let close = rest.iter().take(12).position(|&b| b == b';')?;
    let digits = std::str::from_utf8(rest.get(2..close)?).ok()?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((code, close + 1))
}

/// Lists of character codes: `99, 117, 114`, `0x63 0x75`, `chr(99)+chr(117)`, `[char]99`.
pub(super) fn codes(text: &str) -> Vec<NumberRun> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(u8::is_ascii_digit))
    {
        let start = at + next;
        let glued = start > 0
            && bytes
                .get(start - 1)
                .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'#'));
        if glued && wrapped(bytes, start).is_none() {
            at = start
                + bytes
                    .get(start..)
                    .unwrap_or_default()
                    .iter()
                    .take_while(|b| b.is_ascii_alphanumeric())
                    .count();
            continue;
        }
        let (range, list, wraps) = list(bytes, start);
        let fewest = if wraps { FEWEST_ESCAPES } else { FEWEST_CODES };
        at = range.end.max(start + 1);
        if list.chars().nth(fewest - 1).is_some() {
            found.push((range, TextEncoding::CharCodes, list.into_bytes()));
        }
    }
    found
}

/// Where the wrapping of a number begins, if it has one.
fn wrapped(bytes: &[u8], number: usize) -> Option<usize> {
    const WRAPS: [&[u8]; 6] = [
        b"chr(",
        b"chrw(",
        b"[char]",
        b"[char](",
        b"fromcharcode(",
        b"fromcodepoint(",
    ];
    WRAPS.iter().find_map(|wrap| {
        let start = number.checked_sub(wrap.len())?;
        bytes
            .get(start..number)?
            .eq_ignore_ascii_case(wrap)
            .then_some(start)
    })
}

fn list(bytes: &[u8], first: usize) -> (Range<usize>, String, bool) {
    let wrap = wrapped(bytes, first);
    let (start, mut end, mut text) = (wrap.unwrap_or(first), first, String::new());
    let mut next = Some(first);
    while let Some(at) = next {
        let Some((code, after)) = number(bytes, at) else {
            break;
        };
        // Bare numbers above a byte are years, sizes, prices.
        let Some(c) = char::from_u32(code)
            .filter(|&c| wrap.is_some() || u32::from(c) < 256)
            .filter(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r'))
        else {
            break;
        };
        text.push(c);
        end = after;
        next = following(bytes, after, wrap.is_some());
    }
    (start..end, text, wrap.is_some())
}

/// A decimal or `0x` number of a code point; returns its end.
fn number(bytes: &[u8], at: usize) -> Option<(u32, usize)> {
    let rest = bytes.get(at..bytes.len().min(at + 10))?;
    let (digits, radix, skip) = match rest {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16, 2),
        digits => (digits, 10, 0),
    };
    let count = digits
        .iter()
        .take_while(|b| char::from(**b).is_digit(radix))
        .count();
    let text = std::str::from_utf8(digits.get(..count)?).ok()?;
    let after = digits.get(count).copied().unwrap_or(b' ');
    if after.is_ascii_alphanumeric()
        || after == b'.' && digits.get(count + 1).is_some_and(u8::is_ascii_digit)
    {
        return None;
    }
    Some((u32::from_str_radix(text, radix).ok()?, at + skip + count))
}

/// Where the next number of a list begins; separators longer than a line's indent end the list.
fn following(bytes: &[u8], after: usize, wraps: bool) -> Option<usize> {
    const WIDEST: usize = 48;
    let rest = bytes.get(after..bytes.len().min(after + WIDEST))?;
    let mut length = 0;
    for &b in rest {
        let joins = b.is_ascii_whitespace()
            || b == b','
            || wraps && matches!(b, b')' | b'+' | b'.' | b'&' | b'|' | b'\\');
        if !joins {
            break;
        }
        length += 1;
    }
    let at = after + length;
    let starts = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit).then_some(at);
    if length == 0 {
        return None;
    }
    starts(at).or_else(|| {
        // `String.fromCharCode(`, `chr(`: the number follows shortly after.
        let ahead = bytes.get(at..bytes.len().min(at + 24))?;
        let number = at + ahead.iter().position(u8::is_ascii_digit)?;
        let word = bytes.get(at..wrapped(bytes, number)?)?;
        (wraps && word.iter().all(|b| b.is_ascii_alphabetic() || *b == b'.')).then_some(number)
    })
}
