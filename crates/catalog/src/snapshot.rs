//! All files of a skill, read once: the scanned bytes are the bytes of the digest.
//!
//! Between scanning and loading, a skill must not be able to swap its bytes. So a snapshot hashes its files while it
//! reads them, and the digest covers exactly these bytes.

use std::path::Path;

use metier_model::Digest;
use rustix::fs::FileType;
use sha2::{Digest as _, Sha256};

use crate::{
    builtin::BuiltinSkill,
    entry::SkillLocation,
    folder::{self, FileEntry, ReadError, Resource, Total},
    path_bytes::PathBytes,
    skill_files::{Fingerprint, MAX_FILES, States, visit},
};

/// The files of a skill with their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The files, sorted by path.
    pub files: Vec<SnapshotFile>,
    /// The digest of all of them.
    pub digest: Digest,
    /// The state of the files; `None` for a skill without a folder.
    pub fingerprint: Option<Fingerprint>,
}

/// A file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotFile {
    /// Relative to the skill's folder, with forward slashes.
    pub path: PathBytes,
    /// The content that was read.
    pub content: SnapshotContent,
    /// The SHA-256 of all its bytes, or of a link's target.
    pub hash: [u8; 32],
    /// Its size; for a link, the length of its target.
    pub size: u64,
    /// Whether it has more than one name (a hard link).
    pub shared: bool,
    /// Whether it is executable.
    pub executable: bool,
}

/// The content of a file in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotContent {
    /// All bytes, or only the first ones of a file that exceeds the limit.
    Bytes(Vec<u8>),
    /// The target of a link.
    Link(PathBytes),
    /// A FIFO, a socket or a device.
    Special,
    /// Hashed, but not kept because of the memory limit.
    Left,
}

/// How much of a skill is kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBudget {
    /// Bytes of one file; one byte more is kept, so that a larger file can be recognised.
    pub file: usize,
    /// Bytes of all files.
    pub total: usize,
}

impl SkillLocation {
    /// Reads all files of the skill, once.
    ///
    /// # Errors
    /// If a file can't be read: its bytes would not be covered by the digest.
    pub fn snapshot(&self, room: MemoryBudget) -> Result<Snapshot, ReadError> {
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Builtin(skill) => return Ok(snapshot_of_builtin(skill)),
            // The limits of a remote skill are smaller than this budget.
            Self::Remote(skill) => return skill.snapshot(),
        };
        let mut files = Vec::new();
        let mut lines = Vec::new();
        let mut left = room.total;
        let mut total = Total::new(folder::MAX_DIGEST);
        let mut states = States::default();
        let folders = visit(folder, MAX_FILES, |file| {
            total.add(file)?;
            states.add(file.path, &file.key);
            let mut size = file.size;
            let (content, hash) = match file.kind {
                FileType::RegularFile => {
                    let keep = room.file.saturating_add(1).min(left);
                    let (length, hash, bytes) = folder::read_and_hash(file, keep)?;
                    lines.push(folder::line(file.path, &length, &hash));
                    left -= bytes.len();
                    size = length;
                    let enough = bytes.len() as u64 == size || bytes.len() > room.file;
                    let content = match enough {
                        true => SnapshotContent::Bytes(bytes),
                        false => SnapshotContent::Left,
                    };
                    (content, hash)
                }
                FileType::Symlink => {
                    let target = folder::link_target(file)?;
                    let hash: [u8; 32] = Sha256::digest(&target).into();
                    lines.push(folder::line(file.path, &"link", &hash));
                    (SnapshotContent::Link(target.into()), hash)
                }
                _ => {
                    let hash: [u8; 32] = Sha256::digest(b"").into();
                    lines.push(folder::line(file.path, &"special", &hash));
                    (SnapshotContent::Special, hash)
                }
            };
            files.push(SnapshotFile {
                path: file.path.into(),
                content,
                hash,
                size,
                shared: file.shared,
                executable: file.executable,
            });
            Ok(())
        })?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Snapshot {
            files,
            digest: folder::digest_of(lines),
            fingerprint: Some(states.fingerprint(folders)),
        })
    }
}

fn snapshot_of_builtin(skill: &BuiltinSkill) -> Snapshot {
    let mut lines = Vec::new();
    let held = skill.files.iter().map(|(path, content)| {
        let hash: [u8; 32] = Sha256::digest(content).into();
        lines.push(folder::line(path.as_bytes(), &content.len(), &hash));
        SnapshotFile {
            path: (*path).into(),
            content: SnapshotContent::Bytes(content.to_vec()),
            hash,
            size: content.len() as u64,
            shared: false,
            executable: false,
        }
    });
    let mut files: Vec<SnapshotFile> = held.collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Snapshot {
        files,
        digest: folder::digest_of(lines),
        fingerprint: None,
    }
}

impl Snapshot {
    /// All files of the skill, sorted.
    #[must_use]
    pub fn list(&self) -> Vec<FileEntry> {
        let entry = |held: &SnapshotFile| FileEntry {
            path: held.path.clone(),
            size: held.size,
            special: matches!(
                held.content,
                SnapshotContent::Link(_) | SnapshotContent::Special
            ),
        };
        self.files.iter().map(entry).collect()
    }

    /// One file of the skill, as bytes, with the same restrictions as [`SkillLocation::read`].
    ///
    /// # Errors
    /// If the path is not inside the skill, or is not a regular file within the limit.
    pub fn read(&self, relative: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let path = folder::components(relative)?.join("/");
        let held = self.find(&path, relative)?;
        if held.shared {
            return Err(ReadError::HardLink(folder::shown(relative)));
        }
        held.bytes(relative, limit)
    }

    /// One file of the skill, as text if it is text.
    ///
    /// # Errors
    /// As [`Snapshot::read`].
    pub fn resource(&self, relative: &str, limit: u64) -> Result<Resource, ReadError> {
        self.read(relative, limit).map(Resource::of)
    }

    /// A manifest file can have a second hard link, or be a link that stays in the folder.
    pub(crate) fn read_manifest(&self, name: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let held = self.find(name, name)?;
        let SnapshotContent::Link(target) = &held.content else {
            return held.bytes(name, limit);
        };
        let outside = || ReadError::NotAFile {
            path: folder::shown(name),
            what: "a link that points outside the skill",
        };
        let target = target.as_str().ok_or_else(outside)?;
        let inner = folder::components(target).map_err(|_| outside())?;
        self.find(&inner.join("/"), name)
            .map_err(|_| outside())?
            .bytes(name, limit)
    }

    fn find(&self, path: &str, asked: &str) -> Result<&SnapshotFile, ReadError> {
        self.files
            .binary_search_by(|held| held.path.as_bytes().cmp(path.as_bytes()))
            .map(|index| &self.files[index])
            .map_err(|_| {
                let asked_path = Path::new(path);
                let is_below = |held: &SnapshotFile| held.path.as_path().starts_with(asked_path);
                let is_above = |held: &SnapshotFile| asked_path.starts_with(held.path.as_path());
                let what = if self.files.iter().any(is_below) {
                    "a folder"
                } else if self.files.iter().any(is_above) {
                    "a path through a file or a link"
                } else {
                    return ReadError::NotFound(folder::shown(asked));
                };
                ReadError::NotAFile {
                    path: folder::shown(asked),
                    what,
                }
            })
    }
}

impl SnapshotFile {
    fn bytes(&self, asked: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let path = folder::shown(asked);
        let what = match &self.content {
            SnapshotContent::Bytes(bytes)
                if bytes.len() as u64 == self.size && self.size <= limit =>
            {
                return Ok(bytes.clone());
            }
            SnapshotContent::Bytes(_) | SnapshotContent::Left => {
                return Err(ReadError::TooLarge { path, limit });
            }
            SnapshotContent::Link(_) => "a link",
            SnapshotContent::Special => "a FIFO, socket or device",
        };
        Err(ReadError::NotAFile { path, what })
    }
}
