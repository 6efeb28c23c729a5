//! A digest identifies the exact bytes, names and links of a skill, and nothing else.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, net::UnixListener},
    process::Command,
};

use metier_catalog::{BUILTINS, DigestBudget, MemoryBudget, ReadError, SkillLocation};
use metier_model::Strictness;
use metier_testkit::patience::ends;
use proptest::prelude::*;

use crate::{World, place};

const ROOM: MemoryBudget = MemoryBudget {
    file: 100,
    total: 1000,
};

/// Creates a skill with these files, in this order.
fn made(files: &[(&str, &str)]) -> (World, SkillLocation) {
    let world = World::new();
    world.folder("root/s");
    for (name, content) in files {
        world.write(&format!("root/s/{name}"), content);
    }
    let skill = place(world.at("root/s"));
    (world, skill)
}

const FILES: [(&str, &str); 4] = [
    ("SKILL.md", "---\nname: s\n---\n"),
    ("references/a.md", "a"),
    ("references/b.md", "b"),
    ("scripts/run.sh", "#!/bin/sh\n"),
];

#[test]
fn it_does_not_depend_on_place_time_or_order() {
    let (_world, skill) = made(&FILES);
    let mut turned = FILES;
    turned.reverse();
    let (_other, same) = made(&turned);
    assert_eq!(skill.digest(), skill.digest());
    assert_eq!(skill.digest().unwrap(), same.digest().unwrap());
}

#[test]
fn it_is_the_documented_hash() {
    use sha2::{Digest as _, Sha256};
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let (_world, skill) = made(&FILES);
    let mut lines: Vec<String> = FILES
        .iter()
        .map(|(name, content)| {
            format!(
                "{name}\0{}\0{}\n",
                content.len(),
                hex(&Sha256::digest(content))
            )
        })
        .collect();
    lines.sort();
    let expected = hex(&Sha256::digest(lines.concat()));
    assert!(skill.digest().unwrap().to_string().ends_with(&expected));
}

// case 123
#[test]
fn every_change_changes_it() {
    let (world, skill) = made(&FILES);
    world.link("references/a.md", "root/s/link");
    let mut known = vec![skill.digest().unwrap()];
    let mut changed = |what: &str| {
        let digest = skill.digest().unwrap();
        assert!(!known.contains(&digest), "{what} changes nothing");
        known.push(digest);
    };
    world.write("root/s/references/a.md", "A");
    changed("a byte");
    world.write("root/s/references/a.md", "A\n");
    changed("a byte more");
    world.write("root/s/empty", "");
    changed("an empty file");
    fs::rename(world.at("root/s/empty"), world.at("root/s/Empty")).unwrap();
    changed("the case of a name");
    fs::rename(
        world.at("root/s/Empty"),
        world.at("root/s/references/Empty"),
    )
    .unwrap();
    changed("another folder");
    fs::remove_file(world.at("root/s/link")).unwrap();
    changed("a link less");
    world.link("references/b.md", "root/s/link");
    changed("another target");
    fs::remove_file(world.at("root/s/link")).unwrap();
    world.write("root/s/link", "references/b.md");
    changed("a file with the text of the target");
    fs::remove_file(world.at("root/s/link")).unwrap();
    world.fifo("root/s/link");
    changed("a FIFO");
    world.write("root/s/.hidden", "x");
    changed("a hidden file");
    world.write("root/s/.gitignore", "x");
    changed("a file whose name starts like that of git");
    world.write("root/s/node_modules/x.js", "x");
    changed("a package");
}

// case 123
#[test]
fn contents_that_change_places_change_it() {
    let (_a, first) = made(&[("a", "1"), ("b", "2")]);
    let (_b, second) = made(&[("a", "2"), ("b", "1")]);
    let (_c, third) = made(&[("ab", "12")]);
    assert_ne!(first.digest().unwrap(), second.digest().unwrap());
    assert_ne!(first.digest().unwrap(), third.digest().unwrap());
}

#[test]
fn odd_names_do_not_collide() {
    let (_a, first) = made(&[("a\nb", "1")]);
    let (_b, second) = made(&[("a", "1"), ("b", "1")]);
    assert_ne!(first.digest().unwrap(), second.digest().unwrap());
    let names = |skill: &SkillLocation| {
        skill
            .files()
            .unwrap()
            .into_iter()
            .map(|file| file.path)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&first), ["a\nb"]);
}

// case 149
#[test]
fn git_at_the_top_is_left_out_whatever_it_is() {
    let (world, skill) = made(&FILES);
    let before = (skill.digest().unwrap(), skill.files().unwrap());
    let same = || assert_eq!((skill.digest().unwrap(), skill.files().unwrap()), before);
    world.write("root/s/.git/config", "x");
    world.write("root/s/.git/objects/aa/bb", "x");
    same();
    fs::remove_dir_all(world.at("root/s/.git")).unwrap();
    world.write("root/s/.git", "gitdir: ../elsewhere\n");
    same();
    fs::remove_file(world.at("root/s/.git")).unwrap();
    world.link(world.at("outside"), "root/s/.git");
    same();
}

// case 149
#[test]
fn git_further_down_is_content_like_any_other() {
    let (world, skill) = made(&FILES);
    let before = skill.digest().unwrap();
    world.write("root/s/references/.git/HEAD", "x");
    let as_folder = skill.digest().unwrap();
    assert_ne!(as_folder, before);
    assert!(skill.read("references/.git/HEAD", 10).is_ok());
    fs::remove_dir_all(world.at("root/s/references/.git")).unwrap();
    world.write("root/s/references/.git", "gitdir: ../elsewhere\n");
    assert!(![before, as_folder].contains(&skill.digest().unwrap()));
}

// case 149
#[test]
fn a_manifest_does_not_lie_in_what_git_keeps() {
    let (world, skill) = made(&FILES);
    world.write("root/s/.git/description", "---\nname: s\n---\n");
    fs::remove_file(world.at("root/s/SKILL.md")).unwrap();
    world.link(".git/description", "root/s/SKILL.md");
    let catalog = world.look();
    let entry = &catalog.entries[0];
    assert!(entry.card.is_none(), "{:?}", entry.diagnostics);
    assert!(entry.load(Strictness::Lenient, 1000).is_err());
    assert!(skill.read("SKILL.md", 1000).is_err());
}

// case 11
#[test]
fn nothing_behind_a_link_is_listed_or_hashed() {
    let (world, skill) = made(&FILES);
    world.link(world.at("outside"), "root/s/out");
    world.link("..", "root/s/up");
    let before = (skill.digest().unwrap(), skill.files().unwrap());
    assert_eq!(before.1.iter().filter(|file| file.special).count(), 2);
    world.write("outside/secret.md", "secret");
    world.write("root/other.md", "other");
    assert_eq!((skill.digest().unwrap(), skill.files().unwrap()), before);
}

// case 16
#[test]
fn fifos_and_sockets_do_not_block() {
    let (world, skill) = made(&FILES);
    world.fifo("root/s/fifo");
    let _listener = UnixListener::bind(world.at("root/s/socket")).unwrap();
    ends("reading it", move || {
        assert!(skill.digest().is_ok());
        assert_eq!(
            skill
                .files()
                .unwrap()
                .iter()
                .filter(|file| file.special)
                .count(),
            2
        );
    });
}

// case 17
#[test]
fn an_endless_file_is_an_error_in_time() {
    let (world, skill) = made(&FILES);
    fs::File::create(world.at("root/s/sparse"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    ends("reading it", move || {
        assert!(skill.digest().is_err());
    });
}

// case 235
#[test]
fn what_is_hashed_of_several_skills_has_one_limit() {
    let (world, skill) = made(&[("SKILL.md", "12345"), ("d/a", "67890")]);
    let mut left = DigestBudget {
        bytes: 25,
        files: 9,
    };
    let digest = skill.digest().unwrap();
    for (bytes, files) in [(15, 6), (5, 3)] {
        let found = skill.digest_from(100, 100, &mut left);
        assert_eq!(found.unwrap().0, digest);
        assert_eq!(left, DigestBudget { bytes, files });
    }
    assert!(skill.digest_from(100, 100, &mut left).is_err());
    assert_eq!(left, DigestBudget { bytes: 0, files: 0 });
    // One that is too large takes what was read and found of it: the others have the rest.
    world.write("root/s/large", "x".repeat(1_000));
    let mut left = DigestBudget {
        bytes: 500,
        files: 50,
    };
    assert!(skill.digest_from(100, 10, &mut left).is_err());
    assert_eq!(
        left,
        DigestBudget {
            bytes: 490,
            files: 46
        }
    );
}

// case 22, 170
#[test]
fn a_skill_that_is_too_deep_is_an_error() {
    let (world, skill) = made(&FILES);
    world.write(&format!("root/s/{}/x", ["d"; 64].join("/")), "x");
    assert_eq!(skill.files().unwrap().len(), FILES.len() + 1);
    assert!(skill.digest().is_ok());
    world.write(&format!("root/s/{}/x", ["d"; 65].join("/")), "x");
    for error in [
        skill.files().unwrap_err(),
        skill.digest().unwrap_err(),
        skill.snapshot(ROOM).unwrap_err(),
    ] {
        assert!(matches!(error, ReadError::TooDeep { .. }), "{error}");
    }
}

// case 148
#[test]
fn a_path_that_is_too_long_is_an_error() {
    let (world, skill) = made(&FILES);
    let name = "x".repeat(250);
    world.write(&format!("root/s/{}", [&*name; 8].join("/")), "x");
    assert!(skill.digest().is_ok());
    world.write(
        &format!("root/s/{}/{}", [&*name; 7].join("/"), "y".repeat(200)),
        "x",
    );
    assert!(skill.digest().is_ok());
    world.write(&format!("root/s/long/{}", [&*name; 8].join("/")), "x");
    let name = "y".repeat(255);
    world.write(&format!("root/s/long/{}", [&*name; 8].join("/")), "x");
    for error in [skill.files().unwrap_err(), skill.digest().unwrap_err()] {
        assert!(matches!(error, ReadError::PathTooLong { .. }), "{error}");
        assert!(error.to_string().len() < 300, "{error}");
    }
}

// case 148
#[test]
fn names_that_are_not_text_are_kept_byte_by_byte() {
    let (world, skill) = made(&FILES);
    for (name, content) in [
        (&b"\xfe"[..], "1"),
        (b"\xff", "2"),
        ("\u{fffd}".as_bytes(), "3"),
    ] {
        fs::write(world.at("root/s").join(OsStr::from_bytes(name)), content).unwrap();
    }
    let files = skill.files().unwrap();
    let snapshot = skill.snapshot(ROOM).unwrap();
    assert_eq!(snapshot.list(), files);
    assert_eq!(snapshot.digest, skill.digest().unwrap());
    let odd = files.iter().filter(|file| file.path.as_str().is_none());
    assert_eq!(odd.count(), 2);
    let mut shown: Vec<String> = files.iter().map(|file| file.path.to_string()).collect();
    shown.dedup();
    assert_eq!(shown.len(), FILES.len() + 3, "{shown:?}");
}

// case 170
#[test]
fn many_deep_folders_take_no_longer_than_flat_ones() {
    let (world, skill) = made(&FILES);
    for number in 0..60 {
        world.write(&format!("root/s/{number}/{}/x", ["d"; 60].join("/")), "x");
    }
    ends("reading it", move || {
        assert_eq!(skill.files().unwrap().len(), FILES.len() + 60);
    });
}

/// With few open files allowed, many folders side by side must not need more.
#[test]
fn many_folders_need_few_open_files() {
    const NAME: &str = "digest::many_folders_need_few_open_files";
    if std::env::var_os("METIER_TEST_INNER").is_some() {
        let (world, skill) = made(&FILES);
        for number in 0..200 {
            world.write(&format!("root/s/f{number}/x"), "x");
        }
        let files = skill.files().unwrap();
        assert_eq!(files.len(), FILES.len() + 200);
        return assert!(skill.digest().is_ok());
    }
    let output = Command::new("sh")
        .args([
            "-c",
            "ulimit -n 64 && exec \"$0\" --exact \"$1\" --include-ignored",
        ])
        .arg(std::env::current_exe().unwrap())
        .arg(NAME)
        .env("METIER_TEST_INNER", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn built_in_skills_have_the_digest_of_their_folders() {
    for skill in BUILTINS {
        let world = World::new();
        for (path, content) in skill.files {
            world.write(&format!("root/s/{path}"), content);
        }
        assert_eq!(
            SkillLocation::Builtin(skill).digest().unwrap(),
            place(world.at("root/s")).digest().unwrap()
        );
    }
}

#[test]
fn a_folder_that_is_gone_has_none() {
    assert!(place("/nonexistent/skill").digest().is_err());
    assert!(place("/nonexistent/skill").files().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    // case 123
    #[test]
    fn equal_digests_mean_equal_files(
        a in prop::collection::btree_map("[a-c]{1,2}", "[xy]{0,2}", 0..4),
        b in prop::collection::btree_map("[a-c]{1,2}", "[xy]{0,2}", 0..4),
    ) {
        let digest = |files: &BTreeMap<String, String>| {
            let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            let (_world, skill) = made(&files);
            skill.digest().unwrap()
        };
        prop_assert_eq!(a == b, digest(&a) == digest(&b));
    }
}
