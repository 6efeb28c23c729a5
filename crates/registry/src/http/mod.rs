//! The registry over HTTP.
//!
//! A handler parses, calls one method of [`Registry`] on a thread for blocking work, and turns the result into a response. A panic there
//! causes status 500, and the server continues.

mod answer;
mod background;
mod clawhub;
mod rate;
mod well_known;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use metier_package::registry_api::{
    PublishStatus, RegistryVersion, SIGNATURE_HEADER, SIGNER_HEADER, YankRequest,
};
use serde::Deserialize;
use tokio::net::TcpListener;

use crate::package_check::MAX_PACKAGE;
use crate::registry::{PackageUpload, Registry, RegistryError, RequestRefusal};

use answer::{BytesAnswer, document, failure, refuse};
use rate::RateLimiter;

pub use background::BackgroundServer;

/// The description of the interface for programs.
const OPENAPI: &str = include_str!("openapi.json");
/// How long a request can take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum size of a request's body in bytes, unless it is a package.
const MAX_REQUEST: usize = 64 << 10;

/// Where packages are published.
const PACKAGES: &str = "/api/v1/packages";

/// The state that handlers share.
struct HttpState {
    registry: Registry,
    rates: RateLimiter,
    /// The address that clients use, if it differs from the requested one.
    public_url: Option<String>,
}

type Shared = State<Arc<HttpState>>;

/// Serves a registry until `shutdown` ends; requests that began before that are completed.
///
/// # Errors
/// If the listener fails.
pub async fn serve(
    listener: TcpListener,
    registry: Registry,
    public_url: Option<String>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let service = routes(registry, public_url).into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service)
        .with_graceful_shutdown(shutdown)
        .await
}

fn routes(registry: Registry, public_url: Option<String>) -> Router {
    let state = Arc::new(HttpState {
        registry,
        rates: RateLimiter::default(),
        public_url,
    });
    let version = "/api/v1/skills/{name}/{version}";
    Router::new()
        .route("/healthz", get(healthz))
        .route("/api/v1/openapi.json", get(openapi))
        .route("/api/v1/search", get(search))
        .route("/api/v1/skills", get(search))
        .route("/api/v1/skills/{name}", get(skill))
        .route(version, get(one_version))
        .route(&format!("{version}/package"), get(package))
        .route(&format!("{version}/archive.zip"), get(flat_archive))
        .route(&format!("{version}/signature"), get(signature))
        .route(&format!("{version}/checksums"), get(checksums))
        .route(&format!("{version}/yank"), put(yank).delete(unyank))
        .route("/api/v1/log", get(log))
        .route("/api/v1/account", get(account))
        .route(
            PACKAGES,
            post(publish).layer(DefaultBodyLimit::max(MAX_PACKAGE)),
        )
        .merge(well_known::routes())
        .merge(clawhub::routes())
        .fallback(unknown)
        .layer(DefaultBodyLimit::max(MAX_REQUEST))
        .layer(middleware::from_fn_with_state(Arc::clone(&state), guard))
        .with_state(state)
}

/// Every request: limited in rate and time, and logged.
async fn guard(
    State(state): Shared,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let is_read = matches!(method, Method::GET | Method::HEAD);
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length: Option<usize> = length.and_then(|length| length.to_str().ok()?.parse().ok());
    let limit = match path.as_str() {
        PACKAGES => MAX_PACKAGE,
        _ => MAX_REQUEST,
    };
    let client = client_address(state.public_url.is_some(), request.headers(), peer);
    let response = match state.rates.admit(client, is_read, started) {
        // Refused by its announced length, before a byte of the body is read.
        Ok(()) if length.is_some_and(|length| length > limit) => {
            let message = format!("the request is larger than {limit} bytes");
            refuse(&RequestRefusal::new(413, "too-large", message))
        }
        Err(wait) => {
            let message = "too many requests from this address".to_owned();
            let mut response = refuse(&RequestRefusal::new(429, "too-many-requests", message));
            let wait = axum::http::HeaderValue::from(wait.as_secs() + 1);
            response.headers_mut().insert(header::RETRY_AFTER, wait);
            response
        }
        Ok(()) => match tokio::time::timeout(REQUEST_TIMEOUT, next.run(request)).await {
            Ok(response) => response,
            Err(_) => {
                let message = format!("the request took longer than {REQUEST_TIMEOUT:?}");
                refuse(&RequestRefusal::new(408, "timeout", message))
            }
        },
    };
    tracing::info!(
        client = %client,
        method = %method,
        path = %metier_model::text::visible(&path),
        status = response.status().as_u16(),
        ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        "request"
    );
    response
}

/// The client address of a request. A proxy appends the address of its client; without one, the header is only a claim of the client.
fn client_address(has_proxy: bool, headers: &HeaderMap, peer: SocketAddr) -> IpAddr {
    let stated = headers.get_all("x-forwarded-for").iter().next_back();
    let stated = stated.and_then(|value| value.to_str().ok()?.rsplit(',').next());
    let stated = stated.and_then(|address| address.trim().parse().ok());
    stated.filter(|_| has_proxy).unwrap_or(peer.ip())
}

/// Runs a method of the registry on a thread for blocking work.
async fn blocking<T: Send + 'static>(
    state: Arc<HttpState>,
    work: impl FnOnce(&Registry) -> Result<T, RegistryError> + Send + 'static,
) -> Result<T, Response> {
    match tokio::task::spawn_blocking(move || work(&state.registry)).await {
        Ok(result) => result.map_err(|error| failure(&error)),
        Err(error) => {
            tracing::error!(%error, "a request failed");
            let message = "the registry failed; its log has the reason".to_owned();
            Err(refuse(&RequestRefusal::new(500, "failed", message)))
        }
    }
}

async fn unknown() -> Response {
    let message = "not found".to_owned();
    refuse(&RequestRefusal::new(404, "not-found", message))
}

async fn healthz(State(state): Shared) -> Response {
    match blocking(state, |registry| registry.log(u64::MAX, 1)).await {
        Ok(_) => "ok\n".into_response(),
        Err(response) => response,
    }
}

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

#[derive(Deserialize)]
struct SearchQuery {
    #[serde(default)]
    q: String,
    #[serde(default)]
    offset: u64,
    limit: Option<u64>,
}

async fn search(
    State(state): Shared,
    headers: HeaderMap,
    Query(query): Query<SearchQuery>,
) -> Response {
    let limit = query.limit.unwrap_or(50);
    let found = blocking(state, move |registry| {
        registry.search(&query.q, query.offset, limit)
    });
    document(found.await, &headers)
}

async fn skill(State(state): Shared, headers: HeaderMap, Path(name): Path<String>) -> Response {
    document(
        blocking(state, move |registry| registry.skill(&name)).await,
        &headers,
    )
}

type VersionPath = Path<(String, String)>;

async fn one_version(
    State(state): Shared,
    headers: HeaderMap,
    Path((name, version)): VersionPath,
) -> Response {
    let found = blocking(state, move |registry| registry.version(&name, &version));
    document(found.await, &headers)
}

async fn package(
    State(state): Shared,
    headers: HeaderMap,
    Path((name, version)): VersionPath,
) -> Response {
    match blocking(state, move |registry| registry.package(&name, &version)).await {
        Ok((version, bytes)) => {
            let name = format!("{}-{}.skill", version.name, version.version);
            BytesAnswer::archive(bytes, &version.archive, name).answer(&headers)
        }
        Err(response) => response,
    }
}

async fn flat_archive(
    State(state): Shared,
    headers: HeaderMap,
    Path((name, version)): VersionPath,
) -> Response {
    match blocking(state, move |registry| {
        registry.flat_archive(&name, &version)
    })
    .await
    {
        Ok((version, bytes)) => {
            let name = format!("{}-{}.zip", version.name, version.version);
            BytesAnswer::archive(bytes, &version.flat_archive, name).answer(&headers)
        }
        Err(response) => response,
    }
}

async fn signature(State(state): Shared, Path((name, version)): VersionPath) -> Response {
    match blocking(state, move |registry| registry.signature(&name, &version)).await {
        Ok(text) => text.into_response(),
        Err(response) => response,
    }
}

async fn checksums(State(state): Shared, Path((name, version)): VersionPath) -> Response {
    match blocking(state, move |registry| registry.version(&name, &version)).await {
        Ok(version) => checksum_lines(&version).into_response(),
        Err(response) => response,
    }
}

/// The lines for `sha256sum --check`, in a folder with the package and its files.
fn checksum_lines(version: &RegistryVersion) -> String {
    let (name, number) = (&version.name, &version.version);
    let hex = |digest: &str| digest.trim_start_matches("sha256:").to_owned();
    let mut lines = format!("{}  {name}-{number}.skill\n", hex(&version.archive));
    for file in &version.files {
        lines.push_str(&format!("{}  {name}/{}\n", hex(&file.digest), file.path));
    }
    lines
}

#[derive(Deserialize)]
struct LogQuery {
    #[serde(default)]
    after: u64,
    limit: Option<u64>,
}

async fn log(State(state): Shared, headers: HeaderMap, Query(query): Query<LogQuery>) -> Response {
    let limit = query.limit.unwrap_or(1_000);
    let found = blocking(state, move |registry| registry.log(query.after, limit));
    document(found.await, &headers)
}

/// The token of a request.
fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim().to_owned())
}

async fn account(State(state): Shared, headers: HeaderMap) -> Response {
    let token = bearer(&headers);
    let found = blocking(state, move |registry| registry.account(token.as_deref()));
    document(found.await, &headers)
}

#[derive(Deserialize)]
struct PublishQuery {
    #[serde(default)]
    allow_similar: bool,
}

async fn publish(
    State(state): Shared,
    headers: HeaderMap,
    Query(query): Query<PublishQuery>,
    body: Bytes,
) -> Response {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let signature = match text(SIGNATURE_HEADER).map(|value| STANDARD.decode(value)) {
        None => None,
        Some(Ok(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Some(Err(_)) => {
            let message = format!("the header `{SIGNATURE_HEADER}` is not base64");
            return refuse(&RequestRefusal::new(400, "invalid-signature", message));
        }
    };
    let upload = PackageUpload {
        bytes: body.to_vec(),
        signature,
        signer: text(SIGNER_HEADER).map(str::to_owned),
        allow_similar: query.allow_similar,
    };
    let token = bearer(&headers);
    let published = blocking(state, move |registry| {
        registry.publish(token.as_deref(), &upload)
    })
    .await;
    let status = match &published {
        Ok(answer) if answer.status == PublishStatus::Published => StatusCode::CREATED,
        Ok(answer) if answer.status == PublishStatus::Quarantined => StatusCode::ACCEPTED,
        _ => StatusCode::OK,
    };
    let mut response = document(published, &HeaderMap::new());
    if response.status() == StatusCode::OK {
        *response.status_mut() = status;
    }
    response
}

async fn yank(
    State(state): Shared,
    headers: HeaderMap,
    Path((name, version)): VersionPath,
    axum::Json(request): axum::Json<YankRequest>,
) -> Response {
    let token = bearer(&headers);
    let yanked = blocking(state, move |registry| {
        registry.set_yanked(token.as_deref(), &name, &version, Some(&request.reason))
    });
    document(yanked.await, &HeaderMap::new())
}

async fn unyank(
    State(state): Shared,
    headers: HeaderMap,
    Path((name, version)): VersionPath,
) -> Response {
    let token = bearer(&headers);
    let unyanked = blocking(state, move |registry| {
        registry.set_yanked(token.as_deref(), &name, &version, None)
    });
    document(unyanked.await, &HeaderMap::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_address_counts_only_behind_a_proxy_and_only_the_last_one() {
        let peer: SocketAddr = "192.0.2.9:1".parse().unwrap();
        let check = |has_proxy, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(
                "x-forwarded-for",
                axum::http::HeaderValue::from_static(value),
            );
            client_address(has_proxy, &headers, peer).to_string()
        };
        assert_eq!(check(false, "198.51.100.1"), "192.0.2.9");
        assert_eq!(check(true, "203.0.113.5, 198.51.100.1"), "198.51.100.1");
        assert_eq!(check(true, "unknown"), "192.0.2.9");
    }
}
