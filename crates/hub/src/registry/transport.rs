//! One request to a registry.

use std::time::Duration;

use metier_host::net::{
    AllowedHosts, FetchLimits, FetchRequest, NetError, SystemResolver, Trust, fetch,
};
use url::Url;

use super::RegistryAddress;

/// How long one request can take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A request to a registry.
#[derive(Clone, Debug)]
pub struct RegistryRequest {
    /// The method.
    pub method: &'static str,
    /// The address.
    pub url: Url,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
    /// The maximum size of the response, in bytes.
    pub max_body: usize,
}

/// The response of a registry.
#[derive(Clone, Debug)]
pub struct RegistryResponse {
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl RegistryResponse {
    /// The first header with this name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Sends requests to registries. A trait, so that tests need no network.
pub trait RegistryTransport: Send + Sync {
    /// Sends a request. A response with any status is `Ok`; without a response, the error is the reason.
    ///
    /// # Errors
    /// If the registry can't be reached, or its response exceeds a limit.
    fn send(&self, request: &RegistryRequest) -> Result<RegistryResponse, String>;
}

/// Requests through the host's network: the registry's own host and no other, even after a redirect.
pub struct HostTransport {
    hosts: AllowedHosts,
    resolver: SystemResolver,
    trust: Trust,
}

impl HostTransport {
    /// A connection to these registries only. The user configured them, so their addresses can be private, as in a company's network.
    ///
    /// # Errors
    /// If a host can't be contacted.
    pub fn new(registries: &[RegistryAddress]) -> Result<Self, String> {
        let resolver = SystemResolver::default();
        let urls = registries.iter().map(RegistryAddress::url);
        let hosts = AllowedHosts::typed(urls, false, &resolver);
        Ok(Self {
            hosts: hosts.map_err(|error| error.to_string())?,
            resolver,
            trust: Trust::system(),
        })
    }
}

impl RegistryTransport for HostTransport {
    fn send(&self, request: &RegistryRequest) -> Result<RegistryResponse, String> {
        let limits = FetchLimits {
            timeout: TIMEOUT,
            max_body: request.max_body as u64,
            max_upload: request.body.len(),
            ..FetchLimits::default()
        };
        let sent = FetchRequest {
            method: request.method.to_owned(),
            url: request.url.to_string(),
            headers: request.headers.clone(),
            body: request.body.clone(),
        };
        let response = fetch(&sent, &self.hosts, &limits, &self.resolver, &self.trust);
        let response = response.map_err(|error| match error {
            NetError::Unreachable { cause, .. } => cause.to_string(),
            error => error.to_string(),
        })?;
        Ok(RegistryResponse {
            status: response.status,
            headers: response.headers,
            body: response.body,
        })
    }
}
