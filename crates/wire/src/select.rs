//! `select --json` and `why --json`: which skills fit a task, and why.

use metier_runtime::{
    Inventory,
    selecting::{Account, Gate, Pick, Refused},
};
use metier_select::{Match, Miss, Problem, languages::Detected};
use serde::Serialize;

/// `select --json`.
#[derive(Serialize)]
pub struct SelectDocument<'a> {
    /// The skills that fit, best first.
    pub picks: Vec<PickRow<'a>>,
    /// Those that somebody named and that can't be picked.
    pub refused: Vec<RefusedRow<'a>>,
    /// How many could have been picked.
    pub considered: usize,
    /// Whether the task is one of writing code.
    pub coding: bool,
    /// What was seen of the project; `null` when no skill asks about it.
    pub project: Option<ProjectRow<'a>>,
}

/// A skill that fits.
#[derive(Serialize)]
pub struct PickRow<'a> {
    /// Its name.
    pub name: String,
    /// How well, between 0 and 1.
    pub score: f64,
    /// What speaks for it.
    pub why: Vec<SignalRow<'a>>,
}

/// A skill that was named in vain.
#[derive(Serialize)]
pub struct RefusedRow<'a> {
    /// Its name.
    pub name: String,
    /// What stands in its way.
    pub gates: Vec<GateRow<'a>>,
}

/// Something that speaks for a skill.
#[derive(Serialize)]
pub struct SignalRow<'a> {
    /// What kind of thing.
    pub signal: &'static str,
    /// In words.
    pub detail: &'a str,
    /// What it counts, between 0 and 1.
    pub weight: f64,
}

/// What was seen of a project.
#[derive(Serialize)]
pub struct ProjectRow<'a> {
    /// How many files.
    pub files: usize,
    /// Whether there are more.
    pub truncated: bool,
    /// Its languages, most files first.
    pub languages: Vec<&'a str>,
    /// What builds it.
    pub build_systems: &'a [&'static str],
}

/// `why --json`.
#[derive(Serialize)]
pub struct WhyDocument<'a> {
    /// The skills: those that were picked first.
    pub skills: Vec<AccountRow<'a>>,
    /// How many could have been picked.
    pub considered: usize,
    /// Whether the task is one of writing code.
    pub coding: bool,
    /// What was seen of the project; `null` when no skill asks about it.
    pub project: Option<ProjectRow<'a>>,
}

/// Why a skill was picked, or was not.
#[derive(Serialize)]
pub struct AccountRow<'a> {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: &'static str,
    /// Whether it was picked.
    pub picked: bool,
    /// How well it fits, between 0 and 1.
    pub score: f64,
    /// What speaks for it.
    pub why: Vec<SignalRow<'a>>,
    /// Triggers that wait for something else.
    pub misses: Vec<MissRow<'a>>,
    /// What stands in its way.
    pub gates: Vec<GateRow<'a>>,
    /// Triggers that never match.
    pub problems: Vec<MissRow<'a>>,
}

/// A trigger that did not match.
#[derive(Serialize)]
pub struct MissRow<'a> {
    /// What kind of trigger.
    pub signal: &'static str,
    /// In words.
    pub detail: &'a str,
}

/// Something that keeps a skill from being picked.
#[derive(Serialize)]
pub struct GateRow<'a> {
    /// A stable word: the status of the skill, `reserved` or `changed`.
    pub kind: &'static str,
    /// In words.
    pub message: &'a str,
    /// What to do about it.
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
        }
    }
}

impl<'a> RefusedRow<'a> {
    /// A refusal of an inventory.
    #[must_use]
    pub fn new(inventory: &Inventory, refused: &'a Refused<'_>) -> Self {
        Self {
            name: inventory.entry(refused.skill).name().into_owned(),
            gates: refused.gates.iter().map(GateRow::from).collect(),
        }
    }
}

impl<'a> ProjectRow<'a> {
    /// What was seen of a project.
    #[must_use]
    pub fn new(files: usize, truncated: bool, detected: &'a Detected) -> Self {
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
    /// An account of a skill of an inventory.
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
            misses: considered.misses.iter().map(MissRow::from).collect(),
            gates: account.gates.iter().map(GateRow::from).collect(),
            problems: considered.problems.iter().map(MissRow::from).collect(),
        }
    }
}

impl<'a> From<&'a Match> for SignalRow<'a> {
    fn from(found: &'a Match) -> Self {
        Self {
            signal: found.signal.as_str(),
            detail: &found.detail,
            weight: found.weight,
        }
    }
}

impl<'a> From<&'a Miss> for MissRow<'a> {
    fn from(miss: &'a Miss) -> Self {
        Self {
            signal: miss.signal.as_str(),
            detail: &miss.detail,
        }
    }
}

impl<'a> From<&'a Problem> for MissRow<'a> {
    fn from(problem: &'a Problem) -> Self {
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
