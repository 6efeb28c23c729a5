//! The interface of a registry's database. `tests/all/conformance.rs` is its specification: every implementation passes it.

use metier_package::registry_api::{
    LoggedAction, RegistryFinding, RegistryLogEntry, RegistryLogHead, RegistryVersion,
};
use semver::Version;
use serde::{Deserialize, Serialize};

/// The rows of a registry. Every method is one transaction.
pub trait RegistryDatabase: Send + Sync {
    /// A skill with all its versions; `None` if there is none with this name.
    ///
    /// # Errors
    /// If the database can't be read.
    fn skill(&self, name: &str) -> Result<Option<StoredSkill>, DatabaseError>;

    /// The name and owner of every skill, sorted by name, including quarantined ones.
    ///
    /// # Errors
    /// If the database can't be read.
    fn names(&self) -> Result<Vec<(String, String)>, DatabaseError>;

    /// The skills that contain all these words, as their latest versions, the best match first; without words all skills, by
    /// name. The number is that of all matches.
    ///
    /// # Errors
    /// If the database can't be read.
    fn search(
        &self,
        words: &[String],
        offset: u64,
        limit: u64,
    ) -> Result<(Vec<(String, StoredVersion)>, u64), DatabaseError>;

    /// Adds a version and its entry in the log. The first version published under a name determines its owner. Returns `false`, and
    /// changes nothing, if this version exists.
    ///
    /// # Errors
    /// If the database can't be written.
    fn add(&self, version: &StoredVersion, by: &str) -> Result<bool, DatabaseError>;

    /// Yanks a version for this reason, or makes it available again, with an entry in the log. Returns `false`, and changes nothing, if it
    /// has this state already or there is no such version.
    ///
    /// # Errors
    /// If the database can't be written.
    fn set_yanked(
        &self,
        name: &str,
        version: &str,
        reason: Option<&str>,
        by: &str,
        at: &str,
    ) -> Result<bool, DatabaseError>;

    /// The entries of the log after a position, in order.
    ///
    /// # Errors
    /// If the database can't be read.
    fn log(&self, after: u64, limit: u64) -> Result<Vec<RegistryLogEntry>, DatabaseError>;

    /// The end of the log.
    ///
    /// # Errors
    /// If the database can't be read.
    fn head(&self) -> Result<RegistryLogHead, DatabaseError>;

    /// Adds a token.
    ///
    /// # Errors
    /// If the database can't be written.
    fn add_token(&self, token: &StoredToken) -> Result<(), DatabaseError>;

    /// The token with this hash.
    ///
    /// # Errors
    /// If the database can't be read.
    fn token(&self, hash: &str) -> Result<Option<StoredToken>, DatabaseError>;

    /// All tokens, the oldest first.
    ///
    /// # Errors
    /// If the database can't be read.
    fn tokens(&self) -> Result<Vec<StoredToken>, DatabaseError>;

    /// Removes the token with this id; returns whether there was one.
    ///
    /// # Errors
    /// If the database can't be written.
    fn remove_token(&self, id: &str) -> Result<bool, DatabaseError>;
}

/// A skill and its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSkill {
    /// The name.
    pub name: String,
    /// The account that published it first.
    pub owner: String,
    /// All versions, in the order of their publication.
    pub versions: Vec<StoredVersion>,
}

/// One version, with the registry's private data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredVersion {
    /// The data for clients.
    pub public: RegistryVersion,
    /// Whether it is served.
    pub state: VersionState,
    /// The text of the signature file.
    pub signature: Option<String>,
    /// The findings of the scan.
    pub findings: Vec<RegistryFinding>,
}

impl StoredVersion {
    /// Its version as SemVer.
    #[must_use]
    pub fn semver(&self) -> Option<Version> {
        self.public.version.parse().ok()
    }

    /// Whether it can be chosen: served, not yanked.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.state == VersionState::Served && self.public.yanked.is_none()
    }
}

/// Whether a version is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VersionState {
    /// Clients can download it.
    Served,
    /// It is stored because of its findings, and never served.
    Quarantined,
}

/// The latest of several versions: the highest available release, otherwise the highest available version.
pub(crate) fn latest(versions: &[StoredVersion]) -> Option<&StoredVersion> {
    let available = versions.iter().filter(|version| version.is_available());
    available.max_by_key(|version| {
        let semver = version.semver();
        let is_release = semver
            .as_ref()
            .is_some_and(|version| version.pre.is_empty());
        (is_release, semver)
    })
}

/// The next entry of the log.
pub(crate) fn next_entry(
    head: &RegistryLogHead,
    action: LoggedAction,
    version: &RegistryVersion,
    by: &str,
    at: &str,
) -> RegistryLogEntry {
    let entry = RegistryLogEntry {
        position: head.position + 1,
        at: at.to_owned(),
        action,
        name: version.name.clone(),
        version: version.version.clone(),
        archive: version.archive.clone(),
        by: by.to_owned(),
        previous: head.hash.clone(),
        hash: String::new(),
    };
    entry.chained()
}

/// A token's row, without the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    /// A short id to refer to it.
    pub id: String,
    /// The SHA-256 of the token.
    pub hash: String,
    /// The account that it belongs to.
    pub owner: String,
    /// Its scope.
    pub scope: String,
    /// When it was made.
    pub created_at: String,
}

/// The database can't be used.
#[derive(Debug, thiserror::Error)]
#[error("the registry's database can't be used: {0}")]
pub struct DatabaseError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

impl DatabaseError {
    /// An error of a driver.
    pub fn new(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}
