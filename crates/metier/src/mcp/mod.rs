//! MCP servers that the user configured: the skills and the tools that they offer.
//!
//! `servers` opens connections from the configuration and keeps them, `login` authorizes the user at one, `skills` turns what a server
//! lists into entries of the catalog, `tools` what it offers into tools of conversations.

mod login;
mod servers;
mod skills;
#[cfg(feature = "agent")]
mod tools;

pub use skills::ServerListing;

pub(crate) use servers::ServerPool;
pub(crate) use skills::remote_skills;
#[cfg(feature = "agent")]
pub(crate) use tools::ServerTools;
