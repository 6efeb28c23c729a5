//! # metier-mcp — tools and skills of other programs over MCP
//!
//! **Problem.** An MCP server offers tools, and with the Skills extension (SEP-2640) whole skills. It can be slow, down or hostile: its
//! lists may never end, its digests may be wrong, its texts may be instructions. Its protocol has two eras, and its library is
//! asynchronous.
//!
//! **Goals.** A synchronous interface with a limit on every size and every wait; data from a server is checked before it is used; features
//! that metier does not offer (roots, sampling) can't be requested by a server.
//!
//! **Worked example.** `docs` is a program that serves `skill://pdf/SKILL.md`. [`McpConnection::open`] starts it and detects its protocol
//! era; [`McpConnection::skills`] lists its skills and reads no file; [`McpConnection::read`] returns the bytes of one file, which the
//! catalog compares with the size and the digest in the list ([`metier_catalog::RemoteSkill`]).
//!
//! **In → out.** [`ServerEntry`] (the user's configuration) → [`McpConnection`] → [`SkillListing`], [`McpTool`]s, [`McpToolResult`]s.
//!
//! **Invariants.** no environment, no home, no date · each connection has its own thread, and ends with it · an address is checked as for
//! every other request of metier (`metier_host::net`), and a redirect never goes to another host · a server's program is in its own
//! process group, which is ended with the connection.
//!
//! **Start reading at** `connection.rs`, then `listing.rs`.

mod connection;
mod driver;
mod error;
mod http;
mod listing;
mod login;
mod message;
mod program;
mod server;
mod skill_cache;
mod tools;

pub use connection::McpConnection;
pub use error::McpError;
pub use listing::{ListedResource, McpSkill, SkillListing, SkillResources};
pub use login::{BrowserLogin, LoginPrompt, McpLogin};
pub use server::{McpEndpoint, McpLimits, ServerEntry};
pub use skill_cache::{KnownListing, SkillCache};
pub use tools::{McpTool, McpToolResult};
