//! Real modules in the real engine: their abilities, their limits, and the results of attacks.

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
