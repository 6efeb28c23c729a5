//! Which skills require which skills, as a tree, and why their versions are not compatible.

use std::collections::{BTreeMap, BTreeSet};

use metier_model::{Card, Dependency, Need};
use metier_package::{Available, resolve};
use metier_runtime::Status;
use semver::{Version, VersionReq};

use crate::{Error, Workspace, explain};

/// Skills, each with the skills that it requires.
///
/// An example is at [`Workspace::requirement_tree`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequirementTree {
    /// The skills that were asked about.
    pub skills: Vec<RequiredSkill>,
    /// Why no versions are compatible, in sentences; empty if they do.
    pub conflicts: Vec<String>,
}

/// A skill in a [`RequirementTree`].
///
/// [`Workspace::requirement_tree`] returns them and has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredSkill {
    /// Its name.
    pub name: String,
    /// The version that is installed.
    pub version: Option<String>,
    /// The versions that the skill above it requires.
    pub range: Option<String>,
    /// Whether the requirement is met.
    pub state: RequirementState,
    /// Whether the skill above it works without it.
    pub is_optional: bool,
    /// Whether the skills that it requires are listed elsewhere in the tree.
    pub is_repeated: bool,
    /// The skills that it requires.
    pub requires: Vec<Self>,
}

/// Whether the requirement of a skill is met.
///
/// An example is at [`RequirementState::as_str`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequirementState {
    /// It is installed in a version that fits.
    Installed,
    /// It is not installed.
    Missing,
    /// It is installed in another version.
    WrongVersion,
    /// It requires itself, through the skills above it.
    Circular,
}

impl RequirementState {
    /// The word in JSON.
    ///
    /// ```
    /// use metier::distribution::RequirementState;
    ///
    /// assert_eq!(RequirementState::WrongVersion.as_str(), "wrong_version");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Missing => "missing",
            Self::WrongVersion => "wrong_version",
            Self::Circular => "circular",
        }
    }
}

/// The skills of this machine by name, and what was expanded so far.
struct TreeWalk<'c> {
    cards: BTreeMap<&'c str, &'c Card>,
    path: Vec<String>,
    expanded: BTreeSet<String>,
}

impl Workspace {
    /// The skills that a skill requires, and those that they require in turn; without a name, of all skills that require others.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for sentence in workspace.requirement_tree(None)?.conflicts {
    ///     println!("{sentence}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill.
    pub fn requirement_tree(&self, name: Option<&str>) -> Result<RequirementTree, Error> {
        let inventory = self.inventory()?;
        let winners = inventory.skills.iter();
        let winners = winners.filter(|skill| skill.status != Status::Shadowed);
        let cards: BTreeMap<&str, &Card> = winners
            .filter_map(|skill| inventory.entry(skill).card.as_ref())
            .map(|card| (card.name.as_str(), card))
            .collect();
        let roots: Vec<&Card> = match name {
            Some(name) => {
                let entry = inventory.entry(explain::find(self, &inventory, name)?);
                entry.card.iter().collect()
            }
            None => {
                let all = cards.values().copied();
                all.filter(|card| required(card).next().is_some()).collect()
            }
        };
        let mut walk = TreeWalk {
            cards,
            path: Vec::new(),
            expanded: BTreeSet::new(),
        };
        let skills: Vec<RequiredSkill> = roots.iter().map(|card| walk.skill(card)).collect();
        let is_met = skills.iter().all(is_met);
        let conflicts = match is_met {
            true => Vec::new(),
            false => conflicts(&roots, &walk.cards),
        };
        Ok(RequirementTree { skills, conflicts })
    }
}

fn required(card: &Card) -> impl Iterator<Item = &Dependency> {
    let all = card.requirements.iter();
    all.filter_map(|requirement| match &requirement.need {
        Need::Skill(dependency) => Some(dependency),
        _ => None,
    })
}

fn is_met(skill: &RequiredSkill) -> bool {
    let is_missing = matches!(
        skill.state,
        RequirementState::Missing | RequirementState::WrongVersion
    );
    skill.is_optional || (!is_missing && skill.requires.iter().all(is_met))
}

impl TreeWalk<'_> {
    fn skill(&mut self, card: &Card) -> RequiredSkill {
        let name = card.name.to_string();
        let is_repeated = !self.expanded.insert(name.clone()) && required(card).next().is_some();
        let mut requires = Vec::new();
        if !is_repeated {
            self.path.push(name.clone());
            requires = required(card).map(|one| self.requirement(one)).collect();
            self.path.pop();
        }
        RequiredSkill {
            name,
            version: card
                .version
                .as_ref()
                .map(|version| version.as_str().to_owned()),
            range: None,
            state: RequirementState::Installed,
            is_optional: false,
            is_repeated,
            requires,
        }
    }

    fn requirement(&mut self, wanted: &Dependency) -> RequiredSkill {
        let card = self.cards.get(&*wanted.name).copied();
        let is_circular = self.path.iter().any(|above| **above == *wanted.name);
        let mut skill = match card {
            Some(card) if !is_circular => self.skill(card),
            _ => RequiredSkill {
                name: wanted.name.to_string(),
                version: card.and_then(|card| Some(card.version.as_ref()?.as_str().to_owned())),
                range: None,
                state: RequirementState::Installed,
                is_optional: false,
                is_repeated: false,
                requires: Vec::new(),
            },
        };
        skill.range = wanted.version.as_deref().map(str::to_owned);
        skill.is_optional = wanted.optional;
        skill.state = match card {
            None => RequirementState::Missing,
            Some(_) if is_circular => RequirementState::Circular,
            Some(card) if !fits(wanted, card) => RequirementState::WrongVersion,
            Some(_) => RequirementState::Installed,
        };
        skill
    }
}

fn fits(wanted: &Dependency, card: &Card) -> bool {
    let range = wanted.version.as_deref();
    let range = range.and_then(|range| VersionReq::parse(range).ok());
    range.is_none_or(|range| {
        let version = card.version.as_ref().and_then(|version| version.semver());
        version.is_some_and(|version| range.matches(version))
    })
}

/// The conflicts between the installed versions, in the words of the resolver.
fn conflicts(roots: &[&Card], cards: &BTreeMap<&str, &Card>) -> Vec<String> {
    let version = |card: &Card| {
        let version = card.version.as_ref().and_then(|version| version.semver());
        version.cloned().unwrap_or(Version::new(0, 0, 0))
    };
    let mut available = Available::new();
    for (name, card) in cards {
        let needed = required(card).filter(|one| !one.optional).map(|one| {
            let range = one.version.as_deref();
            let range = range.and_then(|range| VersionReq::parse(range).ok());
            (one.name.to_string(), range.unwrap_or(VersionReq::STAR))
        });
        let versions = available.entry((*name).to_owned()).or_default();
        versions.insert(version(card), needed.collect());
    }
    let exact = |card: &&Card| {
        let wanted = VersionReq::parse(&format!("={}", version(card)));
        (card.name.to_string(), wanted.unwrap_or(VersionReq::STAR))
    };
    // One skill at a time: a conflict of one must not hide those of the others.
    let mut facts = Vec::new();
    for root in roots {
        if let Err(error) = resolve(&[exact(root)], &available) {
            let shown = error
                .facts
                .into_iter()
                .filter(|fact| !fact.starts_with("you require"));
            for fact in shown {
                if !facts.contains(&fact) {
                    facts.push(fact);
                }
            }
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use metier_model::{FileText, Files, Strictness, parse_card};

    use super::*;

    fn card(name: &str, version: &str, requires: &str) -> Card {
        let text = format!(
            "name: {name}\nversion: {version}\ndescription: d\ntypes: [prompt]\ndependencies: [{requires}]\n"
        );
        let file = FileText {
            name: "SKILL.yaml",
            text: &text,
        };
        let files = Files {
            skill_yaml: Some(file),
            ..Files::default()
        };
        parse_card(&files, Strictness::Lenient).0.unwrap()
    }

    fn walked(cards: &[Card]) -> (RequiredSkill, Vec<String>) {
        let by_name = cards.iter().map(|card| (card.name.as_str(), card));
        let mut walk = TreeWalk {
            cards: by_name.collect(),
            path: Vec::new(),
            expanded: BTreeSet::new(),
        };
        let tree = walk.skill(&cards[0]);
        (tree, conflicts(&[&cards[0]], &walk.cards))
    }

    #[test]
    fn a_wrong_version_is_explained() {
        let (tree, facts) = walked(&[
            card("a", "1.0.0", "{name: b, version: '^2'}, {name: c}"),
            card("b", "1.5.0", ""),
        ]);
        let states: Vec<_> = tree
            .requires
            .iter()
            .map(|one| (&*one.name, one.state))
            .collect();
        let expected = [
            ("b", RequirementState::WrongVersion),
            ("c", RequirementState::Missing),
        ];
        assert_eq!(states, expected);
        assert!(!is_met(&tree));
        assert!(
            facts.iter().any(|fact| fact.contains("a 1.0.0 requires")),
            "{facts:?}"
        );
    }

    #[test]
    fn a_circle_and_a_repetition_end() {
        let (tree, facts) = walked(&[
            card("a", "1.0.0", "{name: b}, {name: c}"),
            card("b", "1.0.0", "{name: c}"),
            card("c", "1.0.0", "{name: a}"),
        ]);
        let [b, c] = tree.requires.as_slice() else {
            panic!("{tree:?}")
        };
        assert_eq!(b.requires[0].requires[0].state, RequirementState::Circular);
        assert!(c.is_repeated && c.requires.is_empty());
        assert_eq!(facts, Vec::<String>::new());
    }

    #[test]
    fn an_optional_skill_can_be_missing() {
        let (tree, facts) = walked(&[card("a", "1.0.0", "{name: b, optional: true}")]);
        assert!(is_met(&tree) && facts.is_empty());
        assert_eq!(tree.requires[0].state, RequirementState::Missing);
    }
}
