//! Compatible versions of several skills.
//!
//! The algorithm is PubGrub, as in uv: when there is no solution, it can derive why, and the error explains that in sentences. Pre-releases
//! (`2.0.0-rc.1`) are chosen only where a requirement names one of the same release, as in cargo.

use std::{cmp::Reverse, collections::BTreeMap, convert::Infallible, fmt, ops::Bound};

use pubgrub::{Dependencies, DependencyProvider, DerivationTree, External, PubGrubError, Ranges};
use semver::{BuildMetadata, Comparator, Op, Prerelease, Version, VersionReq};

/// The available versions of each skill, and the requirements of each.
pub type Available = BTreeMap<String, BTreeMap<Version, Vec<(String, VersionReq)>>>;

/// The chosen version of each skill.
pub type ResolvedVersions = BTreeMap<String, Version>;

/// Chooses the newest versions that satisfy all requirements, of the requested skills and of their dependencies.
///
/// # Errors
/// If there is no such choice; the error explains it.
pub fn resolve(
    wanted: &[(String, VersionReq)],
    available: &Available,
) -> Result<ResolvedVersions, ResolutionError> {
    let provider = Offered { wanted, available };
    match pubgrub::resolve(&provider, Node::Wanted, Version::new(0, 0, 0)) {
        Ok(chosen) => Ok(chosen
            .into_iter()
            .filter_map(|(node, version)| match node {
                Node::Skill(name) => Some((name, version)),
                Node::Wanted => None,
            })
            .collect()),
        Err(PubGrubError::NoSolution(tree)) => {
            let mut explanation = Explanation::new(&provider);
            explanation.visit(&tree);
            Err(ResolutionError {
                facts: explanation.facts(),
            })
        }
        Err(other) => Err(ResolutionError {
            facts: vec![other.to_string()],
        }),
    }
}

/// No choice of versions satisfies all requirements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no versions are compatible: {}", facts.join("; "))]
pub struct ResolutionError {
    /// The contradicting requirements, and the available versions.
    pub facts: Vec<String>,
}

/// Why a version can never be chosen: its requirements for one skill exclude each other.
const CONTRADICTS_ITSELF: &str = "its requirements exclude each other";

/// How many versions of a skill are named.
const MAX_NAMED: usize = 5;

/// The facts at the leaves of a derivation. The steps between them are omitted: three requirements are enough to see the contradiction.
struct Explanation<'a> {
    provider: &'a Offered<'a>,
    wanted: Vec<String>,
    required: Vec<String>,
    /// For each skill, the versions that all requirements allow.
    left: BTreeMap<Node, Ranges<Version>>,
}

impl<'a> Explanation<'a> {
    fn new(provider: &'a Offered<'a>) -> Self {
        Self {
            provider,
            wanted: Vec::new(),
            required: Vec::new(),
            left: BTreeMap::new(),
        }
    }

    fn visit(&mut self, tree: &DerivationTree<Node, Ranges<Version>, String>) {
        match tree {
            DerivationTree::Derived(derived) => {
                self.visit(&derived.cause1);
                self.visit(&derived.cause2);
            }
            DerivationTree::External(External::FromDependencyOf(from, versions, on, range)) => {
                self.requirement(from, versions, on, range);
                let left = self.left.entry(on.clone()).or_insert_with(Ranges::full);
                *left = left.intersection(range);
            }
            DerivationTree::External(External::Custom(from, versions, _)) => {
                self.contradiction(from, versions);
            }
            DerivationTree::External(_) => {}
        }
    }

    /// Requests first, then requirements, then the versions of unavailable skills.
    fn facts(mut self) -> Vec<String> {
        let mut facts = self.wanted;
        facts.append(&mut self.required);
        for (node, range) in &self.left {
            if self.provider.versions(node, range).next().is_none() {
                facts.extend(self.provider.offer(node));
            }
        }
        facts
    }

    /// The requirements of one version that exclude each other.
    fn contradiction(&mut self, from: &Node, versions: &Ranges<Version>) {
        for (version, requirements) in self.provider.requirements(from, versions) {
            for (name, requirement) in requirements {
                let others = requirements.iter().filter(|(other, _)| other == name);
                let range = others.fold(Ranges::full(), |range, (_, other)| {
                    range.intersection(&range_of(other))
                });
                let is_itself = *from == Node::Skill(name.clone()) && !range.contains(&version);
                if range == Ranges::empty() || is_itself {
                    let on = Node::Skill(name.clone());
                    self.requirement(from, versions, &on, &range_of(requirement));
                }
            }
        }
    }

    /// A requirement with its skill, in the requirement's own words.
    fn requirement(
        &mut self,
        from: &Node,
        versions: &Ranges<Version>,
        on: &Node,
        range: &Ranges<Version>,
    ) {
        let is_meant = |(name, requirement): &&(String, VersionReq)| {
            Node::Skill(name.clone()) == *on && !range_of(requirement).is_disjoint(range)
        };
        for (version, requirements) in self.provider.requirements(from, versions) {
            for (name, requirement) in requirements.iter().filter(is_meant) {
                match from {
                    Node::Wanted => {
                        let fact = format!("you require {name} {requirement}");
                        add(&mut self.wanted, fact);
                    }
                    Node::Skill(skill) => {
                        let fact = format!("{skill} {version} requires {name} {requirement}");
                        add(&mut self.required, fact);
                    }
                }
            }
        }
    }
}

fn add(facts: &mut Vec<String>, fact: String) {
    if !facts.contains(&fact) {
        facts.push(fact);
    }
}

/// A skill, or the request itself, which is the root of the search.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Node {
    Wanted,
    Skill(String),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wanted => f.write_str("this request"),
            Self::Skill(name) => f.write_str(name),
        }
    }
}

struct Offered<'a> {
    wanted: &'a [(String, VersionReq)],
    available: &'a Available,
}

impl<'a> Offered<'a> {
    /// The requirements of the newest versions in a range.
    fn requirements(
        &self,
        node: &Node,
        range: &Ranges<Version>,
    ) -> Vec<(Version, &'a [(String, VersionReq)])> {
        match node {
            Node::Wanted => vec![(Version::new(0, 0, 0), self.wanted)],
            Node::Skill(name) => {
                let all = self.available.get(name).into_iter().flatten().rev();
                let meant = all.filter(|(version, _)| range.contains(version));
                let meant = meant.map(|(version, all)| (version.clone(), all.as_slice()));
                meant.take(MAX_NAMED).collect()
            }
        }
    }

    /// The available versions of a skill, in a sentence.
    fn offer(&self, node: &Node) -> Option<String> {
        let Node::Skill(name) = node else { return None };
        let versions = self
            .available
            .get(name)
            .into_iter()
            .flat_map(BTreeMap::keys);
        let versions: Vec<String> = versions.rev().map(ToString::to_string).collect();
        Some(match versions.as_slice() {
            [] => format!("there is no skill {name}"),
            [only] => format!("the only version of {name} is {only}"),
            all if all.len() > MAX_NAMED => format!(
                "the newest versions of {name} are {}",
                all[..MAX_NAMED].join(", ")
            ),
            all => format!("the versions of {name} are {}", all.join(", ")),
        })
    }

    /// The versions of a skill in a range, the oldest first. A pre-release counts only if the range begins in its release.
    fn versions<'s>(
        &'s self,
        node: &'s Node,
        range: &'s Ranges<Version>,
    ) -> impl DoubleEndedIterator<Item = &'s Version> {
        let versions = match node {
            Node::Skill(name) => self.available.get(name),
            Node::Wanted => None,
        };
        let all = versions.into_iter().flat_map(BTreeMap::keys);
        all.filter(|version| range.contains(version))
            .filter(|version| version.pre.is_empty() || names_release(range, version))
    }
}

/// Whether a requirement names a pre-release of the same release. `-0` as an upper bound is ours: no version of that release is below it.
fn names_release(range: &Ranges<Version>, version: &Version) -> bool {
    let release = |version: &Version| (version.major, version.minor, version.patch);
    let is_near = |bound: &Bound<Version>| match bound {
        Bound::Included(named) | Bound::Excluded(named) => {
            !named.pre.is_empty() && release(named) == release(version)
        }
        Bound::Unbounded => false,
    };
    let is_ours = |bound: &Bound<Version>| matches!(bound, Bound::Excluded(named) if named.pre.as_str() == "0");
    let mut parts = range.iter();
    parts.any(|(from, to)| is_near(from) || (is_near(to) && !is_ours(to)))
}

impl DependencyProvider for Offered<'_> {
    type P = Node;
    type V = Version;
    type VS = Ranges<Version>;
    type M = String;
    type Err = Infallible;
    type Priority = (u32, Reverse<usize>);

    /// Skills that caused conflicts first, then those with the fewest versions to choose from.
    fn prioritize(
        &self,
        package: &Node,
        range: &Ranges<Version>,
        conflicts: &pubgrub::PackageResolutionStatistics,
    ) -> Self::Priority {
        let count = self.versions(package, range).count();
        match count {
            0 => (u32::MAX, Reverse(0)),
            count => (conflicts.conflict_count(), Reverse(count)),
        }
    }

    fn choose_version(
        &self,
        package: &Node,
        range: &Ranges<Version>,
    ) -> Result<Option<Version>, Infallible> {
        Ok(match package {
            Node::Wanted => Some(Version::new(0, 0, 0)),
            Node::Skill(_) => self.versions(package, range).next_back().cloned(),
        })
    }

    fn get_dependencies(
        &self,
        package: &Node,
        version: &Version,
    ) -> Result<Dependencies<Node, Ranges<Version>, String>, Infallible> {
        let requirements = match package {
            Node::Wanted => Some(self.wanted),
            Node::Skill(name) => self
                .available
                .get(name)
                .and_then(|versions| versions.get(version))
                .map(Vec::as_slice),
        };
        let Some(requirements) = requirements else {
            return Ok(Dependencies::Unavailable("is not available".to_owned()));
        };
        let mut constraints: BTreeMap<Node, Ranges<Version>> = BTreeMap::new();
        for (name, requirement) in requirements {
            let range = constraints
                .entry(Node::Skill(name.clone()))
                .or_insert_with(Ranges::full);
            *range = range.intersection(&range_of(requirement));
        }
        // A skill that requires itself is satisfied by this version or not at all.
        if let Some(range) = constraints.remove(package)
            && !range.contains(version)
        {
            return Ok(Dependencies::Unavailable(CONTRADICTS_ITSELF.to_owned()));
        }
        // The search would treat a range without versions as no requirement.
        if constraints.values().any(|range| *range == Ranges::empty()) {
            return Ok(Dependencies::Unavailable(CONTRADICTS_ITSELF.to_owned()));
        }
        let constraints = constraints.into_iter().collect();
        Ok(Dependencies::Available(constraints))
    }
}

/// The versions that a requirement allows.
fn range_of(requirement: &VersionReq) -> Ranges<Version> {
    let all = requirement.comparators.iter().map(comparator_range);
    all.fold(Ranges::full(), |range, next| range.intersection(&next))
}

fn comparator_range(comparator: &Comparator) -> Ranges<Version> {
    let (major, minor, patch) = (comparator.major, comparator.minor, comparator.patch);
    let lowest = Version {
        major,
        minor: minor.unwrap_or(0),
        patch: patch.unwrap_or(0),
        pre: comparator.pre.clone(),
        build: BuildMetadata::EMPTY,
    };
    // The first version after all that this comparator matches: `1` matches 1.*.*, `1.2` matches 1.2.*, `1.2.3` only itself.
    let named_end = match (minor, patch) {
        (None, _) => before(major + 1, 0, 0),
        (Some(minor), None) => before(major, minor + 1, 0),
        (Some(_), Some(_)) if !comparator.pre.is_empty() => after(&lowest),
        (Some(minor), Some(patch)) => before(major, minor, patch + 1),
    };
    let from = Ranges::higher_than(lowest.clone());
    let until = |end: Version| Ranges::strictly_lower_than(end);
    match comparator.op {
        Op::Exact | Op::Wildcard => from.intersection(&until(named_end)),
        Op::Greater if comparator.pre.is_empty() => {
            let (major, minor, patch) = (named_end.major, named_end.minor, named_end.patch);
            Ranges::higher_than(Version::new(major, minor, patch))
        }
        Op::Greater => Ranges::strictly_higher_than(lowest),
        Op::GreaterEq => from,
        Op::Less => until(lowest),
        Op::LessEq => until(named_end),
        Op::Tilde => from.intersection(&until(match minor {
            None => before(major + 1, 0, 0),
            Some(minor) => before(major, minor + 1, 0),
        })),
        Op::Caret => from.intersection(&until(match (major, minor, patch) {
            (0, None, _) => before(1, 0, 0),
            (0, Some(0), None) => before(0, 1, 0),
            (0, Some(0), Some(patch)) => before(0, 0, patch + 1),
            (0, Some(minor), _) => before(0, minor + 1, 0),
            (major, ..) => before(major + 1, 0, 0),
        })),
        _ => Ranges::empty(),
    }
}

/// The lowest version of this release, before its first pre-release.
fn before(major: u64, minor: u64, patch: u64) -> Version {
    let mut version = Version::new(major, minor, patch);
    version.pre = Prerelease::new("0").unwrap_or(Prerelease::EMPTY);
    version
}

/// The next higher version: one more identifier.
fn after(version: &Version) -> Version {
    let mut next = version.clone();
    next.pre = Prerelease::new(&format!("{}.0", version.pre)).unwrap_or(Prerelease::EMPTY);
    next
}
