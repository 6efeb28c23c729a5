//! Lowering: source code of several languages, converted to the common form (see [`crate::form`]).
//!
//! Most languages have a third-party parser; this module only converts its tree to the form. Three decisions apply to all:
//!
//! - **Names are resolved while lowering**, not afterwards: only here are the imports known. The
//!   rules then compare strings.
//! - **What cannot be parsed is reported**: `LoweredProgram::broken` is the first offset that was left out, because of a syntax error or
//!   implausibly deep nesting.
//! - **Nothing recurses without a limit.** The parsers' trees can be arbitrarily deep; the form is at most
//!   [`frame::MAX_DEPTH`] deep, so that everything after it can recurse.

mod batch;
#[cfg(feature = "scan-code")]
mod frame;
mod javascript;
mod powershell;
#[cfg(feature = "scan-code")]
mod python;
mod shell;
#[cfg(feature = "scan-code")]
mod stack;

#[cfg(all(test, feature = "scan-code"))]
mod print;
#[cfg(test)]
mod show;
#[cfg(test)]
mod tests;

pub(crate) use javascript::ScriptDialect;

use crate::{flow::EvaluatedLanguage, form::LoweredProgram};

/// The maximum number of tokens of a parsed text. A tree and its common form take up to 300 bytes for each: this many take 110 MB. Programs
/// that people write have a quarter of it in the largest file that is read, minified ones half.
#[cfg(feature = "scan-code")]
const MOST_TOKENS: usize = 350_000;

/// Whether a text has more tokens than that: words, and signs one by one. Strings and comments are counted as if they were code.
#[cfg(feature = "scan-code")]
fn has_more_tokens(text: &str, most: usize) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | 0x80..);
    let (mut tokens, mut in_word) = (0, false);
    text.len() > most
        && text.bytes().any(|byte| {
            let word = is_word(byte);
            let begins = if word {
                !in_word
            } else {
                !matches!(byte, b' ' | b'\t')
            };
            in_word = word;
            tokens += usize::from(begins);
            tokens > most
        })
}

/// The parsed languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parsers {
    /// All of them.
    #[cfg_attr(
        not(feature = "scan-code"),
        expect(dead_code, reason = "this build does not have them")
    )]
    All,
    /// All but JavaScript and Python, as in a build without the feature `scan-code`.
    #[cfg_attr(
        all(feature = "scan-code", not(test)),
        expect(dead_code, reason = "tests examine what such a build reports")
    )]
    WithoutCode,
}

impl Parsers {
    /// The parsers of this build.
    #[cfg(feature = "scan-code")]
    pub(crate) const BUILT: Self = Self::All;
    /// The parsers of this build.
    #[cfg(not(feature = "scan-code"))]
    pub(crate) const BUILT: Self = Self::WithoutCode;
}

/// Lowers the texts of one skill, with a limit on the total time for shell texts.
pub(crate) struct Lowering {
    parsers: Parsers,
    patience: shell::Patience,
}

impl Lowering {
    pub(crate) fn new(parsers: Parsers) -> Self {
        Self {
            parsers,
            patience: shell::Patience::default(),
        }
    }

    /// Lowers a text; `dialect` is for JavaScript.
    #[cfg_attr(
        not(feature = "scan-code"),
        expect(unused_variables, reason = "only a parser has dialects")
    )]
    pub(crate) fn program(
        &self,
        text: &str,
        language: EvaluatedLanguage,
        dialect: ScriptDialect,
    ) -> LoweredProgram {
        match language {
            #[cfg(feature = "scan-code")]
            EvaluatedLanguage::Python | EvaluatedLanguage::JavaScript
                if self.parsers == Parsers::All && has_more_tokens(text, MOST_TOKENS) =>
            {
                LoweredProgram {
                    broken: Some(0),
                    cut: true,
                    ..LoweredProgram::default()
                }
            }
            #[cfg(feature = "scan-code")]
            EvaluatedLanguage::Python if self.parsers == Parsers::All => python::python(text),
            #[cfg(feature = "scan-code")]
            EvaluatedLanguage::JavaScript if self.parsers == Parsers::All => {
                javascript::javascript(text, dialect)
            }
            EvaluatedLanguage::Python => LoweredProgram {
                unparsed: !text.trim().is_empty(),
                ..LoweredProgram::default()
            },
            EvaluatedLanguage::JavaScript => javascript::unparsed(text),
            EvaluatedLanguage::Shell => shell::shell(text, &self.patience),
            EvaluatedLanguage::PowerShell => powershell::powershell(text),
            EvaluatedLanguage::Batch => batch::batch(text),
        }
    }

    /// These parsers with the full time limit.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.parsers)
    }
}
