//! The real program, from outside: the specifications, and the rule that every command is refused somewhere in them.

#![allow(
    clippy::unwrap_used,
    reason = "a test that can't go on says so by panicking"
)]

mod mcp;
mod refusals;
mod screening;
mod spec;
