//! Paths as the file system stores them: bytes, which need not be UTF-8.
//!
//! Two names that differ in one byte are two files. A lossy conversion to UTF-8 would make them equal, so no such string
//! is used to open, create or look up a file. Displayed text is escaped so that different bytes stay different.

use std::{borrow::Cow, ffi::OsStr, fmt, os::unix::ffi::OsStrExt, path::Path};

use metier_model::text::is_invisible;

/// The bytes of a path inside a skill, with forward slashes, or of the target of a link.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathBytes(Box<[u8]>);

impl PathBytes {
    /// The bytes as the file system stores them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path as a string; `None` if it is not UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The path for system calls.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The path itself if it is UTF-8, otherwise as it is displayed. Not for system calls and not as a key.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        self.as_str()
            .map_or_else(|| Cow::Owned(self.to_string()), Cow::Borrowed)
    }

    /// The names of the folders on the path, and of the file.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }
}

impl From<&[u8]> for PathBytes {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl From<Vec<u8>> for PathBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<&str> for PathBytes {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl PartialEq<str> for PathBytes {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl PartialEq<&str> for PathBytes {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

/// A string in which everything is escaped that is not UTF-8, is invisible, or could be mistaken for an escape: different
/// bytes are displayed differently.
impl fmt::Display for PathBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\\' => f.write_str("\\\\")?,
                    c if c.is_control() || is_invisible(c) => write!(f, "{}", c.escape_default())?,
                    c => write!(f, "{c}")?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for PathBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8]) -> String {
        PathBytes::from(bytes).to_string()
    }

    #[test]
    fn plain_names_are_displayed_as_they_are() {
        assert_eq!(shown("scripts/größe 1.sh".as_bytes()), "scripts/größe 1.sh");
    }

    #[test]
    fn different_bytes_are_displayed_differently() {
        let odd: [&[u8]; 8] = [
            b"\xfe",
            b"\xff",
            "\u{fffd}".as_bytes(),
            b"\\xff",
            b"\\\\xff",
            b"a\nb",
            b"a\\nb",
            "a\u{202e}b".as_bytes(),
        ];
        let all: Vec<String> = odd.iter().map(|bytes| shown(bytes)).collect();
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{one}");
            assert!(!one.contains(char::is_control), "{one:?}");
        }
        assert_eq!(all[1], "\\xff");
    }

    #[test]
    fn the_order_is_that_of_bytes() {
        let path = |text: &str| PathBytes::from(text);
        assert!(path("a-b/x") < path("a/x"));
        assert!(PathBytes::from(&b"\xff"[..]) > path("z"));
    }
}
