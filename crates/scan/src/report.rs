//! What a scan says: findings with their evidence, what the skill can do, and what could not be read.

use std::{collections::BTreeSet, fmt, str::FromStr};

use metier_sdk::Permission;
use sha2::{Digest as _, Sha256};

use crate::rule::{Category, Rule};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Kept, shown on request: the skill can do this.
    Info,
    /// Shown: worth a look before the skill is trusted.
    Warning,
    /// Blocks: a chain of evidence says that the skill means harm, or would do it.
    Critical,
}

impl Severity {
    /// As it is written.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }

    /// One step down; `info` stays.
    #[must_use]
    pub const fn lower(self) -> Self {
        match self {
            Self::Critical => Self::Warning,
            Self::Warning | Self::Info => Self::Info,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Severity {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        [Self::Info, Self::Warning, Self::Critical]
            .into_iter()
            .find(|severity| severity.word() == word)
            .ok_or(())
    }
}

/// What a scan comes to, in one word. `Incomplete` is not a degree of danger but the absence of an answer; it only
/// stands when nothing critical was found in what could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Everything was read, and nothing is to be said.
    Clean,
    /// Nothing but remarks.
    Info,
    /// Something is worth a look.
    Warning,
    /// Something was not read.
    Incomplete,
    /// It is blocked.
    Critical,
}

impl Verdict {
    /// All of them, mildest first.
    pub const ALL: [Self; 5] = [
        Self::Clean,
        Self::Info,
        Self::Warning,
        Self::Incomplete,
        Self::Critical,
    ];

    /// As it is written in JSON.
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

/// Where a finding is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, relative to the skill's folder; a member of an archive is `archive.zip!member`.
    pub file: String,
    /// The line, from 1; 0 when lines mean nothing there.
    pub line: u32,
    /// The column in characters, from 1; 0 likewise.
    pub column: u32,
}

impl Place {
    /// The line and the column as they are written behind a path: `:3:1`, or nothing where lines mean nothing.
    #[must_use]
    pub fn position(&self) -> String {
        match self.line {
            0 => String::new(),
            line => format!(":{line}:{}", self.column),
        }
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Which rule found it.
    pub rule: FoundBy,
    /// How bad it is here: the rule's severity, or less where the surroundings speak for it.
    pub severity: Severity,
    /// Where it is.
    pub place: Place,
    /// What it says, with the particulars.
    pub message: String,
    /// The text that shows it: one line, cut, hidden characters made visible.
    pub evidence: String,
    /// The steps of the chain before this one: where the value came from, what was done to it.
    pub steps: Vec<Step>,
}

/// The rule behind a finding.
#[derive(Clone, Debug, PartialEq)]
pub enum FoundBy {
    /// One of ours.
    Builtin(&'static Rule),
    /// A pattern that the user, or a skill of type `security-rule`, brought.
    Pattern {
        /// Its id.
        id: String,
        /// How it can be mended, if its author said so.
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

    /// What kind of danger it is about.
    #[must_use]
    pub fn category(&self) -> Category {
        match self {
            Self::Builtin(rule) => rule.category,
            Self::Pattern { .. } => Category::Custom,
        }
    }

    /// What helps.
    #[must_use]
    pub fn fix(&self) -> Option<&str> {
        match self {
            Self::Builtin(rule) => Some(rule.fix),
            Self::Pattern { fix, .. } => fix.as_deref(),
        }
    }

    /// The entry of the OWASP Agentic Skills Top 10 that it belongs to.
    #[must_use]
    pub fn owasp(&self) -> Option<&'static str> {
        match self {
            Self::Builtin(rule) => Some(rule.owasp),
            Self::Pattern { .. } => None,
        }
    }
}

/// A step of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where.
    pub place: Place,
    /// What happens there.
    pub what: String,
}

impl Finding {
    /// The same for the same evidence in the same file, whatever else changes around it: what baselines
    /// and suppressions are bound to.
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

/// Something that was not read, and so can't be vouched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Which file; empty for the skill as a whole.
    pub file: String,
    /// Why.
    pub why: String,
}

/// What the skill was seen to do, whether or not that is dangerous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Hosts that it talks to, with the port where it isn't the usual one.
    pub hosts: BTreeSet<String>,
    /// It talks to hosts that are only known when it runs.
    pub any_host: bool,
    /// Programs that it starts, and those of its own scripts that it says to run.
    pub programs: BTreeSet<String>,
    /// Files that it reads besides its own: `./…` in the working folder, `~/…`, or absolute; `**` for what is only known
    /// when it runs.
    pub reads: BTreeSet<String>,
    /// It reads files whose place can't be said like that.
    pub any_read: bool,
    /// Files that it writes or deletes, likewise.
    pub writes: BTreeSet<String>,
    /// It writes files whose place can't be said like that.
    pub any_write: bool,
    /// Environment variables that it reads.
    pub variables: BTreeSet<String>,
    /// The permissions that all this takes.
    pub permissions: BTreeSet<Permission>,
}

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What was found, worst first, then by place.
    pub findings: Vec<Finding>,
    /// How many more there were than are kept.
    pub more: usize,
    /// What the skill does.
    pub capabilities: Capabilities,
    /// What could not be read.
    pub unread: Vec<Unread>,
    /// How many files were read.
    pub files: usize,
}

impl Report {
    /// Adds what others found, in its order: worst first, then by place.
    pub fn add(&mut self, findings: Vec<Finding>) {
        self.findings.extend(findings);
        self.findings.sort_by(|a, b| {
            let place = |finding: &Finding| (finding.place.file.clone(), finding.place.line);
            let severity = b.severity.cmp(&a.severity);
            severity.then_with(|| place(a).cmp(&place(b)))
        });
    }

    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let worst = self.findings.iter().map(|finding| finding.severity).max();
        match worst {
            Some(Severity::Critical) => Verdict::Critical,
            _ if !self.unread.is_empty() => Verdict::Incomplete,
            Some(Severity::Warning) => Verdict::Warning,
            Some(Severity::Info) => Verdict::Info,
            None => Verdict::Clean,
        }
    }

    /// Takes findings out that the user has accepted; nobody else may.
    pub fn without(&mut self, accepted: impl Fn(&Finding) -> bool) -> usize {
        let before = self.findings.len();
        self.findings.retain(|finding| !accepted(finding));
        before - self.findings.len()
    }
}
