//! Fetching: from a source to the files of its skills.
//!
//! **Problem.** The same skill can be in a folder, an archive, a repository or on a site. What is fetched is not trusted: it must be listed and read within
//! limits, run nothing, follow no link, and leave nothing behind when it is interrupted.
//!
//! **Decision.** A source is opened once ([`open`]), which lists what it offers. A skill is then read into memory ([`OpenedSource::read`]) as a
//! [`PackageTree`], whose digest is the one that the catalog computes after it was placed. Only git writes to the disk, in a
//! [quarantine folder](QuarantineRoom) that is removed with the source. The ways to the world are one trait, [`SourceAccess`].
//!
//! **In → out.** [`SkillSource`] → [`OpenedSource`] → [`SkillOffer`]s → [`FetchedSkill`]s.

mod access;
mod error;
mod files;
mod folder;
mod host_access;
mod offers;
mod quarantine;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use metier_model::Digest;
use metier_package::{ArchiveLimits, PackageTree, read_archive};
use semver::Version;
use sha2::{Digest as _, Sha256};

pub use access::{Download, DownloadRequest, GitRun, SourceAccess};
pub use error::{FetchError, SkillProblem};
pub use host_access::{AccessSettings, HostAccess};
pub use offers::{OfferKind, PluginElsewhere, SkillOffer};
pub use quarantine::QuarantineRoom;

use crate::source::SkillSource;
use files::{ArchiveFiles, SourceFiles, below};
use folder::DiskFolder;

/// The end of the name of a signature's file.
const SIGNATURE: &str = ".minisig";
/// The largest signature, in bytes.
const MAX_SIGNATURE: usize = 4096;

/// How much is fetched at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLimits {
    /// The limits of an archive, and of the files of one skill.
    pub archive: ArchiveLimits,
    /// The files and folders of a source.
    pub names: usize,
    /// The skills of a source.
    pub offers: usize,
    /// The bytes of a repository, as they are transferred.
    pub repository: u64,
    /// The time for one download or one fetch of git.
    pub timeout: Duration,
    /// Skills or files that are fetched at the same time.
    pub parallel: usize,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self {
            archive: ArchiveLimits::default(),
            names: 1_000_000,
            offers: 50_000,
            repository: 1 << 30,
            timeout: Duration::from_secs(600),
            parallel: 8,
        }
    }
}

/// Is informed while something is fetched. Calls can come from several threads.
pub trait FetchProgress: Send + Sync {
    /// Something happened.
    fn report(&self, step: FetchStep<'_>);
}

/// What happens during a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchStep<'a> {
    /// A source is opened.
    Opening {
        /// The source, as it can be typed.
        source: &'a str,
    },
    /// Bytes of a download arrived.
    Bytes {
        /// The address.
        source: &'a str,
        /// So far.
        received: u64,
        /// In all, if the server announced it.
        total: Option<u64>,
    },
    /// A skill was read.
    Read {
        /// Its name.
        name: &'a str,
    },
}

/// No one is informed.
impl FetchProgress for () {
    fn report(&self, _: FetchStep<'_>) {}
}

/// What a source contains, opened once.
pub struct OpenedSource<'a> {
    offers: Vec<SkillOffer>,
    elsewhere: Vec<PluginElsewhere>,
    left_out: Vec<String>,
    content: SourceContent,
    limits: SourceLimits,
    progress: &'a dyn FetchProgress,
}

/// Where the files of the offers are.
enum SourceContent {
    Folder {
        files: DiskFolder,
        path: PathBuf,
    },
    Archive {
        files: ArchiveFiles,
        source: String,
        digest: Digest,
        signed: Option<SignedBytes>,
    },
}

/// An archive with its signature.
struct SignedBytes {
    signature: String,
    archive: Arc<[u8]>,
}

/// A skill that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedSkill {
    /// Its name, as its manifest states it.
    pub name: String,
    /// Its files.
    pub tree: PackageTree,
    /// Where it came from.
    pub origin: SkillOrigin,
    /// The bytes that were signed, if there is a signature.
    pub archive: Option<Arc<[u8]>>,
}

/// Where a skill came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillOrigin {
    /// The source as it can be typed again, with the folder of the skill.
    pub source: String,
    /// The commit, if it came from a git repository.
    pub commit: Option<String>,
    /// The digest of the archive, if it came as one.
    pub archive: Option<Digest>,
    /// The text of the signature's file, if the archive has one. It was not checked.
    pub signature: Option<String>,
    /// The version that its manifest states.
    pub version: Option<Version>,
}

/// Opens a source and lists what it offers.
///
/// # Errors
/// If the source can't be reached or read, exceeds a limit, or offers nothing.
pub fn open<'a>(
    source: &SkillSource,
    access: &'a dyn SourceAccess,
    limits: &SourceLimits,
    progress: &'a dyn FetchProgress,
) -> Result<OpenedSource<'a>, FetchError> {
    let typed = source.to_string();
    progress.report(FetchStep::Opening { source: &typed });
    match source {
        SkillSource::Path(path) => open_path(path, access, limits, progress),
        SkillSource::Registry { name, .. } => Err(FetchError::Registry(name.clone())),
        SkillSource::Git(_)
        | SkillSource::Download(_)
        | SkillSource::Site(_)
        | SkillSource::ClawHub { .. } => Err(FetchError::NoIndex(typed)),
    }
}

/// Opens several sources at the same time. The results are in the order of the sources.
pub fn open_all<'a>(
    sources: &[SkillSource],
    access: &'a dyn SourceAccess,
    limits: &SourceLimits,
    progress: &'a dyn FetchProgress,
) -> Vec<Result<OpenedSource<'a>, FetchError>> {
    in_parallel(sources, limits.parallel, |source| {
        open(source, access, limits, progress)
    })
}

impl OpenedSource<'_> {
    /// The skills and plugins in it, sorted by folder.
    #[must_use]
    pub fn offers(&self) -> &[SkillOffer] {
        &self.offers
    }

    /// Plugins of its marketplace that are in other sources.
    #[must_use]
    pub fn elsewhere(&self) -> &[PluginElsewhere] {
        &self.elsewhere
    }

    /// What was not searched or not understood, one sentence each.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Reads one skill.
    ///
    /// # Errors
    /// If it can't be a package, exceeds a limit, or can't be fetched.
    pub fn read(&self, offer: &SkillOffer) -> Result<FetchedSkill, FetchError> {
        let fetched = self.content.read(offer)?;
        self.progress.report(FetchStep::Read { name: &offer.name });
        Ok(fetched)
    }

    /// Reads several skills at the same time. The results are in the order of the offers.
    pub fn read_all(&self, offers: &[&SkillOffer]) -> Vec<Result<FetchedSkill, FetchError>> {
        in_parallel(offers, self.limits.parallel, |offer| self.read(offer))
    }
}

impl SourceContent {
    fn files(&self) -> &dyn SourceFiles {
        match self {
            Self::Folder { files, .. } => files,
            Self::Archive { files, .. } => files,
        }
    }

    fn read(&self, offer: &SkillOffer) -> Result<FetchedSkill, FetchError> {
        let tree = self.files().tree(&offer.folder)?;
        let mut origin = SkillOrigin {
            version: offer.version.clone(),
            ..SkillOrigin::default()
        };
        let mut signed_archive = None;
        match self {
            Self::Folder { path, .. } => {
                origin.source = path.join(&offer.folder).display().to_string();
                origin
                    .source
                    .truncate(origin.source.trim_end_matches('/').len().max(1));
            }
            Self::Archive {
                source,
                digest,
                signed,
                ..
            } => {
                origin.source.clone_from(source);
                origin.archive = Some(*digest);
                if let Some(SignedBytes { signature, archive }) = signed {
                    origin.signature = Some(signature.clone());
                    signed_archive = Some(Arc::clone(archive));
                }
            }
        }
        Ok(FetchedSkill {
            name: offer.name.clone(),
            tree,
            origin,
            archive: signed_archive,
        })
    }
}

/// A folder or an archive on this machine.
fn open_path<'a>(
    path: &Path,
    access: &'a dyn SourceAccess,
    limits: &SourceLimits,
    progress: &'a dyn FetchProgress,
) -> Result<OpenedSource<'a>, FetchError> {
    let expanded = match (path.strip_prefix("~"), access.home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    };
    let real = expanded
        .canonicalize()
        .map_err(|error| FetchError::disk(&expanded, error))?;
    let named_manifest = real.is_file() && real.file_name().is_some_and(|name| name == "SKILL.md");
    let real = match real.parent() {
        Some(parent) if named_manifest => parent.to_owned(),
        _ => real,
    };
    let source_name = path.display().to_string();
    if !real.is_dir() {
        let bytes = read_whole(&real, limits.archive.packed)?;
        let signature = sibling_signature(&real)?;
        let source = real.display().to_string();
        return open_archive(&source, bytes, signature, limits, progress);
    }
    let files = DiskFolder::open(&real, limits.archive)?;
    let name = last_name(&real.to_string_lossy());
    let found = offers::find(&files, "", &name, &source_name, limits)?;
    let content = SourceContent::Folder { files, path: real };
    opened(found, content, source_name, limits, progress)
}

/// An archive, wherever its bytes came from. A `.skill` file holds exactly one skill; another archive is like a folder.
fn open_archive<'a>(
    source: &str,
    bytes: Vec<u8>,
    signature: Option<String>,
    limits: &SourceLimits,
    progress: &'a dyn FetchProgress,
) -> Result<OpenedSource<'a>, FetchError> {
    let source_name = || source.to_owned();
    let tree = read_archive(&bytes, limits.archive).map_err(|error| FetchError::Archive {
        source_name: source_name(),
        error,
    })?;
    let file = last_name(source);
    let tree = match file.ends_with(".skill") {
        true => tree.only_skill().map_err(|error| FetchError::Package {
            source_name: source_name(),
            error,
        })?,
        false => tree,
    };
    let digest = Digest(Sha256::digest(&bytes).into());
    let signed = signature.map(|signature| SignedBytes {
        signature,
        archive: bytes.into(),
    });
    let files = ArchiveFiles::new(tree);
    let name = file.split('.').next().unwrap_or_default();
    let found = offers::find(&files, "", name, source, limits)?;
    let content = SourceContent::Archive {
        files,
        source: source_name(),
        digest,
        signed,
    };
    opened(found, content, source_name(), limits, progress)
}

fn opened<'a>(
    found: offers::FoundOffers,
    content: SourceContent,
    source_name: String,
    limits: &SourceLimits,
    progress: &'a dyn FetchProgress,
) -> Result<OpenedSource<'a>, FetchError> {
    if found.offers.is_empty() && found.elsewhere.is_empty() {
        return Err(FetchError::NoSkills(source_name));
    }
    Ok(OpenedSource {
        offers: found.offers,
        elsewhere: found.elsewhere,
        left_out: found.left_out,
        content,
        limits: *limits,
        progress,
    })
}

/// Reads a file on this machine that the user named, up to a limit.
fn read_whole(path: &Path, limit: usize) -> Result<Vec<u8>, FetchError> {
    let failed = |error| FetchError::disk(path, error);
    let file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(failed(std::io::Error::other(
            "it is neither a file nor a folder",
        )));
    }
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    // What is over the limit is refused by the reader of archives.
    Ok(bytes)
}

/// The signature beside an archive.
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
    let last = path.rsplit('/').next().unwrap_or(path);
    below("", last)
}

/// Does work for each item, with a bounded number of threads. The results are in the order of the items.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let run = || {
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else {
                    return done;
                };
                done.push((index, work(item)));
            }
        };
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let joined = started.into_iter().flat_map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
