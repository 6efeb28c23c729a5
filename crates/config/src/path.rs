//! The path of a key, as a list of segments, so that a skill named `a.b` is one segment and not two.

use std::fmt;

use toml_edit::Key as TomlKey;

/// A key's path, for example `skills.entries."my.skill".enabled`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// Parses a dotted path with TOML's quoting; any other text is split at its dots.
    pub fn parse(text: &str) -> Self {
        match TomlKey::parse(text) {
            Ok(keys) => Self(keys.iter().map(|key| key.get().to_owned()).collect()),
            Err(_) => Self(text.split('.').map(str::to_owned).collect()),
        }
    }

    /// The path of these segments, whatever they contain.
    pub fn of<'s>(segments: impl IntoIterator<Item = &'s str>) -> Self {
        Self(segments.into_iter().map(str::to_owned).collect())
    }

    /// The segments without quotes.
    pub fn segments(&self) -> &[String] {
        &self.0
    }

    pub(crate) fn root() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn from_segments(segments: Vec<String>) -> Self {
        Self(segments)
    }

    pub(crate) fn child(&self, segment: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment.to_owned());
        Self(segments)
    }

    pub(crate) fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    /// Whether one of the two is strictly below the other.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.0.len() != other.0.len()
            && (self.0.starts_with(&other.0) || other.0.starts_with(&self.0))
    }

    pub(crate) fn is_below(&self, above: &Self) -> bool {
        self.0.len() > above.0.len() && self.0.starts_with(&above.0)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str(".")?;
            }
            f.write_str(&TomlKey::new(segment.as_str()).display_repr())?;
        }
        Ok(())
    }
}
