//! Installing what a lock states, and nothing else.

use metier_hub::{
    SkillSource,
    fetch::{FetchedSkill, SkillOrigin},
};
use metier_package::{LockedSkill, PackageTree};

use super::{
    installed_files::ChangedFiles,
    places::InstallScope,
    plan::{InstallOptions, InstallPlan},
    sources::{locked_offer, not_fetched},
    verifying::{InstalledState, VerifiedSkill},
};
use crate::{
    Error, Workspace,
    text::{one_line, shell_word},
};

impl Workspace {
    /// A plan for the skills of a lock that are not in their places as it states. With `frozen`, a skill that was changed is an error.
    /// The lock itself does not change, and nothing is approved or trusted by it: another person may have written it.
    ///
    /// ```no_run
    /// use metier::distribution::{InstallDecision, InstallOptions, InstallScope};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let options = InstallOptions { scope: InstallScope::Project };
    /// let plan = workspace.prepare_locked(options, true)?;
    /// let decisions: Vec<InstallDecision> =
    ///     plan.skills().iter().map(|skill| InstallDecision::agree(&skill.card)).collect();
    /// plan.apply(&decisions)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a skill was changed and `frozen` is set; when a source no longer has the bytes of the lock.
    pub fn prepare_locked(
        &self,
        options: InstallOptions,
        frozen: bool,
    ) -> Result<InstallPlan, Error> {
        let scope = options.scope;
        self.check_scope(scope)?;
        let mut fetched = Vec::new();
        for skill in self.verify_skills(&[] as &[&str], Some(scope))? {
            match &skill.state {
                InstalledState::Unchanged => continue,
                InstalledState::Changed(files) if frozen => {
                    return Err(drifted(&skill, files.as_ref()));
                }
                InstalledState::Unreadable(why) => {
                    let message = format!("skill `{}` can't be read: {why}", one_line(&skill.name));
                    return Err(Error::unmet("unreadable", message).path(&skill.place));
                }
                InstalledState::Changed(_) | InstalledState::Missing => {}
            }
            let tree = self.tree_of_lock(&skill.name, &skill.locked, scope)?;
            fetched.push(FetchedSkill {
                name: skill.name.clone(),
                tree,
                origin: SkillOrigin {
                    source: skill.locked.source.clone(),
                    registry: skill.locked.registry.clone(),
                    commit: skill.locked.commit.clone(),
                    archive: skill.locked.archive,
                    ..SkillOrigin::default()
                },
                archive: None,
            });
        }
        let lock = self.lock(scope)?;
        let mut plan = self.plan_skills(scope.verb(), fetched, scope)?;
        for planned in &mut plan.skills {
            planned.keeps_lock = true;
            if let Some(locked) = lock.skills.get(&planned.key) {
                planned.locked = locked.clone();
                planned.card.signer.clone_from(&locked.signer);
            }
            let is_other = |one: &super::card::InstallObstacle| {
                matches!(one, super::card::InstallObstacle::OtherSigner(_))
            };
            planned.card.obstacles.retain(|one| !is_other(one));
        }
        Ok(plan)
    }

    /// The exact bytes of a lock: kept from an earlier installation, or fetched again.
    pub(crate) fn tree_of_lock(
        &self,
        name: &str,
        locked: &LockedSkill,
        scope: InstallScope,
    ) -> Result<PackageTree, Error> {
        if let Some(tree) = self.objects()?.get(locked.tree) {
            return Ok(tree);
        }
        let source = self.locked_source(locked)?;
        let from_source = || {
            self.with_source(&source, |opened| {
                let offer = locked_offer(opened.offers(), name).ok_or_else(|| {
                    let message = format!(
                        "`{}` no longer contains skill `{}`",
                        one_line(&source),
                        one_line(name)
                    );
                    Error::unmet("unknown-skill", message).skill(name)
                })?;
                Ok(opened
                    .read(offer)
                    .map_err(|error| not_fetched(&error))?
                    .tree)
            })
        };
        let tree = match SkillSource::parse(&source) {
            Ok(SkillSource::Registry { name, .. }) => self.locked_from_registry(&name, locked)?,
            _ => from_source()?,
        };
        match tree.digest() == locked.tree {
            true => Ok(tree),
            false => {
                let message = format!(
                    "skill `{}` differs from its digest in the lock",
                    one_line(name)
                );
                let error = Error::unmet("other-bytes", message).skill(name);
                let error = error.detail(format!("from {}", one_line(&source)));
                let error = error.detail(format!("the lock states {}", locked.tree));
                Err(error
                    .detail(format!("the source has {}", tree.digest()))
                    .hint(format!(
                        "metier {} {} shows what is different, and asks",
                        scope.verb(),
                        self.typed_source(&locked.source)
                    )))
            }
        }
    }

    /// The source of a lock at the locked commit.
    fn locked_source(&self, locked: &LockedSkill) -> Result<String, Error> {
        let parsed = SkillSource::parse(&locked.source).map_err(|error| {
            Error::unmet("source", error.to_string()).hint(error.hint().to_owned())
        })?;
        Ok(match (parsed, &locked.commit) {
            (SkillSource::Git(mut git), Some(commit)) => {
                git.reference = Some(commit.clone());
                SkillSource::Git(git).to_string()
            }
            (parsed, _) => parsed.to_string(),
        })
    }
}

fn drifted(skill: &VerifiedSkill, files: Option<&ChangedFiles>) -> Error {
    let name = one_line(&skill.name);
    let message = format!("skill `{name}` differs from the lock");
    let error = Error::unmet("changed", message)
        .skill(&skill.name)
        .path(&skill.place);
    let error = match files {
        Some(files) => files
            .all()
            .iter()
            .take(20)
            .fold(error, |error, file| error.detail(one_line(file))),
        None => error.detail("its original files are not kept, so the changed ones are not known"),
    };
    error.hint(format!(
        "restore it with `metier {} --replace`, or keep it with `metier verify {} --accept`",
        skill.scope.verb(),
        shell_word(&skill.name)
    ))
}
