//! Values of the engine as JSON that the host can read.
//!
//! The engine's serializer in C is used, so that changes of `JSON` or of prototypes have no effect. It leaves three
//! problems. Half of a surrogate pair, which a script gets by cutting a string inside an emoji, is not JSON for most
//! readers. A value can be nested deeper than the host reads. And it can be longer than a message.

use rquickjs::{Ctx, Value};

/// The maximum nesting of an answer. The host's reader stops at 128 levels, and an answer is wrapped a few times.
const MAX_DEPTH: usize = 100;

/// Why a value is not sent.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsendable {
    /// An exception is pending in the engine: a cycle, a `toJSON` that throws, a BigInt.
    #[error("it can't be JSON")]
    Thrown,
    #[error("it is nested more than {MAX_DEPTH} levels deep")]
    Deep,
    #[error("it is {0} bytes as JSON; at most {1} are allowed")]
    Long(usize, usize),
}

/// A value as JSON; a value without a JSON form, such as a function, is `null`.
pub(crate) fn encode<'js>(
    ctx: &Ctx<'js>,
    value: Value<'js>,
    most: usize,
) -> Result<String, Unsendable> {
    let text = ctx.json_stringify(value).map_err(|_| Unsendable::Thrown)?;
    let Some(text) = text else {
        return Ok("null".to_owned());
    };
    let text = text.to_string().map_err(|_| Unsendable::Thrown)?;
    if text.len() > most {
        return Err(Unsendable::Long(text.len(), most));
    }
    if depth(&text) > MAX_DEPTH {
        return Err(Unsendable::Deep);
    }
    Ok(whole(text))
}

/// The nesting of a JSON document.
fn depth(text: &str) -> usize {
    let (mut now, mut most, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' if !quoted => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// Replaces halves of surrogate pairs by the replacement character. The serializer writes only those as `\ud…`.
pub(crate) fn whole(text: String) -> String {
    if !text.contains(r"\ud") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        // The string can be something other than JSON: characters are never cut.
        let half = escape.get(..6).filter(|half| half.starts_with(r"\ud"));
        let end = escape.char_indices().nth(2).map(|(end, _)| end);
        let taken = half.map_or(end.unwrap_or(escape.len()), str::len);
        let (kept, after) = escape.split_at(taken);
        out.push_str(half.map_or(kept, |_| r"\ufffd"));
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_replaced_and_nothing_else_is() {
        for (text, expected) in [
            (r#"["a\ud83d"]"#, r#"["a\ufffd"]"#),
            (r#"["a\\ud83d"]"#, r#"["a\\ud83d"]"#),
            (r#"["\\\ud83d\n\ude00"]"#, r#"["\\\ufffd\n\ufffd"]"#),
            ("[\"😀\"]", "[\"😀\"]"),
            (r"\udabé\é\", r"\udabé\é\"),
        ] {
            assert_eq!(whole(text.to_owned()), expected);
        }
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert_eq!(depth(r#"{"a":["[[[[", {"\"[":1}], "b":[]}"#), 3);
        assert_eq!(depth("1"), 0);
    }
}
