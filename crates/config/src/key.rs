//! What there is to know about one key, and how a path is matched to it.

use crate::{KEYS, KeyPath};

/// One row of [`KEYS`].
#[derive(Debug)]
pub struct Key {
    /// Dotted path; a segment in angle brackets (`<name>`) stands for any one segment.
    pub path: &'static str,
    /// What a value must look like.
    pub kind: Kind,
    /// The value when nobody decided.
    pub default: Fallback,
    /// The environment variable that sets it, where a single variable can.
    pub env: Option<&'static str>,
    /// Another spelling of the last segment that is read too, with a warning.
    pub alias: Option<&'static str>,
    /// What a project's file may do with it.
    pub project: Project,
    /// One sentence for people.
    pub doc: &'static str,
}

impl Key {
    /// Whether anything in this version acts on it.
    #[must_use]
    pub fn has_effect(&self) -> bool {
        let without = crate::table::WITHOUT_EFFECT;
        !without.iter().any(|key| key.path == self.path)
    }
}

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number that is at least this.
    Int(u64),
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// Any string that is not empty.
    Text,
    /// A string that is never shown.
    Secret,
    /// A list of strings.
    List(Item),
    /// Any TOML value at any depth.
    Free,
}

/// What the strings in a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A skill's name.
    Name,
    /// A folder, as written.
    Path,
    /// A skill's name, alone or with the digest of its approved content.
    Approval,
    /// The first words of a command line.
    Prefix,
    /// A tool's name.
    Tool,
    /// A finding of the scanner that the user has looked at, and why it is right.
    Suppression,
}

/// A key's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// No value at all, which has a meaning of its own.
    Absent,
    /// A boolean.
    Bool(bool),
    /// A number.
    Int(u64),
    /// A word.
    Text(&'static str),
    /// A list without items.
    Empty,
}

/// What a project's file may do with a key. A project arrives with a clone: it may tighten, never loosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Project {
    /// Nothing.
    Never,
    /// Make it stricter, by this rule.
    Tighten(Rule),
}

/// Which values are stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// This one value, in TOML's spelling without quotes.
    Only(&'static str),
    /// A number that isn't greater than the one in force.
    Lower,
    /// As [`Rule::Lower`], for a key where 0 means "no limit".
    LowerWhereZeroIsNoLimit,
    /// A list, of which only what is also in the list in force is kept.
    Intersect,
    /// As [`Rule::Intersect`] for command prefixes: `git log` lies within `git`.
    IntersectPrefixes,
}

/// What a path leads to.
pub(crate) enum Found {
    Key {
        key: &'static Key,
        /// The path in its right spelling.
        path: KeyPath,
        by_alias: bool,
    },
    /// Only a table on the way to keys.
    Table,
    Nothing,
}

/// The key that an environment variable sets.
pub fn key_for_env(variable: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.env == Some(variable))
}

pub(crate) fn find(path: &KeyPath) -> Found {
    if let Some(found) = KEYS.iter().find_map(|key| key.matches(path)) {
        return found;
    }
    if KEYS.iter().any(|key| key.is_below(path)) {
        return Found::Table;
    }
    Found::Nothing
}

impl Key {
    /// Whether the path has a segment that the user chooses.
    pub fn is_pattern(&self) -> bool {
        self.path.contains('<')
    }

    /// Whether values of this key stay hidden.
    pub fn is_secret(&self) -> bool {
        self.kind == Kind::Secret
    }

    pub(crate) fn segments(&self) -> impl DoubleEndedIterator<Item = &'static str> {
        self.path.split('.')
    }

    fn matches(&'static self, path: &KeyPath) -> Option<Found> {
        let given = path.segments();
        let length = self.segments().count();
        let fits = if self.kind == Kind::Free {
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
        Some(Found::Key {
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

impl Kind {
    /// What was expected, for a sentence: "expected …".
    pub fn describe(self) -> String {
        match self {
            Kind::Bool => "`true` or `false`".to_owned(),
            Kind::Int(0) => "a whole number".to_owned(),
            Kind::Int(least) => format!("a whole number from {least}"),
            Kind::Choice(words) => words
                .iter()
                .map(|word| format!("`\"{word}\"`"))
                .collect::<Vec<_>>()
                .join(" or "),
            Kind::Text | Kind::Secret => "a string".to_owned(),
            Kind::List(item) => format!("a list of {}", item.plural()),
            Kind::Free => "any value".to_owned(),
        }
    }
}

impl Item {
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Item::Name => "skill names",
            Item::Path => "folders",
            Item::Approval => "skill names or `name@sha256:…`",
            Item::Prefix => "command prefixes",
            Item::Tool => "tool names",
            Item::Suppression => "`fingerprint@sha256:… reason`",
        }
    }

    pub(crate) fn singular(self) -> &'static str {
        match self {
            Item::Name => "a skill name",
            Item::Path => "a folder",
            Item::Approval => "a skill name or `name@sha256:` and 64 hexadecimal digits",
            Item::Prefix => "a command prefix",
            Item::Tool => "a tool name",
            Item::Suppression => {
                "a fingerprint, `@sha256:` with 64 hexadecimal digits, a blank and a reason"
            }
        }
    }

    /// Whether a string may stand in such a list.
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Item::Name => is_name(text),
            Item::Approval => is_approval(text),
            Item::Suppression => suppression(text).is_some(),
            Item::Path => !text.is_empty() && !text.contains('\0'),
            Item::Prefix | Item::Tool => {
                !text.trim().is_empty() && !text.contains(char::is_control)
            }
        }
    }
}

/// A name that some skill could have: the catalog refuses the others in every mode.
pub(crate) fn is_name(text: &str) -> bool {
    !text.trim().is_empty()
        && !text.contains("..")
        && !text.contains(['/', '\\'])
        && !text.contains(char::is_control)
}

/// `fingerprint@sha256:… reason`, taken apart.
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
