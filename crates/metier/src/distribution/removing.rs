//! Removing installed skills. Their content stays in the record of the change until it is one of the oldest.

use metier_hub::Change;
use metier_model::text::shell_word;
use metier_store::{BegunReceipt, NewReceipt};

use super::{
    installed_files::{PresentSkill, hashed},
    places::InstallScope,
};
use crate::{Error, Workspace, text::one_line};

/// A skill that was removed, or would be.
///
/// An example is at [`Workspace::remove`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedSkill {
    /// The name of its folder.
    pub name: String,
    /// The scope that it was installed in.
    pub scope: InstallScope,
    /// The folder that it was in.
    pub place: String,
    /// The source that it was installed from.
    pub source: Option<String>,
}

impl Workspace {
    /// Finds installed skills by name, first those of the project. With a scope, only there.
    ///
    /// An example is at [`Workspace::remove`].
    ///
    /// # Errors
    /// When one of them is not installed.
    pub fn installed_skills(
        &self,
        names: &[impl AsRef<str>],
        scope: Option<InstallScope>,
    ) -> Result<Vec<RemovedSkill>, Error> {
        let names = names.iter().map(AsRef::as_ref);
        names
            .map(|name| self.installed_skill(name, scope))
            .collect()
    }

    fn installed_skill(
        &self,
        name: &str,
        scope: Option<InstallScope>,
    ) -> Result<RemovedSkill, Error> {
        for looked in [InstallScope::Project, InstallScope::User] {
            if scope.is_some_and(|scope| scope != looked) {
                continue;
            }
            let lock = self.lock(looked)?;
            if let Some(locked) = lock.skills.get(name) {
                return Ok(RemovedSkill {
                    name: name.to_owned(),
                    scope: looked,
                    place: self
                        .scope_places(looked)?
                        .skill(name)
                        .to_string_lossy()
                        .into_owned(),
                    source: Some(locked.source.clone()),
                });
            }
        }
        Err(self.not_installed(name))
    }

    /// The error about a name that no lock has.
    pub(crate) fn not_installed(&self, name: &str) -> Error {
        let shown = one_line(name);
        let message = format!("metier did not install a skill `{shown}`");
        let error = Error::unmet("not-installed", message).skill(name);
        let inventory = self.inventory().ok();
        let entry = inventory.as_ref().and_then(|inventory| {
            let found = inventory.find(name).ok()?;
            Some(
                inventory
                    .entry(found)
                    .place
                    .path()
                    .to_string_lossy()
                    .into_owned(),
            )
        });
        match entry {
            Some(place) if place.starts_with("builtin:") => error
                .detail("the skill with that name is built in")
                .hint(format!("metier disable {shown}")),
            Some(place) => error
                .detail(format!(
                    "the skill with that name is in {}",
                    one_line(&place)
                ))
                .hint(format!(
                    "delete that folder yourself, or disable the skill: metier disable {shown}"
                )),
            None => error.hint("metier verify shows what metier installed"),
        }
    }

    /// Removes installed skills from their folders and the lock, in one change. `metier undo` and [`Workspace::restore`] restore them.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.installed_skills(&["pdf"], None)?;
    /// workspace.remove(&skills)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a place can't be written, or another process changes skills for too long.
    pub fn remove(&self, skills: &[RemovedSkill]) -> Result<Option<Change>, Error> {
        let names: Vec<&str> = skills.iter().map(|skill| &*skill.name).collect();
        let store = self.store()?;
        let begun: Result<Vec<BegunReceipt>, Error> = skills
            .iter()
            .map(|skill| Ok(store.begin(&self.removal_receipt(skill)?)?))
            .collect();
        let begun = begun?;
        let done = self.change_skills(&format!("remove {}", names.join(", ")), |draft| {
            for skill in skills {
                let present = PresentSkill::look(self, skill.scope, &skill.name)?;
                if present.exists() {
                    draft.remove_skill(skill.scope, &skill.name)?;
                }
                draft.leave_agents(skill.scope, &skill.name)?;
                draft.lock(skill.scope)?.skills.remove(&skill.name);
            }
            Ok(())
        });
        let failure = done.as_ref().err().map(|error| error.message().to_owned());
        for receipt in begun {
            store.complete(receipt, &self.completion(failure.clone()))?;
        }
        Ok(done?.0)
    }

    fn removal_receipt(&self, skill: &RemovedSkill) -> Result<NewReceipt, Error> {
        let place = self.scope_places(skill.scope)?.skill(&skill.name);
        let digest = hashed(&place).map(|held| held.digest.to_string());
        Ok(NewReceipt {
            skill: skill.name.clone(),
            source: skill.scope.source().as_str().to_owned(),
            digest: digest.unwrap_or_default(),
            ..self.change_receipt("skill:remove", &format!("from {}", skill.place))
        })
    }

    /// Brings a removed skill back with its files and its entry in the lock, as they were.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let removed = workspace.check_restore("pdf", None)?;
    /// println!("it comes back to {}", removed.place);
    /// workspace.restore("pdf", None)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it was not removed, when something has its name now, or when its content is no longer kept.
    pub fn restore(&self, name: &str, scope: Option<InstallScope>) -> Result<RemovedSkill, Error> {
        self.restore_kept(name, scope, false)
    }

    /// The skill that [`Workspace::restore`] would restore. Nothing is changed.
    ///
    /// The example of [`Workspace::restore`] asks before it restores.
    ///
    /// # Errors
    /// As of [`Workspace::restore`].
    pub fn check_restore(
        &self,
        name: &str,
        scope: Option<InstallScope>,
    ) -> Result<RemovedSkill, Error> {
        self.restore_kept(name, scope, true)
    }

    fn restore_kept(
        &self,
        name: &str,
        scope: Option<InstallScope>,
        dry_run: bool,
    ) -> Result<RemovedSkill, Error> {
        let changes = self.changes()?;
        let list = changes.list().map_err(super::draft::failed)?;
        for change in &list {
            if !change.title.starts_with("remove ") {
                continue;
            }
            for looked in [InstallScope::Project, InstallScope::User] {
                let places = self.scope_places(looked)?;
                let (folder, is_wanted) =
                    (places.skill(name), scope.is_none_or(|one| one == looked));
                let (Some(kept), true) = (changes.kept_at(change, &folder), is_wanted) else {
                    continue;
                };
                let lock = changes.kept_at(change, &places.lock);
                drop(changes);
                return self.put_back(name, looked, &kept, lock.as_deref(), dry_run);
            }
        }
        let message = format!("no removed skill `{}` is kept", one_line(name));
        Err(Error::unmet("not-kept", message)
            .skill(name)
            .hint("metier undo --list shows the changes that are kept"))
    }

    fn put_back(
        &self,
        name: &str,
        scope: InstallScope,
        kept: &std::path::Path,
        lock: Option<&std::path::Path>,
        dry_run: bool,
    ) -> Result<RemovedSkill, Error> {
        let places = self.scope_places(scope)?;
        let unusable = |why: String| {
            Error::broken(
                "not-kept",
                format!("the removed skill can't be restored: {why}"),
            )
            .skill(name)
        };
        let text = lock.map(std::fs::read_to_string).transpose();
        let text = text
            .map_err(|error| unusable(error.to_string()))?
            .unwrap_or_default();
        let before: metier_package::Lock = match text.is_empty() {
            true => metier_package::Lock::default(),
            false => text
                .parse()
                .map_err(|error: metier_package::LockError| unusable(error.to_string()))?,
        };
        let locked = before.skills.get(name).cloned();
        let content = metier_hub::NewContent::CopyOf(kept.to_owned());
        let is_free = || match PresentSkill::look(self, scope, name)?.exists() {
            false => Ok(()),
            true => {
                let message = format!("a skill `{}` has been installed again", one_line(name));
                Err(Error::unmet("exists", message)
                    .skill(name)
                    .path(places.skill(name))
                    .hint(format!("metier remove {}", shell_word(name))))
            }
        };
        let restored = RemovedSkill {
            name: name.to_owned(),
            scope,
            place: places.skill(name).to_string_lossy().into_owned(),
            source: locked.as_ref().map(|locked| locked.source.clone()),
        };
        if dry_run {
            return is_free().map(|()| restored);
        }
        self.change_skills(&format!("restore {name}"), |draft| {
            is_free()?;
            self.make_skills_folder(&places)?;
            draft.set(&places.skill(name), content)?;
            if let Some(locked) = locked {
                draft.lock(scope)?.skills.insert(name.to_owned(), locked);
            }
            Ok(())
        })?;
        Ok(restored)
    }
}
