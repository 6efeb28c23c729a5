//! Documents about installed skills: whether they are enabled, copies in other agents' folders, newer versions.

use metier::{
    Error,
    distribution::{
        FileDiff, InstallObstacle, PlannedSkill, RequiredSkill, SetDifference, SettingsChange,
        SkillProfile, SkillRevision, SkillUpdate, SwitchReport, SyncReport, UpdateAvailability,
        UpdatePlan, UpdateState,
    },
};
use serde::Serialize;

/// `enable --json` and `disable --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwitchDocument {
    /// `enable` or `disable`.
    pub action: &'static str,
    /// Each of the skills.
    pub skills: Vec<SwitchRow>,
    /// The configuration file that states it.
    pub path: String,
    /// Whether nothing was written because of `--dry-run`.
    pub dry_run: bool,
    /// The number of the change, for `undo`.
    pub change: Option<String>,
}

/// One skill that was enabled or disabled.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwitchRow {
    /// Name of the skill.
    pub name: String,
    /// Whether its state changed.
    pub changed: bool,
}

impl SwitchDocument {
    /// The document about a report.
    #[must_use]
    pub fn of(report: &SwitchReport, action: &'static str, dry_run: bool) -> Self {
        let rows = report.skills.iter().map(|skill| SwitchRow {
            name: skill.name.clone(),
            changed: skill.is_different,
        });
        Self {
            action,
            skills: rows.collect(),
            path: report.settings.file.to_string_lossy().into_owned(),
            dry_run,
            change: change_number(&report.settings),
        }
    }
}

fn change_number(settings: &SettingsChange) -> Option<String> {
    settings.change.as_ref().map(|change| change.id.to_string())
}

/// `profile --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfilesDocument {
    /// `list`, `use`, `clear`, `save` or `remove`.
    pub action: &'static str,
    /// The profile in use.
    pub active: Option<String>,
    /// All profiles.
    pub profiles: Vec<ProfileRow>,
    /// Whether nothing was written because of `--dry-run`.
    pub dry_run: bool,
    /// The number of the change, for `undo`.
    pub change: Option<String>,
}

/// One profile.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileRow {
    /// Its name.
    pub name: String,
    /// Its skills.
    pub skills: Vec<String>,
    /// Skills of the profile that are not on this machine.
    pub missing: Vec<String>,
    /// Whether it is in use.
    pub active: bool,
}

impl ProfilesDocument {
    /// The document about profiles, and a change of them.
    #[must_use]
    pub fn of(
        profiles: &[SkillProfile],
        action: &'static str,
        settings: Option<&SettingsChange>,
        dry_run: bool,
    ) -> Self {
        let rows = profiles.iter().map(|profile| ProfileRow {
            name: profile.name.clone(),
            skills: profile.skills.clone(),
            missing: profile.missing.clone(),
            active: profile.is_active,
        });
        let active = profiles.iter().find(|profile| profile.is_active);
        Self {
            action,
            active: active.map(|profile| profile.name.clone()),
            profiles: rows.collect(),
            dry_run,
            change: settings.and_then(change_number),
        }
    }
}

/// `sync --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncDocument {
    /// Every place.
    pub places: Vec<SyncRow>,
    /// Whether nothing was changed because of `--dry-run`.
    pub dry_run: bool,
    /// The number of the change, for `undo`.
    pub change: Option<String>,
}

/// A skill in the folder of an agent.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncRow {
    /// Name of the skill.
    pub skill: String,
    /// Name of the agent.
    pub agent: String,
    /// Where it is for this agent.
    pub path: String,
    /// `link`, `copy`, `keep`, `shared`, `remove` or `leave`.
    pub action: &'static str,
    /// The existing file or folder, if it was left unchanged.
    pub found: Option<&'static str>,
}

impl SyncDocument {
    /// The document about a report.
    #[must_use]
    pub fn of(report: &SyncReport, dry_run: bool) -> Self {
        let rows = report.places.iter().map(|place| SyncRow {
            skill: place.skill.clone(),
            agent: place.agent.clone(),
            path: place.place.to_string_lossy().into_owned(),
            action: place.action.as_str(),
            found: place.action.found(),
        });
        Self {
            places: rows.collect(),
            dry_run,
            change: report.change.as_ref().map(|change| change.id.to_string()),
        }
    }
}

/// `update --json` and `rollback --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UpdateDocument {
    /// Every skill that was compared.
    pub skills: Vec<UpdateRow>,
    /// The skills that were changed.
    pub updated: Vec<String>,
    /// Whether nothing was changed because of `--dry-run`.
    pub dry_run: bool,
    /// The number of the change, for `undo`.
    pub change: Option<String>,
}

/// One skill that was compared with another state of it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UpdateRow {
    /// Name of the skill.
    pub name: String,
    /// Where it was installed from.
    pub source: String,
    /// `current`, `ready`, `edited` or `failed`.
    pub state: &'static str,
    /// The current revision.
    pub here: RevisionRow,
    /// The revision that it would be updated to.
    pub newest: Option<RevisionRow>,
    /// The files that differ.
    pub files: Vec<FileDiffRow>,
    /// The permissions that were added or removed.
    pub permissions: DifferenceRow,
    /// The hosts that were added or removed.
    pub hosts: DifferenceRow,
    /// The files that were edited here.
    pub edited: Vec<String>,
    /// The edited files that the new state changes too.
    pub conflicts: Vec<String>,
    /// The problem that needs a decision: `blocked`, `other_signer` and so on.
    pub obstacles: Vec<&'static str>,
    /// Why it can't be updated.
    pub error: Option<ProblemRow>,
}

/// Why one of several skills could not be handled.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProblemRow {
    /// A stable code.
    pub code: &'static str,
    /// A human-readable description of the error.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl From<&Error> for ProblemRow {
    fn from(error: &Error) -> Self {
        let details = error.details().iter().map(String::as_str);
        let message: Vec<&str> = std::iter::once(error.message()).chain(details).collect();
        Self {
            code: error.code(),
            message: message.join("; "),
            hint: error.advice().map(str::to_owned),
        }
    }
}

/// One state of a skill.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RevisionRow {
    /// The version that its manifest states.
    pub version: Option<String>,
    /// The commit, if it came from a git repository.
    pub commit: Option<String>,
    /// The digest of its files.
    pub digest: String,
}

impl From<&SkillRevision> for RevisionRow {
    fn from(revision: &SkillRevision) -> Self {
        Self {
            version: revision.version.clone(),
            commit: revision.commit.clone(),
            digest: revision.digest.to_string(),
        }
    }
}

/// A file that differs.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileDiffRow {
    /// The path in the skill.
    pub path: String,
    /// `added`, `removed`, `changed` or `binary`.
    pub change: &'static str,
    /// The first lines of a unified diff.
    pub diff: String,
    /// The number of lines that are not shown.
    pub more: usize,
}

impl From<&FileDiff> for FileDiffRow {
    fn from(file: &FileDiff) -> Self {
        Self {
            path: file.path.clone(),
            change: file.change.as_str(),
            diff: file.text(),
            more: file.more,
        }
    }
}

/// The differences between two sets.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DifferenceRow {
    /// Only in the new one.
    pub added: Vec<String>,
    /// Only in the old one.
    pub removed: Vec<String>,
}

impl From<&SetDifference> for DifferenceRow {
    fn from(set: &SetDifference) -> Self {
        Self {
            added: set.added.clone(),
            removed: set.removed.clone(),
        }
    }
}

impl UpdateRow {
    fn of(update: &SkillUpdate, planned: Option<&PlannedSkill>) -> Self {
        let (edited, conflicts) = match &update.state {
            UpdateState::Edited { files, conflicts } => (files.clone(), conflicts.clone()),
            _ => (Vec::new(), Vec::new()),
        };
        let obstacles = planned
            .into_iter()
            .flat_map(|planned| &planned.card.obstacles);
        Self {
            name: update.name.clone(),
            source: update.source.clone(),
            state: update.state.as_str(),
            here: (&update.here).into(),
            newest: update.newest.as_ref().map(RevisionRow::from),
            files: update.files.iter().map(FileDiffRow::from).collect(),
            permissions: (&update.permissions).into(),
            hosts: (&update.hosts).into(),
            edited,
            conflicts,
            obstacles: obstacles.map(InstallObstacle::as_str).collect(),
            error: match &update.state {
                UpdateState::Failed(error) => Some(error.into()),
                _ => None,
            },
        }
    }

    /// One row for every skill of a plan.
    #[must_use]
    pub fn all(plan: &UpdatePlan) -> Vec<Self> {
        let updates = plan.updates().iter();
        updates
            .map(|update| Self::of(update, plan.planned(&update.name)))
            .collect()
    }
}

/// `outdated --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutdatedDocument {
    /// Every skill that was compared with its source.
    pub skills: Vec<OutdatedRow>,
}

/// One skill, compared with its source.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutdatedRow {
    /// Name of the skill.
    pub name: String,
    /// Where it was installed from.
    pub source: String,
    /// Whether the source differs.
    pub outdated: bool,
    /// The current revision.
    pub here: RevisionRow,
    /// The revision in the source.
    pub newest: Option<RevisionRow>,
    /// Why the source's revision is not known.
    pub error: Option<ProblemRow>,
}

impl From<&UpdateAvailability> for OutdatedRow {
    fn from(skill: &UpdateAvailability) -> Self {
        Self {
            name: skill.name.clone(),
            source: skill.source.clone(),
            outdated: skill.is_outdated(),
            here: (&skill.here).into(),
            newest: skill.newest.as_ref().ok().map(RevisionRow::from),
            error: skill.newest.as_ref().err().map(ProblemRow::from),
        }
    }
}

/// `deps --tree --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DepsTreeDocument {
    /// The requested skills, each with the skills that it requires.
    pub skills: Vec<RequiredRow>,
    /// Why no versions are compatible, in sentences.
    pub conflicts: Vec<String>,
}

/// A skill in a tree of requirements.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequiredRow {
    /// Name of the skill.
    pub name: String,
    /// The version that is installed.
    pub version: Option<String>,
    /// The versions that are required.
    pub requires: Option<String>,
    /// `installed`, `missing`, `wrong_version` or `circular`.
    pub state: &'static str,
    /// Whether the requiring skill works without it.
    pub optional: bool,
    /// The skills that it requires in turn.
    pub skills: Vec<Self>,
}

impl From<&RequiredSkill> for RequiredRow {
    fn from(skill: &RequiredSkill) -> Self {
        Self {
            name: skill.name.clone(),
            version: skill.version.clone(),
            requires: skill.range.clone(),
            state: skill.state.as_str(),
            optional: skill.is_optional,
            skills: skill.requires.iter().map(Self::from).collect(),
        }
    }
}
