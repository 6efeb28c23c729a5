//! `compose --json`: several skills as one set.

use metier_model::ToolPattern;
use metier_policy::{Composition, CompositionFault, Unchecked};
use serde::Serialize;

/// `compose --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComposeDocument<'a> {
    /// Whether the set can be used.
    pub valid: bool,
    /// The skills in it, by name.
    pub skills: &'a [String],
    /// The order in which they work; empty when they wait for each other.
    pub order: &'a [String],
    /// Which skill waits for which, as `[first, second]`.
    pub waits: Vec<[&'a str; 2]>,
    /// The tools that its agent may use.
    pub tools: ComposeTools<'a>,
    /// Promises and expectations in prose: the model is asked to respect them, and nothing checks them.
    pub unchecked: Vec<UncheckedRow<'a>>,
    /// Why the set can't be used.
    pub errors: Vec<FaultRow<'a>>,
    /// Warnings about the set.
    pub warnings: Vec<FaultRow<'a>>,
}

/// The tools of a set; a tool that is in neither list is not allowed.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComposeTools<'a> {
    /// Some skill allows them and none forbids them.
    pub allowed: Vec<&'a str>,
    /// Some skill forbids them.
    pub forbidden: Vec<&'a str>,
    /// The allowed tools that are written with a star. A bare `*` is checked tool by tool.
    pub broad: Vec<&'a str>,
    /// The skills whose own tools are all allowed, because they have no list.
    pub own: &'a [String],
}

/// A promise or an expectation in prose.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncheckedRow<'a> {
    /// Name of the skill.
    pub skill: &'a str,
    /// The field that holds it.
    pub field: &'static str,
    /// The text of the condition.
    pub text: &'a str,
}

/// An error of a set.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultRow<'a> {
    /// A stable code.
    pub code: &'static str,
    /// The error as a sentence.
    pub message: &'a str,
    /// Names of the skills that it concerns.
    pub skills: &'a [String],
    /// How to fix it.
    pub hint: Option<&'a str>,
}

impl<'a> From<&'a Composition> for ComposeDocument<'a> {
    fn from(set: &'a Composition) -> Self {
        let broad = set.tools.allowed.iter().filter(|tool| tool.is_broad());
        Self {
            valid: set.valid,
            skills: &set.skills,
            order: &set.order,
            waits: set
                .waits
                .iter()
                .map(|(first, second)| [&**first, &**second])
                .collect(),
            tools: ComposeTools {
                allowed: written(&set.tools.allowed),
                forbidden: written(&set.tools.forbidden),
                broad: broad.map(ToolPattern::as_str).collect(),
                own: &set.tools.own,
            },
            unchecked: set.unchecked.iter().map(UncheckedRow::from).collect(),
            errors: set.errors.iter().map(FaultRow::from).collect(),
            warnings: set.warnings.iter().map(FaultRow::from).collect(),
        }
    }
}

fn written(tools: &[ToolPattern]) -> Vec<&str> {
    tools.iter().map(ToolPattern::as_str).collect()
}

impl<'a> From<&'a Unchecked> for UncheckedRow<'a> {
    fn from(unchecked: &'a Unchecked) -> Self {
        Self {
            skill: &unchecked.skill,
            field: unchecked.field,
            text: &unchecked.text,
        }
    }
}

impl<'a> From<&'a CompositionFault> for FaultRow<'a> {
    fn from(fault: &'a CompositionFault) -> Self {
        Self {
            code: fault.code.as_str(),
            message: &fault.message,
            skills: &fault.skills,
            hint: fault.hint.as_deref(),
        }
    }
}
