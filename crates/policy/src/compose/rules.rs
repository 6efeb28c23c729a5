//! Rules between skills: which require each other, and which conflict.

use std::collections::{BTreeMap, BTreeSet};

use metier_model::{Card, Need, SkillManifest, ToolPattern, text::visible};

use super::{
    CODING_PIPELINE, ComposeOptions, CompositionFault, FaultCode, Faults, MemberSet, list, tools,
};
use crate::dependencies::version_fits;

pub(super) fn check(set: &MemberSet<'_>, options: ComposeOptions, faults: &mut Faults) {
    partners(set, options, faults);
    versions(set, faults);
    incompatible(set, faults);
    redundant(set, faults);
}

/// Skills that others require, and the two that a coding task requires.
fn partners(set: &MemberSet<'_>, options: ComposeOptions, faults: &mut Faults) {
    let mut missing: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let absent = |name: &str| !set.asked.contains(name);
    for skill in &set.skills {
        let own = skill.card.name.as_str();
        let rules = skill.contract.composability_rules.iter();
        for rule in rules.filter(|rule| rule.required && absent(&rule.with)) {
            missing.insert((own, &rule.with), "needs");
        }
        for requirement in &skill.card.requirements {
            if let Need::Skill(dependency) = &requirement.need
                && !dependency.optional
                && absent(&dependency.name)
            {
                missing
                    .entry((own, &dependency.name))
                    .or_insert("depends on");
            }
        }
    }
    if options.coding {
        let [first, second] = CODING_PIPELINE;
        for (own, other) in [(first, second), (second, first)] {
            if set.asked.contains(own) && absent(other) {
                missing.entry((own, other)).or_insert("needs");
            }
        }
        pipeline(set, faults);
    }
    for ((own, other), verb) in missing {
        let shown = visible(other);
        let message = format!("`{own}` {verb} `{shown}`, which is not in the set");
        faults.error(
            CompositionFault::new(FaultCode::MissingPartner, [own], message)
                .hint(format!("add `{shown}` to the set")),
        );
        faults.missing.insert(other.to_owned());
    }
}

/// A coding task requires a specification and an implementer.
fn pipeline(set: &MemberSet<'_>, faults: &mut Faults) {
    let missing: Vec<&str> = CODING_PIPELINE
        .into_iter()
        .filter(|name| !set.asked.contains(name))
        .collect();
    if missing.is_empty() {
        return;
    }
    let which = match missing.as_slice() {
        [one] => format!("`{one}` is not"),
        _ => "neither is".to_owned(),
    };
    let message = format!(
        "a coding task requires {}, and {which} in the set",
        list(&CODING_PIPELINE, "and"),
    );
    let hint = format!("add {} to the set", list(&missing, "and"));
    let present = CODING_PIPELINE
        .into_iter()
        .filter(|name| set.asked.contains(name));
    faults.error(
        CompositionFault::new(FaultCode::IncompleteCodingPipeline, present, message).hint(hint),
    );
    let missing = missing.into_iter().map(str::to_owned);
    faults.missing.extend(missing);
}

/// Dependencies in the set with an unsuitable version.
fn versions(set: &MemberSet<'_>, faults: &mut Faults) {
    for skill in &set.skills {
        let own = skill.card.name.as_str();
        for requirement in &skill.card.requirements {
            let Need::Skill(dependency) = &requirement.need else {
                continue;
            };
            let others = set
                .skills
                .iter()
                .filter(|other| *other.card.name == *dependency.name);
            for other in others.filter(|other| !version_fits(dependency, &other.card)) {
                let range = dependency.version.as_deref().unwrap_or_default();
                let message = format!(
                    "`{own}` depends on `{}` {}, but {} is in the set",
                    other.card.name,
                    visible(range),
                    version(&other.card)
                );
                let names = [own, other.card.name.as_str()];
                let fault =
                    CompositionFault::new(FaultCode::DependencyVersion, names, message).hint(
                        format!("metier info {} shows which one it is", other.card.name),
                    );
                if dependency.optional {
                    faults.warning(fault);
                } else {
                    faults.error(fault);
                }
            }
        }
    }
}

fn version(card: &Card) -> String {
    card.version.as_ref().map_or_else(
        || "one without a version".to_owned(),
        |version| visible(version.as_str()).into_owned(),
    )
}

/// Pairs that conflict, each once with all reasons.
fn incompatible(set: &MemberSet<'_>, faults: &mut Faults) {
    let mut pairs: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
    for skill in &set.skills {
        for other in &set.skills {
            let (own, name) = (skill.card.name.as_str(), other.card.name.as_str());
            if own != name {
                let pair = (own.min(name), own.max(name));
                let reasons = objections(skill, other);
                if !reasons.is_empty() {
                    pairs.entry(pair).or_default().extend(reasons);
                }
            }
        }
    }
    for ((one, other), reasons) in pairs {
        let reasons: Vec<String> = reasons.into_iter().collect();
        let message = format!("`{one}` and `{other}` conflict: {}", reasons.join("; "));
        faults.error(
            CompositionFault::new(FaultCode::Incompatible, [one, other], message)
                .hint(format!("remove `{one}` or `{other}`")),
        );
    }
}

/// The reasons of a skill against another one.
fn objections(skill: &SkillManifest, other: &SkillManifest) -> Vec<String> {
    let (own, name) = (&skill.card.name, other.card.name.as_str());
    let mut found = Vec::new();
    let conflicts = &skill.contract.conflicts_with;
    if conflicts.iter().any(|conflict| &**conflict == name) {
        found.push(format!("`conflicts_with` of `{own}`"));
    }
    let rules = skill.contract.compatibility_rules.iter();
    let rules: Vec<_> = rules.filter(|rule| &*rule.with == name).collect();
    for rule in rules.iter().filter(|rule| !rule.compatible) {
        if fits(rule.version.as_deref(), &other.card) != Some(false) {
            found.push(match rule.reason.as_deref() {
                Some(reason) => visible(reason).trim_end_matches('.').to_owned(),
                None => format!("`compatibility_rules` of `{own}`"),
            });
        }
    }
    let mut ranges = rules.iter().filter(|rule| rule.compatible).peekable();
    let wanted: Vec<&str> = ranges
        .clone()
        .filter_map(|rule| rule.version.as_deref())
        .collect();
    let named = ranges.peek().is_some();
    if named && !ranges.any(|rule| fits(rule.version.as_deref(), &other.card) == Some(true)) {
        found.push(format!(
            "`{own}` works only with `{name}` {}, but {} is in the set",
            visible(&wanted.join(" or ")),
            version(&other.card)
        ));
    }
    found
}

/// Whether a skill is in a version range; `None` if that is unknown.
fn fits(range: Option<&str>, card: &Card) -> Option<bool> {
    let Some(range) = range else {
        return Some(true);
    };
    let range = semver::VersionReq::parse(range).ok()?;
    let version = card.version.as_ref()?.semver()?;
    Some(range.matches(version))
}

/// Skills that declare nothing beyond another one. A skill that declares nothing at all is only text, and texts
/// aren't compared; a skill that another one requires is not redundant.
fn redundant(set: &MemberSet<'_>, faults: &mut Faults) {
    let needed: BTreeSet<&str> = set.skills.iter().flat_map(|skill| needs(skill)).collect();
    let declared: Vec<Declared<'_>> = set.skills.iter().map(|skill| Declared::of(skill)).collect();
    for (position, one) in declared.iter().enumerate() {
        let own = one.manifest.card.name.as_str();
        if one.is_nothing() || needed.contains(own) || CODING_PIPELINE.contains(&own) {
            continue;
        }
        let beside = declared.iter().enumerate().find(|(place, other)| {
            let name = other.manifest.card.name.as_str();
            // Of two that declare the same, the first is kept.
            name != own && one.is_within(other) && (*place < position || !other.is_within(one))
        });
        if let Some((_, other)) = beside {
            let name = other.manifest.card.name.as_str();
            let message = format!(
                "`{own}` declares no tool, step or contract that `{name}` does not declare"
            );
            faults.warning(
                CompositionFault::new(FaultCode::Redundant, [own, name], message)
                    .hint(format!("remove `{own}`, unless its text is needed")),
            );
        }
    }
}

fn needs(skill: &SkillManifest) -> impl Iterator<Item = &str> {
    let rules = skill.contract.composability_rules.iter();
    let partners = rules.filter(|rule| rule.required).map(|rule| &*rule.with);
    let requirements = skill.card.requirements.iter();
    partners.chain(
        requirements.filter_map(|requirement| match &requirement.need {
            Need::Skill(dependency) => Some(&*dependency.name),
            _ => None,
        }),
    )
}

/// The declarations of a skill for a set.
struct Declared<'a> {
    manifest: &'a SkillManifest,
    allows: Vec<ToolPattern>,
    forbids: Vec<ToolPattern>,
}

impl<'a> Declared<'a> {
    fn of(manifest: &'a SkillManifest) -> Self {
        Self {
            manifest,
            allows: tools::allows(manifest),
            forbids: tools::forbidden(manifest),
        }
    }

    fn is_nothing(&self) -> bool {
        let only = self.manifest.tools.only.as_deref().unwrap_or_default();
        only.is_empty() && self.manifest.contract.execution_protocol.is_empty()
    }

    fn is_within(&self, other: &Self) -> bool {
        let within = |mine: &[ToolPattern], theirs: &[ToolPattern]| {
            mine.iter()
                .all(|tool| theirs.iter().any(|other| other.covers(tool)))
        };
        let (mine, theirs) = (&self.manifest.contract, &other.manifest.contract);
        let protocol = &theirs.execution_protocol;
        let code = &self.manifest.code;
        within(&self.allows, &other.allows)
            && within(&self.forbids, &other.forbids)
            && mine
                .execution_protocol
                .iter()
                .all(|step| protocol.contains(step))
            && mine
                .preconditions
                .iter()
                .all(|held| theirs.preconditions.contains(held))
            && mine
                .postconditions
                .iter()
                .all(|held| theirs.postconditions.contains(held))
            && (mine.output_contract.is_none() || mine.output_contract == theirs.output_contract)
            && self.manifest.card.backend.is_none()
            && self.manifest.invocation.hooks.is_none()
            && code.tools.is_empty()
            && code.security_rules.is_none()
    }
}
