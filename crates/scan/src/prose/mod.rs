//! Prose: the instructions that a text contains.
//!
//! Markdown is read into sentences and pieces of code, in order. Each sentence gets the set of *classes* of words in it (`Send`,
//! `Secret`, `External`, …, see [`lexicon`]) and a *role*: an instruction, a warning ("never do X", a list of red flags), a
//! quotation, a row of a table. Rules require sets of classes in one sentence or in a few neighbouring ones. So a rule describes the
//! meaning, not the spelling, and "never send your keys to others" is not mistaken for its opposite.

mod clauses;
mod lexicon;
mod markdown;
mod orders;
mod phrases;
mod polarity;
mod word_sets;

#[cfg(test)]
pub(crate) use lexicon::LISTS;
pub use lexicon::PhraseClass;
pub(crate) use lexicon::{
    ClassSet, KEPT_FROM_THE_USER, classes_of, ends_path, is_kept_from_the_user, is_wordy,
    path_words, phrase_classes, words_of,
};
pub(crate) use markdown::{CodeSpan, LONGEST_SENTENCE, MarkdownDocument, document, plain};
pub(crate) use phrases::{PhraseLists, PhraseTable, has_phrase_with, phrase_count};
pub(crate) use polarity::denies;

use std::ops::Range;

/// The role of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SentenceRole {
    /// An instruction or a statement.
    Instruction,
    /// A cell of a table.
    Table,
    /// A quotation or an example.
    Quotation,
    /// A text about attacks, or in a section of warnings: it may be an example, but an agent reads it anyway.
    Caution,
    /// A prohibition, or an example of something wrong.
    Warning,
}

/// A sentence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sentence {
    /// Its range in the text.
    pub at: Range<usize>,
    /// Its role.
    pub role: SentenceRole,
    /// The classes of its words, without those that it denies.
    pub(crate) classes: ClassSet,
    /// The classes with those that it denies.
    pub(crate) denied: ClassSet,
    /// The block that it belongs to, counted through the document.
    pub block: u32,
    /// The piece of code directly after it, if there is one.
    pub code_after: Option<usize>,
}
