//! Findings of skills of the type `security-rule` about a scanned skill: their scanners read its files, and their hooks see the
//! findings. They only add findings.

use std::sync::Arc;

use metier_catalog::{Catalog, CatalogEntry, Snapshot, SnapshotContent};
use metier_model::SkillType;
use metier_runtime::{Inventory, Status, live::Runtime};
use metier_scan::{Finding, FindingLocation, FindingSeverity, FoundBy, ScanReport};
use metier_sdk::wire::{FoundByScanner, ScannedFile};
use serde_json::{Value, json};

use crate::{
    Error, NoticeLevel,
    session_setup::{self, SessionSetup},
    text::one_line,
    workspace::Workspace,
};

/// How much text of a skill is shown to scanners at once, and of one file.
const MAX_ALL: usize = 3 << 20;
const MAX_FILE: usize = 1 << 20;
/// How many findings of others are kept for one skill.
const MAX_FOUND: usize = 200;

/// One skill that was scanned: its files as they were, and what was found.
pub(crate) struct HeldScan<'a> {
    pub(crate) entry: &'a CatalogEntry,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) report: &'a ScanReport,
}

/// Whether any skill scans others; none is activated.
pub(crate) fn is_any(usual: &Catalog) -> bool {
    usual.entries.iter().any(scans_others)
}

fn scans_others(entry: &CatalogEntry) -> bool {
    let card = entry.card.as_ref();
    card.is_some_and(|card| card.types.contains(SkillType::SecurityRule) && card.backend.is_some())
}

/// The findings of scanner skills, for each of the scanned skills in turn. A skill that can't be activated is reported and left out.
pub(crate) fn of(
    workspace: &Workspace,
    scanned: &[HeldScan<'_>],
) -> Result<Vec<Vec<Finding>>, Error> {
    let inventory = Arc::new(workspace.inventory()?);
    session_setup::on(
        workspace,
        &inventory,
        &[],
        SessionSetup::default(),
        |runtime| {
            activate(workspace, &inventory, runtime);
            let each = scanned.iter().map(|one| look(workspace, runtime, one));
            each.collect()
        },
    )
}

fn activate(workspace: &Workspace, inventory: &Inventory, runtime: &Runtime) {
    for skill in &inventory.skills {
        let entry = inventory.entry(skill);
        if skill.status != Status::Ready || !scans_others(entry) {
            continue;
        }
        let place = entry.place.path().to_string_lossy().into_owned();
        if let Err(failure) = session_setup::activate(workspace, runtime, &place) {
            workspace.notices.notice(
                NoticeLevel::Note,
                &format!(
                    "skill `{}` does not scan this: {}",
                    one_line(&entry.name()),
                    one_line(failure.message())
                ),
            );
        }
    }
}

fn look(
    workspace: &Workspace,
    runtime: &Runtime,
    scanned: &HeldScan<'_>,
) -> Result<Vec<Finding>, Error> {
    let name = scanned.entry.name();
    let (files, left_out) = files(scanned.snapshot);
    let mut found = Vec::new();
    for one in runtime.scan(&files)? {
        match one.found {
            Ok(findings) => found.extend(
                findings
                    .into_iter()
                    .filter_map(|finding| finding_of(&one.skill, &one.scanner, &finding, &files)),
            ),
            Err(error) => workspace.notices.notice(
                NoticeLevel::Note,
                &format!(
                    "scanner `{}` of skill `{}`: {}",
                    one_line(&one.scanner),
                    one_line(&one.skill),
                    one_line(&error)
                ),
            ),
        }
    }
    if left_out > 0 && !found.is_empty() {
        workspace.notices.notice(
            NoticeLevel::Note,
            &format!("{left_out} files of `{name}` are too large for the scanners of skills"),
        );
    }
    let all = scanned.report.findings.iter().chain(&found);
    let rows: Vec<Value> = all
        .map(|finding| {
            json!({
                "rule": finding.rule.id(), "severity": finding.severity.word(),
                "file": finding.place.file, "line": finding.place.line, "message": finding.message,
            })
        })
        .collect();
    let verdict = scanned.report.verdict().word();
    let added = runtime.scan_complete(&name, verdict, &rows)?;
    for value in added {
        let finding = serde_json::from_value(value).ok();
        match finding.and_then(|finding| finding_of("hook", "added", &finding, &files)) {
            Some(finding) => found.push(finding),
            None => workspace.notices.notice(
                NoticeLevel::Note,
                "a hook added a finding that is not understood: it needs severity (info, warning, critical) and message",
            ),
        }
    }
    found.truncate(MAX_FOUND);
    Ok(found)
}

/// The texts of a skill, and how many files were too large.
fn files(snapshot: &Snapshot) -> (Vec<ScannedFile>, usize) {
    let (mut files, mut size, mut left_out) = (Vec::new(), 0, 0);
    for held in &snapshot.files {
        let SnapshotContent::Bytes(bytes) = &held.content else {
            continue;
        };
        let Ok(content) = std::str::from_utf8(bytes) else {
            continue;
        };
        if content.len() > MAX_FILE || size + content.len() > MAX_ALL {
            left_out += 1;
            continue;
        }
        size += content.len();
        files.push(ScannedFile {
            path: held.path.text().into_owned(),
            content: content.to_owned(),
        });
    }
    (files, left_out)
}

/// A finding of a skill's, as one of ours: with its skill's name before the rule, and the line that shows it.
fn finding_of(
    skill: &str,
    scanner: &str,
    found: &FoundByScanner,
    files: &[ScannedFile],
) -> Option<Finding> {
    let severity: FindingSeverity = found.severity.parse().ok()?;
    let file = files.iter().find(|file| file.path == found.file);
    let line = file.and_then(|file| {
        let index = usize::try_from(found.line).ok()?.checked_sub(1)?;
        file.content.lines().nth(index)
    });
    let mut message: String = found.message.chars().take(500).collect();
    if file.is_none() && !found.file.is_empty() {
        let named: String = found.file.chars().take(100).collect();
        message.push_str(&format!(" (in `{named}`, which is not in the skill)"));
    }
    let evidence: String = line.unwrap_or_default().trim().chars().take(160).collect();
    Some(Finding {
        rule: FoundBy::Pattern {
            id: format!("{skill}/{}", found.rule.as_deref().unwrap_or(scanner)),
            fix: None,
        },
        severity,
        place: FindingLocation {
            file: file.map_or_else(String::new, |file| file.path.clone()),
            line: if line.is_some() { found.line } else { 0 },
            column: u32::from(line.is_some()),
        },
        message,
        evidence: metier_model::text::visible(&evidence).into_owned(),
        steps: Vec::new(),
    })
}
