//! Real children in a real sandbox: for every promise, a program tries to break it.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that can't set up its room has to stop"
)]

mod calls;
mod ends;
mod files;
mod git;
mod limits;
mod net;
mod network;
mod protected;
mod session;
mod start;
mod test_home;
mod wasi;
mod worker;
mod world;
