//! Compatible versions.

use std::collections::BTreeMap;

use metier_package::{Available, resolve};
use proptest::prelude::*;
use semver::{Version, VersionReq};

fn wanted(list: &[(&str, &str)]) -> Vec<(String, VersionReq)> {
    list.iter()
        .map(|(name, range)| ((*name).to_owned(), range.parse().unwrap()))
        .collect()
}

/// Name, version, requirements.
type Offer<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

fn available(list: &[Offer<'_>]) -> Available {
    let mut available = Available::new();
    for (name, version, requires) in list {
        let versions: &mut BTreeMap<_, _> = available.entry((*name).to_owned()).or_default();
        versions.insert(version.parse().unwrap(), wanted(requires));
    }
    available
}

fn chosen(list: &[(&str, &str)], available: &Available) -> Vec<String> {
    let chosen = resolve(&wanted(list), available).unwrap();
    chosen
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect()
}

#[test]
fn the_newest_versions_that_fit_are_chosen() {
    let available = available(&[
        ("report", "1.0.0", &[("pdf", "^1")]),
        ("report", "2.0.0", &[("pdf", "^2")]),
        ("pdf", "1.0.0", &[]),
        ("pdf", "1.4.0", &[]),
        ("pdf", "2.0.0-rc.1", &[]),
    ]);
    assert_eq!(
        chosen(&[("report", "*")], &available),
        ["pdf 1.4.0", "report 1.0.0"]
    );
    assert_eq!(
        chosen(&[("pdf", ">=2.0.0-rc.1")], &available),
        ["pdf 2.0.0-rc.1"]
    );
}

#[test]
fn a_conflict_is_explained() {
    let available = available(&[
        ("report", "1.0.0", &[("pdf", "^1")]),
        ("scan", "1.0.0", &[("pdf", "^2")]),
        ("pdf", "1.0.0", &[]),
        ("pdf", "2.0.0", &[]),
    ]);
    let error = resolve(&wanted(&[("report", "*"), ("scan", "*")]), &available).unwrap_err();
    assert_eq!(
        error.facts,
        [
            "you require report *",
            "you require scan *",
            "report 1.0.0 requires pdf ^1",
            "scan 1.0.0 requires pdf ^2",
            "the versions of pdf are 2.0.0, 1.0.0",
        ]
    );
    let error = resolve(&wanted(&[("pdf", "^3")]), &available).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no versions are compatible: you require pdf ^3; the versions of pdf are 2.0.0, 1.0.0"
    );
    let error = resolve(&wanted(&[("absent", "*")]), &available).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no versions are compatible: you require absent *; there is no skill absent"
    );
}

#[test]
fn requirements_that_exclude_each_other_are_explained() {
    let available = available(&[("pdf", "1.0.0", &[]), ("pdf", "2.0.0", &[])]);
    let error = resolve(&wanted(&[("pdf", "^1"), ("pdf", "^2")]), &available).unwrap_err();
    assert_eq!(error.facts, ["you require pdf ^1", "you require pdf ^2"]);
}

fn version() -> impl Strategy<Value = Version> {
    let pre = prop_oneof![4 => Just(""), 1 => Just("-0"), 1 => Just("-a"), 1 => Just("-a.1"), 1 => Just("-b")];
    (0u64..3, 0u64..3, 0u64..3, pre)
        .prop_map(|(a, b, c, pre)| format!("{a}.{b}.{c}{pre}").parse().unwrap())
}

fn requirement() -> impl Strategy<Value = VersionReq> {
    let op = prop_oneof![
        Just("="),
        Just(">"),
        Just(">="),
        Just("<"),
        Just("<="),
        Just("~"),
        Just("^")
    ];
    let named = prop_oneof![
        3 => version().prop_map(|version| version.to_string()),
        1 => (0u64..3).prop_map(|a| a.to_string()),
        1 => (0u64..3, 0u64..3).prop_map(|(a, b)| format!("{a}.{b}")),
    ];
    proptest::collection::vec((op, named), 0..3).prop_map(|parts| {
        let parts: Vec<String> = parts
            .into_iter()
            .map(|(op, version)| format!("{op}{version}"))
            .collect();
        match parts.is_empty() {
            true => VersionReq::STAR,
            false => parts.join(", ").parse().unwrap(),
        }
    })
}

proptest! {
    /// `semver` decides about one version; the resolver uses ranges. They agree.
    #[test]
    fn a_requirement_means_what_semver_says(requirement in requirement(), version in version()) {
        // `<=1, >1.1.0-a`: for semver a part of a version excludes what the other comparator names. Ranges can't represent which comparator
        // named a version.
        let all = &requirement.comparators;
        let is_part = all.iter().any(|one| one.patch.is_none());
        prop_assume!(!is_part || all.iter().all(|one| one.pre.is_empty()));
        let available = Available::from([(
            "x".to_owned(),
            BTreeMap::from([(version.clone(), Vec::new())]),
        )]);
        let found = resolve(&[("x".to_owned(), requirement.clone())], &available).is_ok();
        prop_assert_eq!(found, requirement.matches(&version), "{} {}", requirement, version);
    }

    /// Any choice satisfies every requirement; if there is none, trying all combinations finds none either.
    #[test]
    fn an_answer_is_right_and_none_is_overlooked(
        table in proptest::collection::btree_map(
            0usize..3,
            proptest::collection::btree_map(0u64..3, proptest::collection::vec((0usize..3, requirement_of_majors()), 0..3), 1..3),
            1..4,
        ),
        wish in proptest::collection::vec((0usize..3, requirement_of_majors()), 1..3),
    ) {
        let name = |index: usize| format!("s{index}");
        let available: Available = table.iter().map(|(index, versions)| {
            let versions = versions.iter().map(|(major, requires)| {
                let requires = requires.iter().map(|(on, range)| (name(*on), range.clone()));
                (Version::new(*major, 0, 0), requires.collect())
            });
            (name(*index), versions.collect())
        }).collect();
        let wish: Vec<_> = wish.into_iter().map(|(on, range)| (name(on), range)).collect();
        let holds = |chosen: &BTreeMap<String, Version>| {
            let met = |(on, range): &(String, VersionReq)| chosen.get(on).is_some_and(|version| range.matches(version));
            wish.iter().all(met) && chosen.iter().all(|(name, version)| available[name][version].iter().all(met))
        };
        match resolve(&wish, &available) {
            Ok(chosen) => prop_assert!(holds(&chosen), "{:?}", chosen),
            Err(_) => prop_assert!(!all_choices(&available).iter().any(holds)),
        }
    }
}

fn requirement_of_majors() -> impl Strategy<Value = VersionReq> {
    (0u64..3, prop_oneof![Just("="), Just(">="), Just("<=")])
        .prop_map(|(major, op)| format!("{op}{major}").parse().unwrap())
}

/// Each skill absent, or in one of its versions.
fn all_choices(available: &Available) -> Vec<BTreeMap<String, Version>> {
    let mut choices = vec![BTreeMap::new()];
    for (name, versions) in available {
        let with = choices.iter().flat_map(|choice| {
            versions.keys().map(move |version| {
                let mut choice = choice.clone();
                choice.insert(name.clone(), version.clone());
                choice
            })
        });
        let with: Vec<_> = with.collect();
        choices.extend(with);
    }
    choices
}
