//! Real modules in the real engine: what they can do, what they can't, and what becomes of those that try.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that can't go on says so by panicking"
)]

mod authority;
mod cache;
mod command;
mod component;
mod hostile;
mod kit;
mod leaks;
mod reactor;
