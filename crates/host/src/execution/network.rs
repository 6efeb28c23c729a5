//! The network of a skill: requests that are made for it, and the proxy through which its children reach hosts.

use std::{
    io,
    net::TcpListener,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use metier_model::{Permission, Scope};
use metier_policy::FetchAct;

use crate::{
    execution::{ActExecutor, ExecutionError},
    net::{
        self, AllowedHosts, ConnectionLog, FetchLimits, FetchRequest, FetchResponse, NetworkProxy,
        ProxyConnection, ProxyLimits, SystemResolver, Trust,
    },
};

impl ActExecutor {
    /// Whether the grant names any host.
    pub(super) fn reaches_out(&self) -> bool {
        self.grant
            .allowed()
            .iter()
            .any(|want| want.permission == Permission::NetFetch)
    }

    /// The hosts that were approved.
    pub(super) fn hosts(&self) -> Result<AllowedHosts, ExecutionError> {
        let wants = self.grant.allowed().iter();
        let wants = wants.filter(|want| want.permission == Permission::NetFetch);
        let (mut scopes, mut any) = (Vec::new(), false);
        for want in wants {
            match &want.scope {
                Scope::All => any = true,
                scope => scopes.push(scope.to_string()),
            }
        }
        let denied = self.grant.denied().iter();
        let denied = denied.filter(|want| want.permission == Permission::NetFetch);
        let denied: Vec<String> = denied.map(|want| want.scope.to_string()).collect();
        Ok(AllowedHosts::new(&scopes, any)?.without(&denied)?)
    }

    /// Makes a request for the skill.
    pub(super) fn fetch(
        &self,
        fetch: &FetchAct,
        timeout: Duration,
    ) -> Result<FetchResponse, ExecutionError> {
        let request = FetchRequest {
            method: fetch.method.to_string(),
            url: fetch.url.to_string(),
            headers: fetch.headers.clone(),
            body: fetch.body.clone(),
        };
        let limits = FetchLimits {
            timeout,
            ..FetchLimits::default()
        };
        let response = net::fetch_recorded(
            &request,
            &self.hosts()?,
            &limits,
            &SystemResolver::default(),
            &Trust::system(),
            &*self.connections,
        )?;
        Ok(response)
    }
}

/// The network access of one child: a separate proxy with a unique credential.
pub(super) struct ChildNetwork {
    hosts: AllowedHosts,
    credential: String,
    proxy: Mutex<Option<io::Result<NetworkProxy>>>,
    log: Arc<dyn ConnectionLog>,
}

impl ChildNetwork {
    /// Every connection is reported to `log` before it is made, and when it has ended.
    pub(super) fn new(
        hosts: AllowedHosts,
        log: Arc<dyn ConnectionLog>,
    ) -> Result<Self, ExecutionError> {
        let draw = || getrandom::u64().map_err(|error| ExecutionError::Proxy(error.into()));
        Ok(Self {
            hosts,
            credential: format!("{:016x}{:016x}", draw()?, draw()?),
            proxy: Mutex::new(None),
            log,
        })
    }

    /// The URL for the child; the port is known when its network exists.
    pub(super) fn url(&self) -> String {
        let url = NetworkProxy::url(0, &self.credential);
        // Only its end: the credential can start with the same character.
        format!("{}{{port}}", url.strip_suffix('0').unwrap_or(&url))
    }

    /// Starts to serve the listener of the child's network.
    pub(super) fn open(&self, listener: TcpListener) {
        let proxy = NetworkProxy::start(
            listener,
            self.hosts.clone(),
            &self.credential,
            ProxyLimits::default(),
            Arc::new(SystemResolver::default()),
            Arc::clone(&self.log),
        );
        *self.proxy.lock().unwrap_or_else(PoisonError::into_inner) = Some(proxy);
    }

    /// Whether the proxy could be opened, after a child was started for it.
    pub(super) fn check(&self) -> Result<(), ExecutionError> {
        let mut proxy = self.proxy.lock().unwrap_or_else(PoisonError::into_inner);
        match proxy.take_if(|proxy| proxy.is_err()) {
            Some(Err(error)) => Err(ExecutionError::Proxy(error)),
            _ => Ok(()),
        }
    }

    /// Ends it, and returns its connections.
    pub(super) fn close(self) -> Result<Vec<ProxyConnection>, ExecutionError> {
        let proxy = self
            .proxy
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match proxy {
            Some(Ok(proxy)) => Ok(proxy.stop()),
            Some(Err(error)) => Err(ExecutionError::Proxy(error)),
            None => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_stands_at_the_end_whatever_the_credential_is() {
        for _ in 0..200 {
            let log = Arc::new(std::sync::mpsc::channel().0);
            let door = ChildNetwork::new(AllowedHosts::default(), log).unwrap();
            let expected = format!("http://metier:{}@127.0.0.1:{{port}}", door.credential);
            assert_eq!(door.url(), expected);
        }
    }
}
