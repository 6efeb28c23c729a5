//! A registry: what its parts promise, what it answers, and what a client refuses to believe.
#![expect(clippy::unwrap_used, reason = "a broken fixture is a broken test")]

mod answers;
mod client;
mod conformance;
mod kept_versions;
mod openapi;
mod stage;
