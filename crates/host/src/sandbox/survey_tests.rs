//! The two looks, on folders without a child.

use std::{
    ffi::OsStr,
    fs,
    os::fd::{AsFd, OwnedFd},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use tempfile::TempDir;

use super::{Guard, SecondLook, Survey, SurveyError};
use crate::{
    child::watch::remove_tree,
    sandbox::{Protection, object::open_folder},
};

fn guard() -> (TempDir, PathBuf, Guard) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let guard = Guard {
        protection: Protection::new(None, &root, &root, &[]),
        roots: vec![root.clone()],
        ..Guard::default()
    };
    (folder, root, guard)
}

fn write(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
}

fn survey(guard: &Guard) -> Survey {
    guard.survey(&[]).unwrap()
}

fn undone(guard: &Guard, before: &Survey) -> Vec<PathBuf> {
    let SecondLook { undone, failed } = guard.second_look(before, None);
    assert!(failed.is_empty(), "{failed:?}");
    let mut undone: Vec<PathBuf> = undone.into_iter().map(|place| place.path).collect();
    undone.sort();
    undone
}

#[test]
fn what_appears_is_renamed_and_what_was_there_is_left_alone() {
    let (_folder, root, guard) = guard();
    write(&root.join("a/AGENTS.md"));
    symlink("AGENTS.md", root.join("a/CLAUDE.md")).unwrap();
    let before = survey(&guard);
    for place in ["a/b/CLAUDE.md", "n/e/w/.git/config"] {
        write(&root.join(place));
    }
    // Another link that leads to the same place is the same.
    fs::remove_file(root.join("a/CLAUDE.md")).unwrap();
    symlink("AGENTS.md", root.join("a/CLAUDE.md")).unwrap();
    let expected = [root.join("a/b/CLAUDE.md"), root.join("n/e/w/.git")];
    assert_eq!(undone(&guard, &before), expected);
    assert!(undone(&guard, &before).is_empty());
    assert!(root.join("a/AGENTS.md").exists());
}

// case 172
#[test]
fn another_file_with_a_known_name_is_not_known() {
    let (_folder, root, guard) = guard();
    let place = root.join("a/AGENTS.md");
    write(&place);
    let before = survey(&guard);
    write(&root.join("other"));
    fs::rename(root.join("other"), &place).unwrap();
    assert_eq!(undone(&guard, &before), [place]);
}

// case 171
#[test]
fn a_renamed_repository_is_none_by_its_new_name() {
    let (_folder, root, guard) = guard();
    let before = survey(&guard);
    for part in [
        "HEAD",
        "objects/x",
        "refs/x",
        "modules/m/HEAD",
        "modules/m/commondir",
    ] {
        write(&root.join("a/.git").join(part));
    }
    let found = guard.second_look(&before, None);
    let entries = fs::read_dir(root.join("a")).unwrap().flatten();
    let [renamed] = &entries.map(|entry| entry.path()).collect::<Vec<_>>()[..] else {
        panic!("{found:?}");
    };
    assert!(renamed.join("objects/x").exists());
    assert!(!renamed.join("HEAD").exists(), "{found:?}");
    assert!(!renamed.join("modules/m/commondir").exists(), "{found:?}");
}

// case 173
#[test]
fn more_files_than_can_be_looked_at_are_an_error_that_names_the_folder() {
    let (_folder, root, guard) = guard();
    for number in 0..20 {
        write(&root.join(format!("a/{number}")));
    }
    assert!(guard.survey_up_to(30, &[]).is_ok());
    let error = guard.survey_up_to(20, &[]).unwrap_err();
    assert!(matches!(error, SurveyError::TooMany { .. }), "{error}");
    let text = error.to_string();
    let start = format!("`{}` has more than 20 files and folders", root.display());
    assert!(text.starts_with(&start), "{text}");
}

#[test]
fn a_folder_that_is_writable_twice_is_walked_once() {
    let (_folder, root, mut guard) = guard();
    for number in 0..20 {
        write(&root.join(format!("a/{number}")));
    }
    guard.roots.push(root.join("a"));
    guard.roots.push(root);
    assert!(guard.survey_up_to(30, &[]).is_ok());
}

/// Makes folders inside of one another, with names that add up to more than a path can have.
fn nest(root: &Path, depth: usize) -> OwnedFd {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut folder = openat(CWD, root, flags, Mode::empty()).unwrap();
    let name = "d".repeat(100);
    for _ in 0..depth {
        mkdirat(&folder, &name, Mode::RWXU).unwrap();
        folder = open_folder(folder.as_fd(), OsStr::new(&name)).unwrap();
    }
    folder
}

// case 174
#[test]
fn the_bottom_of_a_deep_tree_is_seen_and_so_is_what_lies_beside_it() {
    let (folder, root, guard) = guard();
    let before = survey(&guard);
    let bottom = nest(&root, 3_000);
    mkdirat(&bottom, ".git", Mode::RWXU).unwrap();
    for place in ["a/CLAUDE.md", "z/CLAUDE.md"] {
        write(&root.join(place));
    }
    assert_eq!(undone(&guard, &before).len(), 3);
    assert!(open_folder(bottom.as_fd(), OsStr::new(".git")).is_err());
    assert_eq!(survey(&guard).places, []);
    let around = fs::File::open(folder.path().parent().unwrap()).unwrap();
    remove_tree(around.as_fd(), folder.path().file_name().unwrap()).unwrap();
}
