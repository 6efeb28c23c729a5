//! Whether places are there. The tables name hundreds, nearly all of them missing, and this is asked before every start.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing, or nothing that the user may see.
    Missing,
    /// A link, wherever it leads.
    Link,
    /// Anything else.
    Thing,
}

/// Keeps folders open, so that the way to them is walked once. What it sees is what is there at that moment.
#[derive(Debug, Default)]
pub(crate) struct Look {
    folders: HashMap<PathBuf, Option<OwnedFd>>,
}

impl Look {
    /// What is at this place.
    pub(crate) fn at(&mut self, path: &Path) -> Seen {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Seen::Thing; // the root
        };
        if !self.folders.contains_key(parent) {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = openat(CWD, parent, flags, Mode::empty()).ok();
            self.folders.insert(parent.to_owned(), opened);
        }
        let Some(Some(folder)) = self.folders.get(parent) else {
            return Seen::Missing;
        };
        match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => Seen::Link,
            Ok(_) => Seen::Thing,
            Err(_) => Seen::Missing,
        }
    }
}
