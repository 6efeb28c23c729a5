//! Going back to a state of a skill that was installed before. Its bytes are kept by digest, and scanned again with today's rules.

use std::time::SystemTime;

use metier_hub::fetch::{FetchedSkill, SkillOrigin};
use metier_model::{Card, FileText, Files, Strictness, parse_card, text::shell_word};
use metier_package::PackageTree;

use super::{
    checking::folder_name,
    places::InstallScope,
    update::{LocalEdits, SkillRevision, UpdateOptions, UpdatePlan},
};
use crate::{Error, Workspace, text::one_line};

/// A state of a skill whose bytes are kept.
///
/// An example is at [`Workspace::kept_revisions`].
#[derive(Clone, Debug)]
pub struct StoredRevision {
    /// The version and digest.
    pub revision: SkillRevision,
    /// Since when it is kept.
    pub since: SystemTime,
    /// Whether it is installed now.
    pub is_current: bool,
}

impl Workspace {
    /// The states of an installed skill to which it can be rolled back, and the one that it has now; the newest first.
    ///
    /// ```no_run
    /// use metier::distribution::InstallScope;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for kept in workspace.kept_revisions("pdf", InstallScope::User)? {
    ///     println!("{}, installed now: {}", kept.revision.label(), kept.is_current);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skill is not installed, or when the lock can't be read.
    pub fn kept_revisions(
        &self,
        name: &str,
        scope: InstallScope,
    ) -> Result<Vec<StoredRevision>, Error> {
        let kept = self.kept_trees(name, scope)?;
        Ok(kept.into_iter().map(|(kept, _)| kept).collect())
    }

    fn kept_trees(
        &self,
        name: &str,
        scope: InstallScope,
    ) -> Result<Vec<(StoredRevision, PackageTree)>, Error> {
        let lock = self.lock(scope)?;
        let locked = lock.skills.get(name);
        let locked = locked.ok_or_else(|| self.not_in_scope(name, scope))?;
        let objects = self.objects()?;
        let mut found = Vec::new();
        for (digest, since) in objects.list() {
            let Some(tree) = objects.get(digest) else {
                continue;
            };
            let Some(card) = card_of(&tree) else { continue };
            if folder_name(&card.name).as_deref() != Some(name) {
                continue;
            }
            let revision = SkillRevision {
                version: card
                    .version
                    .as_ref()
                    .map(|version| version.as_str().to_owned()),
                commit: None,
                digest,
            };
            let is_current = digest == locked.tree;
            found.push((
                StoredRevision {
                    revision,
                    since,
                    is_current,
                },
                tree,
            ));
        }
        found.sort_by_key(|(kept, _)| {
            std::cmp::Reverse((kept.since, kept.revision.digest.to_string()))
        });
        Ok(found)
    }

    /// Prepares the return of a skill to an earlier state: to a version or to the beginning of a digest, or to the one before the current one. Nothing is
    /// changed.
    ///
    /// ```no_run
    /// use metier::distribution::{InstallScope, LocalEdits, UpdateDecision};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let plan = workspace.prepare_rollback("pdf", None, InstallScope::User, LocalEdits::Refuse)?;
    /// let name = "pdf".to_owned();
    /// plan.apply(&[UpdateDecision { name, ..UpdateDecision::default() }])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skill is not installed, or when no such state is kept.
    pub fn prepare_rollback(
        &self,
        name: &str,
        to: Option<&str>,
        scope: InstallScope,
        edits: LocalEdits,
    ) -> Result<UpdatePlan, Error> {
        let mut kept = self.kept_trees(name, scope)?;
        let position = match to {
            Some(wanted) => kept
                .iter()
                .position(|(kept, _)| is_meant(&kept.revision, wanted)),
            None => {
                let current = kept.iter().position(|(kept, _)| kept.is_current);
                let next = current.map_or(0, |current| current + 1);
                (next < kept.len()).then_some(next)
            }
        };
        let Some(position) = position else {
            return Err(not_kept(name, scope, to, &kept));
        };
        let (revision, tree) = kept.swap_remove(position);
        let locked = self.lock(scope)?.skills.remove(name);
        let locked = locked.ok_or_else(|| self.not_in_scope(name, scope))?;
        let fetched = FetchedSkill {
            name: name.to_owned(),
            tree,
            origin: SkillOrigin {
                source: locked.source.clone(),
                registry: locked.registry.clone(),
                version: revision
                    .revision
                    .version
                    .as_ref()
                    .and_then(|text| text.parse().ok()),
                ..SkillOrigin::default()
            },
            archive: None,
        };
        let options = UpdateOptions {
            scope,
            names: vec![name.to_owned()],
            edits,
        };
        self.plan_for(
            "rollback",
            vec![(name.to_owned(), locked, fetched)],
            &options,
        )
    }
}

fn card_of(tree: &PackageTree) -> Option<Card> {
    let text = |name: &'static str| {
        let text = std::str::from_utf8(tree.get(name)?).ok()?;
        Some(FileText { name, text })
    };
    let files = Files {
        folder: None,
        skill_md: text("SKILL.md"),
        skill_yaml: text("SKILL.yaml"),
        sidecar: None,
    };
    parse_card(&files, Strictness::Lenient).0
}

/// Whether a version, or the beginning of a digest of at least six digits, names a state.
fn is_meant(revision: &SkillRevision, wanted: &str) -> bool {
    let digest = revision.digest.to_string();
    let hex = digest.strip_prefix("sha256:").unwrap_or(&digest);
    let wanted_hex = wanted.strip_prefix("sha256:").unwrap_or(wanted);
    revision.version.as_deref() == Some(wanted)
        || (wanted_hex.len() >= 6 && hex.starts_with(wanted_hex))
}

fn not_kept(
    name: &str,
    scope: InstallScope,
    to: Option<&str>,
    kept: &[(StoredRevision, PackageTree)],
) -> Error {
    let message = match to {
        Some(wanted) => format!("`{}` of skill `{name}` is not kept", one_line(wanted)),
        None => format!("no earlier state of skill `{name}` is kept"),
    };
    let error = Error::unmet("not-kept", message).skill(name);
    let lines = kept.iter().take(10).map(|(kept, _)| {
        let digest = kept.revision.digest.to_string();
        let digest: String = digest.chars().take(7 + 12).collect();
        let version = kept.revision.version.as_deref().unwrap_or("no version");
        let now = if kept.is_current {
            ", installed now"
        } else {
            ""
        };
        format!("{} {digest}{now}", one_line(version))
    });
    let error = lines.fold(error, Error::detail);
    error.hint(format!(
        "{} {} fetches the newest",
        scope.command("update"),
        shell_word(name)
    ))
}
