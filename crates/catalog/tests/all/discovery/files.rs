//! Files that are not what they seem.

use std::{
    fs::{self, File},
    os::unix::net::UnixListener,
};

use metier_catalog::DiscoveryLimits;
use metier_model::Strictness;
use metier_testkit::patience::ends;

use super::{invalid, odd};
use crate::{LIMITS, World, codes, errors, named, only, skill_md};

// case 16
#[test]
fn a_fifo_instead_of_a_manifest_is_listed_and_blocks_nothing() {
    ends("reading it", || {
        let world = World::new();
        world.fifo("root/bad/SKILL.md");
        invalid(&world, "file-not-regular");
        let world = World::new();
        world.fifo("root/bad/SKILL.yaml");
        invalid(&world, "file-not-regular");
    });
}

// case 16
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

// case 11
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

// case 2, 11
#[test]
fn a_folder_whose_name_only_begins_alike_is_outside() {
    let world = World::new();
    world.write("root/bad-too/x/real.md", skill_md("bad"));
    world.link("../bad-too/x/real.md", "root/bad/SKILL.md");
    world.skill("root/good");
    let catalog = world.look();
    assert_eq!(errors(named(&catalog, "bad")), ["symlink-escape"]);
}

// case 12
#[test]
fn a_manifest_link_that_leads_nowhere_is_listed() {
    for target in ["nothing", "SKILL.md", "./SKILL.md", "/nonexistent/SKILL.md"] {
        let world = World::new();
        world.link(target, "root/bad/SKILL.md");
        invalid(&world, "file-unreadable");
    }
}

// case 13
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
        .load(Strictness::Lenient, LIMITS.max_skill_bytes)
        .expect("what is listed can be loaded");
    assert!(parsed.manifest.is_some());
    assert_eq!(body.trim(), "The body of s.");
}

// case 15
#[test]
fn a_hard_linked_manifest_is_either_loaded_or_listed_as_invalid() {
    let world = World::new();
    let original = world.write("outside/SKILL.md", skill_md("s"));
    world.folder("root/s");
    fs::hard_link(original, world.at("root/s/SKILL.md")).unwrap();
    let catalog = world.look();
    let entry = only(&catalog);
    let loads = entry
        .load(Strictness::Lenient, LIMITS.max_skill_bytes)
        .is_ok();
    assert_eq!(
        entry.card.is_some(),
        loads,
        "listed as usable, but it can't be loaded"
    );
}

// case 17, 18
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

// case 18
#[test]
fn the_size_limit_is_exact() {
    let world = World::new();
    let path = world.write("root/s/SKILL.md", skill_md("s"));
    let size = fs::metadata(path).unwrap().len();
    for (limit, loads) in [(size, true), (size - 1, false)] {
        let limits = DiscoveryLimits {
            max_skill_bytes: limit,
            ..LIMITS
        };
        let catalog = world.look_within(limits);
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
fn utf16_is_not_frontmatter() {
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
    assert!(only(&world.look_in(Strictness::Strict)).card.is_none());
}

#[test]
fn only_the_frontmatter_is_read() {
    let world = World::new();
    let text = [skill_md("s").as_bytes(), b"\xff\xfe\0 not text"].concat();
    world.write("root/s/SKILL.md", text);
    assert!(only(&world.look_in(Strictness::Strict)).card.is_some());
}

#[test]
fn a_body_that_is_not_utf8_is_reported_by_a_close_check() {
    let world = World::new();
    world.write(
        "root/s/SKILL.md",
        [skill_md("s").as_bytes(), b"\xff"].concat(),
    );
    for mode in [Strictness::Lenient, Strictness::Strict] {
        let mut catalog = world.look_in(mode);
        let entry = &mut catalog.entries[0];
        entry.examine(mode, LIMITS.max_skill_bytes);
        assert_eq!(codes(&entry.diagnostics), ["file-not-utf8"]);
        let (parsed, _) = entry.load(mode, LIMITS.max_skill_bytes).unwrap();
        assert_eq!(parsed.manifest.is_some(), entry.card.is_some());
        assert_eq!(entry.card.is_some(), mode == Strictness::Lenient);
    }
}

/// A closing line that is longer than it looks must not close, wherever a read ends.
// case 50
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
                .load(Strictness::Lenient, LIMITS.max_skill_bytes)
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

// case 20, 21, 65
#[test]
fn a_name_that_is_a_path_is_never_used() {
    for name in ["../../evil", "a/b", "..", "\"a\\nb\"", "list_skills"] {
        let world = World::new();
        world.write(
            "root/bad/SKILL.md",
            format!("---\nname: {name}\ndescription: d\n---\n"),
        );
        world.skill("root/good");
        let catalog = world.look();
        let entry = named(&catalog, "bad");
        let card = entry.card.as_ref().map(|card| card.name.as_str());
        let expected = (name != "list_skills").then_some("bad");
        assert_eq!(card, expected, "{name}");
        assert_eq!(entry.place.path(), world.at("root/bad"));
    }
}

// case 21
#[test]
fn a_name_other_than_the_folders_is_odd() {
    let world = World::new();
    world.write("root/s/SKILL.md", skill_md("other"));
    odd(&world, "name-folder");
}
