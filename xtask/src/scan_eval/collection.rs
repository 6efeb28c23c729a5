//! Public collections: most blocks there are false alarms, unless a person who read the skill disagrees.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::ExitCode,
};

use super::{
    judged::{JudgedSkill, judge},
    percent,
};
use crate::{Result, workspace};

/// The share of skills that may be blocked without a person's agreement, in thousandths.
const MOST_WRONG: usize = 5;

pub(crate) fn run(folders: &[String]) -> Result<ExitCode> {
    let mut paths = Vec::new();
    for folder in folders {
        skills_below(Path::new(folder), &mut paths)?;
    }
    if paths.is_empty() {
        return Err("no SKILL.md in these folders".into());
    }
    let labels = labels(&workspace::root().join("crates/scan/tests/labels"))?;
    let (_, judged) = judge(&paths)?;
    let mut seen = BTreeSet::new();
    let skills: Vec<&JudgedSkill> = judged
        .values()
        .filter(|skill| seen.insert(skill.digest.as_str()))
        .collect();
    let blocked: Vec<&&JudgedSkill> = skills.iter().filter(|skill| skill.is_blocked()).collect();
    for skill in &blocked {
        print(skill, labels.get(&skill.digest));
    }
    Ok(summary(&skills, &blocked, &labels))
}

fn summary(
    skills: &[&JudgedSkill],
    blocked: &[&&JudgedSkill],
    labels: &BTreeMap<String, SkillLabel>,
) -> ExitCode {
    let critical = blocked.iter().filter(|skill| skill.is_critical()).count();
    let with = |right: Option<bool>| {
        let label = |skill: &JudgedSkill| labels.get(&skill.digest).map(|label| label.right);
        let critical = blocked.iter().filter(|skill| skill.is_critical());
        critical.filter(|skill| label(skill) == right).count()
    };
    let several: Vec<&&JudgedSkill> = skills.iter().filter(|skill| skill.files > 1).collect();
    let several_critical = several.iter().filter(|skill| skill.is_critical()).count();
    let noticed = skills.iter().filter(|skill| skill.is_noticed()).count();
    let total = skills.len();
    println!(
        "\n{total} different skills, {} with several files",
        several.len()
    );
    println!(
        "critical: {critical} ({}); {} ({}) of those with several files",
        percent(critical, total),
        several_critical,
        percent(several_critical, several.len())
    );
    println!(
        "  right {}, wrong {}, not labelled {}",
        with(Some(true)),
        with(Some(false)),
        with(None)
    );
    println!("incomplete: {}", blocked.len() - critical);
    println!(
        "at least a warning: {noticed} ({})",
        percent(noticed, total)
    );
    let now: BTreeSet<&str> = blocked
        .iter()
        .filter(|skill| skill.is_critical())
        .map(|skill| skill.digest.as_str())
        .collect();
    let here: BTreeSet<&str> = skills.iter().map(|skill| skill.digest.as_str()).collect();
    let gone = |right: bool| {
        labels
            .iter()
            .filter(|(digest, label)| {
                label.right == right
                    && here.contains(digest.as_str())
                    && !now.contains(digest.as_str())
            })
            .count()
    };
    println!(
        "labelled wrong and no longer critical: {}; labelled right and no longer critical: {}",
        gone(false),
        gone(true)
    );
    let doubtful = with(Some(false)) + with(None);
    match doubtful * 1000 <= total * MOST_WRONG {
        true => ExitCode::SUCCESS,
        false => {
            println!(
                "wrong or not labelled: {}, more than {}",
                percent(doubtful, total),
                percent(MOST_WRONG, 1000)
            );
            ExitCode::FAILURE
        }
    }
}

fn print(skill: &JudgedSkill, label: Option<&SkillLabel>) {
    let label = label.map_or_else(
        || "not labelled".to_owned(),
        |label| {
            format!(
                "{}: {}",
                if label.right { "right" } else { "wrong" },
                label.reason
            )
        },
    );
    println!(
        "{} {} {} [{label}]\n  {}",
        skill.digest, skill.verdict, skill.name, skill.path
    );
    for finding in skill
        .findings
        .iter()
        .filter(|finding| finding.critical)
        .take(4)
    {
        println!(
            "  {} {}: {} | {}",
            finding.rule, finding.place, finding.message, finding.evidence
        );
    }
    if !skill.is_critical() {
        for unread in skill.unread.iter().take(2) {
            println!("  not read: {unread}");
        }
    }
}

/// A person's label of a skill.
struct SkillLabel {
    right: bool,
    reason: String,
}

/// The labels by digest. Columns: digest, name, `right` or `wrong`, rule, reason.
fn labels(folder: &Path) -> Result<BTreeMap<String, SkillLabel>> {
    let mut labels = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        for (number, line) in (1..).zip(fs::read_to_string(&path)?.lines()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let columns: Vec<&str> = line.split('\t').collect();
            let [digest, _, verdict @ ("right" | "wrong"), _, reason] = columns.as_slice() else {
                return Err(format!("{}:{number}: not a label", path.display()).into());
            };
            let label = SkillLabel {
                right: *verdict == "right",
                reason: (*reason).to_owned(),
            };
            labels.insert((*digest).to_owned(), label);
        }
    }
    Ok(labels)
}

/// Each folder with a SKILL.md; everything below it belongs to it.
fn skills_below(folder: &Path, found: &mut Vec<String>) -> Result<()> {
    if folder.join("SKILL.md").is_file() {
        found.push(folder.to_string_lossy().into_owned());
        return Ok(());
    }
    let mut below: Vec<_> = fs::read_dir(folder)?.collect::<std::result::Result<_, _>>()?;
    below.sort_by_key(fs::DirEntry::file_name);
    for entry in below {
        if entry.file_type()?.is_dir() {
            skills_below(&entry.path(), found)?;
        }
    }
    Ok(())
}
