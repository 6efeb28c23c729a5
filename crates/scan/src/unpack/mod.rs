//! The content of files that are not plain text.
//!
//! Each format has one file here: bytes in, a plain struct out. They are not full parsers; each extracts the parts that
//! a rule can examine (text, code, links, imports) and reports the unreadable ones. All of them are
//! bounded by the bytes they get, and none trusts a length that a file declares.

pub(crate) mod archive;
pub(crate) mod image;
pub(crate) mod kind;
pub(crate) mod notebook;
pub(crate) mod office;
pub(crate) mod pdf;
pub(crate) mod pickle;
pub(crate) mod pyc;
pub(crate) mod svg;
pub(crate) mod wasm;

mod bytes;
mod marshal;
mod xml;

#[cfg(test)]
mod format_tests;
#[cfg(test)]
mod tests;
