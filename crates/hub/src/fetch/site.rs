//! Downloads: archives and single manifests by their address, sites that list their skills, marketplaces by their address, and ClawHub.

use metier_model::{Digest, text::visible};
use metier_package::{PackageTree, read_archive};
use serde::Deserialize;
use url::Url;

use super::{
    FetchProgress, FetchStep, FetchedSkill, SkillOffer, SkillOrigin, SourceLimits,
    access::{Download, DownloadRequest, SourceAccess},
    error::FetchError,
    files::{ArchiveFiles, TreeBuilder},
    in_parallel,
    local::{MAX_SIGNATURE, OpenedArchive, SIGNATURE, digest_of},
    offers::{self, ExternalPlugin, FoundOffers, OfferKind},
};
use crate::{
    index::{Artifact, INDEX_PATHS, ListedSkill, SiteIndex},
    marketplace::{Marketplace, PluginPlace},
    source::{GitSource, SkillSource},
};

/// The largest index, marketplace or API response, in bytes.
const MAX_JSON: usize = 4 << 20;
/// The largest manifest, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// Downloads for one fetch: the access, the limits and the progress.
#[derive(Clone, Copy)]
pub(super) struct SiteAccess<'a> {
    pub(super) access: &'a dyn SourceAccess,
    pub(super) progress: &'a dyn FetchProgress,
    pub(super) limits: SourceLimits,
}

impl SiteAccess<'_> {
    fn download(&self, url: &Url, typed: &Url, max_bytes: usize) -> Result<Download, FetchError> {
        let source = url.as_str();
        let report = |received, total| {
            self.progress.report(FetchStep::Bytes {
                source,
                received,
                total,
            });
        };
        self.access.download(&DownloadRequest {
            url,
            typed,
            max_bytes,
            progress: &report,
            limits: &self.limits,
        })
    }

    /// Downloads a file that may be missing on the server; the result is then `None`.
    fn download_if_there(
        &self,
        url: &Url,
        typed: &Url,
        max_bytes: usize,
    ) -> Result<Option<Download>, FetchError> {
        match self.download(url, typed, max_bytes) {
            Ok(download) => Ok(Some(download)),
            Err(FetchError::Status { status, .. }) if (400..500).contains(&status) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// An archive or a manifest by its address.
    pub(super) fn file(&self, url: &Url) -> Result<(OpenedArchive, FoundOffers), FetchError> {
        if url.path().ends_with("/SKILL.md") {
            let text = self.download(url, url, MAX_TEXT)?;
            let tree = only_manifest(url, text.bytes, &self.limits)?;
            return OpenedArchive::of_text(url, tree, &self.limits);
        }
        let download = self.download(url, url, self.limits.archive.packed)?;
        let signature = match url.path().ends_with(".skill") {
            true => self.signature(url)?,
            false => None,
        };
        OpenedArchive::new(
            url.as_str(),
            url.path(),
            download.bytes,
            signature,
            &self.limits,
        )
    }

    fn signature(&self, archive: &Url) -> Result<Option<String>, FetchError> {
        let mut url = archive.clone();
        url.set_path(&format!("{}{SIGNATURE}", archive.path()));
        let found = self.download_if_there(&url, archive, MAX_SIGNATURE)?;
        Ok(found.map(|found| String::from_utf8_lossy(&found.bytes).into_owned()))
    }
}

impl OpenedArchive {
    /// A manifest that was downloaded alone. Its digest is that of the file.
    fn of_text(
        url: &Url,
        tree: PackageTree,
        limits: &SourceLimits,
    ) -> Result<(Self, FoundOffers), FetchError> {
        let segments: Vec<&str> = url.path().trim_matches('/').split('/').collect();
        let above = segments
            .len()
            .checked_sub(2)
            .and_then(|at| segments.get(at));
        let name = above.copied().or(url.host_str()).unwrap_or("skill");
        let digest = tree.get("SKILL.md").map_or(Digest([0; 32]), digest_of);
        Self::of_tree(url.as_str(), name, tree, digest, limits)
    }
}

/// A tree of a single manifest.
fn only_manifest(
    url: &Url,
    bytes: Vec<u8>,
    limits: &SourceLimits,
) -> Result<PackageTree, FetchError> {
    // A page that a server shows in place of a missing file.
    if bytes.trim_ascii_start().starts_with(b"<") {
        return Err(FetchError::Answer {
            url: url.to_string(),
            reason: "it is a web page, not a manifest".to_owned(),
        });
    }
    let mut tree = TreeBuilder::new("", limits.archive);
    tree.add(b"SKILL.md", bytes)?;
    tree.finish()
}

/// A site with a list of skills.
pub(super) struct OpenedSite<'a> {
    access: SiteAccess<'a>,
    typed: Url,
    skills: Vec<ListedSkill>,
}

impl<'a> OpenedSite<'a> {
    /// Searches the list of a site, or reads the named one.
    pub(super) fn open(
        access: SiteAccess<'a>,
        typed: &Url,
    ) -> Result<(Self, FoundOffers), FetchError> {
        if typed.path().ends_with("marketplace.json") {
            let found = marketplace(&access, typed)?;
            let skills = Vec::new();
            let typed = typed.clone();
            return Ok((
                Self {
                    access,
                    typed,
                    skills,
                },
                found,
            ));
        }
        for url in index_places(typed) {
            let Some(download) = access.download_if_there(&url, typed, MAX_JSON)? else {
                continue;
            };
            // Some sites return a page for every address.
            if download.bytes.trim_ascii_start().starts_with(b"<") {
                continue;
            }
            let index = SiteIndex::parse(&download.bytes, &download.url);
            let index = index.map_err(|error| FetchError::Index {
                url: url.to_string(),
                error,
            })?;
            let found = FoundOffers {
                offers: index.skills.iter().map(listed_offer).collect(),
                elsewhere: Vec::new(),
                left_out: index.left_out,
            };
            let opened = Self {
                access,
                typed: typed.clone(),
                skills: index.skills,
            };
            return Ok((opened, found));
        }
        Err(FetchError::NoIndex(typed.to_string()))
    }

    pub(super) fn read(&self, offer: &SkillOffer) -> Result<FetchedSkill, FetchError> {
        let found = self.skills.iter().find(|skill| skill.name == offer.name);
        let Some(skill) = found else {
            return Err(FetchError::NoFolder {
                source_name: self.typed.to_string(),
                folder: offer.name.clone(),
            });
        };
        let (tree, archive) = self.artifact(skill)?;
        let files = ArchiveFiles::new(tree);
        let limits = &self.access.limits;
        let found = offers::find(&files, &skill.name, self.typed.as_str(), limits)?;
        let stated = found.offers.first();
        if stated.is_none_or(|stated| stated.name != skill.name) {
            let stated = stated.map_or("no name", |stated| stated.name.as_str());
            let name = &skill.name;
            return Err(FetchError::Answer {
                url: self.typed.to_string(),
                reason: format!("it lists the skill `{name}`, but the manifest states `{stated}`"),
            });
        }
        let version = stated.and_then(|stated| stated.version.clone());
        Ok(FetchedSkill {
            name: skill.name.clone(),
            tree: files.into_tree(),
            origin: SkillOrigin {
                source: self.typed.to_string(),
                archive,
                version,
                ..SkillOrigin::default()
            },
            archive: None,
        })
    }

    /// Downloads what the site lists for a skill, and checks its digest.
    fn artifact(&self, skill: &ListedSkill) -> Result<(PackageTree, Option<Digest>), FetchError> {
        let limits = &self.access.limits;
        match &skill.artifact {
            Artifact::Archive { url, digest } => {
                let most = limits.archive.packed;
                let bytes = self.verified(url, *digest, most)?;
                let source_name = || url.to_string();
                let tree = read_archive(&bytes, limits.archive);
                let tree = tree.map_err(|error| FetchError::Archive {
                    source_name: source_name(),
                    error,
                })?;
                let tree = tree.only_skill().map_err(|error| FetchError::Package {
                    source_name: source_name(),
                    error,
                })?;
                Ok((tree, Some(*digest)))
            }
            Artifact::Text { url, digest } => {
                let bytes = self.verified(url, *digest, MAX_TEXT)?;
                Ok((only_manifest(url, bytes, limits)?, Some(*digest)))
            }
            Artifact::Files(files) => {
                let get = |(path, url): &(metier_package::PackagePath, Url)| {
                    let most = limits.archive.file;
                    let bytes = self.access.download(url, &self.typed, most)?.bytes;
                    Ok((path.to_string(), bytes))
                };
                let mut tree = TreeBuilder::new(&skill.name, limits.archive);
                for file in in_parallel(files, limits.parallel, get) {
                    let (path, bytes) = file?;
                    tree.add(path.as_bytes(), bytes)?;
                }
                Ok((tree.finish()?, None))
            }
        }
    }

    fn verified(&self, url: &Url, expected: Digest, most: usize) -> Result<Vec<u8>, FetchError> {
        let bytes = self.access.download(url, &self.typed, most)?.bytes;
        let found = digest_of(&bytes);
        match found == expected {
            true => Ok(bytes),
            false => Err(FetchError::Digest {
                url: url.to_string(),
                expected,
                found,
            }),
        }
    }
}

/// Where the list of a site can be: at the address itself, below it, and at the top of the site.
fn index_places(typed: &Url) -> Vec<Url> {
    if typed.path().ends_with(".json") {
        return vec![typed.clone()];
    }
    let mut below = typed.clone();
    below.set_query(None);
    if !below.path().ends_with('/') {
        below.set_path(&format!("{}/", typed.path()));
    }
    let mut top = below.clone();
    top.set_path("/");
    let mut places: Vec<Url> = Vec::new();
    for base in [below, top] {
        let found = INDEX_PATHS.iter().filter_map(|path| base.join(path).ok());
        for place in found {
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places
}

fn listed_offer(skill: &ListedSkill) -> SkillOffer {
    SkillOffer {
        name: skill.name.clone(),
        folder: skill.name.clone(),
        description: visible(&skill.description).into_owned(),
        version: None,
        plugin: None,
        kind: OfferKind::Skill,
        problem: None,
    }
}

/// A marketplace by its address: only plugins that are in other sources can be reached from it.
fn marketplace(access: &SiteAccess<'_>, url: &Url) -> Result<FoundOffers, FetchError> {
    let download = access.download(url, url, MAX_TEXT)?;
    let marketplace = Marketplace::parse(&download.bytes);
    let marketplace = marketplace.map_err(|error| FetchError::Marketplace {
        place: url.to_string(),
        error,
    })?;
    let mut found = FoundOffers {
        left_out: marketplace.left_out,
        ..FoundOffers::default()
    };
    for plugin in marketplace.plugins {
        match plugin.place {
            PluginPlace::Elsewhere(source) => found.elsewhere.push(ExternalPlugin {
                name: plugin.name,
                description: plugin.description,
                source,
            }),
            PluginPlace::Here(_) => found.left_out.push(format!(
                "the plugin `{}` is in the repository of the marketplace; name that repository",
                plugin.name
            )),
        }
    }
    Ok(found)
}

/// ClawHub's response in place of an archive.
#[derive(Deserialize)]
struct RawHandOff {
    repo: String,
    commit: String,
    #[serde(default)]
    path: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawClawHubSkill {
    #[serde(default)]
    moderation: Option<RawModeration>,
    #[serde(default)]
    latest_version: Option<RawClawHubVersion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawModeration {
    #[serde(default)]
    is_malware_blocked: bool,
    #[serde(default)]
    is_suspicious: bool,
    #[serde(default)]
    summary: Option<String>,
}

#[derive(Deserialize)]
struct RawClawHubVersion {
    version: String,
}

/// ClawHub's result for a name.
pub(super) enum ClawHubSkill {
    /// An archive.
    Archive(Box<(OpenedArchive, FoundOffers)>),
    /// A folder of a repository.
    Repository(GitSource),
}

/// Requests a skill from ClawHub.
pub(super) fn open_clawhub(
    access: &SiteAccess<'_>,
    slug: &str,
    version: Option<&str>,
) -> Result<ClawHubSkill, FetchError> {
    let (owner, name) = match slug.trim_start_matches('@').split_once('/') {
        Some((owner, name)) => (Some(owner), name),
        None => (None, slug),
    };
    let base = access.access.clawhub();
    let bad = |reason: String| FetchError::Answer {
        url: base.to_owned(),
        reason,
    };
    let top = Url::parse(base).map_err(|error| bad(error.to_string()))?;
    let address = |path: &str| {
        let mut url = top.clone();
        url.set_path(path);
        if let Some(owner) = owner {
            url.query_pairs_mut().append_pair("ownerHandle", owner);
        }
        url
    };
    let about = address(&format!("/api/v1/skills/{name}"));
    let answer = access.download(&about, &top, MAX_JSON)?;
    let skill: RawClawHubSkill =
        serde_json::from_slice(&answer.bytes).map_err(|error| bad(error.to_string()))?;
    let mut notes = Vec::new();
    if let Some(moderation) = skill.moderation {
        let summary = moderation.summary.unwrap_or_default();
        let summary: String = visible(&summary).chars().take(200).collect();
        if moderation.is_malware_blocked {
            return Err(bad(format!(
                "`{name}` is blocked there as malware {summary}"
            )));
        }
        if moderation.is_suspicious {
            notes.push(format!("ClawHub reports `{name}` as suspicious {summary}"));
        }
    }
    let latest = skill.latest_version.map(|latest| latest.version);
    let mut url = address("/api/v1/download");
    url.query_pairs_mut().append_pair("slug", name);
    let wanted = version.map(str::to_owned).or(latest);
    if let Some(wanted) = &wanted {
        url.query_pairs_mut().append_pair("version", wanted);
    }
    let download = access.download(&url, &top, access.limits.archive.packed)?;
    if download.media_type == "application/json" || download.bytes.starts_with(b"{") {
        return hand_off(&download.bytes).map_err(bad);
    }
    let source = SkillSource::ClawHub {
        slug: slug.to_owned(),
        version: version.map(str::to_owned),
    };
    let (archive, mut found) = OpenedArchive::new(
        &source.to_string(),
        name,
        download.bytes,
        None,
        &access.limits,
    )?;
    found.left_out.extend(notes);
    Ok(ClawHubSkill::Archive(Box::new((archive, found))))
}

/// The repository that ClawHub refers to. The commit pins the fetched content.
fn hand_off(bytes: &[u8]) -> Result<ClawHubSkill, String> {
    let raw: RawHandOff = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let folder = raw.path.trim_matches('/');
    let text = match folder {
        "" | "." => format!("{}@{}", raw.repo, raw.commit),
        folder => format!("{}/{folder}@{}", raw.repo, raw.commit),
    };
    match SkillSource::parse(&text) {
        Ok(SkillSource::Git(git)) if git.url.starts_with("https://github.com/") => {
            Ok(ClawHubSkill::Repository(git))
        }
        Ok(_) => Err(format!("`{}` is not a repository", visible(&text))),
        Err(error) => Err(error.to_string()),
    }
}
