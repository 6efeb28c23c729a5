//! The approved hosts, and whether a host and an address are among them.
//!
//! **A scope** is a host (`api.github.com`), everything below one (`*.example.com`, without `example.com`), an address
//! (`127.0.0.1`, `[::1]`) or `localhost`; each may name one port (`api.example.com:8443`). `*` is every public host.
//!
//! | scope | ports | addresses |
//! |---|---|---|
//! | a host, `*.…`, `*` | the named one, otherwise 80 and 443 | public ones |
//! | an address | the named one, otherwise any | exactly this one |
//! | `localhost` | the named one, otherwise any | 127.0.0.0/8 and ::1 |
//!
//! An address or `localhost` admits every port because people use them for their own servers, on any port. A host that resolves to
//! a non-public address is admitted only when that address is approved as well: the name then allows no more than the address
//! does. Metadata services are never admitted.
//!
//! [`HostPattern`] defines the meaning of a scope, for policy, fetches and the proxy. A denial is checked twice: with the requested
//! name, and with the address that is about to be dialled.
//!
//! Hosts are compared only after the parsing that browsers do: lower case, punycode, numbers turned into
//! addresses, no final dot.

use std::{
    net::{IpAddr, SocketAddr},
    str::FromStr,
    time::Duration,
};

use thiserror::Error;
use url::{Host, Url};

use metier_model::scope::HostPattern;

use super::{
    address::{AddressKind, kind},
    reach::Resolve,
};

/// How long the lookup of a name that the user typed can take.
const LOOKUP: Duration = Duration::from_secs(15);

/// The hosts that were approved. Empty means nothing is allowed.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts {
    scopes: Vec<AllowedScope>,
    any: bool,
    /// Denied hosts within the approved ones.
    denied: Vec<AllowedScope>,
}

#[derive(Debug, Clone)]
struct AllowedScope {
    pattern: HostPattern,
    text: String,
}

/// An admitted host, and the scope that admits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmittedHost {
    /// The scope as it was approved; `*` when every public host was.
    pub scope: String,
}

/// Why a scope can't be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`net:fetch({scope})` {reason}")]
pub struct ScopeError {
    /// The scope, escaped.
    pub scope: String,
    /// The problem, and the correct form.
    pub reason: String,
}

/// Why a target is not reached. The messages are for the skill as well as for the user: they contain only facts that were
/// decided before a packet was sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostRefusal {
    /// No scope names the host.
    #[error("`{host}` is not an approved host; approve `net:fetch({host})` to allow it")]
    NotApproved {
        /// The requested host.
        host: String,
    },
    /// The user denied it, although another scope approved it.
    #[error("`{host}` was denied")]
    Denied {
        /// The requested host.
        host: String,
    },
    /// A scope names the host, but not the port.
    #[error(
        "port {port} of `{host}` is not approved; approve `net:fetch({host}:{port})` to allow it"
    )]
    Port {
        /// The requested host.
        host: String,
        /// The requested port.
        port: u16,
    },
    /// The address is not a public one, and no scope names it literally.
    #[error(
        "`{host}` resolves to a {kind} address, which is allowed only if an approval names it literally"
    )]
    NotPublic {
        /// The requested host.
        host: String,
        /// The kind of address that it resolves to.
        kind: AddressKind,
    },
    /// A metadata service of a cloud provider.
    #[error("`{host}` provides credentials of this machine and can't be approved")]
    Metadata {
        /// The requested host.
        host: String,
    },
    /// A scheme other than `http` and `https`.
    #[error("`{scheme}:` is not supported; use `https:` or `http:`")]
    Scheme {
        /// The scheme of the URL.
        scheme: String,
    },
    /// The URL has a user or a password before the host.
    #[error("the URL contains credentials; send an `Authorization` header instead")]
    Userinfo,
    /// Not a URL, or one that two programs would parse differently.
    #[error("the URL can't be used: {reason}")]
    Url {
        /// The problem.
        reason: String,
    },
}

impl HostRefusal {
    /// A code that never changes its meaning.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotApproved { .. } => "host-not-approved",
            Self::Denied { .. } => "host-denied",
            Self::Port { .. } => "port-not-approved",
            Self::NotPublic { .. } => "address-not-public",
            Self::Metadata { .. } => "metadata-address",
            Self::Scheme { .. } => "scheme-not-fetched",
            Self::Userinfo => "userinfo-in-url",
            Self::Url { .. } => "url-unusable",
        }
    }

    pub(super) fn url(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Url { reason }
    }
}

/// Names of metadata services, for a clearer error than the one about their addresses.
const METADATA_NAMES: &[&str] = &[
    "metadata.google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.tencentyun.com",
    "metadata.platformequinix.com",
];

const DEFAULT_PORTS: [u16; 2] = [80, 443];

impl AllowedHosts {
    /// Parses the approved scopes; `any` also admits every public host.
    pub fn new(scopes: &[String], any: bool) -> Result<Self, ScopeError> {
        let wanted: Vec<&String> = scopes.iter().filter(|scope| *scope != "*").collect();
        let any = any || wanted.len() < scopes.len();
        let scopes: Result<Vec<AllowedScope>, ScopeError> = wanted
            .into_iter()
            .map(|text| AllowedScope::parse(text))
            .collect();
        scopes.map(|scopes| Self {
            scopes,
            any,
            denied: Vec::new(),
        })
    }

    /// The hosts of addresses that the user typed, and every public one if `any`. A name that the user typed can be in a private network,
    /// such as a company's server: then its addresses are allowed as well, but never those of this machine or of a metadata service.
    pub fn typed<'u>(
        urls: impl IntoIterator<Item = &'u Url>,
        any: bool,
        resolve: &dyn Resolve,
    ) -> Result<Self, ScopeError> {
        let mut scopes = Vec::new();
        for url in urls {
            let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
                continue;
            };
            scopes.push(format!("{host}:{port}"));
            if let Host::Domain(name) = host
                && name != "localhost"
            {
                // A name that can't be looked up is reported by the request.
                let found = resolve.resolve(name, port, LOOKUP).unwrap_or_default();
                let private = found
                    .iter()
                    .filter(|found| kind(found.ip()) == AddressKind::Private);
                let at_port = |found: &SocketAddr| SocketAddr::new(found.ip(), port).to_string();
                scopes.extend(private.map(at_port));
            }
        }
        Self::new(&scopes, any)
    }

    /// These hosts without the denied ones, on every port unless they name one; an empty scope denies all hosts. A denied address is not dialled
    /// under any name.
    pub fn without(self, denied: &[String]) -> Result<Self, ScopeError> {
        if denied.iter().any(String::is_empty) {
            return Ok(Self::default());
        }
        let denied: Result<Vec<AllowedScope>, ScopeError> = denied
            .iter()
            .map(|text| AllowedScope::parse(text))
            .collect();
        denied.map(|denied| Self { denied, ..self })
    }

    /// Whether `host` can be contacted on `port`, before its addresses are looked up.
    pub fn admits(&self, host: &Host, port: u16) -> Result<AdmittedHost, HostRefusal> {
        let host = &plain(host)?;
        let shown = host.to_string();
        let address = literal(host);
        let leads = address.map(kind);
        if leads == Some(AddressKind::Metadata) || METADATA_NAMES.contains(&shown.as_str()) {
            return Err(HostRefusal::Metadata { host: shown });
        }
        let is_denied = |scope: &AllowedScope| scope.pattern.denies(&shown, port);
        if self.denied.iter().any(is_denied) {
            return Err(HostRefusal::Denied { host: shown });
        }
        let mut named = self
            .scopes
            .iter()
            .filter(|scope| scope.pattern.is_host(&shown))
            .peekable();
        let was_named = named.peek().is_some();
        if let Some(scope) = named.find(|scope| scope.pattern.opens(port)) {
            let scope = scope.text.clone();
            return Ok(AdmittedHost { scope });
        }
        let local = *host == Host::Domain("localhost".to_owned());
        let leads = if local {
            Some(AddressKind::Loopback)
        } else {
            leads
        };
        match leads {
            Some(kind) if kind != AddressKind::Public && !was_named => {
                Err(HostRefusal::NotPublic { host: shown, kind })
            }
            _ if self.any && !local && DEFAULT_PORTS.contains(&port) => Ok(AdmittedHost {
                scope: "*".to_owned(),
            }),
            _ if was_named || (self.any && !local) => Err(HostRefusal::Port { host: shown, port }),
            _ => Err(HostRefusal::NotApproved { host: shown }),
        }
    }

    /// Whether this address of `host` can be dialled. It checks [`admits`](Self::admits) too.
    pub fn admits_address(&self, host: &Host, address: SocketAddr) -> Result<(), HostRefusal> {
        let host = &plain(host)?;
        self.admits(host, address.port())?;
        let ip = address.ip();
        let kind = kind(ip);
        let shown = host.to_string();
        if kind == AddressKind::Metadata {
            return Err(HostRefusal::Metadata { host: shown });
        }
        let denies = |scope: &AllowedScope| scope.pattern.denies_address(ip, address.port());
        if self.denied.iter().any(denies) {
            return Err(HostRefusal::Denied { host: shown });
        }
        let fits = match literal(host) {
            Some(own) => own == ip,
            None if shown == "localhost" => ip.is_loopback(),
            None => kind == AddressKind::Public || self.names(address),
        };
        if fits {
            Ok(())
        } else {
            Err(HostRefusal::NotPublic { host: shown, kind })
        }
    }

    /// Whether a scope names exactly this address, or `localhost` for an address of this machine.
    pub(super) fn names(&self, address: SocketAddr) -> bool {
        let fits = |scope: &AllowedScope| scope.pattern.is_address(address.ip());
        let mut scopes = self.scopes.iter();
        scopes.any(|scope| fits(scope) && scope.pattern.opens(address.port()))
    }
}

impl AllowedScope {
    fn parse(text: &str) -> Result<Self, ScopeError> {
        let wrong = |reason: &str| ScopeError {
            scope: shown(text),
            reason: reason.to_owned(),
        };
        if text.contains("://") || text.contains('/') {
            return Err(wrong("is not a host; write it without scheme and path"));
        }
        let (host, port) = split_port(text).map_err(wrong)?;
        let (below, host) = match host.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, host),
        };
        if host.contains('*') {
            return Err(wrong(
                "contains `*` in the middle; it is only allowed in front, as in `*.example.com`",
            ));
        }
        let parsed =
            parse_host(host).map_err(|refusal| wrong(&format!("is not a host: {refusal}")))?;
        match &parsed {
            Host::Domain(name) if below && !name.contains('.') => {
                return Err(wrong("is too broad; use at least `*.example.com`"));
            }
            Host::Domain(_) => {}
            _ if below => return Err(wrong("is too broad; use at least `*.example.com`")),
            Host::Ipv4(ip) => check_address((*ip).into(), host).map_err(|why| wrong(&why))?,
            Host::Ipv6(ip) => check_address((*ip).into(), host).map_err(|why| wrong(&why))?,
        }
        let front = if below { "*." } else { "" };
        let port = port.map_or_else(String::new, |port| format!(":{port}"));
        let Some(pattern) = HostPattern::read(&format!("{front}{parsed}{port}")) else {
            return Err(wrong("is not a host that can be approved or denied"));
        };
        let text = text.to_owned();
        Ok(Self { pattern, text })
    }
}

/// An address in the form that people read: a user who approves `2130706433` has not seen 127.0.0.1.
fn check_address(ip: IpAddr, written: &str) -> Result<(), String> {
    let bare = written.trim_start_matches('[').trim_end_matches(']');
    if IpAddr::from_str(bare) != Ok(ip) {
        return Err(format!("is another spelling of `{ip}`; use that"));
    }
    if kind(ip) == AddressKind::Metadata {
        return Err("provides credentials of this machine and can't be approved".to_owned());
    }
    Ok(())
}

/// A URL whose form is acceptable for a fetch.
#[derive(Debug, Clone)]
pub struct FetchTarget {
    /// The URL without fragment; its host has no final dot.
    pub url: Url,
    /// The host of the URL.
    pub host: Host,
    /// Its port, named or not.
    pub port: u16,
}

impl FetchTarget {
    /// Parses a URL. Text that browsers repair silently (tabs, backslashes, a password before the host) is refused: another program or a
    /// person could read another host in it.
    pub fn parse(text: &str) -> Result<Self, HostRefusal> {
        clean(text)?;
        let url = Url::parse(text).map_err(|error| HostRefusal::url(error.to_string()))?;
        Self::new(url)
    }

    /// The target of a redirect from here.
    pub fn join(&self, location: &str) -> Result<Self, HostRefusal> {
        clean(location)?;
        let url = self.url.join(location);
        Self::new(url.map_err(|error| HostRefusal::url(error.to_string()))?)
    }

    /// Whether the connection uses TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether both are the same scheme, host and port.
    #[must_use]
    pub fn same_origin(&self, other: &Self) -> bool {
        self.url.scheme() == other.url.scheme()
            && self.host == other.host
            && self.port == other.port
    }

    fn new(mut url: Url) -> Result<Self, HostRefusal> {
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = shown(url.scheme());
            return Err(HostRefusal::Scheme { scheme });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HostRefusal::Userinfo);
        }
        let Some(host) = url.host() else {
            return Err(HostRefusal::url("it has no host"));
        };
        let host = plain(&host.to_owned())?;
        let Some(port) = url.port_or_known_default().filter(|port| *port != 0) else {
            return Err(HostRefusal::url("its port is not valid"));
        };
        url.set_host(Some(&host.to_string()))
            .map_err(|error| HostRefusal::url(error.to_string()))?;
        url.set_fragment(None);
        Ok(Self { url, host, port })
    }
}

/// `host:port` as in `CONNECT` and `Host`. Any other text is refused.
pub(super) fn authority(text: &str) -> Result<(Host, Option<u16>), HostRefusal> {
    clean(text)?;
    let (host, port) = split_port(text).map_err(HostRefusal::url)?;
    Ok((parse_host(host)?, port))
}

/// The address that `host` is, if it is one.
pub(super) fn literal(host: &Host) -> Option<IpAddr> {
    match host {
        Host::Ipv4(ip) => Some((*ip).into()),
        Host::Ipv6(ip) => Some((*ip).into()),
        Host::Domain(_) => None,
    }
}

/// External text, for a message: invisible characters are escaped, and long text is cut.
pub(super) fn shown(text: &str) -> String {
    const MAX: usize = 100;
    let mut cut: String = text
        .chars()
        .take(MAX)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(MAX).is_some() {
        cut.push('…');
    }
    cut
}

fn clean(text: &str) -> Result<(), HostRefusal> {
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(HostRefusal::url(
            "it contains a space or a control character; encode it",
        ));
    }
    if text.contains('\\') {
        return Err(HostRefusal::url(
            "it contains a backslash; use `/`, or `%5C` if it is intended",
        ));
    }
    Ok(())
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), &'static str> {
    let bare_six = text.matches(':').count() > 1 && !text.starts_with('[');
    if bare_six {
        return Err("has an IPv6 address without brackets; write `[…]`");
    }
    let after_bracket = text.rfind(']').unwrap_or(0);
    let Some(colon) = text[after_bracket..].rfind(':') else {
        return Ok((text, None));
    };
    let (host, port) = text.split_at(after_bracket + colon);
    let digits = &port[1..];
    let number = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse::<u16>());
    match number {
        Some(Ok(port)) if port != 0 => Ok((host, Some(port))),
        _ => Err("has no port between 1 and 65535 after its `:`"),
    }
}

/// Only a plain host: `Host::parse` would decode percent signs and trust the rest.
fn parse_host(text: &str) -> Result<Host, HostRefusal> {
    if let Some(bad) = text.chars().find(|c| "%@/?#".contains(*c)) {
        return Err(HostRefusal::url(format!(
            "a host name can't contain `{bad}`"
        )));
    }
    let host = Host::parse(text).map_err(|error| HostRefusal::url(error.to_string()))?;
    plain(&host)
}

/// The host in its canonical form.
fn plain(host: &Host) -> Result<Host, HostRefusal> {
    let Host::Domain(name) = host else {
        return Ok(host.clone());
    };
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let label = |label: &str| (1..=63).contains(&label.len());
    if name.len() > 253 || !name.is_ascii() || !name.split('.').all(label) {
        return Err(HostRefusal::url("invalid host name"));
    }
    // `Host::Domain` can be constructed without the parser, and the parser is what recognises addresses.
    match Host::parse(&name) {
        Ok(Host::Domain(parsed)) if parsed == name => Ok(Host::Domain(name)),
        _ => Err(HostRefusal::url("invalid host name")),
    }
}

#[cfg(test)]
#[path = "hosts_tests.rs"]
mod tests;
