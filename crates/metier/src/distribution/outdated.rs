//! Which installed skills are not the newest of their sources.

use std::collections::BTreeMap;

use metier_hub::{
    GitSource, SkillSource,
    fetch::{FetchedSkill, OpenedSource},
    registry::RegistryFreshness,
};
use metier_package::{Lock, LockedSkill};
use semver::VersionReq;

use super::{
    places::InstallScope,
    sources::{locked_offer, not_fetched},
    update::SkillRevision,
};
use crate::{
    Error, Workspace,
    text::{one_line, shell_word},
};

/// An installed skill, compared with its source.
///
/// An example is at [`Workspace::outdated`].
#[derive(Debug)]
pub struct UpdateAvailability {
    /// The name of its folder, and in the lock.
    pub name: String,
    /// Where it was installed from.
    pub source: String,
    /// The installed state.
    pub here: SkillRevision,
    /// The state in the source, or the reason why it could not be fetched.
    pub newest: Result<SkillRevision, Error>,
}

impl UpdateAvailability {
    /// Whether the source contains something else. A source that could not be fetched is not compared, so this is `false`.
    ///
    /// An example is at [`Workspace::outdated`].
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        let newest = self.newest.as_ref();
        newest.is_ok_and(|newest| newest.digest != self.here.digest)
    }
}

/// The position of a skill among those that are compared, with its name in a registry and the versions that it can have.
type RegistryPosition = (usize, (String, VersionReq));

/// The position of a skill, and what its source contains now.
type NewestPosition = (usize, Result<FetchedSkill, Error>);

/// A skill of a lock, and what its source contains now.
pub(crate) type NewestSkill = (String, LockedSkill, Result<FetchedSkill, Error>);

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
    pub fn outdated(
        &self,
        names: &[String],
        scope: InstallScope,
    ) -> Result<Vec<UpdateAvailability>, Error> {
        let wanted = self.locked_skills(names, scope)?;
        let newest = self.newest(wanted, scope).into_iter();
        let compared = newest.map(|(name, locked, newest)| UpdateAvailability {
            name,
            source: locked.source.clone(),
            here: SkillRevision::locked(&locked),
            newest: newest.map(|fetched| SkillRevision::fetched(&fetched)),
        });
        Ok(compared.collect())
    }

    /// The entries of a lock, by name; all of them if none is named.
    pub(crate) fn locked_skills(
        &self,
        names: &[String],
        scope: InstallScope,
    ) -> Result<Vec<(String, LockedSkill)>, Error> {
        let mut lock = self.lock(scope)?;
        if names.is_empty() {
            return Ok(lock.skills.into_iter().collect());
        }
        let find = |name: &String| match lock.skills.remove_entry(name) {
            Some(found) => Ok(found),
            None => Err(self.not_in_scope(name, scope)),
        };
        names.iter().map(find).collect()
    }

    /// The present state of the sources. A repository with several skills is fetched once.
    pub(crate) fn newest(
        &self,
        wanted: Vec<(String, LockedSkill)>,
        scope: InstallScope,
    ) -> Vec<NewestSkill> {
        let mut repositories: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut of_registries = Vec::new();
        let mut alone = Vec::new();
        for (position, (_, locked)) in wanted.iter().enumerate() {
            match SkillSource::parse(&locked.source) {
                Ok(SkillSource::Git(git)) => {
                    let whole = repositories.entry(whole(&git)).or_default();
                    whole.push(position);
                }
                Ok(SkillSource::Registry { name, versions }) => {
                    of_registries.push((position, (name, versions)));
                }
                _ => alone.push(position),
            }
        }
        let mut found: BTreeMap<usize, Result<FetchedSkill, Error>> = BTreeMap::new();
        found.extend(self.newest_of_registries(&of_registries, scope));
        for (source, positions) in repositories {
            let [_, _, ..] = positions.as_slice() else {
                alone.extend(positions);
                continue;
            };
            let read = self.with_source(&source, |opened| {
                let read = |position: &usize| {
                    let (name, locked) = &wanted[*position];
                    (*position, read_of(opened, name, locked))
                };
                Ok(positions.iter().map(read).collect::<Vec<_>>())
            });
            match read {
                Ok(read) => found.extend(read),
                Err(error) => {
                    let failed = positions.iter().map(|one| (*one, Err(error.clone())));
                    found.extend(failed);
                }
            }
        }
        for position in alone {
            let (name, locked) = &wanted[position];
            found.insert(position, self.newest_alone(name, locked));
        }
        let all = wanted.into_iter().zip(found.into_values());
        all.map(|((name, locked), newest)| (name, locked, newest))
            .collect()
    }

    /// The newest versions in registries that are compatible; if there are none, each skill by itself, so that one does not hide the
    /// others.
    fn newest_of_registries(
        &self,
        wanted: &[RegistryPosition],
        scope: InstallScope,
    ) -> Vec<NewestPosition> {
        match self.newest_together(wanted, scope) {
            Ok(newest) => newest,
            Err(_) if wanted.len() > 1 => {
                let each = wanted.iter().map(std::slice::from_ref);
                each.flat_map(|one| self.newest_of_registries(one, scope))
                    .collect()
            }
            Err(error) => {
                let each = wanted.iter();
                each.map(|(position, _)| (*position, Err(error.clone())))
                    .collect()
            }
        }
    }

    fn newest_together(
        &self,
        wanted: &[RegistryPosition],
        scope: InstallScope,
    ) -> Result<Vec<NewestPosition>, Error> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let lock = self.lock(scope)?;
        let named: Vec<_> = wanted.iter().map(|(_, named)| named.clone()).collect();
        let fetched = self.fetch_from_registries(&named, &lock, RegistryFreshness::Now)?;
        let is_named = |skill: &FetchedSkill| named.iter().any(|(name, _)| *name == skill.name);
        let (mut newest, required): (Vec<_>, Vec<_>) = fetched.into_iter().partition(is_named);
        let is_here = |skill: &FetchedSkill| {
            let here = lock.skills.get(&skill.name);
            here.is_some_and(|here| here.tree == skill.tree.digest())
        };
        let required: Vec<&FetchedSkill> = required.iter().filter(|one| !is_here(one)).collect();
        let mut of = |name: &String| {
            let at = newest.iter().position(|skill| skill.name == *name);
            let skill = at.map(|at| newest.swap_remove(at));
            let skill = skill.ok_or_else(|| not_found(name))?;
            match (is_here(&skill), required.first()) {
                (false, Some(other)) => Err(needs(name, scope, other, &lock)),
                _ => Ok(skill),
            }
        };
        let each = wanted.iter();
        Ok(each
            .map(|(position, (name, _))| (*position, of(name)))
            .collect())
    }

    fn newest_alone(&self, name: &str, locked: &LockedSkill) -> Result<FetchedSkill, Error> {
        self.with_source(&locked.source, |opened| {
            let offer = locked_offer(opened.offers(), name).ok_or_else(|| gone(name, locked))?;
            opened.read(offer).map_err(|error| not_fetched(&error))
        })
    }
}

fn not_found(name: &str) -> Error {
    let message = format!("no registry has a skill `{}`", one_line(name));
    Error::unmet("not-found", message).skill(name)
}

/// A new version that requires a skill which is not part of the update.
fn needs(name: &str, scope: InstallScope, other: &FetchedSkill, lock: &Lock) -> Error {
    let other = one_line(&other.name);
    let name_word = shell_word(name);
    let hint = match lock.skills.contains_key(&other) {
        true => format!(
            "{} {name_word} {}",
            scope.command("update"),
            shell_word(&other)
        ),
        false => format!("metier {} {name_word}", scope.verb()),
    };
    let message = format!("its newest version requires a different version of `{other}`");
    Error::unmet("requires", message).skill(name).hint(hint)
}

/// A repository without the folder of one skill.
fn whole(git: &GitSource) -> String {
    let whole = GitSource {
        folder: String::new(),
        ..git.clone()
    };
    SkillSource::Git(whole).to_string()
}

fn read_of(
    opened: &OpenedSource<'_>,
    name: &str,
    locked: &LockedSkill,
) -> Result<FetchedSkill, Error> {
    let folder = match SkillSource::parse(&locked.source) {
        Ok(SkillSource::Git(git)) => git.folder,
        _ => String::new(),
    };
    let mut offers = opened.offers().iter();
    let offer = offers.find(|offer| offer.folder == folder);
    let offer = offer.ok_or_else(|| gone(name, locked))?;
    opened.read(offer).map_err(|error| not_fetched(&error))
}

fn gone(name: &str, locked: &LockedSkill) -> Error {
    let source = one_line(&locked.source);
    let message = format!("`{source}` no longer contains the skill `{name}`");
    let hint = format!("metier remove {name}, or install it from elsewhere");
    Error::unmet("not-found", message).skill(name).hint(hint)
}
