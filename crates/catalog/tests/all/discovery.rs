//! Every skill is found or reported, once, in time, whatever lies beside it.

use std::{
    fs::{self, File},
    os::unix::{ffi::OsStringExt, fs::PermissionsExt, net::UnixListener},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use metier_catalog::{Catalog, Entry, Limits, Options, Root, discover};
use metier_model::{Mode, Severity, Source};

use crate::{
    LIMITS, World, codes, ends_within, errors, found, look, named, only, options, skill_md,
};

/// A folder beside a good skill: the good one is found all the same, and the other one is listed
/// as invalid for this reason.
#[track_caller]
fn invalid(world: &World, code: &str) {
    world.skill("root/good");
    for mode in [Mode::Lenient, Mode::Strict] {
        let catalog = world.look_in(mode);
        assert!(named(&catalog, "good").card.is_some());
        let entry = named(&catalog, "bad");
        assert!(
            errors(entry).contains(&code),
            "{mode:?}: {:?}",
            entry.diagnostics
        );
        assert!(entry.card.is_none());
        assert_eq!(entry.name(), "bad");
        assert_eq!(found(&catalog, &world.root()), ["bad", "good"]);
    }
}

/// The skill `s` loads with a warning in lenient mode and is refused in strict mode.
#[track_caller]
fn odd(world: &World, code: &str) {
    let entry = only(&world.look()).clone();
    assert!(entry.card.is_some(), "{:?}", entry.diagnostics);
    assert!(
        codes(&entry.diagnostics).contains(&code),
        "{:?}",
        entry.diagnostics
    );
    let catalog = world.look_in(Mode::Strict);
    assert!(
        errors(only(&catalog)).contains(&code),
        "{:?}",
        only(&catalog).diagnostics
    );
    assert!(only(&catalog).card.is_none());
}

// ---- Files that are not what they seem ----

#[test]
fn a_fifo_instead_of_a_manifest_is_listed_and_holds_nobody() {
    ends_within(Duration::from_secs(10), || {
        let world = World::new();
        world.fifo("root/bad/SKILL.md");
        invalid(&world, "file-not-regular");
        let world = World::new();
        world.fifo("root/bad/SKILL.yaml");
        invalid(&world, "file-not-regular");
    });
}

#[test]
fn a_socket_instead_of_a_manifest_is_listed() {
    let world = World::new();
    world.folder("root/bad");
    let _listener = UnixListener::bind(world.at("root/bad/SKILL.md")).unwrap();
    invalid(&world, "file-not-regular");
}

#[test]
fn a_folder_instead_of_a_manifest_is_listed() {
    let world = World::new();
    world.folder("root/bad/SKILL.md");
    invalid(&world, "file-not-regular");
}

#[test]
fn a_manifest_that_links_out_of_its_folder_is_listed() {
    let outside = World::new();
    let secret = outside.write("secret", "---\nname: bad\ndescription: secret\n---\n");
    for target in [
        secret.to_str().unwrap(),
        "../good/SKILL.md",
        "/etc/passwd",
        "../../outside/x",
    ] {
        let world = World::new();
        world.write("outside/x", skill_md("bad"));
        world.link(target, "root/bad/SKILL.md");
        invalid(&world, "symlink-escape");
    }
    let world = World::new();
    world.link(&secret, "root/bad/SKILL.yaml");
    invalid(&world, "symlink-escape");
}

#[test]
fn a_folder_whose_name_only_begins_alike_is_outside() {
    let world = World::new();
    world.write("root/bad-too/x/real.md", skill_md("bad"));
    world.link("../bad-too/x/real.md", "root/bad/SKILL.md");
    world.skill("root/good");
    let catalog = world.look();
    assert_eq!(errors(named(&catalog, "bad")), ["symlink-escape"]);
}

#[test]
fn a_manifest_link_that_leads_nowhere_is_listed() {
    for target in ["nothing", "SKILL.md", "./SKILL.md", "/nonexistent/SKILL.md"] {
        let world = World::new();
        world.link(target, "root/bad/SKILL.md");
        invalid(&world, "file-unreadable");
    }
}

#[test]
fn a_manifest_link_within_its_folder_is_read_and_can_be_loaded() {
    let world = World::new();
    world.write("root/s/docs/real.md", skill_md("s"));
    world.link("docs/real.md", "root/s/SKILL.md");
    let catalog = world.look();
    let entry = only(&catalog);
    assert_eq!(
        entry.card.as_ref().map(|card| card.name.as_str()),
        Some("s")
    );
    let (parsed, body) = entry
        .load(Mode::Lenient, LIMITS.max_skill_bytes)
        .expect("what is listed can be loaded");
    assert!(parsed.manifest.is_some());
    assert_eq!(body.trim(), "The body of s.");
}

#[test]
fn a_hard_linked_manifest_is_either_loaded_or_listed_as_invalid() {
    let world = World::new();
    let original = world.write("outside/SKILL.md", skill_md("s"));
    world.folder("root/s");
    fs::hard_link(original, world.at("root/s/SKILL.md")).unwrap();
    let catalog = world.look();
    let entry = only(&catalog);
    let loads = entry.load(Mode::Lenient, LIMITS.max_skill_bytes).is_ok();
    assert_eq!(
        entry.card.is_some(),
        loads,
        "listed as usable, but it can't be loaded"
    );
}

#[test]
fn a_manifest_over_the_limit_is_listed() {
    let world = World::new();
    let text = format!("{}{}", skill_md("bad"), "x".repeat(21_000_000));
    world.write("root/bad/SKILL.md", text);
    invalid(&world, "file-too-large");
    let world = World::new();
    File::create(world.write("root/bad/SKILL.md", ""))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    invalid(&world, "file-too-large");
    let world = World::new();
    world.write("root/bad/SKILL.yaml", "x".repeat(1_000_001));
    invalid(&world, "file-too-large");
}

#[test]
fn the_size_limit_is_exact() {
    let world = World::new();
    let path = world.write("root/s/SKILL.md", skill_md("s"));
    let size = fs::metadata(path).unwrap().len();
    for (limit, loads) in [(size, true), (size - 1, false)] {
        let limits = Limits {
            max_skill_bytes: limit,
            ..LIMITS
        };
        let catalog = look(
            &world.root(),
            &Options {
                limits,
                ..options(Mode::Lenient)
            },
        );
        assert_eq!(only(&catalog).card.is_some(), loads);
    }
}

#[test]
fn text_that_is_not_utf8_is_read_with_a_warning() {
    for bytes in [
        &b"caf\xe9"[..],
        b"\xc0\xae\xc0\xae/",
        b"\xff\xfe",
        b"\xed\xa0\x80",
    ] {
        let world = World::new();
        world.write(
            "root/s/SKILL.md",
            [b"---\nname: s\ndescription: x", bytes, b" y\n---\n"].concat(),
        );
        odd(&world, "file-not-utf8");
    }
}

#[test]
fn utf16_is_no_frontmatter() {
    let world = World::new();
    let utf16: Vec<u8> = skill_md("bad")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    world.write(
        "root/bad/SKILL.md",
        [b"\xff\xfe".as_slice(), &utf16].concat(),
    );
    world.skill("root/good");
    assert!(named(&world.look(), "bad").card.is_none());
}

#[test]
fn a_nul_in_the_frontmatter_is_a_repair() {
    let world = World::new();
    world.write("root/s/SKILL.md", "---\nname: s\ndescription: a\0b\n---\n");
    let catalog = world.look();
    assert!(only(&catalog).card.is_some());
    assert!(codes(&only(&catalog).diagnostics).contains(&"control-characters"));
    assert!(only(&world.look_in(Mode::Strict)).card.is_none());
}

#[test]
fn only_the_frontmatter_is_looked_at() {
    let world = World::new();
    let text = [skill_md("s").as_bytes(), b"\xff\xfe\0 not text"].concat();
    world.write("root/s/SKILL.md", text);
    assert!(only(&world.look_in(Mode::Strict)).card.is_some());
}

#[test]
fn a_body_that_is_not_utf8_is_odd_to_whoever_looks_closely() {
    let world = World::new();
    world.write(
        "root/s/SKILL.md",
        [skill_md("s").as_bytes(), b"\xff"].concat(),
    );
    for mode in [Mode::Lenient, Mode::Strict] {
        let mut catalog = world.look_in(mode);
        let entry = &mut catalog.entries[0];
        entry.examine(mode, LIMITS.max_skill_bytes);
        assert_eq!(codes(&entry.diagnostics), ["file-not-utf8"]);
        let (parsed, _) = entry.load(mode, LIMITS.max_skill_bytes).unwrap();
        assert_eq!(parsed.manifest.is_some(), entry.card.is_some());
        assert_eq!(entry.card.is_some(), mode == Mode::Lenient);
    }
}

/// A closing line that is longer than it looks must not close, wherever a read happens to end.
#[test]
fn where_a_read_ends_decides_nothing() {
    for boundary in [4096, 8192, 16_384, 65_536] {
        for shift in 0..6 {
            let world = World::new();
            let head = "---\nname: s\ndescription: d\nlicense: ";
            let padding = "a".repeat(boundary - head.len() - shift);
            let text = format!("{head}{padding}\n---x: y\nname: other\n---\nbody\n");
            world.write("root/s/SKILL.md", &text);
            let catalog = world.look();
            let (parsed, _) = only(&catalog)
                .load(Mode::Lenient, LIMITS.max_skill_bytes)
                .unwrap();
            let card = parsed.manifest.map(|manifest| manifest.card);
            assert_eq!(
                only(&catalog).card,
                card,
                "a read ends {shift} bytes behind the line"
            );
        }
    }
}

#[test]
fn characters_cut_by_a_read_are_not_reported() {
    for shift in 0..8 {
        let world = World::new();
        let text = format!(
            "---\nname: s\n{}description: {}\n---\n",
            "#".repeat(shift) + "\n",
            "é🐛".repeat(1000)
        );
        world.write("root/s/SKILL.md", text);
        let catalog = world.look();
        assert!(!codes(&only(&catalog).diagnostics).contains(&"file-not-utf8"));
    }
}

#[test]
fn a_name_that_is_a_path_is_listed() {
    for name in ["../../evil", "a/b", "..", "\"a\\nb\"", "list_skills"] {
        let world = World::new();
        world.write(
            "root/bad/SKILL.md",
            format!("---\nname: {name}\ndescription: d\n---\n"),
        );
        world.skill("root/good");
        let catalog = world.look();
        let entry = named(&catalog, "bad");
        assert!(entry.card.is_none(), "{name}");
        assert_eq!(entry.place.path(), world.at("root/bad"));
    }
}

#[test]
fn a_name_other_than_the_folders_is_odd() {
    let world = World::new();
    world.write("root/s/SKILL.md", skill_md("other"));
    odd(&world, "name-folder");
}

// ---- Links between folders ----

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
    assert!(entry.load(Mode::Lenient, LIMITS.max_skill_bytes).is_ok());
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
        let catalog = discover(roots, &options(Mode::Lenient));
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

#[test]
fn links_that_lead_nowhere_or_in_circles_are_reported_and_passed_over() {
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
            .all(|diagnostic| diagnostic.severity == Severity::Warning)
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
fn links_to_files_are_no_skills() {
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
    ends_within(Duration::from_secs(10), || {
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

/// Each of eight folders links to all others: a walk that forgets where it has been never ends.
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
    let catalog = ends_within(Duration::from_secs(5), move || {
        look(&root, &options(Mode::Lenient))
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
    let limits = Limits {
        max_skills: 6,
        ..LIMITS
    };
    let catalog = look(
        &world.root(),
        &Options {
            limits,
            ..options(Mode::Lenient)
        },
    );
    assert_eq!(catalog.entries.len(), 6);
    assert!(codes(&catalog.diagnostics).contains(&"limit-reached"));
}

#[test]
fn a_link_to_a_skill_that_the_walk_itself_passes_over_is_followed() {
    let world = World::new();
    world.skill("root/node_modules/@scope/s");
    world.link("node_modules/@scope/s", "root/s");
    assert_eq!(found(&world.look(), &world.root()), ["s"]);
}

// ---- The sidecar ----

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
        for mode in [Mode::Lenient, Mode::Strict] {
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
    ends_within(Duration::from_secs(10), || {
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

// ---- Two files, other spellings ----

const MANIFEST: &str = "name: s\nversion: 1.0.0\ndescription: The manifest.\ntypes: [prompt]\n";

#[test]
fn a_skill_yaml_is_enough_except_for_the_specification() {
    let world = World::new();
    world.write("root/s/SKILL.yaml", MANIFEST);
    let catalog = world.look();
    assert_eq!(only(&catalog).diagnostics, []);
    assert_eq!(only(&catalog).files.main(), "SKILL.yaml");
    let catalog = world.look_in(Mode::Strict);
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
    let (_, body) = entry.load(Mode::Lenient, LIMITS.max_skill_bytes).unwrap();
    assert_eq!(body.trim(), "The body of s.");
}

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
                .load(Mode::Lenient, LIMITS.max_skill_bytes)
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

/// Both files are in one folder, so nobody can say which one is meant.
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
        entry.examine(Mode::Lenient, LIMITS.max_skill_bytes);
    }
    assert_eq!(
        errors(named(&catalog, "bad")),
        ["file-ambiguous"],
        "{names:?}"
    );
    assert!(named(&catalog, "bad").card.is_none());
    assert!(named(&catalog, "good").card.is_some());
}

#[test]
fn several_spellings_in_one_folder_are_ambiguous_to_whoever_looks_closely() {
    ambiguous(["SKILL.md", "skill.md"]);
    ambiguous(["SKILL.md", "Skill.md"]);
    ambiguous(["SKILL.md", "SKILL.MD"]);
    ambiguous(["skill.md", "Skill.md"]);
    ambiguous(["SKILL.yml", "skill.yaml"]);
}

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
    let catalog = look(&world.at("root/s/SKILL.md"), &options(Mode::Lenient));
    assert_eq!(only(&catalog).place.path(), world.at("root/s"));
}

// ---- Folders ----

#[test]
fn skills_lie_in_categories_and_a_skill_ends_the_descent() {
    let world = World::new();
    for name in ["a", "cat/b", "cat/sub/c", ".hidden/d"] {
        world.skill(&format!("root/{name}"));
    }
    world.write("root/a/examples/inner/SKILL.md", skill_md("inner"));
    world.write("root/cat/README.md", "x");
    let catalog = world.look();
    assert_eq!(
        found(&catalog, &world.root()),
        [".hidden/d", "a", "cat/b", "cat/sub/c"]
    );
    assert!(catalog.diagnostics.is_empty());
}

#[test]
fn packages_and_git_are_passed_over() {
    let world = World::new();
    world.skill("root/.git/a");
    world.skill("root/node_modules/b");
    world.skill("root/cat/node_modules/c");
    assert!(world.look().entries.is_empty());
}

#[test]
fn strange_folder_names_are_found_and_panic_nobody() {
    let world = World::new();
    let names = [
        b"\xff\xfe".to_vec(),
        b"a\nb".to_vec(),
        b"\x1b[31mred".to_vec(),
        b" ".to_vec(),
        b"-rf".to_vec(),
        "é".into(),
    ];
    for name in &names {
        let folder = world
            .root()
            .join(std::ffi::OsString::from_vec(name.clone()));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), skill_md("x")).unwrap();
    }
    let catalog = world.look();
    assert_eq!(catalog.entries.len(), names.len());
    for entry in &catalog.entries {
        assert!(entry.load(Mode::Lenient, LIMITS.max_skill_bytes).is_ok());
        for diagnostic in &entry.diagnostics {
            let said = format!(
                "{}{}",
                diagnostic.message,
                diagnostic.hint.clone().unwrap_or_default()
            );
            assert!(!said.contains(char::is_control), "{said:?}");
        }
    }
}

#[test]
fn a_folder_of_a_hundred_thousand_files_takes_bounded_time() {
    let world = World::in_memory();
    let big = world.folder("root/big");
    for number in 0..100_000 {
        File::create(big.join(number.to_string())).unwrap();
    }
    world.skill("root/big/a");
    world.skill("root/b");
    let started = Instant::now();
    let catalog = world.look();
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(found(&catalog, &world.root()), ["b", "big/a"]);
    assert!(catalog.diagnostics.is_empty());
}

#[test]
fn very_deep_folders_are_cut_off_with_a_word() {
    let world = World::new();
    world.skill("root/good");
    world.folder(&format!("root/{}", vec!["d"; 400].join("/")));
    let catalog = world.look();
    assert_eq!(found(&catalog, &world.root()), ["good"]);
    assert_eq!(codes(&catalog.diagnostics), ["limit-reached"]);
}

#[test]
fn other_file_systems_are_not_entered() {
    let device = |path: &str| rustix::fs::stat(path).map(|stat| stat.st_dev).ok();
    let (Some(outer), Some(inner)) = (device("/dev"), device("/dev/shm")) else {
        return;
    };
    if outer == inner || Path::new("/dev/shm").is_symlink() {
        eprintln!("nothing is mounted here that could be tested with");
        return;
    }
    let catalog = look(Path::new("/dev"), &options(Mode::Lenient));
    let about = |diagnostic: &&metier_model::Diagnostic| &*diagnostic.file == "/dev/shm";
    assert_eq!(
        catalog
            .diagnostics
            .iter()
            .filter(about)
            .map(|d| d.code.as_str())
            .collect::<Vec<_>>(),
        ["limit-reached"]
    );
}

/// Root can read everything, so this runs as nobody.
#[test]
fn what_can_not_be_read_is_reported_and_hides_nothing_else() {
    const NAME: &str = "discovery::what_can_not_be_read_is_reported_and_hides_nothing_else";
    if !rustix::process::geteuid().is_root() {
        return unreadable_things_are_reported();
    }
    let exe = std::env::current_exe().unwrap();
    let run = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(exe)
        .args(["--exact", NAME, "--include-ignored"])
        .env("TMPDIR", "/tmp")
        .output();
    match run {
        Ok(output) if matches!(output.status.code(), Some(0)) => {}
        Ok(output) if matches!(output.status.code(), Some(101)) => {
            panic!("{}", String::from_utf8_lossy(&output.stdout))
        }
        other => eprintln!("not tested, since this runs as root and setpriv does not: {other:?}"),
    }
}

fn unreadable_things_are_reported() {
    let world = World::new();
    let chmod = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    world.skill("root/good");
    world.skill("root/file");
    world.skill("root/closed");
    world.folder("root/unlisted/inner");
    world.folder("root/unsearchable");
    chmod(&world.at("root/file/SKILL.md"), 0);
    for (name, mode) in [("closed", 0), ("unlisted", 0o311), ("unsearchable", 0o644)] {
        chmod(&world.at(&format!("root/{name}")), mode);
    }
    let catalog = world.look();
    for name in ["closed", "unlisted", "unsearchable"] {
        chmod(&world.at(&format!("root/{name}")), 0o755);
    }
    assert!(named(&catalog, "good").card.is_some());
    assert_eq!(errors(named(&catalog, "file")), ["file-unreadable"]);
    for name in ["closed", "unlisted", "unsearchable"] {
        let listed = catalog
            .entries
            .iter()
            .any(|entry| entry.name() == name && errors(entry) == ["file-unreadable"]);
        let path = world
            .at(&format!("root/{name}"))
            .to_string_lossy()
            .into_owned();
        let reported = catalog
            .diagnostics
            .iter()
            .any(|d| *d.file == path && d.code.as_str() == "folder-unreadable");
        assert!(listed || reported, "{name} was passed over: {catalog:?}");
    }
    chmod(&world.root(), 0o311);
    let catalog = world.look();
    chmod(&world.root(), 0o755);
    assert_eq!(codes(&catalog.diagnostics), ["root-unreadable"]);
    assert_eq!(catalog.diagnostics[0].severity, Severity::Error);
}

// ---- Limits ----

/// Ten skills in one root, seen through these limits.
fn ten(limits: Limits) -> Catalog {
    let world = World::new();
    for number in 0..10 {
        world.skill(&format!("root/s{number}"));
    }
    look(
        &world.root(),
        &Options {
            limits,
            ..options(Mode::Lenient)
        },
    )
}

#[track_caller]
fn limited(catalog: &Catalog, word: &str) {
    assert_eq!(codes(&catalog.diagnostics), ["limit-reached"]);
    let hint = catalog.diagnostics[0].hint.clone().unwrap_or_default();
    assert!(hint.contains(word), "{hint}");
}

#[test]
fn more_skills_than_the_limit_are_a_diagnostic() {
    let catalog = ten(Limits {
        max_skills: 4,
        ..LIMITS
    });
    limited(&catalog, "max_skills");
    assert_eq!(catalog.entries.len(), 4);
}

#[test]
fn exactly_as_many_skills_as_the_limit_are_fine() {
    let catalog = ten(Limits {
        max_skills: 10,
        ..LIMITS
    });
    assert_eq!(catalog.entries.len(), 10);
    assert!(catalog.diagnostics.is_empty(), "{:?}", catalog.diagnostics);
}

#[test]
fn more_entries_than_the_limit_are_a_diagnostic() {
    limited(
        &ten(Limits {
            max_entries: 5,
            ..LIMITS
        }),
        "max_entries",
    );
    assert!(
        ten(Limits {
            max_entries: 10,
            ..LIMITS
        })
        .diagnostics
        .is_empty()
    );
}

#[test]
fn what_was_listed_before_the_limit_is_looked_at() {
    assert_eq!(
        ten(Limits {
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
    let limits = Limits {
        max_skills: 4,
        ..LIMITS
    };
    let catalog = look(
        &world.root(),
        &Options {
            limits,
            ..options(Mode::Lenient)
        },
    );
    limited(&catalog, "max_skills");
    assert_eq!(catalog.entries.len(), 4);
}

#[test]
fn folders_deeper_than_the_limit_are_a_diagnostic() {
    let world = World::new();
    world.skill("root/a/b/c/deep");
    world.skill("root/a/high");
    for (max_depth, expected) in [(3, vec!["a/high"]), (4, vec!["a/b/c/deep", "a/high"])] {
        let limits = Limits {
            max_depth,
            ..LIMITS
        };
        let catalog = look(
            &world.root(),
            &Options {
                limits,
                ..options(Mode::Lenient)
            },
        );
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
    let limits = Limits {
        max_depth: 2,
        ..LIMITS
    };
    let catalog = look(
        &world.root(),
        &Options {
            limits,
            ..options(Mode::Lenient)
        },
    );
    limited(&catalog, "max_depth");
}

#[test]
fn a_root_that_takes_too_long_is_a_diagnostic() {
    let world = World::new();
    for number in 0..20 {
        world.skill(&format!("root/f{number}/s"));
    }
    let limits = Limits {
        max_root_time: Duration::ZERO,
        ..LIMITS
    };
    let catalog = look(
        &world.root(),
        &Options {
            limits,
            ..options(Mode::Lenient)
        },
    );
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
                &Options {
                    threads,
                    ..options(Mode::Lenient)
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

// ---- Roots ----

fn looked(roots: Vec<Root>) -> Catalog {
    discover(roots, &options(Mode::Lenient))
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
        assert_eq!(catalog.diagnostics[0].severity, Severity::Error);
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

/// Whoever names a folder on the command line means it, also when it belongs to a project that
/// nobody trusts.
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
fn a_root_inside_of_a_root_finds_nothing_twice() {
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
    for mode in [Mode::Lenient, Mode::Strict] {
        let catalog = discover(
            Vec::new(),
            &Options {
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

/// What discovery says of a skill is what loading it says.
#[track_caller]
pub(crate) fn loads_as_listed(entry: &Entry, mode: Mode) {
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
