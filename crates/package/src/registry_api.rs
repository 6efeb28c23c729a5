//! The JSON of a registry: what `metier-registry` returns and what its clients read.
//!
//! Digests and versions are strings here, because a client reads responses of an untrusted server: it parses them, and reports
//! errors. The hash chain of the log is computed by both sides with [`RegistryLogEntry::chained`].

use metier_model::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The header with the signature of a package, in base64.
pub const SIGNATURE_HEADER: &str = "metier-signature";
/// The header with the public key that signed a package.
pub const SIGNER_HEADER: &str = "metier-signer";

/// The hash that the first entry of a log refers to.
pub const LOG_BEGINNING: &str =
    "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// Whether a string is a name as defined by the specification of skills: a registry contains no others.
#[must_use]
pub fn is_published_name(word: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    word.len() <= 64 && word.split('-').all(is_part)
}

/// One skill with all its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrySkill {
    /// Its name.
    pub name: String,
    /// The description of its newest version.
    pub description: String,
    /// The account that publishes it.
    pub owner: String,
    /// The newest version that is neither yanked nor a pre-release; `None` if there is none.
    pub latest: Option<String>,
    /// All served versions, the newest first.
    pub versions: Vec<RegistryVersion>,
}

/// One version of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryVersion {
    /// The name of the skill.
    pub name: String,
    /// The version, in SemVer's form.
    pub version: String,
    /// Its description.
    pub description: String,
    /// The license, as the manifest states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Keywords.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The digest of the `.skill` file.
    pub archive: String,
    /// The bytes of the `.skill` file.
    pub size: u64,
    /// The digest of the same files as a zip archive without a folder around them.
    pub flat_archive: String,
    /// The digest of the tree of files.
    pub tree: String,
    /// The files.
    pub files: Vec<RegistryFile>,
    /// The skills that it requires.
    #[serde(default)]
    pub requires: Vec<RegistryRequirement>,
    /// The permissions that it requests.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// The verdict of the scan when it was published.
    pub verdict: String,
    /// The public key that signed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// When it was published.
    pub published_at: String,
    /// Why it was yanked: it can be downloaded where it is locked, and is chosen nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yanked: Option<String>,
}

/// A file of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryFile {
    /// Its path in the skill.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// The digest of its bytes.
    pub digest: String,
}

/// A skill that a version requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryRequirement {
    /// Its name.
    pub name: String,
    /// The suitable versions, as a SemVer requirement.
    pub versions: String,
}

/// A page of skills: the results of a search, or a part of the whole list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryPage {
    /// The skills, sorted by relevance, or by name if there is no query.
    pub skills: Vec<RegistryMatch>,
    /// The total number on all pages.
    pub total: u64,
    /// The offset of the next page; `None` on the last one.
    pub next: Option<u64>,
}

/// A skill in a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryMatch {
    /// Its name.
    pub name: String,
    /// Its latest version.
    pub version: String,
    /// Its description.
    pub description: String,
    /// The account that publishes it.
    pub owner: String,
    /// The verdict of the scan.
    pub verdict: String,
    /// When this version was published.
    pub published_at: String,
}

/// The result of publishing a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PublishStatus {
    /// It is served.
    Published,
    /// The same bytes had been published before.
    Unchanged,
    /// It is stored but not served, because of the findings.
    Quarantined,
}

/// The answer to a published package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishAnswer {
    /// The result.
    pub status: PublishStatus,
    /// The name of the skill.
    pub name: String,
    /// The published version.
    pub version: String,
    /// The digest of the `.skill` file.
    pub archive: String,
    /// The digest of the tree of files.
    pub tree: String,
    /// The verdict of the scan.
    pub verdict: String,
    /// The findings of the scan: warnings and worse.
    pub findings: Vec<RegistryFinding>,
    /// The end of the log after publication.
    pub log: RegistryLogHead,
}

/// A finding of the scan at publication.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryFinding {
    /// The rule that matched.
    pub rule: String,
    /// `info`, `warning` or `critical`.
    pub severity: String,
    /// The file in the skill.
    pub file: String,
    /// The line, from 1; 0 in files without lines.
    pub line: u32,
    /// A description of the finding.
    pub message: String,
}

/// A response with a status of 400 or above.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryProblem {
    /// A code that never changes its meaning.
    pub code: String,
    /// A description of the error.
    pub message: String,
    /// How the client's user can fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The existing skill whose name is too similar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resembles: Option<String>,
}

/// The account of a token, and its scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryAccount {
    /// The account.
    pub owner: String,
    /// `admin`, `publish:*`, `publish:NAME` or `publish:PREFIX*`.
    pub scope: String,
}

/// A request to yank a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct YankRequest {
    /// The reason, which is shown to everyone who has the version installed.
    pub reason: String,
}

/// The kind of change that an entry of the log records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoggedAction {
    /// A version was published.
    Publish,
    /// A version was kept because of its findings, and is not served.
    Quarantine,
    /// A version was yanked.
    Yank,
    /// A yanked version was made available again.
    Unyank,
}

impl LoggedAction {
    /// The name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Quarantine => "quarantine",
            Self::Yank => "yank",
            Self::Unyank => "unyank",
        }
    }
}

/// An entry of the log, which only grows. Each contains the hash of the one before: a registry that removes or changes one can't
/// continue the chain that its clients know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryLogEntry {
    /// Its number, from 1.
    pub position: u64,
    /// When it was recorded.
    pub at: String,
    /// The kind of change.
    pub action: LoggedAction,
    /// The name of the skill.
    pub name: String,
    /// The version.
    pub version: String,
    /// The digest of the `.skill` file.
    pub archive: String,
    /// The account that made the change.
    pub by: String,
    /// The hash of the entry before, or [`LOG_BEGINNING`].
    pub previous: String,
    /// The hash of this entry.
    pub hash: String,
}

impl RegistryLogEntry {
    /// The entry with the hash that follows from its other fields. Each field is preceded by its length, so that two different entries
    /// never have the same encoding.
    #[must_use]
    pub fn chained(mut self) -> Self {
        let position = self.position.to_string();
        let fields = [
            position.as_str(),
            &self.at,
            self.action.as_str(),
            &self.name,
            &self.version,
            &self.archive,
            &self.by,
            &self.previous,
        ];
        let mut hash = Sha256::new();
        for field in fields {
            hash.update(format!("{} {field}\n", field.len()));
        }
        self.hash = Digest(hash.finalize().into()).to_string();
        self
    }

    /// Whether its hash is right and it continues a log with this end.
    #[must_use]
    pub fn continues(&self, head: &RegistryLogHead) -> bool {
        self.position == head.position.saturating_add(1)
            && self.previous == head.hash
            && self.clone().chained().hash == self.hash
    }

    /// The end of a log with this as its last entry.
    #[must_use]
    pub fn head(&self) -> RegistryLogHead {
        RegistryLogHead {
            position: self.position,
            hash: self.hash.clone(),
        }
    }
}

/// The end of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryLogHead {
    /// How many entries there are.
    pub position: u64,
    /// The hash of the last one.
    pub hash: String,
}

impl Default for RegistryLogHead {
    /// The end of a log without entries.
    fn default() -> Self {
        Self {
            position: 0,
            hash: LOG_BEGINNING.to_owned(),
        }
    }
}

/// A part of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryLogPage {
    /// The entries after the requested position, in order.
    pub entries: Vec<RegistryLogEntry>,
    /// The end of the whole log.
    pub head: RegistryLogHead,
}
