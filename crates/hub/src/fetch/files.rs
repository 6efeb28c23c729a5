//! The files of any source: listed folder by folder, and read only for skills.

use std::collections::BTreeMap;

use metier_package::{ArchiveLimits, PackageFile, PackagePath, PackageTree};

use super::error::{FetchError, SkillProblem};

/// The type of an entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    Folder,
    File,
    Link,
    /// A link whose target is a folder, where that is known without following it.
    LinkToFolder,
    Submodule,
    Special,
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FolderName {
    pub(super) name: String,
    pub(super) kind: EntryKind,
}

/// A folder, an archive or a commit.
pub(super) trait SourceFiles: Send + Sync {
    /// The names in a folder, sorted. Names that are not UTF-8 are left out: no skill can have them.
    fn list(&self, folder: &str) -> Result<Vec<FolderName>, FetchError>;

    /// The content of regular files. `None` for anything else, and for a file over the limit.
    fn read(&self, paths: &[String], limit: usize) -> Result<Vec<Option<Vec<u8>>>, FetchError>;

    /// All files below a folder.
    fn tree(&self, folder: &str) -> Result<PackageTree, FetchError>;

    /// Prepares to read these files, where one request for all is faster than one for each.
    fn prepare_files(&self, _paths: &[String]) -> Result<(), FetchError> {
        Ok(())
    }

    /// Prepares to read all files below these folders. An error is ignored here: reading the files reports it.
    fn prepare_folders(&self, _folders: &[&str]) {}
}

/// A path below a folder of a source.
pub(super) fn below(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

/// An archive that was read.
pub(super) struct ArchiveFiles {
    tree: PackageTree,
    folders: BTreeMap<String, Vec<FolderName>>,
}

impl ArchiveFiles {
    pub(super) fn new(tree: PackageTree) -> Self {
        let mut folders: BTreeMap<String, Vec<FolderName>> = BTreeMap::new();
        folders.entry(String::new()).or_default();
        for file in tree.files() {
            let mut path = file.path.as_str();
            let mut kind = EntryKind::File;
            // From the file upwards, until a folder is known.
            loop {
                let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
                let is_new = !folders.contains_key(above);
                folders
                    .entry(above.to_owned())
                    .or_default()
                    .push(FolderName {
                        name: name.to_owned(),
                        kind,
                    });
                if !is_new {
                    break;
                }
                (path, kind) = (above, EntryKind::Folder);
            }
        }
        for names in folders.values_mut() {
            names.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Self { tree, folders }
    }

    pub(super) fn into_tree(self) -> PackageTree {
        self.tree
    }
}

impl SourceFiles for ArchiveFiles {
    fn list(&self, folder: &str) -> Result<Vec<FolderName>, FetchError> {
        Ok(self.folders.get(folder).cloned().unwrap_or_default())
    }

    fn read(&self, paths: &[String], limit: usize) -> Result<Vec<Option<Vec<u8>>>, FetchError> {
        let read = |path: &String| {
            let bytes = self.tree.get(path).filter(|bytes| bytes.len() <= limit);
            bytes.map(<[u8]>::to_vec)
        };
        Ok(paths.iter().map(read).collect())
    }

    fn tree(&self, folder: &str) -> Result<PackageTree, FetchError> {
        Ok(self.tree.below(folder))
    }
}

/// Collects the files of one skill, within the limits of a package.
pub(super) struct TreeBuilder<'a> {
    folder: &'a str,
    limits: ArchiveLimits,
    files: Vec<PackageFile>,
    entries: usize,
    bytes: usize,
}

impl<'a> TreeBuilder<'a> {
    pub(super) fn new(folder: &'a str, limits: ArchiveLimits) -> Self {
        Self {
            folder,
            limits,
            files: Vec::new(),
            entries: 0,
            bytes: 0,
        }
    }

    /// Counts a file or folder.
    pub(super) fn entry(&mut self) -> Result<(), FetchError> {
        self.entries += 1;
        match self.entries > self.limits.entries {
            true => Err(self.refuse(SkillProblem::TooMany(self.limits.entries))),
            false => Ok(()),
        }
    }

    /// Checks the size of a file before it is read.
    pub(super) fn fits(&self, path: &str, size: u64) -> Result<(), FetchError> {
        let limit = self.limits.file;
        if usize::try_from(size).map_or(true, |size| size > limit) {
            let path = path.to_owned();
            return Err(self.refuse(SkillProblem::FileTooLarge { path, limit }));
        }
        let left = self.limits.unpacked - self.bytes;
        match usize::try_from(size).map_or(true, |size| size > left) {
            true => Err(self.refuse(SkillProblem::TooLarge(self.limits.unpacked))),
            false => Ok(()),
        }
    }

    /// Adds a file; its path is relative to the skill.
    pub(super) fn add(&mut self, path: &[u8], bytes: Vec<u8>) -> Result<(), FetchError> {
        let path = PackagePath::new(path).map_err(|error| self.refuse(error))?;
        self.fits(path.as_str(), bytes.len() as u64)?;
        self.bytes += bytes.len();
        self.files.push(PackageFile { path, bytes });
        Ok(())
    }

    pub(super) fn finish(self) -> Result<PackageTree, FetchError> {
        let folder = self.folder;
        PackageTree::new(self.files).map_err(|error| FetchError::skill(folder, error))
    }

    pub(super) fn refuse(&self, problem: impl Into<SkillProblem>) -> FetchError {
        FetchError::skill(self.folder, problem)
    }
}
