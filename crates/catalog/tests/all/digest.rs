//! A digest stands for the exact bytes, names and links of a skill, and for nothing else.

use std::{
    collections::BTreeMap, fs, os::unix::net::UnixListener, process::Command, time::Duration,
};

use metier_catalog::{BUILTINS, Place};
use proptest::prelude::*;

use crate::{World, ends_within, place};

/// Makes a skill with these files, in this order.
fn made(files: &[(&str, &str)]) -> (World, Place) {
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
    let names = |skill: &Place| {
        skill
            .files()
            .unwrap()
            .into_iter()
            .map(|file| file.path)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&first), ["a\nb"]);
}

#[test]
fn what_git_keeps_for_itself_is_left_out() {
    let (world, skill) = made(&FILES);
    let before = (skill.digest().unwrap(), skill.files().unwrap());
    world.write("root/s/.git/config", "x");
    world.write("root/s/.git/objects/aa/bb", "x");
    world.write("root/s/references/.git/HEAD", "x");
    assert_eq!((skill.digest().unwrap(), skill.files().unwrap()), before);
}

#[test]
fn a_file_or_a_link_called_like_gits_folder_is_not_left_out() {
    let (world, skill) = made(&FILES);
    let before = skill.digest().unwrap();
    world.write("root/s/.git", "gitdir: ../elsewhere\n");
    let as_file = skill.digest().unwrap();
    assert_ne!(as_file, before);
    fs::remove_file(world.at("root/s/.git")).unwrap();
    world.link(world.at("outside"), "root/s/.git");
    assert!(![before, as_file].contains(&skill.digest().unwrap()));
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
fn fifos_and_sockets_hold_nobody() {
    let (world, skill) = made(&FILES);
    world.fifo("root/s/fifo");
    let _listener = UnixListener::bind(world.at("root/s/socket")).unwrap();
    ends_within(Duration::from_secs(5), move || {
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
fn a_file_without_end_is_an_error_in_time() {
    let (world, skill) = made(&FILES);
    fs::File::create(world.at("root/s/sparse"))
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    ends_within(Duration::from_secs(5), move || {
        assert!(skill.digest().is_err());
    });
}

// case 22
#[test]
fn deep_folders_are_no_problem() {
    let (world, skill) = made(&FILES);
    let deep = vec!["d"; 300].join("/");
    world.write(&format!("root/s/{deep}/x"), "x");
    assert!(skill.digest().is_ok());
    assert_eq!(skill.files().unwrap().len(), FILES.len() + 1);
}

/// Few open files are allowed; many folders side by side must not need more.
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
        assert!(skill.digest().is_ok());
        return;
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
            Place::Builtin(skill).digest().unwrap(),
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
