//! One request and its response, on a separate thread.
//!
//! **Problem.** The call blocks, but it has to end immediately when it is cancelled: during a DNS lookup, while a model thinks, between
//! two words. **Decision.** A thread communicates with the server and passes on the data; the waiting thread checks the flag in between.
//! When the wait ends, the connection is shut down, so that the provider stops writing, and the thread ends by itself: immediately,
//! or after the timeout of a connection that is not open yet.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, HeaderValue, header};
use ureq::{Agent, Timeout};

use super::connection::ProviderConnection;
use super::endpoint::Endpoint;
use super::limits::ProviderLimits;
use super::name::ProviderKind;
use crate::{Cancel, TimeoutKind};

/// The parts of a response, in the order of their arrival.
#[derive(Debug)]
pub(super) enum ResponsePart {
    Head(ResponseHead),
    Body(Vec<u8>),
    End,
}

/// The start of a response.
#[derive(Debug)]
pub(super) struct ResponseHead {
    pub(super) status: u16,
    /// How long to wait before the next request, if the server states it.
    pub(super) after: Option<Duration>,
    /// Whether events follow, or one document.
    pub(super) is_stream: bool,
}

/// Why no more data comes.
#[derive(Debug)]
pub(super) enum Stopped {
    Cancelled,
    TimedOut(TimeoutKind),
    TooLarge,
    /// There is no connection, or no trusted one.
    Unreachable(String),
    Untrusted(String),
    /// It is not HTTP.
    Malformed(String),
    /// It ended in the middle.
    Broken,
}

pub(super) struct Exchange {
    client: Agent,
    pieces: Receiver<Result<ResponsePart, Stopped>>,
    end: Instant,
    /// The deadline of the next piece, after the head.
    next: Option<Instant>,
    between: Duration,
    left: usize,
}

impl Exchange {
    pub(super) fn start(
        line: &ProviderConnection,
        endpoint: &Endpoint,
        body: Arc<[u8]>,
        limits: &ProviderLimits,
    ) -> io::Result<Self> {
        let client = line.client(limits);
        let (sender, pieces) = sync_channel(16);
        let exchange = Self {
            client: client.clone(),
            pieces,
            end: Instant::now() + limits.whole,
            next: None,
            between: limits.between,
            left: limits.wire,
        };
        let endpoint = endpoint.clone();
        let talk = move || talk(&client, &endpoint, &body, &sender);
        thread::Builder::new()
            .name("model".to_owned())
            .spawn(talk)?;
        Ok(exchange)
    }

    /// The next piece. After [`ResponsePart::End`] or an error there is none.
    pub(super) fn next(&mut self, cancel: &Cancel) -> Result<ResponsePart, Stopped> {
        loop {
            if cancel.is_cancelled() {
                return Err(Stopped::Cancelled);
            }
            let now = Instant::now();
            if now >= self.end {
                return Err(Stopped::TimedOut(TimeoutKind::End));
            }
            if self.next.is_some_and(|next| now >= next) {
                return Err(Stopped::TimedOut(TimeoutKind::NextByte));
            }
            match self.pieces.recv_timeout(Cancel::GLANCE) {
                Ok(piece) => return self.came(piece?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Stopped::Broken);
                }
            }
        }
    }

    fn came(&mut self, piece: ResponsePart) -> Result<ResponsePart, Stopped> {
        self.next = Some(Instant::now() + self.between);
        if let ResponsePart::Body(bytes) = &piece {
            let left = self.left.checked_sub(bytes.len());
            self.left = left.ok_or(Stopped::TooLarge)?;
        }
        Ok(piece)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.client.clone().shutdown();
    }
}

/// The thread: sends the request, and passes on the data while it is received.
fn talk(
    client: &Agent,
    endpoint: &Endpoint,
    body: &[u8],
    pieces: &SyncSender<Result<ResponsePart, Stopped>>,
) {
    let mut request = client
        .post(endpoint.url())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "text/event-stream, application/json");
    match credentials(endpoint) {
        Ok(headers) => {
            for (name, value) in headers {
                request = request.header(name, value);
            }
        }
        Err(error) => {
            let _ = pieces.send(Err(Stopped::Malformed(error.to_string())));
            return;
        }
    }
    let answer = match request.send(body) {
        Ok(answer) => answer,
        Err(error) => {
            let _ = pieces.send(Err(before_head(error)));
            return;
        }
    };
    let (parts, body) = answer.into_parts();
    let head = ResponseHead {
        status: parts.status.as_u16(),
        after: after(&parts.headers),
        is_stream: is_stream(&parts.headers),
    };
    // A send fails when the receiver is gone; the thread can then end.
    if pieces.send(Ok(ResponsePart::Head(head))).is_ok() {
        hand_over(body.into_reader(), pieces);
    }
}

fn hand_over(mut body: impl Read, pieces: &SyncSender<Result<ResponsePart, Stopped>>) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let piece = match body.read(&mut buffer) {
            Ok(0) => Ok(ResponsePart::End),
            Ok(count) => Ok(ResponsePart::Body(buffer[..count].to_vec())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => Err(Stopped::Broken),
        };
        let is_last = !matches!(piece, Ok(ResponsePart::Body(_)));
        if pieces.send(piece).is_err() || is_last {
            return;
        }
    }
}

/// The header with the key, marked so that no log of the client contains it.
fn credentials(
    endpoint: &Endpoint,
) -> Result<Vec<(&'static str, HeaderValue)>, header::InvalidHeaderValue> {
    let secret = |text: &str| {
        let mut value = HeaderValue::from_str(text)?;
        value.set_sensitive(true);
        Ok(value)
    };
    let key = endpoint.key().map(metier_config::Secret::expose);
    let mut headers = Vec::new();
    match endpoint.kind() {
        ProviderKind::Anthropic => {
            headers.push(("anthropic-version", HeaderValue::from_static("2023-06-01")));
            if let Some(key) = key {
                headers.push(("x-api-key", secret(key)?));
            }
        }
        ProviderKind::OpenAi | ProviderKind::Ollama => {
            if let Some(key) = key {
                headers.push(("authorization", secret(&format!("Bearer {key}"))?));
            }
        }
    }
    Ok(headers)
}

/// `Retry-After` in seconds, or the variant in milliseconds. A date is ignored: it would need synchronised clocks.
fn after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| -> Option<f64> {
        let text = headers.get(name)?.to_str().ok()?;
        text.trim().parse().ok()
    };
    let seconds = number("retry-after-ms")
        .map(|ms| ms / 1000.0)
        .or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("text/event-stream")
}

fn before_head(error: ureq::Error) -> Stopped {
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            Stopped::TimedOut(TimeoutKind::Connection)
        }
        ureq::Error::Timeout(Timeout::Global) => Stopped::TimedOut(TimeoutKind::End),
        ureq::Error::Timeout(_) => Stopped::TimedOut(TimeoutKind::FirstByte),
        ureq::Error::HostNotFound => Stopped::Unreachable("unknown host name".to_owned()),
        ureq::Error::Rustls(error) => Stopped::Untrusted(error.to_string()),
        ureq::Error::Tls(reason) => Stopped::Untrusted(reason.to_owned()),
        // TLS errors during a read are wrapped.
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            Stopped::Untrusted(error.to_string())
        }
        ureq::Error::Io(error) => Stopped::Unreachable(error.to_string()),
        ureq::Error::ConnectionFailed => Stopped::Unreachable("no connection".to_owned()),
        error => Stopped::Malformed(error.to_string()),
    }
}
