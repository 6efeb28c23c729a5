//! The request of a skill: its identity, and the permissions and variables that it asks for.

use metier_config::Config;
use metier_model::Card;
use metier_policy::{Identity, PermissionRequest, Purpose, variables};

use crate::{hosts, render::LoadedSkill};

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
    let configured = configured(config, &skill.manifest.card);
    let names: Vec<&str> = configured.iter().map(|(name, _)| name.as_str()).collect();
    let hosts = match skill.manifest.wants.is_empty() {
        true => hosts::reached(&skill.held, purpose),
        false => Vec::new(),
    };
    PermissionRequest::of(&skill.manifest, purpose, &names, &hosts)
}

/// The variables that the user's configuration sets for a skill, with their values. Variables that make programs run other code are
/// passed to no child, so they are not requested.
#[must_use]
pub fn configured(config: &Config, card: &Card) -> Vec<(String, String)> {
    let entry = config.entry(card.config_key());
    let set = entry.env.iter();
    let set = set.map(|(name, value)| (name.clone(), value.expose().to_owned()));
    let key = entry.api_key.as_ref().zip(card.primary_env.as_deref());
    let key = key.map(|(key, name)| (name.to_owned(), key.expose().to_owned()));
    let all = set.chain(key);
    all.filter(|(name, _)| !variables::is_reserved(name))
        .collect()
}
