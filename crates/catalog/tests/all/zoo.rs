//! The fixtures: the expected results of each broken skill, as their tables state.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use metier_catalog::CatalogEntry;
use metier_model::{DiagnosticSeverity, Strictness};

use crate::{LIMITS, discovery::roots::loads_as_listed, look, options};

fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(name)
}

/// A row of a table: whether it loads in each mode, and under which name.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    lenient: String,
    strict: String,
    name: String,
}

fn table(folder: &Path) -> BTreeMap<String, Row> {
    let text = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [folder, lenient, strict, name, _why] = cells[..] else {
            panic!("{line:?} has {} cells", cells.len())
        };
        (
            folder.to_owned(),
            Row {
                lenient: lenient.into(),
                strict: strict.into(),
                name: name.into(),
            },
        )
    });
    rows.collect()
}

fn folder_of(entry: &CatalogEntry) -> String {
    entry
        .place
        .path()
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned()
}

/// All entries of a folder, examined.
fn examined(folder: &Path, mode: Strictness) -> Vec<CatalogEntry> {
    let mut entries = look(folder, &options(mode)).entries;
    for entry in &mut entries {
        entry.examine(mode, LIMITS.max_skill_bytes);
    }
    entries
}

fn what_is_found(folder: &Path) -> BTreeMap<String, Row> {
    let strict = examined(folder, Strictness::Strict);
    let conforms: BTreeMap<String, bool> = strict
        .iter()
        .map(|entry| (folder_of(entry), entry.card.is_some()))
        .collect();
    let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let name = |entry: &CatalogEntry| entry.card.as_ref().map(|card| card.name.to_string());
    let row = |entry: &CatalogEntry| Row {
        lenient: word(entry.card.is_some()),
        strict: word(conforms[&folder_of(entry)]),
        name: name(entry).unwrap_or_else(|| "-".into()),
    };
    examined(folder, Strictness::Lenient)
        .iter()
        .map(|entry| (folder_of(entry), row(entry)))
        .collect()
}

/// Compares a table with the results.
fn check(name: &str) {
    let folder = fixtures(name);
    let (expected, found) = (table(&folder), what_is_found(&folder));
    let mut names: Vec<&String> = expected.keys().chain(found.keys()).collect();
    names.sort();
    names.dedup();
    let wrong: Vec<String> = names
        .into_iter()
        .filter(|name| expected.get(*name) != found.get(*name))
        .map(|name| {
            let (expected, found) = (expected.get(name), found.get(name));
            format!("{name}: expected {expected:?}, found {found:?}")
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(expected.len() > 10);
}

#[test]
fn every_skill_of_the_zoo_matches_its_table() {
    check("zoo");
}

#[test]
fn every_good_skill_matches_its_table() {
    check("good");
}

#[test]
fn a_failed_load_has_an_error_and_a_loaded_skill_has_none() {
    for name in ["zoo", "good"] {
        for mode in [Strictness::Lenient, Strictness::Strict] {
            let catalog = look(&fixtures(name), &options(mode));
            assert!(catalog.diagnostics.is_empty());
            for entry in &catalog.entries {
                let failed = entry
                    .diagnostics
                    .iter()
                    .any(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error);
                assert_eq!(entry.card.is_none(), failed, "{}", folder_of(entry));
            }
        }
    }
}

#[test]
fn what_conforms_also_loads_leniently() {
    let strict = look(&fixtures("zoo"), &options(Strictness::Strict));
    let lenient = look(&fixtures("zoo"), &options(Strictness::Lenient));
    for entry in &strict.entries {
        if entry.card.is_some() {
            let same = lenient
                .entries
                .iter()
                .find(|other| other.place == entry.place)
                .unwrap();
            assert!(
                same.card.is_some(),
                "{} conforms, but does not load",
                folder_of(entry)
            );
        }
    }
}

#[test]
fn every_fixture_loads_as_it_is_listed() {
    for name in ["zoo", "good"] {
        for mode in [Strictness::Lenient, Strictness::Strict] {
            look(&fixtures(name), &options(mode))
                .entries
                .iter()
                .for_each(|entry| loads_as_listed(entry, mode));
        }
    }
}
