//! Whoever is killed at any moment loses nothing that was acknowledged, and harms nobody who goes on.
//!
//! Two at a time write to one database, each a process that says which record was committed as soon as it was, until
//! it is killed: before it opened the file, while it made the tables, in the middle of a record or between two.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::{Answer, Approval, Decision, NewReceipt, ReceiptFilter, Store, Verified, rerun};

const NAME: &str = "kill_tests::a_killed_writer_loses_nothing_that_was_acknowledged";
const NOW: &str = "2026-01-31T09:00:00Z";

/// Together 200 lives: fewer in one database and more databases, so that some die while one is made.
const DATABASES: u64 = 10;
const WRITERS: u64 = 2;
const LIVES: u64 = 10;

#[test]
fn a_killed_writer_loses_nothing_that_was_acknowledged() {
    if let Some((path, life)) = rerun::role() {
        write_until_killed(&path, &life);
    }
    for database in 0..DATABASES {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("data/metier.db");
        let acknowledged: Vec<String> = thread::scope(|scope| {
            let lives = |writer: u64| {
                let seed = (database * WRITERS + writer) * LIVES;
                let (path, range) = (&path, seed..seed + LIVES);
                scope.spawn(move || range.flat_map(|life| live(path, life)).collect::<Vec<_>>())
            };
            let writers: Vec<_> = (0..WRITERS).map(lives).collect();
            let said = writers.into_iter().map(|writer| writer.join().unwrap());
            said.flatten().collect()
        });
        check(&path, &acknowledged);
    }
}

/// Starts a writer, kills it at some moment, and returns what it had acknowledged.
fn live(path: &Path, life: u64) -> Vec<String> {
    let child = rerun::process(NAME, path, &life.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut child = Mortal(child);
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut acknowledged = Vec::new();
    // Any odd number spreads the moments; the machine adds what is really random.
    let moment = Duration::from_micros(life.wrapping_mul(7919) % 25_000);
    if !life.is_multiple_of(4) {
        // Most get to their first record, the others die wherever they are on the way to it.
        let first = lines
            .by_ref()
            .map(Result::unwrap)
            .find(|line| is_record(line));
        acknowledged.push(first.expect("it gave up by itself"));
    }
    thread::sleep(moment);
    child.0.kill().unwrap();
    acknowledged.extend(lines.map(Result::unwrap).filter(|line| is_record(line)));
    let status = child.0.wait().unwrap();
    assert!(!status.success(), "it was to be killed, not to end");
    if cfg!(unix) {
        assert_eq!(status.code(), None, "it gave up by itself");
    }
    acknowledged
}

/// Dies with the test, should that fail first.
struct Mortal(Child);

impl Drop for Mortal {
    fn drop(&mut self) {
        // It is dead already unless something else went wrong.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn is_record(line: &str) -> bool {
    line.starts_with("record ") && line.ends_with('.')
}

fn write_until_killed(path: &Path, life: &str) -> ! {
    let store = Store::open(path).expect("opened");
    let mut number = 0;
    loop {
        let record = format!("record {life}/{number}.");
        store.approve(&[approval(&record)]).expect("approved");
        store
            .append(&[receipt(&record), receipt(&record)])
            .expect("appended");
        let mut output = std::io::stdout().lock();
        // The test runner's own words may stand on the line.
        output
            .write_all(format!("\n{record}\n").as_bytes())
            .and_then(|()| output.flush())
            .expect("somebody listens");
        number += 1;
    }
}

/// The database opens, holds all that was acknowledged, and its chain is whole.
fn check(path: &Path, acknowledged: &[String]) {
    let store = Store::open(path).expect("opened");
    let approved: Vec<String> = store
        .approvals("deploy", "user", "sha256:aa")
        .expect("approvals")
        .into_iter()
        .map(|approval| approval.permission)
        .collect();
    let details: Vec<String> = store
        .receipts(ReceiptFilter::default())
        .expect("receipts")
        .into_iter()
        .map(|receipt| receipt.entry.detail)
        .collect();
    for record in acknowledged {
        assert!(approved.contains(record), "{record} was approved");
        let receipts = details.iter().filter(|detail| *detail == record);
        assert_eq!(receipts.count(), 2, "{record} has its receipts");
    }
    let count = i64::try_from(details.len()).expect("a count");
    assert_eq!(store.verify().expect("verified"), Verified::Whole { count });
    assert_eq!(count % 2, 0, "a batch is written as a whole");
    let result: String = store
        .connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("an answer");
    assert_eq!(result, "ok");
}

fn approval(record: &str) -> Approval {
    Approval {
        skill: "deploy".to_owned(),
        source: "user".to_owned(),
        permission: record.to_owned(),
        digest: "sha256:aa".to_owned(),
        decision: Answer::Allowed,
        at: NOW.to_owned(),
        by: "terminal".to_owned(),
    }
}

fn receipt(record: &str) -> NewReceipt {
    NewReceipt {
        at: NOW.to_owned(),
        skill: "deploy".to_owned(),
        source: "user".to_owned(),
        digest: "sha256:aa".to_owned(),
        act: "shell:exec".to_owned(),
        detail: record.to_owned(),
        decision: Decision::Allowed,
        reason: None,
        outcome: None,
        ms: 1,
        sandbox: None,
        session: None,
    }
}
