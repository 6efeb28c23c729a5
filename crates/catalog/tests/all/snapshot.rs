//! A snapshot is the skill: the same digest, the same content, the same refusals.

use std::{fs, os::unix::fs::symlink};

use metier_catalog::{
    MemoryBudget, ReadError, Root, SkillLocation, Snapshot, SnapshotContent, discover,
};
use metier_model::{Source, Strictness};

use crate::options;

const ROOM: MemoryBudget = MemoryBudget {
    file: 100,
    total: 1000,
};

fn make() -> (tempfile::TempDir, SkillLocation) {
    let folder = tempfile::tempdir().unwrap();
    let skill = folder.path().join("report");
    fs::create_dir_all(skill.join("references/deep")).unwrap();
    fs::write(
        skill.join("real.md"),
        "---\nname: report\ndescription: x\n---\nBody.\n",
    )
    .unwrap();
    symlink("real.md", skill.join("SKILL.md")).unwrap();
    fs::write(skill.join("references/a.md"), "a").unwrap();
    fs::write(skill.join("references/deep/b.bin"), b"\0b").unwrap();
    fs::write(skill.join("large"), "x".repeat(150)).unwrap();
    symlink("/etc/passwd", skill.join("out")).unwrap();
    symlink("references", skill.join("in")).unwrap();
    fs::hard_link(skill.join("references/a.md"), skill.join("twice.md")).unwrap();
    let place = SkillLocation::Folder(skill);
    (folder, place)
}

#[test]
fn it_has_the_digest_and_the_files_of_the_skill() {
    let (_folder, place) = make();
    let snapshot = place.snapshot(ROOM).unwrap();
    assert_eq!(snapshot.digest, place.digest().unwrap());
    assert_eq!(snapshot.list(), place.files().unwrap());
}

// case 1, 3, 11, 15
#[test]
fn it_gives_and_refuses_what_the_folder_does() {
    let (_folder, place) = make();
    let snapshot = place.snapshot(ROOM).unwrap();
    for path in [
        "references/a.md",
        "references//deep/./b.bin",
        "real.md",
        "out",
        "in/a.md",
        "references",
        "references/",
        "references/a.md/x",
        "twice.md",
        "nothing",
        "nothing/at/all",
        "../report/real.md",
        "/etc/passwd",
        ".git/config",
        "",
        "large",
    ] {
        assert_eq!(snapshot.read(path, 120), place.read(path, 120), "{path}");
    }
    // The folder still has it, but the snapshot has not kept it.
    let kept = snapshot.read("large", 1000);
    assert!(matches!(kept, Err(ReadError::TooLarge { .. })), "{kept:?}");
}

// case 146
#[test]
fn what_changes_afterwards_is_not_in_it() {
    let (folder, place) = make();
    let snapshot = place.snapshot(ROOM).unwrap();
    fs::remove_dir_all(folder.path().join("report/references")).unwrap();
    fs::write(folder.path().join("report/real.md"), "other").unwrap();
    assert_eq!(
        snapshot.read("references/a.md", 100),
        Err(ReadError::HardLink("references/a.md".into()))
    );
    assert!(snapshot.read("real.md", 100).unwrap().ends_with(b"Body.\n"));
}

/// Following a link through a snapshot relies on this: neither end of it can change unnoticed.
// case 13, 123
#[test]
fn the_digest_binds_a_link_and_what_it_leads_to() {
    let (folder, place) = make();
    let skill = folder.path().join("report");
    let digest = || place.snapshot(ROOM).unwrap().digest;
    symlink("references/a.md", skill.join("link")).unwrap();
    let before = digest();
    fs::write(skill.join("references/a.md"), "b").unwrap();
    let other_content = digest();
    assert_ne!(before, other_content);
    fs::remove_file(skill.join("link")).unwrap();
    symlink("real.md", skill.join("link")).unwrap();
    let other_target = digest();
    assert_ne!(other_content, other_target);
    fs::remove_file(skill.join("link")).unwrap();
    fs::copy(skill.join("real.md"), skill.join("link")).unwrap();
    assert_ne!(other_target, digest(), "a link is not the file itself");
}

// case 13
#[test]
fn a_manifest_may_be_a_link_that_stays_inside() {
    let (folder, _) = make();
    let root = Root::explicit(Source::User, folder.path().to_owned());
    let catalog = discover(vec![root], &options(Strictness::Lenient));
    let entry = &catalog.entries[0];
    let snapshot = entry.place.snapshot(ROOM).unwrap();
    let (parsed, body) = entry
        .load_held(&snapshot, Strictness::Lenient, 1000)
        .unwrap();
    assert_eq!(body, "Body.\n");
    assert_eq!(parsed, entry.load(Strictness::Lenient, 1000).unwrap().0);
    let mut bent: Snapshot = snapshot;
    for held in &mut bent.files {
        if held.path == "SKILL.md" {
            held.content = SnapshotContent::Link("../elsewhere/SKILL.md".into());
        }
    }
    assert!(entry.load_held(&bent, Strictness::Lenient, 1000).is_err());
}
