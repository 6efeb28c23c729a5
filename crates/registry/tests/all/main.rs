//! A registry: the promises of its parts, its responses, and the responses that a client refuses.
#![expect(clippy::unwrap_used, reason = "a broken fixture is a broken test")]

mod answers;
mod client;
mod conformance;
mod kept_versions;
mod openapi;
mod test_registry;
