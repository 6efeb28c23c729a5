//! The paths that no permission opens for writing, for host functions.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::PoisonError,
    time::{Duration, Instant},
};

use metier_model::{Permission, Scope};

use crate::{
    child::ChildError,
    execution::{ActExecutor, ExecutionError},
    sandbox::{Guard, NameSet, Trails, is_below},
};

/// How long the targets of protected names are cached.
const LEADS_ARE_KNOWN: Duration = Duration::from_secs(2);

impl ActExecutor {
    /// Whether no permission opens a path for writing, by any of its names.
    ///
    /// # Errors
    /// When writable folders can't be scanned.
    pub(super) fn is_untouchable(&self, path: &Path) -> Result<bool, ExecutionError> {
        let names = NameSet::of(path.parent().unwrap_or(path));
        let others = self.protection().mounts().other_names(path);
        let all = std::iter::once(path).chain(others.iter().map(PathBuf::as_path));
        if self.is_protected(path) {
            return Ok(true);
        }
        for path in all {
            if self.leads_to(path, names)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// [`Self::is_untouchable`] without the links that point to the path from elsewhere. For a child these are found at its start.
    pub(super) fn is_protected(&self, path: &Path) -> bool {
        let protection = self.protection();
        let denied = self.never_read();
        let others = protection.mounts().other_names(path);
        let mut all = std::iter::once(path).chain(others.iter().map(PathBuf::as_path));
        all.any(|path| protection.covering(path).is_some() || denied.cover(path))
    }

    /// Whether a path is a step from a protected name to its target, or is inside the target: the user's `~/.bashrc` can be kept elsewhere.
    fn leads_to(&self, path: &Path, names: NameSet) -> Result<bool, ExecutionError> {
        let mut leads = self.leads.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |since: &Instant| since.elapsed() < LEADS_ARE_KNOWN;
        let known = leads.take().filter(|(since, _)| is_known(since));
        let (_, steps) = leads.insert(match known {
            Some(known) => known,
            None => (Instant::now(), self.steps()?),
        });
        Ok(match names {
            NameSet::Exact => path.ancestors().any(|above| steps.contains(above)),
            NameSet::Folded => steps.iter().any(|step| is_below(path, step, names)),
        })
    }

    /// All steps of all protected names that are known, or are found in writable folders and next to them in the project.
    fn steps(&self) -> Result<HashSet<PathBuf>, ExecutionError> {
        let protection = self.protection();
        let written = self.grant.allowed().iter();
        let written = written.filter(|want| want.permission == Permission::FileWrite);
        let places = written.filter_map(|want| match want.reach() {
            Scope::Paths(pattern) => self.anchored(&pattern),
            _ => None,
        });
        // A file need not exist yet.
        let real = places.map(|place| place.canonicalize().unwrap_or(place));
        let (roots, files) = real.partition(|place| place.is_dir());
        let guard = Guard {
            protection: protection.clone(),
            roots,
            files,
            closed: self.rooms().into_iter().collect(),
            ..Guard::default()
        };
        let mut places = protection.known();
        let mut trails = Trails::default();
        let survey = guard
            .survey(&places, &mut trails)
            .map_err(ChildError::from)?;
        places.extend(survey.protected(&guard.roots));
        Ok(protection.steps(&places, &mut trails).into_iter().collect())
    }
}
