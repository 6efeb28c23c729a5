//! Comparing installed skills with their locks, and accepting an edit.

use std::{sync::atomic::AtomicUsize, thread};

use metier_hub::fetch::{FetchedSkill, SkillOrigin};
use metier_package::{LockedSkill, PackageFile, PackagePath, PackageTree};
use metier_runtime::scanning::in_parallel;

use super::{
    installed_files::{ChangedFiles, hashed, hashes_of_snapshot, hashes_of_tree},
    places::InstallScope,
    plan::{InstallOptions, InstallPlan},
};
use crate::{Error, Workspace, text::one_line};

/// How an installed skill compares with its lock.
///
/// The example of [`Workspace::verify_skills`] compares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstalledState {
    /// It has exactly the bytes of the lock.
    Unchanged,
    /// Its files differ. Which ones is known if its original bytes are kept.
    Changed(Option<ChangedFiles>),
    /// Its folder is not there.
    Missing,
    /// Its folder can't be read.
    Unreadable(String),
}

impl InstalledState {
    /// The word in JSON.
    ///
    /// ```
    /// assert_eq!(metier::distribution::InstalledState::Missing.as_str(), "missing");
    /// ```
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed(_) => "changed",
            Self::Missing => "missing",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

/// An installed skill that was compared with its lock.
///
/// An example is at [`Workspace::verify_skills`].
#[derive(Clone, Debug)]
pub struct VerifiedSkill {
    /// The name of its folder.
    pub name: String,
    /// The scope that it is installed in.
    pub scope: InstallScope,
    /// Its folder.
    pub place: String,
    /// Its entry in the lock.
    pub locked: LockedSkill,
    /// The result of the comparison.
    pub state: InstalledState,
}

impl Workspace {
    /// Hashes installed skills and compares them with their locks: those that are named, or all of a scope, or all.
    ///
    /// ```no_run
    /// use metier::distribution::InstalledState;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for skill in workspace.verify_skills(&[] as &[&str], None)? {
    ///     assert_eq!(skill.state, InstalledState::Unchanged, "{}", skill.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a lock can't be read, or a skill that was named is not installed.
    pub fn verify_skills(
        &self,
        names: &[impl AsRef<str>],
        scope: Option<InstallScope>,
    ) -> Result<Vec<VerifiedSkill>, Error> {
        let mut all = Vec::new();
        for looked in InstallScope::ALL {
            if scope.is_some_and(|scope| scope != looked) {
                continue;
            }
            let locked = self.lock(looked)?.skills.into_iter();
            let named = locked.filter(|(name, _)| {
                names.is_empty() || names.iter().any(|one| one.as_ref() == name)
            });
            all.extend(named.map(|(name, locked)| (name, locked, looked)));
        }
        // Hashing is the whole cost, and skills are independent, so they are hashed in parallel.
        let threads = thread::available_parallelism()
            .map_or(1, usize::from)
            .min(8);
        let verify = |(name, locked, scope): &(String, LockedSkill, InstallScope)| {
            self.verify_locked(name, locked, *scope)
        };
        let all = in_parallel(&all, threads, &AtomicUsize::new(0), verify);
        let all = all.into_iter().collect::<Result<Vec<_>, Error>>()?;
        for name in names.iter().map(AsRef::as_ref) {
            if !all.iter().any(|one| one.name == name) {
                return Err(self.not_installed(name));
            }
        }
        Ok(all)
    }

    fn verify_locked(
        &self,
        name: &str,
        locked: &LockedSkill,
        scope: InstallScope,
    ) -> Result<VerifiedSkill, Error> {
        let place = self.scope_places(scope)?.skill(name);
        let state = match (place.symlink_metadata(), hashed(&place)) {
            (Err(error), _) if error.kind() == std::io::ErrorKind::NotFound => {
                InstalledState::Missing
            }
            (_, Err(error)) => InstalledState::Unreadable(error.to_string()),
            (_, Ok(held)) if held.digest == locked.tree => InstalledState::Unchanged,
            (_, Ok(held)) => {
                let tree = self.objects()?.get(locked.tree);
                InstalledState::Changed(tree.map(|tree| {
                    ChangedFiles::between(&hashes_of_tree(&tree), &hashes_of_snapshot(&held))
                }))
            }
        };
        Ok(VerifiedSkill {
            place: place.to_string_lossy().into_owned(),
            name: name.to_owned(),
            scope,
            locked: locked.clone(),
            state,
        })
    }

    /// A plan that keeps an edited skill as it is now: it is scanned again, and the lock gets its digest. Approvals of the bytes before
    /// the edit no longer apply.
    ///
    /// ```no_run
    /// use metier::distribution::InstallDecision;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let plan = workspace.prepare_acceptance("pdf", None)?;
    /// let decision = InstallDecision::agree(&plan.skills()[0].card);
    /// plan.apply(&[decision])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it is not installed, or contains what can't be installed, such as links.
    pub fn prepare_acceptance(
        &self,
        name: &str,
        scope: Option<InstallScope>,
    ) -> Result<InstallPlan, Error> {
        let found = self.verify_skills(&[name], scope)?;
        let Some(skill) = found.into_iter().next_back() else {
            return Err(self.not_installed(name));
        };
        let place = self.scope_places(skill.scope)?.skill(name);
        let fetched = FetchedSkill {
            name: name.to_owned(),
            tree: self.tree_of(name, &place)?,
            origin: SkillOrigin {
                source: skill.locked.source.clone(),
                registry: skill.locked.registry.clone(),
                commit: skill.locked.commit.clone(),
                archive: skill.locked.archive,
                ..SkillOrigin::default()
            },
            archive: None,
        };
        let options = InstallOptions { scope: skill.scope };
        let mut plan = self.plan_skills("accept", vec![fetched], options.scope)?;
        for planned in &mut plan.skills {
            let before = skill.locked.original.unwrap_or(skill.locked.tree);
            planned.locked.original = (before != planned.locked.tree).then_some(before);
            planned.locked.signer.clone_from(&skill.locked.signer);
            // The user asked for exactly this.
            planned
                .card
                .obstacles
                .retain(super::card::InstallObstacle::is_final);
        }
        Ok(plan)
    }

    /// The files of a placed skill, read as a package.
    pub(crate) fn tree_of(
        &self,
        name: &str,
        place: &std::path::Path,
    ) -> Result<PackageTree, Error> {
        let held = metier_catalog::SkillLocation::Folder(place.to_owned());
        let everything = metier_catalog::MemoryBudget {
            file: usize::MAX - 1,
            total: usize::MAX,
        };
        let refuse = |why: String| {
            let message = format!("skill `{}` can't be a package: {why}", one_line(name));
            Error::unmet("not-a-package", message)
                .skill(name)
                .path(place)
        };
        let held = held
            .snapshot(everything)
            .map_err(|error| refuse(error.to_string()))?;
        let mut files = Vec::new();
        for file in held.files {
            let path = PackagePath::new(file.path.as_bytes())
                .map_err(|error| refuse(error.to_string()))?;
            match file.content {
                metier_catalog::SnapshotContent::Bytes(bytes) => {
                    files.push(PackageFile { path, bytes });
                }
                _ => return Err(refuse(format!("`{path}` is not a regular file"))),
            }
        }
        PackageTree::new(files).map_err(|error| refuse(error.to_string()))
    }
}
