//! Trusting the skills of a project.

use std::path::{Path, PathBuf};

use metier_catalog::Root;
use metier_model::Source;
use metier_runtime::Inventory;
use metier_store::TrustedRoot;

use crate::{Error, NoticeLevel, Workspace, machine::timestamp, workspace::roots_to_trust};

pub use metier_store::Trusted as TrustedFolder;

/// The scanned skills of a folder, before it is trusted. Only [`Workspace::preview_trust`] creates one.
///
/// An example is at [`Workspace::trust`].
pub struct TrustPreview {
    folder: PathBuf,
    roots: Vec<TrustedRoot>,
    is_complete: bool,
    inventory: Inventory,
}

impl TrustPreview {
    /// The folder that would be trusted, with links resolved.
    ///
    /// An example is at [`Workspace::trust`].
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its skills, with the verdicts of the scanner. A skill that the scanner blocks stays blocked.
    ///
    /// An example is at [`Workspace::trust`].
    #[must_use]
    pub fn inventory(&self) -> &Inventory {
        &self.inventory
    }
}

impl Workspace {
    /// The folders that are trusted, with the time of each.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for trusted in workspace.trusted_folders()? {
    ///     println!("{} since {}", trusted.folder.display(), trusted.at);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the database can't be read, or there is no place for one.
    pub fn trusted_folders(&self) -> Result<Vec<TrustedFolder>, Error> {
        self.trust_database()?;
        let store = self.existing_store()?;
        Ok(store.map_or(Ok(Vec::new()), |store| store.trusted())?)
    }

    /// Scans the skills of a folder, or of the project around the working directory, before they are trusted.
    ///
    /// An example is at [`Workspace::trust`].
    ///
    /// # Errors
    /// When it is not a folder; when no folder is named and the project contains the home directory; when a rule of the user's own for
    /// the scanner is wrong.
    pub fn preview_trust(&self, folder: Option<&Path>) -> Result<TrustPreview, Error> {
        self.trust_database()?;
        let given = self.folder_to_trust(folder);
        let folder_found = match given.canonicalize() {
            Ok(found) if found.is_dir() => found,
            Ok(_) => {
                let message = format!("`{}` can't be trusted: it is not a folder", given.display());
                return Err(Error::unmet("not-a-folder", message).hint("name the folder it is in"));
            }
            Err(error) => {
                let message = format!("`{}` can't be trusted: {error}", given.display());
                return Err(Error::unmet("not-found", message)
                    .path(&given)
                    .hint("name a folder that exists"));
            }
        };
        let home = self.machine.home.as_ref();
        let home = home.and_then(|home| home.canonicalize().ok());
        if folder.is_none() && home.is_some_and(|home| home.starts_with(&folder_found)) {
            let message = "this would trust every project in your home directory";
            return Err(Error::unmet("too-wide", message)
                .path(&folder_found)
                .hint("cd into the project, or name the folder: metier trust DIR"));
        }
        let (roots, is_complete) = roots_to_trust(&folder_found);
        let inventory = self.scan_before_trust(&folder_found, &roots)?;
        Ok(TrustPreview {
            folder: folder_found,
            roots,
            is_complete,
            inventory,
        })
    }

    /// Trusts the places of skills that a preview found. A place that appears later must be trusted again.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let preview = workspace.preview_trust(None)?;
    /// println!("{} skills", preview.inventory().skills.len());
    /// workspace.trust(&preview)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the database can't be written.
    pub fn trust(&self, preview: &TrustPreview) -> Result<(), Error> {
        self.trust_database()?;
        let at = timestamp(self.machine.now);
        let store = self.store()?;
        store.trust_roots(&preview.folder, &preview.roots, &at)?;
        if !preview.is_complete {
            let line = "some folders were not inspected; run `metier trust` in those whose skills stay blocked";
            self.notices.notice(NoticeLevel::Note, line);
        }
        Ok(())
    }

    /// Removes the trust in a folder, even one that no longer exists; returns whether it was trusted, and its path.
    ///
    /// An example is at [`Workspace::trust`].
    ///
    /// # Errors
    /// When the database can't be written.
    pub fn distrust(&self, folder: Option<&Path>) -> Result<(PathBuf, bool), Error> {
        self.trust_database()?;
        let given = self.folder_to_trust(folder);
        let folder = given.canonicalize().unwrap_or(given);
        let store = self.store()?;
        let was_trusted = store.revoke(&folder)?;
        // Skills that the user added are not used either until they are trusted or added again.
        let placed = store.forget_placed(&folder)?;
        Ok((folder, was_trusted || placed > 0))
    }

    fn folder_to_trust(&self, folder: Option<&Path>) -> PathBuf {
        let machine = &self.machine;
        folder.map_or_else(|| machine.project.clone(), |path| machine.work.join(path))
    }

    fn trust_database(&self) -> Result<&Path, Error> {
        self.machine.database.as_deref().ok_or_else(|| {
            Error::broken(
                "store",
                "there is no home directory, so trust can't be stored",
            )
            .hint("set METIER_HOME to a folder")
        })
    }

    fn scan_before_trust(&self, folder: &Path, roots: &[TrustedRoot]) -> Result<Inventory, Error> {
        let roots = roots.iter().map(|root| Root {
            trusted: true,
            ..Root::usual(Source::Project, folder.join(&root.root))
        });
        let mut inventory = self.examine(roots.collect(), self.mode());
        // The rules of skills that are not trusted yet don't count.
        let usual = self.catalog()?;
        let scan_gate = self.screening(&usual);
        scan_gate.check_rules()?;
        scan_gate.look_at_all(&mut inventory);
        Ok(inventory)
    }
}
