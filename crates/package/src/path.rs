//! Paths in packages: relative, and the same file on every operating system.

use std::fmt;

use metier_model::text::visible;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The longest path, in bytes.
const MAX_PATH: usize = 1024;
/// The longest name of a file or folder, in bytes: what common file systems accept.
const MAX_NAME: usize = 255;
/// The maximum nesting of folders.
const MAX_DEPTH: usize = 32;

/// Names that Windows reserves for devices, with any extension.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "conin$", "conout$"];

/// A relative path of a file in a package: UTF-8 in NFC, separated by `/`, without `.` and `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackagePath(Box<str>);

impl PackagePath {
    /// Accepts a path from an archive or a folder.
    ///
    /// # Errors
    /// If any system could interpret it as another file, as a device, or as a place outside the package.
    pub fn new(bytes: &[u8]) -> Result<Self, PathError> {
        let shown = || visible(&String::from_utf8_lossy(bytes)).into_owned();
        let refuse = |problem| {
            Err(PathError {
                path: shown(),
                problem,
            })
        };
        let Ok(text) = std::str::from_utf8(bytes) else {
            return refuse(PathProblem::NotUtf8);
        };
        if text.is_empty() {
            return refuse(PathProblem::Empty);
        }
        if text.len() > MAX_PATH {
            return refuse(PathProblem::TooLong);
        }
        if text.starts_with('/') || has_drive(text) {
            return refuse(PathProblem::Absolute);
        }
        if visible(text) != text || text.contains(['\n', '\r', '\t']) {
            return refuse(PathProblem::HiddenCharacters);
        }
        if text.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
            return refuse(PathProblem::NotPortable);
        }
        if !is_nfc(text) {
            return refuse(PathProblem::NotNormalized);
        }
        let names: Vec<&str> = text.split('/').collect();
        if names.len() > MAX_DEPTH {
            return refuse(PathProblem::TooDeep);
        }
        match names.iter().find_map(|name| problem_of(name)) {
            Some(problem) => refuse(problem),
            None => Ok(Self(text.into())),
        }
    }

    /// The path as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folders above the file, the outermost first.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(end, _)| &self.0[..end])
    }

    /// The path below a folder; `None` if it is elsewhere.
    pub(crate) fn below(&self, folder: &str) -> Option<Self> {
        let rest = self.0.strip_prefix(folder)?.strip_prefix('/')?;
        (!rest.is_empty()).then(|| Self(rest.into()))
    }
}

impl fmt::Display for PackagePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path as a file system that ignores case and normalization compares it.
pub(crate) fn folded(path: &str) -> String {
    let lower = |text: String| -> String { text.chars().flat_map(char::to_lowercase).collect() };
    // Some letters have several forms in one case and a single one in the other.
    let upper: String = lower(path.to_owned())
        .chars()
        .flat_map(char::to_uppercase)
        .collect();
    lower(lower(upper).nfkc().collect())
}

/// A drive of Windows, such as `C:`.
fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// The problem of one name of a path.
fn problem_of(name: &str) -> Option<PathProblem> {
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end().to_ascii_lowercase();
    let numbered = |prefix: &str| {
        let number = stem.strip_prefix(prefix);
        number.is_some_and(|number| {
            let mut digits = number.chars();
            matches!(
                digits.next(),
                Some('0'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}')
            ) && digits.next().is_none()
        })
    };
    match name {
        "" => Some(PathProblem::EmptyName),
        "." | ".." => Some(PathProblem::Traversal),
        name if name.len() > MAX_NAME => Some(PathProblem::TooLong),
        name if name.ends_with(['.', ' ']) || name.starts_with(' ') => {
            Some(PathProblem::NotPortable)
        }
        _ if DEVICES.contains(&stem.as_str()) || numbered("com") || numbered("lpt") => {
            Some(PathProblem::Device)
        }
        _ => None,
    }
}

/// A path that no package can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` {problem}")]
pub struct PathError {
    /// The path, with invisible characters spelled out.
    pub path: String,
    problem: PathProblem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum PathProblem {
    #[error("is not valid UTF-8")]
    NotUtf8,
    #[error("is an empty path")]
    Empty,
    #[error("is longer than 255 bytes in one name or 1024 bytes in all")]
    TooLong,
    #[error("is nested deeper than 32 folders")]
    TooDeep,
    #[error("is an absolute path")]
    Absolute,
    #[error("contains control or invisible characters")]
    HiddenCharacters,
    #[error("contains a name or character that not every operating system accepts")]
    NotPortable,
    #[error("is not in Unicode normalization form C")]
    NotNormalized,
    #[error("contains an empty name between two slashes")]
    EmptyName,
    #[error("contains `.` or `..`")]
    Traversal,
    #[error("contains a device name of Windows")]
    Device,
}
