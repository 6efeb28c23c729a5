//! Hosts: `api.github.com`, `*.example.com:8443`, `127.0.0.1`, `[::1]:8080`.
//!
//! This is the only parser of host scopes: policy uses it before a request is made, and the network uses it again
//! with the address that is dialled. An approval is interpreted narrowly and a denial widely:
//!
//! | scope | as an approval | as a denial |
//! |---|---|---|
//! | a host, `*.…` | that name, on the named port, otherwise 80 and 443 | that name, on the named port, otherwise all |
//! | an address | that address | that address in every form (IPv4 in IPv6), for every name that resolves to it |
//! | `localhost`, or an address of this machine | `localhost`: 127.0.0.0/8 and ::1 | all of this machine: a server on
//! one of its loopback addresses usually listens on all |

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::NotAScope;

/// A host on the network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern {
    host: PatternHost,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum PatternHost {
    /// In lower case, without a trailing dot.
    Name(Box<str>),
    /// `*.name`: any name below it.
    Below(Box<str>),
    /// An IP address, written out.
    Address(IpAddr),
}

/// The ports of http and https: the default of a host without a port.
const USUAL_PORTS: [u16; 2] = [80, 443];

impl HostPattern {
    pub(super) fn parse(text: &str) -> Result<Self, NotAScope> {
        if text.contains("://") || text.contains(['/', '@', '?', '#', '\\', '%']) {
            return Err(NotAScope(
                "write a host, not a URL, as in `net:fetch(api.github.com)`",
            ));
        }
        let (host, port) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
            Some(Some((host, rest))) => (host, rest),
            Some(None) => {
                return Err(NotAScope(
                    "an address that starts with `[` must end with `]`",
                ));
            }
            None => match text.split_once(':') {
                Some((host, _)) => (host, &text[host.len()..]),
                None => (text, ""),
            },
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits
                .parse::<u16>()
                .ok()
                .filter(|port| *port > 0)
                .map(Some)
                .ok_or(NotAScope("a port must be a number from 1 to 65535"))?,
            _ => return Err(NotAScope("a port must be a number from 1 to 65535")),
        };
        let bracketed = text.starts_with('[');
        let host = match host.parse::<IpAddr>() {
            Ok(address) if address.is_ipv6() == bracketed => PatternHost::Address(address),
            Ok(_) => return Err(NotAScope("write an IPv6 address in `[` and `]`")),
            Err(_) if bracketed => return Err(NotAScope("not a valid IPv6 address")),
            Err(_) => named(host)?,
        };
        Ok(Self { host, port })
    }

    /// Parses a pattern; `None` if it is invalid.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        Self::parse(text).ok()
    }

    /// Whether it approves a host, as returned by a URL parser, and a port.
    #[must_use]
    pub fn matches(&self, host: &str, port: u16) -> bool {
        self.is_host(host) && self.has_port(port)
    }

    /// Whether it matches this host, on any port.
    #[must_use]
    pub fn is_host(&self, host: &str) -> bool {
        match read_host(host) {
            Ok(address) => self.is_address(address),
            Err(host) => match &self.host {
                PatternHost::Name(name) => *host == **name,
                PatternHost::Below(name) => below(&host, name),
                PatternHost::Address(_) => false,
            },
        }
    }

    /// Whether it is exactly this address, or `localhost` for an address of this machine.
    #[must_use]
    pub fn is_address(&self, address: IpAddr) -> bool {
        match &self.host {
            PatternHost::Address(own) => *own == address,
            PatternHost::Name(name) => &**name == LOCALHOST && address.is_loopback(),
            PatternHost::Below(_) => false,
        }
    }

    /// Whether a denial covers this host and port, before the host is resolved.
    #[must_use]
    pub fn denies(&self, host: &str, port: u16) -> bool {
        match read_host(host) {
            Ok(address) => self.denies_address(address, port),
            Err(host) => {
                let local = self.is_this_machine() && is_local_name(&host);
                (local || self.is_host(&host)) && self.port.is_none_or(|own| own == port)
            }
        }
    }

    /// Whether a denial covers this address, which a host resolved to.
    #[must_use]
    pub fn denies_address(&self, address: IpAddr, port: u16) -> bool {
        let same = match &self.host {
            _ if self.is_this_machine() => leads_to(address).iter().any(is_local),
            PatternHost::Address(own) => {
                let own = leads_to(*own);
                leads_to(address)
                    .iter()
                    .any(|reading| own.contains(reading))
            }
            PatternHost::Name(_) | PatternHost::Below(_) => false,
        };
        same && self.port.is_none_or(|own| own == port)
    }

    /// Whether it refers to this machine: `localhost`, a loopback address, or one that systems treat as such.
    fn is_this_machine(&self) -> bool {
        match &self.host {
            PatternHost::Address(own) => leads_to(*own).iter().any(is_local),
            PatternHost::Name(name) => is_local_name(name),
            PatternHost::Below(_) => false,
        }
    }

    /// Whether it opens this port.
    #[must_use]
    pub fn opens(&self, port: u16) -> bool {
        port != 0 && self.has_port(port)
    }

    fn has_port(&self, port: u16) -> bool {
        match self.port {
            Some(named) => named == port,
            None => self.is_literal() || USUAL_PORTS.contains(&port),
        }
    }

    /// Whether it is an address, or refers to this machine, literally; then it covers any port unless one is given.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        match &self.host {
            PatternHost::Address(_) => true,
            PatternHost::Name(name) => &**name == LOCALHOST,
            PatternHost::Below(_) => false,
        }
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        let host = match (&self.host, &other.host) {
            (PatternHost::Below(this), PatternHost::Name(other)) => below(other, this),
            (PatternHost::Below(this), PatternHost::Below(other)) => {
                this == other || below(other, this)
            }
            (PatternHost::Name(_), PatternHost::Address(other)) => self.is_address(*other),
            (this, other) => this == other,
        };
        let port = match other.port {
            Some(port) => self.has_port(port),
            None => self.port.is_none(),
        };
        host && port
    }
}

const LOCALHOST: &str = "localhost";

/// An address, or a name in lower case without a trailing dot.
fn read_host(host: &str) -> Result<IpAddr, String> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let name = bare.strip_suffix('.').unwrap_or(bare);
    let address = bare.parse::<IpAddr>().or_else(|_| name.parse::<IpAddr>());
    address.map_err(|_| name.to_ascii_lowercase())
}

/// `localhost` and names below it, which resolvers answer themselves.
fn is_local_name(name: &str) -> bool {
    name == LOCALHOST || below(name, LOCALHOST)
}

/// Loopback, or the unspecified address, which systems treat as this machine.
fn is_local(address: &IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified()
}

/// Every address that a packet to this one can reach: itself, and an IPv4 address embedded in it.
fn leads_to(address: IpAddr) -> Vec<IpAddr> {
    let mut all = vec![address];
    if let IpAddr::V6(address) = address {
        all.extend(carried(address).into_iter().map(IpAddr::V4));
    }
    all
}

/// The IPv4 addresses embedded in an IPv6 address, in every known form.
fn carried(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        // Not IPv4 addresses, though they look like compatible ones.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Vec::new(),
        // IPv4-compatible, IPv4-mapped, IPv4-translated, NAT64
        [0, 0, 0, 0, 0, 0 | 0xffff, a, b]
        | [0, 0, 0, 0, 0xffff, 0, a, b]
        | [0x64, 0xff9b, 0, 0, 0, 0, a, b]
        // 6to4
        | [0x2002, a, b, ..] => vec![join(a, b)],
        // NAT64 of a local network: at the end, or around the ninth byte
        [0x64, 0xff9b, 1, a, b, c, d, e] => vec![join(d, e), join(a, (b << 8) | (c >> 8))],
        // Teredo: the client, and the server
        [0x2001, 0, a, b, _, _, c, d] => vec![join(!c, !d), join(a, b)],
        // ISATAP
        [.., 0 | 0x200, 0x5efe, a, b] => vec![join(a, b)],
        _ => Vec::new(),
    }
}

fn below(host: &str, name: &str) -> bool {
    host.strip_suffix(name)
        .and_then(|rest| rest.strip_suffix('.'))
        .is_some_and(|rest| !rest.is_empty())
}

fn named(text: &str) -> Result<PatternHost, NotAScope> {
    let wrong = NotAScope(
        "a host consists of letters, digits, `-` and dots; write other scripts as `xn--…`",
    );
    let (name, is_below) = match text.strip_prefix("*.") {
        Some(name) => (name, true),
        None => (text, false),
    };
    let name = name.to_ascii_lowercase();
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    // A last label of digits would be an address in another spelling (`127.1`).
    let last = name.rsplit('.').next().unwrap_or_default();
    let number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    if name.len() > 253 || !name.split('.').all(label) || number {
        return Err(wrong);
    }
    if is_below && !name.contains('.') {
        return Err(NotAScope(
            "`*.` must be followed by a domain, not by a top-level domain",
        ));
    }
    Ok(if is_below {
        PatternHost::Below(name.into())
    } else {
        PatternHost::Name(name.into())
    })
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            PatternHost::Name(name) => f.write_str(name)?,
            PatternHost::Below(name) => write!(f, "*.{name}")?,
            PatternHost::Address(IpAddr::V6(address)) => write!(f, "[{address}]")?,
            PatternHost::Address(address) => write!(f, "{address}")?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}
