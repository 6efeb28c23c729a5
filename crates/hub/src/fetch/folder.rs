//! A folder on this machine, read through handles: a link on the way is never followed, whatever replaces it meanwhile.

use std::{
    ffi::CStr,
    io,
    path::{Path, PathBuf},
};

use metier_model::text::visible;
use metier_package::{ArchiveLimits, PackageTree};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat},
    io::Errno,
};

use super::{
    error::{FetchError, SkillProblem},
    files::{EntryKind, FolderName, SourceFiles, TreeBuilder, below},
};

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// Never through a link, and never waiting for the other end of a FIFO.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// A folder that was opened once.
pub(super) struct DiskFolder {
    path: PathBuf,
    handle: OwnedFd,
    limits: ArchiveLimits,
}

impl DiskFolder {
    /// Opens a folder by its real path.
    pub(super) fn open(path: &Path, limits: ArchiveLimits) -> Result<Self, FetchError> {
        let handle = rustix::fs::open(path, FOLDER, Mode::empty())
            .map_err(|error| FetchError::disk(path, error.into()))?;
        Ok(Self {
            path: path.to_owned(),
            handle,
            limits,
        })
    }

    /// Opens a folder below, one name at a time.
    fn descend(&self, folder: &str) -> Result<OwnedFd, Errno> {
        let mut handle = openat(&self.handle, ".", FOLDER, Mode::empty())?;
        for name in folder.split('/').filter(|name| !name.is_empty()) {
            handle = openat(&handle, name, FOLDER, Mode::empty())?;
        }
        Ok(handle)
    }

    fn failed(&self, path: &str, error: Errno) -> FetchError {
        FetchError::disk(self.path.join(path), error.into())
    }

    fn small(&self, path: &str, limit: usize) -> Result<Option<Vec<u8>>, FetchError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = match self.descend(folder) {
            Ok(folder) => folder,
            Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(self.failed(path, error)),
        };
        match read_file(&folder, name, limit) {
            Ok(content) => Ok(content),
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => Ok(None),
            Err(error) => Err(self.failed(path, error)),
        }
    }

    /// Adds everything in a folder to a skill. `inner` is its path in the skill, as bytes.
    fn collect(
        &self,
        handle: &OwnedFd,
        inner: &[u8],
        tree: &mut TreeBuilder<'_>,
    ) -> Result<(), FetchError> {
        let failed = |path: &[u8], error: Errno| self.failed(&String::from_utf8_lossy(path), error);
        let mut names = Vec::new();
        for entry in Dir::read_from(handle).map_err(|error| failed(inner, error))? {
            let entry = entry.map_err(|error| failed(inner, error))?;
            let name = entry.file_name();
            // Git's own folder at the top is not part of a skill.
            let is_git = inner.is_empty() && name.to_bytes() == b".git";
            if !is_git && !matches!(name.to_bytes(), b"." | b"..") {
                tree.entry()?;
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        for name in names {
            let mut path = inner.to_vec();
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.to_bytes());
            self.collect_one(handle, &name, &path, tree)?;
        }
        Ok(())
    }

    fn collect_one(
        &self,
        handle: &OwnedFd,
        name: &CStr,
        path: &[u8],
        tree: &mut TreeBuilder<'_>,
    ) -> Result<(), FetchError> {
        let shown = || visible(&String::from_utf8_lossy(path)).into_owned();
        let unreadable = |tree: &TreeBuilder<'_>, error: Errno| {
            tree.refuse(SkillProblem::Unreadable {
                path: shown(),
                reason: io::Error::from(error).to_string(),
            })
        };
        let stat = statat(handle, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| unreadable(tree, error))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                // A path that no package can have is rejected before its folders are walked.
                let checked = metier_package::PackagePath::new(path);
                checked.map_err(|error| tree.refuse(error))?;
                let inner = openat(handle, name, FOLDER, Mode::empty())
                    .map_err(|error| unreadable(tree, error))?;
                self.collect(&inner, path, tree)
            }
            FileType::RegularFile => {
                tree.fits(&shown(), u64::try_from(stat.st_size).unwrap_or(0))?;
                let read = read_file(handle, name, self.limits.file);
                match read.map_err(|error| unreadable(tree, error))? {
                    Some(bytes) => tree.add(path, bytes),
                    None => Err(tree.refuse(SkillProblem::Changed(shown()))),
                }
            }
            FileType::Symlink => Err(tree.refuse(SkillProblem::Link(shown()))),
            _ => Err(tree.refuse(SkillProblem::Special(shown()))),
        }
    }
}

impl SourceFiles for DiskFolder {
    fn list(&self, folder: &str) -> Result<Vec<FolderName>, FetchError> {
        let failed = |error| self.failed(folder, error);
        let handle = match self.descend(folder) {
            Ok(handle) => handle,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Vec::new()),
            // A folder of another user below the one that the user named.
            Err(Errno::ACCESS) if !folder.is_empty() => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut names = Vec::new();
        for entry in Dir::read_from(&handle).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (name, mut kind) = (entry.file_name(), entry.file_type());
            let Ok(text) = name.to_str() else { continue };
            if matches!(text, "." | "..") {
                continue;
            }
            if kind == FileType::Unknown {
                let stat = statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
                kind = FileType::from_raw_mode(stat.st_mode);
            }
            let kind = match kind {
                FileType::Directory => EntryKind::Folder,
                FileType::RegularFile => EntryKind::File,
                FileType::Symlink => link_kind(&handle, name),
                _ => EntryKind::Special,
            };
            names.push(FolderName {
                name: text.to_owned(),
                kind,
            });
        }
        names.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(names)
    }

    fn read(&self, paths: &[String], limit: usize) -> Result<Vec<Option<Vec<u8>>>, FetchError> {
        paths.iter().map(|path| self.small(path, limit)).collect()
    }

    fn tree(&self, folder: &str) -> Result<PackageTree, FetchError> {
        let handle = self
            .descend(folder)
            .map_err(|error| self.failed(&below(folder, ""), error))?;
        let mut tree = TreeBuilder::new(folder, self.limits);
        self.collect(&handle, b"", &mut tree)?;
        tree.finish()
    }
}

/// Whether a link points to a folder. Only the message depends on it.
fn link_kind(folder: &OwnedFd, name: &CStr) -> EntryKind {
    match statat(folder, name, AtFlags::empty()) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
            EntryKind::LinkToFolder
        }
        _ => EntryKind::Link,
    }
}

/// The content of a regular file; `None` if it is something else, or larger than the limit.
fn read_file(
    folder: &OwnedFd,
    name: impl rustix::path::Arg,
    limit: usize,
) -> Result<Option<Vec<u8>>, Errno> {
    let file = openat(folder, name, FILE, Mode::empty())?;
    let stat = fstat(&file)?;
    let size = usize::try_from(stat.st_size).unwrap_or(usize::MAX);
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || size > limit {
        return Ok(None);
    }
    // One byte more, so that the end of a file that does not grow is detected without another allocation.
    let mut content = Vec::with_capacity(size + 1);
    loop {
        content.reserve(8192.min(content.len()).max(1));
        match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut content)) {
            Ok(0) => return Ok(Some(content)),
            Ok(_) if content.len() > limit => return Ok(None),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
