//! Tracks: deleted logs, and folders that stay open to other users.

use super::found;
use crate::{
    flow::{ActKind, ProgramAct},
    prose::SentenceRole,
    rule::Chain,
    scan::SkillScanner,
};

/// Folders with logs and histories.
const LOGS: &[&str] = &["/var/log", "/var/audit", "/library/logs"];

/// Logs are deleted, and the text does not mention it.
pub(super) fn covers_tracks(scanner: &mut SkillScanner<'_>, acts: &[ProgramAct], spoken: &str) {
    let deleted = acts.iter().find(|act| {
        act.kind == ActKind::Delete
            && is_instructed(scanner, act)
            && LOGS.iter().any(|folder| {
                let path = act.subject.to_ascii_lowercase();
                path.starts_with(folder)
            })
    });
    let Some(act) = deleted else { return };
    let speaks = spoken
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| matches!(word, "LOG" | "LOGS" | "LOGGING" | "LOGROTATE" | "LOGFILES"));
    if !speaks && !spoken.contains("日志") {
        report(scanner, act, Chain::CoversTracks);
    }
}

/// A world-writable folder of root: files that any user places there are used as root's.
pub(super) fn open_to_planting(scanner: &mut SkillScanner<'_>, acts: &[ProgramAct]) {
    let permits = || {
        acts.iter()
            .filter(|act| act.kind == ActKind::Permit && is_instructed(scanner, act))
    };
    let opened = permits().find(|act| {
        let words = || act.subject.split_whitespace();
        let path = words().next_back().unwrap_or_default();
        let open = words().any(|word| matches!(word, "777" | "0777" | "a+rwx" | "o+w"));
        let given = |other: &ProgramAct| {
            let subject = &other.subject;
            subject.contains("chown")
                && (subject.contains(" root:") || subject.contains(" root "))
                && subject.split_whitespace().next_back() == Some(path)
        };
        open && path.starts_with('/') && permits().any(given)
    });
    if let Some(act) = opened.cloned() {
        report(scanner, &act, Chain::OpenToPlanting);
    }
}

fn is_instructed(scanner: &SkillScanner<'_>, act: &ProgramAct) -> bool {
    scanner
        .origins
        .get(act.site.unit as usize)
        .is_some_and(|origin| origin.role == SentenceRole::Instruction && !origin.inline)
}

/// Reports an act of a program, at its position.
pub(super) fn report(scanner: &mut SkillScanner<'_>, act: &ProgramAct, chain: Chain) {
    let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
        return;
    };
    let place = scanner.place(act.site);
    let evidence = scanner.evidence(act, &origin);
    found(scanner, chain, place, &evidence, "", false);
}
