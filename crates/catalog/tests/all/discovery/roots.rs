//! Roots: missing, twice, within each other; and the built-in skills.

use std::path::PathBuf;

use metier_catalog::{Catalog, CatalogEntry, DiscoveryOptions, Root, discover};
use metier_model::{DiagnosticSeverity, Source, Strictness};

use crate::{LIMITS, World, codes, errors, only, options};

fn looked(roots: Vec<Root>) -> Catalog {
    discover(roots, &options(Strictness::Lenient))
}

#[test]
fn a_named_root_must_be_there() {
    let world = World::new();
    world.write("file", "x");
    world.link("nothing", "dangling");
    world.link("loop", "loop");
    for path in ["missing", "file", "dangling", "loop", "file/below"] {
        let catalog = looked(vec![Root::explicit(Source::Inline, world.at(path))]);
        assert_eq!(codes(&catalog.diagnostics), ["root-unreadable"], "{path}");
        assert_eq!(catalog.diagnostics[0].severity, DiagnosticSeverity::Error);
    }
}

#[test]
fn a_usual_root_may_be_missing() {
    let world = World::new();
    world.write("file", "x");
    for path in ["missing", "missing/below", "file"] {
        let catalog = looked(vec![Root::usual(Source::User, world.at(path))]);
        assert!(
            catalog.diagnostics.is_empty() && catalog.entries.is_empty(),
            "{path}"
        );
    }
}

#[test]
fn a_usual_root_below_a_file_is_only_missing() {
    let world = World::new();
    world.write("file", "x");
    let catalog = looked(vec![Root::usual(Source::Project, world.at("file/skills"))]);
    assert!(catalog.diagnostics.is_empty(), "{:?}", catalog.diagnostics);
}

#[test]
fn a_missing_root_hides_no_other() {
    let world = World::new();
    world.skill("root/s");
    let roots = vec![
        Root::explicit(Source::Extra, world.at("missing")),
        Root::explicit(Source::User, world.root()),
    ];
    let catalog = looked(roots);
    assert_eq!(catalog.entries.len(), 1);
    assert_eq!(catalog.entries[0].root, Some(1));
    assert_eq!(catalog.diagnostics.len(), 1);
}

#[test]
fn a_folder_that_is_two_roots_is_searched_once() {
    let world = World::new();
    world.skill("root/s");
    world.link(world.root(), "alias");
    let root = |path: PathBuf| Root::explicit(Source::User, path);
    for path in [
        world.root(),
        world.at("alias"),
        world.at("root/."),
        world.at("outside/../root"),
    ] {
        assert_eq!(
            looked(vec![root(world.root()), root(path)]).entries.len(),
            1
        );
    }
}

/// A folder named on the command line is searched, even if it belongs to an untrusted project.
#[test]
fn a_folder_that_is_two_roots_counts_for_the_greater_source() {
    let world = World::new();
    world.skill("root/s");
    let roots = vec![
        Root {
            trusted: false,
            ..Root::usual(Source::Project, world.root())
        },
        Root::explicit(Source::Inline, world.root()),
    ];
    let catalog = looked(roots);
    let entry = only(&catalog);
    assert_eq!(entry.source, Source::Inline);
    assert!(catalog.roots[usize::from(entry.root.unwrap())].trusted);
}

#[test]
fn a_root_inside_a_root_finds_nothing_twice() {
    let world = World::new();
    world.skill("root/inner/s");
    let roots = vec![
        Root::explicit(Source::User, world.root()),
        Root::explicit(Source::User, world.at("root/inner")),
    ];
    assert_eq!(looked(roots).entries.len(), 1);
}

#[test]
fn built_in_skills_conform_and_load() {
    for mode in [Strictness::Lenient, Strictness::Strict] {
        let catalog = discover(
            Vec::new(),
            &DiscoveryOptions {
                builtins: true,
                ..options(mode)
            },
        );
        assert!(!catalog.entries.is_empty());
        for entry in &catalog.entries {
            assert_eq!(entry.diagnostics, [], "{}", entry.name());
            assert!(
                entry
                    .load(mode, 1 << 20)
                    .is_ok_and(|(parsed, body)| parsed.manifest.is_some() && !body.is_empty())
            );
        }
    }
}

/// Discovery and loading report the same about a skill.
#[track_caller]
pub(crate) fn loads_as_listed(entry: &CatalogEntry, mode: Strictness) {
    let Ok((parsed, _)) = entry.load(mode, LIMITS.max_skill_bytes) else {
        assert!(
            entry.card.is_none(),
            "{} is listed, but can't be loaded",
            entry.name()
        );
        return;
    };
    let card = parsed.manifest.map(|manifest| manifest.card);
    let spelling = errors(entry) == ["file-name-case"] || errors(entry) == ["file-ambiguous"];
    assert!(
        card == entry.card || spelling,
        "{} loads as something else",
        entry.name()
    );
}
