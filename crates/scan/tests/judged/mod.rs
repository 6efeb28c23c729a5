//! Skills of one file, each with the minimum severity that the scanner must report.

use metier_scan::{
    DeclaredFacts, FileToScan, FindingSeverity, RuleSet, ScanLimits, ScanReport, ScannedContent,
    scan,
};

/// A file of a skill, and its text.
pub(crate) type Idiom = (&'static str, &'static str);

fn report((path, text): Idiom) -> ScanReport {
    let files = [FileToScan {
        path,
        content: ScannedContent::Bytes(text.as_bytes()),
    }];
    let about = DeclaredFacts {
        name: "notes",
        description: "Keeps notes with OpenAI and Telegram.",
        ..DeclaredFacts::default()
    };
    scan(&files, &about, &RuleSet::default(), &ScanLimits::default())
}

fn worst(report: &ScanReport) -> Option<FindingSeverity> {
    report.findings.iter().map(|finding| finding.severity).max()
}

fn shown(report: &ScanReport) -> String {
    let findings = report.findings.iter();
    let lines = findings.map(|one| format!("{} {}", one.severity, one.rule.id()));
    lines.collect::<Vec<_>>().join(", ")
}

/// Each idiom is found with at least this severity, and no twin gets more than a remark.
#[track_caller]
pub(crate) fn check(least: FindingSeverity, idioms: &[Idiom], twins: &[Idiom]) {
    let mut wrong = Vec::new();
    for idiom in idioms {
        let report = report(*idiom);
        if worst(&report) < Some(least) {
            wrong.push(format!("missed {idiom:?}: {}", shown(&report)));
        }
    }
    for twin in twins {
        let report = report(*twin);
        if worst(&report) > Some(FindingSeverity::Info) {
            wrong.push(format!("alarm {twin:?}: {}", shown(&report)));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
