//! The service: one value per client, which answers its requests. What it answers is decided in the modules next to it.

use std::{
    borrow::Cow,
    collections::HashMap,
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use metier::{Error, LiveSkills, Settings};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, ContentBlock, CustomRequest, CustomResult, DiscoverResult, ErrorCode,
        ExtensionCapabilities, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
        Implementation, InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, Role,
        ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio::{
    sync::{Mutex as AsyncMutex, OwnedMutexGuard, Semaphore},
    task, time,
};

use super::{
    answers::{self, AnswerScope},
    approvals::AskingMode,
    calls::{self, CallOutcome, CallRelay, CallSetup, RunningCall},
    changes::{self, ChangeRelay},
    connections::{ClientSessions, Connection, ConnectionPool},
    driving::{Driven, WaitingCall},
    logging, prompts,
    replies::ToolReply,
    resources,
    skill_source::SkillSource,
    skills_extension,
    tools::{self, ToolRequest},
};

/// The instructions for every client, whether or not it shows the tools' descriptions.
pub(crate) const INSTRUCTIONS: &str = "Skills are folders of instructions for particular tasks, found on this machine and vetted by metier. When a task \
matches the description of a skill, call activate_skill with its name before you start, and follow the instructions that you get. Files \
that they mention are read with read_skill_resource, tools that a skill contributes are called with call_skill_tool. search_skills finds skills that are not named here; \
list_skills reports why some can't be used.";

/// How long the first answer waits for the catalog. A disk that is slower than this must not keep a client from starting.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many requests are worked on at a time; the others wait, for each may use all cores.
pub(crate) const AT_ONCE: usize = 4;

/// How long a call waits for an answer of the user.
const APPROVAL_PATIENCE: Duration = Duration::from_secs(300);

/// How long lists may be kept by a client: the tools never change, everything else when a file does.
const TOOLS_TTL: u64 = 3_600_000;

/// An MCP server for one client.
#[derive(Clone)]
pub struct McpServer {
    shared: Arc<McpShared>,
    connection: Arc<Connection>,
    /// Whether requests that are independent of each other arrive here, each at a separate server.
    is_http: bool,
}

/// The state that all clients of a server share.
pub(crate) struct McpShared {
    pub(crate) source: Arc<SkillSource>,
    tools: Vec<Tool>,
    permits: Arc<Semaphore>,
    waiting: Mutex<HashMap<String, WaitingCall>>,
    pool: Arc<ConnectionPool>,
    changes: ChangeRelay,
    pub(super) patience: Duration,
    /// Whether a client sent `server/discover` without a handshake.
    pub(crate) discovered: AtomicBool,
}

/// Who sends requests over HTTP: the interface that checked the request puts this into its extensions, and requests of the same caller
/// share the state of a client. Without it they share it by the name that the client gives itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpCaller(pub String);

impl McpShared {
    pub(crate) fn new(source: SkillSource) -> Self {
        Self {
            source: Arc::new(source),
            tools: tools::all(),
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            waiting: Mutex::default(),
            pool: Arc::default(),
            changes: ChangeRelay::default(),
            patience: APPROVAL_PATIENCE,
            discovered: AtomicBool::new(false),
        }
    }

    pub(super) fn waiting(&self) -> MutexGuard<'_, HashMap<String, WaitingCall>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl McpServer {
    /// For a client on a pipe.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self::of(Arc::new(McpShared::new(SkillSource::of(settings))), false)
    }

    /// For clients of a program that watches its skills already. A clone is for another client; [`McpServer::for_client`] makes one.
    #[must_use]
    pub fn watched(live: LiveSkills) -> Self {
        Self::of(Arc::new(McpShared::new(SkillSource::watched(live))), true)
    }

    pub(crate) fn of(shared: Arc<McpShared>, is_http: bool) -> Self {
        Self {
            shared,
            connection: Arc::default(),
            is_http,
        }
    }

    /// This server for another client, with a separate state.
    #[must_use]
    pub fn for_client(&self) -> Self {
        Self {
            connection: Arc::default(),
            ..self.clone()
        }
    }

    pub(crate) fn shared(&self) -> &Arc<McpShared> {
        &self.shared
    }

    /// Does blocking work on another thread; `None` if it panicked.
    fn elsewhere<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SkillSource) -> T + Send + 'static,
    ) -> impl Future<Output = Option<T>> + Send + 'static {
        let (source, permits) = (
            Arc::clone(&self.shared.source),
            Arc::clone(&self.shared.permits),
        );
        async move {
            // Held until the work is done, even if the request was cancelled. The semaphore is never closed.
            let permit = permits.acquire_owned().await.ok()?;
            let done = task::spawn_blocking(move || {
                let _permit = permit;
                work(&source)
            });
            done.await.ok()
        }
    }

    /// `elsewhere` for a request that the protocol answers with a specific error.
    async fn looked_up<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SkillSource) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let done = self.elsewhere(work).await;
        done.unwrap_or_else(|| {
            Err(ErrorData::internal_error(
                "this is a bug in metier; stderr has the details",
                None,
            ))
        })
    }

    /// Name and version, with the catalog in the instructions if it is ready in time.
    async fn introduction(&self) -> ServerConfig {
        let mut info = self.get_info();
        let catalog = self.elsewhere(|source| {
            let now = source.now().ok()?;
            now.workspace.catalog_for_model(now.usable())
        });
        if let Ok(Some(Some(catalog))) = time::timeout(PATIENCE, catalog).await {
            info.instructions = Some(format!("{INSTRUCTIONS}\n\n{catalog}"));
        }
        info
    }

    /// The state that belongs to the client of a request.
    fn connection(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Connection>, ErrorData> {
        if !self.is_http || !is_modern(context) {
            return Ok(Arc::clone(&self.connection));
        }
        let parts = context.extensions.get::<http::request::Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<McpCaller>());
        let caller = caller.map_or("", |caller| caller.0.as_str());
        let client = context.client_info().map(|info| (info.name, info.version));
        self.shared
            .pool
            .of(&format!("{:?}", (caller, client)))
            .ok_or_else(|| ErrorData::internal_error("too many clients are connected", None))
    }

    /// What a call needs: where it may ask, and what it works with.
    fn setup(
        &self,
        connection: &Connection,
        asking: AskingMode,
        stop: Arc<AtomicBool>,
    ) -> CallSetup {
        CallSetup {
            permits: Arc::clone(&self.shared.permits),
            answers: Arc::clone(&connection.answers),
            stop,
            can_ask: asking != AskingMode::Never,
            patience: self.shared.patience,
            notices: self.shared.source.notices(),
        }
    }

    async fn start_tool(
        &self,
        request: ToolRequest,
        key: String,
        connection: &Arc<Connection>,
        context: &RequestContext<RoleServer>,
    ) -> RunningCall {
        let (label, needs_session) = (request.label(), request.needs_session());
        let mut sessions = None;
        let mut stop = Arc::default();
        if needs_session {
            sessions = Some(in_turn(&connection.sessions).await);
            stop = Arc::clone(&connection.stop);
            stop.store(false, Ordering::Release);
        }
        let setup = self.setup(connection, asking(context), stop);
        let (source, connection) = (Arc::clone(&self.shared.source), Arc::clone(connection));
        let kept = key.clone();
        calls::start(setup, label, key, move |call| {
            CallOutcome::Tool(tool_answer(
                &request,
                &kept,
                &source,
                &connection,
                call,
                sessions,
            ))
        })
        .await
    }
}

/// A lock that a separate thread holds.
async fn in_turn(sessions: &Arc<AsyncMutex<ClientSessions>>) -> OwnedMutexGuard<ClientSessions> {
    Arc::clone(sessions).lock_owned().await
}

/// The answer to a tool call, or the requested part of it.
fn tool_answer(
    request: &ToolRequest,
    key: &str,
    source: &SkillSource,
    connection: &Connection,
    call: &Arc<CallRelay>,
    mut sessions: Option<OwnedMutexGuard<ClientSessions>>,
) -> ToolReply {
    let (offset, limit) = request.part();
    if offset > 0 {
        if let Some(reply) = connection.kept().find(key) {
            return reply.part(offset, limit);
        }
        if !matches!(request, ToolRequest::Read(_)) {
            let message = "the rest of this answer is no longer kept".to_owned();
            let hint = "call the tool again without `offset`";
            return ToolReply::refused("expired", message, Some(hint));
        }
    }
    let scope = AnswerScope {
        source,
        call,
        sessions: sessions.as_deref_mut(),
    };
    let reply = answers::answer(request, scope);
    connection.kept().keep(key, &reply, limit);
    reply.part(offset, limit)
}

/// The identity of a request: a repeated one has the same.
fn key_of(method: &str, name: &str, arguments: Option<&JsonObject>) -> String {
    let mut arguments = arguments.cloned().unwrap_or_default();
    // These choose a part of the answer.
    arguments.remove("offset");
    arguments.remove("limit");
    let sorted: std::collections::BTreeMap<_, _> = arguments.into_iter().collect();
    json!([method, name, sorted]).to_string()
}

/// Whether a request is of the protocol in which every request is independent.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

pub(super) fn asking(context: &RequestContext<RoleServer>) -> AskingMode {
    AskingMode::of(context.client_capabilities().as_ref(), is_modern(context))
}

/// The error of a request that names something that is not there.
pub(crate) fn not_there(error: &Error) -> ErrorData {
    let data = error
        .advice()
        .map(|hint| json!({ "code": error.code(), "hint": hint }));
    ErrorData::invalid_params(error.in_full(), data)
}

fn gone(tool: &str) -> ToolReply {
    let message = format!("`{tool}` did not end: it was cancelled, or this is a bug in metier");
    let hint = "if it crashed, stderr has the details; other skills are not affected";
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

impl ServerHandler for McpServer {
    #[expect(
        deprecated,
        reason = "clients of the older protocol have no other way to see messages"
    )]
    fn get_info(&self) -> ServerConfig {
        let program = Implementation::new("metier", env!("CARGO_PKG_VERSION"))
            .with_title("metier")
            .with_description("The skills of this machine, vetted");
        let mut extensions = ExtensionCapabilities::new();
        extensions.insert(
            skills_extension::ID.to_owned(),
            skills_extension::settings(),
        );
        let capabilities = ServerCapabilities::builder()
            .enable_extensions_with(extensions)
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities)
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
        self.shared.discovered.store(true, Ordering::Relaxed);
        Ok(DiscoverResult::from_server_info(
            self.supported_protocol_versions().into_owned(),
            self.introduction().await,
        ))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let changes = self.shared.changes.subscribe(&self.shared.source);
        task::spawn(changes::notify(
            context.peer,
            Arc::downgrade(&self.connection),
            changes,
        ));
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = ListToolsResult::with_all_items(self.shared.tools.clone());
        Ok(tools.with_ttl_ms(TOOLS_TTL))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let mut tools = self.shared.tools.iter();
        tools.find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let connection = self.connection(&context)?;
        let key = key_of("tools/call", &request.name, request.arguments.as_ref());
        let tool = request.name;
        let driven = if let Some(state) = &request.request_state {
            let responses = request.input_responses.as_ref();
            self.resume(state, &key, responses, &connection, &context)
                .await?
        } else {
            match ToolRequest::parse(&tool, request.arguments.unwrap_or_default()) {
                None => {
                    // The protocol requires an error of its own for this.
                    let message = format!("there is no tool `{}`", tool.escape_debug());
                    return Err(ErrorData::invalid_params(message, None));
                }
                Some(Err(refusal)) => return Ok(result(refusal).into()),
                Some(Ok(parsed)) => {
                    let call = self.start_tool(parsed, key, &connection, &context).await;
                    self.drive(call, &connection, &context).await
                }
            }
        };
        Ok(match driven {
            Driven::Asks(asks) => asks.into(),
            Driven::Done(CallOutcome::Tool(reply)) => result(reply).into(),
            Driven::Done(CallOutcome::Prompt(_)) | Driven::Gone => result(gone(&tool)).into(),
        })
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.looked_up(move |source| prompts::list(source, cursor.as_deref()))
            .await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let connection = self.connection(&context)?;
        let key = key_of("prompts/get", &request.name, request.arguments.as_ref());
        let driven = if let Some(state) = &request.request_state {
            let responses = request.input_responses.as_ref();
            self.resume(state, &key, responses, &connection, &context)
                .await?
        } else {
            let setup = self.setup(&connection, asking(&context), Arc::default());
            let (source, name) = (Arc::clone(&self.shared.source), request.name.clone());
            let arguments = request.arguments.unwrap_or_default();
            let label = format!("rendering {name}");
            let call = calls::start(setup, label, key, move |call| {
                CallOutcome::Prompt(prompts::text(&source, call, &name, &arguments))
            });
            self.drive(call.await, &connection, &context).await
        };
        match driven {
            Driven::Asks(asks) => Ok(asks.into()),
            Driven::Done(CallOutcome::Prompt(Ok(text))) => {
                let message = PromptMessage::new_text(Role::User, text);
                Ok(GetPromptResult::new(vec![message]).into())
            }
            Driven::Done(CallOutcome::Prompt(Err(error))) => Err(not_there(&error)),
            Driven::Done(CallOutcome::Tool(_)) | Driven::Gone => Err(ErrorData::internal_error(
                "the prompt was cancelled, or this is a bug in metier",
                None,
            )),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.looked_up(move |source| prompts::complete(source, &request))
            .await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.looked_up(move |source| resources::list(source, cursor.as_deref()))
            .await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.looked_up(move |source| resources::read(source, &request.uri));
        Ok(read.await?.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut subscribed = self.connection.subscribed();
        if subscribed.len() >= resources::MAX_SUBSCRIBED && !subscribed.contains(&request.uri) {
            let message = format!(
                "a client can subscribe to {} resources",
                resources::MAX_SUBSCRIBED
            );
            return Err(ErrorData::invalid_params(message, None));
        }
        subscribed.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.connection.subscribed().remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let changes = self.shared.changes.subscribe(&self.shared.source);
        changes::listen(&context, changes).await;
        Ok(())
    }

    #[expect(
        deprecated,
        reason = "clients of the older protocol have no other way to see messages"
    )]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let level = logging::rank(request.level);
        self.connection.log_level().store(level, Ordering::Relaxed);
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let params = params.unwrap_or(Value::Null);
        let work = match method.as_str() {
            "skills/list" => skills_extension::list,
            "skills/get" => skills_extension::get,
            "resources/directory/read" => skills_extension::read_directory,
            _ => {
                let message = format!("there is no method `{}`", method.escape_debug());
                return Err(ErrorData::new(
                    ErrorCode::METHOD_NOT_FOUND,
                    Cow::Owned(message),
                    None,
                ));
            }
        };
        let done = self.looked_up(move |source| work(source, &params)).await?;
        Ok(CustomResult::new(done))
    }
}
