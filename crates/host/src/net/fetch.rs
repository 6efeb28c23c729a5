//! One request, with the redirects that follow from it.
//!
//! Redirects are followed only here, so that each of them is parsed, admitted, resolved and dialled like the first URL. A hop to
//! another origin keeps only headers that do not identify the caller: API keys have many names besides `Authorization`. A redirect
//! never goes from `https:` to `http:`. For a skill each hop to another origin is recorded before it is contacted ([`fetch_recorded`]).
//!
//! The body is returned unchanged, except that `gzip` is decompressed when the request did not ask for an encoding itself.
//! Status codes are not errors.

use std::time::{Duration, Instant};

use thiserror::Error;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, header};

use super::{
    exchange::{Hop, HopResponse, Trust},
    hosts::{AllowedHosts, FetchTarget, HostRefusal, shown},
    proxy::{ConnectionLog, OpenConnection, ProxyConnection, ProxyDecision},
    reach::{Resolve, UnreachableCause},
};

/// The request of a skill.
#[derive(Debug, Clone, Default)]
pub struct FetchRequest {
    /// `GET`, `HEAD`, `OPTIONS`, `DELETE`, `POST`, `PUT` or `PATCH`; empty is `GET`.
    pub method: String,
    /// URL of the request.
    pub url: String,
    /// Names and values. Headers that determine the destination or the length of a message can't be set.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

/// The response to a request.
#[derive(Debug, Clone)]
pub struct FetchResponse {
    /// HTTP status code.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// The URL of the final response, after all redirects.
    pub url: String,
    /// The URLs that redirected, in order.
    pub redirects: Vec<String>,
}

/// The limits of a fetch.
#[derive(Debug, Clone)]
pub struct FetchLimits {
    /// For the whole fetch: lookups, connections, redirects, the body.
    pub timeout: Duration,
    /// Bytes of a response's body, compressed and decompressed.
    pub max_body: u64,
    /// Bytes of a request's body.
    pub max_upload: usize,
    /// Bytes of a response's head; more than 128 headers are refused as well.
    pub max_head: usize,
    /// Redirects that are followed.
    pub max_redirects: usize,
    /// Maximum ratio between a body and its size on the wire.
    pub max_ratio: u64,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(15),
            max_body: 5 * 1024 * 1024,
            max_upload: 5 * 1024 * 1024,
            max_head: 64 * 1024,
            max_redirects: 5,
            max_ratio: 100,
        }
    }
}

/// Why there is no response.
#[derive(Debug, Error)]
pub enum NetError {
    /// The host is not approved, or it is denied.
    #[error(transparent)]
    Refused(#[from] HostRefusal),
    /// A redirect goes to a URL that is not allowed.
    #[error("a redirect points to a URL that is not allowed: {0}")]
    Redirect(HostRefusal),
    /// From `https:` to `http:`.
    #[error("a redirect goes from `https:` to `http:` at `{host}`; request an `https:` URL")]
    Downgrade {
        /// Host of the new location.
        host: String,
    },
    /// There are too many redirects.
    #[error("more than {limit} redirects; the last one from `{host}`")]
    TooManyRedirects {
        /// The host that sent the last redirect.
        host: String,
        /// The maximum number of redirects.
        limit: usize,
    },
    /// No connection. The message is the same for every cause, because a skill must not learn it.
    #[error("`{host}` can't be reached")]
    Unreachable {
        /// The host that was requested.
        host: String,
        /// The cause, for the user's log.
        cause: UnreachableCause,
    },
    /// The TLS handshake failed.
    #[error("can't establish a secure connection to `{host}`: {reason}")]
    Tls {
        /// The host that was requested.
        host: String,
        /// The TLS error.
        reason: String,
    },
    /// The request timed out.
    #[error("`{host}` did not finish within {limit:?}; raise `net_fetch_timeout` if it needs more")]
    Timeout {
        /// The host that was requested.
        host: String,
        /// The timeout that was reached.
        limit: Duration,
    },
    /// The body exceeds the limit.
    #[error("the response of `{host}` is larger than {limit} bytes")]
    BodyTooLarge {
        /// The host that responded.
        host: String,
        /// The limit that was exceeded.
        limit: u64,
    },
    /// The head exceeds the limit.
    #[error(
        "the response of `{host}` has more than 128 headers, or more than {limit} bytes of headers"
    )]
    HeadTooLarge {
        /// The host that responded.
        host: String,
        /// The limit that was exceeded.
        limit: usize,
    },
    /// A small body that decompresses to a large one.
    #[error("the response of `{host}` decompresses to more than {limit} times its size")]
    Bomb {
        /// The host that responded.
        host: String,
        /// The limit that was exceeded.
        limit: u64,
    },
    /// The response is not HTTP, or is truncated.
    #[error("the response of `{host}` was cut off or is not HTTP: {reason}")]
    Broken {
        /// The host that responded.
        host: String,
        /// The problem of the response.
        reason: String,
    },
    /// The request can't be sent.
    #[error("the request can't be sent: {0}")]
    Request(String),
    /// A hop can't be recorded, so it is not made.
    #[error("a redirect goes to `{host}`, which is not contacted: {reason}")]
    Unrecorded {
        /// The host of the new location.
        host: String,
        /// Why there is no record.
        reason: String,
    },
}

/// The methods that skills need. A table, since the methods differ in their bodies and redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
    Options,
    Delete,
    Post,
    Put,
    Patch,
}

impl Method {
    fn parse(text: &str) -> Result<Self, NetError> {
        Ok(match text.to_ascii_uppercase().as_str() {
            "" | "GET" => Self::Get,
            "HEAD" => Self::Head,
            "OPTIONS" => Self::Options,
            "DELETE" => Self::Delete,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "PATCH" => Self::Patch,
            _ => {
                let known = "use GET, HEAD, OPTIONS, DELETE, POST, PUT or PATCH";
                let text = format!("the method `{}` is not supported; {known}", shown(text));
                return Err(NetError::Request(text));
            }
        })
    }
}

/// Headers that determine the destination, the length or the relays of a message.
const OURS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that another origin may receive.
const HARMLESS: &[&str] = &[
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-language",
    "content-type",
    "if-modified-since",
    "if-none-match",
    "range",
    "user-agent",
];

/// Sends `request` and follows redirects that `hosts` allow. It blocks until the end or the timeout.
pub fn fetch(
    request: &FetchRequest,
    hosts: &AllowedHosts,
    limits: &FetchLimits,
    resolve: &dyn Resolve,
    trust: &Trust,
) -> Result<FetchResponse, NetError> {
    whole(request, hosts, limits, resolve, trust, None)
}

/// [`fetch`] for a skill. The caller has recorded the URL of the request; the host of every redirect to another origin is recorded in `log`
/// before it is contacted, and not contacted if that fails.
pub fn fetch_recorded(
    request: &FetchRequest,
    hosts: &AllowedHosts,
    limits: &FetchLimits,
    resolve: &dyn Resolve,
    trust: &Trust,
    log: &dyn ConnectionLog,
) -> Result<FetchResponse, NetError> {
    whole(request, hosts, limits, resolve, trust, Some(log))
}

fn whole(
    request: &FetchRequest,
    hosts: &AllowedHosts,
    limits: &FetchLimits,
    resolve: &dyn Resolve,
    trust: &Trust,
    log: Option<&dyn ConnectionLog>,
) -> Result<FetchResponse, NetError> {
    let hop = Hop {
        hosts,
        limits,
        resolve,
        trust,
        deadline: Instant::now() + limits.timeout,
    };
    let Followed {
        target,
        answer,
        redirects,
        record,
    } = follow(&hop, request, log)?;
    let status = answer.status;
    let finished = hop.finish(&target, answer);
    if let Some(record) = record {
        let received = finished.as_ref().map(|(_, body)| body.len());
        record.over(received);
    }
    let (headers, body) = finished?;
    Ok(FetchResponse {
        status,
        headers: listed(&headers),
        body,
        url: target.url.to_string(),
        redirects,
    })
}

/// [`fetch`] for a body that is passed on as it arrives, and not decompressed. `take` gets the response without its body, and the next
/// bytes; it returns whether more is wanted. Its first call has no bytes: the head is complete, and the body can take its time.
pub fn fetch_in_pieces(
    request: &FetchRequest,
    hosts: &AllowedHosts,
    limits: &FetchLimits,
    resolve: &dyn Resolve,
    trust: &Trust,
    take: &mut dyn FnMut(&FetchResponse, &[u8]) -> bool,
) -> Result<FetchResponse, NetError> {
    let hop = Hop {
        hosts,
        limits,
        resolve,
        trust,
        deadline: Instant::now() + limits.timeout,
    };
    let Followed {
        target,
        answer,
        redirects,
        ..
    } = follow(&hop, request, None)?;
    let response = FetchResponse {
        status: answer.status,
        headers: listed(&answer.headers),
        body: Vec::new(),
        url: target.url.to_string(),
        redirects,
    };
    if take(&response, &[]) {
        hop.pieces(&target, answer, |piece| take(&response, piece))?;
    }
    Ok(response)
}

/// The last hop of a request.
struct Followed {
    target: FetchTarget,
    answer: HopResponse,
    /// The URLs that redirected.
    redirects: Vec<String>,
    /// The record of the last origin, if it is not the first.
    record: Option<HopRecord>,
}

/// The record of an origin that a redirect went to. It is always completed: a request that ends early counts as failed.
struct HopRecord {
    open: Option<Box<dyn OpenConnection>>,
    seen: ProxyConnection,
    start: Instant,
}

impl HopRecord {
    /// Records a hop that will be made, if its host is approved.
    fn begin(
        hop: &Hop<'_>,
        target: &FetchTarget,
        log: &dyn ConnectionLog,
    ) -> Result<Self, NetError> {
        let (host, port) = (target.host.to_string(), target.port);
        let admitted = hop.hosts.admits(&target.host, port);
        admitted.map_err(NetError::Redirect)?;
        let open = log.open(&host, port);
        let open = open.map_err(|reason| NetError::Unrecorded {
            host: host.clone(),
            reason,
        })?;
        Ok(Self {
            open: Some(open),
            seen: ProxyConnection {
                host,
                port,
                decision: ProxyDecision::Cut("its redirect was not followed".to_owned()),
                bytes_up: 0,
                bytes_down: 0,
                ms: 0,
            },
            start: Instant::now(),
        })
    }

    /// Records the end: how many bytes of the body arrived, or the error.
    fn over(mut self, received: Result<usize, &NetError>) {
        match received {
            Ok(bytes) => {
                self.seen.decision = ProxyDecision::Allowed;
                self.seen.bytes_down = u64::try_from(bytes).unwrap_or(u64::MAX);
            }
            Err(error) => self.seen.decision = ProxyDecision::Cut(error.to_string()),
        }
    }
}

impl Drop for HopRecord {
    fn drop(&mut self) {
        self.seen.ms = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(open) = self.open.take() {
            open.over(&self.seen);
        }
    }
}

/// Sends the request until a response is not a redirect.
fn follow(
    hop: &Hop<'_>,
    request: &FetchRequest,
    log: Option<&dyn ConnectionLog>,
) -> Result<Followed, NetError> {
    let limits = hop.limits;
    let mut method = Method::parse(&request.method)?;
    let mut headers = checked(&request.headers)?;
    let mut body = request.body.as_slice();
    if body.len() > limits.max_upload {
        let text = format!("its body is larger than {} bytes", limits.max_upload);
        return Err(NetError::Request(text));
    }
    let mut target = FetchTarget::parse(&request.url)?;
    let mut redirects = Vec::new();
    let mut record: Option<HopRecord> = None;
    loop {
        if let Some(record) = &mut record {
            let sent = u64::try_from(body.len()).unwrap_or(u64::MAX);
            record.seen.bytes_up = record.seen.bytes_up.saturating_add(sent);
        }
        let answer = hop.send(&target, method, &headers, body);
        let answer = answer.map_err(|error| match error {
            NetError::Refused(refusal) if !redirects.is_empty() => NetError::Redirect(refusal),
            error => error,
        });
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                if let Some(record) = record {
                    record.over(Err(&error));
                }
                return Err(error);
            }
        };
        let Some(next) = redirected(&target, &answer)? else {
            return Ok(Followed {
                target,
                answer,
                redirects,
                record,
            });
        };
        if redirects.len() == limits.max_redirects {
            return Err(NetError::TooManyRedirects {
                host: target.host.to_string(),
                limit: limits.max_redirects,
            });
        }
        if drops_body(answer.status, method) {
            method = Method::Get;
            body = &[];
            headers.retain(|(name, _)| !name.starts_with("content-"));
        }
        if !next.same_origin(&target) {
            headers.retain(|(name, _)| HARMLESS.contains(&name.as_str()));
            if let Some(record) = record.take() {
                record.over(Ok(0));
            }
            record = log
                .map(|log| HopRecord::begin(hop, &next, log))
                .transpose()?;
        }
        redirects.push(target.url.to_string());
        target = next;
    }
}

/// The headers with their names in lower case, if a skill may set them.
fn checked(headers: &[(String, String)]) -> Result<Vec<(String, String)>, NetError> {
    const MAX: usize = 64;
    if headers.len() > MAX {
        let text = format!("it has more than {MAX} headers");
        return Err(NetError::Request(text));
    }
    let check = |(name, value): &(String, String)| {
        let name = name.to_ascii_lowercase();
        if OURS.contains(&name.as_str()) || name.starts_with("proxy-") {
            let text = format!("the header `{name}` is set by metier; remove it");
            return Err(NetError::Request(text));
        }
        // The client crate would refuse them too, with a less helpful error.
        if HeaderName::from_bytes(name.as_bytes()).is_err() || HeaderValue::from_str(value).is_err()
        {
            let text = format!("`{}` is not a valid header", shown(&name));
            return Err(NetError::Request(text));
        }
        Ok((name, value.clone()))
    };
    headers.iter().map(check).collect()
}

/// The target of a redirect, if `answer` is one.
fn redirected(from: &FetchTarget, answer: &HopResponse) -> Result<Option<FetchTarget>, NetError> {
    if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = answer.headers.get(header::LOCATION) else {
        return Ok(None);
    };
    let unreadable = |_| NetError::Redirect(HostRefusal::url("it is not UTF-8"));
    let location = str::from_utf8(location.as_bytes()).map_err(unreadable)?;
    let next = from.join(location).map_err(NetError::Redirect)?;
    if from.is_secure() && !next.is_secure() {
        let host = next.host.to_string();
        return Err(NetError::Downgrade { host });
    }
    Ok(Some(next))
}

/// Whether a redirect turns the request into a `GET`, as browsers do it.
fn drops_body(status: u16, method: Method) -> bool {
    match status {
        301 | 302 => method == Method::Post,
        303 => !matches!(method, Method::Get | Method::Head),
        _ => false,
    }
}

fn listed(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers
        .iter()
        .map(|(name, value)| (name.to_string(), text(value)))
        .collect()
}
