//! Everything on this machine that a skill in WebAssembly can reach, as plain data. The default is nothing.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
    path::PathBuf,
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2},
    io::Errno,
};
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use crate::error::WasmCallError;

/// The folders, variables and arguments of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WasiRoots {
    /// The folders.
    pub places: Vec<PreopenedFolder>,
    /// The environment variables.
    pub variables: Vec<(String, String)>,
    /// The arguments, starting with the name of the program; for commands.
    pub arguments: Vec<String>,
}

/// A folder that a skill can open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreopenedFolder {
    /// The path, without links.
    pub folder: PathBuf,
    /// The skill's name for it.
    pub name: String,
    /// Whether it is writable.
    pub write: bool,
    /// The device and the inode of the folder that was granted, if they are known.
    pub identity: Option<(u64, u64)>,
}

impl WasiRoots {
    /// A WASI context with these folders and variables, closed streams and no network.
    pub(crate) fn context(&self) -> Result<WasiCtxBuilder, WasmCallError> {
        let mut builder = WasiCtxBuilder::new();
        // The default address check refuses everything already; this removes the functions too.
        builder.allow_tcp(false).allow_udp(false);
        builder.args(&self.arguments).envs(&self.variables);
        for place in &self.places {
            let perms = match place.write {
                true => FsPerms::ReadWrite,
                false => FsPerms::ReadOnly,
            };
            let trouble = |why: String| WasmCallError::Place {
                folder: place.folder.clone(),
                why,
            };
            let handle = place.open().map_err(|error| trouble(error.to_string()))?;
            // The path of the handle, not of the folder: the folder's path may point elsewhere now.
            let folder = format!("/proc/self/fd/{}", handle.as_raw_fd());
            builder
                .preopened_dir(folder, &place.name, perms)
                .map_err(|error| trouble(error.root_cause().to_string()))?;
        }
        Ok(builder)
    }
}

impl PreopenedFolder {
    /// Opens the folder that the user approved. A link on the path, or another folder under its name, is a replacement.
    fn open(&self) -> io::Result<OwnedFd> {
        let replaced = || io::Error::other("it was replaced after it was granted; run it again");
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let links = ResolveFlags::NO_SYMLINKS;
        let opened = openat2(CWD, &self.folder, flags, Mode::empty(), links);
        let handle = opened.map_err(|error| match error {
            Errno::LOOP => replaced(),
            error => error.into(),
        })?;
        let found = fstat(&handle)?;
        let is_granted = |known| known == (found.st_dev, found.st_ino);
        match self.identity.is_none_or(is_granted) {
            true => Ok(handle),
            false => Err(replaced()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::MetadataExt};

    use super::*;

    // case 208
    #[test]
    fn only_the_granted_folder_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (granted, other) = (root.join("out"), root.join("other"));
        fs::create_dir(&granted).unwrap();
        fs::create_dir(&other).unwrap();
        let found = fs::metadata(&granted).unwrap();
        let roots = WasiRoots {
            places: vec![PreopenedFolder {
                folder: granted.clone(),
                name: "out".into(),
                write: true,
                identity: Some((found.dev(), found.ino())),
            }],
            ..WasiRoots::default()
        };
        let refusal = || roots.context().err().map(|error| error.to_string());
        assert_eq!(refusal(), None);
        fs::rename(&granted, root.join("away")).unwrap();
        std::os::unix::fs::symlink(&other, &granted).unwrap();
        assert!(refusal().unwrap().contains("was replaced"));
        fs::remove_file(&granted).unwrap();
        fs::rename(&other, &granted).unwrap();
        assert!(refusal().unwrap().contains("was replaced"));
        fs::rename(&granted, &other).unwrap();
        fs::rename(root.join("away"), &granted).unwrap();
        assert_eq!(refusal(), None);
    }
}
