//! Combining skills for one agent: the tools that it gets, the order of the skills, and every conflict.

pub use metier_model::ToolPattern;
pub use metier_policy::{Composition, CompositionFault, FaultCode};

use crate::{Error, Workspace};

impl Workspace {
    /// Combines skills, by name, `source:name` or folder. With `coding` the set must contain the coding pipeline, and files are not written
    /// directly. A set that can't be used is a [`Composition`] with errors. Each call lists the skills of the machine, except on
    /// [`CurrentSkills::workspace`](crate::CurrentSkills::workspace).
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let set = workspace.compose(&["review-pr", "user:git"], false)?;
    /// for conflict in &set.errors {
    ///     println!("{}: {}", conflict.code.as_str(), conflict.message);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the trusted folders can't be read from the database.
    pub fn compose(&self, names: &[impl AsRef<str>], coding: bool) -> Result<Composition, Error> {
        let inventory = self.inventory()?;
        let names: Vec<String> = names.iter().map(|name| self.meant(name.as_ref())).collect();
        Ok(inventory.compose(&names, &self.config, self.mode(), coding))
    }

    /// A folder as the inventory spells it; a name as it is.
    fn meant(&self, name: &str) -> String {
        let folder = name.contains('/').then(|| self.machine.work.join(name));
        let folder = folder.and_then(|folder| folder.canonicalize().ok());
        folder.map_or_else(
            || name.to_owned(),
            |folder| folder.to_string_lossy().into_owned(),
        )
    }
}
