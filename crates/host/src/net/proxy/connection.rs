//! One connection to the proxy: authentication, the target, then the bytes.

use std::{
    cell::Cell,
    io::{self, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    thread,
    time::{Duration, Instant},
};

use subtle::ConstantTimeEq;
use url::Host;

use super::{
    OpenConnection, ProxyConnection, ProxyDecision, ProxyShared,
    message::{Framing, ParsedHead, RequestHead, parse},
    relay::{Flow, Way, hang_up},
    sniff::{Hello, hello},
};
use crate::net::{
    hosts::{FetchTarget, HostRefusal, authority, shown},
    reach::{Unreached, left, reach},
};

/// Why a connection was refused.
struct Refused {
    /// The reply to the child; `None` if the child could not parse a reply.
    told: Option<(u16, String)>,
    /// The reason that is recorded.
    reason: String,
}

impl Refused {
    fn with(status: u16, text: impl Into<String>) -> Self {
        let reason = text.into();
        Self {
            told: Some((status, reason.clone())),
            reason,
        }
    }

    fn silently(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { told: None, reason }
    }
}

impl From<HostRefusal> for Refused {
    fn from(refusal: HostRefusal) -> Self {
        Self::with(403, refusal.to_string())
    }
}

pub(super) fn serve(shared: &ProxyShared, id: usize, client: &TcpStream) {
    let flow = Flow::new(shared);
    let mut seen = ProxyConnection::nothing();
    let connection = Connection {
        shared,
        id,
        client,
        flow: &flow,
        opened: Cell::new(None),
    };
    let result = connection.run(&mut seen);
    let opened = connection.opened.take();
    if let Err(refused) = result {
        if let Some((status, text)) = refused.told {
            turn_away(client, status, &text);
        }
        seen.decision = ProxyDecision::Refused(refused.reason);
    } else if let Some(limit) = flow.cut() {
        seen.decision = ProxyDecision::Cut(limit.to_owned());
    }
    hang_up(client);
    seen.bytes_up = flow.bytes(Way::Up);
    seen.bytes_down = flow.bytes(Way::Down);
    seen.ms = flow.ms();
    shared.over(id, seen, opened);
}

/// Replies with one line and closes so that the reply arrives: with unread bytes the system would
/// reset the connection instead.
pub(super) fn turn_away(mut client: &TcpStream, status: u16, text: &str) {
    let (name, more) = match status {
        400 => ("Bad Request", ""),
        403 => ("Forbidden", ""),
        407 => (
            "Proxy Authentication Required",
            "Proxy-Authenticate: Basic realm=\"metier\"\r\n",
        ),
        408 => ("Request Timeout", ""),
        431 => ("Request Header Fields Too Large", ""),
        503 => ("Service Unavailable", ""),
        _ => ("Bad Gateway", ""),
    };
    let length = text.len() + 1;
    let answer = format!(
        "HTTP/1.1 {status} {name}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         {more}Connection: close\r\n\r\n{text}\n"
    );
    let brief = Duration::from_millis(200);
    let sent = client
        .set_write_timeout(Some(brief))
        .and_then(|()| client.write_all(answer.as_bytes()));
    let half_closed = sent.and_then(|()| client.shutdown(Shutdown::Write));
    if half_closed
        .and_then(|()| client.set_read_timeout(Some(brief)))
        .is_err()
    {
        return; // the child is gone
    }
    let mut rest = [0; 4096];
    let until = Instant::now() + brief;
    for _ in 0..16 {
        if Instant::now() > until || !matches!(client.read(&mut rest), Ok(1..)) {
            break;
        }
    }
}

struct Connection<'a> {
    shared: &'a ProxyShared,
    id: usize,
    client: &'a TcpStream,
    flow: &'a Flow<'a>,
    /// Completes the record of the connection, if it was started.
    opened: Cell<Option<Box<dyn OpenConnection>>>,
}

impl Connection<'_> {
    fn run(&self, seen: &mut ProxyConnection) -> Result<(), Refused> {
        let ended = |_| Refused::silently("the proxy has ended");
        self.shared.keep(self.id, self.client).map_err(ended)?;
        let (head, rest) = self.head()?;
        if !self.is_known(&head) {
            let text = "the proxy requires the credential of this activation, which is in its URL";
            return Err(Refused::with(407, text));
        }
        if self.flow.count(rest.len(), Way::Up).is_err() {
            return Err(Refused::with(403, self.flow.cut().unwrap_or_default()));
        }
        if head.method == "CONNECT" {
            self.tunnel(&head, rest, seen)
        } else {
            self.forward(&head, rest, seen)
        }
    }

    /// Reads the head, and the bytes that came with it.
    fn head(&self) -> Result<(RequestHead, Vec<u8>), Refused> {
        let limits = &self.shared.limits;
        let deadline = Instant::now() + limits.head;
        let mut client = self.client;
        let mut bytes = Vec::new();
        let mut piece = [0; 4096];
        loop {
            let late = |_| Refused::with(408, "the request headers took too long");
            let left = left(deadline).map_err(late)?;
            client.set_read_timeout(Some(left)).map_err(late)?;
            let count = match client.read(&mut piece) {
                Ok(0) => return Err(Refused::silently("the connection ended before a request")),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(late(error)),
            };
            bytes.extend_from_slice(&piece[..count]);
            match parse(&bytes) {
                ParsedHead::Head(head, length) if length <= limits.max_head => {
                    return Ok((head, bytes.split_off(length)));
                }
                ParsedHead::More if bytes.len() <= limits.max_head => {}
                ParsedHead::Bad => return Err(Refused::with(400, "this is not an HTTP/1 request")),
                ParsedHead::Head(..) | ParsedHead::More => {
                    let text = format!(
                        "the request headers are larger than {} bytes",
                        limits.max_head
                    );
                    return Err(Refused::with(431, text));
                }
            }
        }
    }

    /// Whether the request has the credential. The comparison takes as long for a good guess as for a bad one.
    fn is_known(&self, head: &RequestHead) -> bool {
        let given = head
            .only("proxy-authorization")
            .and_then(|value| value.split_once(' '));
        given.is_some_and(|(scheme, secret)| {
            let same = secret
                .trim()
                .as_bytes()
                .ct_eq(self.shared.secret.as_bytes());
            scheme.eq_ignore_ascii_case("basic") && bool::from(same)
        })
    }

    fn reach(
        &self,
        host: &Host,
        port: u16,
        seen: &mut ProxyConnection,
    ) -> Result<TcpStream, Refused> {
        seen.host = host.to_string();
        seen.port = port;
        let shared = self.shared;
        shared.hosts.admits(host, port)?;
        let unwritten = |reason| Refused::with(503, reason);
        let opened = shared.log.open(&seen.host, port).map_err(unwritten)?;
        self.opened.set(Some(opened));
        let deadline = Instant::now() + shared.limits.connect;
        let reached = reach(host, port, &shared.hosts, shared.resolve.as_ref(), deadline);
        let server = reached.map_err(|error| match error {
            Unreached::Refused(refusal) => refusal.into(),
            Unreached::Unreachable(cause) => Refused {
                told: Some((502, format!("`{host}` can't be reached"))),
                reason: cause.to_string(),
            },
        })?;
        let ended = |_| Refused::silently("the proxy has ended");
        shared.keep(self.id, &server).map_err(ended)?;
        self.flow.touch(); // the child did not cause this delay
        Ok(server)
    }

    /// `GET http://host/path`: passed on as `GET /path`.
    fn forward(
        &self,
        head: &RequestHead,
        rest: Vec<u8>,
        seen: &mut ProxyConnection,
    ) -> Result<(), Refused> {
        let target = FetchTarget::parse(&head.target)?;
        if target.is_secure() {
            return Err(Refused::with(
                400,
                "`https:` goes through the proxy with CONNECT",
            ));
        }
        let framing = head.framing().map_err(|text| Refused::with(400, text))?;
        let server = self.reach(&target.host, target.port, seen)?;
        let host = match target.url.port() {
            Some(port) => format!("{}:{port}", target.host),
            None => target.host.to_string(),
        };
        let mut path = target.url.path().to_owned();
        if let Some(query) = target.url.query() {
            path = format!("{path}?{query}");
        }
        let head = head.onward(&path, &host, framing);
        self.both_ways(&server, true, || self.send(&server, &head, framing, rest))
    }

    /// `CONNECT host:port`: bytes, once they are known to be for that host.
    fn tunnel(
        &self,
        head: &RequestHead,
        rest: Vec<u8>,
        seen: &mut ProxyConnection,
    ) -> Result<(), Refused> {
        let (host, Some(port)) = authority(&head.target)? else {
            return Err(HostRefusal::url("CONNECT needs `host:port`").into());
        };
        let server = self.reach(&host, port, seen)?;
        let mut client = self.client;
        let established = client.write_all(b"HTTP/1.1 200 Connection Established\r\n\r\n");
        established
            .map_err(|_| Refused::silently("the connection ended before the tunnel was open"))?;
        self.both_ways(&server, false, || {
            let (first, inside) = self.first(&host, port, rest)?;
            let InsideStream::Request(request, length) = inside else {
                let mut to = &server;
                let sent = to
                    .write_all(&first)
                    .and_then(|()| self.flow.pump(client, &server, Way::Up));
                if sent.is_err() {
                    hang_up(&server);
                }
                return Ok(EndedConnection::Stream);
            };
            let framing = request.framing().map_err(|text| Refused::with(400, text))?;
            let name = match port {
                80 => host.to_string(),
                port => format!("{host}:{port}"),
            };
            let head = request.onward(&request.target, &name, framing);
            self.send(&server, &head, framing, first[length..].to_vec())
        })
    }

    /// Waits until the first bytes of a tunnel can be identified.
    fn first(
        &self,
        host: &Host,
        port: u16,
        mut bytes: Vec<u8>,
    ) -> Result<(Vec<u8>, InsideStream), Refused> {
        let mut piece = [0; 4096];
        loop {
            match judge(&bytes, host, port)? {
                InsideStream::More => {}
                inside => return Ok((bytes, inside)),
            }
            if bytes.len() > self.shared.limits.max_head {
                return Err(Refused::silently("the TLS ClientHello is too large"));
            }
            match self.flow.read(self.client, &mut piece, Way::Up) {
                Ok(0) | Err(_) if bytes.is_empty() => return Ok((bytes, InsideStream::Bytes)),
                Ok(0) | Err(_) => {
                    return Err(Refused::silently(
                        "the connection ended during the TLS ClientHello",
                    ));
                }
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
            }
        }
    }

    /// One request, to the end of its body.
    fn send(
        &self,
        server: &TcpStream,
        head: &[u8],
        framing: Framing,
        rest: Vec<u8>,
    ) -> Result<EndedConnection, Refused> {
        let mut to = server;
        let mut from = BufReader::new(io::Cursor::new(rest).chain(Upward(self)));
        let timed = to.set_write_timeout(Some(self.shared.limits.idle));
        let sent = timed
            .and_then(|()| to.write_all(head))
            .and_then(|()| framing.copy(&mut from, &mut to));
        match sent {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(Refused::with(400, error.to_string()))
            }
            // The server may have replied and closed before it read everything: its reply is still passed on.
            Ok(()) | Err(_) => Ok(EndedConnection::Request),
        }
    }

    /// Runs `up` here and the opposite direction in parallel. After `one` request nothing more is read from the child.
    fn both_ways(
        &self,
        server: &TcpStream,
        one: bool,
        up: impl FnOnce() -> Result<EndedConnection, Refused>,
    ) -> Result<(), Refused> {
        let down = || match self.flow.pump(server, self.client, Way::Down) {
            Ok(()) if !one => {
                self.client.shutdown(Shutdown::Write).ok(); // the child is gone: the connection is over anyway
            }
            _ => {
                hang_up(server);
                hang_up(self.client);
            }
        };
        thread::scope(|scope| {
            let thread = thread::Builder::new().name("metier-proxied".to_owned());
            let spawned = thread.spawn_scoped(scope, down);
            spawned.map_err(|_| Refused::with(503, "no thread for the connection"))?;
            let mut result = up();
            match &mut result {
                Ok(EndedConnection::Request) => {} // some servers treat a half-closed connection as closed
                Ok(EndedConnection::Stream) => {
                    server.shutdown(Shutdown::Write).ok(); // likewise
                }
                Err(refused) => {
                    // Before the end of the other direction, which closes the child's side.
                    if let Some((status, text)) = refused.told.take() {
                        turn_away(self.client, status, &text);
                    }
                    hang_up(server);
                }
            }
            if self.flow.cut().is_some() {
                hang_up(server);
            }
            result.map(|_| ())
        })
    }
}

/// How the direction from the child ended.
enum EndedConnection {
    /// The child sends no more.
    Stream,
    /// One request was sent, and no other is accepted.
    Request,
}

/// The child's bytes as a reader.
struct Upward<'a>(&'a Connection<'a>);

impl Read for Upward<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.flow.read(self.0.client, buffer, Way::Up)
    }
}

/// The protocol in a tunnel.
#[derive(Debug)]
enum InsideStream {
    /// More bytes are needed to decide.
    More,
    /// TLS for the right host, or a protocol that was approved with its port.
    Bytes,
    /// A request of HTTP/1 for the right host, with the length of its head.
    Request(RequestHead, usize),
}

fn judge(bytes: &[u8], host: &Host, port: u16) -> Result<InsideStream, Refused> {
    match hello(bytes) {
        Hello::More => return Ok(InsideStream::More),
        Hello::To(None) => return Ok(InsideStream::Bytes),
        Hello::To(Some(name)) if name.trim_end_matches('.') == host.to_string() => {
            return Ok(InsideStream::Bytes);
        }
        Hello::To(Some(name)) => {
            let text = format!(
                "a tunnel to `{host}` names `{}` in its TLS ClientHello",
                shown(&name)
            );
            return Err(Refused::silently(text));
        }
        Hello::Broken => return Err(Refused::silently("the TLS ClientHello can't be parsed")),
        Hello::Other if port == 443 => {
            return Err(Refused::silently("port 443 requires TLS"));
        }
        Hello::Other => {}
    }
    let (head, length) = match parse(bytes) {
        ParsedHead::More => return Ok(InsideStream::More),
        ParsedHead::Head(head, length) => (head, length),
        ParsedHead::Bad if port == 80 => {
            return Err(Refused::silently("port 80 requires HTTP"));
        }
        ParsedHead::Bad => return Ok(InsideStream::Bytes),
    };
    let named = head.only("host").map(authority);
    let same = match named {
        Some(Ok((named, at))) => named == *host && at.is_none_or(|at| at == port),
        Some(Err(_)) | None => false,
    };
    let direct = head.method != "CONNECT" && (head.target.starts_with('/') || head.target == "*");
    if same && direct {
        return Ok(InsideStream::Request(head, length));
    }
    let text = format!("a tunnel to `{host}` carries a request for another host");
    Err(Refused::with(403, text))
}
