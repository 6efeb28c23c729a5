//! The bytes of skills that were installed, by digest: the source for `rollback`, `update` and installations from the lock.
//!
//! An object is one archive that is read strictly and hashed again, so a damaged one counts as missing.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
    time::SystemTime,
};

use metier_model::Digest;
use metier_package::{ArchiveLimits, PackageTree, pack, read_archive};

use crate::{Error, Workspace};

/// Skills by digest.
pub(crate) struct ObjectStore {
    folder: PathBuf,
}

impl Workspace {
    /// The skills that were installed before.
    pub(crate) fn objects(&self) -> Result<ObjectStore, Error> {
        Ok(ObjectStore {
            folder: self.objects_folder()?,
        })
    }
}

impl ObjectStore {
    fn path(&self, digest: Digest) -> PathBuf {
        let text = digest.to_string();
        let hex = text.strip_prefix("sha256:").unwrap_or(&text);
        self.folder.join(format!("{hex}.skill"))
    }

    /// Keeps a skill. One that is kept already stays as it is.
    pub(crate) fn keep(&self, tree: &PackageTree) -> Result<(), Error> {
        let path = self.path(tree.digest());
        if path.exists() {
            return Ok(());
        }
        let failed = |error: io::Error| Error::unwritable(&path, &error);
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let bytes = pack("skill", tree).map_err(|error| failed(io::Error::other(error)))?;
        let part = path.with_extension(format!("{}.part", std::process::id()));
        let mut file = fs::File::create(&part).map_err(failed)?;
        let written = file.write_all(&bytes);
        if let Err(error) = written.and_then(|()| fs::rename(&part, &path)) {
            fs::remove_file(&part).ok();
            return Err(failed(error));
        }
        Ok(())
    }

    /// The digests of the skills that are kept, each with the time since when.
    pub(crate) fn list(&self) -> Vec<(Digest, SystemTime)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let read = entries.filter_map(|entry| {
            let name = entry.file_name();
            let hex = name.to_str()?.strip_suffix(".skill")?;
            let since = entry.metadata().ok()?.modified().ok()?;
            Some((format!("sha256:{hex}").parse().ok()?, since))
        });
        read.collect()
    }

    /// The skill with this digest, if it is kept and undamaged.
    pub(crate) fn get(&self, digest: Digest) -> Option<PackageTree> {
        let bytes = fs::read(self.path(digest)).ok()?;
        let tree = read_archive(&bytes, ArchiveLimits::default()).ok()?;
        let tree = tree.only_skill().ok()?;
        (tree.digest() == digest).then_some(tree)
    }
}
