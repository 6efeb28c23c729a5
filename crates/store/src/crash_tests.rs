//! A crashing process loses nothing that was committed and leaves nothing that wasn't.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::exit;

use tempfile::TempDir;

use crate::{Store, rerun};

const NOW: &str = "2026-01-31T09:00:00Z";

fn folders(path: &Path) -> Vec<PathBuf> {
    let store = Store::open(path).expect("opened");
    store
        .trusted()
        .expect("rows")
        .into_iter()
        .map(|row| row.folder)
        .collect()
}

#[test]
fn a_transaction_that_is_dropped_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("metier.db");
    let store = Store::open(&path).unwrap();
    store.trust(Path::new("/kept"), NOW).unwrap();
    let transaction = store.connection.unchecked_transaction().unwrap();
    store.trust(Path::new("/lost"), NOW).unwrap();
    drop(transaction);
    assert_eq!(folders(&path), [Path::new("/kept")]);
}

#[test]
fn a_writer_that_dies_loses_nothing_committed() {
    if let Some((path, _)) = rerun::role() {
        die_while_writing(&path);
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("metier.db");
    let name = "crash_tests::a_writer_that_dies_loses_nothing_committed";
    let status = rerun::process(name, &path, "").status().unwrap();
    assert_eq!(status.code(), Some(42), "the child did not get to its end");
    assert!(
        fs::metadata(folder.path().join("metier.db-wal"))
            .unwrap()
            .len()
            > 100_000,
        "nothing was left behind"
    );
    assert_eq!(folders(&path), [Path::new("/kept")]);
}

/// Commits one row, writes many that spill to disk, and exits without closing SQLite.
fn die_while_writing(path: &Path) {
    let store = Store::open(path).expect("opened");
    store.trust(Path::new("/kept"), NOW).expect("written");
    store
        .connection
        .pragma_update(None, "cache_size", 1)
        .expect("a small cache");
    let transaction = store
        .connection
        .unchecked_transaction()
        .expect("a transaction");
    for number in 0..2000 {
        store
            .trust(
                Path::new(&format!("/lost/{number}/{}", "x".repeat(100))),
                NOW,
            )
            .expect("written");
    }
    std::mem::forget(transaction);
    exit(42);
}

#[test]
fn a_log_that_was_cut_anywhere_gives_what_was_committed_before() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("metier.db");
    let store = Store::open(&path).unwrap();
    let all: Vec<PathBuf> = (0..10)
        .map(|number| PathBuf::from(format!("/src/{number}")))
        .collect();
    for row in &all {
        store.trust(row, NOW).unwrap();
    }
    let log = fs::read(folder.path().join("metier.db-wal")).unwrap();
    let copy = TempDir::new().unwrap();
    let mut seen = 0;
    for length in (0..=log.len()).step_by(997).chain([log.len()]) {
        let copied = copy.path().join(format!("{length}.db"));
        fs::copy(&path, &copied).unwrap();
        fs::write(copy.path().join(format!("{length}.db-wal")), &log[..length]).unwrap();
        let rows = folders(&copied);
        assert!(
            all.starts_with(&rows) && rows.len() >= seen,
            "{length}: {rows:?}"
        );
        seen = rows.len();
    }
    assert_eq!(seen, all.len());
}
