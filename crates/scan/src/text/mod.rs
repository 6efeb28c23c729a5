//! Hidden and encoded content of texts.
//!
//! A person judges by the visible text, a model and an interpreter by the bytes. This folder
//! closes the gap in three steps: [`hidden`](hidden::hidden) lists the invisible characters,
//! [`normal`](normal::normal) returns the text that the rules examine, and [`decoded`](decode::decoded) returns the
//! texts that are encoded inside it. Nothing here decides whether the content is harmful; the rules do.

pub(crate) mod chars;
pub(crate) mod codec;
pub(crate) mod decode;
pub(crate) mod hidden;
pub(crate) mod normal;
pub(crate) mod plausible;

mod numbers;
mod smuggle;

#[cfg(test)]
mod tests;
