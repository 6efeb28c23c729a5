//! The tests of the SDK that start or write something: one binary, so that they are linked once.

#![allow(
    clippy::unwrap_used,
    reason = "a test that can't go on says so by panicking"
)]

mod guests;
mod pipes;
mod plugins;
mod readme;
mod schema;
mod talk;
