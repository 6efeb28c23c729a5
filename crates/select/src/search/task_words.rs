//! The weight of a task's words for distinguishing skills.

use super::{query::rarity, tokens::Tokenizer};

/// The words of a task, and how well each distinguishes skills.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskWords {
    /// In the order of the task.
    pub list: Vec<TaskWord>,
    /// The gain above which a keyword counts in full; 0 if all do.
    full: f32,
}

impl TaskWords {
    /// In smaller catalogs, the number of skills that contain a word reveals little about the word.
    const MIN_SKILLS: u32 = 100;

    pub(super) fn new(list: Vec<TaskWord>, skills: u32) -> Self {
        let full = match skills < Self::MIN_SKILLS {
            true => 0.0,
            // A word that is neither rare nor common.
            false => rarity(skills, skills.isqrt()),
        };
        Self { list, full }
    }

    /// The share of its weight that a keyword of the task keeps, between 0 and 1. A subject of many skills distinguishes them no better as
    /// a trigger than in a text: `write` must not come before the skills for "write unit tests for a React component".
    #[must_use]
    pub fn part_of(&self, keyword: &str) -> f64 {
        if self.full <= 0.0 {
            return 1.0;
        }
        let mut gain = 0.0;
        Tokenizer::default().each(keyword, |term, _, _| {
            let word = self.list.iter().find(|word| word.hash == term.hash);
            gain += word.map_or(0.0, |word| word.gain);
        });
        f64::from((gain / self.full).min(1.0))
    }
}

/// A word of a task, and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskWord {
    /// The word, as it was typed.
    pub text: String,
    /// The points of one occurrence in a description of the usual length.
    pub gain: f32,
    pub(super) hash: u64,
}
