//! Documents of the commands that work with registries.

use metier::distribution::registry::{
    PublishReport, PublishStatus, RegistryFinding, RegistryMatch, RegistryVersion,
};
use serde::Serialize;

/// `search --json` and `list --available --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchDocument<'a> {
    /// The skills, those of this machine first.
    pub skills: Vec<SearchRow<'a>>,
    /// The number of matching skills of registries, including those that are not listed.
    pub in_registries: u64,
    /// Registries that can't be reached; their last known state is used.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub stale: &'a [String],
    /// Registries that failed, one sentence each.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub failed: &'a [String],
}

/// A skill that was found.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchRow<'a> {
    /// Its name.
    pub name: String,
    /// Its version, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its description.
    pub description: &'a str,
    /// `user`, `project` and so on for a skill of this machine, and `registry`.
    pub source: &'a str,
    /// The registry that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<&'a str>,
    /// The account that publishes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<&'a str>,
    /// The verdict of the registry's scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'a str>,
    /// Whether a skill with this name is on this machine.
    pub is_here: bool,
}

impl<'a> SearchRow<'a> {
    /// A skill of a registry.
    #[must_use]
    pub fn of_registry(registry: &'a str, skill: &'a RegistryMatch, is_here: bool) -> Self {
        Self {
            name: skill.name.clone(),
            version: Some(skill.version.clone()),
            description: &skill.description,
            source: "registry",
            registry: Some(registry),
            owner: Some(&skill.owner),
            verdict: Some(&skill.verdict),
            is_here,
        }
    }
}

/// `publish --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishDocument<'a> {
    /// `published`, `unchanged`, `quarantined` or `checked` for a dry run.
    pub status: &'static str,
    /// The registry.
    pub registry: &'a str,
    /// The name of the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// The version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<&'a str>,
    /// The digest of the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<&'a str>,
    /// The digest of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<&'a str>,
    /// The size of the package in bytes.
    pub size: usize,
    /// The public key that signed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<&'a str>,
    /// The findings of the registry's scan.
    pub findings: Vec<PublishedFinding<'a>>,
}

/// A finding of the registry's scan.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedFinding<'a> {
    /// The rule that matched.
    pub rule: &'a str,
    /// `warning` or `critical`.
    pub severity: &'a str,
    /// The file in the skill.
    pub file: &'a str,
    /// The line.
    pub line: u32,
    /// A description of the finding.
    pub message: &'a str,
}

impl<'a> PublishDocument<'a> {
    /// The document of a report.
    #[must_use]
    pub fn new(report: &'a PublishReport) -> Self {
        let answer = report.answer.as_ref();
        let findings: &[RegistryFinding] = answer.map_or(&[], |answer| &answer.findings);
        Self {
            status: match answer.map(|answer| answer.status) {
                None => "checked",
                Some(PublishStatus::Published) => "published",
                Some(PublishStatus::Unchanged) => "unchanged",
                Some(PublishStatus::Quarantined) => "quarantined",
            },
            registry: &report.registry,
            name: answer.map(|answer| answer.name.as_str()),
            version: answer.map(|answer| answer.version.as_str()),
            archive: answer.map(|answer| answer.archive.as_str()),
            tree: answer.map(|answer| answer.tree.as_str()),
            size: report.size,
            signer: report.signer.as_deref(),
            findings: findings
                .iter()
                .map(|finding| PublishedFinding {
                    rule: &finding.rule,
                    severity: &finding.severity,
                    file: &finding.file,
                    line: finding.line,
                    message: &finding.message,
                })
                .collect(),
        }
    }
}

/// `login --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoginDocument<'a> {
    /// The registry.
    pub registry: &'a str,
    /// The account; `null` after logging out.
    pub account: Option<&'a str>,
    /// The permissions of its token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'a str>,
}

/// `yank --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct YankDocument<'a> {
    /// The registry.
    pub registry: &'a str,
    /// The name of the skill.
    pub name: &'a str,
    /// The version.
    pub version: &'a str,
    /// Why it was yanked; `null` if it is available again.
    pub yanked: Option<&'a str>,
}

impl<'a> YankDocument<'a> {
    /// The document of a version.
    #[must_use]
    pub fn new(registry: &'a str, version: &'a RegistryVersion) -> Self {
        Self {
            registry,
            name: &version.name,
            version: &version.version,
            yanked: version.yanked.as_deref(),
        }
    }
}
