//! Receipts move into segments, and nothing is lost or changed on the way.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::receipts_tests::act;
use crate::segments::Rotation;
use crate::{
    Breakage, Completion, Receipt, ReceiptDecision, ReceiptFilter, ReceiptOutcome, Store, Verified,
};

fn open(path: &Path) -> Store {
    let mut store = Store::open(path).expect("a store");
    store.rotation = Rotation {
        rows: 20,
        bytes: 1 << 20,
        every: 1,
    };
    store
}

/// An act of 101 entries, most of them in segments: the first begins before all others, and ends after them.
fn hundred() -> (TempDir, Store) {
    let folder = TempDir::new().expect("a folder");
    let store = open(&folder.path().join("metier.db"));
    let long = store.begin(&act("deploy", "long")).expect("begun");
    for number in 2..=100 {
        let skill = if number % 10 == 0 { "notes" } else { "deploy" };
        let receipt = act(skill, &format!("step {number}"));
        store.append(&[receipt]).expect("written");
    }
    let completion = Completion {
        at: "2026-01-31T10:00:00Z".to_owned(),
        decision: ReceiptDecision::Allowed,
        outcome: Some(ReceiptOutcome::Ok),
        reason: None,
        ms: 99,
        sandbox: None,
        note: String::new(),
    };
    store.complete(long, &completion).expect("completed");
    (folder, store)
}

fn segments(folder: &TempDir) -> Vec<PathBuf> {
    let folder = folder.path().join("metier.db-receipts");
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some());
    paths.sort();
    paths
}

fn rows(store: &Store) -> i64 {
    let sql = "SELECT count(*) FROM receipts";
    let count = store.connection.query_row(sql, [], |row| row.get(0));
    count.expect("a count")
}

fn details(receipts: &[Receipt]) -> Vec<&str> {
    let details = receipts.iter().map(|receipt| receipt.entry.detail.as_str());
    details.collect()
}

#[test]
fn the_log_reads_across_segments() {
    let (folder, store) = hundred();
    assert!(segments(&folder).len() >= 4, "{:?}", segments(&folder));
    assert!(rows(&store) <= 20);
    let all = store.receipts(ReceiptFilter::default()).unwrap();
    let mut expected: Vec<String> = (2..=100).rev().map(|n| format!("step {n}")).collect();
    expected.push("long".to_owned());
    assert_eq!(details(&all), expected);
    assert_eq!(all[99].entry.ms, 99, "an act is whole across segments");
    let filter = ReceiptFilter {
        skill: Some("notes"),
        limit: Some(4),
        ..ReceiptFilter::default()
    };
    let notes = store.receipts(filter).unwrap();
    assert_eq!(
        details(&notes),
        ["step 100", "step 90", "step 80", "step 70"]
    );
    assert_eq!(
        store.receipt(7).unwrap().unwrap().entry,
        act("deploy", "step 7")
    );
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 101 });
    drop(store);
    let again = open(&folder.path().join("metier.db"));
    assert_eq!(again.verify().unwrap(), Verified::Whole { count: 101 });
}

#[test]
fn a_segment_that_is_missing_or_changed_is_found() {
    let check = |spoil: &dyn Fn(&Path), id, why| {
        let (folder, store) = hundred();
        let second = segments(&folder).remove(1);
        let mut permissions = fs::metadata(&second).unwrap().permissions();
        #[expect(clippy::permissions_set_readonly_false, reason = "a test spoils it")]
        permissions.set_readonly(false);
        fs::set_permissions(&second, permissions).unwrap();
        spoil(&second);
        assert_eq!(store.verify().unwrap(), Verified::Broken { id, why });
    };
    let first_of_second = 11;
    check(
        &|path| fs::remove_file(path).unwrap(),
        first_of_second,
        Breakage::Missing,
    );
    check(
        &|path| fs::write(path, "no database").unwrap(),
        first_of_second,
        Breakage::Changed,
    );
    let run = |sql: &'static str| {
        move |path: &Path| {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.execute_batch(sql).unwrap();
        }
    };
    check(
        &run("UPDATE receipts SET detail = 'other' WHERE id = 15"),
        15,
        Breakage::Changed,
    );
    check(
        &run("DELETE FROM receipts WHERE id = 15"),
        15,
        Breakage::Missing,
    );
    check(
        &run("DELETE FROM receipts WHERE id > 15"),
        16,
        Breakage::Missing,
    );
    check(
        &run("DROP TABLE receipts"),
        first_of_second,
        Breakage::Changed,
    );
}

/// The segment exists, and the rows as well: the program was stopped in between.
#[test]
fn a_crash_between_the_two_steps_loses_and_doubles_nothing() {
    let (folder, store) = hundred();
    let first: i64 = store
        .connection
        .query_row("SELECT min(id) FROM receipts", [], |row| row.get(0))
        .unwrap();
    let last = segments(&folder).pop().unwrap();
    let name = format!("{first:012}-{:012}.db", first + 5);
    let copy = last.with_file_name(name);
    fs::copy(&last, &copy).unwrap();
    fs::write(last.with_file_name("sealing"), "half").unwrap();
    let all = |store: &Store| store.receipts(ReceiptFilter::default()).unwrap().len();
    assert_eq!(all(&store), 100);
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 101 });
    for number in 0..40 {
        let receipt = act("deploy", &format!("more {number}"));
        store.append(&[receipt]).unwrap();
    }
    assert!(!copy.exists(), "the next segment takes its place");
    assert_eq!(all(&store), 140);
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 141 });
}

#[test]
fn many_bytes_are_moved_like_many_rows() {
    let folder = TempDir::new().expect("a folder");
    let mut store = open(&folder.path().join("metier.db"));
    store.rotation = Rotation {
        rows: 1_000,
        bytes: 40_000,
        every: 1,
    };
    for _ in 0..40 {
        let receipt = act("deploy", &"x".repeat(4_000));
        store.append(&[receipt]).unwrap();
    }
    assert!(segments(&folder).len() > 2);
    assert!(rows(&store) <= 12, "{}", rows(&store));
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 40 });
}

#[test]
fn what_can_not_be_moved_stays() {
    let (folder, store) = hundred();
    let place = folder.path().join("metier.db-receipts");
    let away = folder.path().join("away");
    fs::rename(&place, &away).unwrap();
    fs::write(&place, "in the way").unwrap();
    for number in 0..40 {
        let receipt = act("deploy", &format!("more {number}"));
        store.append(&[receipt]).unwrap();
    }
    assert!(rows(&store) > 40);
    fs::remove_file(&place).unwrap();
    fs::rename(&away, &place).unwrap();
    store.append(&[act("deploy", "at last")]).unwrap();
    assert!(rows(&store) < 40);
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 142 });
}

#[test]
fn a_segment_is_private_and_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _store) = hundred();
    for path in segments(&folder) {
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777 & !0o044, 0o400, "{path:?} {mode:o}");
    }
    let mode = folder.path().join("metier.db-receipts").metadata().unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o700);
}
