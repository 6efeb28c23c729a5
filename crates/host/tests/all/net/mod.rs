//! A small internet on loopback: real servers, and a resolver with scripted answers.
//!
//! Names resolve to public addresses; dialling one of them reaches a server here. Addresses of this machine are really
//! dialled, so that a check that fails to refuse them is seen by a real server.
#![expect(clippy::unwrap_used, reason = "a broken fixture is a broken test")]

mod fetch;
mod hops;
mod proxy;

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use metier_host::net::{AllowedHosts, Dialled, Resolve};
use metier_testkit::patience::PATIENCE;
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::aws_lc_rs,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
};

pub(crate) fn hosts(scopes: &[&str]) -> AllowedHosts {
    let scopes: Vec<String> = scopes.iter().map(|&scope| scope.to_owned()).collect();
    AllowedHosts::new(&scopes, false).unwrap()
}

/// Every public host.
pub(crate) fn any() -> AllowedHosts {
    AllowedHosts::new(&[], true).unwrap()
}

/// A server on an address of loopback; it ends with its last connection.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Each connection is passed to `answer`, with a list in which to record what it saw.
    pub(crate) fn start(
        answer: impl Fn(TcpStream, &Mutex<Vec<String>>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let ended = Arc::new(AtomicBool::new(false));
        let (book, stop, answer) = (Arc::clone(&seen), Arc::clone(&ended), Arc::new(answer));
        let accepting = thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let stream = stream.unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                stream.set_write_timeout(Some(PATIENCE)).unwrap();
                let (book, answer) = (Arc::clone(&book), Arc::clone(&answer));
                thread::spawn(move || answer(stream, &book));
            }
        });
        Self {
            address,
            seen,
            ended,
            accepting: Some(accepting),
        }
    }

    /// Reads a request's head and replies with `text`.
    pub(crate) fn answering(text: impl Into<Vec<u8>>) -> Self {
        let text = text.into();
        Self::start(move |mut stream, seen| {
            let head = read_head(&mut stream);
            if !head.is_empty() {
                seen.lock().unwrap().push(head);
            }
            stream.write_all(&text).ok();
        })
    }

    /// Replies with a text body.
    pub(crate) fn saying(body: &str) -> Self {
        Self::answering(ok(body))
    }

    /// Reads a request's head and replies with `first`, and then with `again` until the client is gone.
    pub(crate) fn repeating(first: &'static str, again: &'static [u8], pause: Duration) -> Self {
        Self::start(move |mut stream, _| {
            read_head(&mut stream);
            let until = Instant::now() + PATIENCE;
            let mut going = stream.write_all(first.as_bytes()).is_ok();
            while going && Instant::now() < until {
                going = stream.write_all(again).is_ok();
                thread::sleep(pause);
            }
        })
    }

    /// A redirect.
    pub(crate) fn leading(status: u16, location: &str) -> Self {
        Self::answering(redirect(status, location))
    }

    /// A server with TLS that answers with this text; the certificate is for `names`, and is returned too.
    pub(crate) fn secure(names: &[&str], text: impl Into<Vec<u8>>) -> (Self, Vec<u8>) {
        let text = text.into();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let root = made.cert.der().clone();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth();
        let config = Arc::new(builder.with_single_cert(vec![root.clone()], key).unwrap());
        let server = Self::start(move |stream, seen| {
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(tls, stream);
            let head = read_head(&mut stream);
            if head.is_empty() {
                return; // no handshake
            }
            seen.lock().unwrap().push(head);
            stream.write_all(&text).ok();
            stream.conn.send_close_notify();
            stream.flush().ok();
        });
        (server, root.to_vec())
    }

    /// The heads of the requests so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// A URL here.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        TcpStream::connect(self.address).ok();
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

pub(crate) fn ok(body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nX-From: test\r\n\r\n{body}")
}

pub(crate) fn redirect(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Go\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
}

/// Everything up to the empty line, or to the end.
pub(crate) fn read_head(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Names, their addresses, and the servers that these really reach.
#[derive(Default)]
pub(crate) struct Internet {
    names: Mutex<BTreeMap<String, VecDeque<Vec<IpAddr>>>>,
    routes: BTreeMap<SocketAddr, SocketAddr>,
    lies: BTreeMap<SocketAddr, Dialect>,
    lookups: Mutex<Vec<String>>,
    dials: Mutex<Vec<SocketAddr>>,
}

/// A connection that reports false addresses.
#[derive(Clone, Copy)]
pub(crate) enum Dialect {
    /// Another address answers.
    Peer(SocketAddr),
    /// The address is our own.
    Own,
}

impl Internet {
    /// `name` resolves to these addresses; if given twice, it resolves to the others the second time, and so on.
    pub(crate) fn name(mut self, name: &str, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|ip| ip.parse().unwrap()).collect();
        let names = self.names.get_mut().unwrap();
        names
            .entry(name.to_owned())
            .or_default()
            .push_back(addresses);
        self
    }

    /// Dialling `address` reaches `server`.
    pub(crate) fn route(mut self, address: &str, server: &Server) -> Self {
        self.routes.insert(address.parse().unwrap(), server.address);
        self
    }

    pub(crate) fn lie(mut self, address: &str, lie: Dialect) -> Self {
        self.lies.insert(address.parse().unwrap(), lie);
        self
    }

    pub(crate) fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }

    pub(crate) fn dials(&self) -> Vec<String> {
        let dials = self.dials.lock().unwrap();
        dials.iter().map(ToString::to_string).collect()
    }
}

impl Resolve for Internet {
    fn resolve(&self, host: &str, port: u16, _: Duration) -> io::Result<Vec<SocketAddr>> {
        self.lookups.lock().unwrap().push(host.to_owned());
        let mut names = self.names.lock().unwrap();
        let Some(answers) = names.get_mut(host) else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no such name"));
        };
        let answer = if answers.len() > 1 {
            answers.pop_front().unwrap()
        } else {
            answers[0].clone()
        };
        Ok(answer
            .into_iter()
            .map(|ip| SocketAddr::new(ip, port))
            .collect())
    }

    fn dial(&self, address: SocketAddr, within: Duration) -> io::Result<Dialled> {
        self.dials.lock().unwrap().push(address);
        let real = match self.routes.get(&address) {
            Some(real) => *real,
            None if address.ip().is_loopback() => address,
            None => return Err(io::ErrorKind::ConnectionRefused.into()),
        };
        let stream = TcpStream::connect_timeout(&real, within)?;
        let mut dialled = Dialled {
            peer: address,
            local: stream.local_addr()?,
            stream,
        };
        match self.lies.get(&address) {
            Some(Dialect::Peer(peer)) => dialled.peer = *peer,
            Some(Dialect::Own) => dialled.local.set_ip(address.ip()),
            None => {}
        }
        Ok(dialled)
    }
}
