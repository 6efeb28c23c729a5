//! A skill's name: never a path, never invisible.

use std::{fmt, ops::Deref};

use crate::{Source, text};

/// The maximum length of a name in the specification.
pub const MAX_NAME: usize = 64;

/// Names of metier's tools for models; a skill can't have one of them.
pub const RESERVED: &[&str] = &[
    "list_skills",
    "search_skills",
    "activate_skill",
    "read_skill_resource",
    "sessions_spawn",
    "skill-execute",
    "call_skill_tool",
    "scan_skill",
];

/// A usable name: one line of visible text without path separators.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(Box<str>);

/// Why a string can't be a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// The string is empty.
    Empty,
    /// It contains `/`, `\` or `..` and could be mistaken for a path.
    PathLike,
    /// It contains control, zero-width, bidirectional or tag characters.
    Invisible,
    /// It is the name of one of metier's tools.
    Reserved,
    /// It is unreasonably long.
    Enormous,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::PathLike => "it could be mistaken for a path",
            Self::Invisible => "it contains control or invisible characters",
            Self::Reserved => "it is the name of one of metier's own tools",
            Self::Enormous => "it is longer than 256 characters",
        })
    }
}

impl std::error::Error for NameError {}

impl SkillName {
    /// A name, if the string can be one. [`departures`] checks whether it also conforms to the specification.
    ///
    /// # Errors
    /// If the string is empty, path-like, invisible, reserved or too long.
    pub fn new(text: &str) -> Result<Self, NameError> {
        usable(text).map(|name| Self(name.into()))
    }

    /// The name as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for SkillName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks whether a string can be the user's name for a server: it becomes a part of skill and tool names.
///
/// # Errors
/// The problem.
pub fn check_server_label(label: &str) -> Result<(), &'static str> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if label.is_empty() || label.len() > 32 || !label.chars().all(is_plain) {
        return Err("use 1 to 32 lower-case letters, digits and hyphens");
    }
    if label.parse::<Source>().is_ok() || label == "mcp" {
        return Err("it is the name of a source of skills");
    }
    Ok(())
}

/// The trimmed string, if it can be a name.
pub(crate) fn usable(text: &str) -> Result<&str, NameError> {
    if is_plain(text) {
        return Ok(text);
    }
    let name = text.trim();
    if name.is_empty() {
        Err(NameError::Empty)
    } else if name.len() > 1024 {
        Err(NameError::Enormous)
    } else if name.contains(['/', '\\']) || name.contains("..") {
        Err(NameError::PathLike)
    } else if name
        .chars()
        .any(|c| c.is_control() || text::is_invisible(c))
    {
        Err(NameError::Invisible)
    } else if RESERVED
        .iter()
        .any(|reserved| reserved.eq_ignore_ascii_case(name))
    {
        Err(NameError::Reserved)
    } else {
        Ok(name)
    }
}

/// Whether a name is obviously valid, as nearly all are.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    // Without an early exit the compiler processes sixteen bytes at a time.
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().fold(true, |all, byte| all & plain(byte))
        && !name.eq_ignore_ascii_case("skill-execute")
}

/// A deviation of a name from the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// More than 64 characters.
    TooLong,
    /// Contains characters other than `a-z`, `0-9` and `-`.
    Characters,
    /// A hyphen at the start or end, or two in a row.
    Hyphens,
}

/// All deviations of a name from the specification.
pub fn departures(name: &str) -> impl Iterator<Item = Departure> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let too_long = name.len() > MAX_NAME && name.chars().count() > MAX_NAME;
    let characters = !name.bytes().all(allowed);
    let hyphens = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    [
        too_long.then_some(Departure::TooLong),
        characters.then_some(Departure::Characters),
        hyphens.then_some(Departure::Hyphens),
    ]
    .into_iter()
    .flatten()
}

/// The most similar name that conforms: lower case, with hyphens for everything else.
#[must_use]
pub fn conforming(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(MAX_NAME);
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_plain_word_and_not_a_source() {
        for usable in ["docs", "my-server", "s3"] {
            assert_eq!(check_server_label(usable), Ok(()), "{usable}");
        }
        for bad in [
            "",
            "Docs",
            "a b",
            "a:b",
            "a/b",
            "a__b",
            "a\u{200b}",
            "user",
            "project",
            "builtin",
            "extra",
            "inline",
            "mcp",
        ] {
            assert!(check_server_label(bad).is_err(), "{bad}");
        }
        assert!(check_server_label(&"a".repeat(33)).is_err());
    }

    #[test]
    fn a_name_is_never_a_path_or_a_trick() {
        for (text, error) in [
            ("", NameError::Empty),
            ("  ", NameError::Empty),
            ("../../evil", NameError::PathLike),
            ("a/b", NameError::PathLike),
            ("a\\b", NameError::PathLike),
            ("a..b", NameError::PathLike),
            ("a\nb", NameError::Invisible),
            ("a\u{1b}[31m", NameError::Invisible),
            ("a\u{200b}b", NameError::Invisible),
            ("a\u{e0041}", NameError::Invisible),
            ("a\u{202e}b", NameError::Invisible),
            ("list_skills", NameError::Reserved),
        ] {
            assert_eq!(SkillName::new(text), Err(error), "{text:?}");
        }
    }

    #[test]
    fn departures_are_the_specifications() {
        let check = |name: &str| departures(name).collect::<Vec<_>>();
        assert_eq!(check("pdf-processing"), []);
        assert_eq!(check(&"a".repeat(64)), []);
        assert_eq!(check(&"a".repeat(65)), [Departure::TooLong]);
        assert_eq!(check("PDF"), [Departure::Characters]);
        assert_eq!(check("café"), [Departure::Characters]);
        assert_eq!(check("-pdf"), [Departure::Hyphens]);
        assert_eq!(check("a--b"), [Departure::Hyphens]);
    }

    #[test]
    fn the_suggested_name_conforms() {
        for name in ["Test Skill", "a__b", "--x--", "Ünïcode name!"] {
            assert_eq!(departures(&conforming(name)).count(), 0, "{name}");
        }
    }
}
