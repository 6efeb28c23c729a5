//! The order in which the skills of a set run.

use std::collections::{BTreeMap, BTreeSet};

use metier_model::{Need, SkillOrder};

use super::{
    CODING_PIPELINE, ComposeOptions, CompositionFault, FaultCode, Faults, MemberSet, list,
};
use crate::dependencies::circles;

/// A topological order over the rules of the skills, ties by name; empty if it is circular.
pub(super) fn arrange(
    set: &MemberSet<'_>,
    options: ComposeOptions,
    faults: &mut Faults,
) -> Vec<String> {
    let names = set.names();
    let edges = edges(set, &names, options);
    let mut waits: Vec<usize> = vec![0; names.len()];
    edges.values().flatten().for_each(|next| waits[*next] += 1);
    let mut free: BTreeSet<usize> = (0..names.len())
        .filter(|skill| waits[*skill] == 0)
        .collect();
    let mut order = Vec::with_capacity(names.len());
    while let Some(skill) = free.pop_first() {
        order.push(names[skill].to_owned());
        for next in edges.get(&skill).into_iter().flatten() {
            waits[*next] -= 1;
            if waits[*next] == 0 {
                free.insert(*next);
            }
        }
    }
    if order.len() == names.len() {
        return order;
    }
    for circle in circles(&edges) {
        let circle: Vec<&str> = circle.into_iter().map(|skill| names[skill]).collect();
        let message = match circle.as_slice() {
            [one] => format!("`{one}` must run before itself"),
            [first, ..] => format!("circular order: `{}` → `{first}`", circle.join("` → `")),
            [] => continue,
        };
        let hint = format!(
            "remove one `order` or dependency from {}",
            list(&circle, "or")
        );
        faults.error(CompositionFault::new(FaultCode::PipelineOrder, circle, message).hint(hint));
    }
    Vec::new()
}

/// Pairs of names: the first has to be done before the second starts. From `order`, and always for the two skills
/// of a coding task. A dependency is sorted first, but nothing has to wait for it.
pub(super) fn waits(set: &MemberSet<'_>, options: ComposeOptions) -> Vec<(String, String)> {
    let names = set.names();
    let named = |name: &str| names.binary_search(&name).is_ok();
    let mut pairs: BTreeSet<(&str, &str)> = BTreeSet::new();
    for skill in &set.skills {
        let own = skill.card.name.as_str();
        for rule in &skill.contract.composability_rules {
            match rule.order {
                Some(SkillOrder::Before) => pairs.insert((own, &rule.with)),
                Some(SkillOrder::After) => pairs.insert((&rule.with, own)),
                None => false,
            };
        }
    }
    if options.coding {
        pairs.insert(CODING_PIPELINE.into());
    }
    pairs.retain(|(first, second)| named(first) && named(second));
    let owned = |(first, second): (&str, &str)| (first.to_owned(), second.to_owned());
    pairs.into_iter().map(owned).collect()
}

/// Pairs of positions in the list of names: the first runs before the second.
fn edges(
    set: &MemberSet<'_>,
    names: &[&str],
    options: ComposeOptions,
) -> BTreeMap<usize, Vec<usize>> {
    let position = |name: &str| names.binary_search(&name).ok();
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut before = |first: Option<usize>, second: Option<usize>| {
        pairs.extend(first.zip(second));
    };
    for (first, second) in waits(set, options) {
        before(position(&first), position(&second));
    }
    for skill in &set.skills {
        for requirement in &skill.card.requirements {
            if let Need::Skill(dependency) = &requirement.need {
                before(position(&dependency.name), position(&skill.card.name));
            }
        }
    }
    let mut edges: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (first, second) in pairs {
        edges.entry(first).or_default().push(second);
    }
    edges
}
