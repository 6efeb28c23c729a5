//! The package format, from outside.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a broken fixture is a broken test"
)]

mod archives;
mod foreign;
mod hostile;
mod locks;
mod packing;
mod resolution;
mod signatures;
mod trees;
