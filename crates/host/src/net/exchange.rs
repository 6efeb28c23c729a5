//! One hop of a fetch: a checked connection, TLS on it if the URL requires it, one request and its response.
//!
//! The client crate writes the request and parses the response. It never resolves and never dials: it gets one connection, whose
//! every read and write ends at the deadline, and there is no second one to fall back to.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

use flate2::bufread::MultiGzDecoder;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    client::{Resumption, WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, ServerName},
};
use rustls_platform_verifier::Verifier;
use ureq::{
    Agent, Body,
    http::{
        self,
        header::{CONTENT_ENCODING, CONTENT_LENGTH},
    },
    unversioned::{
        resolver::{ResolvedSocketAddrs, Resolver},
        transport::{Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport},
    },
};

use super::{
    fetch::{FetchLimits, Method, NetError},
    hosts::{AllowedHosts, FetchTarget, literal},
    reach::{Resolve, Unreached, left, reach},
};

/// The certificates that are trusted.
///
/// The system's are read when the first `https:` URL needs them, and kept: share one `Trust`.
#[derive(Debug, Clone, Default)]
pub struct Trust {
    roots: Option<Vec<CertificateDer<'static>>>,
    config: Arc<OnceLock<Arc<ClientConfig>>>,
}

impl Trust {
    /// The certificates that the system trusts.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// Certificates signed by these (DER), and no others.
    #[must_use]
    pub fn only(roots: Vec<Vec<u8>>) -> Self {
        let roots = roots.into_iter().map(CertificateDer::from).collect();
        Self {
            roots: Some(roots),
            ..Self::default()
        }
    }

    fn config(&self) -> Result<Arc<ClientConfig>, String> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let config = self.build().map_err(|error| error.to_string())?;
        Ok(Arc::clone(self.config.get_or_init(|| config)))
    }

    fn build(&self) -> Result<Arc<ClientConfig>, Box<dyn std::error::Error>> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = self.verifier(&provider)?;
        let builder =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        // "Dangerous" is the crate's term for an explicit verifier; both verify.
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.resumption = Resumption::disabled(); // a ticket would link one skill's connections to another's
        Ok(Arc::new(config))
    }

    fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, Box<dyn std::error::Error>> {
        let Some(roots) = &self.roots else {
            return Ok(Arc::new(Verifier::new(Arc::clone(provider))?));
        };
        let mut store = RootCertStore::empty();
        for root in roots {
            store.add(root.clone())?;
        }
        let provider = Arc::clone(provider);
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider);
        Ok(verifier.build()?)
    }
}

/// The inputs of one hop besides its target.
pub(super) struct Hop<'a> {
    pub(super) hosts: &'a AllowedHosts,
    pub(super) limits: &'a FetchLimits,
    pub(super) resolve: &'a dyn Resolve,
    pub(super) trust: &'a Trust,
    pub(super) deadline: Instant,
}

/// The response of one hop; its body is not read yet.
pub(super) struct HopResponse {
    pub(super) status: u16,
    pub(super) headers: http::HeaderMap,
    body: Body,
    unpack: bool,
}

impl Hop<'_> {
    pub(super) fn send(
        &self,
        target: &FetchTarget,
        method: Method,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<HopResponse, NetError> {
        let reached = reach(
            &target.host,
            target.port,
            self.hosts,
            self.resolve,
            self.deadline,
        );
        let stream = reached.map_err(|error| self.unreached(target, error))?;
        let wire = self.wire(target, stream)?;
        let agent = agent(wire, self.limits);
        let url = target.url.as_str();
        let asked = headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("accept-encoding"));
        let sent = match method {
            Method::Get => without_body(agent.get(url), headers, body),
            Method::Head => without_body(agent.head(url), headers, body),
            Method::Options => without_body(agent.options(url), headers, body),
            Method::Delete => without_body(agent.delete(url), headers, body),
            Method::Post => with_headers(agent.post(url), headers).send(body),
            Method::Put => with_headers(agent.put(url), headers).send(body),
            Method::Patch => with_headers(agent.patch(url), headers).send(body),
        };
        let (parts, body) = sent
            .map_err(|error| self.failed(target, error))?
            .into_parts();
        Ok(HopResponse {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
            unpack: !asked,
        })
    }

    /// The headers and the body, read and decompressed within the limits.
    pub(super) fn finish(
        &self,
        target: &FetchTarget,
        answer: HopResponse,
    ) -> Result<(http::HeaderMap, Vec<u8>), NetError> {
        let mut headers = answer.headers;
        let packed = headers.get(CONTENT_ENCODING).is_some_and(is_gzip) && answer.unpack;
        let mut wire = BufReader::new(Counted {
            inner: answer.body.into_reader(),
            read: 0,
            limit: self.limits.max_body,
        });
        let first = wire
            .fill_buf()
            .map_err(|error| self.broken(target, &error))?;
        if first.is_empty() || !packed {
            let body = self.drain(target, wire, |_| None)?;
            return Ok((headers, body));
        }
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
        let unpacked = MultiGzDecoder::new(wire);
        let body = self.drain(target, unpacked, |from| Some(from.get_ref().get_ref().read))?;
        Ok((headers, body))
    }

    /// Reads the body without decompression, as long as `take` requests more.
    pub(super) fn pieces(
        &self,
        target: &FetchTarget,
        answer: HopResponse,
        mut take: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), NetError> {
        let mut wire = Counted {
            inner: answer.body.into_reader(),
            read: 0,
            limit: self.limits.max_body,
        };
        let mut piece = vec![0; 64 * 1024];
        loop {
            match wire.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(count) if take(&piece[..count]) => {}
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(target, &error)),
            }
        }
    }

    /// Reads to the end; `packed` is how many compressed bytes were read, for the ratio.
    fn drain<R: Read>(
        &self,
        target: &FetchTarget,
        mut from: R,
        packed: impl Fn(&R) -> Option<u64>,
    ) -> Result<Vec<u8>, NetError> {
        let limits = self.limits;
        let mut body = Vec::new();
        let mut piece = vec![0; 16 * 1024];
        loop {
            let count = match from.read(&mut piece) {
                Ok(0) => return Ok(body),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.broken(target, &error)),
            };
            body.extend_from_slice(&piece[..count]);
            let size = body.len() as u64;
            let raw = packed(&from).unwrap_or(size);
            if size > limits.max_body {
                return Err(NetError::BodyTooLarge {
                    host: target.host.to_string(),
                    limit: limits.max_body,
                });
            }
            // Small bodies of one repeated character compress very well, and are harmless.
            if size > FREE_RATIO && size > raw.saturating_mul(limits.max_ratio) {
                return Err(NetError::Bomb {
                    host: target.host.to_string(),
                    limit: limits.max_ratio,
                });
            }
        }
    }

    fn wire(&self, target: &FetchTarget, stream: TcpStream) -> Result<Wire, NetError> {
        let stream = Timed {
            stream,
            deadline: self.deadline,
        };
        let line = if target.is_secure() {
            let secured = self.secure(target, stream);
            let secured = secured.map_err(|reason| match left(self.deadline) {
                Ok(_) => NetError::Tls {
                    host: target.host.to_string(),
                    reason,
                },
                Err(_) => self.timeout(target),
            })?;
            HeaderLine::Secure(Box::new(secured))
        } else {
            HeaderLine::Plain(stream)
        };
        let buffers = LazyBuffers::new(16 * 1024, 16 * 1024);
        Ok(Wire { line, buffers })
    }

    fn secure(
        &self,
        target: &FetchTarget,
        mut stream: Timed,
    ) -> Result<StreamOwned<ClientConnection, Timed>, String> {
        let config = self.trust.config()?;
        let name = match literal(&target.host) {
            Some(ip) => ServerName::from(ip),
            None => ServerName::try_from(target.host.to_string()).map_err(|e| e.to_string())?,
        };
        let mut connection = ClientConnection::new(config, name).map_err(|e| e.to_string())?;
        while connection.is_handshaking() {
            connection
                .complete_io(&mut stream)
                .map_err(|e| e.to_string())?;
        }
        Ok(StreamOwned::new(connection, stream))
    }

    fn unreached(&self, target: &FetchTarget, error: Unreached) -> NetError {
        match error {
            Unreached::Refused(refusal) => NetError::Refused(refusal),
            Unreached::Unreachable(cause) => NetError::Unreachable {
                host: target.host.to_string(),
                cause,
            },
        }
    }

    fn failed(&self, target: &FetchTarget, error: ureq::Error) -> NetError {
        let host = target.host.to_string();
        match error {
            ureq::Error::Io(error) => self.broken(target, &error),
            ureq::Error::Http(error) => NetError::Request(error.to_string()),
            ureq::Error::LargeResponseHeader(..)
            | ureq::Error::Protocol(ureq_proto::Error::HttpParseTooManyHeaders) => {
                NetError::HeadTooLarge {
                    host,
                    limit: self.limits.max_head,
                }
            }
            error => NetError::Broken {
                host,
                reason: error.to_string(),
            },
        }
    }

    fn broken(&self, target: &FetchTarget, error: &io::Error) -> NetError {
        let host = target.host.to_string();
        match error.kind() {
            io::ErrorKind::TimedOut => self.timeout(target),
            io::ErrorKind::FileTooLarge => NetError::BodyTooLarge {
                host,
                limit: self.limits.max_body,
            },
            _ => NetError::Broken {
                host,
                reason: error.to_string(),
            },
        }
    }

    fn timeout(&self, target: &FetchTarget) -> NetError {
        NetError::Timeout {
            host: target.host.to_string(),
            limit: self.limits.timeout,
        }
    }
}

/// The size below which a body can have any compression ratio.
const FREE_RATIO: u64 = 64 * 1024;

fn is_gzip(coding: &http::HeaderValue) -> bool {
    let coding = coding.as_bytes();
    coding.eq_ignore_ascii_case(b"gzip") || coding.eq_ignore_ascii_case(b"x-gzip")
}

fn agent(wire: Wire, limits: &FetchLimits) -> Agent {
    let config = Agent::config_builder()
        .proxy(None) // the default would read the environment
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .max_response_header_size(limits.max_head)
        .max_idle_connections(0)
        .user_agent(concat!("metier/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("gzip")
        .build();
    Agent::with_parts(config, Once(Mutex::new(Some(wire))), NoLookup)
}

fn without_body(
    builder: ureq::RequestBuilder<ureq::typestate::WithoutBody>,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<http::Response<Body>, ureq::Error> {
    let builder = with_headers(builder, headers);
    if body.is_empty() {
        builder.call()
    } else {
        builder.force_send_body().send(body)
    }
}

fn with_headers<B>(
    builder: ureq::RequestBuilder<B>,
    headers: &[(String, String)],
) -> ureq::RequestBuilder<B> {
    let builder = builder.header("connection", "close");
    let add = |builder: ureq::RequestBuilder<B>, (name, value): &(String, String)| {
        builder.header(name.as_str(), value.as_str())
    };
    headers.iter().fold(builder, add)
}

/// Returns the only connection.
#[derive(Debug)]
struct Once(Mutex<Option<Wire>>);

impl<In: Transport> Connector<In> for Once {
    type Out = Wire;

    fn connect(
        &self,
        _: &ConnectionDetails<'_>,
        _: Option<In>,
    ) -> Result<Option<Wire>, ureq::Error> {
        let mut wire = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wire.take().map(Some).ok_or(ureq::Error::ConnectionFailed)
    }
}

/// The name was resolved before, so nothing is resolved here.
#[derive(Debug)]
struct NoLookup;

impl Resolver for NoLookup {
    fn resolve(
        &self,
        _: &http::Uri,
        _: &ureq::config::Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut nowhere = self.empty();
        nowhere.push(SocketAddr::from(([0, 0, 0, 0], 0)));
        Ok(nowhere)
    }
}

/// A connection in the form that the client crate requires.
#[derive(Debug)]
struct Wire {
    line: HeaderLine,
    buffers: LazyBuffers,
}

#[derive(Debug)]
enum HeaderLine {
    Plain(Timed),
    Secure(Box<StreamOwned<ClientConnection, Timed>>),
}

impl Transport for Wire {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), ureq::Error> {
        let output = &self.buffers.output()[..amount];
        match &mut self.line {
            HeaderLine::Plain(stream) => stream.write_all(output)?,
            HeaderLine::Secure(stream) => {
                stream.write_all(output)?;
                stream.flush()?;
            }
        }
        Ok(())
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, ureq::Error> {
        let input = self.buffers.input_append_buf();
        let count = match &mut self.line {
            HeaderLine::Plain(stream) => stream.read(input)?,
            HeaderLine::Secure(stream) => stream.read(input)?,
        };
        self.buffers.input_appended(count);
        Ok(count > 0)
    }

    fn is_open(&mut self) -> bool {
        false // never used twice
    }

    fn is_tls(&self) -> bool {
        matches!(self.line, HeaderLine::Secure(_))
    }
}

/// A stream on which no read or write lasts beyond the deadline, however slowly the peer sends.
#[derive(Debug)]
struct Timed {
    stream: TcpStream,
    deadline: Instant,
}

impl Timed {
    fn patient<T>(&mut self, act: impl FnOnce(&mut TcpStream) -> io::Result<T>) -> io::Result<T> {
        let left = left(self.deadline)?;
        self.stream.set_read_timeout(Some(left))?;
        self.stream.set_write_timeout(Some(left))?;
        act(&mut self.stream).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
            _ => error,
        })
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.patient(|stream| stream.read(buffer))
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patient(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts the bytes that were read, and stops at the limit: a decoder can read forever and return nothing.
struct Counted<R> {
    inner: R,
    read: u64,
    limit: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read += count as u64;
        if self.read > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(count)
    }
}
