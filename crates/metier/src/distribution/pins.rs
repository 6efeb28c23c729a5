//! The exact bytes that installed skills must have: what the locks state, and what the user placed in a project.
//!
//! A skill whose files differ from its lock is blocked, in lists and when it is loaded, until the user decides: `metier verify NAME --accept`
//! keeps the edit, `metier install` or `metier undo` restores the files.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use metier_catalog::{Catalog, CatalogEntry, DigestBudget, Fingerprint, Root, SkillLocation};
use metier_model::{Digest, Source, text::shell_word};
use metier_policy::{Reason, ReasonKind};
use metier_runtime::{Inventory, Status};
use metier_store::PlacedSkill;

use super::places::{InstallScope, LOCK_FILE};
use crate::{Error, Workspace, text::one_line};

/// The largest skill that is hashed for a list. A larger one is compared when it is loaded.
const MAX_BYTES: u64 = 64 << 20;
const MAX_FILES: usize = 10_000;
/// How many bytes and files are hashed for one list. The digests are remembered, so that the next list continues. A skill that can't be
/// hashed takes a part of every list: what is read of it before the error.
const MAX_TRUSTED: DigestBudget = DigestBudget {
    bytes: 512 << 20,
    files: 50_000,
};
/// [`MAX_TRUSTED`] for skills that are not trusted: they must not take time.
const MAX_UNTRUSTED: DigestBudget = DigestBudget {
    bytes: 4 << 20,
    files: 1_000,
};

/// The required content of the folders of installed skills.
#[derive(Default)]
pub(crate) struct SkillPins {
    pins: BTreeMap<PathBuf, SkillPin>,
    /// Folders of skills whose lock can't be used, and why.
    unusable: Vec<(PathBuf, String)>,
}

struct SkillPin {
    digest: Digest,
    name: String,
}

/// Why a skill is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PinProblem {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl SkillPins {
    /// Reads both locks. One that can't be used blocks the skills next to it: a pin that is ignored protects nothing.
    pub(crate) fn read(workspace: &Workspace) -> Self {
        let mut all = Self::default();
        for scope in InstallScope::ALL {
            let Ok(places) = workspace.scope_places(scope) else {
                continue;
            };
            let Ok(skills) = places.skills.canonicalize() else {
                continue;
            };
            match workspace.lock(scope) {
                Ok(lock) => all
                    .pins
                    .extend(lock.skills.into_iter().map(|(name, locked)| {
                        let digest = locked.tree;
                        (skills.join(&name), SkillPin { digest, name })
                    })),
                Err(error) => {
                    let place = places.lock.to_string_lossy().into_owned();
                    let message = format!("{}: {}", one_line(&place), error.message());
                    all.unusable.push((skills, message));
                }
            }
        }
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pins.is_empty() && self.unusable.is_empty()
    }

    /// Whether a skill has an expected digest.
    fn is_pinned(&self, entry: &CatalogEntry) -> bool {
        real_folder(entry).is_some_and(|folder| self.pins.contains_key(folder))
    }

    /// The problem of these bytes of a skill, if there is one.
    pub(crate) fn problem(
        &self,
        entry: &CatalogEntry,
        digest: Option<Digest>,
    ) -> Option<PinProblem> {
        let folder = real_folder(entry)?;
        let is_beside = |(skills, _): &&(PathBuf, String)| folder.parent() == Some(&**skills);
        if let Some((_, why)) = self.unusable.iter().find(is_beside) {
            return Some(PinProblem {
                message: why.clone(),
                hint: "restore the lock from version control, or run `metier undo`".to_owned(),
            });
        }
        let pin = self.pins.get(folder)?;
        if digest.is_none_or(|digest| digest == pin.digest) {
            return None;
        }
        let word = shell_word(&pin.name);
        Some(PinProblem {
            message: format!("its files differ from {LOCK_FILE}"),
            hint: format!(
                "metier verify {word} shows the files; metier verify {word} --accept keeps them"
            ),
        })
    }
}

/// The folder of a skill, without links.
fn real_folder(entry: &CatalogEntry) -> Option<&Path> {
    match (&entry.real, &entry.place) {
        (Some(real), _) => Some(real),
        (None, SkillLocation::Folder(folder)) => Some(folder),
        (None, SkillLocation::Builtin(_) | SkillLocation::Remote(_)) => None,
    }
}

impl Workspace {
    /// Blocks the skills of an inventory that differ from their locks. Their digests are remembered, so that the next list is fast. There
    /// is a limit for all together, and a small one for those that are not trusted. What was not hashed is compared when it is loaded.
    pub(crate) fn check_pins(&self, inventory: &mut Inventory) {
        let pins = SkillPins::read(self);
        if pins.is_empty() {
            return;
        }
        let mut digests: Vec<(PathBuf, Digest, Fingerprint)> = Vec::new();
        let (mut trusted, mut untrusted) = (MAX_TRUSTED, MAX_UNTRUSTED);
        let Catalog { roots, entries, .. } = &mut inventory.catalog;
        let is_trusted = |entry: &CatalogEntry| {
            let root = entry.root.and_then(|root| roots.get(usize::from(root)));
            root.is_some_and(|root| root.trusted)
        };
        for entry in entries {
            let is_known = entry.digest.is_some() || entry.card.is_none();
            if is_known || !pins.is_pinned(entry) {
                continue;
            }
            let left = match is_trusted(entry) {
                true => &mut trusted,
                false => &mut untrusted,
            };
            let found = entry.place.digest_from(MAX_BYTES, MAX_FILES, left);
            if let Ok((digest, state)) = found {
                entry.digest = Some(digest);
                digests.push((entry.place.path().into_owned(), digest, state));
            }
        }
        self.remember_digests(&inventory.catalog.roots, &digests);
        for skill in &mut inventory.skills {
            let entry = &inventory.catalog.entries[skill.entry];
            let Some(problem) = pins.problem(entry, entry.digest) else {
                continue;
            };
            if matches!(skill.status, Status::Invalid | Status::Disabled) {
                continue;
            }
            skill.reasons.push(Reason {
                kind: ReasonKind::Lock,
                name: entry.name().into(),
                message: problem.message.into(),
                hint: Some(problem.hint.into()),
                line: None,
                requirement: None,
            });
            if skill.status != Status::Shadowed {
                skill.status = Status::Blocked;
            }
        }
    }

    /// The folders of skills that the user placed in this project and that still have those bytes: each is a trusted root.
    pub(crate) fn placed_roots(&self, roots: &[Root]) -> Result<Vec<Root>, Error> {
        let Ok(places) = self.scope_places(InstallScope::Project) else {
            return Ok(Vec::new());
        };
        let is_untrusted = |root: &&Root| root.path == places.skills && !root.trusted;
        if !roots.iter().any(|root| is_untrusted(&root)) {
            return Ok(Vec::new());
        }
        let placed = self.placed_skills()?;
        let placed = placed.into_iter().filter(|placed| {
            let place = SkillLocation::Folder(placed.folder.clone());
            let found = place.digest_within(MAX_BYTES, MAX_FILES);
            found.is_ok_and(|(digest, _)| digest.to_string() == placed.digest)
        });
        let roots = placed.map(|placed| Root::usual(Source::Project, placed.folder));
        Ok(roots.collect())
    }

    /// The skills that the user placed in this project, whatever their bytes.
    fn placed_skills(&self) -> Result<Vec<PlacedSkill>, Error> {
        let places = self.scope_places(InstallScope::Project)?;
        let Ok(folder) = places.skills.canonicalize() else {
            return Ok(Vec::new());
        };
        match self.existing_store()? {
            Some(store) => Ok(store.placed_in(&folder)?),
            None => Ok(Vec::new()),
        }
    }

    /// Why these bytes of a skill are withheld: a different lock, or a different skill than the user placed.
    pub(crate) fn pin_problem(
        &self,
        pins: &SkillPins,
        roots: &[Root],
        entry: &CatalogEntry,
        digest: Digest,
    ) -> Option<PinProblem> {
        let problem = pins.problem(entry, Some(digest));
        if problem.is_some() || entry.source != Source::Project {
            return problem;
        }
        let root = entry.root.and_then(|root| roots.get(usize::from(root)))?;
        let folder = real_folder(entry).filter(|folder| root.path == *folder)?;
        let placed = self.placed_skills().unwrap_or_default();
        let placed = placed.iter().find(|placed| placed.folder == folder)?;
        (placed.digest != digest.to_string()).then(|| PinProblem {
            message: "its files were changed since it was added".to_owned(),
            hint: "review it, then `metier trust` the project or add the skill again".to_owned(),
        })
    }
}
