//! Hosts: `api.github.com`, `*.example.com:8443`, `127.0.0.1`, `[::1]:8080`.

use std::{fmt, net::IpAddr};

use super::NotAScope;

/// A host on the network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPattern {
    host: Host,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Host {
    /// In lower case, without a dot at its end.
    Name(Box<str>),
    /// `*.name`: any name below it.
    Below(Box<str>),
    /// An address, written out.
    Address(IpAddr),
}

/// The ports of http and https: what a host means when no port is named.
const USUAL_PORTS: [u16; 2] = [80, 443];

impl HostPattern {
    pub(super) fn parse(text: &str) -> Result<Self, NotAScope> {
        if text.contains("://") || text.contains(['/', '@', '?', '#', '\\', '%']) {
            return Err(NotAScope(
                "name a host, not a URL, as in `net:fetch(api.github.com)`",
            ));
        }
        let (host, port) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
            Some(Some((host, rest))) => (host, rest),
            Some(None) => return Err(NotAScope("an address in `[` ends with `]`")),
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
                .ok_or(NotAScope("a port is a number from 1 to 65535"))?,
            _ => return Err(NotAScope("a port is a number from 1 to 65535")),
        };
        let bracketed = text.starts_with('[');
        let host = match host.parse::<IpAddr>() {
            Ok(address) if address.is_ipv6() == bracketed => Host::Address(address),
            Ok(_) => return Err(NotAScope("an IPv6 address is written in `[` and `]`")),
            Err(_) if bracketed => return Err(NotAScope("that is no IPv6 address")),
            Err(_) => named(host)?,
        };
        Ok(Self { host, port })
    }

    /// Whether a host, as a URL parser gives it, and a port are in it.
    #[must_use]
    pub fn matches(&self, host: &str, port: u16) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let same = match (&self.host, host.parse::<IpAddr>()) {
            (Host::Address(this), Ok(other)) => *this == other,
            (Host::Address(_), Err(_)) | (_, Ok(_)) => false,
            (Host::Name(name), Err(_)) => host.eq_ignore_ascii_case(name),
            (Host::Below(name), Err(_)) => below(&host.to_ascii_lowercase(), name),
        };
        same && self.has_port(port)
    }

    fn has_port(&self, port: u16) -> bool {
        match self.port {
            Some(named) => named == port,
            None => self.is_literal() || USUAL_PORTS.contains(&port),
        }
    }

    /// Whether it names an address, or this machine, literally; then any port is meant unless one is named.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        match &self.host {
            Host::Address(_) => true,
            Host::Name(name) => &**name == "localhost",
            Host::Below(_) => false,
        }
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        let host = match (&self.host, &other.host) {
            (Host::Below(this), Host::Name(other)) => below(other, this),
            (Host::Below(this), Host::Below(other)) => this == other || below(other, this),
            (this, other) => this == other,
        };
        let port = match other.port {
            Some(port) => self.has_port(port),
            None => self.port.is_none(),
        };
        host && port
    }
}

fn below(host: &str, name: &str) -> bool {
    host.strip_suffix(name)
        .and_then(|rest| rest.strip_suffix('.'))
        .is_some_and(|rest| !rest.is_empty())
}

fn named(text: &str) -> Result<Host, NotAScope> {
    let wrong =
        NotAScope("a host has letters, digits, `-` and dots; write other scripts as `xn--…`");
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
            "`*.` stands before a domain, not before a whole top-level domain",
        ));
    }
    Ok(if is_below {
        Host::Below(name.into())
    } else {
        Host::Name(name.into())
    })
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Name(name) => f.write_str(name)?,
            Host::Below(name) => write!(f, "*.{name}")?,
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]")?,
            Host::Address(address) => write!(f, "{address}")?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}
