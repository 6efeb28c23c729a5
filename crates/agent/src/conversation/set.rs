//! A set of skills, checked as a whole before a model gets the task.
//!
//! **Problem.** A name can mean several skills (`user:git`, a folder), and a skill's folder can change between the check and the
//! start of a sub-agent. A set that was checked with one text must not start with another. **Decision.** A check keeps the paths of
//! the checked skills, and everything that is read from there is checked again.

use metier_config::Config;
use metier_policy::{Composition, CompositionFault};
use metier_runtime::{Inventory, render::LoadedSkill};
use metier_select::rules::{NamedBesideTask, Sign, coding};

use crate::ErrorReport;
use crate::context::AgentContext;

/// Skills that are used together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillSet {
    composition: Composition,
    /// The path of each skill, in order.
    places: Vec<String>,
    is_coding: bool,
}

impl SkillSet {
    /// Their names in order, and their tools.
    #[must_use]
    pub fn composition(&self) -> &Composition {
        &self.composition
    }

    /// Their paths, in order.
    pub(super) fn places(&self) -> &[String] {
        &self.places
    }

    /// Whether the read skill equals the checked one.
    pub(super) fn is_still(&self, skills: &[LoadedSkill], config: &Config) -> bool {
        let now = Inventory::compose_loaded(skills, config, self.is_coding);
        let then = &self.composition;
        let is_same = now.order == then.order && now.waits == then.waits;
        now.valid && is_same && now.tools == then.tools
    }

    /// Whether the task is coding.
    pub(super) fn is_coding(&self) -> bool {
        self.is_coding
    }
}

/// A set of skills that was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedSet {
    /// All errors.
    pub errors: Vec<CompositionFault>,
}

impl RejectedSet {
    /// Each fault in a line, with its hint.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let lines = self.errors.iter().map(|fault| {
            let hint = fault.hint.as_ref().map(|hint| format!(" ({hint})"));
            format!(
                "{}: {}{}",
                fault.code.as_str(),
                fault.message,
                hint.unwrap_or_default()
            )
        });
        lines.collect()
    }

    /// All faults as one report.
    #[must_use]
    pub fn report(&self) -> ErrorReport {
        let message = format!("the sub-agent was not started: {}", self.lines().join("; "));
        let report = ErrorReport::new("rejected", message);
        match self.errors.iter().find_map(|fault| fault.hint.clone()) {
            Some(hint) => report.hint(hint),
            None => report.hint("metier compose shows what is wrong with a set"),
        }
    }
}

/// Whether a task is coding, by its words.
#[must_use]
pub fn is_coding(task: &str) -> bool {
    coding(task, NamedBesideTask::default()).is
}

/// [`is_coding`] for a task that a model wrote: it can't avoid the pipeline by writing that no code should be changed.
pub(super) fn is_coding_of_model(task: &str) -> bool {
    coding(task, NamedBesideTask::default()).asks_for_a_change()
}

/// Whether a task is longer than the part that is read.
pub(super) fn is_unread(task: &str) -> bool {
    let evidence = coding(task, NamedBesideTask::default()).evidence;
    evidence.iter().any(|found| found.sign == Sign::Unread)
}

/// Checks whether these skills can be combined for this task; `is_coding` is whether the task is coding.
///
/// # Errors
/// With all errors, when they can't.
pub fn judge_set(
    context: &AgentContext,
    skills: &[String],
    is_coding: bool,
) -> Result<SkillSet, RejectedSet> {
    let mode = metier_model::Strictness::Lenient;
    let inventory = context.inventory();
    let composition = inventory.compose(skills, context.config(), mode, is_coding);
    if !composition.valid {
        return Err(RejectedSet {
            errors: composition.errors,
        });
    }
    let meant: Vec<_> = skills
        .iter()
        .filter_map(|word| inventory.find(word).ok())
        .map(|skill| inventory.entry(skill))
        .collect();
    let place = |name: &String| {
        let entry = meant.iter().find(|entry| entry.name() == name.as_str());
        entry.map(|entry| super::activation::place(entry))
    };
    Ok(SkillSet {
        places: composition.order.iter().filter_map(place).collect(),
        composition,
        is_coding,
    })
}
