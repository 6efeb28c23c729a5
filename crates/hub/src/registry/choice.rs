//! Compatible versions of several skills, from registries.

use std::collections::{BTreeMap, VecDeque};

use metier_package::{
    Available, Lock,
    registry_api::{RegistrySkill, RegistryVersion},
    resolve,
};
use semver::{Version, VersionReq};

use super::{RegistryClient, RegistryClientError};

/// The maximum number of skills that are read to resolve one request.
const MAX_SKILLS: usize = 5_000;

/// A version that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryChoice {
    /// The registry that has it.
    pub registry: usize,
    /// The version.
    pub version: RegistryVersion,
    /// Whether it was requested; otherwise another skill requires it.
    pub is_wanted: bool,
}

/// Chooses the newest versions that satisfy all requirements, sorted by name.
///
/// A skill is taken from the registry that its lock names, or from the first one that has its name, with all its versions: another registry
/// can't add a higher version of it. A yanked version is chosen only where it is locked.
///
/// # Errors
/// If no registry has a requested skill, no versions are compatible, or a registry fails.
pub fn choose_versions(
    registries: &[RegistryClient<'_>],
    wanted: &[(String, VersionReq)],
    locked: &Lock,
) -> Result<Vec<RegistryChoice>, RegistryClientError> {
    let mut known: BTreeMap<String, Option<(usize, RegistrySkill)>> = BTreeMap::new();
    let mut open: VecDeque<String> = wanted.iter().map(|(name, _)| name.clone()).collect();
    let mut available = Available::new();
    while let Some(name) = open.pop_front() {
        if known.contains_key(&name) {
            continue;
        }
        if known.len() >= MAX_SKILLS {
            return Err(RegistryClientError::TooMany(MAX_SKILLS));
        }
        let locked = locked.skills.get(&name);
        let of_lock = locked.and_then(|locked| locked.registry.as_deref());
        let found = find(registries, &name, of_lock)?;
        if let Some((_, skill)) = &found {
            let here = locked.and_then(|locked| locked.version.as_ref());
            let versions = usable(skill, here);
            for (required, _) in versions.values().flatten() {
                open.push_back(required.clone());
            }
            available.insert(name.clone(), versions);
        }
        known.insert(name, found);
    }
    for (name, _) in wanted {
        if matches!(known.get(name), Some(None) | None) {
            let registries = registries
                .iter()
                .map(|registry| registry.address().to_string());
            return Err(RegistryClientError::NotFound {
                name: name.clone(),
                registries: registries.collect(),
            });
        }
    }
    let chosen = resolve(wanted, &available)?;
    let choices = chosen.into_iter().filter_map(|(name, version)| {
        let (registry, skill) = known.remove(&name)??;
        let number = version.to_string();
        let mut versions = skill.versions.into_iter();
        Some(RegistryChoice {
            registry,
            version: versions.find(|version| version.version == number)?,
            is_wanted: wanted.iter().any(|(wanted, _)| *wanted == name),
        })
    });
    Ok(choices.collect())
}

/// The registry of the lock, or the first one that has a skill.
fn find(
    registries: &[RegistryClient<'_>],
    name: &str,
    of_lock: Option<&str>,
) -> Result<Option<(usize, RegistrySkill)>, RegistryClientError> {
    let is_meant = |registry: &RegistryClient<'_>| {
        of_lock.is_none_or(|address| registry.address().as_str() == address)
    };
    if let Some(registry) = of_lock.filter(|_| !registries.iter().any(is_meant)) {
        return Err(RegistryClientError::NotConfigured {
            name: name.to_owned(),
            registry: registry.to_owned(),
        });
    }
    for (index, registry) in registries.iter().enumerate() {
        if !is_meant(registry) {
            continue;
        }
        if let Some(skill) = registry.skill(name)? {
            return Ok(Some((index, skill)));
        }
    }
    Ok(None)
}

/// The versions that can be chosen, with their requirements. A version whose range can't be parsed is excluded.
fn usable(
    skill: &RegistrySkill,
    locked: Option<&Version>,
) -> BTreeMap<Version, Vec<(String, VersionReq)>> {
    let mut versions = BTreeMap::new();
    for version in &skill.versions {
        let Ok(number) = version.version.parse::<Version>() else {
            continue;
        };
        if version.yanked.is_some() && locked != Some(&number) {
            continue;
        }
        let requires = version.requires.iter().map(|requirement| {
            let range = VersionReq::parse(&requirement.versions).ok()?;
            Some((requirement.name.clone(), range))
        });
        if let Some(requires) = requires.collect::<Option<Vec<_>>>() {
            versions.insert(number, requires);
        }
    }
    versions
}
