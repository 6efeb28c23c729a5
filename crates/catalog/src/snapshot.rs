//! All files of a skill, read once: the bytes that were looked at are the bytes of the digest.
//!
//! Whoever scans a skill and then loads it must not be given other bytes in between. So a snapshot hashes what it reads while
//! it reads it, and the digest that comes out belongs to exactly these bytes.

use metier_model::Digest;
use rustix::fs::FileType;
use sha2::{Digest as _, Sha256};

use crate::{
    entry::Place,
    folder::{self, ReadError},
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
                    });
                }
            }
            Self::Folder(path) => folder::visit(path, |file| {
                let content = match file.kind {
                    FileType::RegularFile => {
                        let keep = room.file.saturating_add(1).min(left);
                        let (size, hash, bytes) = folder::read_and_hash(&file, keep)?;
                        lines.push(folder::line(file.path, &size, &hash));
                        left -= bytes.len();
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
