//! Limits: exceeding one is reported.

use std::time::Duration;

use metier_catalog::{Catalog, DiscoveryLimits, DiscoveryOptions};
use metier_model::Strictness;

use crate::{LIMITS, World, codes, found, look, options, skill_md};

/// Ten skills in one root, searched with these limits.
fn ten(limits: DiscoveryLimits) -> Catalog {
    let world = World::new();
    for number in 0..10 {
        world.skill(&format!("root/s{number}"));
    }
    world.look_within(limits)
}

#[track_caller]
fn limited(catalog: &Catalog, word: &str) {
    assert_eq!(codes(&catalog.diagnostics), ["limit-reached"]);
    let hint = catalog.diagnostics[0].hint.clone().unwrap_or_default();
    assert!(hint.contains(word), "{hint}");
}

#[test]
fn more_skills_than_the_limit_are_a_diagnostic() {
    let catalog = ten(DiscoveryLimits {
        max_skills: 4,
        ..LIMITS
    });
    limited(&catalog, "max_skills");
    assert_eq!(catalog.entries.len(), 4);
}

#[test]
fn exactly_as_many_skills_as_the_limit_are_fine() {
    let catalog = ten(DiscoveryLimits {
        max_skills: 10,
        ..LIMITS
    });
    assert_eq!(catalog.entries.len(), 10);
    assert!(catalog.diagnostics.is_empty(), "{:?}", catalog.diagnostics);
}

// case 22
#[test]
fn more_entries_than_the_limit_are_a_diagnostic() {
    limited(
        &ten(DiscoveryLimits {
            max_entries: 5,
            ..LIMITS
        }),
        "max_entries",
    );
    assert!(
        ten(DiscoveryLimits {
            max_entries: 10,
            ..LIMITS
        })
        .diagnostics
        .is_empty()
    );
}

#[test]
fn entries_before_the_limit_are_read() {
    assert_eq!(
        ten(DiscoveryLimits {
            max_entries: 5,
            ..LIMITS
        })
        .entries
        .len(),
        5
    );
}

#[test]
fn the_limit_of_skills_counts_other_spellings_too() {
    let world = World::new();
    for number in 0..10 {
        world.write(
            &format!("root/s{number}/skill.md"),
            skill_md(&format!("s{number}")),
        );
    }
    let limits = DiscoveryLimits {
        max_skills: 4,
        ..LIMITS
    };
    let catalog = world.look_within(limits);
    limited(&catalog, "max_skills");
    assert_eq!(catalog.entries.len(), 4);
}

// case 22
#[test]
fn folders_deeper_than_the_limit_are_a_diagnostic() {
    let world = World::new();
    world.skill("root/a/b/c/deep");
    world.skill("root/a/high");
    for (max_depth, expected) in [(3, vec!["a/high"]), (4, vec!["a/b/c/deep", "a/high"])] {
        let limits = DiscoveryLimits {
            max_depth,
            ..LIMITS
        };
        let catalog = world.look_within(limits);
        assert_eq!(found(&catalog, &world.root()), expected);
        if max_depth == 3 {
            limited(&catalog, "max_depth");
        } else {
            assert!(catalog.diagnostics.is_empty());
        }
    }
}

#[test]
fn the_limit_of_depth_is_mentioned_once() {
    let world = World::new();
    for number in 0..20 {
        world.skill(&format!("root/f{number}/a/b/s"));
    }
    let limits = DiscoveryLimits {
        max_depth: 2,
        ..LIMITS
    };
    let catalog = world.look_within(limits);
    limited(&catalog, "max_depth");
}

// case 22
#[test]
fn a_root_that_takes_too_long_is_a_diagnostic() {
    let world = World::new();
    for number in 0..20 {
        world.skill(&format!("root/f{number}/s"));
    }
    let limits = DiscoveryLimits {
        max_root_time: Duration::ZERO,
        ..LIMITS
    };
    let catalog = world.look_within(limits);
    limited(&catalog, "max_root_seconds");
}

#[test]
fn threads_change_nothing() {
    let world = World::in_memory();
    for number in 0..1100 {
        world.skill(&format!("root/s{number}"));
    }
    world.folder("root/not-a-skill");
    let with = |threads| {
        found(
            &look(
                &world.root(),
                &DiscoveryOptions {
                    threads,
                    ..options(Strictness::Lenient)
                },
            ),
            &world.root(),
        )
    };
    let one = with(1);
    assert_eq!(one.len(), 1100);
    for threads in [0, 2, 7, 100] {
        assert_eq!(with(threads), one);
    }
}
