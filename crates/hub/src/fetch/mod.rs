//! Fetching: from a source to the files of its skills.
//!
//! **Problem.** The same skill can be in a folder, an archive, a repository or on a site. Fetched files are not trusted: they must be
//! listed and read within limits, run nothing, follow no link, and leave nothing behind when it is interrupted.
//!
//! **Decision.** A source is opened once ([`open`]), which lists its skills. A skill is then read into memory ([`OpenedSource::read`]) as a
//! [`PackageTree`], whose digest is the one that the catalog computes after it was placed. Only git writes to the disk, in a [quarantine
//! folder](QuarantineRoom) that is removed with the source. Everything outside the process is reached through one trait, [`SourceAccess`].
//!
//! **In → out.** [`SkillSource`] → [`OpenedSource`] → [`SkillOffer`]s → [`FetchedSkill`]s.

mod access;
mod error;
mod files;
mod folder;
mod git;
mod git_links;
mod git_messages;
mod host_access;
mod host_git;
mod host_ssh;
mod local;
mod offers;
mod quarantine;
mod site;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use metier_model::Digest;
use metier_package::{ArchiveLimits, PackageTree};
use semver::Version;

pub use access::{Download, DownloadRequest, GitRemote, GitRun, ObjectReader, SourceAccess};
pub use error::{FetchError, SkillProblem};
pub use host_access::{AccessSettings, HostAccess};
pub use offers::{ExternalPlugin, OfferKind, SkillOffer};
pub use quarantine::QuarantineRoom;

use crate::source::{GitSource, SkillSource};
use files::{SourceFiles, below};
use git::{GitFiles, repository_name};
use local::{LocalFolder, LocalSource, OpenedArchive};
use offers::FoundOffers;
use site::{ClawHubSkill, OpenedSite, SiteAccess};

/// The limits for one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLimits {
    /// The limits of an archive, and of the files of one skill.
    pub archive: ArchiveLimits,
    /// Files and folders of a source.
    pub names: usize,
    /// Skills of a source.
    pub offers: usize,
    /// Bytes of a repository, as they are transferred.
    pub repository: u64,
    /// The time for one download or one fetch of git.
    pub timeout: Duration,
    /// Skills or files that are fetched in parallel.
    pub parallel: usize,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self {
            archive: ArchiveLimits::default(),
            names: 1_000_000,
            offers: 200_000,
            repository: 1 << 30,
            timeout: Duration::from_secs(600),
            parallel: 8,
        }
    }
}

/// Receives the progress of a fetch. Calls can come from several threads.
pub trait FetchProgress: Send + Sync {
    /// Reports a step.
    fn report(&self, step: FetchStep<'_>);

    /// Whether the user interrupted the fetch.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A step of a fetch.
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
        /// The number of bytes so far.
        received: u64,
        /// The total, if the server announced it.
        total: Option<u64>,
    },
    /// A skill was read.
    Read {
        /// Its name.
        name: &'a str,
    },
}

/// Ignores the progress.
impl FetchProgress for () {
    fn report(&self, _: FetchStep<'_>) {}
}

/// The content of a source, opened once.
pub struct OpenedSource<'a> {
    offers: Vec<SkillOffer>,
    elsewhere: Vec<ExternalPlugin>,
    left_out: Vec<String>,
    content: SourceContent<'a>,
    limits: SourceLimits,
    progress: &'a dyn FetchProgress,
}

/// Where the files of the offers are.
enum SourceContent<'a> {
    Folder(LocalFolder),
    Archive(OpenedArchive),
    Repository(Box<OpenedRepository<'a>>),
    Site(OpenedSite<'a>),
}

/// A fetched commit, and the source that names it again.
struct OpenedRepository<'a> {
    files: GitFiles<'a>,
    /// With the folder that the file paths start at.
    source: GitSource,
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
    /// The address of the registry, if it came from one.
    pub registry: Option<String>,
    /// The commit, if it came from a git repository.
    pub commit: Option<String>,
    /// The digest of the archive, if the source is one.
    pub archive: Option<Digest>,
    /// The content of the signature's file, if the archive has one. It was not checked.
    pub signature: Option<String>,
    /// The version that its manifest states.
    pub version: Option<Version>,
}

/// Opens a source and lists its skills.
///
/// # Errors
/// If the source can't be reached or read, exceeds a limit, or contains no skills.
pub fn open<'a>(
    source: &SkillSource,
    access: &'a dyn SourceAccess,
    limits: &SourceLimits,
    progress: &'a dyn FetchProgress,
) -> Result<OpenedSource<'a>, FetchError> {
    let typed = source.to_string();
    progress.report(FetchStep::Opening { source: &typed });
    let site = SiteAccess {
        access,
        progress,
        limits: *limits,
    };
    let (content, found) = match source {
        SkillSource::Path(path) => match local::open(path, access, limits)? {
            (LocalSource::Folder(folder), found) => (SourceContent::Folder(folder), found),
            (LocalSource::Archive(archive), found) => (SourceContent::Archive(archive), found),
        },
        SkillSource::Registry { name, .. } => return Err(FetchError::Registry(name.clone())),
        SkillSource::Git(git) => open_repository(git, access, limits, progress)?,
        SkillSource::Download(url) => {
            let (archive, found) = site.file(url)?;
            (SourceContent::Archive(archive), found)
        }
        SkillSource::Site(url) => {
            let (site, found) = OpenedSite::open(site, url)?;
            (SourceContent::Site(site), found)
        }
        SkillSource::ClawHub { slug, version } => {
            match site::open_clawhub(&site, slug, version.as_deref())? {
                ClawHubSkill::Repository(git) => open_repository(&git, access, limits, progress)?,
                ClawHubSkill::Archive(archive) => {
                    let (archive, found) = *archive;
                    (SourceContent::Archive(archive), found)
                }
            }
        }
    };
    if found.offers.is_empty() && found.elsewhere.is_empty() {
        return Err(FetchError::NoSkills(typed));
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

/// Fetches a commit and lists its skills.
fn open_repository<'a>(
    source: &GitSource,
    access: &'a dyn SourceAccess,
    limits: &SourceLimits,
    progress: &'a dyn FetchProgress,
) -> Result<(SourceContent<'a>, FoundOffers), FetchError> {
    let typed = source.to_string();
    let (files, resolved) = GitFiles::fetch(source, access, limits, progress)?;
    let last = resolved
        .folder
        .rsplit('/')
        .next()
        .filter(|last| !last.is_empty());
    let name = last.map_or_else(|| repository_name(&source.url), str::to_owned);
    let mut found = offers::find(&files, &name, &typed, limits)?;
    if let Some(skill) = &resolved.skill {
        found.offers.retain(|offer| offer.name == *skill);
        if found.offers.is_empty() {
            return Err(FetchError::NoReference {
                source_name: typed,
                reference: skill.clone(),
            });
        }
    }
    let source = GitSource {
        url: source.url.clone(),
        folder: resolved.folder,
        reference: resolved.reference,
    };
    let opened = OpenedRepository { files, source };
    Ok((SourceContent::Repository(Box::new(opened)), found))
}

impl OpenedSource<'_> {
    /// The skills and plugins in it, sorted by folder.
    #[must_use]
    pub fn offers(&self) -> &[SkillOffer] {
        &self.offers
    }

    /// Plugins of its marketplace that are in other sources.
    #[must_use]
    pub fn elsewhere(&self) -> &[ExternalPlugin] {
        &self.elsewhere
    }

    /// Parts that were not searched or could not be parsed, one sentence each.
    #[must_use]
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Reads one skill.
    ///
    /// # Errors
    /// If it can't be a package, exceeds a limit, or can't be fetched.
    pub fn read(&self, offer: &SkillOffer) -> Result<FetchedSkill, FetchError> {
        if self.progress.is_stopped() {
            return Err(FetchError::Stopped);
        }
        let fetched = match &self.content {
            SourceContent::Folder(folder) => folder.read(offer)?,
            SourceContent::Archive(archive) => archive.read(offer)?,
            SourceContent::Repository(repository) => repository.read(offer)?,
            SourceContent::Site(site) => site.read(offer)?,
        };
        // Other programs would use git's own folder where the skill is placed, and no digest covers it.
        let is_git = |path: &str| {
            let first = path.split('/').next().unwrap_or_default();
            first.eq_ignore_ascii_case(".git")
        };
        let mut files = fetched.tree.files().iter();
        if let Some(file) = files.find(|file| is_git(file.path.as_str())) {
            let problem = SkillProblem::Git(file.path.to_string());
            return Err(FetchError::skill(&offer.folder, problem));
        }
        self.progress.report(FetchStep::Read { name: &offer.name });
        Ok(fetched)
    }

    /// Reads several skills at the same time. The results are in the order of the offers.
    pub fn read_all(&self, offers: &[&SkillOffer]) -> Vec<Result<FetchedSkill, FetchError>> {
        if let SourceContent::Repository(repository) = &self.content {
            let folders: Vec<&str> = offers.iter().map(|offer| offer.folder.as_str()).collect();
            repository.files.prepare_folders(&folders);
        }
        in_parallel(offers, self.limits.parallel, |offer| self.read(offer))
    }
}

impl OpenedRepository<'_> {
    fn read(&self, offer: &SkillOffer) -> Result<FetchedSkill, FetchError> {
        let source = GitSource {
            folder: below(&self.source.folder, &offer.folder),
            ..self.source.clone()
        };
        Ok(FetchedSkill {
            name: offer.name.clone(),
            tree: self.files.tree(&offer.folder)?,
            origin: SkillOrigin {
                source: source.to_string(),
                commit: Some(self.files.commit.clone()),
                version: offer.version.clone(),
                ..SkillOrigin::default()
            },
            archive: None,
        })
    }
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
