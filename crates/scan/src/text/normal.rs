//! The normal form of a text: without hidden and confusable characters.
//!
//! Rules are patterns over plain words, and `ｃｕｒｌ`, `cu\u{200b}rl` and `сurl` (with a Cyrillic `с`) are all meant
//! to be read as `curl` by a reader and as something else by a pattern. Here invisible characters and terminal
//! escapes are removed, compatibility forms are decomposed, and look-alikes in Latin words become
//! Latin. Each change leaves a step in a map, so that a finding points into the file on disk.
//! An ordinary text is borrowed, not copied.

use std::borrow::Cow;
use std::iter;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::chars;

/// A normalised text, and the map to its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Normal<'a> {
    /// The normalised text.
    pub text: Cow<'a, str>,
    steps: Vec<PositionStep>,
}

/// From `normal` on, positions correspond to those from `source` on; if `fixed`, all of them to `source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PositionStep {
    normal: usize,
    source: usize,
    fixed: bool,
}

impl Normal<'_> {
    /// The position in the source that a position in [`Normal::text`] comes from.
    #[must_use]
    pub(crate) fn source_offset(&self, normal: usize) -> usize {
        let next = self.steps.partition_point(|step| step.normal <= normal);
        match next.checked_sub(1).and_then(|last| self.steps.get(last)) {
            None => normal,
            Some(step) if step.fixed => step.source,
            Some(step) => step.source + (normal - step.normal),
        }
    }
}

/// Normalises a text.
#[must_use]
pub(crate) fn normal(text: &str) -> Normal<'_> {
    if text
        .bytes()
        .all(|b| matches!(b, b' '..=b'~' | b'\t' | b'\n' | b'\r' | 0xc))
    {
        return Normal {
            text: Cow::Borrowed(text),
            steps: Vec::new(),
        };
    }
    let mut copy = Copy {
        text,
        out: String::new(),
        copied: 0,
        steps: Vec::new(),
    };
    let (mut at, mut word_end, mut poses) = (0, 0, false);
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let end = at + c.len_utf8();
        if chars::class(c).is_some() {
            let end = chars::terminal_escape(text.as_bytes(), at)
                .filter(|&end| text.is_char_boundary(end))
                .unwrap_or(end);
            copy.replace(at, end, iter::empty());
            at = end;
            continue;
        }
        if at >= word_end && chars::in_word(c) {
            let (word, posing) = chars::word(text, at);
            (word_end, poses) = (word.end, posing);
        }
        if !c.is_ascii() {
            if let Some(twin) = (poses && at < word_end)
                .then(|| chars::ascii_twin(c))
                .flatten()
            {
                copy.replace(at, end, iter::once(twin));
            } else if strikes(c) {
                copy.replace(at, end, iter::empty());
            } else if is_nfkc_quick(iter::once(c)) == IsNormalized::No {
                copy.replace(at, end, iter::once(c).nfkc());
            }
        }
        at = end;
    }
    copy.finish()
}

/// Overlays that strike a letter through and leave it legible.
fn strikes(c: char) -> bool {
    ('\u{334}'..='\u{338}').contains(&c)
}

struct Copy<'a> {
    text: &'a str,
    out: String,
    copied: usize,
    steps: Vec<PositionStep>,
}

impl<'a> Copy<'a> {
    fn replace(&mut self, start: usize, end: usize, by: impl Iterator<Item = char>) {
        self.out
            .push_str(self.text.get(self.copied..start).unwrap_or_default());
        let normal = self.out.len();
        self.out.extend(by);
        self.copied = end;
        if self.out.len() > normal {
            self.step(PositionStep {
                normal,
                source: start,
                fixed: true,
            });
        }
        self.step(PositionStep {
            normal: self.out.len(),
            source: end,
            fixed: false,
        });
    }

    /// A thousand dropped characters in a row are one step.
    fn step(&mut self, step: PositionStep) {
        if self
            .steps
            .last()
            .is_some_and(|last| last.normal == step.normal)
        {
            self.steps.pop();
        }
        self.steps.push(step);
    }

    fn finish(mut self) -> Normal<'a> {
        if self.steps.is_empty() {
            return Normal {
                text: Cow::Borrowed(self.text),
                steps: self.steps,
            };
        }
        self.out
            .push_str(self.text.get(self.copied..).unwrap_or_default());
        Normal {
            text: Cow::Owned(self.out),
            steps: self.steps,
        }
    }
}
