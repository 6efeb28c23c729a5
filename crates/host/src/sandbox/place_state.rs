//! Whether places exist. The tables name hundreds, nearly all of them missing, and this runs before every start.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, major, minor, openat, openat2, statat,
};

use super::PlaceIdentity;

/// The object at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceState {
    /// Nothing, or nothing that the user may see.
    Missing,
    /// A link, with any target.
    Link,
    /// Neither a folder nor a link.
    Thing,
}

/// How many folders are kept open. A process has no more than 1,024 files by default, and a project can have more folders.
const MOST_OPEN: usize = 128;

/// Keeps folders open, so that the path to each is walked once. It sees the state of that moment.
#[derive(Debug, Default)]
pub(crate) struct PlaceStates {
    folders: HashMap<PathBuf, Option<OwnedFd>>,
}

impl PlaceStates {
    /// The object at this place.
    pub(crate) fn at(&mut self, path: &Path) -> PlaceState {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return PlaceState::Thing; // the root
        };
        if !self.folders.contains_key(parent) {
            if self.folders.len() >= MOST_OPEN {
                self.folders.clear();
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = openat(CWD, parent, flags, Mode::empty()).ok();
            self.folders.insert(parent.to_owned(), opened);
        }
        let Some(Some(folder)) = self.folders.get(parent) else {
            return PlaceState::Missing;
        };
        match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => {
                PlaceState::Link
            }
            Ok(_) => PlaceState::Thing,
            Err(_) => PlaceState::Missing,
        }
    }
}

/// Opens the object at a path whose links were resolved before. A link there now is new, and is refused: another child can be writing
/// to the same folder.
pub(crate) fn exactly(path: &Path) -> std::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).map_err(Into::into)
}

/// [`exactly`] from an open folder, for paths below it.
pub(crate) fn exactly_below(folder: BorrowedFd<'_>, path: &Path) -> std::io::Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let below = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    openat2(folder, path, flags, Mode::empty(), below).map_err(Into::into)
}

/// The file or folder that a handle refers to.
pub(crate) fn identity(place: impl AsFd) -> std::io::Result<PlaceIdentity> {
    let found = rustix::fs::fstat(place)?;
    Ok(PlaceIdentity {
        device: (major(found.st_dev), minor(found.st_dev)),
        inode: found.st_ino,
        is_folder: FileType::from_raw_mode(found.st_mode).is_dir(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_appears_on_the_way_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/inner")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        assert!(exactly(&root.join("real/inner")).is_ok());
        assert!(exactly(&root.join("link/inner")).is_err());
        assert!(exactly(&root.join("link")).is_err());
    }

    // case 205
    #[test]
    fn few_folders_stay_open() {
        let folder = tempfile::tempdir().unwrap();
        let mut look = PlaceStates::default();
        for number in 0..3 * MOST_OPEN {
            let inner = folder.path().join(number.to_string());
            std::fs::create_dir(&inner).unwrap();
            std::fs::write(inner.join("x"), "").unwrap();
            assert_eq!(look.at(&inner.join("x")), PlaceState::Thing);
            assert!(look.folders.len() <= MOST_OPEN);
        }
    }

    #[test]
    fn a_lookup_distinguishes_links_from_files() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        let mut look = PlaceStates::default();
        let mut seen = |name: &str| look.at(&folder.path().join(name));
        assert_eq!(seen("link"), PlaceState::Link);
        assert_eq!(seen("missing"), PlaceState::Missing);
        assert_eq!(seen("missing/deeper"), PlaceState::Missing);
        assert_eq!(look.at(Path::new("/")), PlaceState::Thing);
    }
}
