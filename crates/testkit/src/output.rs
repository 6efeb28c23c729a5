//! A program's output, and the same with this run's paths replaced so that it can be compared.

use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The replacements that make output independent of where the test ran; longest text first.
#[derive(Debug, Default)]
pub(crate) struct Filters(Vec<(String, String)>);

impl Filters {
    /// Both spellings of each path are replaced: as given, and with symbolic links resolved (macOS' `/var`).
    pub(crate) fn new(places: &[(&Path, &str)]) -> Self {
        let mut replacements = Vec::new();
        for (path, label) in places {
            let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
            for spelling in [path.to_path_buf(), canonical] {
                replacements.push((spelling.to_string_lossy().into_owned(), (*label).to_owned()));
            }
        }
        replacements.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        replacements.dedup();
        Self(replacements)
    }

    /// Paths → labels.
    pub(crate) fn apply(&self, text: &str) -> String {
        let replace = |text: String, (path, label): &(String, String)| text.replace(path, label);
        self.0.iter().fold(text.to_owned(), replace)
    }

    /// Labels → paths, for arguments and variables written in a specification.
    pub(crate) fn expand(&self, text: &str) -> String {
        let replace = |text: String, (path, label): &(String, String)| text.replace(label, path);
        self.0.iter().fold(text.to_owned(), replace)
    }
}

/// The results of a finished program: both streams (invalid UTF-8 replaced) and its exit code.
#[derive(Clone, Debug)]
pub struct ProgramOutput {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code; 128 + n if signal n ended it.
    pub code: i32,
    pub(crate) filters: Arc<Filters>,
}

impl ProgramOutput {
    /// This output with temporary paths replaced by `[WORK]`, `[HOME]` and `[BIN]`.
    #[must_use]
    pub fn filtered(&self) -> Self {
        Self {
            stdout: self.filters.apply(&self.stdout),
            stderr: self.filters.apply(&self.stderr),
            code: self.code,
            filters: Arc::clone(&self.filters),
        }
    }

    /// Exit code and both filtered streams as one string, for a snapshot or an assertion's message.
    #[must_use]
    pub fn snapshot(&self) -> String {
        let Self {
            stdout,
            stderr,
            code,
            ..
        } = self.filtered();
        let end = |text: &str| {
            if text.is_empty() || text.ends_with('\n') {
                ""
            } else {
                "[no newline]\n"
            }
        };
        format!(
            "exit: {code}\n--- stdout\n{stdout}{}--- stderr\n{stderr}{}",
            end(&stdout),
            end(&stderr)
        )
    }
}
