//! The two scans, on folders without a child.

use std::{
    ffi::OsStr,
    fs, io,
    os::fd::{AsFd, OwnedFd},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use metier_testkit::patience::grows_linearly;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use tempfile::TempDir;

use super::{Findings, Guard, MOST_LISTED, PathRoom, SecondLook, Survey, SurveyError};
use crate::{
    child::watch::remove_tree,
    sandbox::{Protection, Trails, names::NameSet, object::open_folder},
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
    guard.survey(&[], &mut Trails::default()).unwrap()
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
    // Another link with the same target counts as the same.
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

// case 177
#[test]
fn a_file_in_the_place_of_one_that_a_fence_held_stays() {
    let (_folder, root, guard) = guard();
    for place in ["a/AGENTS.md", "b/AGENTS.md", "c/.vscode/x"] {
        write(&root.join(place));
    }
    let mut before = survey(&guard);
    before.is_fenced = true;
    write(&root.join("other"));
    fs::rename(root.join("other"), root.join("a/AGENTS.md")).unwrap();
    // An editor saves only a file in the place of a file.
    fs::remove_file(root.join("b/AGENTS.md")).unwrap();
    symlink("../a/AGENTS.md", root.join("b/AGENTS.md")).unwrap();
    fs::rename(root.join("c/.vscode"), root.join("c/kept")).unwrap();
    write(&root.join("c/.vscode/x"));
    write(&root.join("d/AGENTS.md"));
    let expected = ["b/AGENTS.md", "c/.vscode", "d/AGENTS.md"];
    assert_eq!(
        undone(&guard, &before),
        expected.map(|place| root.join(place))
    );
}

// case 176
#[test]
fn a_link_on_the_way_to_protected_places_is_known_and_a_new_one_is_renamed() {
    let (_folder, root, guard) = guard();
    for folder in ["a/cfg", "b", "plain"] {
        write(&root.join(folder).join("x"));
    }
    for link in ["a/.cargo", "a/other"] {
        symlink("cfg", root.join(link)).unwrap();
    }
    let before = survey(&guard);
    let config = root.join("a/.cargo/config.toml");
    assert!(before.covered.contains(&config), "{before:?}");
    assert_eq!(before.places, []);
    assert!(undone(&guard, &before).is_empty());
    for link in ["b/.cargo", "b/other"] {
        symlink("../plain", root.join(link)).unwrap();
    }
    fs::remove_file(root.join("a/.cargo")).unwrap();
    symlink("../plain", root.join("a/.cargo")).unwrap();
    let expected = [root.join("a/.cargo"), root.join("b/.cargo")];
    assert_eq!(undone(&guard, &before), expected);
}

// case 176
#[test]
fn other_names_of_what_a_protected_link_leads_to_are_covered() {
    let (_folder, root, guard) = guard();
    write(&root.join("docs/b.md"));
    write(&root.join("free.md"));
    fs::create_dir(root.join("sub")).unwrap();
    symlink("../docs/b.md", root.join("sub/CLAUDE.md")).unwrap();
    for (name, other) in [("docs/b.md", "docs/c.md"), ("free.md", "docs/free.md")] {
        fs::hard_link(root.join(name), root.join(other)).unwrap();
    }
    let covered = survey(&guard).covered;
    assert!(covered.contains(&root.join("docs/c.md")), "{covered:?}");
    assert!(!covered.contains(&root.join("docs/free.md")), "{covered:?}");
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
fn more_files_than_the_limit_are_an_error_that_names_the_folder() {
    let (_folder, root, guard) = guard();
    for number in 0..20 {
        write(&root.join(format!("a/{number}")));
    }
    assert!(guard.survey_up_to(30, &[], &mut Trails::default()).is_ok());
    let error = guard
        .survey_up_to(20, &[], &mut Trails::default())
        .unwrap_err();
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
    assert!(guard.survey_up_to(30, &[], &mut Trails::default()).is_ok());
}

/// Creates nested folders, with names that add up to more than the maximum length of a path, and a file in each of them.
fn nest(root: &Path, depth: usize, file: Option<&str>) -> OwnedFd {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut folder = openat(CWD, root, flags, Mode::empty()).unwrap();
    let name = "d".repeat(250);
    for _ in 0..depth {
        mkdirat(&folder, &name, Mode::RWXU).unwrap();
        folder = open_folder(folder.as_fd(), OsStr::new(&name)).unwrap();
        if let Some(file) = file {
            openat(&folder, file, OFlags::CREATE, Mode::RUSR).unwrap();
        }
    }
    folder
}

/// Removes a folder with a tree that is too deep for the standard library.
fn remove(folder: &TempDir) {
    let around = fs::File::open(folder.path().parent().unwrap()).unwrap();
    remove_tree(around.as_fd(), folder.path().file_name().unwrap()).unwrap();
}

// case 174
#[test]
fn the_bottom_of_a_deep_tree_and_its_neighbours_are_seen() {
    let (folder, root, guard) = guard();
    let before = survey(&guard);
    let bottom = nest(&root, 3_000, None);
    mkdirat(&bottom, ".git", Mode::RWXU).unwrap();
    for place in ["a/CLAUDE.md", "z/CLAUDE.md"] {
        write(&root.join(place));
    }
    assert_eq!(undone(&guard, &before).len(), 3);
    assert!(open_folder(bottom.as_fd(), OsStr::new(".git")).is_err());
    assert_eq!(survey(&guard).places, []);
    remove(&folder);
}

// case 205
#[test]
fn protected_files_in_a_deep_tree_are_all_renamed_and_few_bytes_are_kept() {
    let (folder, root, guard) = guard();
    let before = survey(&guard);
    let depth = MOST_LISTED + 100;
    nest(&root, depth, Some("CLAUDE.md"));
    let SecondLook { undone, failed } = guard.second_look(&before, None);
    assert!(failed.is_empty(), "{failed:?}");
    let kept: usize = undone
        .iter()
        .map(|place| place.path.as_os_str().len())
        .sum();
    let more: usize = undone.iter().map(|place| place.more).sum();
    assert!(kept < 4 << 20, "{kept} bytes of paths");
    assert_eq!(undone.len() + more, depth);
    let text = crate::child::undone(&undone);
    assert!(
        text.ends_with(&format!("and {} more", depth - 20)),
        "{text}"
    );
    assert_eq!(survey(&guard).places, []);
    remove(&folder);
}

// case 205
#[test]
fn places_that_can_not_be_restored_are_counted_once_the_list_is_full() {
    let mut found = Findings::default();
    for _ in 0..MOST_LISTED + 7 {
        found.failed(|| PathBuf::from("x"), io::Error::other("no"));
    }
    let failed = found.listed(&[PathBuf::from("/base")]).failed;
    assert_eq!(failed.len(), MOST_LISTED + 1);
    let text = crate::child::failures(&failed);
    assert!(
        text.starts_with("/base: 7 more places are not listed"),
        "{text}"
    );
}

// case 205
#[test]
fn known_places_with_too_long_or_too_many_paths_are_an_error() {
    let (folder, root, guard) = guard();
    nest(&root, 20, Some("CLAUDE.md"));
    let error = guard.survey(&[], &mut Trails::default()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("File name too long"), "{text}");
    remove(&folder);
    let mut room = PathRoom::default();
    let place = || {
        room.path(Path::new("/a/folder"), OsStr::new("CLAUDE.md"))
            .ok()
    };
    let count = std::iter::repeat_with(place).map_while(|path| path).count();
    assert!((50_000..200_000).contains(&count), "{count}");
}

/// A child can create as many folders as it has time for. None of them hides the content of another, and their names don't fill the memory.
// case 214
#[test]
fn nothing_is_hidden_behind_any_number_of_folders() {
    let (folder, root, guard) = guard();
    let before = survey(&guard);
    let handle = openat(CWD, &root, OFlags::PATH, Mode::empty()).unwrap();
    // Their names need more than a walk keeps in memory.
    for number in 0..20_000 {
        mkdirat(&handle, format!("{number:0250}"), Mode::RWXU).unwrap();
    }
    let mut expected = Vec::new();
    for number in [0, 1, 9_999, 10_000, 19_999] {
        let inner = root.join(format!("{number:0250}")).join("a");
        for place in ["CLAUDE.md", ".envrc"] {
            write(&inner.join(place));
            expected.push(inner.join(place));
        }
    }
    expected.sort();
    assert_eq!(undone(&guard, &before), expected);
    assert_eq!(survey(&guard).places, []);
    remove(&folder);
}

/// On a file system that compares names exactly, other spellings of a protected name are plain files, and are not kept either.
// case 214
#[test]
fn what_only_looks_like_a_protected_name_is_not_kept() {
    let (_folder, root, guard) = guard();
    for spelling in ["claude.md", "Claude.md", "CLAUDE.MD", "cLAUDE.md/x"] {
        write(&root.join("a").join(spelling));
    }
    let exact = NameSet::of(&root.join("a")) == NameSet::Exact;
    let found = survey(&guard).places.len();
    assert_eq!(found, if exact { 0 } else { 1 });
    write(&root.join("a/CLAUDE.md"));
    assert_eq!(survey(&guard).places.len(), 1);
}

// case 206
#[test]
fn a_walk_takes_the_same_time_for_each_level_of_a_deep_tree() {
    let tree = |times: usize| {
        let (folder, root, guard) = guard();
        let before = survey(&guard);
        // On most file systems this is not a protected name.
        nest(&root, 150 * times, Some("claude.md"));
        (folder, guard, before)
    };
    // After the second scan, nothing is left to be renamed on file systems that ignore case.
    let look = |(_, guard, before): &(TempDir, Guard, Survey)| {
        for _ in 0..3 {
            guard.second_look(before, None);
            survey(guard);
        }
    };
    let trees = [tree(1), tree(8)];
    grows_linearly(
        "two looks",
        8,
        |times| &trees[usize::from(times > 1)],
        |tree| look(tree),
    );
    trees.iter().for_each(|(folder, ..)| remove(folder));
}
