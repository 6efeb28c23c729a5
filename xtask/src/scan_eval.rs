//! The scanner's results on skills that were not used to write its rules.
//!
//! `scan-eval DIR` reads a labelled corpus (`index.json` with the columns `label`, `stratum`, `family` and `path`) and prints recall and false alarms
//! by stratum, three times: as measured, and with one family left out. A rule belongs to the families its author read (`origin`); a rule
//! that states none belongs to the family in which it finds most. A malicious skill counts as found only if a rule of *another* family makes it
//! critical. What a rule finds at home and elsewhere is in the last table: rules that pay only at home learned samples, not attacks.
//!
//! `scan-eval --collection DIR` scans all skills below a folder and compares what is blocked with the labels that people wrote
//! (`crates/scan/tests/labels/`): names and digests, whether blocking is right, and why.

mod collection;
mod families;
mod judged;

use std::{collections::BTreeMap, fs, path::Path, process::ExitCode};

use serde_json::Value;

use self::{
    families::{HomeOf, LeftOut},
    judged::{JudgedSkill, judge},
};
use crate::Result;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    match arguments {
        [folder] if !folder.starts_with('-') => corpus(Path::new(folder)),
        [option, folders @ ..] if option == "--collection" && !folders.is_empty() => {
            collection::run(folders)
        }
        _ => Err(
            "usage: cargo xtask scan-eval DIR, or cargo xtask scan-eval --collection DIR …".into(),
        ),
    }
}

/// A labelled skill of the corpus.
pub(crate) struct LabelledSkill {
    malicious: bool,
    stratum: String,
    family: String,
    skill: JudgedSkill,
}

impl LabelledSkill {
    /// Strata of made-up skills are named so.
    fn is_real(&self) -> bool {
        !self.stratum.starts_with("synth-")
    }
}

fn corpus(folder: &Path) -> Result<ExitCode> {
    let index: Vec<Value> = serde_json::from_str(&fs::read_to_string(folder.join("index.json"))?)?;
    if index.is_empty() {
        return Err(format!("no skills in {}", folder.display()).into());
    }
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let paths: Vec<String> = index
        .iter()
        .map(|row| {
            folder
                .join(text(row, "path"))
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let (rules, mut judged) = judge(&paths)?;
    let mut skills = Vec::new();
    for (row, path) in index.iter().zip(&paths) {
        skills.push(LabelledSkill {
            malicious: text(row, "label") == "malicious",
            stratum: text(row, "stratum"),
            family: text(row, "family"),
            skill: judged
                .remove(path)
                .ok_or_else(|| format!("no verdict about {path}"))?,
        });
    }
    let by_stratum = HomeOf::new(&rules, &skills, |skill| &skill.stratum);
    let by_family = HomeOf::new(&rules, &skills, |skill| &skill.family);
    print_table(&skills, &by_stratum, &by_family);
    by_stratum.print_yield(&skills);
    Ok(ExitCode::SUCCESS)
}

/// Counts of one stratum.
#[derive(Clone, Copy, Default)]
struct StratumTally {
    skills: usize,
    critical: usize,
    warning: usize,
    other_stratum: usize,
    other_family: usize,
}

fn print_table(skills: &[LabelledSkill], by_stratum: &HomeOf<'_>, by_family: &HomeOf<'_>) {
    let mut rows: BTreeMap<(u8, String), StratumTally> = BTreeMap::new();
    for skill in skills {
        for group in groups(skill) {
            let row = rows.entry(group).or_default();
            row.skills += 1;
            row.critical += usize::from(skill.skill.is_critical());
            row.warning += usize::from(skill.skill.is_noticed());
            row.other_stratum += usize::from(by_stratum.finds(skill) == LeftOut::Found);
            row.other_family += usize::from(by_family.finds(skill) == LeftOut::Found);
        }
    }
    println!(
        "{:38} {:>5} {:>9} {:>10} {:>19} {:>17}",
        "", "n", "critical", "≥ warning", "without its stratum", "without its family"
    );
    for ((_, name), row) in &rows {
        let share = |count: usize| percent(count, row.skills);
        println!(
            "{name:38} {:5} {:>9} {:>10} {:>19} {:>17}",
            row.skills,
            share(row.critical),
            share(row.warning),
            share(row.other_stratum),
            share(row.other_family)
        );
    }
}

/// The rows of the table that a skill counts in: totals first.
fn groups(skill: &LabelledSkill) -> Vec<(u8, String)> {
    let mut groups = Vec::new();
    if skill.malicious {
        groups.push((0, "malicious, all".to_owned()));
        if skill.stratum.starts_with("wild-") {
            groups.push((1, "malicious, from the wild".to_owned()));
        }
        groups.push((2, format!("  {}", skill.stratum)));
    } else {
        if skill.is_real() {
            groups.push((3, "benign, real".to_owned()));
            if skill.skill.files > 1 {
                groups.push((4, "benign, real, several files".to_owned()));
            }
        }
        groups.push((5, format!("  {} (benign)", skill.stratum)));
    }
    groups
}

/// A share with one decimal.
#[expect(clippy::cast_precision_loss, reason = "counts of skills")]
pub(crate) fn percent(count: usize, of: usize) -> String {
    format!("{:.1} %", 100.0 * count as f64 / of.max(1) as f64)
}
