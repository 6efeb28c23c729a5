//! Failures become answers, answers become reasons.

use metier_catalog::{Snapshot, SnapshotFile};
use metier_scan::FindingSeverity;

use metier_scan::FoundBy;

use super::*;

fn finding(severity: FindingSeverity, line: u32) -> Finding {
    Finding {
        rule: FoundBy::Pattern {
            id: "own/rule".to_owned(),
            fix: None,
        },
        severity,
        place: FindingLocation {
            file: "a.sh".to_owned(),
            line,
            column: 1,
        },
        message: "it\u{202e} matches".to_owned(),
        evidence: format!("line {line}"),
        steps: Vec::new(),
    }
}

fn report(findings: Vec<Finding>) -> ScanReport {
    ScanReport {
        findings,
        ..ScanReport::default()
    }
}

#[test]
fn a_scanner_that_fails_has_read_nothing() {
    let report = guarded(|| panic!("a bug"));
    assert_eq!(report.verdict(), Verdict::Incomplete);
    let known = KnownVerdict::of(&report);
    assert_eq!(known.stance, ScanConsequence::Blocked);
    assert!(known.message.contains("failed"), "{known:?}");
}

#[test]
fn the_worst_finding_is_the_reason() {
    let known = KnownVerdict::of(&report(vec![
        finding(FindingSeverity::Warning, 1),
        finding(FindingSeverity::Critical, 7),
        finding(FindingSeverity::Critical, 9),
    ]));
    assert_eq!((known.verdict, known.line), (Verdict::Critical, 7));
    assert!(!known.message.contains('\u{202e}'), "nothing hides");
    let again = KnownVerdict::from_note(known.note("x")).expect("a known verdict");
    assert_eq!(again, known);
}

#[test]
fn the_user_has_the_last_word() {
    let config = Config::default();
    let known = || KnownVerdict::of(&report(vec![finding(FindingSeverity::Critical, 7)]));
    let stance = |config: &Config, accepted| known().judged(config, || accepted).stance;
    assert_eq!(stance(&config, false), ScanConsequence::Blocked);
    assert_eq!(stance(&config, true), ScanConsequence::Accepted);
    let layer = metier_config::Layer::user("c", "skills.security.block_critical = false");
    let lenient = metier_config::load([layer]).config;
    assert_eq!(stance(&lenient, false), ScanConsequence::Warned);
    let clean = KnownVerdict::of(&ScanReport::default());
    assert_eq!(clean.judged(&config, || true).stance, ScanConsequence::Fine);
}

#[test]
fn unscanned_skills_are_not_omitted() {
    let mut full = ScanReport {
        more: 3,
        ..report(vec![finding(FindingSeverity::Critical, 1)])
    };
    assert_eq!(leave_out(&mut full, |_| true), 1);
    assert_eq!(full.verdict(), Verdict::Incomplete);
    let mut whole = report(vec![finding(FindingSeverity::Critical, 1)]);
    leave_out(&mut whole, |_| true);
    assert_eq!(whole.verdict(), Verdict::Clean);
}

#[test]
fn a_verdict_belongs_to_its_rules() {
    let config = |text: &str| metier_config::load([metier_config::Layer::user("c", text)]).config;
    let identity = |text: &str, stamp| Scanner::new(&config(text), Vec::new(), stamp).identity();
    let plain = identity("", 1);
    assert_eq!(plain, identity("", 1));
    assert_ne!(plain, identity("", 2), "another program");
    for text in [
        "skills.scan.rules = \"seed\"",
        "skills.scan.max_files = 3",
        "skills.scan.max_file_bytes = 3",
    ] {
        assert_ne!(plain, identity(text, 1), "{text}");
    }
    let pattern = |message| Pattern::new("a", "x", "info", message).expect("a pattern");
    let with = |message| Scanner::new(&config(""), vec![pattern(message)], 1).identity();
    assert_ne!(plain, with("one"));
    assert_ne!(with("two"), with("one"), "the message is kept too");
}

#[test]
fn a_frame_is_cut_out_of_a_text() {
    let held = |path: &str, bytes: &[u8]| SnapshotFile {
        path: path.into(),
        content: SnapshotContent::Bytes(bytes.to_vec()),
        hash: [0; 32],
        size: bytes.len() as u64,
        shared: false,
        executable: false,
    };
    let snapshot = Snapshot {
        files: vec![held("a.sh", b"1\r\n2\n3\n4\n5\n"), held("b", b"\0\n")],
        digest: Digest([0; 32]),
        fingerprint: None,
    };
    let at = |file: &str, line| {
        let place = FindingLocation {
            file: file.to_owned(),
            line,
            column: 1,
        };
        frame(&snapshot, &place).map(|frame| (frame.first, frame.lines.join(",")))
    };
    assert_eq!(at("a.sh", 1), Some((1, "1,2,3".to_owned())));
    assert_eq!(at("a.sh", 4), Some((2, "2,3,4,5".to_owned())));
    assert_eq!(at("a.sh", 40), None);
    assert_eq!(at("a.sh", 0), None);
    assert_eq!(at("b", 1), None, "not a text");
    assert_eq!(at("c", 1), None);
}
