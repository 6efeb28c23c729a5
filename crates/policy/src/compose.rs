//! Composition: several skills for one agent, as one tool policy and one order.
//!
//! **Problem.** Skills are written independently. One allows what another forbids, one requires a partner that is not
//! in the set, two must each run before the other; and merging their lists one after the other gives a result that
//! depends on the order.
//!
//! **Decision.** Everything is collected first and judged once, at the end. A tool is allowed iff some skill of the
//! set allows it and none forbids it. Nothing is inherited and nothing is implied: a tool that no skill names is
//! denied. The order follows from the rules of the skills, with ties broken by name, never from the order in which
//! they were listed. All faults are reported, each with the skills involved and a hint.
//!
//! **Worked example.** `opencode-implementer` forbids `write`, `typist` allows `Write`. In either order the set
//! forbids it, with the warning `tool-conflict`; with [`OnConflict::Reject`] the set is not valid.
//!
//! A skill without any list of tools allows `read`, `glob`, `grep` and its own tools: almost no skill has such a
//! list, and an agent without tools is useless. An existing list is applied literally, even if it is empty.
//!
//! The hyphenated and the underscored list of allowed tools are separate in the manifest, because they mean
//! different things in a conversation; for the agent of a set both state the tools that it may use.

mod checks;
mod order;
mod rules;
mod tools;

use std::collections::{BTreeMap, BTreeSet};

use metier_model::{SkillManifest, Source, text::visible};

pub use checks::{Unchecked, reads_only, writes};
pub use tools::{CORE_TOOLS, SESSION_TOOLS, ToolPolicy, allows, brings_own_tools, gives_tools};

/// The two skills that every coding task requires, in their order.
pub const CODING_PIPELINE: [&str; 2] = ["specification-engine", "opencode-implementer"];

/// A skill that was requested for the set.
#[derive(Clone, Copy, Debug)]
pub enum Member<'a> {
    /// It exists and may be used.
    Known {
        /// Its manifest.
        manifest: &'a SkillManifest,
        /// Its location: with the name, it identifies the skill.
        place: &'a str,
    },
    /// No skill has this name.
    Unknown {
        /// The requested name.
        name: &'a str,
        /// The most similar names.
        near: &'a [String],
    },
    /// It exists and may not be used.
    Refused {
        /// The requested name.
        name: &'a str,
        /// The reason in one sentence.
        why: &'a str,
        /// A command or an instruction that solves it.
        hint: Option<&'a str>,
    },
}

/// The purpose of the set, and how contradictions between skills are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ComposeOptions {
    /// Whether code will be written: the coding pipeline is then required, and files are not written directly.
    pub coding: bool,
    /// How a tool is treated that one skill allows and another forbids.
    pub on_conflict: OnConflict,
}

/// How a tool is treated that one skill allows and another forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// It is forbidden, with a warning.
    #[default]
    Restrict,
    /// The set is not valid.
    Reject,
}

/// Several skills as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composition {
    /// Whether it can be used: there are no errors.
    pub valid: bool,
    /// The skills that are in it, by name.
    pub skills: Vec<String>,
    /// The order in which they run; empty if it is circular.
    pub order: Vec<String>,
    /// Pairs of skills: the first has to be done before the second starts.
    pub waits: Vec<(String, String)>,
    /// The tools that its agent may use.
    pub tools: ToolPolicy,
    /// Whether its agent could change files or run commands, with metier's tools or a skill's.
    pub can_write: bool,
    /// Conditions in prose, which no program can check.
    pub unchecked: Vec<Unchecked>,
    /// Skills that are required and not in the set.
    pub missing: Vec<String>,
    /// Why it can't be used.
    pub errors: Vec<CompositionFault>,
    /// Problems that don't prevent its use.
    pub warnings: Vec<CompositionFault>,
}

/// A fault of a set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompositionFault {
    /// Its stable name.
    pub code: FaultCode,
    /// The skills involved, by name.
    pub skills: Vec<String>,
    /// The problem in one sentence.
    pub message: String,
    /// How the user can fix it.
    pub hint: Option<String>,
}

/// The kind of a fault, as a stable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultCode {
    /// There is no such skill.
    UnknownSkill,
    /// The skill exists and may not be used.
    NotAdmitted,
    /// A skill that is listed twice (a warning), or two skills with one name.
    Duplicate,
    /// A skill that declares nothing beyond another one.
    Redundant,
    /// One allows what another forbids.
    ToolConflict,
    /// An entry of a list of tools is not a tool pattern.
    UnreadableTool,
    /// A list of tools names a tool that nothing provides: an error if it names no other.
    NoSuchTool,
    /// A tool that can write is held back until the implementer of a coding task has run.
    HeldTool,
    /// Nothing shows that a skill is done that another one has to run after.
    UncheckedOrder,
    /// A condition that is neither prose nor one of the checked forms.
    UnreadableCondition,
    /// Skills that conflict.
    Incompatible,
    /// A skill that another one requires is not in the set.
    MissingPartner,
    /// Skills that must each run before the other.
    PipelineOrder,
    /// A skill that another one depends on has the wrong version.
    DependencyVersion,
    /// A coding task without the two skills that it requires.
    IncompleteCodingPipeline,
}

impl FaultCode {
    /// The stable name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownSkill => "unknown-skill",
            Self::NotAdmitted => "not-admitted",
            Self::Duplicate => "duplicate",
            Self::Redundant => "redundant",
            Self::ToolConflict => "tool-conflict",
            Self::UnreadableTool => "unreadable-tool",
            Self::NoSuchTool => "no-such-tool",
            Self::HeldTool => "held-tool",
            Self::UncheckedOrder => "unchecked-order",
            Self::UnreadableCondition => "unreadable-condition",
            Self::Incompatible => "incompatible",
            Self::MissingPartner => "missing-partner",
            Self::PipelineOrder => "pipeline-order",
            Self::DependencyVersion => "dependency-version",
            Self::IncompleteCodingPipeline => "incomplete-coding-pipeline",
        }
    }
}

/// Composes skills. The result depends only on the set of skills, never on their order; listing one twice adds a
/// warning and nothing else.
#[must_use]
pub fn compose(members: &[Member<'_>], options: ComposeOptions) -> Composition {
    let set = MemberSet::new(members);
    let mut faults = Faults::default();
    faults.members(members);
    rules::check(&set, options, &mut faults);
    let order = order::arrange(&set, options, &mut faults);
    let tools = tools::gather(&set, options, &mut faults);
    let waits = order::waits(&set, options);
    checks::order(&set, &waits, &mut faults);
    checks::conditions(&set, &mut faults);
    if options.coding {
        checks::held(&set, &tools, &mut faults);
    }
    faults.errors.sort();
    faults.errors.dedup();
    faults.warnings.sort();
    faults.warnings.dedup();
    Composition {
        valid: faults.errors.is_empty(),
        skills: set.names().into_iter().map(str::to_owned).collect(),
        order,
        waits,
        can_write: checks::can_write(&set, &tools),
        tools,
        unchecked: checks::unchecked(&set),
        missing: faults.missing.into_iter().collect(),
        errors: faults.errors,
        warnings: faults.warnings,
    }
}

/// The known skills, each once, by name and location.
struct MemberSet<'a> {
    skills: Vec<&'a SkillManifest>,
    /// Every requested name, known or not: a requested skill is not also reported as missing.
    asked: BTreeSet<&'a str>,
}

impl<'a> MemberSet<'a> {
    fn new(members: &[Member<'a>]) -> Self {
        let mut found: BTreeMap<(&str, &str), &SkillManifest> = BTreeMap::new();
        let mut asked = BTreeSet::new();
        for member in members {
            match *member {
                Member::Known { manifest, place } => {
                    let name = manifest.card.name.as_str();
                    found.entry((name, place)).or_insert(manifest);
                    asked.insert(name);
                }
                Member::Unknown { name, .. } | Member::Refused { name, .. } => {
                    asked.insert(without_source(name));
                }
            }
        }
        Self {
            skills: found.into_values().collect(),
            asked,
        }
    }

    fn names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self
            .skills
            .iter()
            .map(|skill| skill.card.name.as_str())
            .collect();
        names.dedup();
        names
    }
}

/// `git` in `user:git`.
fn without_source(name: &str) -> &str {
    match name.split_once(':') {
        Some((source, rest)) if source.parse::<Source>().is_ok() => rest,
        _ => name,
    }
}

/// The problems found so far.
#[derive(Default)]
struct Faults {
    errors: Vec<CompositionFault>,
    warnings: Vec<CompositionFault>,
    missing: BTreeSet<String>,
}

impl Faults {
    fn error(&mut self, fault: CompositionFault) {
        self.errors.push(fault);
    }

    fn warning(&mut self, fault: CompositionFault) {
        self.warnings.push(fault);
    }

    /// Skills that are unknown, not usable, or listed twice.
    fn members(&mut self, members: &[Member<'_>]) {
        let mut places: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for member in members {
            match *member {
                Member::Known { manifest, place } => {
                    let name = manifest.card.name.as_str();
                    let times = places.entry(name).or_default();
                    *times.entry(place).or_default() += 1;
                }
                Member::Unknown { name, near } => {
                    let hint = match near {
                        [] => "metier list --all shows every skill".to_owned(),
                        near => format!("did you mean {}?", list(near, "or")),
                    };
                    let message = format!("there is no skill `{}`", visible(name));
                    self.error(
                        CompositionFault::new(FaultCode::UnknownSkill, [name], message).hint(hint),
                    );
                }
                Member::Refused { name, why, hint } => {
                    let message = format!("`{}` can't be used: {}", visible(name), visible(why));
                    let fault = CompositionFault::new(FaultCode::NotAdmitted, [name], message);
                    self.error(CompositionFault {
                        hint: hint.map(str::to_owned),
                        ..fault
                    });
                }
            }
        }
        for (name, times) in places {
            if times.len() > 1 {
                let places: Vec<&&str> = times.keys().collect();
                let message = format!(
                    "the set contains {} skills named `{name}`: in {}",
                    times.len(),
                    list(&places, "and")
                );
                self.error(
                    CompositionFault::new(FaultCode::Duplicate, [name], message)
                        .hint("keep one of them"),
                );
            }
            if times.values().any(|times| *times > 1) {
                let message = format!("`{name}` is listed more than once");
                self.warning(
                    CompositionFault::new(FaultCode::Duplicate, [name], message)
                        .hint("list it once"),
                );
            }
        }
    }
}

impl CompositionFault {
    fn new<'n>(
        code: FaultCode,
        skills: impl IntoIterator<Item = &'n str>,
        message: impl Into<String>,
    ) -> Self {
        let skills: BTreeSet<&str> = skills.into_iter().collect();
        Self {
            code,
            skills: skills.into_iter().map(str::to_owned).collect(),
            message: message.into(),
            hint: None,
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// `a`, `a and b`, `a, b and c`, in backticks; control characters are escaped.
fn list(names: &[impl AsRef<str>], last: &str) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", visible(name.as_ref())))
        .collect();
    match quoted.as_slice() {
        [head @ .., end] if !head.is_empty() => format!("{} {last} {end}", head.join(", ")),
        all => all.concat(),
    }
}

#[cfg(test)]
#[path = "compose_tests.rs"]
mod tests;
