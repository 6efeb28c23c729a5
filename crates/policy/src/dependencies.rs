//! Dependencies between skills: missing, wrong version, or circular.

use std::collections::{BTreeMap, BTreeSet};

use metier_model::{Card, Dependency, Need};

/// A problem between skills. `skill` is a position in the list that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DependencyProblem {
    /// A dependency is not installed, or in another version.
    Missing {
        /// The position of the dependent skill.
        skill: usize,
        /// The dependency that is not met.
        dependency: Dependency,
        /// The version that is installed instead.
        found: Option<Box<str>>,
        /// The line of the manifest with the dependency.
        line: u32,
    },
    /// A circular dependency, as positions in the order of the cycle.
    Cycle(Vec<usize>),
}

/// Checks the dependencies of all cards against each other. The result does not depend on their order.
#[must_use]
pub fn check(cards: &[&Card]) -> Vec<DependencyProblem> {
    if !cards.iter().any(|card| dependencies(card).next().is_some()) {
        return Vec::new();
    }
    let by_name: BTreeMap<&str, usize> = cards
        .iter()
        .enumerate()
        .map(|(index, card)| (card.name.as_str(), index))
        .collect();
    let mut problems = Vec::new();
    let mut edges: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (skill, card) in cards.iter().enumerate() {
        for (dependency, line) in dependencies(card) {
            let target = by_name.get(&*dependency.name).copied();
            match target {
                Some(target) if version_fits(dependency, cards[target]) => {
                    edges.entry(skill).or_default().push(target);
                }
                _ => {
                    let found = target.map(|target| {
                        cards[target]
                            .version
                            .as_ref()
                            .map_or("none", |version| version.as_str())
                            .into()
                    });
                    problems.push(DependencyProblem::Missing {
                        skill,
                        dependency: dependency.clone(),
                        found,
                        line,
                    });
                }
            }
        }
    }
    problems.extend(circles(&edges).into_iter().map(DependencyProblem::Cycle));
    problems
}

fn dependencies(card: &Card) -> impl Iterator<Item = (&Dependency, u32)> {
    card.requirements
        .iter()
        .filter_map(|requirement| match &requirement.need {
            Need::Skill(dependency) => Some((dependency, requirement.line)),
            _ => None,
        })
}

/// Whether a card has a suitable version. An invalid range was reported where the manifest was read.
pub(crate) fn version_fits(dependency: &Dependency, card: &Card) -> bool {
    let Some(range) = dependency.version.as_deref() else {
        return true;
    };
    let Ok(range) = semver::VersionReq::parse(range) else {
        return true;
    };
    card.version
        .as_ref()
        .and_then(|version| version.semver())
        .is_some_and(|version| range.matches(version))
}

/// More cycles than this are not listed.
const MAX_CIRCLES: usize = 20;

/// Every cycle once, starting at its smallest position.
pub(crate) fn circles(edges: &BTreeMap<usize, Vec<usize>>) -> Vec<Vec<usize>> {
    let mut found = BTreeSet::new();
    let mut done = BTreeSet::new();
    for &start in edges.keys() {
        let mut path = Vec::new();
        walk(start, edges, &mut path, &mut done, &mut found);
    }
    found.into_iter().collect()
}

/// Depth-first with an explicit stack: a chain of ten thousand skills must not overflow it.
fn walk(
    start: usize,
    edges: &BTreeMap<usize, Vec<usize>>,
    path: &mut Vec<usize>,
    done: &mut BTreeSet<usize>,
    found: &mut BTreeSet<Vec<usize>>,
) {
    let next_of = |skill: usize| edges.get(&skill).map_or(&[][..], Vec::as_slice);
    if done.contains(&start) {
        return;
    }
    let mut stack = vec![(start, 0)];
    path.push(start);
    while let Some((skill, position)) = stack.pop() {
        let Some(&next) = next_of(skill).get(position) else {
            done.insert(skill);
            path.pop();
            continue;
        };
        stack.push((skill, position + 1));
        if found.len() >= MAX_CIRCLES {
            return;
        }
        if let Some(entry) = path.iter().position(|other| *other == next) {
            let mut circle = path[entry..].to_vec();
            let smallest = circle
                .iter()
                .enumerate()
                .min_by_key(|(_, skill)| **skill)
                .map_or(0, |(index, _)| index);
            circle.rotate_left(smallest);
            found.insert(circle);
        } else if !done.contains(&next) {
            path.push(next);
            stack.push((next, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_model::{FileText, Files, Strictness, parse};

    fn card(name: &str, version: &str, dependencies: &str) -> Card {
        let text = format!(
            "name: {name}\nversion: {version}\ndescription: d\ntypes: [prompt]\ndependencies: [{dependencies}]\n"
        );
        let files = Files {
            skill_yaml: Some(FileText {
                name: "SKILL.yaml",
                text: &text,
            }),
            ..Files::default()
        };
        parse(&files, Strictness::Lenient)
            .manifest
            .expect("a manifest")
            .card
    }

    #[test]
    fn what_is_there_in_the_right_version_is_fine() {
        let cards = [
            card("a", "1.0.0", "{name: b, version: ^1.2}"),
            card("b", "1.3.0", ""),
        ];
        assert_eq!(check(&cards.iter().collect::<Vec<_>>()), []);
    }

    #[test]
    fn missing_and_outdated_ones_are_distinguished() {
        let cards = [
            card(
                "a",
                "1.0.0",
                "{name: b, version: ^2}, {name: c, optional: true}",
            ),
            card("b", "1.3.0", ""),
        ];
        let problems = check(&cards.iter().collect::<Vec<_>>());
        assert!(
            matches!(&problems[0], DependencyProblem::Missing { skill: 0, found: Some(found), .. } if &**found == "1.3.0")
        );
        assert!(
            matches!(&problems[1], DependencyProblem::Missing { skill: 0, found: None, dependency, .. } if dependency.optional)
        );
    }

    #[test]
    fn circles_are_found_once() {
        let cards = [
            card("a", "1.0.0", "b"),
            card("b", "1.0.0", "c"),
            card("c", "1.0.0", "a"),
            card("d", "1.0.0", "d, a"),
        ];
        assert_eq!(
            check(&cards.iter().collect::<Vec<_>>()),
            [
                DependencyProblem::Cycle(vec![0, 1, 2]),
                DependencyProblem::Cycle(vec![3])
            ]
        );
    }

    #[test]
    fn a_long_chain_is_read() {
        let cards: Vec<Card> = (0..3000)
            .map(|index| {
                card(
                    &format!("s{index}"),
                    "1.0.0",
                    &format!("s{}", (index + 1).min(2999).max(index + 1)),
                )
            })
            .collect();
        let problems = check(&cards.iter().collect::<Vec<_>>());
        assert_eq!(
            problems.len(),
            1,
            "only the last one's successor is missing"
        );
    }
}
