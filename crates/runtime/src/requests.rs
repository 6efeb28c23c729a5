//! The request of a skill: its identity, and the permissions and variables that it asks for.

use std::collections::BTreeSet;

use metier_catalog::CatalogEntry;
use metier_config::Config;
use metier_model::Card;
use metier_policy::{Identity, PermissionRequest, Purpose, variables};

use crate::{hosts, render::LoadedSkill, standing_answers::is_meant_by_name};

/// The identity of the skill: name, source and digest.
#[must_use]
pub fn identity(skill: &LoadedSkill) -> Identity {
    Identity {
        skill: skill.entry.name().as_ref().into(),
        source: skill.entry.source,
        digest: skill.held.digest,
    }
}

/// The permissions that a skill requests for a purpose: the same when it runs and when it is only shown.
pub(crate) fn requested(
    skill: &LoadedSkill,
    purpose: Purpose<'_>,
    config: &Config,
) -> PermissionRequest {
    let configured = configured(config, skill);
    let names: Vec<&str> = configured.iter().map(|(name, _)| name.as_str()).collect();
    let hosts = match skill.manifest.wants.is_empty() {
        true => hosts::reached(&skill.held, purpose),
        false => Vec::new(),
    };
    let entry = settings_key(skill);
    PermissionRequest::of(&skill.manifest, purpose, (entry, &names), &hosts)
}

/// The entry of the configuration with the values of a skill: the one with its name, or the one that it chose, if the inventory left it
/// that choice ([`bind_settings`]). The bytes that are used can be newer than the list.
fn settings_key(skill: &LoadedSkill) -> &str {
    let card = &skill.manifest.card;
    let listed = skill.entry.card.as_ref().map(Card::config_key);
    match listed == Some(card.config_key()) && is_meant_by_name(skill.entry.source) {
        true => card.config_key(),
        false => &card.name,
    }
}

/// Decides which skills get the settings of the key that they chose. Settings contain secrets, so they are bound like approvals: only
/// the user's own and built-in skills choose a key, and none chooses the name of another skill.
pub(crate) fn bind_settings(entries: &mut [CatalogEntry]) {
    let names: BTreeSet<String> = entries
        .iter()
        .map(|entry| entry.name().into_owned())
        .collect();
    for entry in entries {
        let is_own = is_meant_by_name(entry.source);
        if let Some(card) = &mut entry.card {
            let is_free = |key: &str| *key == *card.name || !names.contains(key);
            card.chooses_settings = is_own && card.skill_key.as_deref().is_none_or(is_free);
        }
    }
}

/// The variables that the user's configuration sets for a skill, with their values. Variables that make programs run other code are
/// passed to no child, so they are not requested.
#[must_use]
pub fn configured(config: &Config, skill: &LoadedSkill) -> Vec<(String, String)> {
    let card = &skill.manifest.card;
    let entry = config.entry(settings_key(skill));
    let set = entry.env.iter();
    let set = set.map(|(name, value)| (name.clone(), value.expose().to_owned()));
    let key = entry.api_key.as_ref().zip(card.primary_env.as_deref());
    let key = key.map(|(key, name)| (name.to_owned(), key.expose().to_owned()));
    let all = set.chain(key);
    all.filter(|(name, _)| !variables::is_reserved(name))
        .collect()
}
