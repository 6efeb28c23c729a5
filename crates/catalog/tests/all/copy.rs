//! The scanned copy has the scanned bytes under the scanned names, or there is none.

use std::{
    ffi::OsStr,
    fs::{self, File},
    os::{
        fd::AsFd,
        unix::{ffi::OsStrExt, fs::PermissionsExt},
    },
    path::{Path, PathBuf},
};

use metier_catalog::{CopyError, MemoryBudget, SkillLocation, Snapshot, SnapshotContent};

use crate::{World, place};

/// Memory for small files only, so that others are read again.
const SMALL: MemoryBudget = MemoryBudget {
    file: 100,
    total: 150,
};

fn copy(world: &World, skill: &SkillLocation, held: &Snapshot) -> (Result<(), CopyError>, PathBuf) {
    let to = world.folder("copy");
    let folder = File::open(&to).unwrap();
    (held.copy_into(skill, folder.as_fd()), to)
}

fn odd(folder: &Path, name: &[u8]) -> PathBuf {
    folder.join(OsStr::from_bytes(name))
}

// case 148
#[test]
fn it_is_the_skill_byte_by_byte() {
    let world = World::new();
    let skill = world.skill("root/s");
    world.write("root/s/a-b/x", "1");
    world.write("root/s/a/x", "2");
    world.write("root/s/a/b/.git/HEAD", "3");
    world.write("root/s/.hidden", "4");
    world.write("root/s/large", "5".repeat(300));
    world.write("root/s/later", "6".repeat(90));
    world.write("root/s/.git/config", "not judged");
    fs::write(odd(&skill, b"\xfe"), "7").unwrap();
    fs::write(odd(&skill, b"\xff"), "8").unwrap();
    fs::set_permissions(skill.join("a/x"), PermissionsExt::from_mode(0o4751)).unwrap();
    world.link("../outside", "root/s/a/link");
    let place = place(&skill);
    let held = place.snapshot(SMALL).unwrap();
    assert!(
        held.files
            .iter()
            .any(|file| file.content == SnapshotContent::Left)
    );
    let (copied, to) = copy(&world, &place, &held);
    copied.unwrap();
    let again = SkillLocation::Folder(to.clone()).snapshot(SMALL).unwrap();
    assert_eq!(again.digest, held.digest);
    assert!(!to.join(".git").exists());
    let mode = |path: &str| fs::metadata(to.join(path)).unwrap().permissions().mode();
    assert_eq!(mode("a/x") & 0o7111, 0o111, "what may be run, and no more");
    assert_eq!(mode("a-b/x") & 0o111, 0);
}

// case 150
#[test]
fn nothing_is_written_through_a_link_or_over_another_file() {
    let world = World::new();
    let skill = world.skill("root/s");
    world.link(world.at("outside/target"), "root/s/a");
    world.write("root/s/b", "from the skill");
    let place = place(&skill);
    let mut held = place.snapshot(SMALL).unwrap();
    // As on a file system that does not distinguish two names.
    let second = held.files.iter_mut().find(|file| file.path == "b").unwrap();
    second.path = "a".into();
    let (copied, _) = copy(&world, &place, &held);
    assert!(matches!(copied, Err(CopyError::Twice { .. })), "{copied:?}");
    assert!(!world.at("outside/target").exists());
}

// case 150
#[test]
fn a_folder_is_never_a_link_that_was_copied() {
    let world = World::new();
    let skill = world.skill("root/s");
    world.link(world.at("outside"), "root/s/a");
    world.write("root/s/b/c", "from the skill");
    let place = place(&skill);
    let mut held = place.snapshot(SMALL).unwrap();
    let second = held.files.iter_mut().find(|file| file.path == "b/c");
    second.unwrap().path = "a/c".into();
    held.files.sort_by(|one, other| one.path.cmp(&other.path));
    let (copied, _) = copy(&world, &place, &held);
    assert!(matches!(copied, Err(CopyError::Twice { .. })), "{copied:?}");
    assert!(!world.at("outside/c").exists());
}

// case 150
#[test]
fn what_is_already_there_is_never_written() {
    let world = World::new();
    let skill = world.skill("root/s");
    world.link(world.at("outside/target"), "copy/SKILL.md");
    let place = place(&skill);
    let held = place.snapshot(SMALL).unwrap();
    let (copied, _) = copy(&world, &place, &held);
    assert!(matches!(copied, Err(CopyError::Twice { .. })), "{copied:?}");
    assert!(!world.at("outside/target").exists());
}

#[test]
fn a_large_file_that_changed_since_is_not_copied() {
    for (change, what) in [
        ("6".repeat(300), "other bytes"),
        ("5".repeat(299), "fewer bytes"),
        ("5".repeat(301), "more bytes"),
    ] {
        let world = World::new();
        let skill = world.skill("root/s");
        world.write("root/s/large", "5".repeat(300));
        let place = place(&skill);
        let held = place.snapshot(SMALL).unwrap();
        world.write("root/s/large", change);
        let (copied, _) = copy(&world, &place, &held);
        assert!(
            matches!(copied, Err(CopyError::Changed { .. })),
            "{what}: {copied:?}"
        );
    }
}

#[test]
fn a_large_file_that_became_a_link_is_not_followed() {
    let world = World::new();
    let skill = world.skill("root/s");
    world.write("root/s/large", "5".repeat(300));
    let place = place(&skill);
    let held = place.snapshot(SMALL).unwrap();
    fs::rename(skill.join("large"), world.at("outside/large")).unwrap();
    world.link(world.at("outside/large"), "root/s/large");
    let (copied, _) = copy(&world, &place, &held);
    assert!(matches!(copied, Err(CopyError::Os { .. })), "{copied:?}");
}

#[test]
fn a_failed_copy_is_not_a_copy() {
    let world = World::new();
    let skill = world.skill("root/s");
    world.fifo("root/s/fifo");
    let place = place(&skill);
    let held = place.snapshot(SMALL).unwrap();
    let (copied, _) = copy(&world, &place, &held);
    assert!(
        matches!(copied, Err(CopyError::Special { .. })),
        "{copied:?}"
    );
}
