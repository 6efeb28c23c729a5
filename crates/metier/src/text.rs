//! Text for display: safe on a terminal, quoted for a shell, counted.

use std::path::Path;

use metier_model::IGNORE_FILE_RULE;

pub use crate::machine::{ago, parse_time, timestamp};
pub use metier_model::model_text::is_hidden;
pub use metier_model::template::split_arguments;
pub use metier_model::text::{duration, shell_word, visible, with_blanks_shown};

/// The meaning of a colour; the words next to it always have the same meaning.
///
/// ```
/// use metier::text::Tone;
///
/// let paint = |text: &str, tone: Tone| match tone {
///     Tone::Bad => format!("\u{1b}[31m{text}\u{1b}[0m"),
///     _ => text.to_owned(),
/// };
/// assert_eq!(paint("ready", Tone::Good), "ready");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Everything is fine.
    Good,
    /// Something failed or is dangerous.
    Bad,
    /// Something needs attention.
    Warn,
    /// A hint or a remark.
    Note,
    /// A name or a heading.
    Strong,
    /// Less important than the rest.
    Faint,
}

/// Visible characters on one line: no text of a skill can move the cursor or hide itself.
///
/// ```
/// assert_eq!(metier::text::one_line("a\n\u{1b}[2Jb"), "a \\u{1b}[2Jb");
/// ```
#[must_use]
pub fn one_line(text: &str) -> String {
    let visible = visible(text);
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The sentence about an ignore file that is beyond a limit.
pub(crate) fn unused_ignore_file(file: &Path) -> String {
    let file = one_line(&file.to_string_lossy());
    format!("{file} is not used as an ignore file: {IGNORE_FILE_RULE}")
}

/// The beginning of a text, with `…` in place of what does not fit.
///
/// ```
/// assert_eq!(metier::text::shortened("two words", 9), "two words");
/// assert_eq!(metier::text::shortened("three words", 9), "three wo…");
/// ```
#[must_use]
pub fn shortened(text: &str, most: usize) -> String {
    match text.chars().nth(most) {
        None => text.to_owned(),
        Some(_) => text
            .chars()
            .take(most.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}

/// A number with its noun.
///
/// ```
/// assert_eq!(metier::text::count(1, "skill"), "1 skill");
/// assert_eq!(metier::text::count(2, "skill"), "2 skills");
/// ```
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
