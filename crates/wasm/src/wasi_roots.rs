//! The room: everything that a skill gets of this machine, as plain data. By default nothing.

use std::path::{Path, PathBuf};

use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use crate::error::WasmCallError;

/// What a skill gets.
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
}

impl WasiRoots {
    /// A WASI context with closed streams, without network, and with the contents of the room.
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
            straight(&place.folder)?;
            builder
                .preopened_dir(&place.folder, &place.name, perms)
                .map_err(|error| WasmCallError::Place {
                    folder: place.folder.clone(),
                    why: error.root_cause().to_string(),
                })?;
        }
        Ok(builder)
    }
}

/// The user approved this folder; if its path now leads elsewhere, it is another one.
fn straight(folder: &Path) -> Result<(), WasmCallError> {
    let trouble = |why: String| WasmCallError::Place {
        folder: folder.to_owned(),
        why,
    };
    match folder.canonicalize() {
        Ok(real) if real == folder => Ok(()),
        Ok(real) => Err(trouble(format!("it now leads to {}", real.display()))),
        Err(error) => Err(trouble(error.to_string())),
    }
}
