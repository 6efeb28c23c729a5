//! MCP on stdin and stdout, for agents that start us: tools, and instructions that hold the catalog.
//!
//! Two eras of the protocol are spoken, because clients of both exist: the one that begins with `initialize` (2024-11-05 to
//! 2025-11-25), and the one in which each request stands alone (2026-07-28). The SDK tells them apart; we answer the same in both.
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
    lines::BoundedLines,
    port::{Answer, Refusal, Reply, Skills},
    tools::{self, Call},
};

/// What every client is told, whether or not it shows the tools' descriptions.
const INSTRUCTIONS: &str = "Skills are folders of instructions for particular tasks, found on this machine and vetted by metier. When a task \
matches the description of a skill, call activate_skill with its name before you start, and follow the instructions that you get. Files \
that they mention are read with read_skill_resource. list_skills names all skills and says why some can't be used.";

/// How long the first answer waits for the catalog. A disk that is slower than this must not keep a client from starting.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many questions are worked on at a time; the others wait, for each may use all cores.
const AT_ONCE: usize = 4;

/// How long the end waits for work that nobody wants any more.
const GRACE: Duration = Duration::from_millis(200);

/// Why the door did not open, or fell shut.
#[derive(Debug)]
pub enum ServeError {
    /// The system doesn't let us.
    Os(std::io::Error),
    /// Nobody spoke before the input ended.
    Nobody,
    /// Somebody spoke, but not MCP.
    Stranger(String),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Os(error) => error.fmt(f),
            Self::Nobody => f.write_str("the input ended before a client said anything"),
            Self::Stranger(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ServeError {}

/// Serves one client on stdin and stdout until it goes away.
///
/// # Errors
/// When no conversation came about. What goes wrong later is told to the client.
pub fn serve(skills: impl Skills) -> Result<(), ServeError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::Os)?;
    let ended = runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let input = BoundedLines::new(input);
        let door = Door::new(skills);
        let discovered = Arc::clone(&door.discovered);
        match door.serve((input, output)).await {
            // How it ended is the client's choice; there is nobody left to tell.
            Ok(running) => drop(running.waiting().await),
            // A client that asks what we are and goes has had its answer.
            Err(ServerInitializeError::ConnectionClosed(_))
                if discovered.load(Ordering::Relaxed) => {}
            Err(error) => return Err(stranger(error)),
        }
        Ok(())
    });
    runtime.shutdown_timeout(GRACE);
    ended
}

fn stranger(error: ServerInitializeError) -> ServeError {
    match error {
        ServerInitializeError::ConnectionClosed(_) => ServeError::Nobody,
        ServerInitializeError::ExpectedInitializeRequest(_) => {
            ServeError::Stranger("the client did not begin with `initialize`".to_owned())
        }
        other => ServeError::Stranger(other.to_string()),
    }
}

/// The service.
struct Door<S> {
    skills: Arc<S>,
    tools: Vec<Tool>,
    room: Arc<Semaphore>,
    /// Whether a client asked what we are, without a handshake.
    discovered: Arc<AtomicBool>,
}

impl<S: Skills> Door<S> {
    fn new(skills: S) -> Self {
        Self {
            skills: Arc::new(skills),
            tools: tools::all(),
            room: Arc::new(Semaphore::new(AT_ONCE)),
            discovered: Arc::default(),
        }
    }

    /// Does blocking work elsewhere; `None` if it panicked.
    fn elsewhere<T: Send + 'static>(
        &self,
        work: impl FnOnce(&S) -> T + Send + 'static,
    ) -> impl Future<Output = Option<T>> + Send + 'static {
        let (skills, room) = (Arc::clone(&self.skills), Arc::clone(&self.room));
        async move {
            // Held until the work is done, even if nobody waits for it any more. It is never closed.
            let place = room.acquire_owned().await.ok()?;
            let done = task::spawn_blocking(move || {
                let _place = place;
                work(&skills)
            });
            done.await.ok()
        }
    }

    /// Who we are, with the catalog in the instructions if it is there in time.
    async fn introduction(&self) -> ServerConfig {
        let mut info = self.get_info();
        let catalog = self.elsewhere(Skills::catalog);
        if let Ok(Some(Some(catalog))) = time::timeout(PATIENCE, catalog).await {
            info.instructions = Some(format!("{INSTRUCTIONS}\n\n{catalog}"));
        }
        info
    }
}

impl<S: Skills> ServerHandler for Door<S> {
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
        let Some(call) = Call::parse(&tool, request.arguments.unwrap_or_default()) else {
            // The protocol wants this one as an error of its own.
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{}`", tool.escape_debug()),
                None,
            ));
        };
        let answer = match call {
            Ok(call) => self.elsewhere(move |skills| call.ask(skills)).await,
            Err(refusal) => Some(Err(refusal)),
        };
        Ok(result(answer.unwrap_or_else(|| Err(bug(&tool)))).into())
    }
}

fn bug(tool: &str) -> Refusal {
    let message = format!("`{tool}` stopped halfway: this is a bug of metier");
    let hint = "what metier wrote to stderr says where; the other skills can still be used";
    Refusal::own("bug", message, Some(hint))
}

fn result(answer: Answer) -> CallToolResult {
    let (document, text, failed) = match answer {
        Ok(Reply { document, text }) => (document, text, false),
        Err(Refusal { document, text }) => (document, text, true),
    };
    let content = vec![ContentBlock::text(text)];
    let mut result = if failed {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = Some(document);
    result
}

#[cfg(test)]
#[path = "mcp_tests.rs"]
mod tests;
