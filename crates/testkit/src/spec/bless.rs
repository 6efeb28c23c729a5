//! Writes new expectations into a document, without changing anything else in it.

use std::ops::Range;

/// New text for one expectation.
#[derive(Debug)]
pub(super) struct Correction {
    pub(super) source: Range<usize>,
    pub(super) text: String,
}

impl Correction {
    /// The expectation in the form that is written below a command.
    pub(super) fn new(source: Range<usize>, lines: &[String], code: i32) -> Self {
        let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if code != 0 {
            text.push_str(&format!("? {code}\n"));
        }
        Self { source, text }
    }
}

/// Applies from the end, so that earlier ranges stay valid.
pub(super) fn apply(document: &str, mut corrections: Vec<Correction>) -> String {
    let mut text = document.to_owned();
    corrections.sort_by_key(|correction| std::cmp::Reverse(correction.source.start));
    for correction in corrections {
        text.replace_range(correction.source, &correction.text);
    }
    text
}
