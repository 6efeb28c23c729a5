//! # metier-host — where skill code runs
//!
//! **Problem.** A skill's code must be able to do what was approved for it and nothing else, whatever it is written in.
//!
//! **Decision.** Mechanism only, plain data in. [`sandbox`] defines the sandbox and the protected places; [`child`] starts programs
//! in it and supervises them until nothing of them is left. Permissions are decided elsewhere, and come in as a
//! [`sandbox::SandboxProfile`]. [`execution`] does permitted acts, and [`backend`] talks to long-running code: calls it, answers it, and
//! restarts it after a crash.

pub mod backend;
pub mod child;
pub mod execution;
mod git_settings;
pub mod net;
pub mod sandbox;
