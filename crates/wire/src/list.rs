//! `list --json`, written skill by skill.

use std::{borrow::Cow, path::Path};

use metier_catalog::Entry;
use metier_model::{Diagnostic, SkillType, Types};
use metier_policy::Reason;
use metier_runtime::{Inventory, Skill};
use serde::{Serialize, Serializer, ser::SerializeStruct};

/// The document: all skills, all diagnostics, and how many of each.
pub struct List<'a>(pub &'a Inventory);

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = serializer.serialize_struct("List", 3)?;
        document.serialize_field("skills", &Skills(self.0))?;
        document.serialize_field("diagnostics", &Diagnostics(self.0))?;
        document.serialize_field("counts", &Counts::from(self.0.counts()))?;
        document.end()
    }
}

struct Skills<'a>(&'a Inventory);

impl Serialize for Skills<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.skills.iter().map(|skill| SkillRow::new(self.0, skill)))
    }
}

struct Diagnostics<'a>(&'a Inventory);

impl Serialize for Diagnostics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of_skills = self.0.skills.iter().flat_map(|skill| {
            let entry = self.0.entry(skill);
            entry.diagnostics.iter().map(move |diagnostic| DiagnosticRow::of(entry, diagnostic))
        });
        serializer.collect_seq(of_skills.chain(self.0.diagnostics.iter().map(DiagnosticRow::new)))
    }
}

/// One skill.
#[derive(Serialize)]
pub struct SkillRow<'a> {
    name: Cow<'a, str>,
    description: &'a str,
    source: &'static str,
    path: Cow<'a, str>,
    digest: Option<String>,
    status: &'static str,
    reasons: Vec<ReasonRow<'a>>,
    version: Option<&'a str>,
    emoji: Option<&'a str>,
    types: TypeNames,
    backend: Option<&'static str>,
    user_invocable: bool,
    model_invocable: bool,
    shadowed_by: Option<String>,
    scan: &'static str,
    warnings: usize,
    selected: bool,
}

impl<'a> SkillRow<'a> {
    /// The row of a skill.
    #[must_use]
    pub fn new(inventory: &'a Inventory, skill: &'a Skill) -> Self {
        let entry = inventory.entry(skill);
        let card = entry.card.as_ref();
        Self {
            name: entry.name(),
            description: card.map_or("", |card| &card.description),
            source: entry.source.as_str(),
            path: shown(entry.place.path()),
            digest: entry.digest.map(|digest| digest.to_string()),
            status: skill.status.as_str(),
            reasons: skill.reasons.iter().map(|reason| ReasonRow::new(entry, reason)).collect(),
            version: card.and_then(|card| card.version.as_ref()).map(|version| version.as_str()),
            emoji: card.and_then(|card| card.emoji.as_deref()),
            types: TypeNames(card.map_or(Types::default(), |card| card.types)),
            backend: card.and_then(|card| card.backend).map(|backend| backend.as_str()),
            user_invocable: card.is_some_and(|card| card.user_invocable),
            model_invocable: card.is_some_and(|card| card.model_invocable),
            shadowed_by: skill.shadowed_by.map(|winner| shown(inventory.catalog.entries[winner].place.path()).into_owned()),
            scan: "unknown",
            warnings: entry.warnings(),
            selected: skill.selected,
        }
    }
}

fn shown(path: Cow<'_, Path>) -> Cow<'_, str> {
    match path {
        Cow::Borrowed(path) => path.to_string_lossy(),
        Cow::Owned(path) => Cow::Owned(path.to_string_lossy().into_owned()),
    }
}

struct TypeNames(Types);

impl Serialize for TypeNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(SkillType::as_str))
    }
}

/// Why a skill can't be used.
#[derive(Serialize)]
pub struct ReasonRow<'a> {
    kind: &'static str,
    name: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
    path: Option<String>,
    line: Option<u32>,
}

impl<'a> ReasonRow<'a> {
    /// The row of a reason.
    #[must_use]
    pub fn new(entry: &Entry, reason: &'a Reason) -> Self {
        let path = reason.line.map(|_| entry.manifest_path().to_string_lossy().into_owned());
        Self { kind: reason.kind.as_str(), name: &reason.name, message: &reason.message, hint: reason.hint.as_deref(), path, line: reason.line }
    }
}

/// What is wrong with a file.
#[derive(Serialize)]
pub struct DiagnosticRow<'a> {
    severity: &'static str,
    code: &'static str,
    message: &'a str,
    path: Cow<'a, str>,
    line: Option<u32>,
    column: Option<u32>,
    hint: Option<&'a str>,
}

impl<'a> DiagnosticRow<'a> {
    /// A diagnostic that names a whole path itself.
    #[must_use]
    pub fn new(diagnostic: &'a Diagnostic) -> Self {
        Self::at(Cow::Borrowed(&diagnostic.file), diagnostic)
    }

    /// A diagnostic of a skill, whose file is relative to its folder.
    #[must_use]
    pub fn of(entry: &Entry, diagnostic: &'a Diagnostic) -> Self {
        Self::at(Cow::Owned(entry.place.path().join(&*diagnostic.file).to_string_lossy().into_owned()), diagnostic)
    }

    fn at(path: Cow<'a, str>, diagnostic: &'a Diagnostic) -> Self {
        Self {
            severity: diagnostic.severity.as_str(),
            code: diagnostic.code.as_str(),
            message: &diagnostic.message,
            path,
            line: diagnostic.position.map(|position| position.line),
            column: diagnostic.position.map(|position| position.column),
            hint: diagnostic.hint.as_deref(),
        }
    }
}

/// How many skills have each status.
#[derive(Serialize)]
pub struct Counts {
    ready: usize,
    not_ready: usize,
    invalid: usize,
    disabled: usize,
    shadowed: usize,
    blocked: usize,
}

impl From<metier_runtime::Counts> for Counts {
    fn from(counts: metier_runtime::Counts) -> Self {
        let metier_runtime::Counts { ready, not_ready, invalid, disabled, shadowed, blocked } = counts;
        Self { ready, not_ready, invalid, disabled, shadowed, blocked }
    }
}
