//! Updating installed skills: what the source contains now, compared with what is here, and joined with local edits.
//!
//! An update takes the same way as an installation: its bytes are scanned in quarantine before anything is decided. Local edits are never lost: they
//! stop the update, are joined with it file by file, or are discarded because the user requested it.

use std::{fs, path::Path};

use metier_catalog::{MemoryBudget, SkillLocation, SnapshotContent};
use metier_hub::{Change, fetch::FetchedSkill};
use metier_model::{Digest, Want, text::shell_word};
use metier_package::{
    LockedSkill, MergeError, PackageFile, PackagePath, PackageTree, TreeError, merge,
};
use metier_policy::{Decision, PermissionAnswer, decide};

use super::{
    apply::refusal,
    card::InstallObstacle,
    difference::{FileDiff, SetDifference, file_diffs, hosts},
    places::{InstallScope, ScopePlaces},
    plan::{InstallDecision, InstallPlan, PlannedSkill},
};
use crate::{Error, Workspace, permissions::PermissionDecision, text::one_line};

/// The largest skill that is read to be compared.
const MAX_TREE: usize = 256 << 20;

/// Which skills are updated, and what happens to local edits. An example is at [`Workspace::prepare_update`].
#[derive(Clone, Debug, Default)]
pub struct UpdateOptions {
    /// The scope whose skills they are.
    pub scope: InstallScope,
    /// The skills; all installed ones if empty.
    pub names: Vec<String>,
    /// The handling of local edits.
    pub edits: LocalEdits,
}

/// The treatment of files that were edited since their skill was installed.
///
/// The example of [`Workspace::prepare_rollback`] refuses them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LocalEdits {
    /// They stop the update of the skill.
    #[default]
    Refuse,
    /// They are kept, and the other files are updated.
    Keep,
    /// They are replaced.
    Discard,
}

/// Newer versions of skills that were fetched, scanned and compared. Nothing is changed yet.
///
/// ```no_run
/// use metier::distribution::{UpdateDecision, UpdatePlan, UpdateState};
///
/// # fn f(plan: UpdatePlan) -> Result<(), metier::Error> {
/// let mut decisions = Vec::new();
/// for update in plan.updates().iter().filter(|one| matches!(one.state, UpdateState::Ready)) {
///     let decision = UpdateDecision { name: update.name.clone(), ..UpdateDecision::default() };
///     match plan.objection(&decision) {
///         None => decisions.push(decision),
///         Some(why) => println!("{}: {why}", update.name),
///     }
/// }
/// plan.apply(&decisions)?;
/// # Ok(())
/// # }
/// ```
pub struct UpdatePlan {
    /// The command that carries it out: `update` or `rollback`.
    verb: &'static str,
    plan: Option<InstallPlan>,
    updates: Vec<SkillUpdate>,
    /// New versions without the local edits that were joined with them: the base of the next update.
    originals: Vec<PackageTree>,
    workspace: Workspace,
}

/// The planned result for one skill. An example is at [`UpdatePlan`].
#[derive(Debug)]
pub struct SkillUpdate {
    /// The name of its folder, and in the lock.
    pub name: String,
    /// The scope that it is installed in.
    pub scope: InstallScope,
    /// Where it was installed from.
    pub source: String,
    /// The installed state.
    pub here: SkillRevision,
    /// The state in the source, if it could be fetched.
    pub newest: Option<SkillRevision>,
    /// What can be done.
    pub state: UpdateState,
    /// The files that would be different.
    pub files: Vec<FileDiff>,
    /// The permissions that it asks for.
    pub permissions: SetDifference,
    /// The hosts that its files name.
    pub hosts: SetDifference,
    /// The permissions that the new version requests and that are already approved for the installed one.
    kept_permissions: Vec<String>,
}

/// One state of a skill: its version, its commit, its bytes. An example is at [`SkillRevision::label`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRevision {
    /// The version that its manifest states.
    pub version: Option<String>,
    /// The commit, if it came from a git repository.
    pub commit: Option<String>,
    /// The digest of its files.
    pub digest: Digest,
}

impl SkillRevision {
    pub(crate) fn locked(locked: &LockedSkill) -> Self {
        Self {
            version: locked.version.as_ref().map(ToString::to_string),
            commit: locked.commit.clone(),
            digest: locked.original.unwrap_or(locked.tree),
        }
    }

    pub(crate) fn fetched(fetched: &FetchedSkill) -> Self {
        Self {
            version: fetched.origin.version.as_ref().map(ToString::to_string),
            commit: fetched.origin.commit.clone(),
            digest: fetched.tree.digest(),
        }
    }

    /// The version, or the beginning of the commit or of the digest.
    ///
    /// ```
    /// use metier::{Digest, distribution::SkillRevision};
    ///
    /// let revision = SkillRevision { version: Some("1.2.0".into()), commit: None, digest: Digest([0; 32]) };
    /// assert_eq!(revision.label(), "1.2.0");
    /// ```
    #[must_use]
    pub fn label(&self) -> String {
        let short = |text: &str| text.chars().take(12).collect();
        match (&self.version, &self.commit) {
            (Some(version), _) => one_line(version),
            (None, Some(commit)) => short(commit),
            (None, None) => {
                let digest = self.digest.to_string();
                short(digest.strip_prefix("sha256:").unwrap_or(&digest))
            }
        }
    }
}

/// The state of one skill in an update. The example of [`UpdatePlan`] selects those that can be updated.
#[derive(Debug)]
pub enum UpdateState {
    /// It is the newest.
    Current,
    /// It can be updated.
    Ready,
    /// It was edited since it was installed, and nothing was decided about that: the edited files, and those of them that the new version
    /// changes too.
    Edited {
        /// Files that differ from the installed ones.
        files: Vec<String>,
        /// Files that the new version changes as well, or why the two can't be joined.
        conflicts: Vec<String>,
    },
    /// It can't be updated.
    Failed(Error),
}

impl UpdateState {
    /// The word in JSON.
    ///
    /// ```
    /// assert_eq!(metier::distribution::UpdateState::Ready.as_str(), "ready");
    /// ```
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Ready => "ready",
            Self::Edited { .. } => "edited",
            Self::Failed(_) => "failed",
        }
    }
}

/// The decision about one skill. A skill without one is not updated. An example is at [`UpdatePlan`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateDecision {
    /// The name of the skill.
    pub name: String,
    /// The new permissions that are approved, as in `shell:exec(git *)`.
    pub approve: Vec<String>,
    /// Whether a new signer is accepted.
    pub accept_signer: bool,
}

/// The result of [`UpdatePlan::apply`]: the updated skills. An example is at [`UpdatePlan`].
#[derive(Debug, Default)]
pub struct UpdateReport {
    /// The change, for `undo`; none if nothing was different.
    pub change: Option<Change>,
    /// The skills that were updated.
    pub updated: Vec<String>,
}

/// A skill whose new files were chosen.
struct ChosenUpdate {
    name: String,
    locked: LockedSkill,
    local: PackageTree,
    fetched: FetchedSkill,
    newest: SkillRevision,
    /// The files without local edits, if some were joined with them.
    original: Option<PackageTree>,
    /// The known key that signed those.
    signer: Option<String>,
}

impl Workspace {
    /// Fetches the newest version of installed skills from where they were installed, and compares. Nothing is changed.
    ///
    /// ```no_run
    /// use metier::distribution::{UpdateDecision, UpdateOptions};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let plan = workspace.prepare_update(&UpdateOptions::default())?;
    /// for update in plan.updates() {
    ///     println!("{}: {} new permissions", update.name, update.permissions.added.len());
    /// }
    /// let name = "pdf".to_owned();
    /// plan.apply(&[UpdateDecision { name, ..UpdateDecision::default() }])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When a skill is not installed, or when a lock can't be read. A source that can't be fetched is part of the plan.
    pub fn prepare_update(&self, options: &UpdateOptions) -> Result<UpdatePlan, Error> {
        let wanted = self.locked_skills(&options.names, options.scope)?;
        let mut found = Vec::new();
        let mut failed = Vec::new();
        for (name, locked, newest) in self.newest(wanted, options.scope) {
            match newest {
                Ok(fetched) => found.push((name, locked, fetched)),
                Err(error) => {
                    let state = UpdateState::Failed(error.skill(&name));
                    failed.push(bare(&name, options.scope, &locked, None, state));
                }
            }
        }
        let mut plan = self.plan_for("update", found, options)?;
        plan.updates.extend(failed);
        plan.updates.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(plan)
    }

    /// Compares new files of skills with those that are here, joins them with local edits and scans the result.
    pub(crate) fn plan_for(
        &self,
        verb: &'static str,
        found: Vec<(String, LockedSkill, FetchedSkill)>,
        options: &UpdateOptions,
    ) -> Result<UpdatePlan, Error> {
        let mut updates = Vec::new();
        let mut chosen = Vec::new();
        for (name, locked, fetched) in found {
            match self.choose(&name, &locked, fetched, options)? {
                Ok(update) => chosen.push(update),
                Err(update) => updates.push(update),
            }
        }
        self.plan_updates(verb, chosen, updates, options.scope)
    }

    /// The files that a skill gets, or why it gets none.
    fn choose(
        &self,
        name: &str,
        locked: &LockedSkill,
        fetched: FetchedSkill,
        options: &UpdateOptions,
    ) -> Result<Result<ChosenUpdate, SkillUpdate>, Error> {
        let newest = SkillRevision::fetched(&fetched);
        let stop = |state| {
            Ok(Err(bare(
                name,
                options.scope,
                locked,
                Some(newest.clone()),
                state,
            )))
        };
        let base_digest = locked.original.unwrap_or(locked.tree);
        let base = self.objects()?.get(base_digest);
        let place = self.scope_places(options.scope)?.skill(name);
        let is_there = fs::symlink_metadata(&place).is_ok();
        let is_newest = newest.digest == base_digest;
        if is_newest && !is_there {
            let error = Error::unmet("missing", format!("the folder of `{name}` is missing"));
            let error = error.skill(name).path(&place);
            return stop(UpdateState::Failed(
                error.hint("`metier install` installs it again"),
            ));
        }
        let local = match is_there {
            true => folder_tree(&place)?,
            false => base.clone().unwrap_or_default(),
        };
        // An edit that was accepted, or merged with an update, is in the lock.
        let is_locked = local.digest() == locked.tree;
        if is_newest && (is_locked || options.edits == LocalEdits::Keep) {
            return stop(UpdateState::Current);
        }
        let is_edited = place.exists() && local.digest() != base_digest;
        let mut chosen = ChosenUpdate {
            name: name.to_owned(),
            locked: locked.clone(),
            local,
            signer: self.judge_signer(&fetched, Some(locked))?.trusted(),
            fetched,
            newest: newest.clone(),
            original: None,
        };
        if !is_edited || options.edits == LocalEdits::Discard {
            return Ok(Ok(chosen));
        }
        let merged = match &base {
            Some(base) => merge(base, &chosen.local, &chosen.fetched.tree),
            None => Err(MergeError::Conflict(vec![
                "the installed files are no longer kept".to_owned(),
            ])),
        };
        match (options.edits, merged) {
            (LocalEdits::Keep, Ok(merged)) => {
                let original = std::mem::replace(&mut chosen.fetched.tree, merged);
                // The signature belongs to the original, and was judged with it.
                chosen.fetched.origin.signature = None;
                chosen.fetched.archive = None;
                chosen.original = Some(original);
                Ok(Ok(chosen))
            }
            (_, merged) => {
                let edited = file_diffs(&base.unwrap_or_default(), &chosen.local);
                stop(UpdateState::Edited {
                    files: edited.into_iter().map(|file| file.path).collect(),
                    conflicts: match merged {
                        Ok(_) => Vec::new(),
                        Err(MergeError::Conflict(files)) => files,
                        Err(MergeError::Tree(error)) => vec![error.to_string()],
                    },
                })
            }
        }
    }

    /// Scans what was chosen, and compares it with what is here.
    fn plan_updates(
        &self,
        verb: &'static str,
        chosen: Vec<ChosenUpdate>,
        mut updates: Vec<SkillUpdate>,
        scope: InstallScope,
    ) -> Result<UpdatePlan, Error> {
        let mut originals = Vec::new();
        let mut plan = None;
        if !chosen.is_empty() {
            let new = chosen.iter().map(|update| update.fetched.clone()).collect();
            let mut planned = self.plan_skills(verb, new, scope)?;
            for (skill, update) in planned.skills.iter_mut().zip(chosen) {
                updates.push(self.compared(skill, &update, scope)?);
                if let Some(original) = update.original {
                    if update.signer.is_some() {
                        let all = &mut skill.card.obstacles;
                        all.retain(|one| !matches!(one, InstallObstacle::OtherSigner(_)));
                        skill.locked.signer = update.signer;
                    }
                    let digest = original.digest();
                    skill.locked.original = Some(digest).filter(|one| *one != skill.locked.tree);
                    originals.push(original);
                }
            }
            plan = Some(planned);
        }
        Ok(UpdatePlan {
            verb,
            plan,
            updates,
            originals,
            workspace: self.clone(),
        })
    }

    fn compared(
        &self,
        skill: &PlannedSkill,
        update: &ChosenUpdate,
        scope: InstallScope,
    ) -> Result<SkillUpdate, Error> {
        if skill.key != update.name {
            let message = format!(
                "the source has renamed the skill to `{}`",
                one_line(&skill.key)
            );
            let error = Error::unmet("renamed", message).skill(&update.name);
            let hint = format!(
                "metier {} {}",
                scope.verb(),
                self.typed_source(&update.locked.source)
            );
            let state = UpdateState::Failed(error.hint(hint));
            return Ok(bare(
                &update.name,
                scope,
                &update.locked,
                Some(update.newest.clone()),
                state,
            ));
        }
        let before = self.plan_skills(
            "compare",
            vec![FetchedSkill {
                tree: update.local.clone(),
                ..update.fetched.clone()
            }],
            scope,
        );
        // The files here may be damaged: then every permission that the new version requests is new.
        let before = before.ok().and_then(|mut plan| plan.skills.pop());
        let asked = |skill: &PlannedSkill| -> Vec<String> {
            let all = skill.card.permissions.iter();
            all.map(|one| one.permission.clone()).collect()
        };
        let old = before.as_ref().map(asked).unwrap_or_default();
        let new = asked(skill);
        let was_allowed = |permission: &String| {
            let known = before.iter().flat_map(|skill| &skill.card.permissions);
            let mut known = known.filter(|one| one.permission == *permission);
            known.any(|one| one.decision == PermissionDecision::Allow)
        };
        let state = match skill.card.is_refused() {
            true => UpdateState::Failed(refusal(&skill.card)),
            false => UpdateState::Ready,
        };
        Ok(SkillUpdate {
            files: file_diffs(&update.local, &skill.tree),
            hosts: SetDifference::between(&hosts(&update.local), &hosts(&skill.tree)),
            kept_permissions: new.iter().filter(|one| was_allowed(one)).cloned().collect(),
            permissions: SetDifference::between(&old, &new),
            ..bare(
                &update.name,
                scope,
                &update.locked,
                Some(update.newest.clone()),
                state,
            )
        })
    }

    /// The files of an installed skill, if they are those of the lock.
    pub(crate) fn placed_tree(
        &self,
        places: &ScopePlaces,
        name: &str,
        digest: Digest,
    ) -> Result<PackageTree, Error> {
        let place = places.skill(name);
        let tree = folder_tree(&place)?;
        if tree.digest() == digest {
            return Ok(tree);
        }
        let message = format!("skill `{name}` was edited after it was installed");
        Err(Error::unmet("edited", message)
            .skill(name)
            .path(place)
            .hint(format!("metier verify {}", shell_word(name))))
    }
}

fn bare(
    name: &str,
    scope: InstallScope,
    locked: &LockedSkill,
    newest: Option<SkillRevision>,
    state: UpdateState,
) -> SkillUpdate {
    SkillUpdate {
        name: name.to_owned(),
        scope,
        source: locked.source.clone(),
        here: SkillRevision::locked(locked),
        newest,
        state,
        files: Vec::new(),
        permissions: SetDifference::default(),
        hosts: SetDifference::default(),
        kept_permissions: Vec::new(),
    }
}

impl UpdatePlan {
    /// This plan for a later moment, as [`InstallPlan::at`], which has an example.
    #[must_use]
    pub fn at(self, workspace: &Workspace) -> Self {
        Self {
            plan: self.plan.map(|plan| plan.at(workspace)),
            workspace: workspace.clone(),
            ..self
        }
    }

    /// The size of all new versions, in bytes. An example of a plan is at [`UpdatePlan`].
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.plan.as_ref().map_or(0, InstallPlan::bytes)
    }

    /// Every skill that was compared, sorted by name. An example is at [`UpdatePlan`].
    #[must_use]
    pub fn updates(&self) -> &[SkillUpdate] {
        &self.updates
    }

    /// The plan of an update's installation: its card has the permissions, the verdict and the obstacles.
    ///
    /// The example of [`SkillUpdate::unapproved`] calls it.
    #[must_use]
    pub fn planned(&self, name: &str) -> Option<&PlannedSkill> {
        let skills = self.plan.iter().flat_map(|plan| plan.skills());
        let mut skills = skills.filter(|skill| skill.key == name);
        skills.next()
    }

    /// Why a decision can't be carried out, if that is so: a new permission is not approved, the signer changed, the scanner blocks it, or
    /// local edits are in the way.
    ///
    /// An example is at [`UpdatePlan`].
    #[must_use]
    pub fn objection(&self, decision: &UpdateDecision) -> Option<Error> {
        self.agree(decision).err()
    }

    /// Changes the skills that were decided about: all of them or none.
    ///
    /// An example is at [`UpdatePlan`].
    ///
    /// # Errors
    /// When there is an objection to a decision, or when a place can't be written.
    pub fn apply(self, decisions: &[UpdateDecision]) -> Result<UpdateReport, Error> {
        let agreed: Result<Vec<Option<InstallDecision>>, Error> = decisions
            .iter()
            .map(|decision| self.agree(decision))
            .collect();
        let agreed: Vec<InstallDecision> = agreed?.into_iter().flatten().collect();
        let Some(plan) = self.plan else {
            return Ok(UpdateReport::default());
        };
        let objects = self.workspace.objects()?;
        self.originals
            .iter()
            .try_for_each(|tree| objects.keep(tree))?;
        let report = plan.apply(&agreed)?;
        let installed = report.skills.into_iter().filter(|skill| skill.is_installed);
        Ok(UpdateReport {
            change: report.change,
            updated: installed.map(|skill| skill.card.name).collect(),
        })
    }

    /// Checks a decision. `None` if there is nothing to do.
    fn agree(&self, decision: &UpdateDecision) -> Result<Option<InstallDecision>, Error> {
        let mut updates = self.updates.iter();
        let update = updates.find(|update| update.name == decision.name);
        let update = update.ok_or_else(|| {
            let message = format!(
                "skill `{}` is not part of the {}",
                one_line(&decision.name),
                self.verb
            );
            Error::unmet("unknown-skill", message)
        })?;
        let skill = match (&update.state, self.planned(&decision.name)) {
            (UpdateState::Ready, Some(skill)) => skill,
            (UpdateState::Current, _) => return Ok(None),
            _ => return Err(update.refusal()),
        };
        let is_signer = |one: &InstallObstacle| matches!(one, InstallObstacle::OtherSigner(_));
        if skill.card.obstacles.iter().any(is_signer) && !decision.accept_signer {
            let message = format!("skill `{}` is not signed by its known signer", update.name);
            return Err(Error::unmet("other-signer", message)
                .skill(&update.name)
                .hint(format!(
                    "ask its author; if the new key is right: {} --accept-signer",
                    update.scope.command("update")
                )));
        }
        let broken = skill.card.obstacles.iter().find_map(|one| match one {
            InstallObstacle::Breaks(why) => Some(one_line(why)),
            _ => None,
        });
        if let Some(why) = broken {
            let name = shell_word(&update.name);
            let message = format!(
                "the {} of `{}` is incompatible with an installed skill",
                self.verb, update.name
            );
            return Err(Error::unmet("breaks", message)
                .skill(&update.name)
                .detail(why)
                .hint(format!(
                    "update both: {}; or only this one: metier {} {name} --replace",
                    update.scope.command("update"),
                    update.scope.verb()
                )));
        }
        let open = update.unapproved(skill, &decision.approve)?;
        if !open.is_empty() {
            return Err(self.needs_approval(update, &decision.approve, &open));
        }
        let approve = update.kept_permissions.iter().chain(&decision.approve);
        Ok(Some(InstallDecision {
            name: skill.card.name.clone(),
            approve: approve.cloned().collect(),
            replace: true,
        }))
    }

    /// The hint approves every permission, those that were approved already and those that are open, so that it can be typed as it is.
    fn needs_approval(&self, update: &SkillUpdate, given: &[String], open: &[String]) -> Error {
        let (verb, name) = (self.verb, &update.name);
        let message = format!("the {verb} of `{name}` asks for new permissions");
        let error = Error::unmet("needs-approval", message).skill(name);
        let words = given.iter().chain(open);
        let words = words.map(|one| format!(" --approve {}", shell_word(one)));
        let words: String = words.collect();
        let details = open.iter().map(|one| format!("+ {one}"));
        let error = details.fold(error, Error::detail);
        let command = update.scope.command(verb);
        error.hint(format!("{command} {} --yes{words}", shell_word(name)))
    }
}

impl SkillUpdate {
    /// The new permissions that these answers do not cover, and nothing else decided about.
    ///
    /// ```no_run
    /// # fn f(plan: &metier::distribution::UpdatePlan) -> Result<(), metier::Error> {
    /// for update in plan.updates() {
    ///     if let Some(planned) = plan.planned(&update.name) {
    ///         println!("{} asks for {}", update.name, update.unapproved(planned, &[])?.join(", "));
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When an answer is not a permission.
    pub fn unapproved(
        &self,
        skill: &PlannedSkill,
        approve: &[String],
    ) -> Result<Vec<String>, Error> {
        let answer = |text: &String| -> Result<PermissionAnswer, Error> {
            let want: Want = text.parse().map_err(|error: metier_model::WantError| {
                Error::broken("usage", error.to_string())
                    .hint("write it as in `shell:exec(git *)` or `net:fetch(api.github.com)`")
            })?;
            let decision = Decision::Allow;
            Ok(PermissionAnswer { want, decision })
        };
        let answers: Result<Vec<PermissionAnswer>, Error> = approve.iter().map(answer).collect();
        let answers = answers?;
        let is_new = |text: &String| self.permissions.added.contains(text);
        let open = skill.open.iter().filter(|asked| {
            is_new(&asked.want.to_string()) && decide(&asked.want, &answers) != Decision::Allow
        });
        Ok(open.map(|asked| asked.want.to_string()).collect())
    }

    /// The reason why it can't be updated, as an error. The example of [`UpdatePlan`] prints objections.
    #[must_use]
    pub fn refusal(&self) -> Error {
        let word = shell_word(&self.name);
        let command = self.scope.command("update");
        match &self.state {
            UpdateState::Failed(error) => error.clone(),
            UpdateState::Edited { files, conflicts } => {
                let message = format!("skill `{}` was edited after it was installed", self.name);
                let error = Error::unmet("edited", message).skill(&self.name);
                let error = files.iter().take(10).fold(error, |error, file| {
                    let both = conflicts.contains(file);
                    let note = if both {
                        ", which the new version changes too"
                    } else {
                        ""
                    };
                    error.detail(format!("{}{note}", one_line(file)))
                });
                error.hint(match conflicts.is_empty() {
                    true => format!("keep the edits with `{command} {word} --keep-local`, or discard them with `--discard-local`"),
                    false => format!("save your edits elsewhere, then: {command} {word} --discard-local"),
                })
            }
            UpdateState::Current | UpdateState::Ready => Error::unmet(
                "not-agreed",
                format!("skill `{}` is not updated", self.name),
            ),
        }
    }
}

/// The files of a folder. A link or a special file in it can't be part of a package.
pub(crate) fn folder_tree(folder: &Path) -> Result<PackageTree, Error> {
    let unreadable = |why: String| {
        Error::unmet(
            "unreadable",
            format!("the files of the skill can't be compared: {why}"),
        )
        .path(folder)
        .hint("remove the links and special files, or remove the skill and install it again")
    };
    let room = MemoryBudget {
        file: MAX_TREE,
        total: MAX_TREE,
    };
    let location = SkillLocation::Folder(folder.to_owned());
    let held = location
        .snapshot(room)
        .map_err(|error| unreadable(error.to_string()))?;
    let mut files = Vec::new();
    for file in held.files {
        let path = PackagePath::new(file.path.as_bytes())
            .map_err(|error| unreadable(error.to_string()))?;
        let SnapshotContent::Bytes(bytes) = file.content else {
            return Err(unreadable(format!("`{path}` is not a file")));
        };
        files.push(PackageFile { path, bytes });
    }
    PackageTree::new(files).map_err(|error: TreeError| unreadable(error.to_string()))
}
