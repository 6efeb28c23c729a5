//! Archives, read completely or refused.
//!
//! Unpackers disagree about malformed archives: two entries with one name, headers that contradict each other, data between entries. One
//! tool then scans different content from what another one unpacks. So there is one reader, it accepts only archives that all tools read
//! alike, and one problem refuses the whole archive.

mod tar;
mod zip;

use std::{borrow::Cow, io::Read};

use crate::{
    path::{PackagePath, PathError},
    tree::{PackageFile, PackageTree, TreeError},
};

/// The limits of an archive. They apply to the bytes that were read, not to the sizes in headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// Bytes of the archive itself.
    pub packed: usize,
    /// Bytes of all files.
    pub unpacked: usize,
    /// Bytes of one file.
    pub file: usize,
    /// Files and folders.
    pub entries: usize,
    /// How many times larger the content can be than the archive, once it is over a megabyte.
    pub ratio: usize,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self {
            packed: 64 << 20,
            unpacked: 256 << 20,
            file: 64 << 20,
            entries: 10_000,
            ratio: 100,
        }
    }
}

/// Content of up to this size is accepted at any ratio: a megabyte of spaces is odd, but harmless.
const RATIO_FLOOR: usize = 1 << 20;

/// Reads a zip (`.skill`), tar, tar.gz or tar.zst archive, recognised by its content.
///
/// # Errors
/// If it is none of these, is damaged or ambiguous, contains anything but plain files and folders, or exceeds a limit.
pub fn read_archive(bytes: &[u8], limits: ArchiveLimits) -> Result<PackageTree, ArchiveError> {
    if bytes.len() > limits.packed {
        return Err(ArchiveError::TooLarge {
            limit: limits.packed,
        });
    }
    let mut budget = Budget::new(bytes.len(), limits);
    let PackageEntries { files, folders } = if bytes.starts_with(b"PK") {
        zip::read(bytes, &mut budget)?
    } else {
        tar::read(&uncompressed(bytes, limits)?, &mut budget)?
    };
    Ok(PackageTree::with_folders(files, &folders)?)
}

/// The entries of an archive. Folders are not kept, but none can have the path of a file.
#[derive(Default)]
struct PackageEntries {
    files: Vec<PackageFile>,
    folders: Vec<PackagePath>,
}

/// The tar archive in a compressed one; the bytes themselves if they are not compressed.
fn uncompressed(bytes: &[u8], limits: ArchiveLimits) -> Result<Cow<'_, [u8]>, ArchiveError> {
    // Headers and padding of a tar archive are not content: 2 blocks for each entry.
    let most = limits
        .unpacked
        .saturating_add(limits.entries.saturating_mul(1024 * 2))
        .saturating_add(1 << 20);
    let most = most.min(
        bytes
            .len()
            .saturating_mul(limits.ratio)
            .max(RATIO_FLOOR + (1 << 20)),
    );
    match bytes {
        [0x1f, 0x8b, ..] => {
            let mut decoder = flate2::bufread::GzDecoder::new(bytes);
            let content = read_within(&mut decoder, most)?;
            match decoder.into_inner() {
                [] => Ok(content.into()),
                _ => Err(ArchiveError::Trailing),
            }
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let mut rest = bytes;
            let mut decoder = ruzstd::decoding::StreamingDecoder::new(&mut rest)
                .map_err(|error| ArchiveError::Damaged(error.to_string()))?;
            let content = read_within(&mut decoder, most)?;
            let frame = decoder.into_frame_decoder();
            let announced = frame.get_checksum_from_data();
            if announced.is_some() && announced != frame.get_calculated_checksum() {
                return Err(ArchiveError::Damaged("its checksum is wrong".to_owned()));
            }
            match rest {
                [] => Ok(content.into()),
                _ => Err(ArchiveError::Trailing),
            }
        }
        bytes if bytes.get(257..262) == Some(b"ustar") => Ok(bytes.into()),
        _ => Err(ArchiveError::Unknown),
    }
}

fn read_within(source: &mut impl Read, most: usize) -> Result<Vec<u8>, ArchiveError> {
    let mut content = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    source
        .take(limit)
        .read_to_end(&mut content)
        .map_err(|error| ArchiveError::Damaged(error.to_string()))?;
    match content.len() > most {
        true => Err(ArchiveError::Bomb),
        false => Ok(content),
    }
}

/// The remaining limits.
struct Budget {
    limits: ArchiveLimits,
    entries: usize,
    unpacked: usize,
    /// The maximum size of the content in bytes, by the ratio.
    by_ratio: usize,
}

impl Budget {
    fn new(packed: usize, limits: ArchiveLimits) -> Self {
        Self {
            limits,
            entries: 0,
            unpacked: 0,
            by_ratio: packed.saturating_mul(limits.ratio).max(RATIO_FLOOR),
        }
    }

    fn entry(&mut self) -> Result<(), ArchiveError> {
        self.entries += 1;
        match self.entries > self.limits.entries {
            true => Err(ArchiveError::TooMany {
                limit: self.limits.entries,
            }),
            false => Ok(()),
        }
    }

    /// Reads the content of one entry, whose header announces this size.
    fn read(
        &mut self,
        path: &str,
        announced: u64,
        source: &mut impl Read,
    ) -> Result<Vec<u8>, ArchiveError> {
        let left = self.limits.unpacked.min(self.by_ratio) - self.unpacked;
        let most = left.min(self.limits.file);
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        let mut bytes = Vec::new();
        source
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(|error| ArchiveError::Damaged(format!("{path}: {error}")))?;
        if bytes.len() > most {
            return Err(match most == self.limits.file {
                true => ArchiveError::FileTooLarge {
                    path: path.to_owned(),
                    limit: most,
                },
                false => ArchiveError::Bomb,
            });
        }
        if bytes.len() as u64 != announced {
            return Err(ArchiveError::Ambiguous(format!(
                "the header of `{path}` announces {announced} bytes, its content has {}",
                bytes.len()
            )));
        }
        self.unpacked += bytes.len();
        Ok(bytes)
    }
}

/// Why an archive was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// The first bytes belong to no supported format.
    #[error("not a zip, tar, tar.gz or tar.zst archive")]
    Unknown,
    /// The archive itself is over the limit.
    #[error("the archive is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// One file is over the limit.
    #[error("`{path}` is larger than {limit} bytes")]
    FileTooLarge {
        /// The file.
        path: String,
        /// The limit.
        limit: usize,
    },
    /// There are too many entries.
    #[error("the archive has more than {limit} entries")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The content is out of proportion to the archive, or over the limit for all files.
    #[error("the archive unpacks to far more than its size (a decompression bomb)")]
    Bomb,
    /// The archive can't be read to its end.
    #[error("the archive is damaged: {0}")]
    Damaged(String),
    /// Two tools would read it differently.
    #[error("the archive is ambiguous: {0}")]
    Ambiguous(String),
    /// There is data before or after the archive.
    #[error("the archive is ambiguous: there is other data before or after it")]
    Trailing,
    /// An entry is encrypted.
    #[error("`{0}` is encrypted and can't be inspected")]
    Encrypted(String),
    /// An entry is a link.
    #[error("`{0}` is a link; a package contains only files and folders")]
    Link(String),
    /// An entry is a device, a pipe, a sparse file or another special entry.
    #[error("`{path}` is {kind}; a package contains only files and folders")]
    Special {
        /// The entry.
        path: String,
        /// Its type.
        kind: &'static str,
    },
    /// An entry has a name that no package can have.
    #[error("{0}")]
    Path(#[from] PathError),
    /// The entries contradict each other.
    #[error("{0}")]
    Tree(#[from] TreeError),
}
