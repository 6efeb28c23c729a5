//! # metier-server — the doors for programs
//!
//! **Problem.** An agent is not at a terminal. It speaks a protocol, asks several things at once, and has to be told what went wrong
//! in a way that a model understands.
//!
//! **Goals.**
//! * the same answers as the command line: a door calls the port [`Skills`] and has no opinion of its own;
//! * nothing that goes wrong with a skill is a failure of the protocol;
//! * the door stays responsive while a skill is scanned or activated.
//!
//! **In → out.** JSON-RPC lines on stdin → [`Skills`] → JSON-RPC lines on stdout.
//!
//! **Invariants.** this crate knows no skill, no file and no configuration: it is given [`Skills`] · documents are those of
//! `--json`, text is for the model · nobody is asked anything, because nobody is there.
//!
//! **Start reading at** `port.rs`, then `mcp.rs`, then `tools.rs`.

mod lines;
mod mcp;
mod port;
mod tools;

pub use mcp::{ServeError, serve};
pub use port::{Answer, Refusal, Reply, Skills, Wanted};
