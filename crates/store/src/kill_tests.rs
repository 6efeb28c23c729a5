//! A process that is killed at any moment loses nothing that was acknowledged, and harms no other process.
//!
//! Two processes at a time write to one database. Each reports every committed record immediately,
//! until it is killed: before it opened the file, while it created the tables, in the middle of a record or between
//! two.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::{
    Approval, ApprovalDecision, NewConversation, NewReceipt, ReceiptDecision, ReceiptFilter, Store,
    Verified, rerun,
};

const RECORDS: &str = "kill_tests::a_killed_writer_loses_nothing_that_was_acknowledged";
const LINES: &str = "kill_tests::a_killed_conversation_continues_from_what_was_acknowledged";
const NOW: &str = "2026-01-31T09:00:00Z";

/// 200 processes in total: few in one database and many databases, so that some die while one is created.
const DATABASES: u64 = 10;
const WRITERS: u64 = 2;
const LIVES: u64 = 10;

/// More than a page of the database, so that some die between two pages.
const LONG: usize = 20_000;

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
                scope.spawn(move || {
                    range
                        .flat_map(|life| live(RECORDS, path, life))
                        .collect::<Vec<_>>()
                })
            };
            let writers: Vec<_> = (0..WRITERS).map(lives).collect();
            let said = writers.into_iter().map(|writer| writer.join().unwrap());
            said.flatten().collect()
        });
        check(&path, &acknowledged);
    }
}

/// Each conversation is continued by the next process as soon as the one before was killed.
#[test]
fn a_killed_conversation_continues_from_what_was_acknowledged() {
    if let Some((path, life)) = rerun::role() {
        talk_until_killed(&path, life.parse().expect("a number"));
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("data/metier.db");
    thread::scope(|scope| {
        for conversation in 0..3 {
            let path = &path;
            let mut known = Vec::new();
            scope.spawn(move || {
                for life in conversation * LIVES..(conversation + 1) * LIVES {
                    let acknowledged = live(LINES, path, life);
                    known = check_lines(path, life, known, &acknowledged);
                }
                assert!(!known.is_empty(), "no line was written");
            });
        }
    });
    check_file(&Store::open(&path).unwrap());
}

/// Starts a writer, kills it at some moment, and returns what it had acknowledged.
fn live(test: &str, path: &Path, life: u64) -> Vec<String> {
    let child = rerun::process(test, path, &life.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut child = Mortal(child);
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut acknowledged = Vec::new();
    // Any odd number spreads the moments; the machine adds real randomness.
    let moment = Duration::from_micros(life.wrapping_mul(7919) % 25_000);
    if !life.is_multiple_of(4) {
        // Most reach their first record, the others die on the way to it.
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

/// Is killed with the test, if that fails first.
struct Mortal(Child);

impl Drop for Mortal {
    fn drop(&mut self) {
        // It has already ended unless something else went wrong.
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
        acknowledge(&record);
        number += 1;
    }
}

fn talk_until_killed(path: &Path, life: u64) -> ! {
    let store = Store::open(path).expect("opened");
    let id = conversation_of(life);
    let begun = store.conversation(&id).expect("a table");
    let mut lines = begun.as_ref().map_or(0, |begun| begun.lines);
    if begun.is_none() {
        let new = NewConversation {
            id: &id,
            at: NOW,
            folder: "/src/app",
            model: "small",
            title: "",
            parent: None,
        };
        store.begin_conversation(&new).expect("begun");
    }
    for number in 0.. {
        let record = format!("record {life}/{number}.");
        let long = record.repeat(LONG / record.len());
        lines = store
            .append_lines(&id, lines, NOW, &[&record, &long])
            .expect("appended");
        acknowledge(&record);
    }
    unreachable!("numbers have no end");
}

fn conversation_of(life: u64) -> String {
    format!("conversation {}", life / LIVES)
}

fn acknowledge(record: &str) {
    let mut output = std::io::stdout().lock();
    // The line can start with output of the test runner.
    output
        .write_all(format!("\n{record}\n").as_bytes())
        .and_then(|()| output.flush())
        .expect("there is a receiver");
}

/// The database opens, contains everything that was acknowledged, and its chain is whole.
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
    check_file(&store);
}

/// After the lines that were known before come the new ones, without a gap: all that were acknowledged, and at most
/// one batch that was not. Returns what is known now.
fn check_lines(
    path: &Path,
    life: u64,
    mut known: Vec<String>,
    acknowledged: &[String],
) -> Vec<String> {
    let store = Store::open(path).expect("opened");
    let id = conversation_of(life);
    if store.conversation(&id).expect("a table").is_none() {
        assert!(known.is_empty() && acknowledged.is_empty(), "{id} is lost");
        return known;
    }
    let lines = store.conversation_lines(&id).expect("lines");
    let bodies: Vec<String> = lines.into_iter().map(|line| line.body).collect();
    // Lines that a process had written but not acknowledged when it was killed can become visible later: when SQLite recovers its log.
    let before = format!("record {}/", life.saturating_sub(1));
    if let Some(late) = bodies.get(known.len())
        && life > 0
        && late.starts_with(&before)
    {
        known.extend([late.clone(), late.repeat(LONG / late.len())]);
    }
    let batches = (bodies.len() - known.len()) / 2;
    assert!(
        batches == acknowledged.len() || batches == acknowledged.len() + 1,
        "{batches} batches, {} acknowledged",
        acknowledged.len()
    );
    for number in 0..batches {
        let record = format!("record {life}/{number}.");
        let said = acknowledged.get(number).unwrap_or(&record);
        assert_eq!(*said, record, "{id}");
        known.extend([record.clone(), record.repeat(LONG / record.len())]);
    }
    assert!(bodies == known, "{id} has other lines after life {life}");
    known
}

fn check_file(store: &Store) {
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
        decision: ApprovalDecision::Allowed,
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
        decision: ReceiptDecision::Allowed,
        reason: None,
        outcome: None,
        ms: 1,
        sandbox: None,
        session: None,
        count: 1,
    }
}
