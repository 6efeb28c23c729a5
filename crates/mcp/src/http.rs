//! Streamable HTTP over metier's own network stack.
//!
//! **Problem.** The library's client for HTTP brings a second HTTP stack with its own lookups, redirects, proxies and certificates;
//! metier's checks of addresses would have to be implemented again on top of it.
//!
//! **Decision.** Each request is one call of [`fetch_in_pieces`] on its own thread: the name is resolved once, the address is checked and
//! dialled, a redirect stays on the host, and every size and wait has a limit. Pieces of the body travel through a small channel, so that
//! events arrive while the response is open. When the receiver is dropped the connection is closed, which is how the protocol of 2026
//! cancels a request.

use std::{
    borrow::Cow,
    collections::HashMap,
    io,
    net::{Shutdown, SocketAddr, TcpStream},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, stream, stream::BoxStream};
use http::{HeaderName, HeaderValue, StatusCode};
use metier_host::net::{
    AllowedHosts, Dialled, FetchLimits, FetchRequest, FetchResponse, NetError, Resolve,
    SystemResolver, Trust, fetch_in_pieces,
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, InsufficientScopeError, SseError, StreamableHttpClient,
        StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::{Sse, SseStream};
use tokio::sync::{mpsc, oneshot};
use url::Url;

use crate::{error::shown, message::decode};

/// Bytes of an error's body that are read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// The maximum time that one response can stay open.
const LONGEST: Duration = Duration::from_secs(3600);
/// Redirects within the host, as from `/mcp` to `/mcp/`.
const MAX_REDIRECTS: usize = 3;

/// A client for one address.
#[derive(Clone)]
pub(crate) struct CheckedHttpClient {
    shared: Arc<Shared>,
}

struct Shared {
    url: Url,
    hosts: OnceLock<Result<AllowedHosts, String>>,
    trust: Trust,
    max_message: usize,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpFailure {
    #[error("{0}")]
    Net(String),
    #[error("its answer is larger than {0} bytes")]
    TooLarge(usize),
}

type HttpError = StreamableHttpError<HttpFailure>;

impl CheckedHttpClient {
    pub(crate) fn new(url: Url, max_message: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                url,
                hosts: OnceLock::new(),
                trust: Trust::system(),
                max_message,
            }),
        }
    }

    /// Sends a request, and returns the response as soon as its head has arrived.
    async fn send(
        &self,
        method: &str,
        url: &str,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> Result<OpenResponse, HttpError> {
        let request = FetchRequest {
            method: method.to_owned(),
            url: url.to_owned(),
            headers,
            body,
        };
        let (head, head_there) = oneshot::channel();
        let (pieces, rest) = mpsc::channel(16);
        let line = OpenLine::default();
        let guard = LineGuard(line.clone());
        let shared = Arc::clone(&self.shared);
        thread::Builder::new()
            .name("metier-mcp-http".to_owned())
            .spawn(move || exchange(&shared, &request, &line, head, &pieces))?;
        let response = head_there.await.unwrap_or_else(|_| {
            let ended = "the connection ended before it answered".to_owned();
            Err(HttpFailure::Net(ended))
        });
        Ok(OpenResponse {
            head: response.map_err(StreamableHttpError::Client)?,
            body: Pieces {
                rest,
                _guard: guard,
            },
            max: self.shared.max_message,
        })
    }
}

/// One request, on its own thread.
fn exchange(
    shared: &Shared,
    request: &FetchRequest,
    line: &OpenLine,
    head: oneshot::Sender<Result<FetchResponse, HttpFailure>>,
    pieces: &mpsc::Sender<Result<Bytes, io::Error>>,
) {
    let resolver = SystemResolver::default();
    let hosts = shared.hosts.get_or_init(|| {
        AllowedHosts::typed([&shared.url], false, &resolver).map_err(|error| error.to_string())
    });
    let hosts = match hosts {
        Ok(hosts) => hosts,
        Err(error) => {
            head.send(Err(HttpFailure::Net(error.clone()))).ok();
            return;
        }
    };
    let limits = FetchLimits {
        timeout: LONGEST,
        // One message is limited as it arrives; this limit is for an endless stream of them.
        max_body: shared.max_message as u64 * 4,
        max_upload: shared.max_message,
        max_redirects: MAX_REDIRECTS,
        ..FetchLimits::default()
    };
    let mut head = Some(head);
    let mut take = |response: &FetchResponse, piece: &[u8]| match head.take() {
        Some(head) => head.send(Ok(response.clone())).is_ok(),
        None => pieces
            .blocking_send(Ok(Bytes::copy_from_slice(piece)))
            .is_ok(),
    };
    let done = fetch_in_pieces(request, hosts, &limits, line, &shared.trust, &mut take);
    if let Err(error) = done {
        let text = reason(&error);
        match head.take() {
            Some(head) => {
                head.send(Err(HttpFailure::Net(text))).ok();
            }
            None => {
                pieces.blocking_send(Err(io::Error::other(text))).ok();
            }
        }
    }
}

/// The user configured the address, so the user may see the cause.
fn reason(error: &NetError) -> String {
    match error {
        NetError::Unreachable { host, cause } => format!("`{host}` can't be reached: {cause}"),
        error => error.to_string(),
    }
}

/// The connection of one request, which another thread can close.
#[derive(Clone, Default)]
struct OpenLine {
    state: Arc<Mutex<LineState>>,
    system: SystemResolver,
}

#[derive(Default)]
struct LineState {
    stream: Option<TcpStream>,
    is_closed: bool,
}

impl OpenLine {
    fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_closed = true;
        if let Some(stream) = state.stream.take() {
            stream.shutdown(Shutdown::Both).ok();
        }
    }
}

impl Resolve for OpenLine {
    fn resolve(&self, host: &str, port: u16, within: Duration) -> io::Result<Vec<SocketAddr>> {
        self.system.resolve(host, port, within)
    }

    fn dial(&self, address: SocketAddr, within: Duration) -> io::Result<Dialled> {
        let dialled = self.system.dial(address, within)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        state.stream = Some(dialled.stream.try_clone()?);
        Ok(dialled)
    }
}

/// Closes the connection when nothing waits for it any more.
struct LineGuard(OpenLine);

impl Drop for LineGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A body as it arrives.
struct Pieces {
    rest: mpsc::Receiver<Result<Bytes, io::Error>>,
    _guard: LineGuard,
}

/// A response whose body is still arriving.
struct OpenResponse {
    head: FetchResponse,
    body: Pieces,
    max: usize,
}

impl OpenResponse {
    fn status(&self) -> u16 {
        self.head.status
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.head.headers.iter();
        let found = headers.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn is_type(&self, wanted: &str) -> bool {
        let found = self.header("content-type").unwrap_or_default();
        let found = found.split(';').next().unwrap_or_default();
        found.trim().eq_ignore_ascii_case(wanted)
    }

    /// The whole body, if it is not larger than a message can be.
    async fn whole(mut self) -> Result<Vec<u8>, HttpError> {
        let mut whole = Vec::new();
        while let Some(piece) = self.body.rest.recv().await {
            whole.extend_from_slice(&piece?);
            if whole.len() > self.max {
                let failure = HttpFailure::TooLarge(self.max);
                return Err(StreamableHttpError::Client(failure));
            }
        }
        Ok(whole)
    }

    /// The start of an error's body.
    async fn error_text(mut self) -> String {
        let mut text = Vec::new();
        while let Some(Ok(piece)) = self.body.rest.recv().await {
            text.extend_from_slice(&piece);
            if text.len() > MAX_ERROR_BODY {
                break;
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The events of the body. An event that is larger than a message can be ends them.
    fn events(self) -> BoxStream<'static, Result<Sse, SseError>> {
        let max = self.max;
        let bytes = stream::unfold((self.body, 0_usize, [0_u8; 2]), move |state| async move {
            let (mut body, mut size, mut last) = state;
            let piece = match body.rest.recv().await? {
                Ok(piece) => piece,
                Err(error) => return Some((Err(error), (body, size, last))),
            };
            for byte in &piece {
                size += 1;
                if *byte != b'\r' {
                    last = [last[1], *byte];
                }
                if last == *b"\n\n" {
                    size = 0;
                }
                if size > max {
                    body.rest.close();
                    let large = io::Error::other(HttpFailure::TooLarge(max));
                    return Some((Err(large), (body, size, last)));
                }
            }
            Some((Ok(piece), (body, size, last)))
        });
        SseStream::from_bytes_stream(bytes)
            .map(|event| event.map(readable))
            .boxed()
    }

    /// The error of a response without success, if it is one.
    async fn refused(self, message: Option<&ClientJsonRpcMessage>, in_session: bool) -> Refused {
        let status = self.status();
        let challenge = self.header("www-authenticate").map(str::to_owned);
        match (status, challenge) {
            (401, challenge) => {
                let header = challenge.unwrap_or_default();
                let required = AuthRequiredError::new(header);
                return Refused::Error(StreamableHttpError::AuthRequired(required));
            }
            (403, Some(header)) => {
                let scope = scope_of(&header);
                let missing = InsufficientScopeError::new(header, scope);
                return Refused::Error(StreamableHttpError::InsufficientScope(missing));
            }
            (404, _) if in_session => return Refused::Error(StreamableHttpError::SessionExpired),
            _ => {}
        }
        let text = self.error_text().await;
        let error = match decode(text.as_bytes()) {
            Ok(ServerJsonRpcMessage::Error(error)) => Some(error.error),
            _ => None,
        };
        let request = match message {
            Some(ClientJsonRpcMessage::Request(request)) => Some(request),
            _ => None,
        };
        let is_probe =
            |request: &ClientRequest| matches!(request, ClientRequest::DiscoverRequest(_));
        let in_400s = StatusCode::from_u16(status).is_ok_and(|status| status.is_client_error());
        match (request, error) {
            // An error of the protocol is an answer, with any status.
            (Some(request), Some(error)) => Refused::Answer(error, request.id.clone()),
            // Older servers refuse the probe for the newer protocol with any 4xx status.
            (Some(request), None) if in_400s && !in_session && is_probe(&request.request) => {
                let unknown = ErrorData::invalid_request(format!("HTTP {status}"), None);
                Refused::Answer(unknown, request.id.clone())
            }
            _ => {
                let text = format!("HTTP {status}: {}", shown(&text));
                Refused::Error(StreamableHttpError::UnexpectedServerResponse(text.into()))
            }
        }
    }
}

/// The error for an unsuccessful response.
enum Refused {
    Answer(ErrorData, rmcp::model::RequestId),
    Error(HttpError),
}

/// The data of an event, as the library can read it.
fn readable(event: Sse) -> Sse {
    let Some(Ok(message)) = event.data.as_deref().map(|data| decode(data.as_bytes())) else {
        return event;
    };
    Sse {
        data: serde_json::to_string(&message).ok(),
        ..event
    }
}

/// The scope that a server demands.
fn scope_of(header: &str) -> Option<String> {
    let start = header.to_ascii_lowercase().find("scope=")? + "scope=".len();
    let value = &header[start..];
    let end = match value.strip_prefix('"') {
        Some(quoted) => return quoted.split('"').next().map(str::to_owned),
        None => value.find([',', ' ']).unwrap_or(value.len()),
    };
    Some(value[..end].to_owned())
}

/// The headers of a request: those of the protocol, then the user's.
fn headers(
    first: &[(&str, &str)],
    session: Option<&str>,
    token: Option<&str>,
    custom: HashMap<HeaderName, HeaderValue>,
) -> Vec<(String, String)> {
    let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut headers: Vec<(String, String)> = vec![own("accept-encoding", "identity")];
    headers.extend(first.iter().map(|(name, value)| own(name, value)));
    headers.extend(session.map(|id| own("mcp-session-id", id)));
    headers.extend(token.map(|token| own("authorization", &format!("Bearer {token}"))));
    let mut custom: Vec<(String, String)> = custom
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect();
    custom.sort();
    for (name, value) in custom {
        if !headers.iter().any(|(known, _)| *known == name) {
            headers.push((name, value));
        }
    }
    headers
}

impl StreamableHttpClient for CheckedHttpClient {
    type Error = HttpFailure;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let accept = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let (session, token) = (session_id.as_deref(), auth_header.as_deref());
        let headers = headers(&accept, session, token, custom_headers);
        let body = serde_json::to_vec(&message)?;
        let response = self.send("POST", &uri, headers, body).await?;
        let status = response.status();
        if matches!(status, 202 | 204) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if !(200..300).contains(&status) {
            return match response.refused(Some(&message), session.is_some()).await {
                Refused::Error(error) => Err(error),
                Refused::Answer(error, id) => {
                    let answer = ServerJsonRpcMessage::error(error, Some(id));
                    Ok(StreamableHttpPostResponse::Json(answer, None))
                }
            };
        }
        let new_session = response.header("mcp-session-id").map(str::to_owned);
        if response.is_type("text/event-stream") {
            return Ok(StreamableHttpPostResponse::Sse(
                response.events(),
                new_session,
            ));
        }
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        if !response.is_type("application/json") {
            if !is_request {
                return Ok(StreamableHttpPostResponse::Accepted);
            }
            let found = response.header("content-type").map(shown);
            return Err(StreamableHttpError::UnexpectedContentType(found));
        }
        let body = response.whole().await?;
        match decode(&body) {
            Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, new_session)),
            Err(_) if !is_request => Ok(StreamableHttpPostResponse::Accepted),
            Err(error) => Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(
                format!("its response is not a valid message: {error}"),
            ))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        let (session, token) = (Some(&*session_id), auth_header.as_deref());
        let headers = headers(&[], session, token, custom_headers);
        // The server may forget the session; nothing here depends on it.
        self.send("DELETE", &uri, headers, Vec::new()).await?;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let mut first = vec![("accept", "text/event-stream")];
        if let Some(id) = &last_event_id {
            first.push(("last-event-id", id));
        }
        let (session, token) = (session_id.as_deref(), auth_header.as_deref());
        let headers = headers(&first, session, token, custom_headers);
        let response = self.send("GET", &uri, headers, Vec::new()).await?;
        match response.status() {
            405 => Err(StreamableHttpError::ServerDoesNotSupportSse),
            200..300 if response.is_type("text/event-stream") => Ok(response.events()),
            200..300 => {
                let found = response.header("content-type").map(shown);
                Err(StreamableHttpError::UnexpectedContentType(found))
            }
            _ => match response.refused(None, session.is_some()).await {
                Refused::Error(error) => Err(error),
                Refused::Answer(..) => Err(StreamableHttpError::ServerDoesNotSupportSse),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_read_quoted_and_bare() {
        let check = |header: &str, expected: Option<&str>| {
            assert_eq!(scope_of(header).as_deref(), expected, "{header}");
        };
        check(
            r#"Bearer error="insufficient_scope", scope="a b""#,
            Some("a b"),
        );
        check("Bearer scope=a, realm=x", Some("a"));
        check("Bearer realm=x", None);
    }

    #[test]
    fn the_user_does_not_replace_headers_of_the_protocol() {
        let custom = HashMap::from([
            (
                HeaderName::from_static("accept"),
                HeaderValue::from_static("x"),
            ),
            (
                HeaderName::from_static("x-key"),
                HeaderValue::from_static("k"),
            ),
        ]);
        let all = headers(
            &[("accept", "text/event-stream")],
            Some("s"),
            Some("t"),
            custom,
        );
        let value = |name: &str| {
            let found: Vec<&str> = all
                .iter()
                .filter(|(known, _)| known == name)
                .map(|(_, value)| value.as_str())
                .collect();
            found
        };
        assert_eq!(value("accept"), ["text/event-stream"]);
        assert_eq!(value("authorization"), ["Bearer t"]);
        assert_eq!(value("x-key"), ["k"]);
    }
}
