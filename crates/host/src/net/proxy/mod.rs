//! The network for a child that uses HTTP itself: a forward proxy with the approved hosts of one activation.
//!
//! **Problem.** A child has no network. Everything that it is allowed to reach has to go through a proxy, and a proxy that only
//! checks the requested name can be bypassed: a tunnel to an approved host can carry another host's name inside.
//!
//! **Decision.** Each activation has its own proxy, credential and approved hosts. `CONNECT host:port` opens a tunnel and `GET
//! http://host/…` is passed on; both go through the same checks as a fetch, and only the proxy resolves names. In a tunnel the
//! first bytes decide: a TLS ClientHello has to name the host of the `CONNECT`, and a plain HTTP request has to be for it. Such a
//! request is parsed and written again, and each connection carries only one, so that no second request hides behind the first; for the
//! same reason it can't be upgraded to another protocol.
//!
//! Port 443 carries TLS and port 80 HTTP. On a port that the approved scope names, other protocols pass unchanged.
//!
//! **Not covered.** The content of TLS is not seen: a server of many hosts (a CDN) can be asked for another host
//! there, or in the encrypted part of the ClientHello. The proxy does not limit how an approved host uses the data either.
//!
//! For refusals that follow from the approved hosts alone, the proxy replies with 403 and the reason. Failures after the lookup
//! get 502 and one message, as in [`fetch`](super::fetch); [`ProxyConnection`] has the cause.

mod connection;
mod message;
mod relay;
mod sniff;

use std::{
    collections::BTreeMap,
    io::{self, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::{fd::AsFd, unix::net::UnixStream},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::Sender,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use rustix::event::{PollFd, PollFlags, poll};

use super::{hosts::AllowedHosts, reach::Resolve};

/// One connection that was made to the proxy, once it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyConnection {
    /// The requested host; empty when the request did not contain one.
    pub host: String,
    /// Its port; 0 likewise.
    pub port: u16,
    /// The decision about the connection.
    pub decision: ProxyDecision,
    /// Bytes from the child to the host.
    pub bytes_up: u64,
    /// Bytes from the host to the child.
    pub bytes_down: u64,
    /// How long it lasted.
    pub ms: u64,
}

/// Records connections.
pub trait ConnectionLog: Send + Sync {
    /// Called before a connection to an approved host is made: from here on, bytes may leave the machine.
    ///
    /// # Errors
    /// When it can't be recorded, with the reason; the connection is then not made.
    fn open(&self, host: &str, port: u16) -> Result<Box<dyn OpenConnection>, String>;

    /// A connection was refused before anything was opened.
    fn refused(&self, seen: &ProxyConnection);
}

/// A recorded connection that is not over.
pub trait OpenConnection: Send {
    /// Called when the connection has ended.
    fn over(self: Box<Self>, seen: &ProxyConnection);
}

/// For callers that only need finished connections; the receiver can be gone.
impl ConnectionLog for Sender<ProxyConnection> {
    fn open(&self, _host: &str, _port: u16) -> Result<Box<dyn OpenConnection>, String> {
        Ok(Box::new(self.clone()))
    }

    fn refused(&self, seen: &ProxyConnection) {
        self.send(seen.clone()).ok();
    }
}

impl OpenConnection for Sender<ProxyConnection> {
    fn over(self: Box<Self>, seen: &ProxyConnection) {
        self.send(seen.clone()).ok();
    }
}

/// The proxy's decision about a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyDecision {
    /// The connection was allowed.
    Allowed,
    /// It was refused, for this reason. The reason can contain more than the child's reply.
    Refused(String),
    /// It was forwarded until a limit was reached.
    Cut(String),
}

/// The limits of a proxy.
#[derive(Debug, Clone)]
pub struct ProxyLimits {
    /// Connections at the same time.
    pub max_connections: usize,
    /// Connections in the proxy's lifetime.
    pub max_total: usize,
    /// Bytes in the proxy's lifetime, in both directions together.
    pub max_bytes: u64,
    /// Bytes of a request's head or of a TLS greeting.
    pub max_head: usize,
    /// The time for a request's head to arrive.
    pub head: Duration,
    /// The time to make a connection.
    pub connect: Duration,
    /// The time without a byte in either direction.
    pub idle: Duration,
    /// The total time of a connection.
    pub total: Duration,
}

impl Default for ProxyLimits {
    fn default() -> Self {
        Self {
            max_connections: 32,
            max_total: 10_000,
            max_bytes: 1024 * 1024 * 1024,
            max_head: 32 * 1024,
            head: Duration::from_secs(10),
            connect: Duration::from_secs(15),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(600),
        }
    }
}

/// A proxy that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct NetworkProxy {
    shared: Arc<ProxyShared>,
    wake: UnixStream,
    accepting: Option<JoinHandle<()>>,
}

/// The user name in the proxy's URL; the credential is the password.
const USER: &str = "metier";

impl NetworkProxy {
    /// Serves `listener`, which may belong to another network namespace, until it is stopped.
    ///
    /// `credential` has to be random, at least 16 characters of `A–Z a–z 0–9 - _`, and a new one for each activation. Every
    /// connection is reported to `log` before it is made, and when it has ended.
    pub fn start(
        listener: TcpListener,
        hosts: AllowedHosts,
        credential: &str,
        limits: ProxyLimits,
        resolve: Arc<dyn Resolve>,
        log: Arc<dyn ConnectionLog>,
    ) -> io::Result<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if credential.len() < 16 || !credential.bytes().all(plain) {
            let text = "a proxy credential needs at least 16 characters of A–Z a–z 0–9 - _";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        listener.set_nonblocking(true)?;
        let (wake, woken) = UnixStream::pair()?;
        let shared = Arc::new(ProxyShared {
            hosts,
            secret: STANDARD.encode(format!("{USER}:{credential}")),
            limits,
            resolve,
            log,
            open: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            book: Mutex::default(),
        });
        let own = Arc::clone(&shared);
        let accepting = thread::Builder::new()
            .name("metier-proxy".to_owned())
            .spawn(move || accept(&own, &listener, &woken))?;
        Ok(Self {
            shared,
            wake,
            accepting: Some(accepting),
        })
    }

    /// The value of `http_proxy` and `https_proxy` for the child.
    #[must_use]
    pub fn url(port: u16, credential: &str) -> String {
        format!("http://{USER}:{credential}@127.0.0.1:{port}")
    }

    /// Ends the proxy and its connections, and returns the finished ones, oldest end first.
    #[must_use]
    pub fn stop(mut self) -> Vec<ProxyConnection> {
        self.end();
        std::mem::take(&mut self.shared.book().seen)
    }

    fn end(&mut self) {
        let Some(accepting) = self.accepting.take() else {
            return;
        };
        self.shared.close();
        // Both only fail when the thread is gone already.
        self.wake.write_all(b"x").ok();
        accepting.join().ok();
        // A connection that is being dialled notices it when the dial ends; the others have noticed.
        let patience = Instant::now() + Duration::from_secs(2);
        while self.shared.open.load(Ordering::SeqCst) > 0 && Instant::now() < patience {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for NetworkProxy {
    fn drop(&mut self) {
        self.end();
    }
}

/// The state that all connections of a proxy share.
struct ProxyShared {
    hosts: AllowedHosts,
    secret: String,
    limits: ProxyLimits,
    resolve: Arc<dyn Resolve>,
    log: Arc<dyn ConnectionLog>,
    open: AtomicUsize,
    bytes: AtomicU64,
    book: Mutex<Book>,
}

/// Behind one lock, so that no connection is recorded after the end.
#[derive(Default)]
struct Book {
    ended: bool,
    count: usize,
    streams: BTreeMap<usize, Vec<TcpStream>>,
    seen: Vec<ProxyConnection>,
}

impl std::fmt::Debug for ProxyShared {
    /// Formats the proxy without its credential.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("hosts", &self.hosts)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl ProxyShared {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        let mut book = self.book();
        book.ended = true;
        for stream in book.streams.values().flatten() {
            stream.shutdown(Shutdown::Both).ok(); // it was closed before, which is fine
        }
        book.streams.clear();
    }

    /// Stores a stream of the connection `id`, to close it when the proxy ends.
    fn keep(&self, id: usize, stream: &TcpStream) -> io::Result<()> {
        let mut book = self.book();
        if book.ended {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let stream = stream.try_clone()?;
        book.streams.entry(id).or_default().push(stream);
        Ok(())
    }

    fn over(&self, id: usize, seen: ProxyConnection, opened: Option<Box<dyn OpenConnection>>) {
        match opened {
            Some(opened) => opened.over(&seen),
            None => self.log.refused(&seen),
        }
        let mut book = self.book();
        book.streams.remove(&id);
        book.seen.push(seen); // bounded by `max_total`
    }
}

fn accept(shared: &Arc<ProxyShared>, listener: &TcpListener, woken: &UnixStream) {
    loop {
        let mut both = [
            PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(woken.as_fd(), PollFlags::IN),
        ];
        let polled = poll(&mut both, None);
        if shared.book().ended || !both[1].revents().is_empty() {
            return;
        }
        match polled
            .map_err(io::Error::from)
            .and_then(|_| listener.accept())
        {
            Ok((client, _)) => admit(shared, client),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            // Probably out of descriptors: wait for a connection to end.
            Err(_) => thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Starts a thread for a connection, or returns why not.
fn admit(shared: &Arc<ProxyShared>, client: TcpStream) {
    let limits = &shared.limits;
    if client.set_nonblocking(false).is_err() {
        return;
    }
    let id = {
        let mut book = shared.book();
        book.count += 1;
        book.count
    };
    let refuse = |status: u16, text: String| {
        // An exceeded limit is reported once, otherwise the list would grow without bound.
        if id <= limits.max_total + 1 {
            let decision = ProxyDecision::Refused(text.clone());
            let seen = ProxyConnection {
                decision,
                ..ProxyConnection::nothing()
            };
            shared.over(id, seen, None);
        }
        connection::turn_away(&client, status, &text);
    };
    if id > limits.max_total {
        let most = limits.max_total;
        return refuse(
            403,
            format!("more than {most} connections since the skill was started"),
        );
    }
    if shared.open.load(Ordering::SeqCst) >= limits.max_connections {
        let most = limits.max_connections;
        return refuse(
            503,
            format!("more than {most} connections at the same time"),
        );
    }
    shared.open.fetch_add(1, Ordering::SeqCst);
    let own = Arc::clone(shared);
    let spawned = thread::Builder::new()
        .name("metier-proxied".to_owned())
        .spawn(move || {
            let _slot = ConnectionSlot(&own);
            connection::serve(&own, id, &client);
        });
    if spawned.is_err() {
        shared.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Frees its slot even when a thread panics.
struct ConnectionSlot<'a>(&'a ProxyShared);

impl Drop for ConnectionSlot<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ProxyConnection {
    fn nothing() -> Self {
        Self {
            host: String::new(),
            port: 0,
            decision: ProxyDecision::Allowed,
            bytes_up: 0,
            bytes_down: 0,
            ms: 0,
        }
    }
}
