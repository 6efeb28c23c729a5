//! Servers that require an authorization: OAuth, with the tokens in a private file of the user.
//!
//! **Problem.** Many remote servers reply to the first request with 401 and the address of an authorization server. The user has to be sent
//! there with a browser, and the tokens have to be stored where no skill reads them. **Decision.** The library's state machine does OAuth
//! (discovery, registration, PKCE, issuer, scopes, refresh); every request that it makes goes through metier's own network checks, and only
//! [`LoginPrompt`] interacts with the user. Without a prompt no browser is opened: kept tokens are used and refreshed, and a server that
//! wants more is an error.

use std::{
    fs,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use metier_catalog::read_bytes;
use metier_host::net::{AllowedHosts, FetchLimits, FetchRequest, SystemResolver, Trust, fetch};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, CredentialStore, OAuthHttpClient,
    OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest, OAuthState,
    StoredCredentials,
};
use url::Url;

use crate::error::{McpError, shown};

/// The maximum size of an authorization server's response, in bytes.
const MAX_ANSWER: u64 = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest file of tokens.
const MAX_TOKENS: u64 = 1 << 20;

/// How the user is authorized at a server.
#[derive(Clone)]
pub struct McpLogin {
    /// The file that tokens are kept in. Only the user can read it.
    pub file: PathBuf,
    /// Sends the user to a browser; without it none is opened.
    pub prompt: Option<Arc<dyn LoginPrompt>>,
    /// The client that is registered at the authorization server, if the user has one.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// The address of a document that describes metier as a client, for servers that accept one instead of a registration.
    pub client_metadata_url: Option<String>,
}

/// Sends the user to an address, and waits for the browser to come back.
pub trait LoginPrompt: Send + Sync {
    /// The address that the browser is sent back to.
    fn redirect_uri(&self) -> String;

    /// Shows the user an address, and returns the complete address that the browser was redirected to.
    ///
    /// # Errors
    /// Why it did not come back.
    fn visit(&self, url: &str) -> Result<String, String>;
}

impl McpLogin {
    /// A manager with the kept tokens, if there are some.
    pub(crate) async fn manager(&self, server: &Url) -> Result<AuthorizationManager, McpError> {
        let network = Arc::new(CheckedOAuth {
            server: server.clone(),
            trust: Trust::system(),
        });
        let made = AuthorizationManager::new_with_oauth_http_client(server.as_str(), network);
        let mut manager = made.await.map_err(|error| failed(&error))?;
        manager.set_credential_store(TokenFile {
            file: self.file.clone(),
            server: server.to_string(),
        });
        Ok(manager)
    }

    /// [`Self::manager`], with the kept tokens ready for use. Tokens that can't be used are treated like missing ones.
    pub(crate) async fn known(&self, server: &Url) -> Result<AuthorizationManager, McpError> {
        let mut manager = self.manager(server).await?;
        manager.initialize_from_store().await.ok();
        Ok(manager)
    }

    /// Sends the user through the login that a server demands, and returns the manager with the new tokens.
    pub(crate) async fn authorize(
        &self,
        server: &Url,
        challenge: &str,
    ) -> Result<AuthorizationManager, McpError> {
        let Some(prompt) = self.prompt.clone() else {
            return Err(McpError::Authorization {
                challenge: challenge.to_owned(),
            });
        };
        let mut request =
            AuthorizationRequest::new(prompt.redirect_uri()).with_client_name("metier");
        if !challenge.is_empty() {
            request = request.with_challenge(challenge);
        }
        request.client_id.clone_from(&self.client_id);
        request.client_secret.clone_from(&self.client_secret);
        request
            .client_metadata_url
            .clone_from(&self.client_metadata_url);
        let mut state = OAuthState::Unauthorized(self.manager(server).await?);
        state
            .start_authorization(request)
            .await
            .map_err(|error| failed(&error))?;
        let url = state
            .get_authorization_url()
            .await
            .map_err(|error| failed(&error))?;
        // The login can take minutes, so it blocks a thread of its own and not the runtime.
        let visited = tokio::task::spawn_blocking(move || prompt.visit(&url)).await;
        let visited = visited
            .map_err(|error| error.to_string())
            .and_then(|done| done);
        let callback = visited.map_err(McpError::Connection)?;
        state
            .handle_callback_url(&callback)
            .await
            .map_err(|error| failed(&error))?;
        let manager = state.into_authorization_manager();
        manager.ok_or_else(|| McpError::Connection("the login was not completed".to_owned()))
    }
}

fn failed(error: &AuthError) -> McpError {
    McpError::Connection(format!("the login failed: {}", shown(&error.to_string())))
}

/// Requests to authorization servers: any public host, and this machine's if the server itself is on it.
struct CheckedOAuth {
    server: Url,
    trust: Trust,
}

impl CheckedOAuth {
    fn hosts(&self, resolver: &SystemResolver) -> Result<AllowedHosts, String> {
        let is_local = match self.server.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        let hosts = match is_local {
            true => {
                let local = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
                AllowedHosts::new(&local, true)
            }
            false => AllowedHosts::typed([&self.server], true, resolver),
        };
        hosts.map_err(|error| error.to_string())
    }

    fn send(&self, request: &OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, String> {
        let resolver = SystemResolver::default();
        let hosts = self.hosts(&resolver)?;
        let sent = &request.request;
        let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            let is_ours = matches!(name.as_str(), "host" | "content-length");
            let value = value.to_str().ok()?.to_owned();
            (!is_ours).then(|| (name.to_string(), value))
        };
        let fetched = FetchRequest {
            method: sent.method().to_string(),
            url: sent.uri().to_string(),
            headers: sent.headers().iter().filter_map(header).collect(),
            body: sent.body().clone(),
        };
        let limits = FetchLimits {
            timeout: request.timeout.unwrap_or(TIMEOUT).min(TIMEOUT),
            max_body: MAX_ANSWER,
            max_redirects: match request.redirect_policy {
                OAuthHttpRedirectPolicy::Follow => 3,
                _ => 0,
            },
            ..FetchLimits::default()
        };
        let response = fetch(&fetched, &hosts, &limits, &resolver, &self.trust);
        let response = response.map_err(|error| error.to_string())?;
        let mut answer = http::Response::builder().status(response.status);
        for (name, value) in &response.headers {
            answer = answer.header(name, value);
        }
        answer
            .body(response.body)
            .map_err(|error| error.to_string())
    }
}

impl OAuthHttpClient for CheckedOAuth {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        let own = Self {
            server: self.server.clone(),
            trust: self.trust.clone(),
        };
        Box::pin(async move {
            let sent = tokio::task::spawn_blocking(move || own.send(&request)).await?;
            Ok(sent?)
        })
    }
}

/// The file with the tokens of one server.
struct TokenFile {
    file: PathBuf,
    server: String,
}

/// The stored data: tokens belong to one address.
#[derive(serde::Serialize, serde::Deserialize)]
struct KeptTokens {
    server: String,
    credentials: StoredCredentials,
}

#[async_trait::async_trait]
impl CredentialStore for TokenFile {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let Ok(bytes) = read_bytes(&self.file, MAX_TOKENS) else {
            return Ok(None);
        };
        let kept: Option<KeptTokens> = serde_json::from_slice(&bytes).ok();
        let kept = kept.filter(|kept| kept.server == self.server);
        Ok(kept.map(|kept| kept.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let kept = KeptTokens {
            server: self.server.clone(),
            credentials,
        };
        let written = serde_json::to_vec(&kept)
            .map_err(io::Error::from)
            .and_then(|bytes| write_private(&self.file, &bytes));
        written.map_err(|error| AuthError::InternalError(error.to_string()))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        fs::remove_file(&self.file).ok();
        Ok(())
    }
}

/// Replaces a file that only the user can read.
fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let draft = file.with_extension("new");
    fs::remove_file(&draft).ok();
    let mut options = fs::OpenOptions::new();
    let mut new = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    new.write_all(bytes)?;
    fs::rename(&draft, file)
}

/// A browser on this machine: it is redirected to an address of this machine, on which one request is expected.
pub struct BrowserLogin {
    listener: TcpListener,
    port: u16,
    limit: Duration,
    tell: Box<dyn Fn(&str) + Send + Sync>,
}

impl BrowserLogin {
    /// Listens on a port of this machine. `tell` shows the user the address to open.
    ///
    /// # Errors
    /// If no port is free.
    pub fn new(limit: Duration, tell: impl Fn(&str) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            port: listener.local_addr()?.port(),
            listener,
            limit,
            tell: Box::new(tell),
        })
    }
}

impl LoginPrompt for BrowserLogin {
    fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}/callback", self.port)
    }

    fn visit(&self, url: &str) -> Result<String, String> {
        (self.tell)(url);
        let until = Instant::now() + self.limit;
        while Instant::now() < until {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    if let Some(path) = answered(stream) {
                        return Ok(format!("http://127.0.0.1:{}{path}", self.port));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(format!(
            "the browser did not return within {} seconds",
            self.limit.as_secs()
        ))
    }
}

/// The path of the request, if it is the expected one.
fn answered(mut stream: TcpStream) -> Option<String> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut head = [0; 8192];
    let count = stream.read(&mut head).ok()?;
    let line = String::from_utf8_lossy(&head[..count]);
    let path = line.strip_prefix("GET ")?.split(' ').next()?.to_owned();
    let is_callback = path.starts_with("/callback?");
    let (status, text) = match is_callback {
        true => ("200 OK", "You can close this page and go back to metier."),
        false => ("404 Not Found", "Not found."),
    };
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
    );
    stream.write_all(answer.as_bytes()).ok();
    is_callback.then_some(path)
}
