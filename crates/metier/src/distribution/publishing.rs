//! The package that is published: packed from a folder, or a file that exists.

use std::{fs, path::Path};

use metier_hub::registry::PackageToPublish;

use super::{
    package_files::read_file, packages::PackOptions, registry::PublishOptions, signing::SignOptions,
};
use crate::{Error, Workspace};

/// The largest package that is published.
const MAX_PACKAGE: usize = 64 << 20;
/// The name of the package in the folder where it is packed and signed.
const PACKAGE: &str = "package.skill";

impl Workspace {
    /// Packs a skill into the folder `room`, unless it is a package already, and signs it there on request; returns the public key too.
    pub(crate) fn package_to_publish(
        &self,
        what: &str,
        options: &PublishOptions,
        room: &Path,
        password: &mut dyn FnMut() -> Result<String, Error>,
    ) -> Result<(PackageToPublish, Option<String>), Error> {
        let typed = self.machine.work.join(what);
        let file = room.join(PACKAGE);
        match typed.is_file() {
            true => fs::write(&file, read_file(&typed, MAX_PACKAGE)?)
                .map_err(|error| Error::unwritable(&file, &error))?,
            false => {
                let packing = PackOptions {
                    output: Some(file.clone()),
                    ..PackOptions::default()
                };
                self.pack(what, &packing)?;
            }
        }
        let mut signature = None;
        if options.sign {
            let signing = SignOptions {
                key: options.key.clone(),
                replace: true,
                dry_run: options.dry_run,
            };
            let signed = self.sign_package(&file, &signing, password)?;
            let text = match options.dry_run {
                true => Vec::new(),
                false => read_file(&signed.signature, MAX_PACKAGE)?,
            };
            let text = String::from_utf8_lossy(&text).into_owned();
            signature = Some((text, signed.key.to_string()));
        }
        let signer = signature.as_ref().map(|(_, key)| key.clone());
        let package = PackageToPublish {
            bytes: read_file(&file, MAX_PACKAGE)?,
            signature,
            allow_similar: options.allow_similar,
        };
        Ok((package, signer))
    }
}
