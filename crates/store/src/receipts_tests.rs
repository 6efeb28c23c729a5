//! Receipts stay as they were written, and any other change is detected.

use std::thread;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::{
    Breakage, NewReceipt, Receipt, ReceiptDecision, ReceiptFilter, ReceiptOutcome, Store,
    StoreError, Verified,
};

fn store() -> (TempDir, Store) {
    let folder = TempDir::new().expect("a folder");
    let store = Store::open(&folder.path().join("metier.db")).expect("a new store");
    (folder, store)
}

/// A successful act.
pub(crate) fn act(skill: &str, detail: &str) -> NewReceipt {
    NewReceipt {
        at: "2026-01-31T09:00:00Z".to_owned(),
        skill: skill.to_owned(),
        source: "user".to_owned(),
        digest: "sha256:aa".to_owned(),
        act: "shell:exec".to_owned(),
        detail: detail.to_owned(),
        decision: ReceiptDecision::Allowed,
        reason: None,
        outcome: Some(ReceiptOutcome::Ok),
        ms: 3,
        sandbox: Some("landlock".to_owned()),
        session: None,
        count: 1,
    }
}

/// A store with ten receipts of two batches.
fn ten() -> (TempDir, Store) {
    let (folder, store) = store();
    let acts: Vec<_> = (1..=10)
        .map(|number| act("deploy", &format!("step {number}")))
        .collect();
    store.append(&acts[..4]).unwrap();
    store.append(&acts[4..]).unwrap();
    (folder, store)
}

fn ids(receipts: &[Receipt]) -> Vec<i64> {
    receipts.iter().map(|receipt| receipt.id).collect()
}

#[test]
fn a_receipt_names_the_one_before() {
    let (_folder, store) = store();
    let refused = NewReceipt {
        decision: ReceiptDecision::Refused,
        reason: Some("not approved".to_owned()),
        outcome: None,
        session: Some("s1".to_owned()),
        ..act("deploy", "rm -r .")
    };
    let mut receipts = store.append(&[act("deploy", "ls"), refused]).unwrap();
    receipts.extend(store.append(&[act("notes", "cat")]).unwrap());
    assert_eq!(store.append(&[]).unwrap(), []);
    assert_eq!(ids(&receipts), [1, 2, 3]);
    assert_eq!(receipts[0].previous, format!("sha256:{}", "0".repeat(64)));
    for pair in receipts.windows(2) {
        assert_eq!(pair[1].previous, pair[0].hash);
    }
    let head = store.head().unwrap();
    assert_eq!((head.count, &head.hash), (3, &receipts[2].hash));
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 3 });
    assert_eq!(store.receipt(2).unwrap().as_ref(), Some(&receipts[1]));
    assert_eq!(store.receipt(4).unwrap(), None);

    let id = receipts[1].text_id();
    assert!(id.starts_with("r2-") && id.len() == 11, "{id}");
    receipts.reverse();
    assert_eq!(store.receipts(ReceiptFilter::default()).unwrap(), receipts);
}

#[test]
fn an_empty_chain_is_whole() {
    let (_folder, store) = store();
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 0 });
    assert_eq!(store.receipts(ReceiptFilter::default()).unwrap(), []);
}

#[test]
fn receipts_are_found_by_skill_time_and_number() {
    let (_folder, store) = store();
    for (skill, at) in [
        ("deploy", "2026-01-31T09:00:00Z"),
        ("notes", "2026-01-31T09:00:00.5Z"),
        ("deploy", "2026-01-31T11:30:00+02:00"),
        ("deploy", "yesterday"),
        ("deploy", "2026-02-01T00:00:00Z"),
    ] {
        let at = at.to_owned();
        let receipt = NewReceipt {
            at,
            ..act(skill, "ls")
        };
        store.append(&[receipt]).unwrap();
    }
    let check = |skill, since, limit, expected: &[i64]| {
        let filter = ReceiptFilter {
            skill,
            since,
            limit,
        };
        assert_eq!(ids(&store.receipts(filter).unwrap()), expected);
    };
    check(None, None, Some(2), &[5, 4]);
    check(None, None, Some(0), &[]);
    check(Some("deploy"), None, None, &[5, 4, 3, 1]);
    check(Some("deploy"), None, Some(3), &[5, 4, 3]);
    check(Some("dep%"), None, None, &[]);
    check(None, Some("2026-01-31T09:00:00Z"), None, &[5, 4, 3, 2, 1]);
    check(None, Some("2026-01-31T09:00:00.1Z"), None, &[5, 4, 3, 2]);
    check(None, Some("2026-01-31T09:30:00Z"), None, &[5, 4, 3]);
    check(None, Some("2026-01-31T09:30:01Z"), None, &[5, 4]);
    check(Some("notes"), Some("2026-02-01"), None, &[]);
    let filter = ReceiptFilter {
        since: Some("last week\n"),
        ..ReceiptFilter::default()
    };
    let error = store.receipts(filter).unwrap_err();
    assert!(matches!(error, StoreError::NotATime { .. }), "{error}");
    assert_eq!(error.to_string(), "`last week\\n` is not a valid time");
}

#[test]
fn long_texts_are_cut_where_it_can_be_seen() {
    let (_folder, store) = store();
    let long = "é".repeat(10_000);
    let receipt = NewReceipt {
        reason: Some(long.clone()),
        session: Some(long.clone()),
        ms: u64::MAX,
        ..act(&long, &long)
    };
    let written = store.append(&[receipt]).unwrap().remove(0).entry;
    for (text, most) in [
        (&written.detail, 4096),
        (written.reason.as_ref().unwrap(), 4096),
        (written.session.as_ref().unwrap(), 1024),
        (&written.skill, 1024),
    ] {
        assert!(text.len() <= most && text.len() > most - 50);
        let kept = text.chars().take_while(|c| *c == 'é').count() * 2;
        assert!(text.ends_with(&format!("é… ({} bytes cut)", 20_000 - kept)));
    }
    assert_eq!(written.ms, i64::MAX.unsigned_abs());
    let whole = "x".repeat(4096);
    let kept = store.append(&[act("deploy", &whole)]).unwrap();
    assert_eq!(kept[0].entry.detail, whole);
    let filter = ReceiptFilter {
        skill: Some(&long),
        ..ReceiptFilter::default()
    };
    assert_eq!(store.receipts(filter).unwrap().len(), 1);
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 2 });
}

// case 105
#[test]
fn text_is_data_and_never_sql() {
    let (_folder, store) = store();
    let hostile = "'; DROP TABLE receipts; --\0\u{1b}[2J\n{\"id\":1}";
    let receipt = act(hostile, hostile);
    store.append(std::slice::from_ref(&receipt)).unwrap();
    let found = store.receipt(1).unwrap().unwrap();
    assert_eq!(found.entry, receipt);
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 1 });
}

#[test]
fn the_database_refuses_to_change_or_remove_receipts() {
    let (_folder, store) = ten();
    let copy = "SELECT 5, at, skill, source, digest, act, 'other', decision, reason, outcome, ms,
                sandbox, session, previous, hash, begun, count FROM receipts WHERE id = 5";
    for sql in [
        "UPDATE receipts SET detail = 'other' WHERE id = 5",
        "UPDATE receipts SET id = 11 WHERE id = 5",
        "UPDATE OR IGNORE receipts SET detail = 'other'",
        "DELETE FROM receipts WHERE id = 10",
        "DELETE FROM receipts",
        &format!("REPLACE INTO receipts {copy}"),
        &format!("INSERT INTO receipts {copy} ON CONFLICT (id) DO UPDATE SET detail = 'other'"),
        "UPDATE receipts_head SET count = 9",
        "UPDATE receipts_head SET hash = zeroblob(32)",
        "DELETE FROM receipts_head",
        "REPLACE INTO receipts_head VALUES (1, 0, zeroblob(32), x'', 0)",
        "INSERT INTO receipts_head VALUES (2, 0, zeroblob(32), x'', 0)",
        "UPDATE receipts_head SET open = zeroblob(16)",
        "DELETE FROM receipts_sealed",
        "UPDATE receipts_sealed SET last = 11",
        "INSERT INTO receipts_sealed VALUES (2, 10)",
    ] {
        let error = store.connection.execute(sql, []).expect_err(sql);
        assert!(error.to_string().contains("receipts are"), "{sql}: {error}");
    }
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 10 });
}

/// The bytes of a database with ten receipts, without the triggers.
fn unguarded() -> Vec<u8> {
    let (_folder, store) = ten();
    let path = store.path().to_owned();
    drop(store);
    let connection = Connection::open(&path).expect("the file");
    let names: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
        .expect("the triggers");
    assert!(!names.is_empty());
    for name in names {
        let drop = format!("DROP TRIGGER {name}");
        connection.execute_batch(&drop).expect("dropped");
    }
    drop(connection);
    std::fs::read(path).expect("the bytes")
}

/// The result of `verify` after a direct change of the file by `sql`.
fn tampered(whole: &[u8], sql: &str) -> Verified {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("metier.db");
    std::fs::write(&path, whole).expect("a copy");
    let connection = Connection::open(&path).expect("the file");
    connection
        .pragma_update(None, "synchronous", "OFF")
        .expect("a quick way");
    connection
        .execute_batch("PRAGMA ignore_check_constraints = ON")
        .expect("no checks");
    connection.execute_batch(sql).expect(sql);
    let store = Store::open(&path).expect("opened");
    store.verify().expect("an answer")
}

// case 146
#[test]
fn what_was_done_to_a_chain_is_found() {
    let whole = unguarded();
    let check = |sql: &str, id, why| {
        assert_eq!(tampered(&whole, sql), Verified::Broken { id, why }, "{sql}");
    };
    for column in [
        "at", "skill", "source", "digest", "act", "detail", "reason", "sandbox", "session",
    ] {
        check(
            &format!("UPDATE receipts SET {column} = 'other' WHERE id = 5"),
            5,
            Breakage::Changed,
        );
    }
    for sql in [
        "UPDATE receipts SET decision = 'refused' WHERE id = 5",
        "UPDATE receipts SET decision = 'fine' WHERE id = 5",
        "UPDATE receipts SET outcome = NULL WHERE id = 5",
        "UPDATE receipts SET ms = 4 WHERE id = 5",
        "UPDATE receipts SET ms = -3 WHERE id = 5",
        "UPDATE receipts SET sandbox = NULL WHERE id = 5",
        "UPDATE receipts SET reason = '' WHERE id = 5",
        "UPDATE receipts SET begun = 5 WHERE id = 5",
        "UPDATE receipts SET count = 7 WHERE id = 5",
        "UPDATE receipts SET hash = zeroblob(32) WHERE id = 5",
        "UPDATE receipts SET hash = zeroblob(31) WHERE id = 5",
        "UPDATE receipts SET previous = zeroblob(32) WHERE id = 5",
        "UPDATE receipts SET detail = CAST(x'ff' AS TEXT) WHERE id = 5",
        "UPDATE receipts SET id = -1 WHERE id = 5; UPDATE receipts SET id = 5 WHERE id = 6;
         UPDATE receipts SET id = 6 WHERE id = -1",
    ] {
        check(sql, 5, Breakage::Changed);
    }
    check("DELETE FROM receipts WHERE id = 1", 1, Breakage::Missing);
    check("DELETE FROM receipts WHERE id = 5", 5, Breakage::Missing);
    check("DELETE FROM receipts WHERE id = 10", 10, Breakage::Missing);
    check("DELETE FROM receipts WHERE id > 7", 8, Breakage::Missing);
    check("DELETE FROM receipts", 1, Breakage::Missing);
    // Closing the gap changes the numbers, and the numbers are in the hashes.
    check(
        "DELETE FROM receipts WHERE id = 5; UPDATE receipts SET id = id - 1 WHERE id > 5",
        5,
        Breakage::Changed,
    );
    check(
        "DELETE FROM receipts WHERE id = 10; UPDATE receipts_head SET count = 9",
        9,
        Breakage::Head,
    );
    check("DELETE FROM receipts_head", 0, Breakage::Head);
    check(
        "UPDATE receipts_head SET hash = zeroblob(32)",
        10,
        Breakage::Head,
    );
    check(
        "UPDATE receipts_head SET open = zeroblob(16)",
        10,
        Breakage::Head,
    );
    check("UPDATE receipts_head SET count = 11", 11, Breakage::Missing);
    check("UPDATE receipts_head SET count = 9", 10, Breakage::Added);
    let copy = "at, skill, source, digest, act, detail, decision, reason, outcome, ms, sandbox,
                session, previous, hash, begun, count FROM receipts WHERE id = 10";
    for id in [0, -7, 11, 20] {
        let sql = format!("INSERT INTO receipts SELECT {id}, {copy}");
        check(&sql, id, Breakage::Added);
    }
}

/// The same row with a valid hash, as written by an attacker who knows the format but not the later rows.
#[test]
fn a_receipt_with_a_new_hash_does_not_fit_its_neighbours() {
    for (id, at, why) in [(5, 6, Breakage::Unlinked), (10, 10, Breakage::Head)] {
        let (_folder, store) = ten();
        let mut receipt = store.receipt(id).unwrap().unwrap();
        receipt.entry.detail = "other".to_owned();
        let before = store.receipt(id - 1).unwrap().unwrap();
        let hash = |receipt: &Receipt| -> [u8; 32] {
            store
                .connection
                .query_row(
                    "SELECT hash FROM receipts WHERE id = ?1",
                    [receipt.id],
                    |row| row.get(0),
                )
                .unwrap()
        };
        let forged = crate::chain::hash(id, &receipt.entry, None, &hash(&before));
        store
            .connection
            .execute_batch("DROP TRIGGER receipts_are_not_changed")
            .unwrap();
        store
            .connection
            .execute(
                "UPDATE receipts SET detail = 'other', hash = ?1 WHERE id = ?2",
                rusqlite::params![forged, id],
            )
            .unwrap();
        assert_eq!(store.verify().unwrap(), Verified::Broken { id: at, why });
    }
}

#[test]
fn a_broken_chain_continues_and_stays_broken() {
    let (_folder, store) = ten();
    store
        .connection
        .execute_batch("DROP TRIGGER receipts_are_not_removed; DELETE FROM receipts WHERE id > 8")
        .unwrap();
    let next = store.append(&[act("deploy", "next")]).unwrap();
    assert_eq!(ids(&next), [11]);
    let (id, why) = (9, Breakage::Missing);
    assert_eq!(store.verify().unwrap(), Verified::Broken { id, why });
}

#[test]
fn without_an_end_nothing_is_appended() {
    let (_folder, store) = ten();
    store
        .connection
        .execute_batch("DROP TRIGGER receipts_head_is_not_removed; DELETE FROM receipts_head")
        .unwrap();
    let error = store.append(&[act("deploy", "next")]).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    let error = store.head().unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
}

#[test]
fn nothing_is_appended_to_an_end_that_was_tampered_with() {
    for sql in [
        "UPDATE receipts_head SET count = 9223372036854775807",
        "DROP TRIGGER receipts_head_grows; UPDATE receipts_head SET count = 3",
        "DROP TRIGGER receipts_head_grows; UPDATE receipts_head SET count = -1",
        "INSERT INTO receipts SELECT 11, at, skill, source, digest, act, detail, decision, reason,
             outcome, ms, sandbox, session, previous, hash, begun, count FROM receipts WHERE id = 10",
    ] {
        let (_folder, store) = ten();
        store.connection.execute_batch(sql).expect(sql);
        let error = store.append(&[act("deploy", "next")]).unwrap_err();
        assert!(
            matches!(error, StoreError::Damaged { .. }),
            "{sql}: {error:?}"
        );
        let verified = store.verify().unwrap();
        assert!(matches!(verified, Verified::Broken { .. }), "{sql}");
    }
}

#[test]
fn a_batch_is_written_as_a_whole() {
    let (_folder, store) = ten();
    // Conflicts with the third.
    store
        .connection
        .execute_batch(
            "CREATE TRIGGER stop BEFORE INSERT ON receipts WHEN NEW.id = 13
             BEGIN SELECT raise(ABORT, 'stop'); END",
        )
        .unwrap();
    let acts = vec![act("deploy", "more"); 4];
    store.append(&acts).unwrap_err();
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 10 });
    store.connection.execute_batch("DROP TRIGGER stop").unwrap();
    store.append(&acts).unwrap();
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 14 });
}

#[test]
fn readers_and_a_writer_do_not_wait_for_each_other() {
    let (_folder, reader) = ten();
    let writer = Store::open(reader.path()).unwrap();
    for connection in [&reader.connection, &writer.connection] {
        connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    }
    let snapshot = reader.connection.unchecked_transaction().unwrap();
    let count = |store: &Store| store.receipts(ReceiptFilter::default()).unwrap().len();
    assert_eq!(count(&reader), 10);
    writer.append(&[act("deploy", "meanwhile")]).unwrap();
    assert_eq!(count(&reader), 10, "what it sees stays the same");
    drop(snapshot);

    let lock = writer.connection.unchecked_transaction().unwrap();
    lock.execute_batch("INSERT INTO trust (folder, trusted_at) VALUES ('/x', '')")
        .unwrap();
    assert_eq!(count(&reader), 11);
    assert_eq!(reader.verify().unwrap(), Verified::Whole { count: 11 });
    let error = reader.append(&[act("deploy", "too")]).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
}

#[test]
fn many_append_at_once_to_one_chain() {
    let (_folder, store) = store();
    let path = store.path();
    thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                let store = Store::open(path).expect("opened");
                for number in 0..10 {
                    let pair = [
                        act("deploy", &format!("{writer}.{number} first")),
                        act("deploy", &format!("{writer}.{number} second")),
                    ];
                    let receipts = store.append(&pair).expect("written");
                    assert_eq!(
                        receipts[1].previous, receipts[0].hash,
                        "a batch stays together"
                    );
                    let verified = store.verify().expect("an answer");
                    assert!(matches!(verified, Verified::Whole { .. }), "{verified:?}");
                }
            });
        }
    });
    assert_eq!(store.verify().unwrap(), Verified::Whole { count: 80 });
}

#[test]
fn a_skill_is_found_without_reading_all_receipts() {
    let (_folder, store) = ten();
    let plan: String = store
        .connection
        .query_row(
            "EXPLAIN QUERY PLAN SELECT * FROM receipts WHERE skill = 'deploy' ORDER BY id DESC",
            [],
            |row| row.get(3),
        )
        .unwrap();
    assert!(plan.contains("receipts_of_skill"), "{plan}");
}
