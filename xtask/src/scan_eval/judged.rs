//! Verdicts of the scanner about many skills, from a separate program: that one is optimised, xtask is not.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
    thread,
};

use serde_json::Value;

use crate::{Result, workspace};

/// A skill and what the scanner reported.
pub(crate) struct JudgedSkill {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) verdict: String,
    pub(crate) files: usize,
    pub(crate) findings: Vec<JudgedFinding>,
    pub(crate) unread: Vec<String>,
}

/// A finding of at least a warning.
pub(crate) struct JudgedFinding {
    pub(crate) rule: String,
    pub(crate) critical: bool,
    pub(crate) place: String,
    pub(crate) message: String,
    pub(crate) evidence: String,
}

impl JudgedSkill {
    fn of(row: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        Self {
            path: text(&row["path"]),
            name: text(&row["name"]),
            digest: text(&row["digest"]),
            verdict: text(&row["verdict"]),
            files: row["files"]
                .as_u64()
                .map_or(0, |count| usize::try_from(count).unwrap_or(0)),
            findings: list(&row["findings"])
                .iter()
                .map(|finding| JudgedFinding {
                    rule: text(&finding["rule"]),
                    critical: finding["severity"] == "critical",
                    place: format!("{}:{}", text(&finding["file"]), finding["line"]),
                    message: text(&finding["message"]),
                    evidence: text(&finding["evidence"]),
                })
                .collect(),
            unread: list(&row["unread"]).iter().map(text).collect(),
        }
    }

    pub(crate) fn is_critical(&self) -> bool {
        self.verdict == "critical"
    }

    /// Not clean: the user sees a message.
    pub(crate) fn is_noticed(&self) -> bool {
        !matches!(self.verdict.as_str(), "clean" | "info")
    }

    pub(crate) fn is_blocked(&self) -> bool {
        !matches!(self.verdict.as_str(), "clean" | "info" | "warning")
    }

    /// The rules that make it critical, each once.
    pub(crate) fn critical_rules(&self) -> Vec<&str> {
        let mut rules: Vec<&str> = self
            .findings
            .iter()
            .filter(|finding| finding.critical)
            .map(|finding| finding.rule.as_str())
            .collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}

/// Each rule with the families its author read; none if that is unknown.
pub(crate) type RuleOrigins = BTreeMap<String, Vec<String>>;

/// Scans these folders. A panic of the scanner is a verdict of its own, and blocked.
pub(crate) fn judge(folders: &[String]) -> Result<(RuleOrigins, BTreeMap<String, JudgedSkill>)> {
    let mut child = workspace::cargo()
        .args([
            "run",
            "--release",
            "--quiet",
            "--package",
            "metier-scan",
            "--example",
            "judge",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("the judge has no input")?;
    let output = child.stdout.take().ok_or("the judge has no output")?;
    let lines = folders.join("\n");
    let writer = thread::spawn(move || input.write_all(lines.as_bytes()));
    let (mut origins, mut judged) = (RuleOrigins::new(), BTreeMap::new());
    for line in BufReader::new(output).lines() {
        let row: Value = serde_json::from_str(&line?)?;
        match row["rules"].as_array() {
            Some(rules) => origins.extend(rules.iter().map(origin)),
            None => {
                let skill = JudgedSkill::of(&row);
                judged.insert(skill.path.clone(), skill);
            }
        }
    }
    writer
        .join()
        .map_err(|_| "the list of folders was not sent")??;
    if !child.wait()?.success() {
        return Err("the judge failed".into());
    }
    if origins.is_empty() || judged.len() != folders.len() {
        return Err(format!("{} of {} skills were judged", judged.len(), folders.len()).into());
    }
    Ok((origins, judged))
}

fn origin(rule: &Value) -> (String, Vec<String>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let families = rule["origin"].as_array().cloned().unwrap_or_default();
    (text(&rule["id"]), families.iter().map(text).collect())
}
