//! Links between folders.

use metier_catalog::{DiscoveryLimits, Root, discover};
use metier_model::{DiagnosticSeverity, Source, Strictness};
use metier_testkit::patience::ends;

use crate::{LIMITS, World, codes, found, look, only, options};

#[test]
fn a_linked_skill_is_found_once_under_the_name_of_the_link() {
    let world = World::new();
    world.skill("outside/s");
    world.link(world.at("outside/s"), "root/s");
    let catalog = world.look();
    assert_eq!(found(&catalog, &world.root()), ["s"]);
    let entry = only(&catalog);
    assert_eq!(entry.real.as_deref(), Some(world.at("outside/s").as_path()));
    assert!(entry.card.is_some() && entry.diagnostics.is_empty());
    assert!(
        entry
            .load(Strictness::Lenient, LIMITS.max_skill_bytes)
            .is_ok()
    );
}

#[test]
fn a_skill_and_a_link_to_it_are_one_skill() {
    let world = World::new();
    world.skill("root/s");
    world.link("s", "root/t");
    world.link(world.at("root/s"), "root/cat/u");
    let catalog = world.look();
    assert_eq!(found(&catalog, &world.root()), ["s"]);
    assert_eq!(only(&catalog).real, None);
}

#[test]
fn a_skill_in_one_root_and_a_link_in_another_are_one_skill() {
    let world = World::new();
    world.skill("outside/s");
    world.link(world.at("outside/s"), "root/s");
    for order in [["root", "outside"], ["outside", "root"]] {
        let roots = order
            .map(|name| Root::explicit(Source::User, world.at(name)))
            .to_vec();
        let catalog = discover(roots, &options(Strictness::Lenient));
        assert_eq!(only(&catalog).place.path(), world.at("outside/s"));
    }
}

#[test]
fn of_several_links_to_a_skill_the_choice_does_not_depend_on_the_disk() {
    let mut firsts = 0;
    for number in 0..12 {
        let world = World::new();
        world.skill("outside/s");
        let names = [format!("a{number}"), format!("b{number}")];
        let order = if number % 2 == 0 { [0, 1] } else { [1, 0] };
        for index in order {
            world.link(world.at("outside/s"), &format!("root/{}", names[index]));
        }
        firsts += usize::from(found(&world.look(), &world.root()) == [names[0].as_str()]);
    }
    assert!(
        firsts == 0 || firsts == 12,
        "{firsts} of 12 times the first name stayed"
    );
}

#[test]
fn a_link_to_a_folder_of_skills_is_followed() {
    let world = World::new();
    world.skill("outside/lib/a");
    world.skill("outside/lib/more/b");
    world.link(world.at("outside/lib"), "root/lib");
    assert_eq!(found(&world.look(), &world.root()), ["lib/a", "lib/more/b"]);
}

// case 12
#[test]
fn broken_and_circular_links_are_reported_and_skipped() {
    let world = World::new();
    world.skill("root/good");
    world.link("nothing", "root/broken");
    world.link("self", "root/self");
    world.link("two", "root/one");
    world.link("one", "root/two");
    world.link("/", "root/everything");
    world.link(world.at(""), "root/above");
    let catalog = world.look();
    assert_eq!(found(&catalog, &world.root()), ["good"]);
    assert_eq!(codes(&catalog.diagnostics), ["link-broken"; 6]);
    assert!(
        catalog
            .diagnostics
            .iter()
            .all(|diagnostic| diagnostic.severity == DiagnosticSeverity::Warning)
    );
}

#[test]
fn links_back_into_the_root_are_not_walked_again() {
    let world = World::new();
    world.skill("root/cat/good");
    world.link("..", "root/cat/up");
    world.link(world.root(), "root/cat/more/top");
    world.link(".", "root/here");
    assert_eq!(found(&world.look(), &world.root()), ["cat/good"]);
}

#[test]
fn links_to_files_are_not_skills() {
    let world = World::new();
    world.skill("root/good");
    world.link("/etc/passwd", "root/file");
    world.link(world.at("root/good/SKILL.md"), "root/README.md");
    let catalog = world.look();
    assert_eq!(found(&catalog, &world.root()), ["good"]);
    assert!(catalog.diagnostics.is_empty());
}

#[test]
fn folders_outside_that_link_to_each_other_end_and_are_found_once() {
    ends("reading it", || {
        let world = World::new();
        for (name, next) in [("a", "b"), ("b", "c"), ("c", "a")] {
            world.skill(&format!("outside/{name}/skill-{name}"));
            world.link(
                world.at(&format!("outside/{next}")),
                &format!("outside/{name}/next"),
            );
        }
        world.link(world.at("outside/a"), "root/start");
        assert_eq!(world.look().entries.len(), 3);
    });
}

/// Each of eight folders links to all others: a walk that does not track its targets never ends.
// case 12
#[test]
fn folders_outside_that_all_link_to_each_other_end_in_time() {
    let world = World::new();
    for from in 0..8 {
        world.skill(&format!("outside/f{from}/s{from}"));
        for to in (0..8).filter(|to| *to != from) {
            world.link(
                world.at(&format!("outside/f{to}")),
                &format!("outside/f{from}/to{to}"),
            );
        }
    }
    world.link(world.at("outside/f0"), "root/start");
    let root = world.root();
    let catalog = ends("reading it", move || {
        look(&root, &options(Strictness::Lenient))
    });
    assert_eq!(catalog.entries.len(), 8);
}

#[test]
fn limits_hold_for_what_is_linked_too() {
    let world = World::new();
    for folder in 0..5 {
        for skill in 0..4 {
            world.skill(&format!("outside/f{folder}/s{folder}-{skill}"));
        }
        world.link(
            world.at(&format!("outside/f{folder}")),
            &format!("root/f{folder}"),
        );
    }
    let limits = DiscoveryLimits {
        max_skills: 6,
        ..LIMITS
    };
    let catalog = world.look_within(limits);
    assert_eq!(catalog.entries.len(), 6);
    assert!(codes(&catalog.diagnostics).contains(&"limit-reached"));
}

#[test]
fn a_link_to_a_skill_that_the_walk_itself_skips_is_followed() {
    let world = World::new();
    world.skill("root/node_modules/@scope/s");
    world.link("node_modules/@scope/s", "root/s");
    assert_eq!(found(&world.look(), &world.root()), ["s"]);
}
