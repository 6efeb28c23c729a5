//! # metier-sdk — words that cross the fence to skill authors
//!
//! **Problem.** A skill author and the host must mean the same thing by "this skill may read files".
//! **Goals.** One spelling for each permission; nothing else that a host would have to guess.
//! **In → out.** `"shell:exec"` → [`Permission::ShellExec`] → `"shell:exec"`.
//! **Invariants.** no I/O · the set is closed: an unknown word is an error, never "all".
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod permission;

pub use permission::{Permission, UnknownPermission};
