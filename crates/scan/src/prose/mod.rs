//! Prose: what a text tells the agent to do.
//!
//! Markdown is read into sentences and pieces of code, in order. Each sentence gets the set of *classes* of words in it (`Send`,
//! `Secret`, `External`, …, see [`lexicon`]) and a *role*: an instruction, a warning ("never do X", a list of red flags), a
//! quotation, a row of a table. Rules ask for sets of classes in one sentence or in a few neighbouring ones. So a rule says what is
//! told, not how it is spelt, and "never send your keys to anybody" isn't taken for its opposite.

mod lexicon;
mod markdown;
mod phrases;

pub(crate) use lexicon::Class;
#[cfg(test)]
pub(crate) use lexicon::LISTS;
pub(crate) use lexicon::{
    ClassSet, KEPT_FROM_THE_USER, classes_of, ends_path, is_kept_from_the_user, is_wordy,
    path_words, phrase_classes, words_of,
};
pub(crate) use markdown::{Code, Document, LONGEST_SENTENCE, document, plain};
pub(crate) use phrases::{PhraseLists, PhraseTable, has_phrase_with, phrase_count};

use std::ops::Range;

/// What a sentence is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Role {
    /// It says what to do, or how things are.
    Instruction,
    /// It is a cell of a table.
    Table,
    /// It is quoted, or given as an example.
    Quotation,
    /// It says what not to do, or stands among things that are warned of.
    Warning,
}

/// A sentence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sentence {
    /// Where it stands in the text.
    pub at: Range<usize>,
    /// What it is there for.
    pub role: Role,
    /// What it is about.
    pub(crate) classes: ClassSet,
    /// The block that it belongs to, counted through the document.
    pub block: u32,
    /// The piece of code right after it, if there is one.
    pub code_after: Option<usize>,
}
