//! An act is in the chain before it begins, and open acts are found.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;

use crate::alive::RESERVE;
use crate::{
    ABANDONED, Breakage, Completion, NewReceipt, Receipt, ReceiptDecision, ReceiptFilter,
    ReceiptOutcome, ReceiptPart, Store, Verified, receipts_tests, rerun,
};

const NOW: &str = "2026-01-31T09:00:00Z";
const LATER: &str = "2026-01-31T10:00:00Z";

fn store() -> (TempDir, Store) {
    let folder = TempDir::new().expect("a folder");
    let store = Store::open(&folder.path().join("metier.db")).expect("a new store");
    (folder, store)
}

fn act(detail: &str) -> NewReceipt {
    NewReceipt {
        at: NOW.to_owned(),
        outcome: None,
        ms: 0,
        sandbox: None,
        session: Some("s1".to_owned()),
        ..receipts_tests::act("deploy", detail)
    }
}

fn well() -> Completion {
    Completion {
        at: LATER.to_owned(),
        decision: ReceiptDecision::Allowed,
        outcome: Some(ReceiptOutcome::Ok),
        reason: None,
        ms: 12,
        sandbox: Some("namespaces".to_owned()),
        note: String::new(),
    }
}

fn all(store: &Store) -> Vec<Receipt> {
    store.receipts(ReceiptFilter::default()).unwrap()
}

fn details(store: &Store) -> Vec<(String, ReceiptPart)> {
    let all = all(store).into_iter();
    all.map(|receipt| (receipt.entry.detail, receipt.part))
        .collect()
}

#[test]
fn an_act_is_one_receipt_of_two_entries() {
    let (_folder, store) = store();
    let begun = store.begin(&act("git push")).unwrap();
    let other = Store::open(store.path()).unwrap();
    let seen = all(&other);
    assert_eq!(seen, [begun.receipt().clone()]);
    assert_eq!(
        (seen[0].part, seen[0].entry.outcome),
        (ReceiptPart::Begun, None)
    );

    other.append(&[act("meanwhile")]).unwrap();
    let completed = store.complete(begun, &well()).unwrap();
    let seen = all(&other);
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1], completed);
    assert_eq!(completed.part, ReceiptPart::Completed { by: 3 });
    let entry = &completed.entry;
    assert_eq!((entry.at.as_str(), entry.ms), (NOW, 12));
    assert_eq!(entry.outcome, Some(ReceiptOutcome::Ok));
    assert_eq!(entry.sandbox.as_deref(), Some("namespaces"));
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 3 });
    let end = store.receipt(3).unwrap().unwrap();
    assert_eq!(end.part, ReceiptPart::End { of: 1 });
}

#[test]
fn acts_are_found_by_number_skill_and_time_as_wholes() {
    let (_folder, store) = store();
    let long = store.begin(&act("long")).unwrap();
    for detail in ["one", "two"] {
        let begun = store.begin(&act(detail)).unwrap();
        let note = "5 bytes".to_owned();
        let completion = Completion { note, ..well() };
        store.complete(begun, &completion).unwrap();
    }
    store.complete(long, &well()).unwrap();
    let of = |filter| {
        let found = store.receipts(filter).unwrap().into_iter();
        let found = found.map(|receipt| (receipt.entry.detail, receipt.note));
        found.collect::<Vec<_>>()
    };
    let act = |detail: &str, note: &str| (detail.to_owned(), note.to_owned());
    let expected = [
        act("two", "5 bytes"),
        act("one", "5 bytes"),
        act("long", ""),
    ];
    assert_eq!(of(ReceiptFilter::default()), expected);
    let filter = ReceiptFilter {
        limit: Some(2),
        ..ReceiptFilter::default()
    };
    assert_eq!(of(filter), expected[..2]);
    for (skill, since, count) in [
        (Some("deploy"), None, 3),
        (Some("other"), None, 0),
        // These began before that time and ended after it.
        (None, Some("2026-01-31T09:30:00Z"), 3),
        (None, Some("2026-01-31T10:30:00Z"), 0),
    ] {
        let filter = ReceiptFilter {
            skill,
            since,
            limit: None,
        };
        assert_eq!(of(filter), expected[..count]);
    }
}

#[test]
fn an_act_is_over_once() {
    let (_folder, store) = store();
    let begun = store.begin(&act("once")).unwrap();
    let twin = crate::acts::BegunReceipt::again(&begun);
    store.complete(begun, &well()).unwrap();
    store.complete(twin, &well()).unwrap();
    assert_eq!(store.head().unwrap().count, 2);
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 2 });
}

#[test]
fn an_act_that_was_taken_off_the_list_is_missed() {
    let (_folder, store) = store();
    let _open = store.begin(&act("hidden")).unwrap();
    store
        .connection
        .execute_batch(
            "DROP TRIGGER receipts_head_grows; UPDATE receipts_head SET open = x'', count = 1",
        )
        .unwrap();
    let (id, why) = (1, Breakage::Head);
    assert_eq!(store.verify().unwrap(), Verified::Broken { id, why });
}

#[test]
fn what_a_living_store_left_open_stays_open() {
    let (_folder, store) = store();
    let begun = store.begin(&act("still on it")).unwrap();
    let other = Store::open(store.path()).unwrap();
    assert_eq!(other.close_abandoned(LATER).unwrap(), []);
    assert_eq!(
        details(&other),
        [("still on it".to_owned(), ReceiptPart::Begun)]
    );
    store.complete(begun, &well()).unwrap();
    assert_eq!(all(&other)[0].entry.outcome, Some(ReceiptOutcome::Ok));
}

#[test]
fn what_was_dropped_is_closed_when_its_store_is_gone() {
    let (folder, store) = store();
    drop(store.begin(&act("dropped")).unwrap());
    drop(store);
    let path = folder.path().join("metier.db");
    let store = Store::open(&path).unwrap();
    let closed = store.close_abandoned(LATER).unwrap();
    assert_eq!(closed.len(), 1);
    assert_eq!(closed, all(&store));
    let entry = &closed[0].entry;
    assert_eq!(entry.reason.as_deref(), Some(ABANDONED));
    assert_eq!(entry.outcome, Some(ReceiptOutcome::Error));
    assert_eq!(store.close_abandoned(LATER).unwrap(), []);
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 2 });
}

const KILLED: &str = "acts_tests::what_a_killed_process_left_open_is_closed";

// case 156
#[test]
fn what_a_killed_process_left_open_is_closed() {
    if let Some((path, _)) = rerun::role() {
        let store = Store::open(&path).expect("opened");
        let _open = store.begin(&act("never over")).expect("begun");
        println!("\nbegun");
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
    let (folder, store) = store();
    let mut child = rerun::process(KILLED, store.path(), "")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "begun"));
    assert_eq!(store.close_abandoned(LATER).unwrap(), [], "it lives");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(files(folder.path()).len(), 1, "the file of the dead one");
    let closed = store.close_abandoned(LATER).unwrap();
    assert_eq!(closed[0].entry.detail, "never over");
    assert_eq!(closed[0].entry.reason.as_deref(), Some(ABANDONED));
    assert_eq!(files(folder.path()), Vec::<String>::new());
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 2 });
}

#[test]
fn many_begin_and_complete_at_once() {
    let (_folder, store) = store();
    let path = store.path();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                let store = Store::open(path).expect("opened");
                for number in 0..10 {
                    let begun = store.begin(&act(&format!("{writer}.{number}")));
                    store.close_abandoned(LATER).expect("looked");
                    let receipt = store.complete(begun.expect("begun"), &well());
                    assert_eq!(receipt.expect("completed").entry.reason, None);
                }
            });
        }
    });
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 80 });
    let receipts = all(&store);
    assert_eq!(receipts.len(), 40);
    let is_well = |receipt: &Receipt| receipt.entry.outcome == Some(ReceiptOutcome::Ok);
    assert!(receipts.iter().all(is_well));
}

#[test]
fn space_for_the_end_is_taken_before_an_act_begins() {
    let (folder, store) = store();
    assert_eq!(files(folder.path()), Vec::<String>::new());
    let begun = store.begin(&act("git push")).unwrap();
    let kept = || {
        let name = files(folder.path()).pop().expect("a file");
        let path = folder.path().join("metier.db-receipts").join(name);
        path.metadata().expect("there").len()
    };
    assert_eq!(kept(), RESERVE);
    assert!(store.release());
    assert!(kept() < RESERVE);
    store.complete(begun, &well()).unwrap();
    let begun = store.begin(&act("git push")).unwrap();
    assert_eq!(kept(), RESERVE);
    while store.release() {}
    assert_eq!(kept(), 0);
    store.complete(begun, &well()).unwrap();
    drop(store);
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

/// The names in the folder of the receipts.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("metier.db-receipts")).expect("a folder");
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}
