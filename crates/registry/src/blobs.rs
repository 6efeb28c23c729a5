//! Bytes by their digest. `tests/all/conformance.rs` is the specification of every implementation.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use metier_model::Digest;
use sha2::{Digest as _, Sha256};

/// A store of packages. A blob is found by the digest of its bytes, so it never changes.
pub trait BlobStore: Send + Sync {
    /// Stores the bytes and returns their digest. Storing them again changes nothing.
    ///
    /// # Errors
    /// If they can't be written.
    fn put(&self, bytes: &[u8]) -> Result<Digest, BlobError>;

    /// The bytes with this digest; `None` if there are none.
    ///
    /// # Errors
    /// If they can't be read, or are damaged.
    fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, BlobError>;
}

/// The digest of bytes.
pub(crate) fn digest_of(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// Blobs as files of a folder: `ab/abcd….blob`.
#[derive(Debug)]
pub struct FolderBlobs {
    folder: PathBuf,
}

impl FolderBlobs {
    /// Uses a folder, which is created if it is missing.
    ///
    /// # Errors
    /// If it can't be created.
    pub fn open(folder: &Path) -> Result<Self, BlobError> {
        fs::create_dir_all(folder).map_err(|source| BlobError::of(folder, source))?;
        Ok(Self {
            folder: folder.to_owned(),
        })
    }

    fn place(&self, digest: &Digest) -> PathBuf {
        let text = digest.to_string();
        let hex = text.trim_start_matches("sha256:");
        self.folder.join(&hex[..2]).join(format!("{hex}.blob"))
    }
}

impl BlobStore for FolderBlobs {
    fn put(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        let digest = digest_of(bytes);
        let place = self.place(&digest);
        if place.exists() {
            return Ok(digest);
        }
        let folder = place.parent().unwrap_or(&self.folder);
        let write = || {
            fs::create_dir_all(folder)?;
            // A file appears under its name with all its bytes, or not at all.
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            file.persist(&place)?;
            fs::File::open(folder)?.sync_all()
        };
        write().map_err(|source| BlobError::of(&place, source))?;
        Ok(digest)
    }

    fn get(&self, digest: &Digest) -> Result<Option<Vec<u8>>, BlobError> {
        let place = self.place(digest);
        let bytes = match fs::read(&place) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(BlobError::of(&place, source)),
        };
        match digest_of(&bytes) == *digest {
            true => Ok(Some(bytes)),
            false => Err(BlobError {
                place: place.display().to_string(),
                source: io::Error::new(io::ErrorKind::InvalidData, "its bytes were changed").into(),
            }),
        }
    }
}

/// Bytes can't be stored or read.
#[derive(Debug, thiserror::Error)]
#[error("`{place}` can't be used: {source}")]
pub struct BlobError {
    /// The file or folder.
    pub place: String,
    /// The error of the system.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

impl BlobError {
    fn of(place: &Path, source: io::Error) -> Self {
        Self {
            place: place.display().to_string(),
            source: source.into(),
        }
    }
}
