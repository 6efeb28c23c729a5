//! An interpreter and a host in one process: the host is a script, the connection between them a buffer.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "these are tests, helpers included"
)]

mod answers;
mod builtins;
mod figures;
mod hostile;
mod loading;
mod outside;
mod patterns;
mod session;
mod testing;
