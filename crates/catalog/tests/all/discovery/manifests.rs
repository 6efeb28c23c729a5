//! The files that make a manifest: the sidecar, two files, other spellings.

use metier_model::Strictness;
use metier_testkit::patience::ends;

use super::{invalid, odd};
use crate::{LIMITS, World, codes, errors, look, named, only, options, skill_md};

const NOT_BY_MODELS: &str = "policy:\n  allow_implicit_invocation: false\n";

#[test]
fn the_sidecar_is_read() {
    let world = World::new();
    world.skill("root/s");
    world.write("root/s/agents/openai.yaml", NOT_BY_MODELS);
    let catalog = world.look();
    let entry = only(&catalog);
    assert!(entry.files.sidecar);
    assert_eq!(
        entry.card.as_ref().map(|card| card.model_invocable),
        Some(false)
    );
}

#[test]
fn a_broken_sidecar_is_a_warning() {
    for text in ["- a\n- b\n", "policy: !!python/none x\n", "just text\n"] {
        let world = World::new();
        world.skill("root/s");
        world.write("root/s/agents/openai.yaml", text);
        for mode in [Strictness::Lenient, Strictness::Strict] {
            let catalog = world.look_in(mode);
            assert!(only(&catalog).card.is_some());
            assert_eq!(
                codes(&only(&catalog).diagnostics),
                ["sidecar-unread"],
                "{text}"
            );
        }
    }
}

#[test]
fn a_sidecar_that_was_read_only_in_part_is_mentioned() {
    let world = World::new();
    world.skill("root/s");
    world.write("root/s/agents/openai.yaml", "policy: [\ninterface: a: b\n");
    let catalog = world.look();
    assert_eq!(codes(&only(&catalog).diagnostics), ["sidecar-unread"]);
}

#[test]
fn a_sidecar_that_can_not_be_read_is_mentioned() {
    ends("reading it", || {
        let ways: [fn(&World); 4] = [
            |world| drop(world.fifo("root/s/agents/openai.yaml")),
            |world| drop(world.folder("root/s/agents/openai.yaml")),
            |world| drop(world.link("/etc/passwd", "root/s/agents/openai.yaml")),
            |world| {
                drop(world.write(
                    "root/s/agents/openai.yaml",
                    format!("{NOT_BY_MODELS}# {}\n", "x".repeat(70_000)),
                ));
            },
        ];
        for (number, make) in ways.into_iter().enumerate() {
            let world = World::new();
            world.skill("root/s");
            make(&world);
            let catalog = world.look();
            assert!(only(&catalog).card.is_some());
            assert_eq!(
                codes(&only(&catalog).diagnostics),
                ["sidecar-unread"],
                "way {number}"
            );
        }
    });
}

// case 11
#[test]
fn a_sidecar_behind_a_link_out_of_the_folder_is_not_read() {
    let world = World::new();
    world.skill("root/s");
    world.folder("root/s/references");
    world.write("outside/openai.yaml", NOT_BY_MODELS);
    world.link(world.at("outside"), "root/s/agents");
    let catalog = world.look();
    let entry = only(&catalog);
    assert_eq!(
        entry.card.as_ref().map(|card| card.model_invocable),
        Some(true)
    );
    assert!(!entry.files.sidecar);
}

const MANIFEST: &str = "name: s\nversion: 1.0.0\ndescription: The manifest.\ntypes: [prompt]\n";

#[test]
fn a_skill_yaml_is_enough_except_for_the_specification() {
    let world = World::new();
    world.write("root/s/SKILL.yaml", MANIFEST);
    let catalog = world.look();
    assert_eq!(only(&catalog).diagnostics, []);
    assert_eq!(only(&catalog).files.main(), "SKILL.yaml");
    let catalog = world.look_in(Strictness::Strict);
    assert_eq!(errors(only(&catalog)), ["skill-file-missing"]);
}

#[test]
fn a_skill_yaml_is_the_manifest_and_the_other_file_the_body() {
    let world = World::new();
    world.write("root/s/SKILL.yaml", MANIFEST);
    world.write("root/s/SKILL.md", skill_md("s"));
    let catalog = world.look();
    let entry = only(&catalog);
    assert_eq!(
        entry.card.as_ref().map(|card| &*card.description),
        Some("The manifest.")
    );
    let (_, body) = entry
        .load(Strictness::Lenient, LIMITS.max_skill_bytes)
        .unwrap();
    assert_eq!(body.trim(), "The body of s.");
}

// case 52
#[test]
fn two_files_with_different_names_are_invalid() {
    let world = World::new();
    world.write(
        "root/bad/SKILL.yaml",
        MANIFEST.replace("name: s", "name: bad"),
    );
    world.write("root/bad/SKILL.md", skill_md("other"));
    invalid(&world, "names-disagree");
}

#[test]
fn other_spellings_are_read_with_a_warning() {
    for name in ["skill.md", "Skill.md", "SKILL.MD", "sKiLl.Md"] {
        let world = World::new();
        world.write(&format!("root/s/{name}"), skill_md("s"));
        odd(&world, "file-name-case");
        assert_eq!(only(&world.look()).files.main(), name);
        assert!(
            only(&world.look())
                .load(Strictness::Lenient, LIMITS.max_skill_bytes)
                .is_ok()
        );
    }
    for name in ["SKILL.yml", "skill.yaml", "Skill.YAML", "skill.yml"] {
        let world = World::new();
        world.write(&format!("root/s/{name}"), MANIFEST);
        odd(&world, "file-name-case");
    }
}

#[test]
fn names_that_only_resemble_a_manifest_are_none() {
    let world = World::new();
    for name in [
        "SKILLS.md",
        "SKILL.md.bak",
        "SKILL.markdown",
        "MY-SKILL.md",
        "SKILL",
        "ＳＫＩＬＬ.md",
    ] {
        world.write(&format!("root/s/{name}"), skill_md("s"));
    }
    assert!(world.look().entries.is_empty());
}

/// Both files are in one folder, so it is ambiguous which one is meant.
#[track_caller]
fn ambiguous(names: [&str; 2]) {
    let world = World::new();
    for name in names {
        let is_markdown = name.to_lowercase().ends_with("md");
        let manifest = MANIFEST.replace("name: s", "name: bad");
        let text = if is_markdown {
            skill_md("bad")
        } else {
            manifest
        };
        world.write(&format!("root/bad/{name}"), text);
    }
    world.skill("root/good");
    let mut catalog = world.look();
    for entry in &mut catalog.entries {
        entry.examine(Strictness::Lenient, LIMITS.max_skill_bytes);
    }
    assert_eq!(
        errors(named(&catalog, "bad")),
        ["file-ambiguous"],
        "{names:?}"
    );
    assert!(named(&catalog, "bad").card.is_none());
    assert!(named(&catalog, "good").card.is_some());
}

// case 19
#[test]
fn several_spellings_in_one_folder_are_ambiguous() {
    ambiguous(["SKILL.md", "skill.md"]);
    ambiguous(["SKILL.md", "Skill.md"]);
    ambiguous(["SKILL.md", "SKILL.MD"]);
    ambiguous(["skill.md", "Skill.md"]);
    ambiguous(["SKILL.yml", "skill.yaml"]);
}

// case 19
#[test]
fn another_spelling_beside_a_skill_yaml_is_ambiguous_too() {
    ambiguous(["SKILL.yaml", "SKILL.yml"]);
    ambiguous(["SKILL.yaml", "skill.yaml"]);
}

#[test]
fn a_root_that_is_itself_a_skill_is_found() {
    let world = World::new();
    world.write("root/SKILL.md", skill_md("root"));
    world.skill("root/inner");
    let catalog = world.look();
    assert_eq!(only(&catalog).place.path(), world.root());
    assert_eq!(only(&catalog).diagnostics, []);
}

#[test]
fn a_root_that_is_itself_a_skill_in_another_spelling_is_found() {
    for name in ["skill.md", "Skill.md", "SKILL.yml"] {
        let world = World::new();
        let text = if name.ends_with("md") {
            skill_md("root")
        } else {
            MANIFEST.replace("name: s", "name: root")
        };
        world.write(&format!("root/{name}"), text);
        odd(&world, "file-name-case");
    }
}

#[test]
fn a_manifest_file_may_be_named_as_a_root() {
    let world = World::new();
    world.skill("root/s");
    let catalog = look(&world.at("root/s/SKILL.md"), &options(Strictness::Lenient));
    assert_eq!(only(&catalog).place.path(), world.at("root/s"));
}
