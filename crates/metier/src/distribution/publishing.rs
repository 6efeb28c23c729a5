//! The package that is published: packed from a folder, or a file that exists.

use std::{io, path::Path};

use metier_hub::registry::PackageToPublish;
use metier_package::pack;

use super::registry::PublishOptions;
use crate::{Error, Workspace};

impl Workspace {
    /// Packs a skill unless it is a package already, and signs it if that was asked for; with the public key.
    pub(crate) fn package_to_publish(
        &self,
        what: &str,
        options: &PublishOptions,
        password: &mut dyn FnMut() -> Result<String, Error>,
    ) -> Result<(PackageToPublish, Option<String>), Error> {
        let typed = self.machine.work.join(what);
        let bytes = match typed.is_file() {
            true => read(&typed)?,
            false => self.with_source(&typed.to_string_lossy(), |opened| match opened.offers() {
                [only] => {
                    let skill = opened.read(only).map_err(|error| not_packed(what, &error))?;
                    pack(&skill.name, &skill.tree).map_err(|error| not_packed(what, &error))
                }
                several => {
                    let message = format!("`{what}` contains {} skills", several.len());
                    Err(Error::unmet("several-skills", message).hint("name the folder of one skill"))
                }
            })?,
        };
        let _ = password;
        let signature = None;
        let signer = None;
        let package = PackageToPublish {
            bytes,
            signature,
            allow_similar: options.allow_similar,
        };
        Ok((package, signer))
    }
}

fn not_packed(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::unmet("not-packed", format!("`{what}` can't be packed: {error}"))
}

fn read(file: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(file).map_err(|error| {
        let code = match error.kind() {
            io::ErrorKind::NotFound => "not-found",
            _ => "unreadable",
        };
        Error::unmet(code, format!("the package can't be read: {error}")).path(file)
    })
}
