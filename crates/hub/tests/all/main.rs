//! Sources, and fetching from them.
#![expect(clippy::unwrap_used, reason = "a broken fixture is a broken test")]

mod changes;
mod fetch;
mod listings;
mod sources;
