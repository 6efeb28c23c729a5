//! The file of `scan --baseline`: accepted findings.

use metier_scan::Finding;
use serde::{Deserialize, Serialize};

/// The format that this program reads and writes.
const VERSION: u32 = 1;

/// Accepted findings. Each applies to one passage in a file of a skill, not to the bytes of the whole skill, so that it survives changes
/// elsewhere.
#[derive(Debug, Deserialize, Serialize)]
pub struct Baseline {
    version: u32,
    findings: Vec<Known>,
}

#[derive(Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Known {
    skill: String,
    file: String,
    rule: String,
    fingerprint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Default for Baseline {
    fn default() -> Self {
        Self {
            version: VERSION,
            findings: Vec::new(),
        }
    }
}

impl Baseline {
    /// Parses the content of the file.
    ///
    /// # Errors
    /// When the file has another format; the error is for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if read.version == VERSION {
            Ok(read)
        } else {
            Err(format!(
                "it has version {}, but this program supports version {VERSION}",
                read.version
            ))
        }
    }

    /// The content of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Whether this finding of a skill was accepted.
    #[must_use]
    pub fn holds(&self, skill: &str, finding: &Finding) -> bool {
        let wanted = Known::of(skill, finding);
        self.findings.iter().any(|known| known.is(&wanted))
    }

    /// Replaces all entries with these findings; reasons that were given before are kept.
    pub fn replace<'f>(
        &mut self,
        findings: impl Iterator<Item = (&'f str, &'f Finding)>,
        reason: Option<&str>,
    ) {
        let mut all: Vec<Known> = Vec::new();
        for (skill, finding) in findings {
            let mut new = Known::of(skill, finding);
            let before = self.findings.iter().find(|known| known.is(&new));
            new.reason = before
                .and_then(|known| known.reason.clone())
                .or_else(|| reason.map(str::to_owned));
            all.push(new);
        }
        all.sort();
        all.dedup();
        self.findings = all;
    }

    /// How many findings it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Known {
    fn of(skill: &str, finding: &Finding) -> Self {
        Self {
            skill: skill.to_owned(),
            file: finding.place.file.clone(),
            rule: finding.rule.id().to_owned(),
            fingerprint: finding.fingerprint(),
            reason: None,
        }
    }

    fn is(&self, other: &Self) -> bool {
        (&self.skill, &self.file, &self.rule, &self.fingerprint)
            == (&other.skill, &other.file, &other.rule, &other.fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use metier_scan::{FindingLocation, FindingSeverity, FoundBy};

    use super::*;

    fn finding(file: &str, evidence: &str) -> Finding {
        Finding {
            rule: FoundBy::Pattern {
                id: "own".to_owned(),
                fix: None,
            },
            severity: FindingSeverity::Critical,
            place: FindingLocation {
                file: file.to_owned(),
                line: 1,
                column: 1,
            },
            message: String::new(),
            evidence: evidence.to_owned(),
            steps: Vec::new(),
        }
    }

    #[test]
    fn it_contains_exactly_what_was_read() {
        let (one, other) = (finding("a.sh", "x"), finding("a.sh", "y"));
        let mut baseline = Baseline::default();
        baseline.replace([("s", &one)].into_iter(), Some("ours"));
        let mut again = Baseline::parse(&baseline.text()).expect("the same");
        assert!(again.holds("s", &one));
        assert!(!again.holds("s", &other), "other evidence");
        assert!(!again.holds("t", &one), "another skill");
        assert!(!again.holds("s", &finding("b.sh", "x")), "another file");
        again.replace([("s", &one), ("s", &other)].into_iter(), None);
        assert!(again.text().contains("ours"), "reasons stay");
        assert_eq!(again.len(), 2);
    }

    #[test]
    fn another_format_is_refused() {
        assert!(Baseline::parse("[]").is_err());
        assert!(Baseline::parse("{\"version\": 2, \"findings\": []}").is_err());
    }
}
