//! The list of a site below `/.well-known/agent-skills/` (version 0.2.0) or `/.well-known/skills/` (version 0.1.0).
//!
//! An invalid entry is left out and counted; it never hides the others. A file that is not an index is an error.

use metier_model::{Digest, text::visible};
use metier_package::PackagePath;
use serde::Deserialize;
use url::Url;

use crate::source::is_skill_name;

/// The identifier of version 0.2.0.
const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/// The largest index, in bytes.
const MAX_BYTES: usize = 4 << 20;
/// The maximum number of entries.
const MAX_SKILLS: usize = 10_000;
/// The maximum number of files of one skill.
const MAX_FILES: usize = 1_000;

/// The places below a site where an index is searched, in this order.
pub const INDEX_PATHS: [&str; 2] = [
    ".well-known/agent-skills/index.json",
    ".well-known/skills/index.json",
];

/// The skills that a site lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteIndex {
    /// One entry for each skill, in the order of the site.
    pub skills: Vec<ListedSkill>,
    /// Why entries were left out, one sentence each.
    pub left_out: Vec<String>,
}

/// One skill of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSkill {
    /// Its name.
    pub name: String,
    /// The description that the site gives.
    pub description: String,
    /// How to get it.
    pub artifact: Artifact,
}

/// The download of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Artifact {
    /// An archive with the skill at its root.
    Archive {
        /// The address of the archive.
        url: Url,
        /// The digest of its bytes.
        digest: Digest,
    },
    /// The text of a `SKILL.md` that needs no other files.
    Text {
        /// The address of the file.
        url: Url,
        /// The digest of its bytes.
        digest: Digest,
    },
    /// Files one by one, without digests.
    Files(Vec<(PackagePath, Url)>),
}

#[derive(Deserialize)]
struct RawIndex {
    #[serde(rename = "$schema")]
    schema: Option<String>,
    skills: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct RawSkill {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    url: Option<String>,
    digest: Option<String>,
    files: Option<Vec<String>>,
}

impl SiteIndex {
    /// Parses an index that was found at a URL.
    ///
    /// # Errors
    /// If it is too large, is not an index, or has an unknown version.
    pub fn parse(bytes: &[u8], found_at: &Url) -> Result<Self, IndexError> {
        if bytes.len() > MAX_BYTES {
            return Err(IndexError::TooLarge);
        }
        let raw: RawIndex = serde_json::from_slice(bytes)
            .map_err(|error| IndexError::NotAnIndex(error.to_string()))?;
        match raw.schema.as_deref() {
            None | Some(SCHEMA) => {}
            Some(other) => return Err(IndexError::Version(visible(other).into_owned())),
        }
        if raw.skills.len() > MAX_SKILLS {
            return Err(IndexError::TooMany);
        }
        let mut index = Self::default();
        for (number, value) in raw.skills.into_iter().enumerate() {
            match read_skill(value, found_at) {
                Ok(skill) if index.skills.iter().any(|other| other.name == skill.name) => {
                    let name = skill.name;
                    index.left_out.push(format!("`{name}` is listed twice"));
                }
                Ok(skill) => index.skills.push(skill),
                Err(problem) => index
                    .left_out
                    .push(format!("entry {}: {problem}", number + 1)),
            }
        }
        Ok(index)
    }
}

fn read_skill(value: serde_json::Value, found_at: &Url) -> Result<ListedSkill, String> {
    let raw: RawSkill = serde_json::from_value(value).map_err(|error| error.to_string())?;
    if !is_skill_name(&raw.name) {
        return Err(format!(
            "`{}` is not a valid skill name",
            visible(&raw.name)
        ));
    }
    let artifact = match (&raw.files, &raw.url) {
        (Some(files), None) => Artifact::Files(read_files(files, &raw.name, found_at)?),
        (None, Some(url)) => {
            let url = resolved(url, found_at)?;
            let digest = raw.digest.as_deref().unwrap_or_default().parse();
            let digest = digest.map_err(|error: metier_model::NotADigest| error.to_string())?;
            match raw.kind.as_deref() {
                Some("archive") => Artifact::Archive { url, digest },
                Some("skill-md") => Artifact::Text { url, digest },
                other => {
                    let other = visible(other.unwrap_or("none")).into_owned();
                    return Err(format!("unknown type `{other}`"));
                }
            }
        }
        _ => return Err("it has neither `url` nor `files`, or both".to_owned()),
    };
    Ok(ListedSkill {
        name: raw.name,
        description: raw.description,
        artifact,
    })
}

/// The files of version 0.1.0, which are in a folder next to the index.
fn read_files(
    files: &[String],
    name: &str,
    found_at: &Url,
) -> Result<Vec<(PackagePath, Url)>, String> {
    if files.len() > MAX_FILES {
        return Err(format!("it has more than {MAX_FILES} files"));
    }
    let mut read = Vec::new();
    for file in files {
        let path = PackagePath::new(file.as_bytes()).map_err(|error| error.to_string())?;
        let mut url = found_at.clone();
        let Ok(mut steps) = url.path_segments_mut() else {
            return Err("its address has no path".to_owned());
        };
        steps.pop().push(name).extend(path.as_str().split('/'));
        drop(steps);
        read.push((path, url));
    }
    match read.iter().any(|(path, _)| path.as_str() == "SKILL.md") {
        true => Ok(read),
        false => Err("its files do not include SKILL.md".to_owned()),
    }
}

/// A URL of an index: encrypted, or on the same host as the index itself.
fn resolved(text: &str, found_at: &Url) -> Result<Url, String> {
    let url = found_at.join(text).map_err(|error| error.to_string())?;
    let is_same = url.origin() == found_at.origin();
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_same => Ok(url),
        _ => Err(format!("`{}` is not an https address", visible(text))),
    }
}

/// A file that is not an index of skills.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// It is not the JSON of an index.
    #[error("not an index of skills: {0}")]
    NotAnIndex(String),
    /// It has an unknown version.
    #[error("the index has the unknown schema `{0}`")]
    Version(String),
    /// It has too many bytes.
    #[error("the index is larger than 4 MiB")]
    TooLarge,
    /// It lists too many skills.
    #[error("the index lists more than {MAX_SKILLS} skills")]
    TooMany,
}
