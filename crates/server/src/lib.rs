//! # metier-server — the interfaces for programs
//!
//! **Problem.** An agent is not at a terminal. It uses a protocol, sends several requests at once, and needs errors that a model
//! understands.
//!
//! **Goals.**
//! * the same answers as the command line: each request calls one method of the library;
//! * an error about a skill is an answer, not a failure of the protocol;
//! * the server stays responsive while a skill is scanned or activated.
//!
//! **In → out.** JSON-RPC, on stdin and stdout or over HTTP, and the HTTP and WebSocket of the daemon → the methods of
//! [`Workspace`](metier::Workspace) → documents, text and events.
//!
//! **Invariants.** of our crates, this one knows `metier` and `metier-wire` · documents are those of `--json`, text is for the model ·
//! requests use the current skills ([`LiveSkills`](metier::LiveSkills)) and list nothing again · a question is asked through a client that
//! can answer it, or the answer is no.
//!
//! **Start reading at** `mcp/mod.rs`, then `mcp/server.rs`, then `mcp/answers.rs`; for the daemon at `daemon/mod.rs`; for what a browser shows at `page/mod.rs`.

mod daemon;
mod mcp;
mod page;

pub use daemon::{DaemonOptions, DaemonStarted, link_to_running, rotate_token, serve_daemon};
pub use mcp::{McpCaller, McpServeError, McpServer, mcp_http_config, mcp_service, serve};
