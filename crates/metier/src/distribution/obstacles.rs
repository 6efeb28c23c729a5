//! The obstacles to the installation of a fetched skill, and the points that the user should check before.

use std::{collections::BTreeSet, path::Path};

use metier_catalog::CatalogEntry;
use metier_model::{DiagnosticSeverity, Digest, Need};
use metier_policy::{Reason, ReasonKind};
use metier_runtime::Inventory;
use semver::{Version, VersionReq};

use super::{card::InstallObstacle, checking::folder_name};
use crate::scans::{ScanConsequence, ScannedSkill, Verdict};

/// Files that are not a skill, or a name that can't be a folder.
pub(super) fn invalid(entry: &CatalogEntry, key: &str) -> Vec<InstallObstacle> {
    let name = entry.name();
    if folder_name(&name).as_deref() != Some(key) {
        let problem = format!("its name `{name}` can't be the name of a folder");
        return vec![InstallObstacle::Invalid(problem)];
    }
    if entry.card.is_some() {
        return Vec::new();
    }
    let errors = entry.diagnostics.iter();
    let errors = errors.filter(|one| one.severity == DiagnosticSeverity::Error);
    let lines: Vec<String> = errors
        .map(|one| match one.position {
            Some(position) => format!("{}:{}: {}", one.file, position.line, one.message),
            None => format!("{}: {}", one.file, one.message),
        })
        .collect();
    vec![InstallObstacle::Invalid(lines.join("; "))]
}

/// The obstacle of a blocking verdict. A critical one is refused here even if the configuration turns blocking into a warning.
pub(super) fn blocked(scan: &ScannedSkill) -> Option<InstallObstacle> {
    let is_critical = scan.verdict() == Verdict::Critical;
    match scan.consequence() {
        ScanConsequence::Accepted => return None,
        ScanConsequence::Blocked => {}
        _ if is_critical => {}
        _ => return None,
    }
    let worst = scan
        .report
        .findings
        .iter()
        .max_by_key(|finding| finding.severity);
    let unread = scan.report.unread.first();
    let why = match (is_critical, worst, unread) {
        (true, Some(finding), _) => {
            format!(
                "{}{}: {}",
                finding.place.file,
                finding.place.position(),
                finding.message
            )
        }
        (_, _, Some(unread)) => format!("{} could not be scanned: {}", unread.file, unread.why),
        _ => "it could not be scanned completely".to_owned(),
    };
    Some(InstallObstacle::Blocked(why))
}

/// The missing requirements of the skill. Trust, scans and other skills are checked elsewhere.
pub(super) fn missing(reasons: &[Reason]) -> Vec<String> {
    let is_shown = |kind: ReasonKind| !kind.blocks() && kind != ReasonKind::Dependency;
    let shown = reasons.iter().filter(|reason| is_shown(reason.kind));
    shown.map(|reason| reason.message.to_string()).collect()
}

pub(super) fn warnings(entry: &CatalogEntry, installed: &Inventory) -> Vec<String> {
    let diagnostics = entry.diagnostics.iter();
    let diagnostics = diagnostics.filter(|one| one.severity == DiagnosticSeverity::Warning);
    let mut all: Vec<String> = diagnostics.map(|one| one.message.to_string()).collect();
    let name = entry.name();
    if let Some(near) = nearly(&name, installed) {
        all.push(format!(
            "its name is very similar to that of another skill, `{near}`"
        ));
    }
    all
}

/// A known name that differs in one letter, or in two that changed places: what a person overlooks.
fn nearly(name: &str, installed: &Inventory) -> Option<String> {
    if installed.find(name).is_ok() || name.chars().count() < 4 {
        return None;
    }
    let mut names = installed
        .skills
        .iter()
        .map(|skill| installed.entry(skill).name());
    let near = names.find(|other| is_nearly(name, other))?;
    Some(near.into_owned())
}

fn is_nearly(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let start = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[start..], &other[start..]);
    let end = one.iter().rev().zip(other.iter().rev());
    let end = end.take_while(|(a, b)| a == b).count();
    match (&one[..one.len() - end], &other[..other.len() - end]) {
        ([_], [] | [_]) | ([], [_]) => true,
        ([a, b], [c, d]) => (a, b) == (d, c),
        _ => false,
    }
}

/// A skill with this name elsewhere, which is not a link to the place itself and has none of these digests: a copy for another agent has
/// one.
pub(super) fn shadowed(
    installed: &Inventory,
    entry: &CatalogEntry,
    place: &Path,
    known: &[Digest],
) -> Option<InstallObstacle> {
    let real = place.canonicalize().ok();
    let is_place =
        |path: &Path| path == place || real.is_some() && path.canonicalize().ok() == real;
    let mut skills = installed.skills.iter().map(|skill| installed.entry(skill));
    let other = skills.find(|other| {
        let is_same = || {
            other
                .place
                .digest()
                .is_ok_and(|found| known.contains(&found))
        };
        other.name() == entry.name() && !is_place(&other.place.path()) && !is_same()
    })?;
    let place = other.place.path().to_string_lossy().into_owned();
    Some(InstallObstacle::Shadows(place))
}

/// An installed skill that requires a different version, if none of the planned skills takes its place. What does not fit already is not
/// an obstacle.
pub(super) fn breaks(
    installed: &Inventory,
    key: &str,
    version: Option<&str>,
    planned: &BTreeSet<String>,
) -> Option<InstallObstacle> {
    let fits = |range: &VersionReq, version: Option<&str>| {
        let version = version.and_then(|version| version.parse::<Version>().ok());
        version.is_some_and(|version| range.matches(&version))
    };
    let now = installed.find(key).ok();
    let now = now.and_then(|skill| installed.entry(skill).card.as_ref());
    let now = now.and_then(|card| Some(card.version.as_ref()?.as_str()));
    for skill in &installed.skills {
        let entry = installed.entry(skill);
        let name = entry.name();
        if planned.contains(&*name) {
            continue;
        }
        let requirements = entry.card.iter().flat_map(|card| &card.requirements);
        for requirement in requirements {
            let Need::Skill(needed) = &requirement.need else {
                continue;
            };
            let range = needed.version.as_deref();
            let range = range.and_then(|range| VersionReq::parse(range).ok());
            let Some(range) = range.filter(|_| &*needed.name == key && !needed.optional) else {
                continue;
            };
            if fits(&range, now) && !fits(&range, version) {
                let why = format!("the installed `{name}` requires `{key}` {range}");
                return Some(InstallObstacle::Breaks(why));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_a_person_overlooks_is_near() {
        for (one, other, expected) in [
            ("clawhub", "clawhubb", true),
            ("clawhub", "cllawhub", true),
            ("clawhub", "clawhbu", true),
            ("clawhub", "clawhab", true),
            ("clawhub", "clawhub", false),
            ("clawhub", "crowhub", false),
            ("pdf-tools", "pdf", false),
        ] {
            assert_eq!(is_nearly(one, other), expected, "{one} {other}");
            assert_eq!(is_nearly(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn a_folder_has_a_name_of_the_specification() {
        for (name, expected) in [
            ("pdf", Some("pdf")),
            ("PDF Tools", Some("pdf-tools")),
            ("--a__b--", Some("a-b")),
            ("Größe", Some("gr-e")),
            ("..", None),
            ("日本語", None),
            ("", None),
        ] {
            assert_eq!(folder_name(name).as_deref(), expected, "{name}");
        }
        let long = folder_name(&"ab ".repeat(60)).unwrap();
        assert!(long.len() <= 64 && !long.ends_with('-'), "{long}");
    }
}
