//! Folders that are trusted, and those that can't be.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{Store, StoreError, Trusted, TrustedRoot};

const NOW: &str = "2026-01-31T09:00:00Z";

fn store() -> (TempDir, Store) {
    let folder = TempDir::new().expect("a folder");
    let store = Store::open(&folder.path().join("metier.db")).expect("a new store");
    (folder, store)
}

#[test]
fn a_folder_and_what_is_below_it() {
    let (_folder, store) = store();
    store.trust(Path::new("/src/app/"), NOW).unwrap();
    for trusted in [
        "/src/app",
        "/src/app/",
        "/src//app",
        "/src/./app",
        "/src/app/a/b",
        "/src/app/…",
    ] {
        assert!(
            store.trusted_by(Path::new(trusted)).unwrap().is_some(),
            "{trusted}"
        );
    }
    for stranger in [
        "/src",
        "/",
        "/src/application",
        "/src/ap",
        "/SRC/app",
        "/other/src/app",
    ] {
        assert!(
            store.trusted_by(Path::new(stranger)).unwrap().is_none(),
            "{stranger}"
        );
    }
    let by = store
        .trusted_by(Path::new("/src/app/a/b"))
        .unwrap()
        .unwrap();
    assert_eq!(
        by,
        Trusted {
            folder: "/src/app".into(),
            at: NOW.to_owned()
        }
    );
}

#[test]
fn the_nearest_ancestor_answers() {
    let (_folder, store) = store();
    store.trust(Path::new("/a"), NOW).unwrap();
    store.trust(Path::new("/a/b/c"), NOW).unwrap();
    assert_eq!(
        store
            .trusted_by(Path::new("/a/b/c/d"))
            .unwrap()
            .unwrap()
            .folder,
        Path::new("/a/b/c")
    );
    assert_eq!(
        store.trusted_by(Path::new("/a/b")).unwrap().unwrap().folder,
        Path::new("/a")
    );
}

#[test]
fn revoking_takes_back_exactly_one() {
    let (_folder, store) = store();
    store.trust(Path::new("/a"), NOW).unwrap();
    store.trust(Path::new("/b"), NOW).unwrap();
    assert!(!store.revoke(Path::new("/a/inner")).unwrap());
    assert!(store.revoke(Path::new("/a")).unwrap());
    assert!(!store.revoke(Path::new("/a")).unwrap());
    assert!(store.trusted_by(Path::new("/a/inner")).unwrap().is_none());
    assert!(store.trusted_by(Path::new("/b")).unwrap().is_some());
}

#[test]
fn trusting_again_moves_the_time() {
    let (_folder, store) = store();
    store.trust(Path::new("/b"), NOW).unwrap();
    store.trust(Path::new("/a"), NOW).unwrap();
    store.trust(Path::new("/b"), "later").unwrap();
    let rows: Vec<_> = store
        .trusted()
        .unwrap()
        .into_iter()
        .map(|row| (row.folder, row.at))
        .collect();
    assert_eq!(
        rows,
        [
            (PathBuf::from("/a"), NOW.to_owned()),
            (PathBuf::from("/b"), "later".to_owned())
        ]
    );
}

#[test]
fn what_cannot_be_trusted() {
    let (_folder, store) = store();
    for folder in ["", "/", "//", "/."] {
        let error = store.trust(Path::new(folder), NOW).unwrap_err();
        assert!(
            matches!(error, StoreError::TooBroad { .. }),
            "{folder}: {error}"
        );
    }
    for folder in ["src/app", ".", "..", "/src/../etc", "/src/app/.."] {
        let error = store.trust(Path::new(folder), NOW).unwrap_err();
        assert!(
            matches!(error, StoreError::NotAbsolute { .. }),
            "{folder}: {error}"
        );
        assert!(store.trusted_by(Path::new(folder)).is_err(), "{folder}");
        assert!(store.revoke(Path::new(folder)).is_err(), "{folder}");
    }
    assert_eq!(store.trusted().unwrap(), []);
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_text_is_refused() {
    use std::os::unix::ffi::OsStrExt;

    let (_folder, store) = store();
    let folder = Path::new(std::ffi::OsStr::from_bytes(b"/src/\xff"));
    store.trust(Path::new("/src"), NOW).unwrap();
    assert!(matches!(
        store.trust(folder, NOW).unwrap_err(),
        StoreError::NotUtf8 { .. }
    ));
    assert!(matches!(
        store.trusted_by(folder).unwrap_err(),
        StoreError::NotUtf8 { .. }
    ));
}

#[test]
fn text_is_data_and_never_sql() {
    let (_folder, store) = store();
    let hostile = Path::new("/src/'; DROP TABLE trust; --");
    store.trust(hostile, "'; DROP TABLE trust; --").unwrap();
    assert!(store.trusted_by(hostile).unwrap().is_some());
    assert!(store.trusted_by(Path::new("/src/%")).unwrap().is_none());
    assert_eq!(store.trusted().unwrap().len(), 1);
}

const USUAL: &[&str] = &["skills", ".claude/skills"];

fn roots(names: &[&str]) -> Vec<TrustedRoot> {
    let root = |name: &&str| TrustedRoot {
        root: name.into(),
        target: Path::new("/src/app").join(name),
    };
    names.iter().map(root).collect()
}

fn trusts(store: &Store, root: &str) -> bool {
    let root = Path::new(root);
    store.trusts_root(root, root, USUAL).unwrap()
}

// case 152
#[test]
fn trust_counts_for_the_roots_that_were_there() {
    let (_folder, store) = store();
    let app = Path::new("/src/app");
    let there = roots(&["skills", "web/skills", "tools/release"]);
    store.trust_roots(app, &there, NOW).unwrap();
    for root in ["skills", "web/skills", "tools/release"] {
        assert!(trusts(&store, &format!("/src/app/{root}")), "{root}");
    }
    for root in [
        "/src/app/.claude/skills",
        "/src/app/sub/skills",
        "/src/app/skills/inner",
        "/src/app",
        "/src/other/skills",
        "/src/application/skills",
        "/skills",
    ] {
        assert!(!trusts(&store, root), "{root}");
    }
    let moved = store.trusts_root(&app.join("skills"), Path::new("/elsewhere"), USUAL);
    assert!(!moved.unwrap(), "a link that leads elsewhere now");
    store.trust_roots(app, &roots(&["skills"]), NOW).unwrap();
    assert!(trusts(&store, "/src/app/skills"));
    assert!(!trusts(&store, "/src/app/web/skills"), "no longer there");
    assert!(store.revoke(app).unwrap());
    assert!(!trusts(&store, "/src/app/skills"));
}

// case 152
#[test]
fn trust_from_before_counts_for_the_usual_roots_directly_in_the_folder() {
    let (_folder, store) = store();
    store.trust(Path::new("/src/app"), NOW).unwrap();
    assert!(trusts(&store, "/src/app/skills"));
    assert!(trusts(&store, "/src/app/.claude/skills"));
    assert!(!trusts(&store, "/src/app/sub/skills"));
    assert!(!trusts(&store, "/src/app/tools/release"));
    let none = store.trust_roots(Path::new("/src/app"), &[], NOW);
    none.unwrap();
    assert!(!trusts(&store, "/src/app/skills"), "trusted again");
}
