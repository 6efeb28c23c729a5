//! The network of a skill: requests that are made for it, and the one door through which its children reach hosts.

use std::{
    io,
    net::TcpListener,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use metier_model::{Permission, Scope};
use metier_policy::Fetch;

use crate::{
    net::{
        self, ConnectionLog, Hosts, Limits, Proxy, ProxyLimits, Request, Response, Seen, System,
        Trust,
    },
    world::{World, WorldError},
};

impl World {
    /// Whether the grant names any host.
    pub(super) fn reaches_out(&self) -> bool {
        self.grant
            .allowed()
            .iter()
            .any(|want| want.permission == Permission::NetFetch)
    }

    /// The hosts that were approved.
    pub(super) fn hosts(&self) -> Result<Hosts, WorldError> {
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
        Ok(Hosts::new(&scopes, any)?.without(&denied)?)
    }

    /// Makes a request for the skill.
    pub(super) fn fetch(&self, fetch: &Fetch, timeout: Duration) -> Result<Response, WorldError> {
        let request = Request {
            method: fetch.method.to_string(),
            url: fetch.url.to_string(),
            headers: fetch.headers.clone(),
            body: fetch.body.clone(),
        };
        let limits = Limits {
            timeout,
            ..Limits::default()
        };
        let response = net::fetch(
            &request,
            &self.hosts()?,
            &limits,
            &System::default(),
            &Trust::system(),
        )?;
        Ok(response)
    }
}

/// The network access of one child: a separate proxy with a unique credential.
pub(super) struct Door {
    hosts: Hosts,
    credential: String,
    proxy: Mutex<Option<io::Result<Proxy>>>,
    log: Arc<dyn ConnectionLog>,
}

impl Door {
    /// Every connection is reported to `log` before it is made, and when it has ended.
    pub(super) fn new(hosts: Hosts, log: Arc<dyn ConnectionLog>) -> Result<Self, WorldError> {
        let draw = || getrandom::u64().map_err(|error| WorldError::Proxy(error.into()));
        Ok(Self {
            hosts,
            credential: format!("{:016x}{:016x}", draw()?, draw()?),
            proxy: Mutex::new(None),
            log,
        })
    }

    /// The URL for the child; the port is known when its network exists.
    pub(super) fn url(&self) -> String {
        let url = Proxy::url(0, &self.credential);
        // Only its end: the credential can start with the same character.
        format!("{}{{port}}", url.strip_suffix('0').unwrap_or(&url))
    }

    /// Starts to answer on the listener of the child's network.
    pub(super) fn open(&self, listener: TcpListener) {
        let proxy = Proxy::start(
            listener,
            self.hosts.clone(),
            &self.credential,
            ProxyLimits::default(),
            Arc::new(System::default()),
            Arc::clone(&self.log),
        );
        *self.proxy.lock().unwrap_or_else(PoisonError::into_inner) = Some(proxy);
    }

    /// Whether it could be opened, after a child was started for it.
    pub(super) fn check(&self) -> Result<(), WorldError> {
        let mut proxy = self.proxy.lock().unwrap_or_else(PoisonError::into_inner);
        match proxy.take_if(|proxy| proxy.is_err()) {
            Some(Err(error)) => Err(WorldError::Proxy(error)),
            _ => Ok(()),
        }
    }

    /// Ends it, and returns its connections.
    pub(super) fn close(self) -> Result<Vec<Seen>, WorldError> {
        let proxy = self
            .proxy
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match proxy {
            Some(Ok(proxy)) => Ok(proxy.stop()),
            Some(Err(error)) => Err(WorldError::Proxy(error)),
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
            let door = Door::new(Hosts::default(), log).unwrap();
            let expected = format!("http://metier:{}@127.0.0.1:{{port}}", door.credential);
            assert_eq!(door.url(), expected);
        }
    }
}
