//! One connection to a server, with a synchronous interface.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ClientRequest, CustomRequest, Implementation,
        ProtocolVersion, ReadResourceRequest, ReadResourceRequestParams, ResourceContents,
        ServerResult,
    },
    service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService},
    transport::{
        StreamableHttpClientTransport,
        auth::{AuthClient, AuthorizationManager},
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde_json::{Value, json};
use url::Url;

use crate::{
    driver::{Driver, Unfinished},
    error::{McpError, shown},
    http::CheckedHttpClient,
    listing::{SkillListing, SkillPages},
    login::McpLogin,
    program::Program,
    server::{McpEndpoint, McpLimits, ServerEntry},
};

/// How many logins one request can cause.
const MAX_LOGINS: usize = 2;
/// How long the user can take to log in.
const LOGIN_TIME: Duration = Duration::from_secs(600);
/// The extension with which a server offers skills.
const SKILLS: &str = "io.modelcontextprotocol/skills";

/// metier's description of itself for a server: name and version. It offers no roots, no sampling and no questions to the user.
#[derive(Clone, Debug)]
pub(crate) struct Host;

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("metier", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }
}

pub(crate) type Service = RunningService<RoleClient, Host>;

/// A connection to a server. Dropping it ends the server's program.
pub struct McpConnection {
    driver: Driver,
    service: Mutex<Arc<Service>>,
    program: Option<Program>,
    endpoint: McpEndpoint,
    limits: McpLimits,
    label: String,
}

impl std::fmt::Debug for McpConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpConnection")
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

impl McpConnection {
    /// Starts or reaches a server, and negotiates a version. `stop` is called regularly; when it returns true, the attempt ends.
    ///
    /// # Errors
    /// If the server can't be started or reached, or does not speak MCP.
    pub fn open(server: &ServerEntry, stop: &dyn Fn() -> bool) -> Result<Self, McpError> {
        let mut driver = Driver::start().map_err(|source| McpError::Start {
            command: server.label.clone(),
            source,
        })?;
        let limit = server.endpoint.patience(server.limits.connect);
        let opening = open_service(server.endpoint.clone(), server.limits, None);
        let opened = match driver.run(limit, stop, opening) {
            Ok(opened) => opened,
            Err(unfinished) => Err(missing(unfinished, "initialize", limit)),
        };
        match opened {
            Ok((service, program)) => Ok(Self {
                driver,
                service: Mutex::new(Arc::new(service)),
                program,
                endpoint: server.endpoint.clone(),
                limits: server.limits,
                label: server.label.clone(),
            }),
            Err(error) => {
                driver.end(async {});
                Err(error)
            }
        }
    }

    /// The user's name for the server.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether the connection has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let service = self.service();
        service.is_transport_closed() || service.is_closed()
    }

    /// Whether it offers skills.
    #[must_use]
    pub fn has_skills(&self) -> bool {
        let info = self.service().peer_info();
        let extensions = info
            .as_ref()
            .and_then(|info| info.capabilities.extensions.as_ref());
        extensions.is_some_and(|extensions| extensions.contains_key(SKILLS))
    }

    /// Whether it offers tools.
    #[must_use]
    pub fn has_tools(&self) -> bool {
        let info = self.service().peer_info();
        info.is_some_and(|info| info.capabilities.tools.is_some())
    }

    /// The negotiated version of the protocol.
    #[must_use]
    pub fn protocol(&self) -> String {
        let info = self.service().peer_info();
        info.map_or_else(String::new, |info| info.protocol_version.to_string())
    }

    /// All skills that it lists. No file is read.
    ///
    /// # Errors
    /// If it has no skills, or does not answer.
    pub fn skills(&self, stop: &dyn Fn() -> bool) -> Result<SkillListing, McpError> {
        const WHAT: &str = "skills/list";
        if !self.has_skills() {
            return Err(McpError::Unsupported("skills"));
        }
        let mut pages = SkillPages::new(self.limits);
        loop {
            let params = match pages.cursor() {
                Some(cursor) => json!({ "cursor": cursor }),
                None => json!({}),
            };
            let page = self.custom(WHAT, params, stop)?;
            if !pages.add(page)? {
                return Ok(pages.finish());
            }
        }
    }

    /// The entry of one skill, whether it is listed or not.
    ///
    /// # Errors
    /// If it does not serve that skill, or does not answer.
    pub fn skill(&self, uri: &str, stop: &dyn Fn() -> bool) -> Result<Value, McpError> {
        const WHAT: &str = "skills/get";
        if !self.has_skills() {
            return Err(McpError::Unsupported("skills"));
        }
        let mut answer = self.custom(WHAT, json!({ "uri": uri }), stop)?;
        match answer.get_mut("skill").map(Value::take) {
            Some(entry @ Value::Object(_)) => Ok(entry),
            _ => Err(McpError::form(WHAT, "it has no `skill`")),
        }
    }

    /// The bytes of a resource, as the server returns them: the caller has to check them.
    ///
    /// # Errors
    /// If it does not answer, or with something other than one file.
    pub fn read(&self, uri: &str, stop: &dyn Fn() -> bool) -> Result<Vec<u8>, McpError> {
        const WHAT: &str = "resources/read";
        // The library's cache is not used: each read is compared with the current list.
        let params = ReadResourceRequestParams::new(uri);
        let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
        let ServerResult::ReadResourceResult(result) = self.request(WHAT, &request, stop)? else {
            return Err(McpError::form(WHAT, "it is not the content of a resource"));
        };
        let of_uri = |content: &ResourceContents| match content {
            ResourceContents::TextResourceContents { uri: of, .. }
            | ResourceContents::BlobResourceContents { uri: of, .. } => of == uri,
            _ => false,
        };
        match result.contents.into_iter().find(of_uri) {
            Some(ResourceContents::TextResourceContents { text, .. }) => Ok(text.into_bytes()),
            Some(ResourceContents::BlobResourceContents { blob, .. }) => STANDARD
                .decode(blob.as_bytes())
                .map_err(|error| McpError::form(WHAT, format!("its base64 is invalid: {error}"))),
            _ => Err(McpError::form(WHAT, "it has no content for this URI")),
        }
    }

    fn custom(
        &self,
        what: &'static str,
        params: Value,
        stop: &dyn Fn() -> bool,
    ) -> Result<Value, McpError> {
        let request = ClientRequest::CustomRequest(CustomRequest::new(what, Some(params)));
        match self.request(what, &request, stop)? {
            ServerResult::CustomResult(result) => Ok(result.0),
            _ => Err(McpError::form(what, "unexpected response format")),
        }
    }

    fn request(
        &self,
        what: &'static str,
        request: &ClientRequest,
        stop: &dyn Fn() -> bool,
    ) -> Result<ServerResult, McpError> {
        let send = |service: Arc<Service>| {
            let request = request.clone();
            async move { service.send_request(request).await }
        };
        self.asked(what, self.limits.request, stop, send)
    }

    /// Sends a request; if the server requires another authorization, the user logs in, and it is sent again.
    pub(crate) fn asked<T, F>(
        &self,
        what: &str,
        limit: Duration,
        stop: &dyn Fn() -> bool,
        send: impl Fn(Arc<Service>) -> F,
    ) -> Result<T, McpError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, rmcp::ServiceError>> + Send + 'static,
    {
        let mut logins = 0;
        loop {
            let done = self.wait(what, limit, stop, send(self.service()))?;
            match done.map_err(|error| self.failed(what, error)) {
                Err(McpError::Authorization { challenge })
                    if logins < MAX_LOGINS && self.endpoint.has_prompt() =>
                {
                    logins += 1;
                    self.authorize(challenge, stop)?;
                }
                done => return done,
            }
        }
    }

    /// Sends the user to the login, and connects again with the tokens that it returned.
    fn authorize(&self, challenge: String, stop: &dyn Fn() -> bool) -> Result<(), McpError> {
        let limit = self.endpoint.patience(self.limits.connect);
        let opening = open_service(self.endpoint.clone(), self.limits, Some(challenge));
        let (service, _) = self.wait("login", limit, stop, opening)??;
        let mut current = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *current, Arc::new(service));
        drop(current);
        old.cancellation_token().cancel();
        Ok(())
    }

    /// Waits for work on the thread of this connection.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        what: &str,
        limit: Duration,
        stop: &dyn Fn() -> bool,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, McpError> {
        let done = self.driver.run(limit, stop, work);
        done.map_err(|unfinished| missing(unfinished, what, limit))
    }

    pub(crate) fn failed(&self, what: &str, error: rmcp::ServiceError) -> McpError {
        match McpError::of_request(what, error) {
            McpError::Connection(why) => McpError::Connection(self.with_last_words(why)),
            error => error,
        }
    }

    fn with_last_words(&self, why: String) -> String {
        let last = self.program.as_ref().and_then(Program::last_words);
        match last {
            Some(last) => format!("{why}; its last message: {last}"),
            None => why,
        }
    }

    fn service(&self) -> Arc<Service> {
        let service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&service)
    }

    pub(crate) const fn limits(&self) -> McpLimits {
        self.limits
    }
}

impl Drop for McpConnection {
    fn drop(&mut self) {
        let (program, service) = (self.program.take(), self.service());
        self.driver.end(async move {
            service.cancellation_token().cancel();
            drop(service);
            if let Some(program) = program {
                program.end().await;
            }
        });
    }
}

fn missing(unfinished: Unfinished, what: &str, limit: Duration) -> McpError {
    match unfinished {
        Unfinished::Timeout => McpError::Timeout {
            what: what.to_owned(),
            limit,
        },
        Unfinished::Stopped => McpError::Stopped,
        Unfinished::Gone => McpError::Connection("the connection has ended".to_owned()),
    }
}

impl McpEndpoint {
    /// The login that can send the user to a page, with its URL.
    fn prompting(&self) -> Option<(&Url, &McpLogin)> {
        match self {
            Self::Address {
                url,
                login: Some(login),
                ..
            } if login.prompt.is_some() => Some((url, login)),
            _ => None,
        }
    }

    fn has_prompt(&self) -> bool {
        self.prompting().is_some()
    }

    /// The time limit for connecting: a longer one if the user may have to log in, because people are slower than servers.
    fn patience(&self, limit: Duration) -> Duration {
        match self.has_prompt() {
            true => limit.max(LOGIN_TIME),
            false => limit,
        }
    }
}

/// Connects, with a login if the server demands one; `challenge` is an earlier demand.
async fn open_service(
    endpoint: McpEndpoint,
    limits: McpLimits,
    mut challenge: Option<String>,
) -> Result<(Service, Option<Program>), McpError> {
    let mut logins = 0;
    loop {
        let authorized = match (&challenge, endpoint.prompting()) {
            (Some(challenge), Some((url, login))) => Some(login.authorize(url, challenge).await?),
            _ => None,
        };
        match open_either(&endpoint, limits, authorized).await {
            Err(McpError::Authorization {
                challenge: demanded,
            }) if logins < MAX_LOGINS && endpoint.has_prompt() => {
                logins += 1;
                challenge = Some(demanded);
            }
            done => return done,
        }
    }
}

/// Connects: first as to a server of 2026, then as to an older one.
async fn open_either(
    endpoint: &McpEndpoint,
    limits: McpLimits,
    authorized: Option<AuthorizationManager>,
) -> Result<(Service, Option<Program>), McpError> {
    let newest = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    let first = open_once(endpoint, limits, newest, authorized).await;
    match first {
        // A server that answers everything, even unknown requests, or that ends at an unknown request.
        Err(Unopened::Protocol(error)) if may_be_older(&error) => {
            let again = open_once(endpoint, limits, ClientLifecycleMode::Initialize, None).await;
            again.map_err(Unopened::into_error)
        }
        done => done.map_err(Unopened::into_error),
    }
}

fn may_be_older(error: &ClientInitializeError) -> bool {
    matches!(
        error,
        ClientInitializeError::ExpectedInitResult(_)
            | ClientInitializeError::ExpectedInitResponse(_)
            | ClientInitializeError::ConnectionClosed(_)
            | ClientInitializeError::UncorrelatedErrorResponse { .. }
    )
}

/// Why a connection was not made.
enum Unopened {
    Start(McpError),
    Protocol(ClientInitializeError),
    /// The program ended, with its last message.
    Ended(ClientInitializeError, Option<String>),
}

impl Unopened {
    fn into_error(self) -> McpError {
        match self {
            Self::Start(error) => error,
            Self::Protocol(error) => McpError::of_start(&error),
            Self::Ended(error, last) => match (McpError::of_start(&error), last) {
                (McpError::Connection(why), Some(last)) => {
                    McpError::Connection(format!("{why}; its last message: {}", shown(&last)))
                }
                (error, _) => error,
            },
        }
    }
}

async fn open_once(
    endpoint: &McpEndpoint,
    limits: McpLimits,
    lifecycle: ClientLifecycleMode,
    authorized: Option<AuthorizationManager>,
) -> Result<(Service, Option<Program>), Unopened> {
    match endpoint {
        McpEndpoint::Program {
            command,
            args,
            env,
            folder,
        } => {
            let started = Program::start(command, args, env, folder, limits.message);
            let (program, outgoing, incoming) = started.map_err(Unopened::Start)?;
            let served = Host
                .serve_with_lifecycle((outgoing, incoming), lifecycle)
                .await;
            match served {
                Ok(service) => Ok((service, Some(program))),
                Err(error) => {
                    let last = program.last_words();
                    program.end().await;
                    Err(match may_be_older(&error) && last.is_none() {
                        true => Unopened::Protocol(error),
                        false => Unopened::Ended(error, last),
                    })
                }
            }
        }
        McpEndpoint::Address {
            url,
            headers,
            login,
        } => {
            let client = CheckedHttpClient::new(url.clone(), limits.message);
            let custom = headers
                .iter()
                .filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
            let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                .custom_headers(custom.collect())
                .max_sse_event_size(limits.message);
            let manager = match (authorized, login) {
                (Some(manager), _) => Some(manager),
                (None, Some(login)) => Some(login.known(url).await.map_err(Unopened::Start)?),
                (None, None) => None,
            };
            let served = match manager {
                Some(manager) => {
                    let client = AuthClient::new(client, manager);
                    let transport = StreamableHttpClientTransport::with_client(client, config);
                    Host.serve_with_lifecycle(transport, lifecycle).await
                }
                None => {
                    let transport = StreamableHttpClientTransport::with_client(client, config);
                    Host.serve_with_lifecycle(transport, lifecycle).await
                }
            };
            let service = served.map_err(Unopened::Protocol)?;
            Ok((service, None))
        }
    }
}
