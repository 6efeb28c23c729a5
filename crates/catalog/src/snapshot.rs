//! All files of a skill, read once: the bytes that were looked at are the bytes of the digest.
//!
//! Whoever scans a skill and then loads it must not be given other bytes in between. So a snapshot hashes what it reads while
//! it reads it, and the digest that comes out belongs to exactly these bytes.

use metier_model::Digest;
use rustix::fs::FileType;
use sha2::{Digest as _, Sha256};

use crate::{
    entry::Place,
    folder::{self, FileEntry, ReadError, Resource},
};

/// The files of a skill with their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The files, sorted by path.
    pub files: Vec<Held>,
    /// The digest of all of them.
    pub digest: Digest,
}

/// A file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Relative to the skill's folder, with forward slashes.
    pub path: String,
    /// What was read of it.
    pub content: Content,
    /// How large it is; for a link, the length of its target.
    pub size: u64,
    /// Whether it has more than one name (a hard link).
    pub shared: bool,
}

/// What a snapshot holds of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// All bytes; or the first, of a file that is larger than was asked for.
    Bytes(Vec<u8>),
    /// Where a link leads.
    Link(String),
    /// A FIFO, a socket or a device.
    Special,
    /// It was hashed, but there was no room to keep it.
    Left,
}

/// How much of a skill is kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes of one file; one byte more is kept, so that whoever looks can tell.
    pub file: usize,
    /// Bytes of all files.
    pub total: usize,
}

impl Place {
    /// Reads all files of the skill, once.
    ///
    /// # Errors
    /// When a file can't be read: what can't be read can't be vouched for.
    pub fn snapshot(&self, room: Room) -> Result<Snapshot, ReadError> {
        let mut files = Vec::new();
        let mut lines = Vec::new();
        let mut left = room.total;
        let mut total = 0_u64;
        match self {
            Self::Builtin(skill) => {
                for (path, content) in skill.files {
                    lines.push(folder::line(
                        path.as_bytes(),
                        &content.len(),
                        &Sha256::digest(content),
                    ));
                    files.push(Held {
                        path: (*path).to_owned(),
                        content: Content::Bytes(content.to_vec()),
                        size: content.len() as u64,
                        shared: false,
                    });
                }
            }
            Self::Folder(path) => folder::visit(path, |file| {
                let mut length = file.size;
                total = total.saturating_add(length);
                if total > folder::MAX_DIGEST {
                    return Err(ReadError::TooLarge {
                        path: String::from_utf8_lossy(file.path).into_owned(),
                        limit: folder::MAX_DIGEST,
                    });
                }
                let content = match file.kind {
                    FileType::RegularFile => {
                        let keep = room.file.saturating_add(1).min(left);
                        let (size, hash, bytes) = folder::read_and_hash(&file, keep)?;
                        lines.push(folder::line(file.path, &size, &hash));
                        left -= bytes.len();
                        length = size;
                        let whole = bytes.len() as u64 == size || bytes.len() > room.file;
                        if whole {
                            Content::Bytes(bytes)
                        } else {
                            Content::Left
                        }
                    }
                    FileType::Symlink => {
                        let target = folder::link_target(&file)?;
                        lines.push(folder::line(file.path, &"link", &Sha256::digest(&target)));
                        Content::Link(String::from_utf8_lossy(&target).into_owned())
                    }
                    _ => {
                        lines.push(folder::line(file.path, &"special", &Sha256::digest(b"")));
                        Content::Special
                    }
                };
                files.push(Held {
                    path: String::from_utf8_lossy(file.path).into_owned(),
                    content,
                    size: length,
                    shared: file.shared,
                });
                Ok(())
            })?,
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Snapshot {
            files,
            digest: folder::digest_of(lines),
        })
    }
}

impl Snapshot {
    /// All files of the skill, sorted.
    #[must_use]
    pub fn list(&self) -> Vec<FileEntry> {
        let entry = |held: &Held| FileEntry {
            path: held.path.clone(),
            size: held.size,
            special: matches!(held.content, Content::Link(_) | Content::Special),
        };
        self.files.iter().map(entry).collect()
    }

    /// One file of the skill, as bytes; what [`Place::read`] refuses is refused.
    ///
    /// # Errors
    /// When the path is not one inside the skill, or is no regular file within the limit.
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

    /// A manifest file may have a second name, or be a link that stays in the folder.
    pub(crate) fn read_manifest(&self, name: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let held = self.find(name, name)?;
        let Content::Link(target) = &held.content else {
            return held.bytes(name, limit);
        };
        let outside = || ReadError::NotAFile {
            path: folder::shown(name),
            what: "a link out of the skill",
        };
        let inner = folder::components(target).map_err(|_| outside())?;
        self.find(&inner.join("/"), name)
            .map_err(|_| outside())?
            .bytes(name, limit)
    }

    fn find(&self, path: &str, asked: &str) -> Result<&Held, ReadError> {
        self.files
            .binary_search_by(|held| held.path.as_str().cmp(path))
            .map(|index| &self.files[index])
            .map_err(|_| {
                let below = format!("{path}/");
                let what = if self.files.iter().any(|held| held.path.starts_with(&below)) {
                    "a folder"
                } else if self.files.iter().any(|held| {
                    path.strip_prefix(&held.path)
                        .is_some_and(|rest| rest.starts_with('/'))
                }) {
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

impl Held {
    fn bytes(&self, asked: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let path = folder::shown(asked);
        let what = match &self.content {
            Content::Bytes(bytes) if bytes.len() as u64 == self.size && self.size <= limit => {
                return Ok(bytes.clone());
            }
            Content::Bytes(_) | Content::Left => return Err(ReadError::TooLarge { path, limit }),
            Content::Link(_) => "a link",
            Content::Special => "a FIFO, socket or device",
        };
        Err(ReadError::NotAFile { path, what })
    }
}
