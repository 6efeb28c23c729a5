//! The temporary folder of one test: `home/`, `work/`, `bin/`, and the rule that no test writes outside.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::{lchown, symlink};
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use crate::process::make_executable;

/// Three folders below one temporary folder that is removed with this value.
#[derive(Debug)]
pub(crate) struct TestFolders {
    /// Keeps the folder alive; `home`, `work`, `bin` and `logs` are below it.
    root: TempDir,
}

impl TestFolders {
    pub(crate) fn new() -> Result<Self> {
        let root = tempfile::Builder::new().prefix("metier-").tempdir()?;
        let place = Self { root };
        for folder in [place.home(), place.work(), place.bin(), place.logs()] {
            fs::create_dir(folder)?;
        }
        Ok(place)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.root.path().join("bin")
    }

    /// Where the children's stdin, stdout and stderr are kept while they run.
    pub(crate) fn logs(&self) -> PathBuf {
        self.root.path().join("logs")
    }

    /// Makes a user the owner of everything below.
    pub(crate) fn give_to(&self, user: u32) -> Result<()> {
        give(self.root.path(), user)
    }

    /// `~/x` is below home, `$BIN/x` below the folder on `PATH`, anything else below the working folder.
    /// An absolute path is used unchanged if it is inside this folder.
    pub(crate) fn path(&self, name: &str) -> Result<PathBuf> {
        let path = if name == "~" {
            self.home()
        } else if let Some(rest) = name.strip_prefix("~/") {
            self.home().join(inside(rest)?)
        } else if let Some(rest) = name.strip_prefix("$BIN/") {
            self.bin().join(inside(rest)?)
        } else if Path::new(name).starts_with(self.root.path()) {
            PathBuf::from(name)
        } else {
            self.work().join(inside(name)?)
        };
        Ok(path)
    }

    /// Writes a file, makes its folders, and makes it executable if it is in the folder on `PATH`.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf> {
        let path = self.with_parent(name)?;
        fs::write(&path, content)?;
        if path.starts_with(self.bin()) {
            make_executable(&path);
        }
        Ok(path)
    }

    pub(crate) fn dir(&self, name: &str) -> Result<PathBuf> {
        let path = self.path(name)?;
        fs::create_dir_all(&path)?;
        Ok(path)
    }

    /// The target is written unchanged: dangling, relative and escaping links must be testable.
    pub(crate) fn symlink(&self, target: &str, name: &str) -> Result<PathBuf> {
        let path = self.with_parent(name)?;
        symlink(target, &path)?;
        Ok(path)
    }

    pub(crate) fn fifo(&self, name: &str) -> Result<PathBuf> {
        let path = self.with_parent(name)?;
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)?;
        Ok(path)
    }

    fn with_parent(&self, name: &str) -> Result<PathBuf> {
        let path = self.path(name)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(path)
    }
}

fn inside(name: &str) -> Result<&Path> {
    let path = Path::new(name);
    let stays = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if stays {
        Ok(path)
    } else {
        let message = format!("`{name}` leaves the test's folder");
        Err(Error::new(ErrorKind::InvalidInput, message))
    }
}

/// The owner of links is changed too, and links are not followed.
fn give(path: &Path, user: u32) -> Result<()> {
    lchown(path, Some(user), Some(user))?;
    if path.symlink_metadata()?.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), user)?;
        }
    }
    Ok(())
}
