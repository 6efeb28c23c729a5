//! From a host to a connection whose address was checked.
//!
//! A name is resolved once. The allowed addresses of the result are dialled in turn, and the peer has to be the dialled address.
//! There is no second lookup, so there is no second result to trust.
//!
//! Failures after the lookup have the same message, whether a rule, the resolver or the peer refused: otherwise the messages would
//! show a skill which internal names and ports exist. The [`UnreachableCause`] is for the user's log.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use thiserror::Error;
use url::Host;

use super::hosts::{AllowedHosts, HostRefusal, literal};

/// Resolves names to addresses, and connects to addresses.
///
/// Both belong to one trait so that a test can replace the internet; a real implementation only has `resolve`.
pub trait Resolve: Send + Sync {
    /// The addresses of `host`, which is a name in ASCII, never an address. It has to return `within` this time.
    fn resolve(&self, host: &str, port: u16, within: Duration) -> io::Result<Vec<SocketAddr>>;

    /// Connects to `address`, which was checked.
    fn dial(&self, address: SocketAddr, within: Duration) -> io::Result<Dialled> {
        let stream = TcpStream::connect_timeout(&address, within)?;
        Ok(Dialled {
            peer: stream.peer_addr()?,
            local: stream.local_addr()?,
            stream,
        })
    }
}

/// A connection and its endpoints.
#[derive(Debug)]
pub struct Dialled {
    /// The open connection.
    pub stream: TcpStream,
    /// The other end, as the system sees it.
    pub peer: SocketAddr,
    /// The local address of the connection.
    pub local: SocketAddr,
}

/// The resolver of the system.
///
/// It has no timeout, so each lookup has a thread, and a lookup that hangs keeps it. There are never more than
/// [`SystemResolver::MAX_LOOKUPS`] of them.
#[derive(Debug, Clone, Default)]
pub struct SystemResolver {
    lookups: Arc<AtomicUsize>,
}

impl SystemResolver {
    /// The maximum number of lookups at the same time.
    pub const MAX_LOOKUPS: usize = 16;
}

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str, port: u16, within: Duration) -> io::Result<Vec<SocketAddr>> {
        let lookups = Arc::clone(&self.lookups);
        if lookups.fetch_add(1, Ordering::SeqCst) >= Self::MAX_LOOKUPS {
            lookups.fetch_sub(1, Ordering::SeqCst);
            return Err(io::Error::other("too many lookups at the same time"));
        }
        let (send, receive) = mpsc::channel();
        let name = (host.to_owned(), port);
        let lookup = thread::Builder::new().name("metier-lookup".to_owned());
        let thread = lookup.spawn(move || {
            let found = name.to_socket_addrs().map(Iterator::collect::<Vec<_>>);
            lookups.fetch_sub(1, Ordering::SeqCst);
            send.send(found).ok(); // the receiver can be gone
        });
        if let Err(error) = thread {
            self.lookups.fetch_sub(1, Ordering::SeqCst);
            return Err(error);
        }
        receive
            .recv_timeout(within)
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }
}

/// Why there is no connection. Not shown to skills.
#[derive(Debug, Error)]
pub enum UnreachableCause {
    /// The name has no address, or could not be looked up.
    #[error("the name could not be looked up: {0}")]
    Lookup(io::Error),
    /// None of the addresses is allowed.
    #[error("it resolves to {0}, which is not allowed: {1}")]
    Address(IpAddr, HostRefusal),
    /// No address accepted the connection.
    #[error("no address answered: {0}")]
    Dial(io::Error),
    /// An address other than the dialled one answered.
    #[error("connected to {0}, but {1} answered")]
    Peer(SocketAddr, SocketAddr),
    /// The address is one of this machine's own.
    #[error("{0} is an address of this machine")]
    Own(IpAddr),
}

/// Why a host was not reached.
#[derive(Debug)]
pub(super) enum Unreached {
    /// Refused before any lookup: the skill may see the reason.
    Refused(HostRefusal),
    /// The host can't be reached.
    Unreachable(UnreachableCause),
}

/// How many addresses of one name are tried.
const MAX_TRIES: usize = 6;

/// The maximum time for one address.
const MAX_DIAL: Duration = Duration::from_secs(10);

/// Connects to `host`, if it and its address are allowed.
pub(super) fn reach(
    host: &Host,
    port: u16,
    hosts: &AllowedHosts,
    resolve: &dyn Resolve,
    deadline: Instant,
) -> Result<TcpStream, Unreached> {
    hosts.admits(host, port).map_err(Unreached::Refused)?;
    let addresses = addresses(host, port, resolve, deadline).map_err(UnreachableCause::Lookup);
    let found = addresses.and_then(|found| dial_first(host, &found, hosts, resolve, deadline));
    found.map_err(Unreached::Unreachable)
}

/// The addresses to dial. An address is not resolved, nor is `localhost`, which no name server decides.
fn addresses(
    host: &Host,
    port: u16,
    resolve: &dyn Resolve,
    deadline: Instant,
) -> io::Result<Vec<SocketAddr>> {
    if let Some(ip) = literal(host) {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let name = host.to_string();
    if name == "localhost" {
        let four = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        return Ok(vec![four, SocketAddr::from((Ipv6Addr::LOCALHOST, port))]);
    }
    let found = resolve.resolve(&name, port, left(deadline)?)?;
    // A different port in the resolver's result is ignored.
    let found = found
        .into_iter()
        .map(|address| SocketAddr::new(address.ip(), port));
    Ok(found.collect())
}

fn dial_first(
    host: &Host,
    addresses: &[SocketAddr],
    hosts: &AllowedHosts,
    resolve: &dyn Resolve,
    deadline: Instant,
) -> Result<TcpStream, UnreachableCause> {
    let mut cause = UnreachableCause::Lookup(io::Error::new(io::ErrorKind::NotFound, "no address"));
    let mut checked = Vec::new();
    for address in addresses {
        match hosts.admits_address(host, *address) {
            Ok(()) => checked.push(*address),
            Err(refusal) => cause = UnreachableCause::Address(address.ip(), refusal),
        }
    }
    checked.truncate(MAX_TRIES);
    for (index, address) in checked.iter().enumerate() {
        let share =
            left(deadline).map_err(UnreachableCause::Dial)? / (checked.len() - index) as u32;
        match resolve
            .dial(*address, share.min(MAX_DIAL))
            .map_err(UnreachableCause::Dial)
        {
            Ok(dialled) => match verify(*address, dialled, hosts) {
                Ok(stream) => return Ok(stream),
                Err(found) => cause = found,
            },
            Err(found) => cause = found,
        }
    }
    Err(cause)
}

/// Checks that the peer is the dialled address, and is not this machine under a public address.
fn verify(
    address: SocketAddr,
    dialled: Dialled,
    hosts: &AllowedHosts,
) -> Result<TcpStream, UnreachableCause> {
    let Dialled {
        stream,
        peer,
        local,
    } = dialled;
    if peer.ip() != address.ip() || peer.port() != address.port() {
        return Err(UnreachableCause::Peer(address, peer));
    }
    if local.ip() == peer.ip() && !hosts.names(address) {
        return Err(UnreachableCause::Own(peer.ip()));
    }
    Ok(stream)
}

/// The time left until `deadline`; an error if none is left.
pub(super) fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}
