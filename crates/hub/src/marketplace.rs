//! `.claude-plugin/marketplace.json`: the plugins of a repository, and the skills in each.
//!
//! Only skills are taken from a plugin. Its other parts (commands, agents, servers) are not installed, and the hooks of a skill are read
//! from its own folder.

use metier_model::text::visible;
use metier_package::PackagePath;
use serde::Deserialize;

use crate::source::{GitSource, SkillSource, SourceError};

/// The places of the marketplace in a repository.
pub const MARKETPLACE_PATH: &str = ".claude-plugin/marketplace.json";

/// The largest file, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// The maximum number of plugins.
const MAX_PLUGINS: usize = 5_000;

/// The plugins of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marketplace {
    /// Its name.
    pub name: String,
    /// In the order of the file.
    pub plugins: Vec<MarketplacePlugin>,
    /// Why plugins were left out, one sentence each.
    pub left_out: Vec<String>,
}

/// One plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketplacePlugin {
    /// Its name.
    pub name: String,
    /// Its author's description.
    pub description: String,
    /// Where its files are.
    pub place: PluginPlace,
    /// The folders that are skills, relative to the plugin. Empty: those below `skills/`.
    pub skills: Vec<String>,
}

/// Where the files of a plugin are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginPlace {
    /// In a folder of the repository that has the marketplace; empty for its root.
    Here(String),
    /// Elsewhere.
    Elsewhere(SkillSource),
}

#[derive(Deserialize)]
struct RawMarketplace {
    name: String,
    #[serde(default)]
    metadata: RawMetadata,
    plugins: Vec<serde_json::Value>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawMetadata {
    plugin_root: Option<String>,
}

#[derive(Deserialize)]
struct RawPlugin {
    name: String,
    #[serde(default)]
    description: String,
    source: RawSource,
    #[serde(default)]
    skills: OneOrMany,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawSource {
    Here(String),
    Elsewhere(RawElsewhere),
}

#[derive(Deserialize)]
struct RawElsewhere {
    source: String,
    repo: Option<String>,
    url: Option<String>,
    path: Option<String>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    sha: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    #[default]
    None,
    One(String),
    Many(Vec<String>),
}

impl Marketplace {
    /// Parses the file.
    ///
    /// # Errors
    /// If it is not a marketplace. An invalid plugin is left out.
    pub fn parse(bytes: &[u8]) -> Result<Self, MarketplaceError> {
        if bytes.len() > MAX_BYTES {
            return Err(MarketplaceError("it is larger than 1 MiB".to_owned()));
        }
        let raw: RawMarketplace =
            serde_json::from_slice(bytes).map_err(|error| MarketplaceError(error.to_string()))?;
        if raw.plugins.len() > MAX_PLUGINS {
            let message = format!("it has more than {MAX_PLUGINS} plugins");
            return Err(MarketplaceError(message));
        }
        let mut marketplace = Self {
            name: visible(&raw.name).into_owned(),
            ..Self::default()
        };
        let root = raw.metadata.plugin_root.unwrap_or_default();
        for (number, value) in raw.plugins.into_iter().enumerate() {
            match read_plugin(value, &root) {
                Ok(plugin) => marketplace.plugins.push(plugin),
                Err(problem) => marketplace
                    .left_out
                    .push(format!("plugin {}: {problem}", number + 1)),
            }
        }
        Ok(marketplace)
    }
}

impl MarketplacePlugin {
    /// The folders that it names, in the repository that has its files.
    #[must_use]
    pub fn named_folders(&self) -> Vec<String> {
        self.skills
            .iter()
            .map(|folder| self.within(folder))
            .collect()
    }

    /// Whether it includes the skill in a folder of that repository.
    #[must_use]
    pub fn includes(&self, folder: &str) -> bool {
        let is_in = |above: &str| {
            above.is_empty() || folder == above || folder.starts_with(&format!("{above}/"))
        };
        match self.skills.is_empty() {
            // A folder that is not a skill is a folder of skills.
            false => self.named_folders().iter().any(|named| is_in(named)),
            // Without a list it has the skills below `skills/`, or is one skill itself.
            true => is_in(&self.within("skills")) || folder == self.within(""),
        }
    }

    fn within(&self, folder: &str) -> String {
        let base = match &self.place {
            PluginPlace::Here(folder) => folder.as_str(),
            PluginPlace::Elsewhere(_) => "",
        };
        match (base, folder) {
            (base, "") => base.to_owned(),
            ("", folder) => folder.to_owned(),
            (base, folder) => format!("{base}/{folder}"),
        }
    }
}

fn read_plugin(value: serde_json::Value, root: &str) -> Result<MarketplacePlugin, String> {
    let raw: RawPlugin = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let place = match &raw.source {
        RawSource::Here(path) if path.starts_with("./") || path == "." => {
            PluginPlace::Here(folder(path)?)
        }
        RawSource::Here(path) => {
            let root = root.trim_end_matches('/');
            match root {
                "" => PluginPlace::Here(folder(path)?),
                root => PluginPlace::Here(folder(&format!("{root}/{path}"))?),
            }
        }
        RawSource::Elsewhere(source) => {
            PluginPlace::Elsewhere(elsewhere(source).map_err(|problem| problem.to_string())?)
        }
    };
    let skills = match raw.skills {
        OneOrMany::None => Vec::new(),
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    };
    Ok(MarketplacePlugin {
        name: visible(&raw.name).into_owned(),
        description: visible(&raw.description).into_owned(),
        place,
        skills: skills
            .iter()
            .map(|path| folder(path))
            .collect::<Result<_, _>>()?,
    })
}

/// A folder of the repository, without the leading `./`.
fn folder(path: &str) -> Result<String, String> {
    let path = path.strip_prefix("./").unwrap_or(path);
    let path = path.trim_end_matches('/');
    if path.is_empty() || path == "." {
        return Ok(String::new());
    }
    let path = PackagePath::new(path.as_bytes()).map_err(|error| error.to_string())?;
    Ok(path.to_string())
}

fn elsewhere(raw: &RawElsewhere) -> Result<SkillSource, ElsewhereError> {
    let missing = |field| ElsewhereError::Missing(field);
    let reference = raw.sha.as_deref().or(raw.reference.as_deref());
    let with_reference = |sign: char, text: &str| match reference {
        Some(reference) => format!("{text}{sign}{reference}"),
        None => text.to_owned(),
    };
    let text = match raw.source.as_str() {
        "github" => with_reference('@', raw.repo.as_deref().ok_or(missing("repo"))?),
        "url" | "git-subdir" => {
            let url = raw.url.as_deref().ok_or(missing("url"))?;
            let url = match url.contains("://") {
                true => format!("git+{url}"),
                false => url.to_owned(),
            };
            with_reference('#', &url)
        }
        "archive" => raw.url.clone().ok_or(missing("url"))?,
        other => return Err(ElsewhereError::Kind(visible(other).into_owned())),
    };
    let source = SkillSource::parse(&text)?;
    // Only the user may name folders and servers of this machine.
    let is_far = match &source {
        SkillSource::Git(git) => !git.url.starts_with("file:") && !git.url.starts_with("http:"),
        SkillSource::Download(url) => url.scheme() == "https",
        _ => false,
    };
    if !is_far {
        return Err(ElsewhereError::Near(source.to_string()));
    }
    match (source, &raw.path) {
        (SkillSource::Git(git), Some(path)) if raw.source == "git-subdir" => {
            let folder = folder(path).map_err(ElsewhereError::Folder)?;
            Ok(SkillSource::Git(GitSource { folder, ..git }))
        }
        (source, _) => Ok(source),
    }
}

#[derive(Debug, thiserror::Error)]
enum ElsewhereError {
    #[error("its source has no `{0}`")]
    Missing(&'static str),
    #[error("sources of the kind `{0}` are not supported")]
    Kind(String),
    #[error("its source `{0}` is on this machine or is not a repository or an archive")]
    Near(String),
    #[error("{0}")]
    Folder(String),
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// A file that is not a marketplace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a marketplace: {0}")]
pub struct MarketplaceError(String);
