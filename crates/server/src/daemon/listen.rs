//! Connections: how many, how slow, over what, and who is let in.

use std::{
    convert::Infallible,
    fs,
    io::{self, ErrorKind},
    net::SocketAddr,
    path::Path,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, Uri, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use metier::{Error, text::one_line};
use rustix::process::{
    PidfdFlags, PidfdGetfdFlags, Resource, Rlimit, getpid, getrlimit, pidfd_getfd, pidfd_open,
    setrlimit,
};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tower_service::Service as _;

use crate::{
    mcp::{McpCaller, McpServer, mcp_service},
    page,
};

use super::{
    DaemonOptions, GRACE,
    access::{COOKIE, COOKIE_LIFE, Caller},
    answer::Refusal,
    decisions, routes,
    skills::{Shared, parameters},
    socket,
    state::DaemonState,
};

/// How long the headers of a request may take, and a handshake of TLS.
const HEADER_TIME: Duration = Duration::from_secs(10);

/// The headers of a request, in bytes and in number.
const MAX_HEADERS: usize = 32 << 10;
const MAX_HEADER_COUNT: usize = 64;

/// The longest address of a request.
const MAX_URI: usize = 8 << 10;

/// A socket that is open, and not read from yet.
pub(super) struct BoundListener {
    socket: std::net::TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    max_connections: u32,
}

impl BoundListener {
    /// Opens the socket, or takes the one that the service manager passed.
    pub(super) fn open(options: &DaemonOptions) -> Result<Self, Error> {
        let tls = match &options.tls {
            Some((chain, key)) => Some(acceptor(chain, key)?),
            None => None,
        };
        let socket = match options.passed_sockets {
            0 => bind(options.listen)?,
            _ => passed_socket().map_err(|error| {
                let message = format!("the passed socket can't be used: {error}");
                Error::broken("listen", message).hint("check the socket unit")
            })?,
        };
        let address = socket.local_addr()?;
        if !address.ip().is_loopback() && tls.is_none() {
            let message = format!("{address} is reachable from other machines, which requires TLS");
            return Err(Error::broken("usage", message)
                .hint("name a certificate with --tls-cert and --tls-key, or listen on 127.0.0.1"));
        }
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            address,
            tls,
            max_connections: u32::try_from(options.max_connections).unwrap_or(u32::MAX),
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn url(&self) -> String {
        let scheme = match self.tls {
            Some(_) => "https",
            None => "http",
        };
        format!("{scheme}://{}", self.address)
    }
}

fn bind(address: SocketAddr) -> Result<std::net::TcpListener, Error> {
    std::net::TcpListener::bind(address).map_err(|error| {
        let refused = Error::broken("listen", format!("can't listen on {address}: {error}"));
        match error.kind() {
            ErrorKind::AddrInUse => refused.hint("choose another port with --listen"),
            _ => refused.hint("choose another address with --listen"),
        }
    })
}

/// The first socket that the service manager passed, which is always handle 3. The copy comes from the kernel (`pidfd_getfd`), because taking over a bare
/// number would be `unsafe`.
fn passed_socket() -> io::Result<std::net::TcpListener> {
    let this = pidfd_open(getpid(), PidfdFlags::empty())?;
    let handle = pidfd_getfd(this, 3, PidfdGetfdFlags::empty())?;
    Ok(std::net::TcpListener::from(handle))
}

fn acceptor(chain: &Path, key: &Path) -> Result<TlsAcceptor, Error> {
    let refused = |path: &Path, why: String| {
        Error::broken("tls", why)
            .path(path)
            .hint("both files must be PEM")
    };
    let read = |path: &Path| fs::read(path).map_err(|error| refused(path, error.to_string()));
    let chain_bytes = read(chain)?;
    let certificates: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_slice_iter(&chain_bytes).collect();
    let certificates = certificates
        .ok()
        .filter(|all| !all.is_empty())
        .ok_or_else(|| refused(chain, "the file contains no certificate".to_owned()))?;
    let private = PrivateKeyDer::from_pem_slice(&read(key)?)
        .map_err(|_| refused(key, "the file contains no private key".to_owned()))?;
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(|error| refused(chain, format!("the certificate can't be used: {error}")))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Each connection is an open file, and a usual limit is 1,024 of them: as many as the user may have are allowed.
pub(super) fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    // With fewer files there are fewer connections.
    setrlimit(Resource::Nofile, raised).ok();
}

/// Accepts connections until `shutdown` ends; then those that are open have a while to end.
pub(super) async fn serve(
    listener: BoundListener,
    gate: Gate,
    shutdown: impl Future<Output = ()>,
    end: watch::Sender<bool>,
) {
    let socket = match TcpListener::from_std(listener.socket) {
        Ok(socket) => socket,
        Err(error) => {
            tracing::error!(%error, "the socket can't be used");
            return;
        }
    };
    let all = listener.max_connections;
    let places = Arc::new(Semaphore::new(all as usize));
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = &mut shutdown => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // For example too many open files, which ends when connections end.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&places).try_acquire_owned() else {
            let refused = &gate.state.metrics.refused_connections;
            refused.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        stream.set_nodelay(true).ok();
        tokio::spawn(connection(
            stream,
            listener.tls.clone(),
            gate.clone(),
            ConnectionPlace::new(&gate.state, permit),
        ));
    }
    drop(socket);
    end.send_replace(true);
    // All places are free again when all connections have ended.
    timeout(GRACE, places.acquire_many(all)).await.ok();
}

/// The place of a connection among those that are allowed at a time. A WebSocket is no longer HTTP's, so what serves it keeps the place.
#[derive(Clone)]
pub(super) struct ConnectionPlace(
    #[expect(dead_code, reason = "held until it is dropped")] Arc<HeldPlace>,
);

struct HeldPlace {
    state: Arc<DaemonState>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionPlace {
    fn new(state: &Arc<DaemonState>, permit: OwnedSemaphorePermit) -> Self {
        state.metrics.connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::new(HeldPlace {
            state: Arc::clone(state),
            _permit: permit,
        }))
    }
}

impl Drop for HeldPlace {
    fn drop(&mut self) {
        let open = &self.state.metrics.connections;
        open.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    gate: Gate,
    place: ConnectionPlace,
) {
    match tls {
        None => requests(stream, &gate, place).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HEADER_TIME, tls.accept(stream)).await {
                requests(stream, &gate, place).await;
            }
        }
    }
}

/// Serves one connection until the client or the daemon ends it.
async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    gate: &Gate,
    place: ConnectionPlace,
) {
    let service = {
        let gate = gate.clone();
        service_fn(move |mut request: hyper::Request<Incoming>| {
            let mut gate = gate.clone();
            request.extensions_mut().insert(place.clone());
            async move { Ok::<_, Infallible>(gate.answer(request.map(Body::new)).await) }
        })
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(MAX_HEADERS)
        .max_headers(MAX_HEADER_COUNT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let mut ending = gate.state.ending.clone();
    tokio::select! {
        // A connection error has no reader: the client disconnected.
        _ended = connection.as_mut() => return,
        _ = ending.wait_for(|ending| *ending) => connection.as_mut().graceful_shutdown(),
    }
    timeout(GRACE, connection).await.ok();
}

/// The gate that every request passes: its source and its token are checked, then a handler gets it.
#[derive(Clone)]
pub(super) struct Gate {
    state: Arc<DaemonState>,
    router: Router,
}

impl Gate {
    pub(super) fn new(state: &Arc<DaemonState>) -> Self {
        let (hosts, origins) = (state.access.hosts(), state.access.origins());
        let mcp = McpServer::watched(state.live.clone());
        let mcp = mcp_service(&mcp, hosts.iter().cloned(), origins);
        let api = routes::router().with_state(Arc::clone(state));
        let router = routes::router()
            .route("/healthz", get(decisions::healthz))
            .route("/metrics", get(decisions::metrics))
            .route("/ws", get(socket::handler))
            .route("/login", get(login))
            .route_service("/mcp", mcp)
            .fallback(unknown)
            .method_not_allowed_fallback(wrong_method)
            .with_state(Arc::clone(state))
            .merge(page::router(api));
        Self {
            state: Arc::clone(state),
            router,
        }
    }

    async fn answer(&mut self, request: Request) -> Response {
        let started = Instant::now();
        let logged = tracing::enabled!(tracing::Level::DEBUG)
            .then(|| (request.method().clone(), request.uri().path().to_owned()));
        let is_page = page::is_page(request.uri().path()) || is_for_people(request.headers());
        let response = match self.admit(request) {
            Ok(request) => match self.router.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            Err(refusal) if is_page => refusal.into_page(),
            Err(refusal) => refusal.into_response(),
        };
        let (status, took) = (response.status().as_u16(), started.elapsed());
        self.state.metrics.answered(status, took);
        if let Some((method, path)) = logged {
            let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            let mut path = one_line(&path);
            path.truncate(path.floor_char_boundary(256));
            tracing::debug!(%method, path, status, ms, "request");
        }
        response
    }

    /// Refuses what must not reach a handler.
    fn admit(&self, mut request: Request) -> Result<Request, Refusal> {
        let access = &self.state.access;
        access.check_source(request.uri(), request.headers())?;
        if request.uri().path().len() + request.uri().query().map_or(0, str::len) > MAX_URI {
            let message = "the address is longer than 8 KB";
            return Err(Refusal::new(414, "too-large", message));
        }
        let path = request.uri().path();
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        if is_read && (matches!(path, "/healthz" | "/login") || path.starts_with(page::ASSETS)) {
            return Ok(request);
        }
        if page::is_page(path) {
            let visit = access.page_visit(request.headers())?;
            request.extensions_mut().insert(visit);
            return Ok(request);
        }
        let caller = access.caller(request.method(), request.headers());
        if path == "/ws" {
            // A browser can't set headers on a WebSocket, so the token can be in the first message. A wrong one in a header is refused here.
            let has_token = request.headers().contains_key(header::AUTHORIZATION);
            let caller: Option<Caller> = match caller {
                Ok(caller) => Some(caller),
                Err(refusal) if has_token => return Err(refusal),
                Err(_) => None,
            };
            request.extensions_mut().insert(caller);
            return Ok(request);
        }
        let caller = caller?;
        if path == "/mcp" {
            let name = match caller {
                Caller::Program => "program",
                Caller::Page => "page",
            };
            request.extensions_mut().insert(McpCaller(name.to_owned()));
        }
        Ok(request)
    }
}

async fn unknown(headers: HeaderMap) -> Response {
    let message = "not found";
    if is_for_people(&headers) {
        return page::refused(404, "not-found", message);
    }
    Refusal::new(404, "not-found", message)
        .hint("GET /api/v1/openapi.json describes all addresses")
        .into_response()
}

/// Whether a browser shows the answer as a page.
fn is_for_people(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT);
    accepted.is_some_and(|kinds| kinds.as_bytes().starts_with(b"text/html"))
}

async fn wrong_method() -> Refusal {
    Refusal::new(405, "wrong-method", "method not allowed")
        .hint("GET /api/v1/openapi.json describes all addresses")
}

/// Exchanges the code of a one-time link for the cookie of the page.
async fn login(
    axum::extract::State(state): Shared,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let code = parameters(&uri)?.remove("code").unwrap_or_default();
    let cookie = match state.access.redeem(&code) {
        Ok(cookie) => cookie,
        Err(refusal) if is_for_people(&headers) => {
            return Ok(refusal.into_page());
        }
        Err(refusal) => return Err(refusal),
    };
    let seconds = COOKIE_LIFE.as_secs();
    let value = format!("{COOKIE}={cookie}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}");
    // Not a redirect: a browser that came from a file or another page would follow that without the cookie.
    let mut response = page::entered();
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&value) {
        headers.insert(header::SET_COOKIE, value);
    }
    Ok(response)
}
