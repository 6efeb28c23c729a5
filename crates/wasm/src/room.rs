//! The room: all that a skill has of this machine, as plain data. An empty one is nothing.

use std::path::{Path, PathBuf};

use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use crate::trouble::Trouble;

/// What a skill is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Folders.
    pub places: Vec<Place>,
    /// Variables.
    pub variables: Vec<(String, String)>,
    /// Arguments, the name of the program first; for commands.
    pub arguments: Vec<String>,
}

/// A folder that a skill may open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is, without a link on the way.
    pub folder: PathBuf,
    /// What the skill calls it.
    pub name: String,
    /// Whether it may be written.
    pub write: bool,
}

impl Room {
    /// The beginning of a WASI context: closed streams, no network, and only what is in the room.
    pub(crate) fn context(&self) -> Result<WasiCtxBuilder, Trouble> {
        let mut builder = WasiCtxBuilder::new();
        // Neither is asked without an address check, which refuses all; but what is not there can't be asked.
        builder.allow_tcp(false).allow_udp(false);
        builder.args(&self.arguments).envs(&self.variables);
        for place in &self.places {
            let perms = match place.write {
                true => FsPerms::ReadWrite,
                false => FsPerms::ReadOnly,
            };
            straight(&place.folder)?;
            builder
                .preopened_dir(&place.folder, &place.name, perms)
                .map_err(|error| Trouble::Place {
                    folder: place.folder.clone(),
                    why: error.root_cause().to_string(),
                })?;
        }
        Ok(builder)
    }
}

/// What was approved is a folder; if its name leads elsewhere by now, it is another one.
fn straight(folder: &Path) -> Result<(), Trouble> {
    let trouble = |why: String| Trouble::Place {
        folder: folder.to_owned(),
        why,
    };
    match folder.canonicalize() {
        Ok(real) if real == folder => Ok(()),
        Ok(real) => Err(trouble(format!("it now leads to {}", real.display()))),
        Err(error) => Err(trouble(error.to_string())),
    }
}
