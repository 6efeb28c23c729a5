//! Rules.
mod clause;
mod coding;
mod request;
mod thing;
mod words;

pub use coding::{Coding, Evidence, Named, Sign, coding};
