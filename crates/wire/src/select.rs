//! `select --json` and `why --json`: which skills fit a task, and why.

use metier_runtime::{
    Inventory,
    selecting::{Account, Gate, Pick, UnusableSkill},
};
use metier_select::{
    TriggerMatch, TriggerProblem, UnmetTrigger,
    languages::DetectedProject,
    rules::{Coding, CodingEvidence, Incomplete},
};
use serde::Serialize;

/// `select --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelectDocument<'a> {
    /// The skills that fit: those that are required, then best first.
    pub picks: Vec<PickRow<'a>>,
    /// Skills that fit, but wait for consent because of the risk.
    pub held: Vec<PickRow<'a>>,
    /// Skills that were named and can't be picked.
    pub refused: Vec<RefusedRow<'a>>,
    /// The number of skills that could not be scanned in time: only their names and descriptions were searched.
    pub unscanned: usize,
    /// The number of candidates.
    pub considered: usize,
    /// Whether the task is to write code.
    pub coding: bool,
    /// The evidence for that.
    pub coding_evidence: CodingRow<'a>,
    /// The risk.
    pub risk: &'static str,
    /// Why the request can't be met; empty if it can.
    pub errors: Vec<LackRow<'a>>,
    /// Facts about the project; `null` if no trigger depends on it.
    pub project: Option<ProjectRow<'a>>,
    /// The model's choice, with `--rerank`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<RerankRow<'a>>,
}

/// A model's choice among the skills that fit.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RerankRow<'a> {
    /// The model, as `provider/name`.
    pub model: &'a str,
    /// Its answer.
    pub answer: &'a str,
    /// How many skills it chose from.
    pub offered: usize,
    /// How many of them it chose.
    pub chosen: usize,
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// The cost, in the unit of the configured prices; `null` if it is not known.
    pub cost: Option<String>,
}

/// A skill that fits.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PickRow<'a> {
    /// Name of the skill.
    pub name: String,
    /// How well it fits, between 0 and 1.
    pub score: f64,
    /// The signals that matched.
    pub why: Vec<SignalRow<'a>>,
    /// Whether a rule requires it.
    pub required: bool,
    /// Whether it can do something that requires consent at the risk of the task.
    pub needs_consent: bool,
    /// The permission that needs consent.
    pub consent: Option<&'a str>,
}

/// The evidence that decides whether a task is coding.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodingRow<'a> {
    /// The certainty, between 0 (certainly not coding) and 1.
    pub score: f64,
    /// The evidence, positive and negative.
    pub evidence: Vec<EvidenceRow<'a>>,
}

/// Evidence about whether a task is coding.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceRow<'a> {
    /// The kind of match.
    pub sign: &'static str,
    /// A human-readable description.
    pub detail: &'a str,
    /// Its weight, between 0 and 1.
    pub weight: f64,
}

/// Why a request can't be met.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LackRow<'a> {
    /// A stable code.
    pub code: &'static str,
    /// The missing requirement, as a sentence.
    pub message: String,
    /// The skills that are missing.
    pub skills: Vec<&'a str>,
    /// How to fix it.
    pub hint: Option<&'a str>,
}

/// A skill that was named and can't be picked.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefusedRow<'a> {
    /// Name of the skill.
    pub name: String,
    /// Why it can't be picked.
    pub gates: Vec<GateRow<'a>>,
}

/// A signal that matched a skill.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignalRow<'a> {
    /// The kind of match.
    pub signal: &'static str,
    /// A human-readable description.
    pub detail: &'a str,
    /// Its weight, between 0 and 1.
    pub weight: f64,
}

/// Facts about a project.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectRow<'a> {
    /// Number of files that were seen.
    pub files: usize,
    /// Whether there are more.
    pub truncated: bool,
    /// Its languages, most files first.
    pub languages: Vec<&'a str>,
    /// Build systems that were detected.
    pub build_systems: &'a [&'static str],
}

/// `why --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhyDocument<'a> {
    /// The skills: those that were picked first.
    pub skills: Vec<AccountRow<'a>>,
    /// The best skills that have words of the task and were not picked.
    pub near_misses: Vec<NearMissRow>,
    /// The number of skills that could not be scanned in time: only their names and descriptions were searched.
    pub unscanned: usize,
    /// The number of candidates.
    pub considered: usize,
    /// Whether the task is to write code.
    pub coding: bool,
    /// The evidence for that.
    pub coding_evidence: CodingRow<'a>,
    /// The risk.
    pub risk: &'static str,
    /// Why the request can't be met; empty if it can.
    pub errors: Vec<LackRow<'a>>,
    /// Facts about the project; `null` if no trigger depends on it.
    pub project: Option<ProjectRow<'a>>,
}

/// Why a skill was picked, or was not.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountRow<'a> {
    /// Name of the skill.
    pub name: String,
    /// Where it comes from.
    pub source: &'static str,
    /// Whether it was picked.
    pub picked: bool,
    /// How well it fits, between 0 and 1.
    pub score: f64,
    /// The signals that matched.
    pub why: Vec<SignalRow<'a>>,
    /// The parts of the skill that contain words of the task, with the points of each; empty unless the skill was named.
    pub shares: Vec<ShareRow<'a>>,
    /// Words of the task that the skill does not contain; empty unless the skill was named.
    pub missing: Vec<String>,
    /// Triggers that did not match.
    pub misses: Vec<MissRow<'a>>,
    /// Why it can't be picked.
    pub gates: Vec<GateRow<'a>>,
    /// The permissions that require consent at the risk of the task.
    pub consent: Option<&'a str>,
    /// Triggers that never match.
    pub problems: Vec<MissRow<'a>>,
}

/// A skill that contains words of a task, but too few of them to be picked.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NearMissRow {
    /// Name of the skill.
    pub name: String,
    /// How well it fits, between 0 and 1.
    pub score: f64,
    /// The words of the task, and where the skill contains them.
    pub why: String,
}

/// A part of the score of a skill that a search found.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShareRow<'a> {
    /// The words of the task.
    pub words: &'a str,
    /// The place: `in its name`, `in its description`, `in its body` …
    pub place: &'static str,
    /// Its points.
    pub points: f64,
}

/// A trigger that did not match.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissRow<'a> {
    /// The kind of trigger.
    pub signal: &'static str,
    /// A human-readable description.
    pub detail: &'a str,
}

/// Something that keeps a skill from being picked.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateRow<'a> {
    /// A stable code: the status of the skill, `reserved`, `changed`, `needs_consent` or `incomplete-pipeline`.
    pub kind: &'static str,
    /// A human-readable description.
    pub message: &'a str,
    /// How to fix it.
    pub hint: Option<&'a str>,
}

impl<'a> PickRow<'a> {
    /// A pick of an inventory.
    #[must_use]
    pub fn new(inventory: &Inventory, pick: &'a Pick<'_>) -> Self {
        Self {
            name: inventory.entry(pick.skill).name().into_owned(),
            score: pick.score,
            why: pick.why.iter().map(SignalRow::from).collect(),
            required: pick.required,
            needs_consent: pick.consent.is_some(),
            consent: pick.consent.as_deref(),
        }
    }
}

impl<'a> RefusedRow<'a> {
    /// A skill of an inventory that can't be picked.
    #[must_use]
    pub fn new(inventory: &Inventory, refused: &'a UnusableSkill<'_>) -> Self {
        Self {
            name: inventory.entry(refused.skill).name().into_owned(),
            gates: refused.gates.iter().map(GateRow::from).collect(),
        }
    }
}

impl<'a> ProjectRow<'a> {
    /// Facts about a project.
    #[must_use]
    pub fn new(files: usize, truncated: bool, detected: &'a DetectedProject) -> Self {
        let languages = detected.languages.iter();
        Self {
            files,
            truncated,
            languages: languages.map(|found| found.language.as_str()).collect(),
            build_systems: &detected.build_systems,
        }
    }
}

impl<'a> AccountRow<'a> {
    /// An explanation for a skill of an inventory.
    #[must_use]
    pub fn new(inventory: &Inventory, account: &'a Account<'_>) -> Self {
        let entry = inventory.entry(account.skill);
        let considered = &account.considered;
        Self {
            name: entry.name().into_owned(),
            source: entry.source.as_str(),
            picked: account.picked,
            score: account.score,
            why: considered.matches.iter().map(SignalRow::from).collect(),
            shares: Vec::new(),
            missing: Vec::new(),
            misses: considered.misses.iter().map(MissRow::from).collect(),
            gates: account.gates.iter().map(GateRow::from).collect(),
            consent: account.consent.as_deref(),
            problems: considered.problems.iter().map(MissRow::from).collect(),
        }
    }
}

impl<'a> From<&'a Coding> for CodingRow<'a> {
    fn from(coding: &'a Coding) -> Self {
        Self {
            score: coding.score,
            evidence: coding.evidence.iter().map(EvidenceRow::from).collect(),
        }
    }
}

impl<'a> From<&'a CodingEvidence> for EvidenceRow<'a> {
    fn from(found: &'a CodingEvidence) -> Self {
        Self {
            sign: found.sign.as_str(),
            detail: &found.detail,
            weight: found.weight,
        }
    }
}

impl<'a> From<&'a Incomplete> for LackRow<'a> {
    fn from(incomplete: &'a Incomplete) -> Self {
        Self {
            code: Incomplete::CODE,
            message: incomplete.to_string(),
            skills: incomplete.lacks.iter().map(|lack| lack.name).collect(),
            hint: incomplete.hint(),
        }
    }
}

impl<'a> From<&'a TriggerMatch> for SignalRow<'a> {
    fn from(found: &'a TriggerMatch) -> Self {
        Self {
            signal: found.signal.as_str(),
            detail: &found.detail,
            weight: found.weight,
        }
    }
}

impl<'a> From<&'a UnmetTrigger> for MissRow<'a> {
    fn from(miss: &'a UnmetTrigger) -> Self {
        Self {
            signal: miss.signal.as_str(),
            detail: &miss.detail,
        }
    }
}

impl<'a> From<&'a TriggerProblem> for MissRow<'a> {
    fn from(problem: &'a TriggerProblem) -> Self {
        Self {
            signal: problem.signal.as_str(),
            detail: &problem.message,
        }
    }
}

impl<'a> From<&'a Gate> for GateRow<'a> {
    fn from(gate: &'a Gate) -> Self {
        Self {
            kind: gate.kind,
            message: &gate.message,
            hint: gate.hint.as_deref(),
        }
    }
}
