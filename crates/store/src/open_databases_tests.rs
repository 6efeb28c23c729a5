//! The locks of one handle survive the closing of another one in the same process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use tempfile::TempDir;

use crate::{Store, StoreError};

/// Whether the system has a lock of this process on the file.
fn is_locked(path: &Path) -> bool {
    let (process, file) = (
        std::process::id(),
        fs::metadata(path).expect("a file").ino(),
    );
    let (process, file) = (format!(" {process} "), format!(":{file} "));
    let locks = fs::read_to_string("/proc/locks").expect("a list");
    locks
        .lines()
        .any(|lock| lock.contains(&process) && lock.contains(&file))
}

#[test]
fn opening_it_again_takes_no_locks_away() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("metier.db");
    let first = Store::open(&path).unwrap();
    assert_eq!(first.trusted().unwrap(), []);
    assert!(is_locked(&path), "from the first reading on");
    let second = Store::open(&path).unwrap();
    assert!(is_locked(&path));
    let link = folder.path().join("link.db");
    fs::hard_link(&path, &link).unwrap();
    let third = Store::open_existing(&link).unwrap().expect("it exists");
    assert!(is_locked(&path), "by another name");
    drop((first, third));
    assert!(is_locked(&path));
    let fourth = Store::open(&path).unwrap();
    drop(second);
    assert!(is_locked(&path));
    drop(fourth);
    assert!(!is_locked(&path), "it is not locked");
}

#[test]
fn who_let_go_looks_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("metier.db");
    drop((Store::open(&path).unwrap(), Store::open(&path).unwrap()));
    fs::write(&path, "hello").unwrap();
    let refused = Store::open(&path).map(drop);
    assert!(matches!(refused, Err(StoreError::NotOurs { .. })));
}
