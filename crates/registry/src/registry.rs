//! The operations of a registry.

use std::sync::Arc;

use metier_model::Digest;
use metier_package::registry_api::{
    PublishAnswer, PublishStatus, RegistryAccount, RegistryLogPage, RegistryMatch, RegistryPage,
    RegistryProblem, RegistrySkill, RegistryVersion, is_published_name,
};
use metier_package::{ArchiveLimits, read_archive};

use crate::blobs::{BlobError, BlobStore};
use crate::database::{
    DatabaseError, RegistryDatabase, StoredSkill, StoredVersion, VersionState, latest,
};
use crate::package_check::{self, CheckedPackage};
use crate::similar_names::resembled;
use crate::tokens::{self, TokenScope};

/// The maximum number of skills of a page, and of entries in a part of the log.
pub(crate) const MAX_PAGE: u64 = 200;
const MAX_LOG: u64 = 1_000;
/// The longest query, in words, and the longest reason, in bytes.
const MAX_WORDS: usize = 16;
const MAX_REASON: usize = 500;

/// A registry: a database, and a store of packages. Cheap to clone.
#[derive(Clone)]
pub struct Registry {
    database: Arc<dyn RegistryDatabase>,
    blobs: Arc<dyn BlobStore>,
    /// The time, in the recorded form.
    now: Arc<dyn Fn() -> String + Send + Sync>,
}

/// A package that is published.
#[derive(Clone, Debug, Default)]
pub struct PackageUpload {
    /// The bytes of the `.skill` file.
    pub bytes: Vec<u8>,
    /// The text of the signature file.
    pub signature: Option<String>,
    /// The public key that signed it.
    pub signer: Option<String>,
    /// Whether a name that resembles another one is accepted: for administrators.
    pub allow_similar: bool,
}

/// An account that was authenticated by its token.
struct Authorized {
    owner: String,
    scope: TokenScope,
}

impl Registry {
    /// A registry with these parts.
    #[must_use]
    pub fn new(
        database: Arc<dyn RegistryDatabase>,
        blobs: Arc<dyn BlobStore>,
        now: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            database,
            blobs,
            now: Arc::new(now),
        }
    }

    /// A page of the skills that contain all words of a query.
    ///
    /// # Errors
    /// If the database can't be read.
    pub fn search(
        &self,
        query: &str,
        offset: u64,
        limit: u64,
    ) -> Result<RegistryPage, RegistryError> {
        let is_part = |c: char| c.is_alphanumeric();
        let words = query
            .split(|c: char| !is_part(c))
            .filter(|word| !word.is_empty());
        let words: Vec<String> = words.take(MAX_WORDS).map(str::to_lowercase).collect();
        let limit = limit.clamp(1, MAX_PAGE);
        // A query of punctuation alone matches nothing; an empty one lists all skills.
        if words.is_empty() && !query.trim().is_empty() {
            return Ok(RegistryPage {
                skills: Vec::new(),
                total: 0,
                next: None,
            });
        }
        let (found, total) = self.database.search(&words, offset, limit)?;
        let next = offset + found.len() as u64;
        let skills = found.into_iter().map(|(owner, version)| RegistryMatch {
            name: version.public.name,
            version: version.public.version,
            description: version.public.description,
            owner,
            verdict: version.public.verdict,
            published_at: version.public.published_at,
        });
        Ok(RegistryPage {
            skills: skills.collect(),
            total,
            next: (next < total).then_some(next),
        })
    }

    /// A skill with the versions that are served.
    ///
    /// # Errors
    /// If there is none, or the database can't be read.
    pub fn skill(&self, name: &str) -> Result<RegistrySkill, RegistryError> {
        let stored = self.stored(name)?;
        let mut served: Vec<&StoredVersion> = stored
            .versions
            .iter()
            .filter(|version| version.state == VersionState::Served)
            .collect();
        served.sort_by_key(|version| std::cmp::Reverse(version.semver()));
        let Some(newest) = served.first() else {
            return Err(not_found(name, None));
        };
        let latest = latest(&stored.versions);
        Ok(RegistrySkill {
            name: stored.name.clone(),
            description: latest.unwrap_or(newest).public.description.clone(),
            owner: stored.owner.clone(),
            latest: latest.map(|version| version.public.version.clone()),
            versions: served
                .iter()
                .map(|version| version.public.clone())
                .collect(),
        })
    }

    /// One version that is served.
    ///
    /// # Errors
    /// If there is none, or the database can't be read.
    pub fn version(&self, name: &str, version: &str) -> Result<RegistryVersion, RegistryError> {
        Ok(self.served(name, version)?.public)
    }

    /// The text of the signature of a version.
    ///
    /// # Errors
    /// If there is no such version, or it is not signed.
    pub fn signature(&self, name: &str, version: &str) -> Result<String, RegistryError> {
        let signature = self.served(name, version)?.signature;
        signature.ok_or_else(|| {
            let message = format!("skill `{name}` {version} is not signed");
            RegistryError::Refused(Box::new(RequestRefusal::new(404, "not-signed", message)))
        })
    }

    /// The bytes of a `.skill` file, with their version.
    ///
    /// # Errors
    /// If there is no such version, or its bytes are missing or damaged.
    pub fn package(
        &self,
        name: &str,
        version: &str,
    ) -> Result<(RegistryVersion, Vec<u8>), RegistryError> {
        let version = self.version(name, version)?;
        let bytes = self.blob(&version.archive)?;
        Ok((version, bytes))
    }

    /// The files of a version as a zip archive without a folder around them.
    ///
    /// # Errors
    /// As of [`Registry::package`].
    pub fn flat_archive(
        &self,
        name: &str,
        version: &str,
    ) -> Result<(RegistryVersion, Vec<u8>), RegistryError> {
        let version = self.version(name, version)?;
        let bytes = self.blob(&version.flat_archive)?;
        Ok((version, bytes))
    }

    /// One file of the latest version of a skill.
    ///
    /// # Errors
    /// If there is no such skill or file.
    pub fn file(&self, name: &str, path: &str) -> Result<Vec<u8>, RegistryError> {
        let stored = self.stored(name)?;
        let latest = latest(&stored.versions).ok_or_else(|| not_found(name, None))?;
        let archive = self.blob(&latest.public.flat_archive)?;
        let tree = read_archive(&archive, ArchiveLimits::default())
            .map_err(|error| RegistryError::package("archive-refused", &error))?;
        tree.get(path).map(<[u8]>::to_vec).ok_or_else(|| {
            let path = metier_model::text::visible(path);
            let message = format!("skill `{name}` has no file `{path}`");
            RegistryError::Refused(Box::new(RequestRefusal::new(404, "not-found", message)))
        })
    }

    /// Every skill that is available, as its latest version, with its files.
    ///
    /// # Errors
    /// If the database can't be read.
    pub fn listed(&self, limit: u64) -> Result<Vec<RegistryVersion>, RegistryError> {
        let (found, _) = self.database.search(&[], 0, limit)?;
        Ok(found
            .into_iter()
            .map(|(_, version)| version.public)
            .collect())
    }

    /// A part of the log.
    ///
    /// # Errors
    /// If the database can't be read.
    pub fn log(&self, after: u64, limit: u64) -> Result<RegistryLogPage, RegistryError> {
        let entries = self.database.log(after, limit.clamp(1, MAX_LOG))?;
        Ok(RegistryLogPage {
            entries,
            head: self.database.head()?,
        })
    }

    /// Publishes a package.
    ///
    /// # Errors
    /// If the token does not permit it, the package is refused, or this version exists with other bytes.
    pub fn publish(
        &self,
        token: Option<&str>,
        upload: &PackageUpload,
    ) -> Result<PublishAnswer, RegistryError> {
        let account = self.authorize(token)?;
        let checked = package_check::check(upload, &(self.now)())?;
        let name = checked.version.public.name.clone();
        self.permit(&account, &name)?;
        let known = self.database.skill(&name)?;
        match &known {
            None => self.check_similar(&account, &name, upload.allow_similar)?,
            Some(known) => {
                let same =
                    |other: &&StoredVersion| other.public.version == checked.version.public.version;
                if let Some(existing) = known.versions.iter().find(same) {
                    return self.published_before(existing, &checked);
                }
            }
        }
        self.blobs.put(&upload.bytes)?;
        self.blobs.put(&checked.flat)?;
        if !self.database.add(&checked.version, &account.owner)? {
            // Another request was faster.
            let stored = self.stored(&name)?;
            let same =
                |other: &&StoredVersion| other.public.version == checked.version.public.version;
            return match stored.versions.iter().find(same) {
                Some(existing) => self.published_before(existing, &checked),
                None => Err(not_found(&name, None)),
            };
        }
        let status = match checked.version.state {
            VersionState::Served => PublishStatus::Published,
            VersionState::Quarantined => PublishStatus::Quarantined,
        };
        self.answer(&checked.version, status)
    }

    /// Publishing the same version again: identical bytes are accepted, other bytes are refused.
    fn published_before(
        &self,
        existing: &StoredVersion,
        checked: &CheckedPackage,
    ) -> Result<PublishAnswer, RegistryError> {
        let (old, new) = (&existing.public, &checked.version.public);
        if old.archive == new.archive {
            let status = match existing.state {
                VersionState::Served => PublishStatus::Unchanged,
                VersionState::Quarantined => PublishStatus::Quarantined,
            };
            return self.answer(existing, status);
        }
        let message = format!(
            "skill `{}` {} was already published with different bytes, and a version never changes",
            old.name, old.version
        );
        let mut refusal = RequestRefusal::new(409, "version-exists", message);
        refusal.hint = Some("raise the version in its manifest".to_owned());
        Err(RegistryError::Refused(Box::new(refusal)))
    }

    fn answer(
        &self,
        version: &StoredVersion,
        status: PublishStatus,
    ) -> Result<PublishAnswer, RegistryError> {
        let public = &version.public;
        Ok(PublishAnswer {
            status,
            name: public.name.clone(),
            version: public.version.clone(),
            archive: public.archive.clone(),
            tree: public.tree.clone(),
            verdict: public.verdict.clone(),
            findings: version.findings.clone(),
            log: self.database.head()?,
        })
    }

    /// Yanks a version, or makes it available again.
    ///
    /// # Errors
    /// If the token does not permit it, or there is no such version.
    pub fn set_yanked(
        &self,
        token: Option<&str>,
        name: &str,
        version: &str,
        reason: Option<&str>,
    ) -> Result<RegistryVersion, RegistryError> {
        let account = self.authorize(token)?;
        self.permit(&account, name)?;
        self.served(name, version)?;
        if let Some(reason) = reason {
            let is_shown = metier_model::text::visible(reason) == reason;
            if reason.trim().is_empty() || reason.len() > MAX_REASON || !is_shown {
                let message = format!("a reason has 1 to {MAX_REASON} visible characters");
                return Err(RegistryError::refused("invalid-reason", message));
            }
        }
        let at = (self.now)();
        self.database
            .set_yanked(name, version, reason, &account.owner, &at)?;
        self.version(name, version)
    }

    /// The account of a token.
    ///
    /// # Errors
    /// If there is no token, or it is unknown.
    pub fn account(&self, token: Option<&str>) -> Result<RegistryAccount, RegistryError> {
        let account = self.authorize(token)?;
        Ok(RegistryAccount {
            owner: account.owner,
            scope: account.scope.to_string(),
        })
    }

    fn authorize(&self, token: Option<&str>) -> Result<Authorized, RegistryError> {
        let unknown = || {
            let message = "this requires a token for the registry".to_owned();
            let mut refusal = RequestRefusal::new(401, "not-logged-in", message);
            refusal.hint = Some("metier login URL".to_owned());
            RegistryError::Refused(Box::new(refusal))
        };
        // The lookup is by hash, so its time reveals nothing about the token.
        let token = token.ok_or_else(unknown)?;
        let stored = self
            .database
            .token(&tokens::hash(token))?
            .ok_or_else(unknown)?;
        let scope = stored.scope.parse().map_err(|_| unknown())?;
        Ok(Authorized {
            owner: stored.owner,
            scope,
        })
    }

    /// Whether an account can change a skill: its token covers the name, and the skill is new or its own.
    fn permit(&self, account: &Authorized, name: &str) -> Result<(), RegistryError> {
        let refuse = |message| {
            Err(RegistryError::Refused(Box::new(RequestRefusal::new(
                403,
                "not-permitted",
                message,
            ))))
        };
        if !account.scope.covers(name) {
            let scope = &account.scope;
            return refuse(format!("this token permits `{scope}`, not skill `{name}`"));
        }
        match self.database.skill(name)? {
            Some(skill) if skill.owner != account.owner && account.scope != TokenScope::Admin => {
                refuse(format!("skill `{name}` belongs to `{}`", skill.owner))
            }
            _ => Ok(()),
        }
    }

    fn check_similar(
        &self,
        account: &Authorized,
        name: &str,
        allowed: bool,
    ) -> Result<(), RegistryError> {
        if allowed && account.scope == TokenScope::Admin {
            return Ok(());
        }
        let names = self.database.names()?;
        let others = names.iter().filter(|(_, owner)| *owner != account.owner);
        let others = others.map(|(name, _)| name.as_str());
        match resembled(name, others) {
            None => Ok(()),
            Some(other) => {
                let message = format!("`{name}` is too similar to the skill `{other}`");
                let mut refusal = RequestRefusal::new(422, "similar-name", message);
                refusal.hint = Some("choose another name".to_owned());
                refusal.resembles = Some(other.to_owned());
                Err(RegistryError::Refused(Box::new(refusal)))
            }
        }
    }

    fn stored(&self, name: &str) -> Result<StoredSkill, RegistryError> {
        let found = match is_published_name(name) {
            true => self.database.skill(name)?,
            false => None,
        };
        found.ok_or_else(|| not_found(name, None))
    }

    fn served(&self, name: &str, version: &str) -> Result<StoredVersion, RegistryError> {
        let stored = self.stored(name)?;
        let mut versions = stored.versions.into_iter();
        let found = versions.find(|stored| {
            stored.public.version == version && stored.state == VersionState::Served
        });
        found.ok_or_else(|| not_found(name, Some(version)))
    }

    fn blob(&self, digest: &str) -> Result<Vec<u8>, RegistryError> {
        let parsed: Digest = digest
            .parse()
            .map_err(|error: metier_model::NotADigest| DatabaseError::new(error))?;
        let bytes = self.blobs.get(&parsed)?;
        bytes.ok_or_else(|| {
            RegistryError::Blobs(BlobError {
                place: digest.to_owned(),
                source: "its bytes are missing".into(),
            })
        })
    }
}

fn not_found(name: &str, version: Option<&str>) -> RegistryError {
    let name = metier_model::text::visible(name);
    let message = match version {
        None => format!("there is no skill `{name}`"),
        Some(version) => {
            let version = metier_model::text::visible(version);
            format!("there is no version {version} of skill `{name}`")
        }
    };
    RegistryError::Refused(Box::new(RequestRefusal::new(404, "not-found", message)))
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRefusal {
    /// The HTTP status.
    pub status: u16,
    code: &'static str,
    message: String,
    hint: Option<String>,
    resembles: Option<String>,
}

impl RequestRefusal {
    pub(crate) fn new(status: u16, code: &'static str, message: String) -> Self {
        Self {
            status,
            code,
            message,
            hint: None,
            resembles: None,
        }
    }

    /// The document of the response.
    #[must_use]
    pub fn problem(&self) -> RegistryProblem {
        RegistryProblem {
            code: self.code.to_owned(),
            message: self.message.clone(),
            hint: self.hint.clone(),
            resembles: self.resembles.clone(),
        }
    }
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The request was refused.
    #[error("{}", .0.message)]
    Refused(Box<RequestRefusal>),
    /// The database can't be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The packages can't be used.
    #[error(transparent)]
    Blobs(#[from] BlobError),
}

impl RegistryError {
    /// A package that is refused.
    pub(crate) fn refused(code: &'static str, message: String) -> Self {
        Self::Refused(Box::new(RequestRefusal::new(422, code, message)))
    }

    /// A package that is refused because of its content.
    pub(crate) fn package(code: &'static str, error: &dyn std::error::Error) -> Self {
        Self::refused(code, format!("the package is refused: {error}"))
    }

    pub(crate) fn hint(mut self, hint: &str) -> Self {
        if let Self::Refused(refusal) = &mut self {
            refusal.hint = Some(hint.to_owned());
        }
        self
    }
}
