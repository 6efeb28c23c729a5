//! Documents from the values that the library returns.

use std::borrow::Cow;

use metier::{
    Error, RenderedSkill, Resource, SkillFile,
    scans::ScannedSkill,
    selection::{Account, Incomplete, NearMiss, Selection, TaskMatches},
};
#[cfg(feature = "run")]
use metier::{
    inspection::Inspection,
    permissions::{PermissionDecision, PermissionReport, PermissionState},
};

#[cfg(feature = "agent")]
use crate::RerankRow;
use crate::{
    AcceptanceRow, AccountRow, CodingRow, CommandRow, ErrorBody, ErrorChoice, ErrorDocument,
    LackRow, NearMissRow, PickRow, ProjectRow, ReadDocument, RefusedRow, ScannedRow,
    SelectDocument, ShareRow, ShowDocument, WhyDocument,
};
#[cfg(feature = "run")]
use crate::{InfoDocument, PermissionRow, SkillPermissions};

#[cfg(feature = "run")]
impl<'a> From<&'a Inspection> for InfoDocument<'a> {
    fn from(about: &'a Inspection) -> Self {
        let info = Self::new(
            about.inventory(),
            about.skill(),
            about.manifest.as_ref(),
            &about.files,
            &about.report,
            about.permissions.iter().map(PermissionRow::from).collect(),
            &about.hooks,
        );
        match about.last_state.clone() {
            Some(state) => info.left_in(state.state, state.since, state.detail),
            None => info,
        }
    }
}

#[cfg(feature = "run")]
impl From<&PermissionState> for PermissionRow {
    fn from(state: &PermissionState) -> Self {
        Self {
            permission: state.permission.clone(),
            state: match state.decision {
                PermissionDecision::Allow => "allowed",
                PermissionDecision::Ask => "ask",
                PermissionDecision::Deny => "denied",
            },
            means: state.meaning.clone(),
        }
    }
}

#[cfg(feature = "run")]
impl<'a> From<&'a PermissionReport> for SkillPermissions<'a> {
    fn from(report: &'a PermissionReport) -> Self {
        let identity = &report.identity;
        Self {
            name: &identity.skill,
            source: identity.source.as_str(),
            digest: identity.digest.to_string(),
            permissions: report.permissions.iter().map(PermissionRow::from).collect(),
        }
    }
}

impl<'a> WhyDocument<'a> {
    /// The document about explanations: of one skill, with its words, or of all skills, with near misses.
    #[must_use]
    pub fn new(
        matches: &'a TaskMatches,
        accounts: &'a [Account<'a>],
        incomplete: Option<&'a Incomplete>,
        is_about_one: bool,
        risk: &'static str,
    ) -> Self {
        let inventory = matches.skills().inventory();
        let row = |account| match is_about_one {
            true => AccountRow::new(inventory, account).with_words(matches, account),
            false => AccountRow::new(inventory, account),
        };
        let near = match is_about_one {
            true => Vec::new(),
            false => matches.near_misses(),
        };
        Self {
            skills: accounts.iter().map(row).collect(),
            near_misses: near.into_iter().map(NearMissRow::from).collect(),
            unscanned: matches.unscanned(),
            considered: matches.considered(),
            coding: matches.coding().is,
            coding_evidence: CodingRow::from(matches.coding()),
            risk,
            errors: incomplete.map(LackRow::from).into_iter().collect(),
            project: ProjectRow::of(matches),
        }
    }
}

impl<'a> SelectDocument<'a> {
    /// The document about a selection, or about the first of its picks.
    #[must_use]
    pub fn new(matches: &'a TaskMatches, selection: &'a Selection<'a>, risk: &'static str) -> Self {
        let inventory = matches.skills().inventory();
        let row = |pick| PickRow::new(inventory, pick);
        let refused = selection.refused.iter();
        Self {
            picks: selection.picks.iter().map(row).collect(),
            held: selection.held.iter().map(row).collect(),
            refused: refused
                .map(|refused| RefusedRow::new(inventory, refused))
                .collect(),
            unscanned: matches.unscanned(),
            considered: matches.considered(),
            coding: matches.coding().is,
            coding_evidence: CodingRow::from(matches.coding()),
            risk,
            errors: selection.incomplete.iter().map(LackRow::from).collect(),
            project: ProjectRow::of(matches),
            rerank: None,
        }
    }
}

#[cfg(feature = "agent")]
impl<'a> From<&'a metier::agent::RerankedSkills> for RerankRow<'a> {
    fn from(reranked: &'a metier::agent::RerankedSkills) -> Self {
        Self {
            model: &reranked.model,
            answer: &reranked.answer,
            offered: reranked.offered,
            chosen: reranked.chosen,
            input_tokens: reranked.usage.input,
            output_tokens: reranked.usage.output,
            cost: reranked.cost.map(metier_agent::shown_cost),
        }
    }
}

impl<'a> AccountRow<'a> {
    /// This explanation with the words of the task that the skill contains, and those that it lacks.
    #[must_use]
    pub fn with_words(mut self, matches: &'a TaskMatches, account: &Account<'_>) -> Self {
        let shares = matches
            .search_shares(account)
            .map_or(&[][..], |(_, shares)| shares);
        self.shares = shares
            .iter()
            .map(|share| ShareRow {
                words: &share.words,
                place: share.place.as_str(),
                points: (f64::from(share.points) * 100.0).round() / 100.0,
            })
            .collect();
        let missing = matches.missing_words(account).into_iter();
        self.missing = missing.map(|word| word.text).collect();
        self
    }
}

impl From<NearMiss> for NearMissRow {
    fn from(miss: NearMiss) -> Self {
        Self {
            name: miss.name,
            score: miss.score,
            why: miss.why,
        }
    }
}

impl<'a> ProjectRow<'a> {
    /// Facts about the project of a task, if any trigger depends on it.
    #[must_use]
    pub fn of(matches: &'a TaskMatches) -> Option<Self> {
        let (files, truncated, detected) = matches.project()?;
        Some(Self::new(files, truncated, detected))
    }
}

impl From<RenderedSkill> for ShowDocument {
    fn from(shown: RenderedSkill) -> Self {
        Self {
            name: shown.name,
            digest: shown.digest,
            content: shown.content,
            directory: shown.directory,
            resources: shown.resources,
            commands: shown.commands.iter().map(CommandRow::from).collect(),
        }
    }
}

impl<'a> ReadDocument<'a> {
    /// The document about a file of a skill.
    #[must_use]
    pub fn of(file: &'a SkillFile, path: &'a str) -> Self {
        let (text, size, binary) = match &file.content {
            Resource::Text(text) => (Some(text.as_str()), text.len(), false),
            Resource::Binary(bytes) => (None, bytes.len(), true),
        };
        Self {
            name: file.skill.clone(),
            path,
            text,
            size,
            binary,
        }
    }
}

impl From<&ScannedSkill> for ScannedRow {
    fn from(scan: &ScannedSkill) -> Self {
        Self {
            suppressed: scan.suppressed,
            baselined: scan.left_out,
            acceptance: scan.acceptance.as_ref().map(|accepted| AcceptanceRow {
                reason: accepted.reason.clone(),
                at: accepted.at.clone(),
            }),
            ..Self::of(
                scan.entry.place.path().to_string_lossy().into_owned(),
                scan.entry.name().into_owned(),
                scan.digest.map(|digest| digest.to_string()),
                &scan.report,
            )
        }
    }
}

impl<'a> From<&'a Error> for ErrorDocument<'a> {
    fn from(error: &'a Error) -> Self {
        let mut message = Cow::Borrowed(error.message());
        let choices = error.choices().iter();
        let choices = choices.map(|(name, description)| ErrorChoice { name, description });
        let choices: Vec<ErrorChoice<'_>> = choices.collect();
        // The details of such an error are the choices.
        let details = error.details().iter().filter(|_| choices.is_empty());
        for detail in details {
            let message = message.to_mut();
            message.push_str("; ");
            message.push_str(detail);
        }
        let place = error.place();
        Self {
            error: ErrorBody {
                code: error.code(),
                message,
                hint: error.advice(),
                skill: error.about_skill(),
                path: place.map(|(path, _)| path),
                line: place.and_then(|(_, line)| line),
                choices,
            },
        }
    }
}
