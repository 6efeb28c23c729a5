//! Collects the diagnostics of one file in one mode.

use crate::diagnostic::{Diagnostic, DiagnosticCode, DiagnosticSeverity, Position, Strictness};

/// After this many diagnostics of a file, only errors are added.
const MAX_DIAGNOSTICS: usize = 100;

/// A message with a hint.
pub(crate) struct Say {
    message: String,
    hint: Option<String>,
}

impl Say {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Collects the diagnostics of one file.
pub(crate) struct DiagnosticCollector<'a> {
    pub(crate) mode: Strictness,
    pub(crate) file: &'a str,
    text: &'a str,
    pub(crate) list: Vec<Diagnostic>,
}

impl<'a> DiagnosticCollector<'a> {
    pub(crate) fn new(mode: Strictness, file: &'a str, text: &'a str) -> Self {
        Self {
            mode,
            file,
            text,
            list: Vec::new(),
        }
    }

    /// A report about the same file that is discarded.
    pub(crate) fn silent(&self) -> Self {
        Self::new(self.mode, self.file, self.text)
    }

    /// Adds `code` at the byte offset `at`, if the mode reports it; the message is created only then.
    pub(crate) fn add(&mut self, code: DiagnosticCode, at: u32, say: impl FnOnce() -> Say) {
        let Some(severity) = code.severity(self.mode) else {
            return;
        };
        if self.list.len() >= MAX_DIAGNOSTICS && severity < DiagnosticSeverity::Error {
            return self.cut(at);
        }
        let say = say();
        self.list.push(Diagnostic {
            severity,
            code,
            message: say.message.into(),
            hint: say.hint.map(Into::into),
            file: self.file.into(),
            position: Some(self.position(at)),
        });
    }

    /// Reports once that further diagnostics are omitted.
    fn cut(&mut self, at: u32) {
        if self.has(DiagnosticCode::LimitReached) {
            return;
        }
        self.list.push(Diagnostic {
            severity: DiagnosticSeverity::Warning,
            code: DiagnosticCode::LimitReached,
            message: format!(
                "there are more than {MAX_DIAGNOSTICS} problems; the others are not listed"
            )
            .into(),
            hint: Some("fix these first".into()),
            file: self.file.into(),
            position: Some(self.position(at)),
        });
    }

    /// Whether this code was already reported.
    pub(crate) fn has(&self, code: DiagnosticCode) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.code == code)
    }

    /// Whether anything so far makes the skill invalid.
    pub(crate) fn has_errors(&self) -> bool {
        self.list
            .iter()
            .any(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error)
    }

    /// The line and column of a byte offset.
    pub(crate) fn position(&self, at: u32) -> Position {
        position(self.text, at)
    }

    /// The line of a byte offset.
    pub(crate) fn line(&self, at: u32) -> u32 {
        line(self.text, at)
    }
}

fn line(text: &str, at: u32) -> u32 {
    let end = (at as usize).min(text.len());
    let breaks = memchr::memchr_iter(b'\n', &text.as_bytes()[..end]).count();
    u32::try_from(breaks).unwrap_or(u32::MAX).saturating_add(1)
}

fn position(text: &str, at: u32) -> Position {
    let mut end = (at as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let start = text[..end].rfind('\n').map_or(0, |index| index + 1);
    let column = text[start..end]
        .chars()
        .filter(|c| *c != '\u{feff}')
        .count();
    Position {
        line: line(text, at),
        column: u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1),
    }
}

impl DiagnosticCollector<'_> {
    /// The comment after a one-line value, on the line of the key at `at`.
    pub(crate) fn comment_after(&self, at: u32, value: &str) -> Option<String> {
        let rest = self.text.get(at as usize..)?;
        let end = memchr::memchr2(b'\n', b'#', rest.as_bytes())?;
        if rest.as_bytes()[end] == b'\n' {
            return None;
        }
        let (_, line) = rest.lines().next()?.split_once(':')?;
        let behind = &line[line.find(value)? + value.len()..];
        behind
            .trim_start()
            .starts_with('#')
            .then(|| behind.trim().to_owned())
    }

    /// The bracketed text that starts at `at`, up to its closing bracket; brackets in quotes and comments are
    /// ignored.
    pub(crate) fn brackets_at(&self, at: u32) -> Option<&str> {
        let text = self.text.get(at as usize..)?;
        let (mut depth, mut quote, mut skip) = (0usize, None, 0usize);
        for (index, c) in text.char_indices() {
            if index < skip {
                continue;
            }
            match (quote, c) {
                (Some(_), '\\') => skip = index + 2,
                (Some(mark), c) if c == mark => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '/') if text[index..].starts_with("//") => {
                    skip = index + text[index..].find('\n')?;
                }
                (None, '/') if text[index..].starts_with("/*") => {
                    skip = index + text[index..].find("*/")? + 2;
                }
                (None, '{' | '[') => depth += 1,
                (None, '}' | ']') if depth <= 1 => return Some(&text[..=index]),
                (None, '}' | ']') => depth -= 1,
                _ => {}
            }
        }
        None
    }
}
