//! The description of one key, and how a path is matched to it.

use crate::{KEYS, KeyPath};

/// One row of [`KEYS`].
#[derive(Debug)]
pub struct ConfigKey {
    /// Dotted path; a segment in angle brackets (`<name>`) matches any segment.
    pub path: &'static str,
    /// The type of its values.
    pub kind: ValueKind,
    /// The value if no layer sets it.
    pub default: DefaultValue,
    /// The environment variable that sets it; patterns have none.
    pub env: Option<&'static str>,
    /// Another spelling of the last segment, accepted with a warning.
    pub alias: Option<&'static str>,
    /// A project file's authority over it.
    pub project: ProjectAuthority,
    /// One sentence for the reference page.
    pub doc: &'static str,
}

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// `true` or `false`.
    Bool,
    /// An integer that is at least this.
    Int(u64),
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A string that is not empty.
    Text,
    /// A string that is never shown.
    Secret,
    /// A list of strings.
    List(ListItemKind),
    /// Any TOML value at any depth.
    Free,
}

/// The type of the strings in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListItemKind {
    /// The name of a skill.
    Name,
    /// A folder, as written.
    Path,
    /// A skill's name, alone or with the digest of its approved content.
    Approval,
    /// The first words of a command line.
    Prefix,
    /// The name of a tool.
    Tool,
    /// The name of an agent.
    Agent,
    /// An argument of a program; it can be repeated.
    Argument,
    /// A finding of the scanner that the user accepts, with a reason.
    Suppression,
}

/// The default value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// No value, which has its own meaning for the key.
    Absent,
    /// A default of type boolean.
    Bool(bool),
    /// A default of type integer.
    Int(u64),
    /// A default of type string or choice.
    Text(&'static str),
    /// The empty list.
    Empty,
}

/// The authority of a project's file over a key. A project's file arrives with a clone, so it can tighten settings and
/// never loosen them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectAuthority {
    /// A project can't set it.
    Never,
    /// A project can set a stricter value, by this rule.
    Tighten(StricterValue),
}

/// The rule that determines stricter values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StricterValue {
    /// Only this value, in TOML's spelling without quotes.
    Only(&'static str),
    /// A number not greater than the current one.
    Lower,
    /// As [`StricterValue::Lower`], for a key where 0 means "no limit".
    LowerWhereZeroIsNoLimit,
    /// A list, reduced to the items that are also in the current list.
    Intersect,
    /// As [`StricterValue::Intersect`] for command prefixes: `git log` is within `git`.
    IntersectPrefixes,
}

/// The result of looking up a path.
pub(crate) enum KeyLookup {
    Key {
        key: &'static ConfigKey,
        /// The path in its canonical spelling.
        path: KeyPath,
        by_alias: bool,
    },
    /// A table that contains keys.
    Table,
    Nothing,
}

/// The key that an environment variable sets.
pub fn key_for_env(variable: &str) -> Option<&'static ConfigKey> {
    KEYS.iter().find(|key| key.env == Some(variable))
}

pub(crate) fn find(path: &KeyPath) -> KeyLookup {
    if let Some(found) = KEYS.iter().find_map(|key| key.matches(path)) {
        return found;
    }
    if KEYS.iter().any(|key| key.is_below(path)) {
        return KeyLookup::Table;
    }
    KeyLookup::Nothing
}

impl ConfigKey {
    /// Whether the path has a segment that the user chooses.
    pub fn is_pattern(&self) -> bool {
        self.path.contains('<')
    }

    /// Whether values of this key are hidden.
    pub fn is_secret(&self) -> bool {
        self.kind == ValueKind::Secret
    }

    pub(crate) fn segments(&self) -> impl DoubleEndedIterator<Item = &'static str> {
        self.path.split('.')
    }

    fn matches(&'static self, path: &KeyPath) -> Option<KeyLookup> {
        let given = path.segments();
        let length = self.segments().count();
        let fits = if self.kind == ValueKind::Free {
            given.len() >= length
        } else {
            given.len() == length
        };
        if !fits {
            return None;
        }
        let mut right = given.to_vec();
        let mut by_alias = false;
        for (position, (pattern, segment)) in self.segments().zip(given).enumerate() {
            if fits_segment(pattern, segment) {
                continue;
            }
            if position + 1 < length || self.alias != Some(segment) {
                return None;
            }
            by_alias = true;
            pattern.clone_into(&mut right[position]);
        }
        Some(KeyLookup::Key {
            key: self,
            path: KeyPath::from_segments(right),
            by_alias,
        })
    }

    fn is_below(&self, path: &KeyPath) -> bool {
        path.segments().len() < self.segments().count()
            && self
                .segments()
                .zip(path.segments())
                .all(|(pattern, segment)| fits_segment(pattern, segment))
    }
}

fn fits_segment(pattern: &str, segment: &str) -> bool {
    pattern == segment || pattern.starts_with('<')
}

impl ValueKind {
    /// The expected value for a message: "expected …".
    pub fn describe(self) -> String {
        match self {
            ValueKind::Bool => "`true` or `false`".to_owned(),
            ValueKind::Int(0) => "a whole number".to_owned(),
            ValueKind::Int(least) => format!("a whole number of at least {least}"),
            ValueKind::Choice(words) => words
                .iter()
                .map(|word| format!("`\"{word}\"`"))
                .collect::<Vec<_>>()
                .join(" or "),
            ValueKind::Text | ValueKind::Secret => "a string".to_owned(),
            ValueKind::List(item) => format!("a list of {}", item.plural()),
            ValueKind::Free => "any value".to_owned(),
        }
    }
}

impl ListItemKind {
    pub(crate) fn plural(self) -> &'static str {
        match self {
            ListItemKind::Name => "skill names",
            ListItemKind::Path => "folders",
            ListItemKind::Approval => "skill names or `name@sha256:…`",
            ListItemKind::Prefix => "command prefixes",
            ListItemKind::Tool => "tool names",
            ListItemKind::Agent => "agent names",
            ListItemKind::Argument => "arguments",
            ListItemKind::Suppression => "`fingerprint@sha256:… reason`",
        }
    }

    pub(crate) fn singular(self) -> &'static str {
        match self {
            ListItemKind::Name => "a skill name",
            ListItemKind::Path => "a folder",
            ListItemKind::Approval => "a skill name or `name@sha256:` and 64 hexadecimal digits",
            ListItemKind::Prefix => "a command prefix",
            ListItemKind::Tool => "a tool name",
            ListItemKind::Agent => "an agent name",
            ListItemKind::Argument => "an argument",
            ListItemKind::Suppression => {
                "a fingerprint, `@sha256:` with 64 hexadecimal digits, a space and a reason"
            }
        }
    }

    /// Whether a string is a valid item of such a list.
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            ListItemKind::Name => is_name(text),
            ListItemKind::Approval => is_approval(text),
            ListItemKind::Suppression => suppression(text).is_some(),
            ListItemKind::Path => !text.is_empty() && !text.contains('\0'),
            ListItemKind::Argument => !text.contains('\0'),
            ListItemKind::Prefix | ListItemKind::Tool | ListItemKind::Agent => {
                !text.trim().is_empty() && !text.contains(char::is_control)
            }
        }
    }
}

/// Whether a skill could have this name: the catalog rejects all others in every mode.
pub(crate) fn is_name(text: &str) -> bool {
    !text.trim().is_empty()
        && !text.contains("..")
        && !text.contains(['/', '\\'])
        && !text.contains(char::is_control)
}

/// Splits `fingerprint@sha256:… reason`.
pub(crate) fn suppression(text: &str) -> Option<(&str, &str, &str)> {
    let (bound, reason) = text.split_once(' ')?;
    let (fingerprint, digest) = bound.split_once('@')?;
    let hex = |text: &str, length| {
        text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let fits = hex(fingerprint, 16)
        && hex(digest.strip_prefix("sha256:")?, 64)
        && !reason.trim().is_empty()
        && !reason.contains(char::is_control);
    fits.then_some((fingerprint, digest, reason.trim()))
}

fn is_approval(text: &str) -> bool {
    match text.split_once('@') {
        None => is_name(text),
        Some((name, digest)) => {
            let hex = digest.strip_prefix("sha256:").unwrap_or_default();
            is_name(name) && hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
        }
    }
}
