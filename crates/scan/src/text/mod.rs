//! Hidden and encoded content of texts.
//!
//! A reader judges by what is on the screen, a model and an interpreter by what is in the bytes. This folder
//! closes the gap in three steps: [`hidden`](hidden::hidden) lists the characters that are not on the screen,
//! [`normal`](normal::normal) returns the text that the rules examine, and [`decoded`](decode::decoded) returns the
//! texts that are wrapped inside it. Nothing here decides whether the content is harmful; the rules do.

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
