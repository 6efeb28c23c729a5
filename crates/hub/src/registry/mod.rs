//! A client of registries: search, choose versions, download, publish.
//!
//! **Problem.** A registry is a server of others. It can be taken over, restored from an old backup, or answer one client differently from
//! another.
//!
//! **Decision.** Nothing that it states is taken on trust twice. The digest of a version is remembered when it is first seen, and a version that
//! changes is refused. The bytes of a download have the digest of the version, and the files in them the digest of the tree. The log
//! of a registry is a hash chain, and each refresh must continue the end that is remembered: a registry that goes back in time is
//! refused. Answers are kept for an hour, then confirmed with their `ETag`, and used without a network.
//!
//! | file | what it is |
//! |---|---|
//! | `address` | where a registry is |
//! | `transport` | one request, through the host's checked network |
//! | `memory` | what is remembered between runs |
//! | `choice` | which versions of several skills fit together |
//! | `changes` | publish, yank, who a token belongs to |

mod address;
mod changes;
mod choice;
mod error;
mod memory;
mod transport;

use std::cell::Cell;

use metier_model::{Digest, FileText, Files, Strictness, parse_card, text::visible};
use metier_package::{
    ArchiveLimits, PackageTree, read_archive,
    registry_api::{
        RegistryLogHead, RegistryLogPage, RegistryPage, RegistryProblem, RegistrySkill,
        RegistryVersion, is_published_name,
    },
};
use semver::Version;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::fetch::{FetchedSkill, SkillOrigin};

pub use address::RegistryAddress;
pub use changes::PackageToPublish;
pub use choice::{RegistryChoice, choose_versions};
pub use error::RegistryClientError;
pub use memory::{CachedAnswer, MemoryFailure, RegistryMemory};
pub use transport::{HostTransport, RegistryRequest, RegistryResponse, RegistryTransport};

/// How long an answer is used without asking again, in seconds.
const TTL: u64 = 60 * 60;
/// The largest document, in bytes.
const MAX_DOCUMENT: usize = 16 << 20;
/// The largest signature, in bytes.
const MAX_SIGNATURE: usize = 4096;
/// The most parts of a log that are read at once: with a thousand entries each, more than a registry writes in years.
const MAX_LOG_PARTS: usize = 1_000;

/// When a registry is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RegistryFreshness {
    /// After an hour.
    #[default]
    Hourly,
    /// Always.
    Now,
    /// Never: only what is remembered is used.
    Offline,
}

/// One registry, for one run.
pub struct RegistryClient<'a> {
    address: RegistryAddress,
    token: Option<String>,
    transport: &'a dyn RegistryTransport,
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
            address,
            token,
            transport,
            memory,
            now,
            freshness,
            is_log_checked: Cell::new(false),
            is_stale: Cell::new(false),
        }
    }

    /// Where the registry is.
    #[must_use]
    pub fn address(&self) -> &RegistryAddress {
        &self.address
    }

    /// Whether an answer was used that is older than an hour, because the registry can't be reached.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.is_stale.get()
    }

    /// A page of the skills that contain all words of a query; all skills if it is empty.
    ///
    /// # Errors
    /// If the registry can't be reached and nothing is remembered, or its answer is wrong.
    pub fn search(
        &self,
        query: &str,
        offset: u64,
        limit: u64,
    ) -> Result<RegistryPage, RegistryClientError> {
        let mut url = self.address.at(&["search"]);
        url.query_pairs_mut()
            .append_pair("q", query)
            .append_pair("offset", &offset.to_string())
            .append_pair("limit", &limit.to_string());
        let page: Option<RegistryPage> = self.document(&url)?;
        let page = page.ok_or_else(|| self.wrong("it has no search"))?;
        match page.skills.iter().find(|found| !is_published_name(&found.name)) {
            Some(odd) => Err(self.wrong(&format!("`{}` is not a name", visible(&odd.name)))),
            None => Ok(page),
        }
    }

    /// A skill with its versions, after they were compared with what is remembered of them; `None` if the registry has none of
    /// this name.
    ///
    /// # Errors
    /// If the registry can't be reached and nothing is remembered, its answer is wrong, or a version changed.
    pub fn skill(&self, name: &str) -> Result<Option<RegistrySkill>, RegistryClientError> {
        let url = self.address.at(&["skills", name]);
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

    /// Checks one version of an answer, and remembers its digest.
    fn compare(&self, version: &RegistryVersion, name: &str) -> Result<(), RegistryClientError> {
        let number = visible(&version.version);
        let is_sound = version.name == name
            && version.version.parse::<Version>().is_ok()
            && version.archive.parse::<Digest>().is_ok()
            && version.tree.parse::<Digest>().is_ok();
        if !is_sound {
            return Err(self.wrong(&format!("version {number} of `{name}` is malformed")));
        }
        let registry = self.address.as_str();
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

    /// Downloads a version. Its bytes, and the files in them, have the digests that were stated.
    ///
    /// # Errors
    /// If the download fails, or the digests are others.
    pub fn download(&self, version: &RegistryVersion) -> Result<FetchedSkill, RegistryClientError> {
        let (name, number) = (version.name.as_str(), version.version.as_str());
        let limits = ArchiveLimits::default();
        let url = self.address.at(&["skills", name, number, "package"]);
        let bytes = self.expect(self.get(&url, None, limits.packed)?)?;
        let lied = |what| RegistryClientError::WrongDigest {
            registry: self.address.to_string(),
            name: name.to_owned(),
            version: number.to_owned(),
            what,
        };
        let digest = Digest(Sha256::digest(&bytes).into());
        if digest.to_string() != version.archive {
            return Err(lied("the archive"));
        }
        let refused = |error: &dyn std::fmt::Display| RegistryClientError::Package {
            name: name.to_owned(),
            version: number.to_owned(),
            problem: error.to_string(),
        };
        let tree = read_archive(&bytes, limits).map_err(|error| refused(&error))?;
        let tree = tree.only_skill().map_err(|error| refused(&error))?;
        if tree.digest().to_string() != version.tree {
            return Err(lied("the files"));
        }
        match stated_name(&tree) {
            Some(stated) if stated == name => {}
            _ => return Err(refused(&"its manifest states another name")),
        }
        let signature = match &version.signer {
            None => None,
            Some(_) => {
                let url = self.address.at(&["skills", name, number, "signature"]);
                let text = self.expect(self.get(&url, None, MAX_SIGNATURE)?)?;
                Some(String::from_utf8_lossy(&text).into_owned())
            }
        };
        Ok(FetchedSkill {
            name: name.to_owned(),
            tree,
            archive: signature.is_some().then(|| bytes.into()),
            origin: SkillOrigin {
                source: name.to_owned(),
                archive: Some(digest),
                signature,
                version: number.parse().ok(),
                ..SkillOrigin::default()
            },
        })
    }

    /// A document: remembered, confirmed, or fetched; `None` if the registry has none there.
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
                return self.parsed(&known.body).map(Some);
            }
        }
        if self.freshness == RegistryFreshness::Offline {
            return Err(RegistryClientError::NotCached {
                registry: self.address.to_string(),
            });
        }
        let etag = known.as_ref().and_then(|known| known.etag.as_deref());
        let fetched = self.check_log().and_then(|()| self.get(url, etag, MAX_DOCUMENT));
        let response = match (fetched, known) {
            (Ok(response), Some(known)) if response.status == 304 => {
                self.remember(url, &known.body, known.etag.as_deref())?;
                return self.parsed(&known.body).map(Some);
            }
            // A registry that can't be reached now was reached before.
            (Err(error), Some(known)) if error.is_absence() => {
                self.is_stale.set(true);
                return self.parsed(&known.body).map(Some);
            }
            (Ok(response), _) => response,
            (Err(error), _) => return Err(error),
        };
        if response.status == 404 {
            return Ok(None);
        }
        let etag = response.header("etag").map(str::to_owned);
        let body = self.expect(response)?;
        let parsed = self.parsed(&body)?;
        self.remember(url, &body, etag.as_deref())?;
        Ok(Some(parsed))
    }

    fn remember(&self, url: &Url, body: &[u8], etag: Option<&str>) -> Result<(), RegistryClientError> {
        let answer = CachedAnswer {
            body: body.to_vec(),
            etag: etag.map(str::to_owned),
            fetched_at: self.now,
        };
        Ok(self.memory.set_answer(url.as_str(), &answer)?)
    }

    fn parsed<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, RegistryClientError> {
        serde_json::from_slice(body).map_err(|error| self.wrong(&error.to_string()))
    }

    /// Checks, once in a run, that the log continues the one that is remembered.
    fn check_log(&self) -> Result<(), RegistryClientError> {
        if self.is_log_checked.get() {
            return Ok(());
        }
        let registry = self.address.as_str();
        let known = self.memory.log_end(registry)?;
        let back = |head: &RegistryLogHead, known: &RegistryLogHead| {
            Err(RegistryClientError::BackInTime {
                registry: registry.to_owned(),
                known: known.position,
                found: head.position,
            })
        };
        let Some(mut known) = known else {
            // The first contact: what it states now is where it continues from.
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
        Err(self.wrong("its log is longer than can be read"))
    }

    fn log_part(&self, after: u64) -> Result<RegistryLogPage, RegistryClientError> {
        let mut url = self.address.at(&["log"]);
        url.query_pairs_mut().append_pair("after", &after.to_string());
        let body = self.expect(self.get(&url, None, MAX_DOCUMENT)?)?;
        self.parsed(&body)
    }

    fn get(
        &self,
        url: &Url,
        etag: Option<&str>,
        max_body: usize,
    ) -> Result<RegistryResponse, RegistryClientError> {
        let mut headers = Vec::new();
        if let Some(etag) = etag {
            headers.push(("if-none-match".to_owned(), etag.to_owned()));
        }
        self.send(RegistryRequest {
            method: "GET",
            url: url.clone(),
            headers,
            body: Vec::new(),
            max_body,
        })
    }

    fn send(&self, mut request: RegistryRequest) -> Result<RegistryResponse, RegistryClientError> {
        if self.freshness == RegistryFreshness::Offline {
            return Err(RegistryClientError::NotCached {
                registry: self.address.to_string(),
            });
        }
        if let Some(token) = &self.token {
            let value = format!("Bearer {token}");
            request.headers.push(("authorization".to_owned(), value));
        }
        self.transport
            .send(&request)
            .map_err(|reason| RegistryClientError::Unreachable {
                registry: self.address.to_string(),
                reason,
            })
    }

    /// The body of an answer that is not a refusal.
    fn expect(&self, response: RegistryResponse) -> Result<Vec<u8>, RegistryClientError> {
        if (200..300).contains(&response.status) {
            return Ok(response.body);
        }
        let problem: Option<RegistryProblem> = serde_json::from_slice(&response.body).ok();
        let shown = |text: &str| visible(text).chars().take(300).collect::<String>();
        Err(RegistryClientError::Refused {
            registry: self.address.to_string(),
            status: response.status,
            code: problem.as_ref().map(|problem| shown(&problem.code)),
            message: problem.as_ref().map_or_else(
                || format!("it answered with status {}", response.status),
                |problem| shown(&problem.message),
            ),
            hint: problem.and_then(|problem| problem.hint).map(|hint| shown(&hint)),
        })
    }

    fn wrong(&self, problem: &str) -> RegistryClientError {
        RegistryClientError::Wrong {
            registry: self.address.to_string(),
            problem: visible(problem).into_owned(),
        }
    }
}

/// The name in the manifest of a tree.
fn stated_name(tree: &PackageTree) -> Option<String> {
    let text = |path: &str| tree.get(path).map(String::from_utf8_lossy);
    let (markdown, yaml) = (text("SKILL.md"), text("SKILL.yaml"));
    let files = Files {
        skill_md: markdown.as_deref().map(|text| FileText {
            name: "SKILL.md",
            text,
        }),
        skill_yaml: yaml.as_deref().map(|text| FileText {
            name: "SKILL.yaml",
            text,
        }),
        ..Files::default()
    };
    let (card, _) = parse_card(&files, Strictness::Lenient);
    card.map(|card| card.name.to_string())
}
