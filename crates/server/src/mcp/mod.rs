//! MCP on stdin and stdout, for agents that start us: tools, and instructions that hold the catalog.
//!
//! Two eras of the protocol are spoken, because clients of both exist: the one that begins with `initialize` (2024-11-05 to
//! 2025-11-25), and the one in which each request is independent (2026-07-28). The SDK distinguishes them; the answers are the same.
//!
//! One thread reads and writes. Questions are answered on others, so that a ping gets its answer while a skill is scanned.

use std::{
    fmt,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use metier::Settings;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, DiscoverResult,
        Implementation, InitializeRequestParams, InitializeResult, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::{RequestContext, ServerInitializeError},
    transport::stdio_pipes,
};
use tokio::{runtime, sync::Semaphore, task, time};

use crate::{
    answers::{self, ToolReply},
    lines::BoundedLines,
    tools::{self, ToolRequest},
};

/// The instructions for every client, whether or not it shows the tools' descriptions.
const INSTRUCTIONS: &str = "Skills are folders of instructions for particular tasks, found on this machine and vetted by metier. When a task \
matches the description of a skill, call activate_skill with its name before you start, and follow the instructions that you get. Files \
that they mention are read with read_skill_resource. list_skills names all skills and reports why some can't be used.";

/// How long the first answer waits for the catalog. A disk that is slower than this must not keep a client from starting.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many questions are worked on at a time; the others wait, for each may use all cores.
const AT_ONCE: usize = 4;

/// How long the end waits for work whose result is no longer needed.
const GRACE: Duration = Duration::from_millis(200);

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

/// Serves one client on stdin and stdout until it disconnects. Each request opens the workspace of these settings again.
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
        let server = McpServer::new(Workspaces(settings));
        let discovered = Arc::clone(&server.discovered);
        match server.serve((input, output)).await {
            // How it ended is the client's choice; there is no client left to report it to.
            Ok(running) => drop(running.waiting().await),
            // A client that asks what we are and goes has had its answer.
            Err(ServerInitializeError::ConnectionClosed(_))
                if discovered.load(Ordering::Relaxed) => {}
            Err(error) => return Err(not_served(error)),
        }
        Ok(())
    });
    runtime.shutdown_timeout(GRACE);
    ended
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

/// Answers requests, from several threads at once; an answer can take as long as a scan.
trait Answers: Send + Sync + 'static {
    fn catalog(&self) -> Option<String>;
    fn answer(&self, call: &ToolRequest) -> ToolReply;
}

/// Opens the workspace of these settings for each request.
struct Workspaces(Settings);

impl Answers for Workspaces {
    fn catalog(&self) -> Option<String> {
        answers::catalog(&self.0)
    }

    fn answer(&self, call: &ToolRequest) -> ToolReply {
        answers::answer(&self.0, call)
    }
}

/// The service.
struct McpServer<A> {
    answers: Arc<A>,
    tools: Vec<Tool>,
    permits: Arc<Semaphore>,
    /// Whether a client sent `server/discover` without a handshake.
    discovered: Arc<AtomicBool>,
}

impl<A: Answers> McpServer<A> {
    fn new(answers: A) -> Self {
        Self {
            answers: Arc::new(answers),
            tools: tools::all(),
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            discovered: Arc::default(),
        }
    }

    /// Does blocking work on another thread; `None` if it panicked.
    fn elsewhere<T: Send + 'static>(
        &self,
        work: impl FnOnce(&A) -> T + Send + 'static,
    ) -> impl Future<Output = Option<T>> + Send + 'static {
        let (answers, permits) = (Arc::clone(&self.answers), Arc::clone(&self.permits));
        async move {
            // Held until the work is done, even if the request was cancelled. The semaphore is never closed.
            let permit = permits.acquire_owned().await.ok()?;
            let done = task::spawn_blocking(move || {
                let _permit = permit;
                work(&answers)
            });
            done.await.ok()
        }
    }

    /// Name and version, with the catalog in the instructions if it is ready in time.
    async fn introduction(&self) -> ServerConfig {
        let mut info = self.get_info();
        let catalog = self.elsewhere(A::catalog);
        if let Ok(Some(Some(catalog))) = time::timeout(PATIENCE, catalog).await {
            info.instructions = Some(format!("{INSTRUCTIONS}\n\n{catalog}"));
        }
        info
    }
}

impl<A: Answers> ServerHandler for McpServer<A> {
    fn get_info(&self) -> ServerConfig {
        let program = Implementation::new("metier", env!("CARGO_PKG_VERSION"))
            .with_title("metier")
            .with_description("The skills of this machine, vetted");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(program)
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let InitializeResult {
            protocol_version, ..
        } = self.negotiate_initialize(&request)?;
        let introduction = self.introduction().await;
        Ok(introduction.with_protocol_version(protocol_version))
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.discovered.store(true, Ordering::Relaxed);
        Ok(DiscoverResult::from_server_info(
            self.supported_protocol_versions().into_owned(),
            self.introduction().await,
        ))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = request.name;
        let Some(call) = ToolRequest::parse(&tool, request.arguments.unwrap_or_default()) else {
            // The protocol requires an error of its own for this.
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{}`", tool.escape_debug()),
                None,
            ));
        };
        let answer = match call {
            Ok(call) => self.elsewhere(move |answers| answers.answer(&call)).await,
            Err(refusal) => Some(refusal),
        };
        Ok(result(answer.unwrap_or_else(|| bug(&tool))).into())
    }
}

fn bug(tool: &str) -> ToolReply {
    let message = format!("`{tool}` failed: this is a bug in metier");
    let hint = "metier wrote to stderr where it failed; other skills can still be used";
    ToolReply::refused("bug", message, Some(hint))
}

fn result(reply: ToolReply) -> CallToolResult {
    let content = vec![ContentBlock::text(reply.text)];
    let mut result = if reply.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = Some(reply.document);
    result
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
