//! Fetched skills as files, in a folder where nothing looks for skills, until they were scanned.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use metier_hub::fetch::QuarantineRoom;
use metier_package::PackageTree;

use super::sources::not_fetched;
use crate::{Error, Workspace};

/// A folder of this process, which is removed when the value is dropped, or by a later process if this one is killed.
pub(crate) struct Quarantine(QuarantineRoom);

impl Workspace {
    /// A new quarantine folder.
    pub(crate) fn quarantine(&self) -> Result<Quarantine, Error> {
        let room = QuarantineRoom::new(&self.quarantine_folder()?);
        Ok(Quarantine(room.map_err(|error| not_fetched(&error))?))
    }
}

impl Quarantine {
    /// Writes a skill into a folder with this name, below a unique number.
    pub(crate) fn write(
        &self,
        number: usize,
        name: &str,
        tree: &PackageTree,
    ) -> Result<PathBuf, Error> {
        let place = self.0.path().join(number.to_string()).join(name);
        let failed = |error: io::Error| Error::unwritable(&place, &error);
        fs::create_dir_all(&place).map_err(failed)?;
        for file in tree.files() {
            let path = place.join(file.path.as_str());
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            let mut new = File::create_new(&path).map_err(failed)?;
            new.write_all(&file.bytes).map_err(failed)?;
        }
        Ok(place)
    }

    /// Gives the folder of a skill another name.
    pub(crate) fn rename(&self, place: &Path, name: &str) -> Result<PathBuf, Error> {
        let renamed = place.with_file_name(name);
        fs::rename(place, &renamed).map_err(|error| Error::unwritable(place, &error))?;
        Ok(renamed)
    }
}
