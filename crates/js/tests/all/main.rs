//! An engine and a host in one process: the host is a script, the connection between them a buffer.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "these are tests, helpers included"
)]

mod answers;
mod engine;
mod errors;
mod files;
mod hostile;
mod loading;
mod node;
mod skill;
mod talk;
