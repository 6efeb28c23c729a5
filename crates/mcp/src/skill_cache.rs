//! Cached data about a server's skills: its last list, and files that were read.
//!
//! The folder is outside every place that is searched for skills, and no skill can write to it. A file is found by the server's label, the
//! skill's URI and its digest; the caller compares its bytes with the digest again each time.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use metier_catalog::read_bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    listing::{McpSkill, SkillListing, SkillResources},
    server::ServerEntry,
};

const LISTING: &str = "listing.json";
const MAX_LISTING: u64 = 64 << 20;

/// The cache of all servers.
#[derive(Clone, Debug)]
pub struct SkillCache {
    folder: PathBuf,
}

/// The cached data about one server's skills.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct KnownListing {
    /// Its list, if there was one.
    pub listing: Option<SkillListing>,
    /// When the list was read, in seconds since 1970.
    pub listed_at: u64,
    /// Why the last attempt to read it failed, if it did.
    pub failure: Option<String>,
    /// When that attempt was, in seconds since 1970.
    pub failed_at: u64,
}

/// The content of the file that the list is kept in.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// Hash of the user's configuration.
    server: String,
    listed_at: u64,
    failed_at: u64,
    failure: Option<String>,
    ttl_ms: u64,
    cut: Option<String>,
    skills: Option<Vec<Value>>,
}

impl SkillCache {
    /// The cache in this folder.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The cached data about a server. A list that another program or address sent under this label does not count.
    #[must_use]
    pub fn known(&self, server: &ServerEntry) -> KnownListing {
        let read = || -> Option<KnownListing> {
            let bytes = read_bytes(&self.of(&server.label).join(LISTING), MAX_LISTING).ok()?;
            let stored: Stored = serde_json::from_slice(&bytes).ok()?;
            if stored.server != hash(&server.identity()) {
                return None;
            }
            let (ttl_ms, cut) = (stored.ttl_ms, stored.cut);
            Some(KnownListing {
                listing: stored.skills.map(|entries| SkillListing {
                    entries,
                    ttl_ms,
                    cut,
                }),
                listed_at: stored.listed_at,
                failure: stored.failure,
                failed_at: stored.failed_at,
            })
        };
        read().unwrap_or_default()
    }

    /// Keeps a server's list, and removes the files of skills that are no longer in it.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn keep(&self, server: &ServerEntry, known: &KnownListing) -> io::Result<()> {
        let listing = known.listing.as_ref();
        let stored = Stored {
            server: hash(&server.identity()),
            listed_at: known.listed_at,
            failed_at: known.failed_at,
            failure: known.failure.clone(),
            ttl_ms: listing.map_or(0, |listing| listing.ttl_ms),
            cut: listing.and_then(|listing| listing.cut.clone()),
            skills: listing.map(|listing| listing.entries.clone()),
        };
        let folder = self.of(&server.label);
        private(&folder)?;
        write_new(&folder, LISTING, &serde_json::to_vec(&stored)?)?;
        if let Some(listing) = listing {
            prune(&folder, listing);
        }
        Ok(())
    }

    /// A cached file, if it exists. The bytes are not checked.
    #[must_use]
    pub fn file(&self, label: &str, uri: &str, digest: &[u8; 32], size: u64) -> Option<Vec<u8>> {
        let file = self.of(label).join(hash(uri)).join(hex(digest));
        read_bytes(&file, size).ok()
    }

    /// Stores a verified file. An error is ignored: the file is fetched again next time.
    pub fn keep_file(&self, label: &str, uri: &str, digest: &[u8; 32], bytes: &[u8]) {
        let folder = self.of(label).join(hash(uri));
        if self.file(label, uri, digest, bytes.len() as u64).as_deref() == Some(bytes) {
            return;
        }
        private(&folder)
            .and_then(|()| write_new(&folder, &hex(digest), bytes))
            .ok();
    }

    /// Removes the data about servers that are no longer configured.
    pub fn keep_only(&self, labels: &[&str]) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !labels.iter().any(|label| name == *label) {
                fs::remove_dir_all(entry.path()).ok();
            }
        }
    }

    fn of(&self, label: &str) -> PathBuf {
        self.folder.join(label)
    }
}

/// Removes files of skills that are not listed, or in another version.
fn prune(folder: &Path, listing: &SkillListing) {
    let skills: Vec<McpSkill> = listing
        .entries
        .iter()
        .filter_map(|entry| McpSkill::read(entry).ok())
        .collect();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let (name, path) = (entry.file_name(), entry.path());
        let skill = skills.iter().find(|skill| name == *hash(&skill.uri));
        let Some(SkillResources::Files(files)) = skill.map(|skill| &skill.resources) else {
            fs::remove_dir_all(path).ok();
            continue;
        };
        for file in fs::read_dir(&path).into_iter().flatten().flatten() {
            let name = file.file_name();
            let digest = name.to_string_lossy();
            let is_listed = |listed: &str| listed.strip_prefix("sha256:") == Some(&*digest);
            if !files.iter().any(|listed| is_listed(&listed.digest)) {
                fs::remove_file(file.path()).ok();
            }
        }
    }
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()).into())
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Creates a folder that only the user can read and write.
fn private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// Replaces a file as a whole.
fn write_new(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(folder.join(name))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::server::{McpEndpoint, McpLimits};

    fn server(label: &str, url: &str) -> ServerEntry {
        ServerEntry {
            label: label.to_owned(),
            endpoint: McpEndpoint::Address {
                url: url.parse().unwrap(),
                headers: Vec::new(),
                login: None,
            },
            limits: McpLimits::default(),
        }
    }

    fn listing(digest: &[u8; 32]) -> KnownListing {
        let uri = "skill://a/SKILL.md";
        let entry = json!({ "uri": uri, "frontmatter": {}, "resources": [{ "uri": uri, "digest": format!("sha256:{}", hex(digest)), "size": 1 }] });
        KnownListing {
            listing: Some(SkillListing {
                entries: vec![entry],
                ttl_ms: 9,
                cut: None,
            }),
            listed_at: 5,
            ..KnownListing::default()
        }
    }

    #[test]
    fn what_is_known_belongs_to_one_server() {
        let folder = tempfile::tempdir().unwrap();
        let cache = SkillCache::new(folder.path().join("mcp"));
        let one = server("one", "https://one.example/mcp");
        assert_eq!(cache.known(&one), KnownListing::default());
        let known = listing(&[7; 32]);
        cache.keep(&one, &known).unwrap();
        assert_eq!(cache.known(&one), known);
        let moved = server("one", "https://other.example/mcp");
        assert_eq!(cache.known(&moved), KnownListing::default());
        cache.keep_only(&["two"]);
        assert_eq!(cache.known(&one), KnownListing::default());
    }

    #[test]
    fn files_of_an_older_version_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = SkillCache::new(folder.path().join("mcp"));
        let one = server("one", "https://one.example/mcp");
        let uri = "skill://a/SKILL.md";
        cache.keep_file("one", uri, &[7; 32], b"x");
        cache.keep_file("one", "skill://gone/SKILL.md", &[7; 32], b"x");
        assert_eq!(
            cache.file("one", uri, &[7; 32], 1).as_deref(),
            Some(&b"x"[..])
        );
        assert_eq!(cache.file("two", uri, &[7; 32], 1), None);
        cache.keep(&one, &listing(&[7; 32])).unwrap();
        assert!(cache.file("one", uri, &[7; 32], 1).is_some());
        assert!(
            cache
                .file("one", "skill://gone/SKILL.md", &[7; 32], 1)
                .is_none()
        );
        cache.keep(&one, &listing(&[8; 32])).unwrap();
        assert!(cache.file("one", uri, &[7; 32], 1).is_none());
    }
}
