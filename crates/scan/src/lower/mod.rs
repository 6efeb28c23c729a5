//! Lowering: source texts of several languages, converted to the common form (see [`crate::form`]).
//!
//! Most languages have a third-party parser; this module only converts its tree to the form. Three decisions apply to all:
//!
//! - **Names are resolved while lowering**, not afterwards: only here are the imports known. The
//!   rules then compare texts.
//! - **What cannot be parsed is reported**: `Program::broken` is the first offset that was left out, because of a syntax error or
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

pub(crate) use javascript::Dialect;

use crate::{flow::Language, form::Program};

/// Which languages are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parsers {
    /// All of them.
    #[cfg_attr(not(feature = "scan-code"), expect(dead_code))]
    All,
    /// All but JavaScript and Python, as in a build without the feature `scan-code`.
    #[cfg_attr(all(feature = "scan-code", not(test)), expect(dead_code))]
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

/// Lowers the texts of one skill, with a limit on the time that all shell texts together take.
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
    #[cfg_attr(not(feature = "scan-code"), expect(unused_variables))]
    pub(crate) fn program(&self, text: &str, language: Language, dialect: Dialect) -> Program {
        match language {
            #[cfg(feature = "scan-code")]
            Language::Python if self.parsers == Parsers::All => python::python(text),
            #[cfg(feature = "scan-code")]
            Language::JavaScript if self.parsers == Parsers::All => {
                javascript::javascript(text, dialect)
            }
            Language::Python => Program {
                unparsed: !text.trim().is_empty(),
                ..Program::default()
            },
            Language::JavaScript => javascript::unparsed(text),
            Language::Shell => shell::shell(text, &self.patience),
            Language::PowerShell => powershell::powershell(text),
            Language::Batch => batch::batch(text),
        }
    }

    /// The same parsers, with the full time limit.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.parsers)
    }
}
