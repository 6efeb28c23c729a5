//! Which installed skills are not the newest of their sources.

use std::collections::BTreeMap;

use metier_hub::{
    GitSource, SkillSource,
    fetch::{FetchedSkill, OpenedSource},
};
use metier_package::LockedSkill;

use super::{
    places::InstallScope,
    sources::{SourceRequest, not_fetched},
    update::SkillRevision,
};
use crate::{Error, Workspace, text::one_line};

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
    pub fn outdated(&self, names: &[String], scope: InstallScope) -> Result<Vec<SkillAge>, Error> {
        let wanted = self.locked_skills(names, scope)?;
        let newest = self.newest(wanted, scope).into_iter();
        let compared = newest.map(|(name, locked, newest)| SkillAge {
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

    /// What the sources of skills contain now. A repository with several of them is fetched once.
    pub(crate) fn newest(
        &self,
        wanted: Vec<(String, LockedSkill)>,
        scope: InstallScope,
    ) -> Vec<NewestSkill> {
        let mut repositories: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut alone = Vec::new();
        for (position, (_, locked)) in wanted.iter().enumerate() {
            match SkillSource::parse(&locked.source) {
                Ok(SkillSource::Git(git)) => {
                    let whole = repositories.entry(whole(&git)).or_default();
                    whole.push(position);
                }
                _ => alone.push(position),
            }
        }
        let mut found: BTreeMap<usize, Result<FetchedSkill, Error>> = BTreeMap::new();
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
            found.insert(position, self.newest_alone(name, locked, scope));
        }
        let all = wanted.into_iter().zip(found.into_values());
        all.map(|((name, locked), newest)| (name, locked, newest))
            .collect()
    }

    fn newest_alone(
        &self,
        name: &str,
        locked: &LockedSkill,
        scope: InstallScope,
    ) -> Result<FetchedSkill, Error> {
        let request = SourceRequest {
            source: locked.source.clone(),
            ..SourceRequest::default()
        };
        let mut fetched = self.fetch_skills(&request, scope, &|_, _| None)?.skills;
        match (fetched.pop(), fetched.is_empty()) {
            (Some(only), true) => Ok(only),
            _ => Err(gone(name, locked)),
        }
    }
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
