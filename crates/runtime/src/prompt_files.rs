//! The files that a skill's manifest declares under `prompt:`, in the form for a model.

use metier_catalog::Snapshot;
use metier_model::{SkillManifest, text::without_hidden};

use crate::tokens::{count as count_tokens, within};

/// The token limit of a skill that declares none, and the upper bound for those that do.
const MAX_TOKENS: usize = 8_000;
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The text of `system_prompt_file` and `context_files`, within `max_context_tokens`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PromptFiles {
    /// The files in their declared order, without hidden and control characters.
    pub(crate) text: String,
    /// Whether the token limit cut something off.
    pub(crate) cut: bool,
    /// The declared files that can't be read.
    pub(crate) unreadable: Vec<String>,
}

impl PromptFiles {
    /// Reads the declared files from the scanned bytes.
    pub(crate) fn read(manifest: &SkillManifest, held: &Snapshot) -> Self {
        let code = &manifest.code;
        let limit = code.max_context_tokens.map(usize::try_from);
        let mut left = limit.map_or(MAX_TOKENS, |limit| {
            limit.unwrap_or(MAX_TOKENS).min(MAX_TOKENS)
        });
        let mut all = Self::default();
        for file in code.system_prompt_file.iter().chain(&code.context_files) {
            let path = file.strip_prefix("./").unwrap_or(file);
            let Ok(bytes) = held.read(path, MAX_FILE_BYTES) else {
                all.unreadable.push(path.to_owned());
                continue;
            };
            let text = plain(&String::from_utf8_lossy(&bytes));
            let (kept, cut) = within(&text, left);
            left -= count_tokens(kept).min(left);
            all.cut |= cut;
            if !all.text.is_empty() {
                all.text.push('\n');
            }
            all.text.push_str(kept);
        }
        all
    }

    /// Appends the files to a skill's body, with a line for what is missing.
    pub(crate) fn append(&self, body: &mut String) {
        let mut add = |text: &str| {
            if !body.trim().is_empty() {
                body.push_str("\n\n");
            }
            body.push_str(text);
        };
        if !self.text.trim().is_empty() {
            add(self.text.trim());
        }
        if self.cut {
            add(CUT);
        }
        for path in &self.unreadable {
            add(&format!("[the prompt file `{path}` can't be read]"));
        }
    }
}

/// Marks where the token limit cut a skill's prompt files.
pub(crate) const CUT: &str = "[cut: token limit reached]";

/// Text without hidden characters and terminal controls.
pub(crate) fn plain(text: &str) -> String {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    without_hidden(text).replace(steers, "")
}
