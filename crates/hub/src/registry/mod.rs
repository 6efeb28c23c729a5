//! A client of registries: search, choose versions, download, publish.
//!
//! **Problem.** A registry is a foreign server. It can be taken over, restored from an old backup, or return different responses to
//! different clients.
//!
//! **Decision.** Later statements are compared with earlier ones. The digest of a version is stored when it is first seen, and a version
//! that changes is refused. The bytes of a download have the digest of the version, and the files in them the digest of the tree. The log
//! of a registry is a hash chain, and each refresh must continue the stored end: a registry that rolls back its log is refused. Responses
//! are kept for an hour, then confirmed with their `ETag`, and used without a network.
//!
//! | file | content |
//! |---|---|
//! | `address` | the address of a registry |
//! | `connection` | downloads, and the checks of every response |
//! | `transport` | one request, through the host's checked network |
//! | `memory` | the data that is kept between runs |
//! | `choice` | compatible versions of several skills |
//! | `changes` | publish, yank, and the account of a token |

mod address;
mod changes;
mod choice;
mod connection;
mod error;
mod memory;
mod transport;

use std::cell::Cell;

use metier_model::{Digest, text::visible};
use metier_package::registry_api::{
    RegistryLogHead, RegistryLogPage, RegistryPage, RegistrySkill, RegistryVersion,
    is_published_name,
};
use semver::Version;
use serde::de::DeserializeOwned;
use url::Url;

pub use address::RegistryAddress;
pub use changes::PackageToPublish;
pub use choice::{RegistryChoice, choose_versions};
pub use connection::RegistryConnection;
pub use error::RegistryClientError;
pub use memory::{CachedAnswer, MemoryFailure, RegistryMemory};
pub use transport::{HostTransport, RegistryRequest, RegistryResponse, RegistryTransport};

/// How long a response is used without a new request, in seconds.
const TTL: u64 = 60 * 60;
/// The largest document, in bytes.
const MAX_DOCUMENT: usize = 16 << 20;
/// The largest signature, in bytes.
const MAX_SIGNATURE: usize = 4096;
/// The maximum number of parts of a log that are read together: with a thousand entries each, more than a registry writes in years.
const MAX_LOG_PARTS: usize = 1_000;

/// When a registry is contacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RegistryFreshness {
    /// After an hour.
    #[default]
    Hourly,
    /// Always.
    Now,
    /// Never: only cached responses are used.
    Offline,
}

/// One registry, for one run.
pub struct RegistryClient<'a> {
    connection: RegistryConnection<'a>,
    memory: &'a dyn RegistryMemory,
    /// The time, in seconds since 1970.
    now: u64,
    freshness: RegistryFreshness,
    is_log_checked: Cell<bool>,
    is_stale: Cell<bool>,
}

impl<'a> RegistryClient<'a> {
    /// A client; nothing is sent yet.
    #[must_use]
    pub fn new(
        address: RegistryAddress,
        token: Option<String>,
        transport: &'a dyn RegistryTransport,
        memory: &'a dyn RegistryMemory,
        now: u64,
        freshness: RegistryFreshness,
    ) -> Self {
        Self {
            connection: RegistryConnection {
                address,
                token,
                transport,
                is_offline: freshness == RegistryFreshness::Offline,
            },
            memory,
            now,
            freshness,
            is_log_checked: Cell::new(false),
            is_stale: Cell::new(false),
        }
    }

    /// The address of the registry.
    #[must_use]
    pub fn address(&self) -> &RegistryAddress {
        &self.connection.address
    }

    /// The connection, for downloads and changes.
    #[must_use]
    pub fn connection(&self) -> &RegistryConnection<'a> {
        &self.connection
    }

    fn wrong(&self, problem: &str) -> RegistryClientError {
        self.connection.wrong(problem)
    }

    /// Whether a response older than an hour was used because the registry can't be reached.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.is_stale.get()
    }

    /// A page of the skills that contain all words of a query; all skills if it is empty.
    ///
    /// # Errors
    /// If the registry can't be reached and nothing is cached, or its response is wrong.
    pub fn search(
        &self,
        query: &str,
        offset: u64,
        limit: u64,
    ) -> Result<RegistryPage, RegistryClientError> {
        let mut url = self.connection.address.at(&["search"]);
        url.query_pairs_mut()
            .append_pair("q", query)
            .append_pair("offset", &offset.to_string())
            .append_pair("limit", &limit.to_string());
        let page: Option<RegistryPage> = self.document(&url)?;
        let page = page.ok_or_else(|| self.wrong("it does not support search"))?;
        match page
            .skills
            .iter()
            .find(|found| !is_published_name(&found.name))
        {
            Some(odd) => Err(self.wrong(&format!("`{}` is not a valid name", visible(&odd.name)))),
            None => Ok(page),
        }
    }

    /// A skill with its versions, after they were compared with the stored digests; `None` if the registry has none of
    /// this name.
    ///
    /// # Errors
    /// If the registry can't be reached and nothing is cached, its response is wrong, or a version changed.
    pub fn skill(&self, name: &str) -> Result<Option<RegistrySkill>, RegistryClientError> {
        let url = self.connection.address.at(&["skills", name]);
        let found: Option<RegistrySkill> = self.document(&url)?;
        let Some(skill) = found else {
            return Ok(None);
        };
        if skill.name != name {
            let other = visible(&skill.name);
            return Err(self.wrong(&format!("it returned `{other}` for `{name}`")));
        }
        for version in &skill.versions {
            self.compare(version, name)?;
        }
        Ok(Some(skill))
    }

    /// Checks one version of a response, and stores its digest.
    fn compare(&self, version: &RegistryVersion, name: &str) -> Result<(), RegistryClientError> {
        let number = visible(&version.version);
        let is_sound = version.name == name
            && version.version.parse::<Version>().is_ok()
            && version.archive.parse::<Digest>().is_ok()
            && version.tree.parse::<Digest>().is_ok();
        if !is_sound {
            return Err(self.wrong(&format!("version {number} of `{name}` is malformed")));
        }
        let registry = self.connection.address.as_str();
        match self.memory.pin(registry, name, &version.version)? {
            Some(known) if known != version.archive => Err(RegistryClientError::OtherBytes {
                registry: registry.to_owned(),
                name: name.to_owned(),
                version: version.version.clone(),
            }),
            Some(_) => Ok(()),
            None => Ok(self
                .memory
                .set_pin(registry, name, &version.version, &version.archive)?),
        }
    }

    /// A document: cached, confirmed, or fetched; `None` if the registry has none there.
    fn document<T: DeserializeOwned>(&self, url: &Url) -> Result<Option<T>, RegistryClientError> {
        let known = self.memory.answer(url.as_str())?;
        if let Some(known) = &known {
            let age = self.now.saturating_sub(known.fetched_at);
            let is_usable = match self.freshness {
                RegistryFreshness::Hourly => age < TTL,
                RegistryFreshness::Now => false,
                RegistryFreshness::Offline => true,
            };
            if is_usable {
                self.is_stale.set(self.is_stale.get() || age >= TTL);
                return self.connection.parsed(&known.body).map(Some);
            }
        }
        if self.freshness == RegistryFreshness::Offline {
            return Err(RegistryClientError::NotCached {
                registry: self.connection.address.to_string(),
            });
        }
        let etag = known.as_ref().and_then(|known| known.etag.as_deref());
        let fetched = self
            .check_log()
            .and_then(|()| self.connection.get(url, etag, MAX_DOCUMENT));
        let response = match (fetched, known) {
            (Ok(response), Some(known)) if response.status == 304 => {
                self.remember(url, &known.body, known.etag.as_deref())?;
                return self.connection.parsed(&known.body).map(Some);
            }
            // It could be reached before, so the cached response is used and reported as old.
            (Err(error), Some(known)) if error.is_absence() => {
                self.is_stale.set(true);
                return self.connection.parsed(&known.body).map(Some);
            }
            (Ok(response), _) => response,
            (Err(error), _) => return Err(error),
        };
        if response.status == 404 {
            return Ok(None);
        }
        let etag = response.header("etag").map(str::to_owned);
        let body = self.connection.expect(response)?;
        let parsed = self.connection.parsed(&body)?;
        self.remember(url, &body, etag.as_deref())?;
        Ok(Some(parsed))
    }

    fn remember(
        &self,
        url: &Url,
        body: &[u8],
        etag: Option<&str>,
    ) -> Result<(), RegistryClientError> {
        let answer = CachedAnswer {
            body: body.to_vec(),
            etag: etag.map(str::to_owned),
            fetched_at: self.now,
        };
        Ok(self.memory.set_answer(url.as_str(), &answer)?)
    }

    /// Checks, once in a run, that the log continues the stored one.
    fn check_log(&self) -> Result<(), RegistryClientError> {
        if self.is_log_checked.get() {
            return Ok(());
        }
        let registry = self.connection.address.as_str();
        let known = self.memory.log_end(registry)?;
        let back = |head: &RegistryLogHead, known: &RegistryLogHead| {
            Err(RegistryClientError::BackInTime {
                registry: registry.to_owned(),
                known: known.position,
                found: head.position,
            })
        };
        let Some(mut known) = known else {
            // The first contact: there is nothing to compare with, so the log is followed from its current end.
            let page = self.log_part(u64::MAX)?;
            self.memory.set_log_end(registry, &page.head)?;
            self.is_log_checked.set(true);
            return Ok(());
        };
        for _ in 0..MAX_LOG_PARTS {
            let page = self.log_part(known.position)?;
            if page.head.position < known.position {
                return back(&page.head, &known);
            }
            for entry in &page.entries {
                if !entry.continues(&known) {
                    return back(&page.head, &known);
                }
                known = entry.head();
            }
            if known.position == page.head.position {
                if known.hash != page.head.hash {
                    return back(&page.head, &known);
                }
                self.memory.set_log_end(registry, &known)?;
                self.is_log_checked.set(true);
                return Ok(());
            }
            if page.entries.is_empty() {
                return Err(self.wrong("its log has a gap"));
            }
        }
        Err(self.wrong("its log is too long to read"))
    }

    fn log_part(&self, after: u64) -> Result<RegistryLogPage, RegistryClientError> {
        let mut url = self.connection.address.at(&["log"]);
        url.query_pairs_mut()
            .append_pair("after", &after.to_string());
        let body = self
            .connection
            .expect(self.connection.get(&url, None, MAX_DOCUMENT)?)?;
        self.connection.parsed(&body)
    }
}
