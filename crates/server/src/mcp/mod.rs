//! MCP, for agents: tools, prompts, resources, and instructions that contain the catalog.
//!
//! Two eras of the protocol are spoken, because clients of both exist: the one that begins with `initialize` (2024-11-05 to
//! 2025-11-25), and the one in which each request is independent (2026-07-28). The SDK distinguishes them; the answers are the same.
//!
//! | file | content |
//! |---|---|
//! | `server.rs` | which request is answered by what |
//! | `tools.rs`, `output_schemas.rs` | the tools: names, schemas, requests |
//! | `answers.rs`, `replies.rs`, `pages.rs` | what they return, and how much of it |
//! | `calls.rs`, `driving.rs`, `logging.rs` | work on threads, progress, messages, cancellation |
//! | `approvals.rs` | questions to the user of a client |
//! | `connections.rs` | what belongs to one client |
//! | `prompts.rs`, `resources.rs`, `skills_extension.rs` | the same skills for users and for hosts |
//! | `changes.rs`, `skill_source.rs` | skills as they are now |
//! | `lines.rs` | messages before they are read as JSON |
//!
//! One thread reads and writes. Requests are answered on others, so that a ping gets its answer while a skill is scanned.

mod answers;
mod approvals;
mod calls;
mod changes;
mod connections;
mod driving;
mod lines;
mod logging;
mod output_schemas;
mod pages;
mod prompts;
mod replies;
mod resources;
mod server;
mod skill_source;
mod skills_extension;
#[cfg(test)]
mod test_questions;
mod tools;

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use metier::Settings;
use rmcp::{
    ServiceExt,
    service::ServerInitializeError,
    transport::{
        stdio_pipes,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use tokio::runtime;

pub use server::{McpCaller, McpServer};

use self::lines::BoundedLines;

/// How long the end waits for running work.
const GRACE: Duration = Duration::from_millis(200);

/// The largest message over HTTP, in bytes.
const MAX_BODY: usize = 4 << 20;

/// Why the server did not start, or ended.
#[derive(Debug)]
pub enum McpServeError {
    /// The system does not permit it.
    Os(std::io::Error),
    /// The input ended before a client sent a request.
    NoClient,
    /// A client sent something other than MCP.
    NotMcp(String),
}

impl fmt::Display for McpServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Os(error) => error.fmt(f),
            Self::NoClient => f.write_str("the input ended before a client sent a request"),
            Self::NotMcp(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for McpServeError {}

/// Serves one client on stdin and stdout until it disconnects.
///
/// # Errors
/// When no client connects. Later errors are reported to the client.
pub fn serve(settings: Settings) -> Result<(), McpServeError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(McpServeError::Os)?;
    let ended = runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let input = BoundedLines::new(input);
        let server = McpServer::new(settings);
        let shared = Arc::clone(server.shared());
        match server.serve((input, output)).await {
            // How it ended is the client's choice; no client is left to report it to.
            Ok(running) => drop(running.waiting().await),
            // A client that only discovers the server and disconnects has got its answer.
            Err(ServerInitializeError::ConnectionClosed(_))
                if shared.discovered.load(Ordering::Relaxed) => {}
            Err(error) => return Err(not_served(error)),
        }
        shared.source.save_verdicts();
        Ok(())
    });
    runtime.shutdown_timeout(GRACE);
    ended
}

/// The service for clients over streamable HTTP, to be mounted at one path. It accepts these names of hosts and these origins of browsers, checks the size of
/// messages, and keeps a session for clients of the older protocol. Whether a request is allowed at all is decided before: see [`McpCaller`].
///
/// ```no_run
/// # fn main() -> Result<(), metier::Error> {
/// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
/// let service = metier_server::mcp_service(
///     &metier_server::McpServer::watched(workspace.live()?),
///     ["localhost", "127.0.0.1", "[::1]"],
///     ["http://127.0.0.1:7717"],
/// );
/// # let _ = service;
/// # Ok(())
/// # }
/// ```
pub fn mcp_service<H: Into<String>, O: Into<String>>(
    server: &McpServer,
    hosts: impl IntoIterator<Item = H>,
    origins: impl IntoIterator<Item = O>,
) -> StreamableHttpService<McpServer, LocalSessionManager> {
    let server = server.clone();
    let config = mcp_http_config(hosts, origins);
    StreamableHttpService::new(move || Ok(server.for_client()), Arc::default(), config)
}

/// How clients over HTTP are served: see [`mcp_service`].
pub fn mcp_http_config<H: Into<String>, O: Into<String>>(
    hosts: impl IntoIterator<Item = H>,
    origins: impl IntoIterator<Item = O>,
) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(true)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
}

fn not_served(error: ServerInitializeError) -> McpServeError {
    match error {
        ServerInitializeError::ConnectionClosed(_) => McpServeError::NoClient,
        ServerInitializeError::ExpectedInitializeRequest(_) => {
            McpServeError::NotMcp("the client did not begin with `initialize`".to_owned())
        }
        other => McpServeError::NotMcp(other.to_string()),
    }
}
