//! Which installed skills are not the newest of their sources.

use super::{places::InstallScope, update::SkillRevision};
use crate::{Error, Workspace};

/// An installed skill, compared with its source.
#[derive(Debug)]
pub struct SkillAge {
    /// The name of its folder, and in the lock.
    pub name: String,
    /// Where it was installed from.
    pub source: String,
    /// What is here.
    pub here: SkillRevision,
    /// What the source contains now, or why that is not known.
    pub newest: Result<SkillRevision, Error>,
}

impl SkillAge {
    /// Whether the source contains something else.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        let newest = self.newest.as_ref();
        newest.is_ok_and(|newest| newest.digest != self.here.digest)
    }
}

impl Workspace {
    /// Compares installed skills with their sources; all of them if none is named. Nothing is changed.
    ///
    /// ```no_run
    /// use metier::distribution::InstallScope;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for skill in workspace.outdated(&[], InstallScope::User)? {
    ///     println!("{}: {}", skill.name, skill.is_outdated());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a skill is not installed, or when the lock can't be read. A source that can't be fetched is part of the result.
    pub fn outdated(&self, names: &[String], scope: InstallScope) -> Result<Vec<SkillAge>, Error> {
        let lock = self.lock(scope)?;
        let names: Vec<&String> = match names {
            [] => lock.skills.keys().collect(),
            named => named.iter().collect(),
        };
        let compare = |name: &String| {
            let locked = lock.skills.get(name);
            let locked = locked.ok_or_else(|| self.not_in_scope(name, scope))?;
            let newest = self.newest(name, locked, scope);
            Ok(SkillAge {
                name: name.clone(),
                source: locked.source.clone(),
                here: SkillRevision::locked(locked),
                newest: newest.map(|fetched| SkillRevision::fetched(&fetched)),
            })
        };
        names.into_iter().map(compare).collect()
    }
}
