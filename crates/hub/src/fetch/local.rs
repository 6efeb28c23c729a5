//! Folders and archives on this machine.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use metier_model::Digest;
use metier_package::{PackageTree, read_archive};
use sha2::{Digest as _, Sha256};

use super::{
    FetchedSkill, SkillOffer, SkillOrigin, SourceLimits,
    access::SourceAccess,
    error::FetchError,
    files::{ArchiveFiles, SourceFiles},
    folder::DiskFolder,
    offers::{self, FoundOffers},
};

/// The file extension of a signature.
pub(super) const SIGNATURE: &str = ".minisig";
/// The largest signature, in bytes.
pub(super) const MAX_SIGNATURE: usize = 4096;

/// The type of a path on this machine.
pub(super) enum LocalSource {
    Folder(LocalFolder),
    Archive(OpenedArchive),
}

/// A folder.
pub(super) struct LocalFolder {
    files: DiskFolder,
    path: PathBuf,
}

/// An archive from any source.
pub(super) struct OpenedArchive {
    files: ArchiveFiles,
    source: String,
    digest: Digest,
    signed: Option<SignedBytes>,
}

/// An archive with its signature.
struct SignedBytes {
    signature: String,
    archive: Arc<[u8]>,
}

/// Opens a folder or an archive.
pub(super) fn open(
    path: &Path,
    access: &dyn SourceAccess,
    limits: &SourceLimits,
) -> Result<(LocalSource, FoundOffers), FetchError> {
    let expanded = match (path.strip_prefix("~"), access.home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    };
    let real = expanded
        .canonicalize()
        .map_err(|error| FetchError::disk(&expanded, error))?;
    let names_manifest = real.is_file() && real.file_name().is_some_and(|name| name == "SKILL.md");
    let real = match real.parent() {
        Some(parent) if names_manifest => parent.to_owned(),
        _ => real,
    };
    if !real.is_dir() {
        let bytes = read_whole(&real, limits.archive.packed)?;
        let signature = sibling_signature(&real)?;
        let source = real.display().to_string();
        let (archive, found) = OpenedArchive::new(&source, &source, bytes, signature, limits)?;
        return Ok((LocalSource::Archive(archive), found));
    }
    let files = DiskFolder::open(&real, limits.archive)?;
    let name = last_name(&real.to_string_lossy());
    let found = offers::find(&files, &name, &path.display().to_string(), limits)?;
    let is_bare = || real.join("HEAD").is_file() && real.join("objects").is_dir();
    if found.offers.is_empty() && is_bare() {
        return Err(FetchError::BareRepository(real.display().to_string()));
    }
    let folder = LocalFolder { files, path: real };
    Ok((LocalSource::Folder(folder), found))
}

impl LocalFolder {
    pub(super) fn read(&self, offer: &SkillOffer) -> Result<FetchedSkill, FetchError> {
        let place = match offer.folder.as_str() {
            "" => self.path.clone(),
            folder => self.path.join(folder),
        };
        Ok(FetchedSkill {
            name: offer.name.clone(),
            tree: self.files.tree(&offer.folder)?,
            origin: SkillOrigin {
                source: place.display().to_string(),
                version: offer.version.clone(),
                ..SkillOrigin::default()
            },
            archive: None,
        })
    }
}

impl OpenedArchive {
    /// Reads an archive. A `.skill` file contains exactly one skill; another archive is treated like a folder. `file` has its name.
    pub(super) fn new(
        source: &str,
        file: &str,
        bytes: Vec<u8>,
        signature: Option<String>,
        limits: &SourceLimits,
    ) -> Result<(Self, FoundOffers), FetchError> {
        let source_name = || source.to_owned();
        let tree = read_archive(&bytes, limits.archive).map_err(|error| FetchError::Archive {
            source_name: source_name(),
            error,
        })?;
        let file = last_name(file);
        let tree = match file.ends_with(".skill") {
            true => tree.only_skill().map_err(|error| FetchError::Package {
                source_name: source_name(),
                error,
            })?,
            false => tree,
        };
        let digest = digest_of(&bytes);
        let name = file.split('.').next().unwrap_or_default();
        let (mut opened, found) = Self::of_tree(source, name, tree, digest, limits)?;
        opened.signed = signature.map(|signature| SignedBytes {
            signature,
            archive: bytes.into(),
        });
        Ok((opened, found))
    }

    /// A downloaded tree. `name` is for a skill at its top without a name.
    pub(super) fn of_tree(
        source: &str,
        name: &str,
        tree: PackageTree,
        digest: Digest,
        limits: &SourceLimits,
    ) -> Result<(Self, FoundOffers), FetchError> {
        let files = ArchiveFiles::new(tree);
        let found = offers::find(&files, name, source, limits)?;
        let opened = Self {
            files,
            source: source.to_owned(),
            digest,
            signed: None,
        };
        Ok((opened, found))
    }

    pub(super) fn read(&self, offer: &SkillOffer) -> Result<FetchedSkill, FetchError> {
        let signed = self.signed.as_ref();
        Ok(FetchedSkill {
            name: offer.name.clone(),
            tree: self.files.tree(&offer.folder)?,
            origin: SkillOrigin {
                source: self.source.clone(),
                registry: None,
                commit: None,
                archive: Some(self.digest),
                signature: signed.map(|signed| signed.signature.clone()),
                version: offer.version.clone(),
            },
            archive: signed.map(|signed| Arc::clone(&signed.archive)),
        })
    }
}

pub(super) fn digest_of(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

/// Reads a file on this machine that the user named: at most one byte more than the limit, which shows that it is too large.
fn read_whole(path: &Path, limit: usize) -> Result<Vec<u8>, FetchError> {
    let failed = |error| FetchError::disk(path, error);
    // Opening a FIFO would wait for its other end.
    if !path.metadata().map_err(failed)?.is_file() {
        let kind = std::io::Error::other("it is neither a file nor a folder");
        return Err(failed(kind));
    }
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// The signature next to an archive.
fn sibling_signature(archive: &Path) -> Result<Option<String>, FetchError> {
    let mut name = archive.as_os_str().to_owned();
    name.push(SIGNATURE);
    match read_whole(Path::new(&name), MAX_SIGNATURE) {
        Ok(bytes) if bytes.len() <= MAX_SIGNATURE => {
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
        Ok(_) | Err(FetchError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The last name of a path or an address.
fn last_name(path: &str) -> String {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path).to_owned()
}
