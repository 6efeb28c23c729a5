//! Errors: a code, a sentence, the skill and file concerned, and what to type next.

use std::{fmt, path::Path};

/// The reason why a request failed: a code, a sentence, the skill and file concerned, and what to type next.
///
/// ```
/// let error = metier::Error::unmet("not-found", "there is no such file").hint("metier info pdf");
/// assert_eq!(error.code(), "not-found");
/// assert_eq!(error.advice(), Some("metier info pdf"));
/// ```
#[derive(Clone)]
pub struct Error(Box<ErrorInner>);

#[derive(Clone)]
struct ErrorInner {
    kind: ErrorKind,
    code: &'static str,
    message: String,
    details: Vec<String>,
    choices: Vec<(String, String)>,
    hint: Option<String>,
    skill: Option<String>,
    path: Option<String>,
    line: Option<u32>,
}

/// The kind of a failure.
///
/// ```
/// use metier::{Error, ErrorKind};
///
/// let exit_code = |error: &Error| match error.kind() {
///     ErrorKind::Unmet => 1,
///     ErrorKind::Broken => 2,
///     ErrorKind::Interrupted => 130,
/// };
/// assert_eq!(exit_code(&Error::unmet("not-found", "there is no such file")), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request could not be met.
    Unmet,
    /// Wrong usage, or a broken environment.
    Broken,
    /// The user stopped it.
    Interrupted,
}

impl Error {
    /// The request could not be met: invalid, refused, not found.
    #[must_use]
    pub fn unmet(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unmet, code, message.into())
    }

    /// Wrong usage, or a broken environment.
    #[must_use]
    pub fn broken(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Broken, code, message.into())
    }

    /// The user stopped it.
    #[must_use]
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted", message.into())
    }

    /// A folder or file of metier's own can't be written: the disk is full or read-only, or it belongs to another user.
    #[must_use]
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        let message = format!("a folder of metier can't be written: {error}");
        Self::broken("not-written", message)
            .path(path)
            .hint("free space there or check its permissions, or set METIER_HOME to a folder that can be written")
    }

    fn new(kind: ErrorKind, code: &'static str, message: String) -> Self {
        Self(Box::new(ErrorInner {
            kind,
            code,
            message,
            details: Vec::new(),
            choices: Vec::new(),
            hint: None,
            skill: None,
            path: None,
            line: None,
        }))
    }

    /// The message with the details and the hint.
    #[must_use]
    pub fn in_full(&self) -> String {
        let inside = &self.0;
        let hint = inside.hint.iter().map(|hint| format!("hint: {hint}"));
        let lines = inside.details.iter().map(|detail| format!("  {detail}"));
        let all = std::iter::once(inside.message.clone())
            .chain(lines)
            .chain(hint);
        all.collect::<Vec<_>>().join("\n")
    }

    /// Whether a permission is missing.
    #[must_use]
    pub fn is_about_permission(&self) -> bool {
        matches!(self.0.code, "denied" | "not-approved" | "not-permitted")
    }

    /// The message, without details and hint.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The kind of the failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// A stable word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// Further lines.
    #[must_use]
    pub fn details(&self) -> &[String] {
        &self.0.details
    }

    /// Alternatives: names, each with a description.
    #[must_use]
    pub fn choices(&self) -> &[(String, String)] {
        &self.0.choices
    }

    /// The hint: what to type next.
    #[must_use]
    pub fn advice(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The skill that it is about.
    #[must_use]
    pub fn about_skill(&self) -> Option<&str> {
        self.0.skill.as_deref()
    }

    /// The file that it is about, and the line in it.
    #[must_use]
    pub fn place(&self) -> Option<(&str, Option<u32>)> {
        self.0.path.as_deref().map(|path| (path, self.0.line))
    }

    /// With a hint: what to type next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// About this skill.
    #[must_use]
    pub fn skill(mut self, skill: impl Into<String>) -> Self {
        self.0.skill = Some(skill.into());
        self
    }

    /// About this file.
    #[must_use]
    pub fn path(mut self, path: impl AsRef<Path>) -> Self {
        self.0.path = Some(path.as_ref().to_string_lossy().into_owned());
        self
    }

    /// About this line of the file.
    #[must_use]
    pub fn line(mut self, line: Option<u32>) -> Self {
        self.0.line = line;
        self
    }

    /// With something that could be named instead.
    #[must_use]
    pub fn choice(mut self, name: impl Into<String>, about: impl Into<String>) -> Self {
        self.0.choices.push((name.into(), about.into()));
        self
    }

    /// A further line between the message and the hint.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.details.push(detail.into());
        self
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::broken("io", error.to_string())
    }
}

impl From<metier_store::StoreError> for Error {
    fn from(error: metier_store::StoreError) -> Self {
        let hint = error.hint();
        Self::broken("store", error.to_string()).hint(hint)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_full())
    }
}

/// The same as `Display`: a `main` that returns an error prints it this way.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
