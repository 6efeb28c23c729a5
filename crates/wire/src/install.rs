//! Installing, removing, undoing and verifying skills, as JSON.

use metier::{
    distribution::{
        ChangeSummary, ChangedFiles, ExistingSkill, InstallCard, InstallCardPermission,
        InstallObstacle, InstallPlan, InstallReport, InstalledSkill, InstalledState, RemovedSkill,
        VerifiedSkill,
    },
    permissions::PermissionDecision,
};
use serde::Serialize;

use crate::PermissionRow;

/// `install --json` and `add --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstallDocument {
    /// `user` or `project`.
    pub scope: &'static str,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The number of the change, for `undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// Every skill.
    pub skills: Vec<InstallRow>,
    /// Skipped parts of a source, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One skill that was installed, or would be.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstallRow {
    /// The name of the skill.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where it comes from.
    pub source: String,
    /// The registry, if the skill comes from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
    /// The commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The key that signed the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// The digest of its files.
    pub digest: String,
    /// How many files it has.
    pub files: usize,
    /// Their size together.
    pub bytes: u64,
    /// The folder that it is installed in.
    pub place: String,
    /// `install`, `replace` or `keep`.
    pub action: &'static str,
    /// The permissions that it requests.
    pub permissions: Vec<PermissionRow>,
    /// Permissions that the replaced skill did not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new_permissions: Vec<String>,
    /// The verdict of the scanner.
    pub verdict: &'static str,
    /// The findings of the scanner.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<InstallFindingRow>,
    /// Content that the scanner could not read, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// Whether you accepted exactly these bytes despite the findings.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accepted: bool,
    /// The existing skill or file of the same name, which would be replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<InstallBeforeRow>,
    /// The files that differ from the existing ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<FileChangesRow>,
    /// Missing requirements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Warnings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Why it can't be installed, or which decision it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<ObstacleRow>,
    /// Whether it is installed now.
    pub installed: bool,
    /// The permissions that were approved with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approved: Vec<String>,
}

/// The skill or file that an installation would replace.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstallBeforeRow {
    /// Its folder, or `builtin:NAME`.
    pub place: String,
    /// Where it was installed from; none if metier did not install it.
    pub source: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// The digest of its files as they are now.
    pub digest: Option<String>,
    /// Permissions that only the old skill requests.
    pub gone_permissions: Vec<String>,
}

impl From<&ExistingSkill> for InstallBeforeRow {
    fn from(before: &ExistingSkill) -> Self {
        Self {
            place: before.place.clone(),
            source: before.source.clone(),
            version: before.version.clone(),
            digest: before.digest.map(|digest| digest.to_string()),
            gone_permissions: before.gone_permissions.clone(),
        }
    }
}

/// One finding in an installation.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstallFindingRow {
    /// `info`, `warning` or `critical`.
    pub severity: &'static str,
    /// The rule.
    pub rule: String,
    /// A description of the finding.
    pub message: String,
    /// The file in the skill.
    pub file: String,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Files that differ.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileChangesRow {
    /// New files.
    pub added: Vec<String>,
    /// Files that were removed.
    pub removed: Vec<String>,
    /// Files with other content.
    pub changed: Vec<String>,
}

/// Why a skill is not installed without a decision.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObstacleRow {
    /// The kind, such as `blocked` or `edited`.
    pub kind: &'static str,
    /// Whether no decision can resolve it.
    #[serde(rename = "final")]
    pub is_final: bool,
    /// The finding, the files, or the place.
    pub detail: String,
}

impl From<&ChangedFiles> for FileChangesRow {
    fn from(files: &ChangedFiles) -> Self {
        Self {
            added: files.added.clone(),
            removed: files.removed.clone(),
            changed: files.changed.clone(),
        }
    }
}

impl From<&InstallObstacle> for ObstacleRow {
    fn from(obstacle: &InstallObstacle) -> Self {
        let detail = match obstacle {
            InstallObstacle::Foreign => String::new(),
            InstallObstacle::Edited(files) => files.join(", "),
            InstallObstacle::Blocked(text)
            | InstallObstacle::Invalid(text)
            | InstallObstacle::OtherSource(text)
            | InstallObstacle::Shadows(text)
            | InstallObstacle::OtherSigner(text)
            | InstallObstacle::Breaks(text)
            | InstallObstacle::Signature(text) => text.clone(),
        };
        Self {
            kind: obstacle.as_str(),
            is_final: obstacle.is_final(),
            detail,
        }
    }
}

impl From<&InstallCard> for InstallRow {
    fn from(card: &InstallCard) -> Self {
        let state = |one: &InstallCardPermission| match one.decision {
            PermissionDecision::Allow => "allowed",
            PermissionDecision::Ask => "ask",
            PermissionDecision::Deny => "denied",
        };
        let permissions = card.permissions.iter().map(|one| PermissionRow {
            permission: one.permission.clone(),
            state: state(one),
            means: one.meaning.clone(),
        });
        let new = card.permissions.iter().filter(|one| one.is_new);
        let findings = card.verdict.findings.iter().map(|one| InstallFindingRow {
            severity: one.severity.word(),
            rule: one.rule.clone(),
            message: one.message.clone(),
            file: one.file.clone(),
            line: one.line,
        });
        Self {
            name: card.name.clone(),
            description: card.description.clone(),
            version: card.version.clone(),
            source: card.source.clone(),
            registry: card.registry.clone(),
            commit: card.commit.clone(),
            signer: card.signer.clone(),
            digest: card.digest.to_string(),
            files: card.files,
            bytes: card.bytes,
            place: card.place.to_string_lossy().into_owned(),
            action: card.action.as_str(),
            permissions: permissions.collect(),
            new_permissions: new.map(|one| one.permission.clone()).collect(),
            verdict: card.verdict.verdict.word(),
            findings: findings.collect(),
            unread: card.verdict.unread.clone(),
            accepted: card.verdict.is_accepted,
            before: card.before.as_ref().map(InstallBeforeRow::from),
            changes: card.before.as_ref().map(|before| (&before.files).into()),
            missing: card.missing.clone(),
            warnings: card.warnings.clone(),
            obstacles: card.obstacles.iter().map(ObstacleRow::from).collect(),
            installed: false,
            approved: Vec::new(),
        }
    }
}

impl From<&InstalledSkill> for InstallRow {
    fn from(skill: &InstalledSkill) -> Self {
        Self {
            installed: skill.is_installed,
            approved: skill.approved.clone(),
            ..Self::from(&skill.card)
        }
    }
}

impl InstallDocument {
    /// The document of a plan.
    #[must_use]
    pub fn planned(scope: &'static str, plan: &InstallPlan) -> Self {
        let skills = plan.skills().iter();
        Self {
            scope,
            dry_run: true,
            change: None,
            skills: skills.map(|skill| (&skill.card).into()).collect(),
            left_out: plan.left_out().to_vec(),
        }
    }

    /// The document of an installation.
    #[must_use]
    pub fn done(scope: &'static str, report: &InstallReport, left_out: Vec<String>) -> Self {
        Self {
            scope,
            dry_run: false,
            change: report.change.as_ref().map(|change| change.id.to_string()),
            skills: report.skills.iter().map(InstallRow::from).collect(),
            left_out,
        }
    }
}

/// `remove --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemoveDocument {
    /// `removed` or `restored`.
    pub action: &'static str,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The skills.
    pub skills: Vec<RemovedRow>,
}

/// One skill that was removed or restored.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedRow {
    /// Its name.
    pub name: String,
    /// `user` or `project`.
    pub scope: &'static str,
    /// Its folder.
    pub place: String,
    /// Where it was installed from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl From<&RemovedSkill> for RemovedRow {
    fn from(skill: &RemovedSkill) -> Self {
        Self {
            name: skill.name.clone(),
            scope: skill.scope.as_str(),
            place: skill.place.clone(),
            source: skill.source.clone(),
        }
    }
}

/// `undo --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangesDocument {
    /// `undone`, `planned` or `listed`.
    pub action: &'static str,
    /// The change that was or would be undone, or all that can be, the newest first.
    pub changes: Vec<ChangeRow>,
}

/// One change of installed skills.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeRow {
    /// Its number.
    pub id: String,
    /// A description of the change.
    pub title: String,
    /// When.
    pub at: String,
    /// The files and folders that it changed.
    pub places: Vec<String>,
}

impl From<ChangeSummary> for ChangeRow {
    fn from(change: ChangeSummary) -> Self {
        Self {
            id: change.id,
            title: change.title,
            at: change.at,
            places: change.places,
        }
    }
}

/// `verify --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifyDocument {
    /// Whether every skill matches its lock.
    pub unchanged: bool,
    /// Every skill.
    pub skills: Vec<VerifiedRow>,
}

/// One skill that was compared with its lock.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifiedRow {
    /// Its name.
    pub name: String,
    /// `user` or `project`.
    pub scope: &'static str,
    /// `unchanged`, `changed`, `missing` or `unreadable`.
    pub state: &'static str,
    /// Its folder.
    pub place: String,
    /// Where it was installed from.
    pub source: String,
    /// The version of the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The digest of the lock.
    pub digest: String,
    /// The files that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<FileChangesRow>,
}

impl From<&VerifiedSkill> for VerifiedRow {
    fn from(skill: &VerifiedSkill) -> Self {
        let changes = match &skill.state {
            InstalledState::Changed(files) => files.as_ref().map(FileChangesRow::from),
            _ => None,
        };
        Self {
            name: skill.name.clone(),
            scope: skill.scope.as_str(),
            state: skill.state.as_str(),
            place: skill.place.clone(),
            source: skill.locked.source.clone(),
            version: skill.locked.version.as_ref().map(ToString::to_string),
            digest: skill.locked.tree.to_string(),
            changes,
        }
    }
}
