//! Who is let in: checks of `Host` and `Origin`, tokens, one-time links, and the cookie of the page.
//!
//! **Problem.** A page on the web can make a browser connect to this machine: to a port of ours (its `Origin` is another one), under a name that was
//! made to resolve to 127.0.0.1 (then `Host` is that name), or with a form. **Decision.** Every request and every upgrade has a `Host` that is ours,
//! and an `Origin` that is ours if it has one. Everything except health and the page's files needs the token, or the cookie that a one-time link
//! became; with the cookie, whatever changes something also needs a header that no form can send. Forms of our own page, below [`FORMS`], need the
//! token of their cookie instead ([`PageVisit`]).

use std::{
    collections::VecDeque,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use axum::http::{HeaderMap, HeaderName, Method, Uri, header};
use metier::Error;
use subtle::ConstantTimeEq as _;

use crate::page::USED_LINK;

use super::{
    answer::Refusal,
    instance::{DaemonToken, secret},
};

/// How long a one-time link works, and how long the cookie that it becomes.
const LINK_LIFE: Duration = Duration::from_secs(600);
pub(super) const COOKIE_LIFE: Duration = Duration::from_secs(12 * 3_600);

/// The maximum number of links that wait to be used.
const MAX_LINKS: usize = 64;

/// The name of the cookie.
pub(super) const COOKIE: &str = "metier_session";

/// The header that the page sends with each request that changes something.
pub(super) const CSRF: HeaderName = HeaderName::from_static("x-metier-request");

/// Where forms of the page are sent: with the cookie and the token of a [`PageVisit`].
pub(crate) const FORMS: &str = "/do/";

/// Wrong tokens in a minute, before further ones are refused unread.
const MAX_FAILURES: usize = 60;

/// Decides who is let in: the token, the names of this daemon, and the links that were not used yet.
pub(super) struct Access {
    token: DaemonToken,
    hosts: Vec<String>,
    port: u16,
    state: Mutex<AccessState>,
}

#[derive(Default)]
struct AccessState {
    links: Vec<(String, Instant)>,
    failures: VecDeque<Instant>,
    token: Option<(u64, i64, i64, u64)>,
}

/// A browser with our cookie: what its forms have to send, so that no other page can send them.
#[derive(Clone)]
pub(crate) struct PageVisit {
    form_token: Arc<str>,
}

impl PageVisit {
    /// The token that every form contains.
    pub(crate) fn form_token(&self) -> &str {
        &self.form_token
    }

    /// Whether a form contained it.
    pub(crate) fn is_sent_by_us(&self, shown: &str) -> bool {
        is_same(&self.form_token, shown)
    }

    /// A visit in a test.
    #[cfg(test)]
    pub(crate) fn with_token(token: &str) -> Self {
        let form_token = token.into();
        Self { form_token }
    }
}

/// How a request showed who it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// A program with the token.
    Program,
    /// The page, in a browser.
    Page,
}

impl Access {
    /// The access checks of a daemon with this address and these additional host names.
    pub(super) fn new(token: DaemonToken, listen: SocketAddr, names: &[String]) -> Self {
        let mut hosts: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        if listen.ip().is_loopback() {
            let loopback = ["localhost", "127.0.0.1", "[::1]"];
            hosts.extend(loopback.map(str::to_owned));
        }
        hosts.push(host_of(listen.ip()));
        Self {
            state: Mutex::new(AccessState {
                token: token.version(),
                ..AccessState::default()
            }),
            token,
            hosts,
            port: listen.port(),
        }
    }

    /// The names of this daemon.
    pub(super) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The origins of its own pages.
    pub(super) fn origins(&self) -> impl Iterator<Item = String> {
        let port = self.port;
        let own = move |host: &String| {
            ["http", "https"].map(|scheme| format!("{scheme}://{host}:{port}"))
        };
        self.hosts.iter().flat_map(own)
    }

    /// The file of the token.
    pub(super) fn token_file(&self) -> &std::path::Path {
        self.token.path()
    }

    /// Refuses a request that a foreign page could have caused.
    pub(super) fn check_source(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        let is_ours = host.is_some_and(|host| self.is_ours(host)) && hosts.next().is_none();
        let names_another = uri.authority().is_some_and(|to| !self.is_ours(to.as_str()));
        if !is_ours || names_another {
            return Err(Refusal::new(
                421,
                "wrong-host",
                "the `Host` header does not name this daemon",
            )
            .hint("use the address that `metier serve` printed; --host NAME adds a name"));
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else {
            return Ok(());
        };
        let origin = origin.to_str().ok().and_then(|origin| {
            let rest = origin.strip_prefix("http://");
            rest.or_else(|| origin.strip_prefix("https://"))
        });
        match origin.is_some_and(|origin| self.is_ours(origin)) && origins.next().is_none() {
            true => Ok(()),
            false => Err(Refusal::new(
                403,
                "foreign-origin",
                "requests from other origins are refused",
            )),
        }
    }

    /// Whether `host:port` is this daemon.
    fn is_ours(&self, authority: &str) -> bool {
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (authority, Some(80)),
        };
        // Behind TLS the usual port is left out, and behind a proxy it is another one: then the name decides.
        let is_port = port == Some(self.port) || !self.is_loopback_only();
        is_port && self.hosts.iter().any(|own| host.eq_ignore_ascii_case(own))
    }

    fn is_loopback_only(&self) -> bool {
        self.hosts.iter().any(|host| host == "localhost")
    }

    /// Who a request is from, by its headers.
    pub(super) fn caller(&self, method: &Method, headers: &HeaderMap) -> Result<Caller, Refusal> {
        if let Some(value) = headers.get(header::AUTHORIZATION) {
            let shown = value.to_str().ok().and_then(|value| value.split_once(' '));
            let shown = shown.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            let shown = shown.map_or("", |(_, token)| token.trim());
            return self.program(shown);
        }
        let Some(cookie) = cookie(headers) else {
            return Err(unauthorized());
        };
        if self.visit(cookie).is_none() {
            return Err(unauthorized());
        }
        let is_safe = matches!(*method, Method::GET | Method::HEAD);
        match is_safe || headers.contains_key(CSRF) {
            true => Ok(Caller::Page),
            false => Err(Refusal::new(
                403,
                "missing-header",
                format!("a request with a cookie needs the header `{CSRF}`"),
            )),
        }
    }

    /// The browser that sent a request for a page, or one of its forms.
    pub(super) fn page_visit(&self, headers: &HeaderMap) -> Result<PageVisit, Refusal> {
        let visit = cookie(headers).and_then(|cookie| self.visit(cookie));
        visit.ok_or_else(unauthorized)
    }

    /// Checks the token that a program sent.
    pub(super) fn program(&self, shown: &str) -> Result<Caller, Refusal> {
        if self.token.is(shown) {
            return Ok(Caller::Program);
        }
        let (mut state, now) = (self.state(), Instant::now());
        let minute = Duration::from_secs(60);
        while state
            .failures
            .front()
            .is_some_and(|then| now.duration_since(*then) > minute)
        {
            state.failures.pop_front();
        }
        if state.failures.len() >= MAX_FAILURES {
            return Err(Refusal::new(
                429,
                "too-many-requests",
                "too many requests with a wrong token",
            )
            .hint("wait a minute"));
        }
        state.failures.push_back(now);
        Err(unauthorized())
    }

    /// A code that becomes a cookie once.
    pub(super) fn link(&self) -> Result<String, Error> {
        let code = secret()?;
        let mut state = self.state();
        state.links.retain(|(_, end)| *end > Instant::now());
        state.links.truncate(MAX_LINKS);
        state.links.push((code.clone(), Instant::now() + LINK_LIFE));
        Ok(code)
    }

    /// Exchanges a code for a cookie. The code can't be used again.
    pub(super) fn redeem(&self, code: &str) -> Result<String, Refusal> {
        self.forget_links_of_another_token();
        let mut state = self.state();
        state.links.retain(|(_, end)| *end > Instant::now());
        let found = state
            .links
            .iter()
            .position(|(known, _)| is_same(known, code));
        let Some(found) = found else {
            return Err(
                Refusal::new(401, USED_LINK, "this link was used before, or is too old")
                    .hint("`metier ui` creates another link"),
            );
        };
        state.links.remove(found);
        drop(state);
        let number = secret().map_err(|_| {
            Refusal::new(500, "failed", "the system's random number generator failed")
        })?;
        Ok(self.cookie_until(&number, seconds(SystemTime::now() + COOKIE_LIFE)))
    }

    /// A cookie that only the holder of the token can make. It is signed and not stored, so browsers stay logged in when the daemon restarts.
    fn cookie_until(&self, number: &str, end: u64) -> String {
        let sign = self.token.sign(&format!("cookie {number} {end}"));
        format!("{number}.{end}.{sign}")
    }

    /// The visit of a browser that shows a cookie of ours.
    fn visit(&self, shown: &str) -> Option<PageVisit> {
        self.forget_links_of_another_token();
        let (number, rest) = shown.split_once('.')?;
        let end: u64 = rest.split_once('.')?.0.parse().ok()?;
        let is_ours = is_same(&self.cookie_until(number, end), shown);
        if !is_ours || end <= seconds(SystemTime::now()) {
            return None;
        }
        let form_token = self.token.sign(&format!("form {number}")).into();
        Some(PageVisit { form_token })
    }

    /// After a change of the token, earlier links no longer work.
    fn forget_links_of_another_token(&self) {
        let version = self.token.version();
        let mut state = self.state();
        if state.token != version {
            state.token = version;
            state.links.clear();
        }
    }

    fn state(&self) -> MutexGuard<'_, AccessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A time in whole seconds.
fn seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

fn is_same(known: &str, shown: &str) -> bool {
    bool::from(known.as_bytes().ct_eq(shown.as_bytes()))
}

fn host_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// The cookie of the page.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter();
    let mut pairs = all.flat_map(|value| value.to_str().unwrap_or("").split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// One answer for every missing or wrong token.
pub(super) fn unauthorized() -> Refusal {
    Refusal::new(401, "unauthorized", "the daemon's token is required")
        .hint("send `Authorization: Bearer TOKEN`; it is in the file `token` of the data folder")
}

#[cfg(test)]
#[path = "access_tests.rs"]
mod tests;
