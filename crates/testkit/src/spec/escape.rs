//! Invisible characters: written as escapes in documents, in both directions.

/// `\x1b`, `\u{e0041}`, `\r` … → bytes. `\xNN` is a byte, so that invalid UTF-8 can be written too.
pub(super) fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], &mut bytes)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

/// Parses the text after a backslash; returns the rest.
fn escape<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, String> {
    let unknown = || {
        format!(
            "unknown escape `\\{}`",
            text.chars().take(6).collect::<String>()
        )
    };
    let (kind, rest) = text.split_at_checked(1).ok_or_else(unknown)?;
    let simple = match kind {
        "n" => b'\n',
        "r" => b'\r',
        "t" => b'\t',
        "0" => 0,
        "\\" => b'\\',
        "x" => {
            let (digits, rest) = rest.split_at_checked(2).ok_or_else(unknown)?;
            bytes.push(u8::from_str_radix(digits, 16).map_err(|_| unknown())?);
            return Ok(rest);
        }
        "u" => {
            let inner = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
            let (digits, rest) = inner.ok_or_else(unknown)?;
            let code = u32::from_str_radix(digits, 16).map_err(|_| unknown())?;
            let character = char::from_u32(code).ok_or_else(unknown)?;
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(rest);
        }
        _ => return Err(unknown()),
    };
    bytes.push(simple);
    Ok(rest)
}

/// Makes controls and invisible characters visible; newlines and tabs stay.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Controls, direction marks, invisible joiners, and tag characters.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{ad}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::{unescape, visible};

    #[test]
    fn escapes_become_bytes() {
        let bytes = unescape(r"a\x1b[0m \u{e0041}\r\0\\n \xff").unwrap();
        assert_eq!(bytes, b"a\x1b[0m \xf3\xa0\x81\x81\r\0\\n \xff");
    }

    #[test]
    fn unknown_escapes_are_errors() {
        for text in [r"\q", r"\x1", r"\xzz", r"\u{d800}", r"\u{1", r"\", r"\é"] {
            assert!(unescape(text).is_err(), "{text}");
        }
    }

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(
            visible("a\tb\u{1b}[1m\u{202e}é\r\n"),
            "a\tb\\u{1b}[1m\\u{202e}é\\u{d}\n"
        );
    }
}
