//! # metier-server — the interfaces for programs
//!
//! **Problem.** An agent is not at a terminal. It uses a protocol, sends several requests at once, and needs errors that a model
//! understands.
//!
//! **Goals.**
//! * the same answers as the command line: each request calls one verb of the library;
//! * an error about a skill is an answer, not a failure of the protocol;
//! * the server stays responsive while a skill is scanned or activated.
//!
//! **In → out.** JSON-RPC lines on stdin → [`Workspace`](metier::Workspace) → JSON-RPC lines on stdout; HTTP and WebSocket →
//! [`LiveSkills`](metier::LiveSkills) → documents and events.
//!
//! **Invariants.** of our crates, this one knows `metier` and `metier-wire` · documents are those of `--json`, text is for the model ·
//! changes of skills count at once · a question is asked only where a client said that it waits for the answer.
//!
//! **Start reading at** `mcp.rs`, then `tools.rs`, then `answers.rs`; for the daemon at `daemon/mod.rs`.

mod answers;
mod daemon;
mod lines;
mod mcp;
mod tools;

pub use daemon::{DaemonOptions, DaemonStarted, rotate_token, serve_daemon};
pub use mcp::{McpServeError, serve};
