//! Writing JSON fast: a document of ten thousand skills is seven megabytes of text that nearly never
//! needs an escape. Text without special characters is copied; everything else goes through
//! `serde_json`, so that escaping has one author.

use serde::Serialize;

/// Any value, through serde.
pub(crate) fn value(out: &mut Vec<u8>, value: &impl Serialize) {
    // Writing to a vector can't fail, and no type of this crate fails to serialise.
    serde_json::to_writer(out, value).ok();
}

/// Writes a string.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    let special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    // Without an early exit the compiler processes sixteen bytes at a time.
    if text.bytes().fold(false, |any, byte| any | special(byte)) {
        value(out, &text);
    } else {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }
}

/// A key as it is in the document.
macro_rules! key {
    ($key:literal) => {
        concat!("\"", $key, "\":")
    };
}
pub(crate) use key;

/// An object that is being written.
pub(crate) struct JsonObject<'w> {
    out: &'w mut Vec<u8>,
    separator: u8,
}

impl<'w> JsonObject<'w> {
    pub(crate) fn begin(out: &'w mut Vec<u8>) -> Self {
        Self {
            out,
            separator: b'{',
        }
    }

    /// The place of a field's value. `key` is quoted and has its colon: see [`key!`]. Inlined, like
    /// its callers, because a copy of known length is one or two instructions.
    #[inline(always)]
    pub(crate) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        self.out.push(self.separator);
        self.separator = b',';
        self.out.extend_from_slice(key.as_bytes());
        self.out
    }

    /// The place of a field's value, for a key that is only known at run time.
    pub(crate) fn any_key(&mut self, key: &str) -> &mut Vec<u8> {
        self.out.push(self.separator);
        self.separator = b',';
        string(self.out, key);
        self.out.push(b':');
        self.out
    }

    #[inline(always)]
    pub(crate) fn text(&mut self, key: &str, text: &str) {
        string(self.key(key), text);
    }

    #[inline(always)]
    pub(crate) fn optional(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.raw(key, "null"),
        }
    }

    /// A string that needs no escapes, from our own code.
    #[inline(always)]
    pub(crate) fn word(&mut self, key: &str, word: &'static str) {
        let out = self.key(key);
        out.push(b'"');
        out.extend_from_slice(word.as_bytes());
        out.push(b'"');
    }

    /// A string that is already valid JSON.
    #[inline(always)]
    fn raw(&mut self, key: &str, word: &str) {
        self.key(key).extend_from_slice(word.as_bytes());
    }

    #[inline(always)]
    pub(crate) fn flag(&mut self, key: &str, flag: bool) {
        self.raw(key, if flag { "true" } else { "false" });
    }

    #[inline(always)]
    pub(crate) fn number(&mut self, key: &str, number: usize) {
        if number == 0 {
            self.raw(key, "0");
        } else {
            value(self.key(key), &number);
        }
    }

    pub(crate) fn list<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Vec<u8>, T),
    ) {
        list(self.key(key), items, &mut write);
    }

    pub(crate) fn end(self) {
        if self.separator == b'{' {
            self.out.push(b'{');
        }
        self.out.push(b'}');
    }
}

/// Writes an array.
pub(crate) fn list<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    write: &mut impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    let mut first = true;
    for item in items {
        if !first {
            out.push(b',');
        }
        first = false;
        write(out, item);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_writes_the_same_json_as_serde() {
        for text in [
            "",
            "plain",
            "quote \" back \\ slash",
            "tab\tbreak\n",
            "\u{1}\u{7f}\u{2028}",
            "é🐛",
            "</script>",
        ] {
            let mut out = Vec::new();
            string(&mut out, text);
            assert_eq!(
                String::from_utf8(out).unwrap(),
                serde_json::to_string(text).unwrap()
            );
        }
    }

    #[test]
    fn objects_and_lists() {
        let mut out = Vec::new();
        let mut object = JsonObject::begin(&mut out);
        object.text(key!("a"), "x");
        object.optional(key!("b"), None);
        object.flag(key!("c"), true);
        object.number(key!("d"), 0);
        object.list(key!("e"), [1, 2], |out, number| value(out, &number));
        object.end();
        assert_eq!(out, br#"{"a":"x","b":null,"c":true,"d":0,"e":[1,2]}"#);
        let mut out = Vec::new();
        JsonObject::begin(&mut out).end();
        assert_eq!(out, b"{}");
    }
}
