//! Sorts a report, removes duplicates and applies the limit.

use std::collections::BTreeSet;

use crate::{
    input::ScanLimits,
    report::{FindingSeverity, ScanReport},
};

/// Sorts findings worst first, then by position; removes duplicates; applies the limit.
pub(crate) fn settle(report: &mut ScanReport, limits: &ScanLimits) {
    report.findings.sort_by(|a, b| {
        b.severity
            .cmp(&a.severity)
            .then_with(|| a.place.cmp(&b.place))
            .then_with(|| a.rule.id().cmp(b.rule.id()))
    });
    let mut seen = BTreeSet::new();
    report.findings.retain(|finding| {
        seen.insert((
            finding.rule.id().to_owned(),
            finding.place.file.clone(),
            finding.place.line,
        ))
    });
    // A milder rule of the same family is dropped at the same position.
    let severe: BTreeSet<(String, u32, &str)> = report
        .findings
        .iter()
        .filter(|finding| finding.severity == FindingSeverity::Critical)
        .map(|finding| {
            (
                finding.place.file.clone(),
                finding.place.line,
                finding.rule.category().word(),
            )
        })
        .collect();
    let keep: Vec<bool> = report
        .findings
        .iter()
        .map(|finding| {
            finding.severity == FindingSeverity::Critical
                || !severe.contains(&(
                    finding.place.file.clone(),
                    finding.place.line,
                    finding.rule.category().word(),
                ))
        })
        .collect();
    let mut keep = keep.into_iter();
    report.findings.retain(|_| keep.next().unwrap_or(true));
    if report.findings.len() > limits.findings {
        report.more = report.findings.len() - limits.findings;
        report.findings.truncate(limits.findings);
    }
    report.unread.sort_by(|a, b| a.file.cmp(&b.file));
    report.unread.dedup();
}
