//! The result of a scan: findings with their evidence, capabilities, and unread files.

use std::{collections::BTreeSet, fmt, str::FromStr};

use metier_sdk::Permission;
use sha2::{Digest as _, Sha256};

use crate::rule::{Category, ScanRule};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingSeverity {
    /// Recorded, shown on request: the skill is able to do this.
    Info,
    /// Shown: review it before you trust the skill.
    Warning,
    /// Blocks the skill: a chain of evidence shows that it is harmful.
    Critical,
}

impl FindingSeverity {
    /// The name in text and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }

    /// The next lower severity; `info` stays.
    #[must_use]
    pub const fn lower(self) -> Self {
        match self {
            Self::Critical => Self::Warning,
            Self::Warning | Self::Info => Self::Info,
        }
    }
}

impl fmt::Display for FindingSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for FindingSeverity {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        [Self::Info, Self::Warning, Self::Critical]
            .into_iter()
            .find(|severity| severity.word() == word)
            .ok_or(())
    }
}

/// The result of a scan in one word. `Incomplete` is not a degree of danger but the absence of a result; it
/// applies only if nothing critical was found in the files that could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Everything was read, and there are no findings.
    Clean,
    /// All findings have severity `info`.
    Info,
    /// The worst finding is a warning.
    Warning,
    /// A file or a part of one could not be read, so nothing is known about it.
    Incomplete,
    /// At least one finding is critical; the skill is blocked.
    Critical,
}

impl Verdict {
    /// All verdicts, mildest first.
    pub const ALL: [Self; 5] = [
        Self::Clean,
        Self::Info,
        Self::Warning,
        Self::Incomplete,
        Self::Critical,
    ];

    /// The name in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Incomplete => "incomplete",
            Self::Critical => "critical",
        }
    }
}

/// The position of a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingLocation {
    /// The file, relative to the skill's folder; a member of an archive is `archive.zip!member`.
    pub file: String,
    /// The line, from 1; 0 in files without lines.
    pub line: u32,
    /// The column in characters, from 1; 0 in files without lines.
    pub column: u32,
}

impl FindingLocation {
    /// The suffix after a path: `:3:1`, or an empty string in files without lines.
    #[must_use]
    pub fn position(&self) -> String {
        match self.line {
            0 => String::new(),
            line => format!(":{line}:{}", self.column),
        }
    }
}

/// A match of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule that matched.
    pub rule: FoundBy,
    /// The rule's severity, or a lower one where the context mitigates it.
    pub severity: FindingSeverity,
    /// The position of the evidence.
    pub place: FindingLocation,
    /// The rule's message with the details of this finding.
    pub message: String,
    /// The text that matched: one line, truncated, with hidden characters made visible.
    pub evidence: String,
    /// The previous steps of the chain: the value's source and its transformations.
    pub steps: Vec<ChainStep>,
}

/// The rule behind a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum FoundBy {
    /// A built-in rule.
    Builtin(&'static ScanRule),
    /// A pattern of the user or of a skill of type `security-rule`.
    Pattern {
        /// The pattern's id.
        id: String,
        /// How to fix the skill, if the pattern's author provided it.
        fix: Option<String>,
    },
}

impl FoundBy {
    /// The rule's id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Builtin(rule) => rule.id,
            Self::Pattern { id, .. } => id,
        }
    }

    /// The kind of danger.
    #[must_use]
    pub fn category(&self) -> Category {
        match self {
            Self::Builtin(rule) => rule.category,
            Self::Pattern { .. } => Category::Custom,
        }
    }

    /// How to fix the skill.
    #[must_use]
    pub fn fix(&self) -> Option<&str> {
        match self {
            Self::Builtin(rule) => Some(rule.fix),
            Self::Pattern { fix, .. } => fix.as_deref(),
        }
    }

    /// The entry of the OWASP Agentic Skills Top 10.
    #[must_use]
    pub fn owasp(&self) -> Option<&'static str> {
        match self {
            Self::Builtin(rule) => Some(rule.owasp),
            Self::Pattern { .. } => None,
        }
    }
}

/// A step in a chain of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainStep {
    /// The position of the step.
    pub place: FindingLocation,
    /// The source of the value.
    pub what: String,
}

impl Finding {
    /// Identifies the same evidence in the same file, whatever else changes: baselines
    /// and suppressions refer to it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for part in [self.rule.id(), &self.place.file, &self.evidence] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.finalize()[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// A file or part of a skill that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The file; empty for the skill as a whole.
    pub file: String,
    /// The reason, as a clause about the file.
    pub why: String,
}

/// The capabilities of the skill, dangerous or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Hosts that it contacts, with the port unless it is the default.
    pub hosts: BTreeSet<String>,
    /// Whether it contacts hosts that are only known at run time.
    pub any_host: bool,
    /// Programs that it starts, and its scripts that the text instructs to run.
    pub programs: BTreeSet<String>,
    /// Files outside the skill that it reads: `./…` in the working folder, `~/…`, or absolute; `**` for parts that are only
    /// known at run time.
    pub reads: BTreeSet<String>,
    /// Whether it reads files whose path is not known.
    pub any_read: bool,
    /// Files that it writes or deletes, in the same form.
    pub writes: BTreeSet<String>,
    /// Whether it writes files whose path is not known.
    pub any_write: bool,
    /// Environment variables that it reads.
    pub variables: BTreeSet<String>,
    /// The permissions that these capabilities require.
    pub permissions: BTreeSet<Permission>,
}

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScanReport {
    /// The findings, worst first, then by position.
    pub findings: Vec<Finding>,
    /// The number of findings beyond the limit.
    pub more: usize,
    /// The capabilities of the skill.
    pub capabilities: Capabilities,
    /// The unread files and parts.
    pub unread: Vec<Unread>,
    /// The number of files that were read.
    pub files: usize,
}

impl ScanReport {
    /// Adds findings and restores the order: worst first, then by position.
    pub fn add(&mut self, findings: Vec<Finding>) {
        self.findings.extend(findings);
        self.findings.sort_by(|a, b| {
            let place = |finding: &Finding| (finding.place.file.clone(), finding.place.line);
            let severity = b.severity.cmp(&a.severity);
            severity.then_with(|| place(a).cmp(&place(b)))
        });
    }

    /// The verdict, from the worst finding and from the unread files.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let worst = self.findings.iter().map(|finding| finding.severity).max();
        match worst {
            Some(FindingSeverity::Critical) => Verdict::Critical,
            _ if !self.unread.is_empty() => Verdict::Incomplete,
            Some(FindingSeverity::Warning) => Verdict::Warning,
            Some(FindingSeverity::Info) => Verdict::Info,
            None => Verdict::Clean,
        }
    }

    /// Removes the findings that the user has accepted and returns their number.
    pub fn without(&mut self, accepted: impl Fn(&Finding) -> bool) -> usize {
        let before = self.findings.len();
        self.findings.retain(|finding| !accepted(finding));
        before - self.findings.len()
    }
}
