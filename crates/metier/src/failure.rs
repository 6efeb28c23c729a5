//! When a command can't do what was asked: what happened, to what, and what to type next.
//! The exit codes of the program are chosen here and nowhere else.

use std::{borrow::Cow, path::Path, process::ExitCode};

use metier_wire::{ErrorBody, ErrorDocument};

use crate::output::{Output, Tone, one_line};

/// What shells say of a program that ended by Ctrl-C: 128 and the number of the signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command failed. Behind a pointer, because most results are not failures.
#[derive(Debug)]
pub(crate) struct Failure(Box<Inside>);

#[derive(Debug)]
struct Inside {
    kind: Kind,
    code: &'static str,
    message: String,
    details: Vec<String>,
    hint: Option<String>,
    skill: Option<String>,
    path: Option<String>,
    line: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The request could not be met.
    Unmet,
    /// Wrong usage, or a broken environment.
    Broken,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

impl Failure {
    /// The request could not be met: invalid, refused, not found. Exit code 1.
    pub(crate) fn unmet(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::Unmet, code, message.into())
    }

    /// Wrong usage, or a broken environment. Exit code 2.
    pub(crate) fn broken(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Kind::Broken, code, message.into())
    }

    /// Somebody pressed Ctrl-C. Exit code 130, as shells have it.
    pub(crate) fn interrupted(message: impl Into<String>) -> Self {
        Self::new(Kind::Interrupted, "interrupted", message.into())
    }

    /// A folder or file of metier's own that can't be written: a disk that is full or read-only, or another user's.
    pub(crate) fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        let message = format!("a folder of metier's own can't be written: {error}");
        Self::broken("not-written", message)
            .path(path)
            .hint("make room there or check its permissions, or set METIER_HOME to a folder that can be written")
    }

    fn new(kind: Kind, code: &'static str, message: String) -> Self {
        Self(Box::new(Inside {
            kind,
            code,
            message,
            details: Vec::new(),
            hint: None,
            skill: None,
            path: None,
            line: None,
        }))
    }

    /// What happened, with the details and what to type.
    pub(crate) fn in_full(&self) -> String {
        let inside = &self.0;
        let hint = inside.hint.iter().map(|hint| format!("hint: {hint}"));
        let lines = inside.details.iter().map(|detail| format!("  {detail}"));
        let all = std::iter::once(inside.message.clone())
            .chain(lines)
            .chain(hint);
        all.collect::<Vec<_>>().join("\n")
    }

    /// The same for whoever can't see this program.
    pub(crate) fn to_report(&self) -> metier_agent::Report {
        let inside = &self.0;
        let details: String = inside
            .details
            .iter()
            .map(|detail| format!("; {detail}"))
            .collect();
        metier_agent::Report {
            code: inside.code,
            message: format!("{}{details}", inside.message),
            skill: inside.skill.clone(),
            hint: inside.hint.clone(),
            is_broken: matches!(inside.kind, Kind::Broken),
        }
    }

    /// Whether a permission is missing.
    pub(crate) fn is_about_permission(&self) -> bool {
        matches!(self.0.code, "denied" | "not-approved" | "not-permitted")
    }

    /// What happened, without the rest.
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    pub(crate) fn skill(mut self, skill: impl Into<String>) -> Self {
        self.0.skill = Some(skill.into());
        self
    }

    pub(crate) fn path(mut self, path: impl AsRef<Path>) -> Self {
        self.0.path = Some(path.as_ref().to_string_lossy().into_owned());
        self
    }

    pub(crate) fn line(mut self, line: Option<u32>) -> Self {
        self.0.line = line;
        self
    }

    /// A further line between the message and the hint.
    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.details.push(detail.into());
        self
    }

    /// Says it and gives the exit code.
    pub(crate) fn report(&self, output: &Output) -> ExitCode {
        if output.is_json() {
            // The exit code still tells when stdout is gone.
            output.document(&self.document()).ok();
        } else {
            let lines = self.lines(|word, tone| output.paint_talk(word, tone));
            lines.iter().for_each(|line| output.say(line));
        }
        ExitCode::from(match self.0.kind {
            Kind::Unmet => 1,
            Kind::Broken => 2,
            Kind::Interrupted => INTERRUPTED,
        })
    }

    /// For programs.
    pub(crate) fn document(&self) -> ErrorDocument<'_> {
        let mut message = self.0.message.clone();
        for detail in &self.0.details {
            message.push_str("; ");
            message.push_str(detail);
        }
        let error = ErrorBody {
            code: self.0.code,
            message: Cow::Owned(message),
            hint: self.0.hint.as_deref(),
            skill: self.0.skill.as_deref(),
            path: self.0.path.as_deref(),
            line: self.0.line,
        };
        ErrorDocument { error }
    }

    /// For people and models; `paint` colours the words that begin a line.
    pub(crate) fn lines(&self, paint: impl Fn(&str, Tone) -> String) -> Vec<String> {
        let mut lines = vec![format!(
            "{} {}",
            paint("error:", Tone::Bad),
            one_line(&self.0.message)
        )];
        let place = self.0.path.as_ref().map(|path| {
            self.0
                .line
                .map_or_else(|| path.clone(), |line| format!("{path}:{line}"))
        });
        for detail in self
            .0
            .details
            .iter()
            .cloned()
            .chain(place.map(|place| format!("in {place}")))
        {
            lines.push(format!("  {}", one_line(&detail)));
        }
        if let Some(hint) = &self.0.hint {
            let word = paint("hint:", Tone::Note);
            lines.push(format!("{word} {}", one_line(hint)));
        }
        lines
    }
}

/// Writing to stdout failed. A closed pipe is the reader's choice, not our failure.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        Self::broken("output", format!("the output can't be written: {error}"))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        std::io::Error::from(error).into()
    }
}

impl From<metier_store::StoreError> for Failure {
    fn from(error: metier_store::StoreError) -> Self {
        let hint = error.hint();
        Self::broken("store", error.to_string()).hint(hint)
    }
}
