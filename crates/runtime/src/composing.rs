//! Skills of the inventory as one set: names become members, and policy composes them.

use metier_catalog::CatalogEntry;
use metier_config::{Config, ConflictSetting};
use metier_model::{DiagnosticSeverity, SkillManifest, Source, Strictness, text::shell_word};
use metier_policy::{
    ComposeOptions, Composition, Member, Reason, ReasonKind, compose, outside_profile, scan_reason,
};

use crate::{
    inventory::{
        Inventory, InventorySkill, NotFound, Status, missing_profile, switch, switch_hint,
    },
    render::LoadedSkill,
    scanning::ScanConsequence,
};

/// The result of looking up a name.
enum NamedMember {
    Usable(Box<SkillManifest>, String),
    Missing(NotFound),
    Refused(String, Option<String>),
}

impl Inventory {
    /// Composes skills, given by name, `source:name` or path. A missing or unusable skill is an error of the composition, as is
    /// every other problem; all are reported together. Only manifests are read: bodies are scanned when they are loaded.
    #[must_use]
    pub fn compose(
        &self,
        names: &[String],
        config: &Config,
        mode: Strictness,
        coding: bool,
    ) -> Composition {
        let found: Vec<NamedMember> = names
            .iter()
            .map(|name| match self.find(name) {
                Ok(skill) => self.manifest_of(skill, config, mode),
                Err(missing) => NamedMember::Missing(missing),
            })
            .collect();
        let members: Vec<Member<'_>> = names
            .iter()
            .zip(&found)
            .map(|(name, found)| match found {
                NamedMember::Usable(manifest, place) => Member::Known { manifest, place },
                NamedMember::Missing(missing) => Member::Unknown {
                    name,
                    near: &missing.near,
                },
                NamedMember::Refused(why, hint) => Member::Refused {
                    name,
                    why,
                    hint: hint.as_deref(),
                },
            })
            .collect();
        compose(&members, rules(config, coding))
    }

    /// Composes skills that were already read.
    #[must_use]
    pub fn compose_loaded(skills: &[LoadedSkill], config: &Config, coding: bool) -> Composition {
        let places: Vec<String> = skills
            .iter()
            .map(|skill| skill.entry.place.path().to_string_lossy().into_owned())
            .collect();
        let members = skills.iter().zip(&places);
        let members: Vec<Member<'_>> = members
            .map(|(skill, place)| Member::Known {
                manifest: &skill.manifest,
                place,
            })
            .collect();
        compose(&members, rules(config, coding))
    }

    /// The manifest of a usable skill, as it is on disk now.
    fn manifest_of(
        &self,
        skill: &InventorySkill,
        config: &Config,
        mode: Strictness,
    ) -> NamedMember {
        let entry = self.entry(skill);
        if let Some((why, hint)) = objection(entry, skill, config) {
            return NamedMember::Refused(why, hint);
        }
        let loaded = match entry.load(mode, config.limits.max_skill_bytes) {
            Ok((parsed, _)) => parsed,
            Err(error) => return NamedMember::Refused(error.to_string(), Some(validate(entry))),
        };
        match loaded.manifest {
            // A folder that was changed meanwhile may contain another skill.
            Some(manifest) if *manifest.card.name == *entry.name() => {
                let place = entry.place.path().to_string_lossy().into_owned();
                NamedMember::Usable(Box::new(manifest), place)
            }
            _ => NamedMember::Refused(
                "it has changed since it was found".to_owned(),
                Some(validate(entry)),
            ),
        }
    }
}

/// The rules for every set on this machine.
pub(crate) fn rules(config: &Config, coding: bool) -> ComposeOptions {
    let on_conflict = match config.security.on_conflict {
        ConflictSetting::Restrict => metier_policy::OnConflict::Restrict,
        ConflictSetting::Reject => metier_policy::OnConflict::Reject,
    };
    ComposeOptions {
        coding,
        on_conflict,
    }
}

/// Why a skill can't be used, and a hint.
fn objection(
    entry: &CatalogEntry,
    skill: &InventorySkill,
    config: &Config,
) -> Option<(String, Option<String>)> {
    let reasons = |reasons: &[Reason]| {
        let messages: Vec<&str> = reasons.iter().map(|reason| &*reason.message).collect();
        let hint = reasons.iter().find_map(|reason| reason.hint.as_deref());
        (messages.join("; "), hint.map(str::to_owned))
    };
    match skill.status {
        Status::Ready => None,
        Status::Invalid => {
            let error = entry
                .diagnostics
                .iter()
                .find(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error);
            let why = error.map_or("it can't be read", |error| &error.message);
            Some((why.to_owned(), Some(validate(entry))))
        }
        Status::Shadowed => shadowed(entry, skill, config),
        // Dependencies are checked within the set, not against other installed skills.
        Status::NotReady => {
            let against = skill.reasons.iter();
            let against: Vec<_> = against
                .filter(|reason| reason.kind != ReasonKind::Dependency)
                .cloned()
                .collect();
            (!against.is_empty()).then(|| reasons(&against))
        }
        Status::Blocked | Status::Disabled => Some(reasons(&skill.reasons)),
    }
}

/// A shadowed skill is requested with its source, so it does not matter that another one wins its name. Its status was not checked
/// for that reason; the user's and the scanner's decisions still apply.
fn shadowed(
    entry: &CatalogEntry,
    skill: &InventorySkill,
    config: &Config,
) -> Option<(String, Option<String>)> {
    let card = entry.card.as_ref()?;
    if let Some(key) = switch(config, card) {
        let why = "it is disabled in the configuration".to_owned();
        return Some((why, Some(switch_hint(config, &key, card.name.as_str()))));
    }
    if let Some(profile) = missing_profile(config, entry) {
        let why = outside_profile(profile);
        return Some((why, Some("metier profile clear".to_owned())));
    }
    let bundled = config.allow_bundled.as_ref();
    if entry.source == Source::Builtin
        && bundled.is_some_and(|names| !names.iter().any(|name| *name == *card.name))
    {
        let why = "it is not on the list of allowed built-in skills".to_owned();
        return Some((why, Some("metier config skills.allow_bundled".to_owned())));
    }
    let known = skill.scan.as_deref()?;
    let reason = scan_reason(&entry.name(), known.scan())?;
    (known.stance == ScanConsequence::Blocked)
        .then(|| (reason.message.into(), reason.hint.map(Into::into)))
}

fn validate(entry: &CatalogEntry) -> String {
    let path = entry.place.path();
    format!("metier validate {}", shell_word(&path.to_string_lossy()))
}
