//! # metier-sdk — the types that metier and skill authors share
//!
//! **Problem.** A skill author and the host must agree on the meaning of each permission and of each message that
//! they exchange.
//! **Goals.** One spelling for each permission and each phase; one type for each message of the wire protocol; and for skills in
//! Rust, a [`guest`] that implements it; for metier's own interpreters, a [`worker`].
//! **In → out.** `"shell:exec"` → [`Permission::ShellExec`] → `"shell:exec"`; a line of JSON → a message of [`wire`].
//! **Invariants.** no I/O except on the stdin and stdout of [`guest::Skill::serve`] · the sets are closed: an unknown name is an
//! error, never "all".
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

#[cfg(all(feature = "guest", target_family = "wasm"))]
pub mod component;
#[cfg(feature = "guest")]
mod export;
#[cfg(feature = "guest")]
pub mod guest;
#[cfg(all(feature = "guest", not(target_family = "wasm")))]
pub mod native;
mod permission;
mod phase;
pub mod wire;
pub mod worker;

/// The Rust examples of that page compile.
#[cfg(all(doctest, feature = "guest"))]
#[doc = include_str!("../../README.md")]
struct Readme;

pub use permission::{Permission, UnknownPermission};
pub use phase::{HookPhase, UnknownPhase};
