//! The files of a package, and their digest.

use std::collections::BTreeMap;

use metier_model::Digest;
use sha2::{Digest as _, Sha256};

use crate::path::{PackagePath, folded};

/// The files that make a folder a skill, by preference.
const MANIFESTS: &[&str] = &["SKILL.yaml", "SKILL.md"];

/// One file of a package. Owners, times and modes are not kept: a placed file is always readable and never executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageFile {
    /// Its path in the package.
    pub path: PackagePath,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The files of a package, sorted by path. No two of them are the same file on any common file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageTree {
    files: Vec<PackageFile>,
}

impl PackageTree {
    /// Builds a tree of files.
    ///
    /// # Errors
    /// If two paths are the same, differ only in case or normalization, or if a file is also a folder.
    pub fn new(files: Vec<PackageFile>) -> Result<Self, TreeError> {
        Self::with_folders(files, &[])
    }

    /// Builds a tree of the files and folders that an archive lists. A folder is not stored; it must not have the path of a file.
    pub(crate) fn with_folders(
        mut files: Vec<PackageFile>,
        listed: &[PackagePath],
    ) -> Result<Self, TreeError> {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut seen: BTreeMap<String, &PackagePath> = BTreeMap::new();
        for file in &files {
            if let Some(other) = seen.insert(folded(file.path.as_str()), &file.path) {
                let (first, second) = (other.to_string(), file.path.to_string());
                return Err(match first == second {
                    true => TreeError::Duplicate(first),
                    false => TreeError::Collision { first, second },
                });
            }
        }
        let mut folders: BTreeMap<String, &str> = BTreeMap::new();
        let above = files.iter().flat_map(|file| file.path.folders());
        let above_listed = listed.iter().flat_map(PackagePath::folders);
        let listed = listed.iter().map(PackagePath::as_str);
        for folder in above.chain(above_listed).chain(listed) {
            let folded = folded(folder);
            if seen.contains_key(&folded) {
                return Err(TreeError::FileAndFolder(folder.to_owned()));
            }
            match folders.insert(folded, folder) {
                Some(other) if other != folder => {
                    return Err(TreeError::Collision {
                        first: other.to_owned(),
                        second: folder.to_owned(),
                    });
                }
                _ => {}
            }
        }
        Ok(Self { files })
    }

    /// The files, sorted by path.
    #[must_use]
    pub fn files(&self) -> &[PackageFile] {
        &self.files
    }

    /// The content of one file.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        let found = self
            .files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()?;
        Some(&self.files[found].bytes)
    }

    /// The digest of all files, which is the one that the catalog computes of the folder in which they are placed.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let lines = self.files.iter().map(|file| {
            let hash = Sha256::digest(&file.bytes);
            file_line(
                file.path.as_str().as_bytes(),
                &file.bytes.len().to_string(),
                &hash,
            )
        });
        digest_of_lines(lines.collect())
    }

    /// Every folder with a manifest, sorted; the root of the package is the empty string.
    #[must_use]
    pub fn manifest_folders(&self) -> Vec<&str> {
        let mut folders: Vec<&str> = self
            .files
            .iter()
            .filter_map(|file| {
                let path = file.path.as_str();
                let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
                MANIFESTS.contains(&name).then_some(folder)
            })
            .collect();
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    /// The folders that are separate skills: one inside another skill's folder belongs to that skill.
    #[must_use]
    pub fn skill_folders(&self) -> Vec<&str> {
        let mut folders = self.manifest_folders();
        let is_below = |folder: &str, other: &str| {
            folder != other && (other.is_empty() || folder.starts_with(&format!("{other}/")))
        };
        let all = folders.clone();
        folders.retain(|folder| !all.iter().any(|other| is_below(folder, other)));
        folders
    }

    /// The only skill of this package: at the root, or in the one folder that contains all files.
    ///
    /// # Errors
    /// If there is no skill there, or more than one.
    pub fn only_skill(self) -> Result<Self, TreeError> {
        match self.skill_folders().as_slice() {
            [""] => Ok(self),
            [folder] if !folder.contains('/') => {
                let folder = (*folder).to_owned();
                match self
                    .files
                    .iter()
                    .find(|file| file.path.below(&folder).is_none())
                {
                    Some(beside) => Err(TreeError::Beside(beside.path.to_string())),
                    None => Ok(self.below(&folder)),
                }
            }
            [] => Err(TreeError::NoSkill),
            [deep] => Err(TreeError::TooDeep((*deep).to_owned())),
            many => Err(TreeError::ManySkills(
                many.iter().map(|&folder| folder.to_owned()).collect(),
            )),
        }
    }

    /// The files below a folder, as a separate tree.
    #[must_use]
    pub fn below(&self, folder: &str) -> Self {
        if folder.is_empty() {
            return self.clone();
        }
        let files = self.files.iter().filter_map(|file| {
            Some(PackageFile {
                path: file.path.below(folder)?,
                bytes: file.bytes.clone(),
            })
        });
        // Paths that are unique and sorted with a common prefix are so without it.
        Self {
            files: files.collect(),
        }
    }
}

/// The line of a file in the hashed text: `path NUL size NUL sha256`.
#[must_use]
pub fn file_line(path: &[u8], size: &str, hash: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut line = Vec::with_capacity(path.len() + size.len() + 2 * hash.len() + 3);
    line.extend_from_slice(path);
    line.push(0);
    line.extend_from_slice(size.as_bytes());
    line.push(0);
    for byte in hash {
        line.push(DIGITS[usize::from(byte >> 4)]);
        line.push(DIGITS[usize::from(byte & 15)]);
    }
    line.push(b'\n');
    line
}

/// The digest of a tree from the lines of its files, in any order.
#[must_use]
pub fn digest_of_lines(mut lines: Vec<Vec<u8>>) -> Digest {
    lines.sort();
    let mut hash = Sha256::new();
    lines.iter().for_each(|line| hash.update(line));
    Digest(hash.finalize().into())
}

/// Files that are not a package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// Two entries have one path.
    #[error("`{0}` is in the package twice")]
    Duplicate(String),
    /// Two paths are one file on some systems.
    #[error("`{first}` and `{second}` are the same file on some systems")]
    Collision {
        /// The first path, in sort order.
        first: String,
        /// The second.
        second: String,
    },
    /// A path is used for a file and for a folder.
    #[error("`{0}` is both a file and a folder")]
    FileAndFolder(String),
    /// No folder has a manifest.
    #[error("the package contains no SKILL.md or SKILL.yaml")]
    NoSkill,
    /// The only manifest is further down.
    #[error("the skill is in `{0}`; a package has it at the root or in one folder")]
    TooDeep(String),
    /// More than one folder has a manifest.
    #[error("the package contains {} skills: {}", .0.len(), .0.join(", "))]
    ManySkills(Vec<String>),
    /// A file is next to the skill's folder.
    #[error("`{0}` is outside the folder of the skill")]
    Beside(String),
}
