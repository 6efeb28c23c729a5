//! What a text says besides what it shows.
//!
//! A reader judges by what is on the screen, a model and an interpreter by what is in the bytes. This folder
//! closes the gap in three steps: [`hidden`](hidden::hidden) lists the characters that are not on the screen,
//! [`normal`](normal::normal) gives the text that the rules look at, and [`decoded`](decode::decoded) gives the
//! texts that are wrapped inside it. Nothing here decides whether a thing is bad; that is the rules' office.

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
