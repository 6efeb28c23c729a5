//! The network that a skill may use: approved hosts, checked on the address that is dialled.
//!
//! **Problem.** A name does not determine where a connection ends. `api.example.com` can resolve to the user's router, a redirect
//! can go to a cloud's metadata service, `0177.1` is the user's own machine, and a second lookup of the same name can answer
//! differently from the first.
//!
//! **Decision.** A target is parsed once, by the rules that browsers use. Its host is compared with the approved ones, its name is
//! resolved once, the addresses are checked, and one of the checked addresses is dialled. Everything after that, a redirect
//! included, starts again at the beginning.
//!
//! | file | content |
//! |---|---|
//! | `address` | the kind of an IP address |
//! | `hosts` | the approved hosts, and whether a host and an address are among them |
//! | `reach` | from a host to a connection with a checked address |
//! | `fetch`, `exchange` | one request with its redirects; one hop of it |
//! | `proxy` | the same rules for a child that speaks HTTP itself |
//!
//! **Worked example.** With `net:fetch(api.example.com)` approved:
//!
//! ```
//! use metier_host::net::{AllowedHosts, FetchTarget};
//!
//! let hosts = AllowedHosts::new(&["api.example.com".to_owned()], false).unwrap();
//! let allows = |url: &str| {
//!     let target = FetchTarget::parse(url).unwrap();
//!     hosts.admits(&target.host, target.port).is_ok()
//! };
//! assert!(allows("https://API.example.com./v1"));
//! assert!(!allows("https://api.example.com:8443/"));
//! assert!(!allows("https://api.example.com.evil.io/"));
//! assert!(!allows("http://0177.1/"));
//! ```
//!
//! Nothing here reads the environment: no proxy, no cookie jar, no saved password takes part. The system's root
//! certificates do, wherever the system keeps them.

mod address;
mod exchange;
mod fetch;
mod hosts;
mod proxy;
mod reach;

pub use address::{AddressKind, kind};
pub use exchange::Trust;
pub use fetch::{
    FetchLimits, FetchRequest, FetchResponse, NetError, fetch, fetch_in_pieces, fetch_recorded,
};
pub use hosts::{AdmittedHost, AllowedHosts, FetchTarget, HostRefusal, ScopeError};
pub use proxy::{
    ConnectionLog, NetworkProxy, OpenConnection, ProxyConnection, ProxyDecision, ProxyLimits,
};
pub use reach::{Dialled, Resolve, SystemResolver, UnreachableCause};
